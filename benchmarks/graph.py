"""The graph attack against igraph and networkx, ratios taken in one run.

    python benchmarks/graph.py --only small large heavy sparse seeds geometric null

Baselines: igraph's ``largest_cliques`` and networkx' ``find_cliques`` on the finished product graph (their clique step
alone), against the whole of our attack, from tables to pairs. Both are optional: without them the rows are left out.
igraph's clique step ends after twenty times our processor time (four where ours is long): its ratio
is then a lower bound, and says so.
Every part runs in a process of its own, so that the peak of memory is its own, and ends after ``--limit`` seconds.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import polars as pl
from scipy.spatial import cKDTree

from unmask.datasets.places import people
from unmask.graph import Coordinates, NoiseTolerance, Null, link_graph, read_place
from unmask.graph.distances import between
from unmask.graph.problem import pose
from unmask.graph.tolerance import window
from unmask.kernels.alignment import one_to_one
from unmask.kernels.cliques.product import adjacency, vertices

LONLAT = Coordinates("lon", "lat")
LABELS = ["sex", "age"]


def files(n, common, sigma, seed=0):
    rng = np.random.default_rng(seed)
    everyone = people(2 * n - common, rng)
    noise = rng.normal(0, sigma, size=(2, n))
    target = everyone[:n].with_columns(lon=pl.col("lon") + noise[0], lat=pl.col("lat") + noise[1])
    return target, everyone[n - common :], np.column_stack([np.arange(n - common, n), np.arange(common)])


def must_equal(peer, ours):
    if peer != ours:
        raise SystemExit(f"the peer found {peer}, unmask {ours}")


def clock(function, repeat=1):
    """Best processor time (all threads) of some calls, and the last answer: a busy machine cannot change it."""
    best = np.inf
    for _ in range(repeat):
        begin = time.process_time()
        answer = function()
        best = min(best, time.process_time() - begin)
    return best, answer


def attack(n, common, sigma, *, alpha=0.9, **options):
    target, identification, truth = files(n, common, sigma)
    options = {"null": None, **options}

    def run():
        return link_graph(
            original=(identification, LONLAT),
            released=(target, LONLAT),
            labels=LABELS,
            tolerance=NoiseTolerance(sigma, alpha),
            **options,
        )

    return run, truth


def product_edges(n, common, sigma, alpha=0.9):
    """The finished product graph, for the baselines."""
    target, identification, _ = files(n, common, sigma)
    one, two = (
        read_place((target, LONLAT), LABELS, "target"),
        read_place((identification, LONLAT), LABELS, "identification"),
    )
    s = pose(one, two, window(two, NoiseTolerance(sigma, alpha)), None).sides(joins=False)
    rows, cols = vertices(s.start1, s.start2, s.couples, s.first)
    bits, edges = adjacency(s, rows, cols), []
    for begin in range(0, len(rows), 1024):
        u, x = np.nonzero(np.unpackbits(bits[begin : begin + 1024].view(np.uint8), axis=1, bitorder="little"))
        edges.append(np.column_stack([u + begin, x])[x > u + begin])
    return len(rows), np.vstack(edges)


def _igraph_alone(pipe, order, edges, limit):
    import igraph

    graph = igraph.Graph(n=order, edges=edges)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + limit) + 1, hard))
    seconds, cliques = clock(graph.largest_cliques)
    pipe.send((seconds, len(cliques[0]), len({u for clique in cliques for u in clique})))


def igraph_cliques(order, edges, limit):
    """Seconds, clique size and size of the union by igraph, in a process that ends after ``limit`` processor seconds.

    None when it had not ended by then.
    """
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_igraph_alone, args=(there, order, edges, limit))
    child.start()
    there.close()
    try:
        answer = here.recv()
    except EOFError:
        answer = None
    child.join()
    if answer is None and child.exitcode != -signal.SIGXCPU:
        raise SystemExit(f"igraph's process ended with {child.exitcode}")
    return answer


def row(what, seconds, linkage=None, truth=None, ratio=None, peer=""):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    said = f"{what:<58} {seconds:9.3f} s cpu  peak {peak:4.2f} GB"
    if ratio is not None:
        said += f"  {ratio:8.1f} x {peer}"
    if linkage is not None:
        said += (
            f"  clique {linkage.clique_size}, certified {linkage.exact}, precision {linkage.precision(truth):.3f},"
            f" recall {linkage.recall(truth):.3f}"
        )
    print(said, flush=True)


def against_peers(n, common, sigma, repeat, *, networkx=False, times=20):
    """Ours, whole, against the peers' clique step on the finished graph."""
    run, truth = attack(n, common, sigma, method="exact")
    attack(100, 50, 0.05, method="exact")[0]()
    ours, linkage = clock(run, repeat)
    row(f"unmask, whole attack, N={n}, common={common}, sigma={sigma}", ours, linkage, truth)
    if n < 1000:
        seconds, _ = clock(attack(n, common, sigma, method="exact", null=Null())[0])
        row("  the same with 19 null draws", seconds)
    order, edges = product_edges(n, common, sigma)
    print(f"  product graph: {order} vertices, {len(edges)} edges", flush=True)
    if find_spec("igraph"):
        limit = max(20.0, times * ours)
        answer = igraph_cliques(order, edges, limit)
        seconds, size, union = answer or (limit, linkage.clique_size, len(linkage.pairs))
        must_equal((size, union), (linkage.clique_size, len(linkage.pairs)))
        what = "largest_cliques alone" if answer else "largest_cliques alone had NOT ended after"
        row(f"  igraph {version('igraph')} {what}", seconds, ratio=seconds / ours, peer="our whole attack")
    if networkx and find_spec("networkx"):
        import networkx as nx

        graph = nx.Graph(edges.tolist())
        seconds, most = clock(lambda: max(map(len, nx.find_cliques(graph))))
        must_equal(most, linkage.clique_size)
        row(f"  networkx {nx.__version__} find_cliques alone", seconds, ratio=seconds / ours, peer="our whole attack")


def small():
    against_peers(100, 50, 0.05, 5, networkx=True)  # networkx lists every maximal clique: small files only
    against_peers(300, 100, 0.05, 5)


def large():
    against_peers(1000, 333, 0.01, 2)


def heavy():
    against_peers(1000, 333, 0.05, 1, times=4)  # of half a minute


def sparse():
    run, truth = attack(2000, 667, 0.01, method="exact")
    row("unmask, exact, N=2000, common=667, sigma=0.01", *clock(run), truth)


def seeds():
    for sigma in (0.01, 0.05):
        run, truth = attack(300, 100, sigma, method="seeds")
        run()
        run, truth = attack(1000, 333, sigma, method="seeds")
        before, linkage = clock(run)
        row(f"unmask, seeds, N=1000, common=333, sigma={sigma}", before, linkage, truth)
        run, truth = attack(10_000, 3333, sigma, method="seeds")
        seconds, linkage = clock(run)
        row(f"unmask, seeds, N=10000, common=3333, sigma={sigma}", seconds, linkage, truth, seconds / before, "N=1000")


def geometric():
    attack(300, 100, 0.01, method="geometric")[0]()
    for n in (10_000, 100_000):
        run, truth = attack(n, n // 3, 0.01, method="geometric")
        seconds, linkage = clock(run)
        _, identification, _ = files(n, n // 3, 0.01)
        points = identification.select("lon", "lat").to_numpy()
        for k in (1, 32):
            peer, _ = clock(lambda points=points, k=k: cKDTree(points).query(points, k=k), 3)
            row(f"  scipy kd-tree build and query of {n} points, {k} nearest", peer)
            row(
                f"unmask, geometric, N={n}, common={n // 3}, sigma=0.01",
                seconds,
                linkage,
                truth,
                seconds / peer,
                "kd-tree",
            )


def oracle():
    """What the geometric rule finds when told the true alignment, noise and overlap; density read in two circles."""
    sigma = 0.01
    for n, circle in ((10_000, 0.08), (10_000, 0.2), (100_000, 0.03), (100_000, 0.08)):
        target, identification, truth = files(n, n // 3, sigma)
        y, x = (f.select("lon", "lat").to_numpy() for f in (target, identification))
        one, two = (
            f.select(pl.concat_str(LABELS, separator="|")).to_series().to_numpy() for f in (target, identification)
        )
        nearest, found = np.full(n, -1), []
        for label in np.intersect1d(one, two):
            ours, hers = np.flatnonzero(one == label), np.flatnonzero(two == label)
            tree = cKDTree(x[hers])
            nearest[ours] = hers[tree.query(y[ours])[1]]
            around = cKDTree(y[ours]).query_ball_point(y[ours], circle, return_length=True) - 1 + 0.5
            around = around / (len(ours) * np.pi * circle**2)
            near = tree.query_ball_point(y[ours], 4.5 * sigma)
            i, j = np.repeat(np.arange(len(ours)), [len(k) for k in near]), np.concatenate(near).astype(int)
            odds = 0.5 * np.exp(-0.5 * ((y[ours[i]] - x[hers[j]]) ** 2).sum(axis=1) / sigma**2)
            found.append((ours[i], hers[j], odds / (2 * np.pi * sigma**2 * len(hers) * around[i])))
        rows, cols, odds = (np.concatenate(part) for part in zip(*found, strict=True))
        claimed = one_to_one(rows.astype(np.int32), cols.astype(np.int32), odds, n, n, 50) > 0.5
        partner = np.full(n, -1)
        partner[truth[:, 0]] = truth[:, 1]
        hits = int((partner[rows[claimed]] == cols[claimed]).sum())
        print(
            f"oracle, N={n}, density in circles of {circle} degrees: {len(rows) / n:.2f} candidates each, precision"
            f" {hits / claimed.sum():.3f}, recall {hits / len(truth):.3f}; nearest is right for"
            f" {(nearest[truth[:, 0]] == truth[:, 1]).mean():.3f} of the common people",
            flush=True,
        )


def null():
    """25 pairs of files with nobody in common, N = 300: alarms of each method at level 0.05."""
    for method, sigma in (("exact", 0.02), ("seeds", 0.02), ("geometric", 0.05)):
        alarms, begin = 0, time.process_time()
        for seed in range(25):
            target, identification, _ = files(300, 0, sigma, seed=100 + seed)
            linkage = link_graph(
                original=(identification, LONLAT), released=(target, LONLAT),
                labels=LABELS, tolerance=NoiseTolerance(sigma), method=method, seed=seed,
            )  # fmt: skip
            alarms += linkage.found
        row(f"{method}, sigma={sigma}: {alarms} alarms on 25 pairs of disjoint files", time.process_time() - begin)


def product():
    """Testing all pairs of vertices, ours against NumPy, N = 300."""
    target, identification, _ = files(300, 100, 0.05)
    d1, d2 = (between(*[f.select("lon", "lat").to_numpy()] * 2, "lonlat") for f in (target, identification))
    one, two = read_place((target, d1), LABELS, "target"), read_place((identification, d2), LABELS, "identification")
    problem = pose(one, two, window(two, 11.0), None)

    def ours():
        s = problem.sides()
        rows, cols = vertices(s.start1, s.start2, s.couples, s.first)
        return adjacency(s, rows, cols)

    def dense():
        s = problem.sides()
        rows, cols = vertices(s.start1, s.start2, s.couples, s.first)
        near = np.abs(s.d2[np.ix_(cols, cols)] - s.d1[np.ix_(rows, rows)]) < 11.0
        return near & (rows[:, None] != rows) & (cols[:, None] != cols)

    ours()
    seconds, bits = clock(ours, 5)
    peer, near = clock(dense)
    must_equal(int(np.bitwise_count(bits).sum()), int(near.sum()))
    row("product graph, N=300, window joins", seconds, ratio=peer / seconds, peer="faster than dense NumPy")


PARTS = {f.__name__: f for f in (product, small, large, heavy, sparse, seeds, geometric, oracle, null)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--limit", type=float, default=600, help="seconds of a part")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    for name in given.only:
        if given.inside:
            PARTS[name]()
            continue
        print(f"-- {name}", flush=True)
        try:
            subprocess.run([sys.executable, __file__, "--inside", "--only", name], check=True, timeout=given.limit)
        except subprocess.TimeoutExpired:
            print(f"  ended after {given.limit:g} s", flush=True)
