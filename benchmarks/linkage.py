"""Linkage against its peers, on one machine and in one process: nearest records, and the decision alone.

    python benchmarks/linkage.py nearest --n 100000 --threads 2
    python benchmarks/linkage.py growth --n 100000 1000000

The release queries, the original is searched (the direction of the paper). Peers answer the same question: the two
nearest records, which is what a margin needs; faiss is also asked for the nearest alone, where it has a faster kernel,
in float32. With --share below 1 peers get a sample of the queries and are scaled up, and the table says so. Our times
include building the tree; the decision is timed on its own, tree and all.
Times on a shared machine are noise: ratios are printed of wall time and, in brackets, of processor time over all
threads, which other people's jobs disturb less.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from typing import NamedTuple

import numba
import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import rankdata
from sklearn.neighbors import NearestNeighbors

from unmask.kernels.nearest import decide, nearest
from unmask.kernels.space import Space
from unmask.kernels.tree import plant

M = 13  # attributes


def census(n, seed=0):
    """Money as censuses have it: 13 correlated lognormal attributes, five rounded to hundreds, two often zero."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 3)) @ (0.8 * rng.normal(size=(3, M)))
    money = np.round(np.exp(8 + 0.7 * (factors + 0.6 * rng.normal(size=(n, M)))))
    money[:, :5] = np.round(money[:, :5], -2)
    money[rng.random(n) < 0.3, 5] = 0
    money[rng.random(n) < 0.15, 6] = 0
    return money


def standardise(table):
    return (table - table.mean(axis=0)) / table.std(axis=0)


def noise(table, kappa, rng):
    return table + kappa * table.std(axis=0) * rng.normal(size=table.shape)


def rank_swap(table, share, rng):
    """Swap each value with one at most `share` of the ranks away, attribute by attribute."""
    swapped = table.copy()
    n = len(table)
    window = max(1, int(share * n))
    for k in range(table.shape[1]):
        order = np.argsort(table[:, k], kind="stable")
        values, free = table[order, k].copy(), np.ones(n, dtype=bool)
        steps = rng.integers(1, window + 1, n)
        for i in range(n):
            j = min(n - 1, i + steps[i])
            if free[i] and free[j] and i != j:
                values[i], values[j] = values[j], values[i]
                free[i] = free[j] = False
        swapped[order, k] = values
    return swapped


def microaggregate(table, size):
    """Means of groups of `size` neighbours along the first principal axis: groups of equal records, as MDAV makes."""
    z = standardise(table)
    order = np.argsort(z @ np.linalg.eigh(z.T @ z)[1][:, -1])
    grouped = table.copy()
    for part in np.array_split(order, max(1, len(table) // size)):
        grouped[part] = table[part].mean(axis=0)
    return grouped


def maskings(table, seed=1):
    rng = np.random.default_rng(seed)
    for kappa in (0.1, 0.5, 1.0):
        yield f"noise {kappa}", noise(table, kappa, rng)
    yield "rank swap 5 %", rank_swap(table, 0.05, rng)
    yield "microaggregation 5", microaggregate(table, 5)


def space_of(queries, points, norm):
    none, codes = np.zeros(0), np.zeros((len(queries), 0), dtype=np.int32)
    return Space(queries, points, codes, codes, norm, np.ones(queries.shape[1]), none, none)


class Seconds(NamedTuple):
    wall: float
    cpu: float

    def times(self, factor):
        return Seconds(self.wall * factor, self.cpu * factor)

    def over(self, other):
        return f"{self.wall / other.wall:.1f} ({self.cpu / other.cpu:.1f})"


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu), result


class Peer(NamedTuple):
    name: str
    seconds: Seconds
    scaled: bool


def sampled(name, queries, share, build, ask):
    """Time a peer: building its index, and asking a share of the queries, scaled up to all of them."""
    some = queries[:: max(1, round(1 / share))]
    built, index = timed(build)
    asked, _ = timed(lambda: ask(index, some))
    asked = asked.times(len(queries) / len(some))
    return Peer(name, Seconds(built.wall + asked.wall, built.cpu + asked.cpu), len(some) < len(queries))


def peers(queries, points, norm, threads, share):
    p = 2 if norm == 2 else np.inf
    metric = "euclidean" if norm == 2 else "chebyshev"
    yield sampled(
        "scipy cKDTree", queries, share, lambda: cKDTree(points), lambda tree, q: tree.query(q, 2, p=p, workers=threads)
    )
    for algorithm in ("brute", "kd_tree"):
        model = NearestNeighbors(n_neighbors=2, algorithm=algorithm, metric=metric, n_jobs=threads)
        yield sampled(
            f"sklearn {algorithm}", queries, share, lambda m=model: m.fit(points), lambda model, q: model.kneighbors(q)
        )
    if norm == 2:
        yield from faiss_peers(queries, points, threads, share)


def faiss_peers(queries, points, threads, share):
    try:
        import faiss
    except ImportError:
        return
    faiss.omp_set_num_threads(threads)
    points, queries = points.astype(np.float32), queries.astype(np.float32)

    def build():
        index = faiss.IndexFlatL2(points.shape[1])
        index.add(points)
        return index

    yield sampled("faiss flat, two nearest", queries, share, build, lambda index, q: index.search(q, 2))
    # its fast kernel for one neighbour wants many queries: on a sample it falls back to one twelve times slower
    yield sampled("faiss flat, nearest only, float32", queries, 1, build, lambda index, q: index.search(q, 1))


def ours(space):
    """Seconds of: the tree and the full search; the tree and the decision; the tree. Credits of both must agree."""
    truth = np.arange(len(space.queries))
    full, found = timed(lambda: nearest(space))
    decision, decided = timed(lambda: decide(space, truth))
    build, _ = timed(lambda: plant(space))
    true = (
        ((space.queries - space.points) ** 2).sum(axis=1)
        if space.norm == 2
        else abs(space.queries - space.points).max(axis=1)
    )
    linked = np.where(true <= found.least * (1 + 1e-9) * (1 + 1e-12), 1 / found.ties, 0.0)
    assert abs(linked.mean() - decided.credit.mean()) < 1e-6, "decision and search disagree"  # noqa: S101
    return full, decision, build, decided.credit.mean()


def compare(n, threads, share):
    table = census(n)
    print(f"n = {n:,}, {M} attributes, {threads} threads; how many times faster we are: full search / decision")
    for name, masked in maskings(table):
        for norm, label in ((2, "L2"), (0, "Chebyshev on ranks")):
            points, queries = (
                (standardise(side) if norm == 2 else np.ascontiguousarray(rankdata(side, axis=0)))
                for side in (table, masked)
            )
            full, decision, build, rate = ours(space_of(queries, points, norm))
            print(f"{name}, {label}; {rate:.4f} linked")
            for part, seconds in (("full search", full), ("decision", decision), ("tree, part of each", build)):
                print(f"    {part}: {seconds.wall:.3f} s, {seconds.cpu:.3f} of processor")
            for peer in peers(queries, points, norm, threads, share):
                note = " (scaled up from a sample)" if peer.scaled else ""
                ratios = f"{peer.seconds.over(full)} / {peer.seconds.over(decision)}"
                print(f"    {peer.name}: {peer.seconds.wall:.2f} s{note}; {ratios}", flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB, peers included")


def growth(sizes):
    """Decision at several sizes, noise 0.5."""
    first = None
    for n in sizes:
        table = census(n)
        points, queries = standardise(table), standardise(noise(table, 0.5, np.random.default_rng(1)))
        space = space_of(queries, points, 2)
        seconds, _ = timed(lambda space=space, n=n: decide(space, np.arange(n)))
        build, _ = timed(lambda space=space: plant(space))
        first = first or seconds
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        ratio = f"{seconds.over(first)} x the first"
        print(
            f"n = {n:,}: decision {seconds.wall:.2f} s (tree {build.wall:.2f} s), {ratio}; peak {peak:.2f} GB",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["nearest", "growth"])
    parser.add_argument("--n", type=int, nargs="+", default=[100_000])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--share", type=float, default=1.0, help="share of the queries that peers get")
    options = parser.parse_args()
    numba.set_num_threads(options.threads)
    small = census(200)
    for norm in (0, 2):  # compile
        ours(space_of(small, small, norm))
    if options.part == "growth":
        growth(options.n)
    else:
        for n in options.n:
            compare(n, options.threads, options.share)


if __name__ == "__main__":
    sys.exit(main())
