"""The graph attack on files: read, attack, count, write; what `unmask graph` does."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from unmask.attacks.graph import Coordinates, GraphLinkage, NoiseTolerance, Relative, link_graph
from unmask.errors import ParameterError, RoleError, TableError
from unmask.report.document import write_records
from unmask.report.write import check_writable
from unmask.tables.encode import as_text
from unmask.tables.read import read_table
from unmask.tables.roles import check_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unmask.attacks.graph_tolerance import Tolerance

SIDES = {"target": "the release", "ident": "the intruder's table"}


def attack_files(options: dict[str, Any]) -> str:
    """Attack a release by the options of the command line; write the pairs where asked; say what was found."""
    _check_output(options)
    if not options["labels"]:
        raise ParameterError("no labels named", hint="--labels sex,age: columns that both tables have")
    tolerance = _tolerance(options)
    where = {side: _distances(options, side) for side in SIDES}
    tables = {side: read_table(options[side], name=name) for side, name in SIDES.items()}
    for side, table in tables.items():
        check_columns(options["labels"], table.columns, "label", SIDES[side])
    truth = None if options.get("truth") is None else true_pairs(tables["target"], tables["ident"], options["truth"])
    found = link_graph(
        (tables["target"], where["target"]),
        (tables["ident"], where["ident"]),
        labels=options["labels"],
        tolerance=tolerance,
        method=options["method"],
        seed=options["seed"],
    )
    lines = [found.why, tell(found), *([] if truth is None else [score(found, truth)])]
    if options.get("output"):
        write_records(rows_of(found), options["output"])
        lines.append(f"Written to {options['output']}: row numbers from 1, no values.")
    return "\n".join(lines)


def tell(found: GraphLinkage) -> str:
    """Say what was found in words and counts."""
    if not found.found:
        return f"Nothing found: no pair is claimed among {found.n_target:,} x {found.n_identification:,} records."
    proof = "proven to be the largest" if found.exact else "not proven to be the largest"
    ties = f"; {found.ties:,} more from ties" if found.ties else ""
    return f"{len(found.pairs):,} pairs claimed: {found.clique_size:,} agree with each other, {proof}{ties}."


def score(found: GraphLinkage, truth: NDArray[np.int64]) -> str:
    """Say how many claims are right, and how many people were found."""
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
        {"target_row": found.pairs[:, 0] + 1, "ident_row": found.pairs[:, 1] + 1, "belief": found.posterior}
    )


def true_pairs(target: pl.DataFrame, ident: pl.DataFrame, name: str) -> NDArray[np.int64]:
    """Return the rows of both tables that have the same id."""
    columns = []
    for table, where in ((target, SIDES["target"]), (ident, SIDES["ident"])):
        check_columns([name], table.columns, "truth", where)
        column = table[name]
        if column.null_count() or column.n_unique() < len(column):
            raise TableError(
                f"truth column {name!r} of {where} does not say who is who",
                got=f"{column.null_count()} missing, {column.n_unique()} different ids in {len(column)} rows",
                allowed="a different id in every row",
            )
        columns.append(column)
    if columns[0].dtype != columns[1].dtype:
        columns = [as_text(column) for column in columns]
    one, two = (pl.DataFrame({"id": column}).with_row_index(side) for column, side in zip(columns, SIDES, strict=True))
    return one.join(two, on="id").select(pl.col(*SIDES).cast(pl.Int64)).sort("target").to_numpy()


def _tolerance(options: dict[str, Any]) -> Tolerance:
    given = [name for name in ("sigma", "tolerance", "relative") if options.get(name) is not None]
    if len(given) != 1:
        raise ParameterError(
            "when do two distances agree?",
            got=" and ".join(f"--{name}" for name in given) or "nothing",
            allowed="one of --sigma, --tolerance, --relative",
            hint="--sigma 0.05 when noise of 0.05 degrees was put on the coordinates",
        )
    if given == ["sigma"]:
        return NoiseTolerance(options["sigma"], options["alpha"], masking=options["masking"])
    value = float(options[given[0]])
    return value if given == ["tolerance"] else Relative(value)


def _distances(options: dict[str, Any], side: str) -> str | Coordinates:
    path, columns = options.get(f"{side}_distances"), options.get(f"{side}_lonlat")
    if (path is None) == (columns is None):
        raise ParameterError(
            f"where are the people of {SIDES[side]}?",
            got="nothing" if path is None else f"--{side}-distances and --{side}-lonlat",
            allowed=f"one of --{side}-distances d.npy and --{side}-lonlat lon,lat",
        )
    if path is not None:
        return str(path)
    names = next(csv.reader([str(columns)], skipinitialspace=True), [])
    if len(names) != 2:
        raise RoleError(
            f"--{side}-lonlat takes two columns", got=f"{len(names)}", hint=f"--{side}-lonlat lon,lat: longitude first"
        )
    return Coordinates(names[0], names[1], kind="planar" if options.get("planar") else "lonlat")


def _check_output(options: dict[str, Any]) -> None:
    """Refuse, before any work, an output that cannot or must not be written."""
    if not options.get("output"):
        return
    target = Path(options["output"])
    inputs = [options.get(name) for name in ("target", "ident", "target_distances", "ident_distances")]
    if target.resolve() in {Path(name).resolve() for name in inputs if name}:
        raise ParameterError(f"--output {target} is also an input", hint="write the pairs to another file")
    if target.suffix.lower() not in {".csv", ".parquet"}:
        raise ParameterError(
            f"cannot write pairs to {target.name}", got=f"suffix {target.suffix!r}", allowed=".csv or .parquet"
        )
    check_writable(target)
