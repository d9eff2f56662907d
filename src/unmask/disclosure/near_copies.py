"""Near copies: people whom the intruder knows to be in a synthetic release by a row that is nearer than chance allows.

Of each person is asked how much nearer the nearest row is than the nearest other person, whichever column is left out:
one rare value is no copy. A release that never saw them is as often nearer than other people as other people are nearer
than it; where one way is common and the other never happens, people are known. Nobody outside is needed. With people
outside, the same is asked of them: a row that resembles them that much, resembles somebody it never saw.

How many claims may be wrong is bounded for all thresholds together [KATSEVICH]_: were all of them wrong, signs would be
coins in the order of their size, and more than c(1 + tails) heads come before any place at most with chance alpha.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Floats, Rows
from unmask.evidence import Estimate, wilson
from unmask.tables import Encoded

MOST_PEOPLE, MOST_OTHERS = 1_000, 4_000  # who are asked for; rows, and other people, that are compared with them
FEWEST_COLUMNS = 4  # one is left out at a time, and with two left rows are near by chance
TIMES = 2.0  # a row is that many times nearer
LEVEL = 0.025  # of the lower end
HINT = 0.05  # chance below which claims are counted, though they may be luck
PAIR = 2.0  # people near to each other are so in pairs: one coin for two
SURE = 50.0  # equal to a row, and to nobody: as near as can be
NOTHING = 1e-9  # squared distances below it are 0: columns are taken away from sums
CHUNK = 1_000_000  # pairs at a time


class Side(NamedTuple):
    """Numbers on one scale, and categories."""

    numbers: Floats
    codes: NDArray[np.int32]

    def take(self, rows: Rows | slice) -> Side:
        """Some of the records."""
        return Side(self.numbers[rows], self.codes[rows])


class Counted(NamedTuple):
    """How much nearer a row is to people, and how much it is to those who must not be claimed; the log of a ratio.

    ``odds``: of a claim against one that is known to be wrong, by chance; ``each``: wrong ones that are one coin.
    """

    claims: Floats
    wrong: Floats
    odds: float
    each: float = 1.0


def known_by_rows(people: Encoded, released: Encoded, outside: Encoded | None = None) -> Estimate | None:
    """Share of people who are known by a near copy; None where there are too few columns.

    Parameters
    ----------
    people, released, outside
        Tables on one codebook, in an order by lot: the first of them are compared where they are many.

    """
    if people.numeric.shape[1] + people.codes.shape[1] < FEWEST_COLUMNS or len(people) < 2:
        return None
    crowd = people.take(np.arange(min(len(people), MOST_OTHERS)))
    rows = released.take(np.arange(min(len(released), len(crowd) - 1)))
    asked, counted = np.arange(min(len(crowd), MOST_PEOPLE)), []
    others = None if outside is None or not len(outside) else outside.take(np.arange(min(len(outside), MOST_PEOPLE)))
    for crowd_, rows_, others_ in _scales(crowd, rows, others):
        mine = nearer(crowd_.take(asked), rows_, crowd_, itself=False)
        counted.append(Counted(mine, -mine, PAIR, PAIR))
        if others_ is not None:
            theirs = nearer(others_, rows_, crowd_, itself=True)
            counted.append(Counted(mine, theirs, mine.size / theirs.size))
    return _estimate(counted, asked.size)


def _scales(people: Encoded, rows: Encoded, others: Encoded | None) -> Iterator[tuple[Side, Side, Side | None]]:
    """All tables in standard deviations, and in normal scores of ranks, of people and rows together; missing: 0."""
    from scipy.special import ndtri  # noqa: PLC0415 - only synthetic releases need it

    tables = [side for side in (people, rows, others) if side is not None]
    scales: list[list[Floats]] = [[np.zeros_like(side.numeric) for side in tables] for _ in range(2)]
    for k in range(people.numeric.shape[1]):
        both = np.sort(np.concatenate([people.numeric[:, k], rows.numeric[:, k]]))
        both = both[~np.isnan(both)]
        if not both.size:
            continue
        for side, values, scores in zip(tables, *scales, strict=True):
            column = side.numeric[:, k]
            values[:, k] = (column - both[both.size // 2]) / (both.std() or 1.0)
            place = np.searchsorted(both, column, "left") + np.searchsorted(both, column, "right") + 1.0
            scores[:, k] = np.where(np.isnan(column), np.nan, ndtri(place / 2 / (both.size + 1)))
    for scale in scales:
        sides = [Side(np.nan_to_num(one), side.codes) for one, side in zip(scale, tables, strict=True)]
        yield sides[0], sides[1], sides[2] if len(sides) > 2 else None


def nearer(asked: Side, rows: Side, crowd: Side, *, itself: bool) -> Floats:
    """Log of how many times nearer the nearest row is than anybody of the crowd, at least, without any one column.

    It is one row, and must be nearer whichever column is left out. Below 0: the same of somebody of the crowd, who is
    nearer than any row. 0: neither is so by `TIMES`. ``itself``: False where those who are asked for are the first of
    the crowd, and each is to find somebody else.
    """
    who = np.arange(len(asked.codes))
    near, usual = _nearest(asked, rows, None), _nearest(asked, crowd, None if itself else who)
    whole, found = _ratio(near[0], usual[0]), np.zeros(who.size)
    for sign, (_, first), one, other in ((1.0, near, rows, crowd), (-1.0, usual, crowd, rows)):
        left = np.flatnonzero(sign * whole >= log(TIMES))
        some, skipped = asked.take(left), left if other is crowd and not itself else None
        ratio = _ratio(_without_each(some, one.take(first[left])), _least_without_each(some, other, skipped))
        size = np.minimum(sign * whole[left], ratio.min(axis=1, initial=SURE))
        found[left] = np.where(size >= log(TIMES), sign * size, 0.0)
    return found


def _distances(asked: Side, others: Side, skipped: Rows | None) -> Iterator[tuple[slice, Floats]]:
    """Squared distances to all others, some of those who ask at a time; a category that differs counts like one sd.

    ``skipped``: for each who is not to be found.
    """
    from scipy.spatial.distance import cdist  # noqa: PLC0415 - slow to import

    step = max(1, CHUNK // max(1, len(others.codes)))
    for start in range(0, len(asked.codes), step):
        rows = slice(start, start + step)
        part = asked.take(rows)
        whole = np.zeros((len(part.codes), len(others.codes)))
        if part.numbers.shape[1]:
            whole = cdist(part.numbers, others.numbers, "sqeuclidean")
        for k in range(part.codes.shape[1]):
            whole += part.codes[:, k, None] != others.codes[None, :, k]
        if skipped is not None:
            whole[np.arange(len(whole)), skipped[rows]] = np.inf
        yield rows, whole


def _nearest(asked: Side, others: Side, skipped: Rows | None) -> tuple[Floats, Rows]:
    """Squared distance to the nearest of the others, and who that is."""
    least, first = np.empty(len(asked.codes)), np.empty(len(asked.codes), dtype=np.int64)
    for rows, whole in _distances(asked, others, skipped):
        first[rows] = whole.argmin(axis=1)
        least[rows] = whole.min(axis=1)
    return least, first


def _least_without_each(asked: Side, others: Side, skipped: Rows | None) -> Floats:
    """Squared distance to the nearest of the others by all columns but one: a place for each column."""
    numbers = asked.numbers.shape[1]
    least = np.empty((len(asked.codes), numbers + asked.codes.shape[1]))
    for rows, whole in _distances(asked, others, skipped):
        part = asked.take(rows)
        for k in range(least.shape[1]):
            if k < numbers:
                column = (part.numbers[:, k, None] - others.numbers[None, :, k]) ** 2
            else:
                column = part.codes[:, k - numbers, None] != others.codes[None, :, k - numbers]
            least[rows, k] = (whole - column).min(axis=1)
    return least


def _without_each(asked: Side, others: Side) -> Floats:
    """Squared distance of each to one other by all columns but one: a place for each column."""
    squares = np.column_stack([(asked.numbers - others.numbers) ** 2, asked.codes != others.codes])
    return np.asarray(squares.sum(axis=1, keepdims=True) - squares)


def _ratio(rows: Floats, crowd: Floats) -> Floats:
    """Log of the ratio of two distances, given squared; 0 where both are 0, and at most `SURE` either way."""
    crowd, rows = (np.where(side < NOTHING, 0.0, side) for side in (crowd, rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.clip(0.5 * (np.log(crowd) - np.log(rows)), -SURE, SURE))


def _estimate(counted: list[Counted], n: int) -> Estimate:
    """People known by the best of several counts: at least, for all thresholds and counts together, and shown."""
    from scipy.special import bdtrc  # noqa: PLC0415 - slow to import

    least, shown = 0, 0
    for one in counted:
        for size in np.unique(one.claims[one.claims > 0]):
            claims, wrong = int((one.claims >= size).sum()), int((one.wrong >= size).sum())
            least = max(least, claims - most_wrong(wrong, one, LEVEL / len(counted)))
            coins = ceil(wrong / one.each)
            if bdtrc(claims - 1, claims + coins, one.odds / (1 + one.odds)) < HINT:
                shown = max(shown, claims - wrong)
    shown = max(shown, least)
    return Estimate(shown / n, least / n, wilson(shown, n)[1], n, 0.0, None, "clustered")


def most_wrong(wrong: int, counted: Counted, level: float) -> int:
    """The most claims that may be wrong where so many are known to be, whatever the threshold, but with this chance.

    Heads have the odds o against tails. exp(t (heads - c tails)) is a martingale for (o e^t + e^-tc) / (1 + o) = 1;
    with e^-tc = alpha it reaches 1/alpha, at heads = c (1 + tails), at most with chance alpha (Ville).
    """
    c = -log(level) / log1p((1 - level) / counted.odds)
    return floor(c * (1 + ceil(wrong / counted.each)))
