"""Two tables that say the same in different writings must be compared, and what cannot be must be said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unmask
from unmask.errors import EngineError, ParameterError, RoleError, TableError
from unmask.evidence.measure import Context
from unmask.groups.uniqueness import assess_uniqueness
from unmask.study.match import make_matcher
from unmask.study.study import Study
from unmask.tables.encode import encode

CODES = pl.Series([f"{code:05d}" for code in range(1000, 99000, 331)])
N = len(CODES)


def exact(release):
    return assess_uniqueness(Study(release), Context()).observations[0].estimate.value


def nearest(release):
    return unmask.link_nearest(release).estimate.value


@pytest.mark.parametrize("mark", ["*", "NA", ""])
def test_leading_zeros_beside_missing_marks(tmp_path, mark):
    pl.DataFrame({"code": CODES}).write_csv(tmp_path / "a.csv")
    lines = ["code", *(mark if i % 10 == 0 else code for i, code in enumerate(CODES)), "x,"[:0]]
    (tmp_path / "b.csv").write_text("code,k\n" + "\n".join(f"{line},1" for line in lines[1:-1]))
    (tmp_path / "a.csv").write_text("code,k\n" + "\n".join(f"{code},1" for code in CODES))
    release = unmask.Release(tmp_path / "a.csv", tmp_path / "b.csv")
    assert release.released["code"].dtype == pl.String
    assert exact(release) == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("shorten", [lambda t: t[:4] + "*", lambda t: t[:4], lambda t: t[:3] + "*"])
def test_shortened_codes_are_matched_by_their_beginnings(shorten):
    original, released = pl.DataFrame({"c": CODES}), pl.DataFrame({"c": [shorten(text) for text in CODES]})
    crowd = released["c"].value_counts()["count"]
    assert exact(unmask.Release(original, released)) == pytest.approx(len(crowd) / N)


def test_a_mark_in_a_frame_is_missing_and_spoils_no_column():
    ages = np.arange(20, 80, 60 / N)
    bands = pl.Series([f"{int(a) // 5 * 5}-{int(a) // 5 * 5 + 4}" for a in ages])
    clean, marked = bands, bands.set(pl.Series(np.arange(N) == 7), "*")
    for column in (marked, bands.set(pl.Series(np.arange(N) == 7), "unknown")):
        with_mark = exact(unmask.Release(pl.DataFrame({"a": ages}), pl.DataFrame({"a": column})))
        assert with_mark == pytest.approx(
            exact(unmask.Release(pl.DataFrame({"a": ages}), pl.DataFrame({"a": clean}))), abs=0.01
        )


@pytest.mark.parametrize(
    "band",
    [
        lambda a, i: f"{a // 10 * 10}-{a // 10 * 10 + 9}" if i % 2 else f"{a // 20 * 20}-{a // 20 * 20 + 19}",
        lambda a, i: f"{a // 10 * 10}-{a // 10 * 10 + 10}",
    ],
    ids=["local recoding", "shared ends"],
)
def test_overlapping_intervals_match_by_containment(band):
    rng = np.random.default_rng(0)
    ages, towns = rng.integers(20, 80, 200), rng.choice(list("abcdefgh"), 200)
    published = [band(int(a), i) for i, a in enumerate(ages)]
    release = unmask.Release(
        pl.DataFrame({"age": ages, "town": towns}),
        pl.DataFrame({"age": published, "town": towns}),
        kinds={"age": "numeric"},
    )
    encoding = encode(release)
    low, high = (encoding.spans["age"].low, encoding.spans["age"].high)
    match = make_matcher(encoding).match()
    credit, crowd = match.credit(release.truth), match.crowd
    for i in range(200):
        same = [j for j in range(200) if low[j] <= ages[i] <= high[j] and towns[i] == towns[j]]
        assert crowd[i] == len(same)
        assert credit[i] == (1 / len(same) if i in same else 0)


def test_bands_of_whole_numbers_leave_no_gap():
    ages = np.array([30.0, 39.5, 39.99, 40.0, 49.9])
    released = pl.DataFrame({"a": ["30-39", "30-39", "30-39", "40-49", "40-49"]})
    encoding = encode(unmask.Release(pl.DataFrame({"a": ages}), released))
    assert np.array_equal(encoding.original.numeric, encoding.released.numeric)


def test_levels_as_numbers_text_and_merged():
    ints = pl.DataFrame({"x": [1, 2, 3, 2] * 5})
    for other in (ints.cast(pl.Float64), ints.cast(pl.String)):
        encoding = encode(unmask.Release(ints, other, kinds={"x": "ordinal"}))
        assert np.array_equal(encoding.original.numeric, encoding.released.numeric)
    levels = pl.DataFrame({"x": ["low", "mid", "high", "mid"] * 10}, schema={"x": pl.Enum(["low", "mid", "high"])})
    merged = pl.DataFrame({"x": ["small", "small", "large", "small"] * 10})
    encoding = encode(unmask.Release(levels, merged))
    assert np.array_equal(encoding.original.codes, encoding.released.codes)


@pytest.mark.parametrize("write", [{True: "True", False: "False"}, {True: "1", False: "0"}, {True: "yes", False: "no"}])
def test_true_and_false_however_written(write):
    truths = [True, False, False, True]
    encoding = encode(unmask.Release(pl.DataFrame({"x": truths}), pl.DataFrame({"x": [write[t] for t in truths]})))
    assert np.array_equal(encoding.original.codes, encoding.released.codes)


def test_long_whole_numbers_are_told_apart():
    table = pl.DataFrame({"account": [2**60 + i for i in range(5)]})
    assert exact(unmask.Release(table, table)) == 1.0


def test_a_foreign_coding_is_said_and_left_out():
    original = pl.DataFrame({"sex": ["m", "f"] * 20, "age": [a + 0.5 for a in range(40)]})
    released = original.with_columns(sex=pl.Series(["1", "2"] * 19 + ["2", "1"]))
    encoding = encode(unmask.Release(original, released))
    assert encoding.foreign == ("sex",)
    assert any("cannot be compared" in note for note in encoding.notes)
    assert exact(unmask.Release(original, released)) == 1.0  # by age alone
    with pytest.raises(EngineError, match="in common"):
        Study(unmask.Release(original, released, quasi=["sex"])).comparable.match()


def test_pandas_intervals_and_missing_objects():
    ages = pd.DataFrame({"a": np.arange(20, 80)})
    cut = pd.DataFrame({"a": pd.cut(ages["a"], [0, 30, 50, 100])})
    labelled = pd.DataFrame({"a": pd.cut(ages["a"], [0, 30, 50, 100], labels=["0-30", "31-50", "51-100"])})
    for released in (cut, labelled):
        assert exact(unmask.Release(ages, released)) == pytest.approx(3 / 60)
    odd = unmask.Release(pd.DataFrame({"x": ["a", pd.NA, 3]}), pd.DataFrame({"x": ["a", pd.NA, 3]}))
    assert odd.original["x"].to_list() == ["a", None, "3"]


def test_dates_as_text_months_and_years():
    days = pl.Series(pd.date_range("2020-01-01", periods=90, freq="11D").date)
    original = pl.DataFrame({"d": days})
    for form in ("%Y-%m-%d", "%Y-%m", "%Y"):
        written = pl.DataFrame({"d": [day.strftime(form) for day in days]})
        expected = written["d"].n_unique() / 90
        assert exact(unmask.Release(original, written)) == pytest.approx(expected), form


def test_ids_as_whole_floats():
    table = pl.DataFrame({"id": [1, 2, 3], "v": [1.5, 2.5, 3.5]})
    assert unmask.Release(table, table.with_columns(pl.col("id").cast(pl.Float64)), id="id").truth.tolist() == [0, 1, 2]


def test_roles_are_single_and_columns_known_once():
    table = pl.DataFrame({"x": [1.5, 2.5], "y": [1.5, 1.0], "z": [1.5, 3.0]})
    assert unmask.Release(table, table, quasi=["x", "x", "y"]).quasi == ("x", "y")
    with pytest.raises(RoleError, match="two roles"):
        unmask.Release(table, table, weight="y", ignored=["y"])
    with pytest.raises(TableError, match="beyond 1e"):
        unmask.Release(table.with_columns(x=pl.lit(1e200)), table)


def test_errors_of_the_api_quote_no_value():
    original, released = pl.DataFrame({"x": [1, 2, 3]}), pl.DataFrame({"x": ["1", "secretvalue", "3"]})
    assessment = unmask.assess(unmask.Release(original, released, kinds={"x": "ordinal"}))
    assert "secretvalue" not in str(assessment.to_dict())
    big = pl.DataFrame({"x": [1e90, 2.5, 3.5]})
    unmask.link_nearest(unmask.Release(big, big, categorical=["x"]))


def test_weights_of_mahalanobis_are_refused():
    people = unmask.datasets.census(30)
    with pytest.raises(ParameterError, match="takes no weights"):
        unmask.link_nearest(unmask.Release(people, people), metric="mahalanobis", weights={"wages": 2.0})


def test_header_of_numbers_long_cells_and_old_line_ends(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,2\n3,4\n")
    with pytest.raises(TableError, match="not names"):
        unmask.Release(path, path)
    path.write_bytes(b"\n\na,b\r1,2\r\r3,4\r")
    assert unmask.Release(path, path).original.rows() == [(1, 2), (3, 4)]
    path.write_text(f'a,b\n"{"x" * 200_000}",2\n')
    assert unmask.Release(path, path).original.height == 1


def test_equal_rows_do_not_make_a_sample_depend_on_their_order():
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"id": range(120), "v": rng.integers(0, 4, 120) + 0.5, "w": rng.integers(0, 3, 120) + 0.5})
    masked = unmask.parse_masking("noise(0.4)").apply(table.drop("id"), 1).insert_column(0, table["id"])
    rates = set()
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(120)
        rates.add(unmask.link_nearest(unmask.Release(table[order], masked, id="id"), sample=30, seed=3).estimate.value)
    assert len(rates) == 1


def test_one_missing_and_one_zero_on_every_engine():
    import pyarrow as pa

    values = [1.0, None, float("nan"), None, 0.0, -0.0, 2.0]
    frames = (
        pl.DataFrame({"v": values}),
        pd.DataFrame({"v": values}),
        pa.table({"v": pa.array(values, from_pandas=False)}),
    )
    assert {unmask.group_risk(frame, quasi="v").n_groups for frame in frames} == {4}
