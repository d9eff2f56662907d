"""Would chance have found as much? The graph attack has no notion of "nobody in common": here it gets one.

Under the null the files share nobody. Giving the identification records each other's places (their labels stay)
destroys the true matches and keeps all else: the places, the labels, their numbers. With (nearly) one label for all it
destroys nothing, since everybody's place is somebody's still; then the two files are laid over each other by the answer
that is asked about, and everybody on that map is dealt anew to two files of the same sizes: people who are in both were
always on different sides, and now are in half of the cases. Neighbours of one town, who are not the same person, fare
no better before than after. The same is done where neighbours share labels (a quarter of one language), label by label:
dealing places would move people to where nobody like them lives. The p-value counts how many such files hold as large
an answer as the one observed. Whoever can draw independent files of people gives them instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.arrays import Floats
from unmask.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from unmask.graph.problem import Problem

    Draw = Callable[[np.random.Generator], tuple[float, bool]]


FEW = 0.9  # share of people who would keep a matching label: from here on people are dealt to the files anew
ASKED = 400  # people of whom is asked whether neighbours share labels
NEIGHBOURS = 5


@dataclass(frozen=True, slots=True)
class Null:
    """How to calibrate: how many draws, and the level below which an answer counts.

    With ``draws`` exchangeable draws the smallest p-value is 1 / (draws + 1). Drawing ends as soon as the level is out
    of reach. ``independent``: a function that draws an identification file (table, distances) of other people.
    """

    draws: int = 19
    level: float = 0.05
    independent: Callable[[np.random.Generator], tuple[Any, Any]] | None = None

    def __post_init__(self) -> None:
        """Refuse a calibration that could never find anything."""
        if not 0 < self.level < 1 or self.draws < 1 or 1 / (self.draws + 1) > self.level:
            raise ParameterError(
                "this null calibration could never find anything",
                got=f"draws={self.draws}, level={self.level}",
                allowed="1 / (draws + 1) <= level < 1",
                hint="level 0.05 needs 19 draws, level 0.01 needs 99",
            )


@dataclass(frozen=True, slots=True)
class Calibration:
    """What chance found."""

    p_value: float
    level: float
    observed: float  # clique size, or alignment score
    sizes: tuple[float, ...]  # what each null draw showed: for cliques the size met, at least
    n_reached: int  # draws that reached the observed size

    @property
    def significant(self) -> bool:
        """Whether the answer counts."""
        return self.p_value <= self.level


def strangers(
    problem: Problem, one_map: Callable[[], tuple[Floats, Floats]] | None, rng: np.random.Generator
) -> Problem:
    """Return a problem like this one in which only chance decides who is at which place, or in which file.

    ``one_map``: the places of both files on one map, as the answer that is asked about lays them over each other, where
    people are dealt to files; None where places are dealt to people (`places_may_be_dealt`).
    """
    if one_map is None:
        return replace(problem, order2=problem.order2[rng.permutation(problem.identification.n)])
    return _split(problem, *one_map(), rng)


def places_may_be_dealt(problem: Problem) -> bool:
    """Whether giving people each other's places says what chance finds: labels differ, and live anywhere."""
    return same_label(problem) < FEW and not _related(problem)


def _related(problem: Problem) -> bool:
    """Whether neighbours share labels more often than in each of 99 deals of the labels (of some of the people)."""
    n = problem.identification.n
    some = np.linspace(0, n - 1, min(n, ASKED)).astype(np.int64)
    label = problem.label2[some]
    near = np.argsort(problem.identification.block(problem.order2[some]), axis=1, kind="stable")[:, : NEIGHBOURS + 1]
    first, other = np.repeat(np.arange(len(some)), near.shape[1]), near.reshape(-1)
    first, other = first[first != other], other[first != other]
    seen = int((label[first] == label[other]).sum())
    rng = np.random.default_rng(6)
    deals = (rng.permutation(label) for _ in range(99))
    return all(int((deal[first] == deal[other]).sum()) < seen for deal in deals)


def same_label(problem: Problem) -> float:
    """Share of all pairs of people, one of each file, whose labels match: so many still do when labels are dealt."""
    return problem.n_vertices / max(1, problem.target.n * problem.identification.n)


def _split(problem: Problem, spots: Floats, places: Floats, rng: np.random.Generator) -> Problem:
    """Deal everybody of both files to two files of the same sizes, label by label."""
    one, two = spots.copy(), places.copy()
    for a, b, c, d in zip(problem.start1, problem.start1[1:], problem.start2, problem.start2[1:], strict=False):
        pool = rng.permutation(np.vstack([spots[a:b], places[c:d]]), axis=0)
        one[a:b], two[c:d] = pool[: b - a], pool[b - a :]
    return replace(
        problem,
        target=replace(problem.target, matrix=None, points=one, kind="planar"),
        identification=replace(problem.identification, matrix=None, points=two, kind="planar"),
        order1=np.arange(len(one)),
        order2=np.arange(len(two)),
    )


def calibrate(
    observed: float, draw: Draw, null: Null, seed: int, tell: Callable[[float], None]
) -> Calibration:  # fmt: skip
    """Draw from the null until all draws are made or significance is out of reach."""
    sizes: list[float] = []
    reached = 0
    for k, child in enumerate(np.random.default_rng([seed, 6]).spawn(null.draws)):
        size, met = draw(child)
        sizes.append(float(size))
        reached += met
        tell((k + 1) / null.draws)
        if (1 + reached) / (1 + null.draws) > null.level:
            break
    return Calibration((1 + reached) / (1 + len(sizes)), null.level, float(observed), tuple(sizes), reached)
