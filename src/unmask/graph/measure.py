"""The graph attack on released places or distances, as `assess` runs it: are people found by nothing but distances?

The intruder knows the labels and places of real people (or exact distances between them). Of the release they use only
the labels and the distances, which is all that is left of a map that was turned, shifted, or published as a matrix.
They know how the owner masks: how far distances moved is taken from the true pairs. The owner counts who was found
[KROLL]_, and sees what other maskings would have done.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, measure, rate
from unmask.graph.attack import Method, link_graph
from unmask.graph.distances import Coordinates
from unmask.graph.map import found_on_a_map, risk_utility_map
from unmask.graph.result import GraphLinkage
from unmask.graph.stage import Stage, applies, set_stage
from unmask.graph.sweep import trilaterate
from unmask.shares import percent
from unmask.study import Study

ALIGNMENTS = 20_000  # after which no further batch is tried; a masked map needs a few thousand
WORK = 2_000_000  # of branch and bound, where there are no places
SECOND = 100_000  # the same as a second attack: seconds
CANDIDATES = 10_000  # pairs with matching labels up to which a second attack takes seconds, chance included


@measure(
    "graph",
    title="Distances alone",
    story="The intruder knows labels and places of real people, and uses only the distances between the released ones.",
    keys=("graph.rate",),
    applies=applies,
    names=False,
)
def assess_graph(study: Study, context: Context) -> Evidence:
    """Run the attack on the map that distances redraw, and count who was found."""
    release = study.release
    stage = set_stage(release, context.seed)
    n = len(stage.rows)
    truth = np.column_stack([np.arange(n)] * 2)
    tried = _attacks(stage, context)
    shares = [found.exposure(truth) for found in tried]
    best = int(np.argmax([credit.sum() for credit in shares]))  # by the truth: the owner asks for the worst
    found = tried[best]
    estimate = rate(shares[best], chance=1.0 / n, seed=context.seed)
    risk = np.zeros(release.original.height)
    risk[release.paired_rows] = estimate.value
    risk[stage.blank] = 0.0
    risk[stage.rows] = np.max(shares, axis=0)
    maps = risk_utility_map(
        stage,
        found,
        estimate.value,
        seed=context.seed,
        progress=lambda done: context.progress(0.6 + 0.4 * done, "other maskings"),
    )
    claim = f"{estimate.hits:,.0f} of {n:,} people are found by their labels and the released distances"
    claim += f" (the best of {len(tried)} attacks tried)." if len(tried) > 1 else "."
    return Evidence(
        observations=(Observation("graph.rate", claim, estimate),),
        per_record=risk,
        facts=_facts(stage, found, truth),
        figures=(_figure(found, estimate), found_on_a_map(stage, found, show_values=context.show_values), *maps),
        notes=(*stage.notes, found.why, *_others(tried, shares, best)),
        quotes=context.show_values,
    )


def _attacks(stage: Stage, context: Context) -> list[GraphLinkage]:
    """Overlay where they have places; cliques with a bounded proof; votes of those who are believed."""
    plan: list[tuple[Method, int]] = [("votes", WORK), ("exact", WORK)]
    if stage.has_places:
        few, places = _candidates(stage) <= CANDIDATES, isinstance(stage.target[1], Coordinates)
        plan = [("geometric", ALIGNMENTS)]
        plan += [("votes", SECOND)] if few or not places else []
        plan += [("exact", SECOND)] if few else []
    tried: list[GraphLinkage] = []
    deal = np.random.default_rng([context.seed, 8]).permutation(len(stage.rows))  # that row i is row i says nothing
    table, where = stage.identification
    dealt = table[deal], where if isinstance(where, Coordinates) else where[np.ix_(deal, deal)]
    for k, (method, budget) in enumerate(plan):
        found = link_graph(
            original=dealt,
            released=stage.target,
            labels=stage.labels,
            tolerance=stage.whole if method == "votes" else stage.tolerance,
            method=method,
            everybody=method == "geometric",
            budget=budget,
            seed=context.seed,
            progress=lambda done, _words, k=k: context.progress(0.6 * (k + done) / len(plan), "the same by chance"),  # type: ignore[misc]
        )
        tried.append(replace(found, pairs=np.column_stack([found.pairs[:, 0], deal[found.pairs[:, 1]]])))
    return tried


def _candidates(stage: Stage) -> int:
    one, two = (file[0].group_by(stage.labels).len() for file in (stage.target, stage.identification))
    both = one.join(two, on=stage.labels, nulls_equal=True)
    return int((both["len"] * both["len_right"]).sum())


def _others(tried: list[GraphLinkage], shares: list[Floats], best: int) -> tuple[str, ...]:
    """Say what the attacks that found fewer people found."""
    return tuple(
        f"also tried, {credit.sum():,.0f} people found: {found.why}"
        for k, (found, credit) in enumerate(zip(tried, shares, strict=True))
        if k != best
    )


def _facts(stage: Stage, found: GraphLinkage, truth: Ints) -> tuple[Fact, ...]:
    three = truth[np.linspace(0, len(truth) - 1, 3).round().astype(np.int64)]
    follow = trilaterate(stage.target, stage.identification, three, labels=stage.labels, tolerance=stage.tolerance)
    precision = percent(found.precision(truth)) if found.found else "no claim"
    most, p_value = _by_chance(found)
    agree = {
        "geometric": "people whose labels and places agree after the best alignment (within three times the noise)",
        "exact": "people whose labels and distances to each other all agree (the largest clique)",
        "votes": "as many distances agree as among so many people who all agree",
    }[found.method]
    return (
        Fact("precision", precision, "share of the intruder's claims that are right"),
        Fact("recall", percent(found.recall(truth)), "share of the people drawn whom they claim rightly"),
        *_sure(found, truth),
        Fact("pairs that agree", float(found.n_agree), agree),
        Fact("most by chance", most, "the same when chance deals the places, or the people to the files"),
        Fact("p-value", p_value, "how often chance agrees as well; above 0.05 nothing is claimed"),
        Fact("follow from three", follow.hits(truth), "people who follow at once when three others are known"),
    )


def _sure(found: GraphLinkage, truth: Ints) -> tuple[Fact, ...]:
    """Of whom they could be sure, where they guessed everybody."""
    if found.method == "exact" or not found.found:
        return ()
    sure = found.sure
    right = f"{sure.hits(truth):,} of {len(sure.pairs):,} right"
    told = "claims that they can tell to be more likely right than wrong"
    return (
        Fact("sure claims", right, told if found.method == "geometric" else "claims that all agree with each other"),
    )


def _by_chance(found: GraphLinkage) -> tuple[float, float]:
    """Most that chance showed, and how often it showed as much."""
    return (max(found.null.sizes), found.null.p_value) if found.null is not None else (0.0, 1.0)


def _figure(found: GraphLinkage, estimate: Estimate) -> Figure:
    counts = {"people asked": float(estimate.n), "pairs that agree": float(found.n_agree)}
    return Figure.bars(
        [*counts.items(), ("most by chance", _by_chance(found)[0]), ("people found", estimate.hits)],
        title="Do the distances agree by more than chance?",
        caption="Pairs that agree with each other, beside the most when chance deals the places; "
        "only an answer that chance does not reach is claimed.",
        said="",
        axes=("count", "people"),
        form="{} {:.0f}",
    )
