"""Networks: what reading, colour refinement and propagation cost, in one run.

n people and ten ties for each that joins (preferential attachment); original and release each keep 90 % of the ties.

read:        both lists of ties from CSV into arrays: the unit of the next.
refine:      colour refinement of both networks until it is stable. Aim: within 10 times reading.
signatures:  the same with ties among friends and common friends.
propagation: from 50 people known beforehand. Aim: within 60 processor seconds and 2 GB at n = 100,000.
profiles:    the attack that knows nobody.

Processor seconds of one thread: set OMP_NUM_THREADS, NUMBA_NUM_THREADS and POLARS_MAX_THREADS to 1.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl

import unmask
from unmask.networks.profiles import attack_without_seeds
from unmask.networks.propagation import STRATEGIES, attack_from_seeds, propagate
from unmask.networks.signatures import refine, signatures

SEEDS = 50


def spent(function):
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def written(n, folder):
    rng = np.random.default_rng(1)
    ties = np.array(nx.barabasi_albert_graph(n, 10, seed=1).edges)
    names = rng.permutation(n)
    paths = []
    for name, to in (("original", np.arange(n)), ("released", names)):
        kept = ties[rng.random(len(ties)) < 0.9]
        pl.DataFrame({"source": to[kept[:, 0]], "target": to[kept[:, 1]]}).write_csv(folder / f"{name}.csv")
        paths.append(folder / f"{name}.csv")
    pl.DataFrame({"original": np.arange(n), "released": names}).write_csv(folder / "key.csv")
    return (*paths, folder / "key.csv")


def run(n, folder):
    original, released, key = written(n, folder)
    small = unmask.datasets.friends(300)
    unmask.network_risk(unmask.Network(small, small))  # compile
    read, network = spent(lambda: unmask.Network(original, released, truth=key))
    nothing = [np.zeros(side.indices.size, dtype=np.int64) for side in (network.original, network.released)]
    nobody = [np.zeros(side.n, dtype=np.int64) for side in (network.original, network.released)]
    refined, found = spent(lambda: refine(network, "ties", nothing, nobody))
    print(f"n = {n:,}, {network.original.n_ties:,} and {network.released.n_ties:,} ties")
    print(f"read         {read:6.1f} s")
    print(f"refine       {refined:6.1f} s = {refined / read:.2f} x reading, {found.classes:,} classes")
    print(f"signatures   {spent(lambda: signatures(network))[0]:6.1f} s")
    known = np.random.default_rng(2).choice(np.flatnonzero(network.there), SEEDS, replace=False)
    taken, image = spent(lambda: propagate(network, known, network.own[known], STRATEGIES[0]))
    right, claims = int((image == network.own).sum()) - SEEDS, int((image >= 0).sum()) - SEEDS
    print(f"propagation  {taken:6.1f} s, {right:,} of {claims:,} claims right")
    taken, attack = spent(lambda: attack_from_seeds(network, seeds=SEEDS))
    print(f"  as attack  {taken:6.1f} s, {attack.judged.estimate.value:.1%} found")
    taken, alone = spent(lambda: attack_without_seeds(network))
    print(f"profiles     {taken:6.1f} s, {alone.right:,} of {alone.claims:,} claims right")
    print(f"memory       {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:6.2f} GB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100_000)
    with tempfile.TemporaryDirectory() as folder:
        run(parser.parse_args().people, Path(folder))


if __name__ == "__main__":
    main()
