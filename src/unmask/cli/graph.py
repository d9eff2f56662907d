"""`unmask graph`: the graph attack on files."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import polars as pl

from unmask.arrays import Ints
from unmask.cli.fields import listed
from unmask.cli.graph_options import Graph, Sweep
from unmask.cli.screen import progress_bar, say
from unmask.cli.targets import MATRICES, check_files, is_matrix, write_findings
from unmask.errors import ParameterError, RoleError, TableError
from unmask.graph import Coordinates, GraphLinkage, NoiseTolerance, Null, Relative, Tolerance, link_graph
from unmask.masking import PlaceMasking, parse_masking
from unmask.tables import as_text, check_columns, read_table

Where = str | list[str] | Coordinates

SIDES = {"original": "the intruder's table", "released": "the release"}
FORMER = {  # names of maskings up to version 0.1
    "coordinates": "place_noise", "donut": "place_donut", "aggregation": "place_grid",
    "distances": "distance_noise", "rounding": "distance_rounding",
}  # fmt: skip
SWAPPED = "are the two tables swapped? The original comes first: unmask graph ORIGINAL RELEASED"


def run(options: Graph) -> int:
    """Attack a release; write the pairs where asked; say what was found."""
    if not options.labels:
        raise ParameterError("no labels named", hint="--labels sex,age: columns that both tables have")
    tolerance = _tolerance(options)
    for side in SIDES:
        check_places(options, side)
    check_files(options)
    tables = {
        side: read_table(getattr(options, side), name=name.removeprefix("the "), role=side, **options.reading)
        for side, name in SIDES.items()
    }
    _refuse_swapped(options, tables)
    where = {side: places(options, tables[side], side) for side in SIDES}
    for side, table in tables.items():
        check_columns(options.labels, table.columns, "label", SIDES[side])
    truth = None if options.truth is None else true_pairs(tables["original"], tables["released"], options.truth)
    with progress_bar() as tell:
        found = link_graph(
            original=(tables["original"], where["original"]),
            released=(tables["released"], where["released"]),
            labels=options.labels,
            tolerance=tolerance,
            method=options.method,  # type: ignore[arg-type]  # checked there
            everybody=options.everybody,
            gamma=options.gamma,
            label_distance=options.label_distance,
            null=Null(options.draws, options.level),
            seed=options.seed,
            progress=tell,
        )
    lines = [found.why, found.summary]
    lines += [] if truth is None else [score(found, truth)]
    if options.output is not None:
        write_findings(rows_of(found), options.output)
        lines.append(f"Written to {options.output}: row numbers from 1, no values.")
    say("\n".join(lines))
    return 0


def score(found: GraphLinkage, truth: Ints) -> str:
    """Say how many claims are right, and how many people were found. ``truth``: rows of release and original."""
    hits = found.hits(truth)
    precision = (
        f"precision {found.precision(truth):.3f} ({hits:,} of {len(found.pairs):,} claims are right)"
        if found.found
        else "precision: no claim"
    )
    if not len(truth):
        return f"{precision}, recall: nobody is in both tables"
    return f"{precision}, recall {found.recall(truth):.3f} ({hits:,} of {len(truth):,} people in both tables)"


def rows_of(found: GraphLinkage) -> pl.DataFrame:
    """Return the claimed pairs as row numbers from 1, with the belief in each."""
    return pl.DataFrame(
        {"original_row": found.pairs[:, 1] + 1, "released_row": found.pairs[:, 0] + 1, "belief": found.belief}
    ).with_columns(pl.col("belief").fill_nan(None))


def true_pairs(original: pl.DataFrame, released: pl.DataFrame, name: str) -> Ints:
    """Return the rows of the release and of the original that have the same id."""
    columns = {}
    for side, table in (("released", released), ("original", original)):
        check_columns([name], table.columns, "truth", SIDES[side])
        column = table[name]
        if column.null_count() or column.n_unique() < len(column):
            raise TableError(
                f"truth column {name!r} of {SIDES[side]} does not say who is who",
                got=f"{column.null_count()} missing, {column.n_unique()} different ids in {len(column)} rows",
                allowed="a different id in every row",
            )
        columns[side] = column
    if columns["released"].dtype != columns["original"].dtype:
        columns = {side: as_text(column) for side, column in columns.items()}
    one, two = (pl.DataFrame({"id": column}).with_row_index(side) for side, column in columns.items())
    return one.join(two, on="id").select(pl.col("released", "original").cast(pl.Int64)).sort("released").to_numpy()


# --- when two distances agree ---------------------------------------------------------------------------------------


def _tolerance(options: Graph) -> Tolerance:
    masking = _masking(options)
    named = [f"--{name}" for name in ("sigma", "tolerance", "relative") if getattr(options, name) is not None]
    named += ["--masking"] if options.sigma is None and masking is not None else []
    if len(named) != 1:
        raise ParameterError(
            "when do two distances agree?",
            got=" and ".join(named) or "nothing",
            allowed="one of --masking (or --sigma), --tolerance, --relative",
            hint='--masking "place_noise(0.05)" when noise of 0.05 degrees was put on the coordinates',
        )
    if masking is not None:
        return NoiseTolerance(masking.strength, options.alpha, masking=masking.moves)
    return Relative(options.relative) if options.relative is not None else float(options.tolerance or 0)


def _masking(options: Graph) -> PlaceMasking | None:
    """The known masking: --masking "place_noise(0.05)", or --sigma 0.05 with the name of another one, or alone."""
    if options.sigma is None:
        return None if options.masking is None else place_masking(options.masking)
    name = FORMER.get(options.masking or "coordinates", options.masking)
    if name is None or "(" in name:
        raise ParameterError(
            "the strength is given twice", got=f"--sigma and --masking {name}", hint="leave --sigma out"
        )
    return place_masking(f"{name}({options.sigma!r})")


def place_masking(text: str) -> PlaceMasking:
    """Read a masking of places or distances."""
    return parse_masking(text, PlaceMasking)  # type: ignore[type-abstract]  # any of its kind


# --- where people are -----------------------------------------------------------------------------------------------


def _refuse_swapped(options: Graph, tables: dict[str, pl.DataFrame]) -> None:
    """Refuse two tables in the wrong order, where places and distances fit them only the other way round."""
    given = {side: _given(options, side) for side in SIDES}
    ours, theirs = tables["original"], tables["released"]
    as_they_are = _fits(*given["original"], ours) and _fits(*given["released"], theirs)
    if not as_they_are and _fits(*given["original"], theirs) and _fits(*given["released"], ours):
        raise TableError("places and distances do not fit the tables, but would the other way round", hint=SWAPPED)


def _fits(distances: str | None, lonlat: str | None, table: pl.DataFrame) -> bool:
    """Whether a table has these columns, or as many rows as this matrix; True where that cannot be told."""
    if lonlat is not None:
        return set(listed(lonlat)) <= set(table.columns)
    if distances is None:
        return True
    if not is_matrix(distances):
        return all(any(fnmatchcase(column, name) for column in table.columns) for name in listed(distances))
    if Path(distances).suffix != ".npy":
        return True
    try:
        return int(np.load(distances, mmap_mode="r", allow_pickle=False).shape[0]) == table.height
    except (OSError, ValueError, EOFError, IndexError):
        return True  # what is wrong with it is told when it is read


def check_places(options: Graph | Sweep, side: str = "") -> None:
    """Refuse options that do not say once where the people of a table are; "" stands for the only one."""
    word = f"{side}-" if side else ""
    distances, lonlat = _given(options, side)
    if (distances is None) == (lonlat is None):
        raise ParameterError(
            f"where are the people of {SIDES[side]}?" if side else "where are the people?",
            got="nothing" if distances is None else f"--{word}distances and --{word}lonlat",
            allowed=f"one of --{word}distances d.npy and --{word}lonlat lon,lat",
        )
    if lonlat is not None and len(names := listed(lonlat)) != 2:
        raise RoleError(
            f"--{word}lonlat takes two columns", got=f"{len(names)}", hint=f"--{word}lonlat lon,lat: longitude first"
        )


def _given(options: Graph | Sweep, side: str) -> tuple[str | None, str | None]:
    """Distances and coordinates of a table, as typed."""
    key = f"{side}_" if side else ""
    return getattr(options, f"{key}distances"), getattr(options, f"{key}lonlat")


def places(options: Graph | Sweep, table: pl.DataFrame, side: str = "") -> Where:
    """Say where the people of a table are: coordinates, a matrix, or its own columns of distances."""
    distances, lonlat = _given(options, side)
    if distances is not None:
        return distances if is_matrix(distances) else _columns(distances, table, SIDES.get(side, "the people"))
    names = listed(str(lonlat))
    return Coordinates(names[0], names[1], kind="planar" if options.planar else "lonlat")


def _columns(given: str, table: pl.DataFrame, where: str) -> list[str]:
    """Columns of distances by their names; d* stands for all that begin with d, in the order of the table."""
    names: list[str] = []
    for name in listed(given):
        names += [column for column in table.columns if fnmatchcase(column, name)] if "*" in name else [name]
    check_columns(names, table.columns, "distances", where)
    if not names:
        raise RoleError(
            f"no column of {where} is a distance", got=given, hint=f"a matrix ends in {', '.join(MATRICES)}"
        )
    return names
