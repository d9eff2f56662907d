"""The graph attack on released coordinates, as `assess` runs it: are people found by nothing but distances?

The intruder knows the labels and places of real people. Of the release she uses only the labels and the distances
between its places, which is all that is left of a map that was turned, shifted, or published as distances. She knows
how the owner masks: how far distances moved is taken from the true pairs. The owner counts who was found [KROLL]_.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from unmask.attacks.graph import Coordinates, Deviations, GraphLinkage, link_graph
from unmask.attacks.graph_distances import between
from unmask.attacks.graph_protect import trilaterate
from unmask.errors import EngineError
from unmask.evidence.estimate import Estimate, rate
from unmask.evidence.figure import Figure, Series
from unmask.evidence.finding import Evidence, Fact, Observation
from unmask.evidence.measure import Context, measure
from unmask.tables.encode import as_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.release import Release

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

PEOPLE = 300  # drawn for the attack, so that it takes seconds
FEWEST = 4  # with fewer, no answer could differ from chance
ALPHA = 0.9  # share of true distances that agree
WIDEST = 0.2  # of the median distance: where more is allowed, everything agrees with everything
ALIGNMENTS = 20_000  # after which no further batch is tried; a masked map needs a few thousand
SAME = 0.9  # labels that the release changed more often than this are not compared
LABEL = "everybody"  # stands in where no label is left
X, Y = "x", "y"


@dataclass(frozen=True, slots=True)
class Stage:
    """The two files of the attack: row i of one is row i of the other."""

    rows: Ints  # of the original
    target: pl.DataFrame
    identification: pl.DataFrame
    labels: tuple[str, ...]
    where: Coordinates
    tolerance: Deviations
    blank: Ints  # rows of the original without a place in one of the files
    notes: tuple[str, ...]


def _applies(release: Release) -> str | None:
    if not release.coordinates:
        return "no coordinates named"
    for table, where in ((release.original, "original"), (release.released, "release")):
        if not set(release.coordinates) <= set(table.columns):
            return f"the coordinates are not in the {where} any more"
        if not all(table[name].dtype.is_numeric() for name in release.coordinates):
            return f"the coordinates of the {where} are not numbers"
    return f"fewer than {FEWEST} people" if len(release.paired) < FEWEST else None


def set_stage(release: Release, seed: int) -> Stage:
    """Draw people by the canonical order of the files, and measure how far their distances moved."""
    paired = release.paired
    sides = (release.original[paired], release.released[release.truth[paired]])
    points = [side.select(pl.col(release.coordinates).cast(pl.Float64)).to_numpy() for side in sides]
    whole = np.isfinite(points[0]).all(axis=1) & np.isfinite(points[1]).all(axis=1)
    if int(whole.sum()) < FEWEST:
        raise EngineError("too few people have a place in both files", got=str(int(whole.sum())), allowed=f"{FEWEST}")
    labels, left_out = _labels(release, sides)
    frames = [
        pl.DataFrame({name: as_text(side[name]) for name in labels} or {LABEL: ["-"] * side.height}).with_columns(
            pl.Series(X, place[:, 0]), pl.Series(Y, place[:, 1])
        )
        for side, place in zip(sides, points, strict=True)
    ]
    both = pl.concat([frames[0], frames[1].rename(lambda name: f"{name} of the release")], how="horizontal")
    both = both.with_row_index("the row").filter(pl.Series(whole))
    order = both.sort([name for name in both.columns if name != "the row"], nulls_last=True)["the row"].to_numpy()
    if len(order) > PEOPLE:
        order = order[np.sort(np.random.default_rng(seed).choice(len(order), PEOPLE, replace=False))]
    order = order.astype(np.int64)
    kind: Literal["lonlat", "planar"] = "lonlat"
    if any((np.abs(place[whole]) > [360.0, 90.0]).any() for place in points):
        kind = "planar"
    known = between(points[0][order], points[0][order], kind)
    moved = (known - between(points[1][order], points[1][order], kind))[np.triu_indices(len(order), 1)]
    widest = WIDEST * float(np.median(known))
    low, high = np.clip(np.quantile(moved, [(1 - ALPHA) / 2, (1 + ALPHA) / 2]), -widest, widest)
    notes = [
        f"the attack compared {', '.join(map(repr, labels)) or 'no labels'} and distances "
        + ("in km (the coordinates are degrees)" if kind == "lonlat" else "in the unit of the coordinates")
    ]
    if left_out:
        notes.append(f"labels that the release often changed were not compared: {', '.join(map(repr, left_out))}")
    if not whole.all():
        notes.append(f"{int((~whole).sum())} people have no place in one of the files: this attack cannot find them")
    if len(order) < int(whole.sum()):
        notes.append(f"{len(order)} of {int(whole.sum())} people were drawn; the others' risk is the rate of the drawn")
    return Stage(
        rows=paired[order],
        target=frames[1][order],
        identification=frames[0][order],
        labels=labels or (LABEL,),
        where=Coordinates(X, Y, kind=kind),
        tolerance=Deviations(float(low), float(high)),
        blank=paired[~whole],
        notes=tuple(notes),
    )


def _labels(release: Release, sides: tuple[pl.DataFrame, pl.DataFrame]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Categorical quasi-identifiers that the release mostly kept, and those that it did not."""
    names = [
        name
        for name in release.quasi
        if name not in (*release.coordinates, X, Y)
        and (release.kind(name) in {"categorical", "boolean", "ordinal"} or sides[0][name].dtype == pl.String)
    ]
    kept = tuple(
        name
        for name in names
        if float(as_text(sides[0][name]).eq_missing(as_text(sides[1][name])).mean()) >= SAME  # type: ignore[arg-type]
    )
    return kept, tuple(name for name in names if name not in kept)


@measure(
    "graph",
    title="Distances alone",
    story="The intruder knows labels and places of real people, and uses only the distances between the released ones.",
    keys=("graph.rate",),
    applies=_applies,
)
def assess_graph(release: Release, context: Context) -> Evidence:
    """Run the attack on the map that distances redraw, and count who was found."""
    stage = set_stage(release, context.seed)
    n = len(stage.rows)
    found = link_graph(
        (stage.target, stage.where),
        (stage.identification, stage.where),
        labels=stage.labels,
        tolerance=stage.tolerance,
        method="geometric",
        budget=ALIGNMENTS,
        seed=context.seed,
        progress=lambda _stage, done: context.progress(0.9 * done, "alignments by chance"),
    )
    truth = np.column_stack([np.arange(n)] * 2)
    credit = found.exposure(truth)
    estimate = rate(credit, chance=1.0 / n, seed=context.seed)
    risk = np.zeros(release.original.height)
    risk[release.paired] = estimate.value
    risk[stage.blank] = 0.0
    risk[stage.rows] = credit
    claim = f"{estimate.hits:,.0f} of {n:,} people are found by their labels and the distances between released places."
    return Evidence(
        observations=(Observation("graph.rate", claim, estimate),),
        per_record=risk,
        facts=_facts(stage, found, truth),
        figures=(_figure(found, estimate),),
        notes=(*stage.notes, found.why),
    )


def _facts(stage: Stage, found: GraphLinkage, truth: Ints) -> tuple[Fact, ...]:
    three = truth[np.linspace(0, len(truth) - 1, 3).round().astype(np.int64)]
    follow = trilaterate(
        (stage.target, stage.where),
        (stage.identification, stage.where),
        three,
        labels=stage.labels,
        tolerance=stage.tolerance,
    )
    precision = f"{found.precision(truth):.3f}" if found.found else "no claim"
    return (
        Fact("precision", precision, "share of the intruder's claims that are right"),
        Fact("pairs on the map", found.clique_size, "people whose labels and places agree after the best alignment"),
        Fact("most by chance", _by_chance(found), "the same when places are dealt to other people"),
        Fact("p-value", _p_value(found), "how often chance agrees as well; above 0.05 nothing is claimed"),
        Fact("follow from three", follow.hits(truth), "people who follow at once when three others are known"),
    )


def _by_chance(found: GraphLinkage) -> float:
    return max(found.null.sizes) if found.null is not None else 0.0


def _p_value(found: GraphLinkage) -> float:
    return found.null.p_value if found.null is not None else 1.0


def _figure(found: GraphLinkage, estimate: Estimate) -> Figure:
    names = ("people asked", "pairs on the map", "most by chance", "people found")
    values = (float(estimate.n), float(found.clique_size), _by_chance(found), estimate.hits)
    return Figure(
        shape="bar",
        title="Do the distances agree by more than chance?",
        caption="Pairs that agree after the best alignment, beside the most when places are dealt to others; "
        "only an answer that chance does not reach is claimed.",
        alt=", ".join(f"{name} {value:.0f}" for name, value in zip(names, values, strict=True)),
        x_label="count",
        y_label="people",
        series=(Series("people", names, values),),
    )
