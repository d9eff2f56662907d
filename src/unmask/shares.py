"""Shares as people read them: one form everywhere, "25.4 %", from the terminal to the alternative text of a picture."""

from __future__ import annotations

import math


def percent(share: float | None) -> str:
    """Write a share as a percentage with as many digits as it needs, below 1 % two: 25.4 %, 0.093 %, 0 %."""
    if share is None or math.isnan(share):
        return "-"
    if share < 0:
        return f"-{percent(-share)}"
    value = 100 * share
    if value == 0:
        return "0 %"
    if value < 0.0001:
        return "under 0.0001 %"
    digits = 1 if value >= 0.95 else 2 if value >= 0.095 else 3 if value >= 0.0095 else 4
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") + " %"


def change(share: float) -> str:
    """Write what is added or taken away, with its sign: +2.5 %, -1 %."""
    return percent(share) if share <= 0 else f"+{percent(share)}"


def span(low: float, high: float) -> str:
    """Write an interval with one unit: 22.9-28 %."""
    return f"{percent(low).removesuffix(' %')}-{percent(high)}" if low < high else percent(low)


def in_words(seconds: float) -> str:
    """A time as people say it: 40 seconds, 10 minutes, 2 hours."""
    unit, word = (3600, "hour") if seconds >= 3600 else (60, "minute") if seconds >= 60 else (1, "second")
    number = f"{seconds / unit:.2g}" if seconds < 100 * unit else f"{seconds / unit:,.0f}"
    return f"{number} {word}{'' if number == '1' else 's'}"
