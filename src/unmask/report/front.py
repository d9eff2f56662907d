"""Page 1: what somebody must know who reads nothing else, in at most 180 words: the same in all forms of the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

from unmask.evidence import FAMILIES, ColumnEntry, name_of, needs_of
from unmask.report import front_model, front_network, front_persons, front_tables
from unmask.report.commands import FORGET, command, of_few, typed
from unmask.report.cut_short import cut_short
from unmask.report.deciding import deciding
from unmask.report.document import AdviceEntry, Document, FindingEntry
from unmask.report.front_model import is_model
from unmask.report.front_network import is_network
from unmask.report.front_numbers import Number, best, numbers, people
from unmask.report.front_persons import is_persons
from unmask.report.front_tables import is_tables
from unmask.report.words import headline_of, joined, limit, percent

if TYPE_CHECKING:
    from types import ModuleType

MOST_COLUMNS = 3  # that do it
MOST_LEARNT = 4
MOST_RECIPIENTS = 3
WEIGHTS = (
    "channel",
    "nearest",
    "knowledge_sweep",
    "special_uniques",
    "keys",
)  # who tells what columns do, the best first
OTHER_SECRETS = {"confidential columns": "other confidential columns"}
TOO_FEW = 'can say "safe" only from'


@dataclass(frozen=True, slots=True)
class Front:
    """Page 1. ``command``: what to type next; empty where there is nothing to type."""

    title: str
    files: str
    headline: str
    sentence: str
    numbers: tuple[Number, ...]
    learn: str
    columns: str
    next: str
    command: str
    untested: str
    check: str
    about: str = "The two tables"  # what was checked

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """What stands below the numbers: a heading and a text each."""
        told = (
            ("What they would learn", self.learn),
            ("Which columns do it", self.columns),
            ("What to do next", self.next),
            ("What was not tested", self.untested),
            (self.about, self.check),
        )
        return tuple(part for part in told if part[1])


def front(document: Document) -> Front:
    """Gather page 1 from the document; nothing is computed anew."""
    if is_model(document) or is_tables(document):
        return _of_model(document) if is_model(document) else _of_tables(document)
    if is_network(document):
        return _of_people(document, front_network, "released network", "a network in memory")
    if is_persons(document):
        return _of_people(document, front_persons, "released", "a table in memory")
    told, command = _next(document)
    return Front(
        title=f"Disclosure risk of {_name(document, 'released', 'a table in memory')}",
        files=_files(document),
        headline=headline_of(document),
        sentence=" ".join(filter(None, (_sentence(document), cut_short(document)))),
        numbers=numbers(document),
        learn=_learn(document),
        columns=_columns(document),
        next=told,
        command=command,
        untested=_untested(document),
        check=_check(document),
        about=about(document),
    )


def _of_model(document: Document) -> Front:
    """Page 1 of a model: it has no columns of its own, and nobody is found in it."""
    return Front(
        title=f"Disclosure risk of {_name(document, 'model', 'a model in memory')}",
        files=f"Learnt from {_name(document, 'original', 'a table in memory')}. {day(document.manifest.created)}. "
        f"Policy: {document.policy}.",
        headline=headline_of(document),
        sentence=_decided(document),
        numbers=tuple(Number(*told) for told in front_model.numbers(document)),
        learn=front_model.learn(document),
        columns="",
        next=front_model.next_step(document),
        command="",
        untested=front_model.untested(document),
        check=front_model.people(document),
        about=about(document),
    )


def _of_tables(document: Document) -> Front:
    """Page 1 of published tables: they have no records, and nobody is found in them."""
    return Front(
        title="Disclosure risk of published tables",
        files=f"{front_tables.files(document)}. {day(document.manifest.created)}. Policy: {document.policy}.",
        headline=headline_of(document),
        sentence=_decided(document),
        numbers=tuple(Number(*told) for told in front_tables.numbers(document)),
        learn=front_tables.learn(document),
        columns="",
        next=front_tables.next_step(document),
        command="",
        untested=front_tables.UNTESTED,
        check=front_tables.notes(document),
        about="The tables",
    )


def _of_people(document: Document, words: ModuleType, table: str, otherwise: str) -> Front:
    """Page 1 of a network, or of many rows a person: people are no records. ``words``: the file that has its words."""
    return Front(
        title=f"Disclosure risk of {_name(document, table, otherwise)}",
        files=f"{words.files(document)}. {day(document.manifest.created)}. Policy: {document.policy}.",
        headline=headline_of(document),
        sentence=_decided(document),
        numbers=numbers(document),
        learn=words.LEARN,
        columns="",
        next=words.next_step(document),
        command="",
        untested=words.UNTESTED,
        check=words.notes(document),
        about=about(document),
    )


def _name(document: Document, table: str, otherwise: str) -> str:
    path = document.manifest.inputs.get(table, {}).get("path")
    return PurePath(path).name if path else otherwise


def _files(document: Document) -> str:
    inputs = document.manifest.inputs
    rows = inputs.get("released", {}).get("rows", 0)
    made = f"Made from {_name(document, 'original', 'a table in memory')}"
    made = "No original given" if alone(document) else made
    who, of = document.manifest.intruder, document.recipient
    under = f"Policy: {document.policy}" + (f"; intruder: {who}" if who != "maximum" else "")
    under += f"; figures for {of.name}" if of else ""
    return f"{made}; {rows:,} rows. {day(document.manifest.created)}. {under}."


def alone(document: Document) -> bool:
    """Whether the release was looked at without its original."""
    return not {"original", "original network"} & set(document.manifest.inputs)


def about(document: Document) -> str:
    """What was looked at before any attack: two tables or networks, the release alone, or people and a model."""
    if is_network(document):
        return "The two networks"
    return "The people" if is_model(document) else "The table" if alone(document) else "The two tables"


def day(created: str) -> str:
    """A date as people write it: 17 November 2026."""
    try:
        when = datetime.fromisoformat(created)
    except ValueError:
        return created
    return f"{when.day} {when:%B %Y}"


def _sentence(document: Document) -> str:
    """The verdict as somebody may repeat it."""
    if len({entry.verdict for entry in document.recipients}) > 1:  # else the headline has named them
        told = [f"{entry.name}: {entry.verdict}" for entry in document.recipients[:MOST_RECIPIENTS]]
        more = len(document.recipients) - MOST_RECIPIENTS
        others = f"; and {more} more" if more > 0 else ""
        return f"{'; '.join(told)}{others}. {_decided(document)}"
    return _decided(document)


def _decided(document: Document) -> str:
    """What decides, for the recipient whom the report is about where some are named."""
    if document.verdict == "safe":
        return _safe(document)
    found = deciding(document.findings)
    if document.verdict == "unsafe" and found is not None and found.estimate is not None:
        return _against(document, found)
    if found is not None and found.outcome == "inconclusive" and found.estimate is not None:
        upper = percent(found.estimate.high)
        most = f"{limit(found.threshold, found.people)}{_beyond(found)}"
        return f"{name_of(found.key)} may be as high as {upper}; the policy allows {most}."
    return f"{document.reason[:1].upper()}{document.reason[1:]}."


def _safe(document: Document) -> str:
    estimate = best(document).estimate
    judged = [finding for finding in document.findings if finding.outcome == "for"]
    told = f"All {len(judged)} judged figures are within the policy."
    if estimate is None:
        return told
    return f"The best intruder finds {people(estimate)}, at most {percent(estimate.high)}. {told}"


def _against(document: Document, found: FindingEntry) -> str:
    """What speaks against publishing: people found, where that does it, else the claim that does."""
    reached = best(document)
    estimate = reached.estimate
    allowed = f"the policy allows {limit(found.threshold, found.people)}{_beyond(found)}"
    if estimate is not None and found.estimate == estimate:
        if alone(document):
            told = "If values were not changed, someone who knows the columns of people here"
            return f"{told} finds the right record for {people(estimate)}; {allowed}."
        return f"Someone who {reached.holds} finds the right {reached.what} for {people(estimate)}; {allowed}."
    claim = found.claim.split(". ")[0].rstrip(".")
    return f"{claim}; {allowed}."


def _beyond(found: FindingEntry) -> str:
    """Say what a limit is made of where it is not the one that the policy names."""
    if found.people is not None or found.threshold is None or found.estimate is None:
        return ""
    own = found.threshold - found.estimate.chance
    return f" ({percent(own)} beyond the blind guess)" if "beyond chance (" in found.reason else ""


def _learn(document: Document) -> str:
    """Confidential columns in the record that is found, and for how many people they are true."""
    there = [column for column in document.columns if column.role == "confidential" and column.released]
    if not there:
        shared = sum(bool(column.released) and column.role != "id" for column in document.columns)
        return f"Of whoever is found, everything: {shared} columns. None is named as confidential."
    paired = document.check.pairing != "unpaired"  # else nobody's own value is known
    named = [column.name + (_true_for(column) if paired else "") for column in there[:MOST_LEARNT]]
    more = [f"{len(there) - MOST_LEARNT} more columns"] if len(there) > MOST_LEARNT else []
    return f"Of whoever is found: {joined([*named, *more])}."


def _true_for(column: ColumnEntry) -> str:
    """For how many people the released value is their own; of rounded numbers and bands: contains it."""
    if column.own is None:
        return ""
    return f" (true for {percent(column.own)})" if column.rule else f" ({percent(column.own)} unchanged)"


def _columns(document: Document) -> str:
    """The columns that give people away, the most telling first."""
    known = {column.name for column in document.columns}
    by = {entry.name: entry for entry in document.measures if entry.ran}
    weights: Iterable[tuple[str, float]] = next((by[n].attributes for n in WEIGHTS if n in by and by[n].attributes), ())
    order = sorted((pair for pair in weights if pair[0] in known and pair[1] > 0), key=lambda pair: -pair[1])
    told = joined([name for name, _ in order[:MOST_COLUMNS]])
    return f"Mostly {told}." if told else "No attack tells columns apart here."


def _next(document: Document) -> tuple[str, str]:
    """What to do, and the command that does it."""
    few = next((line for line in document.warnings if TOO_FEW in line), None)
    if document.verdict == "safe":
        what = "Give them" if document.recipients else "Publish"
        pairing = [column.name for column in document.columns if column.role == "id" and column.released]
        aside = f" without its column {pairing[0]}," if pairing else ""  # which would name everybody
        told = f"{what} this file{aside} and no other; keep the JSON report, which repeats it:"
        return told, "unmask verify REPORT.json"
    if document.verdict == "inconclusive" and any(f.outcome == "could not run" for f in document.findings):
        return "Remove the reason named above, and assess again.", ""
    if few is not None:
        return (f"{few[:1].upper()}{few[1:]}.", "") if document.verdict != "unsafe" else of_few(document, few)
    if alone(document):
        path = document.manifest.inputs.get("released", {}).get("path") or "RELEASE.csv"
        told = "Assess it beside its original, which shows what masking hides and what linkage finds:"
        return told, typed(["unmask", "assess", "ORIGINAL.csv", path])
    if document.manifest.settings.get("synthetic"):
        return FORGET, ""
    return _advised(document.advice, document)


def _advised(advice: AdviceEntry | None, document: Document) -> tuple[str, str]:
    """The recommended change: one that was attacked, with what came out; else what it gives, and how to go on."""
    if advice is None:
        return "Search for a release that is safe:", command(document)
    change = advice.words[:1].upper() + advice.words[1:]
    if advice.verdict:
        told = f"{change}. Attacked, that is {advice.verdict}: {percent(advice.found)} found"
        left = f", {percent(advice.left)} of the data left" if advice.left is not None else ""
        return f"{told}{left}{f' ({advice.file})' if advice.file else ''}.", ""
    told = f"{change}. Then everybody looks like {advice.k - 1} others. Attack that, or search for better:"
    return told, command(document)


def _untested(document: Document) -> str:
    """Attacks that gave no figure, and what they would have needed."""
    chosen = set(document.manifest.measures)
    names = [name for family in FAMILIES.values() for name in family]
    absent = {f.measure: f.reason for f in document.findings if f.outcome == "does not apply"}
    idle = [name for name in names if name in absent]
    failed = [name_of(f.measure) for f in document.findings if f.outcome == "could not run" and f.measure in names]
    left = [name for name in names if name not in chosen]
    given = {"outsiders"} if "control" in document.manifest.inputs else set()
    needs = dict.fromkeys(word for name in idle for word in needs_of(name, absent[name]))
    secrets = any(column.role == "confidential" for column in document.columns)  # named, but not what was needed
    lacking = [OTHER_SECRETS.get(word, word) if secrets else word for word in needs if word not in given]
    told = [f"{joined(failed)} could not run."] if failed else []
    told += [f"{len(left)} of {len(names)} attacks {'was' if len(left) == 1 else 'were'} left out."] if left else []
    if idle:
        about = f", which need {joined(lacking, 'or')}" if lacking else ""
        told.append(f"{len(idle)} of {len(names)} attacks{about}.")
    return " ".join(told) or "Nothing that unmask has; other attacks may exist."


def _check(document: Document) -> str:
    """Whether rows belong together, in a sentence; and how much else there is to read about the tables."""
    words = {
        "paired": "Their rows belong together.",
        "unpaired": "Their rows do not seem to belong together: look at this first.",
    }.get(document.check.pairing, "Whether their rows belong together could not be tested.")
    if document.manifest.settings.get("synthetic"):
        words = "The release is taken as synthetic: no row belongs to one person."
    words = "There is no original to compare with." if alone(document) else words
    naming = len(document.check.identifiers)
    told = [f"{naming} column{'s name' if naming > 1 else ' names'} people."] if naming else []
    notes = len(document.warnings)
    told += [f"{notes} note{'s' if notes > 1 else ''} below."] if notes else []
    return " ".join([words, *told])
