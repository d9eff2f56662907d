from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

from naive import linkage as naive
from reference import data
from unmask import Release, datasets, link_learned, link_nearest, parse_masking
from unmask.errors import EngineError, ParameterError
from unmask.evidence.measure import Context
from unmask.linkage.learned.descent import Lesson, loss
from unmask.linkage.learned.distances import AGGREGATORS, Distance, features, plain, size
from unmask.linkage.learned.exact import solve_worst_case
from unmask.linkage.learned.measure import assess_learned, set_stage, worst_case
from unmask.masking import Microaggregation
from unmask.study.study import Study


def noisy(n=60, seed=1, sd=(0.05, 3.0, 0.4)):
    """One attribute that tells, one that misleads, one between."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, len(sd)))
    names = ["clear", "wild", "middling"][: len(sd)]
    return Release(*(pl.DataFrame(side, schema=names) for side in (x, x + rng.normal(size=x.shape) * sd)))


@pytest.mark.parametrize("kind", AGGREGATORS)
def test_plain_parameters_are_the_plain_distance(kind):
    people = datasets.patients(80, seed=1).drop("patient", "diagnosis", "cost")
    release = Release(people, parse_masking("noise(0.5)").apply(people, 1))
    stage = set_stage(Study(release))
    credit = plain(stage.space, kind).credit(stage.space, stage.truth)
    assert credit.sum() == pytest.approx(link_nearest(release, decision_only=True).credit.sum(), abs=1e-9)


@pytest.mark.parametrize("kind", AGGREGATORS)
def test_credits_equal_features_times_weights(kind):
    stage = set_stage(Study(noisy(25)))
    space = stage.space
    rng = np.random.default_rng(0)
    weights = rng.random(size(space, kind))
    if kind == "bilinear":
        root = rng.normal(size=(3, 3))
        weights = (root @ root.T)[np.triu_indices(3)]
    distance = Distance(kind, weights)
    credit = distance.credit(space, stage.truth)
    hardest = distance.hardest(space, stage.truth, 3, 0)
    for i in range(25):
        values = features(space, kind, np.full(25, i), np.arange(25)) @ weights
        assert credit[i] == float(np.argmin(values) == stage.truth[i])
        wrong = [j for j in np.argsort(values) if j != stage.truth[i]][:3]
        assert hardest[i].tolist() == wrong


def test_choquet_features_are_a_choquet_integral():
    rng = np.random.default_rng(2)
    d = rng.random(3)
    weights = rng.random(9)
    weights /= weights.sum()
    pairs = [(0, 1), (0, 2), (1, 2)]

    def measure(group):
        total = sum(weights[k] for k in group)
        total += sum(weights[3 + p] for p, pair in enumerate(pairs) if set(pair) <= group)
        return total + sum(weights[6 + p] for p, pair in enumerate(pairs) if set(pair) & group)

    mine = weights @ np.concatenate([d, [min(d[a], d[b]) for a, b in pairs], [max(d[a], d[b]) for a, b in pairs]])
    assert mine == pytest.approx(naive.choquet(d, measure))
    assert measure(frozenset({0, 1, 2})) == pytest.approx(1)


def test_the_slope_of_the_loss():
    rng = np.random.default_rng(0)
    lesson = Lesson(rng.normal(size=(30, 4)), rng.integers(0, 10, 30), 10)
    weights = rng.random(4)
    value, slope = loss(lesson, weights)
    for k in range(4):
        step = np.eye(4)[k] * 1e-6
        assert (loss(lesson, weights + step)[0] - value) / 1e-6 == pytest.approx(slope[k], abs=1e-4)


@pytest.mark.parametrize("kind", AGGREGATORS)
def test_learning_never_loses_in_sample(kind):
    for seed in range(3):
        linkage = link_learned(noisy(80, seed), aggregator=kind)
        assert linkage.in_sample.value >= linkage.plain.value - 1e-12


def test_learning_heeds_what_tells():
    release = noisy(200)
    linkage = link_learned(release, aggregator="mean")
    weights = dict(linkage.importance)
    assert max(weights, key=weights.get) == "clear"
    assert linkage.estimate.value > link_nearest(release, decision_only=True).estimate.value + 0.1  # held-out
    assert sum(weights.values()) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["mean", "owa"])
def test_the_exact_program_equals_brute_force(kind):
    for seed in range(2):
        stage = set_stage(Study(noisy(9, seed, (0.3, 1.5))))
        found = solve_worst_case(stage.space, stage.truth, kind, time_limit=20)
        assert found.optimal and found.gap == 0
        grid = [np.array([w, 1 - w]) for w in np.linspace(0, 1, 101)]

        def distance_of(space, weights, i, j):
            return float(features(space, kind, np.array([i]), np.array([j]))[0] @ weights)

        fewest = naive.fewest_wrong(stage.space, stage.truth, grid, distance_of)
        assert fewest - 1 <= found.wrong <= fewest  # one better can hide between the points of the grid
        assert found.credit.sum() >= len(stage.truth) - found.wrong


def grid_of(kind):
    """Many allowed parameters of two attributes: matrices of trace 1 without negative eigenvalues, or weights."""
    if kind == "bilinear":  # a, b, c of [[a, b], [b, c]]
        return [
            np.array([a, r * np.sqrt(a * (1 - a)), 1 - a])
            for a in np.linspace(0, 1, 41)
            for r in np.linspace(-1, 1, 41)
        ]
    steps = np.arange(13)  # w1, w2, min, max, with sum 1
    return [
        np.array([a, b, c, 12 - a - b - c]) / 12
        for a in steps for b in steps for c in steps
        if a + b + c <= 12
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bilinear", "choquet"])
def test_the_exact_program_of_richer_aggregators_equals_brute_force(kind):
    for seed in range(2):
        stage = set_stage(Study(noisy(8, seed, (0.3, 1.5))))
        found = solve_worst_case(stage.space, stage.truth, kind, time_limit=30)
        assert found.optimal and found.gap == 0

        def distance_of(space, weights, i, j, kind=kind):
            return float(features(space, kind, np.array([i]), np.array([j]))[0] @ weights)

        fewest = naive.fewest_wrong(stage.space, stage.truth, grid_of(kind), distance_of)
        assert fewest - 1 <= found.wrong <= fewest  # one better can hide between the points of the grid
        assert found.credit.sum() >= len(stage.truth) - found.wrong
        usual = plain(stage.space, kind).credit(stage.space, stage.truth).sum()
        assert found.credit.sum() >= usual - 1e-12  # never below the plain distance


@pytest.mark.parametrize("kind", ["bilinear", "choquet"])
def test_richer_aggregators_find_no_fewer_exactly(kind):
    release = noisy(12, 4, (0.3, 1.5))
    simple = worst_case(release, aggregator="mean", time_limit=20)
    rich = worst_case(release, aggregator=kind, time_limit=20)
    assert simple.optimal
    assert rich.bound <= rich.wrong
    assert rich.wrong <= simple.wrong
    if kind == "bilinear":
        a, b, c = rich.distance.weights
        assert a >= 0 and c >= 0 and a * c >= b * b - 1e-9


def test_the_exact_program_says_what_it_does_not_do():
    people = datasets.census(1100)
    with pytest.raises(EngineError, match="small tables"):
        worst_case(Release(people, people))
    with pytest.raises(ParameterError, match="did you mean 'choquet'"):
        worst_case(noisy(10), aggregator="choque")
    with pytest.raises(ParameterError, match="seconds"):
        worst_case(noisy(10), time_limit=0)
    hasty = worst_case(noisy(60, 2), aggregator="choquet", time_limit=0.2)
    assert hasty.bound <= hasty.wrong  # a gap is told, not hidden


def test_missing_numbers_and_bad_input():
    table = pl.DataFrame({"a": [1.0, None, 3.0, 4.0], "b": ["x", "y", None, "x"]})
    release = Release(table, table)
    assert link_learned(release).distance.kind == "mean"
    with pytest.raises(ParameterError, match="missing numbers"):
        link_learned(release, aggregator="bilinear")
    with pytest.raises(ParameterError, match="no aggregator given"):
        link_learned(release, aggregator=())
    with pytest.raises(ParameterError, match="learnt from"):
        link_learned(release, learn_from=0)
    for kind in AGGREGATORS:
        one = pl.DataFrame({"a": [1.5], "b": ["x"]})
        assert link_learned(Release(one, one), aggregator=kind).estimate.value == 1.0
        flat = pl.DataFrame({"a": [1.5] * 6, "b": ["x"] * 6})
        assert link_learned(Release(flat, flat), aggregator=kind).estimate.value == pytest.approx(1 / 6)


def test_row_order_changes_no_risk():
    people = datasets.patients(120, seed=3).drop("patient", "diagnosis", "cost").with_row_index("id")
    moved = parse_masking("chain([noise(0.6), pram(0.4)])").apply(people.drop("id"), 1).insert_column(0, people["id"])
    order = np.random.default_rng(0).permutation(120)
    for kind in ("mean", "choquet"):
        straight = link_learned(Release(people, moved, id="id"), aggregator=kind)
        shuffled = link_learned(Release(people[order], moved[order[::-1]], id="id"), aggregator=kind)
        assert shuffled.estimate.value == pytest.approx(straight.estimate.value, abs=1e-12)


def test_a_stranger_is_at_chance():
    total = 0.0
    for seed in range(8):
        release = Release(datasets.census(60, seed=seed), datasets.census(60, seed=seed + 100))
        total += link_learned(release, aggregator="mean").credit.sum()
    assert total == pytest.approx(8, abs=4 * np.sqrt(8))


def test_evidence():
    evidence = assess_learned(Study(noisy(100)), Context())
    assert evidence.observations[0].key == "learned.rate"
    facts = {fact.name: fact.value for fact in evidence.facts}
    assert facts["rate in-sample"] >= facts["rate of the plain distance"]
    assert evidence.figures[0].series[0].x[0] == "clear"
    assert sum(evidence.figures[0].series[0].y) == pytest.approx(1.0)
    assert not evidence.attributes  # those are changes of the share found, which a weight is not


@pytest.mark.parametrize(("pairs", "small"), [(400, True), (399, False)])
def test_every_form_is_learnt_up_to_so_many_pairs(monkeypatch, pairs, small):
    module, tried = sys.modules[assess_learned.__module__], []

    def learn(study, aggregator, **options):
        tried.extend(aggregator)
        return link_learned(study, aggregator="mean", **options)

    monkeypatch.setattr(module, "MOST_PAIRS", pairs)
    monkeypatch.setattr(module, "link_learned", learn)
    evidence = assess_learned(Study(noisy(20)), Context())
    assert set(tried) == {"mean", "bilinear", *(("choquet",) if small else ())}
    assert any("bilinear form only" in note for note in evidence.notes) != small


def test_interactions_are_shown():
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=(120, 3)), rng.normal(size=120)
    y = x + np.column_stack([noise, noise, 0.1 * rng.normal(size=120)])  # a - b is untouched: only a matrix can tell
    release = Release(*(pl.DataFrame(side, schema=["a", "b", "c"]) for side in (x, y)))
    linkage = link_learned(release, aggregator="bilinear")
    assert linkage.interactions[0][:2] == ("a", "b") and linkage.interactions[0][2] < 0
    figure = assess_learned(Study(release), Context()).figures[-1]
    assert figure.title == "Which attributes give people away together?"
    assert figure.series[0].x[0] == "a and b"


def in_blocks(table, k=10, blocks=4):
    """Microaggregation of one block of attributes after the other."""
    for names in np.array_split(table.columns, blocks):
        table = Microaggregation(k, columns=tuple(names.tolist())).apply(table, 1)
    return table


@pytest.mark.casc
@pytest.mark.parametrize("mask", [lambda table: parse_masking("noise(0.5)").apply(table, 1), in_blocks])
def test_learned_distances_find_no_fewer_on_the_census(mask):
    census = data("census")
    release = Release(census, mask(census))
    usual = link_nearest(release, decision_only=True).estimate.value
    whitened = link_nearest(release, metric="mahalanobis", decision_only=True).estimate.value
    linkage = link_learned(release, aggregator=("mean", "bilinear"), learn_from=300)
    assert linkage.in_sample.value >= max(usual, whitened)


@pytest.mark.parametrize(
    "text", ["noise(0.5)", "noise(1.2)", "rank_swap(share=0.15)", "microaggregation(3)", "rounding(20000)"]
)
@pytest.mark.parametrize("seed", [1, 2])
def test_who_learnt_a_distance_may_still_use_the_plain_one(text, seed):
    people = datasets.census(60, seed=seed)
    release = Release(people, parse_masking(text).apply(people, seed))
    linkage = link_learned(release, aggregator="mean", seed=seed)
    assert linkage.estimate.value >= linkage.plain.value - 1e-12
    assert linkage.estimate.value == pytest.approx(max(linkage.learnt, linkage.plain.value))
    evidence = assess_learned(Study(release), Context())
    told = {fact.name: fact for fact in evidence.facts}
    plain = told["rate of the plain distance"].value
    assert evidence.observations[0].estimate.value == pytest.approx(
        max(told["rate of the learnt distance"].value, plain)
    )
    uses_plain = plain > told["rate of the learnt distance"].value + 1e-12
    assert ("plain distance" in evidence.observations[0].claim) == uses_plain
    assert "at most" not in told["rate in-sample"].meaning
