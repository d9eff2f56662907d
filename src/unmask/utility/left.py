"""One number for what is left of a table, never without its parts: columns, relations, and the user's own analyses.

- *columns*: the larger of 1 - Hellinger's distance (what is left of the distribution) and of mutual information over
  entropy (what is left about single people; paired rows only). Noise keeps the one, coarser words the other.
- *relations*: 1 - the sum over pairs of columns of |V' - V| over the sum of the larger of both and 1 / sqrt(n), which
  chance alone gives; V is Cramér's measure of association with Bergsma's correction, numbers between quantiles.
- *analyses*: mean overlap of the confidence intervals of what was asked for, if anything was.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from unmask.arrays import Codes, Floats
from unmask.errors import UnmaskError
from unmask.utility.analyses import compare_analyses, numbers
from unmask.utility.marginals import hellinger
from unmask.utility.pairs import read_pair

BINS, LEVELS = 10, 30  # of numbers between quantiles; of categories, the rarer ones together
MOST_COLUMNS = 20  # whose relations are looked at


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a table, each part from 0 (nothing) to 1 (all of it)."""

    columns: dict[str, float]
    relations: float | None  # None with a single column
    analyses: float | None  # None where none was asked for

    @property
    def value(self) -> float:
        """The mean of the parts."""
        parts = [float(np.mean(list(self.columns.values()))), self.relations, self.analyses]
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
    paired = paired and left.height == right.height
    sides = {name: _codes(left[name], right[name] if name in right.columns else None) for name in names}
    kept = {name: _column(*sides[name], paired=paired) for name in names}
    looked = sorted(names, key=lambda name: (-len(np.unique(sides[name][0])), name))[:MOST_COLUMNS]
    asked = compare_analyses(left, right, keep)
    overlap = float(np.mean([one.overlap for one in asked])) if asked else None
    return Left(kept, _relations([sides[name] for name in looked]), overlap)


def _codes(x: pl.Series, y: pl.Series | None) -> tuple[Codes, Codes | None]:
    """Both versions of a column as codes: the same code for the same value; -1 where nothing is there."""
    if y is None:
        return _levels(x, None)
    try:
        a, b = numbers(x), numbers(y)
    except UnmaskError:
        return _levels(x, y)
    if np.unique(a[~np.isnan(a)]).size <= BINS:
        return _levels(pl.Series(a), pl.Series(b))
    edges = np.unique(np.quantile(a[~np.isnan(a)], np.linspace(0, 1, BINS + 1)[1:-1]))
    return _binned(a, edges), _binned(b, edges)


def _binned(values: Floats, edges: Floats) -> Codes:
    return np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="right")).astype(np.int32)


def _levels(x: pl.Series, y: pl.Series | None) -> tuple[Codes, Codes | None]:
    """Categories by their text; those beyond the commonest of each side are one."""
    sides = [x.cast(pl.String)] if y is None else [x.cast(pl.String), y.cast(pl.String)]
    common: dict[str, int] = {}
    for side in sides:
        counted = sorted(side.drop_nulls().value_counts().rows(), key=lambda row: (-row[1], row[0]))
        for value, _ in counted[:LEVELS]:
            common.setdefault(value, len(common))
    other = len(common)
    coded = [
        side.replace_strict(common, default=other, return_dtype=pl.Int32).set(side.is_null(), -1).to_numpy()
        if common
        else np.full(len(side), -1, dtype=np.int32)
        for side in sides
    ]
    return coded[0], coded[1] if y is not None else None


def _column(x: Codes, y: Codes | None, *, paired: bool) -> float:
    if y is None:
        return 0.0
    size = int(max(x.max(initial=-1), y.max(initial=-1))) + 2
    counts = [np.bincount(side + 1, minlength=size).astype(np.float64) for side in (x, y)]
    return max(1.0 - hellinger(*counts), _detail(x, y) if paired else 0.0)


def _detail(x: Codes, y: Codes) -> float:
    """Share of what x says about single records that y still says: mutual information over entropy, less its bias."""
    table = _table(x, y)
    n = table.sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    entropy = _entropy(rows / n)
    if entropy == 0:
        return 1.0
    shared = entropy + _entropy(columns / n) - _entropy((table / n).ravel())
    bias = ((rows > 0).sum() - 1) * ((columns > 0).sum() - 1) / (2 * n)
    if np.count_nonzero(table) == (columns > 0).sum():  # y says x exactly: nothing of it is by chance
        bias = 0.0
    return float(np.clip((shared - bias) / entropy, 0.0, 1.0))


def _table(x: Codes, y: Codes) -> Floats:
    wide = int(y.max(initial=-1)) + 2
    cells = (x.astype(np.int64) + 1) * wide + y + 1
    tall = int(x.max(initial=-1)) + 2
    return np.bincount(cells, minlength=tall * wide).reshape(tall, wide).astype(np.float64)


def _entropy(shares: Floats) -> float:
    there = shares[shares > 0]
    return float(-(there * np.log(there)).sum())


def _relations(sides: list[tuple[Codes, Codes | None]]) -> float | None:
    if len(sides) < 2:
        return None
    gap = whole = 0.0
    for (a, c), (b, d) in combinations(sides, 2):
        before = _association(a, b)
        after = None if c is None or d is None else _association(c, d)
        size = max(before, after or 0.0) + 1.0 / np.sqrt(len(a))
        gap += size if after is None else abs(before - after)
        whole += size
    return float(1.0 - gap / whole)


def _association(x: Codes, y: Codes) -> float:
    """Cramér's V with Bergsma's correction (2013): 0 for independent columns on average, 1 where both say the same."""
    table = _table(x, y)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n, (r, k) = table.sum(), table.shape
    if min(r, k) < 2 or n < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    squared = max(0.0, float(((table - expected) ** 2 / expected).sum() / n) - (r - 1) * (k - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)) - 1
    return float(min(1.0, np.sqrt(squared / least))) if least > 0 else 0.0
