"""Groups against a bare polars group_by, and against pyCANON, side by side in one run.

    python benchmarks/groups.py [--quick] [--no-pycanon]
    PYCANON_PYTHON=/path/to/venv/bin/python python benchmarks/groups.py     (pyCANON wants older pandas: its own venv)

Times are of a noisy machine; the ratio of neighbours in time is what counts. Each line is the median of the ratios of
alternating runs, with the limit that the issue sets. Memory: peak of the process above what it held before, per frame.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import polars as pl

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import reference  # noqa: E402
import unmask  # noqa: E402

PATIENCE = 200  # seconds for pyCANON
KEYS9 = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"]
DOMAINS5 = {"region": 50, "profession": 12, "age": 8, "civil": 5, "sex": 3}


def wide(n, seed=0):
    """Five keys with 72,000 combinations and a confidential attribute of ten values."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, size, n, dtype=np.int32) for name, size in DOMAINS5.items()}
    return pl.DataFrame(columns).with_columns(pl.Series("ill", rng.integers(0, 10, n, dtype=np.int32)))


def resampled(n, seed=1):
    """household.csv with its uniques kept once, and the others drawn with replacement up to n rows."""
    household = reference.data("household").select(KEYS9)
    alone = household.filter(pl.len().over(KEYS9) == 1)
    others = household.filter(pl.len().over(KEYS9) > 1)
    rng = np.random.default_rng(seed)
    drawn = others[rng.integers(0, others.height, n - alone.height)]
    return pl.concat([alone, drawn])[rng.permutation(n)]


def independent(n, seed=0):
    """Nine keys of the same domains, drawn independently: nearly every record is unique. The hard case."""
    rng = np.random.default_rng(seed)
    sizes = (2, 5, 4, 9, 3, 9, 2, 90, 4)
    return pl.DataFrame({name: rng.integers(0, size, n) for name, size in zip(KEYS9, sizes, strict=True)})


def seconds(work):
    start = perf_counter()
    work()
    return perf_counter() - start


def compare(name, limit, ours, peer, rounds):
    ours()  # compile, warm the caches
    peer()
    pairs = [(seconds(ours), seconds(peer)) for _ in range(rounds)]
    ratio = median(mine / other for mine, other in pairs)
    told = f"{median(mine for mine, _ in pairs):8.3f} s {median(other for _, other in pairs):8.3f} s"
    print(f"{name:58} {told}  ratio {ratio:7.2f}  limit {limit}", flush=True)


PYCANON = """
import sys, time, json, pandas as pd
from pycanon import anonymity as a
table = pd.read_parquet(sys.argv[1]) if sys.argv[1].endswith("parquet") else pd.read_csv(sys.argv[1])
keys, secret = json.loads(sys.argv[2]), [sys.argv[3]]
models = [a.k_anonymity, a.l_diversity, a.entropy_l_diversity, a.alpha_k_anonymity, a.t_closeness, a.delta_disclosure,
          a.basic_beta_likeness, a.enhanced_beta_likeness]
for model in models:
    start = time.perf_counter()
    model(table, keys) if model is a.k_anonymity else model(table, keys, secret)
    print(model.__name__, time.perf_counter() - start, flush=True)
"""


def against_pycanon(n):
    """All models of pyCANON one after the other, as many as end in PATIENCE seconds; ours: all models at once."""
    python = os.environ.get("PYCANON_PYTHON")
    if not python:
        print("pyCANON: not measured, PYCANON_PYTHON names no interpreter that has it")
        return
    table = wide(n)
    keys = list(DOMAINS5)
    unmask.anonymity(table, quasi=keys, confidential="ill")
    ours = median(seconds(lambda: unmask.anonymity(table, quasi=keys, confidential="ill")) for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        table.write_csv(path)
        command = [python, "-W", "ignore", "-c", PYCANON, str(path), json.dumps(keys), "ill"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
            printed, ended = done.stdout, "all models"
        except subprocess.TimeoutExpired as stopped:
            printed, ended = (stopped.stdout or b"").decode(), f"those that ended within {PATIENCE} s"
    times = [line.split() for line in printed.splitlines()]
    total = sum(float(spent) for _, spent in times)
    named = ", ".join(f"{name} {float(spent):.2f} s" for name, spent in times)
    print(f"pyCANON, {n:,} rows, {ended}: {named}")
    ratio = f"{total / ours:,.0f} times slower, limit at least 100"
    print(f"pyCANON {total:.2f} s, all of ours {ours:.3f} s: {ratio}", flush=True)


MEMORY = """
import sys
sys.path[:0] = {paths!r}
import groups, unmask, polars as pl
table = groups.{make}
def now(field):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field)) * 1024
{warm}
open("/proc/self/clear_refs", "w").write("5")
before = now("VmRSS")
{work}
print((now("VmHWM") - before) / table.estimated_size())
"""


def memory(name, make, work, warm):
    paths = [str(ROOT / "benchmarks"), str(ROOT / "src"), str(ROOT / "tests")]
    code = MEMORY.format(paths=paths, make=make, work=work, warm=warm)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    told = f"{float(done.stdout):.2f}" if done.returncode == 0 else done.stderr.splitlines()[-1]
    print(f"{name:58} peak above the frame, in frames: {told}  limit 3", flush=True)


def main():
    quick = "--quick" in sys.argv
    rows, people, rounds = (1_000_000, 200_000, 3) if quick else (10_000_000, 1_000_000, 5)
    print(f"polars {pl.__version__}, {pl.thread_pool_size()} threads; ours | peer")
    keys = list(DOMAINS5)
    table = wide(rows)
    bare = lambda: table.group_by(keys).len()  # noqa: E731
    compare(f"group_risk, {rows:,} rows, 5 keys", 1.5, lambda: unmask.group_risk(table, quasi=keys), bare, rounds)
    full = lambda: unmask.anonymity(table, quasi=keys, confidential="ill")  # noqa: E731
    compare(f"anonymity, all models, {rows:,} rows", 4, full, bare, rounds)
    del table
    for make, label in ((resampled, "household resampled"), (independent, "independent keys (hard)")):
        table = make(people)
        bare = lambda table=table: table.group_by(KEYS9).len()  # noqa: E731
        suda = lambda table=table: unmask.special_uniques(table, quasi=KEYS9)  # noqa: E731
        sweep = lambda table=table: unmask.knowledge_sweep(table, quasi=KEYS9)  # noqa: E731
        limits = (15, 150) if make is resampled else ("-", "-")
        compare(f"special_uniques, {people:,} rows, 9 keys, {label}", limits[0], suda, bare, rounds)
        compare(f"knowledge_sweep, 511 sets, {people:,} rows, {label}", limits[1], sweep, bare, rounds)
    if "--no-pycanon" not in sys.argv:
        against_pycanon(100_000)
    five, nine = f"quasi={keys!r}", f"quasi={KEYS9!r}"
    memory("group_risk", f"wide({rows})", f"unmask.group_risk(table, {five})", "")
    memory("anonymity", f"wide({rows})", f"unmask.anonymity(table, {five}, confidential='ill')", "")
    for make in ("resampled", "independent"):
        for name in ("special_uniques", "knowledge_sweep"):
            work = f"unmask.{name}(table, {nine})"
            memory(f"{name}, {make}", f"{make}({people})", work, work.replace("table", "table.head(1000)"))


if __name__ == "__main__":
    main()
