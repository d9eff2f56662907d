"""One matcher: which released records carry the values that the intruder knows.

A person is known by some attributes. A released record matches when it carries the same value in each of them:

- missing is a value of its own: it equals missing and nothing else;
- where the release publishes intervals, a known number equals *every* interval that contains it. Intervals may overlap
  ("20-29" beside "20-39"), so that one person may match several groups of equal records. A number that was rounded or
  cut off stands for an interval, too.

Whether the intruder finds *their* person in the crowd depends on what masking did to the record: credit is given only
when the person's own record is among those that match, and shared among all that do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.arrays import Codes, Flags, Floats, Rows
from unmask.study.ranks import MISSING, ranked
from unmask.tables import Encoded, Encoding, Spans

CELLS = 2**17  # of a table that are written together: they stay in the cache


class Match(NamedTuple):
    """Who matches which records: people in kinds who know the same, records in groups that carry the same.

    The groups that kind k matches are ``groups[start[k] : start[k + 1]]``, ascending.
    """

    kind: Rows  # of each person
    group: Rows  # of each record
    start: Rows
    groups: Rows

    @property
    def sizes(self) -> Rows:
        """Records of each group."""
        return np.bincount(self.group, minlength=int(self.groups.max(initial=-1)) + 1)

    @property
    def kind_of_entry(self) -> Rows:
        """The kind that each entry of ``groups`` belongs to."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def totals(self, of_group: Floats | Rows) -> Floats:
        """Sum a number of each group over the groups that each kind matches."""
        entries = np.asarray(of_group, dtype=np.float64)[self.groups]
        return np.bincount(self.kind_of_entry, entries, minlength=len(self.start) - 1).astype(np.float64)

    @property
    def crowd(self) -> Rows:
        """How many records match each person."""
        return np.rint(self.totals(self.sizes)).astype(np.int64)[self.kind]

    def owns(self, truth: Rows) -> Flags:
        """Whether the true record of each person (-1: there is none) is among those that match."""
        if not len(self.groups):
            return np.zeros(len(truth), dtype=bool)
        width = int(max(self.group.max(initial=0), self.groups.max(initial=0))) + 1
        matched = self.kind_of_entry * width + self.groups  # ascending
        wanted = self.kind * width + self.group[truth]
        place = np.minimum(np.searchsorted(matched, wanted), len(matched) - 1)
        return np.asarray((truth >= 0) & (matched[place] == wanted))

    def credit(self, truth: Rows) -> Floats:
        """1 / crowd for those whose own record matches, else 0."""
        return np.where(self.owns(truth), 1.0 / np.maximum(self.crowd, 1), 0.0)

    def pairs(self) -> tuple[Rows, Rows]:
        """Every person with every group that matches: people and groups, one entry for each pair."""
        several = np.diff(self.start)[self.kind]
        first = np.repeat(self.start[self.kind], several)
        step = np.arange(len(first)) - np.repeat(np.cumsum(several) - several, several)
        return np.repeat(np.arange(len(self.kind)), several), self.groups[first + step]

    def members(self) -> list[Rows]:
        """Rows of the records of each group, ascending."""
        order = np.argsort(self.group, kind="stable").astype(np.int64)
        return np.split(order, np.cumsum(self.sizes)[:-1])


@dataclass(frozen=True, slots=True)
class Matcher:
    """Both files as numbers of values, one column for each attribute.

    Equal numbers are equal values, 0 is missing. In an attribute with overlapping intervals a record has the number of
    its interval, a person the number of the set of intervals that contain the known value; ``inside`` says which.
    """

    names: tuple[str, ...]
    original: Codes  # people x attributes
    released: Codes  # records x attributes
    inside: dict[int, tuple[tuple[int, ...], ...]]  # attribute with overlaps: the intervals of each set
    notes: tuple[str, ...] = ()

    def match(self, attributes: Iterable[int] | None = None, records: Rows | None = None) -> Match:
        """Match everybody on some attributes (all when None) with some records (all when None)."""
        chosen = list(range(len(self.names)) if attributes is None else attributes)
        released = self.released if records is None else self.released[records]
        plain = [j for j in chosen if j not in self.inside]
        both = number_rows(np.concatenate([self.original[:, plain], released[:, plain]]))
        left, right = both[: len(self.original)], both[len(self.original) :]
        overlapping = [j for j in chosen if j in self.inside]
        if not overlapping:
            return _equal(left, right)
        return self._contained(left, right, overlapping, released)

    def _contained(self, left: Rows, right: Rows, attributes: list[int], released: Codes) -> Match:
        """Join each kind of people to all combinations of intervals that contain what they know."""
        kind, people = _distinct(np.column_stack([left, self.original[:, attributes]]))
        group, records = _distinct(np.column_stack([right, released[:, attributes]]))
        pairs = pl.DataFrame(people, schema=["key", *(f"set {j}" for j in attributes)], orient="row")
        pairs = pairs.with_row_index("kind")
        for j in attributes:
            sets = self.inside[j]
            member = pl.DataFrame(
                {
                    f"set {j}": np.repeat(np.arange(len(sets)), list(map(len, sets))),
                    f"in {j}": np.array([number for each in sets for number in each], dtype=np.int64),
                }
            )
            pairs = pairs.join(member, on=f"set {j}")
        keys = ["key", *(f"in {j}" for j in attributes)]
        there = pl.DataFrame(records, schema=keys, orient="row").with_row_index("group")
        pairs = pairs.join(there, on=keys).sort("kind", "group")
        return _ordered(
            kind, group, pairs["kind"].to_numpy().astype(np.int64), pairs["group"].to_numpy().astype(np.int64)
        )

    @property
    def table(self) -> pl.DataFrame:
        """The records as a table of these numbers."""
        return pl.DataFrame(self.released, schema=list(self.names), orient="row")

    def only_people(self, rows: Rows | slice) -> Matcher:
        """The same for some of the people."""
        return Matcher(self.names, self.original[rows], self.released, self.inside, self.notes)


def make_matcher(encoding: Encoding) -> Matcher:
    """Number the values of every attribute over both files."""
    people: list[Rows | Codes] = []
    records: list[Rows | Codes] = []
    inside: dict[int, tuple[tuple[int, ...], ...]] = {}
    for number, name in enumerate(encoding.names):
        known: Rows | Codes
        published: Rows | Codes
        if name in encoding.spans:
            known, published, sets = _intervals(encoding.spans[name])
            if max(map(len, sets), default=0) > 1:
                inside[number] = sets
            else:  # nobody is in two intervals: each person has the number of theirs, or one that no record has
                nowhere = int(published.max(initial=0)) + 1
                known = np.array([each[0] if each else nowhere for each in sets], dtype=np.int64)[known]
        else:
            known, published = ranked(*_column(encoding, number))
        people.append(known)
        records.append(published)
    original, released = (_side_by_side(*side) for side in ((people, encoding.original), (records, encoding.released)))
    return Matcher(encoding.names, original, released, inside, encoding.notes)


def _side_by_side(columns: list[Rows | Codes], side: Encoded) -> Codes:
    table = np.empty((len(side), len(columns)), dtype=np.int32)
    step = max(64, CELLS // max(1, len(columns)))
    for first in range(0, len(side), step):
        for k, column in enumerate(columns):
            table[first : first + step, k] = column[first : first + step]
    return table


def _column(encoding: Encoding, number: int) -> tuple[Floats | Codes, Floats | Codes]:
    p, sides = len(encoding.numeric_names), (encoding.original, encoding.released)
    left, right = (side.numeric[:, number] if number < p else side.codes[:, number - p] for side in sides)
    return left, right


def number_rows(codes: NDArray[np.integer]) -> Rows:
    """Give equal rows the same number 0, 1, ...; numbers are packed anew before a product of domains overflows."""
    number, reach = np.zeros(len(codes), np.int64), 1
    for k in range(codes.shape[1]):
        wide = int(codes[:, k].max(initial=0)) + 1
        if reach * wide >= 2**62:
            number = np.unique(number, return_inverse=True)[1].ravel().astype(np.int64)
            reach = int(number.max(initial=0)) + 1
        number, reach = number * wide + codes[:, k], reach * wide
    return np.unique(number, return_inverse=True)[1].ravel().astype(np.int64)


def _intervals(span: Spans) -> tuple[Rows, Rows, tuple[tuple[int, ...], ...]]:
    """Number of the set of intervals around each known value, of each record's interval, and the sets."""
    present = ~np.isnan(span.low)
    ends = np.empty(np.count_nonzero(present), dtype=np.complex128)
    ends.real, ends.imag = span.low[present], span.high[present]
    kinds, which = np.unique(ends, return_inverse=True)
    published = np.full(len(span.low), MISSING, dtype=np.int64)
    published[present] = which.ravel() + 1
    values, place = np.unique(span.values, return_inverse=True)  # NaN is one value, the last
    around = _around(values, kinds.real, kinds.imag)
    sets = {each: number for number, each in enumerate(dict.fromkeys(sorted(around)))}
    return np.array([sets[each] for each in around], dtype=np.int64)[place.ravel()], published, tuple(sets)


def _around(values: Floats, low: Floats, high: Floats) -> list[tuple[int, ...]]:
    """The intervals that contain each value, numbered from 1; missing is in the one that is missing."""
    if (high[1:] >= high[:-1]).all():  # those that contain a value stand side by side
        first, last = np.searchsorted(high, values, side="left") + 1, np.searchsorted(low, values, side="right") + 1
        found = [tuple(range(a, b)) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    else:
        found = [tuple((np.flatnonzero((low <= value) & (value <= high)) + 1).tolist()) for value in values]
    return [(MISSING,) if missing else each for each, missing in zip(found, np.isnan(values).tolist(), strict=True)]


def _distinct(rows: Rows) -> tuple[Rows, Rows]:
    """Number of each row among the different ones, and these."""
    number = number_rows(rows)
    _, first = np.unique(number, return_index=True)
    return number, rows[first]


def _equal(left: Rows, right: Rows) -> Match:
    """Kinds and groups of one key are each other's only match."""
    present = np.bincount(right, minlength=int(left.max(initial=-1)) + 1) > 0
    kinds = np.arange(len(present))
    return _ordered(left, right, kinds[present], kinds[present], len(present))


def _ordered(kind: Rows, group: Rows, kinds: Rows, groups: Rows, count: int | None = None) -> Match:
    size = int(kind.max(initial=-1)) + 1 if count is None else count
    start = np.concatenate([[0], np.cumsum(np.bincount(kinds, minlength=size))]).astype(np.int64)
    return Match(kind, group, start, groups)
