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
from unmask.evidence import Progress, silent
from unmask.kernels.likeness import dense_rows, matched_rows
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


class Held(NamedTuple):
    """What rows say of candidates: logs of sums over rows, which parts of a release make by themselves."""

    matched: Floats  # widths x candidates
    dense: Floats
    n_rows: int


def hold(people: Looks, rows: Looks, progress: Progress = silent) -> Held:
    """Hold candidates against rows."""
    found = []
    for number, kernel in enumerate(WIDTHS.values()):
        found.append(_matched(people, rows, kernel))
        progress(number / (len(WIDTHS) + 2), "candidates against rows")
    return Held(np.vstack(found), _log_density(people, rows, WIDTHS["noise"]), len(rows.numeric))


def scores_of(people: Looks, held: Held) -> dict[str, Floats]:
    """Scores of candidates by the name of the attack."""
    scores = {f"matching, {name}": _settled(one) for name, one in zip(WIDTHS, held.matched, strict=True)}
    return {**scores, "density ratio": _against_others(people, held.dense, held.n_rows, WIDTHS["noise"])}


def matched(people: Looks, rows: Looks, kernel: Width) -> Floats:
    """Log of the sum over rows of K(person, row) over the sum of K(other, row) for all other candidates."""
    return _settled(_matched(people, rows, kernel))


def _settled(total: Floats) -> Floats:
    return np.asarray(np.round(np.maximum(total, np.log(LEAST)), DIGITS))


def _matched(people: Looks, rows: Looks, kernel: Width) -> Floats:
    if not _few_columns(people):
        return _matched_by_logs(people, rows, kernel)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(matched_rows(*_for_kernel(people, rows, kernel))))


def _few_columns(people: Looks) -> bool:
    return bool(people.numeric.shape[1] + people.codes.shape[1] <= MOST_COLUMNS)


def _for_kernel(people: Looks, rows: Looks, kernel: Width) -> tuple[Floats, Floats, Codes, Codes, Floats]:
    how = np.array([1.0 / kernel.width**2, kernel.power, FARTHEST, LEAST])
    ours, words = np.ascontiguousarray(people.numeric.T), np.ascontiguousarray(people.codes.T)
    return ours, np.ascontiguousarray(rows.numeric), words, np.ascontiguousarray(rows.codes), how


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
    return np.asarray(total)


def density_ratio(people: Looks, rows: Looks, kernel: Width) -> Floats:
    """Log of the mean of K over the rows, less that over the other candidates."""
    return _against_others(people, _log_density(people, rows, kernel), len(rows.numeric), kernel)


def _against_others(people: Looks, dense: Floats, n_rows: int, kernel: Width) -> Floats:
    here = np.empty(len(people.numeric))
    for part in _parts(len(here), len(here)):
        like = energies(people.take(part), people, kernel)
        like[np.arange(len(like)), np.arange(part.start, part.start + len(like))] = np.inf
        here[part] = _log_sum(-like) - np.log(len(here) - 1)
    return np.asarray(np.round(dense - np.log(n_rows) - here, DIGITS))


def _log_density(people: Looks, rows: Looks, kernel: Width) -> Floats:
    """Log of the sum of K over the rows."""
    if _few_columns(people):
        return np.asarray(dense_rows(*_for_kernel(people, rows, kernel)))
    there = np.empty(len(people.numeric))
    for part in _parts(len(there), len(rows.numeric)):
        there[part] = _log_sum(-energies(people.take(part), rows, kernel))
    return there


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
