"""Both files in float32, in one frame: centred, turned to principal axes where that is allowed, at most 1 in size.

The numbers made here serve to exclude pairs, and `error` and `slack` say how far they may be from the truth: see the
proof at the top of tree.py. A stored number is a float64 number x - c (relative error 2**-53), divided by a power of
two (exact), perhaps turned (p + 2 more such errors, relative to the length of x - c, which is at most `scale`), and
rounded to float32 (2**-24 of at most 1). A code that is hidden makes a stored distance too small by any part of it.

Ranks need no such care. With the maximum norm, numbers that are multiples of 1/4 below 2**20, their centre a whole
number, and the gaps between them have 23 bits: stored distances are the exact ones (`sharp`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, MANHATTAN, Codes, Floats, Ints, Singles, Space
from unmask.kernels.compiling import in_chunks, kernel, lean, machine

SAMPLE, LEAST = 2**16, 8  # numbers of the rows that principal axes are taken from, and rows for each attribute
ROUND = 0.8  # share of the attributes that may as well vary alike: a cloud that is as round is not turned
TURNED = 500  # attributes up to which a rotation is worth its time
NARROW = 64  # attributes up to which products are made here: a thread of OpenBLAS waits busily after each of its own
CHUNK = 8192
BESIDE = 512  # numbers that are looked at beside each other
ROWS = 64  # that are turned at a time
MOST = 2**24 - 1  # codes up to this one are told apart
STEP = 0.25  # of sharp numbers: mean ranks are halves, the middle of two of them is a quarter


class Frame(NamedTuple):
    """How coordinates were changed, and what that can cost."""

    centre: Floats  # (p,)
    rotation: Floats  # (p, p), or (0, 0) for none
    scale: float  # a power of two
    whole: bool  # no number is missing on either side
    error: float  # E of the proof
    slack: float
    sharp: bool  # stored distances are the exact ones, and only equal ones tie


def choose_frame(space: Space) -> Frame:
    """Choose the frame of a space: rotated for norm 2, if no number is missing and attributes are not too many."""
    p = space.points.shape[1]
    points, queries = _ranges(space.points), _ranges(space.queries)
    centre = points.sums / np.maximum(points.counts, 1.0)
    whole = bool((points.counts == len(space.points)).all() and (queries.counts == len(space.queries)).all())
    sharp = whole and space.norm == CHEBYSHEV and not len(space.step) and _in_steps(space.points, space.queries)
    centre = np.rint(centre) if sharp else centre
    turned = whole and space.norm == EUCLIDEAN and 1 < p <= TURNED
    rotation = _principal_axes(space.points, centre) if turned else np.zeros((0, 0))
    constants = max(_largest(part) for part in (space.missing, space.step, space.code_missing))
    constants = math.sqrt(constants) if space.norm == EUCLIDEAN else constants
    size = max(_longest((points, queries), centre), constants)
    scale = 2.0 ** max(-300, math.ceil(math.log2(size)) + 1) if size > 0 else 1.0
    coordinates = {CHEBYSHEV: 1.0, MANHATTAN: float(p), EUCLIDEAN: math.sqrt(p)}[space.norm]
    error = 2.0 * coordinates * (2.0**-24 + (p + 4) * 2.0**-52)
    hidden = any(codes.max(initial=0) > MOST for codes in (space.query_codes, space.point_codes))
    slack = 4.0 * (p + len(space.step) + 8) * 2.0**-24 + _defect(rotation) + float(hidden)
    sharp = sharp and 2.0 * size * space.tolerance + space.floor < STEP / 2.0
    return Frame(centre, rotation, scale, whole, 0.0 if sharp else error, 0.0 if sharp else slack, sharp)


def _largest(part: Floats) -> float:
    return float(part.max(initial=0.0))


class _Ranges(NamedTuple):
    """Of what is there in each column: the least, the greatest, their sum and number."""

    low: Floats
    high: Floats
    sums: Floats
    counts: Floats


def _ranges(values: Floats) -> _Ranges:
    p = values.shape[1]
    rows = max(1, BESIDE // max(1, p))
    low, high, sums, counts = (np.full(rows * p, start) for start in (np.inf, -np.inf, 0.0, 0.0))
    if p:
        _look_through(values.reshape(-1), low, high, sums, counts)
    low, high, sums, counts = (side.reshape(rows, p) for side in (low, high, sums, counts))
    return _Ranges(low.min(axis=0), high.max(axis=0), sums.sum(axis=0), counts.sum(axis=0))


@lean
def _look_through(numbers: Floats, low: Floats, high: Floats, sums: Floats, counts: Floats) -> None:
    """Some rows beside others, as if they were one: loops over hundreds of numbers become vector instructions."""
    for first in range(0, numbers.shape[0], low.shape[0]):
        some = numbers[first : first + low.shape[0]]
        for k in range(some.shape[0]):
            low[k] = some[k] if some[k] < low[k] else low[k]  # noqa: FURB136  min() takes longer
        for k in range(some.shape[0]):
            high[k] = some[k] if some[k] > high[k] else high[k]  # noqa: FURB136
        for k in range(some.shape[0]):
            sums[k] += some[k] if some[k] == some[k] else 0.0
        for k in range(some.shape[0]):
            counts[k] += 1.0 if some[k] == some[k] else 0.0


def _longest(sides: tuple[_Ranges, _Ranges], centre: Floats) -> float:
    """A length that no centred row of either side exceeds: no coordinate does in any rotation."""
    low = np.minimum(*(side.low for side in sides))
    high = np.maximum(*(side.high for side in sides))
    return math.hypot(*np.maximum(np.maximum(high - centre, centre - low), 0.0).tolist())


@kernel
def _in_steps(points: Floats, queries: Floats) -> bool:
    """Tell whether all numbers are multiples of a quarter below 2**20."""
    for values in (points, queries):
        numbers = values.reshape(-1)
        for first in range(0, numbers.shape[0], BESIDE):
            some, others = numbers[first : first + BESIDE], 0
            for k in range(some.shape[0]):
                steps = some[k] * (1.0 / STEP)
                others += int(not (abs(steps) < 2.0**22)) + int(steps != np.rint(steps))
            if others:
                return False
    return True


def _principal_axes(points: Floats, centre: Floats) -> Floats:
    """Principal axes of a sample of rows, the widest first; none if they are not orthogonal enough, or all alike."""
    rows = max(SAMPLE // len(centre), LEAST * len(centre))
    sample = points[:: -(-len(points) // rows)] - centre
    covariance = _products(sample)
    total = float(np.diag(covariance).sum())
    if not (np.isfinite(covariance).all() and 0 < total < np.inf):
        return np.zeros((0, 0))
    if ROUND * len(centre) * float(((covariance / total) ** 2).sum()) < 1.0:
        return np.zeros((0, 0))
    axes = np.ascontiguousarray(np.linalg.eigh(covariance)[1][:, ::-1])
    return axes if _defect(axes) < 1e-9 else np.zeros((0, 0))


def _defect(rotation: Floats) -> float:
    """How far squared lengths can change by a rotation that is not quite one, relatively."""
    p = len(rotation)
    return float(np.linalg.norm(rotation.T @ rotation - np.eye(p))) + p * p * 2.0**-50


def _products(sample: Floats) -> Floats:
    """Sums of products of any two columns."""
    if sample.shape[1] > NARROW:
        return np.asarray(sample.T @ sample)
    columns = np.ascontiguousarray(sample.T)
    return np.asarray(np.einsum("ki,li->kl", columns, columns))


def store(frame: Frame, values: Floats, codes: Codes, rows: Ints) -> Singles:
    """Chosen rows in the frame: numbers, then codes modulo 2**24, which may hide a difference; NaN: missing."""
    p = values.shape[1]
    table = np.empty((len(rows), p + codes.shape[1]), dtype=np.float32)
    wide = len(frame.rotation) > NARROW
    change = (frame.centre, 1.0 / frame.scale, np.zeros((0, 0)) if wide else frame.rotation)

    def work(part: slice) -> None:
        if not wide:
            _store(values, codes, rows[part], change, np.zeros((2, p, ROWS)), table[part])
            return
        chosen = rows[part] if len(rows) < len(values) else part  # all rows are in their own order
        moved, some = (values[chosen] - frame.centre) / frame.scale, codes[chosen]
        table[part, :p] = moved @ frame.rotation
        table[part, p:] = np.where(some < 0, np.nan, some & MOST)

    in_chunks(work, len(rows), chunk=CHUNK)
    return table


@lean
def _store(
    values: Floats, codes: Codes, rows: Ints, change: tuple[Floats, float, Floats], room: Floats, table: Singles
) -> None:
    """Centre, scale and turn some rows; attribute by attribute, as loops over rows become vector instructions."""
    centre, unit, rotation = change
    p, turned = values.shape[1], rotation.shape[0] > 0
    for first in range(0, rows.shape[0], ROWS):
        size = min(ROWS, rows.shape[0] - first)
        for i in range(size):
            for k in range(p):
                x = (values[rows[first + i], k] - centre[k]) * unit
                if turned:
                    room[0, k, i] = x
                else:
                    table[first + i, k] = x
            for k in range(codes.shape[1]):
                code = codes[rows[first + i], k]
                table[first + i, p + k] = np.nan if code < 0 else code & MOST
        if turned:
            turn(rotation, room[0], room[1])
            for i in range(size):
                for k in range(p):
                    table[first + i, k] = room[1, k, i]


@machine
def turn(rotation: Floats, room: Floats, turned: Floats) -> None:
    """Turn rows that stand side by side, a multiple of 32 of them: the transposed rotation times the room."""
    for k in range(rotation.shape[0]):
        turned[k] = 0.0
        for j in range(rotation.shape[0]):
            part = rotation[j, k]
            for i in range(room.shape[1]):
                turned[k, i] += part * room[j, i]
