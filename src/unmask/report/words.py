"""Numbers in words that people read the same way: used by the terminal and by the HTML."""

from __future__ import annotations

from unmask.evidence import Estimate
from unmask.report.document import Document, ExposedEntry

VERDICTS = {
    "safe": "Safe to publish under this policy",
    "unsafe": "Do not publish this release",
    "inconclusive": "Not shown to be safe",
}
OUTCOMES = {
    "for": "within limit",
    "against": "above limit",
    "inconclusive": "undecided",
    "not judged": "not judged",
    "does not apply": "does not apply",
    "could not run": "could not run",
}
NO_GROUPS = "There are no groups to tell: fewer than 11 people have a risk."


def percent(share: float | None) -> str:
    """Write a share as a percentage with as many digits as it needs: 25.4 %, 0.093 %, 0 %."""
    if share is None:
        return "-"
    value = 100 * share
    if value == 0:
        return "0 %"
    if value < 0.0001:
        return "under 0.0001 %"
    digits = 1 if value >= 0.95 else 2 if value >= 0.095 else 4
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") + " %"


def limit(threshold: float | None, people: int | None = None) -> str:
    """Write a limit: a number of people where there is one; a share of 1 is none."""
    if people is not None:
        return f"{people:,} people" if people > 1 else ("nobody", "1 person")[people]
    return "none" if threshold is not None and threshold >= 1 else percent(threshold)


def times(ratio: float) -> str:
    """Write a ratio: 1.8; nothing where there is none."""
    return "-" if ratio != ratio else f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"  # noqa: PLR0124 - not a number


def span(low: float, high: float) -> str:
    """Write an interval with one unit: 22.9 - 28 %."""
    return f"{percent(low).removesuffix(' %')} - {percent(high)}" if low < high else percent(low)


def sentence(claim: str, estimate: Estimate) -> str:
    """Tell a finding: the claim, the rate and its interval, and what a blind guess would find."""
    blind = estimate.chance * estimate.n
    guess = f"A blind guess would find {percent(estimate.chance)}" + (
        f", about {blind:,.0f} of them." if blind >= 0.95 else "."
    )
    interval = f"95 % interval {percent(estimate.low)} to {percent(estimate.high)}"
    text = f"{claim} That is {percent(estimate.value)} ({interval}). {guess}"
    if estimate.control is not None:
        text += f" Among people outside the file it is {percent(estimate.control)}."
    return text


def intruder(document: Document) -> list[str]:
    """Tell what an intruder could do: what speaks against publishing, the worst on top, then what is undecided."""
    told = []
    for outcome in ("against", "inconclusive"):
        found = [(f.claim, f.estimate) for f in document.findings if f.outcome == outcome and f.estimate is not None]
        told += [sentence(claim, estimate) for claim, estimate in sorted(found, key=lambda pair: -pair[1].value)]
    return told


def finders(entry: ExposedEntry) -> str:
    """Name the attacks that find a record, the surest first: "nearest, global, special 0.25"."""
    risks = sorted(((name, risk) for name, risk in entry.risks.items() if risk > 0), key=lambda pair: -pair[1])
    return ", ".join(name if risk == 1 else f"{name}\N{NO-BREAK SPACE}{risk:.2g}" for name, risk in risks)


def about_risk(document: Document) -> str:
    """Say what a risk is, and how many people share the one that the list of the most exposed ends with."""
    last = document.exposed[-1] if document.exposed else None
    told = f"Risk: how often the attack `{document.people.measure}` finds the person if the masking is drawn again."
    shared = f" {last.sharing:,} people share a risk of {last.risk:.3f}." if last and last.sharing > 1 else ""
    return told + shared


def about_sure(document: Document) -> str:
    """Why somebody may be sure of more people than they find; nothing where nobody is."""
    more = any(i.known is not None and i.known.value > i.estimate.value for i in document.intruders)
    return "Sure of: people claimed, of whom at least 19 in 20 are right; so it may be more than found." if more else ""


def others(document: Document) -> str:
    """Count what is not told in sentences, so that nobody takes the list for the whole."""
    counts = {word: sum(f.outcome == word for f in document.findings) for word in OUTCOMES}
    words = {"for": "within their limits", "not judged": "told without a limit", "does not apply": "not applicable"}
    parts = [f"{counts[word]} {text}" for word, text in words.items() if counts[word]]
    return f"Further findings: {', '.join(parts)}." if parts else ""


def held(document: Document) -> list[str]:
    """Tell each recipient's verdict in a sentence: what they hold, what is forbidden, how likely they try, and why."""
    lines = []
    for entry in document.recipients:
        parts = ["holds all columns" if entry.columns is None else f"holds {', '.join(entry.columns)}"]
        parts += [f"a contract forbids {' and '.join(entry.forbids)}"] * bool(entry.forbids)
        if entry.attempt < 1:
            told = f"tries with a probability of {entry.attempt:g} ({entry.argument})"
            parts.append(f"{told}, which lessens averages and no figure of a single person")
        lines.append(f"{entry.name}: {'; '.join(parts)}. {entry.verdict.capitalize()}: {entry.reason}.")
    return lines


def left_of_data(document: Document) -> list[str]:
    """What is left of the data, in a line, and a line for each analysis of the user; nothing where nobody asked."""
    entry = document.utility
    return [] if entry is None else [f"Utility: {entry.words}", *(f"  - {one.words}" for one in entry.analyses)]
