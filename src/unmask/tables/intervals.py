"""Intervals written as text: ``30-39``, ``[30, 40)``, ``>=65``, ``<5``, ``65+``, or a plain number.

A release often publishes an age band where the original has an age. The intruder, who knows the banding because it is
printed in the release, asks which band a known number falls into. Both ends of ``30-39`` belong to it; where the next
band begins one later (``40-49``), the band reaches up to it, so that 39.5 is in one of them.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from unmask.arrays import Floats

NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
PLAIN = re.compile(rf"^\s*({NUMBER})\s*$")
DASH = re.compile(rf"^\s*({NUMBER})\s*(?:-|–|—|to|\.\.)\s*({NUMBER})\s*$")  # noqa: RUF001 - people type en and em dashes
BRACKET = re.compile(rf"^\s*([\[(\]])\s*({NUMBER}|-inf)?\s*[,;]\s*({NUMBER}|\+?inf)?\s*([\])\[])\s*$", re.IGNORECASE)
LEAST = re.compile(rf"^\s*(>=|≥|>)\s*({NUMBER})\s*$")
MOST = re.compile(rf"^\s*(<=|≤|<)\s*({NUMBER})\s*$")
MOSTLY = 0.5  # share of different texts that must read as numbers or intervals
BEGINS = r"^[\s\x1c-\x1f]*[+\-.\d\[\](<>≤≥]"  # whatever reads as an interval: nothing else need be tried
PLUS = re.compile(rf"^\s*({NUMBER})\s*\+\s*$")


def parse_interval(text: str) -> tuple[float, float] | None:  # noqa: PLR0911 - one per form
    """Read one cell as (low, high), both ends belonging to it; a plain number is an interval of width 0."""
    if match := PLAIN.match(text):
        return float(match[1]), float(match[1])
    if match := DASH.match(text):
        low, high = float(match[1]), float(match[2])
        return (low, high) if low <= high else None
    if match := BRACKET.match(text):
        low = float(match[2]) if match[2] else -np.inf
        high = float(match[3]) if match[3] else np.inf
        low = low if match[1] == "[" or low == -np.inf else float(np.nextafter(low, np.inf))
        high = high if match[4] == "]" or high == np.inf else float(np.nextafter(high, -np.inf))
        return (low, high) if low <= high else None
    if match := LEAST.match(text):
        return (float(match[2]) if match[1] != ">" else float(np.nextafter(float(match[2]), np.inf))), np.inf
    if match := MOST.match(text):
        return -np.inf, (float(match[2]) if match[1] != "<" else float(np.nextafter(float(match[2]), -np.inf)))
    if match := PLUS.match(text):
        return float(match[1]), np.inf
    return None


def interval_share(column: pl.Series) -> float:
    """Share of different non-missing texts that read as numbers or intervals."""
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return 0.0
    texts = column.drop_nulls().cast(pl.String).unique()
    if not len(texts):
        return 0.0
    return sum(parse_interval(text) is not None for text in texts.filter(texts.str.contains(BEGINS))) / len(texts)


def has_intervals(column: pl.Series) -> bool:
    """Whether most different texts read as numbers or intervals, and at least one is a true interval.

    The few that do not ("unknown", "n/a") are suppressed cells: they count as missing.
    """
    if interval_share(column) < MOSTLY:
        return False
    spans = [parse_interval(text) for text in column.drop_nulls().cast(pl.String).unique()]
    return any(span is not None and span[0] < span[1] for span in spans)


def bounds(column: pl.Series) -> tuple[Floats, Floats]:
    """Low and high end of every cell; NaN where the cell is missing or not an interval."""
    texts = column.cast(pl.String)
    book = {text: parse_interval(text) or (np.nan, np.nan) for text in texts.drop_nulls().unique()}
    pairs = [book[text] if text is not None else (np.nan, np.nan) for text in texts]
    array = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return array[:, 0].copy(), _close_gaps(array[:, 0], array[:, 1])


def _close_gaps(low: Floats, high: Floats) -> Floats:
    """Let bands of whole numbers reach up to the next whole number: 30-39 and 40-49 leave out no age.

    They are such bands if one begins exactly 1 after another's end; the last one then reaches as far.
    """
    starts = np.unique(low[~np.isnan(low)])
    following = np.searchsorted(starts, high, "right")
    nearest = starts[np.minimum(following, len(starts) - 1)] if len(starts) else high
    touches = (low < high) & (following < len(starts)) & (nearest == high + 1)
    last = (low < high) & (following == len(starts)) & (high == np.round(high)) & np.isfinite(high)
    return np.where(touches | (last & touches.any()), np.nextafter(high + 1, -np.inf), high)
