"""Synthetic records, of no person: by a normal copula, or by trees, one column after the other [SYNTHPOP]_.

`copula`: ranks of all columns as normal scores, their correlations, and as many new records as wanted; numbers lie
between those of the original, categories are drawn as often as they occur. `cart`: the first column is drawn as it is;
each further one by a tree on those before it, as the value of a record of the same leaf (at least `leaf` records).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.errors import check_name
from unmask.masking.base import Masking, as_polars, at_least, check_seed, encoded, generator, refuse_names
from unmask.masking.consistency import decimals_of
from unmask.masking.data_shuffling import normal_scores
from unmask.silence import many_kinds

METHODS = ("copula", "cart")
COMMON = 20  # categories of a column that a tree sees


@dataclass(frozen=True)
class Synthetic(Masking):
    """Draw a table of new records: `rows` of them, as many as the original has if that is 0."""

    method: str = "copula"
    leaf: int = 5
    rows: int = 0
    family: ClassVar[str] = "synthetic"
    keeps_people: ClassVar[bool] = False

    def _check(self) -> None:
        check_name(self.method, METHODS, "method is unknown")
        at_least("leaf", self.leaf, 1)
        at_least("rows", self.rows, 0)

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Return a table of the same columns and types; the original's row order does not matter to its people."""
        frame = as_polars(table)
        refuse_names(frame, frame.columns, self.family)
        if not frame.height or not frame.width:
            return frame
        rng, n = generator(check_seed(seed), f"synthetic {self.method}"), self.rows or frame.height
        return _copula(frame, n, rng) if self.method == "copula" else _trees(frame, n, self.leaf, rng)


def _copula(frame: pl.DataFrame, n: int, rng: np.random.Generator) -> pl.DataFrame:
    from scipy.special import ndtr  # noqa: PLC0415 - slow to import

    orders = _orders(frame)
    scores = np.column_stack([normal_scores(orders[name].astype(float), rng) for name in frame.columns])
    correlation = np.atleast_2d(np.corrcoef(scores, rowvar=False)) if frame.height > 1 else np.eye(frame.width)
    values, vectors = np.linalg.eigh(np.nan_to_num(correlation))
    drawn = rng.standard_normal((n, frame.width)) @ ((vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T)
    shares = ndtr(drawn)
    return pl.DataFrame([_value(frame[name], orders[name], shares[:, j]) for j, name in enumerate(frame.columns)])


def _orders(frame: pl.DataFrame) -> dict[str, Ints]:
    """Places of every column's values in its own order: missing first, numbers by size, categories as the numbers lie.

    Categories have no order; they get that of the mean first component of the numbers, so that relations show.
    """
    numbers = {name: encoded(frame[name]) for name in frame.columns if _has_order(frame.schema[name])}
    filled = [np.nan_to_num(normal_scores(values)) for values in numbers.values()]
    axis = np.zeros(frame.height)
    if filled:
        matrix = np.column_stack(filled)
        axis = matrix @ np.linalg.eigh(matrix.T @ matrix)[1][:, -1]
    return {
        name: _places(numbers[name]) if name in numbers else _places_of_words(frame[name], axis)
        for name in frame.columns
    }


def _has_order(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind.is_temporal() or isinstance(kind, pl.Enum)


def _places(values: Floats) -> Ints:
    """0 for missing, then 1, 2, ... by size."""
    _, places = np.unique(values[~np.isnan(values)], return_inverse=True)
    result = np.zeros(values.size, dtype=np.int64)
    result[~np.isnan(values)] = places + 1
    return result


def _places_of_words(column: pl.Series, axis: Floats) -> Ints:
    words = pl.DataFrame({"word": column.cast(pl.String), "axis": axis}).with_row_index("row")
    means = words.group_by("word").agg(pl.col("axis").mean().round(9)).sort(["axis", "word"], nulls_last=False)
    placed = words.join(
        means.with_row_index("place").drop("axis"), on="word", how="left", nulls_equal=True, maintain_order="left"
    )
    return placed["place"].cast(pl.Int64).to_numpy()


def _value(column: pl.Series, places: Ints, shares: Floats) -> pl.Series:
    """The value at each share of the column's order; numbers in between two of the original, written as there."""
    order = np.lexsort((np.arange(places.size), places))
    at = shares * column.len() - 0.5
    near = column.gather(order[np.clip(np.rint(at), 0, column.len() - 1).astype(np.int64)])
    if not column.dtype.is_numeric():
        return near
    values = encoded(column)[order]
    there = np.flatnonzero(~np.isnan(values))
    if not there.size:
        return near
    between = np.interp(at, there.astype(float), values[there]).round(decimals_of(column))
    made = pl.Series(column.name, between).set(near.is_null(), None)
    return made.cast(column.dtype, strict=False)


def _trees(frame: pl.DataFrame, n: int, leaf: int, rng: np.random.Generator) -> pl.DataFrame:
    first = frame.columns[0]
    made = pl.DataFrame({first: frame[first].gather(rng.integers(0, frame.height, n))})
    for k, name in enumerate(frame.columns[1:], 1):
        before = frame.columns[:k]
        features, new = _features(frame.select(before), made)
        leaves, found = _leaves(features, new, frame[name], leaf, int(rng.integers(2**31)))
        made = made.with_columns(frame[name].gather(_donors(leaves, found, rng)).alias(name))
    return made


def _donors(leaves: Ints, found: Ints, rng: np.random.Generator) -> Ints:
    """For each new record a record of the original in the same leaf."""
    order = np.argsort(leaves, kind="stable")
    first, last = (np.searchsorted(leaves[order], found, side) for side in ("left", "right"))
    return order[first + np.floor(rng.random(found.size) * (last - first)).astype(np.int64)]


def _leaves(features: Floats, new: Floats, target: pl.Series, leaf: int, seed: int) -> tuple[Ints, Ints]:
    """The leaf of every record of the original and of every new one, of a tree that learns the column."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: PLC0415 - slow to import

    if target.dtype.is_numeric() or target.dtype.is_temporal():
        values = encoded(target)
        known = ~np.isnan(values)
        y: Any = np.where(known, values, np.median(values[known]) if known.any() else 0.0)
        tree = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=seed)
    else:
        y = target.cast(pl.String).fill_null("").to_numpy().astype(str)
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=seed)
    with many_kinds():
        tree.fit(features, y)
    return tree.apply(features), tree.apply(new)


def _features(frame: pl.DataFrame, made: pl.DataFrame) -> tuple[Floats, Floats]:
    """The columns so far of both tables, as numbers: missing is the middle and an indicator, categories indicators."""
    parts: list[tuple[Floats, Floats]] = []
    for name in frame.columns:
        sides = frame[name], made[name]
        if _has_order(frame.schema[name]):
            values = [encoded(side) for side in sides]
            middle = float(np.nanmedian(values[0])) if not np.isnan(values[0]).all() else 0.0
            parts.append(tuple(np.where(np.isnan(side), middle, side) for side in values))  # type: ignore[arg-type]
            if np.isnan(values[0]).any():
                parts.append(tuple(np.isnan(side).astype(float) for side in values))  # type: ignore[arg-type]
            continue
        texts = [side.cast(pl.String).fill_null("") for side in sides]
        counted = sorted(texts[0].alias("").value_counts().rows(), key=lambda row: (-row[1], row[0]))
        for value, _ in counted[:COMMON]:
            parts.append(tuple((text == value).to_numpy().astype(float) for text in texts))
    return np.column_stack([left for left, _ in parts]), np.column_stack([right for _, right in parts])
