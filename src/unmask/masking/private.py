"""Differential privacy, cell by cell: Laplace, geometric and normal noise between bounds that you state [DWORK]_.

The row of a person could be anybody's: whatever is released is at most e^epsilon times as likely from their row as from
any other row within the bounds. Bounds come from what is known of the matter, never from the table: the largest income
of a table is somebody's income. Values beyond are cut. Noise is as large as the bounds are wide.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.errors import ParameterError, RoleError, TableError
from unmask.masking.base import Chain, Masking, as_polars, at_least, check_seed, encoded, known
from unmask.masking.secret import normal_sd, rounded_normal, step_for, total_sensitivity, two_sided_geometric

Bound = tuple[str, float, float]
REPLACED, REMOVED = "replaced", "removed"
HINT = "bounds=[(age, 0, 100)]: from what is known of the matter; those of the table are somebody's values"


class Claim(NamedTuple):
    """What a masking promises: epsilon and delta, of which columns, and for which change of one person's row."""

    epsilon: float
    delta: float
    columns: tuple[str, ...]
    neighbours: str  # REPLACED: by any other row; REMOVED: taken away, or added


class Grid(NamedTuple):
    """The numbers that a column can have before noise: so many steps from the lower bound."""

    low: float
    step: float
    steps: int

    @property
    def high(self) -> float:
        """The upper bound, or the next number of the grid."""
        return self.low + self.step * self.steps

    def places(self, values: Floats) -> Ints:
        """The nearest number of the grid for each value, in steps; beyond the bounds, the bound."""
        at = np.rint((np.clip(np.nan_to_num(values), self.low, self.high) - self.low) / self.step)
        return np.asarray(np.clip(at, 0, self.steps).astype(np.int64))


class Private(Masking):
    """A masking that promises differential privacy."""

    @property
    @abstractmethod
    def claim(self) -> Claim:
        """What it promises."""


class PrivateNoise(Private):
    """Noise on each cell: subclasses say of which law, for a column of so many steps."""

    epsilon: float
    bounds: tuple[Bound, ...]
    fill: bool
    whole: ClassVar[bool] = False  # every column is taken for whole numbers

    def __post_init__(self) -> None:
        """Bounds name the columns: there is no other list of them."""
        self._check()

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns that have bounds."""
        return tuple(name for name, _, _ in self.bounds)

    @property
    def claim(self) -> Claim:
        """All columns together: epsilon is for the whole row."""
        return Claim(self.epsilon, getattr(self, "delta", 0.0), self.columns, REPLACED)

    def _check(self) -> None:
        at_least("epsilon", self.epsilon, 0, strict=True)
        object.__setattr__(self, "bounds", _bounds(self.bounds))

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Cut, put on the grid, add noise; whole numbers stay whole."""
        frame = as_polars(table)
        known(frame, self.columns)
        return frame.with_columns([self._masked(frame[name], check_seed(seed)) for name in self.columns])

    def _masked(self, column: pl.Series, seed: int) -> pl.Series:
        refuse_gaps(column, filled=self.fill)
        whole = self.whole or column.dtype.is_integer()
        grid = self.grid(column.name, whole=whole)
        noise = self._noise(grid.steps, seed, column)
        values = encoded(column)
        made = grid.low + grid.step * (np.where(np.isnan(values), grid.steps // 2, grid.places(values)) + noise)
        return pl.Series(column.name, made).cast(pl.Int64 if whole else pl.Float64)

    def grid(self, name: str, *, whole: bool) -> Grid:
        """The numbers of a column: whole ones, or in steps that are fine beside the noise."""
        low, high = next((low, high) for known_as, low, high in self.bounds if known_as == name)
        if whole:
            low, high = float(np.floor(low)), float(np.ceil(high))
        step = 1.0 if whole else step_for(self.scale(high - low))
        return Grid(low, step, max(1, int(np.ceil((high - low) / step))))

    @abstractmethod
    def scale(self, width: float) -> float:
        """Scale of the noise of a column that is so wide."""

    @abstractmethod
    def _noise(self, steps: int, seed: int, column: pl.Series) -> Ints:
        """Noise for a column whose bounds are so many steps apart, in steps."""


@dataclass(frozen=True)
class Laplace(PrivateNoise):
    """Add Laplace noise in small steps: epsilon for a person's whole row, shared by its columns equally.

    ``bounds``: the column, its least and its largest value, for each column that is masked. ``fill``: missing cells
    are the middle of the bounds before the noise; without it they are refused.
    """

    epsilon: float
    bounds: tuple[Bound, ...]
    fill: bool = False
    family: ClassVar[str] = "laplace"

    def scale(self, width: float) -> float:
        """Width of the bounds, times the number of columns, by epsilon."""
        return width * len(self.bounds) / self.epsilon

    def _noise(self, steps: int, seed: int, column: pl.Series) -> Ints:
        return two_sided_geometric(seed, f"laplace {column.name}", column.len(), self.scale(steps))


@dataclass(frozen=True)
class Geometric(PrivateNoise):
    """Add two-sided geometric noise, whole numbers [GHOSH]_; values are rounded first. Otherwise as `laplace`."""

    epsilon: float
    bounds: tuple[Bound, ...]
    fill: bool = False
    family: ClassVar[str] = "geometric"
    whole: ClassVar[bool] = True

    def scale(self, width: float) -> float:
        """Width of the bounds, times the number of columns, by epsilon."""
        return width * len(self.bounds) / self.epsilon

    def _noise(self, steps: int, seed: int, column: pl.Series) -> Ints:
        return two_sided_geometric(seed, f"geometric {column.name}", column.len(), self.scale(steps))


@dataclass(frozen=True)
class Gaussian(PrivateNoise):
    """Add normal noise that is (epsilon, delta)-private for a person's whole row, as little as possible [BALLE]_."""

    epsilon: float
    delta: float
    bounds: tuple[Bound, ...]
    fill: bool = False
    family: ClassVar[str] = "gaussian"

    def _check(self) -> None:
        super()._check()
        at_least("delta", self.delta, 0, strict=True)
        if self.delta >= 1:
            raise ParameterError("delta is out of range", got=repr(self.delta), allowed="more than 0, less than 1")

    def scale(self, width: float) -> float:
        """The sd of the noise of a column that is so wide."""
        return width * normal_sd(self.epsilon, self.delta, total_sensitivity(len(self.bounds)))

    def _noise(self, steps: int, seed: int, column: pl.Series) -> Ints:
        return rounded_normal(seed, f"gaussian {column.name}", column.len(), self.scale(steps))


def claim_of(masking: Masking) -> Claim | None:
    """What a masking promises, a chain too; None where it promises nothing.

    What follows private noise does not lessen the promise; what goes before it may look at everybody, and only leaving
    columns out does not. Reverse mapping and `consistent` look at the original again: they promise nothing.
    """
    if isinstance(masking, Private):
        return masking.claim
    if not isinstance(masking, Chain):
        return None
    found, after = list[Claim](), False
    for step in masking.maskings:
        claim = claim_of(step)
        if claim is not None and after:
            return None
        if claim is not None:
            found.append(claim)
        after = after or (claim is None and step.family != "drop")
    if not found or len({claim.neighbours for claim in found}) > 1:
        return None
    names = tuple(dict.fromkeys(name for claim in found for name in claim.columns))
    return Claim(sum(c.epsilon for c in found), sum(c.delta for c in found), names, found[0].neighbours)


def refuse_gaps(column: pl.Series, *, filled: bool = False) -> None:
    """Refuse what is no number, and missing cells: that a cell is missing would be published without noise.

    ``filled``: missing cells get a number.
    """
    if not column.dtype.is_numeric():
        raise RoleError(
            f"column {column.name!r} has no numbers", got=str(column.dtype).split("(")[0],
            hint="dp_histogram takes categories",
        )  # fmt: skip
    values = encoded(column)
    gaps = int((np.isinf(values) if filled else ~np.isfinite(values)).sum())
    if gaps:
        raise TableError(
            f"column {column.name!r} has missing or infinite cells, which noise would not hide", got=f"{gaps:,} cells",
            hint="fill=True takes the middle of the bounds for missing cells; or leave the column out",
        )  # fmt: skip


def _bounds(given: Any) -> tuple[Bound, ...]:  # noqa: ANN401 - whatever was written
    listed: Sequence[Any] = (given,) if given and isinstance(given[0], str) else tuple(given or ())
    if not listed:
        raise ParameterError("bounds are missing", hint=HINT)
    found = tuple(_bound(one) for one in listed)
    if len({name for name, _, _ in found}) < len(found):
        raise ParameterError("a column has two bounds", hint="each column once")
    return found


def _bound(given: Any) -> Bound:  # noqa: ANN401
    right = isinstance(given, tuple | list) and len(given) == 3 and isinstance(given[0], str)
    if not right or any(isinstance(end, bool) or not isinstance(end, int | float) for end in given[1:]):
        raise ParameterError("a bound is a column, its least and its largest value", hint=HINT)
    name, low, high = given
    if not np.isfinite([low, high]).all() or not low < high:
        raise ParameterError(f"the bounds of {name!r} are not usable", got=f"{low:g} to {high:g}", hint=HINT)
    return name, low, high
