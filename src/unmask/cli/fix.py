"""Write a fix list, and carry it out: the files around ``groups.fix``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import ParameterError
from unmask.protect.plan import fix_list
from unmask.report.document import write_records
from unmask.report.write import check_writable
from unmask.tables.read import read_table

if TYPE_CHECKING:
    from unmask.tables.release import Release


def write_fix(release: Release, options: dict[str, Any]) -> str:
    """Write the changes that give every group of the release k records (and l values of the first secret column)."""
    secret = next((name for name in release.confidential if name in release.released.columns), None)
    k, l = int(options.get("k", 5)), int(options.get("l", 1))  # noqa: E741 - the letter of the model
    plan = fix_list(release.released, quasi=release.quasi, k=k, l=l, confidential=secret if l > 1 else None)
    write_records(plan.steps(release.released), options["fix"])
    return f"{plan.words} Written to {options['fix']}."


def fix_table(table: str, wanted: dict[str, Any], output: str | None, steps: str | None) -> str:
    """Plan for a table file; write the changed table and the list of changes where asked; return the plan in words."""
    for target in filter(None, (output, steps)):
        if Path(target).resolve() == Path(table).resolve():
            raise ParameterError("the result would replace the table", hint="write it to another file")
        if Path(target).suffix.lower() not in {".csv", ".parquet"}:
            raise ParameterError(f"cannot write to {Path(target).name}", allowed=".csv or .parquet")
        check_writable(Path(target))
    frame = read_table(table, name="table")
    plan = fix_list(frame, **wanted)
    if output:
        write_records(plan.apply(frame), output)
    if steps:
        write_records(plan.steps(frame), steps)
    return plan.words
