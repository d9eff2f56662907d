"""Pictures as data: a measure says what is to be seen, the report draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Shape = Literal["line", "step", "path", "bar", "histogram", "point", "waterfall"]  # path: a line with its points


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
