"""The graph attack on files: read, attack, count, write; what `unmask graph` and `unmask graph-sweep` do."""

from __future__ import annotations

import csv
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unmask.cli.options import read_numbers
from unmask.errors import ParameterError, RoleError, TableError
from unmask.graph import Coordinates, GraphLinkage, NoiseTolerance, Null, Relative, link_graph
from unmask.graph.distances import read_place
from unmask.graph.map import WORDS, default_grid, map_figure
from unmask.graph.sweep import SweepPoint, sweep
from unmask.report.document import write_records
from unmask.report.write import check_writable, write_atomically
from unmask.tables.encode import as_text
from unmask.tables.read import read_table
from unmask.tables.roles import check_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unmask.graph.tolerance import Tolerance

    Tell = Callable[[str, float, str], None]

MATRICES = (".npy", ".csv", ".parquet")
SIDES = {"target": "the release", "ident": "the intruder's table"}


def attack_files(options: dict[str, Any], progress: Tell | None = None) -> str:
    """Attack a release by the options of the command line; write the pairs where asked; say what was found."""
    inputs = ("target", "ident", "target_distances", "ident_distances")
    _check_output(options, inputs, "output", ".csv or .parquet")
    if not options["labels"]:
        raise ParameterError("no labels named", hint="--labels sex,age: columns that both tables have")
    tolerance = _tolerance(options)
    tables = {side: read_table(options[side], name=name.removeprefix("the ")) for side, name in SIDES.items()}
    where = {side: _places(options, f"{side}-", tables[side], SIDES[side]) for side in SIDES}
    for side, table in tables.items():
        check_columns(options["labels"], table.columns, "label", SIDES[side])
    truth = None if options.get("truth") is None else true_pairs(tables["target"], tables["ident"], options["truth"])
    found = link_graph(
        (tables["target"], where["target"]),
        (tables["ident"], where["ident"]),
        labels=options["labels"],
        tolerance=tolerance,
        method=options["method"],
        everybody=options.get("everybody", False),
        gamma=options.get("gamma"),
        label_distance=read_numbers(options.get("label_distance"), "--label-distance", "age=1"),
        null=Null(options.get("draws", 19), options.get("level", 0.05)),
        seed=options["seed"],
        progress=lambda done, stage: progress("graph", done, stage) if progress else None,
    )
    lines = [found.why, found.summary]
    lines += [] if truth is None else [score(found, truth)]
    if options.get("output"):
        write_records(rows_of(found), options["output"])
        lines.append(f"Written to {options['output']}: row numbers from 1, no values.")
    return "\n".join(lines)


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
        {"target_row": found.pairs[:, 0] + 1, "ident_row": found.pairs[:, 1] + 1, "belief": found.belief}
    ).with_columns(pl.col("belief").fill_nan(None))


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


def sweep_file(options: dict[str, Any], progress: Tell | None = None) -> str:
    """Play the attack on maskings of a table by the options of the command line; say what would be safe."""
    _check_output(options, ("people", "distances"), "output", ".csv or .parquet")
    _check_output(options, ("people", "distances"), "chart", ".svg")
    table = read_table(options["people"], name="table of people")
    check_columns(options["labels"], table.columns, "label", "the people")
    where = _places(options, "", table, "the people")
    place = read_place((table, where), options["labels"], "original")
    distances = place.block(place.order(np.zeros(place.n, dtype=np.int64))[:: max(1, place.n // 500)])
    median = float(np.median(distances[np.triu_indices(len(distances), 1)])) if len(distances) > 1 else 0.0
    if median == 0:
        raise TableError("there is nothing to mask: the people are not at different places", got=f"{place.n} records")
    grid = _grid(options.get("masking")) or default_grid(median, where if isinstance(where, Coordinates) else None)
    everybody = options["method"] != "exact" if options.get("everybody") is None else options["everybody"]
    points = sweep(
        table, where, labels=options["labels"], maskings=grid, overlap=options["overlap"], alpha=options["alpha"],
        repetitions=options["repetitions"], method=options["method"], seed=options["seed"],
        everybody=everybody, progress=lambda done, stage: progress("graph", done, stage) if progress else None,
    )  # fmt: skip
    frame = pl.DataFrame(points).with_columns(change=pl.col("variance").sqrt() / median)
    lines = [f"{place.n:,} people, median distance {median:.4g}; the intruder holds {options['overlap']:.0%} of them."]
    sure = "sure " * everybody
    lines += [_line(point, median, f"{sure}claims") for point in points]
    if options.get("output"):
        write_records(frame, options["output"])
        lines.append(f"Written to {options['output']}.")
    if options.get("chart"):
        from unmask.report.charts import draw  # noqa: PLC0415 - imports altair

        write_atomically(options["chart"], draw(map_figure(points, median, "recall", None)))
        lines.append(f"The risk-utility map: {options['chart']}.")
    return "\n".join(lines)


def _line(point: SweepPoint, median: float, claims: str) -> str:
    """Say one masking in words."""
    said = f"{point.precision:.0%} of its {claims} right" if point.n_silent < point.repetitions else "nothing claimed"
    return (
        f"  {WORDS[point.masking]} {point.sigma:.4g}: distances move by {point.variance**0.5 / median:.1%}, "
        f"the attack finds {point.recall:.1%} of the people, {said}"
    )


def _grid(given: list[str] | None) -> list[tuple[Any, float]]:
    """Read name=strength,strength as typed."""
    grid = []
    for entry in given or ():
        name, _, strengths = entry.partition("=")
        try:
            grid += [(name.strip(), float(value)) for value in strengths.split(",")]
        except ValueError:
            raise ParameterError(
                f"--masking {entry!r} is not a masking and its strengths", hint="--masking coordinates=0.01,0.05"
            ) from None
    if wrong := [strength for _, strength in grid if not 0 <= strength < float("inf")]:
        raise ParameterError("a strength is a number of at least 0", got=f"{wrong[0]:g}")
    return grid


def _places(options: dict[str, Any], side: str, table: pl.DataFrame, name: str) -> str | list[str] | Coordinates:
    """Say where the people of a table are: coordinates, a matrix, or its own columns of distances."""
    key = side.replace("-", "_")
    given, columns = options.get(f"{key}distances"), options.get(f"{key}lonlat")
    if (given is None) == (columns is None):
        raise ParameterError(
            f"where are the people of {name}?" if side else "where are the people?",
            got="nothing" if given is None else f"--{side}distances and --{side}lonlat",
            allowed=f"one of --{side}distances d.npy and --{side}lonlat lon,lat",
        )
    if given is not None:
        path = Path(given)
        return str(given) if path.suffix in MATRICES or path.is_file() else _columns(str(given), table, name)
    names = next(csv.reader([str(columns)], skipinitialspace=True), [])
    if len(names) != 2:
        raise RoleError(
            f"--{side}lonlat takes two columns", got=f"{len(names)}", hint=f"--{side}lonlat lon,lat: longitude first"
        )
    return Coordinates(names[0], names[1], kind="planar" if options.get("planar") else "lonlat")


def _columns(given: str, table: pl.DataFrame, where: str) -> list[str]:
    """Columns of distances by their names; d* stands for all that begin with d, in the order of the table."""
    names: list[str] = []
    for name in next(csv.reader([given], skipinitialspace=True), []):
        names += [column for column in table.columns if fnmatchcase(column, name)] if "*" in name else [name]
    check_columns(names, table.columns, "distances", where)
    if not names:
        raise RoleError(
            f"no column of {where} is a distance", got=given, hint=f"a matrix ends in {', '.join(MATRICES)}"
        )
    return names


def _check_output(options: dict[str, Any], inputs: tuple[str, ...], name: str, suffixes: str) -> None:
    """Refuse, before any work, an output that cannot or must not be written."""
    if not options.get(name):
        return
    target = Path(options[name])
    if target.resolve() in {Path(options[given]).resolve() for given in inputs if options.get(given)}:
        raise ParameterError(f"--{name} {target} is also an input", hint="write the result to another file")
    if target.suffix.lower() not in suffixes.split(" or "):
        raise ParameterError(f"cannot write to {target.name}", got=f"suffix {target.suffix!r}", allowed=suffixes)
    check_writable(target)
