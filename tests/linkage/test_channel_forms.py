"""Forms that people give to names, numbers and birthdays, and errors that grow with something else that is known."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from unmask import Release, link_channel
from unmask.linkage.channel import words
from unmask.linkage.channel.features import date_parts
from unmask.linkage.channel.gather import gather
from unmask.linkage.channel.lenses import untouched
from unmask.linkage.channel.normal_forms import letter_sum, roman
from unmask.linkage.channel.select import Learnt

N = 240
SYLLABLES = ("an", "be", "cor", "di", "el", "fa", "gu", "ho", "is", "ja", "ka", "lo", "mi", "no", "or", "pa")
BORDERS = tuple(zip(range(1, 13), (20, 19, 21, 20, 21, 21, 23, 23, 23, 23, 22, 22), strict=True))


@pytest.mark.parametrize(("text", "added"), [("Ada", "6"), ("Zoë", "46"), ("O'Neil 3", "55"), ("12", ""), ("", "")])
def test_letters_are_added_up_by_their_places_in_the_alphabet(text, added):
    assert letter_sum(text) == added


@pytest.mark.parametrize(
    ("text", "numeral"),
    [("1994", "MCMXCIV"), ("4", "IV"), ("3999", "MMMCMXCIX"), ("0", ""), ("4000", ""), ("-2", ""), ("1.5", "")],
)
def test_whole_numbers_in_roman_numerals(text, numeral):
    assert roman(text) == numeral


def test_the_day_of_the_year_begins_with_one():
    days = np.array([np.datetime64(day).astype(int) for day in ("2023-01-01", "2023-12-31", "2024-12-31")], dtype=float)
    assert date_parts(days)["day of the year"].tolist() == [1, 365, 366]


def people(seed):
    rng = np.random.default_rng(seed)
    names = [["".join(rng.choice(SYLLABLES, size)).title() for _ in range(N)] for size in (3, 2)]
    born = [dt.date(1950, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 20000, N)]
    return pl.DataFrame({"name": names[0], "town": names[1], "born": born, "number": rng.integers(1, 3000, N)})


def shared(released):
    """What an exact match with what was published finds: everybody shares with those who have the same."""
    frame = pl.DataFrame(released)
    return float((1 / frame.with_columns(alike=pl.len().over(frame.columns))["alike"]).mean())


def zodiac(day):
    return f"sign {sum((day.month, day.day) >= border for border in BORDERS) % 12}"


@pytest.mark.parametrize("kind", ["sums", "Roman", "zodiac"])
def test_what_is_published_of_people_is_found_by_its_form(kind):
    known = people(4)
    released = {
        "sums": {"a": [int(letter_sum(x)) for x in known["name"]], "b": [int(letter_sum(x)) for x in known["town"]]},
        "Roman": {"nr": [roman(str(x)) for x in known["number"]]},
        "zodiac": {"sign": [zodiac(day) for day in known["born"]], "year": [day.year for day in known["born"]]},
    }[kind]
    found = link_channel(Release(known, pl.DataFrame(released)), curve=False)
    assert found.estimate.value >= 0.95 * shared(released)


@pytest.mark.slow
def test_errors_that_grow_with_a_known_number_are_weighed_by_it():
    """Who is young is nearly where they were: an intruder who weighs errors by age is sure of far more people."""
    rng = np.random.default_rng(0)
    age, values = rng.integers(18, 90, 400), rng.lognormal(3, 0.6, (400, 4))
    spread = values.std(0) * ((age - 15) / 30)[:, None] ** 1.5 * 0.25
    names = [f"v{k}" for k in range(4)]
    original = pl.DataFrame(values.round(2), schema=names).with_columns(age=pl.Series(age))
    released = pl.DataFrame((values + rng.normal(size=values.shape) * spread).round(2), schema=names)
    found = link_channel(Release(original, released), curve=False)
    blind = link_channel(Release(original.drop("age"), released), curve=False)
    told = {column.column: column.words for column in found.columns}
    assert sum("`age`" in told[name] for name in names) >= 2
    assert found.known.value > 1.3 * blind.known.value
    assert found.estimate.value > blind.estimate.value


def test_errors_that_grow_with_nothing_are_not_weighed():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(300, 3))
    original = pl.DataFrame(values.round(3), schema=list("abc")).with_columns(age=pl.Series(rng.integers(18, 90, 300)))
    released = pl.DataFrame((values + rng.normal(0, 0.4, values.shape)).round(3), schema=list("abc"))
    found = link_channel(Release(original, released), curve=False)
    assert not any("goes with `age`" in column.words for column in found.columns)


@pytest.mark.parametrize(("left", "about"), [(0, "rows"), (9, "whole rows")])
def test_rows_that_agree_in_part_are_not_called_whole(left, about):
    """Three columns as they were, and a fourth that was moved for all but a few people, or for all."""
    rng = np.random.default_rng(2)
    table = pl.DataFrame({name: rng.integers(0, 9, 60) for name in "abcd"})
    moved = pl.when(pl.int_range(pl.len()) < left).then(pl.col("d")).otherwise(pl.col("d") + 100)
    material = gather(Release(table, table.with_columns(d=moved)), 0).material
    lens = untouched(material)
    told, _ = words._told(material, Learnt(lens, 1.0), lens.fit(material, np.arange(60)), {})
    assert told.column == about
