"""One report, told: shown on the screen, written in every form that was asked for, each file named."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from unmask.assessment import Assessment
from unmask.cli.output_options import Reporting
from unmask.cli.screen import say, show_assessment
from unmask.cli.targets import write_atomically
from unmask.errors import ParameterError
from unmask.fingerprints import make_key
from unmask.report import document, to_annotations, to_junit, to_sarif

if TYPE_CHECKING:
    from unmask.cli.options import Assess

KEYED = ("html", "json", "certificate", "public_certificate", "state")  # what holds checksums of confidential tables
EXIT = {"safe": 0, "unsafe": 1, "inconclusive": 3}
Options = TypeVar("Options", bound=Reporting)


def by_suffix(options: Options) -> Options:
    """Take --output for --html or --json; what is written needs the steward's key, which is made if there is none."""
    for target in options.output:
        name = {".html": "html", ".json": "json"}.get(Path(target).suffix.lower())
        if name is None:
            raise ParameterError(
                f"cannot write the report to {target}",
                allowed=".html or .json",
                hint="--records x.csv writes the risks",
            )
        if getattr(options, name) is not None:
            raise ParameterError(f"two files are given for the {name.upper()} report", hint="give one")
        options = replace(options, html=target) if name == "html" else replace(options, json=target)
    if any(getattr(options, name, None) is not None for name in KEYED):
        make_key()
    return options


def state_of(options: Assess) -> Path | None:
    """Folder of finished attacks: the one that is named, or a hidden one beside the report."""
    report = Path(next((target for target in (options.json, options.html) if target not in {None, "-"}), "") or "")
    beside = report.parent / f".{report.name}.state" if report.name else None
    return beside if options.state is None else Path(options.state)


def write_reports(assessment: Assessment, options: Reporting) -> list[str]:
    """Write what was asked for, and nothing else; a line for each file."""
    told = []
    if options.json == "-":
        sys.stdout.write(document.to_json(assessment.document))
    elif options.json is not None:
        assessment.write_json(options.json)
        told.append(f"Report as JSON: {options.json}")
    if options.html is not None:
        assessment.write_html(options.html)
        told.append(f"Report as HTML: {options.html}")
    for name, target, made in (("JUnit", options.junit, to_junit), ("SARIF", options.sarif, to_sarif)):
        if target is not None:
            write_atomically(target, made(assessment.document))
            told.append(f"Report as {name}: {target}")
    if options.annotate:
        sys.stderr.write("".join(f"{line}\n" for line in to_annotations(assessment.document)))
    if options.records is not None:
        assessment.write_records(options.records)
        told.append(f"Risk of each person: {options.records}")
    return told


def tell(assessment: Assessment, written: Sequence[str], options: Reporting) -> None:
    """Show the summary and name the files, unless nothing shall be shown; beside the JSON where that is printed."""
    if options.quiet:
        return
    show_assessment(assessment, to_stderr=options.json == "-")
    for line in written:
        say(line, to_stderr=options.json == "-")
