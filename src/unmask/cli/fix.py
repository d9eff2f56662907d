"""`unmask fix`: plan the cheapest changes of a table, and make them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from unmask.cli.making_options import Fix
from unmask.cli.screen import say
from unmask.cli.targets import check_files, write_findings, write_table
from unmask.protect import fix_list
from unmask.tables import TEXTS, format_of, read_cells, read_table


def run(options: Fix) -> int:
    """Plan for a table; write the changed table and the list of changes where asked; tell the plan in words."""
    check_files(options)
    table = read_table(options.table, name="table", **options.reading)
    plan = fix_list(
        table,
        quasi=options.quasi,
        k=options.k,
        l=options.l,
        confidential=options.confidential,
        coarsen=not options.only_cells,
        hierarchies=options.hierarchies,
    )
    say(plan.words)
    if options.output is not None:
        coarsened = {step.attribute for step in plan.coarsened}
        _write(plan.apply(table), options, coarsened)
        say(f"The changed table: {options.output}.")
    if options.steps is not None:
        write_findings(plan.steps(table), options.steps)
        say(f"The list of changes: {options.steps}.")
    return 0


def _write(fixed: pl.DataFrame, options: Fix, coarsened: set[str]) -> None:
    """Write the changed table; from text to text, cells that no step changes are written as they were."""
    output = str(options.output)
    if {format_of(options.table), format_of(output)} - set(TEXTS):
        write_table(fixed, output)
        return
    cells, separator = read_cells(Path(options.table), options.reading.get("separator"), options.encoding)
    same = [name for name in fixed.columns if name not in coarsened and name in cells.columns]
    if cells.height == fixed.height:
        fixed = fixed.with_columns(cells[name].set(fixed[name].is_null(), None).alias(name) for name in same)
    write_table(fixed, output, separator=separator)
