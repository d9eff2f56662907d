"""The user's own analyses on both tables: what is computed, how sure it is, and how far two answers agree."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import unmask
from command_line import run
from unmask.errors import ParameterError, RoleError, TableError
from unmask.utility.analyses import compare_analyses, interval_overlap, parse_analysis


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    n = 600
    age = rng.integers(18, 90, n)
    sex = rng.choice(["f", "m"], n)
    income = 900 + 30.0 * age + 400 * (sex == "m") + rng.normal(0, 500, n)
    smoker = rng.choice(["yes", "no"], n, p=[0.3, 0.7])
    region = rng.choice(["north", "south", "west"], n)
    return pl.DataFrame({"age": age, "sex": sex, "income": income, "smoker": smoker, "region": region})


def one(people, text, released=None):
    (kept,) = compare_analyses(people, people if released is None else released, [text])
    return kept


ALL = ["mean(income)", "mean(income) by region", "total(income) by sex", "sd(income)", "median(income) by region, sex",
       "quantile(income, 0.9)", "count by region", "share(smoker = yes) by sex", "correlation(age, income)",
       "income ~ age + sex"]  # fmt: skip


@pytest.mark.parametrize("text", ALL)
def test_the_same_table_gives_the_same_answers(people, text):
    kept = one(people, text)
    assert kept.overlap == 1
    assert (kept.original == kept.released).all()
    assert (kept.original_interval[:, 0] <= kept.original).all()
    assert (kept.original <= kept.original_interval[:, 1]).all()
    assert "overlap by 100 %" in kept.words


@pytest.mark.parametrize("text", ALL)
def test_rows_in_another_order_change_nothing(people, text):
    shuffled = people.sample(fraction=1.0, shuffle=True, seed=3)
    kept = one(people, text, shuffled)
    np.testing.assert_allclose(kept.original, kept.released, rtol=1e-9)


def test_by_hand(people):
    by = {row["region"]: row["income"] for row in people.group_by("region").agg(pl.col("income").mean()).to_dicts()}
    kept = one(people, "mean(income) by region")
    assert kept.labels == ("north", "south", "west")
    np.testing.assert_allclose(kept.original, [by[label] for label in kept.labels])
    north = people.filter(region="north")["income"].to_numpy()
    ends = stats.norm.interval(0.95, north.mean(), stats.sem(north))
    np.testing.assert_allclose(kept.original_interval[0], ends)
    r = stats.pearsonr(people["age"].to_numpy(), people["income"].to_numpy())
    kept = one(people, "correlation(age, income)")
    np.testing.assert_allclose(kept.original_interval[0], r.confidence_interval(0.95), rtol=1e-9)
    line = stats.linregress(people["age"].to_numpy(), people["income"].to_numpy())
    kept = one(people, "income ~ age")
    assert kept.labels == ("intercept", "age")
    np.testing.assert_allclose(kept.original, [line.intercept, line.slope])
    wide = np.diff(kept.original_interval, axis=1).ravel() / (2 * stats.norm.ppf(0.975))
    np.testing.assert_allclose(wide, [line.intercept_stderr, line.stderr], rtol=1e-9)
    shares = one(people, "share(smoker = yes)")
    smokers = int((people["smoker"] == "yes").sum())
    ends = stats.binomtest(smokers, people.height).proportion_ci(method="wilson")
    np.testing.assert_allclose(shares.original_interval[0], ends, rtol=1e-9)
    assert one(people, "count by sex").original.tolist() == [people.filter(sex=s).height for s in "fm"]
    assert one(people, "total(income)").original[0] == pytest.approx(people["income"].sum())


def test_levels_of_a_category_are_held_against_the_first(people):
    kept = one(people, "income ~ sex")
    means = people.group_by("sex").agg(pl.col("income").mean()).sort("sex")["income"]
    assert kept.labels == ("intercept", "sex=m")
    np.testing.assert_allclose(kept.original, [means[0], means[1] - means[0]])


@pytest.mark.parametrize("text", ["mean(x)", "sd(x)", "median(x)", "quantile(x, 0.9)", "share(g = a)", "y ~ x"])
def test_intervals_cover_what_they_are_for(text):
    rng = np.random.default_rng(8)
    truth = {"mean(x)": 1.0, "sd(x)": 1.0, "median(x)": np.log(2), "quantile(x, 0.9)": np.log(10), "share(g = a)": 0.2}
    hits = []
    for _ in range(300):
        x = rng.exponential(1.0, 400)
        table = pl.DataFrame(
            {"x": x, "y": 2 * x + rng.normal(0, 1, 400), "g": rng.choice(["a", "b"], 400, p=[0.2, 0.8])}
        )
        kept = one(table, text)
        low, high = kept.original_interval[-1]
        hits.append(low <= truth.get(text, 2.0) <= high)
    assert 0.90 <= np.mean(hits) <= 0.99


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [((0, 2), (0, 2), 1), ((0, 2), (1, 3), 0.5), ((0, 2), (3, 4), 0), ((0, 4), (1, 2), 0.625), ((1, 1), (1, 1), 1),
     ((1, 1), (2, 2), 0), ((0, 2), (1, 1), 0.5), ((0, 2), (np.nan, np.nan), 0)],
)  # fmt: skip
def test_overlap_by_hand(first, second, overlap):
    assert interval_overlap(first, second) == overlap
    assert interval_overlap(second, first) == overlap


def test_noise_moves_answers_and_the_more_the_less_is_kept(people):
    far = [
        one(people, "mean(income) by region", people.with_columns(pl.col("income") + gap)).overlap
        for gap in (0, 50, 500)
    ]
    assert far[0] == 1 > far[1] > far[2] == 0


def test_what_the_release_cannot_answer_is_said(people):
    gone = one(people, "mean(income) by region", people.drop("region"))
    assert gone.overlap == 0
    assert "no column 'region'" in gone.words
    other = one(people, "mean(income) by region", people.with_columns(region=pl.lit("all of it")))
    assert other.overlap == 0
    assert "other names" in other.words
    words = one(people, "mean(income)", people.with_columns(income=pl.lit("much")))
    assert "holds no numbers" in words.words
    fewer = one(people, "mean(income) by region", people.filter(pl.col("region") != "west"))
    assert fewer.overlap == pytest.approx(2 / 3)
    assert np.isnan(fewer.released[2])


def test_intervals_count_with_their_middle(people):
    bands = unmask.parse_masking("recoding(100, columns=[income])").apply(people)
    kept = one(people, "mean(income) by region", bands)
    assert kept.overlap > 0.9


@pytest.mark.parametrize(
    ("text", "error"),
    [("meen(income)", ParameterError), ("mean()", ParameterError), ("mean(income, age)", ParameterError),
     ("mean(wages)", RoleError), ("mean(income) by town", RoleError), ("quantile(income, 2)", ParameterError),
     ("quantile(income, x)", ParameterError), ("quantile(income)", ParameterError), ("share(smoker)", ParameterError),
     ("income ~", ParameterError), ("~ age", ParameterError), ("income ~ wages", RoleError), ("", ParameterError)],
)  # fmt: skip
def test_clear_refusals(people, text, error):
    with pytest.raises(error):
        parse_analysis(text, people.columns)


def test_an_analysis_without_numbers_on_the_original_is_refused(people):
    empty = people.with_columns(income=pl.lit(None, dtype=pl.Float64))
    with pytest.raises(TableError, match="no number on the original"):
        compare_analyses(empty, people, ["mean(income)"])
    with pytest.raises(TableError, match="too few complete records"):
        compare_analyses(people.head(2), people, ["income ~ age + sex"])


def test_the_command(people, tmp_path, capsys):
    files = [str(tmp_path / name) for name in ("a.csv", "b.csv", "u.json")]
    people.write_csv(files[0])
    people.with_columns(pl.col("income") + 1000).write_csv(files[1])
    asked = ["--keep", "mean(income) by region", "--keep", "count by sex"]
    assert run("utility", *files[:2], *asked, "-o", files[2]) == 0
    shown = capsys.readouterr().out
    assert "0 of 3 numbers stay" in shown
    assert "count by sex: 2 of 2 numbers stay" in shown
    written = json.loads(Path(files[2]).read_text())
    assert [one["overlap"] for one in written["analyses"]] == [0, 1]
    assert written["columns"]["age"] == 1 > written["columns"]["income"]
    assert run("utility", *files[:2], *asked, "-o", "-") == 0
    assert json.loads(capsys.readouterr().out) == written
    assert run("utility", *files[:2], "--keep", "mean(wages)") == 2
    assert "no column is called 'wages'" in capsys.readouterr().err
