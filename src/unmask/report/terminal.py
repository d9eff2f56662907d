"""The report in the terminal: the verdict first, then the findings, then who is most exposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from unmask.report.words import OUTCOMES, VERDICTS, about_risk, finders, held, intruder, limit, others, percent, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from unmask.report.document import CheckEntry, ColumnEntry, Document

MOST_NOTES = 8
MOST_COLUMNS = 30
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
    console.print(Panel(Group(title, Text(document.reason), Text(_under(document), style="dim")), border_style=colour))
    if document.recipients:
        console.print(_recipients(document))
        for line in held(document):
            console.print(Text(line, style="dim"))
    show_check(document.check, console)
    for warning in document.warnings:
        console.print(Text(f"note: {warning}", style="yellow"))
    console.print(_findings(document))
    for part in _words(document):
        console.print(part)
    if len(document.intruders) > 1:
        console.print(_intruders(document))
    console.print()
    if document.exposed:
        console.print(Text(about_risk(document)))
        console.print(_exposed(document))
    console.print(column_table(document.columns))


def _under(document: Document) -> str:
    """The policy, and the intruder where it is not one who knows everything."""
    who = document.manifest.intruder
    return f"policy: {document.policy}" + (f"; intruder: {who}" if who != "maximum" else "")


def _recipients(document: Document) -> Table:
    """One verdict for each recipient."""
    table = Table(title="Who may get it", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("recipient", overflow="fold")
    for name in ("audience", "intruder"):
        table.add_column(name, overflow="fold")
    for name in ("found", "worst", "tries"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for entry in document.recipients:
        table.add_row(
            escape(entry.name),
            escape(entry.audience),
            entry.intruder,
            "-" if entry.estimate is None else percent(entry.estimate.value),
            "-" if entry.largest is None else percent(entry.largest),
            percent(entry.attempt),
            Text(entry.verdict, style=COLOURS[entry.verdict]),
        )
    return table


def show_check(check: CheckEntry, console: Console) -> None:
    """Print what was seen before any attack."""
    console.print(Text(f"rows: {check.words}", style="yellow" if check.pairing == "unpaired" else ""))
    for line in check.identifiers:
        console.print(Text(f"note: {line}", style="yellow"))


def _findings(document: Document) -> Table:
    table = Table(
        title="Findings, with 95 % intervals and what a blind guess would find",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),  # so that every name and outcome fits 80 columns
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


def _intruders(document: Document) -> Table:
    """What each intruder finds, by what they know: who knows more never finds less."""
    table = Table(title="What each intruder finds", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("an intruder who ...", overflow="fold")
    for name in ("found", "interval", "sure of"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("best attack", no_wrap=True)
    for entry in document.intruders:
        estimate, known = entry.estimate, "" if entry.known is None else percent(entry.known.value)
        table.add_row(
            escape(entry.words),
            percent(estimate.value),
            span(estimate.low, estimate.high),
            known,
            escape(entry.measure),
        )
    return table


def _words(document: Document) -> list[Text | Table]:
    """Tell what the intruder could do, what could not run, and the notes; the rest is counted."""
    told = intruder(document)
    told += [
        f"{finding.claim} could not run: {finding.reason}"
        for finding in document.findings
        if finding.outcome == "could not run"
    ]
    parts: list[Text | Table] = [Text("What the intruder could do", style="italic"), _bullets(told)]
    parts.append(Text(others(document), style="dim"))
    notes = _notes(document)
    return [*parts, Text("\nNotes", style="italic"), _bullets(notes)] if notes else parts


def _notes(document: Document) -> list[str]:
    """What the attacks that ran have to remark; a remark of several attacks once, with their names."""
    by_note: dict[str, list[str]] = {}
    for measure in document.measures:
        for note in measure.notes if measure.ran else ():
            by_note.setdefault(note, []).append(measure.name)
    lines = [f"{', '.join(names)}: {note}" for note, names in by_note.items()]
    more = len(lines) - MOST_NOTES
    return [*lines[:MOST_NOTES], f"and {more} more in the JSON and the HTML"] if more > 0 else lines


def _bullets(lines: list[str]) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for line in lines:
        table.add_row("  -", Text(line))
    return table


def _exposed(document: Document) -> Table:
    """A row per record: the probability of being found, who shares it, and the attacks that found it this time."""
    table = Table(title="The most exposed records", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("row", justify="right", no_wrap=True)
    labelled = any(entry.label for entry in document.exposed)
    if labelled:
        table.add_column("id", overflow="fold")
    table.add_column("risk", justify="right", no_wrap=True)
    table.add_column("found this time by (with its share where several fit)", overflow="fold")
    for entry in document.exposed:
        label = [escape(entry.label or "")] if labelled else []
        table.add_row(str(entry.row), *label, f"{entry.risk:.3f}", finders(entry))
    return table


def column_table(columns: Sequence[ColumnEntry]) -> Table:
    """How every column is written in both files, and for how many people the release contains their own value."""
    table = Table(title="How the columns were read", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("column", "role", "original", "release", "own value", "taken for"):
        table.add_column(name, overflow="fold", justify="right" if name == "own value" else "left")
    for column in columns[:MOST_COLUMNS]:
        own = "-" if column.own is None else percent(column.own)
        forms = column.original or "not there", column.released or "not there"
        why = f"{column.kind or 'nothing'}: {column.rule or column.reason}"
        table.add_row(escape(column.name), column.role, *forms, own, escape(why))
    if len(columns) > MOST_COLUMNS:
        table.add_row(f"and {len(columns) - MOST_COLUMNS} more", "", "", "", "", "all in the JSON and the HTML")
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


def show_gauntlet(rows: list[tuple[str, float | None, float | None, tuple[str, ...]]], console: Console) -> None:
    """Print, for each release with a known answer, what its own intruder finds and what the report finds."""
    title = "Gauntlet: does a report keep up with the intruder who was written for the release?"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("release", no_wrap=True)
    for name in ("intruder", "report"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for name, wanted, best, failures in rows:
        word = Text("; ".join(failures), style="red") if failures else Text("holds", style="green")
        figures = ("nobody" if wanted is None else percent(wanted), "-" if best is None else percent(best))
        table.add_row(name.replace("_", " "), *figures, word)
    console.print(table)
    console.print(f"{sum(not failures for *_, failures in rows)} of {len(rows)} hold")
