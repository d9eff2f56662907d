"""Files of a table for an engine: which ones they are, what their header lines say, and a fingerprint of them all.

Columns are found by name, so every part of a table must have the same ones, and no name twice: what a part lacks would
be read as missing, and DuckDB, which takes capitals for small letters, would rename a second column.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from glob import glob
from os.path import commonpath
from pathlib import Path

from unmask.engines import sql
from unmask.engines.duck import Duck, UnreadError
from unmask.errors import TableError
from unmask.tables import check_file, find_separator, format_of

PARQUET, TEXTS = (".parquet", ".pq"), (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".csv.zst")
GLOBS = "[*?"  # what DuckDB takes for a pattern in a path; a bracket around each takes that away
BOM = "\ufeff"
NO_MARK = "\x01"  # no cell and no name has it
LINES = 50  # that tell the separator


def files_of(given: str | Path, where: str) -> tuple[Path, ...]:
    """The files of a path, a folder (Parquet or text in it, in folders too) or a pattern, all of one form."""
    path = Path(given)
    if path.is_dir():
        found = sorted(one for one in path.rglob("*") if one.is_file() and one.name[0] not in "._")
        found = [one for one in found if format_of(one) in PARQUET + TEXTS]
    else:
        found = [path] if path.is_file() else sorted(map(Path, glob(str(given), recursive=True)))  # noqa: PTH207
    if not found:
        raise TableError(
            f"cannot read {where}: no file at {given}", hint="a file, a folder, or a pattern such as p*.parquet"
        )
    forms = {"parquet" if format_of(one) in PARQUET else "text" if format_of(one) in TEXTS else "" for one in found}
    if len(forms) > 1 or "" in forms:
        raise TableError(
            f"cannot read {where} with this engine",
            got=f"{len(found)} files",
            allowed="Parquet, or CSV: all files alike",
        )
    for one in found:
        check_file(one)
    return tuple(found)


def literal(path: Path) -> str:
    """A path as DuckDB reads it: this file, whatever signs of a pattern are in its name."""
    return "".join(f"[{sign}]" if sign in GLOBS else sign for sign in str(path))


def listed(files: Sequence[Path]) -> str:
    """Paths as a list of SQL."""
    return f"[{', '.join(sql.text(literal(path)) for path in files)}]"


def is_text(path: Path) -> bool:
    """Whether a file is read as text; else it is Parquet."""
    return format_of(path) in TEXTS


def read_by_duckdb(duck: Duck, files: Sequence[Path]) -> str:
    """The files as one table; cells of text files as texts: what they are is decided over all tables (`texts`)."""
    if is_text(files[0]):
        options = f"header = true, union_by_name = true, hive_types_autocast = false, {_plainly(duck, files[0])}"
        return f"read_csv({listed(files)}, {options})"
    return f"read_parquet({listed(files)}, union_by_name = true)"


def _plainly(duck: Duck, path: Path) -> str:
    """How text files are read: nothing is guessed but the separator, from the first lines of the first file."""
    lines = duck.run(
        f"SELECT line FROM read_csv({listed([path])}, auto_detect = false, columns = {{'line': 'VARCHAR'}}, "
        f"delim = {sql.text(NO_MARK)}, quote = '', escape = '', header = false, hive_partitioning = false) "
        f"LIMIT {LINES}"
    ).fetchall()
    separator = find_separator("\n".join(line or "" for (line,) in lines))
    return f"delim = {sql.text(separator)}, quote = '\"', escape = '\"', skip = 0, comment = '', all_varchar = true"


# --- headers ----------------------------------------------------------------------------------------------------------


def check_headers(duck: Duck, files: Sequence[Path], where: str) -> None:
    """Refuse names that are there twice, and a part without a column that another part has."""
    plainly = _plainly(duck, files[0]) if is_text(files[0]) else ""  # of the first: all are read so
    refuse_other_columns({path: header_of(duck, path, plainly) for path in files}, where)


def refuse_other_columns(headers: Mapping[Path, Sequence[str]], where: str, *, in_order: bool = False) -> None:
    """Refuse names that are there twice, a part without a column of another; ``in_order``: and one in another order."""
    for path, names in headers.items():
        refuse_twice(names, path.name)
    first, known = next(iter(headers.items()))
    for path, names in headers.items():
        if {*names} != {*known}:
            lacks = {*known} - {*names}
            part, whole = (path, first) if lacks else (first, path)
            raise TableError(
                f"parts of {where} have different columns: {part} has no column {min(lacks or {*names} - {*known})!r}",
                got=f"{len(headers[part])} columns, {len(headers[whole])} in {whole.name}",
                hint="its cells would be read as missing: write the column into every part, or take it out of all",
            )
        if in_order and list(names) != list(known):
            raise TableError(
                f"parts of {where} have their columns in different orders: {path} and {first}",
                hint="write all parts alike: this engine reads text files by the places of columns",
            )


def refuse_twice(names: Sequence[str], where: str) -> None:
    """Refuse names that are there twice, or are one for DuckDB."""
    seen: dict[str, str] = {}
    for name in names:
        before = seen.setdefault(name.lower(), name)
        if before is not name:
            same = (
                "the same name" if before == name else "names that differ only in capitals, which DuckDB takes for one"
            )
            raise TableError(f"{where} has columns with {same}", got=f"{before!r}, {name!r}", hint="rename one of each")


def header_of(duck: Duck, path: Path, plainly: str = "") -> list[str]:
    """Names as they are written: DuckDB would rename the second of two. Fields within others are left out."""
    if is_text(path):
        found = duck.run(
            f"SELECT * FROM read_csv({listed([path])}, header = false, hive_partitioning = false, "
            f"nullstr = {sql.text(NO_MARK)}, {plainly}) LIMIT 1"
        ).fetchall()
        return [str(name or "").removeprefix(BOM) for name in found[0]] if found else []
    rows = duck.run(f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({listed([path])})").fetchall()
    nested = sum(children > 0 for _, children in rows) > 1
    return [] if nested else [str(name) for name, children in rows if not children]


# --- errors -----------------------------------------------------------------------------------------------------------


@contextmanager
def naming(duck: Duck, files: Sequence[Path], where: str) -> Iterator[None]:
    """Say of which table, and which file of it, DuckDB could not read."""
    try:
        yield
    except UnreadError as error:
        bad = list(files) if len(files) == 1 else [path for path in files if not _can_be_read(duck, path)][:1]
        what = f"cannot read {where}" + "".join(f": {path}" for path in bad)
        raise TableError(what, got=error.what, hint=error.hint) from error


def _can_be_read(duck: Duck, path: Path) -> bool:
    """Read all cells of a file."""
    try:
        duck.run(f"SELECT count(COLUMNS(*)) FROM {read_by_duckdb(duck, [path])}").fetchall()
    except UnreadError:
        return False
    return True


# --- fingerprints -----------------------------------------------------------------------------------------------------


def fingerprint_of(files: Sequence[Path], given: str | Path | None = None) -> str | None:
    """SHA-256 of the bytes of one file; of several, of their bytes and where each is below what was given.

    Names of folders such as sex=f are values of a column: they belong to it, also of one file. None for no file.
    """
    if not files:
        return None
    each = []
    for path in files:
        with path.open("rb") as file:
            each.append(hashlib.file_digest(file, "sha256").hexdigest())
    below = _places(files, given)
    if len(each) == 1 and "=" not in below[0]:
        return each[0]
    lines = [f"{sha256}  {place}" for sha256, place in zip(each, below, strict=True)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _places(files: Sequence[Path], given: str | Path | None) -> list[str]:
    """Where files are below the folder, or below what all paths have in common; folders with a value always count."""
    top = Path(given) if given is not None and Path(given).is_dir() else Path(commonpath([one.parent for one in files]))
    parts = len(next((one for one in (top, *top.parents) if not _has_values(one)), top).parts)
    return ["/".join(path.parts[parts:]) for path in files]


def _has_values(folder: Path) -> bool:
    return any("=" in part for part in folder.parts)
