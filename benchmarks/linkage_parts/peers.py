"""What others take for the same: nearest neighbours, and dense assignment.

A peer for nearest records is asked for the two nearest, which is what a margin needs. With a share below 1 it gets a
sample of the queries and is scaled up. faiss answers another question (float32, no ties): it is shown and marked so.
"""

from __future__ import annotations

import importlib.util
import shutil
from typing import NamedTuple

import numpy as np
from linkage_parts.clock import Seconds, timed

WANTED = {"faiss": "faiss-cpu", "lap": "lapx"}


def missing():
    """Name the peers that are not installed: what is not compared is said."""
    absent = [name for module, name in WANTED.items() if not importlib.util.find_spec(module)]
    return absent + ([] if shutil.which("Rscript") else ["sdcMicro (no R)"])


class Peer(NamedTuple):
    name: str
    seconds: Seconds
    scaled: bool
    same: bool  # answers the same question
    found: object = None  # distances of the nearest, of the queries asked


def _sampled(name, space, share, build, ask, *, same=True):
    """Time a peer: building its index, and asking a share of the queries, scaled up to all of them."""
    step = max(1, round(1 / share))
    some = np.ascontiguousarray(space.queries[::step])
    built, index = timed(build)
    asked, found = timed(lambda: ask(index, some))
    return Peer(name, built + asked.times(len(space.queries) / len(some)), step > 1, same, (step, found[0]))


def nearest_peers(space, threads, share):
    from scipy.spatial import cKDTree
    from sklearn.neighbors import NearestNeighbors

    p, metric = (2, "euclidean") if space.norm == 2 else (np.inf, "chebyshev")
    yield _sampled(
        "SciPy cKDTree",
        space,
        share,
        lambda: cKDTree(space.points),
        lambda tree, some: tree.query(some, 2, p=p, workers=threads),
    )
    for algorithm in ("brute", "kd_tree"):
        model = NearestNeighbors(n_neighbors=2, algorithm=algorithm, metric=metric, n_jobs=threads)
        yield _sampled(
            f"scikit-learn {algorithm}",
            space,
            share,
            lambda model=model: model.fit(space.points),
            lambda model, some: model.kneighbors(some),
        )
    if space.norm == 2 and importlib.util.find_spec("faiss"):
        yield from _faiss(space, threads, share)


def _faiss(space, threads, share):
    import faiss

    faiss.omp_set_num_threads(threads)
    points = space.points.astype(np.float32)

    def build():
        index = faiss.IndexFlatL2(points.shape[1])
        index.add(points)
        return index

    def ask(k):
        return lambda index, some: index.search(some.astype(np.float32), k)

    yield _sampled("faiss flat, two nearest, float32", space, share, build, ask(2), same=False)
    # its fast kernel for one neighbour wants many queries: on a sample it falls back to one twelve times slower
    yield _sampled("faiss flat, one nearest, float32", space, 1, build, ask(1), same=False)


def _costs(space):
    from scipy.spatial.distance import cdist

    return cdist(space.queries, space.points)


def scipy_dense(space):
    from scipy.optimize import linear_sum_assignment

    costs = _costs(space)
    return costs[linear_sum_assignment(costs)].sum()


def lapx_dense(space):
    import lap

    return lap.lapjv(_costs(space))[0]


def assignment_peers():
    """Name and solver of every dense peer; building the matrix is theirs to do."""
    yield "SciPy dense", scipy_dense
    if importlib.util.find_spec("lap"):
        yield "lapx", lapx_dense
