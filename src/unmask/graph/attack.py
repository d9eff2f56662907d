"""The graph attack: published distances give people away [KROLL]_.

The owner removed names and places and published, beside the table, how far its people live from each other. The snooper
holds another table with names and places. Two people of the release and two of hers match when their labels agree and
their distances agree; a set of matches in which *all* distances agree is a clique of the product graph, and the larger
it is, the harder it is to believe in chance. She takes the union of all maximum cliques. Success: the share of her
claims that is right (precision) and of the people in both files that she claims (recall).

Where the paper stops, this goes on: larger files (seeds, geometry), and a null calibration, because a maximum clique
always exists, and in files without anyone in common it is a set of wrong claims.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.errors import ParameterError
from unmask.graph.distances import Coordinates, Distances, Place, read_place
from unmask.graph.null import Calibration, Null, calibrate, places_may_be_dealt, strangers
from unmask.graph.tolerance import (
    Deviations,
    NoiseTolerance,
    Relative,
    Tolerance,
    place_noise,
    simulated,
    window,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from unmask.graph.exact import Problem
    from unmask.graph.geometry import Overlay

Ints = NDArray[np.int64]
Method = Literal["auto", "exact", "seeds", "geometric"]
Maps = tuple[NDArray[np.float64], NDArray[np.float64]]
METHODS = ("auto", "exact", "seeds", "geometric")
BUDGET = 50_000_000  # work of branch and bound: a few minutes at most


@dataclass(frozen=True, slots=True)
class GraphLinkage:
    """Who was found. Pairs are rows of the two files as they were given; without a claim there are none."""

    pairs: Ints  # (k, 2): row of the target file, row of the identification file
    posterior: NDArray[np.float64]
    """(k,): belief in each pair (geometric), or 1 / number of claims on its records; not a number for votes' guesses"""
    clique_size: int
    """Order of the largest approximate common subgraph found; geometric: people who agree with their partner; votes:
    as many distances agree as among so many people who all agree"""
    n_cliques: int  # maximum cliques met: more may exist (ties), one is certain when n_pairs == clique_size and exact
    exact: bool  # True: proven, size and union
    method: str  # exact, seeds, geometric
    why: str  # why this method, and what the null said
    n_target: int
    n_identification: int
    null: Calibration | None

    @property
    def found(self) -> bool:
        """Whether anything is claimed."""
        return len(self.pairs) > 0

    @property
    def ties(self) -> int:
        """Claims beyond one maximum clique: the price of taking the union (an overlay has none, a guess is none)."""
        weighed = int(np.isfinite(self.posterior).sum())
        return max(0, weighed - self.clique_size) if self.found and self.method != "geometric" else 0

    @property
    def sure(self) -> GraphLinkage:
        """Only the claims that are more likely right than wrong, as far as the attack can tell."""
        keep = self.posterior > 0.5
        return replace(self, pairs=self.pairs[keep], posterior=self.posterior[keep])

    def hits(self, truth: Ints) -> int:
        """TP: claims that are right. ``truth``: (k, 2), rows of both files that belong to one person."""
        return len(_keys(self.pairs) & _keys(truth))

    def precision(self, truth: Ints) -> float:
        """TP / (TP + FP); not a number when nothing is claimed."""
        return self.hits(truth) / len(self.pairs) if self.found else math.nan

    def recall(self, truth: Ints) -> float:
        """TP / (TP + FN); not a number when the files share nobody."""
        return self.hits(truth) / len(truth) if len(truth) else math.nan

    def exposure(self, truth: Ints) -> NDArray[np.float64]:
        """Risk of each identification record: its true match's share of the claims made on it (ties are shared)."""
        claims = np.bincount(self.pairs[:, 1], minlength=self.n_identification)
        risk = np.zeros(self.n_identification)
        for _, row in _keys(self.pairs) & _keys(truth):
            risk[row] = 1.0 / claims[row]
        return risk


def _keys(pairs: Ints) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in np.asarray(pairs).reshape(-1, 2)}


def link_graph(  # noqa: PLR0913  # options are keyword-only
    target: tuple[Any, Distances],
    identification: tuple[Any, Distances],
    *,
    labels: Sequence[str],
    tolerance: Tolerance,
    method: Method = "auto",
    gamma: float | None = None,
    everybody: bool = False,
    label_distance: Mapping[str, float] | None = None,
    null: Null | None = Null(),  # noqa: B008  # frozen
    budget: int = BUDGET,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> GraphLinkage:
    """Attack a release that comes with distances.

    Parameters
    ----------
    target, identification
        The release and the snooper's file: each a table and its distances (a square matrix, a path to one in .npy, .csv
        or .parquet, names of the table's distance columns, `Coordinates`, or a function of two rows' numeric arrays).
    labels
        Columns that both tables have; records may match when these are equal (missing equals missing).
    tolerance
        When two distances agree: a number (``|d - d'| < tolerance``), `Relative`, `Deviations` or `NoiseTolerance`.
    method
        ``exact``: the paper's attack with a certificate; ``seeds``: any metric at any size, without one; ``geometric``:
        needs the identification file's coordinates. ``auto`` picks by size and data and says why.
    gamma
        Extend the answer to pairs that agree with at least this share of it (gamma-quasi-clique).
    everybody
        Guess a partner for everybody, also below even odds: finds more, errs more. Geometric: once the map lies right;
        seeds: by votes of those who are believed. ``auto`` takes seeds where there are no coordinates or distances
        were masked, not places.
    label_distance
        Numeric labels may differ by this much.
    null
        Calibration; None claims whatever is found, as the paper does.
    budget
        Work of branch and bound (a few microseconds each) after which the answer is no longer certified; geometric:
        alignments after which no further batch is tried.
    seed, progress
        Random state of null draws and seeds; a function told the stage and its share done.
    """
    if method not in METHODS:
        raise ParameterError("unknown method", got=repr(method), allowed=", ".join(METHODS))
    if gamma is not None and not 0 < gamma <= 1:
        raise ParameterError("gamma is a share", got=repr(gamma), allowed="above 0, at most 1")
    names = list(labels)
    one, two = read_place(target, names, "target"), read_place(identification, names, "identification")
    _check_apart(label_distance or {}, one, two)
    from unmask.graph.exact import pose  # noqa: PLC0415  # numba loads when it is needed

    moved = simulated(two, tolerance)
    problem = pose(one, two, window(two, tolerance, moved), label_distance)
    chosen, why = _choose(method, problem.n_vertices, one, two, tolerance if everybody else None)
    _check_chosen(chosen, gamma, everybody=everybody)
    if problem.n_vertices == 0:
        return _nothing(one, two, chosen, "no record of one file has the labels of a record of the other")
    if chosen == "exact":
        from unmask.study.ask import check_memory  # noqa: PLC0415  # numba loads when it is needed

        check_memory(problem.memory, "the exact attack on these files", "more labels, or method seeds or geometric")
    noise = place_noise(two, tolerance, problem.window, moved) if chosen == "geometric" else 0.0
    dealt = null is not None and null.independent is None and places_may_be_dealt(problem)

    def nobody(one_map: Callable[[], Maps], rng: np.random.Generator) -> Problem:
        """The same problem with nobody in common but by chance."""
        if null is None or null.independent is None:
            return strangers(problem, None if dealt else one_map, rng)
        drawn = read_place(null.independent(rng), names, "independent")
        return pose(one, drawn, problem.window, label_distance)

    run = {"exact": _exact, "seeds": _seeds, "geometric": _geometric}[chosen]
    tell = progress or (lambda _stage, _share: None)
    return run(problem, _Options(gamma, everybody, null, budget, seed, noise, tell, why, nobody))


@dataclass(frozen=True, slots=True)
class _Options:
    gamma: float | None
    everybody: bool
    null: Null | None
    budget: int
    seed: int
    noise: float  # of one place
    tell: Callable[[str, float], None]
    why: str
    strangers: Callable[[Callable[[], Maps], np.random.Generator], Problem]


def _check_apart(label_distance: Mapping[str, float], one: Place, two: Place) -> None:
    """Refuse distances of labels that are not there, hold no numbers, or are no distances."""
    for name, apart in label_distance.items():
        if name not in one.labels.columns:
            raise ParameterError("a label distance for no label", got=repr(name), allowed=", ".join(one.labels.columns))
        if not (one.labels[name].dtype.is_numeric() and two.labels[name].dtype.is_numeric()):
            raise ParameterError("a label distance needs a label of numbers in both files", got=repr(name))
        if not 0 <= apart < math.inf:
            raise ParameterError("a label distance is a number of at least 0", got=f"{name}: {apart}")


def _check_chosen(chosen: str, gamma: float | None, *, everybody: bool) -> None:
    """Refuse options that the chosen method does not have."""
    if gamma is not None and chosen != "exact":
        raise ParameterError(
            "only the exact attack extends to quasi-cliques", got=f"gamma with {chosen}", hint="method='exact'"
        )
    if everybody and chosen == "exact":
        raise ParameterError(
            "the exact attack guesses nobody", got="everybody with exact", allowed="method auto, seeds or geometric"
        )


def _choose(
    method: Method, n_vertices: int, target: Place, identification: Place, guessed: Tolerance | None
) -> tuple[str, str]:
    """Pick the method by size and data; where everybody is guessed, by the masking."""
    if method == "geometric" and identification.points is None:
        raise ParameterError(
            "the geometric attack needs the identification file's coordinates",
            got="distances only",
            allowed="Coordinates(lon, lat) or Coordinates(x, y, kind='planar')",
            hint="method='seeds' works with any distances",
        )
    if method != "auto":
        return method, f"{method}: asked for"
    if guessed is not None:
        votes = identification.points is None or getattr(guessed, "masking", "") in {"distances", "rounding"}
        reason = "by distances alone" if votes else "and the identification file has coordinates"
        best = "seeds" if votes else "geometric"
        return best, f"{best}: everybody is to be guessed, {reason}"
    size = f"{target.n} x {identification.n} records, {n_vertices} pairs with matching labels"
    if n_vertices <= 66_000:
        return "exact", f"exact: {size}"
    if identification.points is not None:
        return "geometric", f"geometric: {size}, and the identification file has coordinates"
    if max(target.n, identification.n) <= 2000:
        return "exact", f"exact: {size}"
    return "seeds", f"seeds: {size}, no coordinates"


def _nothing(target: Place, identification: Place, method: str, why: str) -> GraphLinkage:
    empty = np.zeros((0, 2), dtype=np.int64)
    return GraphLinkage(
        empty, np.zeros(0), 0, 0, exact=True, method=method, why=f"nothing found: {why}",
        n_target=target.n, n_identification=identification.n, null=None,
    )  # fmt: skip


def _claim(pairs: Ints) -> tuple[Ints, NDArray[np.float64]]:
    """Sort the pairs, and share belief among claims on one record."""
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    on1, on2 = np.bincount(pairs[:, 0]), np.bincount(pairs[:, 1])
    return pairs, 1.0 / np.maximum(on1[pairs[:, 0]], on2[pairs[:, 1]])


def _judge(why: str, null: Calibration | None) -> str:
    if null is None:
        return f"{why}; not calibrated"
    verdict = "" if null.significant else "nothing found: "
    chance = f"{max(null.sizes):g} in {len(null.sizes)} draws"
    return f"{verdict}{why}; {null.observed:g} against a null of {chance}, p = {null.p_value:.3g}"


def _maps(problem: Problem, rows: NDArray[Any], cols: NDArray[Any]) -> Callable[[], Maps]:
    """Both files on one map by the largest clique, made when it is first asked for."""
    from unmask.graph.geometry import one_map  # noqa: PLC0415  # numba loads when it is needed

    return cache(lambda: one_map(problem, rows.astype(np.int64), cols.astype(np.int64)))


def _exact(problem: Problem, options: _Options) -> GraphLinkage:
    from unmask.graph.exact import quasi, reaches, solve  # noqa: PLC0415  # numba loads when it is needed

    options.tell("cliques", 0.0)
    s = problem.exact_sides()
    found, rows, cols = solve(s, budget=options.budget, tell=lambda share: options.tell("cliques", share))
    maps = _maps(problem, rows[found.clique], cols[found.clique])
    null = None
    if options.null is not None:

        def draw(rng: np.random.Generator) -> tuple[float, bool]:
            return reaches(options.strangers(maps, rng).exact_sides(), found.size, budget=options.budget)

        null = calibrate(found.size, draw, options.null, options.seed, lambda share: options.tell("null", share))
    rows, cols = rows[found.union], cols[found.union]
    if options.gamma is not None:
        rows, cols = quasi(s, rows, cols, options.gamma)
    why = options.why if found.certified else f"{options.why}; the budget ended before the proof"
    return _answer(problem, (rows, cols), (found.size, found.n_found, found.certified), "exact", null, why)


def _answer(
    problem: Problem, match: tuple[Any, Any], clique: tuple[int, int, bool], method: str, null: Calibration | None,
    why: str,
) -> GraphLinkage:  # fmt: skip
    pairs = np.column_stack([problem.order1[match[0]], problem.order2[match[1]]]).astype(np.int64)
    if null is not None and not null.significant:
        pairs = pairs[:0]
    pairs, belief = _claim(pairs)
    size, count, exact = clique
    return GraphLinkage(
        pairs, belief, size, count, exact=exact, method=method, why=_judge(why, null),
        n_target=problem.target.n, n_identification=problem.identification.n, null=null,
    )  # fmt: skip


def _seeds(problem: Problem, options: _Options) -> GraphLinkage:
    from unmask.graph.seeds import reaches, seed_and_extend  # noqa: PLC0415  # numba loads when it is needed

    if options.everybody:
        return _voted(problem, options)
    options.tell("seeds", 0.0)
    found, rows, cols = seed_and_extend(problem, budget=options.budget)
    maps = _maps(problem, rows[found.clique], cols[found.clique])
    null = None
    if options.null is not None:

        def draw(rng: np.random.Generator) -> tuple[float, bool]:
            return reaches(options.strangers(maps, rng), found.size)

        null = calibrate(found.size, draw, options.null, options.seed, lambda share: options.tell("null", share))
    why = f"{options.why}; not certified: only pairs that agree with the seed were searched"
    return _answer(
        problem, (rows[found.union], cols[found.union]), (found.size, found.n_found, False), "seeds", null, why
    )


def _voted(problem: Problem, options: _Options) -> GraphLinkage:
    """Seeds as a beginning: whoever is believed votes on everybody else."""
    from unmask.graph.votes import everybody  # noqa: PLC0415  # numba loads when it is needed

    options.tell("seeds", 0.0)
    found = everybody(problem)
    maps = _maps(problem, *found.believed.T)
    null = None
    if options.null is not None:

        def draw(rng: np.random.Generator) -> tuple[float, bool]:
            other = everybody(options.strangers(maps, rng)).n_agree
            return other, other >= found.n_agree

        null = calibrate(found.n_agree, draw, options.null, options.seed, lambda share: options.tell("null", share))
    people = len(np.unique(found.believed[:, 0]))
    why = f"{options.why}; a clique of {found.n_seeds} to begin with, {people} people believed at the end"
    answer = _answer(problem, tuple(found.pairs.T), (int(found.n_agree), 1, False), "seeds", null, why)
    seeds = np.column_stack([problem.order1[found.pairs[:, 0]], problem.order2[found.pairs[:, 1]]])[found.is_seed]
    known = _keys(seeds)
    weighed = [pair in known for pair in zip(*answer.pairs.T.tolist(), strict=True)]
    return replace(answer, posterior=np.where(weighed, answer.posterior, math.nan))


def _geometric(problem: Problem, options: _Options) -> GraphLinkage:
    from unmask.graph.everybody import everybody as guess  # noqa: PLC0415  # as below
    from unmask.graph.geometry import overlay  # noqa: PLC0415  # numba loads when it is needed

    options.tell("alignment", 0.0)
    scale = options.noise

    def lay(given: Problem) -> Overlay:
        found = overlay(given, scale, options.budget)
        return guess(given, found, scale) if options.everybody else found

    found = lay(problem)
    size = found.n_agree
    maps = np.zeros((problem.target.n, 2)), np.zeros((problem.identification.n, 2))
    if found.spots is not None and found.places is not None:  # else nothing was laid over: one point does as well
        maps = found.spots, found.places
    null = None
    if options.null is not None:

        def draw(rng: np.random.Generator) -> tuple[float, bool]:
            other = lay(options.strangers(lambda: maps, rng)).n_agree
            return other, other >= size

        null = calibrate(size, draw, options.null, options.seed, lambda share: options.tell("null", share))
    why = f"{options.why}; {found.n_tried} alignments tried, noise of a place {found.scale:.3g}"
    answer = _answer(problem, (found.rows, found.cols), (size, 1, False), "geometric", null, why)
    if not answer.found:
        return answer
    order = np.lexsort((problem.order2[found.cols], problem.order1[found.rows]))
    return replace(answer, posterior=found.posterior[order])


__all__ = [
    "Calibration", "Coordinates", "Deviations", "GraphLinkage", "NoiseTolerance", "Null", "Relative", "link_graph",
]  # fmt: skip
