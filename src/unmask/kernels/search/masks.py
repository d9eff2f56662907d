"""Which of the 48 points of a leaf, or of the 16 boxes of a group, are wanted, as the bits of one integer.

What is computed is written here. Where it can be had, machine code makes `point_mask` and `box_mask` (native.py), in
another order of summation: the distances are float32 and serve to exclude only (see tree.py).
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, LANES, LEAF, PART, ROWS, Codes, Ints, Singles
from unmask.kernels.compiling import inlined, machine

Kinds = tuple[Singles, Singles, int, int, bool]  # see point_mask
Boxes = tuple[Singles, Singles, Singles]


@inlined
def _part(gap: np.float32, step: np.float32, numeric: bool, norm: int) -> np.float32:  # noqa: FBT001
    """Contribution of one gap, numeric or nominal."""
    if not numeric:
        return step if gap > 0 else np.float32(0.0)
    return gap * gap if norm == EUCLIDEAN else gap


@inlined
def _within(far: Singles, within: float, n: int) -> int:
    """Bits of the first n distances that are within a limit."""
    mask, most = 0, np.float32(within)
    for j in range(n):
        mask |= int(far[j] <= most) << j
    return mask


@machine
def point_mask(lanes: Singles, leaf: int, probe: Singles, kinds: Kinds, within: float, far: Singles) -> int:
    """Bits of the points of a leaf within a limit; their distances are in `far` if there is any such point.

    `kinds` is (contribution of missing values, of unequal codes, number of numeric attributes, norm, plain).
    """
    missing, step, numeric, norm, _ = kinds
    far[:] = np.float32(0.0)
    for k in range(probe.shape[0]):
        for j in range(LEAF):
            gap = abs(probe[k] - lanes[leaf, k, j])
            part = missing[k] if gap != gap else _part(gap, step[k], k < numeric, norm)  # noqa: PLR0124  NaN
            far[j] = max(far[j], part) if norm == CHEBYSHEV else far[j] + part
    return _within(far, within, LEAF)


@machine
def box_mask(box: Boxes, group: int, probe: Singles, kinds: Kinds, within: float, gaps: Singles) -> int:
    """Bits of the boxes (low, high, relief) of a group within a limit; `gaps` are bounds of their distances."""
    missing, step, numeric, norm, _ = kinds
    low, high, relief = box
    gaps[:] = np.float32(0.0)
    for k in range(probe.shape[0]):
        x, lost = probe[k], probe[k] != probe[k]
        for j in range(LANES):
            part = missing[k]
            if not lost:
                gap = max(low[group, k, j] - x, x - high[group, k, j], np.float32(0.0))
                part = min(_part(gap, step[k], k < numeric, norm), relief[group, k, j])
            gaps[j] = max(gaps[j], part) if norm == CHEBYSHEV else gaps[j] + part
    return _within(gaps, within, LANES)


@machine
def nearest_of(gaps: Singles, mask: int) -> int:
    """Which one of the boxes of a mask is nearest: the first if several are, 0 if there is none."""
    best, least = 0, np.float32(np.inf)
    for j in range(LANES):
        if mask >> j & 1 and (gaps[j] < least or not mask & ((1 << j) - 1)):
            best, least = j, gaps[j]
    return best


@machine
def box_sides(box: Boxes, group: int, probe: Singles, limits: tuple[float, float], sides: Codes) -> int:
    """Bits of the boxes of a group within a limit in every attribute; `sides`: in which ones a box goes beyond another.

    Numbers alone, at most 31 attributes, no missing values, maximum norm: attribute k is bit k of a box's side.
    """
    low, high, _ = box
    found, within, tied = 0, np.float32(limits[0]), np.float32(limits[1])
    for j in range(LANES):
        sides[j], near = 0, True
        for k in range(probe.shape[0]):
            below, above = probe[k] - low[group, k, j], high[group, k, j] - probe[k]
            near = near and -below <= within and -above <= within
            sides[j] |= int(below > tied or above > tied) << k
        found |= int(near) << j
    return found


@machine
def side_mask(lanes: Singles, leaf: int, probe: Singles, sides: int, within: float, far: Singles) -> int:
    """Bits of the points of a leaf that are within a limit in each attribute of `sides` (bits); how far is in `far`."""
    far[:] = np.float32(0.0)
    for k in range(probe.shape[0]):
        if sides >> k & 1:
            for j in range(LEAF):
                far[j] = max(far[j], abs(probe[k] - lanes[leaf, k, j]))
    return _within(far, within, LEAF)


@machine
def split(far: Singles, most: float) -> tuple[int, float]:
    """Bits of the points of a leaf that are at most so far, and the distance of the next one; inf if there is none."""
    mask, next_ = 0, np.float32(np.inf)
    for j in range(LEAF):
        near = far[j] <= np.float32(most)
        mask |= int(near) << j
        if not near:
            next_ = min(next_, far[j])
    return mask, float(next_)


@machine
def block_masks(tiles: Codes, leaf: int, probes: Codes, first: int, within: Codes, masks: Ints, far: Codes) -> int:
    """Bits of the points of a leaf within the limits of the four queries from `first` on: all of them, each in `masks`.

    A word of `tiles` holds four attributes in 8 bits each, with a sign, one of `probes` four without. After each PART
    words, and at the end, there is one that holds a sum: see wide.py. `far` are half distances, for all points if one
    is within a limit. They may be of the first parts alone for points that are not.
    """
    found, last = 0, probes.shape[1] - 1
    for i in range(ROWS):
        masks[i] = 0
        for j in range(LEAF):
            total = 0
            for k in range(last):
                if k % (PART + 1) != PART:
                    a, b = int(probes[first + i, k]), int(tiles[leaf, k, j])
                    for shift in range(0, 32, 8):
                        total += ((a >> shift) & 0xFF) * ((((b >> shift) & 0xFF) ^ 0x80) - 0x80)
            far[i, j] = int(tiles[leaf, last, j]) - total + int(probes[first + i, last])
            masks[i] |= int(far[i, j] <= within[i]) << j
        found |= int(masks[i])
    return found
