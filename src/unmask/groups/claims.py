"""Whom records that stand out find: everybody who carries the values by which such a record is alone.

A person may carry the values of one record on many sets of attributes, and of several records. Credit is shared among
the records that a person would take for their own.
"""

from __future__ import annotations

import numpy as np

from unmask.arrays import Codes, Counts, Flags, Floats
from unmask.study import Matcher

PENDING = 5_000_000  # pairs of person and record, among which are equal ones, before these are struck out


class Claims:
    """Pairs of a person and a record that is alone with their values on some set of attributes."""

    __slots__ = ("_matcher", "_pairs", "_pending")

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._pairs: list[Counts] = [np.empty(0, np.int64)]
        self._pending = 0

    def add(self, people: Codes | Counts, records: Codes | Counts) -> None:
        """Take pairs of a person and a record; a pair is one number: the person's times the records, and the record's.

        Equal ones are struck out now and then.
        """
        self._pairs.append(people * np.int64(len(self._matcher.released)) + records)
        self._pending += len(people)
        if self._pending > PENDING:
            self._strike_out()

    def look_up(self, mask: int, holders: Codes) -> None:
        """Everybody with each record among ``holders``, all different on a set of attributes, whose values they carry.

        The matcher knows in which of overlapping intervals a person's value lies, and of other attributes likewise.
        """
        rows = holders.astype(np.int64)
        match = self._matcher.match([k for k in range(len(self._matcher.names)) if mask >> k & 1], records=rows)
        people, groups = match.pairs()
        owner = np.full(len(match.sizes), -1)
        owner[match.group] = rows
        self.add(people, owner[groups])

    def shared(self, truth: Counts) -> tuple[Floats, Flags]:
        """Share the credit among the records of each person; and whether they have any."""
        self._strike_out()
        n = max(1, len(self._matcher.released))
        person, row = np.divmod(self._pairs[0], n)
        crowd = np.bincount(person, minlength=len(self._matcher.original))
        own = person[truth[person] == row]
        credit = np.zeros(len(self._matcher.original))
        credit[own] = 1 / crowd[own]
        return credit, crowd > 0

    def _strike_out(self) -> None:
        pairs = np.concatenate(self._pairs)
        pairs.sort()  # np.unique looks for equal ones by hash first: ten times as long
        self._pairs, self._pending = [pairs[np.diff(pairs, prepend=-1) != 0]], 0
