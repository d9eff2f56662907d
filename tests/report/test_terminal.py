"""The summary in the terminal: readable at 80 columns with the whole battery, and it tells what the attacks remark."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

import unmask
from unmask.evidence.catalogue import name_of
from unmask.evidence.estimate import Estimate
from unmask.evidence.measure import registered
from unmask.report.document import ExposedEntry, MeasureEntry
from unmask.report.terminal import MOST_FINDERS, MOST_NOTES, _flow, column_table, show, show_columns
from unmask.report.words import OUTCOMES

ATTACKS = (
    "anonymity",
    "attribute_test",
    "dictionary",
    "one_to_one",
    "knowledge_sweep",
    "learned",
    "nearest",
    "permuted",
)


@pytest.fixture(scope="module")
def document():
    people = unmask.datasets.census(60, seed=1)
    return unmask.assess(unmask.Release(people, people), only=["nearest", "uniqueness"]).document


def shown(document, width):
    console = Console(file=StringIO(), width=width, highlight=False)
    show(document, console)
    return console.file.getvalue()


def part(text, start, end):
    """The lines after the one that begins with start, up to the one that begins with end."""
    lines = text.split("\n")
    first = next(k for k, line in enumerate(lines) if line.startswith(start))
    last = next(k for k in range(first + 1, len(lines)) if lines[k].startswith(end))
    return lines[first + 1 : last]


def exposed(row, **risks):
    return ExposedEntry(row, max(risks.values()), 3, risks)


@pytest.mark.parametrize("width", [80, 160])
def test_the_exposed_records_name_their_attacks_whole(document, width):
    every = exposed(7, **dict.fromkeys(ATTACKS, 1.0))
    some = exposed(9, nearest=0.5, special_uniques=0.25, learned=0.5, anonymity=0.0)
    text = shown(replace(document, exposed=(every, some)), width)
    assert max(map(len, text.split("\n"))) <= width
    assert "…" not in text
    table = part(text, "The most exposed", "How the columns")
    words = " ".join(" ".join(table).split()).replace("\N{NO-BREAK SPACE}", " ")
    names = ", ".join(name_of(name) for name in ATTACKS[:MOST_FINDERS])
    first = f"7 100 % {names}, {len(ATTACKS) - MOST_FINDERS} more"
    assert words.endswith(f"{first} 9 50 % Nearest record 50 %, Learned distance 50 %, Special uniques 25 %")
    assert len(table) <= 8  # a line or two for each record
    assert "drawn again. 3 people share a risk of 50 %." in " ".join(text.split())


def test_ids_are_shown_where_they_may_be(document):
    entry = replace(exposed(3, nearest=1.0), label="[red]P-17")
    assert "[red]P-17" in shown(replace(document, exposed=(entry,)), 80)


def test_notes_of_the_attacks_that_ran(document):
    measures = (
        MeasureEntry("one", "", "", ran=True, notes=("a [b] is coarse", "of one only")),
        MeasureEntry("two", "", "", ran=True, notes=("a [b] is coarse",)),
        MeasureEntry("three", "", "", ran=False, notes=("it does not apply",)),
    )
    notes = part(shown(replace(document, measures=measures), 80), "Notes", "Risk:")
    assert [line.strip() for line in notes if line.strip()] == ["- One, Two: a [b] is coarse", "- One: of one only"]
    assert "Notes" not in shown(replace(document, measures=measures[2:]), 80)


def test_many_notes_are_counted(document):
    notes = tuple(f"note {k}" for k in range(MOST_NOTES + 3))
    text = shown(replace(document, measures=(MeasureEntry("one", "", "", ran=True, notes=notes),)), 80)
    assert f"note {MOST_NOTES - 1}" in text
    assert f"note {MOST_NOTES}" not in text
    assert "and 3 more in the JSON and the HTML" in text


def test_no_name_or_outcome_is_broken_at_80_columns(document):
    key = max((key for entry in registered().values() for key in entry.keys), key=lambda key: len(name_of(key)))
    judged = ("for", "against", "inconclusive", "not judged")
    first = replace(document.findings[0], key=key, people=0, estimate=Estimate(0.1234, 0.00092, 0.1555, 100, 0.000876))
    text = shown(replace(document, findings=tuple(replace(first, outcome=word) for word in judged)), 80)
    table = part(text, "Findings", "What decides")
    assert max(map(len, table)) <= 80
    rows = [line.split() for line in table if line.strip().startswith(name_of(key))]
    assert [row[len(name_of(key).split()) :] for row in rows] == [
        ["12.3", "%", "0.092-15.6", "%", "0.088", "%", "nobody", *OUTCOMES[word].split()] for word in judged
    ]


def test_no_column_and_no_role_is_broken_at_80_columns(document):
    wide = replace(document.columns[0], name="income of the household", role="confidential", reason="long " * 20)
    written = replace(wide, original="dates such as 31.12.2026", released="years such as 2026")
    text = shown(replace(document, columns=(written,)), 80)
    assert max(map(len, text.split("\n"))) <= 80
    assert "income of the household" in text and "confidential" in text


def test_a_very_long_name_hides_nothing_else_at_80_columns(document):
    name = "special_educational_needs_assessed_by_the_school_psychologist"
    wide = replace(document.columns[0], name=name, role="confidential", kind="categorical", own=0.112)
    written = replace(wide, original="whole numbers, 260 different", released="whole numbers, 260 different")
    text = shown(replace(document, columns=(written,)), 80)
    assert max(map(len, text.split("\n"))) <= 80
    assert "categorical" in text and "confidential" in text and "11.2 %" in text and "read as" in text


def test_known_above_found_has_its_reason_below_the_table(document):
    """Ten claims of ten people, nine of them right: the table shows 100 % known and 90 % found."""
    keys = {"nearest.rate": 0.9, "nearest.known": 1.0}
    found = tuple(
        replace(
            document.findings[0], key=key, measure="nearest", outcome="against", estimate=Estimate(v, 0.5, 1.0, 10, 0.1)
        )
        for key, v in keys.items()
    )
    given = [replace(document, findings=entries, intruders=()) for entries in (found, found[:1])]
    told = [" ".join(shown(entry, 80).split()) for entry in given]
    assert "so that more can be known than are found" in told[0] and "are found" not in told[1]


def test_a_column_takes_two_lines_at_most_and_its_rule_is_in_the_check(document):
    column = replace(document.columns[0], name="birth date", role="quasi", reason="long " * 20, kind="date")
    written = replace(column, original="dates, 495 different", released="dates, 11 different", rule="by decades " * 9)
    rows = [line.split() for line in shown(replace(document, columns=(written,)), 80).rstrip().split("\n")]
    assert rows[-1][:7] == ["birth", "date", "quasi", "dates,", "495", "dates,", "11"] and rows[-1][-1] == "date"
    console = Console(width=80, file=StringIO())
    console.print(column_table((written,)))
    assert "decades" in console.file.getvalue() and "decades" not in " ".join(rows[-1])


@pytest.mark.parametrize("width", range(40, 90, 7))
def test_a_number_and_its_sign_stay_on_one_line(width):
    text = "the policy allows 9 % of people, " * 6
    lines = _flow(text, width).plain.split("\n")
    assert " ".join(lines) == text.strip() and max(map(len, lines)) <= width
    assert not [line for line in lines if line.startswith("%")]


def test_page_one_comes_first_and_the_command_is_one_line(demo):
    text = shown(demo.assessment.document, 80)
    place = 0
    for word in (
        "Disclosure risk of",
        "Do not publish",
        "Found by the best intruder",
        "Which columns do it",
        "Findings",
    ):
        place = text.index(word, place)
    assert (
        len([line for line in text.split("\n") if line.startswith("  unmask protect ") and "-o safer.csv" in line]) == 1
    )
    others = [line for line in text.split("\n") if not line.startswith("  unmask protect ")]
    assert max(map(len, others)) <= 80


def test_attacks_that_do_not_apply_are_one_line_and_no_rows(demo):
    text = shown(demo.assessment.document, 80)
    assert "Did not apply: Known masking," in text
    assert "does not apply" not in text.split("Did not apply")[0]


@pytest.mark.parametrize("width", [80, 140])
def test_why_a_column_was_read_as_it_was_is_read_at_any_width(document, width):
    """Beside five other columns of a table eighty letters leave ten for a sentence: it stands below them."""
    why = "the release has days in place of dates; the intruder knows which one a date is in"
    column = replace(document.columns[0], name="admitted", kind="date", rule=why)
    console = Console(width=width, record=True, file=StringIO())
    show_columns([column] * 3, console)
    text = console.export_text()
    lines = text.rstrip("\n").split("\n")
    assert len(lines) < 18 and max(map(len, lines)) <= width
    assert (" ".join(text.split()).count(f"admitted: date: {why}") == 3) == (width == 80)
