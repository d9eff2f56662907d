"""The owner's side of the graph attack: what would be safe to publish?

The owner knows the truth, so the attack can be scored. `trilaterate` asks who follows once some people are known (the
paper: "a point is uniquely determined by the exact distances to three other points"), and `sweep` draws the
risk-utility map of Figure 9 for any masking: risk is the attack's precision and recall, utility the negative variance
of the change of distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.attacks.graph import GraphLinkage, Method, link_graph
from unmask.attacks.graph_distances import Coordinates, Distances, between, read_place
from unmask.attacks.graph_tolerance import Masking, NoiseTolerance, Tolerance, mask_distances, mask_points, window
from unmask.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Followers:
    """Who follows from the known: for each target record its only candidate, or -1, and how many candidates it has."""

    only: Ints  # (n_target,): row of the identification file
    n_candidates: Ints  # (n_target,)

    def hits(self, truth: Ints) -> int:
        """Followers that are right."""
        return int((self.only[truth[:, 0]] == truth[:, 1]).sum())


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One masking of a sweep: means over repetitions."""

    masking: Masking
    sigma: float
    precision: float  # over repetitions with a claim; 0 when there is none
    recall: float
    exposed: float  # largest share of repetitions in which one and the same person was found
    variance: float  # of the change of distances: utility is its negative
    n_claims: float
    n_silent: int  # repetitions in which nothing was claimed
    repetitions: int


def trilaterate(
    target: tuple[Any, Distances],
    identification: tuple[Any, Distances],
    known: Ints,
    *,
    labels: Sequence[str],
    tolerance: Tolerance,
) -> Followers:
    """Say who follows once some matches are known.

    ``known``: (k, 2) rows of target and identification. A record follows when exactly one identification record, not
    known already, has its labels and agrees with all its distances to the known.
    """
    names = list(labels)
    one, two = read_place(target, names, "target"), read_place(identification, names, "identification")
    known = np.asarray(known, dtype=np.int64).reshape(-1, 2)
    if len(known) == 0:
        raise ParameterError("nobody is known", got="0 matches", allowed="at least 1; three fix a place on a map")
    from unmask.attacks.graph_exact import pose  # noqa: PLC0415  # numba loads when it is needed
    from unmask.kernels.seeds import votes  # noqa: PLC0415

    problem = pose(one, two, window(two, tolerance), None)
    e1 = np.ascontiguousarray(one.rows(known[:, 0])[:, problem.order1].T)
    e2 = np.ascontiguousarray(two.rows(known[:, 1])[:, problem.order2].T)
    v, w, _ = votes(e1, e2, problem.start1, problem.start2, problem.couples, problem.window, 0)
    rows, cols = problem.order1[v], problem.order2[w]
    fresh = ~np.isin(rows, known[:, 0]) & ~np.isin(cols, known[:, 1])
    rows, cols = rows[fresh], cols[fresh]
    count = np.bincount(rows, minlength=one.n)
    only = np.full(one.n, -1, dtype=np.int64)
    alone = count[rows] == 1
    only[rows[alone]] = cols[alone]
    return Followers(only, count)


def release(
    table: pl.DataFrame, where: Coordinates, masking: Masking, sigma: float, rng: np.random.Generator
) -> Floats:
    """Distances as the owner would publish them after masking."""
    points = table.select(where.x, where.y).to_numpy().astype(np.float64)
    if masking in {"distances", "rounding"}:
        return mask_distances(between(points, points, where.kind), sigma, masking, rng)
    moved = mask_points(points, sigma, masking, where.kind, rng)
    return between(moved, moved, where.kind)


def sweep(  # noqa: PLR0913  # options are keyword-only
    people: Any,  # noqa: ANN401  # any frame that narwhals takes
    where: Coordinates,
    *,
    labels: Sequence[str],
    maskings: Sequence[tuple[Masking, float]],
    overlap: float = 1.0,
    alpha: float = 0.9,
    repetitions: int = 5,
    method: Method = "auto",
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> list[SweepPoint]:
    """Play the attack on every masking of a list: the risk-utility map before anything is published.

    ``overlap`` is the share of the release's people that the snooper holds as well; 1 is the worst case: the snooper
    holds everybody. Otherwise people are dealt anew to the two files in each repetition. Precision is the mean over the
    repetitions in which something was claimed (the attack is not calibrated here: the owner counts what is right).
    """
    if not 0 < overlap <= 1 or repetitions < 1:
        raise ParameterError("a sweep needs people in common", got=f"overlap={overlap}, repetitions={repetitions}")
    place = read_place((people, where), list(labels), "original")
    assert place.points is not None  # noqa: S101  # read from coordinates
    frame = place.labels.with_columns(pl.Series(where.x, place.points[:, 0]), pl.Series(where.y, place.points[:, 1]))
    out = []
    for k, (masking, sigma) in enumerate(maskings):
        plays = [
            _play(frame, where, list(labels), (masking, sigma, overlap, alpha, method), child)
            for child in np.random.default_rng([seed, k]).spawn(repetitions)
        ]
        out.append(_summary(masking, sigma, plays))
        if progress is not None:
            progress("sweep", (k + 1) / len(maskings))
    return out


_Play = tuple[GraphLinkage, Ints, Floats, float]


def _play(
    frame: pl.DataFrame, where: Coordinates, labels: list[str], setting: tuple[Any, ...], rng: np.random.Generator
) -> _Play:
    masking, sigma, overlap, alpha, method = setting
    n = frame.height
    order = rng.permutation(n)
    size = n if overlap == 1 else int(n / (2 - overlap))  # two files of this size with this overlap use everybody
    ours, hers = order[:size], rng.permutation(order[n - size :])
    target, identification = frame[ours], frame[hers]
    d = release(target, where, masking, sigma, rng)
    tolerance = NoiseTolerance(sigma, alpha, masking=masking)
    link = link_graph(
        (target, d), (identification, where), labels=labels, tolerance=tolerance, method=method, null=None
    )
    place = np.full(n, -1)
    place[hers] = np.arange(size)
    truth = np.column_stack([np.arange(size), place[ours]])
    truth = truth[truth[:, 1] >= 0]
    risk = np.zeros(n)
    risk[hers] = link.exposure(truth)
    points = target.select(where.x, where.y).to_numpy().astype(np.float64)
    change = (between(points, points, where.kind) - d)[np.triu_indices(size, 1)]
    return link, truth, risk, float(change.var()) if len(change) else 0.0


def _summary(masking: Masking, sigma: float, plays: list[_Play]) -> SweepPoint:
    spoke = [link.precision(truth) for link, truth, _, _ in plays if link.found]
    return SweepPoint(
        masking,
        sigma,
        precision=float(np.mean(spoke)) if spoke else 0.0,
        recall=float(np.mean([link.recall(truth) if len(truth) else 0.0 for link, truth, _, _ in plays])),
        exposed=float(np.mean([risk for _, _, risk, _ in plays], axis=0).max()),
        variance=float(np.mean([variance for *_, variance in plays])),
        n_claims=float(np.mean([len(link.pairs) for link, *_ in plays])),
        n_silent=len(plays) - len(spoke),
        repetitions=len(plays),
    )


__all__ = ["Followers", "SweepPoint", "release", "sweep", "trilaterate"]
