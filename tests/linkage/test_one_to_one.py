from __future__ import annotations

import json
from itertools import permutations

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars import selectors
from scipy.optimize import linear_sum_assignment

from naive import assignment as naive_assignment
from naive import definitions as naive
from reference import REFERENCE, golden
from strategies import pairs
from unmask import Release, datasets, link_globally, link_nearest, parse_masking
from unmask.errors import EngineError, ParameterError
from unmask.evidence.measure import Context
from unmask.linkage.nearest import best_scale
from unmask.linkage.one_to_one import assess_global
from unmask.study.metric import METRICS, build_space, readable
from unmask.study.study import Study
from unmask.tables.encode import encode


def costs(release, metric):
    space = build_space(encode(release), metric=metric)
    n, m = len(space.queries), len(space.points)
    reduced = np.array([[naive.distance(space, i, j) for j in range(m)] for i in range(n)])
    return readable(reduced, space.norm)


@given(pairs(complete=True), st.sampled_from(METRICS))
def test_the_total_is_the_least(tables, metric):
    release = Release(*tables)
    matrix = costs(release, metric)
    linkage = link_globally(release, metric=metric)
    assert linkage.optimal
    assert linkage.total_distance == pytest.approx(matrix[linear_sum_assignment(matrix)].sum(), rel=1e-9, abs=1e-9)
    assert sorted(linkage.links) == list(range(len(matrix)))


@given(pairs(complete=True, max_rows=6), st.sampled_from(["euclidean", "gower", "chebyshev"]))
def test_credits_are_shares_of_all_optimal_matchings(tables, metric):
    release = Release(*tables)
    matrix = costs(release, metric)
    n = len(matrix)
    every = list(permutations(range(n)))
    totals = np.array([matrix[range(n), order].sum() for order in every])
    best = [
        order for order, total in zip(every, totals, strict=True) if total <= totals.min() + 1e-9 * (1 + totals.min())
    ]
    shares = [np.mean([order[i] == i for order in best]) for i in range(n)]
    assert link_globally(release, metric=metric).credit.tolist() == pytest.approx(shares, abs=1e-9)


@given(pairs(complete=True), st.sampled_from(METRICS), st.integers(0, 3))
def test_the_margin_is_the_way_to_the_nearest_other_candidate(tables, metric, fewer):
    """Of the link that was drawn; equal people share the least of theirs, at most 0; who has no link claims nothing."""
    number = pl.Series("id", range(tables[0].height))
    released = tables[1].with_columns(number)[: max(1, tables[0].height - fewer)]
    release = Release(tables[0].with_columns(number), released, id="id")
    linkage = link_globally(release, metric=metric)
    matrix = costs(release, metric)
    n, m = matrix.shape
    margin = np.full(n, -np.inf)
    for i, j in enumerate(linkage.links):
        if j >= 0:
            margin[i] = min([matrix[i, k] for k in range(m) if k != j], default=np.inf) - matrix[i, j]
    space = build_space(encode(release), metric=metric)
    rows = [(*a.tolist(), *b.tolist()) for a, b in zip(space.queries, space.query_codes, strict=True)]
    shared = [min(0.0, *(x for x, row in zip(margin, rows, strict=True) if row == own)) for own in rows]
    expected = [x if rows.count(row) == 1 else least for x, least, row in zip(margin, shared, rows, strict=True)]
    assert linkage.margin.tolist() == pytest.approx(expected, abs=1e-7)


@given(pairs(), st.randoms())
def test_row_order_changes_no_risk(tables, random):
    numbered = [table.with_row_index("id") for table in tables]
    orders = [random.sample(range(tables[0].height), tables[0].height) for _ in range(2)]
    straight = link_globally(Release(*numbered, id="id"))
    shuffled = link_globally(Release(numbered[0][orders[0]], numbered[1][orders[1]], id="id"))
    assert shuffled.total_distance == pytest.approx(straight.total_distance, rel=1e-12, abs=1e-12)
    assert shuffled.credit.tolist() == pytest.approx(straight.credit[orders[0]].tolist(), abs=1e-12)


@pytest.mark.casc
@pytest.mark.parametrize(
    ("name", "metric", "scale"),
    [("euclidean_std", "euclidean", "original"), ("manhattan", "manhattan", "none"), ("gower", "gower", "own")],
)
@pytest.mark.parametrize("permuted", [False, True])
def test_agrees_with_a_second_tool(name, metric, scale, permuted):
    """sdcMicro 5.8.1 (golden/README.md): total, rate and pairs of the optimum, in file order and permuted."""
    scalars = json.loads((REFERENCE / "golden/scalars.json").read_text())["recordLinkage"]
    wanted = scalars.get(
        f"census300_{name}_permuted" if permuted else f"census300_{name}", scalars[f"census300_{name}"]
    )
    x, y = (
        golden("rl_census300_x").with_row_index("id", offset=1),
        golden("rl_census300_y").with_row_index("id", offset=1),
    )
    if permuted:
        y = golden("rl_census300_y_permuted")
        assert y["id"].to_list() != x["id"].to_list()
    linkage = link_globally(Release(x, y, id="id"), metric=metric, scale=scale)
    assert linkage.optimal
    assert linkage.total_distance == pytest.approx(wanted["total_distance"], rel=1e-12)
    assert linkage.estimate.value == pytest.approx(wanted["correct_match_rate"], abs=1e-12)
    pairs = golden(f"rl_census300_{name}_matches").sort("x_row")["y_row"]
    assert y["id"].gather(linkage.links).to_list() == pairs.to_list()


def test_one_to_one_finds_people_that_the_nearest_record_misses():
    """Herranz et al., section 1.1: two people nearest to one record; the matching lets them compete."""
    original, released = pl.DataFrame({"a": [0.0, 1.0]}), pl.DataFrame({"a": [-4.0, 0.4]})
    release = Release(original, released)
    assert link_nearest(release, scale="none").credit.tolist() == [0.0, 1.0]
    assert link_globally(release, scale="none").credit.tolist() == [1.0, 1.0]


def test_groups_of_equal_records_share():
    people = datasets.census(300, seed=4)
    masked = parse_masking("microaggregation(5)").apply(people, 1)
    linkage = link_globally(Release(people, masked))
    assert linkage.optimal
    assert linkage.credit.max() <= 1 / 5 + 1e-9  # nobody is told from the four others of the group
    same = pl.DataFrame({"a": np.full(2000, 1.5)})
    assert link_globally(Release(same, same)).estimate.value == pytest.approx(1 / 2000)


@pytest.mark.parametrize(("left", "right"), [(10, 400), (400, 10), (1, 1), (1, 50)])
def test_unequal_sizes_match_the_smaller_file(left, right):
    people = datasets.census(400).with_row_index("id")
    linkage = link_globally(Release(people[:left], people[:right], id="id"), scale="none")
    assert (linkage.links >= 0).sum() == min(left, right)
    assert linkage.estimate.value == 1.0
    assert linkage.total_distance == pytest.approx(0, abs=1e-9)


WEIGHTS = {"age": 2.0, "height": 0.25, "sex": 3.0, "days": 0.0}
COSTS = {
    "euclidean": {},
    "squared euclidean": {"squared": True},
    "manhattan": {"metric": "manhattan"},
    "chebyshev": {"metric": "chebyshev"},
    "chebyshev on ranks": {"metric": "permutation"},
    "mahalanobis": {"metric": "mahalanobis"},
    "gower with categories": {"metric": "gower"},
    "weighted euclidean": {"weights": WEIGHTS},
    "weighted gower": {"metric": "gower", "weights": WEIGHTS},
}


@pytest.mark.parametrize(("n", "masking"), [(60, "noise(2)"), (400, "noise(0.6)"), (2000, "noise(0.3)")])
@pytest.mark.parametrize("cost", COSTS)
def test_every_cost_has_the_total_of_the_dense_solver(cost, n, masking):
    """To 1e-9, on numbers, dates and categories; SciPy solves the whole matrix, each entry as naive.py defines it."""
    people = datasets.patients(n, seed=6).drop("patient")
    people = people.with_columns(age=(pl.date(2026, 1, 1) - pl.col("birth date")).dt.total_days() // 365)
    if cost == "mahalanobis":  # not defined with missing numbers
        people = people.with_columns(selectors.numeric().fill_null(0), selectors.date().forward_fill())
    release = Release(people, parse_masking(masking).apply(people, 2))
    how = dict(COSTS[cost])
    squared = how.pop("squared", False)
    space = build_space(encode(release), **how)
    linkage = link_globally(release, squared=squared, **how)
    assert linkage.optimal and linkage.gap == 0.0
    wanted = naive_assignment.least_total(space, squared=squared)
    assert linkage.total_distance == pytest.approx(wanted, rel=1e-9)


@pytest.mark.slow
def test_four_thousand_records_have_the_total_of_the_dense_solver():
    people = datasets.census(4000, seed=6)
    release = Release(people, parse_masking("noise(0.1)").apply(people, 2))
    linkage = link_globally(release)
    assert linkage.optimal
    assert linkage.total_distance == pytest.approx(naive_assignment.least_total(build_space(encode(release))), rel=1e-9)


def test_squared_totals_are_euclidean_only():
    people = datasets.census(30)
    with pytest.raises(ParameterError, match="squared totals"):
        link_globally(Release(people, people), squared=True, metric="manhattan")


def test_squared_costs():
    people = datasets.census(200, seed=1)
    release = Release(people, parse_masking("noise(0.8)").apply(people, 1))
    matrix = costs(release, "euclidean") ** 2
    linkage = link_globally(release, squared=True)
    assert linkage.total_distance == pytest.approx(matrix[linear_sum_assignment(matrix)].sum(), rel=1e-9)
    assert linkage.distances == pytest.approx(np.sqrt(matrix[range(200), linkage.links]))


def test_a_gap_or_a_budget_stops_early_with_a_proof():
    people = datasets.census(3000, seed=1)
    release = Release(people, parse_masking("noise(0.5)").apply(people, 1))
    best = link_globally(release)
    loose = link_globally(release, max_gap=0.05)
    assert best.optimal and best.gap == 0.0
    assert 0 < loose.gap <= 0.05
    assert not loose.optimal
    assert best.total_distance <= loose.total_distance * (1 + 1e-12)
    assert loose.total_distance * (1 - loose.gap) <= best.total_distance * (1 + 1e-9)
    hurried = link_globally(release, time_budget=1e-6)
    assert not hurried.optimal and hurried.gap > 0
    assert sorted(hurried.links) == list(range(3000))
    assert hurried.total_distance * (1 - min(1, hurried.gap)) <= best.total_distance * (1 + 1e-9)
    for bad in ({"max_gap": 1.0}, {"max_gap": -0.1}, {"time_budget": 0}):
        with pytest.raises(ParameterError):
            link_globally(release, **bad)


def test_threads_change_nothing():
    people = datasets.census(1500, seed=2)
    release = Release(people, parse_masking("noise(0.5)").apply(people, 1))
    before = numba.get_num_threads()
    try:
        results = []
        for threads in (1, 2):
            numba.set_num_threads(min(threads, before))
            results.append(link_globally(release))
    finally:
        numba.set_num_threads(before)
    assert results[0].total_distance == results[1].total_distance
    assert results[0].credit.tolist() == results[1].credit.tolist()


def test_memory_is_looked_at(monkeypatch):
    monkeypatch.setattr("unmask.study.memory.available_memory", lambda: 1000)
    people = datasets.census(50)
    with pytest.raises(EngineError, match="one-to-one matching would need"):
        link_globally(Release(people, people))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_known_does_not_follow_row_order_or_draws(seed):
    """Equal people may change places in the matching: which of their records is whose is a guess, not a claim."""
    people = _twice(seed)
    masked = parse_masking("noise(0.2)").apply(people, 1)
    number = pl.Series("id", range(people.height))
    order, other = (np.random.default_rng([seed, k]).permutation(people.height) for k in (1, 2))
    plain = Release(people.with_columns(number), masked.with_columns(number), id="id")
    mixed = Release(people.with_columns(number)[order], masked.with_columns(number)[other], id="id")
    one, two = link_globally(plain), link_globally(mixed, seed=seed + 5)
    assert one.margin[order].tolist() == pytest.approx(two.margin.tolist())
    assert one.known() == two.known()
    doubled = np.arange(people.height) >= 60
    assert (one.margin[doubled] <= 0).all()
    assert (one.margin[~doubled] > 0).any()


def _twice(seed):
    """Sixty people of whom nobody is like another, and thirty pairs of equal people."""
    distinct = datasets.census(90, seed=seed)
    return pl.concat([distinct, distinct[60:]])


def test_evidence_shows_both_linkages_and_their_union():
    people = datasets.census(250, seed=8)
    release = Release(people, parse_masking("noise(0.6)").apply(people, 1))
    evidence = assess_global(Study(release), Context(seed=1))
    facts = {fact.name: fact.value for fact in evidence.facts}
    here, there = evidence.per_record, link_nearest(release).credit
    assert facts["found by either"] == pytest.approx(np.maximum(here, there).mean())
    assert facts["found by either"] >= max(here.mean(), there.mean())
    either = 250 * facts["found by either"]
    assert facts["added by global linkage"] == pytest.approx(either - there.sum())
    assert facts["added by nearest-record linkage"] == pytest.approx(either - here.sum())
    blind, nearest, globally, either = evidence.figures[0].series[0].y
    assert (blind, nearest, globally, either) == pytest.approx(
        (1 / 250, there.mean(), here.mean(), facts["found by either"])
    )


def test_large_files_are_matched_to_a_proven_gap_and_that_is_told(monkeypatch):
    people = datasets.census(600, seed=4)
    release = Release(people, parse_masking("noise(0.6)").apply(people, 1))
    assert not assess_global(Study(release), Context()).notes
    monkeypatch.setattr("unmask.linkage.one_to_one.EXACT_UP_TO", 599)
    monkeypatch.setattr("unmask.linkage.one_to_one.LOOSE", 0.2)
    loose = link_globally(release, max_gap=0.2)
    assert 0 < loose.gap <= 0.2
    evidence = assess_global(Study(release), Context())
    assert f"within {loose.gap:.2g} of the least" in evidence.notes[-1]
    assert {fact.name: fact.value for fact in evidence.facts}["total distance"] == loose.total_distance


@pytest.mark.parametrize("metric", METRICS)
def test_degenerate_tables_are_answered(metric):
    for table in (
        pl.DataFrame({"a": [1.5]}),
        pl.DataFrame({"a": [1.5] * 6, "b": ["x"] * 6}),
        pl.DataFrame({f"c{i}": [float(i), 2.5] for i in range(20)}),
    ):
        linkage = link_globally(Release(table, table), metric=metric)
        assert linkage.optimal
        assert linkage.total_distance == pytest.approx(0, abs=1e-9)


def test_files_of_different_people_take_the_scale_that_finds_more():
    people = datasets.census(300, seed=2).with_row_index("id")
    masked = parse_masking("noise(0.05)").apply(people.drop("id"), 1).with_columns(people["id"])
    few = Release(people[:12], masked, id="id")
    evidence = assess_global(Study(few), Context())
    assert evidence.observations[0].estimate == link_globally(few, scale=best_scale(Study(few), 0)[0]).estimate
    assert evidence.observations[0].estimate.value > link_globally(few).estimate.value
    assert "the largest counts" in evidence.notes[0]


def test_records_that_are_all_equally_far_share_exactly():
    """Of 40 people with other categories than any record, each is any record's equally often: nothing is sampled."""
    original = pl.DataFrame({"word": [f"a{k}" for k in range(50)]})
    released = pl.DataFrame({"word": [f"b{k}" if k < 40 else f"a{k}" for k in range(50)]})
    credit = link_globally(Release(original, released), metric="gower").credit
    assert credit == pytest.approx([1 / 40] * 40 + [1.0] * 10, abs=1e-12)
