"""The scene of a linkage attack: who looks for whom, in which space, and who belongs to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from unmask.arrays import Flags, Rows
from unmask.errors import ParameterError, check_name
from unmask.study.ask import quiet
from unmask.study.metric import Metric, Scale
from unmask.tables import Encoding, RankMethod, canonical_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unmask.kernels.base import Space
    from unmask.kernels.search import Decision, Nearest
    from unmask.study.ask import Index, Progress
    from unmask.study.study import Study


Direction = Literal["to_release", "to_original"]
DIRECTIONS = ("to_release", "to_original")


class How(TypedDict, total=False):
    """The choices of a distance, with their defaults in `study.metric.build_space`."""

    metric: Metric
    scale: Scale
    weights: Mapping[str, float] | None
    ranks: RankMethod


@dataclass(frozen=True, slots=True)
class Scene:
    """Queries look for points; ``rows`` are those who ask, ``truth`` the rows that they ought to find."""

    index: Index  # over everybody
    truth: Rows  # one entry for each of ``rows``
    rows: Rows
    n_queries: int  # rows of the asking table, sampled or not

    @property
    def space(self) -> Space:
        """The space of everybody."""
        return self.index.space

    def spread(self, values: NDArray[Any], blank: float) -> NDArray[Any]:
        """One entry per row of the asking table, ``blank`` for those not asked."""
        return spread(values, self.rows, self.n_queries, blank)

    @property
    def asked(self) -> Flags | None:
        """Which rows were asked for; None when all were."""
        if len(self.rows) == self.n_queries:
            return None
        mask = np.zeros(self.n_queries, dtype=bool)
        mask[self.rows] = True
        return mask

    @property
    def _some(self) -> Rows | None:
        return None if len(self.rows) == self.n_queries else self.rows

    def nearest(self, *, seed: int, tell: Progress = quiet) -> Nearest:
        """The nearest points of those who ask."""
        return self.index.nearest(seed=seed, rows=self._some, tell=tell)

    def decide(self, tell: Progress = quiet) -> Decision:
        """Whether the true point of those who ask is among the nearest."""
        return self.index.decide(self.truth, rows=self._some, tell=tell)

    def decision_of(self, found: Nearest) -> Decision:
        """The same, where the nearest points are known."""
        return self.index.decision_of(self.truth, found, rows=self._some)

    def rank_of_truth(self, cap: int) -> Rows:
        """How many points are closer than the true one."""
        return self.index.rank_of_truth(self.truth, cap, rows=self._some)


def spread(values: NDArray[Any], rows: Rows, n: int, blank: float) -> NDArray[Any]:
    """One entry for each of n rows, ``blank`` for those not asked."""
    whole = np.full(n, blank, dtype=values.dtype)
    whole[rows] = values
    return whole


def set_scene(study: Study, direction: Direction, sample: int | Rows | None, seed: int, how: How) -> Scene:
    """Place both files in a space, turn round if asked to, and draw the intruders if only some are asked.

    ``sample``: how many people, or the rows of the original of those who are asked for.
    """
    check_name(direction, DIRECTIONS, f"no direction {direction!r}")
    index, truth, own = study.index(seed=seed, **how), study.release.truth, study.release.truth
    if direction == "to_original":
        index = study.index_of(index.space.swapped())
        truth = inverse(truth, study.release.released.height)
    n = len(truth)
    if isinstance(sample, np.ndarray):
        rows = sample if direction == "to_release" else np.sort(own[sample])
    else:
        rows = np.arange(n) if sample is None else draw(study.encoding(), truth, direction, sample, seed)
    return Scene(index, truth if len(rows) == n else truth[rows], rows, n)


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
