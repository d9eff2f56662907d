"""How fast is this machine? A second of the work that attacks are made of, against the machine of the benchmark.

The answer is kept for a week in the user's cache folder, by machine and version of numpy; where nothing can be written
there it is measured again.
"""

from __future__ import annotations

import json
import os
import platform
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from unmask.errors import UnmaskError
from unmask.tables import write_atomically

REFERENCE = 0.058  # CPU seconds that the work takes on the machine of benchmarks/results/scale.json
KEPT = 7 * 24 * 3600.0  # seconds
TIMES = 3
FASTEST, SLOWEST = 0.1, 50.0  # beyond, the measurement was disturbed


def machine_slowness() -> float:
    """How many times as long as on the machine of the benchmark: 1 there, 2 on one of half its speed."""
    path, known = cache_folder() / "speed.json", _about()
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(path.read_text())
        if kept["machine"] == known and 0 <= time.time() - kept["when"] < KEPT:
            return float(np.clip(float(kept["slowness"]), FASTEST, SLOWEST))
    slowness = float(np.clip(measure_work() / REFERENCE, FASTEST, SLOWEST))
    with suppress(OSError, UnmaskError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps({"machine": known, "when": time.time(), "slowness": slowness}))
    return slowness


def cache_folder() -> Path:
    """Where unmask keeps what can be made again: ``unmask`` in XDG_CACHE_HOME, or in ~/.cache."""
    place = os.environ.get("XDG_CACHE_HOME")
    return (Path(place) if place else Path.home() / ".cache") / "unmask"


def measure_work() -> float:
    """CPU seconds that a fixed piece of work takes: sorting, gathering and distances, the least of some times."""
    rng = np.random.default_rng(0)
    points, asked = rng.normal(size=(4_000, 13)), rng.normal(size=(500, 13))
    rows = rng.integers(0, 4_000, 400_000)
    spans = []
    for _ in range(TIMES):
        begun = time.process_time()
        for one in asked:
            np.partition(((points - one) ** 2).sum(1), 2)
        np.sort(points[rows, 0])
        spans.append(time.process_time() - begun)
    return min(spans)


def _about() -> str:
    return f"{platform.node()} {platform.machine()} {os.cpu_count()} numpy {np.__version__}"
