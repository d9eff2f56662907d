"""Would chance have found as much? The graph attack has no notion of "nobody in common": here it gets one.

Under the null the files share nobody. Giving the identification records each other's places (their labels stay)
destroys the true matches and keeps all else: the places, the labels, their numbers. Where labels are few, that destroys
little (with one label for all, nothing: everybody's place is somebody's still); then every place of the identification
file is moved instead, further than the tolerance reaches, and people who share one stay together. The p-value counts
how many such files hold as large an answer as the one observed. Where labels and places are related (a quarter of one
language), permuting is too easy; whoever can draw independent files of people gives them instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.attacks.graph_distances import EARTH
from unmask.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unmask.attacks.graph_exact import Problem

    Floats = NDArray[np.float64]
    Draw = Callable[[np.random.Generator], tuple[float, bool]]


FEW = 0.2  # share of people who would keep a matching label: from here on places are moved
FAR = 8.0  # times the noise of a place: how far they are moved at least
LEAST = 0.02  # ... or of the extent, if that is more
AXES = 8  # of a map that a matrix is redrawn on
MOST = 2000  # records of a matrix that is redrawn


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


def strangers(problem: Problem, noise: float, rng: np.random.Generator) -> Problem:
    """Return the same problem with nobody in common: places dealt to other labels, or moved where labels are few."""
    if same_label(problem) < FEW or (problem.identification.points is None and problem.identification.n > MOST):
        return replace(problem, order2=problem.order2[rng.permutation(problem.identification.n)])
    place = problem.identification
    if place.points is not None:
        return replace(problem, identification=replace(place, points=_moved(place.points, place.kind, noise, rng)))
    matrix = _redrawn(place.block(problem.order2), noise, rng)
    return replace(problem, identification=replace(place, matrix=matrix), order2=np.arange(place.n))


def same_label(problem: Problem) -> float:
    """Share of people who match by label, and still do when identification records get each other's labels."""
    share = np.diff(problem.start2) / max(1, problem.identification.n)
    matching = np.bincount(problem.couples[:, 0], weights=share[problem.couples[:, 1]])
    return float((matching**2).sum())


def _moved(points: Floats, kind: str | None, noise: float, rng: np.random.Generator) -> Floats:
    """Move every place, all of its people together, at least FAR and at most twice as far."""
    sites, who = np.unique(points, axis=0, return_inverse=True)
    degrees = np.array([np.pi * EARTH / 180] * 2 if kind == "lonlat" else [1.0, 1.0])
    extent = float((np.ptp(points, axis=0) * degrees).max())
    reach = max(FAR * noise, LEAST * extent) * np.sqrt(rng.uniform(1.0, 4.0, size=len(sites)))
    angle = rng.uniform(0.0, 2 * np.pi, size=len(sites))
    step = reach[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) / degrees
    if kind == "lonlat":
        step[:, 0] /= np.maximum(np.cos(np.deg2rad(sites[:, 1])), 0.01)
    return np.asarray((sites + step)[who.reshape(-1)])


def _redrawn(matrix: Floats, noise: float, rng: np.random.Generator) -> Floats:
    """Distances after every place of a map that has about these distances was moved."""
    _, first, who = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
    sites = matrix[np.ix_(first, first)]
    middle = np.eye(len(sites)) - 1.0 / len(sites)
    values, axes = np.linalg.eigh(-0.5 * middle @ sites**2 @ middle)
    chosen = np.flatnonzero(values > 1e-9 * max(float(values[-1]), 1e-300))[-AXES:]
    spots = axes[:, chosen] * np.sqrt(values[chosen])
    step = rng.normal(size=spots.shape)
    step /= np.maximum(np.linalg.norm(step, axis=1), 1e-300)[:, None]
    reach = max(FAR * noise, LEAST * float(sites.max())) * np.sqrt(rng.uniform(1.0, 4.0, size=len(spots)))
    spots = spots + reach[:, None] * step
    square = (spots**2).sum(axis=1)
    far = np.sqrt(np.maximum(square[:, None] + square - 2 * spots @ spots.T, 0.0))
    np.fill_diagonal(far, 0.0)
    return np.ascontiguousarray(far[np.ix_(who.reshape(-1), who.reshape(-1))])


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
