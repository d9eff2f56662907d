"""The same table in every format is the same table; what is wrong with a file is told."""

from __future__ import annotations

import gzip

import pytest
import xlsxwriter

import unmask
from unmask.errors import ParameterError, TableError
from unmask.tables.read import read_table
from unmask.tables.write import TABLES, write_table

FORMATS = ["a.csv", "a.tsv", "a.csv.gz", "a.csv.zst", "a.json", "a.jsonl", "a.ndjson.gz", "a.parquet", "a.arrow"]
PEOPLE = unmask.datasets.patients(60, seed=3)


def workbook(path, **sheets):
    book = xlsxwriter.Workbook(path)
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)
    book.close()
    return path


def write(table, path):
    if path.suffix == ".xlsx":
        table.write_excel(path, worksheet="people")
    else:
        write_table(table, path)
    return path


@pytest.mark.parametrize("name", [*FORMATS, "a.xlsx", "A.CSV.GZ"])
def test_every_format_holds_the_same_values(tmp_path, name):
    table = read_table(write(PEOPLE, tmp_path / name))
    plain = read_table(write(PEOPLE, tmp_path / "plain.csv"))
    assert table.columns == plain.columns
    assert table.cast(plain.schema).equals(plain)
    assert [kind.is_temporal() for kind in table.dtypes] == [kind.is_temporal() for kind in plain.dtypes]


def test_every_format_gives_the_same_assessment(tmp_path):
    masked = unmask.parse_masking("noise(0.5)").apply(PEOPLE, 1)
    found = []
    for name in ("a.csv", "a.csv.gz", "a.csv.zst", "a.jsonl", "a.json", "a.xlsx", "a.parquet"):
        release = unmask.Release(
            write(PEOPLE, tmp_path / name), write(masked, tmp_path / f"b{name[1:]}"), id="patient",
            confidential=["diagnosis"], kinds={"postcode": "categorical"},  # digits are text in some formats only
        )  # fmt: skip
        assessment = unmask.assess(release, only=["nearest", "uniqueness", "values", "likelihood"])
        found.append((assessment.records.to_dicts(), [(f.key, f.estimate) for f in assessment.findings]))
    assert all(result == found[0] for result in found)


def test_written_bytes_do_not_depend_on_the_clock(tmp_path):
    for name in FORMATS:
        assert write(PEOPLE, tmp_path / name).read_bytes() == write(PEOPLE, tmp_path / f"b{name}").read_bytes()


@pytest.mark.parametrize("name", ["a.docx", "a.gz", "a.parquet.gz", "a", "a.csv.zip"])
def test_what_cannot_be_written_is_told(tmp_path, name):
    with pytest.raises(ParameterError, match="cannot write") as error:
        write_table(PEOPLE, tmp_path / name)
    assert all(suffix in str(error.value) for suffix in TABLES)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz", "a.csv.zst", "a.xlsx", "a.parquet"])
def test_broken_files(tmp_path, name):
    whole = write(PEOPLE, tmp_path / name).read_bytes()
    for content in (whole[: len(whole) // 2], b"PK no archive at all", whole[:7]):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TableError, match="not a whole|not a readable"):
            read_table(tmp_path / name)


def test_an_archive_of_nothing(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "a.json").write_text(" [ ]\n")
    for name in ("a.csv.gz", "a.json"):
        with pytest.raises(TableError, match="empty|header|record"):
            read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"a": {"b": 1}}]', "nested"),
        ('{"a": [1, 2]}', "nested"),
        ("[1, 2]", "list of records"),
        ('[{"a": 1}', "list of records"),
        ('{"a": 1}\n{"a": 2', "list of records"),
        ('{"a": 1}\n[1]', "list of records"),
        ("just words", "list of records"),
        ('[{"a": 1, "b": 2, "a": 3}]', "the same name"),
        ('{"a": 1, "a": 2}\n', "the same name"),
    ],
)
def test_json_that_is_no_table(tmp_path, text, words):
    for name in ("a.json", "a.jsonl"):
        (tmp_path / name).write_text(text)
        with pytest.raises(TableError, match=words):
            read_table(tmp_path / name)


def test_json_keeps_its_types_and_finds_dates_and_missing_numbers(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"code": "01", "zip": "12345", "day": "2024-02-01", "pay": 1.5, "n": 1}\n'
        '{"code": "2", "zip": "10115", "day": null, "pay": "NA", "n": 2, "late": true}\n'
    )
    table = read_table(tmp_path / "a.jsonl")
    assert [str(kind) for kind in table.dtypes] == ["String", "String", "Date", "Float64", "Int64", "Boolean"]
    assert table["pay"].to_list() == [1.5, None]


BOOK = {
    "people": [["id", "age", "note"], [1, 31, "x"], [2, ".", None], [None, None, None], [3, 44, "2024-02-01"]],
    "masked": [["id", "age"], [1, 30], [2, 40]],
    "empty": [],
    "names only": [["id", "age"]],
    "twice": [["id", "id"], [1, 2]],
    "no names": [[1, 2], [3, 4]],
}


def test_sheets(tmp_path):
    path = workbook(tmp_path / "b.xlsx", **BOOK)
    table = read_table(path, sheet="people")
    assert table["age"].to_list() == [31, None, None, 44]  # "." is missing, and an empty row stays: people are paired
    assert read_table(path, sheet=["original=people", "released=masked"], role="released").height == 2
    assert read_table(path, sheet=["masked", "original=people"], name="original").height == 4
    release = unmask.Release(path, path, id="id", reading={"sheet": ["original=masked", "released=masked"]})
    assert release.original.height == 2 and release.settings["reading"]["sheet"] == [
        "original=masked",
        "released=masked",
    ]


@pytest.mark.parametrize(
    ("sheet", "words"),
    [
        (None, "has 6 sheets"),
        ("poeple", "no sheet 'poeple'"),
        ("empty", "'empty' of b.xlsx is empty"),
        ("names only", "no rows"),
        ("twice", "the same name"),
        ("no names", "numbers, not names"),
        (["people", "masked"], "two sheets"),
    ],
)
def test_sheets_that_cannot_be_read(tmp_path, sheet, words):
    with pytest.raises((TableError, ParameterError), match=words) as error:
        read_table(workbook(tmp_path / "b.xlsx", **BOOK), sheet=sheet)
    if sheet in (None, "poeple"):
        assert "'people', 'masked', 'empty', 'names only'" in str(error.value)
    if sheet == "poeple":
        assert "did you mean 'people'?" in str(error.value)


def test_a_table_that_does_not_begin_in_the_corner(tmp_path):
    book = xlsxwriter.Workbook(tmp_path / "b.xlsx")
    sheet = book.add_worksheet()
    for place, row in enumerate([["id", "", "age"], [1, "", 31], [2, "", 42]]):
        sheet.write_row(place + 3, 2, row)
    book.close()
    assert read_table(tmp_path / "b.xlsx").to_dicts() == [{"id": 1, "age": 31}, {"id": 2, "age": 42}]
