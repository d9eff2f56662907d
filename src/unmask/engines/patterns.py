"""Patterns of agreement over all pairs of a person and a record, counted without one pair and without a table on disk.

Pairs that agree at least on a set of keys number the sum, over its groups, of people times records. What is too large
for memory is taken apart by the values of its widest key: those who agree on it are within one part, and for the sets
without it the same is done by the next key, until the keys that are left have few combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from unmask.arrays import Ints
from unmask.engines import sql
from unmask.engines.store import Store
from unmask.kernels.packed import Field, Packed, fields_of, inverted, sums_of_sets

Tell = Callable[[float, str], None]
Span = tuple[float, float]  # from which share of the work to which
MOST_PATTERNS = 1024  # sets of keys that are counted, with a third state for keys that some lack
PART = 3_000_000  # rows of both tables that are in memory together


class PatternCounts(NamedTuple):
    """Patterns of agreement over all pairs of a person and a record, and how often each occurs.

    ``keys``: places of the keys that are compared; a pattern is a number in mixed radix, the first key first; digit 0:
    equal, 1: different, 2: missing on either side (keys with ``gaps`` only).
    """

    keys: list[int]
    gaps: list[bool]
    code: Ints
    number: Ints


def count_patterns(store: Store, tell: Tell, rows: int = PART) -> PatternCounts:
    """Count the patterns of all pairs: sums for every set of keys, then Moebius inversion.

    For each key a pair has the same value (equal), has values on both sides (present), or is any. Who differs is
    present and not equal, who lacks it is there and not present. ``rows``: how many may be in memory together.
    """
    keys = _telling(store, _without_copies(store))
    gaps = [store.keys[j].gaps for j in keys]
    order = sorted(range(len(keys)), key=lambda at: -store.keys[keys[at]].width)
    chosen = [keys[at] for at in order]
    sums = np.zeros([3 if gaps[at] else 2 for at in order], dtype=np.int64)
    _Walk(store, chosen, sums, rows, tell).visit((), (), (), (0.0, 1.0))
    counts = inverted(np.transpose(sums, np.argsort(order)), gaps)
    flat = np.ascontiguousarray(counts).ravel()
    there = np.flatnonzero(flat)
    return PatternCounts(keys, gaps, there.astype(np.int64), flat[there])


class _Walk(NamedTuple):
    """The sums of every state of the keys, the widest first."""

    store: Store
    keys: list[int]
    sums: Ints
    rows: int
    tell: Tell

    def visit(self, state: tuple[int, ...], equal: tuple[int, ...], where: tuple[str, ...], span: Span) -> None:
        """Add up all states that begin with this one, for rows that are ``where``; pairs agree on keys ``equal``.

        Rows of one value of a key need not be told apart by it: it is not among the keys that are equal.
        """
        asked = self.keys[len(state) :]
        n = int(self.store.duck.row(sql.rows_where(where))[0])
        cells = prod(self.store.keys[j].width for j in (*equal, *asked))
        if n <= self.rows or cells <= self.rows:
            self.sums[state] += self._counted(equal, asked, where, grouped=n > self.rows)
            self.tell(span[1], "agreement patterns of all pairs")
            return
        key, middle = asked[0], (span[0] + span[1]) / 2
        ranges = self._ranges(key, where)
        for place, (low, high) in enumerate(ranges):
            step = (middle - span[0]) / len(ranges)
            inside = (*where, f"c{key} BETWEEN {low} AND {high}")
            part = span[0] + place * step, span[0] + (place + 1) * step
            self.visit((*state, 0), equal if low == high else (*equal, key), inside, part)
        if self.store.keys[key].gaps:
            self.visit((*state, 1), equal, (*where, f"c{key} > 0"), (middle, (middle + span[1]) / 2))
            middle = (middle + span[1]) / 2
        self.visit((*state, self.sums.shape[len(state)] - 1), equal, where, (middle, span[1]))

    def _counted(self, equal: tuple[int, ...], asked: list[int], where: tuple[str, ...], *, grouped: bool) -> Ints:
        """Bring the rows here, each as few whole numbers, or only their groups, and count all sets of them."""
        keys = [self.store.keys[j] for j in (*equal, *asked)]
        fields = fields_of([key.width for key in keys], [key.gaps for key in keys])
        table = self.store.duck.table(sql.both_packed(_packed((*equal, *asked), fields), where, grouped=grouped))
        columns = [np.asarray(column).astype(np.int64) for column in table.columns]
        packed = Packed(np.column_stack(columns[:-2]), *columns[-2:])
        return sums_of_sets(packed, fields[: len(equal)], fields[len(equal) :])

    def _ranges(self, key: int, where: tuple[str, ...]) -> list[tuple[int, int]]:
        """Ranges of the codes of a key, none of more rows than may be here, unless one code alone has more."""
        found = self.store.duck.columns(sql.codes_where(key, where))
        ranges: list[tuple[int, int]] = []
        held = self.rows + 1
        for code, many in zip(found["code"].tolist(), found["number"].tolist(), strict=True):
            if held + many > self.rows:
                ranges.append((code, code))
                held = 0
            ranges[-1] = (ranges[-1][0], code)
            held += many
        return ranges


def _packed(keys: Sequence[int], fields: Sequence[Field]) -> list[str]:
    """The keys as fields of bits of whole numbers."""
    words: dict[int, list[str]] = {0: ["CAST(0 AS BIGINT)"]}
    for j, field in zip(keys, fields, strict=True):
        words.setdefault(field.word, []).append(f"CAST(c{j} AS BIGINT) * {1 << field.shift}")
    return [" + ".join(words[word]) for word in sorted(words)]


def _telling(store: Store, keys: list[int]) -> list[int]:
    """The keys on which two people agree least often, as many as have not too many patterns together."""
    chance = {}
    for j in keys:
        found = store.duck.columns(sql.both_values(j))
        there = found["code"] > 0
        chance[j] = float(found["people"][there].astype(np.float64) @ found["records"][there])
    kept, patterns = [], 1
    for j in sorted(keys, key=lambda one: (chance[one], store.keys[one].name)):
        if patterns * (2 + store.keys[j].gaps) <= MOST_PATTERNS:
            kept.append(j)
            patterns *= 2 + store.keys[j].gaps
    return sorted(kept)


def _without_copies(store: Store) -> list[int]:
    """Leave out keys that class all records of both tables as another key does: EM would take them for evidence."""
    kept: list[int] = []
    for j, key in enumerate(store.keys):
        alike = [
            i for i in kept if store.keys[i].width == key.width and store.keys[i].gaps == key.gaps and key.width > 2
        ]
        if not any(_together(store, i, j) == max(key.width - (not key.gaps), 1) for i in alike):
            kept.append(j)
    return kept


def _together(store: Store, i: int, j: int) -> int:
    """Different pairs of values of two keys, in both tables."""
    both = " UNION ".join(f"SELECT c{i}, c{j} FROM {table}" for table in ("o", "r"))
    return int(store.duck.row(f"SELECT count(*) FROM ({both}) AS t")[0])
