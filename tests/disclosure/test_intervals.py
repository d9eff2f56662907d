from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import disclosure as naive
from unmask import Release, datasets, interval_disclosure, parse_masking
from unmask.disclosure.intervals import assess_intervals
from unmask.errors import ParameterError, RoleError
from unmask.evidence.measure import Context
from unmask.study.study import Study

VALUE = st.sampled_from([-2.0, 0.0, 0.5, 1.0, 7.25, 8.0])


def release(values, masked, **roles):
    return Release(pl.DataFrame({"v": values}), pl.DataFrame({"v": masked}), kinds={"v": "numeric"}, **roles)


@given(st.lists(st.tuples(VALUE, VALUE), min_size=2, max_size=30).filter(lambda rows: len({a for a, _ in rows}) > 1))
def test_equals_the_slides_with_the_ends_clamped(rows):
    values, masked = [a for a, _ in rows], [b for _, b in rows]
    found = interval_disclosure(release(values, masked))
    entry = found.attributes[0]
    everybody = range(len(rows))
    for k, p in enumerate(range(1, 21)):
        assert entry.rank[k] == pytest.approx(np.mean([naive.rank_interval(values, masked, i, p) for i in everybody]))
        crossed = [
            [naive.rank_interval([*values], [masked[j]] * len(rows), i, p) for i in everybody] for j in everybody
        ]
        assert entry.rank_chance[k] == pytest.approx(np.mean(crossed))
    assert found.rank.value == pytest.approx(np.mean(entry.rank))
    assert (np.diff(entry.rank) >= 0).all() and (np.diff(entry.sd) >= 0).all()


@given(st.lists(st.tuples(VALUE, VALUE), min_size=3, max_size=20).filter(lambda rows: len({a for a, _ in rows}) > 1))
def test_sd_equals_the_slides(rows):
    values, masked = [a for a, _ in rows], [b for _, b in rows]
    entry = interval_disclosure(release(values, masked), widths=(0.03, 0.5)).attributes[0]
    for k, p in enumerate((3.0, 50.0)):
        assert entry.sd[k] == pytest.approx(
            np.mean([naive.sd_interval(values, masked, i, p) for i in range(len(rows))])
        )


def test_by_hand():
    """Ten people; the masked value of the last is the lowest rank. w = 10 * 20 / 200 = 1: the next rank is reached."""
    values = [float(v) for v in range(10)]
    found = interval_disclosure(release(values, [*values[:8], 9.0, 0.0]), widths=(0.2,))
    assert found.attributes[0].rank == (0.9,)  # 9 became 0, eight ranks too far; 8 became 9, one rank away
    assert found.rank_per_record.tolist() == [1.0] * 9 + [0.0]


def test_the_swapped_clamp_of_the_slide_would_disclose_nothing_or_everything():
    """With min(i - w, 0) and max(i + w, n - 1) every window is the whole column: all are disclosed. Not so here."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=400)
    assert interval_disclosure(release(values, rng.permutation(values))).rank.value < 0.2


@given(st.lists(st.tuples(VALUE, VALUE), min_size=4, max_size=30), st.randoms())
def test_row_order_changes_nothing(rows, random):
    tables = [pl.DataFrame({"id": range(len(rows)), "v": [row[k] for row in rows]}) for k in (0, 1)]
    if tables[0]["v"].n_unique() < 2:
        return
    order = random.sample(range(len(rows)), len(rows))
    kinds = {"v": "numeric"}
    one = interval_disclosure(Release(*tables, id="id", kinds=kinds))
    two = interval_disclosure(Release(tables[0][order], tables[1], id="id", kinds=kinds))
    assert two.rank == one.rank and two.sd == one.sd
    assert two.rank_per_record.tolist() == one.rank_per_record[order].tolist()


def test_missing_constant_and_tied():
    values = [1.0, 2.0, None, 4.0, 4.0, 4.0]
    found = interval_disclosure(release(values, [1.0, None, 3.0, 4.0, 4.0, 9.0]), widths=(0.01,))
    assert np.isnan(found.rank_per_record[2])  # nothing to disclose
    assert found.rank_per_record[1] == 0.0  # suppressed: nothing is disclosed
    assert found.rank_per_record[3] == 1.0
    both = pl.DataFrame(
        {"v": [1.0, 2.0, 3.0], "c": [5.0, 5.0, 5.0], "e": [None, None, None]}, schema_overrides={"e": float}
    )
    found = interval_disclosure(Release(both, both, quasi=["v"], confidential=["c", "e"]), attributes=["v", "c", "e"])
    assert [entry.name for entry in found.attributes] == ["v"]
    assert len(found.notes) == 2 and "'c'" in found.notes[0]
    with pytest.raises(RoleError, match="no numeric attribute"):
        interval_disclosure(Release(both.select("c"), both.select("c")))
    with pytest.raises(ParameterError, match="widths"):
        interval_disclosure(release([1.0, 2.0], [1.0, 2.0]), widths=(0.05, 0.05))


def test_intervals_in_the_release_are_compared_with_the_persons_own_number():
    ages = pl.DataFrame({"age": [31.0, 38.0, 45.0, 52.0, 67.0] * 8})
    bands = ages.select(
        (
            (pl.col("age") // 10 * 10).cast(int).cast(str) + "-" + (pl.col("age") // 10 * 10 + 9).cast(int).cast(str)
        ).alias("age")
    )
    found = interval_disclosure(Release(ages, bands))
    assert found.sd.value < 1.0


def test_dates_and_more_noise():
    people = datasets.patients(300, seed=1).drop("patient")
    rates = []
    for noise in (0.05, 0.5, 2.0):
        masked = parse_masking(f"noise({noise})").apply(people, 1)
        assert "admitted" in [e.name for e in interval_disclosure(Release(people, masked)).attributes]
        rates.append(interval_disclosure(Release(people, masked), attributes=["cost"]).rank.value)
    assert rates[0] > rates[1] > rates[2]


def test_evidence_and_people_outside():
    people, outside = datasets.patients(200, seed=1).drop("patient"), datasets.patients(200, seed=2).drop("patient")
    masked = parse_masking("noise(0.2)").apply(people, 1)
    evidence = assess_intervals(Study(Release(people, masked, confidential=["cost"], control=outside)), Context())
    assert [o.key for o in evidence.observations] == ["intervals.rank", "intervals.sd", "intervals.denoised"]
    assert not evidence.identity
    for observation in evidence.observations:
        estimate = observation.estimate
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert estimate.chance < estimate.control < estimate.value
    assert len(evidence.figures[0].series) == 4


def test_the_former_grid_of_percents_means_the_same_and_is_told():
    people = release([1.0, 2.0, 4.0, 8.0, 16.0], [1.0, 3.0, 4.0, 9.0, 12.0])
    with pytest.warns(DeprecationWarning, match="widths"):
        former = interval_disclosure(people, grid=(0.5, 29.0))
    assert former.attributes == interval_disclosure(people, widths=(0.005, 0.29)).attributes
    assert former.widths == (0.005, 0.29)
    with pytest.raises(ParameterError, match="can be either"):
        interval_disclosure(people, grid=(0.1, 1.0))


def test_a_share_of_the_people_is_a_whole_number_of_them():
    """0.29 * 100 is 28.999... in floating point: 29 people all the same."""
    values = [float(v) for v in range(100)]
    far = [max(0.0, v - 14.0) for v in values[:50]] + [v - 14.5 for v in values[50:]]
    entry = interval_disclosure(release(values, far), widths=(0.29,)).attributes[0]
    assert entry.rank[0] == np.mean([naive.rank_interval(values, far, i, 29) for i in range(100)])
