"""Matrices of distances: read from arrays and files, and refused with the row, counted from 1, and no value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unmask.errors import TableError
from unmask.tables.formats import packed
from unmask.tables.matrix import matrix_fingerprint, read_matrix

WHAT = "distances of the release"


def good(n=5, seed=0):
    points = np.random.default_rng(seed).normal(size=n)
    return np.abs(points[:, None] - points)


def spoiled(row, column, value, n=1500):
    """A matrix of more rows than are checked at once, wrong in one cell (and its mirror, unless one-way)."""
    d = good(n)
    d[row, column] = value
    return d


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet", " with a header.csv"])
def test_files_and_arrays_are_the_same(tmp_path, suffix):
    path, d = tmp_path / f"d{suffix}", good()
    if suffix == ".npy":
        np.save(path, d)
    elif suffix == ".parquet":
        pl.DataFrame(d).write_parquet(path)
    else:
        pl.DataFrame(d).write_csv(path, include_header="header" in suffix)
    assert np.allclose(read_matrix(path, 5, WHAT), read_matrix(d, 5, WHAT))
    assert matrix_fingerprint(path, d) == matrix_fingerprint(str(path), d)


def test_names_of_the_records_around_a_matrix_are_left_out(tmp_path):
    """As pandas writes it, with or without the index, and with names; a first row of 0, 1, 2, ... alone is data."""
    d = good()
    for k, (names, index) in enumerate([(None, True), (None, False), (list("abcde"), True), (list("abcde"), False)]):
        path = tmp_path / f"{k}.csv"
        pd.DataFrame(d, columns=names, index=names).to_csv(path, index=index)
        assert np.allclose(read_matrix(path, 5, WHAT), d)
    line = np.abs(np.arange(5)[:, None] - np.arange(5))
    np.savetxt(tmp_path / "line.csv", line, delimiter=",", fmt="%d")
    assert read_matrix(tmp_path / "line.csv", 5, WHAT).tolist() == line.tolist()
    with pytest.raises(TableError, match="5 x 5"):
        read_matrix(tmp_path / "line.csv", 4, WHAT)


def test_pseudometrics_whole_numbers_and_rounding_are_welcome():
    assert read_matrix(np.zeros((3, 3), dtype=int), 3, WHAT).tolist() == np.zeros((3, 3)).tolist()
    assert read_matrix([[0, 1], [1, 0]], 2, WHAT).dtype == np.float64
    d = good()
    d[0, 1] *= 1 + 1e-9
    even = read_matrix(d, 5, WHAT)
    assert even[0, 1] == even[1, 0]


@pytest.mark.parametrize(
    ("d", "says"),
    [
        (spoiled(1402, 3, np.nan), "missing or infinite.*row 1403"),
        (spoiled(1402, 3, np.inf), "missing or infinite.*row 1403"),
        (spoiled(1402, 3, -1.0), "negative.*row 1403"),
        (spoiled(1402, 1401, 99.0), "not symmetric.*row 1402"),
        (spoiled(1402, 1402, 99.0), "diagonal.*row 1403"),
        (good(1499), "do not fit.*1499 x 1499.*1500 x 1500"),
        (good(1500)[:, :7], "do not fit.*1500 x 7"),
        ([[0.0, 1.0], [1.0]], "not a matrix"),
        (np.array([["a"] * 3] * 3), "not numbers"),
    ],
)
def test_what_is_not_a_matrix_of_distances_is_refused(d, says):
    with pytest.raises(TableError) as error:
        read_matrix(d, 1500, WHAT)
    assert all(part in str(error.value) for part in says.split(".*"))
    assert "99" not in str(error.value).replace("1499", "")


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_what_counts_as_rounding_does_not_depend_on_the_unit(unit):
    """A millionth of the largest distance; more is another distance, and nothing to be evened out."""
    d = good() * unit / good().max()
    for off, fine in ((1e-7, True), (1e-5, False)):
        for row, column in ((0, 1), (3, 3)):
            other = d.copy()
            other[row, column] += off * unit
            if fine:
                assert np.allclose(read_matrix(other, 5, WHAT), d, rtol=0, atol=1e-7 * unit)
            else:
                with pytest.raises(TableError, match="diagonal" if row == column else "not symmetric"):
                    read_matrix(other, 5, WHAT)


def test_only_what_counts_the_records_is_left_out(tmp_path):
    """A row or column too many is not taken for names because it is the first."""
    d, path = good(), tmp_path / "d.csv"
    np.savetxt(path, np.vstack([d[4], d]), delimiter=",")
    with pytest.raises(TableError, match="6 x 5"):
        read_matrix(path, 5, WHAT)
    around = np.vstack([np.arange(-1.0, 5), np.column_stack([d[4], d])])
    around[0, 0] = np.nan
    pl.DataFrame(around).fill_nan(None).write_csv(path, include_header=False)
    with pytest.raises(TableError, match="6 x 6"):
        read_matrix(path, 5, WHAT)
    with pytest.raises(TableError, match="not numbers"):
        read_matrix(d > 0, 5, WHAT)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("d.csv", "0,1\nx,0\n", "cannot read"),
        ("e.csv", "0,\n,0\n", "missing or infinite"),
        ("d.npy", "no array", "cannot read"),
        ("empty.npy", "", "cannot read"),
        ("empty.csv", "", "cannot read"),
        ("empty.parquet", "", "cannot read"),
        ("d.xls", "", "unknown type"),
    ],
)
def test_files_that_are_none(tmp_path, name, content, says):
    (tmp_path / name).write_text(content)
    with pytest.raises(TableError, match=says):
        read_matrix(tmp_path / name, 2, WHAT)
    with pytest.raises(TableError, match="cannot read"):
        read_matrix(tmp_path / "nowhere.npy", 2, WHAT)


@pytest.mark.parametrize(
    ("name", "separator"), [("d.csv", ";"), ("d.tsv", "\t"), ("d.csv.gz", ","), ("d.csv.zst", "|")]
)
def test_separators_and_archives_of_text(tmp_path, name, separator):
    half = "1,5" if separator == ";" else "1.5"
    text = "\n".join(separator.join(line) for line in (["a", "b"], ["0", half], [half, "0"]))
    (tmp_path / name).write_bytes(packed(text.encode(), tmp_path / name))
    assert read_matrix(tmp_path / name, 2, "distances").tolist() == [[0, 1.5], [1.5, 0]]
