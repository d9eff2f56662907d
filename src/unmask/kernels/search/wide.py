"""Wide files: where boxes exclude nothing, all queries meet all points, four queries and a leaf at a time.

In many attributes that vary by themselves a query looks at every leaf of a tree, and most of the time is spent on
bringing the points from memory. Here a leaf stays in the cache while hundreds of queries meet it, and numbers are whole
and small (compiling/blocks.py): a tenth of the time that a product of matrices in float32 takes.

Categories become corners of a simplex, any two of them equally far: of 2, 4, 8 or 16 corners in 1, 3, 7 or 15 numbers
of one size w (Hadamard's signs), with zeros for a missing value.

Why screening is exact
----------------------
Coordinates are the stored ones of the tree, so what is proven there holds: a pair within a reduced distance T has a
stored distance of at most limit(T). A stored coordinate x becomes the whole number nearest to S x, cut off at -q and q.
Cutting off brings records nearer to each other, if anything, and rounding moves a record by the length of what is
rounded off, known for each. With r for the most of any query and the most of any point together, the Euclidean distance
of two records in whole numbers is at most S sqrt(limit(T)) + r: this is `reach_of`. The choice of S cannot make a
result wrong, only slow. S x is a float32 number, at most 127 * 2**-24 off where it is not cut off: 1e-5 sqrt(p) in r.

Of categories w is rounded down, so that two corners of 2**b are no farther than S times their step (w**2 2**(b + 1)),
and a corner no farther from zero than S times what a missing value adds (w**2 (2**b - 1)). More than 16 categories
share corners, which can only hide a difference. A sum of such parts is at most S times the reduced distance.

How distances are added up
--------------------------
Queries x are stored as x + 128, from 1 to 255, points y as they are, from -127 to 127: so the machine wants it. Then
(x - y)**2 sums to X + Y - 2 P, with P the sum of (x + 128) y, X that of x**2 and Y that of y**2 + 256 y. Each record
has half of its own sum after each part of its numbers, X rounded up, Y down: these less P are half a distance, or half
a one more or less, and never negative. q is so small that all of this stays below 2**31.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, LANES, LEAF, PART, ROWS, Codes, Floats, Ints, Singles, Space
from unmask.kernels.compiling import in_chunks, inlined, inner, lean, lowest, popcount
from unmask.kernels.search.best import Best, tie_limit
from unmask.kernels.search.distance import pair
from unmask.kernels.search.masks import block_masks
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.truth import Met
from unmask.kernels.search.walk import limit, near_boxes

Progress = Callable[[float], None] | None

FROM = 24  # attributes, as many as would vary alike, from which on boxes exclude too little
FROM_CODES = 16  # the same for categories
OPEN = 0.25  # share of all leaves within the true distances from which on decisions are made in blocks
MOST = 2**31 - 1
COVERED = 4.0  # root mean squares of the widest attribute that whole numbers reach
CHUNK = 512  # queries that meet a leaf while it is in the cache
FIRST = 16  # decisions: of the leaves so large a part is met by all, the rest by those who are not settled
LEAVES = 64  # made at a time, and looked at to tell how wide a file is


class Wide(NamedTuple):
    """Points in tree order and queries as whole numbers, four attributes in a word."""

    tiles: Codes  # (leaves, words and sums, 48)
    probes: Codes  # (queries, words and sums)
    scale: float  # S
    lost: float  # r; 0 for categories


class Block(NamedTuple):
    """Queries that meet all leaves together, and room for what one leaf gives."""

    probes: Codes  # (queries, words and sums), a multiple of ROWS
    within: Codes  # (queries,) half distances in whole numbers that are still wanted; negative: none
    masks: Ints  # (ROWS,)
    far: Codes  # (ROWS, 48)


def no_block() -> Wide:
    """What files that are not wide have."""
    return Wide(np.zeros((0, 0, LEAF), np.int32), np.zeros((0, 0), np.int32), 0.0, 0.0)


def widen(tree: Tree) -> Wide:
    """Make whole numbers of the points of a tree, if its boxes exclude too little; else none."""
    if tree.numeric == 0 and tree.norm != CHEBYSHEV:
        return _widen_codes(tree)
    if tree.norm != EUCLIDEAN or not tree.plain or tree.numeric < FROM:
        return no_block()
    some = tree.lanes[:: -(-len(tree.lanes) // LEAVES)].transpose(0, 2, 1).reshape(-1, tree.numeric).astype(np.float64)
    some = some[np.isfinite(some[:, 0])]
    squares = some.var(axis=0)
    if not squares.any() or squares.sum() ** 2 < FROM * (squares**2).sum():
        return no_block()
    most = _largest(tree.numeric)
    widest = COVERED * math.sqrt(float((some**2).mean(axis=0).max()))
    scale = np.float32(most / max(1e-30, min(1.0, widest)))
    lost: list[tuple[float, float]] = []

    def rounded(numbers: Singles) -> tuple[Codes, float]:
        cut = np.clip(numbers * scale, -most, most)
        whole = np.rint(cut)
        cut -= whole
        return whole.astype(np.int32), float(np.einsum("ikj,ikj->ij", cut, cut).max(initial=0.0))

    def made(points: Singles, queries: Singles) -> tuple[Codes, Codes]:
        (some, one), (others, other) = rounded(points), rounded(queries)
        lost.append((one, other))
        return some, others

    tiles, probes = _in_words(tree, made)
    rest = 1e-5 * math.sqrt(tree.numeric)
    most_lost = sum(math.sqrt(max(side)) for side in zip(*lost, strict=True)) * (1.0 + tree.numeric * 2.0**-22)
    return Wide(tiles, probes, float(scale), most_lost + rest)


def _widen_codes(tree: Tree) -> Wide:
    """The same for categories alone."""
    if tree.lanes.shape[1] < FROM_CODES:
        return no_block()
    some = tree.lanes[:: -(-len(tree.lanes) // LEAVES)].transpose(1, 0, 2).reshape(tree.lanes.shape[1], -1)
    half = some.shape[1] // 2
    share = tree.step * (some[:, :half] != some[:, half : 2 * half]).mean(axis=1, dtype=np.float64)
    if not share.any() or share.sum() ** 2 < FROM_CODES * (share**2).sum():
        return no_block()
    kinds = [max(_kinds(tree.lanes[:, k]), _kinds(tree.probes[:, k])) for k in range(len(share))]
    bits = np.clip([(most - 1).bit_length() for most in kinds], 1, 4)
    least = np.minimum(tree.step / 2.0 ** (bits + 1), tree.missing / (2.0**bits - 1))
    if not least.any():
        return no_block()
    most = _largest(int((2**bits - 1).sum()))
    scale = (most + 0.5) ** 2 / float(least.max())
    size = np.sqrt(scale * least).astype(np.int64)
    tiles, probes = _in_words(tree, lambda *sides: tuple(_corners(side, bits, size) for side in sides))
    return Wide(tiles, probes, scale, 0.0)


def _kinds(codes: Singles) -> int:
    """How many codes there may be: one more than the largest."""
    return int(np.max(codes, where=np.isfinite(codes), initial=0)) + 1


def _corners(codes: Singles, bits: Ints, size: Ints) -> Codes:
    """The corner of each code, whole numbers along the second axis; zeros for what is missing, or no point."""
    there = np.isfinite(codes)
    kinds = np.where(there, codes, 0).astype(np.int64) & 15
    made = []
    for k, (b, w) in enumerate(zip(bits.tolist(), size.tolist(), strict=True)):
        kind, axes = kinds[:, k, None] & ((1 << b) - 1), np.arange(1, 1 << b).reshape(-1, *(1,) * (codes.ndim - 2))
        sign = 1 - 2 * (np.bitwise_count(kind & axes) & 1).astype(np.int32)
        made.append(sign * np.int32(w) * there[:, k, None])
    return np.concatenate(made, axis=1)


def _largest(numbers: int) -> int:
    """q: numbers fit into 8 bits, sums of so many products, with halves of squares, into 31."""
    return max(1, min(127, MOST // (448 * numbers)))


def _in_words(tree: Tree, made: Callable[[Singles, Singles], tuple[Codes, ...]]) -> tuple[Codes, Codes]:
    """Points and queries in words; ``made`` makes whole numbers of some of both, along the second axis."""
    n, step = len(tree.lanes), -(-len(tree.probes) // max(1, -(-len(tree.lanes) // LEAVES)))
    tiles: list[Codes] = [np.zeros(0, np.int32)] * -(-n // LEAVES)
    probes = tiles.copy()

    def work(part: slice) -> None:
        k = part.start // LEAVES
        points, queries = made(tree.lanes[part], tree.probes[k * step : (k + 1) * step, :, None])
        tiles[k] = _packed(points.astype(np.int8), _sums(points * (points + 256)) >> 1)
        probes[k] = _packed((queries + 128).astype(np.uint8), _sums(queries * queries) + 1 >> 1)[:, :, 0]

    in_chunks(work, n, chunk=LEAVES)
    return np.concatenate(tiles), np.concatenate(probes)


def _sums(numbers: Codes) -> Codes:
    """Sums along the second axis up to the end of each part."""
    ends = np.arange(0, numbers.shape[1], 4 * PART)
    return np.cumsum(np.add.reduceat(numbers, ends, axis=1), axis=1, dtype=np.int32)


def _packed(numbers: NDArray[np.integer], sums: Codes) -> Codes:
    """Four bytes of the second axis in a word, zeros beyond the last, and each part's sum after it."""
    n, p, length = numbers.shape
    room = np.zeros((n, -(-p // 4), length, 4), numbers.dtype)
    for k in range(4):
        room[:, : len(range(k, p, 4)), :, k] = numbers[:, k::4]
    words = room.view(np.int32)[..., 0]
    parts = [(words[:, k * PART : (k + 1) * PART], sums[:, k : k + 1]) for k in range(sums.shape[1])]
    return np.concatenate([piece for part in parts for piece in part], axis=1)


def block_of(wide: Wide, queries: Ints) -> Block:
    """Some queries, ready to meet all leaves; nothing is wanted yet. The last one fills the last row."""
    n = -(-len(queries) // ROWS) * ROWS
    probes = wide.probes[queries[np.minimum(np.arange(n), len(queries) - 1)]]
    return Block(probes, np.full(n, -1, np.int32), np.zeros(ROWS, np.int64), np.zeros((ROWS, LEAF), np.int32))


@inlined
def reach_of(tree: Tree, wide: Wide, reduced: float) -> int:
    """Half distances in whole numbers of pairs whose reduced distance is at most `reduced` do not exceed this."""
    if wide.lost == 0.0:
        most = reduced / tree.scale * wide.scale * (1.0 + 1e-6)
    else:
        length = math.sqrt(limit(tree, reduced)) * wide.scale + wide.lost
        most = length * length * (1.0 + 1e-9)
    most = 0.5 * most + 2.0
    return int(most) if most < MOST else MOST


@inlined
def real_points(tree: Tree, leaf: int) -> int:
    """Bits of the points of a leaf that are there."""
    return (1 << min(LEAF, int(tree.rows.shape[0]) - leaf * LEAF)) - 1


def find_best_wide(space: Space, tree: Tree, wide: Wide, best: Best, progress: Progress = None) -> None:
    """Find the nearest points of all queries of ``best``: see best.py."""
    again = np.zeros(len(best.query), np.bool_)
    _find_in_chunks(space, tree, wide, np.arange(len(best.query)), best, again, progress)
    slots = np.flatnonzero(again)
    best.ties[slots], best.second[slots] = 0, np.inf
    _find_in_chunks(space, tree, wide, slots, best, again, None)


def _find_in_chunks(
    space: Space, tree: Tree, wide: Wide, slots: Ints, best: Best, again: NDArray[np.bool_], progress: Progress
) -> None:
    def work(part: slice) -> None:
        block = block_of(wide, best.query[slots[part]])
        block.within[: len(slots[part])] = MOST
        _find(space, tree, wide, slots[part], best, again, block)

    in_chunks(work, len(slots), chunk=CHUNK, progress=progress)


@lean
def _find(
    space: Space, tree: Tree, wide: Wide, slots: Ints, best: Best, again: NDArray[np.bool_], block: Block
) -> None:
    for leaf in range(wide.tiles.shape[0]):
        for first in range(0, block.within.shape[0], ROWS):
            within = block.within[first : first + ROWS]
            if block_masks(wide.tiles, leaf, block.probes, first, within, block.masks, block.far):
                for i in range(min(ROWS, slots.shape[0] - first)):
                    mask = block.masks[i] & real_points(tree, leaf)
                    if mask:
                        again[slots[first + i]] = _keep(
                            space,
                            tree,
                            wide,
                            slots[first + i],
                            leaf,
                            mask,
                            best,
                            again,
                            block.far[i],
                            within[i : i + 1],
                        )


@inner
def _keep(
    space: Space,
    tree: Tree,
    wide: Wide,
    slot: int,
    leaf: int,
    mask: int,
    best: Best,
    again: NDArray[np.bool_],
    far: Codes,
    within: Codes,
) -> bool:
    """As _visit in best.py, for the points of one leaf; True: ties must be counted again."""
    query, least, second, unsettled = best.query[slot], best.least[slot], best.second[slot], again[slot]
    cut = tie_limit(space, least)
    while mask:
        j = lowest(mask)
        mask &= mask - 1
        if far[j] > within[0]:
            continue
        place = leaf * LEAF + j
        d = pair(space, query, tree.rows[place])
        if d > cut:
            if d < second:
                second, within[0] = d, reach_of(tree, wide, max(cut, d - tree.grain))
        elif d >= least:
            best.ties[slot] += tree.weight[place]
        else:
            cut = tie_limit(space, d)
            unsettled = least <= cut
            if not unsettled:
                second, within[0] = least, reach_of(tree, wide, max(cut, least - tree.grain))
            least, best.ties[slot], best.place[slot] = d, tree.weight[place], place
    best.least[slot], best.second[slot] = least, second
    return bool(unsettled)


def is_open(space: Space, tree: Tree, distances: Floats) -> bool:
    """Whether many leaves are as near as true points are, by a sample: where they are not, a tree decides sooner."""
    known = np.flatnonzero(np.isfinite(distances))
    some = known[:: -(-len(known) // LEAVES)] if len(known) else known
    found = _leaves_within(space, tree, some, distances, np.empty(LANES, np.float32))
    return found > OPEN * len(some) * len(tree.lanes)


@lean
def _leaves_within(space: Space, tree: Tree, queries: Ints, distances: Floats, gaps: Singles) -> int:
    found = 0
    for query in queries:
        within = limit(tree, tie_limit(space, distances[query]))
        for group in range((tree.lanes.shape[0] + LANES - 1) // LANES):
            found += popcount(np.uint64(near_boxes(tree, 0, group, tree.probes[query], within, gaps)))
    return found


def decide_wide(space: Space, tree: Tree, wide: Wide, queries: Ints, met: Met, progress: Progress = None) -> None:
    """Decide some queries, those that are settled aside, as decide_part in together.py."""
    leaves = len(wide.tiles)
    for part, tell in (((0, leaves // FIRST), None), ((leaves // FIRST, leaves), progress)):
        _decide_in_chunks(space, tree, wide, queries[~met.closer[queries]], part, met, tell)
    unsettled = queries[met.again[queries] & ~met.closer[queries]]
    met.ties[unsettled] = 0
    _decide_in_chunks(space, tree, wide, unsettled, (0, leaves), met, None)


def _decide_in_chunks(
    space: Space, tree: Tree, wide: Wide, queries: Ints, leaves: tuple[int, int], met: Met, progress: Progress
) -> None:
    def work(part: slice) -> None:
        _decide(space, tree, wide, queries[part], leaves, met, block_of(wide, queries[part]))

    in_chunks(work, len(queries), chunk=CHUNK, progress=progress)


@lean
def _decide(
    space: Space, tree: Tree, wide: Wide, queries: Ints, leaves: tuple[int, int], met: Met, block: Block
) -> None:
    for slot in range(queries.shape[0]):
        query = queries[slot]
        block.within[slot] = reach_of(tree, wide, tie_limit(space, min(met.truth[query], met.least[query])))
    for leaf in range(leaves[0], leaves[1]):
        for first in range(0, block.within.shape[0], ROWS):
            within = block.within[first : first + ROWS]
            if max(within[0], within[1], within[2], within[3]) < 0:
                continue
            if block_masks(wide.tiles, leaf, block.probes, first, within, block.masks, block.far):
                for i in range(min(ROWS, queries.shape[0] - first)):
                    mask = block.masks[i] & real_points(tree, leaf)
                    if mask:
                        _try(space, tree, wide, queries[first + i], leaf, mask, met, within[i : i + 1])


@inner
def _try(space: Space, tree: Tree, wide: Wide, query: int, leaf: int, mask: int, met: Met, within: Codes) -> None:
    """As _meet in together.py."""
    truth, least = met.truth[query], met.least[query]
    cut = tie_limit(space, min(truth, least))
    while mask:
        j = lowest(mask)
        mask &= mask - 1
        place = leaf * LEAF + j
        d = pair(space, query, tree.rows[place])
        if tie_limit(space, d) < truth:
            met.closer[query], within[0] = True, -1
            return
        if d < least and d <= cut:
            met.again[query] = least <= tie_limit(space, d)
            least, met.ties[query] = d, tree.weight[place]
            cut = tie_limit(space, min(truth, least))
            within[0] = reach_of(tree, wide, cut)
        elif d <= cut:
            met.ties[query] += tree.weight[place]
    met.least[query] = least
