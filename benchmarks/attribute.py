"""Attribute disclosure against what it stands on and against a peer. Ratios in one run, on this machine.

intervals: 13 attributes, 20 widths, n = 1,000,000; peer: one numpy sort of all columns. Target: within 15 times.
copies:    distance to the closest record of n rows; peer: scikit-learn's KD-tree, for the same distances.
inference: Anonymeter's inference evaluator (same secret, same known attributes, same people). Target: 10 times faster.
           Runs where the package can be imported; name a Python that has it with --peer-python.
model:     seconds of the default `model_disclosure`, with progress and budget.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import unmask

PEER = """
import sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np, pandas as pd
from anonymeter.evaluators import InferenceEvaluator
ori, syn, control = (pd.read_parquet(f"{sys.argv[1]}/{name}.parquet") for name in ("x", "y", "c"))
secret = sys.argv[2]
aux = [c for c in ori.columns if c != secret]
start = time.perf_counter()
roles = {"aux_cols": aux, "secret": secret, "n_attacks": int(sys.argv[3])}
evaluator = InferenceEvaluator(ori=ori, syn=syn, control=control, **roles)
evaluator.evaluate(n_jobs=int(sys.argv[4]))
seconds = time.perf_counter() - start
results = evaluator.results()
print(seconds, results.attack_rate.value, results.control_rate.value)
"""


def least(function, times=3):
    spans = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        spans.append(time.perf_counter() - start)
    return min(spans)


def intervals(n):
    rng = np.random.default_rng(0)
    original = pl.DataFrame({f"c{k}": rng.lognormal(size=n) for k in range(13)})
    masked = original.select(pl.all() * pl.Series(rng.normal(1, 0.1, n)))
    release = unmask.Release(original, masked)
    unmask.interval_disclosure(unmask.Release(original[:100], masked[:100]))  # compile
    columns = [original[name].to_numpy() for name in original.columns]
    spans = [
        (least(lambda: [np.sort(c) for c in columns]), least(lambda: unmask.interval_disclosure(release), 1))
        for _ in range(3)
    ]
    peer, ours = min(s[0] for s in spans), min(s[1] for s in spans)
    print(f"intervals, 13 attributes, 20 widths, n = {n:,}: {ours:.2f} s")
    print(f"  one numpy sort of all columns {peer:.2f} s: {ours / peer:.1f} times (target 15)")


def copies(n):
    from sklearn.neighbors import KDTree

    tables = [unmask.datasets.census(n, seed=seed) for seed in range(3)]
    release = unmask.Release(tables[0], tables[1], control=tables[2], synthetic=True)
    small = [table[:200] for table in tables]
    unmask.copy_risk(unmask.Release(small[0], small[1], control=small[2], synthetic=True))  # compile
    arrays = [(t.to_numpy() - tables[0].to_numpy().mean(0)) / tables[0].to_numpy().std(0) for t in tables]
    ours = least(lambda: unmask.copy_risk(release), 1)
    peer = least(lambda: [KDTree(arrays[k]).query(arrays[1], k=2) for k in (0, 2)], 1)
    print(f"copies, n = {n:,}: {ours:.2f} s; scikit-learn's KD-tree {peer:.2f} s: {peer / ours:.1f} times faster")


def inference(n, attacks, python, jobs):
    tables = [
        unmask.datasets.patients(n, seed=seed).drop("patient", "birth date", "admitted", "postcode", "bmi")
        for seed in range(3)
    ]
    wanted = "diagnosis"
    release = unmask.Release(tables[0], tables[1], control=tables[2], confidential=[wanted], synthetic=True)
    small = [table[:200] for table in tables]
    unmask.attribute_inference(
        unmask.Release(small[0], small[1], control=small[2], confidential=[wanted], synthetic=True)
    )
    start = time.perf_counter()
    worst = unmask.attribute_inference(release).worst
    ours = time.perf_counter() - start
    print(f"inference, n = {n:,}: {ours:.2f} s; right {worst.members.value:.3f}, control {worst.members.control:.3f}")
    with tempfile.TemporaryDirectory() as folder:
        for name, table in zip("xyc", tables, strict=True):
            table.write_parquet(Path(folder) / f"{name}.parquet")
        run = subprocess.run(
            [python, "-c", PEER, folder, wanted, str(attacks), str(jobs)], capture_output=True, text=True, check=False
        )
    if run.returncode:
        words = run.stderr.strip().splitlines()
        print(f"  no Anonymeter in {python}: {words[-1] if words else run.returncode}")
        return
    seconds, right, control = map(float, run.stdout.split())
    print(f"  Anonymeter, {attacks:,} attacks on each side: {seconds:.2f} s; right {right:.3f}, control {control:.3f}")
    print(
        f"  {seconds / ours:.1f} times ours as it stands, {seconds / ours * n / attacks:.0f} times for all (target 10)"
    )


def models(n):
    people = unmask.datasets.patients(n).drop("patient")
    masked = unmask.parse_masking("noise(0.3)").apply(people, 1)
    release = unmask.Release(people, masked, confidential=["diagnosis", "cost"])
    start = time.perf_counter()
    unmask.model_disclosure(release, folds=3, few=2, sample=2_000)
    print(f"models as in assess, n = {n:,}: {time.perf_counter() - start:.1f} s")
    start = time.perf_counter()
    found = unmask.model_disclosure(release, folds=3, sample=2_000, budget=1.0)
    print(f"  with a budget of 1 s: {time.perf_counter() - start:.1f} s; {'; '.join(found.notes)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", default=["intervals", "copies", "inference", "models"])
    parser.add_argument("--n", type=int, default=20_000, help="rows for inference and copies")
    parser.add_argument("--attacks", type=int, default=2_000, help="people that the peer attacks; ours attacks all")
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--jobs", type=int, default=2, help="processes of the peer")
    options = parser.parse_args()
    if "intervals" in options.parts:
        intervals(1_000_000)
    if "copies" in options.parts:
        copies(options.n)
    if "inference" in options.parts:
        inference(options.n, options.attacks, options.peer_python, options.jobs)
    if "models" in options.parts:
        models(1_000)


if __name__ == "__main__":
    main()
