from __future__ import annotations

import pandas as pd
import polars as pl
import pyreadstat
import pytest

from unmask.errors import TableError
from unmask.tables.forms import _form
from unmask.tables.read import fingerprint, read_table

TABLE = pl.DataFrame({"name": ["Zoë", "Åsa", None], "age": [31, 42, 53], "pay": [1.5, None, 3.5]})


def put(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_separator_and_encoding_are_found(tmp_path, separator, encoding):
    text = (
        separator.join(["name", "age", "pay"])
        + "\n"
        + "\n".join(separator.join(row) for row in (("Zoë", "31", "1.5"), ("Åsa", "42", "NA"), ("", "53", "3.5")))
    )
    assert read_table(put(tmp_path, text.encode(encoding))).equals(TABLE)


def test_the_separator_gives_every_line_as_many_cells(tmp_path):
    """Commas in one cell of the header make more columns of it, but of no other line."""
    path = tmp_path / "t.csv"
    path.write_text("a,b,c;d\n1;2\n3;4\n")
    assert read_table(path).columns == ["a,b,c", "d"]


def test_the_cells_of_a_single_column_may_hold_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\nAsh, north\nElm\n")
    assert read_table(path)["x"].to_list() == ["Ash, north", "Elm"]


def test_only_names_that_are_there_twice_are_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,sex,age\n1,f,2\n")
    with pytest.raises(TableError, match="same name") as refused:
        read_table(path)
    assert "'age'" in str(refused.value) and "'sex'" not in str(refused.value)


def test_given_separator_and_encoding_win(tmp_path):
    path = put(tmp_path, "a;b,c\n1;2,3\n".encode("utf-16-le"))
    assert read_table(path, separator=";", encoding="utf-16-le").columns == ["a", "b,c"]
    with pytest.raises(TableError, match="unknown encoding"):
        read_table(path, encoding="utf-99")
    with pytest.raises(TableError, match="not text in encoding ascii"):
        read_table(put(tmp_path, "é,b\n1,2"), encoding="ascii")


def test_quotes_newlines_and_separators_in_cells(tmp_path):
    path = put(tmp_path, 'a,b\n"x, y","line\nbreak"\n"say ""hi""",2\n')
    assert read_table(path).rows() == [("x, y", "line\nbreak"), ('say "hi"', "2")]


def test_windows_line_ends_and_trailing_blank_lines(tmp_path):
    assert read_table(put(tmp_path, "a,b\r\n1,2\r\n3,4\r\n\r\n")).drop_nulls().rows() == [(1, 2), (3, 4)]


def test_leading_zeros_are_kept(tmp_path):
    frame = read_table(put(tmp_path, "postcode,n,d,x\n01067,1,2020-01-02,0.5\n10115,02,2020-02-03,0.25\n"))
    assert frame["postcode"].to_list() == ["01067", "10115"]
    assert frame["n"].to_list() == ["1", "02"]
    assert frame["x"].to_list() == [0.5, 0.25]
    assert frame["d"].dtype == pl.Date


def test_decimal_commas_in_semicolon_files(tmp_path):
    assert read_table(put(tmp_path, "a;b\n3,14;x\n2;y\n"))["a"].to_list() == [3.14, 2.0]


def test_types_change_late_in_the_file(tmp_path):
    lines = "\n".join(["1"] * 5000 + ["x"])
    assert read_table(put(tmp_path, f"a\n{lines}\n"))["a"].dtype == pl.String


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather", "stream.arrow"])
def test_parquet_and_arrow(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    write = {"parquet": TABLE.write_parquet, "stream.arrow": TABLE.write_ipc_stream}.get(suffix, TABLE.write_ipc)
    write(path)
    assert read_table(path).equals(TABLE)


@pytest.mark.parametrize(("suffix", "writer"), [("dta", "write_dta"), ("sav", "write_sav"), ("xpt", "write_xport")])
def test_statistical_packages(tmp_path, suffix, writer):
    path = tmp_path / f"t.{suffix}"
    frame = pd.DataFrame({"age": [31.0, 42.0, 53.0], "town": ["x", "y", ""], "pay": [1.5, None, 3.5]})
    getattr(pyreadstat, writer)(frame, str(path))
    read = read_table(path)
    assert [name.lower() for name in read.columns] == ["age", "town", "pay"]
    assert read.rows() == [(31.0, "x", 1.5), (42.0, "y", None), (53.0, None, 3.5)]


@pytest.mark.parametrize(("suffix", "writer"), [("dta", "write_dta"), ("sav", "write_sav")])
def test_value_labels_make_categories(tmp_path, suffix, writer):
    path = tmp_path / f"t.{suffix}"
    option = {"variable_value_labels": {"sex": {1: "man", 2: "woman"}}}
    getattr(pyreadstat, writer)(pd.DataFrame({"sex": [1, 2, 1]}), str(path), **option)
    assert read_table(path)["sex"].to_list() == ["man", "woman", "man"]


def test_sas7bdat_junk_is_refused(tmp_path):
    with pytest.raises(TableError, match="not a readable .sas7bdat"):
        read_table(put(tmp_path, b"junk" * 500, "t.sas7bdat"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"  \n \n", "is empty"),
        ("t.csv", b"a,b\n", "a header but no rows"),
        ("t.csv", bytes(range(256)) * 4, "zero bytes"),
        ("t.csv", b"a,b\n1,2\n3\n", "line 3 of t.csv has 1 fields, the header has 2"),
        ("t.csv", b"a,b\n1,2\n3,4,5\n", "line 3 of t.csv has 3 fields, the header has 2"),
        ("t.csv", b'a,b\n"1",2\n3,4,5\n', "line 3 of t.csv has 3 fields, the header has 2"),
        ("t.csv", b"a,b,a\n1,2,3\n", "same name(?s:.*)'a'"),
        ("t.parquet", b"not parquet at all", "not a readable .parquet"),
        ("t.dta", b"not stata at all", "not a readable .dta"),
        ("t.xyz", b"a,b\n1,2\n", "cannot tell the format"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, name, content, message):
    with pytest.raises(TableError, match=message):
        read_table(put(tmp_path, content, name))


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(TableError, match="no file at"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)


def test_long_cells_and_many_columns(tmp_path):
    assert read_table(put(tmp_path, f"a,b\n{'x' * 10_000},1\n"))["a"].str.len_chars()[0] == 10_000
    header, row = ",".join(f"c{i}" for i in range(5000)), ",".join("1" for _ in range(5000))
    assert read_table(put(tmp_path, f"{header}\n{row}\n{row}\n")).shape == (2, 5000)


def test_frames_of_mixed_types_nested_cells_and_no_frames():
    mixed = read_table(pd.DataFrame({"a": [1, "x", None], "b": [1.5, float("nan"), 2.5]}))
    assert mixed["a"].to_list() == ["1", "x", None]
    assert mixed["b"].null_count() == 1
    with pytest.raises(TableError, match=r"nested(?s:.*)'a'"):
        read_table(pl.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(TableError, match=r"neither a path nor a frame(?s:.*)list"):
        read_table([1, 2])
    with pytest.raises(TableError, match="no columns"):
        read_table(pl.DataFrame())
    with pytest.raises(TableError, match="same name"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_no_message_quotes_a_value(tmp_path):
    with pytest.raises(TableError) as error:
        read_table(put(tmp_path, "a,b\nSECRET,2\nSECRET,SECRET,SECRET\n"))
    assert "SECRET" not in str(error.value)


def test_fingerprint_tells_changes(tmp_path):
    path = put(tmp_path, "a\n1\n")
    before = fingerprint(path, read_table(path))
    path.write_text("a\n2\n")
    assert fingerprint(path, read_table(path)) != before
    assert fingerprint(TABLE, TABLE) == fingerprint(TABLE, TABLE.clone())
    assert fingerprint(TABLE, TABLE) != fingerprint(TABLE, TABLE.reverse())


def test_r_row_names_have_a_name(tmp_path):
    assert read_table(put(tmp_path, '"","a"\n"1",2\n"2",3\n')).columns == ["unnamed", "a"]


def test_forms_of_columns_in_words():
    assert _form(pl.Series(["1", "2", "3"])) == "digits as text, 3 different"
    assert _form(pl.Series(["1", "x"])) == "text, 2 different"
    assert _form(pl.Series(["1-5", "6-9"])) == "intervals, 2 different"
