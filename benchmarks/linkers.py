"""Smarter linkers against their peers, as ratios taken side by side.

1. EM for exact agreement at n = 1,000,000 and 8 attributes, in units of one group-by of the same data (target < 60).
2. The same at n = 1,000 against recordlinkage's ECMClassifier over the full index (target 1,000 times faster).
3. Surrogate learning at n = 100,000 and 13 attributes, in units of one plain nearest-record run (target < 20).

recordlinkage is in the environment that `make peers` makes, or at the Python that UNMASK_PEERS names.
Arguments choose parts: `python benchmarks/linkers.py 1 3`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from reference import PEERS, second_tool

CARDS = (100, 80, 50, 20, 12, 10, 5, 2)


def files(n, cards=CARDS, error=0.1, seed=7):
    rng = np.random.default_rng(seed)
    a = np.column_stack([rng.integers(0, c, n) for c in cards])
    b = a.copy()
    for k, c in enumerate(cards):
        hit = rng.random(n) < error
        b[hit, k] = rng.integers(0, c, int(hit.sum()))
    return a, b


def best(work, times=3):
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        result = work()
        taken.append(time.perf_counter() - begun)
    return min(taken), result


def comparison(a, b):
    from unmask.linkage.probabilistic.levels import Comparison

    m = a.shape[1]
    names = tuple(f"c{k}" for k in range(m))
    left, right = (np.ascontiguousarray(side, dtype=np.float64) for side in (a, b))
    return Comparison(names, left, right, np.zeros((m, 1)), np.ones(m, dtype=np.int64), np.zeros(m, dtype=bool))


def em(compared, **how):
    from unmask.linkage.probabilistic.candidates import count_patterns
    from unmask.linkage.probabilistic.model import Fitting, fit

    return fit(compared, count_patterns(compared), Fitting(**how))


def million():
    a, b = files(1_000_000)
    compared = comparison(a, b)
    em(comparison(*files(5000)))  # compile
    frame = pl.DataFrame(a)
    unit, _ = best(lambda: frame.group_by(frame.columns).len(), 5)
    taken, model = best(lambda: em(compared), 1)
    print(f"1. EM, n = 1,000,000, 8 attributes: {taken:.1f} s = {taken / unit:.0f} group-bys of {unit:.2f} s ")
    print(f"   steps {model.iterations}, m {np.round(model.m[:, 0], 3).tolist()}")


def against_recordlinkage():
    a, b = files(1000)
    if not PEERS.exists():
        print("2. recordlinkage is not here: make peers, or set UNMASK_PEERS to a Python that has it")
        return
    peer = second_tool("recordlinkage", a, b, "1e-6")
    compared = comparison(a, b)
    taken, model = best(lambda: em(compared, prior="learn", tolerance=1e-6), 5)
    apart = max(np.abs(model.m[:, 0] - peer["m"]).max(), np.abs(model.u[:, 0] - peer["u"]).max())
    whole = peer["compare"] + peer["fit"]
    print(f"2. EM, n = 1,000 x 1,000: {taken * 1000:.1f} ms; recordlinkage {peer['compare']:.1f} s to compare,")
    print(
        f"   {peer['fit']:.1f} s to fit: {peer['fit'] / taken:,.0f} times (fit), {whole / taken:,.0f} (all); ", end=""
    )
    print(f"estimates differ by {apart:.1e} (target 1,000 times)")


def surrogate():
    from unmask import Release, datasets, link_learned, link_nearest, parse_masking

    people = datasets.census(100_000)
    release = Release(people, parse_masking("noise(0.5)").apply(people, 1))
    small = Release(people[:500], release.released[:500])
    link_nearest(small), link_learned(small, aggregator="mean"), link_learned(small, aggregator="bilinear")  # compile
    plain, _ = best(lambda: link_nearest(release), 2)
    for kind in ("mean", "bilinear"):
        taken, linkage = best(lambda kind=kind: link_learned(release, aggregator=kind), 1)
        print(
            f"3. learning ({kind}), n = 100,000, {people.width} attributes, both halves and all: {taken:.1f} s = ",
            end="",
        )
        print(
            f"{taken / plain:.1f} plain runs of {plain:.1f} s (target < 20); held-out {linkage.estimate.value:.3f}, ",
            end="",
        )
        print(f"in-sample {linkage.in_sample.value:.3f}, plain {linkage.plain.value:.3f}")


if __name__ == "__main__":
    parts = {"1": million, "2": against_recordlinkage, "3": surrogate}
    for part in sys.argv[1:] or parts:
        parts[part]()
