"""Linkage at scale against its peers, on one machine and in one process: nearest records, the decision, one to one.

    python benchmarks/linkage.py                                   all of it at small n, a few minutes
    python benchmarks/linkage.py nearest --n 100000 --share 0.05   nearest records against peers
    python benchmarks/linkage.py decision --n 100000 --share 0.05  the decision alone against the same peers
    python benchmarks/linkage.py assignment                        one to one against dense solvers, n = 1,000 to 4,000
    python benchmarks/linkage.py assignment --n 10000              ... in units of our own nearest-neighbour pass
    python benchmarks/linkage.py growth --n 1000 3000 10000 ...    time and memory against n, each run its own process
    python benchmarks/linkage.py growth --write                    tables and chart of the docs from what was measured
    python benchmarks/linkage.py compile                           compiling all kernels of linkage, from an empty cache

Tables: the product's generated census (13 attributes), masked by the product's maskings. In nearest and decision the
release queries and the original is searched (the direction of the paper); our times include building the tree. Ratios
are of processor time over all threads, which other jobs disturb less, and, in brackets, of time on the clock. Peers
that are not installed are named: `pip install '.[bench]'`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

import numba
import numpy as np
from linkage_parts import growth
from linkage_parts.clock import best, peak, timed
from linkage_parts.peers import assignment_peers, missing, nearest_peers
from linkage_parts.tables import ATTRIBUTES, MASKINGS, space_of

from unmask.kernels.assignment import solve
from unmask.kernels.search import decide, nearest, plant

METRICS = {"euclidean": "L2", "permutation": "Chebyshev on ranks"}
DENSE = 5000  # the largest n at which a peer may fill a matrix
COMPILE = """
import resource, time
started = time.perf_counter(), time.process_time()
import unmask
from unmask.linkage.one_to_one import assess_global
from unmask.linkage.nearest import assess_nearest
from unmask.evidence.measure import Context
people = unmask.datasets.census(400)
release = unmask.Release(people, unmask.parse_masking("noise(0.5)").apply(people, 1))
for attack in (assess_nearest, assess_global):
    attack(release, Context(seed=0))
    print(f"{attack.__name__}: {time.process_time() - started[1]:.1f} processor seconds since the start, "
          f"{time.perf_counter() - started[0]:.1f} on the clock")
"""


def ours(space, times=1):
    """Seconds of the full search and of the decision, tree and all, and the share linked; credits must agree."""
    truth = np.arange(len(space.queries))
    full, found = best(lambda: nearest(space), times)
    decision, decided = best(lambda: decide(space, truth), times)
    gap = space.queries - space.points
    true = (gap**2).sum(axis=1) if space.norm == 2 else np.abs(gap).max(axis=1)
    linked = np.where(true <= (found.least * (1 + space.tolerance) + space.floor) * (1 + 1e-12), 1 / found.ties, 0.0)
    assert abs(linked.mean() - decided.credit.mean()) < 1e-6, "decision and search disagree"  # noqa: S101
    return full, decision, found.least, float(decided.credit.mean())


def check_peer(peer, least, norm):
    """A peer that answers the same question finds the same distances."""
    step, distances = peer.found
    wanted = np.sqrt(least[::step]) if norm == 2 else least[::step]
    if peer.same:
        np.testing.assert_allclose(distances[:, 0], wanted, rtol=1e-6, atol=1e-6)


def compare(n, parts, options):
    """Nearest records and the decision against peers, metric by metric and masking by masking."""
    for metric, label in METRICS.items():
        for masking in MASKINGS if metric in options.metric else ():
            space = space_of(n, masking, metric, back=True)
            full, decision, least, rate = ours(space, options.times)
            build, _ = timed(lambda space=space: plant(space))
            own = {"nearest": full, "decision": decision}
            print(f"n = {n:,}, {label}, {masking}: {rate:.4f} linked; the tree, part of each, takes {build}")
            print("".join(f"    our {part}: {own[part]}\n" for part in parts), end="")
            peers = list(nearest_peers(space, options.threads, options.share))
            for peer in peers:
                check_peer(peer, least, space.norm)
                ratios = ", ".join(f"{part} {peer.seconds.over(own[part])}" for part in parts)
                marks = [*["a sample, scaled up"] * peer.scaled, *["another question"] * (not peer.same)]
                note = f" [{'; '.join(marks)}]" if marks else ""
                print(f"    {peer.name}: {peer.seconds}{note}: {ratios} times ours", flush=True)
            top = min((peer for peer in peers if peer.same), key=lambda peer: peer.seconds.cpu)
            ratios = ", ".join(f"{part} {top.seconds.over(own[part])}" for part in parts)
            print(f"  => best peer {top.name}: {ratios} times ours")
            growth.remember("peers", f"{n}|{label}|{masking}", {
                "n": n, "metric": label, "masking": masking, "nearest": full, "decision": decision,
                "peers": {peer.name: [*peer.seconds, peer.scaled, peer.same] for peer in peers},
            }, keep=options.keep)  # fmt: skip


def assign(n, options):
    """One-to-one matching: against dense solvers where these fit, and in our own nearest-neighbour passes."""
    for masking in MASKINGS:
        space = space_of(n, masking)
        back = space_of(n, masking, back=True)
        seconds, found = best(lambda space=space: solve(space), options.times)
        one_pass, _ = best(lambda back=back: nearest(back), max(3, options.times))
        print(f"n = {n:,}, {masking}: {seconds}, gap {found.gap:.0e}, optimal {found.optimal}; "
              f"{seconds.over(one_pass)} of our nearest-neighbour passes")  # fmt: skip
        row = {"n": n, "masking": masking, "ours": seconds, "pass": one_pass, "optimal": found.optimal, "peers": {}}
        for name, peer in assignment_peers() if n <= DENSE else ():
            taken, total = timed(lambda peer=peer, space=space: peer(space))
            row["peers"][name] = [*taken, abs(total - found.total) / total]
            print(f"    {name}: {taken}; {taken.over(seconds)} times ours; totals agree to "
                  f"{abs(total - found.total) / total:.0e}", flush=True)  # fmt: skip
        growth.remember("assignment", f"{n}|{masking}", row, keep=options.keep)


def compiled():
    """Compile everything that assess runs of linkage, in a process of its own, into an empty cache; then once more."""
    with tempfile.TemporaryDirectory() as folder:
        for label in ("from an empty cache", "from the cache"):
            print(label, flush=True)
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            subprocess.run([sys.executable, "-c", COMPILE], env=environment, check=True)


def warm():
    """Compile, so that no time below is that of the compiler."""
    for metric in METRICS:
        ours(space_of(300, "noise 0.5", metric, back=True))
    solve(space_of(300, "noise 0.5"))


def whole(options):
    """All parts at small n: what `make bench` runs."""
    compiled()
    compare(20_000, ("nearest", "decision"), options)
    for n in (1000, 2000, 10_000):
        assign(n, options)
    for kind in growth.KINDS:
        for n in (3000, 10_000, 30_000):
            growth.measure(kind, n, "noise 0.5", options.threads)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["all", "nearest", "decision", "assignment", "growth", "compile", "one"]
    parser.add_argument("part", nargs="?", default="all", choices=parts)
    parser.add_argument("--n", type=int, nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--share", type=float, help="share of the queries that peers get (default 1; 0.1 for all)")
    parser.add_argument("--metric", nargs="+", choices=METRICS, default=list(METRICS), help="distances to compare")
    parser.add_argument("--times", type=int, default=1, help="runs of ours, of which the fastest counts")
    parser.add_argument("--kind", nargs="+", choices=growth.KINDS, default=list(growth.KINDS), help="growth of what")
    parser.add_argument("--masking", nargs="+", choices=MASKINGS, help="growth: maskings (default noise 0.5)")
    parser.add_argument("--max-gap", type=float, default=0.0, help="growth of one-to-one linkage to a proven gap only")
    parser.add_argument("--again", action="store_true", help="growth: measure again what is there")
    parser.add_argument("--keep", action="store_true", help=f"keep what was measured in {growth.KEPT.name}")
    parser.add_argument("--write", action="store_true", help="write tables and chart of what was kept")
    return parser.parse_args()


def main():
    options = arguments()
    numba.set_num_threads(options.threads)
    if options.part == "one":
        return growth.one(options)
    if options.part == "compile":
        return compiled()
    print(f"{ATTRIBUTES} attributes, {options.threads} threads; missing peers: {', '.join(missing()) or 'none'}")
    warm()
    options.share = options.share or (0.1 if options.part == "all" else 1.0)
    if options.part == "all":
        whole(options)
    elif options.part == "growth":
        growth.run(options)
    elif options.part == "assignment":
        for n in options.n or (1000, 2000, 4000):
            assign(n, options)
    else:
        for n in options.n or (100_000,):
            compare(n, ("nearest", "decision") if options.keep else (options.part,), options)
    print(f"peak memory {peak():.2f} GB, peers included")
    return None


if __name__ == "__main__":
    main()
