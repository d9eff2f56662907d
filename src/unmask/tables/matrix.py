"""Read a square matrix of distances, from an array or a file, and refuse what is not one.

Pseudometrics are welcome (two people may live at one address). Messages name rows, counted from 1, and never a value.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.arrays import Floats
from unmask.errors import TableError
from unmask.tables.formats import format_of, unpacked
from unmask.tables.text import decode, find_separator

LARGE = 4096  # records from which the two halves are not evened out: a copy would cost more than rounding matters


def read_matrix(given: Any, n: int, what: str) -> Floats:  # noqa: ANN401 - a path or anything that becomes an array
    """Return the distances among n records: an array, or a path to .npy, .csv or .parquet. ``what`` is in messages."""
    if isinstance(given, str | Path):
        matrix = _read(Path(given), n, what)
    else:
        try:
            matrix = np.asarray(given)
        except ValueError as error:  # rows of different lengths
            raise TableError(f"{what} are not a matrix", allowed=f"{n} x {n} numbers") from error
    if matrix.dtype.kind not in "fiu":
        raise TableError(f"{what} are not numbers", got=f"dtype {matrix.dtype}")
    return check_matrix(matrix, n, what)


def matrix_fingerprint(given: Any, matrix: Floats) -> str:  # noqa: ANN401 - a path or an array
    """SHA-256 of the file's bytes, or of the numbers."""
    if isinstance(given, str | Path):
        with Path(given).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return hashlib.sha256(np.ascontiguousarray(matrix).tobytes()).hexdigest()


def check_matrix(matrix: NDArray[Any], n: int, what: str) -> Floats:
    """Refuse what is not a matrix of distances of n records; even out rounding of the two halves."""
    if matrix.dtype not in {np.dtype(np.float32), np.dtype(np.float64)}:
        matrix = matrix.astype(np.float64)
    if matrix.shape != (n, n):
        shape = " x ".join(map(str, matrix.shape))
        raise TableError(f"{what} do not fit the table", got=shape, allowed=f"{n} x {n}, one row per record")
    for check in (_check_numbers, _check_halves):
        for begin in range(0, n, 1024):
            check(matrix, begin, what)
    if n > LARGE:
        return matrix
    even = np.asarray(matrix, dtype=np.float64)
    return np.asarray((even + even.T) / 2)


def _check_numbers(matrix: Floats, begin: int, what: str) -> None:
    """Refuse some rows with numbers that are not distances."""
    rows = np.asarray(matrix[begin : begin + 1024])
    if not np.isfinite(rows).all():
        first = _first(begin, ~np.isfinite(rows).all(axis=1))
        raise TableError(f"{what} are missing or infinite", got=first, hint="fill or remove the record")
    if (rows < 0).any():
        raise TableError(f"{what} are negative", got=_first(begin, (rows < 0).any(axis=1)), allowed="0 or more")


def _check_halves(matrix: Floats, begin: int, what: str) -> None:
    """Refuse some rows that differ from their columns, or are not at distance 0 of themselves."""
    rows = np.asarray(matrix[begin : begin + 1024])
    slack = 1e-6 * max(float(rows.max()), 1e-300)
    uneven = np.abs(rows - matrix[:, begin : begin + 1024].T) > slack
    if uneven.any():
        first = _first(begin, uneven.any(axis=1))
        raise TableError(
            f"{what} are not symmetric", got=first, allowed="d(i, j) = d(j, i)", hint="a one-way distance is not one"
        )
    crooked = np.abs(np.diagonal(rows[:, begin : begin + 1024])) > slack
    if crooked.any():
        raise TableError(f"{what} have a diagonal that is not zero", got=_first(begin, crooked), allowed="d(i, i) = 0")


def _first(begin: int, wrong: Any) -> str:  # noqa: ANN401 - an array of flags
    return f"first in row {begin + int(np.flatnonzero(wrong)[0]) + 1}"


def _read(path: Path, n: int, what: str) -> NDArray[Any]:
    try:
        if format_of(path) == ".npy":
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        if format_of(path) == ".parquet":
            return pl.read_parquet(path).to_numpy().astype(np.float64)
        if format_of(path) in {".csv", ".tsv"}:
            return _without_names(_read_text(path), n)
    except (OSError, ValueError, EOFError, pl.exceptions.PolarsError) as error:
        hint = "is the suffix right, the file whole?"
        raise TableError(f"cannot read the {what}", got=str(path), hint=hint) from error
    allowed = ".npy, .csv (also .tsv, .csv.gz, .csv.zst), .parquet"
    raise TableError(f"unknown type of the {what}", got=path.suffix, allowed=allowed)


def _read_text(path: Path) -> pl.DataFrame:
    """Numbers in text; the separator is found by itself, and beside semicolons commas are decimal ones."""
    text = decode(unpacked(path), path)
    separator = find_separator(text)
    header = _has_header(text, separator)
    return pl.read_csv(text.encode(), has_header=header, separator=separator, decimal_comma=separator == ";")


def _without_names(frame: pl.DataFrame, n: int) -> NDArray[Any]:
    """Leave out names of the records: a first column of words, or the 0, 1, 2, ... that pandas writes around it."""
    if frame.width == n + 1 and frame.height == n and frame.dtypes[0] == pl.String:
        frame = frame[:, 1:]
    matrix = frame.cast(pl.Float64).to_numpy()
    count = np.arange(n)
    if matrix.shape == (n + 1, n + 1) and np.isnan(matrix[0, 0]) and (matrix[1:, 0] == count).all():
        matrix = matrix[:, 1:]
    if matrix.shape == (n + 1, n) and (matrix[0] == count).all():
        matrix = matrix[1:]
    return matrix


def _has_header(text: str, separator: str) -> bool:
    """A first line with words and no number is a header."""
    cells = [cell for cell in text.partition("\n")[0].strip().split(separator) if cell]
    return bool(cells) and not any(map(_is_number, cells))


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
