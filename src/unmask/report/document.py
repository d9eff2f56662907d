"""The report as data: versioned dataclasses that are the JSON, and that the terminal and the HTML render."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.arrays import Floats
from unmask.evidence import Absence, Fact, Figure, Finding, Reported, Series

if TYPE_CHECKING:
    from unmask.evidence import Estimate, Intruder, Policy, Verdict

SCHEMA = "unmask-report/2"
MOST_EXPOSED = 10
SHOWN = 3  # digits of a risk: what is equal in them is shared
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


@dataclass(frozen=True, slots=True)
class Parts:
    """What an assessment hands to the report."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    reported: tuple[Reported, ...]
    policy: Policy
    check: CheckEntry
    columns: tuple[ColumnEntry, ...]
    warnings: tuple[str, ...]
    risk: dict[str, Floats]
    finders: frozenset[str]  # the measures whose risk is that of being found
    people: PeopleEntry
    labels: tuple[str, ...] | None
    manifest: Manifest
    intruders: tuple[Intruder, ...] = ()  # by what they know, each with the best attack open to them
    recipients: tuple[RecipientEntry, ...] = ()


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
class ColumnEntry:
    """How a column is written in both files (empty: not there), and how it was read and why.

    ``own``: share of the people whose released value contains their own; ``rule``: how the intruder gets from one to
    the other.
    """

    name: str
    kind: str
    role: str
    reason: str
    original: str
    released: str
    rule: str
    own: float | None


@dataclass(frozen=True, slots=True)
class CheckEntry:
    """What was seen before any attack: whether rows belong together, and which columns name people."""

    passed: bool
    pairing: str  # paired, unpaired or untested
    words: str
    identifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BinEntry:
    """Held-out people of like risk: their mean risk, and the share that was found in the release, with its interval."""

    risk: float
    found: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class PeopleEntry:
    """Where the risks of people come from, and how far they can be relied on.

    ``error``: mean difference between the risk of a bin and the share of it that was found.
    """

    measure: str | None
    how: str
    n: int
    error: float
    bins: tuple[BinEntry, ...]
    figure: Figure | None = None


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
class Document:
    """The whole report. ``digest`` covers the result and not the circumstances (date, command, versions)."""

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
    digest: str = field(default="")


def build(parts: Parts) -> Document:
    """Put the parts of an assessment into the document."""
    entries = tuple(
        FindingEntry(
            f.measure,
            f.key,
            f.claim,
            f.outcome,
            f.reason,
            f.estimate,
            f.threshold,
            parts.policy.threshold(f.key).reason if f.threshold is not None else None,
        )
        for f in parts.findings
    )
    found = {name: values for name, values in parts.risk.items() if name in parts.finders}
    draft = Document(
        schema=SCHEMA,
        verdict=parts.verdict.word,
        reason=parts.verdict.reason,
        check=parts.check,
        findings=entries,
        intruders=tuple(
            IntruderEntry(i.knows, i.words, i.measure, i.n_attacks, i.estimate, i.known) for i in parts.intruders
        ),
        measures=tuple(_measure(entry) for entry in parts.reported),
        people=replace(parts.people, figure=_reliability(parts.people)),
        exposed=_exposed(parts.risk["risk"], found, parts.labels),
        risk_figure=_risk_figure(parts.risk["risk"]),
        columns=parts.columns,
        warnings=parts.warnings,
        policy=parts.policy.name,
        policy_description=parts.policy.description,
        manifest=parts.manifest,
        recipients=parts.recipients,
    )
    return _with_digest(draft, parts.risk)


def _with_digest(draft: Document, risk: dict[str, Floats]) -> Document:
    out = {"manifest", "digest"} | (set() if draft.recipients else {"recipients"})  # as before there were any
    result = {key: value for key, value in to_dict(draft).items() if key not in out}
    hasher = hashlib.sha256(json.dumps(result, sort_keys=True).encode())
    for name in sorted(risk):
        hasher.update(name.encode() + np.ascontiguousarray(risk[name]).tobytes())
    return replace(draft, digest=hasher.hexdigest())


def _measure(entry: Reported) -> MeasureEntry:
    if isinstance(entry.evidence, Absence):
        return MeasureEntry(entry.measure, entry.title, entry.story, ran=False, notes=(entry.evidence.reason,))
    evidence = entry.evidence
    return MeasureEntry(
        entry.measure,
        entry.title,
        entry.story,
        ran=True,
        facts=evidence.facts,
        figures=evidence.figures,
        attributes=evidence.attributes,
        notes=evidence.notes,
    )


def _exposed(risk: Floats, found: dict[str, Floats], labels: tuple[str, ...] | None) -> tuple[ExposedEntry, ...]:
    """List the ten records with the largest risk; equal ones by row, with the number of people who share it."""
    shown = np.round(np.nan_to_num(risk), SHOWN)
    order = np.lexsort((np.arange(risk.size), -shown))[:MOST_EXPOSED]
    return tuple(
        ExposedEntry(
            int(row) + 1,
            float(risk[row]),
            int((shown == shown[row]).sum()),
            {name: float(values[row]) for name, values in found.items()},
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
        bars.append((f"{low:g}-{high:g}" if low else f"up to {high:g}", count / known.size))
    return Figure.bars(
        bars,
        title="How is the risk spread over people?",
        caption="People of the original by the probability with which the best attack finds them.",
        said="Share of people by risk: ",
        axes=("risk of a person", "share of people"),
        name="people",
        form="{}: {:.1%}",
    )


def _reliability(people: PeopleEntry) -> Figure | None:
    """The diagram of reliability: what the risks say, and how many were found."""
    if not people.bins:
        return None
    said, found = tuple(one.risk for one in people.bins), tuple(one.found for one in people.bins)
    ends = (0.0, max(*said, *found))
    told = ", ".join(f"{one.risk:.1%}: {one.found:.1%} of {one.n:,}" for one in people.bins)
    return Figure(
        shape="path",
        title="Can the risks be relied on?",
        caption="People in the order of their risk, in tenths, and how many of each tenth were found in this release. "
        "On the line risks are right; above it they are too small, below it too large. No person's risk was learnt "
        f"from their own record. Mean distance from the line: {people.error:.1%}.",
        alt=f"Share found by risk: {told}",
        x_label="risk of people",
        y_label="found in this release",
        series=(Series("people", said, found), Series("right", ends, ends)),
        percent=(True, True),
    )


def to_dict(document: Document) -> dict[str, Any]:
    """Return plain dicts, lists, strings and numbers; what is not finite becomes null."""
    return _plain(asdict(document))  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_json(document: Document) -> str:
    """Return the document as JSON text."""
    return json.dumps(to_dict(document), indent=1, ensure_ascii=False) + "\n"
