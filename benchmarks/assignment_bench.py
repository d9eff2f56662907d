"""Global linkage against its peers: ratios, growth and memory.

    python benchmarks/assignment_bench.py [peers] [own] [big] [million]

peers: n = 1000, 2000, 4000 against SciPy's dense solver (and lapx if it is installed), building the matrix included.
own: n = 10,000 against our own nearest-neighbour pass. big: n = 100,000, all maskings. million: max_gap = 1e-3.
Each big run is its own process, so that peak memory is that of the run.
"""

from __future__ import annotations

import importlib.util
import resource
import subprocess
import sys
import time

import numpy as np

from unmask.kernels.assignment import solve
from unmask.kernels.nearest import nearest
from unmask.kernels.space import EUCLIDEAN, Space

ATTRIBUTES = 13
MASKINGS = ["noise 0.1", "noise 0.5", "noise 1", "rank swap 5%", "microaggregation 5"]


def census_like(n, seed=0):
    """Skewed, correlated attributes driven by four factors, some near copies of others: like the CASC census table."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 4))
    loadings = np.random.default_rng(7).normal(size=(4, ATTRIBUTES)) * np.array([1.5, 1.0, 0.6, 0.4])[:, None]
    x = np.exp(0.4 * (factors @ loadings + 0.35 * rng.normal(size=(n, ATTRIBUTES))))
    return (x - x.mean(axis=0)) / x.std(axis=0)


def rank_swapped(x, share, rng):
    y = x.copy()
    for k in range(x.shape[1]):
        order = np.argsort(x[:, k], kind="stable")
        jump = rng.integers(1, max(2, int(share * len(x))), len(x))
        taken = np.zeros(len(x), dtype=bool)
        for place in range(len(x)):
            other = min(place + jump[place], len(x) - 1)
            if not (taken[place] or taken[other]):
                taken[[place, other]] = True
                i, j = order[place], order[other]
                y[i, k], y[j, k] = x[j, k], x[i, k]
    return y


def microaggregated(x, size):
    y, todo = np.empty_like(x), [np.arange(len(x))]
    while todo:
        rows = todo.pop()
        if len(rows) < 2 * size:
            y[rows] = x[rows].mean(axis=0)
            continue
        order = rows[np.argsort(x[rows, x[rows].var(axis=0).argmax()], kind="stable")]
        half = len(rows) // 2 // size * size
        todo += [order[:half], order[half:]]
    return y


def masked(x, masking, seed=1):
    rng = np.random.default_rng(seed)
    if masking.startswith("noise"):
        return x + float(masking.split()[1]) * rng.normal(size=x.shape)
    return rank_swapped(x, 0.05, rng) if masking.startswith("rank") else microaggregated(x, 5)


def space_of(x, y):
    none, codes = np.zeros(0), np.zeros((len(x), 0), dtype=np.int32)
    return Space(x, y, codes, codes, EUCLIDEAN, np.zeros(x.shape[1]), none, none)


def timed(work):
    """Processor seconds of all threads, which other work on the machine does not stretch, and the result."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def scipy_dense(x, y):
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    costs = cdist(x, y)
    return costs[linear_sum_assignment(costs)].sum()


def lapx_dense(x, y):
    import lap
    from scipy.spatial.distance import cdist

    return lap.lapjv(cdist(x, y))[0]


def peers():
    print("n, masking: ours s, peer s (ratio); totals agree to")
    for n in (1000, 2000, 4000):
        x = census_like(n)
        for masking in MASKINGS:
            y = masked(x, masking)
            ours, found = timed(lambda x=x, y=y: solve(space_of(x, y)))
            line = f"{n:6d} {masking:20s} ours {ours:7.3f}"
            for name, module, peer in (("scipy", "scipy", scipy_dense), ("lapx", "lap", lapx_dense)):
                if importlib.util.find_spec(module):
                    seconds, total = timed(lambda x=x, y=y, peer=peer: peer(x, y))
                    line += (
                        f"   {name} {seconds:7.2f} ({seconds / ours:5.1f} x, {abs(total - found.total) / total:.0e})"
                    )
            print(line, flush=True)


def own(n=10_000):
    for masking in MASKINGS:
        x = census_like(n)
        y = masked(x, masking)
        pass_seconds = min(timed(lambda x=x, y=y: nearest(space_of(y, x)))[0] for _ in range(3))
        seconds, found = timed(lambda x=x, y=y: solve(space_of(x, y)))
        print(f"{n:6d} {masking:20s} {seconds:7.2f} s = {seconds / pass_seconds:5.1f} nearest-neighbour passes, "
              f"gap {found.gap:.0e}", flush=True)  # fmt: skip


def one(n, masking, max_gap):
    x = census_like(n)
    y = masked(x, masking)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    started = time.perf_counter()
    seconds, found = timed(lambda: solve(space_of(x, y), max_gap=max_gap))
    wall = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{n:8d} {masking:20s} {wall:8.1f} s ({seconds:.1f} s of processors)  gap {found.gap:.0e} "
        f"optimal {found.optimal}  peak {peak:.2f} GB ({before:.2f} before)",
        flush=True,
    )


def apart(n, maskings, max_gap=0.0):
    for masking in maskings:
        subprocess.run([sys.executable, __file__, "one", str(n), masking, str(max_gap)], check=True)


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["peers", "own", "big"]
    if wanted[0] == "one":
        one(int(wanted[1]), wanted[2], float(wanted[3]))
        sys.exit()
    solve(space_of(census_like(300), census_like(300, seed=5)))  # compiles
    for task in wanted:
        {
            "peers": peers,
            "own": own,
            "big": lambda: apart(100_000, MASKINGS),
            "million": lambda: apart(1_000_000, ["noise 0.1"], 1e-3),
        }[task]()
