"""The three numbers of page 1: people found, people known, and a blind guess; or what stands in their place."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.evidence import Estimate, name_of
from unmask.report.deciding import deciding, strength
from unmask.report.document import Document, FindingEntry, IntruderEntry
from unmask.report.front_network import is_network
from unmask.report.front_persons import is_persons
from unmask.report.words import KNOWN, MORE_KNOWN, percent, span

BESIDES = {  # what an intruder knows besides the columns
    "method": " and how the release was made",
    "some": " and the records of a few people",
    "half": " and the records of half of the people",
}
TOGETHER = "clusters"  # the attack that compares whole households, and so knows who lives together
MORE = {TOGETHER: " and who lives together", "earlier": " and the earlier releases"}  # what an attack needs besides
MOST = 2  # figures that stand in the place of people found


@dataclass(frozen=True, slots=True)
class Number:
    """A figure in large type: what is counted, the share, and the words below it."""

    name: str
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class Best:
    """People found by the best intruder, people known to them, what they hold, and what of people they find."""

    estimate: Estimate | None = None
    known: Estimate | None = None
    holds: str = ""
    what: str = "record"


def best(document: Document) -> Best:
    """What the best intruder reaches; nothing where no attack looks for people."""
    if document.intruders:
        entry = document.intruders[-1]
        more = MORE.get(entry.measure, "")
        return Best(entry.estimate, entry.known, _holds(document, entry.estimate, more), _what(document, entry))
    found = deciding(f for f in document.findings if f.key == "copies.found" and f.estimate is not None)
    return Best() if found is None else Best(found.estimate, None, "compares rows with people")


def _what(document: Document, entry: IntruderEntry) -> str:
    """What of people is found: their record, or only the household that they are in."""
    if is_persons(document):
        return "rows"
    own = [f.estimate.value for f in document.findings if f.key == f"{TOGETHER}.people" and f.estimate is not None]
    return "household" if entry.measure == TOGETHER and max(own, default=0.0) < entry.estimate.value else "record"


def _holds(document: Document, estimate: Estimate, more: str) -> str:
    """What the worst informed intruder holds who finds as many."""
    least = next(entry.knows for entry in document.intruders if entry.estimate.value >= estimate.value)
    if is_network(document):
        return "holds the original network" + (" and knows a few people of the release" if least == "some" else "")
    if is_persons(document):
        return f"knows the rows of a person{BESIDES.get(least, '')}".replace("the records", "the rows")
    shared = [c.name for c in document.columns if c.role == "quasi" and c.original and c.released]
    of = document.recipient
    held = shared if of is None or of.columns is None else [name for name in shared if name in of.columns]
    return f"knows {len(held)} column{'s' * (len(held) != 1)}{more}{BESIDES.get(least, '')}"


def people(estimate: Estimate) -> str:
    """How many people of how many."""
    return f"{estimate.counted} people"


def numbers(document: Document) -> tuple[Number, ...]:
    """People found, known, and found by guessing. Who claims may claim more than are found: the reason is said."""
    reached = best(document)
    if reached.estimate is None:
        return _instead(document)
    estimate, known = reached.estimate, reached.known
    shown = [Number("Found by the best intruder", percent(estimate.value), _interval(document, estimate))]
    if known is not None:
        words = f"{known.hits:,.0f} people" if known.value <= estimate.value else f"{known.hits:,.0f} {MORE_KNOWN}"
        shown.append(Number(KNOWN, percent(known.value), words))
    everybody = max([estimate.n, *(entry.estimate.n for entry in document.intruders)])
    shown.append(Number("Found by blind guessing", percent(estimate.chance), _guessed(estimate.chance, everybody)))
    return tuple(shown)


def _interval(document: Document, estimate: Estimate) -> str:
    """The interval; and of whom, where an attack was tried on fewer people than others were."""
    told = f"95 % CI {span(estimate.low, estimate.high)}"
    fewer = estimate.n < max((entry.estimate.n for entry in document.intruders), default=0)
    return f"{told}, of {estimate.n:,} people" if fewer else told


def _instead(document: Document) -> tuple[Number, ...]:
    """What decides where nobody is looked for, as in a synthetic release: the strongest figures, and a blind guess."""
    judged = [
        f for f in document.findings if f.estimate is not None and f.outcome in {"against", "inconclusive", "for"}
    ]
    first = sorted(judged, key=strength, reverse=True)[:MOST]
    if not first:
        late = any(f.outcome == "could not run" for f in document.findings)
        told = "ran" if late else "applies to these tables"
        return (Number("People found", "-", f"no attack that looks for people {told}"),)
    return (*map(_figure, first), _blind(first[0]))


def _figure(finding: FindingEntry) -> Number:
    e = finding.estimate
    if e is None:  # of these, none has no figure
        return Number(name_of(finding.key), "-", "")
    told = people(e) if e.low == e.high else f"95 % CI {span(e.low, e.high)}"
    return Number(name_of(finding.key), percent(e.value), told)


def _blind(finding: FindingEntry) -> Number:
    chance = 0.0 if finding.estimate is None else finding.estimate.chance
    return Number("By blind guessing", percent(chance), "for the first figure")


def _guessed(chance: float, n: int) -> str:
    found = chance * n
    if found >= 0.95:
        return f"{found:,.0f} of {n:,}"
    return f"{'about' if found >= 0.5 else 'fewer than'} 1 of {n:,}"
