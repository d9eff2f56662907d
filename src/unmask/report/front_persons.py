"""Page 1 of a release with many rows a person."""

from __future__ import annotations

from unmask.report.document import Document

AGAIN = (
    "Every row adds to what a person is known by. Publish fewer rows of each (a sample, the first, totals), coarser "
    "times and places, or a file with one row a person, and assess again."
)
PUBLISH = "Publish this release and no other of the same people, under new ids; keep the JSON report."
LEARN = "Of whoever is found: all their other rows, and what is said in them."
UNTESTED = "Intruders who know rows of several people together, and other releases of these people."


def is_persons(document: Document) -> bool:
    """Whether the report is about people with many rows."""
    return bool(document.manifest.settings.get("many_rows"))


def files(document: Document) -> str:
    """How many rows and people both tables have."""
    told = [document.manifest.inputs[name] for name in ("original", "released")]
    sizes = [f"{one['rows']:,} rows of {one['people']:,} people" for one in told]
    return f"One person, many rows: {sizes[0]}; released: {sizes[1]}"


def next_step(document: Document) -> str:
    """What to do with the release."""
    return PUBLISH if document.verdict == "safe" else AGAIN


def notes(document: Document) -> str:
    """How the tables were read, where that is not plain."""
    told = [f"{note}." for entry in document.measures if entry.ran for note in entry.notes]
    return " ".join(dict.fromkeys(told)) or "Everybody of the one is in the other."
