"""Was anything drawn? A release that follows from the original by a rule is the same whenever it is made."""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask.tables import Release

FEWEST = 2  # people for each different value, on average: with fewer any column would look like a rule


def follows_by_rule(release: Release) -> bool:
    """Whether each known column follows from the original: rounded, cut, put into bands, merged, or left as it is.

    Rules are seen where order shows them: larger numbers never become smaller ones, each band is one stretch of the
    original, each category always becomes the same. What is not seen to be a rule counts as drawn.
    """
    rows = release.paired_rows
    if not len(rows) or not release.quasi:
        return False
    before, after = release.original[rows], release.released[release.truth[rows]]
    return all(_follows(before[name], after[name]) for name in release.quasi)


def _follows(before: pl.Series, after: pl.Series) -> bool:
    table = pl.DataFrame({"before": before, "after": after}).drop_nulls()
    if not table.height or (before.is_null() != after.is_null()).any():
        return bool(before.null_count() == after.null_count() == len(before))
    if not (before.dtype.is_numeric() or before.dtype.is_temporal()):
        kinds = table.unique().height
        return kinds == table["before"].n_unique() and FEWEST * kinds <= table.height
    if after.dtype.is_numeric() or after.dtype == before.dtype:
        placed = table.sort("before", "after")
        same, values = placed["before"].diff().to_physical().to_numpy(), placed["after"].to_physical().to_numpy()
        steps = np.diff(values)
        return bool((steps >= 0).all() and not steps[same[1:] == 0].any())
    runs = table.sort("before", "after")["after"].rle_id().max()
    bands = table["after"].n_unique()
    return bool(runs == bands - 1 and FEWEST * bands <= table.height)
