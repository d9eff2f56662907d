"""Single columns: what became of the distribution, mean, spread, quantiles and commonest categories of each.

Changes are told in the original's own units (standard deviations, shares), so that no value of the data is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from unmask.arrays import Codes, Floats
from unmask.tables import centre_and_spread
from unmask.utility.analyses import is_number, numbers
from unmask.utility.marginals import ks_distance
from unmask.utility.pairs import present

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)
TOP = 5  # commonest categories


@dataclass(frozen=True, slots=True)
class ColumnUtility:
    """What is left of one column; null where it is gone, or where a figure does not fit its kind.

    ``left``: its part in the headline; ``overlap``: share of the two distributions in common; ``ks``: the largest
    difference of the distribution functions; ``mean_shift`` and ``quantile_shift``: released less original, in standard
    deviations, of quantiles (5, 25, 50, 75, 95 %) the one that moved most; ``sd_ratio``: released over original;
    ``top_kept``: share of the five commonest categories that are among the release's five commonest; ``top_shift``: the
    largest change of the share of one of them; ``missing_shift``: change of the share of missing values.
    """

    name: str
    left: float
    overlap: float | None = None
    ks: float | None = None
    mean_shift: float | None = None
    sd_ratio: float | None = None
    quantile_shift: float | None = None
    top_kept: float | None = None
    top_shift: float | None = None
    missing_shift: float | None = None


def compare_column(
    name: str, left: float, x: pl.Series, y: pl.Series | None, codes: tuple[Codes, Codes | None]
) -> ColumnUtility:
    """Compare both versions of a column; ``left`` is what the headline counts it with."""
    if y is None or codes[1] is None:
        return ColumnUtility(name, left)
    gap = y.null_count() / y.len() - x.null_count() / x.len()
    shared = _overlap(codes[0], codes[1])
    if is_number(x) and is_number(y):
        figures = _of_numbers(present(numbers(x)), present(numbers(y)))
        return ColumnUtility(name, left, shared, *figures, missing_shift=gap)
    return ColumnUtility(name, left, shared, None, None, None, None, *_of_categories(x, y), gap)


def _overlap(x: Codes, y: Codes) -> float:
    """Sum over cells of the smaller of both shares: 1 less the total variation distance."""
    size = int(max(x.max(initial=-1), y.max(initial=-1))) + 2
    p, q = (np.bincount(side + 1, minlength=size) / side.size for side in (x, y))
    return float(np.minimum(p, q).sum())


def _of_numbers(x: Floats, y: Floats) -> tuple[float, float | None, float | None, float | None]:
    """KS distance, shift of the mean, ratio of the sds, largest shift of a quantile."""
    ks = ks_distance(x, y)
    (mean, sd), (moved, spread) = centre_and_spread(x), centre_and_spread(y)
    if not sd or not y.size:
        return ks, None, None, None
    shifts = (np.quantile(y, PROBABILITIES) - np.quantile(x, PROBABILITIES)) / sd
    return ks, (moved - mean) / sd, spread / sd, float(shifts[np.abs(shifts).argmax()])


def _of_categories(x: pl.Series, y: pl.Series) -> tuple[float | None, float | None]:
    """Share of the commonest categories that stay among the commonest, and the largest change of one's share."""
    before, after = (_shares(side) for side in (x, y))
    top = list(before)[:TOP]
    if not top:
        return None, None
    later = list(after)[:TOP]
    kept = sum(value in later for value in top) / len(top)
    shift = max((after.get(value, 0.0) - before[value] for value in top), key=abs)
    return kept, shift


def _shares(column: pl.Series) -> dict[str, float]:
    """Share of each category, the commonest first, equal ones by name."""
    counted = sorted(
        column.cast(pl.String).drop_nulls().alias("").value_counts().rows(), key=lambda row: (-row[1], row[0])
    )
    return {value: count / column.len() for value, count in counted}
