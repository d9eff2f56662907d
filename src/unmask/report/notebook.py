"""Results as small pieces of HTML and as Altair charts, for notebooks. Calm: a title, a few figures, one picture."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from unmask.errors import ParameterError, UnmaskError
from unmask.evidence import Estimate, Figure, name_of
from unmask.inert import visible
from unmask.report.charts import chart, chart_of_findings, draw, findings_chart
from unmask.report.document import Document
from unmask.report.front import front
from unmask.report.words import OUTCOMES, figures, limit, number, percent, span

PLAIN = {"bool", "float", "int", "str", "Estimate", "float | None", "int | None", "str | None", "Estimate | None"}
MOST_ROWS, MOST_LETTERS = 24, 200
COLOURS = {"safe": "#146c2e", "unsafe": "#b3261e", "inconclusive": "#8a4b00"}
CELL = "text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top"


def as_html(result: object) -> str:
    """A result: the report's page 1 for an assessment, else its words, its figures and its picture."""
    document = getattr(result, "document", None)
    if isinstance(document, Document):
        return _assessment(document)
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        return _findings(result)
    words = _words(result)
    told = [f"<strong>{escape(_title(type(result).__name__))}</strong>", f"<p>{escape(words)}</p>" if words else ""]
    figure = _figure(result)
    picture = "" if figure is None else f'<div style="max-width:46rem">{draw(figure)}</div>'
    return _box("".join(told) + _table(figures_of(result)) + picture)


def as_chart(result: object) -> Any:  # noqa: ANN401 - altair's own chart type
    """The picture of a result: its findings, or its own figure."""
    findings = getattr(result, "findings", result if isinstance(result, tuple) else None)
    if findings is not None:
        return chart_of_findings(findings)
    figure = _figure(result)
    if figure is None:
        raise ParameterError(f"a {type(result).__name__} has no picture", hint="assessment.plot() draws its findings")
    return chart(figure)


def _title(name: str) -> str:
    """The name of a class as words: Channel linkage."""
    return " ".join(re.findall(r"[A-Z][a-z]*", name)).capitalize()


def _words(result: object) -> str:
    words = getattr(result, "words", None) or getattr(result, "claim", None)
    return words if isinstance(words, str) else ""


def _figure(result: object) -> Figure | None:
    make = getattr(result, "figure", None)
    found = make() if callable(make) else make
    return found if isinstance(found, Figure) else None


def figures_of(result: object) -> list[tuple[str, str]]:
    """Fields and properties that are single numbers, words or estimates."""
    kind, rows = type(result), []
    named = [field.name for field in fields(result)] if is_dataclass(result) else []
    derived = [
        name
        for name, entry in vars(kind).items()
        if isinstance(entry, property) and str((entry.fget.__annotations__ or {}).get("return")) in PLAIN
    ]
    for name in [*named, *derived]:
        try:
            value = getattr(result, name)
        except (UnmaskError, ArithmeticError, ValueError):
            continue  # a figure that this result does not have
        text = "" if name.startswith("_") or name in {"words", "claim"} else _value(value)
        rows += [(name.replace("_", " "), text)] if text else []
    return rows[:MOST_ROWS]


def _value(value: object) -> str:
    if isinstance(value, Estimate):
        return figures(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, tuple) and value and all(isinstance(one, str) for one in value):
        value = ", ".join(value)
    return value if isinstance(value, str) and len(value) <= MOST_LETTERS else ""


def escape(text: str) -> str:
    """Text for a page, without what would turn the page around."""
    return html.escape(visible(text))


def _table(rows: Iterable[tuple[str, ...]], head: tuple[str, ...] = ()) -> str:
    def line(row: tuple[str, ...], tag: str) -> str:
        cells = [f'<{tag} style="{CELL}">{escape(text)}</{tag}>' for text in row]
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    first = f"<thead>{line(head, 'th')}</thead>" if head else ""
    return f'<table style="border-collapse:collapse">{first}<tbody>{body}</tbody></table>' if body else ""


def _box(inside: str) -> str:
    return f'<div style="font-family:system-ui,sans-serif;font-size:.95rem;line-height:1.45">{inside}</div>'


def _assessment(document: Document) -> str:
    """Page 1 of the report, and every figure on one axis."""
    page, colour = front(document), COLOURS[document.verdict]
    head = (
        f'<div style="border-left:.4rem solid {colour};padding:.2rem .8rem"><strong style="font-size:1.15rem">'
        f"{escape(page.headline)}</strong><br>{escape(page.sentence)}</div>"
    )
    told = [(number_.name, number_.value, number_.words) for number_ in page.numbers]
    picture = findings_chart(document.findings) or ""
    return _box(
        head + _table(told) + _table(page.parts)
        + f"<details><summary>All findings</summary>{_findings(document.findings)}{picture}</details>"
    )  # fmt: skip


def _findings(findings: Iterable[Any]) -> str:
    rows = []
    for finding in findings:
        shown = ("-",) * 4
        if (e := finding.estimate) is not None:
            shown = (
                percent(e.value), span(e.low, e.high), percent(e.chance), limit(finding.threshold, finding.people)
            )  # fmt: skip
        rows.append((name_of(finding.key), *shown, OUTCOMES[finding.outcome]))
    return _table(rows, ("finding", "rate", "95 % CI", "blind guess", "limit", "outcome"))
