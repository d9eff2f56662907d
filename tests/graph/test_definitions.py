"""The options of the graph attack against slow, obvious twins: labels, tolerances, metrics, scores, chance, sweeps."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from numba import config

from graph_files import link_graph
from naive import graph as naive
from unmask.datasets.places import people
from unmask.errors import ParameterError, TableError
from unmask.graph import Coordinates, Deviations, NoiseTolerance, Null, Relative
from unmask.graph.distances import between, read_place
from unmask.graph.sweep import release, sweep, trilaterate
from unmask.graph.tolerance import deviations, place_noise, simulated, window

ROUNDS = 20 if config.DISABLE_JIT else 150
PLANE, LONLAT = Coordinates("x", "y", kind="planar"), Coordinates("lon", "lat")
big = pytest.mark.skipif(config.DISABLE_JIT, reason="hundreds of people take minutes in plain Python")


def within(tolerance):
    return lambda d1, d2: abs(d2 - d1) < tolerance


def crowd(rng, n, labels=3):
    """People on a coarse grid: many at one place, which makes the distances a pseudometric."""
    xy = rng.integers(0, rng.integers(2, 6), size=(n, 2)).astype(float)
    table = pl.DataFrame({"age": rng.integers(0, labels, n), "x": xy[:, 0], "y": xy[:, 1]})
    matrix = np.array([[naive.plane(a, b) for b in xy] for a in xy])
    return table, matrix


def two_crowds(rng, most=8, labels=3):
    return crowd(rng, rng.integers(1, most), labels), crowd(rng, rng.integers(1, most), labels)


def pairs_of(linkage):
    return {(int(a), int(b)) for a, b in linkage.pairs}


def test_labels_may_differ_by_their_distance():
    rng = np.random.default_rng(1)
    for _ in range(ROUNDS):
        (one, d1), (two, d2) = two_crowds(rng, most=7, labels=6)
        one, two = (t.with_columns(sex=pl.Series(rng.choice(["f", "m"], t.height))) for t in (one, two))
        one = one.with_columns(age=pl.when(pl.Series(rng.random(one.height) < 0.2)).then(None).otherwise("age"))
        apart = float(rng.choice([0.0, 1.0, 1.5, 3.0]))

        def may(a, b, apart=apart):
            same_age = (a[0] is None and b[0] is None) or (None not in (a[0], b[0]) and abs(a[0] - b[0]) <= apart)
            return same_age and a[1] == b[1]

        labels1, labels2 = (t.select("age", "sex").rows() for t in (one, two))
        size, _, union = naive.attack(d1, d2, labels1, labels2, within(0.6), may)
        ours = link_graph(
            (one, d1), (two, d2), labels=["age", "sex"], tolerance=0.6, label_distance={"age": apart}, null=None
        )
        assert (ours.clique_size, pairs_of(ours)) == (size, union)


@pytest.mark.parametrize("wrong", [{"sex": 1.0}, {"age": -1.0}, {"age": float("nan")}])
def test_a_label_distance_is_a_number_of_a_numeric_label(wrong):
    table, d = pl.DataFrame({"age": [1, 2], "sex": ["f", "m"]}), np.zeros((2, 2))
    with pytest.raises(ParameterError, match="label distance"):
        link_graph((table, d), (table, d), labels=["age", "sex"], tolerance=1, label_distance=wrong)


@pytest.mark.parametrize("gamma", [0.3, 0.6, 0.75, 1.0])
def test_quasi_cliques_equal_their_definition(gamma):
    """On copies of a crowd, a third of whose distances were changed."""
    rng = np.random.default_rng(2)
    more = 0
    for _ in range(ROUNDS):
        (two, d2), off = crowd(rng, 8, 5), np.triu(rng.choice([0.0, 0.0, 1.0], size=(8, 8)), 1)
        one, d1 = two, d2 + off + off.T
        labels1, labels2 = one["age"].to_list(), two["age"].to_list()
        vertices, _ = naive.product_graph(d1, d2, labels1, labels2, within(0.7))
        _, _, union = naive.attack(d1, d2, labels1, labels2, within(0.7))
        ours = link_graph((one, d1), (two, d2), labels=["age"], tolerance=0.7, gamma=gamma, null=None)
        assert pairs_of(ours) == naive.quasi_clique(d1, d2, vertices, union, within(0.7), gamma)
        more += len(ours.pairs) > len(union)
    assert more > 0 or gamma == 1.0


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.5])
def test_a_relative_tolerance_is_a_share_of_the_targets_distance(share):
    rng = np.random.default_rng(3)
    for _ in range(ROUNDS):
        (one, d1), (two, d2) = two_crowds(rng)
        size, _, union = naive.attack(
            d1, d2, one["age"].to_list(), two["age"].to_list(), lambda a, b: abs(b - a) <= share * a + 1e-12
        )
        ours = link_graph((one, d1), (two, d2), labels=["age"], tolerance=Relative(share), null=None)
        assert (ours.clique_size, pairs_of(ours)) == (size, union)


def test_a_relative_tolerance_of_nothing_forgives_the_last_bit():
    """Two programs rarely agree to the last bit, also on people at one place."""
    table, _ = crowd(np.random.default_rng(4), 12)
    d = between(*[table.select("x", "y").to_numpy() * 1.1] * 2, "planar")
    noise = np.random.default_rng(0).uniform(0, 1e-13, d.shape)
    np.fill_diagonal(noise, 0.0)
    options = {"labels": ["age"], "null": None, "tolerance": Relative(0.0)}
    exact = link_graph((table, d), (table, d), **options)
    assert pairs_of(link_graph((table, d + noise + noise.T), (table, d), **options)) == pairs_of(exact)


def test_every_way_to_give_distances_is_the_same_attack():
    rng = np.random.default_rng(5)
    for _ in range(ROUNDS // 3):
        (one, d1), (two, d2) = two_crowds(rng)
        names = [f"d{i}" for i in range(one.height)]
        wide = one.with_columns(pl.Series(name, d1[:, i]) for i, name in enumerate(names))
        _, _, union = naive.attack(d1, d2, one["age"].to_list(), two["age"].to_list(), within(0.6))
        for target in ((one, d1), (one, PLANE), (wide, names), (one, naive.plane), (one, d1.tolist())):
            for identification in ((two, d2), (two, PLANE), (two, naive.plane)):
                ours = link_graph(target, identification, labels=["age"], tolerance=0.6, null=None)
                assert pairs_of(ours) == union


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        (lambda a, b: max(0.0, float((a - b).sum())), "not symmetric"),
        (lambda a, b: 1.0 + naive.plane(a, b), "diagonal"),
        (lambda a, b: -naive.plane(a, b), "negative"),
        (lambda a, b: np.nan, "missing or infinite"),
        (lambda a, b: "far", "not numbers"),
    ],
)
def test_a_function_that_is_no_metric_is_refused(metric, says):
    table, _ = crowd(np.random.default_rng(6), 9)
    with pytest.raises(TableError, match=says):
        link_graph((table, metric), (table, PLANE), labels=["age"], tolerance=1)


def test_a_function_of_nothing_is_refused():
    table = pl.DataFrame({"age": [1, 2], "name": ["a", "b"]})
    with pytest.raises(TableError, match="no column of numbers"):
        link_graph((table, naive.plane), (table, naive.plane), labels=["age"], tolerance=1)


def file_of(kind, rng, n=150):
    """A file in the plane or on the globe; returns it, its places, its distances and the slow distance."""
    if kind == "lonlat":
        table, where, far = people(n, rng), LONLAT, naive.sphere
    else:
        xy = rng.uniform(0, 50, size=(n, 2))
        table, where, far = pl.DataFrame({"x": xy[:, 0], "y": xy[:, 1]}), PLANE, naive.plane
    points = table.select(where.x, where.y).to_numpy()
    return table, where, points, far


MASKED = [
    *((masking, kind, sigma) for masking in ("coordinates", "donut", "aggregation")
      for kind, sigma in (("lonlat", 0.3), ("planar", 2.0))),
    ("distances", "planar", 1.5), ("distances", "lonlat", 30.0), ("distances", "matrix", 1.5),
    ("rounding", "planar", 4.0), ("rounding", "lonlat", 30.0), ("rounding", "matrix", 4.0),
]  # fmt: skip


@pytest.mark.parametrize(("masking", "kind", "sigma"), MASKED)
def test_a_noise_tolerance_is_the_quantiles_of_an_own_simulation(masking, kind, sigma):
    """Slow maskings of every pair of the file, one at a time; the ends agree within what 20,000 draws allow."""
    rng = np.random.default_rng(7)
    table, where, points, far = file_of("planar" if kind == "matrix" else kind, rng)
    moved = []
    for i, j in combinations(range(len(points)), 2):
        true = far(points[i], points[j])
        if masking == "rounding":
            other = sigma * np.floor(true / sigma + 0.5)
        elif masking == "distances":
            other = max(0.0, true + sigma * rng.standard_normal())
        else:
            other = far(*naive.masked(points[[i, j]], sigma, masking, kind, rng))
        moved.append(true - other)
    given = (table, between(points, points, "planar")) if kind == "matrix" else (table, where)
    for alpha in (0.5, 0.9):
        ends = window(read_place(given, [], "identification"), NoiseTolerance(sigma, alpha, masking=masking))
        expected = np.quantile(moved, [(1 - alpha) / 2, (1 + alpha) / 2])
        assert [ends.low, ends.high] == pytest.approx(expected, abs=0.08 * np.std(moved))
        assert (ends.low_slope, ends.high_slope) == (1.0, 1.0)


def test_a_noise_tolerance_does_not_depend_on_the_row_order():
    table, where, points, _ = file_of("lonlat", np.random.default_rng(8))
    turned = np.random.default_rng(9).permutation(table.height)
    for given, shuffled, masking in (
        ((table, where), (table[turned], where), "coordinates"),
        ((table, between(points, points, "lonlat")),
         (table[turned], between(points[turned], points[turned], "lonlat")), "distances"),
    ):  # fmt: skip
        ends = [
            window(read_place(file, [], "identification"), NoiseTolerance(0.1, masking=masking))
            for file in (given, shuffled)
        ]
        assert tuple(ends[0]) == pytest.approx(tuple(ends[1]), rel=1e-9)


def test_who_follows_from_the_known_equals_the_definition():
    rng = np.random.default_rng(10)
    found = 0
    for _ in range(ROUNDS):
        (one, d1), (two, d2) = two_crowds(rng, most=14)
        k = int(rng.integers(1, min(len(d1), len(d2), 3) + 1))
        known = np.column_stack([rng.permutation(len(d1))[:k], rng.permutation(len(d2))[:k]])
        expected = naive.followers(d1, d2, one["age"].to_list(), two["age"].to_list(), within(0.7), known)
        ours = trilaterate((one, d1), (two, PLANE), known, labels=["age"], tolerance=0.7)
        assert ours.n_candidates.tolist() == [len(those) for those in expected]
        assert ours.only.tolist() == [min(those) if len(those) == 1 else -1 for those in expected]
        truth = np.column_stack([np.arange(min(len(d1), len(d2)))] * 2)
        assert ours.hits(truth) == sum(those == {v} for v, those in enumerate(expected))
        found += ours.hits(truth)
    assert found > 0


def test_the_known_are_rows_of_both_files():
    (one, d1), (two, d2) = crowd(np.random.default_rng(0), 5), crowd(np.random.default_rng(1), 4)
    for known in ([(0, 4)], [(5, 0)], [(-1, 0)]):
        with pytest.raises(ParameterError, match="no such row"):
            trilaterate((one, d1), (two, d2), np.array(known), labels=["age"], tolerance=1)


def test_precision_recall_and_exposure_by_counting():
    rng = np.random.default_rng(11)
    tied = 0
    for _ in range(ROUNDS):
        (one, d1), (two, d2) = two_crowds(rng)
        n = min(len(d1), len(d2))
        truth = np.column_stack([rng.permutation(len(d1))[:n], rng.permutation(len(d2))[:n]])
        linkage = link_graph((one, d1), (two, d2), labels=["age"], tolerance=0.7, null=None)
        if not linkage.found:
            continue
        precision, recall, risk = naive.score(pairs_of(linkage), map(tuple, truth.tolist()), len(d2))
        assert (linkage.precision(truth), linkage.recall(truth)) == (precision, recall)
        assert linkage.exposure(truth).tolist() == risk
        tied += 0 < max(risk) < 1
    assert tied > 0


def test_the_p_value_counts_null_files_by_definition():
    """Chance files are drawn here and searched by the slow clique; the product may stop once the level is out."""
    rng = np.random.default_rng(12)
    seen = set()
    for seed in range(ROUNDS // 3):
        one, d1 = crowd(rng, 9)
        two, d2 = (one, d1) if seed % 3 == 0 else crowd(rng, 9)
        drawn = []

        def stranger(_rng, drawn=drawn):
            drawn.append(crowd(rng, 9))
            return drawn[-1]

        options = {"labels": ["age"], "tolerance": 0.7, "method": "exact", "seed": seed}
        found = link_graph((one, d1), (two, d2), **options, null=Null(19, 0.1, independent=stranger))
        sizes = [naive.attack(d1, d, one["age"].to_list(), t["age"].to_list(), within(0.7))[0] for t, d in drawn]
        reached = sum(size >= found.clique_size for size in sizes)
        assert found.null.p_value == (1 + reached) / (1 + len(sizes))
        assert len(sizes) == 19 or reached == 2  # three of twenty would be above the level
        assert sum(size >= found.clique_size for size in sizes[:-1]) < 2
        assert found.found == (found.null.p_value <= 0.1)
        assert found.null.n_reached == reached
        seen.add(found.found)
    assert seen == {True, False}


@big
@pytest.mark.parametrize(("masking", "sigma"), [("rounding", 40.0), ("aggregation", 0.6)])
def test_the_utility_of_a_sweep_is_the_variance_of_the_change(masking, sigma):
    """Maskings without chance, everybody in both files: variance by definition, recall and precision by the attack.

    Distances are the product's, bit for bit: the window's ends are distances of the file, and do not agree themselves.
    """
    table = people(25, np.random.default_rng(13))
    points = table.select("lon", "lat").to_numpy()
    other = naive.masked(points, sigma, masking, "lonlat", None) if masking == "aggregation" else points
    true, masked = between(points, points, "lonlat"), between(other, other, "lonlat")
    if masking == "rounding":
        masked = np.floor(masked / sigma + 0.5) * sigma
    change = [true[i, j] - masked[i, j] for i, j in combinations(range(25), 2)]
    utility = sum(x * x for x in change) / len(change) - (sum(change) / len(change)) ** 2
    options = {"labels": ["sex", "age"], "repetitions": 2, "method": "exact"}
    point = sweep(table, LONLAT, maskings=[(masking, sigma)], **options)[0]
    assert point.variance == pytest.approx(utility, rel=1e-6)
    ends = window(read_place((table, LONLAT), [], "i"), NoiseTolerance(sigma, 0.9, masking=masking))
    rows = table.select("sex", "age").rows()
    _, _, union = naive.attack(masked, true, rows, rows, lambda a, b: ends.low < b - a < ends.high)
    precision, recall, risk = naive.score(union, {(i, i) for i in range(25)}, 25)
    assert (point.precision, point.recall, point.exposed) == pytest.approx((precision, recall, max(risk)))
    assert (point.n_claims, point.n_silent) == (len(union), 0)


@pytest.mark.parametrize("masking", ["coordinates", "donut", "aggregation", "distances", "rounding"])
def test_what_a_sweep_releases_is_symmetric_and_moved_as_said(masking):
    table, where, points, far = file_of("planar", np.random.default_rng(14), 60)
    place = read_place((table, where), [], "original")
    rows = np.random.default_rng(15).permutation(60)[:40]
    d = release(place, rows, masking, 3.0, np.random.default_rng(16))
    true = np.array([[far(points[i], points[j]) for j in rows] for i in rows])
    assert (d == d.T).all()
    assert (np.diagonal(d) == 0).all()
    assert (d >= 0).all()
    moved = np.abs(d - true)[np.triu_indices(40, 1)]
    most = {"rounding": 1.5, "donut": 6.0, "aggregation": 3.0 * np.sqrt(2)}.get(masking, 25.0)
    assert moved.mean() > 0
    assert moved.max() <= most + 1e-9
    assert release(place, rows, masking, 0.0, np.random.default_rng(17)) == pytest.approx(true)


def test_deviations_are_identification_minus_target():
    one = pl.DataFrame({"k": ["a", "b"]})
    d1, d2 = (np.array([[0.0, far], [far, 0.0]]) for far in (10.0, 12.0))
    for low, high, size in ((1.0, 3.0, 2), (-3.0, -1.0, 1), (2.0, 3.0, 1), (1.0, 2.0, 1)):
        found = link_graph((one, d1), (one, d2), labels=["k"], tolerance=Deviations(low, high), null=None)
        assert found.clique_size == size


def test_a_tolerance_below_rounding_is_a_tolerance_of_nothing():
    one = pl.DataFrame({"k": ["a", "b", "c"]})
    d1 = np.array([[0.0, 10.0, 7.0], [10.0, 0.0, 5.0], [7.0, 5.0, 0.0]])
    for off, size in ((1e-9, 3), (1e-6, 2)):  # a billionth of the largest distance, and far more
        d2 = d1.copy()
        d2[0, 1] = d2[1, 0] = 10.0 + off
        for tolerance in (0.0, 1e-12):
            assert link_graph((one, d1), (one, d2), labels=["k"], tolerance=tolerance, null=None).clique_size == size


def test_nobody_is_drawn_as_a_pair_with_himself():
    """Of two people who are 10 apart there is one distance, and rounding to fours makes it 8."""
    table = pl.DataFrame({"x": [0.0, 10.0], "y": [0.0, 0.0]})
    place = read_place((table, PLANE), [], "identification")
    assert deviations(place, NoiseTolerance(4.0, masking="rounding", draws=50)).tolist() == [2.0] * 50


def test_the_noise_of_a_place_explains_the_deviations_of_distances():
    """Both ends of a distance were moved along it; of normal deviations 90 % lie within 1.645 of theirs."""
    rng = np.random.default_rng(18)
    xy = rng.uniform(0, 1000, size=(400, 2))
    place = read_place((pl.DataFrame({"x": xy[:, 0], "y": xy[:, 1]}), PLANE), [], "identification")
    moved = xy + rng.normal(0, 3.0, size=xy.shape)
    true, masked = (between(p, p, "planar")[np.triu_indices(400, 1)] for p in (xy, moved))
    end = float(np.quantile(np.abs(true - masked), 0.9))
    share = end / float(np.median(true))
    for tolerance in (NoiseTolerance(3.0), end, Deviations(-end, end), Relative(share)):
        agreed, drawn = window(place, tolerance), simulated(place, tolerance)
        assert place_noise(place, tolerance, agreed, drawn) == pytest.approx(3.0, rel=0.05)
