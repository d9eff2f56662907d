"""Columns that name people are found by shape and name, and told without a value."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.intake.identifiers import identifiers
from unmask.tables import recognise

N = 60
RNG = np.random.default_rng(0)
FIRST = ["Anna", "Björn", "Chloé", "David", "Eva", "Fatima", "Georg", "Hannah", "Ivan", "Jean-Luc"]
LAST = ["Müller", "O'Neill", "Rossi", "Smith", "García", "Nowak", "Dupont", "Schmidt", "Ivanova", "Kaya"]
IBANS = ["DE89370400440532013000", "GB29 NWBK 6016 1331 9268 19", "FR1420041010050500013M02606"]
DIRECT = {
    "an e-mail address": ("contact", [f"p{k}@clinic{k % 7}.org" for k in range(N)]),
    "an account number": ("bank", [IBANS[k % 3] for k in range(N)]),
    "a social-security number": ("number", [f"{k + 100}-{k % 90 + 10}-{k + 1000}" for k in range(N)]),
    "a phone number": ("contact", [f"+49 30 {123000 + 17 * k}" for k in range(N)]),
    "a name": ("patient", [f"{FIRST[k % 10]} {LAST[(k * 7 + k // 10) % 10]}" for k in range(N)]),
    "an address of a computer": ("from", [f"10.{k}.7.{k % 9}" if k % 3 else f"fe80::1:{k:x}" for k in range(N)]),
    "an address": ("place", [f"Lindenstraße {k}" for k in range(N)]),
    "free text": ("remarks", [f"came on day {k} with pain in the left knee, was sent home" for k in range(N)]),
}
HARMLESS = {
    "town": [f"town {k % 9}" for k in range(N)],
    "person": [f"person {k}" for k in range(N)],
    "group": [f"Group {k % 5}" for k in range(N)],
    "band": [f"{10 * (k % 6)}-{10 * (k % 6) + 9}" for k in range(N)],
    "postcode": [f"{10115 + 13 * k}" for k in range(N)],
    "hidden": [f"p***@clinic{k % 7}.org" for k in range(N)],
    "income": RNG.lognormal(10, 1, N).round(2).tolist(),
    "stamp": [1700000000000 + 7 * k for k in range(N)],
    "count": list(range(N)),
    "illness": [["none", "asthma", "diabetes"][k % 3] for k in range(N)],
    "job": [["Software engineer", "Nurse", "Teacher"][k % 3] for k in range(N)],
}


@pytest.mark.parametrize("what", DIRECT)
def test_what_names_people_is_recognised(what):
    name, values = DIRECT[what]
    found = recognise(pl.Series(name, values))
    assert found is not None
    assert found[0] == what
    assert found[2]


@pytest.mark.parametrize("name", HARMLESS)
def test_what_names_nobody_is_left_alone(name):
    found = recognise(pl.Series(name, HARMLESS[name]))
    assert found is None or not found[2]


@pytest.mark.parametrize(("like", "found"), [(8, True), (7, False), (1, False)])
def test_eight_in_ten_must_have_the_shape(like, found):
    streets = [f"Lindenstraße {k}" if k % 10 < like else f"ward {k}" for k in range(N)]
    told = recognise(pl.Series("place", streets))
    assert (told is not None and told[0] == "an address") == found


def test_names_in_a_short_list_are_known_by_the_name_of_the_column():
    assert recognise(pl.Series("first name", FIRST * 6))[0] == "a name"
    full = [f"{first} {last}" for first in FIRST for last in LAST[:3]] * 4  # a few of each
    assert recognise(pl.Series("customer", full))[0] == "a name"
    assert recognise(pl.Series("customer", ["Private Bank", "Small Firm", "Large Firm"] * 20)) is None
    assert recognise(pl.Series("region", full)) is None  # as many towns have two words
    assert recognise(pl.Series("phone", [f"0301234{k:03d}" for k in range(N)]))[0] == "a phone number"


def test_exact_days_are_told_and_months_are_not():
    days = pl.date_range(pl.date(1950, 1, 1), pl.date(1990, 1, 1), "61d", eager=True)
    what, _, direct = recognise(days)
    assert (what, direct) == ("an exact date", False)
    assert recognise(days.dt.truncate("1mo")) is None


def table(**more):
    return pl.DataFrame({"age": np.arange(N), "sex": ["m", "f"] * (N // 2), **more})


def test_a_column_only_in_the_release_is_against_publishing():
    mails = DIRECT["an e-mail address"][1]
    release = unmask.Release(table(), table(mail=mails))
    (found,) = identifiers(release)
    assert found.against
    assert "take it out" in found.words
    assert not any(value in found.words for value in mails)


def test_made_up_values_are_told_but_not_held_against():
    mails = DIRECT["an e-mail address"][1]
    release = unmask.Release(table(mail=mails), table(mail=[f"x{k}@example.org" for k in range(N)]))
    (found,) = identifiers(release)
    assert not found.against


def test_the_id_and_ignored_columns_are_not_looked_at():
    mails = DIRECT["an e-mail address"][1]
    both = table(mail=mails)
    assert identifiers(unmask.Release(both, both, id="mail")) == ()
    assert identifiers(unmask.Release(both, both, ignored=["mail"])) == ()


ABROAD = {
    "a name": [
        ("氏名", ["山田太郎", "佐藤花子", "鈴木一郎"]),
        ("Nachname", ["MÜLLER", "ÖZDEMIR", "WEISS"]),
        ("фамилия", ["Иванова", "Петров", "Сидоров"]),
        ("apellidos", ["García López", "Núñez", "de la Cruz"]),
        ("patient_name", ["smith", "jones", "o'neill"]),
    ],
    "a phone number": [("contact", ["555-123-4567", "(212) 555 0199", "415.555.2671"]), ("x", ["030/1234567"] * 2)],
    "a social-security number": [
        ("x", ["AA 12 34 56 C", "AB123456D"]),
        ("x", ["RSSMRA85T10A562S", "BNCLRA70A41F205X"]),
        ("x", ["850709-9805", "19850709-9805"]),
        ("x", ["111.444.777-35"]),
        ("x", ["12345678Z", "X1234567L"]),
        ("x", ["943 476 5919", "4010232137"]),
    ],
    "an address": [("x", ["ul. Długa 5", "Rua Augusta 100", "Storgatan 3"])],
}


@pytest.mark.parametrize(("what", "name", "values"), [(w, *case) for w, cases in ABROAD.items() for case in cases])
def test_names_and_numbers_of_several_countries(what, name, values):
    found = recognise(pl.Series(name, (values * N)[:N]))
    assert found is not None
    assert (found[0], found[2]) == (what, True)


@pytest.mark.parametrize(
    ("name", "values"), [("x", ["SW1A 1AA", "M1 1AE"]), ("x", ["1012 AB"]), ("PLZ", ["10115", "80331"])]
)
def test_full_postcodes_are_told_and_not_held_against(name, values):
    what, _, direct = recognise(pl.Series(name, (values * N)[:N]))
    assert (what, direct) == ("a full postcode", False)


def test_days_as_text_and_numbered_records_are_told():
    days = pl.date_range(pl.date(1950, 1, 1), pl.date(1990, 1, 1), "61d", eager=True).dt.strftime("%d.%m.%Y")
    assert recognise(days)[0] == "an exact date"
    assert recognise(pl.Series("record", range(1000, 1300)))[0] == "a key"
    assert recognise(pl.Series("mrn", RNG.permutation(90_000)[:N] + 10_000))[0] == "a key"
    assert recognise(pl.Series("income", RNG.permutation(90_000)[:N] + 10_000)) is None
    assert recognise(pl.Series("x", RNG.permutation(90_000)[:N] + 2_500_000_000))[0] == "a key"
