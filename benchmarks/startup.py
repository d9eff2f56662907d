"""Does `unmask assess` cost more than what it stands on? Ratios in one run, on this machine.

Peer: the time Python needs to import polars, numpy, scipy and numba. Ours: `unmask assess` on 1,080 rows and 13
attributes with noise of 0.5 sd, end to end in a process of its own, less the time of the attacks themselves (measured
in a fresh process, the loading of their compiled kernels included). Target: under 3 times the peer.

`startup.py --compile [MEASURE ..]`: what the first run of these attacks compiles on the demo's table, from an empty
cache: seconds of the processor of each function, without those that it calls, and for how many types.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

import unmask

SHARED = Path(__file__).parents[2] / "shared" / "data" / "census.csv"


def best_of(function, times=5) -> float:
    """The least of several times: what the machine needs when it is not disturbed."""
    spans = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        spans.append(time.perf_counter() - start)
    return min(spans)


def process(*arguments) -> float:
    return best_of(lambda: subprocess.run([sys.executable, *arguments], check=False, capture_output=True))


ATTACKS = """
import sys, time, unmask
from unmask.assessment import discover
discover()
release = unmask.Release(sys.argv[1], sys.argv[2])
start = time.perf_counter()
unmask.assess(release, only=sys.argv[3:] or None)
print(time.perf_counter() - start)
"""


COMPILED = """
import sys, time, unmask
from collections import defaultdict
from numba.core import event

spent, times, inside = defaultdict(float), defaultdict(int), []

class Clock(event.Listener):
    def on_start(self, told):
        inside.append([time.thread_time(), 0.0])

    def on_end(self, told):
        begun, of_others = inside.pop()
        took = time.thread_time() - begun
        function = told.data["dispatcher"].py_func
        name = f"{function.__module__.removeprefix('unmask.kernels.')}.{function.__name__}"
        spent[name] += took - of_others
        times[name] += 1
        if inside:
            inside[-1][1] += took

event.register("numba:compile", Clock())
from unmask.cli.demo import demo_tables
release = unmask.Release(*demo_tables(500, 0), id="patient", confidential=["diagnosis", "cost"])
unmask.assess(release, only=sys.argv[1:] or None)
for name in sorted(spent, key=spent.get, reverse=True):
    print(f"{spent[name]:7.2f} s {times[name]:4d}  {name}")
print(f"{sum(spent.values()):7.2f} s {sum(times.values()):4d}  in all")
"""


def compiling(measures) -> None:
    """Show what is compiled from an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        code = [sys.executable, "-c", COMPILED, *measures]
        subprocess.run(code, check=True, env={**os.environ, "NUMBA_CACHE_DIR": folder, "NUMBA_NUM_THREADS": "1"})


def child(code, *arguments) -> str:
    return subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True).stdout


def main() -> None:
    if sys.argv[1:2] == ["--compile"]:
        compiling(sys.argv[2:])
        return
    original = pl.read_csv(SHARED) if SHARED.exists() else unmask.datasets.census(1080)
    masked = unmask.parse_masking("noise(0.5)").apply(original, 1)
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("a.csv", "b.csv")]
        original.write_csv(paths[0])
        masked.write_csv(paths[1])
        peer = process("-c", "import polars, numpy, scipy, numba")
        ours = process("-m", "unmask", "assess", *paths)
        helped = process("-m", "unmask", "--help")
        attacks = min(float(child(ATTACKS, *paths)) for _ in range(5))
        floor = process("-m", "unmask", "assess", *paths, "--only", "nearest,uniqueness")
        few = min(float(child(ATTACKS, *paths, "nearest", "uniqueness")) for _ in range(5))
    print(f"import polars, numpy, scipy, numba   {peer:6.2f} s   1.0")
    print(f"unmask assess, end to end            {ours:6.2f} s   {ours / peer:.1f}")
    print(f"  of which the attacks               {attacks:6.2f} s   {attacks / peer:.1f}")
    print(f"  the rest, target under 3           {ours - attacks:6.2f} s   {(ours - attacks) / peer:.1f}")
    print(f"the two attacks of the ground floor  {floor:6.2f} s   {floor / peer:.1f}")
    print(f"  the rest, target under 3           {floor - few:6.2f} s   {(floor - few) / peer:.1f}")
    print(f"unmask --help                        {helped:6.2f} s   {helped / peer:.1f}")


if __name__ == "__main__":
    main()
