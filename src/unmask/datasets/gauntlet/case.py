"""A release with a known answer, and the few tools that an intruder written for one release needs.

An intruder here uses only what an intruder may know: the original (maximum knowledge), the release, and how such
releases are made. Which row belongs to whom is used to count what they found, never to find it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from unmask.arrays import Ints

Floats = NDArray[Any]
Maker = Callable[[int], "Case"]

Family = Literal["written", "structure", "noise", "swapping", "aggregation", "households", "synthetic", "harmless"]
FAMILIES: dict[str, str] = {
    "written": "the values are the same, written otherwise",
    "structure": "something other than the values gives people away",
    "noise": "values are moved at random",
    "swapping": "values move between people",
    "aggregation": "values are coarser, or means of several people",
    "households": "who is published together is found together",
    "synthetic": "said to be synthetic",
    "harmless": "nobody can be found, nothing about one person can be learnt",
}
FORBIDDEN = 1e6  # the cost of a link that cannot be


@dataclass(frozen=True, slots=True)
class Case:
    """A release and the share of people that an intruder of a few lines, written for it, finds.

    ``found`` is None where nobody can be found. ``rated`` is False where the intruder learns who is in the data, or a
    secret, instead of linking: then a report must say unsafe, and no rate of it is compared. ``roles`` are the options
    of ``Release``.
    """

    original: pl.DataFrame
    released: pl.DataFrame
    found: float | None
    words: str
    roles: dict[str, Any] = field(default_factory=dict)
    rated: bool = True


@dataclass(frozen=True, slots=True)
class Known:
    """A case by name: how it is made, and its family."""

    name: str
    family: Family
    make: Maker

    @property
    def story(self) -> str:
        """What was done to the release, in a sentence: the maker's docstring."""
        return " ".join((self.make.__doc__ or "").split())


REGISTER: dict[str, Known] = {}


def case(family: Family) -> Callable[[Maker], Maker]:
    """Enter a maker into the register under its own name."""

    def enter(make: Maker) -> Maker:
        REGISTER[make.__name__] = Known(make.__name__, family, make)
        return make

    return enter


# --- both files ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """Both files with an id, the release in another row order; ``truth`` is whose row is whose, to count by."""

    original: pl.DataFrame
    released: pl.DataFrame
    truth: Ints

    def case(self, found: float, words: str, **roles: Any) -> Case:  # noqa: ANN401 - the options of Release
        """Return the case: rows belong together by ``id``."""
        return Case(self.original, self.released, found, words, {"id": "id", **roles})


def publish(original: pl.DataFrame, masked: pl.DataFrame, rng: np.random.Generator) -> Pair:
    """Number the people, and put the rows of the release, so far in the original's order, into a random one."""
    people, order = np.arange(original.height), rng.permutation(original.height)
    number = pl.Series("id", people)
    return Pair(
        original.select(number, pl.all()), masked.select(number, pl.all())[order], np.argsort(order).astype(np.int64)
    )


def table(values: Floats, digits: int | None = 2, names: Sequence[str] | None = None) -> pl.DataFrame:
    """Make a table of numbers, rounded (``digits`` 0: whole numbers); NaN is missing."""
    names = names or [f"v{j:02d}" for j in range(values.shape[1])]
    rounded = values if digits is None else np.round(values, digits)
    frame = pl.DataFrame({name: rounded[:, j] for j, name in enumerate(names)}, nan_to_null=True)
    return frame.cast(pl.Int64) if digits == 0 else frame


def numbers(frame: pl.DataFrame) -> Floats:
    """Return the columns, without the id, as a matrix; missing is NaN."""
    return frame.drop("id", strict=False).cast(pl.Float64).fill_null(float("nan")).to_numpy()


def each(frame: pl.DataFrame, name: str, function: Callable[[Any], Any], to: str | None = None) -> pl.Series:
    """Apply a function to every value of a column, missing ones too."""
    return pl.Series(to or name, [function(value) for value in frame[name]])


# --- how links are counted ----------------------------------------------------------------------------------------


def nearest(distance: Floats, truth: Ints) -> float:
    """Share of people found by taking the nearest record, ties shared."""
    tie = np.isclose(distance, distance.min(1, keepdims=True), rtol=1e-9, atol=1e-12)
    return float(np.where(tie[np.arange(len(truth)), truth], 1 / tie.sum(1), 0).mean())


def matched(cost: Floats, truth: Ints) -> float:
    """Share of people found by the one-to-one matching of least total cost."""
    return float((linear_sum_assignment(cost)[1] == truth).mean())


def same(known: pl.DataFrame, pair: Pair) -> float:
    """Share found by an exact match: what is known, written as the release writes it, on the columns of ``known``."""
    held, published = known.rows(), pair.released.select(known.columns).rows()
    crowd = Counter(published)
    hits = [1 / crowd[row] if published[own] == row else 0.0 for row, own in zip(held, pair.truth, strict=True)]
    return float(np.mean(hits))


def rewritten(
    original: pl.DataFrame, write: Callable[[pl.DataFrame], pl.DataFrame], rng: np.random.Generator, words: str
) -> Case:
    """Make the case of a release that anybody who holds the original can write for themselves, and then look up."""
    pair = publish(original, write(original), rng)
    return pair.case(same(write(pair.original.drop("id")), pair), words)


def differing(one: Floats, other: Floats) -> Floats:
    """Count, for every pair of rows, the columns in which they differ."""
    return np.asarray(np.sum([one[:, j, None] != other[None, :, j] for j in range(one.shape[1])], axis=0), dtype=float)


def gaps(one: Floats, other: Floats) -> Floats:
    """Return |x - y| for every pair of rows and every column."""
    return np.asarray(np.abs(one[:, None, :] - other[None, :, :]))


def rarity(one: Floats, other: Floats) -> Floats:
    """Sum over columns of log(share) where two rows agree: small where rare values agree."""
    cost = np.zeros((len(one), len(other)))
    for j in range(one.shape[1]):
        _, place, count = np.unique(one[:, j], return_inverse=True, return_counts=True)
        equal = one[:, j, None] == other[None, :, j]
        cost += np.where(equal, np.log(count / len(one))[place][:, None], 0.0)
    return cost
