"""Whose rows are these: by the definition on small tables, with the truth known on larger ones."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linear_sum_assignment
from small_persons import disturbed, few_rows

import unmask
from naive import persons as naive
from unmask import Persons
from unmask.errors import NothingToTryError
from unmask.persons.classes import Classes
from unmask.persons.distances import distances
from unmask.persons.link import Part, bags_of, blind_costs, link_blind, link_taught, one_to_one, share_credits
from unmask.persons.taught import teach

KNOWN = ["sex", "day", "ward"]


def costs_of(table, other):
    rows, others = ([tuple(row) for row in side.select(KNOWN).rows()] for side in (table, other))
    cost, more = naive.distance(rows, others, numbers={1})
    one, two = naive.bags(rows, table["id"].to_list()), naive.bags(others, other["id"].to_list())
    return one, two, naive.table(one, two, cost, more)


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_person_by_definition(seed):
    table = few_rows(14, most=4, seed=seed)
    other = disturbed(table, seed)
    persons = Persons(table, other, id="id", quasi=KNOWN)
    found = link_blind(persons, persons.columns())
    one, two, costs = costs_of(table, other)
    asked = [p for p in one if p in two]
    wanted = naive.nearest(costs, asked, two)
    assert found.credit.tolist() == pytest.approx([wanted[p] for p in asked])
    assert found.least.tolist() == pytest.approx([min(costs[p, q] for q in two) for p in asked], abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_one_to_one_costs_as_little_as_can_be(seed):
    table = few_rows(14, most=3, seed=seed)
    other = disturbed(table, seed)
    persons = Persons(table, other, id="id", quasi=KNOWN)
    columns = persons.columns()
    part = Part(np.arange(persons.n), blind_costs(persons, columns))
    credit = one_to_one(persons, columns, (part,), seed=0)
    one, two, costs = costs_of(table, other)
    matrix = np.array([[costs[p, q] for q in two] for p in one])
    rows, cols = linear_sum_assignment(matrix)
    best = matrix[rows, cols].sum()
    for i, p in enumerate(one):  # their own pair is in some best matching, or their credit is 0
        if p in two:
            j = list(two).index(p)
            without = matrix.copy()
            without[i] = np.where(np.arange(len(two)) == j, matrix[i], 1e6)
            a, b = linear_sum_assignment(without)
            assert (without[a, b].sum() <= best + 1e-4) or credit[i] == 0.0


def test_equal_people_share_their_credit():
    """Two equal originals on two equal released ones: each guess is right half of the time."""
    assert share_credits(
        np.array([1, 0]), np.array([0, 1]), Classes(np.array([0, 0])), Classes(np.array([0, 0]))
    ).tolist() == [0.5, 0.5]
    crossed = share_credits(np.array([1, 0]), np.array([0, 1]), Classes(np.array([0, 0])), Classes(np.array([0, 1])))
    assert crossed.tolist() == [0.5, 0.5]
    nobody = share_credits(np.array([0, -1]), np.array([0, -1]), Classes(np.array([0, 1])), Classes(np.array([0])))
    assert nobody.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("attack", [link_blind, link_taught])
def test_rows_in_another_order_change_nobodys_risk(attack):
    visits = unmask.datasets.visits(60, seed=1)
    released = disturbed(visits.rename({"days": "day"})).rename({"day": "days"})
    one = Persons(visits, released, id="patient")
    two = Persons(visits.reverse(), released.sample(fraction=1, shuffle=True, seed=9), id="patient")
    a, b = attack(one, one.columns()), attack(two, two.columns())
    assert a.credit.tolist() == b.credit.tolist() and a.claimed.tolist() == b.claimed.tolist()
    assert a.matched.tolist() == b.matched.tolist()


def test_a_shift_of_all_dates_of_a_person_hides_nobody_with_several_visits():
    visits = unmask.datasets.visits(150, seed=3)
    ids = visits["patient"].unique().sort().to_list()
    days = dict(zip(ids, np.random.default_rng(0).integers(-300, 300, len(ids)), strict=True))
    moved = pl.duration(days=pl.col("patient").replace_strict(days, return_dtype=pl.Int64))
    released = visits.select("patient", "sex", pl.col("admitted") + moved, "ward")
    persons = Persons(visits.select(released.columns), released, id="patient")
    found = link_taught(persons, persons.columns())
    many = persons.sizes[0][found.asked] >= 4
    assert found.credit[many].mean() > 0.9
    assert found.credit[persons.sizes[0][found.asked] == 1].mean() < 0.75


def test_other_people_are_found_by_chance_alone():
    """Over six pairs of unrelated tables: as many as guesses find, and nobody is known."""
    hits, people, known = 0.0, 0, 0.0
    for seed in range(6):
        visits, other = (unmask.datasets.visits(60, seed=k) for k in (seed, seed + 50))
        to = dict(zip(other["patient"].unique().sort(), visits["patient"].unique().shuffle(seed), strict=True))
        persons = Persons(visits, other.with_columns(pl.col("patient").replace_strict(to)), id="patient")
        for attack in (link_blind, link_taught):
            found = attack(persons, persons.columns(), seed=seed)
            hits, people, known = hits + found.credit.sum(), people + found.asked.size, known + found.known.sum()
    assert abs(hits - people / 60) < 4 * np.sqrt(people / 60)
    assert known <= 2


@pytest.mark.slow
def test_claims_are_right_as_often_as_they_say_and_intervals_cover():
    """Known truth: over fresh draws of the masking claims hold 19 times in 20, and intervals cover the mean rate."""
    right = claims = 0.0
    covered, rates = 0, []
    visits = unmask.datasets.visits(150, seed=8).select("patient", "sex", "born", "ward", "admitted")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        moved = pl.duration(days=pl.Series(np.round(rng.normal(0, 120, visits.height))))
        born = (pl.col("born") + pl.Series(np.round(rng.normal(0, 12, visits.height)).astype(int))).alias("born")
        persons = Persons(visits, visits.with_columns(pl.col("admitted") + moved, born), id="patient")
        found = link_taught(persons, persons.columns(), seed=seed)
        right, claims = right + found.known.sum(), claims + found.claimed.sum()
        rates.append(found.estimates[0])
    mean = np.mean([one.value for one in rates])
    covered = np.mean([one.low <= mean <= one.high for one in rates])
    assert claims > 200 and right / claims > 0.93
    assert 0.1 < mean < 0.95 and covered >= 0.9


def test_too_few_people_teach_nothing():
    table = few_rows(12)
    persons = Persons(table, table, id="id")
    with pytest.raises(NothingToTryError, match="half of them would teach too little"):
        link_taught(persons, persons.columns())


def test_what_is_taught_tells_rare_values_from_common_ones():
    """A rare ward that stays is stronger evidence than a common one; a ward that changes speaks against."""
    rng = np.random.default_rng(0)
    ward = np.where(rng.random(600) < 0.05, "rare", np.where(rng.random(600) < 0.7, "usual", "other"))
    table = pl.DataFrame({"id": np.repeat(np.arange(200), 3), "ward": ward, "day": rng.normal(size=600)})
    persons = Persons(table, table.with_columns(pl.lit(0.5).alias("day") + pl.col("day")), id="id", quasi=["ward"])
    columns = persons.columns()
    one, two = bags_of(persons, columns)
    costs = teach(columns, one, two, np.arange(200), persons.own, 0)
    cost = costs.flat[: 4 * 4].reshape(4, 4)  # other, rare, usual, missing
    assert cost[1, 1] < cost[0, 0] < cost[2, 2] < 0 < cost[1, 2]
    assert distances(columns, 3).flat[:16].reshape(4, 4)[1, 1] == 0.0
