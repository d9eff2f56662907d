"""One number for what is left of a table, never without its parts: columns, relations, and the user's own analyses.

- *columns*: the larger of 1 - Hellinger's distance (what is left of the distribution) and of mutual information over
  entropy (what is left about single people; paired rows only). Noise keeps the one, coarser words the other.
- *relations*: 1 - the sum over pairs of columns of |V' - V| over the sum of the larger of both and 1 / sqrt(n), which
  chance alone gives; V is Cramér's measure of association with Bergsma's correction, numbers between quantiles.
- *analyses*: mean overlap of the confidence intervals of what was asked for, if anything was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unmask.arrays import Codes
from unmask.shown import Shown
from unmask.utility.analyses import compare_analyses
from unmask.utility.associations import Sides, association, contingency, entropy
from unmask.utility.coding import both_coded
from unmask.utility.marginals import hellinger
from unmask.utility.pairs import read_pair

MOST_COLUMNS = 20  # whose relations are looked at


@dataclass(frozen=True, slots=True)
class Left(Shown):
    """What is left of a table, each part from 0 (nothing) to 1 (all of it)."""

    columns: dict[str, float]
    relations: float | None  # None with a single column
    analyses: float | None  # None where none was asked for

    @property
    def of_columns(self) -> float:
        """The mean over the columns."""
        return float(np.mean(list(self.columns.values())))

    @property
    def value(self) -> float:
        """The mean of the parts."""
        parts = [self.of_columns, self.relations, self.analyses]
        return float(np.mean([part for part in parts if part is not None]))


def what_is_left(
    original: object,
    released: object,
    *,
    columns: Iterable[str] | None = None,
    keep: Iterable[str] = (),
    paired: bool = True,
) -> Left:
    """Say what is left of the columns (default: all of the original), with rows in the same order if ``paired``.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(100)
    >>> unmask.what_is_left(people, people).value
    1.0

    """
    left, right = read_pair(original, released)
    names = list(left.columns if columns is None else columns)
    sides = {name: both_coded(left[name], right[name] if name in right.columns else None) for name in names}
    overlaps = [one.overlap for one in compare_analyses(left, right, keep)]
    return left_of(sides, overlaps, paired=paired and left.height == right.height)


def left_of(sides: Mapping[str, Sides], overlaps: Sequence[float], *, paired: bool) -> Left:
    """The same from the codes of every column in both tables, and the overlap of every analysis."""
    kept = {name: _column(*side, paired=paired) for name, side in sides.items()}
    overlap = float(np.mean(overlaps)) if overlaps else None
    return Left(kept, _relations([sides[name] for name in widest(sides)]), overlap)


def widest(sides: Mapping[str, Sides]) -> list[str]:
    """The columns whose relations are looked at: those with the most different values."""
    return sorted(sides, key=lambda name: (-len(np.unique(sides[name][0])), name))[:MOST_COLUMNS]


def _column(x: Codes, y: Codes | None, *, paired: bool) -> float:
    if y is None:
        return 0.0
    size = int(max(x.max(initial=-1), y.max(initial=-1))) + 2
    counts = [np.bincount(side + 1, minlength=size).astype(np.float64) for side in (x, y)]
    return max(1.0 - hellinger(*counts), _detail(x, y) if paired else 0.0)


def _detail(x: Codes, y: Codes) -> float:
    """Share of what x says about single records that y still says: mutual information over entropy, less its bias."""
    table = contingency(x, y)
    n = table.sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    whole = entropy(rows / n)
    if whole == 0:
        return 1.0
    shared = whole + entropy(columns / n) - entropy((table / n).ravel())
    bias = ((rows > 0).sum() - 1) * ((columns > 0).sum() - 1) / (2 * n)
    if np.count_nonzero(table) == (columns > 0).sum():  # y says x exactly: nothing of it is by chance
        bias = 0.0
    return float(np.clip((shared - bias) / whole, 0.0, 1.0))


def _relations(sides: list[Sides]) -> float | None:
    if len(sides) < 2:
        return None
    gap = whole = 0.0
    for (a, c), (b, d) in combinations(sides, 2):
        before = association(a, b)
        after = None if c is None or d is None else association(c, d)
        size = max(before, after or 0.0) + 1.0 / np.sqrt(len(a))
        gap += size if after is None else abs(before - after)
        whole += size
    return float(1.0 - gap / whole)
