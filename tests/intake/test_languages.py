"""Columns as people write them in several countries: everybody's released value is seen to contain their own."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import unmask

N = 200
rng = np.random.default_rng(7)
AGE = rng.integers(0, 100, N).tolist()
BORN = [dt.date(1925, 1, 1) + dt.timedelta(int(k)) for k in rng.integers(0, 33_000, N)]
DAY = [dt.date(2019, 1, 1) + dt.timedelta(int(k)) for k in rng.integers(0, 1400, N)]
INCOME = np.round(rng.lognormal(8, 0.6, N), 2).tolist()
ZIP = [f"{code:05d}" for code in rng.integers(1000, 99_999, N)]
ICD = [f"{c}{d:02d}.{e}" for c, d, e in zip(rng.choice(list("EIJ"), N), *rng.integers(0, 10, (2, N)), strict=True)]
FRENCH = [
    *("janvier", "février", "mars", "avril", "mai", "juin"),
    *("juillet", "août", "septembre", "octobre", "novembre", "décembre"),
]
SPANISH = [
    *("enero", "febrero", "marzo", "abril", "mayo", "junio"),
    *("julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"),
]
FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%Y%m%d", "%d-%b-%y")


def quarter(day):
    return (day.month + 2) // 3


def ages(low, high, middle):
    """Bands of ten years from 20 to 59, and open ends."""
    return [low if a < 20 else high if a >= 60 else middle.format(a // 10 * 10, a // 10 * 10 + 9) for a in AGE]


def decades(day):
    on = (dt.date(2023, 7, 1) - day).days / 365.2425
    return f"{int(on // 10 * 10)} bis unter {int(on // 10 * 10) + 10} Jahre"


def answers(known, published):
    chosen = rng.integers(0, len(known), N)
    return [known[k] for k in chosen], [published[k] for k in chosen]


def french(value):
    return f"{value:,.2f} €".replace(",", "\u202f").replace(".", ",")


TABLES = {
    "es ages": (AGE, ages("menos de 20 años", "60 y más", "de {} a {} años")),
    "it ages": (AGE, ages("meno di 20", "60 e oltre", "{}-{} anni")),
    "nl ages": (AGE, ages("jonger dan 20", "60 jaar en ouder", "{} tot {} jaar")),
    "sv ages": (AGE, ages("under 20 år", "60 år och äldre", "{}–{} år")),
    "pl ages": (AGE, ages("poniżej 20", "60 lat i więcej", "{} do {} lat")),
    "pt ages": (AGE, ages("menos de 20", "60 ou mais", "{} a {}")),
    "jp decades of age": (AGE, [f"{a // 10 * 10}代" for a in AGE]),
    "fr amounts": (
        [french(v) for v in INCOME],
        [f"de {v // 1e3:.0f}000 à moins de {v // 1e3 + 1:.0f}000 €" for v in INCOME],
    ),
    "de ages of dates": (BORN, [decades(day) for day in BORN]),
    "fr quarter": (DAY, [f"T{quarter(d)} {d.year}" for d in DAY]),
    "fr quarter in words": (DAY, [f"{quarter(d)}{'er' if quarter(d) == 1 else 'e'} trimestre {d.year}" for d in DAY]),
    "de quarter": (DAY, [f"{quarter(d)}. Quartal {d.year}" for d in DAY]),
    "bare quarter": (DAY, [f"{d.year}/{quarter(d)}" for d in DAY]),
    "fr month": (DAY, [f"{FRENCH[d.month - 1]} {d.year}" for d in DAY]),
    "es month": (DAY, [f"{SPANISH[d.month - 1]} de {d.year}" for d in DAY]),
    "jp month": ([f"{d.year}年{d.month}月{d.day}日" for d in DAY], [f"{d.year}年{d.month}月" for d in DAY]),
    "week": (DAY, ["Week {1}, {0}".format(*d.isocalendar()) for d in DAY]),
    "sunday of the week": (DAY, [d - dt.timedelta((d.weekday() + 1) % 7) for d in DAY]),
    "financial year": (DAY, [f"{d.year - (d.month < 4)}/{(d.year + (d.month >= 4)) % 100:02d}" for d in DAY]),
    "open years": (BORN, ["before 1940" if d.year < 1940 else str(d.year) for d in BORN]),
    "several forms": (DAY, [d.strftime(FORMS[k % 6]) for k, d in enumerate(DAY)]),
    "day of the week": (DAY, [d.strftime("%A, %d %B %Y") for d in DAY]),
    "time in zone": (DAY, [f"{d}T00:00:00Z" for d in DAY]),
    "days of a spreadsheet": (DAY, [(d - dt.date(1899, 12, 30)).days for d in DAY]),
    "fr sex": answers(("homme", "femme"), ("H", "F")),
    "es sex": answers(("hombre", "mujer"), ("H", "M")),  # M is the woman here
    "nl sex": answers(("man", "vrouw"), ("M", "V")),
    "jp sex": answers(("男", "女"), ("M", "F")),
    "codes of sex": answers((1, 2), ("male", "female")),
    "pl answers": answers(("tak", "nie"), ("1", "0")),
    "ru answers": answers(("да", "нет"), ("yes", "no")),
    "danish town": answers(("Århus", "Zürich", "Łódź"), ("Aarhus", "Zuerich", "LODZ")),
    "range of codes": (ICD, [f"{c[0]}{int(c[1:3]) // 5 * 5:02d}-{c[0]}{int(c[1:3]) // 5 * 5 + 4:02d}" for c in ICD]),
    "first digits": ([int(z) + 100_000 for z in ZIP], [int(z) // 1000 + 100 for z in ZIP]),
    "dashes": (ZIP, [f"{z[:2]}---" for z in ZIP]),
    "blank before the mask": (ZIP, [f"{z[:2]} XXX" for z in ZIP]),
    "no answer, pl": ([a if a % 9 else None for a in AGE], [str(a) if a % 9 else "brak danych" for a in AGE]),
    "rounded": (INCOME, [round(v, -2) for v in INCOME]),
    "middles of bands": (AGE, [a // 10 * 10 + 5 for a in AGE]),
    "top code": (AGE, [min(a, 85) for a in AGE]),
}


def seen(known, published):
    other = pl.Series("other", np.random.default_rng(1).normal(size=N))
    tables = (pl.DataFrame({"c": values, "other": other}, strict=False) for values in (known, published))
    return next(entry for entry in unmask.check(unmask.Release(*tables)).columns if entry.name == "c")


@pytest.mark.parametrize("name", TABLES)
def test_everybody_finds_their_own_value(name):
    told = seen(*TABLES[name])
    assert told.own == pytest.approx(1.0)
    assert told.rule


@pytest.mark.parametrize("name", ["fr sex", "es sex", "range of codes", "financial year", "rounded", "top code"])
def test_a_release_of_others_is_not_read_into_the_original(name):
    known, published = TABLES[name]
    told = seen(known, np.random.default_rng(2).permutation(np.array(published, dtype=object)).tolist())
    assert told.own is None or told.own < 0.9


def test_a_word_nobody_knows_stops_neither_the_check_nor_an_attack():
    table = pl.DataFrame({"age": AGE, "sex": rng.choice(["f", "m"], N)})
    odd = table.with_columns(age=pl.Series([str(a) if k % 3 else f"Alter: etwa {a}" for k, a in enumerate(AGE)]))
    release = unmask.Release(table, odd, kinds={"age": "numeric"})
    assert unmask.check(release).pairing.looks == "paired"


def test_a_column_made_of_another_is_told():
    table = pl.DataFrame({"born": BORN, "sex": rng.choice(["f", "m"], N)})
    made = pl.DataFrame({"Altersgruppe": [decades(day) for day in BORN], "sex": table["sex"]})
    told = next(entry for entry in unmask.check(unmask.Release(table, made)).columns if entry.name == "Altersgruppe")
    assert told.own == 1.0
    assert told.rule.startswith("made of 'born'")
    others = unmask.check(unmask.Release(table, made.with_columns(pl.col("Altersgruppe").reverse())))
    assert next(entry for entry in others.columns if entry.name == "Altersgruppe").own is None
