"""The graph attack on released places or distances, as `assess` runs it: are people found by nothing but distances?

The intruder knows the labels and places of real people (or exact distances between them). Of the release she uses only
the labels and the distances, which is all that is left of a map that was turned, shifted, or published as a matrix. She
knows how the owner masks: how far distances moved is taken from the true pairs. The owner counts who was found
[KROLL]_, and sees what other maskings would have done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.attacks.graph import GraphLinkage, link_graph
from unmask.attacks.graph_map import found_on_a_map, risk_utility_map
from unmask.attacks.graph_protect import trilaterate
from unmask.attacks.graph_stage import Stage, applies, set_stage
from unmask.evidence.estimate import Estimate, rate
from unmask.evidence.figure import Figure, Series
from unmask.evidence.finding import Evidence, Fact, Observation
from unmask.evidence.measure import Context, measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.release import Release

    Ints = NDArray[np.int64]

ALIGNMENTS = 20_000  # after which no further batch is tried; a masked map needs a few thousand
WORK = 2_000_000  # of branch and bound, where there are no places


@measure(
    "graph",
    title="Distances alone",
    story="The intruder knows labels and places of real people, and uses only the distances between the released ones.",
    keys=("graph.rate",),
    applies=applies,
)
def assess_graph(release: Release, context: Context) -> Evidence:
    """Run the attack on the map that distances redraw, and count who was found."""
    stage = set_stage(release, context.seed)
    n = len(stage.rows)
    found = link_graph(
        stage.target,
        stage.identification,
        labels=stage.labels,
        tolerance=stage.tolerance,
        method="geometric" if stage.has_places else "exact",
        budget=ALIGNMENTS if stage.has_places else WORK,
        seed=context.seed,
        progress=lambda _stage, done: context.progress(0.6 * done, "the same by chance"),
    )
    truth = np.column_stack([np.arange(n)] * 2)
    credit = found.exposure(truth)
    estimate = rate(credit, chance=1.0 / n, seed=context.seed)
    risk = np.zeros(release.original.height)
    risk[release.paired] = estimate.value
    risk[stage.blank] = 0.0
    risk[stage.rows] = credit
    maps = risk_utility_map(
        stage, found, seed=context.seed, progress=lambda done: context.progress(0.6 + 0.4 * done, "other maskings")
    )
    claim = f"{estimate.hits:,.0f} of {n:,} people are found by their labels and the released distances."
    return Evidence(
        observations=(Observation("graph.rate", claim, estimate),),
        per_record=risk,
        facts=_facts(stage, found, truth),
        figures=(_figure(found, estimate), found_on_a_map(stage, found, show_values=context.show_values), *maps),
        notes=(*stage.notes, found.why),
    )


def _facts(stage: Stage, found: GraphLinkage, truth: Ints) -> tuple[Fact, ...]:
    three = truth[np.linspace(0, len(truth) - 1, 3).round().astype(np.int64)]
    follow = trilaterate(stage.target, stage.identification, three, labels=stage.labels, tolerance=stage.tolerance)
    precision = f"{found.precision(truth):.3f}" if found.found else "no claim"
    agree = "whose labels and places agree after the best alignment"
    if found.method != "geometric":
        agree = "whose labels and distances to each other all agree (the largest clique)"
    return (
        Fact("precision", precision, "share of the intruder's claims that are right"),
        Fact("recall", f"{found.recall(truth):.3f}", "share of the people drawn whom she claims rightly"),
        Fact("pairs that agree", found.clique_size, f"people {agree}"),
        Fact("most by chance", _by_chance(found), "the same when places are dealt to other people"),
        Fact("p-value", _p_value(found), "how often chance agrees as well; above 0.05 nothing is claimed"),
        Fact("follow from three", follow.hits(truth), "people who follow at once when three others are known"),
    )


def _by_chance(found: GraphLinkage) -> float:
    return max(found.null.sizes) if found.null is not None else 0.0


def _p_value(found: GraphLinkage) -> float:
    return found.null.p_value if found.null is not None else 1.0


def _figure(found: GraphLinkage, estimate: Estimate) -> Figure:
    names = ("people asked", "pairs that agree", "most by chance", "people found")
    values = (float(estimate.n), float(found.clique_size), _by_chance(found), estimate.hits)
    return Figure(
        shape="bar",
        title="Do the distances agree by more than chance?",
        caption="Pairs that agree with each other, beside the most when places are dealt to others; "
        "only an answer that chance does not reach is claimed.",
        alt=", ".join(f"{name} {value:.0f}" for name, value in zip(names, values, strict=True)),
        x_label="count",
        y_label="people",
        series=(Series("people", names, values),),
    )
