"""Two halves of the columns linked through the release: known answers, beside a test that sees less of it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unmask
from naive.judged import squares
from unmask.errors import ParameterError, RoleError
from unmask.masking import parse_masking

WHOLE = unmask.datasets.census(900, seed=5)
INSIDE, OUTSIDE, OTHERS = WHOLE[:300], WHOLE[300:600], WHOLE[600:]


def mixed(table, seed=0):
    return table.sample(fraction=1.0, shuffle=True, seed=seed)


def found(released, **more):
    return unmask.linkability(unmask.Release(INSIDE, released, control=OUTSIDE, synthetic=True), **more)


def test_a_copy_links_everybody_and_other_people_nobody():
    assert found(mixed(INSIDE)).excess.low > 0.8
    fresh = found(OTHERS)
    assert fresh.excess.low == 0 and fresh.linked.control == pytest.approx(fresh.linked.value, abs=0.08)


def test_finds_what_a_common_neighbour_misses():
    """[GIOMI]_ counts people both of whose halves have the same nearest row: the intruder need not know the second."""
    released = mixed(parse_masking("noise(0.1)").apply(INSIDE, seed=1))
    told = found(released)
    rows, people = released.to_dicts(), INSIDE.to_dicts()
    one, two = (squares(people, rows, list(half), [], "original").argmin(axis=1) for half in told.halves)
    common = float((one == two).mean())
    assert told.linked.value > common and told.excess.low > 0.3


def test_order_of_rows_and_names_of_halves():
    first = found(OTHERS, halves=(["wages", "interest"], ["federal_tax", "state_tax"]))
    again = unmask.Release(mixed(INSIDE), mixed(OTHERS, 2), control=mixed(OUTSIDE, 3), synthetic=True)
    second = unmask.linkability(again, halves=(["wages", "interest"], ["federal_tax", "state_tax"]))
    assert first.linked == second.linked and first.excess == second.excess
    assert first.halves == (("wages", "interest"), ("federal_tax", "state_tax"))


def test_equal_rows_are_shared():
    """Two of each person: the way leads to either."""
    table = pl.DataFrame({"a": [1.0, 2, 3, 4] * 10, "b": [5.0, 7, 9, 11] * 10})
    other = pl.DataFrame({"a": [1.5, 2.5] * 20, "b": [9.0, 5.0] * 20})
    told = unmask.linkability(unmask.Release(table, table, control=other, synthetic=True), halves=(["a"], ["b"]))
    assert told.linked.value == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("halves", "words"), [((["wages"], ["wages"]), "without a common one"), (([], ["wages"]), "an empty half")]
)
def test_bad_halves(halves, words):
    with pytest.raises(ParameterError, match=words):
        found(OTHERS, halves=halves)


def test_bad_input():
    with pytest.raises(RoleError, match="nobody is known"):
        unmask.linkability(unmask.Release(INSIDE, OTHERS, synthetic=True))
    one = unmask.Release(INSIDE, OTHERS, control=OUTSIDE, synthetic=True, quasi=["wages"])
    with pytest.raises(RoleError, match="only one column"):
        unmask.linkability(one)
    told = [f for f in unmask.assess(one, only=["linkability"]).findings if f.measure == "linkability"]
    assert [f.outcome for f in told] == ["does not apply"] and "two columns" in told[0].reason
    with pytest.raises(RoleError, match="overlaps"):
        unmask.linkability(unmask.Release(INSIDE, OTHERS, control=INSIDE, synthetic=True))


@pytest.mark.slow
def test_other_people_are_seldom_above():
    """Rows of other people: the lower end is above 0 in at most one of twenty draws."""
    above = 0
    for seed in range(60):
        table = unmask.datasets.census(450, seed=1000 + seed)
        release = unmask.Release(table[:150], table[150:300], control=table[300:], synthetic=True)
        above += unmask.linkability(release, seed=seed).excess.low > 0
    assert above <= 6


def test_large_files_are_asked_by_a_sample():
    draw = np.random.default_rng(0)
    tables = [pl.DataFrame(draw.normal(size=(2300, 4)), schema=list("abcd")) for _ in range(2)]
    told = unmask.linkability(unmask.Release(tables[0], tables[0], control=tables[1], synthetic=True))
    assert told.linked.n == 2000 and (told.per_record > 0).sum() <= 2000
