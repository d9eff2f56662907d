"""Both files in float32, in one frame: centred, turned to principal axes where that is allowed, at most 1 in size.

The numbers made here serve to exclude pairs, and `error` and `slack` say how far they may be from the truth: see the
proof at the top of tree.py. A stored number is a float64 number x - c (relative error 2**-53), divided by a power of
two (exact), perhaps turned (p + 2 more such errors, relative to the length of x - c, which is at most `scale`), and
rounded to float32 (2**-24 of at most 1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, MANHATTAN, Codes, Floats, Ints, Singles, Space
from unmask.kernels.compiling import in_chunks, inner, kernel, lean

SAMPLE = 20_000  # rows that principal axes are taken from
CHUNK = 8192
SHARP_STEP = 0.125  # of sharp numbers


class Frame(NamedTuple):
    """How coordinates were changed, and what that can cost."""

    centre: Floats  # (p,)
    rotation: Floats  # (p, p), or (0, 0) for none
    scale: float  # a power of two
    whole: bool  # no number is missing on either side
    error: float  # E of the proof
    slack: float
    sharp: bool  # stored numbers and their differences are exact, and the tolerance lets equal distances tie only


def choose_frame(space: Space, *, turn: bool) -> Frame:
    """Choose the frame of a space; `turn`: rotate for norm 2, if no number is missing."""
    p = space.points.shape[1]
    centre, gaps = _centre(space.points)
    whole = gaps == 0 and not np.isnan(space.queries).any()
    sharp = whole and space.norm == CHEBYSHEV and _in_eighths(space.points) and _in_eighths(space.queries)
    centre = np.rint(centre) if sharp else centre
    turn = turn and whole and space.norm == EUCLIDEAN and p > 1
    rotation = _principal_axes(space.points, centre) if turn else np.zeros((0, 0))
    constants = max(_largest(part) for part in (space.missing, space.step, space.code_missing))
    constants = math.sqrt(constants) if space.norm == EUCLIDEAN else constants
    size = max(_longest(space.points, centre), _longest(space.queries, centre), constants)
    scale = 2.0 ** max(-300, math.ceil(math.log2(size)) + 1) if size > 0 else 1.0
    coordinates = {CHEBYSHEV: 1.0, MANHATTAN: float(p), EUCLIDEAN: math.sqrt(p)}[space.norm]
    error = 2.0 * coordinates * (2.0**-24 + (p + 4) * 2.0**-52)
    slack = 4.0 * (p + len(space.step) + 8) * 2.0**-24 + _defect(rotation)
    sharp = sharp and len(space.step) == 0 and 2.0 * size * space.tolerance + space.floor < SHARP_STEP
    return Frame(centre, rotation, scale, whole, 0.0 if sharp else error, 0.0 if sharp else slack, sharp)


def _largest(part: Floats) -> float:
    return float(part.max(initial=0.0))


@kernel
def _centre(values: Floats) -> tuple[Floats, int]:
    """Means of what is there, and how many numbers are not."""
    n, p = values.shape
    sums, counts = np.zeros(p), np.zeros(p)
    for i in range(n):
        for k in range(p):
            if values[i, k] == values[i, k]:
                sums[k] += values[i, k]
                counts[k] += 1
    return sums / np.maximum(counts, 1.0), n * p - int(counts.sum())


@kernel
def _in_eighths(values: Floats) -> bool:
    """Tell whether all numbers are multiples of 1/8 below 2**19: then, centred, they have 23 bits at most."""
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            steps = 8.0 * values[i, k]
            if not (abs(steps) < 2.0**22 and steps == np.rint(steps)):
                return False
    return True


@kernel
def _longest(values: Floats, centre: Floats) -> float:
    """Greatest length of a centred row: no coordinate exceeds it in any rotation."""
    most = 0.0
    for i in range(values.shape[0]):
        total = 0.0
        for k in range(values.shape[1]):
            gap = values[i, k] - centre[k]
            if gap == gap:  # noqa: PLR0124
                total += gap * gap
        most = max(most, total)
    return math.sqrt(most)


def _principal_axes(points: Floats, centre: Floats) -> Floats:
    """Principal axes of a sample of rows, the widest first; none if they are not orthogonal enough."""
    sample = points[:: -(-len(points) // SAMPLE)] - centre
    covariance = sample.T @ sample
    if not np.isfinite(covariance).all():
        return np.zeros((0, 0))
    axes = np.ascontiguousarray(np.linalg.eigh(covariance)[1][:, ::-1])
    return axes if _defect(axes) < 1e-9 else np.zeros((0, 0))


def _defect(rotation: Floats) -> float:
    """How far squared lengths can change by a rotation that is not quite one, relatively."""
    p = len(rotation)
    return float(np.linalg.norm(rotation.T @ rotation - np.eye(p))) + p * p * 2.0**-50


def store(frame: Frame, values: Floats, codes: Codes, rows: Ints) -> Singles:
    """Chosen rows in the frame: numbers, then codes."""
    table = np.empty((len(rows), values.shape[1] + codes.shape[1]), dtype=np.float32)

    def work(part: slice) -> None:
        room = np.empty(values.shape[1])
        _store(frame, values, codes, rows[part], room, table[part])

    in_chunks(work, len(rows), chunk=CHUNK)
    return table


@lean
def _store(frame: Frame, values: Floats, codes: Codes, rows: Ints, room: Floats, table: Singles) -> None:
    """Codes are taken modulo 2**24, which can only hide a difference; a missing one is NaN."""
    p = values.shape[1]
    for i in range(rows.shape[0]):
        for k in range(p):
            room[k] = (values[rows[i], k] - frame.centre[k]) / frame.scale
        _turn(frame.rotation, room, table[i])
        for k in range(codes.shape[1]):
            code = int(codes[rows[i], k])
            table[i, p + k] = code & 0xFFFFFF if code >= 0 else np.nan


@inner
def _turn(rotation: Floats, row: Floats, out: Singles) -> None:
    p = row.shape[0]
    if rotation.shape[0] == 0:
        for k in range(p):
            out[k] = row[k]
        return
    for k in range(p):
        total = 0.0
        for j in range(p):
            total += row[j] * rotation[j, k]
        out[k] = total
