"""Answers from 1 to 7 look like codes: they are read both ways, and the intruder takes the better one."""

import numpy as np
import polars as pl
import pytest

from unmask import Release, link_nearest
from unmask.evidence import Context
from unmask.linkage.knowledge_curve import assess_scenario
from unmask.linkage.nearest import assess_nearest, best_reading
from unmask.linkage.one_to_one import assess_global
from unmask.linkage.transparent.attempts import blind_attempts
from unmask.shares import percent
from unmask.study import Study, in_order


def answers(n=400, questions=12, seed=0):
    """Answers of people, and a release in which each is moved by one step at most, inside of the scale."""
    rng = np.random.default_rng(seed)
    people = rng.integers(1, 8, (n, questions))
    moved = np.clip(people + rng.integers(-1, 2, people.shape), 1, 7)
    names = [f"q{k}" for k in range(questions)]
    return pl.DataFrame(people, schema=names), pl.DataFrame(moved, schema=names)


def dealt(people, seed=99):
    """Each answer kept with probability 0.4, otherwise any other one: no order is left in what was changed."""
    rng = np.random.default_rng(seed)
    values = people.to_numpy()
    other = (values - 1 + rng.integers(1, 7, values.shape)) % 7 + 1
    return pl.DataFrame(np.where(rng.random(values.shape) < 0.4, values, other), schema=people.columns)


def test_answers_moved_by_one_are_attacked_by_their_order():
    people, moved = answers()
    release = Release(people, moved)
    assert all(release.kind(name) == "categorical" for name in people.columns)  # what they look like
    codes = link_nearest(release).estimate.value
    order = link_nearest(Release(people, moved, kinds=dict.fromkeys(people.columns, "numeric"))).estimate.value
    assert order > codes + 0.1  # or nothing is to be seen here
    for attack in (assess_nearest, assess_global):
        evidence = attack(Study(release), Context())
        assert evidence.observations[0].estimate.value >= order
        assert any(
            f"read as codes {percent(codes)}" in note and f"order {percent(order)}" in note for note in evidence.notes
        )
    assert blind_attempts(Study(release), None, 0)[0].estimate.value == order
    curve = assess_scenario(Study(release), Context())
    assert any("by their order" in note for note in curve.notes)


def test_codes_without_an_order_stay_codes():
    people, _ = answers()
    study = Study(Release(people, dealt(people)))
    assert in_order(study) == (study, ())
    assert best_reading(study, 0) == (study, ())


def test_only_columns_whose_order_survived_are_read_so():
    people, moved = answers()
    mixed = moved.with_columns(dealt(people).select("q0", "q1"))
    ordered, names = in_order(Study(Release(people, mixed)))
    assert set(names) == set(people.columns) - {"q0", "q1"}
    assert [ordered.release.kind(name) for name in ("q0", "q2")] == ["categorical", "numeric"]


def test_what_was_said_by_hand_and_what_was_not_changed_stays():
    people, moved = answers()
    said = Study(Release(people, moved, categorical=people.columns))
    assert in_order(said) == (said, ())
    same = Study(Release(people, people))
    assert in_order(same) == (same, ())


def test_codes_count_where_they_find_more():
    """Values that stay for nine in ten people: equality says more than nearness of a few."""
    people, moved = answers(questions=3)
    rng = np.random.default_rng(5)
    keep = rng.random(people.height) < 0.9
    mostly = pl.DataFrame(np.where(keep[:, None], people.to_numpy(), moved.to_numpy()), schema=people.columns)
    study = Study(Release(people, mostly))
    _, names = in_order(study)
    assert names
    chosen, (note,) = best_reading(study, 0)
    readings = {kind: link_nearest(Release(people, mostly, kinds=dict.fromkeys(names, kind))).estimate.value
                for kind in ("categorical", "numeric")}  # fmt: skip
    assert link_nearest(chosen).estimate.value == max(readings.values())
    assert "the larger counts" in note


@pytest.mark.parametrize("values", [["a", "b", "c"], [None, None, None], [1.5, 2.5, 3.5]])
def test_words_blanks_and_decimals_are_no_codes(values):
    table = pl.DataFrame({"x": values * 40, "y": list(range(120))})
    study = Study(Release(table, table.with_columns(pl.col("x").reverse())))
    assert in_order(study) == (study, ())


def test_shuffled_rows_choose_the_same():
    people, moved = answers(n=200)
    order = np.random.default_rng(1).permutation(200)
    by_id = [table.with_columns(id=pl.Series(range(200))) for table in (people, moved)]
    shuffled = [by_id[0][order], by_id[1][order[::-1]]]
    rates = [assess_nearest(Study(Release(*pair, id="id")), Context()).observations[0].estimate.value
             for pair in (by_id, shuffled)]  # fmt: skip
    assert rates[0] == rates[1]
