"""Guessing everybody by votes of the believed: the definition, any metric, copies, row order, chance, tiny files."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numba import config

from graph_files import link_graph
from naive import graph as naive
from unmask.datasets.places import people
from unmask.errors import ParameterError
from unmask.graph import Coordinates, Deviations, NoiseTolerance, Relative, VoteLinkage
from unmask.graph import votes as graph_votes
from unmask.graph.distances import read_place
from unmask.graph.problem import pose
from unmask.graph.seeds import rare, seed_clique
from unmask.graph.sweep import sweep
from unmask.graph.tolerance import window
from unmask.graph.votes import _choose_voters, _narrow, _records, everybody, vote

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="the attack takes minutes in plain Python")


def distances(points, power=2):
    return (np.abs(points[:, None] - points) ** power).sum(axis=2) ** (1 / power)


def noisy(exact, sigma, rng):
    """Distances with noise of their own, as symmetric as they were."""
    noise = np.triu(rng.normal(0, sigma, exact.shape), 1)
    return np.abs(exact + noise + noise.T) * (1 - np.eye(len(exact)))


def table_of(labels):
    return pl.DataFrame({"label": labels})


WINDOWS = [  # a tolerance, and by definition the distances that agree with a target distance
    (Deviations(-0.6, 0.5), lambda d: (d - 0.6, d + 0.5)),
    (Relative(0.15), lambda d: (0.85 * d, 1.15 * d)),
]


def test_votes_equal_their_definition():
    """Noise, strangers, unequal sizes, copies, labels that may differ, two windows; all assignments, in every turn."""
    rng = np.random.default_rng(0)
    seen = {"moved on": 0, "ties": 0, "no partner": 0, "disbelieved": 0, "labels": 0, "neighbours": 0}
    for case in range(300):
        n1, n2 = rng.integers(4, 7, 2)
        points, labels = rng.uniform(0, 10, (8, 2)).round(case % 3), rng.integers(0, 1 + case % 3, 8)
        points[7], labels[7] = points[6], labels[6]
        one, two = (rng.choice(8, n, replace=False) for n in (n1, n2))
        noise = noisy(distances(points), 0.3 * (case % 2), rng)
        noise[7], noise[:, 7] = noise[6], noise[:, 6]
        noise[6:, 6:] = 0
        d1, d2 = noise[np.ix_(one, one)], distances(points[two])
        apart, (tolerance, agrees) = case % 5 // 4, WINDOWS[case % 7 % 2]
        places = [read_place((table_of(labels[rows]), d), ["label"], "file") for rows, d in ((one, d1), (two, d2))]
        problem = pose(*places, window(places[1], tolerance), {"label": apart})
        a, b = d1[np.ix_(problem.order1, problem.order1)], d2[np.ix_(problem.order2, problem.order2)]
        l1, l2 = labels[one][problem.order1], labels[two][problem.order2]
        may = np.abs(l1[:, None] - l2) <= apart
        if not may.any():
            continue
        seed = [tuple(map(int, pair)) for pair in rng.permutation(np.argwhere(may))[: rng.integers(1, 4)]]
        seed = list({v: (v, w) for v, w in {w: (v, w) for v, w in seed}.values()}.values())  # one to one
        guesses, believed, size = naive.votes(((a, l1), (b, l2)), may, seed, agrees)
        found = vote(problem, np.array(sorted(seed)))
        assert set(map(tuple, found.pairs.tolist())) == guesses
        assert len(found.pairs) == len(guesses)
        assert found.n_agree == pytest.approx(size, abs=0.06)  # in tenths
        assert found.believed.tolist() == [list(pair) for pair in believed]
        now = (len(believed) > len(seed), len(guesses) > min(n1, n2), len(guesses) < min(n1, n2),
               len(believed) < len(guesses), not may.all(), apart)  # fmt: skip
        seen = {key: seen[key] + bool(yes) for key, yes in zip(seen, now, strict=True)}
    assert min(seen.values()) > 10, seen


def big_problem(tolerance, n=300, seed=0):
    rng = np.random.default_rng(seed)
    exact, label = distances(rng.uniform(0, 100, (n, 2))), table_of(np.zeros(n, dtype=int))
    masked = noisy(exact, 5.0, rng)
    place = [read_place((label, d), ["label"], "file") for d in (masked, exact)]
    return pose(*place, window(place[1], tolerance), None)


def test_the_better_of_two_beginnings_counts_and_all_the_believed_vote():
    differed = 0
    for seed in range(4):
        problem = big_problem(8.0, 130, seed)
        guesses = [vote(problem, np.column_stack(seed_clique(problem, 4, size))) for size in (10_000, 4_000)]
        assert everybody(problem).n_agree == max(guess.n_agree for guess in guesses)
        differed += guesses[0].n_agree != guesses[1].n_agree
    assert differed
    voters = _choose_voters(_records(problem), np.column_stack([np.arange(130)] * 2))
    assert len(voters.pairs) == 130
    some = _choose_voters(_records(big_problem(8.0, 900)), np.column_stack([np.arange(900)] * 2))
    assert 32 <= len(some.pairs) < 900


def test_cliques_ask_for_closer_agreement_where_everything_would_agree(monkeypatch):
    asked = []
    monkeypatch.setattr(graph_votes, "seed_clique", lambda part, *how: asked.append(part) or seed_clique(part, *how))
    for tolerance in (Deviations(-100, 60), 3.0, Relative(0.9)):
        problem = big_problem(tolerance, 60)
        everybody(problem)
        assert asked.pop().window == asked.pop().window == _narrow(problem)
        narrow, wide = _narrow(problem), problem.window
        median = float(np.median(problem.identification.matrix))
        ends = [(w.low + w.low_slope * median, w.high + w.high_slope * median) for w in (wide, narrow)]
        assert sum(ends[1]) == pytest.approx(sum(ends[0]))  # the middle stays
        width = min(ends[0][1] - ends[0][0], 0.4 * median)
        assert ends[1][1] - ends[1][0] == pytest.approx(width)


def test_everybody_gets_a_partner_of_matching_labels_whatever_it_costs(monkeypatch):
    """One pair that may not match would make all others fit perfectly; as many that may match as there can be count."""
    off = np.full((5, 5), 8.9)
    off[np.arange(1, 5), np.arange(4)] = 0.0
    monkeypatch.setattr(graph_votes, "misfit", lambda *_: off)
    exact, label = distances(np.random.default_rng(0).uniform(0, 9, (5, 2))), table_of(np.arange(5))
    place = read_place((label, exact), ["label"], "file")
    found = vote(pose(place, place, window(place, 1.0), {"label": 1}), np.array([[0, 0]]))
    assert {v for v, _ in found.pairs} == set(range(5))
    assert np.abs(found.pairs[:, 0] - found.pairs[:, 1]).max() == 1


def test_the_most_remote_people_of_one_label_are_the_seeds():
    problem = big_problem(1.0)
    part, kept1, kept2 = rare(problem, 10_000)
    for kept, place, order in (
        (kept1, problem.target, problem.order1),
        (kept2, problem.identification, problem.order2),
    ):
        far = place.matrix.sum(axis=1)[order]
        assert sorted(kept) == sorted(np.argsort(-far)[:100])
    assert part.n_vertices == 10_000


@pytest.mark.parametrize(
    ("power", "dimensions"),
    [(1, 2), (3, 5), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((2, 2), (3, 2), (1, 5), (2, 5)))],
)
def test_noisy_distances_of_any_metric_give_nearly_everybody_away(power, dimensions):
    """The largest clique holds a few dozen however many there are; votes find the others."""
    rng = np.random.default_rng(power)
    points, label = rng.uniform(0, 100, (150, dimensions)), rng.integers(0, 10, 150)
    exact = distances(points, power)
    masked = noisy(exact, 0.1 * np.median(exact), rng)
    tolerance = NoiseTolerance(0.1 * np.median(exact), masking="distances")
    files, truth = ((table_of(label), masked), (table_of(label), exact)), np.column_stack([np.arange(150)] * 2)
    voted = link_graph(*files, labels=["label"], tolerance=tolerance, everybody=True)
    clique = link_graph(*files, labels=["label"], tolerance=tolerance, method="exact", budget=100_000)
    assert voted.method == "votes"
    assert isinstance(voted, VoteLinkage)
    assert voted.is_seed.sum() < len(voted.pairs)
    assert clique.recall(truth) < 0.5
    assert voted.recall(truth) > 0.9
    assert voted.precision(truth) > 0.9
    assert set(map(tuple, voted.sure.pairs.tolist())) < set(map(tuple, voted.pairs.tolist()))


def test_exact_distances_give_away_all_who_are_in_both_files():
    rng = np.random.default_rng(4)
    exact = distances(rng.uniform(0, 100, (90, 2)))
    label = table_of(rng.integers(0, 3, 90))
    one, two = np.arange(60), rng.permutation(np.arange(30, 90))
    found = link_graph(
        (label[one], exact[np.ix_(one, one)]), (label[two], exact[np.ix_(two, two)]), labels=["label"],
        tolerance=0.01, everybody=True,
    )  # fmt: skip
    truth = {(v, w) for v, person in enumerate(one) for w, other in enumerate(two) if person == other}
    assert truth <= set(map(tuple, found.pairs.tolist()))
    assert set(map(tuple, found.sure.pairs.tolist())) <= truth
    assert found.n_agree == 30  # nobody else is believed
    assert len(found.pairs) < 40  # of 30 strangers most agree with nobody


@pytest.mark.parametrize("method", ["seeds", "votes"])
def test_one_label_for_all_begins_with_the_same_people_in_both_files(method):
    """A matrix and places sort people differently: the most remote ones are the same."""
    table = people(250, np.random.default_rng(9)).select("lon", "lat", pl.lit("x").alias("label"))
    where = Coordinates("lon", "lat")
    exact = read_place((table, where), ["label"], "file").block(np.arange(250))
    options = {"labels": ["label"], "tolerance": 0.5, "method": method, "null": None}
    found = link_graph((table, exact), (table, where), **options)
    assert found.recall(np.column_stack([np.arange(250)] * 2)) > 0.9


@pytest.mark.parametrize("step", [0.0, 10.0])
def test_couples_are_never_told_apart(step):
    """30 couples, one label and one address each: nobody finds more than one of two, exactly, in any row order."""
    rng = np.random.default_rng(0)
    points, label = np.repeat(rng.uniform(0, 100, (30, 2)), 2, axis=0), np.repeat(rng.integers(0, 3, 30), 2)
    exact = distances(points)
    masked = np.round(exact / step) * step if step else exact
    for _ in range(3):
        a, b = rng.permutation(60), rng.permutation(60)
        found = link_graph(
            (table_of(label[a]), masked[np.ix_(a, a)]), (table_of(label[b]), exact[np.ix_(b, b)]), labels=["label"],
            tolerance=max(0.1, 0.5 * step), everybody=True, null=None,
        )  # fmt: skip
        truth = np.column_stack([np.arange(60), np.argsort(b)[a]])
        risk = found.exposure(truth)
        assert risk.max() == 0.5
        assert risk.mean() > 0.45
        assert len(found.sure.pairs) == 0


def test_copies_share_the_guesses():
    rng = np.random.default_rng(5)
    points = rng.uniform(0, 100, (40, 2))
    points[37:] = points[36]
    exact, label = distances(points), table_of([*range(36), *[99] * 4])
    found = link_graph((label, exact), (label, exact), labels=["label"], tolerance=0.1, everybody=True, null=None)
    assert found.exposure(np.column_stack([np.arange(40)] * 2)).tolist() == pytest.approx([1.0] * 36 + [0.25] * 4)


def test_row_order_decides_nothing():
    """A grid with rounded distances: as many ties as there can be."""
    rng = np.random.default_rng(6)
    points = np.array([(x, y) for x in range(6) for y in range(5)], dtype=float)
    label = rng.integers(0, 4, 30)
    exact = distances(points)
    masked = noisy(exact, 0.4, rng).round(1)
    options = {"labels": ["label"], "tolerance": 0.7, "everybody": True}
    first = link_graph((table_of(label), masked), (table_of(label), exact), **options)
    for _ in range(5):
        a, b = rng.permutation(30), rng.permutation(30)
        again = link_graph(
            (table_of(label[a]), masked[np.ix_(a, a)]), (table_of(label[b]), exact[np.ix_(b, b)]), **options
        )
        assert {(int(a[v]), int(b[w])) for v, w in again.pairs} == {(int(v), int(w)) for v, w in first.pairs}
        assert again.n_agree == first.n_agree


@pytest.mark.slow
def test_independent_distances_claim_nobody():
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        one, two = (distances(rng.uniform(0, 100, (40, 3))) for _ in range(2))
        label = table_of(rng.integers(0, 5, 40))
        options = {"labels": ["label"], "tolerance": 5.0, "everybody": True, "seed": seed}
        alarms += link_graph((label, one), (label, two), **options).found
    assert alarms <= 4  # of the level 0.05, more in 0.3 % of worlds


@pytest.mark.parametrize("tolerance", [0.0, 1.0, Relative(0.1), Deviations(-1, 2)])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_files_and_one_point_have_an_answer(tolerance, n):
    label, rng = table_of(np.zeros(n, dtype=int)), np.random.default_rng(0)
    for exact in (np.zeros((n, n)), distances(rng.uniform(0, 9, (n, 2)))):
        found = link_graph(
            (label, exact), (label, exact), labels=["label"], tolerance=tolerance, everybody=True, null=None
        )
        assert len(found.pairs) <= n * n
        calibrated = link_graph((label, exact), (label, exact), labels=["label"], tolerance=tolerance, everybody=True)
        assert not calibrated.found  # so few people agree by chance as well


@pytest.mark.slow
def test_the_masking_decides_who_guesses_and_the_owner_sees_the_worst():
    """Noise on distances is undone by votes, noise on places by an overlay: recall of a sweep is the stronger one's."""
    table = people(80, np.random.default_rng(8))
    where, labels = Coordinates("lon", "lat"), ["sex", "age"]
    for masking, best in (("distances", "votes"), ("rounding", "votes"), ("coordinates", "geometric")):
        tolerance = NoiseTolerance(0.1, masking=masking)
        found = link_graph((table, where), (table, where), labels=labels, tolerance=tolerance, everybody=True)
        assert found.method == best
    grid = [("distances", 100.0), ("rounding", 300.0)]
    options = {"labels": labels, "maskings": grid, "repetitions": 2}
    default = sweep(table, where, **options)
    others = [sweep(table, where, **options, **more) for more in
              ({"method": "geometric"}, {"method": "exact"}, {"everybody": False})]  # fmt: skip
    for k in range(2):
        assert default[k].recall > 0.8
        assert all(default[k].recall > points[k].recall for points in others)


def test_a_sweep_knows_which_methods_guess_everybody():
    table, options = people(40, np.random.default_rng(3)), {"labels": ["sex"], "maskings": [("distances", 50.0)]}
    where, options = Coordinates("lon", "lat"), options | {"repetitions": 1}
    votes, picked = (sweep(table, where, method=method, **options) for method in ("votes", "auto"))
    assert votes == picked
    assert sweep(table, where, method="votes", everybody=False, **options) == votes
    seeds = sweep(table, where, method="seeds", **options)
    assert seeds == sweep(table, where, method="seeds", everybody=False, **options) != votes
    with pytest.raises(ParameterError, match="the seeds attack guesses nobody"):
        sweep(table, where, method="seeds", everybody=True, **options)
