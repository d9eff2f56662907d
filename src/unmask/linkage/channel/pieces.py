"""Released texts that hold several things at once: each piece, or each item of a list, is a column of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unmask.linkage.channel.columns import COMPOUND, read_column
from unmask.linkage.channel.factors import Sum
from unmask.linkage.channel.features import has_item, items
from unmask.linkage.channel.normal_forms import RUNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.linkage.channel.columns import Column
    from unmask.linkage.channel.material import Material

    Ints = NDArray[np.int64]

MOST = 8  # pieces of a text
MOSTLY = 0.9  # share of the texts that have as many pieces as most


def pieces_of(column: Column) -> tuple[Column, ...]:
    """Runs of letters and runs of digits of a text as columns, if nearly all texts have as many and some differ.

    Words that nearly all texts have, such as those of a form that was filled in, are left out. Of lists of any length,
    a column for each item says whether it is there.
    """
    if column.kind == "date" or (column.kind == "number" and not all(map(COMPOUND.match, column.words))):
        return ()
    if _are_bands(column):
        return ()
    runs = _without_form([RUNS.findall(word) for word in column.words])
    counts = np.bincount([min(len(run), MOST + 1) for run in runs] or [0])
    size = int(counts.argmax())
    if not 2 <= size <= MOST or counts[size] < MOSTLY * len(runs):
        return _items_of(column)
    parts = []
    for k in range(size):
        texts = [run[k] if len(run) == size else None for run in runs]
        if len({text for text in texts if text is not None}) > 1:
            whole = [None if code < 0 else texts[code] for code in column.code.tolist()]
            parts.append(read_column(pl.Series(f"piece {k + 1} of {column.name}", whole, dtype=pl.String)))
    return tuple(parts) if len(parts) > 1 else ()


def _are_bands(column: Column) -> bool:
    """Whether texts are bands beside each other; two numbers of a place (E151N960) cut across those of others."""
    if column.low is None or column.high is None:
        return False
    known = ~np.isnan(column.low)
    ends = np.unique(np.column_stack([column.low[known], column.high[known]]), axis=0)
    return bool((ends[1:, 0] < ends[:-1, 1]).mean() <= 1 - MOSTLY) if len(ends) > 1 else True


def _items_of(column: Column) -> tuple[Column, ...]:
    """Whether each item of a list is there."""
    held = [has_item(column, item) for item in items(column)]
    return tuple(read_column(pl.Series(f"item {k + 1} of {column.name}", one)) for k, one in enumerate(held))


def _without_form(runs: list[list[str]]) -> list[list[str]]:
    often = Counter(run for text in runs for run in set(text))
    form = {run for run, count in often.items() if count >= MOSTLY * len(runs)}
    return [[run for run in text if run not in form] for text in runs]


@dataclass(frozen=True, slots=True)
class Pieces:
    """A released text whose pieces are made in ways of their own."""

    target: int
    recipes: tuple[Any, ...]  # their targets are the pieces

    def fit(self, material: Material, taught: Ints) -> Sum:
        """Learn every piece."""
        inner = material.pieces(self.target)
        return Sum(tuple(recipe.fit(inner, taught) for recipe in self.recipes))
