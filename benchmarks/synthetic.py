"""Synthetic releases: what the look-up by keys and membership cost, in units of what they stand on, in one run.

keys:       all figures and baselines of ten sets of keys, n = 1,000,000 people and rows; unit: one bare polars group-by
            of the same keys (the mean over the ten).
copies:     exact and near copies of the same tables, without control; the same unit. Aim: within 40 with the keys.
membership: without and with eight shadow releases, n = 100,000 x 13, noise 0.5; unit: one nearest-record run of the
            same tables. Aim: within 30, and the shadows' own making.

Processor seconds of one thread: set OMP_NUM_THREADS, NUMBA_NUM_THREADS and POLARS_MAX_THREADS to 1.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl

import unmask

SETS = [
    ["age", "sex"], ["age", "sex", "town"], ["age", "sex", "town", "edu", "job"], ["town", "job"],
    ["age", "job", "edu"], ["sex", "town", "edu"], ["age", "town", "job"], ["age", "sex", "edu", "job"],
    ["town", "edu", "job", "sex"], ["income", "town"],
]  # fmt: skip


def spent(function, times=1):
    """Least processor seconds."""
    spans = []
    for _ in range(times):
        start = time.process_time()
        function()
        spans.append(time.process_time() - start)
    return min(spans)


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice([f"town {k}" for k in range(300)], n),
            "edu": rng.integers(0, 6, n),
            "job": rng.integers(0, 40, n),
            "income": np.exp(10 + rng.normal(size=n)).round(2),
            "illness": rng.choice(list("abcde"), n),
        }
    )


def keys(n):
    original, released = people(n, 1), people(n, 2)
    few = original[:500], released[:500]
    unmask.key_sweep(*few, key_sets=SETS, targets=["illness"])  # compile
    unmask.copy_risk(unmask.Release(*few, synthetic=True))
    unit = np.mean([spent(lambda keys=keys: original.group_by(keys).len(), 3) for keys in SETS])
    ours = spent(lambda: unmask.key_sweep(original, released, key_sets=SETS, targets=["illness"]), 2)
    print(f"keys, ten sets, n = {n:,}: {ours:.2f} s; one group-by {unit:.3f} s: {ours / unit:.1f} times")
    release = unmask.Release(original, released, synthetic=True)
    copies = spent(lambda: unmask.copy_risk(release))
    print(
        f"copies without control, n = {n:,}: {copies:.2f} s: {copies / unit:.1f} times; "
        f"together {(ours + copies) / unit:.1f} (aim 40)"
    )


def membership(n):
    both, noise = unmask.datasets.census(2 * n, seed=1), unmask.parse_masking("noise(0.5)")
    inside, outside = both[:n], both[n:]
    released = noise.apply(inside, seed=1)
    small = unmask.Release(inside[:300], released[:300], control=outside[:300], synthetic=True)
    unmask.membership_inference(small, masking=noise, shadows=2)  # compile
    unmask.link_nearest(unmask.Release(inside[:300], released[:300]))
    unit = spent(lambda: unmask.link_nearest(unmask.Release(inside, released)))
    making = spent(lambda: noise.apply(inside, seed=2))
    for words, how in (("blind", {}), ("8 shadows", {"masking": noise, "shadows": 8})):
        release = unmask.Release(inside, released, control=outside, synthetic=True)
        ours = spent(lambda release=release, how=how: unmask.membership_inference(release, **how))
        shadows = 8 * making if how else 0.0
        print(
            f"membership, {words}, n = {n:,}: {ours:.1f} s; one nearest-record run {unit:.2f} s: "
            f"{(ours - shadows) / unit:.1f} times (aim 30), shadows' making {shadows:.1f} s"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["keys", "membership"])
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args()
    if asked.only in {None, "keys"}:
        keys(asked.rows or 1_000_000)
    if asked.only in {None, "membership"}:
        membership(asked.rows or 100_000)
