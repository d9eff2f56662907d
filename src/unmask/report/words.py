"""Numbers in words that people read the same way: used by the terminal and by the HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from unmask.discretion import TOO_FEW
from unmask.evidence import FAMILIES, Estimate, kind_of, name_of
from unmask.report.document import OUTCOMES as OUTCOMES  # noqa: PLC0414
from unmask.report.document import Document, ExposedEntry, FindingEntry
from unmask.shares import percent as percent  # noqa: PLC0414 - all forms of the report take it from here
from unmask.shares import span as span  # noqa: PLC0414

KNOWN = "Known, right 19 times in 20"  # what "known" means, in one phrase, wherever there is a figure of it
MORE_KNOWN = "named, some of them wrongly: so more than found"
NAMED = frozenset(f"{name}.known" for name in ("channel", "likelihood", "nearest", "one_to_one", "transparent"))
BY_LINKS = (
    "named by links that are right at least 19 times in 20. Up to one in twenty is named wrongly, so that more can be "
    "known than are found."
)
VERDICTS = {
    "safe": "Safe to publish under this policy",
    "unsafe": "Do not publish this release",
    "inconclusive": "Not shown to be safe",
}
HOW = {  # how to read a figure, by what it counts, or by its key where that says more
    "found": "Compare the share with the blind guess: people are found as far as it is above. Of a person who is "
    "found the whole record is read.",
    "known": f"People {BY_LINKS}",
    "probabilistic.linked": "People rightly linked above the threshold that the intruder takes from their own model, "
    "which promises few wrong links.",
    "copies.exact": "Rows that equal a record of the original. As many as other people would show are taken off, and "
    "people who are alike share theirs: so it may be a little below 100 % where every row is published as it is.",
    "copies.unique": "Nobody else in the original has their values, and the release has them all the same: whoever "
    "knows the values knows that the person was in the file.",
    "copies.known": "One row of the release is far nearer to them than to anybody else; as many as luck may give are "
    "taken off.",
    "tables.known": "It follows from the published tables for certain; nothing is guessed.",
    "small": "Somebody in a group of k looks like k - 1 others: an intruder who knows the columns is right once in k.",
    "unique": "Nobody else has their values, so whoever knows the columns has the record.",
    "learnt": "Learnt because people are in the file: what could be guessed without them is taken off.",
    "sure": "An intruder who speaks only where they are sure: right claims about people in the file, less as many "
    "about people who are not in it.",
    "deniable": "These people can no longer say that the release tells nothing about them.",
    "insider": "The intruder is one of the people in the file, and takes their own value off first.",
    "interval": "How near the published numbers are to the true ones. It presumes that the record was found.",
    "value": "How many categories are published as they are. It presumes that the record was found.",
    "told_apart": "50 % is a coin; 100 % tells everybody in the file from everybody outside it.",
    "claimed": "Guesses about who is in the file that are right beyond what the claimed epsilon allows. None shown is "
    "no proof of the claim.",
    "recognised": "People of the file who are recognised where 1 % of strangers would be wrongly accused.",
    "closer": "50 % is right for a table that remembers nobody: its rows are no nearer to the original than to others.",
    "copied": "Rows that equal a person of the original more often than they equal people outside it were remembered.",
    "distribution": "0 % is a release that tells nothing about who is who, 100 % one that tells everything.",
    "worst_rank": "100 % says that the least protected person is linked to their own values exactly.",
}
GLOSSARY = {
    "95 % CI": "Confidence interval: a range that holds the true share 19 times in 20. The verdict looks at its ends.",
    "Blind guess": "What somebody without the attack would find. A rate near it is no evidence.",
    "Found": "The intruder names the right record of a person. Where several fit equally well the success is shared.",
    "Known": f"People {BY_LINKS}",
    "Intruder": "Somebody who holds facts about real people and wants to know which record is theirs.",
    "Quasi-identifier": "A column that an intruder may know of people: sex, town, date of birth.",
    "Confidential": "A column that an intruder wants to learn.",
    "Singling out": "Picking one person out of the release.",
    "Linkability": "Linking a record to the person, or to another record of the same person.",
    "Inference": "Learning something about a person from the release, whether or not their record is found.",
    "Risk of a person": "How often the best attack finds them if the masking is drawn again.",
    "Limit": "The largest share, or number, of people that the policy accepts.",
    "Undecided": "The interval contains the limit: more people, or a stronger masking, would decide it.",
    "Not judged": "Shown for information; the policy sets no limit.",
}
TO_THEM = {  # the same where recipients are named
    "safe": "Safe to give to {}",
    "unsafe": "Do not give this release to {}",
    "inconclusive": "Not shown to be safe for {}",
}
MOST_NAMED = 3  # recipients
NO_GROUPS = f"There are no groups to tell: {TOO_FEW} have a risk."


def headline(verdict: str, recipients: Sequence[tuple[str, str]] = ()) -> str:
    """The verdict in a line; with recipients (name and verdict of each), those whom it is about."""
    names = [name for name, word in recipients if word == verdict]
    more = len(names) - MOST_NAMED
    named = joined([*names[:MOST_NAMED], f"{more} more"] if more > 0 else names)
    return TO_THEM[verdict].format(named) if names else VERDICTS[verdict]


def headline_of(document: Document) -> str:
    """The verdict of a report in a line: on a release, a model, tables or a network, or for those who may get it."""
    told = headline(document.verdict, verdicts_of(document))
    inputs = document.manifest.inputs
    named = {"model": "this model", "table 1": "these tables", "original network": "this network"}
    return told.replace(
        "this release", next((words for name, words in named.items() if name in inputs), "this release")
    )


def joined(names: Sequence[str], last: str = "and") -> str:
    """Names as people list them: a, b and c."""
    return " ".join(filter(None, (", ".join(names[:-1]), last if len(names) > 1 else "", *names[-1:])))


def verdicts_of(document: Document) -> list[tuple[str, str]]:
    """Each recipient and the verdict for them."""
    return [(entry.name, entry.verdict) for entry in document.recipients]


def limit(threshold: float | None, people: int | None = None) -> str:
    """Write a limit: a number of people where there is one; a share of 1 is none."""
    if people is not None:
        return f"{people:,} people" if people > 1 else ("nobody", "1 person")[people]
    return "none" if threshold is not None and threshold >= 1 else percent(threshold)


def number(value: float) -> str:
    """A number as people write it: no powers of ten."""
    if isinstance(value, int):
        return f"{value:,}"
    return "under 0.001" if 0 < value < 0.001 else f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def times(ratio: float) -> str:
    """Write a ratio: 1.8; nothing where there is none."""
    return "-" if ratio != ratio else f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"  # noqa: PLR0124 - not a number


def ordered(findings: Sequence[FindingEntry]) -> list[FindingEntry]:
    """Findings by family, the plainest attack first; those about the tables themselves on top."""
    place = {name: at for at, name in enumerate(name for family in FAMILIES.values() for name in family)}
    return sorted(findings, key=lambda finding: place.get(finding.measure, -1))


def figures(estimate: Estimate) -> str:
    """A rate, its interval, what a blind guess would find, and people outside: never one without the others."""
    counted = estimate.low == estimate.high
    parts = [percent(estimate.value), "counted" if counted else f"95 % CI {span(estimate.low, estimate.high)}"]
    parts.append(f"blind guessing finds {percent(estimate.chance)}")
    parts += [] if estimate.control is None else [f"among people outside the file {percent(estimate.control)}"]
    return "; ".join(parts)


def sentence(claim: str, estimate: Estimate) -> str:
    """Tell a finding: the claim, and its figures."""
    told = figures(estimate)
    share = f"{percent(estimate.value)}; "
    return f"{claim.removesuffix('.')} ({told.removeprefix(share) if says(claim, estimate) else told})."


def says(claim: str, estimate: Estimate) -> bool:
    """Whether a claim names the share by itself: facts are told once."""
    return re.search(rf"(?<![\d.]){re.escape(percent(estimate.value))}", claim) is not None


def tell(finding: FindingEntry) -> str:
    """A finding as a sentence with its figures."""
    if finding.estimate is None:
        return f"{finding.claim.rstrip('.')}: {finding.reason}."
    return sentence(finding.claim, finding.estimate)


def finders(entry: ExposedEntry, most: int | None = None) -> str:
    """Name the attacks that find a record, the surest first: "Nearest record, Special uniques 25 %"; or the first."""
    risks = sorted(((name, risk) for name, risk in entry.risks.items() if risk > 0), key=lambda pair: -pair[1])
    told = [
        name_of(name) if risk == 1 else f"{name_of(name)} {percent(risk)}".replace(" ", "\N{NO-BREAK SPACE}")
        for name, risk in risks
    ]
    more = len(told) - (len(told) if most is None else most)
    return ", ".join(told if more < 2 else [*told[:most], f"{more} more"])


def about_risk(document: Document) -> str:
    """Say what a risk is, and how many people share the one that the list of the most exposed ends with."""
    last = document.exposed[-1] if document.exposed else None
    attack = f"the attack “{name_of(document.people.measure)}”" if document.people.measure else "the best attack"
    fixed = "original network" in document.manifest.inputs or document.manifest.settings.get("many_rows")
    when = "in this release" if fixed else "if the masking is drawn again"
    told = f"Risk: how often {attack} finds the person {when}."
    shared = f" {last.sharing:,} people share a risk of {percent(last.risk)}." if last and last.sharing > 1 else ""
    return told + shared


def about_known(findings: Iterable[FindingEntry]) -> str:
    """What "known" means, and why it may be more than found; nothing where there is no such figure."""
    told = any(finding.key in NAMED and finding.estimate is not None for finding in findings)
    return f"Known: people {BY_LINKS}" if told else ""


def how(keys: Iterable[str]) -> str:
    """How to read figures with these keys, each kind once."""
    return " ".join(dict.fromkeys(filter(None, (HOW.get(key) or HOW.get(kind_of(key) or "") for key in keys))))


def others(document: Document) -> str:
    """Count what is not told in sentences, so that nobody takes the list for the whole."""
    counts = {word: sum(f.outcome == word for f in document.findings) for word in OUTCOMES}
    words = {
        "against": "above their limits", "inconclusive": "undecided", "for": "within their limits",
        "not judged": "without a limit", "could not run": "could not run", "does not apply": "not applicable",
    }  # fmt: skip
    parts = [f"{counts[word]} {text}" for word, text in words.items() if counts[word]]
    return f"{', '.join(parts)}." if parts else ""


def held(document: Document) -> list[str]:
    """Tell each recipient's verdict in a sentence: what they hold, what is forbidden, how likely they try, and why."""
    lines = []
    for entry in document.recipients:
        parts = ["holds all columns" if entry.columns is None else f"holds {', '.join(entry.columns)}"]
        parts += [f"a contract forbids {' and '.join(entry.forbids)}"] * bool(entry.forbids)
        if entry.attempt < 1:
            told = f"tries with a probability of {percent(entry.attempt)} ({entry.argument})"
            parts.append(f"{told}, which lessens averages and no figure of a single person")
        lines.append(f"{entry.name}: {'; '.join(parts)}. {entry.verdict.capitalize()}: {entry.reason}.")
    return lines


def left_of_data(document: Document) -> list[str]:
    """What is left of the data, in a line, and a line for each analysis of the user; nothing where nobody asked."""
    entry = document.utility
    return [] if entry is None else [f"Utility: {entry.words}", *(f"  - {one.words}" for one in entry.analyses)]
