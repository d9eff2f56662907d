"""Files that are given to an engine: the ones that are named, whole, with the same columns in each part."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

import unmask
from unmask import engines
from unmask.engines.files import fingerprint_of
from unmask.errors import TableError

pytest.importorskip("duckdb")
PEOPLE = pl.DataFrame({"id": range(30), "town": [f"T{k % 7}" for k in range(30)], "age": [k % 11 for k in range(30)]})
OTHERS = PEOPLE.with_columns(pl.lit("nowhere").alias("town"), pl.col("id") + 1000)
ODD = ("release[1]", "release*", "release?", "release[!x]", "release{1,2}", "a]b", "**", "it's")


def written(table: pl.DataFrame, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    (table.write_parquet if path.suffix == ".parquet" else table.write_csv)(path)
    return path


def rows_of(given, other=PEOPLE) -> int:
    with engines.open_store(other, given, id="id") as store:
        assert not {key.foreign for key in store.keys} - {0}
        return store.n_released


def refused(original, released=PEOPLE) -> str:
    with pytest.raises(TableError) as caught, engines.open_store(original, released, id="id"):
        pass
    return str(caught.value)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_is_read_itself_whatever_signs_of_a_pattern_its_name_has(tmp_path, name, suffix):
    asked = written(PEOPLE, tmp_path / f"{name}{suffix}")
    for other in ("release1", "releasex", "release12"):
        written(OTHERS, tmp_path / f"{other}{suffix}")
    assert rows_of(asked) == 30


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_folder_is_read_itself_whatever_signs_of_a_pattern_its_name_has(tmp_path, name, suffix):
    for part in range(3):
        written(PEOPLE[part * 10 : part * 10 + 10], tmp_path / name / f"part-{part}{suffix}")
    for other in ("release1", "releasex", "ab"):
        written(OTHERS, tmp_path / other / f"part-0{suffix}")
    assert rows_of(tmp_path / name) == 30
    assert rows_of(tmp_path / name / f"part-0{suffix}") == 10


def test_a_pattern_of_the_user_still_finds_all_files(tmp_path):
    for part in range(3):
        written(PEOPLE[part * 10 : part * 10 + 10], tmp_path / f"part-{part}.csv")
    assert rows_of(f"{tmp_path}/part-*.csv") == 30
    assert rows_of(f"{tmp_path}/part-[02].csv") == 20


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("without", [0, 1])
def test_a_part_without_a_column_is_refused_by_name(tmp_path, suffix, without):
    for part in range(2):
        table = PEOPLE[part * 15 : part * 15 + 15]
        written(table.drop("town") if part == without else table, tmp_path / "o" / f"p{part}{suffix}")
    told = refused(tmp_path / "o")
    assert f"p{without}{suffix} has no column 'town'" in told
    assert "hint" in told


def test_parts_may_have_their_columns_in_any_order(tmp_path):
    written(PEOPLE[:15], tmp_path / "o" / "p0.csv")
    written(PEOPLE[15:].select(reversed(PEOPLE.columns)), tmp_path / "o" / "p1.csv")
    assert rows_of(tmp_path / "o") == 30


def test_a_part_with_another_separator_is_refused(tmp_path):
    (tmp_path / "o").mkdir()
    PEOPLE[:15].write_csv(tmp_path / "o" / "p0.csv")
    PEOPLE[15:].write_csv(tmp_path / "o" / "p1.csv", separator=";")
    assert "p1.csv has no column 'age'" in refused(tmp_path / "o")


@pytest.mark.parametrize("name", ["o.csv.gz", "o.csv.zst", "o.tsv"])
def test_packed_files_and_tabs(tmp_path, name):
    raw = PEOPLE.write_csv(separator="\t" if name == "o.tsv" else ",").encode()
    if name.endswith(".zst"):
        raw = pytest.importorskip("zstandard").compress(raw)
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    assert rows_of(tmp_path / name) == 30


def test_quotes_line_breaks_marks_and_a_byte_order_mark(tmp_path):
    odd = PEOPLE.with_columns(pl.Series("town", ['a, "b"', "# no comment", "line\nbreak", "'tis", "é"] * 6))
    (tmp_path / "o.csv").write_bytes(b"\xef\xbb\xbf" + odd.write_csv().encode())
    assert rows_of(tmp_path / "o.csv", odd) == 30


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_that_differ_in_capitals_only_are_refused(tmp_path, suffix):
    """DuckDB would call the second one Town_1: by the order of columns another one in each table."""
    asked = written(PEOPLE.with_columns(pl.col("age").alias("Town")), tmp_path / f"o{suffix}")
    assert "'town', 'Town'" in refused(asked)


def test_columns_of_a_frame_that_differ_in_capitals_only_are_refused():
    assert "the original has columns" in refused(PEOPLE.with_columns(pl.col("age").alias("Town")))


def test_a_name_that_is_there_twice_is_refused(tmp_path):
    (tmp_path / "o.csv").write_text("id,age,age\n1,2,3\n2,3,4\n")
    assert "columns with the same name" in refused(tmp_path / "o.csv")


def test_an_empty_file_is_told_in_the_words_of_memory(tmp_path):
    (tmp_path / "o.csv").write_text("")
    with pytest.raises(TableError) as here:
        unmask.Release(tmp_path / "o.csv", PEOPLE, id="id")
    assert refused(tmp_path / "o.csv") == str(here.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "o.parquet").write_bytes(b"no parquet, but somebody's 12345")
    told = refused(tmp_path / "o.parquet")
    assert str(tmp_path / "o.parquet") in told
    assert "the original" in told
    assert "12345" not in told
    written(PEOPLE, tmp_path / "parts" / "a.parquet")
    (tmp_path / "parts" / "b.parquet").write_bytes(b"broken")
    assert str(tmp_path / "parts" / "b.parquet") in refused(PEOPLE, tmp_path / "parts")


def test_a_row_with_too_many_fields_is_told_with_its_file(tmp_path):
    lines = PEOPLE.write_csv().splitlines()
    (tmp_path / "o.csv").write_text("\n".join([*lines[:20], "7,x,3,4,5,secret", *lines[20:]]))
    told = refused(tmp_path / "o.csv")
    assert str(tmp_path / "o.csv") in told
    assert "secret" not in told


# --- fingerprints -----------------------------------------------------------------------------------------------------


def test_what_was_found_is_not_taken_again_when_a_folder_that_is_a_value_has_another_name(tmp_path):
    for sex in "fm":
        rows = PEOPLE.filter((pl.col("id") % 2 == 0) == (sex == "f"))
        written(rows, tmp_path / "o" / f"sex={sex}" / "p.parquet")
    whole = PEOPLE.with_columns(pl.when(pl.col("id") % 2 == 0).then(pl.lit("f")).otherwise(pl.lit("m")).alias("sex"))
    released = written(whole, tmp_path / "r.parquet")

    def figures(resume=None):
        done = unmask.assess_large(tmp_path / "o", released, id="id", only=["uniqueness"], resume=resume)
        return [(one.key, one.estimate) for one in done.findings]

    before = figures(tmp_path / "state")
    (tmp_path / "o" / "sex=f").rename(tmp_path / "o" / "sex=e")
    assert figures(tmp_path / "state") == figures() != before
    (tmp_path / "o" / "sex=e").rename(tmp_path / "o" / "sex=f")
    (tmp_path / "o").rename(tmp_path / "moved")
    assert fingerprint_of([tmp_path / "r.parquet"], released) is not None


def test_the_fingerprint_is_that_of_bytes_and_of_places_below_what_was_given(tmp_path):
    first, second = (written(PEOPLE[k : k + 5], tmp_path / "o" / f"p{k}.csv") for k in (0, 5))
    alone = fingerprint_of([first], first)
    assert alone == unmask.Release(first, PEOPLE[:5], id="id").sources["original"].sha256
    both = fingerprint_of([first, second], tmp_path / "o")
    (tmp_path / "o").rename(tmp_path / "moved")
    moved = [tmp_path / "moved" / path.name for path in (first, second)]
    assert fingerprint_of(moved, tmp_path / "moved") == both
    moved[1].rename(tmp_path / "moved" / "p9.csv")
    assert fingerprint_of([moved[0], tmp_path / "moved" / "p9.csv"], tmp_path / "moved") != both
    one = written(PEOPLE, tmp_path / "year=2020" / "p.csv")
    told = fingerprint_of([one], one)
    other = one.parent.rename(tmp_path / "year=2021") / "p.csv"
    assert fingerprint_of([other], other) != told
    assert fingerprint_of([]) is None
    assert json.dumps(told)
