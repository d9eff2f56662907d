"""The intruder writes what they know in the release's own coarser schema.

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
from typing import NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.tables.intervals import has_intervals

TESTED = 0.8
PREFIX = re.compile(r"^(.+?)[*?xX•]+$")


class Inside(NamedTuple):
    """Original numbers in the release's schema, and in how many different intervals each lies."""

    recoded: Floats
    hits: Ints


def into_intervals(original: Floats, low: Floats, high: Floats) -> tuple[Inside, Floats]:
    """Both columns as numbers in the release's schema: the mean of the original values inside each interval.

    A value in exactly one released interval becomes that interval's number; a value in none or in several that differ
    keeps itself. An interval that holds no original value is represented by its middle (or its finite end).
    """
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
    return Inside(recoded, hits), published


def _centre(values: Floats, low: float, high: float) -> float:
    inside = np.sort(values[(values >= low) & (values <= high)])  # sorted: the sum must not depend on row order
    if inside.size:
        return float(inside.mean())
    ends = [end for end in (low, high) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0


def into_prefixes(original: pl.Series, paired_original: pl.Series, paired_released: pl.Series) -> pl.Series | None:
    """Original texts as the released prefixes they begin with, if the release holds shortened texts.

    Shortened means that mask characters follow a prefix ("750**", "750*"), or that every released text is a beginning
    of its own original and some are shorter ("750"). The longest prefix wins; a text with none stays as it is.
    """
    labels: dict[str, str] = {
        text: match[1] for text in paired_released.drop_nulls().unique() if (match := PREFIX.match(text))
    }
    kept = set(original.drop_nulls().unique())
    prefixes = {prefix: text for text, prefix in sorted(labels.items()) if text not in kept}
    if not prefixes and _is_truncated(paired_original, paired_released):
        prefixes = {text: text for text in paired_released.drop_nulls().unique()}
    if not prefixes:
        return None
    lengths = sorted({len(prefix) for prefix in prefixes}, reverse=True)
    exact = {(labels[text], len(text)): text for text in labels}  # a mask of the original's own length comes first

    def shorten(text: str) -> str:
        for cut in lengths:
            if (text[:cut], len(text)) in exact:
                return exact[text[:cut], len(text)]
            if cut <= len(text) and text[:cut] in prefixes:
                return prefixes[text[:cut]]
        return text

    return original.replace({text: shorten(text) for text in kept})


def _is_truncated(fine: pl.Series, coarse: pl.Series) -> bool:
    pairs = pl.DataFrame({"fine": fine, "coarse": coarse}).drop_nulls().unique()
    if not pairs.height:
        return False
    begins = pairs.select(pl.col("fine").str.starts_with(pl.col("coarse")).all()).item()
    shorter = pairs.select((pl.col("coarse").str.len_chars() < pl.col("fine").str.len_chars()).any()).item()
    return bool(begins and shorter)


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
    if coarse.dtype != pl.String:
        return False
    if fine.dtype.is_numeric() and has_intervals(coarse):
        return True
    text = fine.cast(pl.String)
    return into_prefixes(text, text, coarse) is not None or into_merged(text, text, coarse) is not None
