"""Ordinary releases whose columns are written otherwise than in the original: each is seen for what it is."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.study import Study

N = 400
rng = np.random.default_rng(11)
BORN = [dt.date(1935, 1, 1) + dt.timedelta(days=int(k)) for k in rng.integers(0, 24_000, N)]
INCOME = rng.integers(400, 90_000, N).tolist()
AREA = rng.integers(10_000, 10_060, N).tolist()
REGION = dict(zip(range(10_000, 10_060), (rng.permutation(60) // 9 + 1).tolist(), strict=True))
SEX = rng.choice(["f", "m"], N).tolist()
ORIGINAL = pl.DataFrame({"born": BORN, "income": INCOME, "area": AREA, "sex": SEX})


def age(day, on=dt.date(2020, 6, 30)):
    return on.year - day.year - ((day.month, day.day) > (on.month, on.day))


def band(value, width, write="{}-{}"):
    return write.format(f"{value // width * width:,}", f"{value // width * width + width - 1:,}")


ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
FORMS = {
    "age band": ("born", [band(age(day), 10) for day in BORN], "in place of dates"),
    "decade": ("born", [dt.date(day.year // 10 * 10, 1, 1) for day in BORN], "decades in place of dates"),
    "quarter": ("born", [f"Q{(day.month + 2) // 3}/{day.year}" for day in BORN], "quarters in place of dates"),
    "thousands": ("income", [f"{value:,}" for value in INCOME], "plain numbers"),
    "euro bands": ("income", [band(value, 10_000, "€ {} to € {}") for value in INCOME], "intervals"),
    "zero bands": ("income", [band(v, 10_000).replace("0-9", "0,000-9") for v in INCOME], "intervals"),
    "regions": ("area", [REGION[area] for area in AREA], "coarser categories"),
    "prefix": ("area", [f"{area // 10}x" for area in AREA], "coarser categories"),
    "places": ("area", [f"1**{area % 100:02}" for area in AREA], "coarser categories"),
    "no cents": ("income", [f"EUR {value:,},-".replace(",", ".", value > 999) for value in INCOME], "plain numbers"),
    "no rappen": ("income", [f"Fr. {value:,}.–".replace(",", "'") for value in INCOME], "plain numbers"),
    "about": ("income", [f"{('~', 'ca.', 'About')[value % 3]} {value}" for value in INCOME], "plain numbers"),
    "lakhs": (
        "income",
        [f"₹ {value // 1000},{value % 1000:03}" if value > 999 else f"₹ {value}" for value in INCOME],
        "plain",
    ),
    "short quarter": ("born", [f"{(day.month + 2) // 3}Q{day.year % 100:02}" for day in BORN], "quarters in place"),
    "short month": ("born", [f"{day:%m/%y}" for day in BORN], "months in place"),
    "Roman month": ("born", [f"{ROMAN[day.month - 1]}/{day.year}" for day in BORN], "months in place"),
    "Roman quarter": ("born", [f"{ROMAN[(day.month - 1) // 3]}/{day.year}" for day in BORN], "quarters in place"),
    "Roman day": ("born", [f"{day.day}.{ROMAN[day.month - 1]}.{day.year}" for day in BORN], "days in place"),
    "day of the year": ("born", [int(f"{day:%Y%j}") for day in BORN], "days in place"),
    "six digits": ("born", [f"{day:%d%m%y}" for day in BORN], "days in place"),
    "American digits": ("born", [int(f"{day:%m%d%y}") for day in BORN], "days in place"),
    "words before a prefix": ("area", [f"PLZ {area // 10}" for area in AREA], "coarser categories"),
    "words before a decade": ("born", [f"born in the {day.year // 10 * 10}s" for day in BORN], "in place of dates"),
    "fifths": ("income", [("lowest", "low", "middle", "high", "top")[value // 18_000] for value in INCOME], "coarser"),
    "generations": ("born", [("silent", "boomer", "X")[(day.year - 1910) // 35] for day in BORN], "coarser"),
    "nth of": ("born", [f"{day.day}th of {day:%B}, {day.year}" for day in BORN], "read as days"),
}


@pytest.mark.parametrize("form", FORMS)
def test_everybody_finds_their_own_value_and_the_crowd_is_counted(form):
    name, published, rule = FORMS[form]
    release = unmask.Release(ORIGINAL, ORIGINAL.with_columns(pl.Series(name, published)))
    study = Study(release)
    told = next(entry for entry in unmask.check(study).columns if entry.name == name)
    assert told.own == 1.0
    assert rule in told.rule
    assert not any(str(value) in told.rule + told.original + told.released for value in (INCOME[0], AREA[0], BORN[0]))
    columns = [name, "sex"]
    matcher = study.matcher
    crowd = matcher.match([matcher.names.index(column) for column in columns]).crowd
    counted = Counter(zip(published, SEX, strict=True))
    assert crowd.tolist() == [counted[pair] for pair in zip(published, SEX, strict=True)]


def test_open_ends_in_short_words_and_shares_of_a_thousand():
    ages = [age(day) for day in BORN]
    original = ORIGINAL.select("sex").with_columns(age=pl.Series(ages), share=pl.Series(rng.random(N).round(3)))
    published = original.with_columns(
        age=pl.Series(["Ü65" if one > 65 else "u30" if one < 30 else str(one) for one in ages]),
        share=pl.Series([f"{1000 * one:.0f} ‰" for one in original["share"]]),
    )
    told = {entry.name: entry.own for entry in unmask.check(unmask.Release(original, published)).columns}
    assert told == {"sex": 1.0, "age": 1.0, "share": 1.0}


def test_an_empty_cell_beside_a_single_word_is_an_answer():
    published = ORIGINAL.with_columns(sex=pl.Series(["x" if one == "f" else None for one in SEX]))
    told = next(one for one in unmask.check(unmask.Release(ORIGINAL, published)).columns if one.name == "sex")
    assert told.own == 1.0
    assert "an empty cell is an answer" in told.rule
    lost = pl.Series([one if one == "f" and k % 3 else None for k, one in enumerate(SEX)])
    told = next(
        one
        for one in unmask.check(unmask.Release(ORIGINAL, ORIGINAL.with_columns(sex=lost))).columns
        if one.name == "sex"
    )
    assert "an empty cell is an answer" not in told.rule  # some women's cells are empty as well


def test_codes_that_begin_with_u_are_no_ages():
    codes = rng.choice(["U07", "U30", "U65", "K35", "M16"], N)
    original = ORIGINAL.select("sex").with_columns(code=pl.Series(codes))
    told = next(one for one in unmask.check(unmask.Release(original, original)).columns if one.name == "code")
    assert (told.kind, told.own) == ("categorical", 1.0)


@pytest.mark.parametrize(
    "write", [lambda v: f"{1000 * v % 9:.0f}:9", lambda v: f"{v:.2f}x{v:.2f}", lambda v: f"1m{100 * v:02.0f}"]
)
def test_what_is_not_understood_is_told_and_blocks_safe(write):
    """People who are all alike in what is understood: nothing but the column that is not stands in the way."""
    shares = rng.uniform(0.1, 0.9, N)
    original = ORIGINAL.select("sex").with_columns(share=pl.Series(shares.round(3)))
    release = unmask.Release(original, original.with_columns(share=pl.Series([write(one) for one in shares])))
    assert next(one.own for one in unmask.check(release).columns if one.name == "share") is None
    found = unmask.assess(release, only=["anonymity", "nearest", "one_to_one", "uniqueness"])
    assert "'share'" in next(one.claim for one in found.findings if one.key == "columns.compared")
    assert found.verdict != "safe"


def test_a_column_in_two_currencies_is_told_and_the_verdict_is_not_safe():
    mixed = [f"{value} {'€' if k % 2 else '$'}" for k, value in enumerate(rng.permutation(INCOME))]
    release = unmask.Release(ORIGINAL.drop("born", "area"), pl.DataFrame({"income": mixed, "sex": SEX}))
    told = next(entry for entry in unmask.check(release).columns if entry.name == "income")
    assert told.own is None
    found = unmask.assess(release, only=["nearest", "uniqueness"])
    assert "'income'" in next(f.claim for f in found.findings if f.key == "columns.compared")
    assert found.verdict != "safe"


def test_words_around_the_values_of_the_original_are_no_hindrance():
    original = ORIGINAL.with_columns(area=pl.Series([f"PLZ {area}" for area in AREA]))
    published = ORIGINAL.with_columns(area=pl.Series([f"area {area // 10}" for area in AREA]))
    told = next(one for one in unmask.check(unmask.Release(original, published)).columns if one.name == "area")
    assert told.own == 1.0
