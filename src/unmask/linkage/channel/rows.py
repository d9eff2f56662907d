"""What like numbers of a row have together: ten measurements released by their smallest, largest, middle and mean.

Like numbers are columns whose names differ in digits only (``bp1`` to ``bp10``); where there are none, all numbers, if
they are of about the same size.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.linkage.channel.features import Feature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unmask.linkage.channel.columns import Column

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Block = tuple[int, ...]

ROW = "row "  # how the features of rows begin
COUNT = "row count "  # of values from a low end up to a high one
FEWEST, MOST_BLOCKS = 3, 4


def _next_largest(table: Floats, axis: int) -> Floats:
    """Place of the second largest number of each row."""
    filled = np.where(np.isfinite(table), table, -np.inf)
    return np.asarray(np.argsort(-filled, axis=axis, kind="stable")[:, 1].astype(np.float64))


FIGURES: dict[str, tuple[Callable[..., Any], str]] = {
    "row smallest": (np.nanmin, "the smallest"),
    "row largest": (np.nanmax, "the largest"),
    "row middle": (np.nanmedian, "the median"),
    "row mean": (np.nanmean, "the mean"),
    "row spread": (np.nanstd, "the standard deviation"),
    "row place of the largest": (np.nanargmax, "the place of the largest"),
    "row place of the next": (_next_largest, "the place of the second largest"),
    "row place of the smallest": (np.nanargmin, "the place of the smallest"),
}
AMONG = " among "  # these columns, where a figure is not of a block
NEVER, MOST_COMPARED, FEWEST_KNOWN = 0.99, 40, 20  # share of people; columns; known people
ALIKE = 5.0  # the largest typical number over the smallest, where names say nothing
EDGES, FINER = 48, 120  # ends of ranges that are tried first, and near the best of them
LEFT = 0.5  # share of the variance that a range may leave, to be worth a try


def blocks(columns: Sequence[Column]) -> list[Block]:
    """Columns of like numbers."""
    by_stem: dict[str, list[int]] = {}
    numbers = [place for place, column in enumerate(columns) if column.kind == "number"]
    for place in sorted(numbers, key=lambda place: columns[place].name):
        by_stem.setdefault(re.sub(r"\d+", "#", columns[place].name), []).append(place)
    found = [tuple(places) for places in by_stem.values() if len(places) >= FEWEST]
    return found[:MOST_BLOCKS] or ([tuple(numbers)] if len(numbers) >= FEWEST and _of_a_size(columns, numbers) else [])


def _of_a_size(columns: Sequence[Column], numbers: list[int]) -> bool:
    typical = [float(np.median(size)) for k in numbers if (size := np.abs(_present(columns[k].number))).size]
    return bool(typical) and max(typical) <= ALIKE * min(typical)


def _present(values: Floats) -> Floats:
    return values[np.isfinite(values)]


def row_keys(columns: Sequence[Column]) -> list[tuple[int, str]]:
    """Names of the features: the first column of a block, and the figure."""
    return [(block[0], form) for block in blocks(columns) for form in FIGURES]


def row_feature(columns: Sequence[Column], key: tuple[int, str]) -> Feature:
    """One figure of each row."""
    numbers = tuple(place for place, column in enumerate(columns) if column.kind == "number")
    block = next((block for block in blocks(columns) if block[0] == key[0]), numbers)  # of some people sizes may differ
    form, _, of_these = key[1].partition(AMONG)
    if of_these:
        block = tuple(map(int, of_these.split(",")))
    table = np.column_stack([columns[place].number for place in block])
    there = np.isfinite(table).any(1)
    of = f"of `{columns[block[0]].name}` and {len(block) - 1} columns like it"
    values = np.full(len(table), np.nan)
    if key[1].startswith(COUNT):
        low, high = map(float, key[1].removeprefix(COUNT).split())
        values[there] = ((table >= low) & (table < high)).sum(1)[there]
        return Feature(columns[block[0]].name, f"how many {of} lie in a range", values)
    figure, words = FIGURES[form]
    values[there] = figure(table[there], axis=1)
    return Feature(columns[block[0]].name, f"{words} {of}", values)


def ranges(columns: Sequence[Column], taught: Ints, y: Floats) -> list[tuple[int, str]]:
    """Ranges so that a released number is how many of a row's like numbers lie in it, if there is one."""
    there = np.isfinite(y)
    if there.sum() < FEWEST or (y[there] % 1).any() or y[there].min() < 0 or y[there].var() == 0:
        return []
    found = []
    for block in blocks(columns):
        if y[there].max() <= len(block):
            table = np.column_stack([columns[place].number[taught] for place in block])[there]
            left, low, high = best_range(table, y[there])
            if left < LEFT:
                found.append((left, (block[0], f"{COUNT}{low!r} {high!r}")))
    return [key for _, key in sorted(found)[:1]]


def extremes(columns: Sequence[Column], taught: Ints, y: Floats) -> list[tuple[int, str]]:
    """The numbers that a released one is hardly ever below (or above), if it is near the largest (smallest) of them."""
    numbers = [k for k, column in enumerate(columns) if column.kind == "number"][:MOST_COMPARED]
    there = np.isfinite(y)
    if len(numbers) < FEWEST - 1 or there.sum() < FEWEST_KNOWN or y[there].var() == 0:
        return []
    table = np.column_stack([columns[place].number[taught] for place in numbers])[there]
    step = float(np.diff(np.unique(y[there])).min())
    found = []
    for sign, form in ((1.0, "row largest"), (-1.0, "row smallest")):
        beyond = (sign * (y[there][:, None] - table) > -step * (1 + 1e-9)).mean(0) >= NEVER
        places = [place for place, held in zip(numbers, beyond, strict=True) if held]
        if len(places) >= FEWEST - 1:
            end = sign * np.nanmax(sign * table[:, beyond], axis=1)
            left = float(np.var(y[there] - end)) / float(y[there].var())
            if left < LEFT:
                found.append((left, (places[0], f"{form}{AMONG}{','.join(map(str, places))}")))
    return [key for _, key in sorted(found)[:1]]


def best_range(table: Floats, y: Floats) -> tuple[float, float, float]:
    """The range whose counts are nearest to y, and the share of y's variance that they leave."""
    values = np.unique(table[np.isfinite(table)])
    edges = np.unique(np.concatenate(([-np.inf], np.quantile(values, np.linspace(0, 1, EDGES)), [np.inf])))
    left, low, high = _best(table, y, edges, edges)
    for _ in range(2):
        low_edges, high_edges = (_near(values, edges, end) for end in (low, high))
        left, low, high = min((left, low, high), _best(table, y, low_edges, high_edges))
    return left, float(low), float(high)


def _near(values: Floats, edges: Floats, end: float) -> Floats:
    """Every value around one end, evenly drawn if there are many."""
    place = int(np.searchsorted(edges, end))
    low, high = edges[max(0, place - 1)], edges[min(edges.size - 1, place + 1)]
    inside = values[(values >= low) & (values <= high)]
    return np.append(inside[:: max(1, inside.size // FINER + 1)], end)


def _best(table: Floats, y: Floats, lows: Floats, highs: Floats) -> tuple[float, float, float]:
    below = [np.stack([(table < edge).sum(1) for edge in side]).astype(float) for side in (lows, highs)]
    # |h - l - y|^2 summed over people, for all pairs of ends at once
    low, high = below[0] + y, below[1]
    squares = (low**2).sum(1)[:, None] + (high**2).sum(1)[None, :] - 2 * low @ high.T
    a, b = np.unravel_index(int(squares.argmin()), squares.shape)
    return max(0.0, float(squares[a, b]) / y.size / float(y.var())), float(lows[a]), float(highs[b])
