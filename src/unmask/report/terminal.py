"""The report in the terminal: the verdict first, then the findings, then who is most exposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from unmask.report.words import OUTCOMES, VERDICTS, intruder, limit, others, percent, span

if TYPE_CHECKING:
    from rich.console import Console

    from unmask.report.document import Document

COLOURS = {"safe": "green", "unsafe": "red", "inconclusive": "yellow"}
MARKS = {
    "for": "green",
    "against": "red",
    "inconclusive": "yellow",
    "not judged": "dim",
    "does not apply": "dim",
    "could not run": "yellow",
}


def show(document: Document, console: Console) -> None:
    """Print the summary."""
    colour = COLOURS[document.verdict]
    title = Text(f"{VERDICTS[document.verdict]} ({document.verdict})", style=f"bold {colour}")
    console.print(
        Panel(Group(title, Text(document.reason), Text(f"policy: {document.policy}", style="dim")), border_style=colour)
    )
    for warning in document.warnings:
        console.print(Text(f"note: {warning}", style="yellow"))
    console.print(_findings(document))
    for line in _words(document):
        console.print(line)
    console.print()
    if document.exposed:
        console.print(_exposed(document))
    console.print(_columns(document))


def _findings(document: Document) -> Table:
    table = Table(
        title="Findings, with 95 % intervals and what a blind guess would find",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("finding", overflow="fold")
    for name in ("rate", "interval", "guess", "limit", ""):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for finding in document.findings:
        estimate = finding.estimate
        outcome = Text(OUTCOMES[finding.outcome], style=MARKS[finding.outcome])
        if estimate is None:
            table.add_row(escape(finding.key), "-", "-", "-", "-", outcome)
            continue
        table.add_row(
            escape(finding.key),
            percent(estimate.value),
            span(estimate.low, estimate.high),
            percent(estimate.chance),
            limit(finding.threshold),
            outcome,
        )
    return table


def _words(document: Document) -> list[Text]:
    """Tell what the intruder could do, and why an attack could not run; the rest is counted."""
    lines = [Text("What the intruder could do", style="italic")]
    lines += [Text(f"  - {line}") for line in intruder(document)]
    lines += [
        Text(f"  - {finding.claim} could not run: {finding.reason}")
        for finding in document.findings
        if finding.outcome == "could not run"
    ]
    return [*lines, Text(others(document), style="dim")]


def _exposed(document: Document) -> Table:
    table = Table(title="The most exposed records", title_justify="left")
    table.add_column("row", justify="right")
    labelled = any(entry.label for entry in document.exposed)
    if labelled:
        table.add_column("id")
    names = list(document.exposed[0].risks)
    for name in [*names, "largest"]:
        table.add_column(name, justify="right")
    for entry in document.exposed:
        label = [escape(entry.label or "")] if labelled else []
        table.add_row(str(entry.row), *label, *(f"{entry.risks[name]:.3g}" for name in names), f"{entry.largest:.3g}")
    return table


def _columns(document: Document) -> Table:
    table = Table(title="How the columns were read", title_justify="left")
    for name in ("column", "kind", "role", "why"):
        table.add_column(name, overflow="fold")
    for column in document.columns[:30]:
        table.add_row(escape(column.name), column.kind, column.role, escape(column.reason))
    if len(document.columns) > 30:
        table.add_row(f"and {len(document.columns) - 30} more", "", "", "all in the JSON and the HTML")
    return table


def show_checks(
    rows: list[tuple[str, str, tuple[float | None, ...], float | None, tuple[str, ...]]], console: Console
) -> None:
    """Print what the self-check saw, a row for each measure and table."""
    title = "Self-check: does each measure tell a copy from a stranger?"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("measure", "table"):
        table.add_column(name, no_wrap=True)
    for name in ("copy", "light", "heavy", "other", "chance"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for measure, kind, risks, chance, failures in rows:
        figures = ["-" if value is None else percent(value) for value in (*risks, chance)]
        applies = any(value is not None for value in risks)
        word = (
            Text("; ".join(failures), style="red")
            if failures
            else Text("passed" if applies else "does not apply", style="green" if applies else "dim")
        )
        table.add_row(measure, kind, *figures, word)
    console.print(table)
