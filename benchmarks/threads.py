"""Are both cores used? Each attack on one and on two threads: seconds on the clock, of processors, and their ratio.

    python benchmarks/threads.py                    # all four, some minutes; the machine must be idle
    python benchmarks/threads.py --only channel

Each run is a process of its own that asks once on few people, so that kernels are compiled, and then three times; the
run of the least time on the clock counts. With two threads processors should be busy for BUSY seconds in each second on
the clock. A thread that waits busily counts as well, so the gain on the clock is beside it. The results of both must be
the same, and are compared to the last digit. Results: results/threads.json (--keep).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from large import part_of
from linkage_parts.clock import timed

import unmask

RESULTS = Path(__file__).parent / "results" / "threads.json"
BUSY = 1.7
TIMES = 3
LIBRARIES = ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS")


def pair(n: int) -> unmask.Release:
    """Thirteen numbers with noise of half an sd."""
    people = unmask.datasets.census(n)
    return unmask.Release(people, unmask.parse_masking("noise(0.5)").apply(people, 1))


def nearest(n: int) -> Callable[[], object]:
    release = pair(n)
    return lambda: unmask.link_nearest(release).estimate


def decision(n: int) -> Callable[[], object]:
    release = pair(n)
    return lambda: unmask.link_nearest(release, decision_only=True).estimate


def groups(n: int) -> Callable[[], object]:
    people = part_of(0, n)[0].drop("id")
    return lambda: unmask.group_risk(people, quasi=people.columns)


def channel(n: int) -> Callable[[], object]:
    release = pair(n)
    return lambda: unmask.link_channel(release).estimate


KINDS = {"nearest": (nearest, 100_000), "decision": (decision, 1_000_000), "groups": (groups, 5_000_000),
         "channel": (channel, 10_000)}  # fmt: skip


def one(kind: str) -> None:
    """Ask, and print what it took."""
    make, n = KINDS[kind]
    make(300)()
    ask = make(n)
    spans, found = zip(*(timed(ask) for _ in range(TIMES)), strict=True)
    best = min(spans, key=lambda span: span.wall)
    told = hashlib.sha256(repr(found).encode()).hexdigest()[:16]
    print(json.dumps({"wall": best.wall, "cpu": best.cpu, "found": told}))


def measure(kind: str, threads: int) -> dict[str, float | str]:
    surroundings = os.environ | dict.fromkeys(LIBRARIES, str(threads))
    command = [sys.executable, __file__, "--one", kind]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=surroundings)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def compare(kinds: list[str]) -> dict[str, dict[str, object]]:
    print(f"load of the last minute {os.getloadavg()[0]:.1f}: figures hold on an idle machine only")
    print("attack          n    1: clock, processors    2: clock, processors   busy   gain  same")
    out = {}
    for kind in kinds:
        alone, both = measure(kind, 1), measure(kind, 2)
        busy, gain = float(both["cpu"]) / float(both["wall"]), float(alone["wall"]) / float(both["wall"])
        same = alone["found"] == both["found"]
        out[kind] = {"n": KINDS[kind][1], "one": alone, "two": both, "busy": round(busy, 2), "gain": round(gain, 2),
                     "same": same, "load": round(os.getloadavg()[0], 1)}  # fmt: skip
        told = "  ".join(f"{float(run['wall']):9.2f} s {float(run['cpu']):8.2f} s" for run in (alone, both))
        mark = ("yes" if same else "NO") + ("" if busy >= BUSY else f"  under {BUSY}")
        print(f"{kind:9} {KINDS[kind][1]:9,} {told} {busy:6.2f} {gain:6.2f}  {mark}", flush=True)
    return out


if __name__ == "__main__":
    np.set_printoptions(floatmode="unique")
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--only", nargs="+", choices=tuple(KINDS), default=list(KINDS))
    reader.add_argument("--one", choices=tuple(KINDS))
    reader.add_argument("--keep", action="store_true", help="write results/threads.json")
    given = reader.parse_args()
    if given.one:
        one(given.one)
    else:
        measured = compare(given.only)
        if given.keep:
            before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
            RESULTS.write_text(json.dumps(before | measured, indent=1) + "\n")
