"""From a greedy start to few cells: move lots, then look for the fewest there are where the table is small."""

from __future__ import annotations

import numpy as np

from unmask.arrays import Flags
from unmask.masking.cells.fewest import fewest
from unmask.masking.cells.greedy import Units, lower_bound, suppress
from unmask.masking.cells.moving import Groups, Lots, Moves, number_groups
from unmask.study import number_rows


def blank_cells(units: Units, k: int, l: int = 1) -> tuple[Lots, int]:  # noqa: E741 - the letter of the model
    """Cells to blank so that every group has k records (and l confidential values), and how few could do at least.

    For l above 1 classes are not split, and the start is the result.
    """
    start = suppress(units, k, l)
    best, least = _whole(units, start), lower_bound(units, k, l)
    groups = number_groups(units.codes, units.gap, units.count, k) if l == 1 and best.cells > least else None
    if groups is None:
        return best, least
    there = units.codes != units.gap
    moves = Moves(groups, start.codes != units.codes)
    moves.improve()
    best = min(best, moves.lots(there), key=lambda lots: lots.cells)
    if best.cells == least:
        return best, least
    return _proven(units, groups, there, (best, least))


def _proven(units: Units, groups: Groups, there: Flags, found: tuple[Lots, int]) -> tuple[Lots, int]:
    """The fewest cells, where they can be had; else what was found, with the better bound."""
    (best, least), (exact, bound) = found, fewest(groups, there)
    if exact is not None and exact.cells < best.cells and _holds(units, exact, groups.k):
        best = exact
    return best, min(max(least, bound), best.cells)


def _whole(units: Units, after: Units) -> Lots:
    return Lots(np.arange(len(units.codes)), after.codes != units.codes, units.count)


def _holds(units: Units, lots: Lots, k: int) -> bool:
    """Whether everybody is published, in a group of k: a solver's numbers are rounded, and checked."""
    shown = number_rows(np.where(lots.blank, units.gap, units.codes[lots.of]))
    everybody = np.array_equal(np.bincount(lots.of, lots.count, minlength=len(units.count)), units.count)
    return everybody and bool((np.bincount(shown, lots.count) >= k).all())
