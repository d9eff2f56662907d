from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unmask.evidence.estimate import Estimate
from unmask.evidence.intruders import ORDER, Attempt, by_knowledge


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
