"""The graph attack: published distances give people away [KROLL]_.

The owner removed names and places and published, beside the table, how far its people live from each other. The
intruder holds another table with names and places. Two people of the release and two of that table match when their
labels and their distances agree; a set of matches in which *all* distances agree is a clique of the product graph, and
the larger it is, the harder it is to believe in chance. They take the union of all maximum cliques. Success: the share
of their claims that is right (precision) and of the people in both files that they claim (recall).

Where the paper stops, this goes on: larger files (seeds, geometry), and a null calibration, because a maximum clique
always exists, and in files without anyone in common it is a set of wrong claims.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast
from warnings import warn

import numpy as np

from unmask.errors import ParameterError, check_name
from unmask.evidence import Progress, silent
from unmask.graph.distances import Distances, Place, read_place
from unmask.graph.null import Null, places_may_be_dealt, strangers
from unmask.graph.problem import Maps, Problem
from unmask.graph.result import CliqueLinkage, GraphLinkage, MapLinkage, VoteLinkage
from unmask.graph.tolerance import Tolerance, place_noise, simulated, window

File = tuple[Any, Distances]
Strangers = Callable[[Callable[[], Maps], np.random.Generator], Problem]


Method = Literal["auto", "exact", "seeds", "geometric", "votes"]
METHODS = ("auto", "exact", "seeds", "geometric", "votes")
BUDGET = 50_000_000  # work of branch and bound: a few minutes at most


def link_graph(  # noqa: PLR0913  # options are keyword-only
    target: File | None = None,
    identification: File | None = None,
    *,
    original: File | None = None,
    released: File | None = None,
    labels: Sequence[str],
    tolerance: Tolerance,
    method: Method = "auto",
    gamma: float | None = None,
    everybody: bool = False,
    label_distance: Mapping[str, float] | None = None,
    null: Null | None = Null(),  # noqa: B008  # frozen
    budget: int = BUDGET,
    seed: int = 0,
    progress: Progress = silent,
) -> GraphLinkage:
    """Attack a release that comes with distances.

    Parameters
    ----------
    target, identification
        The former names of ``released`` and ``original``, in this order, until version 0.3.
    original, released
        The intruder's file and the release, by name: each a table and its distances (a square matrix, a path to one in
        .npy, .csv or .parquet, names of the table's distance columns, `Coordinates`, or a function of two rows'
        numbers).
    labels
        Columns that both tables have; records may match when these are equal (missing equals missing).
    tolerance
        When two distances agree: a number (``|d - d'| < tolerance``), `Relative`, `Deviations` or `NoiseTolerance`.
    method
        ``exact``: the paper's attack with a certificate; ``seeds``: any metric at any size, without one; ``votes``: the
        people of a clique vote on who everybody else is, any metric; ``geometric``: needs the identification file's
        coordinates. ``auto`` picks by size and data and says why.
    gamma
        Extend the answer to pairs that agree with at least this share of it (gamma-quasi-clique).
    everybody
        Guess a partner for everybody, also below even odds: finds more, errs more. Geometric does so once the map lies
        right, votes always, exact and seeds never. ``auto`` takes votes where there are no coordinates, or where
        distances were masked and not places.
    label_distance
        Numeric labels may differ by this much.
    null
        Calibration; None claims whatever is found, as the paper does.
    budget
        Work of branch and bound (a few microseconds each) after which the answer is no longer certified; geometric:
        alignments after which no further batch is tried.
    seed, progress
        Random state of null draws and seeds; a function told the share of a stage that is done, and the stage.
    """
    check_name(method, METHODS, "unknown method")
    if gamma is not None and not 0 < gamma <= 1:
        raise ParameterError("gamma is a share", got=repr(gamma), allowed="above 0, at most 1")
    original, released = _files(target, identification, original, released)
    one, two = read_place(released, labels, "target"), read_place(original, labels, "identification")
    _check_apart(label_distance or {}, one, two)
    from unmask.graph import exact, geometry, problem, seeds, votes  # noqa: PLC0415  # numba loads when it is needed

    moved = simulated(two, tolerance)
    posed = problem.pose(one, two, window(two, tolerance, moved), label_distance)
    chosen, why = _choose(method, posed.n_vertices, one, two, tolerance if everybody else None)
    _check_chosen(chosen, gamma, everybody=everybody)
    if posed.n_vertices == 0:
        return _nothing(one, two, chosen)

    def again(file: File) -> Problem:
        return problem.pose(one, read_place(file, labels, "independent"), posed.window, label_distance)

    noise = place_noise(two, tolerance, posed.window, moved) if chosen == "geometric" else 0.0
    nobody = _nobody(posed, null, again)
    task = problem.Task(posed, null, nobody, budget, seed, progress, why, noise, everybody, gamma)
    attacks = {"exact": exact, "seeds": seeds, "geometric": geometry, "votes": votes}
    return cast("GraphLinkage", attacks[chosen].attack(task))


def _nobody(posed: Problem, null: Null | None, again: Callable[[File], Problem]) -> Strangers:
    """Return what makes the same problem with nobody in common but by chance."""
    draw = null and null.independent
    if draw:
        return lambda _maps, rng: again(draw(rng))
    dealt = null is not None and places_may_be_dealt(posed)
    return lambda maps, rng: strangers(posed, None if dealt else maps, rng)


def _files(target: File | None, identification: File | None, *named: File | None) -> tuple[File, File]:
    """Return original and released; files without names are taken as they were taken: the release first."""
    if target is not None or identification is not None:
        if any(file is not None for file in named):
            raise ParameterError("the files are given twice", allowed="original= and released=, by name")
        warn("link_graph takes its files by name: original=, released=", DeprecationWarning, stacklevel=3)
        named = (identification, target)
    if named[0] is None or named[1] is None:
        raise ParameterError("two files are needed", allowed="original= and released=, each a table and its distances")
    return named[0], named[1]


def _nothing(target: Place, identification: Place, method: str) -> GraphLinkage:
    """No pair may match, whatever the method."""
    fields: dict[str, Any] = {
        "pairs": np.zeros((0, 2), dtype=np.int64),
        "belief": np.zeros(0),
        "n_agree": 0,
        "method": method,
        "why": "nothing found: no record of one file has the labels of a record of the other",
        "n_target": target.n,
        "n_identification": identification.n,
        "null": None,
    }
    if method in {"exact", "seeds"}:
        return CliqueLinkage(**fields, n_cliques=0, exact=True)
    return MapLinkage(**fields) if method == "geometric" else VoteLinkage(**fields)


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
    if everybody and chosen in {"exact", "seeds"}:
        raise ParameterError(
            f"the {chosen} attack guesses nobody",
            got=f"everybody with {chosen}",
            allowed="method auto, geometric or votes",
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
        best = "votes" if votes else "geometric"
        return best, f"{best}: everybody is to be guessed, {reason}"
    size = f"{target.n} x {identification.n} records, {n_vertices} pairs with matching labels"
    if n_vertices <= 66_000:
        return "exact", f"exact: {size}"
    if identification.points is not None:
        return "geometric", f"geometric: {size}, and the identification file has coordinates"
    if max(target.n, identification.n) <= 2000:
        return "exact", f"exact: {size}"
    return "seeds", f"seeds: {size}, no coordinates"
