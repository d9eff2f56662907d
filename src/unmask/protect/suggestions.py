"""Maskings to try on a table when nobody names any: by the kinds of its columns, from weak to strong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np
import polars as pl

from unmask.masking import quoted
from unmask.tables import as_text, read_hierarchy, to_floats

STRENGTHS = (0.1, 0.3, 1.0)
SWAPS, CROWDS, PERIODS = (0.05, 0.2, 0.5), (5, 15), ("month", "year", "decade")
COARSER = (8, 4)  # intervals that a column of numbers is cut into, from fine to coarse
RARE, WORDS_KEPT = 25, (3, 2)
FEW, TAIL = 25, 0.02  # distinct values of a code; share of a heavy tail that is cut


def suggest_maskings(
    table: pl.DataFrame,
    kinds: Mapping[str, str],
    columns: Iterable[str],
    hierarchies: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Maskings of these columns, each for all of them at once: numbers are moved or coarsened, the rest coarsened.

    ``kinds``: "numeric", "ordinal", "categorical", "boolean" or "date" of each column, as a release takes them.
    ``hierarchies``: a column with one is written at its levels, coarser from masking to masking.
    """
    by: dict[str, list[str]] = {}
    for name in columns:
        by.setdefault("" if name in hierarchies else kinds[name], []).append(name)
    levels = {name: at_levels(table[name], hierarchies[name]) for name in by.get("", [])}
    numbers = [name for name in by.get("numeric", []) if table[name].dtype.is_numeric()]
    dates = [name for name in by.get("date", []) if table[name].dtype in (pl.Date, pl.Datetime)]
    words = [name for kind in ("categorical", "boolean", "ordinal") for name in by.get(kind, [])]
    found: list[list[str]] = []
    for strength in range(3):
        coarser = [*_worded(table, words, strength), *(one[min(strength, len(one) - 1)] for one in levels.values())]
        if dates:
            coarser.insert(0, f"dates({PERIODS[strength]}, columns=[{', '.join(map(quoted, dates))}])")
        if numbers:
            listed = ", ".join(map(quoted, numbers))
            found.append([true_to_form(f"noise({STRENGTHS[strength]}, columns=[{listed}])"), *coarser])
            found.append([f"rank_swap(share={SWAPS[strength]}, columns=[{listed}])", *coarser])
        if numbers and strength < 2:
            found.append([true_to_form(f"microaggregation({CROWDS[strength]}, columns=[{listed}])"), *coarser])
            found.append([*(cut(table[name], COARSER[strength]) for name in numbers), *coarser])
        if not numbers and coarser:
            found.append(coarser)
    return tuple(dict.fromkeys(steps[0] if len(steps) == 1 else f"chain([{', '.join(steps)}])" for steps in found))


def at_levels(column: pl.Series, hierarchy: str) -> list[str]:
    """Maskings that write a column at each level of its hierarchy, from fine to coarse; at the last, leave it out.

    One group for everybody says no more than no column.
    """
    tree = read_hierarchy(hierarchy, set(as_text(column).drop_nulls()))
    telling = [level for level in range(1, tree.levels + 1) if tree.raised(column, level).n_unique() > 1]
    steps = [f"hierarchy({hierarchy!r}, [{quoted(column.name)}], level={level})" for level in telling]
    return [*steps, f"drop([{quoted(column.name)}])"]


def true_to_form(masking: str) -> str:
    """A masking that makes new numbers, with the bounds and decimals of the column: no age of -2, no bmi of 23.418."""
    return f"consistent({masking})"


def _worded(table: pl.DataFrame, names: list[str], strength: int) -> list[str]:
    """Rare words together; codes of many values, such as postcodes, by their first characters; from 1 on a lottery."""
    steps, plain = [], []
    for name in names:
        text = table[name].cast(pl.String)
        if text.n_unique() > FEW:
            longest = text.str.len_chars().max()
            keep = min(WORDS_KEPT[min(strength, 1)], (longest if isinstance(longest, int) else 2) - 1)
            steps.append(f"prefix({keep}, columns=[{quoted(name)}])" if keep > 0 else f"drop([{quoted(name)}])")
        else:
            plain.append(name)
    listed = ", ".join(map(quoted, plain))
    steps += [f"rare({RARE * (strength + 1)}, columns=[{listed}])"] if plain else []
    steps += [f"pram({0.1 * strength:g}, columns=[{listed}])"] if plain and strength else []
    return steps


def cut(column: pl.Series, pieces: int) -> str:
    """Intervals of a round width, with about so many between the tails, which are open."""
    values = to_floats(column, column.name)
    values = values[~np.isnan(values)]
    low, high = (float(np.quantile(values, q)) for q in (TAIL, 1 - TAIL)) if values.size else (0.0, 1.0)
    width = _round((high - low) / pieces) if high > low else 1.0
    first, last = int(np.floor(low / width)) + 1, int(np.floor(high / width))
    breaks = ", ".join(f"{width * k:g}" for k in range(first, max(first, last) + 1))
    return f"recoding(breaks=[{breaks}], columns=[{quoted(column.name)}])"


def _round(width: float) -> float:
    """The next of 1, 2, 5, 10, ... above."""
    power = 10.0 ** np.floor(np.log10(width))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= width * (1 - 1e-9)))
