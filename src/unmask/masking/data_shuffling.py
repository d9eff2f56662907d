"""Data shuffling: values move to records where a model expects them, whoever they came from [SHUFFLE]_.

The confidential columns are drawn anew from their distribution given the others, by a normal copula; then the value of
rank j of the original takes the place of the value of rank j that was drawn. Each column keeps its values exactly and
its rank correlations on average, and beyond what the other columns say nothing of a person's own value is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import ParameterError
from unmask.masking.base import Masking, as_polars, check_seed, chosen, encoded, generator, known, refuse_names
from unmask.masking.reverse_mapping import reverse_mapped

COMMON = 20  # categories of a given column that count, the others together


@dataclass(frozen=True)
class DataShuffling(Masking):
    """Move the values of the columns by what the `given` columns say (default: all others that are no free text)."""

    columns: tuple[str, ...]
    given: tuple[str, ...] | None = None
    family: ClassVar[str] = "data_shuffling"

    def _check(self) -> None:
        if not self.columns:
            raise ParameterError("data_shuffling needs columns", allowed="data_shuffling([income], given=[age, sex])")
        if self.given is not None:
            stated: Any = self.given
            given = (stated,) if isinstance(stated, str) else tuple(stated)
            object.__setattr__(self, "given", given)
            both = set(given) & set(self.columns)
            if both:
                raise ParameterError("a column cannot be shuffled and given", got=min(both))

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Draw the columns anew, then put the original values where they fit by rank."""
        frame, seed = as_polars(table), check_seed(seed)
        names = chosen(frame, self.columns)
        if frame.height < 2:
            return frame
        drawn = _drawn(frame, names, self._features(frame, names), generator(seed, "data_shuffling"))
        made = [
            pl.Series(name, np.where(np.isnan(encoded(frame[name])), np.nan, drawn[:, j])).fill_nan(None)
            for j, name in enumerate(names)
        ]
        return frame.with_columns(
            [reverse_mapped(frame[new.name], new, generator(seed, f"data_shuffling {new.name}")) for new in made]
        )

    def _features(self, frame: pl.DataFrame, names: tuple[str, ...]) -> Floats:
        """The given columns as numbers: normal scores, and an indicator for each common category."""
        if self.given is None:
            given = tuple(name for name in frame.columns if name not in names)
        else:
            given = known(frame, self.given)
            refuse_names(frame, given, self.family)
        parts = [np.ones((frame.height, 1))]
        for name in given:
            kind = frame.schema[name]
            if kind.is_numeric() or kind.is_temporal():
                parts.append(np.nan_to_num(normal_scores(encoded(frame[name])))[:, None])
            else:
                parts.append(_indicators(frame[name]))
        return np.column_stack(parts)


def normal_scores(values: Floats, rng: np.random.Generator | None = None) -> Floats:
    """Normal quantiles of the ranks, NaN where missing; ties have their mean rank, or are ranked at random."""
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import
    from scipy.stats import rankdata  # noqa: PLC0415

    present = ~np.isnan(values)
    scores = np.full(values.size, np.nan)
    if rng is None:
        ranks = rankdata(values[present])
    else:
        order = rng.permutation(int(present.sum()))
        ranks = np.empty(order.size)
        ranks[order] = rankdata(values[present][order], method="ordinal")
    scores[present] = ndtri((ranks - 0.5) / max(1, ranks.size))
    return scores


def _indicators(column: pl.Series) -> Floats:
    text = column.cast(pl.String).fill_null("")
    counted = sorted(text.alias("").value_counts().rows(), key=lambda row: (-row[1], row[0]))
    common = [value for value, count in counted[1 : COMMON + 1] if count > 1]
    return np.column_stack([(text == value).to_numpy().astype(float) for value in common] or [np.zeros((len(text), 0))])


def _drawn(frame: pl.DataFrame, names: tuple[str, ...], given: Floats, rng: np.random.Generator) -> Floats:
    """Scores of the columns: what the given ones lead to expect, and noise with the covariance of what is left."""
    scores = np.column_stack([np.nan_to_num(normal_scores(encoded(frame[name]))) for name in names])
    weights, *_ = np.linalg.lstsq(given, scores, rcond=None)
    expected = given @ weights
    left = scores - expected
    values, vectors = np.linalg.eigh(np.atleast_2d(left.T @ left / len(left)))
    root = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T
    drawn: Floats = expected + rng.standard_normal(scores.shape) @ root
    return drawn
