"""`unmask fix`: plan the cheapest changes of a table, and make them."""

from __future__ import annotations

from unmask.cli.making_options import Fix
from unmask.cli.screen import say
from unmask.cli.targets import check_files, write_findings, write_table
from unmask.protect import fix_list
from unmask.tables import read_table


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
        kept = [name for name in table.columns if name not in coarsened]
        write_table(plan.apply(table), options.output, source=options.table, kept=kept, reading=options.reading)
        say(f"The changed table: {options.output}.")
    if options.steps is not None:
        write_findings(plan.steps(table), options.steps)
        say(f"The list of changes: {options.steps}.")
    return 0
