from __future__ import annotations

from math import factorial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from naive import groups as naive
from unmask.errors import EngineError, ParameterError, RoleError
from unmask.groups.claims import Claims
from unmask.groups.special_uniques import msu_weights, search_release, special_uniques
from unmask.study import Matcher

KEYS9 = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"]
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3), st.sampled_from([0.5, 1.5, None])),
    min_size=1,
    max_size=14,
)
MIXED = pl.DataFrame(
    {
        "word": ["a", "a", "b", None, None, "c", "a", "b"],
        "whole": [1, 1, 2, 2, 3, 1, 2, 2],
        "number": [0.5, 0.5, None, 1.5, 1.5, 0.5, None, None],
    }
)


def frame(rows):
    return pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Int64, "c": pl.Float64}, orient="row")


@given(ROWS)
def test_scores_by_definition(rows):
    found = special_uniques(frame(rows), quasi=["a", "b", "c"])
    scores, parts = np.zeros(len(rows)), np.zeros((len(rows), 3))
    for i, attributes in naive.minimal_sample_uniques(rows):
        scores[i] += factorial(3 - len(attributes))
        for k in attributes:
            parts[i, k] += factorial(3 - len(attributes))
    assert found.scores.tolist() == scores.tolist()
    shares = np.divide(parts, scores[:, None], out=np.zeros_like(parts), where=scores[:, None] > 0)
    for k in range(3):
        assert found.classes.spread(found.class_contributions[:, k]) == pytest.approx(shares[:, k])
    assert ((found.per_record >= 0) & (found.per_record <= 1)).all()
    assert (found.per_record > 0).tolist() == (scores > 0).tolist()


@pytest.mark.casc
def test_sdcmicro_scores_contributions_and_dis():
    """sdcMicro 5.8.1, suda2 with Elliot's scores and DisFraction 0.01 (a float there: 4e-8)."""
    wanted, by_attribute = reference.golden("suda2_td9_elliot"), reference.golden("suda2_td9_elliot_attr")
    found = special_uniques(reference.data("household"), quasi=KEYS9)
    assert found.scores == pytest.approx(wanted["score"].to_numpy(), abs=1e-9)
    assert found.per_record == pytest.approx(wanted["disScore"].to_numpy(), abs=1e-6)
    for k, key in enumerate(KEYS9):
        mine = found.classes.spread(found.class_contributions[:, k])
        assert mine == pytest.approx(wanted[f"{key}_contribution"].to_numpy(), abs=1e-9)
    assert [100 * found.attributes[key] for key in KEYS9] == pytest.approx(
        by_attribute["contribution"].to_list(), abs=1e-9
    )


def test_same_on_every_engine(engine):
    here, there = (special_uniques(table, quasi=["word", "whole", "number"]) for table in (MIXED, engine.frame(MIXED)))
    assert there.class_scores.tolist() == here.class_scores.tolist()
    assert there.class_dis.tolist() == here.class_dis.tolist()
    assert there.classes.columns.rows() == here.classes.columns.rows()
    assert there.scores.tolist() == here.scores.tolist()
    assert there.per_record.tolist() == here.per_record.tolist()


def test_ihsn_weights():
    """(2^(M-k) - 1) k! (M-k)! / M!: an MSU of all attributes counts nothing."""
    assert msu_weights(3, "ihsn").tolist() == [7, 1, 1 / 3, 0]
    assert msu_weights(4, "elliot").tolist() == [24, 6, 2, 1, 1]


def test_nobody_unique_gives_zero_and_not_nan():
    """sdcMicro divides 0 by 0 when there are neither uniques nor pairs, and gives NaN for every record."""
    found = special_uniques(pl.DataFrame({"a": [1] * 5, "b": [2] * 5}), quasi=["a", "b"])
    assert found.dis == 0.0
    assert found.per_record.tolist() == [0.0] * 5
    assert found.attributes == {"a": 0.0, "b": 0.0}


def test_character_keys_are_not_numbers():
    """sdcMicro turns text into numbers, NA where it cannot: every word becomes the same missing value."""
    words = pl.DataFrame({"a": ["x", "y", "y", "z"], "b": ["1", "1", "01", "1"]})
    found = special_uniques(words, quasi=["a", "b"])
    assert found.scores.tolist() == [1, 1, 1, 1]
    assert found.sizes.tolist() == [3, 1]  # x, z, "01" alone; (y, "1") as a pair


def test_one_and_two_keys_need_no_dummies():
    """sdcMicro adds constant columns below three keys and warns that the result may be wrong."""
    assert special_uniques(pl.DataFrame({"a": [1, 2, 2]}), quasi="a").scores.tolist() == [1, 0, 0]


def test_values_share_the_contribution():
    found = special_uniques(MIXED, quasi=["word", "whole", "number"])
    shares = found.values("word")
    assert shares["contribution"].sum() == pytest.approx(1.0)
    assert dict(shares.iter_rows())["b"] == 0.0  # the two records with b are the same
    with pytest.raises(ParameterError, match="not a quasi-identifier"):
        found.values("age")


def test_a_small_size_finds_the_small_ones_only():
    whole, small = (special_uniques(MIXED, quasi=["word", "whole", "number"], max_size=size) for size in (3, 1))
    assert small.sizes.tolist() == whole.sizes.tolist()[:1]
    assert set(small.msu_class) <= set(whole.msu_class)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"quasi": []}, RoleError),
        ({"quasi": ["wrod"]}, RoleError),
        ({"max_size": 0}, ParameterError),
        ({"max_size": 4}, ParameterError),
        ({"fraction": 0.0}, ParameterError),
        ({"fraction": 1.001}, ParameterError),
        ({"scoring": "other"}, ParameterError),
        ({"max_work": 3}, EngineError),
    ],
)
def test_refusals(options, error):
    with pytest.raises(error):
        special_uniques(MIXED, **{"quasi": ["word", "whole", "number"], **options})


@given(st.integers(0, 99), st.integers(1, 4))
def test_people_are_looked_up_as_they_are_matched(seed, keys):
    """Each set by itself, with the matcher that knows overlaps; numbers too large to be one number too."""
    rng = np.random.default_rng(seed)
    top = 2**30 if seed % 5 == 0 else 4
    people, rows = (rng.integers(0, 4, (n, 4)).astype(np.int32) * (top // 4) for n in (30, 12))
    matcher = Matcher(tuple("abcd"), people, rows, {})
    chosen = list(range(keys))
    _, holders = np.unique(rows[:, chosen], axis=0, return_index=True)
    claims = Claims(matcher)
    claims.look_up(sum(1 << k for k in chosen), holders.astype(np.int32))
    who, whose = np.divmod(np.concatenate(claims._pairs), len(rows))
    wanted = {(i, j) for i in range(30) for j in holders.tolist() if (people[i, chosen] == rows[j, chosen]).all()}
    assert set(zip(who.tolist(), whose.tolist(), strict=True)) == wanted
    assert len(who) == len(wanted)


@given(st.integers(0, 99), st.integers(1, 6), st.integers(1, 3), st.booleans())
def test_set_by_set_is_the_same_as_all_at_once(seed, keys, size, many):
    """What is told of a release, and every pair of person and record; also where no group counts as small."""
    from unmask.kernels.uniques import claims as kernels

    rng = np.random.default_rng(seed)
    people, rows = (rng.integers(1, 5, (n, keys)).astype(np.int32) for n in (25, 20))
    names = tuple("abcdef"[:keys])
    matcher, size = Matcher(names, people, rows, {}), min(size, keys)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "FEW", 0 if many else 24)
        told, claims = search_release(matcher, size)
    found = special_uniques(matcher.table, quasi=names, max_size=size)
    assert (told.n_special, told.n_sets, told.max_size) == (found.n_special, len(found.msu_mask), size)
    assert (told.dis, told.attributes) == (found.dis, found.attributes)
    record = np.empty(found.classes.n_classes, int)
    record[found.classes.spread(np.arange(len(record)))] = np.arange(20)
    wanted = {
        (i, int(record[one]))
        for one, mask in zip(found.msu_class.tolist(), found.msu_mask.tolist(), strict=True)
        for i in range(25)
        if all(people[i, k] == rows[record[one], k] for k in range(keys) if mask >> k & 1)
    }
    credit, claimed = claims.shared(np.arange(25) % 20)
    assert set(zip(*np.divmod(claims._pairs[0], 20), strict=True)) == wanted
    assert claimed.tolist() == [any(i == person for person, _ in wanted) for i in range(25)]
    crowd = [sum(i == person for person, _ in wanted) for i in range(25)]
    assert credit.tolist() == [1 / crowd[i] if (i, i % 20) in wanted else 0 for i in range(25)]


def test_equal_pairs_are_struck_out_on_the_way(monkeypatch):
    """The same credit, however many pairs may wait."""
    from unmask.groups import claims as module

    rng = np.random.default_rng(3)
    rows = rng.integers(1, 4, (60, 4)).astype(np.int32)
    matcher = Matcher(tuple("abcd"), rows, rows, {})
    whole = search_release(matcher, 3)[1].shared(np.arange(60))
    monkeypatch.setattr(module, "PENDING", 5)
    few = search_release(matcher, 3)[1].shared(np.arange(60))
    assert whole[0].tolist() == few[0].tolist()
    assert whole[0].sum() > 0
