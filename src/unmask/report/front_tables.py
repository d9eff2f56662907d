"""Page 1 of published tables: nobody is found in them; cells are worked out."""

from __future__ import annotations

from unmask.report.document import Document
from unmask.report.words import joined, percent

AGAIN = (
    "Put small cells together (coarser labels) or withhold more cells, and the totals that lead back to them; then "
    "assess all tables again."
)
PUBLISH = "Publish these tables and no others of the same people; keep the JSON report."
NAMES = {  # figures of page 1: what is counted, and of what
    "tables.small": ("In small cells", "people"),
    "tables.known": ("Known for certain", "people"),
    "tables.within": ("Withheld, yet known", "withheld cells"),
    "tables.estimable": ("Open to a contributor", "cells"),
}


def is_tables(document: Document) -> bool:
    """Whether the report is about published tables, which have no rows of people."""
    return "table 1" in document.manifest.inputs


def files(document: Document) -> str:
    """Which tables there are."""
    n = sum(name.startswith("table ") for name in document.manifest.inputs)
    people = document.manifest.settings.get("people") or 0
    of = f" of {people:,} people" if people else ""
    return f"{n} published table{'s' * (n > 1)}{of}, taken together"


def numbers(document: Document) -> tuple[tuple[str, str, str], ...]:
    """People in small cells, people whose secret follows, amounts that follow: name, value and words of each."""
    shown = []
    for finding in document.findings:
        if finding.key in NAMES and finding.estimate is not None:
            name, of = NAMES[finding.key]
            told = f"{finding.estimate.hits:,.0f} of {finding.estimate.n:,} {of}"
            shown.append((name, percent(finding.estimate.value), told))
    return tuple(shown) or (("Cells known", "-", "nothing could be worked out"),)


def learn(document: Document) -> str:
    """What follows about people."""
    named = document.manifest.settings.get("confidential") or []
    if not named:
        return "How many people there are with each combination of labels; none is named as confidential."
    return f"The {joined(named)} of people in groups where only one is left."


def next_step(document: Document) -> str:
    """What to do with the tables."""
    return PUBLISH if document.verdict == "safe" else AGAIN


def notes(document: Document) -> str:
    """How the tables were read, where that is not plain."""
    told = [f"{note}." for entry in document.measures for note in entry.notes]
    return " ".join(told) or "They agree with each other."


UNTESTED = "Tables of the same people that were published elsewhere, and what single people know of their neighbours."
