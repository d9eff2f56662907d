"""`unmask assess-tables`: attack published tables, show and write what follows from them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from unmask.cli.making_options import AssessTables
from unmask.cli.outputs import EXIT, by_suffix, tell, write_reports
from unmask.cli.screen import progress_bar
from unmask.cli.targets import check_files
from unmask.errors import ParameterError, TableError
from unmask.evidence import Policy
from unmask.table_assessment import assess_tables
from unmask.tables import read_table
from unmask.tabular import Reading


def run(options: AssessTables) -> int:
    """Attack tables; the verdict is the exit code."""
    options = by_suffix(options)
    check_files(options)
    with progress_bar(quiet=options.quiet) as told:
        assessment = assess_tables(
            options.tables, confidential=options.confidential, original=options.original, p=options.p,
            reading=_reading(options), policy=Policy.load(options.policy), progress=told,
            command=shlex.join(["unmask", *sys.argv[1:]]),
        )  # fmt: skip
    written = [line.replace("Risk of each person", "What follows about each cell")
               for line in write_reports(assessment, options)]  # fmt: skip
    tell(assessment, written, options)
    return EXIT[assessment.verdict]


def _reading(options: AssessTables) -> Reading:
    return Reading(
        value=options.value, totals=options.total, rounding=options.rounding,
        random_rounding=options.random_rounding, amounts=options.amounts, unlisted=options.unlisted,
        groups=dict(_groups(text) for text in options.groups), text=options.reading,
    )  # fmt: skip


def _groups(text: str) -> tuple[str, dict[str, frozenset[str]]]:
    """Read which finest labels each label stands for: a row for each, the finest first, then its groups."""
    name, sign, file = text.partition("=")
    if not (sign and name and file):
        raise ParameterError("cannot read these groups", got=repr(text), allowed="dimension=file.csv")
    if not Path(file).is_file():
        raise TableError(
            f"there is no file {file}", hint="a row for each label: the finest, its group, larger group .."
        )
    table = read_table(file, name="groups", as_written=True)
    parts: dict[str, set[str]] = {}
    for row in table.rows():
        for label in row:
            parts.setdefault(str(label), set()).add(str(row[0]))
    return name, {label: frozenset(leaves) for label, leaves in parts.items()}
