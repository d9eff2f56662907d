"""A comparison of two reports, shown: as HTML and in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.text import Text

from unmask.evidence import Estimate
from unmask.report.comparison import WAYS, Comparison, Difference, outcome, rate
from unmask.report.html import Row, coded, environment
from unmask.report.terminal import COLOURS, table_of
from unmask.report.words import KNOWN, percent

if TYPE_CHECKING:
    from rich.console import Console


def numbers(compared: Comparison) -> list[tuple[str, ...]]:
    """The three numbers of both sides."""
    sides = compared.before, compared.after
    chances = [None if side.found is None else side.found.chance for side in sides]
    return [
        ("Found by the best intruder", *(rate(side.found) for side in sides)),
        (KNOWN, *(_claims(side.known) for side in sides)),
        ("Found by blind guessing", *(percent(chance) for chance in chances)),
    ]


def _claims(known: Estimate | None) -> str:
    return "-" if known is None else rate(known)


def render_comparison(compared: Comparison) -> str:
    """Render two reports side by side as one HTML file."""
    moved: list[Row] = [
        (
            coded(entry.name, entry.key), rate(entry.before), rate(entry.after),
            *(outcome(word) for word in entry.outcomes), WAYS[entry.way],
        )
        for entry in compared.moved
    ]  # fmt: skip
    page = (
        environment()
        .get_template("compare.html.j2")
        .render(
            compared=compared,
            numbers=numbers(compared),
            moved=moved,
            columns=[_row(entry) for entry in compared.columns],
            settings=[_row(entry) for entry in compared.settings],
        )
    )
    return page.replace(" %", "\N{NO-BREAK SPACE}%")


def _row(entry: Difference) -> Row:
    return entry.name, entry.before, entry.after


def show_comparison(compared: Comparison, console: Console) -> None:
    """Print two reports side by side."""
    for name, side in (("before", compared.before), ("after", compared.after)):
        console.print(Text(f"{name}: {side.title}. {side.files}", style="dim"))
        console.print(Text(f"  {side.headline}. {side.sentence}", style=COLOURS[side.verdict]))
    console.print(Text(compared.words))
    table = table_of("Three numbers", "~", ">before", ">after")
    for line in numbers(compared):
        table.add_row(*map(escape, line))
    console.print(table)
    if compared.moved:
        table = table_of("Findings that moved", "<", ">before", ">after", "~now")
        table.padding = 0
        for entry in compared.moved:
            table.add_row(escape(entry.name), rate(entry.before), rate(entry.after), outcome(entry.outcomes[1]))
        console.print(table)
    for title, entries in (("Columns that differ", compared.columns), ("Settings that differ", compared.settings)):
        if entries:
            table = table_of(title, "~", "~before", "~after")
            for one in entries:
                table.add_row(*map(escape, _row(one)))
            console.print(table)
