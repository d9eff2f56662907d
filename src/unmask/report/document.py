"""The report as data: versioned dataclasses that are the JSON, and that the terminal and the HTML render."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from unmask.arrays import Floats
from unmask.evidence import Absence, ColumnEntry, Estimate, Evidence, Fact, Figure, Finding, Judgement, Reported, Series
from unmask.fingerprints import checksum, of_one_key
from unmask.inert import json_text
from unmask.people import Bin, PersonStory, RiskByGroup
from unmask.schemas import FORMS
from unmask.shares import percent, span
from unmask.utility import UtilityEntry

SCHEMA = FORMS["report"].name()
MOST_EXPOSED = 10
SHOWN = 3  # digits of a risk: what is equal in them is shared
OUTCOMES = {"for": "within limit", "against": "above limit", "inconclusive": "undecided"}
OUTCOMES |= {word: word for word in ("not judged", "does not apply", "could not run")}  # in words
RISK_EDGES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that is needed to run the same assessment again."""

    created: str
    command: str | None
    seed: int
    measures: tuple[str, ...]
    inputs: dict[str, dict[str, Any]]
    settings: dict[str, Any]
    policy: dict[str, Any]
    versions: dict[str, str]
    show_values: bool = False  # whether the report may hold values of the original
    intruder: str = "maximum"  # who attacks
    recipients: tuple[dict[str, Any], ...] = ()  # as they were described
    by: tuple[str, ...] = ()  # columns whose groups are told
    keep: tuple[str, ...] = ()  # analyses that must come out
    utility: str = "none"  # how much of what is left of the data was looked at: whole, quick (no models) or none
    plan: dict[str, Any] = field(default_factory=dict)  # the budget, and attacks that were cut short or left out


@dataclass(frozen=True, slots=True)
class FindingEntry:
    """A judged claim with its figures."""

    measure: str
    key: str
    claim: str
    outcome: str
    reason: str
    estimate: Estimate | None
    threshold: float | None
    threshold_reason: str | None
    people: int | None = None  # the most people that the policy accepts, whatever their share


@dataclass(frozen=True, slots=True)
class MeasureEntry:
    """What one attack told beyond its findings."""

    name: str
    title: str
    story: str
    ran: bool
    facts: tuple[Fact, ...] = ()
    figures: tuple[Figure, ...] = ()
    attributes: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IntruderEntry:
    """Somebody who knows this much, and what they find by the best attack open to them."""

    knows: str
    words: str
    measure: str
    n_attacks: int
    estimate: Estimate
    known: Estimate | None = None  # people of whom they are sure, by the attack that is sure of most


@dataclass(frozen=True, slots=True)
class RecipientEntry:
    """Somebody who may get the release, and the verdict for them alone.

    ``columns``: those of the original that they hold (null: all); ``attempt``: the probability that they try at all,
    and the argument for it; ``estimate``: people found by the best attack, ``measure``, of this intruder;
    ``largest``: the largest risk of one person (null for who wants many).
    """

    name: str
    audience: str
    intruder: str
    words: str
    columns: tuple[str, ...] | None
    forbids: tuple[str, ...]
    attempt: float
    argument: str
    verdict: str
    reason: str
    against: tuple[str, ...]
    estimate: Estimate | None
    measure: str | None
    largest: float | None


@dataclass(frozen=True, slots=True)
class CheckEntry:
    """What was seen before any attack: whether rows belong together, and which columns name people."""

    passed: bool
    pairing: str  # paired, unpaired or untested
    words: str
    identifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PeopleEntry:
    """Where the risks of people come from, and how far they can be relied on.

    ``error``: mean difference between the risk of a bin and the share of it that was found; ``uneven``: a line where
    some group is found far more often than all; ``groups``: those of the columns that were asked for.
    """

    measure: str | None
    how: str
    n: int
    error: float
    bins: tuple[Bin, ...]
    figure: Figure | None = None
    uneven: str = ""
    groups: tuple[RiskByGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class ExposedEntry:
    """A record that is easily found: its row in the original (from 1), its risk, how many people share this risk.

    ``risks``: what each attack made of it in this release.
    """

    row: int
    risk: float
    sharing: int
    risks: dict[str, float]
    label: str | None = None


@dataclass(frozen=True, slots=True)
class AdviceEntry:
    """The change that is recommended: in a few words, for each column, and as a masking that can be typed.

    ``k``: everybody then looks like k - 1 others or more in the columns that the intruder knows (0: not counted).
    ``verdict``: of the whole assessment on the changed table, with the share ``found`` by the best attack, and ``left``
    of the data; empty where nobody attacked it yet. ``file``: where the changed table is.
    """

    words: str
    steps: tuple[tuple[str, str], ...]
    masking: str
    k: int = 0
    verdict: str = ""
    found: float | None = None
    left: float | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """The whole report. ``digest`` covers the result and not the circumstances (date, command, versions).

    It is the SHA-256 of what the report tells, and after a + a checksum of the risk of every person under the steward's
    key: a plain one would let others try values of the original until it fits.
    """

    schema: str
    verdict: str
    reason: str
    check: CheckEntry
    findings: tuple[FindingEntry, ...]
    intruders: tuple[IntruderEntry, ...]
    measures: tuple[MeasureEntry, ...]
    people: PeopleEntry
    exposed: tuple[ExposedEntry, ...]
    risk_figure: Figure | None
    columns: tuple[ColumnEntry, ...]
    warnings: tuple[str, ...]
    policy: str
    policy_description: str
    manifest: Manifest
    recipients: tuple[RecipientEntry, ...] = ()
    utility: UtilityEntry | None = None  # null: not asked
    stories: tuple[PersonStory, ...] = ()  # of the exposed: what gives each away, and what would hide them
    advice: AdviceEntry | None = None  # the change to try first; null where there is none, or nobody asked
    digest: str = field(default="")

    @property
    def recipient(self) -> RecipientEntry | None:
        """Whom all figures are about: the first recipient with the worst verdict; None where none is named."""
        return next((entry for entry in self.recipients if entry.verdict == self.verdict), None)


def build(  # noqa: PLR0913 - the parts of a report
    judged: Judgement,
    *,
    check: CheckEntry,
    columns: tuple[ColumnEntry, ...],
    warnings: tuple[str, ...],
    risk: dict[str, Floats],
    people: PeopleEntry,
    labels: tuple[str, ...] | None,
    manifest: Manifest,
    recipients: tuple[RecipientEntry, ...] = (),
    utility: UtilityEntry | None = None,
) -> Document:
    """Put the parts of an assessment into the document; ``risk``: per original record, in all and by each attack."""
    limits = {f.key: judged.policy.threshold(f.key).reason for f in judged.findings if f.threshold is not None}
    finders = {e.measure for e in judged.reported if isinstance(e.evidence, Evidence) and e.evidence.identity}
    draft = Document(
        schema=SCHEMA,
        verdict=judged.verdict.word,
        reason=judged.verdict.reason,
        check=check,
        findings=tuple(_finding(f, limits.get(f.key)) for f in judged.findings),
        intruders=tuple(
            IntruderEntry(i.knows, i.words, i.measure, i.n_attacks, i.estimate, i.known) for i in judged.intruders
        ),
        measures=tuple(_measure(entry) for entry in judged.reported),
        people=replace(people, figure=_reliability(people)),
        exposed=_exposed(risk, finders, labels),
        risk_figure=_risk_figure(risk["risk"]),
        columns=columns,
        warnings=warnings,
        policy=judged.policy.name,
        policy_description=judged.policy.description,
        manifest=manifest,
        recipients=recipients,
        utility=utility,
    )
    return _with_digest(draft, risk)


def _finding(finding: Finding, reason: str | None) -> FindingEntry:
    """A finding as the report tells it: what it uses of its limit is in its interval."""
    told = {name: value for name, value in vars_of(finding).items() if name != "used"}
    return FindingEntry(**told, threshold_reason=reason)


def vars_of(entry: Any) -> dict[str, Any]:  # noqa: ANN401 - any small dataclass
    """Return the fields of a slotted dataclass as a dict."""
    return {name: getattr(entry, name) for name in entry.__dataclass_fields__}


def _with_digest(draft: Document, risk: dict[str, Floats]) -> Document:
    out = {"manifest", "digest", "advice"} | (set() if draft.recipients else {"recipients"})  # as before there were any
    result = {key: value for key, value in to_dict(draft).items() if key not in out}
    told = hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
    of_people = checksum(b"".join(name.encode() + np.ascontiguousarray(risk[name]).tobytes() for name in sorted(risk)))
    return replace(draft, digest=told if of_people is None else f"{told}+{of_people}")


def told_digest(digest: str) -> str:
    """The part of a digest that is of what the report tells: anybody can compute it from the report."""
    return digest.partition("+")[0]


def same_digest(one: str, other: str) -> tuple[bool, bool | None]:
    """Whether two reports tell the same, and whether the risks of all people are the same; None: not comparable."""
    sides = [digest.partition("+") for digest in (one, other)]
    known = of_one_key(sides[0][2], sides[1][2])
    return sides[0][0] == sides[1][0], sides[0][2] == sides[1][2] if known else None


def _measure(entry: Reported) -> MeasureEntry:
    told, evidence = (entry.measure, entry.title, entry.story), entry.evidence
    if isinstance(evidence, Absence):
        return MeasureEntry(*told, ran=False, notes=(evidence.reason,))
    handed = {name: getattr(evidence, name) for name in ("facts", "figures", "attributes", "notes")}
    return MeasureEntry(*told, ran=True, **handed)


def _exposed(by: dict[str, Floats], finders: set[str], labels: tuple[str, ...] | None) -> tuple[ExposedEntry, ...]:
    """List the ten records with the largest risk; equal ones by row, with the number of people who share it."""
    risk = by["risk"]
    shown = np.round(np.nan_to_num(risk), SHOWN)
    order = np.lexsort((np.arange(risk.size), -shown))[:MOST_EXPOSED]
    return tuple(
        ExposedEntry(
            int(row) + 1,
            float(risk[row]),
            int((shown == shown[row]).sum()),
            {name: float(values[row]) for name, values in by.items() if name in finders},
            labels[row] if labels else None,
        )
        for row in order
        if shown[row] > 0
    )


def _risk_figure(risk: Floats) -> Figure | None:
    known = risk[~np.isnan(risk)]
    if not known.size:
        return None
    bars = []
    for low, high in pairwise(RISK_EDGES):
        count = int(((known > low) & (known <= high)).sum()) if low else int((known <= high).sum())
        bars.append((span(low, high) if low else f"up to {percent(high)}", count / known.size))
    return Figure.bars(
        bars,
        title="How is the risk spread over people?",
        caption="People of the original by the probability with which the best attack finds them.",
        said="Share of people by risk: ",
        axes=("risk of a person", "share of people"),
        name="people",
        form="{}: {share}",
    )


def _reliability(people: PeopleEntry) -> Figure | None:
    """The diagram of reliability: what the risks say, and how many were found."""
    if not people.bins:
        return None
    said, found = tuple(one.risk for one in people.bins), tuple(one.found for one in people.bins)
    ends = (0.0, max(*said, *found))
    told = ", ".join(f"{percent(one.risk)}: {percent(one.found)} of {one.n:,}" for one in people.bins)
    return Figure(
        shape="path",
        title="Can the risks be relied on?",
        caption="People in the order of their risk, in tenths, and how many of each tenth were found in this release. "
        "On the line risks are right; above it they are too small, below it too large. No person's risk was learnt "
        f"from their own record. Mean distance from the line: {percent(people.error)}.",
        alt=f"Share found by risk: {told}",
        x_label="risk of people",
        y_label="found in this release",
        series=(Series("people", said, found), Series("right", ends, ends)),
        percent=(True, True),
    )


def to_dict(document: Document) -> dict[str, Any]:
    """Return plain dicts, lists, strings and numbers; what is not finite becomes null."""
    return plain(asdict(document))  # type: ignore[no-any-return]


def plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Only what JSON has: what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_json(document: Document) -> str:
    """Return the document as JSON text."""
    return json_text(to_dict(document)) + "\n"
