from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

from deniability_tables import correlated, shuffled
from unmask.assessment import discover
from unmask.errors import ParameterError, RoleError
from unmask.evidence.measure import Context
from unmask.max_knowledge import attribute_test, attribute_tests
from unmask.max_knowledge.attribute_test import assess_attribute, attribute_errors, reference_errors
from unmask.max_knowledge.compare import ks_distance
from unmask.max_knowledge.permuted import permuted_space
from unmask.max_knowledge.ranks import ranked
from unmask.study.ask import Index
from unmask.study.study import Study
from unmask.tables.release import Release


def test_worked_by_hand():
    """Linking on a alone: each finds its own record, whose b was moved by one rank for two of them."""
    original = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [10.0, 20.0, 30.0]})
    released = pl.DataFrame({"a": [1.1, 2.1, 3.1], "b": [20.0, 10.0, 30.0]})
    test = attribute_test(Release(original, released), "b")
    assert test.distances.tolist() == [1, 1, 0]
    assert test.links.tolist() == [0, 1, 2]
    assert test.estimates.to_list() == [20.0, 10.0, 30.0]
    assert test.mean == pytest.approx(2 / 3)
    assert test.attribute == "b"


def test_reference_needs_no_second_linkage():
    """The shortcut has the law of the linkage to Y' that the paper describes."""
    table = correlated(200)
    both = ranked(Release(table, shuffled(table)))
    others = both.without("d")
    found = Index(others.space).nearest(seed=0).row[both.query_of]
    linked = []
    for number in range(40):
        moved = permuted_space(both.space, np.random.default_rng(number))
        points = Index(others.space._replace(points=moved.points[:, :3].copy())).nearest(seed=0).row
        linked.append(np.abs(both.space.queries[:, 3] - moved.points[points, 3]))
    shortcut = np.concatenate(reference_errors(both, "d", found, 40, 0))
    assert ks_distance(np.concatenate(linked), shortcut) < 0.03


def test_identity_discloses_and_independence_does_not():
    table = correlated(400)
    same = attribute_test(Release(table, table), "a")
    assert same.mean == 0
    assert same.direction == "disclosive"
    none = attribute_test(Release(table, shuffled(table)), "a")
    assert none.ks < 0.1
    assert none.mean == pytest.approx(none.reference_mean, rel=0.1)


def test_of_many_people_each_is_drawn_once(monkeypatch):
    module = sys.modules[reference_errors.__module__]
    both, asked = ranked(Release(correlated(30), correlated(30))), []
    monkeypatch.setattr(module, "INTRUDERS", 25)
    monkeypatch.setattr(module, "distance_of_pairs", lambda _space, people, records: asked.append(people) or records)
    reference_errors(both, "d", np.arange(30), 3, 0)
    assert [len(people) for people in asked] == [len(set(people.tolist())) for people in asked] == [25] * 3


def test_each_attribute_in_turn():
    table = correlated(80)
    tests = attribute_tests(Release(table, table), instantiations=2)
    assert list(tests) == table.columns
    assert all(test.attribute == name for name, test in tests.items())


def test_a_confidential_attribute_and_categories():
    table = correlated(90).with_columns(town=pl.Series(["A", "B", "C"] * 30))
    test = attribute_test(Release(table, table, confidential=["town"]), "town")
    assert test.mean == 0
    assert np.unique(test.reference).tolist() == [0.0, pytest.approx((90 * 90 - 1) / 270)]
    both = ranked(Release(table, table))
    assert attribute_errors(both, "town", np.array([0]), np.array([0])).size == 1


def test_clear_refusals():
    table = correlated(20).with_columns(e=pl.lit(None, dtype=pl.Float64))
    release = Release(table, table)
    with pytest.raises(RoleError, match="no attribute 'ab'"):
        attribute_test(release, "ab")
    with pytest.raises(RoleError, match="has no value"):
        attribute_test(release, "e")
    with pytest.raises(RoleError, match="no other attribute"):
        attribute_test(Release(table, table, quasi=["a"]), "a")
    with pytest.raises(ParameterError):
        attribute_test(release, "a", instantiations=0)


@pytest.mark.parametrize("n", [1, 2])
def test_tiny_tables_are_answered(n):
    assert attribute_test(Release(correlated(n), correlated(n)), "a").distances.size == n


def test_row_order_changes_nothing():
    table = correlated(100).with_columns(pl.all().round(0))
    masked = shuffled(table)
    kinds = dict.fromkeys("abcd", "numeric")
    test = attribute_test(Release(table, masked, kinds=kinds), "c", seed=2)
    order, other = np.random.default_rng(0).permutation(100), np.random.default_rng(1).permutation(100)
    moved = attribute_test(Release(table[order], masked[other], kinds=kinds), "c", seed=2)
    assert moved.distances.tolist() == test.distances[order].tolist()
    assert moved.estimates.to_list() == test.estimates.gather(order).to_list()


def test_learnt_with_and_without_the_own_record():
    """The measure counts who is found out by their own record, not what the whole population tells."""
    table = correlated(200)
    copy = assess_attribute(Study(Release(table, table, confidential=["d"])), Context(seed=1))
    other = assess_attribute(Study(Release(table, correlated(200, seed=9), confidential=["d"])), Context(seed=1))
    assert copy.observations[0].estimate.value > 0.3
    assert other.observations[0].estimate.value < 0.02
    assert copy.per_record.max() == 1
    assert "learns 'd'" in copy.observations[0].claim
    assert len(copy.figures) == 1


def test_measure_needs_a_confidential_attribute():
    table = correlated(20)
    assert "no confidential attribute" in discover()["attribute_test"].applies(Release(table, table))


def noisy_release(n=240, seed=3):
    table = correlated(n)
    noise = np.random.default_rng(seed).normal(0, 0.3, (n, 4))
    masked = table.with_columns(**{name: table[name] + noise[:, k] for k, name in enumerate("abcd")})
    return Release(table, masked, confidential=["d"])


def test_everybody_named_is_everybody():
    release = noisy_release()
    whole = assess_attribute(Study(release), Context(0))
    named = assess_attribute(Study(release), Context(0, people=release.paired_rows))
    assert named.observations[0].estimate == whole.observations[0].estimate
    assert named.observations[1].estimate.value == whole.observations[1].estimate.value
    assert np.array_equal(named.per_record, whole.per_record)


def test_some_people_are_told_what_they_are_told_among_all():
    release, some = noisy_release(), np.array([3, 17, 40, 41, 90, 100, 180, 239])
    whole = assess_attribute(Study(release), Context(0)).per_record
    found = assess_attribute(Study(release), Context(0, people=some))
    assert np.array_equal(found.per_record[some], whole[some])
    assert np.isnan(np.delete(found.per_record, some)).all()
    assert found.observations[0].estimate.n == some.size
    assert {int(row) for row in found.facts[-1].value.split(", ")} <= set(some + 1)


@pytest.mark.slow
def test_the_interval_of_some_people_contains_what_all_give():
    release, inside = noisy_release(400), np.zeros(2)
    whole = [one.estimate.value for one in assess_attribute(Study(release), Context(0)).observations]
    for seed in range(40):
        some = np.sort(np.random.default_rng(seed).choice(400, 120, replace=False))
        found = assess_attribute(Study(release), Context(0, people=some)).observations
        inside += [one.estimate.low <= value <= one.estimate.high for one, value in zip(found, whole, strict=True)]
    assert (inside >= 37).all()
