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
from unmask.evidence import Absence, Fact, Figure, Finding, Reported

if TYPE_CHECKING:
    from unmask.evidence import Estimate, Intruder, Policy, Verdict

SCHEMA = "unmask-report/2"
MOST_EXPOSED = 10
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
    clarity: Floats | None
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
class ExposedEntry:
    """A record that is easily found: its row in the original (from 1), and the risk by each attack."""

    row: int
    largest: float
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
    found = {name: values for name, values in parts.risk.items() if name in parts.finders | {"largest"}}
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
        exposed=_exposed(found, parts.clarity, parts.labels),
        risk_figure=_risk_figure(found),
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


def _exposed(
    risk: dict[str, Floats], clarity: Floats | None, labels: tuple[str, ...] | None
) -> tuple[ExposedEntry, ...]:
    """List the ten records with the largest risk; equal ones by mean risk, by how clear the link is, then by row."""
    if "largest" not in risk:
        return ()
    largest = risk["largest"]
    others = {name: values for name, values in risk.items() if name != "largest"}
    mean = np.mean(list(others.values()), axis=0) if others else largest
    order = np.lexsort((np.arange(largest.size), -(mean if clarity is None else clarity), -mean, -largest))[
        :MOST_EXPOSED
    ]
    return tuple(
        ExposedEntry(
            int(row) + 1,
            float(largest[row]),
            {name: float(v[row]) for name, v in others.items()},
            labels[row] if labels else None,
        )
        for row in order
        if largest[row] > 0
    )


def _risk_figure(risk: dict[str, Floats]) -> Figure | None:
    if "largest" not in risk or len(risk) < 2:
        return None
    largest = risk["largest"]
    bars = [("0", int((largest == 0).sum()) / largest.size)]
    for low, high in pairwise(RISK_EDGES):
        count = int(((largest > low) & (largest <= high)).sum())
        bars.append((f"{low:g}-{high:g}" if low else f"up to {high:g}", count / largest.size))
    return Figure.bars(
        bars,
        title="How is the risk spread over people?",
        caption="People of the original by the largest probability with which one of the attacks finds them.",
        said="Share of people by largest risk: ",
        axes=("largest risk of a person", "share of people"),
        name="people",
        form="{}: {:.1%}",
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
