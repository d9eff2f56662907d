"""Arrow and Parquet files are held against themselves before polars reads them; more in tests/fuzz/test_found.py."""

from __future__ import annotations

import polars as pl
import pytest

from unmask.errors import TableError
from unmask.tables.whole import _in_order, check_arrow, check_parquet, is_stream


@pytest.mark.parametrize(
    ("words", "pieces", "fits"),
    [
        (b"0;0;u32;", 2, True), (b"4;nm;e2;spu8;", 2, True), (b"0;0;u64;", 2, False), (b"0;9;u32;", 2, False),
        (b"1;u3;v;x", None, True), (b"", None, True), (b"1;u4;v;x", None, False), (b"u", None, False),
    ],
)  # fmt: skip
def test_notes_of_polars_are_texts_after_their_lengths(words, pieces, fits):
    assert _in_order(words, pieces) == fits


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["b", "a"])])
def test_whole_files_pass_and_damaged_notes_do_not(kind, tmp_path):
    table = pl.DataFrame({"town": pl.Series(["a", "b"], dtype=kind), "age": [31, 42]})
    table.write_ipc(arrow := tmp_path / "a.arrow")
    table.write_ipc_stream(stream := tmp_path / "a.feather")
    table.write_parquet(parquet := tmp_path / "a.parquet")
    assert (is_stream(arrow), is_stream(stream)) == (False, True)
    for check, path in ((check_arrow, arrow), (check_arrow, stream), (check_parquet, parquet)):
        check(path)
    note = b"0;0;u32;" if kind == pl.Categorical else b"1;b1;a"
    arrow.write_bytes(arrow.read_bytes().replace(note, note.replace(b";", b":", 1)))
    with pytest.raises(TableError, match="do not fit together"):
        check_arrow(arrow)


def test_other_notes_about_columns_are_nobodys_business(tmp_path):
    import pyarrow as pa

    field = pa.field("age", pa.int64(), metadata={"label": "years; or so"})
    table = pa.table({"age": [31, 42]}, schema=pa.schema([field]))
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as file:
        file.write_table(table)
    check_arrow(tmp_path / "a.arrow")
