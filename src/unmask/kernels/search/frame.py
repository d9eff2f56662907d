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
from unmask.kernels.compiling import in_chunks, kernel

SAMPLE, LEAST = 2**18, 8  # numbers of the rows that principal axes are taken from, and rows for each attribute
ROUND = 0.8  # share of the attributes that may as well vary alike: a cloud that is as round is not turned
TURNED = 500  # attributes up to which a rotation is worth its time
CHUNK = 8192
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
    centre, gaps = _centre(space.points)
    whole = gaps == 0 and not np.isnan(space.queries).any()
    sharp = whole and space.norm == CHEBYSHEV and not len(space.step) and _in_steps(space.points, space.queries)
    centre = np.rint(centre) if sharp else centre
    turn = whole and space.norm == EUCLIDEAN and 1 < p <= TURNED
    rotation = _principal_axes(space.points, centre) if turn else np.zeros((0, 0))
    constants = max(_largest(part) for part in (space.missing, space.step, space.code_missing))
    constants = math.sqrt(constants) if space.norm == EUCLIDEAN else constants
    size = max(_longest(space.points, centre), _longest(space.queries, centre), constants)
    scale = 2.0 ** max(-300, math.ceil(math.log2(size)) + 1) if size > 0 else 1.0
    coordinates = {CHEBYSHEV: 1.0, MANHATTAN: float(p), EUCLIDEAN: math.sqrt(p)}[space.norm]
    error = 2.0 * coordinates * (2.0**-24 + (p + 4) * 2.0**-52)
    hidden = any(codes.max(initial=0) > MOST for codes in (space.query_codes, space.point_codes))
    slack = 4.0 * (p + len(space.step) + 8) * 2.0**-24 + _defect(rotation) + float(hidden)
    sharp = sharp and 2.0 * size * space.tolerance + space.floor < STEP / 2.0
    return Frame(centre, rotation, scale, whole, 0.0 if sharp else error, 0.0 if sharp else slack, sharp)


def _largest(part: Floats) -> float:
    return float(part.max(initial=0.0))


@kernel
def _centre(values: Floats) -> tuple[Floats, int]:
    """Means of what is there, and how many numbers are not."""
    n, p = values.shape
    means, counts = np.zeros(p, np.float64), np.zeros(p, np.int64)
    for i in range(n):
        for k in range(p):
            if values[i, k] == values[i, k]:
                means[k] += values[i, k]
                counts[k] += 1
    lost = n * p
    for k in range(p):
        means[k] /= max(counts[k], 1)
        lost -= counts[k]
    return means, lost


@kernel
def _in_steps(points: Floats, queries: Floats) -> bool:
    """Tell whether all numbers are multiples of a quarter below 2**20."""
    for values in (points, queries):
        for i in range(values.shape[0]):
            others = 0
            for k in range(values.shape[1]):
                steps = values[i, k] * (1.0 / STEP)
                others += int(not (abs(steps) < 2.0**22)) + int(steps != np.rint(steps))
            if others:
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
    """Principal axes of a sample of rows, the widest first; none if they are not orthogonal enough, or all alike."""
    rows = max(SAMPLE // len(centre), LEAST * len(centre))
    sample = points[:: -(-len(points) // rows)] - centre
    covariance = sample.T @ sample
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


def store(frame: Frame, values: Floats, codes: Codes, rows: Ints) -> Singles:
    """Chosen rows in the frame: numbers, then codes modulo 2**24, which may hide a difference; NaN: missing."""
    p = values.shape[1]
    table = np.empty((len(rows), p + codes.shape[1]), dtype=np.float32)

    def work(part: slice) -> None:
        chosen = rows[part] if len(rows) < len(values) else part  # all rows are in their own order
        moved, some = (values[chosen] - frame.centre) / frame.scale, codes[chosen]
        table[part, :p] = moved @ frame.rotation if len(frame.rotation) else moved
        table[part, p:] = np.where(some < 0, np.nan, some & MOST)

    in_chunks(work, len(rows), chunk=CHUNK)
    return table
