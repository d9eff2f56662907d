"""Written otherwise, dates and places: the intruder writes what they know in the same way and looks it up."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl

from unmask.datasets.gauntlet.case import Case, case, each, publish, rewritten, same
from unmask.datasets.gauntlet.people import register

LETTERS = "0123456789bcdefghjkmnpqrstuvwxyz"


@case("written")
def weeks(seed: int = 0) -> Case:
    """Dates become calendar weeks such as 2016-W07."""
    rng = np.random.default_rng(seed)
    original = register(600, rng).select("sex", "birth date", "admitted", "days")
    week = pl.col("birth date", "admitted").dt.strftime("%G-W%V")
    return rewritten(original, lambda known: known.with_columns(week), rng, "put the known dates into weeks")


@case("written")
def quarters_and_decades(seed: int = 0) -> Case:
    """Birth dates become decades (1950s), admissions quarters (2016 Q3); sex, town and days stay."""
    rng = np.random.default_rng(seed)
    original = register(600, rng).select("sex", "birth date", "town", "admitted", "days")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(
            each(known, "birth date", lambda day: f"{day.year // 10 * 10}s"),
            each(known, "admitted", lambda day: f"{day.year} Q{(day.month + 2) // 3}"),
        )

    return rewritten(original, write, rng, "put the known dates into decades and quarters")


@case("written")
def age_bands_from_birth_dates(seed: int = 0) -> Case:
    """The column of birth dates holds five-year bands of the age on census day instead, such as 30-34."""
    rng = np.random.default_rng(seed)
    original = register(600, rng).select("sex", "birth date", "town", "job")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(each(known, "birth date", _band))

    return rewritten(original, write, rng, "ages on census day from the known birth dates, then the bands")


def _band(born: dt.date) -> str:
    age = 2021 - born.year - ((born.month, born.day) > (5, 15))
    return f"{age // 5 * 5}-{age // 5 * 5 + 4}"


@case("written")
def age_at_admission(seed: int = 0) -> Case:
    """Two dates are replaced by one number: the age at admission, in months; the other columns are coarse."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("sex", "birth date", "admitted", "days")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        months = (pl.col("admitted") - pl.col("birth date")).dt.total_days() * 12 // 365
        return known.select("sex", months.alias("age_months"), "days")

    return rewritten(original, write, rng, "subtract the two known dates")


@case("written")
def two_date_formats(seed: int = 0) -> Case:
    """Birth dates came from two sources: half are printed 1961-03-09, the other half 09.03.61."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("sex", "birth date", "job")
    source = rng.random(500) < 0.5

    def mixed(known: pl.DataFrame) -> pl.DataFrame:
        texts = [
            day.strftime("%Y-%m-%d" if other else "%d.%m.%y")
            for day, other in zip(known["birth date"], source, strict=True)
        ]
        return known.with_columns(pl.Series("birth date", texts))

    pair = publish(original, mixed(original), rng)
    found = 0.0
    for form in ("%Y-%m-%d", "%d.%m.%y"):
        found += same(pair.original.drop("id").with_columns(pl.col("birth date").dt.strftime(form)), pair)
    return pair.case(found, "look up both ways of printing the date")


@case("written")
def american_dates(seed: int = 0) -> Case:
    """Dates printed month first without zeros (3/9/1961), the birth date without its day; another column name."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("sex", "birth date", "admitted")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(
            "sex",
            each(known, "birth date", lambda day: f"{day.month}/{day.year}", "dob"),
            each(known, "admitted", lambda day: f"{day.month}/{day.day}/{day.year}", "adm"),
        )

    return rewritten(original, write, rng, "print the known dates that way")


@case("written")
def days_since(seed: int = 0) -> Case:
    """Dates become the number of days since a day that is not told, thirty days to the unit."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("sex", "birth date", "admitted", "days")
    start = dt.date(1899, 12, 30)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns((pl.col("birth date", "admitted") - start).dt.total_days() // 30)

    return rewritten(original, write, rng, "count days from the day that spreadsheets count from")


@case("written")
def map_squares(seed: int = 0) -> Case:
    """Longitude and latitude are replaced by one geohash of five letters."""
    rng = np.random.default_rng(seed)
    n = 500
    original = pl.DataFrame(
        {
            "sex": rng.choice(["m", "f"], n),
            "age": rng.integers(18, 96, n),
            "longitude": np.round(rng.normal(11, 1.2, n), 5),
            "latitude": np.round(rng.normal(49, 0.8, n), 5),
        }
    )

    def write(known: pl.DataFrame) -> pl.DataFrame:
        cells = [_geohash(*place) for place in known.select("longitude", "latitude").rows()]
        return known.select("sex", (pl.col("age") // 5 * 5).alias("age"), pl.Series("cell", cells))

    return rewritten(original, write, rng, "hash the known places")


def _geohash(longitude: float, latitude: float) -> str:
    """Halve the map in turn by longitude and latitude; five bits make a letter."""
    box, place, bits = [[-180.0, 180.0], [-90.0, 90.0]], (longitude, latitude), 0
    for turn in range(25):
        side, value = box[turn % 2], place[turn % 2]
        middle = sum(side) / 2
        bits = 2 * bits + (value >= middle)
        side[value < middle] = middle
    return "".join(LETTERS[bits >> shift & 31] for shift in (20, 15, 10, 5, 0))


@case("written")
def degrees_and_minutes(seed: int = 0) -> Case:
    """Coordinates are printed in degrees and whole minutes, such as 48 deg 08' N."""
    rng = np.random.default_rng(seed)
    n = 500
    original = pl.DataFrame(
        {
            "sex": rng.choice(["m", "f"], n),
            "longitude": np.round(rng.normal(11, 1.2, n), 5),
            "latitude": np.round(rng.normal(49, 0.8, n), 5),
        }
    )

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(
            each(known, name, lambda v, side=side: f"{int(v)}°{int(v * 60) % 60:02d}'{side}")  # type: ignore[misc]
            for name, side in (("longitude", "E"), ("latitude", "N"))
        )

    return rewritten(original, write, rng, "print the known places that way")
