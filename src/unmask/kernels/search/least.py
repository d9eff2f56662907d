"""How far the nearest point of each query is, and nothing else: no ties are counted or drawn, no second one is sought.

Under the maximum norm a category that differs adds a constant, and in a release whose attributes were shuffled apart
thousands of points are at just that distance. So points whose categories all agree are searched first, as if others
were infinitely far. Where none of them is nearer than the constant, no point is, and the first one at it ends the
search. A missing value of the query bounds its distances from below in the same way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unmask.kernels.base import CHEBYSHEV, LEAF, Codes, Floats, Ints, Space
from unmask.kernels.compiling import in_chunks, inner, lean, lowest
from unmask.kernels.groups import identical
from unmask.kernels.search.tree import Tree, plant
from unmask.kernels.search.walk import Buffer, enter, limit, measured, new_buffer, next_near, search_order

FAR = np.float32(1e30)  # beyond any distance, and no infinity, which machine code might multiply by zero

Progress = Callable[[float], None] | None


def least_distances(space: Space, *, tree: Tree | None = None, progress: Progress = None) -> Floats:
    """The reduced distance of each query to its nearest point: that of a full search, to the last bit."""
    tree = plant(space) if tree is None else tree
    groups = identical(space.queries, space.query_codes)  # equal queries are searched once
    queries = groups.first[search_order(tree, groups.first)]
    least, floor = np.full(len(space.queries), np.inf), np.zeros(len(space.queries))
    if space.norm == CHEBYSHEV:
        floor = _floors(space)
        step = float(space.step.min(initial=np.inf))
        if np.isfinite(step):
            least[:] = step
            _search(space, _agreeing(tree), queries[floor[queries] < step], least, floor, progress)
            queries = queries[least[queries] >= step]
            least[queries], floor = np.inf, np.maximum(floor, step)
    _search(space, tree, queries, least, floor, progress)
    return least[groups.first][groups.label]


def _floors(space: Space) -> Floats:
    """What the missing values of each query add to every distance at the least."""
    lost = [
        np.where(np.isnan(space.queries), space.missing, 0.0),
        np.where(space.query_codes < 0, space.code_missing, 0.0),
    ]
    return np.asarray(np.hstack([*lost, np.zeros((len(space.queries), 1))]).max(axis=1))


def _agreeing(tree: Tree) -> Tree:
    """The same tree for who looks for points with the same categories alone."""
    step = tree.step.copy()
    step[tree.numeric :] = FAR
    return tree._replace(step=step)


def _search(space: Space, tree: Tree, queries: Ints, least: Floats, floor: Floats, progress: Progress) -> None:
    place = np.empty(len(least), np.int32)
    in_chunks(
        lambda part: find_least(space, tree, queries[part], (least, floor, place), new_buffer()),
        len(queries),
        progress=progress,
    )


@lean
def find_least(space: Space, tree: Tree, queries: Ints, found: tuple[Floats, Floats, Codes], buffer: Buffer) -> None:
    """Search some queries, each from the least distance that is known of it down to its floor.

    ``found``: of every query its least distance, its floor, and the place in the tree where what is found stands.
    """
    for query in queries:
        _visit(space, tree, query, found, buffer)


@inner
def _visit(space: Space, tree: Tree, query: int, found: tuple[Floats, Floats, Codes], buffer: Buffer) -> None:
    least, floor, place = found[0][query], found[1][query], -1
    probe, within = tree.probes[query], limit(tree, least)
    top = enter(tree, buffer)
    while top > 0 and least > floor:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        while mask:
            j = lowest(mask)
            mask &= mask - 1
            if buffer.far[j] > within:
                continue
            d = measured(space, tree, query, leaf * LEAF + j, buffer.far[j])
            if d < least:
                least, within, place = d, limit(tree, max(0.0, d - tree.grain)), leaf * LEAF + j
    found[0][query], found[2][query] = least, place
