"""`unmask hierarchy`: suggest groups for the values of a column, or look at those of a file."""

from __future__ import annotations

from unmask.cli.making_options import Hierarchy
from unmask.cli.screen import say
from unmask.cli.targets import check_files, write_atomically
from unmask.tables import ValueHierarchy, as_text, check_columns, read_hierarchy, read_table, suggest_hierarchy


def run(options: Hierarchy) -> int:
    """Suggest or read a hierarchy, say how many groups each level has, and write it where asked."""
    check_files(options)
    table = read_table(options.table, name="table", as_written=True, **options.reading)
    check_columns([options.column], table.columns, "column", "the table")
    column = table[options.column]
    if options.file is None:
        tree = suggest_hierarchy(column, options.form)
    else:
        tree = read_hierarchy(options.file, set(as_text(column).drop_nulls()))
        tree.write(column, 0)
    for line in _told(tree, options.column):
        say(line)
    if options.output is not None:
        toml = options.output.endswith(".toml")
        write_atomically(options.output, tree.to_toml() if toml else tree.to_csv())
        say(f"Written to {options.output}: look at it, and change what should be together.")
    return 0


def _told(tree: ValueHierarchy, name: str) -> list[str]:
    counts = [len(set(tree.at(level).values())) for level in range(tree.levels + 1)]
    told = [f"{name}: {counts[0]:,} values, {tree.levels} levels above them."]
    for level, count in enumerate(counts[1:], start=1):
        told.append(f"  level {level}: {count:,} group{'s' if count > 1 else ''}")
    return told
