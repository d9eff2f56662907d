"""The graph attack: the paper's examples, the definition on a thousand small files, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numba import config

import unmask
from graph_files import link_graph
from naive import graph as naive
from unmask.datasets.places import people
from unmask.errors import ParameterError, TableError
from unmask.graph import (
    CliqueLinkage,
    Coordinates,
    Deviations,
    MapLinkage,
    NoiseTolerance,
    Null,
    Relative,
)
from unmask.graph.distances import between
from unmask.graph.sweep import sweep, trilaterate

ROUNDS = 60 if config.DISABLE_JIT else 1000
LONLAT = Coordinates("lon", "lat")
big = pytest.mark.skipif(config.DISABLE_JIT, reason="hundreds of people take minutes in plain Python")
D1 = """0 1261 729 886 0 593 864 1341 886 886; 1261 0 1424 1034 1261 1369 1093 1307 1034 1034;
729 1424 0 479 729 137 414 762 479 479; 886 1034 479 0 886 507 67 469 0 0; 0 1261 729 886 0 593 864 1341 886 886;
593 1369 137 507 593 0 449 856 507 507; 864 1093 414 67 864 449 0 478 67 67; 1341 1307 762 469 1341 856 478 0 469 469;
886 1034 479 0 886 507 67 469 0 0; 886 1034 479 0 886 507 67 469 0 0"""
D2 = """0 1260 731 887 1666 894 999 291 1290 1791; 1260 0 1423 1033 1446 1427 1055 1457 30 2574;
731 1423 0 479 1091 183 551 983 1447 1188; 887 1033 479 0 782 412 112 1177 1052 1546;
1666 1446 1091 782 0 919 671 1956 1450 1633; 894 1427 183 412 919 0 450 1156 1448 1149;
999 1055 551 112 671 450 0 1290 1071 1548; 291 1457 983 1177 1956 1156 1290 0 1487 1942;
1290 30 1447 1052 1450 1448 1071 1487 0 2595; 1791 2574 1188 1546 1633 1149 1548 1942 2595 0"""
POETS = [(14, "italian"), (16, "spanish"), (18, "german"), (17, "french"), (13, "italian"), (18, "german"),
         (17, "french"), (16, "english"), (20, "french"), (20, "french")]  # fmt: skip
NAMED = [(14, "italian"), (16, "spanish"), (18, "german"), (17, "french"), (19, "english"), (18, "german"),
         (17, "french"), (-1, "latin"), (16, "spanish"), (19, "swedish")]  # fmt: skip


def matrix(text):
    return np.array([[float(x) for x in row.split()] for row in text.split(";")])


def frame(rows):
    return pl.DataFrame(rows, schema=["cob", "language"], orient="row")


def poets():
    return (frame(POETS), matrix(D1)), (frame(NAMED), matrix(D2))


def simulated(n1, n2, common, sigma, seed=0):
    """Target with noise on its coordinates, identification, and who is who."""
    rng = np.random.default_rng(seed)
    everyone = people(n1 + n2 - common, rng)
    noise = rng.normal(0, sigma, size=(2, n1))
    target = everyone[:n1].with_columns(lon=pl.col("lon") + noise[0], lat=pl.col("lat") + noise[1])
    truth = np.column_stack([np.arange(n1 - common, n1), np.arange(common)])
    return target, everyone[n1 - common :], truth


def pairs_of(linkage):
    return {(int(a), int(b)) for a, b in linkage.pairs}


def test_example_2_distances():
    towns = np.array([(-0.1198244, 51.51121), (2.3522219, 48.85661), (-3.7037902, 40.41678), (13.4049540, 52.52001)])
    paper = np.array(
        [[0, 343.6, 1264.0, 930.9], [343.6, 0, 1052.9, 877.5], [1264.0, 1052.9, 0, 1869.1], [930.9, 877.5, 1869.1, 0]]
    )
    ours = between(towns, towns, "lonlat")
    assert np.abs(ours - paper).max() < 0.06
    assert ours[0, 3] == pytest.approx(naive.sphere(towns[0], towns[3]))


def test_example_9_one_record_never_matches_two():
    target = pl.DataFrame({"k": ["a"]}), np.zeros((1, 1))
    identification = pl.DataFrame({"k": ["a", "a"]}), np.array([[0.0, 0.5], [0.5, 0.0]])
    linkage = link_graph(target, identification, labels=["k"], tolerance=1.0, null=None)
    assert linkage.clique_size == 1
    assert pairs_of(linkage) == {(0, 0), (0, 1)}  # the union of two maximum cliques of one vertex each
    assert linkage.n_cliques == 2
    assert linkage.ties == 1


def test_example_10_the_poets():
    table2 = [(1, 1), (2, 2), (3, 3), (6, 3), (4, 4), (7, 4), (3, 6), (6, 6), (4, 7), (7, 7), (2, 9)]
    vertices, _ = naive.product_graph(matrix(D1), matrix(D2), POETS, NAMED, lambda d1, d2: abs(d2 - d1) < 5)
    assert {(v + 1, w + 1) for v, w in vertices} == set(table2)
    linkage = link_graph(*poets(), labels=["cob", "language"], tolerance=5, null=None)
    assert {table2.index((a + 1, b + 1)) + 1 for a, b in pairs_of(linkage)} == {1, 2, 3, 5}
    assert (linkage.clique_size, linkage.n_cliques, linkage.exact) == (4, 1, True)
    assert "11 pairs" in linkage.why
    truth = np.array([(0, 0), (1, 1), (2, 2), (3, 3)])
    assert (linkage.precision(truth), linkage.recall(truth)) == (1.0, 1.0)
    assert linkage.exposure(truth).tolist() == [1.0] * 4 + [0.0] * 6


def test_equals_definition_with_duplicates_at_one_place():
    rng = np.random.default_rng(5)
    for _ in range(ROUNDS):
        n1, n2 = rng.integers(1, 9, size=2)
        points = rng.integers(0, rng.integers(1, 6), size=(n1 + n2, 2)).astype(float)
        labels = rng.integers(0, rng.integers(2, 4), size=n1 + n2)
        d = between(points, points, "planar")
        d1, d2, tolerance = d[:n1, :n1], d[n1:, n1:], float(rng.choice([0.0, 0.5, 1.0, 1.3]))
        size, count, union = naive.attack(
            d1, d2, labels[:n1], labels[n1:], lambda a, b, t=tolerance: abs(b - a) < t or (t == 0 and abs(b - a) < 1e-6)
        )
        ours = link_graph(
            (pl.DataFrame({"k": labels[:n1]}), d1), (pl.DataFrame({"k": labels[n1:]}), d2),
            labels=["k"], tolerance=tolerance, null=None,
        )  # fmt: skip
        assert pairs_of(ours) == union
        assert ours.clique_size == size
        assert ours.exact
        assert ours.n_cliques <= max(count, 1)


def test_equals_igraph():
    igraph = pytest.importorskip("igraph")
    rng = np.random.default_rng(6)
    for _ in range(ROUNDS):
        n1, n2 = rng.integers(1, 14, size=2)
        points = rng.integers(0, rng.integers(1, 9), size=(n1 + n2, 2)).astype(float)  # many at one place
        labels = rng.integers(0, 3, size=n1 + n2)
        d = between(points, points, "planar")
        d1, d2 = d[:n1, :n1], d[n1:, n1:]
        vertices, edges = naive.product_graph(d1, d2, labels[:n1], labels[n1:], lambda a, b: -0.7 < b - a < 1.1)
        graph = igraph.Graph(n=len(vertices), edges=sorted(edges))
        union = {vertices[u] for clique in graph.largest_cliques() for u in clique} if vertices else set()
        ours = link_graph(
            (pl.DataFrame({"k": labels[:n1]}), d1), (pl.DataFrame({"k": labels[n1:]}), d2),
            labels=["k"], tolerance=Deviations(-0.7, 1.1), null=None,
        )  # fmt: skip
        assert pairs_of(ours) == union


@big
def test_row_order_changes_nothing():
    target, identification, _ = simulated(60, 50, 15, 0.02)
    options = {"labels": ["sex", "age"], "tolerance": NoiseTolerance(0.02, 0.9), "seed": 3}
    before = link_graph((target, LONLAT), (identification, LONLAT), **options)
    rng = np.random.default_rng(0)
    p, q = rng.permutation(60), rng.permutation(50)
    after = link_graph(
        (target[p], LONLAT), (identification[q], LONLAT), **{**options, "tolerance": NoiseTolerance(0.02, 0.9)}
    )
    assert before.null.sizes == after.null.sizes
    assert {(int(p[a]), int(q[b])) for a, b in after.pairs} == pairs_of(before)


@big
def test_identical_files_are_found_and_independent_ones_are_not():
    target, identification, truth = simulated(80, 80, 80, 0.0)
    linkage = link_graph(
        (target, LONLAT), (identification, LONLAT), labels=["sex", "age"], tolerance=NoiseTolerance(0.0)
    )
    assert linkage.recall(truth) == 1.0
    assert linkage.null.p_value == pytest.approx(0.05)
    target, identification, _ = simulated(80, 80, 0, 0.02)
    linkage = link_graph(
        (target, LONLAT), (identification, LONLAT), labels=["sex", "age"], tolerance=NoiseTolerance(0.02)
    )
    assert not linkage.found
    assert linkage.why.startswith("nothing found")
    assert linkage.clique_size > 0


@big
@pytest.mark.parametrize("labels", [["sex"], []])
@pytest.mark.parametrize("given", ["places", "matrix"])
def test_few_labels_or_none_are_calibrated(labels, given):
    """Dealing places to other people changes nothing when all have one label: common people are found all the same."""
    for common, found in ((40, True), (0, False)):
        target, identification, truth = simulated(40, 40, common, 0.0, seed=12)
        files = [(target, LONLAT), (identification, LONLAT)]
        if given == "matrix":
            points = [table.select("lon", "lat").to_numpy() for table, _ in files]
            files = [(t, between(p, p, "lonlat")) for (t, _), p in zip(files, points, strict=True)]
        linkage = link_graph(*files, labels=labels, tolerance=1.0)
        assert linkage.found == found, linkage.why
        if found:
            assert linkage.recall(truth) > 0.9


@big
def test_independent_files_can_be_the_null():
    target, identification, truth = simulated(80, 80, 30, 0.02, seed=9)

    def strangers(rng):
        return people(80, rng), LONLAT

    options = {"labels": ["sex", "age"], "tolerance": NoiseTolerance(0.02), "null": Null(independent=strangers)}
    linkage = link_graph((target, LONLAT), (identification, LONLAT), **options)
    assert linkage.precision(truth) > 0.8
    assert len(linkage.null.sizes) == 19


@big
def test_quasi_cliques_find_more():
    target, identification, truth = simulated(100, 100, 40, 0.03)
    files = (target, LONLAT), (identification, LONLAT)
    options = {"labels": ["sex", "age"], "tolerance": NoiseTolerance(0.03, 0.7), "null": None}
    clique, quasi = link_graph(*files, **options), link_graph(*files, **options, gamma=0.6)
    assert pairs_of(clique) <= pairs_of(quasi)
    assert quasi.recall(truth) > clique.recall(truth) + 0.1


def test_similar_labels_may_match():
    d = between(np.random.default_rng(0).normal(size=(8, 2)), np.zeros((8, 2)), "planar")
    d = np.abs(d[:, :1] - d[:, :1].T)
    one, two = pl.DataFrame({"age": np.arange(8)}), pl.DataFrame({"age": np.arange(8) + 1.0})
    strict = link_graph((one, d), (two, d), labels=["age"], tolerance=0, null=None)
    loose = link_graph((one, d), (two, d), labels=["age"], tolerance=0, null=None, label_distance={"age": 1.0})
    assert strict.clique_size < 8
    assert {(i, i) for i in range(8)} <= pairs_of(loose)


def test_without_labels_distances_alone_must_do():
    target, identification, truth = simulated(30, 30, 15, 0.0)
    linkage = link_graph((target, LONLAT), (identification, LONLAT), labels=[], tolerance=0.01, null=None)
    assert linkage.recall(truth) == 1.0


def test_missing_labels_equal_missing_labels():
    d = np.array([[0.0, 3.0], [3.0, 0.0]])
    table = pl.DataFrame({"k": ["a", None]})
    assert pairs_of(link_graph((table, d), (table, d), labels=["k"], tolerance=1, null=None)) == {(0, 0), (1, 1)}


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet"])
def test_distances_from_files(tmp_path, suffix):
    path = tmp_path / f"d{suffix}"
    d = matrix(D1)
    if suffix == ".npy":
        np.save(path, d)
    elif suffix == ".csv":
        np.savetxt(path, d, delimiter=",")
    else:
        pl.DataFrame(d).write_parquet(path)
    (table, _), other = poets()
    assert link_graph((table, path), other, labels=["cob", "language"], tolerance=5, null=None).clique_size == 4


def test_distances_from_columns_a_metric_and_other_frames():
    (table, d), other = poets()
    wide = table.with_columns(**{f"d{i}": d[i] for i in range(10)})
    names = [f"d{i}" for i in range(10)]
    options = {"labels": ["cob", "language"], "tolerance": 5, "null": None}
    assert link_graph((wide, names), other, **options).clique_size == 4
    assert link_graph((table.to_pandas(), d), (other[0].to_arrow(), other[1]), **options).clique_size == 4
    points = pl.DataFrame({"k": ["a"] * 5, "x": [0.0, 1, 4, 9, 16], "y": [0.0] * 5})
    metric = (points, lambda a, b: abs(a - b).sum())
    planar = (points, Coordinates("x", "y", kind="planar"))
    assert pairs_of(link_graph(metric, planar, labels=["k"], tolerance=0, null=None)) >= {(i, i) for i in range(5)}


def spoiled(change):
    d = matrix(D1)
    change(d)
    return d


@pytest.mark.parametrize(
    ("d", "message"),
    [
        (spoiled(lambda d: d.__setitem__((0, 1), 5.0)), "not symmetric"),
        (spoiled(lambda d: d.__setitem__(([0, 1], [1, 0]), -5.0)), "negative"),
        (spoiled(lambda d: d.__setitem__(([0, 1], [1, 0]), np.nan)), "missing or infinite"),
        (spoiled(lambda d: d.__setitem__((3, 3), 9.0)), "diagonal"),
        (matrix(D1)[:9, :9], "do not fit"),
        (matrix(D1)[:9], "do not fit"),
        (np.array([["a"] * 10] * 10), "not numbers"),
        (Path("nowhere.npy"), "cannot read"),
        (Path("nowhere.xls"), "unknown type"),
        (Coordinates("x", "language"), "no such column"),
    ],
)
def test_what_is_not_a_distance_is_refused(d, message):
    (table, _), other = poets()
    with pytest.raises(TableError, match=message):
        link_graph((table, d), other, labels=["cob", "language"], tolerance=5)


@pytest.mark.parametrize(
    "options",
    [
        {"tolerance": -1.0}, {"tolerance": float("nan")}, {"tolerance": "5"}, {"tolerance": Relative(-0.1)},
        {"tolerance": Deviations(2, 1)}, {"tolerance": NoiseTolerance(-0.1)}, {"tolerance": NoiseTolerance(0.1, 1.5)},
        {"tolerance": NoiseTolerance(0.1)}, {"tolerance": 5, "method": "magic"}, {"tolerance": 5, "gamma": 0.0},
        {"tolerance": 5, "gamma": 0.7, "method": "seeds"},
        {"tolerance": 5, "method": "geometric"}, {"tolerance": 5, "label_distance": {"nobody": 1.0}},
    ],
)  # fmt: skip
def test_what_is_not_an_option_is_refused(options):
    with pytest.raises(ParameterError):
        link_graph(*poets(), labels=["cob", "language"], **options)
    with pytest.raises(ParameterError):
        Null(draws=3, level=0.05)


def test_degenerate_files_are_answered():
    one = pl.DataFrame({"k": ["a"]}), np.zeros((1, 1))
    linkage = link_graph(one, one, labels=["k"], tolerance=0)
    assert not linkage.found
    assert linkage.null.p_value > 0.05
    other = pl.DataFrame({"k": ["b"]}), np.zeros((1, 1))
    linkage = link_graph(one, other, labels=["k"], tolerance=0)
    assert (linkage.clique_size, linkage.found) == (0, False)
    assert "nothing found" in linkage.why
    assert np.isnan(linkage.precision(np.array([[0, 0]])))


def test_everybody_at_one_point_cannot_be_told_apart():
    labels = np.repeat(["a", "b", "c"], [9, 4, 7])
    crowd = pl.DataFrame({"k": labels}), np.zeros((20, 20))
    few = pl.DataFrame({"k": labels[2:]}), np.zeros((18, 18))
    linkage = link_graph(crowd, few, labels=["k"], tolerance=0, null=None)
    assert linkage.clique_size == 7 + 4 + 7
    assert linkage.exact
    assert linkage.n_cliques > 1
    assert len(linkage.pairs) == 9 * 7 + 4 * 4 + 7 * 7
    assert link_graph(crowd, few, labels=["k"], tolerance=0).found is False


@big
@pytest.mark.parametrize("method", ["exact", "seeds", "geometric"])
def test_every_method_finds_the_same_people(method):
    target, identification, truth = simulated(120, 120, 60, 0.01, seed=1)
    points = target.select("lon", "lat").to_numpy()
    linkage = link_graph(
        (target, between(points, points, "lonlat")), (identification, LONLAT),
        labels=["sex", "age"], tolerance=NoiseTolerance(0.01), method=method, null=None,
    )  # fmt: skip
    assert linkage.method == method
    assert linkage.precision(truth) > 0.9
    assert linkage.recall(truth) > 0.5
    assert isinstance(linkage, MapLinkage if method == "geometric" else CliqueLinkage)
    assert getattr(linkage, "exact", False) == (method == "exact")


@big
@pytest.mark.parametrize("method", ["seeds", "geometric"])
def test_other_methods_find_nothing_where_nobody_is_common(method):
    target, identification, _ = simulated(120, 120, 0, 0.02, seed=2)
    linkage = link_graph(
        (target, LONLAT), (identification, LONLAT), labels=["sex", "age"], tolerance=NoiseTolerance(0.02), method=method
    )
    assert not linkage.found


@big
def test_geometry_works_in_the_plane_and_mirrored():
    rng = np.random.default_rng(8)
    xy = rng.uniform(0, 100, size=(150, 2))
    k = rng.integers(0, 6, size=150)
    turned = xy[:100] @ np.array([[0.0, 1.0], [1.0, 0.0]]) + rng.normal(0, 0.3, size=(100, 2))  # mirrored
    d = between(turned, turned, "planar")
    identification = pl.DataFrame({"k": k, "x": xy[:, 0], "y": xy[:, 1]})[50:]
    linkage = link_graph(
        (pl.DataFrame({"k": k[:100]}), d), (identification, Coordinates("x", "y", kind="planar")),
        labels=["k"], tolerance=1.0, method="geometric",
    )  # fmt: skip
    truth = np.column_stack([np.arange(50, 100), np.arange(50)])
    assert linkage.precision(truth) > 0.9
    assert linkage.recall(truth) > 0.9
    assert linkage.posterior.min() > 0.5


@big
def test_geometry_survives_rounding_to_20_km():
    target, identification, truth = simulated(200, 200, 100, 0.0, seed=4)
    points = target.select("lon", "lat").to_numpy()
    d = np.round(between(points, points, "lonlat") / 20) * 20
    tolerance = NoiseTolerance(20, 0.9, masking="rounding")
    linkage = link_graph(
        (target, d), (identification, LONLAT), labels=["sex", "age"], tolerance=tolerance, method="geometric"
    )
    assert linkage.precision(truth) > 0.7
    assert linkage.recall(truth) > 0.5


@big
@pytest.mark.parametrize("method", ["seeds", "geometric"])
def test_row_order_changes_nothing_for_any_method(method):
    target, identification, _ = simulated(90, 90, 40, 0.02)
    options = {"labels": ["sex", "age"], "tolerance": 5.0, "method": method, "null": None}
    before = link_graph((target, LONLAT), (identification, LONLAT), **options)
    rng = np.random.default_rng(1)
    p, q = rng.permutation(90), rng.permutation(90)
    after = link_graph((target[p], LONLAT), (identification[q], LONLAT), **options)
    assert {(int(p[a]), int(q[b])) for a, b in after.pairs} == pairs_of(before)


@big
def test_row_order_changes_nothing_for_a_relative_tolerance():
    """The noise of a place follows from the distances of some people: not of those who come first in the file."""
    target, identification, _ = simulated(150, 150, 60, 0.02)
    options = {"labels": ["sex", "age"], "tolerance": Relative(0.01), "method": "geometric", "null": None}
    before = link_graph((target, LONLAT), (identification, LONLAT), **options)
    apart = identification.with_row_index("row").sort("lon", "lat")["row"].to_numpy()  # neighbours come first
    for q in (apart, np.random.default_rng(1).permutation(150)):
        after = link_graph((target, LONLAT), (identification[q], LONLAT), **options)
        assert {(int(a), int(q[b])) for a, b in after.pairs} == pairs_of(before)
        back = np.lexsort((q[after.pairs[:, 1]], after.pairs[:, 0]))
        assert after.belief[back] == pytest.approx(before.belief, rel=1e-9)


@big
def test_three_known_people_give_the_others_away():
    target, identification, truth = simulated(100, 100, 50, 0.0)
    files = (target, LONLAT), (identification, LONLAT)
    followers = trilaterate(*files, truth[:3], labels=["sex", "age"], tolerance=NoiseTolerance(0.0))
    assert followers.hits(truth[3:]) == 47
    assert (followers.only[truth[:3, 0]] == -1).all()
    vague = trilaterate(*files, truth[:1], labels=["sex", "age"], tolerance=50.0)
    assert vague.hits(truth) < 40
    with pytest.raises(ParameterError):
        trilaterate(*files, truth[:0], labels=["sex", "age"], tolerance=1.0)


@big
def test_more_masking_less_risk():
    table = people(80, np.random.default_rng(0))
    grid = [
        ("coordinates", 0.0),
        ("coordinates", 0.3),
        ("donut", 0.02),
        ("distances", 2.0),
        ("rounding", 5.0),
        ("aggregation", 0.5),
    ]
    points = sweep(table, LONLAT, labels=["sex", "age"], maskings=grid, overlap=0.5, repetitions=2, everybody=False)
    assert [p.masking for p in points] == [g[0] for g in grid]
    assert points[0].recall == 1.0
    assert points[0].variance == 0.0
    assert points[1].precision < points[0].precision
    assert points[1].variance > 100
    assert all(0 <= p.recall <= 1 and 0 <= p.exposed <= 1 for p in points)


@big
def test_heavy_noise_ends_with_the_budget_and_says_so():
    """A quarter of all distances agree by chance here: no proof within the budget, and no claim of one."""
    target, identification, _ = simulated(120, 120, 120, 1.0)
    heard = []
    options = {"labels": ["sex"], "tolerance": NoiseTolerance(1.0), "method": "exact", "null": None}
    linkage = link_graph(
        (target, LONLAT), (identification, LONLAT), **options, budget=50_000,
        progress=lambda share, stage: heard.append((stage, share)),
    )  # fmt: skip
    assert not linkage.exact
    assert "the budget ended before the proof" in linkage.why
    assert linkage.clique_size > 10
    shares = [share for stage, share in heard if stage == "cliques"]
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert shares[-1] <= 1
    assert len(shares) > 1


@big
def test_the_paper_in_small():
    """A few cells of Tables 4 and 5 (N = 100): precision and recall within what a dozen repetitions allow."""
    quantiles = {0.01: (-2.1185, 2.3365), 0.05: (-11.5771, 11.3509)}
    paper = {(25, 0.01): (1.0, 0.80), (50, 0.05): (0.9622, 0.7578), (100, 0.05): (0.9976, 0.7136)}
    for (common, sigma), (precision, recall) in paper.items():
        got = []
        for seed in range(12):
            target, identification, truth = simulated(100, 100, common, sigma, seed=seed)
            linkage = link_graph(
                (target, LONLAT), (identification, LONLAT),
                labels=["sex", "age"], tolerance=Deviations(*quantiles[sigma]), null=None,
            )  # fmt: skip
            got.append((linkage.precision(truth), linkage.recall(truth)))
        assert np.mean(got, axis=0) == pytest.approx((precision, recall), abs=0.06)


def test_files_without_names_are_taken_as_before_and_told():
    target, identification = poets()
    options = {"labels": ["cob", "language"], "tolerance": 5, "null": None}
    named = unmask.link_graph(original=identification, released=target, **options)
    for files, names in (((target, identification), {}), ((), {"target": target, "identification": identification})):
        with pytest.warns(DeprecationWarning, match="by name"):
            former = unmask.link_graph(*files, **names, **options)
        assert pairs_of(former) == pairs_of(named)
    with pytest.raises(ParameterError, match="twice"):
        unmask.link_graph(target, original=identification, **options)
    with pytest.raises(ParameterError, match="two files"):
        unmask.link_graph(original=identification, **options)
