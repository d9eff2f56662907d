"""Pictures as data: a measure says what is to be seen, the report draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from unmask.shares import change, percent

# path: a line with its points; interval: series of values, lower ends, upper ends, and one value to hold them against
Shape = Literal["line", "step", "path", "bar", "histogram", "point", "waterfall", "interval"]


@dataclass(frozen=True, slots=True)
class Series:
    """Named pairs of numbers (or of words and numbers)."""

    name: str
    x: tuple[float | str, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """One picture: what it shows in a title, a caption in plain words, and a text for those who cannot see it."""

    shape: Shape
    title: str
    caption: str
    alt: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    percent: tuple[bool, bool] = (False, False)  # whether x and y are shares
    log_x: bool = False

    @classmethod
    def bars(  # noqa: PLR0913 - the words of a picture
        cls,
        bars: Sequence[tuple[str, float]],
        *,
        title: str,
        caption: str,
        said: str,
        axes: tuple[str, str],
        name: str = "",
        form: str = "{} {share}",
    ) -> Figure:
        """One bar for each label and value. ``said`` begins the text for who cannot see.

        ``form``: with {share} or {change} (signed) values are shares, shown as percent; ``name``: of the series; none:
        what the second axis shows.
        """
        labels, values = tuple(label for label, _ in bars), tuple(value for _, value in bars)
        told = (form.format(label, value, share=percent(value), change=change(value)) for label, value in bars)
        alt = said + ", ".join(told)
        series = (Series(name or axes[1], labels, values),)
        return cls("bar", title, caption, alt, *axes, series, percent=(False, "{share}" in form or "{change}" in form))
