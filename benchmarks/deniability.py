# ruff: noqa: E501 - a printed table
"""The maximum-knowledge tests against SciPy's cKDTree and our own nearest-record linkage, in one run.

    python benchmarks/deniability.py [--n 100000] [--instantiations 10] [--million] [--tables]

The generated census table (13 attributes), noise of 0.5 sd, reverse mapping. The peer does the same test with the same
ranks and the same sampled intruders: it builds a tree for Y and for each Y' and asks for the nearest record under the
maximum norm with two workers. To keep the run short the peer does `--peer` instantiations and its time is scaled.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from unmask import datasets
from unmask.masking import Microaggregation, Noise, ReverseMapped
from unmask.max_knowledge import dictionary_test, permuted_test
from unmask.max_knowledge.permuted import INTRUDERS, permuted_space
from unmask.max_knowledge.ranks import ranked
from unmask.study import Index
from unmask.tables import Release


def release(n: int) -> Release:
    original = datasets.census(n)
    released = ReverseMapped(Noise(0.5)).apply(original, 0)
    return Release(original, released, kinds=dict.fromkeys(original.columns, "numeric"))


def clock(task) -> tuple[float, object]:
    began = time.perf_counter()
    result = task()
    return time.perf_counter() - began, result


def peer(release: Release, instantiations: int, peer_instantiations: int, *, sampled: bool) -> float:
    """Seconds of the same test with cKDTree; the instantiations are timed on a few and scaled."""
    space = ranked(release, seed=0).space
    linked, _ = clock(lambda: cKDTree(space.points).query(space.queries, p=np.inf, workers=2))
    shuffled = 0.0
    for number in range(peer_instantiations):
        rng = np.random.default_rng([0, 2, number])
        asked = rng.choice(len(space.queries), min(INTRUDERS, len(space.queries)), replace=False)
        points = permuted_space(space, rng).points
        queries = space.queries[asked] if sampled else space.queries
        shuffled += clock(lambda p=points, q=queries: cKDTree(p).query(q, p=np.inf, workers=2))[0]
    return linked + shuffled * instantiations / peer_instantiations


def memory(n: int, instantiations: int) -> float:
    """Peak memory in GB of a process that does nothing but the test."""
    command = [sys.executable, __file__, "--alone", str(n), "--instantiations", str(instantiations)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    print(out.stdout, end="")
    return float(out.stdout.split("peak")[1].split()[0])


def alone(n: int, instantiations: int) -> None:
    both = release(n)
    seconds, test = clock(lambda: permuted_test(both, instantiations=instantiations))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"  n = {n:,}: permuted test {seconds:.1f} s, KS {test.ks:.3f}, peak {peak:.2f} GB with the two tables")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--instantiations", type=int, default=10)
    parser.add_argument("--peer", type=int, default=1)
    parser.add_argument("--alone", type=int)
    parser.add_argument("--million", action="store_true", help="also n = 1,000,000")
    parser.add_argument("--tables", action="store_true", help="also Tables I to III at 30 replicates")
    options = parser.parse_args()
    if options.alone:
        alone(options.alone, options.instantiations)
        return
    small = release(500)
    permuted_test(small), dictionary_test(small), Microaggregation(3).apply(small.original)  # compiles
    both = release(options.n)
    space = ranked(both, seed=0).space
    linkage, _ = clock(lambda: Index(space).nearest(seed=0))
    ours, _ = clock(lambda: permuted_test(both, instantiations=options.instantiations))
    dictionary, _ = clock(lambda: dictionary_test(both))
    theirs = peer(both, options.instantiations, options.peer, sampled=True)
    print(f"n = {options.n:,}, 13 attributes, {options.instantiations} instantiations, {INTRUDERS:,} intruders each")
    print(f"  nearest-record linkage, permutation distance    {linkage:8.1f} s")
    print(
        f"  permuted test                                   {ours:8.1f} s   {ours / linkage:5.1f} times the linkage (at most 10)"
    )
    print(
        f"  dictionary test                                 {dictionary:8.1f} s   {dictionary / linkage:5.1f} times the linkage"
    )
    print(
        f"  the same permuted test with cKDTree             {theirs:8.1f} s   {theirs / ours:5.1f} times ours (at least 5)"
    )
    mdav, _ = clock(lambda: Microaggregation(3).apply(both.original))
    print(f"  MDAV, k = 3                                     {mdav:8.1f} s")
    memory(options.n, options.instantiations)
    if options.million:
        memory(1_000_000, options.instantiations)
    if options.tables:
        sys.path.insert(0, str(Path(__file__).resolve().parent / "papers"))
        from maximum_knowledge import UNKNOWN, reproduce

        seconds, _ = clock(lambda: reproduce(30, (UNKNOWN,)))
        print(f"  Tables I to III, 30 replicates                  {seconds:8.1f} s   (at most 180)")


if __name__ == "__main__":
    main()
