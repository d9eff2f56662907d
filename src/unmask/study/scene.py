"""The scene of a linkage attack: who looks for whom, in which space, and who belongs to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import numpy as np

from unmask.errors import ParameterError, did_you_mean
from unmask.study.ask import ask_only
from unmask.study.metric import Metric, Scale, build_space, swap
from unmask.tables.encode import Encoding, RankMethod, canonical_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unmask.kernels.base import Space
    from unmask.study.study import Study

    Rows = NDArray[np.int64]

Direction = Literal["to_release", "to_original"]
DIRECTIONS = ("to_release", "to_original")


class How(TypedDict, total=False):
    """The choices of a distance, with their defaults in `study.metric.build_space`."""

    metric: Metric
    scale: Scale
    weights: Mapping[str, float] | None
    ranks: RankMethod


class Scene(NamedTuple):
    """Queries look for points; ``rows`` are the queries' rows in their table, ``truth`` the rows they ought to find."""

    space: Space
    truth: Rows
    rows: Rows
    n_queries: int  # rows of the asking table, sampled or not

    def spread(self, values: NDArray[Any], blank: float) -> NDArray[Any]:
        """One entry per row of the asking table, ``blank`` for those not asked."""
        return spread(values, self.rows, self.n_queries, blank)

    @property
    def asked(self) -> NDArray[np.bool_] | None:
        """Which rows were asked for; None when all were."""
        if len(self.rows) == self.n_queries:
            return None
        mask = np.zeros(self.n_queries, dtype=bool)
        mask[self.rows] = True
        return mask


def spread(values: NDArray[Any], rows: Rows, n: int, blank: float) -> NDArray[Any]:
    """One entry for each of n rows, ``blank`` for those not asked."""
    whole = np.full(n, blank, dtype=values.dtype)
    whole[rows] = values
    return whole


def set_scene(study: Study, direction: Direction, sample: int | None, seed: int, how: How) -> Scene:
    """Encode, place in a space, turn round if asked to, and draw the intruders if only some are asked."""
    if direction not in DIRECTIONS:
        raise ParameterError(
            f"no direction {direction!r}", allowed=", ".join(DIRECTIONS), hint=did_you_mean(direction, DIRECTIONS)
        )
    encoding, release = study.encoding(), study.release
    space, truth = build_space(encoding, seed=seed, **how), release.truth
    if direction == "to_original":
        space, truth = swap(space), inverse(truth, release.released.height)
    n = len(truth)
    rows = np.arange(n) if sample is None else draw(encoding, truth, direction, sample, seed)
    if len(rows) < n:
        space, truth = ask_only(space, rows), truth[rows]
    return Scene(space, truth, rows, n)


def draw(encoding: Encoding, truth: Rows, direction: Direction, sample: int, seed: int) -> Rows:
    """Draw people among those who can be found, by the canonical order of the file: not by its row order."""
    if sample < 1:
        raise ParameterError("a sample needs at least one person", got=str(sample), allowed="a whole number from 1")
    sides = encoding.original, encoding.released
    own, other = sides if direction == "to_release" else sides[::-1]
    there = np.flatnonzero(truth >= 0)
    pairs = own.numeric[there], own.codes[there], other.numeric[truth[there]], other.codes[truth[there]]
    people = there[canonical_order(*pairs)]  # those equal in both files are interchangeable
    if sample >= len(people):
        return np.arange(len(truth))
    return np.sort(people[np.random.default_rng(seed).choice(len(people), sample, replace=False)])


def inverse(truth: Rows, size: int) -> Rows:
    """Turn "row of the release for each original" into "row of the original for each released"."""
    turned = np.full(size, -1, dtype=np.int64)
    rows = np.flatnonzero(truth >= 0)
    turned[truth[rows]] = rows
    return turned
