"""Which finding decides: for the whole report, for each question of WP216, and for each family of attacks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unmask.evidence import FAMILIES, HEADINGS, family_of, heading_of, kind_of
from unmask.report.document import Document, FindingEntry

WORST_FIRST = ("against", "could not run", "inconclusive", "for", "not judged", "does not apply")
COUNTING = ("found", "learnt", "deniable", "insider", "small", "unique", "known")  # kinds, the plainest to tell first
QUESTIONS = {
    "singling out": "Can one person be picked out of the release?",
    "linkability": "Can a record be linked to the person whose it is?",
    "inference": "Can something about a person be learnt from the release?",
}


@dataclass(frozen=True, slots=True)
class Decided:
    """A question or a family, and the finding that decides it; None where no attack of it ran."""

    name: str
    finding: FindingEntry | None
    ran: int  # attacks of it that gave a figure
    attacks: int


def strength(finding: FindingEntry) -> tuple[int, int, float, float, str]:
    """Order of findings, the one that decides last: worst outcome, plainest kind of figure, largest share."""
    kind = kind_of(finding.key)
    place = COUNTING.index(kind) if kind in COUNTING else len(COUNTING)
    if place and finding.outcome == "against":
        place = 1 + (kind in {"known", "small", "unique"})  # of those above their limits the largest share tells most
    value, low = (-1.0, -1.0) if finding.estimate is None else (finding.estimate.value, finding.estimate.low)
    return -WORST_FIRST.index(finding.outcome), -place, value, low, finding.measure


def deciding(findings: Iterable[FindingEntry]) -> FindingEntry | None:
    """The finding that decides a verdict on these alone."""
    return max(findings, key=strength, default=None)


def by_question(document: Document) -> tuple[Decided, ...]:
    """The three questions of WP216, each with the finding that decides it."""
    return tuple(
        _decided(name, [f for f in document.findings if heading_of(f.key) == name], HEADINGS[name]) for name in HEADINGS
    )


def by_family(document: Document) -> tuple[Decided, ...]:
    """The five families, each with its strongest attack; none where nothing of them can apply (tables, networks)."""
    if not any(family_of(finding.measure) for finding in document.findings):
        return ()
    return tuple(
        _decided(name, [f for f in document.findings if family_of(f.measure) == name], FAMILIES[name])
        for name in FAMILIES
    )


def _decided(name: str, findings: list[FindingEntry], measures: Iterable[str]) -> Decided:
    with_figures = [finding for finding in findings if finding.estimate is not None]
    failed = [finding for finding in findings if finding.outcome == "could not run"]
    ran, own, known = ({f.measure for f in with_figures}, {f.measure for f in findings}, set(measures))
    return Decided(name, deciding(with_figures or failed), len(ran), len(own if own and not own & known else known))
