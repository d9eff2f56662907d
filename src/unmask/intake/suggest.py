"""Roles that the columns suggest, each with a reason. Nothing is given a role by itself: somebody looks first.

A column keeps the role it was given. Without one it is direct (names a person by itself), safe (says nothing),
confidential (by its name of a kind that the law protects, GDPR article 9 and 10), or quasi: taken for known to the
intruder, which is the careful choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unmask.evidence import ColumnEntry
    from unmask.intake.identifiers import Identifier

SENSITIVE = {
    "health": "diagnos.*|disease|illness|icd.*|krankheit|maladie|enfermedad|malattia|ziekte|sjukdom|choroba|hiv|aids|"
    "ill|sick.*|symptom.*|infect.*|allerg.*|surgery|vaccin.*|"
    "cancer|disability|handicap|medication|drug|treatment|therapy|pregnan.*|mental.*|depress.*",
    "belief": "religion|konfession|confession|faith|religi.n|religione|political?|partei|party|opinion|union|"
    "gewerkschaft|syndicat",
    "origin": "race|ethnic.*|ethnie|herkunft|caste|tribe",
    "sexual life": "sexual.*|orientation|gender.?identity",
    "crime": "crime|conviction|offen[cs]e|criminal.*|straftat|arrest.*",
    "genes": "genetic.*|genotype|dna|mutation|biometric.*",
}


SAID = "as you said"
BY_CHANNEL = (
    "only the original has it: known, for the attack that learns how a release was made",
    "only the release has it: the attack that learns how a release was made looks at it",
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A role for a column, and why."""

    column: str
    role: str
    reason: str


def suggest(
    columns: Iterable[ColumnEntry], identifiers: Iterable[Identifier], ignored: Iterable[str]
) -> tuple[Suggestion, ...]:
    """Suggest a role for every column; ``ignored``: those that somebody wants to be left out."""
    naming, out = {entry.column: entry for entry in identifiers if entry.direct}, set(ignored)
    return tuple(
        Suggestion(entry.name, "ignored", SAID) if entry.name in out else _suggest(entry, naming.get(entry.name))
        for entry in columns
    )


def _suggest(entry: ColumnEntry, naming: Identifier | None) -> Suggestion:
    if naming is not None:
        return Suggestion(entry.name, "direct", f"it looks like {naming.what} ({naming.reason})")
    if entry.role not in {"quasi", "unshared", "ignored"}:
        return Suggestion(entry.name, entry.role, SAID)
    if not entry.original or not entry.released:
        return Suggestion(entry.name, "quasi", f"{BY_CHANNEL[not entry.original]}; no name need be the same for that")
    if entry.released.startswith(ONE) and entry.original.startswith(ONE):
        return Suggestion(entry.name, "safe", "it has only one value: it tells nobody apart")
    kind = sensitive(entry.name)
    if kind is not None:
        return Suggestion(
            entry.name, "confidential", f"by its name it tells of {kind}; leave it in quasi if it is known"
        )
    return Suggestion(entry.name, "quasi", "an intruder may know it")


ONE = tuple(f"{form}, 1 different" for form in ("text", "whole numbers", "numbers", "digits as text", "dates", "times"))


def sensitive(column: str) -> str | None:
    """The protected kind of a column by a word of its name."""
    words = re.split(r"[^\w]+|_", column.casefold())
    return next((kind for kind, form in SENSITIVE.items() if any(re.fullmatch(form, word) for word in words)), None)
