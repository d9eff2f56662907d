"""A table in any writing gives the same encoding, matches and links as the same table in plain writing."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from unmask.errors import RoleError
from unmask.study import Study
from unmask.tables.amounts import _words
from unmask.tables.encode import encode
from unmask.tables.equal import equal, loses
from unmask.tables.understand import Understood, _ticked
from unmask.tables.words import without_words_around, words_around

N = 160
rng = np.random.default_rng(7)
BORN = [dt.date(1935, 1, 1) + dt.timedelta(days=int(k)) for k in rng.integers(0, 25_000, N)]
PLAIN = pl.DataFrame(
    {
        "income": rng.integers(300, 90_000, N),
        "weight": np.round(rng.normal(72, 12, N), 1),
        "share": np.round(rng.uniform(0.01, 0.99, N), 2),
        "change": rng.integers(-4000, 4000, N),
        "born": BORN,
        "sex": rng.choice(["f", "m"], N),
        "smokes": rng.choice([True, False], N),
        "town": rng.choice(["Müller", "Saint-Étienne", "Ärmel", "Łódź", "Köln Süd"], N),
    }
)
MASKED = PLAIN.with_columns(
    (pl.col("income") + pl.Series(rng.integers(-900, 900, N))).clip(1, None),
    pl.Series("town", [*PLAIN["town"].to_list()[1:], "Ärmel"]),
)


def german(value, digits=0):
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def signed(value, write):
    return f"({write(-value)})" if value < 0 else write(value)


def several(day):
    forms = ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%d-%b-%Y", "%b %d, %Y", "%Y/%m/%d")
    return day.strftime(forms[day.toordinal() % len(forms)])


WRITINGS = {
    "income": {
        "commas": lambda v: f"{v:,}",
        "points": german,
        "blanks": lambda v: f"{v:,}".replace(",", " "),
        "thin blanks": lambda v: f"{v:,}".replace(",", "\u202f"),
        "apostrophes": lambda v: f"{v:,}".replace(",", "'"),
        "decimals": lambda v: f"{german(v, 2)} €",
        "euro before": lambda v: f"€ {german(v)}",
        "code before": lambda v: f"USD {v:,}.00",
        "in thousands": lambda v: f"{v / 1000}k",
    },
    "weight": {
        "kg": lambda v: f"{v} kg",
        "no blank": lambda v: f"{v}kg",
        "decimal comma": lambda v: f"{v}".replace(".", ","),
        "kg or g": lambda v: f"{v * 1000:.0f} g" if v > 80 else f"{v} kg",
        "g": lambda v: f"{v * 1000:.0f} g",
    },
    "share": {
        "percent": lambda v: f"{v * 100:.0f} %",
        "no blank": lambda v: f"{v * 100:.0f}%",
        "decimal comma": lambda v: f"{v:.2f}".replace(".", ","),
        "some with a sign": lambda v: f"{v * 100:.0f}%" if v > 0.5 else f"{v:.2f}",
    },
    "change": {
        "parentheses": lambda v: signed(v, lambda a: f"{a:,}"),
        "minus behind": lambda v: f"{-v}-" if v < 0 else f"{v}",
        "long minus": lambda v: f"{v:,}".replace("-", "\u2212"),
        "dollars": lambda v: f"-${-v:,}" if v < 0 else f"${v:,}",
    },
    "born": {
        "American": lambda d: f"{d.month}/{d.day}/{d.year}",
        "British": lambda d: f"{d:%d/%m/%Y}",
        "German": lambda d: f"{d:%d.%m.%Y}",
        "words": lambda d: f"{d:%d %B %Y}",
        "digits": lambda d: int(f"{d:%Y%m%d}"),
        "several": several,
    },
    "sex": {
        "words": lambda s: {"f": "female", "m": "male"}[s],
        "German": lambda s: {"f": "W", "m": "M"}[s],
        "French": lambda s: {"f": "Femme", "m": "Homme"}[s],
    },
    "smokes": {
        "yes": lambda b: "yes" if b else "no",
        "oui": lambda b: "Oui" if b else "Non",
        "J": lambda b: "J" if b else "N",
        "digits": lambda b: "1" if b else "0",
    },
    "town": {
        "capitals": str.upper,
        "no accents": lambda t: t.translate(str.maketrans("üÉÄŁódźö", "uEAlodzo")).upper(),
        "umlauts": lambda t: t.replace("ü", "ue").replace("Ä", "Ae").replace("ö", "oe"),
        "blanks": lambda t: f" {t.replace(' ', '  ')} ",
    },
}


def write(table, name, way):
    return table.with_columns(pl.Series(name, [WRITINGS[name][way](value) for value in table[name]]))


def write_all(table, place):
    """Every column in one of its writings."""
    for name, ways in WRITINGS.items():
        table = write(table, name, list(ways)[place % len(ways)])
    return table


def figures(original, released, **options):
    """What every attack starts from: who matches whom, and who is nearest to whom."""
    release = unmask.Release(original, released, **options)
    matcher = Study(release).matcher
    singles = [matcher.match([matcher.names.index(name)]) for name in PLAIN.columns]
    return {
        "kinds": {name: column.kind for name, column in release.columns.items()},
        "crowds": [match.crowd.tolist() for match in singles],
        "owns": [match.owns(release.truth).tolist() for match in singles],
        "nearest": np.round(unmask.link_nearest(release).credit, 9).tolist(),
        "numeric": np.round(encode(release).released.numeric, 9).tolist(),
    }


TRUTH = figures(PLAIN, MASKED)


def same(found, *, but="kinds"):
    """Kinds may be said in other words (true or false as a category); everything else is equal."""
    return {key: found[key] == TRUTH[key] for key in TRUTH if key not in but}


@pytest.mark.parametrize("place", range(10))
def test_any_writing_is_the_plain_one(place):
    styled = write_all(PLAIN, place), write_all(MASKED, place + 3)
    for original, released in ((styled[0], MASKED), (PLAIN, styled[1]), styled):
        found = figures(original, released)
        agreed = same(found, but="kinds numeric" if released is styled[1] and original is styled[0] else "kinds")
        assert all(agreed.values()), agreed  # both files may be in g, or in percent: the same but for a factor
        changed = {name for name, kind in found["kinds"].items() if kind != TRUTH["kinds"][name]}
        assert changed <= {"smokes"}  # true or false, in words


@pytest.mark.parametrize(("name", "way"), [("income", "commas"), ("weight", "decimal comma"), ("born", "American")])
@pytest.mark.parametrize("separator", [",", ";"])
def test_the_same_in_files(tmp_path, name, way, separator):
    for table, path in ((write(PLAIN, name, way), "a.csv"), (MASKED, "b.csv")):
        table.write_csv(tmp_path / path, separator=separator)
    assert all(same(figures(tmp_path / "a.csv", tmp_path / "b.csv")).values())


def test_thousands_marked_by_points_in_files_are_no_decimals(tmp_path):
    """German 1.234 reads as 1.234 to any program; the other file, or the column, shows that it is a thousand."""
    for side in ("original", "released", "both"):
        (write(PLAIN, "income", "points") if side != "released" else PLAIN).write_csv(tmp_path / "a.csv")
        (write(MASKED, "income", "points") if side != "original" else MASKED).write_csv(tmp_path / "b.csv")
        assert all(same(figures(tmp_path / "a.csv", tmp_path / "b.csv")).values()), side


def test_other_people_are_read_like_the_original():
    original, released = write(PLAIN, "income", "euro before"), write(MASKED, "income", "points")
    control = write(PLAIN, "income", "commas").reverse()
    release = unmask.Release(original, released, control=control)
    assert release.control["income"].to_list() == PLAIN["income"].to_list()[::-1]
    both = Study(release).beside("control").release.original
    assert both["income"].dtype.is_integer() and both.height == 2 * N


# --- ambiguity -------------------------------------------------------------------------------------------------------


def one(original, released, **options):
    return unmask.Release(pl.DataFrame({"x": original}), pl.DataFrame({"x": released}), **options)


def test_the_other_file_tells_thousands_from_decimals():
    marked = ["1.234", "2.345", "12.346", "3.457"]
    assert one(marked, [1200, 2300, 12300, 3500]).original["x"].to_list() == [1234, 2345, 12346, 3457]
    assert one(marked, [1.2, 2.3, 12.3, 3.5]).original["x"].to_list() == [1.234, 2.345, 12.346, 3.457]


def test_what_cannot_be_told_is_said():
    texts = ["1.234", "2.345", "950", "12.341"]
    assert any("thousands or decimals" in line for line in one(texts, texts).warnings)
    assert not one(["1.234", "2.340", "950"], ["1.234", "2.340", "950"]).warnings  # 2.340 would be 2.34
    dates = ["01/02/2020", "03/04/2020", "05/06/2021"]
    assert any("day and month" in line for line in one(dates, dates).warnings)


@pytest.mark.parametrize("other", ["2020-01-02 2020-03-04 2021-05-06", "2020-02-01 2020-04-03 2021-06-05"])
def test_the_other_file_tells_the_month(other):
    days = [dt.date.fromisoformat(day) for day in other.split()]
    release = one(["01/02/2020", "03/04/2020", "05/06/2021"], days)
    assert release.original["x"].to_list() == days
    assert not any("day and month" in line for line in release.warnings)


def test_times_of_the_day_are_read_with_the_day():
    release = one(["2020-01-02 14:30", "2020-01-02 08:15:30", "2020-03-04"], ["2020-01-02", "2020-01-02", "2020-03-04"])
    times = [dt.datetime(2020, 1, 2, 14, 30), dt.datetime(2020, 1, 2, 8, 15, 30), dt.datetime(2020, 3, 4)]  # noqa: DTZ001
    assert release.original["x"].to_list() == times
    assert release.released["x"].to_list() == [dt.date(2020, 1, 2), dt.date(2020, 1, 2), dt.date(2020, 3, 4)]


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y"])
def test_the_quarter_tells_the_month(form):
    days = [dt.date(2020, month, day) for month in (2, 5, 9, 12) for day in (1, 3, 4, 7, 10, 11)]
    texts = [day.strftime(form) for day in days]
    release = one(texts, [f"Q{(day.month + 2) // 3} {day.year}" for day in days])
    assert release.original["x"].to_list() == days


def test_codes_stay_what_they_are():
    for texts in (["01067", "75011"], ["75011", "13001"], ["A12", "A13"], ["12a", "13b"], ["75xxx", "13xxx"]):
        release = one(texts * 10, texts * 10)
        assert release.original["x"].to_list() == texts * 10
        assert not release.written
    phones = [f"555 123 {k}" for k in range(100, 140)]
    assert one(phones, phones).original["x"].to_list() == phones
    money = ["5 €", "7 $"] * 5
    assert one(money, money).original["x"].to_list() == money  # two currencies are no one number
    assert one(["7 kg", "8 kg"], ["a", "b"]).original["x"].to_list() == ["7 kg", "8 kg"]  # the channel sees both


def test_two_letters_that_differ_in_case_in_both_files_are_two_codes():
    texts = ["a", "A", "b", "B"] * 5
    release = one(texts, texts)
    assert release.original["x"].to_list() == texts == release.released["x"].to_list()


# --- intervals -------------------------------------------------------------------------------------------------------

BANDS = {
    "10,000-19,999": "10000-19999", "€10k-€20k": "10000-20000", "€10-20k": "10000-20000",
    "10.000 - 19.999 €": "10000-19999",
    "under 20": "<20", "65 and over": ">=65", "65 years and over": ">=65", "90+": ">=90", "90 +": ">=90",
    ">= 65": ">=65",
    "≥65": ">=65", "[20, 30)": "[20, 30)", "[20;30[": "[20, 30)", "20 to 29": "20-29", "20–29": "20-29",
    "20 - 29 years": "20-29", "between 20 and 29": "20-29", "18 bis unter 25": "[18, 25)", "18-<25": "[18, 25)",
    "20 <= age < 30": "[20, 30)", "moins de 20 ans": "<20", "65 ans et plus": ">=65", "20 à 29 ans": "20-29",
    "unter 18": "<18", "ab 65": ">=65", "65 Jahre und älter": ">=65", "more than 65": ">65", "up to 20": "<=20",
    "at least 65": ">=65", "20 or less": "<=20", "(-inf, 20]": "<=20", "[20, inf)": ">=20", "30s": "30-39",
    "-5 to -1": "-5--1", "20..29": "20-29", "$1 million - $5 million": "1000000-5000000",
}  # fmt: skip


@pytest.mark.parametrize("text", BANDS)
def test_every_notation_of_an_interval(text):
    from unmask.tables.numerals import plain

    decimal = "," if "." in text and "€" in text else "."
    assert plain(text, decimal).text == BANDS[text]


@pytest.mark.parametrize(
    "text",
    ["", "abc", "12a", "1st", "say 5", "75xxx", "2020-W07", "Q3 2020", "12 Main Street", "1-2-3", "5 years 3 months"],
)
def test_what_is_no_number(text):
    from unmask.tables.numerals import plain

    assert plain(text, ".") is None


@given(st.text(max_size=25), st.sampled_from(".,"))
def test_any_text_is_answered(text, decimal):
    from unmask.tables.intervals import parse_interval
    from unmask.tables.numerals import plain

    found = plain(text, decimal)
    assert found is None or found.text[0] in "([<>-0123456789"
    if found is not None and found.text.isdigit():
        assert parse_interval(found.text) is not None


@settings(max_examples=40)
@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=12, unique=True),
    st.sampled_from([",", ".", " ", "'", "\u202f"]),
    st.sampled_from(["{} €", "EUR {}", "{}", "{} kg", "$ {}"]),
)
def test_what_is_written_is_read(numbers, mark, around):
    """Any whole numbers with marked thousands, beside themselves in plain writing."""
    texts = [around.format(f"{number:,}".replace(",", mark)) for number in numbers]
    assert one(texts, numbers).original["x"].cast(pl.Int64).to_list() == numbers


WRITERS = {
    "dash": lambda a, b: f"{a:,}-{b:,}",
    "dash and k": lambda a, b: f"€{a / 1000}k – €{b / 1000}k",
    "words": lambda a, b: f"from {a:,} to {b:,} EUR",
    "German": lambda a, b: f"{german(a)} bis {german(b)} €",
}


@pytest.mark.parametrize("way", WRITERS)
def test_bands_of_amounts_are_those_of_plain_bands(way):
    ends = [(k * 5000, k * 5000 + 4999) for k in range(20)]

    def banded(write_band):
        return [next(write_band(a, b) for a, b in ends if a <= v <= b) for v in PLAIN["income"]]

    plain, styled = (
        figures(PLAIN, MASKED.with_columns(pl.Series("income", banded(write_band))))
        for write_band in (lambda a, b: f"{a}-{b}", WRITERS[way])
    )
    assert plain == styled
    assert all(plain["owns"][0])


def test_over_65_begins_where_the_band_before_it_ends():
    ages = list(range(10, 90))
    bands = ["under 18" if age < 18 else "18 to 64" if age < 65 else "over 65" for age in ages]
    release = one(ages, bands)
    assert Study(release).matcher.match().owns(release.truth).all()
    open_ = ["0-17" if age < 18 else "18-64" if age < 65 else "65-" for age in ages]
    assert set(one(ages, open_).released["x"]) == {"0-17", "18-64", ">=65"}


# --- missing ---------------------------------------------------------------------------------------------------------


def with_code(values, code, every=10):
    return [code if k % every == 0 else value for k, value in enumerate(values)]


AGES = rng.integers(18, 88, 300).tolist()


@pytest.mark.parametrize("code", [99, 999, -1, -9])
def test_a_code_for_missing_is_found_by_its_shape_and_told(code):
    column = with_code(AGES, code)
    release = one(column, column)
    assert release.original["x"].null_count() == release.released["x"].null_count() == 30
    assert any("taken for missing" in line and str(code) not in line for line in release.warnings)


@pytest.mark.parametrize(("people", "missing"), [(3, 3), (2, 0)])
def test_a_code_stands_for_missing_from_three_times_its_neighbours_on(people, missing):
    column = [*range(20, 60), *[99] * people]
    assert one(column, column).original["x"].null_count() == missing


@pytest.mark.parametrize("code", [9, 99, -1])
def test_a_code_that_was_put_in_place_of_few_values(code):
    children = rng.integers(0, 5, 300).tolist()
    release = one(children, with_code(children, code))
    assert (release.original["x"].null_count(), release.released["x"].null_count()) == (0, 30)
    assert any("taken for missing" in line for line in release.warnings)


def test_what_else_nines_may_be_among_few_values():
    children = rng.integers(0, 5, 300).tolist()
    noisy = [value + int(step) for value, step in zip(children, rng.integers(-1, 2, 300), strict=True)]
    assert one(children, noisy).released["x"].null_count() == 0  # -1 by noise
    tops = [12 if value == 4 else value for value in children]
    assert one(tops, [min(value, 9) for value in tops]).released["x"].null_count() == 0  # a top code
    own = with_code(children, 9)
    assert one(own, own).released["x"].null_count() == 0  # somebody's own value
    fours = [9 if value == 4 else value for value in children]
    assert one(children, fours).released["x"].null_count() == 0  # another code for one value


@pytest.mark.parametrize("word", ["unknown", "n/a", "?", "keine Angabe", "-", "suppressed"])
def test_a_word_for_missing_among_numbers(word):
    column = [str(value) for value in with_code(AGES, word)]
    plain = with_code(AGES, None)
    assert one(AGES, column).released["x"].to_list() == plain
    assert one(column, column).original["x"].to_list() == plain


def test_no_evidence_no_guess():
    for column in (
        [*AGES, 99, 99],  # two people of 99
        with_code(rng.integers(18, 99, 300).tolist(), 99),  # others up to it
        with_code([value % 6 for value in AGES], 9),  # few values: codes, not amounts
        with_code([value - 50 for value in AGES], -1),  # other negative numbers
    ):
        assert one(column, column).original["x"].null_count() == 0
    filled = [30 + k % 40 if value == 99 else value for k, value in enumerate(with_code(AGES, 99))]
    assert one(with_code(AGES, 99), filled).original["x"].null_count() == 0  # the release has other numbers there
    noisy = [value + float(e) for value, e in zip(with_code(AGES, 99), rng.normal(0, 0.1, 300), strict=True)]
    assert one(with_code(AGES, 99), noisy).original["x"].null_count() == 0  # masked like a number: it tells something


def test_codes_are_named(tmp_path):
    column = with_code(AGES, 95)
    for missing, blanks in (["95"], 30), (["x=95"], 30), (["x="], 0), (["y=95"], None):
        tables = pl.DataFrame({"x": column, "w": range(300)})
        if blanks is None:
            with pytest.raises(RoleError, match="'y'"):
                unmask.Release(tables, tables, reading={"missing": missing})
            continue
        assert unmask.Release(tables, tables, reading={"missing": missing}).original["x"].null_count() == blanks
        tables.write_csv(tmp_path / "t.csv")
        read = unmask.Release(tmp_path / "t.csv", tmp_path / "t.csv", reading={"missing": missing})
        assert read.original["x"].null_count() == blanks
    guessed = pl.DataFrame({"x": with_code(AGES, 99)})
    assert unmask.Release(guessed, guessed, reading={"missing": ["x="]}).original["x"].null_count() == 0


def test_a_word_named_for_one_column_makes_numbers_of_it(tmp_path):
    pl.DataFrame({"x": [str(v) for v in with_code(AGES, "weiss nicht")]}).write_csv(tmp_path / "t.csv")
    read = unmask.Release(tmp_path / "t.csv", tmp_path / "t.csv", reading={"missing": ["x=weiss nicht"]})
    assert read.original["x"].to_list() == with_code(AGES, None)


@pytest.mark.parametrize(
    ("texts", "around"),
    [
        (["PLZ 12", "PLZ 18"], ("PLZ ", "")),
        (["Region1", "Region22"], ("Region", "")),
        (["about 3 people", "about 5 people"], ("about ", " people")),
        (["east", "eastern"], ("", "")),  # nothing would be left of one
        (["Q1 (low)", "Q2"], ("", "")),
        (["1 m 57", "1 m 74"], ("", "")),  # a number is no word
        (["75xxx", "69xxx"], ("", "")),
        (["north area 1", "south area 2"], ("", "")),
        (["1940s", "1950s"], ("", "")),
        (["- 3", "- 4"], ("", "")),
        (["area 1"], ("", "")),
        ([], ("", "")),
    ],
)
def test_words_that_stand_around_every_value(texts, around):
    assert words_around(texts) == around


@pytest.mark.parametrize(
    ("own", "other", "left"),
    [
        (["W1", "W2"], ["W1", "other"], None),  # a few are published in another way: the others are the same as before
        (["W11", "W12"], ["W1*", "other"], None),
        (["W1", "W2"], ["W1", "W2"], None),
        (["W1", "W2"], ["1", "2"], (["1", "2"], None)),
        (["W1", "W2"], ["1", None], (["1", "2"], None)),
        (["room 1", "room 2"], ["1", "room unknown"], (["1", "2"], ["1", "unknown"])),
        (["room 1", "room 2"], ["1", "2", "room 2"], (["1", "2"], ["1", "2", "2"])),
        (["about 3 people", "about 5 people"], ["about 3", "about 4"], (["about 3", "about 5"], None)),
    ],
)
def test_words_are_taken_away_where_the_other_file_does_not_have_them(own, other, left):
    found = without_words_around(pl.Series(own), pl.Series(other))
    if left is None:
        assert found is None
    else:
        assert found[0].to_list() == left[0]
        assert (found[1] is None) if left[1] is None else found[1].to_list() == left[1]


@pytest.mark.parametrize("word", ["other", "b", "Q7"])
@pytest.mark.parametrize("front", ["W", "ward ", "D0"])
@pytest.mark.parametrize("turned", [False, True])
def test_codes_with_a_letter_are_the_same_codes_where_a_few_are_replaced(front, word, turned):
    """ "W1" to "W60", one in twenty published as "other": once all the others were found to be unknown."""
    rng = np.random.default_rng(0)
    codes = rng.permutation([f"{front}{k}" for k in range(1, 201)])
    few = np.where(np.arange(200) % 20 == 0, word, codes)
    tables = [pl.DataFrame({"code": codes}), pl.DataFrame({"code": few})]
    found = unmask.link_nearest(unmask.Release(*(reversed(tables) if turned else tables)))
    assert found.estimate.value >= 0.95


@pytest.mark.parametrize(("texts", "said"), [(["(5)", "6"], True), (["5-", "6"], True), (["5", "6"], False)])
def test_negative_numbers_in_parentheses_are_told(texts, said):
    book = pl.DataFrame({"tidy": texts, "interval": pl.Series([None] * len(texts), dtype=pl.String)})
    assert ("parentheses" in _words(book, ".", [], marked=False)) == said
    bands = book.with_columns(interval=pl.Series(texts))
    assert _words(bands, ".", [], marked=False) == "intervals"


@pytest.mark.parametrize(
    ("original", "released", "read"),
    [
        (["yes", "no"] * 10, ["x", None] * 10, True),
        (["yes", None] * 10, ["x", None] * 10, False),  # an answer is missing there as well
        (["yes", "no"] * 10, ["x", "y"] * 10, False),  # nothing is empty
        (["a", "b", "c"] * 10, ["x", "y", None] * 10, False),  # two words
        (["1", "2"] * 10, [1, None] * 10, False),  # a number is no tick
    ],
)
def test_one_word_and_empty_cells_are_an_answer(original, released, read):
    found = Understood({"original": pl.DataFrame({"ill": original}), "released": pl.DataFrame({"ill": released})})
    rows = np.arange(len(original))
    _ticked(found, "ill", (rows, rows))
    assert bool(found.written) == read
    assert (found.tables["released"]["ill"].null_count() == 0) == (read or None not in released)


@pytest.mark.parametrize("word", ["other", "Z99", "rare value", "Q7"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        "[{0},{1})",
        "{0} to {1}",
        "{0}-{1}",
        "{0}.0",
        "{0} kg",
        "{0},5",
        "$ {0}",
        "({0})",
        "{0}%",
        "1999-{2:02d}-{3:02d}",
    ],
)
def test_what_is_equal_as_written_is_equal_as_read(shape, turned, word):
    """One value in twenty is a word in one file only; everything else is the same, and stays so."""
    values = [shape.format(k, k + 5, 1 + k % 12, 1 + k % 28) for k in range(1, 201)]
    few = [word if k % 20 == 0 else value for k, value in enumerate(values)]
    tables = [pl.DataFrame({"x": values}), pl.DataFrame({"x": few})]
    release = unmask.Release(*(reversed(tables) if turned else tables))
    assert Study(release).owns("x")[1:20].all()
    assert Study(release).owns("x").mean() >= 0.94


def test_a_column_is_left_as_it_is_written_where_reading_would_lose_what_is_equal():
    written = pl.Series(["a", "b", "c", "d"]), pl.Series(["a", "b", "x", None])
    pairs = np.arange(4), np.arange(4)
    assert equal(*written, pairs).tolist() == [True, True, False, False]
    assert loses(written, (pl.Series([1, 2, 3, 4]), pl.Series([1, 9, 3, 4])), pairs)
    assert not loses(written, (pl.Series([1, 2, 3, 4]), pl.Series([1, 2, 9, 9])), pairs)
    assert not loses((written[0], pl.Series(["q", "r", "s", "t"])), written, pairs)  # nothing to lose
    days = pl.Series([dt.date(2020, 1, 2)]), pl.Series([dt.datetime(2020, 1, 2)])  # noqa: DTZ001
    assert equal(*days, (np.arange(1), np.arange(1))).all()
    assert equal(pl.Series([5, 6]), pl.Series(["5.0", "6.5"]), (np.arange(2), np.arange(2))).tolist() == [True, False]


@pytest.mark.parametrize("form", ["%m/%d/%Y %H:%M", "%m-%d-%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%m/%d/%Y"])
@pytest.mark.parametrize("turned", [1, -1])
def test_days_with_times_are_read_alike_where_one_file_alone_does_not_show_their_order(tmp_path, form, turned):
    """Of days up to 12 alone polars would make days first, whatever the other file shows."""
    moments = pl.Series([dt.datetime(1950 + k % 50, 1 + k % 12, 1 + k % 28, 9, 30) for k in range(200)])  # noqa: DTZ001
    people = pl.DataFrame({"id": range(200), "seen": moments.dt.strftime(form)})
    for name, table in zip("or"[::turned], (people, people.filter(moments.dt.day() <= 12)), strict=True):
        table.write_csv(tmp_path / f"{name}.csv")
    release = unmask.Release(tmp_path / "o.csv", tmp_path / "r.csv", id="id")
    for table in (release.original, release.released):
        truth = moments.gather(table["id"])
        truth = truth if "H" in form else truth.dt.date()
        assert table["seen"].to_list() == truth.to_list()
