"""Candidates: people of whom some are in a release and some are not, held against its rows, and against each other.

How like a row is to a person: a product over columns of (1 + d^2/h^2)^-p, which is near 1 where they agree, falls as
the difference d (in sd; a category that differs, or a value missing on one side, is one sd) passes the width h, and
never to 0: one column that was changed hides nobody. Wide and steep ones see noise, narrow ones copies and swaps.

*matched*: every row shares itself among the candidates as a posterior does, and a person is told by how much rows are
theirs rather than anybody else's: one-to-one matching, softly. *density*: how dense rows are around a person against
how dense the other candidates are [DOMIAS]_. No score knows who is inside, and all look the same from either side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unmask.arrays import Codes, Floats
from unmask.kernels.likeness import matched_rows
from unmask.tables import Encoded

CHUNK = 2_000_000  # pairs at a time
BLOCK = 8  # columns multiplied before a logarithm is taken
FARTHEST = 1e6  # sd: beyond it, a difference is no larger
DIGITS = 9  # of a score: the order of a sum is no difference between people
LEAST = 1e-280
MOST_COLUMNS = 18  # whose product is a number, at the narrowest width and the farthest difference


class Width(NamedTuple):
    """A kernel: its width in standard deviations, and its power."""

    width: float
    power: float


WIDTHS = {"values": Width(0.02, 1.0), "near values": Width(0.1, 1.0), "noise": Width(1.0, 2.5)}


class Looks(NamedTuple):
    """Records as they are compared: numbers in standard deviations (missing: NaN) and codes of categories."""

    numeric: Floats
    codes: Codes

    def take(self, rows: slice) -> Looks:
        """Some of the records."""
        return Looks(self.numeric[rows], self.codes[rows])


def looks(side: Encoded, mean: Floats, sd: Floats) -> Looks:
    """Records in the units of a ruler."""
    return Looks((side.numeric - mean) / sd, side.codes)


def matched(people: Looks, rows: Looks, kernel: Width) -> Floats:
    """Log of the sum over rows of K(person, row) over the sum of K(other, row) for all other candidates."""
    if people.numeric.shape[1] + people.codes.shape[1] <= MOST_COLUMNS:
        how = np.array([1.0 / kernel.width**2, kernel.power, FARTHEST, LEAST])
        ours, words = np.ascontiguousarray(people.numeric.T), np.ascontiguousarray(people.codes.T)
        total = matched_rows(ours, np.ascontiguousarray(rows.numeric), words, np.ascontiguousarray(rows.codes), how)
        return np.asarray(np.round(np.log(np.maximum(total, LEAST)), DIGITS))
    return _matched_by_logs(people, rows, kernel)


def _matched_by_logs(people: Looks, rows: Looks, kernel: Width) -> Floats:
    """The same where products of so many columns would be too large for a number."""
    total = np.full(len(people.numeric), -np.inf)
    for part in _parts(len(rows.numeric), len(people.numeric)):
        like = energies(people, rows.take(part), kernel)
        top, places = like.argmin(axis=0), np.arange(like.shape[1])
        shares = np.exp(like[top, places] - like)  # 1 for who is most like the row
        shares[top, places] = 0.0
        others = np.maximum(shares.sum(axis=0), LEAST)  # than the one most like it
        ratios = shares / np.maximum(1.0 + others - shares, LEAST)
        ratios[top, places] = 1.0 / others
        with np.errstate(divide="ignore"):
            total = np.logaddexp(total, np.log(ratios.sum(axis=1)))
    return np.asarray(np.round(np.maximum(total, np.log(LEAST)), DIGITS))


def density_ratio(people: Looks, rows: Looks, kernel: Width) -> Floats:
    """Log of the mean of K over the rows, less that over the other candidates."""
    there, here = (np.empty(len(people.numeric)) for _ in range(2))
    for part in _parts(len(people.numeric), max(len(rows.numeric), len(people.numeric))):
        some = people.take(part)
        there[part] = _log_sum(-energies(some, rows, kernel)) - np.log(len(rows.numeric))
        like = energies(some, people, kernel)
        like[np.arange(len(like)), np.arange(part.start, part.start + len(like))] = np.inf
        here[part] = _log_sum(-like) - np.log(len(people.numeric) - 1)
    return np.round(there - here, DIGITS)


def energies(people: Looks, rows: Looks, kernel: Width) -> Floats:
    """-log K of every pair."""
    total = np.zeros((len(people.numeric), len(rows.numeric)))
    product = np.ones_like(total)
    unit = 1.0 / kernel.width**2
    for number, far in enumerate(_differences(people, rows), 1):
        product *= 1.0 + unit * np.square(far)
        if number % BLOCK == 0:
            total += np.log(product)
            product.fill(1.0)
    return np.asarray(kernel.power * (total + np.log(product)))


def _differences(people: Looks, rows: Looks) -> Iterator[Floats]:
    """Of every pair, column by column: codes are one sd apart or not at all, as are values missing on one side."""
    for ours, theirs in zip(people.numeric.T, rows.numeric.T, strict=True):
        far = np.clip(ours[:, None] - theirs[None, :], -FARTHEST, FARTHEST)
        gaps = np.isnan(ours), np.isnan(theirs)
        if gaps[0].any() or gaps[1].any():
            far = np.where(gaps[0][:, None] != gaps[1][None, :], 1.0, np.nan_to_num(far))
        yield far
    for ours, theirs in zip(people.codes.T, rows.codes.T, strict=True):
        yield (ours[:, None] != theirs[None, :]).astype(np.float64)


def _log_sum(values: Floats) -> Floats:
    top = values.max(axis=1)
    return np.asarray(top + np.log(np.exp(values - top[:, None]).sum(axis=1)))


def _parts(n: int, beside: int) -> list[slice]:
    step = max(1, CHUNK // max(1, beside))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
