"""Permutation distance: how many ranks a record must move, in its worst attribute, to become another [MAXKNOW]_ II-B.

Within one table, eq. (1): d(x1, x2) = max_i |rank(x1^i) - rank(x2^i)|. From an original record x to a released y, each
x^i is first replaced by the closest value z^i that occurs in the released attribute (both neighbours as close: the
mean of their ranks), and ranks are those of the released attribute.

Our readings, where the paper leaves a choice:

- *Ranks of equal values*: "ordinal" (in random order, seeded), "average" or "dense". Under ordinal ranks, which
  reproduce the paper's tables, an original value that occurs several times in the release takes one of its ranks by
  lot. Lots are drawn over the records in canonical order (sorted by their whole content) and equal original records
  share theirs, so that no distance depends on the order of either file.
- *Categories* with an order (an Enum, or kind "ordinal") are ranked like numbers. Without one: the same category is
  at distance 0, another at the mean distance of two random ranks, (n^2 - 1) / 3n.
- *Missing values* contribute the mean distance of the attribute over pairs of records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from unmask.arrays import Flags, Floats, Ints, Rows
from unmask.evidence import Progress, silent
from unmask.kernels.base import Space
from unmask.study import Index, Study, as_study
from unmask.tables import Encoded, Encoding, RankMethod, Release, canonical_order


@dataclass(frozen=True, slots=True)
class Ranked:
    """Both tables as ranks. Queries are the distinct original records, points the released ones, in canonical order."""

    index: Index  # over the space of ranks
    query_of: Ints  # for each original row its query
    row_of: Ints  # for each point its row in the release
    numeric_names: tuple[str, ...]
    code_names: tuple[str, ...]

    @property
    def space(self) -> Space:
        """Ranks of both tables."""
        return self.index.space

    @property
    def n_original(self) -> int:
        """Number of original records."""
        return int(self.query_of.size)

    @property
    def n_released(self) -> int:
        """Number of released records: ranks go from 1 to this."""
        return int(self.row_of.size)

    @property
    def point_of(self) -> Ints:
        """For each row of the release its point."""
        points = np.empty(self.n_released, dtype=np.int64)
        points[self.row_of] = np.arange(self.n_released)
        return points

    def without(self, name: str) -> Ranked:
        """Return the same ranks to an intruder who does not know one attribute."""
        return self._with([other for other in (*self.numeric_names, *self.code_names) if other != name])

    def only(self, name: str) -> Ranked:
        """Return the ranks of a single attribute."""
        return self._with([name])

    def _with(self, names: list[str]) -> Ranked:
        numeric = [k for k, name in enumerate(self.numeric_names) if name in names]
        codes = [k for k, name in enumerate(self.code_names) if name in names]
        kept = tuple(self.numeric_names[k] for k in numeric), tuple(self.code_names[k] for k in codes)
        return replace(self, index=Index(self.space.only(numeric, codes)), numeric_names=kept[0], code_names=kept[1])


def ranked(
    release: Release | Study, *, columns: Iterable[str] | None = None, ranks: RankMethod = "ordinal", seed: int = 0
) -> Ranked:
    """Turn both tables into ranks; the columns are what the intruder knows unless others are named."""
    study = as_study(release)
    names = None if columns is None else tuple(columns)
    key = ("ranked", names, ranks, seed if ranks == "ordinal" else 0)  # only ordinal ranks are drawn
    return study.kept(key, lambda: _ranked(study, names, ranks, seed))


def _ranked(study: Study, columns: tuple[str, ...] | None, ranks: RankMethod, seed: int) -> Ranked:
    encoding = study.encoding(columns)
    left, right = _order(encoding.original), _order(encoding.released)
    sides = encoding.original.take(left), encoding.released.take(right)
    ordered = Encoding(*sides, encoding.numeric_names, encoding.code_names)
    space = study.index_for(ordered, metric="permutation", ranks=ranks, seed=seed).space
    first = _first_of_equals(ordered.original)
    query_of = np.empty(left.size, dtype=np.int64)
    query_of[left] = np.cumsum(first) - 1
    return Ranked(study.index_of(space.of(first)), query_of, right, encoding.numeric_names, encoding.code_names)


def linkage_distances(ranks: Ranked, tell: Progress = silent, people: Rows | None = None) -> Floats:
    """Return d(x, Y) for every original record, or those of some people: its distance to the nearest released one."""
    if people is None:
        return np.asarray(ranks.index.least(tell=tell)[ranks.query_of])
    asked, place = np.unique(ranks.query_of[people], return_inverse=True)
    return np.asarray(ranks.index.least(rows=asked, tell=tell)[place])


def part(tell: Progress, start: float, end: float) -> Progress:
    """Let a task tell its progress as a part of a longer one."""
    return lambda done, text: tell(start + done * (end - start), text)


def _order(side: Encoded) -> Ints:
    return canonical_order(side.numeric, side.codes)


def _first_of_equals(side: Encoded) -> Flags:
    """Mark the first of each run of equal records in a sorted table (a missing value equals a missing value)."""
    first = np.ones(len(side), dtype=bool)
    if len(side) > 1:
        numbers = side.numeric
        differ = (numbers[1:] != numbers[:-1]) & ~(np.isnan(numbers[1:]) & np.isnan(numbers[:-1]))
        first[1:] = differ.any(axis=1) | (side.codes[1:] != side.codes[:-1]).any(axis=1)
    return first
