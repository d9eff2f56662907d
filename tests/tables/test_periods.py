"""Dates published as periods or ages: the intruder knows which one a date is in."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.study.study import Study
from unmask.tables.encode import encode
from unmask.tables.periods import _unit

DAYS = [dt.date(1950, 1, 1) + dt.timedelta(days=137 * k) for k in range(160)]
ORIGINAL = pl.DataFrame({"d": DAYS, "rest": [0.5] * 160})


def quarter(day):
    return (day.month + 2) // 3


def age(day):
    return 2021 - day.year - ((day.month, day.day) > (5, 15))


FORMS = {
    "decade 1980s": lambda day: f"{day.year // 10 * 10}s",
    "decade 198x": lambda day: f"{day.year // 10}x",
    "decade number": lambda day: day.year // 10 * 10,
    "decade span": lambda day: f"{day.year // 10 * 10}-{day.year // 10 * 10 + 9}",
    "decade date": lambda day: dt.date(day.year // 10 * 10, 1, 1),
    "five years": lambda day: day.year // 5 * 5,
    "year": lambda day: day.year,
    "year text": lambda day: str(day.year),
    "year date": lambda day: dt.date(day.year, 7, 1),
    "half-year": lambda day: f"{day.year}-H{(quarter(day) + 1) // 2}",
    "quarter": lambda day: f"{day.year}-Q{quarter(day)}",
    "quarter first": lambda day: f"Q{quarter(day)} {day.year}",
    "quarter date": lambda day: dt.date(day.year, 3 * quarter(day) - 2, 1),
    "month": lambda day: f"{day:%Y-%m}",
    "month in words": lambda day: f"{day:%B %Y}",
    "month American": lambda day: f"{day.month}/{day.year}",
    "month date": lambda day: day.replace(day=1),
    "month middle": lambda day: day.replace(day=15),
    "month end": lambda day: (day.replace(day=28) + dt.timedelta(days=4)).replace(day=1) - dt.timedelta(days=1),
    "week": lambda day: f"{day:%G-W%V}",
    "week date": lambda day: day - dt.timedelta(days=day.weekday()),
    "day American": lambda day: f"{day.month}/{day.day}/{day.year}",
    "day German": lambda day: f"{day:%d.%m.%Y}",
    "day of two sources": lambda day: f"{day:%Y-%m-%d}" if day.toordinal() % 2 else f"{day:%d.%m.%y}",
    "age": age,
    "age band": lambda day: f"{age(day) // 5 * 5}-{age(day) // 5 * 5 + 4}",
    "age top coded": lambda day: "65+" if age(day) >= 65 else str(age(day)),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_known_date_is_in_its_period_and_in_no_other(form):
    published = [FORMS[form](day) for day in DAYS]
    release = unmask.Release(ORIGINAL, pl.DataFrame({"d": published, "rest": [0.5] * 160}))
    matcher = Study(release).comparable
    match = matcher.match([matcher.names.index("d")])
    assert match.owns(release.truth).all(), form
    sizes = np.array([published.count(value) for value in published])
    assert match.crowd.tolist() == sizes.tolist()
    told = [*encode(release).notes, release.written["d"].released if "d" in release.written else ""]
    assert any("in place of dates" in words or words.startswith("dates ") for words in told)


def test_a_date_time_by_its_day():
    moments = [dt.datetime(2020, 1, 1 + k % 28, k % 24, 30) for k in range(60)]  # noqa: DTZ001
    release = unmask.Release(pl.DataFrame({"d": moments}), pl.DataFrame({"d": [m.date() for m in moments]}))
    assert Study(release).matcher.match().owns(release.truth).all()


def test_missing_and_unreadable_cells_match_nobody():
    published = [str(day.year) for day in DAYS]
    published[3], published[5] = None, "1951"
    release = unmask.Release(ORIGINAL.select("d"), pl.DataFrame({"d": published}))
    owns = Study(release).matcher.match().owns(release.truth)
    assert not owns[3] and owns.sum() >= 158


def test_dates_that_cannot_be_read_are_not_compared():
    secret = [f"k{(7 * k) % 160}" for k in range(160)]
    release = unmask.Release(ORIGINAL, pl.DataFrame({"d": secret, "rest": [0.5] * 160}))
    assert Study(release).compared == ("rest",)
    numbers = unmask.Release(ORIGINAL, pl.DataFrame({"d": [(7 * k) % 90 for k in range(160)], "rest": [0.5] * 160}))
    assert Study(numbers).compared == ("rest",)  # no day makes these their ages


def test_dates_with_noise_stay_dates():
    moved = [day + dt.timedelta(days=k % 11 - 5) for k, day in enumerate(DAYS)]
    release = unmask.Release(ORIGINAL.select("d"), pl.DataFrame({"d": moved}))
    assert np.abs(encode(release).original.numeric - encode(release).released.numeric).max() == 5


def test_row_order_changes_nothing():
    published = pl.DataFrame({"id": range(160), "d": [FORMS["age band"](day) for day in DAYS]})
    original = ORIGINAL.select(pl.Series("id", range(160)), "d")
    whole = encode(unmask.Release(original, published, id="id")).original.numeric
    order = np.random.default_rng(0).permutation(160)
    assert np.array_equal(encode(unmask.Release(original[order], published, id="id")).original.numeric, whole[order])


@pytest.mark.parametrize(("mondays", "unit"), [(8, ("1w", "week")), (7, None)])
def test_weeks_are_read_from_more_than_seven_days(mondays, unit):
    first = dt.date(2024, 1, 1)
    assert _unit(pl.Series([first + dt.timedelta(weeks=k) for k in range(mondays)])) == unit
