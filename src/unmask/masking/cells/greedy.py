"""Local suppression, greedily: which cells to blank so that every record has a crowd of k with l confidential values.

A suppressed cell is missing, and missing is a value of its own. Sets of attributes are tried from small to large, in a
size by the records that they help; at the end everything of the last few is blanked, together with the smallest safe
classes until they are enough. The bound: nobody becomes like a complete record by losing cells, so that the record
itself loses cells until k records agree with it on all that it still shows. The fewest such cells of each record go
whatever the method.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Codes, Counts, Flags
from unmask.errors import ParameterError
from unmask.study import number_rows

PATTERNS = 600  # sets of attributes that the bound looks at


@dataclass(slots=True)
class Units:
    """(class, confidential value) pairs: codes of the keys and the value, records; ``gap``: each key's missing code."""

    codes: Codes
    value: Counts
    count: Counts
    gap: Codes

    def failing(self, k: int, l: int) -> Flags:  # noqa: E741 - the letter of the models
        """Pairs whose group is smaller than k or has fewer than l values."""
        return ~_meets(number_rows(self.codes), self.value, self.count, k, l)

    def least(self, k: int, l: int) -> int:  # noqa: E741
        """Cells that any suppression must blank."""
        return lower_bound(self, k, l)

    def cells(self, before: Codes) -> int:
        """Cells that were blanked since ``before``."""
        return int(((self.codes != before) * self.count[:, None]).sum())


def suppress(units: Units, k: int, l: int) -> Units:  # noqa: E741
    """Blank cells until every group meets k and l; the given units are left as they are."""
    work = Units(units.codes.copy(), units.value, units.count, units.gap)
    m = work.codes.shape[1]
    failing = work.failing(k, l)
    for size in range(1, m + 1):
        if not failing.any():
            return work
        sets = [np.array(s) for s in combinations(range(m), size)]
        helped = [int(work.count[_helped(work, failing, s, k, l)].sum()) for s in sets]
        for at in np.argsort([-h for h in helped], kind="stable"):
            if helped[at] and failing.any():
                rescued = _helped(work, failing, sets[at], k, l)
                work.codes[np.ix_(rescued, sets[at])] = work.gap[sets[at]]
                failing[rescued] = False
    return _finish(work, failing, k, l) if failing.any() else work


def lower_bound(units: Units, k: int, l: int) -> int:  # noqa: E741
    """Cells that any suppression must blank: the fewest of each record of a complete class that violates.

    After `PATTERNS` sets of attributes the rest counts with the size that was reached: no smaller set does it.
    """
    left = units.failing(k, l) & (units.codes != units.gap).all(axis=1)
    least, tried = 0, 0
    for size in range(1, units.codes.shape[1] + 1):
        for out in combinations(range(units.codes.shape[1]), size):
            if not left.any() or tried == PATTERNS:
                return least + size * int(units.count[left].sum())
            tried += 1
            shown = np.delete(units.codes, out, axis=1)
            met = left & _meets(number_rows(shown), units.value, units.count, k, l)
            least, left = least + size * int(units.count[met].sum()), left & ~met
    return least


def _helped(work: Units, failing: Flags, keys: NDArray[np.intp], k: int, l: int) -> NDArray[np.intp]:  # noqa: E741
    """Failing pairs that meet k and l once the keys are blanked, together with what has the same gaps already."""
    blank = (work.codes[:, keys] == work.gap[keys]).all(axis=1)
    rows = np.flatnonzero(failing | blank)
    codes = work.codes[rows].copy()
    codes[:, keys] = work.gap[keys]
    met = _meets(number_rows(codes), work.value[rows], work.count[rows], k, l)
    return rows[met & failing[rows]]


def _finish(work: Units, failing: Flags, k: int, l: int) -> Units:  # noqa: E741
    """Blank the last few wholly; while they are too few, the smallest safe class joins them."""
    work.codes[failing] = work.gap
    while (left := work.failing(k, l)).any():
        number = number_rows(work.codes)
        sizes = np.bincount(number, work.count)
        open_ = np.unique(number[~left & (work.codes != work.gap).any(axis=1)])
        if not open_.size:
            n = int(work.count.sum())
            raise ParameterError(
                f"no suppression can reach the wanted k{' and l' if l > 1 else ''}",
                got=f"k={k}, {n} records"
                + (f", l={l}, {len(np.unique(work.value))} confidential values" if l > 1 else ""),
                hint=f"ask for a smaller k{' or l' if l > 1 else ''}",
            )
        joins = number == open_[np.argmin(sizes[open_])]
        work.codes[joins] = work.gap
    return work


def _meets(number: Counts, value: Counts, count: Counts, k: int, l: int) -> Flags:  # noqa: E741
    """Whether the group of each pair has k records and l values."""
    enough = np.bincount(number, count)[number] >= k
    if l <= 1:
        return np.asarray(enough)
    pairs = np.unique(np.stack([number, value]), axis=1)
    return np.asarray(enough & (np.bincount(pairs[0], minlength=int(number.max()) + 1)[number] >= l))
