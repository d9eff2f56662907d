"""Names from tables are shown, and do nothing: not on a terminal, not in JSON, not in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import string

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from command_line import run
from unmask.cli.screen import console, say
from unmask.inert import inert, json_text, visible, without_formulas
from unmask.tables import write_findings, write_table

STEER = "\x1b[2J\x9b31m\x07\x08\x00\x7f\u202e\u2066\u200f\u2028\ufeff\x1b]8;;http://x\x1b\\"
FORMULAS = ("=cmd()", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\uff1dcmd()")


def test_characters_that_steer_are_written_out():
    assert visible("a\x1b[31mb\u202ec\x9bd") == r"a\x1b[31mb\u202ec\x9bd"
    assert visible("Zürich, 東京,\tعربى\n👩‍⚕️") == "Zürich, 東京,\tعربى\n👩‍⚕️"  # letters of every script are no control
    assert not set(visible(STEER)) - set(string.printable)


@given(st.text())
def test_nothing_that_steers_is_left_and_all_else_is_kept(text):
    shown = visible(text)
    assert visible(shown) == shown
    assert not any(char not in "\n\t" and (ord(char) < 32 or 127 <= ord(char) < 160) for char in shown)
    assert shown == text or len(shown) > len(text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_json_is_the_same_value_and_can_stand_in_a_script(value):
    written = json_text(value)
    assert json.loads(written) == value
    assert "<" not in written and visible(written) == written


def test_a_page_escapes_what_is_text_and_leaves_what_is_markup():
    assert type(inert("<b>\x1b")) is str and inert(3) == 3
    assert inert(Markup("<b>\u202e</b>")) == Markup(r"<b>\u202e</b>") and isinstance(inert(Markup("x")), Markup)


def test_no_cell_is_a_formula_and_numbers_stay(tmp_path):
    table = pl.DataFrame({"=name()": FORMULAS[:3], "text": ["-3.5", "+4", "plain"], "number": [-1.5, 2.0, -3.0]})
    marked = without_formulas(table)
    assert marked.columns == ["'=name()", "text", "number"]
    assert marked["'=name()"].to_list() == ["'=cmd()", "'+1+1", "'-2+3"]
    assert marked["text"].to_list() == ["-3.5", "+4", "plain"] and marked["number"].to_list() == [-1.5, 2.0, -3.0]
    for bad in FORMULAS:
        assert without_formulas(pl.DataFrame({"x": [bad, None]}))["x"].to_list() == [f"'{bad}", None]
    write_findings(table, tmp_path / "told.csv")
    assert (tmp_path / "told.csv").read_text().startswith("'=name(),")


def test_data_are_written_as_they_are(tmp_path):
    table = pl.DataFrame({"=name()": list(FORMULAS)})
    for write, name in ((write_table, "data.csv"), (write_findings, "told.parquet")):  # parquet knows no formulas
        write(table, tmp_path / name)
        read = pl.read_parquet if name.endswith("parquet") else pl.read_csv
        assert read(tmp_path / name).equals(table), name


def test_the_terminal_shows_and_does_not_obey(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    from rich.table import Table
    from rich.text import Text

    say(STEER)
    table = Table(title=Text(STEER))
    table.add_column(STEER)
    table.add_row(Text(STEER, style="red"))
    console().print(table, Text(STEER), STEER.replace("[", "\\["))
    shown = capsys.readouterr().out
    assert r"\x1b" in shown and "\x1b[31m" in shown  # the name written out, and rich's own colour
    left = shown.replace("\x1b[31m", "").replace("\x1b[0m", "").replace("\x1b[3m", "").replace("\x1b[1m", "")
    assert not set(left) & set(STEER) - set(string.printable)


@pytest.mark.parametrize("name", ["a\x1b[31mb", "a\u202eb", "a[/red]b", "[link=http://x]a[/link]"])
def test_messages_and_tables_of_the_command_line(tmp_path, capsys, name):
    rows = [["person", name], *([str(row), str(row % 7 + 0.5)] for row in range(30))]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    (tmp_path / "a.csv").write_text(text.getvalue())
    assert run("check", tmp_path / "a.csv", tmp_path / "a.csv", "--id", "person") in {0, 1, 3}
    assert run("assess", tmp_path / "a.csv", tmp_path / "a.csv", "--quasi", f"{name}x") == 2
    shown = capsys.readouterr()
    assert not set(shown.out + shown.err) & {"\x1b", "\u202e"}
    assert visible(name)[:8] in shown.out + shown.err
