"""The report in the terminal: the verdict first, then the findings, then who is most exposed."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import cast

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from unmask.evidence import HEADINGS, ColumnEntry, Estimate, heading_of, name_of
from unmask.people import RiskByGroup
from unmask.report.deciding import by_question
from unmask.report.document import CheckEntry, Document, FindingEntry
from unmask.report.front import Front, front
from unmask.report.words import (
    NO_GROUPS,
    OUTCOMES,
    about_known,
    about_risk,
    finders,
    held,
    left_of_data,
    limit,
    ordered,
    others,
    percent,
    span,
    tell,
    times,
)

MOST_NOTES = 8
LONGEST_GUESS = 8  # letters
MOST_COLUMNS = 30
WIDE = 120  # letters in a line, from which on the table has room for why a column was read as it was
MOST_FINDERS = 4  # attacks that are named beside an exposed record
LONGEST = 24  # letters of a column's name that are never broken
FOLDED = 16  # letters in a line of a longer one
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
    """Print page 1, the findings, and who is most exposed."""
    page, colour = front(document), COLOURS[document.verdict]
    console.print(Text(page.title, style="bold"))
    console.print(Text(page.files, style="dim"))
    if document.manifest.policy.get("profile"):  # a policy file: what it changes is told wherever its name is
        console.print(Text(f"Policy {document.policy}: {document.policy_description}", style="yellow"))
    title = Text(f"{page.headline} ({document.verdict})", style=f"bold {colour}")
    console.print(Panel(Group(title, _flow(page.sentence, console.width - 4)), border_style=colour))
    console.print(_numbers(page))
    console.print(_parts(page))
    console.print()
    console.print(_flow(f"What to do next: {page.next}", console.width))
    if page.command:
        console.print(Text(f"  {page.command}", style="bold"), soft_wrap=True)  # one line, so that it can be copied
    console.print()
    _show_notes_of_tables(document, console)
    if document.recipients:
        console.print(_recipients(document))
        for line in held(document):
            console.print(Text(line, style="dim"))
    for part in (*_findings(document), *_words(document)):
        console.print(part)
    _show_people(document, console)
    if document.columns:
        console.print(column_table(document.columns, why=False))


def _flow(text: str, width: int) -> Text:
    """Text over lines, a number and its % on one of them."""
    lines = wrap(text.replace(" %", "\N{NO-BREAK SPACE}%"), max(width, 1), break_on_hyphens=False)
    return Text("\n".join(lines).replace("\N{NO-BREAK SPACE}", " "))


def _numbers(page: Front) -> Table:
    """The three numbers, one below the other."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for number in page.numbers:
        table.add_row(number.name, Text(number.value, style="bold"), Text(number.words, style="dim"))
    return table


def _parts(page: Front) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in page.parts:
        if text != page.next:
            table.add_row(name, Text(text))
    return table


def _show_notes_of_tables(document: Document, console: Console) -> None:
    show_check(document.check, console)
    for warning in document.warnings:
        console.print(Text(f"note: {warning}", style="yellow"))


def _show_people(document: Document, console: Console) -> None:
    if len(document.intruders) > 1:
        console.print(_intruders(document))
    console.print()
    if document.people.uneven:
        console.print(Text(f"note: {document.people.uneven}", style="yellow"))
    for entry in document.people.groups:
        console.print(_groups(entry))
    if document.exposed:
        console.print(Text(about_risk(document)))
        console.print(_exposed(document))


def table_of(title: str | Text, *columns: str) -> Table:
    """Begin a table. A heading after ~ may be folded; after < (to the left) or > (to the right) it never is."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for mark, heading in ((column[0], column[1:]) for column in columns):
        table.add_column(heading, justify="right" if mark == ">" else "left", no_wrap=mark != "~", overflow="fold")
    return table


def _recipients(document: Document) -> Table:
    """One verdict for each recipient."""
    columns = ("~recipient", "~audience", "~intruder", ">found", ">worst", ">tries", "<verdict")
    table = table_of("Who may get it", *columns)
    for entry in document.recipients:
        table.add_row(
            escape(entry.name),
            escape(entry.audience),
            entry.intruder,
            percent(None if entry.estimate is None else entry.estimate.value),
            percent(entry.largest),
            percent(entry.attempt),
            Text(entry.verdict, style=COLOURS[entry.verdict]),
        )
    return table


def show_check(check: CheckEntry, console: Console) -> None:
    """Print what was seen before any attack."""
    console.print(Text(f"rows: {check.words}", style="yellow" if check.pairing == "unpaired" else ""))
    for line in check.identifiers:
        console.print(Text(f"note: {line}", style="yellow"))


def _findings(document: Document) -> list[Table | Text]:
    """A row for each figure, by question; attacks without one are named below. Every name stays whole at 80 columns."""
    title = "Findings, with 95 % intervals and what a blind guess would find"
    table = table_of(title, "<", ">rate", ">interval", ">guess", ">limit", "<")
    table.padding = 0  # so that every name and outcome fits 80 columns
    for question in (*HEADINGS, None):
        rows = [f for f in ordered(document.findings) if heading_of(f.key) == question and f.estimate is not None]
        if rows:
            table.add_row(Text((question or "others").upper(), style="bold"))
        for finding in rows:
            table.add_row(*_figures(finding), Text(OUTCOMES[finding.outcome], style=MARKS[finding.outcome]))
    idle = [name_of(f.measure) for f in ordered(document.findings) if f.outcome == "does not apply"]
    below = [about_known(document.findings), f"Did not apply: {', '.join(idle)}." if idle else ""]
    return [table, *(Text(line, style="dim") for line in below if line)]


def _figures(finding: FindingEntry) -> tuple[str, ...]:
    estimate = cast("Estimate", finding.estimate)
    guess = percent(estimate.chance)
    return (
        escape(name_of(finding.key)),
        percent(estimate.value),
        span(estimate.low, estimate.high),
        guess if len(guess) <= LONGEST_GUESS else "~0 %",
        limit(finding.threshold, finding.people),
    )


def _intruders(document: Document) -> Table:
    """What each intruder finds, by what they know: who knows more never finds less."""
    columns = ("~an intruder who ...", ">found", ">interval", ">known", "<best attack")
    table = table_of("What each intruder finds", *columns)
    for entry in document.intruders:
        estimate, known = entry.estimate, "" if entry.known is None else percent(entry.known.value)
        figures = percent(estimate.value), span(estimate.low, estimate.high), known
        table.add_row(escape(entry.words), *figures, escape(name_of(entry.measure)))
    return table


def _words(document: Document) -> list[Text | Table]:
    """Tell the finding that decides each question, what could not run, and the notes; the rest is counted."""
    asked = [entry for entry in by_question(document) if entry.finding is not None and entry.finding.estimate]
    told = [f"{entry.name}: {tell(cast('FindingEntry', entry.finding))}" for entry in asked]
    told += [tell(finding) for finding in document.findings if finding.outcome == "could not run"]
    parts: list[Text | Table] = [Text("What decides", style="italic"), _bullets(told)] if told else []
    parts.append(Text(others(document), style="dim"))
    parts += [Text(line) for line in left_of_data(document)]
    notes = _notes(document)
    return [*parts, Text("\nNotes", style="italic"), _bullets(notes)] if notes else parts


def _notes(document: Document) -> list[str]:
    """What the attacks that ran have to remark; a remark of several attacks once, with their names."""
    by_note: dict[str, list[str]] = {}
    rules = {f"{column.name!r}: {column.rule}" for column in document.columns}  # told where the columns are
    for measure in document.measures:
        for note in measure.notes if measure.ran else ():
            if note not in rules:
                by_note.setdefault(note, []).append(name_of(measure.name))
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
    labelled = any(entry.label for entry in document.exposed)
    by = "~found this time by (with its share where several fit)"
    table = table_of("The most exposed records", ">row", *(["~id"] if labelled else []), ">risk", by)
    for entry in document.exposed:
        label = [escape(entry.label or "")] if labelled else []
        table.add_row(str(entry.row), *label, percent(entry.risk), finders(entry, MOST_FINDERS))
    return table


def _groups(told: RiskByGroup) -> Table | Text:
    """A row per group of people, those with most found first, and everybody."""
    title = f"Who bears the risk, by {told.column}"
    if told.everybody is None:
        return Text(f"{title}: {NO_GROUPS}")
    table = table_of(Text(title), "~group", ">people", ">mean risk", ">found", ">interval", ">times all")
    for one in (*told.groups, told.everybody):
        shown = percent(one.risk), percent(one.found.value), span(one.found.low, one.found.high), times(one.ratio)
        table.add_row(escape(one.name), f"{one.n:,}", *shown)
    return table


def column_table(columns: Sequence[ColumnEntry], *, why: bool = True) -> Table:
    """How every column is written in both files, and for how many people the release contains their own value.

    ``why``: with what a column is taken for, and by which rule; else with its kind alone, so that it fits one line.
    """
    headings = ("~column", "<role", "~original", "~release", ">own value", "~taken for")
    if not why:
        headings = ("~column", "<role", "~original", "~release", ">own", "<read as")
    table = table_of(f"How the columns were read{'' if why else ' (why: in the HTML and the JSON)'}", *headings)
    widest = max((len(column.name) for column in columns), default=0)
    table.columns[0].min_width = widest if widest <= LONGEST else FOLDED
    if widest > LONGEST:
        table.padding = 0  # room for what the other columns say
    for column in columns[:MOST_COLUMNS]:
        forms = [text if why else text.replace(" different", "") for text in (column.original, column.released)]
        told = f"{column.kind or 'nothing'}: {column.rule or column.reason}" if why else column.kind or "nothing"
        shown = (text or "not there" for text in forms)
        table.add_row(escape(column.name), column.role, *shown, percent(column.own), escape(told))
    if len(columns) > MOST_COLUMNS:
        table.add_row(f"and {len(columns) - MOST_COLUMNS} more", "", "", "", "", "all in the JSON and the HTML")
    return table


def show_columns(columns: Sequence[ColumnEntry], console: Console) -> None:
    """Print how columns were read, and why: in the table where there is room, else below it, a line for each."""
    wide = console.width >= WIDE
    table = column_table(columns, why=wide)
    table.title = table.title if wide else "How the columns were read"
    console.print(table)
    if not wide:
        shown = columns[:MOST_COLUMNS]
        console.print(_bullets([f"{one.name}: {one.kind or 'nothing'}: {one.rule or one.reason}" for one in shown]))


def show_checks(
    rows: list[tuple[str, str, tuple[float | None, ...], float | None, tuple[str, ...]]], console: Console
) -> None:
    """Print what the self-check saw, a row for each measure and table."""
    columns = ("<measure", "<table", ">copy", ">light", ">heavy", ">other", ">chance", "~")
    table = table_of("Self-check: does each measure tell a copy from a stranger?", *columns)
    for measure, kind, risks, chance, failures in rows:
        applies = any(value is not None for value in risks)
        word = Text("passed", style="green") if applies else Text("does not apply", style="dim")
        table.add_row(measure, kind, *map(percent, (*risks, chance)), _failed(failures) or word)
    console.print(table)


def _failed(failures: tuple[str, ...]) -> Text | None:
    return Text("; ".join(failures), style="red") if failures else None


def show_gauntlet(rows: list[tuple[str, float | None, float | None, tuple[str, ...]]], console: Console) -> None:
    """Print, for each release with a known answer, what its own intruder finds and what the report finds."""
    title = "Gauntlet: does a report keep up with the intruder who was written for the release?"
    table = table_of(title, "<release", ">intruder", ">report", "~")
    for name, wanted, best, failures in rows:
        figures = "nobody" if wanted is None else percent(wanted), percent(best)
        table.add_row(name.replace("_", " "), *figures, _failed(failures) or Text("holds", style="green"))
    console.print(table)
    console.print(f"{sum(not failures for *_, failures in rows)} of {len(rows)} hold")
