from __future__ import annotations

import stat
import zipfile
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from unmask.errors import ParameterError, TableError
from unmask.tables.read import read_table
from unmask.tables.write import check_target, write_atomically, write_table


def test_whole_or_not_at_all(tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")

    def fail(path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(TableError, match="No space left"):
        write_atomically(target, fail)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_readable_by_the_owner_only(tmp_path):
    write_atomically(tmp_path / "a", "text")
    write_atomically(tmp_path / "b", b"bytes")
    assert (tmp_path / "a").read_text() == "text"
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600


def test_bad_targets(tmp_path):
    for target, message in ((tmp_path, "is a folder"), (tmp_path / "no" / "x", "no folder")):
        with pytest.raises(TableError, match=message):
            write_atomically(target, "x")


def test_what_only_the_system_knows_is_told_before_the_work(tmp_path):
    """A name that is too long, and a folder in which even root can make nothing."""
    (tmp_path / "file").touch()
    for target in (tmp_path / ("x" * 300), Path("/proc/x.json"), tmp_path / "file" / "x"):
        with pytest.raises(TableError, match="cannot write"):
            check_target(target)
    check_target(tmp_path / "fine")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_suffix_says_the_format(tmp_path):
    table = pl.DataFrame({"a": [1, 2]})
    for name, read in (("t.csv", pl.read_csv), ("t.CSV", pl.read_csv), ("t.parquet", pl.read_parquet)):
        write_table(table, tmp_path / name)
        assert read(tmp_path / name).equals(table)
    with pytest.raises(ParameterError, match="cannot write to"):
        write_table(table, tmp_path / "t.txt")


@pytest.mark.parametrize("denied", ["folder", "file", "nothing"])
def test_no_permission_is_told_before_the_work(tmp_path, monkeypatch, denied):
    target = tmp_path / "t.txt"
    target.write_text("old")
    refused = {"folder": tmp_path, "file": target}.get(denied)
    monkeypatch.setattr("unmask.tables.write.os.access", lambda path, _: path != refused)
    if refused is None:
        write_atomically(target, "new")
    else:
        with pytest.raises(TableError, match="no permission"):
            write_atomically(target, "new")
    assert target.read_text() == ("new" if refused is None else "old")


def test_a_workbook_holds_what_the_table_says_and_runs_nothing(tmp_path):
    table = pl.DataFrame(
        {"text": ["=1+1", "http://x", "007", None], "number": [1.25, None, -3.5, 0.1], "day": [date(2020, 1, 31)] * 4}
    )
    for name in ("a.xlsx", "b.xlsx"):
        write_table(table, tmp_path / name)
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    again = read_table(tmp_path / "a.xlsx", name="table")
    assert again["text"].to_list() == table["text"].to_list()
    assert again["number"].to_list() == table["number"].to_list()
    assert again["day"].cast(pl.Date).to_list() == table["day"].to_list()


def test_a_table_too_large_for_a_sheet_is_refused(tmp_path):
    with pytest.raises(TableError, match="too large for a sheet"):
        write_table(pl.DataFrame({"a": pl.zeros(2**20, eager=True)}), tmp_path / "a.xlsx")
    assert not (tmp_path / "a.xlsx").exists()


def test_addresses_in_a_workbook_stay_text(tmp_path):
    write_table(pl.DataFrame({"page": ["https://a.example/x", "=1+1", "7"]}), path := tmp_path / "a.xlsx")
    with zipfile.ZipFile(path) as book:
        sheets = b"".join(book.read(name) for name in book.namelist() if "sheet" in name)
    assert b"hyperlink" not in sheets and b"<f>" not in sheets
