"""Page 1 of a published network: people are found by their ties."""

from __future__ import annotations

from unmask.report.document import Document

AGAIN = (
    "Renaming protects nobody, and deleting some ties hardly anybody. Publish counts (degrees, communities) instead of "
    "ties, or far fewer ties (unmask mask-network), and assess again."
)
PUBLISH = "Publish this network and no other of the same people; keep the JSON report."
LEARN = "Of whoever is found: all their ties, and what is said of them and of their ties."
UNTESTED = "Intruders who make ties of their own before the network is published, and other networks of these people."


def is_network(document: Document) -> bool:
    """Whether the report is about a network."""
    return "original network" in document.manifest.inputs


def files(document: Document) -> str:
    """How large both networks are."""
    told = [document.manifest.inputs[f"{name} network"] for name in ("original", "released")]
    sizes = [f"{one['people']:,} people and {one['ties']:,} ties" for one in told]
    return f"{sizes[0]}; released: {sizes[1]}"


def next_step(document: Document) -> str:
    """What to do with the network."""
    return PUBLISH if document.verdict == "safe" else AGAIN


def notes(document: Document) -> str:
    """How networks, or tables, were read, where that is not plain: each note once."""
    told = [f"{note}." for entry in document.measures if entry.ran for note in entry.notes]
    return " ".join(dict.fromkeys(told)) or "Everybody of the one is in the other."
