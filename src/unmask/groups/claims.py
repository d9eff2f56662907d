"""Whom records that stand out find: everybody who carries the values by which such a record is alone.

Records come with the set of attributes on which they are alone, set by set; a person may carry the values of one record
on many sets, and of several records. Credit is shared among the records that a person would take for their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unmask.arrays import Codes, Counts, Flags, Floats
from unmask.study import Matcher

PENDING = 5_000_000  # pairs of person and record, among which are equal ones, before these are struck out
AT_ONCE = 8  # sets of attributes


class Claims:
    """Pairs of a person and a record that is alone with their values on some set of attributes."""

    __slots__ = ("_carried", "_known", "_matcher", "_pairs", "_pending")

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._known, self._carried = (np.ascontiguousarray(side.T) for side in (matcher.original, matcher.released))
        self._pairs: list[Counts] = [np.empty(0, np.int64)]
        self._pending = 0

    def add(self, found: Sequence[tuple[int, Codes]]) -> None:
        """Look up who carries the values of these records, on each of these sets of attributes."""
        from unmask.kernels.compiling import in_threads  # noqa: PLC0415 - numba is heavy

        shared = len(self._matcher.original) * len(found) > PENDING
        for start in range(0, len(found), AT_ONCE):
            pairs = in_threads(lambda one: self._holders(*one), found[start : start + AT_ONCE], shared=shared)
            self._pairs += pairs
            self._pending += sum(map(len, pairs))
            if self._pending > PENDING:
                self._strike_out()

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
        self._pairs, self._pending = [np.unique(np.concatenate(self._pairs))], 0

    def _holders(self, mask: int, holders: Codes) -> Counts:
        """Every person with each record among ``holders``, no two of them alike, that carries their values.

        A pair is one number: the person's times the records, and the record's.
        """
        from unmask.kernels.uniques import find_holders  # noqa: PLC0415 - numba is heavy

        matcher, rows = self._matcher, holders.astype(np.int64)
        keys = [k for k in range(len(matcher.names)) if mask >> k & 1]
        if not any(key in matcher.inside for key in keys):
            who, whose = find_holders(self._known, self._carried, np.array(keys), rows)
            return np.asarray(who * np.int64(len(matcher.released)) + whose)
        match = matcher.match(keys, records=rows)
        people, groups = match.pairs()
        owner = np.full(len(match.sizes), -1)
        owner[match.group] = rows
        return np.asarray(people * len(matcher.released) + owner[groups])
