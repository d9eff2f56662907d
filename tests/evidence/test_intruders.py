from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import unmask
from unmask.evidence.estimate import Estimate
from unmask.evidence.finding import Absence, Evidence, Observation, Reported
from unmask.evidence.intruders import ORDER, Attempt, attempts_of, by_knowledge


def estimate(value):
    return Estimate(value, value / 2, min(1.0, 2 * value), 100, 0.01)


def attempt(measure, knows, value, per_record=None, known=None):
    return Attempt(measure, knows, estimate(value), per_record, None if known is None else estimate(known))


def test_who_knows_the_method_may_ignore_it():
    intruders = by_knowledge([attempt("nearest", "files", 0.25), attempt("transparent", "method", 0.13)])
    assert [(i.knows, i.measure, i.estimate.value) for i in intruders] == [
        ("files", "nearest", 0.25),
        ("method", "nearest", 0.25),
    ]
    assert [i.n_attacks for i in intruders] == [1, 2]


def test_of_equal_shares_the_one_on_most_people_is_told():
    half, few = (Estimate(0.98, low, 1.0, n, 0.01) for low, n in ((0.95, 300), (0.96, 200)))
    tried = [Attempt("channel", "half", half), Attempt("channel", "some", few)]
    assert [found.estimate.n for found in by_knowledge(tried)] == [200, 300]


def test_levels_that_nobody_tried_are_left_out():
    intruders = by_knowledge([attempt("channel", "half", 0.9), attempt("nearest", "files", 0.1)])
    assert [i.knows for i in intruders] == ["files", "half"]
    assert by_knowledge([]) == ()


def test_the_best_is_taken_person_by_person_and_a_gap_is_no_risk():
    first, second = np.array([0.2, 0.0, np.nan]), np.array([0.1, 0.7, 0.5])
    blind, informed = by_knowledge([attempt("a", "files", 0.1, first), attempt("b", "some", 0.4, second)])
    assert blind.per_record.tolist() == [0.2, 0.0, 0.0]
    assert informed.per_record.tolist() == [0.2, 0.7, 0.5]


@given(st.lists(st.tuples(st.sampled_from(ORDER), st.none() | st.floats(0, 1)), min_size=1, max_size=12))
def test_a_better_informed_intruder_is_never_sure_of_fewer(tried):
    intruders = by_knowledge([attempt(f"m{k}", knows, 0.5, known=known) for k, (knows, known) in enumerate(tried)])
    values = [-1.0 if intruder.known is None else intruder.known.value for intruder in intruders]
    assert values == sorted(values)
    assert values[-1] == max(-1.0 if known is None else known for _, known in tried)


@given(st.lists(st.tuples(st.sampled_from(ORDER), st.floats(0, 1)), min_size=1, max_size=12))
def test_a_better_informed_intruder_never_finds_less(tried):
    intruders = by_knowledge([attempt(f"m{k}", knows, value) for k, (knows, value) in enumerate(tried)])
    values = [intruder.estimate.value for intruder in intruders]
    assert values == sorted(values)
    assert values[-1] == max(value for _, value in tried)


def test_attacks_that_find_people_are_taken_from_what_was_reported():
    """Of each its best share of people found, not how sure it is; what it reaches with a few people beside it."""

    def told(measure, few=(), **values):
        seen = tuple(Observation(f"{measure}.{key}", "", Estimate(v, v, v, 9, 0.1)) for key, v in values.items())
        return Reported(measure, "", "", Evidence(seen, np.full(2, 0.5), with_few=few))

    few = Estimate(0.2, 0.1, 0.3, 9, 0.1)
    found = attempts_of(
        [
            told("channel", (few,), known=0.9, rate=0.4),
            told("uniqueness", unique=0.8, average=0.3),
            told("clusters", rate=0.1, people=0.2),
            told("cells", external=0.9),
            Reported("nearest", "", "", Absence("could not run", "")),
        ]
    )
    assert [(a.measure, a.knows, a.estimate.value, a.per_record is None) for a in found] == [
        ("channel", "half", 0.4, False),
        ("channel", "some", 0.2, True),
        ("uniqueness", "files", 0.3, False),
        ("clusters", "files", 0.2, False),
    ]


def test_nobody_finds_more_people_than_the_best_intruder():
    """Who knows three attributes found 70 % and the best intruder 0.04 %, where nearest had no time."""
    rng = np.random.default_rng(0)
    own = pl.DataFrame({"a": rng.integers(0, 40, 300), "b": rng.integers(0, 40, 300), "c": rng.normal(size=300)})
    masked = own.with_columns(c=pl.Series(rng.normal(size=300)))
    found = unmask.assess(
        unmask.Release(own, masked), only=["knowledge_sweep", "special_uniques", "uniqueness"], utility="none"
    )
    rates = [f.estimate.value for f in found.findings if f.key in {"knowledge_sweep.rate", "special_uniques.rate"}]
    assert len(rates) == 2
    assert found.document.intruders[-1].estimate.value == max(rates) > 0.5
