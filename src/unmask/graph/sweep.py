"""The owner's side of the graph attack: what would be safe to publish?

The owner knows the truth, so the attack can be scored. `trilaterate` asks who follows once some people are known (the
paper: "a point is uniquely determined by the exact distances to three other points"), and `sweep` draws the
risk-utility map of Figure 9 for any masking: risk is the attack's precision and recall, utility the negative variance
of the change of distances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.errors import ParameterError, check_name
from unmask.evidence import Progress, silent
from unmask.graph.attack import BUDGET, Method, link_graph
from unmask.graph.distances import Coordinates, Distances, Place, between, read_place
from unmask.graph.result import GraphLinkage
from unmask.graph.tolerance import MASKINGS, NoiseTolerance, Tolerance, window
from unmask.study import Displacement as Masking
from unmask.study import mask_distances, mask_points


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
    if (known < 0).any() or (known >= [one.n, two.n]).any():
        raise ParameterError("no such row is known", allowed=f"rows 0 to {one.n - 1} and 0 to {two.n - 1}")
    from unmask.graph.problem import pose  # noqa: PLC0415  # numba loads when it is needed
    from unmask.kernels.cliques import agreeing  # noqa: PLC0415  # as above

    problem = pose(one, two, window(two, tolerance), None)
    e1, e2 = problem.distances_to(np.argsort(problem.order1)[known[:, 0]], np.argsort(problem.order2)[known[:, 1]])
    v, w, _ = agreeing(e1, e2, problem.start1, problem.start2, problem.couples, problem.window, 0)
    rows, cols = problem.order1[v], problem.order2[w]
    fresh = ~np.isin(rows, known[:, 0]) & ~np.isin(cols, known[:, 1])
    rows, cols = rows[fresh], cols[fresh]
    count = np.bincount(rows, minlength=one.n)
    only = np.full(one.n, -1, dtype=np.int64)
    alone = count[rows] == 1
    only[rows[alone]] = cols[alone]
    return Followers(only, count)


def release(place: Place, rows: Ints, masking: Masking, sigma: float, rng: np.random.Generator) -> Floats:
    """Distances among some people as the owner would publish them after masking."""
    if masking in {"distances", "rounding"}:
        return mask_distances(place.block(rows), sigma, masking, rng)
    if place.points is None:
        raise ParameterError(
            "places cannot be masked where only distances are known",
            got=f"masking {masking!r}",
            allowed="'distances', 'rounding'",
        )
    moved = mask_points(place.points[rows], sigma, masking, place.kind, rng)
    return between(moved, moved, place.kind)


def guesses(method: str, *, everybody: bool | None) -> bool:
    """Whether a sweep guesses everybody: votes always does, the others unless they cannot or are told not to."""
    return method == "votes" or (method not in {"exact", "seeds"} if everybody is None else everybody)


def sweep(  # noqa: PLR0913  # options are keyword-only
    people: Any,  # noqa: ANN401  # any frame that narwhals takes
    where: Distances,
    *,
    labels: Sequence[str],
    maskings: Sequence[tuple[Masking, float]],
    overlap: float = 1.0,
    alpha: float = 0.9,
    repetitions: int = 5,
    method: Method = "auto",
    everybody: bool | None = None,
    budget: int = BUDGET,
    seed: int = 0,
    progress: Progress = silent,
) -> list[SweepPoint]:
    """Play the attack on every masking of a list: the risk-utility map before anything is published.

    ``where``: `Coordinates` of the people, or their distances as `link_graph` takes them (then only distances can be
    masked). ``overlap`` is the share of the release's people that the intruder holds as well; 1 is the worst case:
    everybody. Otherwise people are dealt anew to the two files in each repetition. Precision is the mean over the
    repetitions in which something was claimed (the attack is not calibrated here: the owner counts what is right).
    ``everybody`` as in `link_graph`, and so by default unless ``method`` is exact or seeds: the owner asks for the
    worst. Recall then counts the guesses, precision the sure claims. False: claims only, as in the paper.
    """
    if not 0 < overlap <= 1 or repetitions < 1:
        raise ParameterError("a sweep needs people in common", got=f"overlap={overlap}, repetitions={repetitions}")
    for masking, _ in maskings:
        check_name(masking, MASKINGS, "unknown masking")
    from unmask.study import check_memory  # noqa: PLC0415  # numba loads when it is needed

    place = read_place((people, where), list(labels), "original")
    check_memory(60 * place.n**2, "a sweep over all distances of these people", "a sample of them will do")
    if 2 * _size(place.n, overlap) <= place.n:
        raise ParameterError("a sweep needs people in common", got=f"overlap={overlap} of {place.n} people")
    out, everybody = [], guesses(method, everybody=everybody)
    link = partial(
        link_graph, labels=place.labels.columns, method=method, everybody=everybody, null=None, budget=budget
    )
    for k, (masking, sigma) in enumerate(maskings):
        known = NoiseTolerance(sigma, alpha, masking=masking)
        children = np.random.default_rng([seed, k]).spawn(repetitions)
        plays = [_play(place, overlap, known, link, child, everybody=everybody) for child in children]
        out.append(_summary(masking, sigma, plays))
        progress((k + 1) / len(maskings), "maskings")
    return out


Attack = Callable[..., GraphLinkage]  # on two files, with a tolerance
_Play = tuple[GraphLinkage, Ints, float, Floats, float]  # claims, truth, recall, risk, variance


def _play(
    place: Place, overlap: float, masking: NoiseTolerance, attack: Attack, rng: np.random.Generator, *, everybody: bool
) -> _Play:
    n = place.n
    order = rng.permutation(n)
    size = _size(n, overlap)
    ours, known = order[:size], rng.permutation(order[n - size :])
    d = release(place, ours, masking.masking, masking.sigma, rng)
    link = attack(original=_known(place, known), released=(_people(place, ours), d), tolerance=masking)
    rank = np.full(n, -1)
    rank[known] = np.arange(size)
    truth = np.column_stack([np.arange(size), rank[ours]])
    truth = truth[truth[:, 1] >= 0]
    risk = np.zeros(n)
    risk[known] = link.exposure(truth)
    recall = link.recall(truth) if len(truth) else 0.0
    if everybody:  # who cannot be told apart shares the guesses
        link, recall = link.sure, float(risk.sum() / max(1, len(truth)))
    change = (place.block(ours) - d)[np.triu_indices(size, 1)]
    return link, truth, recall, risk, float(change.var()) if len(change) else 0.0


def _size(n: int, overlap: float) -> int:
    """People in each of two files that share so much, when both together use everybody."""
    return n if overlap == 1 else int(n / (2 - overlap))


def _known(place: Place, rows: Ints) -> tuple[pl.DataFrame, Distances]:
    """Return the intruder's part of the people, with their places or distances."""
    table = _people(place, rows)
    if place.points is None:
        return table, place.block(rows)
    x, y = (_free(name, table.columns) for name in "xy")
    points = place.points[rows]
    table = table.with_columns(pl.Series(x, points[:, 0]), pl.Series(y, points[:, 1]))
    return table, Coordinates(x, y, kind=place.kind or "planar")


def _people(place: Place, rows: Ints) -> pl.DataFrame:
    """Labels of some people; a frame without columns has no rows, so that one stands in."""
    return place.labels[rows] if place.labels.width else pl.DataFrame({"person": rows})


def _free(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)


def _summary(masking: Masking, sigma: float, plays: list[_Play]) -> SweepPoint:
    spoke = [link.precision(truth) for link, truth, *_ in plays if link.found]
    return SweepPoint(
        masking,
        sigma,
        precision=float(np.mean(spoke)) if spoke else 0.0,
        recall=float(np.mean([recall for _, _, recall, _, _ in plays])),
        exposed=float(np.mean([risk for _, _, _, risk, _ in plays], axis=0).max()),
        variance=float(np.mean([variance for *_, variance in plays])),
        n_claims=float(np.mean([len(link.pairs) for link, *_ in plays])),
        n_silent=len(plays) - len(spoke),
        repetitions=len(plays),
    )
