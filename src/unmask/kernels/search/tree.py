"""A balanced kd-tree over distinct points, stored wide, for screening in float32.

Layout
------
*Positions.* The distinct points (see groups.py) stand in tree order: position t is the group of row ``rows[t]``, which
occurs ``weight[t]`` times, in rows ``members[start[t]:start[t + 1]]``.

*Attributes.* ``width = p + q``: the p numeric attributes first, then the q nominal ones, as float32 numbers. A missing
value is NaN. Coordinates are centred, for norm 2 without missing values also rotated to principal axes (box distances
then bound far better), and divided by ``scale``. They serve to *exclude* pairs only: what is not excluded is decided by
distance.pair on the numbers of the Space. ``probes`` holds the queries in the same frame, row by row.

*Leaves.* Leaf l is positions ``48 l .. 48 l + 47``: ``lanes[l, k, j]`` is attribute k of position ``48 l + j``, so that
one pass over j is a few vector instructions (masks.py). Padding is +inf: mask out positions beyond the last.

*Boxes.* Box b of level h holds 16**h leaves: b * 16**h and up. Boxes stand in groups of 16, attribute-major too:
``low[g, k, j]`` and ``high[g, k, j]`` with ``g = level[h] + b // 16`` and ``j = b % 16``; ``relief`` is the missing
value's contribution where the box holds any missing value of the attribute, and +inf elsewhere. Hence the children of
box b of level h + 1 are the group ``level[h] + b``. The root is box 0 of level ``len(level)``; it is not stored.
Splits are at multiples of 16**h leaves, nearest to the median, on the attribute where random pairs differ most.
Nominal codes are split and bounded like numbers: a range of codes that leaves the query's code out proves a step.

Why screening is exact
----------------------
Write r for the norm of a pair (root of the reduced distance for norm 2). Stored numbers differ from exact images under
the frame by at most e per coordinate (frame.py: 2**-24 and a little). By the triangle inequality the norm of the stored
pair differs from the true one by at most E = 2 e c, with c = sqrt(p), p, 1 for norms 2, 1, max; constants are equal on
both sides up to relative 2**-24. Summing in float32, in any order, adds a relative error below (width + 3) 2**-24, and
a rotation whose R'R is within w of the identity a relative w. So every pair with distance at most T has a stored
distance at most (root(T) / scale + E)**power (1 + slack): this is ``walk.limit``. Box bounds obey it too: rounding is
monotone and a box is the exact range of stored numbers. Underflow adds less than 1e-36. If the tree is sharp, E = slack
= 0, and stored distances need not be decided again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, LANES, LEAF, Floats, Ints, Singles, Space
from unmask.kernels.compiling import in_chunks, in_threads, kernel, lean
from unmask.kernels.groups import Groups, identical
from unmask.kernels.search.frame import STEP, Frame, choose_frame, store
from unmask.kernels.search.splitting import split_leaves

One = TypeVar("One")
Other = TypeVar("Other")

_LONG = 20_000  # points from which on two threads prepare them
_CHUNK = 256  # leaves per task of a thread


class Tree(NamedTuple):
    """Points in tree order with their boxes, and queries in the same frame. See the top of the file."""

    lanes: Singles  # (n_leaves, width, 48)
    low: Singles  # (n_box_groups, width, 16)
    high: Singles
    relief: Singles
    level: Ints  # (n_levels,) first box group of each level
    rows: Ints  # (n,) lowest row of the group at each position
    weight: Ints  # (n,) rows of that group
    start: Ints  # (n + 1,) into members
    members: Ints  # (n_points,)
    position: Ints  # (n_points,) tree position of each row
    probes: Singles  # (n_queries, width)
    missing: Singles  # (width,) contribution of a missing value
    step: Singles  # (width,) contribution of unequal codes; 0 for numeric attributes
    numeric: int  # p
    norm: int
    plain: bool  # no codes and no missing values on either side
    scale: float  # of reduced distances: scale**2 for norm 2
    error: float  # E of the proof
    slack: float
    lattice: Floats  # all reduced distances that there can be, ascending, if these are few; else empty
    grain: float  # two unequal reduced distances differ by more than this
    sharp: bool  # stored distances are the exact ones, and only equal ones tie: ranks (frame.py)


def plant(space: Space, *, apart: bool = False) -> Tree:
    """Build the tree of a space's points; `apart`: equal ones may stand by themselves, where hardly any are equal."""
    n = len(space.points)
    alone = Groups(np.arange(n), np.arange(n), np.arange(n + 1), np.arange(n))
    groups, (frame, probes) = _together(
        lambda: alone if apart else identical(space.points, space.point_codes),
        lambda: _framed(space),
        shared=n >= _LONG,
    )
    n, p = len(groups.first), space.points.shape[1]
    width, n_leaves = p + space.point_codes.shape[1], max(1, -(-n // LEAF))
    table = store(frame, space.points, space.point_codes, groups.first)
    unit = frame.scale**2 if space.norm == EUCLIDEAN else frame.scale
    missing = (np.concatenate([space.missing, space.code_missing]) / unit).astype(np.float32)
    step = (np.concatenate([np.zeros(p), space.step]) / unit).astype(np.float32)
    order = np.arange(n)
    split_leaves(table, (missing, step, p, space.norm), order, n_leaves)
    lanes, level = _aligned((n_leaves, width, LEAF)), _levels(n_leaves)
    low, high, relief = (_aligned((int(level[-1]) + 1, width, LANES)) for _ in range(3))
    low[:], high[:], relief[:] = np.inf, -np.inf, np.inf

    def fill(part: slice) -> None:
        room = np.empty((2, width), np.float32)
        _leaves(table, (order, missing), part.start, lanes[part], (low, high, relief), room)

    in_chunks(fill, n_leaves, chunk=_CHUNK)
    _boxes(level, low, high, relief)
    plain, lattice = frame.whole and width == p, _lattice(space)
    grain = 0.5 * (float(np.diff(lattice).min()) if len(lattice) else STEP if frame.sharp else 0.0)
    return Tree(
        lanes, low, high, relief, level, *_names(groups, order), probes, missing, step, p, space.norm, plain, unit,
        frame.error, frame.slack, lattice, grain, frame.sharp,
    )  # fmt: skip


def _together(one: Callable[[], One], other: Callable[[], Other], *, shared: bool) -> tuple[One, Other]:
    """What two works make that need nothing of each other; in threads if that pays."""
    made: list[Any] = in_threads(lambda work: work(), (one, other), shared=shared)
    return made[0], made[1]


def _framed(space: Space) -> tuple[Frame, Singles]:
    """The frame, and the queries in it."""
    frame = choose_frame(space)
    return frame, store(frame, space.queries, space.query_codes, np.arange(len(space.queries)))


def _lattice(space: Space) -> Floats:
    """All reduced distances that there can be, ascending, where only categories are compared and they are few; or none.

    Sums of one and the same step depend on their number alone, to the last bit.
    """
    lost = bool((space.query_codes < 0).any() or (space.point_codes < 0).any())
    parts = np.concatenate([space.step, space.code_missing]) if lost else space.step
    sizes = np.unique(parts[parts > 0])
    if space.points.shape[1] or not len(sizes):
        return np.zeros(0)
    if space.norm == CHEBYSHEV or len(space.step) == 1:
        return np.concatenate(([0.0], sizes))
    return np.cumsum(np.append(0.0, np.full(len(parts), sizes[0]))) if len(sizes) == 1 else np.zeros(0)


def _names(groups: Groups, order: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Rows, weights and members in tree order, and the position of each row."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    if len(order) == len(groups.label):  # no two rows are equal
        return order, np.ones_like(order), np.arange(len(order) + 1), order, place
    sizes = np.diff(groups.start)[order]
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    shift = np.repeat(groups.start[order] - start[:-1], sizes)
    members = groups.members[np.arange(len(groups.members)) + shift]
    return groups.first[order], sizes, start, members, place[groups.label]


def _levels(n_leaves: int) -> Ints:
    """First box group of each level."""
    first, groups = [], 0
    boxes = n_leaves
    while boxes > 0:
        first.append(groups)
        groups += -(-boxes // LANES)
        boxes = -(-boxes // LANES) if boxes > LANES else 0
    return np.array(first, dtype=np.int64)


def _aligned(shape: tuple[int, ...]) -> Singles:
    """Floats that start at a cache line: a vector of 16 then touches one line, not two."""
    room = np.empty(int(np.prod(shape)) + LANES, dtype=np.float32)
    skip = (-room.ctypes.data % 64) // 4
    return room[skip : skip + int(np.prod(shape))].reshape(shape)


@lean
def _leaves(
    table: Singles,
    chosen: tuple[Ints, Singles],
    first: int,
    lanes: Singles,
    boxes: tuple[Singles, Singles, Singles],
    room: Singles,
) -> None:
    """Fill some leaves, from number `first` on, and tell their ranges; `room` is for those of one leaf."""
    (order, missing), (low, high, relief) = chosen, boxes
    for leaf in range(lanes.shape[0]):
        start, g, j = (first + leaf) * LEAF, (first + leaf) // LANES, (first + leaf) % LANES
        size = min(LEAF, table.shape[0] - start)
        for k in range(room.shape[1]):
            room[0, k], room[1, k] = np.float32(np.inf), np.float32(-np.inf)
            for t in range(size, LEAF):
                lanes[leaf, k, t] = np.float32(np.inf)
        for t in range(size):
            row = order[start + t]
            for k in range(room.shape[1]):
                room[0, k] = min(room[0, k], table[row, k])
                room[1, k] = max(room[1, k], table[row, k])
            for k in range(room.shape[1]):
                value = table[row, k]
                lanes[leaf, k, t] = value
                if value != value:  # noqa: PLR0124
                    relief[g, k, j] = missing[k]
        for k in range(room.shape[1]):
            low[g, k, j], high[g, k, j] = room[0, k], room[1, k]


@kernel
def _boxes(level: Ints, low: Singles, high: Singles, relief: Singles) -> None:
    """Ranges of 16 leaves, and so on up to one group."""
    for h in range(1, level.shape[0]):
        for b in range(level[h] - level[h - 1]):
            g, j, child = level[h] + b // LANES, b % LANES, level[h - 1] + b
            for k in range(low.shape[1]):
                for i in range(LANES):  # numba's own min() and max() take half a second to compile
                    low[g, k, j] = min(low[g, k, j], low[child, k, i])
                    high[g, k, j] = max(high[g, k, j], high[child, k, i])
                    relief[g, k, j] = min(relief[g, k, j], relief[child, k, i])
