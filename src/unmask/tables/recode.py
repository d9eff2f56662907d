"""The intruder writes what he knows in the release's own coarser schema.

A release may publish age bands, shortened postcodes ("750**") or merged categories. The coding scheme is public (it
is printed in the release or its documentation), so an intruder who knows a person's exact value knows the coarse one
too. Three forms are recognised; anything else is compared as it stands:

1. intervals in place of numbers: a number becomes the interval it falls into;
2. shortened text ending in ``*``, ``x`` or ``?`` masks: a text becomes the released prefix it begins with;
3. merged categories: every original category always appears under one released category. The rule is learnt from the
   pairs only where it is *tested* by repetition (``TESTED`` of the rows share their original value with another row);
   on unique values any pairing looks like a rule, and using it would hand the intruder the answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from unmask.tables.intervals import bounds, has_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

TESTED = 0.8
PREFIX = re.compile(r"^(.+?)[*?xX•]+$")


def into_intervals(
    original: NDArray[np.float64], released: pl.Series
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both columns as numbers in the release's schema: the mean of the original values inside each interval.

    A value in exactly one released interval becomes that interval's number; a value in none or in several that differ
    keeps itself. An interval that holds no original value is represented by its middle (or its finite end).
    """
    low, high = bounds(released)
    present = ~np.isnan(low)
    spans, which = np.unique(np.column_stack([low, high])[present], axis=0, return_inverse=True)
    centres = np.array([_centre(original, a, b) for a, b in spans])
    recoded = original.copy()
    hits = np.zeros(len(original), dtype=np.int64)
    for (a, b), centre in zip(spans, centres, strict=True):
        inside = (original >= a) & (original <= b)
        hits += inside
        recoded[inside] = centre
    recoded[hits > 1] = original[hits > 1]
    published = np.full(len(low), np.nan)
    published[present] = centres[which.ravel()]
    return recoded, published


def _centre(values: NDArray[np.float64], low: float, high: float) -> float:
    inside = np.sort(values[(values >= low) & (values <= high)])  # sorted: the sum must not depend on row order
    if inside.size:
        return float(inside.mean())
    ends = [end for end in (low, high) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0


def into_prefixes(original: pl.Series, released: pl.Series) -> pl.Series | None:
    """Original texts as the released prefixes they begin with, if the release holds shortened texts."""
    masks = [text for text in released.drop_nulls().unique() if PREFIX.match(text)]
    if not masks or set(masks) & set(original.drop_nulls().unique()):
        return None
    found: dict[tuple[str, int], str] = {}
    for mask in masks:
        match = PREFIX.match(mask)
        if match:
            found[match[1], len(mask)] = mask

    def shorten(text: str) -> str:
        for cut in range(len(text), 0, -1):
            if (text[:cut], len(text)) in found:
                return found[text[:cut], len(text)]
        return text

    book = {text: shorten(text) for text in original.drop_nulls().unique()}
    return original.replace(book)


def into_merged(original: pl.Series, paired_original: pl.Series, paired_released: pl.Series) -> pl.Series | None:
    """Original categories as the released ones, if each always appears under one and the rule is tested."""
    pairs = pl.DataFrame({"a": paired_original, "b": paired_released}).drop_nulls()
    if not pairs.height or pairs["b"].n_unique() >= pairs["a"].n_unique():
        return None
    if set(pairs["b"].unique()) <= set(pairs["a"].unique()) and bool((pairs["a"] == pairs["b"]).mean() > 0.5):  # type: ignore[operator]
        return None  # the same categories, most of them unchanged: a perturbation or suppression, not a coarser scheme
    rule = pairs.group_by("a").agg(pl.col("b").n_unique().alias("targets"), pl.col("b").first(), pl.len().alias("rows"))
    if bool((rule["targets"] > 1).any()):
        return None
    repeated = rule.filter(pl.col("rows") > 1)["rows"].sum()
    if repeated < TESTED * pairs.height:
        return None
    return original.replace(dict(zip(rule["a"], rule["b"], strict=True)))


def is_coarser(fine: pl.Series, coarse: pl.Series) -> bool:
    """Whether ``coarse`` (paired row by row) is a coarser writing of ``fine``: bands, prefixes or merged categories."""
    if fine.dtype.is_numeric():
        return has_intervals(coarse)
    if fine.dtype != pl.String or coarse.dtype != pl.String:
        return False
    return into_prefixes(fine, coarse) is not None or into_merged(fine, fine, coarse) is not None
