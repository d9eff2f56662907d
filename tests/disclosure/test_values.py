from __future__ import annotations

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from naive import disclosure as naive
from naive import groups as naive_groups
from unmask import Release, datasets, value_disclosure
from unmask.disclosure.values import assess_values
from unmask.errors import RoleError
from unmask.evidence.measure import Context
from unmask.study.study import Study

CODE = st.one_of(st.none(), st.sampled_from(["x", "y", "z"]))


def release(a, b, **roles):
    schema = {"v": pl.String}
    return Release(
        pl.DataFrame({"v": a}, schema=schema).with_columns(k=pl.lit("q")),
        pl.DataFrame({"v": b}, schema=schema).with_columns(k=pl.lit("q")),
        **roles,
    )


@given(st.lists(st.tuples(CODE, CODE), min_size=3, max_size=25))
@example([("x", "w"), ("y", "w"), ("z", "z")] * 2)
def test_equals_definition(rows):
    a, b = [row[0] for row in rows], [row[1] for row in rows]
    if None in a and set(a) == {None}:
        return
    found = value_disclosure(release(a, b, quasi=["k"], confidential=["v"]))
    entry = found.attributes[0]
    told = [row for row in rows if None not in row]
    merged = naive_groups.merging(*map(list, zip(*told, strict=True))) if told else {}
    a = [merged.get(value, value) for value in a]  # where the release merged categories, agreement is that of these
    assert entry.estimate.value == pytest.approx(naive.sadr(a, b))
    assert entry.estimate.chance == pytest.approx(naive.marginal_agreement(a, b))
    assert entry.people.sum() == entry.released.sum() == len(rows)
    assert entry.kept.sum() == sum(x == y for x, y in zip(a, b, strict=True))
    chance = naive.marginal_agreement(a, b)
    assert entry.corrected == pytest.approx((naive.sadr(a, b) - chance) / (1 - chance) if chance < 1 else 0.0)


def test_by_hand_and_by_category():
    found = value_disclosure(release(list("xxxy"), list("xxyy"), quasi=["k"], confidential=["v"]))
    entry = found.attributes[0]
    assert entry.estimate.value == 0.75
    assert entry.estimate.chance == (3 * 2 + 1 * 2) / 16
    assert entry.corrected == pytest.approx((0.75 - 0.5) / 0.5)
    assert entry.by_category[1:].tolist() == [2 / 3, 1.0]


def test_a_constant_category_discloses_nothing_beyond_chance():
    assert value_disclosure(release(["x"] * 9, ["x"] * 9, quasi=["k"], confidential=["v"])).corrected == 0.0


def test_a_98_to_2_category_is_compared_with_chance():
    rare = ["x"] * 98 + ["y"] * 2
    moved = ["y"] * 2 + ["x"] * 98
    found = value_disclosure(release(rare, moved, quasi=["k"], confidential=["v"]))
    assert found.estimate.value == 0.96
    assert found.corrected < 0.01  # 96 % agreement, all of it chance


def test_refusals_and_evidence():
    numbers = pl.DataFrame({"a": [1.5, 2.5]})
    with pytest.raises(RoleError, match="no categorical"):
        value_disclosure(Release(numbers, numbers))
    with pytest.raises(RoleError, match="is numeric"):
        value_disclosure(Release(numbers, numbers), attributes=["a"])
    people = datasets.patients(150, seed=1).drop("patient")
    evidence = assess_values(
        Study(
            Release(people, people, confidential=["diagnosis"], control=datasets.patients(100, seed=2).drop("patient"))
        ),
        Context(),
    )
    estimate = evidence.observations[0].estimate
    assert estimate.value == 1.0 > estimate.control > 0
    assert not evidence.identity
    assert "birth" not in str(evidence.facts)  # no values of the data
