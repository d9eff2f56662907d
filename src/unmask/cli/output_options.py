"""What every command takes that judges something: where the report goes, and in which forms."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.cli.fields import option, written


@dataclass(frozen=True, kw_only=True)
class Reporting:
    """The forms of one report; `cli/outputs.py` writes them."""

    output: tuple[str, ...] = option(
        "Write the report: .html or .json, by suffix; several.", "--output", "-o", default=(), whole=True
    )
    json: str | None = option(
        "Write the report as JSON; - for standard output.", default=None, writes=("",), screen=True
    )
    html: str | None = option("Write the report as one HTML file.", default=None, writes=("",))
    junit: str | None = option("Write the findings as JUnit XML, for a build server.", default=None, writes=(".xml",))
    sarif: str | None = option("Write the findings as SARIF.", default=None, writes=(".sarif", ".json"))
    annotate: bool = option("Print GitHub annotations of what is above a limit or could not run.", default=False)
    records: str | None = written("Write one risk per original record", "--records")
    quiet: bool = option("No summary and no progress.", default=False)
