"""Decisions about few queries among very many points, without a tree over all of them.

A tree over a million points takes seconds to build, a decision about a query microseconds. So the queries meet one
point in sixteen first: who has a closer one there is settled, and where the release hides people that is nearly
everybody. The others meet all points one after the other, each until one is closer. The answers are those of decide().
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Floats, Ints, Space
from unmask.kernels.compiling import in_chunks, inner, lean
from unmask.kernels.search.best import tie_limit
from unmask.kernels.search.distance import pair
from unmask.kernels.search.together import decide_part
from unmask.kernels.search.tree import plant
from unmask.kernels.search.truth import Met, nobody_met
from unmask.kernels.search.walk import search_order

THINNED = 16  # of so many points one is met first
MOST_MET = 2e8  # pairs up to which meeting all points is cheaper than a tree over them
BLOCK = 2048  # points that all queries meet before the next ones: they stay in the cache
QUERIES = 64  # of one task


def sift(space: Space, distances: Floats) -> NDArray[np.bool_]:
    """Which queries have a closer point than their true one (at these distances) among a part of all points."""
    part = space.of(points=slice(None, None, THINNED))
    tree, met = plant(part), nobody_met(distances)
    order = search_order(tree, np.arange(len(distances)))
    in_chunks(lambda chunk: decide_part(part, tree, order[chunk], met), len(distances))
    return met.closer


def meet_all(space: Space, distances: Floats, closer: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Ints]:
    """Decide the queries that are not settled by meeting every point: closer or not, and the size of the tie."""
    met = nobody_met(distances)._replace(closer=closer.copy())
    _meet_in_chunks(space, np.flatnonzero(~met.closer), met)
    unsettled = np.flatnonzero(met.again & ~met.closer)
    met.ties[unsettled] = 0
    _meet_in_chunks(space, unsettled, met)
    return met.closer, met.ties


def _meet_in_chunks(space: Space, queries: Ints, met: Met) -> None:
    in_chunks(lambda part: _meet(space, queries[part], met), len(queries), chunk=QUERIES)


@lean
def _meet(space: Space, queries: Ints, met: Met) -> None:
    """Let some queries meet all points, block after block."""
    n = space.points.shape[0]
    for first in range(0, n, BLOCK):
        for query in queries:
            if not met.closer[query]:
                _meet_block(space, query, first, min(n, first + BLOCK), met)


@inner
def _meet_block(space: Space, query: int, first: int, last: int, met: Met) -> None:
    """As _meet in together.py, on points in a row."""
    truth, least, count = met.truth[query], met.least[query], met.ties[query]
    cut = tie_limit(space, min(truth, least))
    for row in range(first, last):
        d = pair(space, query, row)
        if tie_limit(space, d) < truth:
            met.closer[query] = True
            return
        if d < least and d <= cut:
            met.again[query] = least <= tie_limit(space, d)
            least, count = d, 1
            cut = tie_limit(space, min(truth, least))
        elif d <= cut:
            count += 1
    met.least[query], met.ties[query] = least, count
