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


def test_a_column_in_two_currencies_is_told_and_the_verdict_is_not_safe():
    mixed = [f"{value} {'€' if k % 2 else '$'}" for k, value in enumerate(rng.permutation(INCOME))]
    release = unmask.Release(ORIGINAL.drop("born", "area"), pl.DataFrame({"income": mixed, "sex": SEX}))
    told = next(entry for entry in unmask.check(release).columns if entry.name == "income")
    assert told.own is None
    found = unmask.assess(release, only=["nearest", "uniqueness"])
    assert "'income'" in next(f.claim for f in found.findings if f.key == "columns.compared")
    assert found.verdict != "safe"
