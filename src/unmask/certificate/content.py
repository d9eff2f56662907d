"""The content of a certificate: what was measured beside what was stated, in the order of the field's own reports.

The headings follow WP29 Opinion 05/2014 (singling out, linkability, inference) and the anonymisation reports that EMA
Policy 0070 and Health Canada ask for (initial and residual risk, technique by column), as pages that quote them say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from unmask.certificate.statement import Statement
from unmask.discretion import TOO_FEW, in_public, outline, too_few, without_numbers
from unmask.evidence import HEADINGS, STANCES, Estimate, as_intruder, name_of
from unmask.report import about_known, by_question, document, limit
from unmask.schemas import FORMS
from unmask.shares import percent
from unmask.shown import Shown

SCHEMA = FORMS["certificate"].name()
DISCLAIMER = (
    "This is evidence, not a legal determination. It says what the named attacks found in the named files, and that "
    "an expert may rely on it; whether the release is anonymous in law is for the controller and the expert to decide."
)
LIMITATIONS = (
    "An attack that is not listed was not tried. Somebody may know or invent a better one.",
    (
        "The figures are for these files, by their checksums. A release that is made anew, or that is changed, needs a "
        "certificate of its own."
    ),
    "Other releases about the same people were not looked at unless they are named here.",
)


@dataclass(frozen=True, slots=True)
class Risk:
    """One figure: its share with interval, what a blind guess finds, and the limit. ``words`` instead, in public."""

    heading: str
    attack: str
    key: str
    outcome: str
    value: float | None
    low: float | None
    high: float | None
    chance: float | None
    control: float | None
    n: int
    limit: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column, its role and kind, and what was done to it."""

    name: str
    role: str
    kind: str
    treatment: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a certificate is made of, besides the statement: nothing in it is computed again.

    ``largest`` and ``average``: of the risks of people, of this release and of the untreated table (None: nobody has a
    risk). ``left``: what is left of the data, in words. ``checks``: attacks that were tried on tables with a known
    answer on this machine, and whether they passed.
    """

    report: document.Document
    initial: document.Document | None = None
    largest: float | None = None
    average: float | None = None
    initial_largest: float | None = None
    initial_average: float | None = None
    left: tuple[str, ...] = ()
    checks: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Certificate(Shown):
    """A certificate as data; HTML, PDF and JSON-LD show the same."""

    id: str
    issued: str
    verdict: str
    reason: str
    statement: Statement
    data: dict[str, Any]
    recipients: tuple[dict[str, Any], ...]
    columns: tuple[Column, ...]
    initial: tuple[Risk, ...]
    limits: tuple[dict[str, str], ...]
    residual: tuple[Risk, ...]
    people: dict[str, float | None]
    headings: dict[str, str]
    not_tried: tuple[tuple[str, str], ...]
    assumptions: tuple[str, ...]
    left: tuple[str, ...]
    changes: tuple[str, ...]
    limitations: tuple[str, ...]
    environment: dict[str, Any]
    checks: tuple[tuple[str, bool], ...]
    public: bool = False
    schema: str = SCHEMA
    disclaimer: str = field(default=DISCLAIMER)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers."""
        return asdict(self)

    def for_the_public(self) -> Certificate:
        """The same without paths, commands, checksums of the original, small counts, and reasons that tell numbers."""
        inputs = {"released": {"sha256": self.environment["inputs"].get("released", {}).get("sha256")}}
        environment = {**self.environment, "command": None, "inputs": inputs, "report_digest": None}
        return replace(
            self,
            id=self.statement.release_id or f"urn:sha256:{inputs['released']['sha256']}",
            reason=self._in_public,
            recipients=tuple(
                {name: entry[name] for name in ("name", "audience", "verdict")} for entry in self.recipients
            ),
            columns=tuple(replace(column, reason="", treatment=outline(column.treatment)) for column in self.columns),
            initial=tuple(_discreet(risk) for risk in self.initial),
            residual=tuple(_discreet(risk) for risk in self.residual),
            people={name: in_public(value) for name, value in self.people.items()},
            not_tried=tuple((title, without_numbers(why)) for title, why in self.not_tried),
            limitations=(*LIMITATIONS, *self.statement.limitations),
            environment=environment,
            public=True,
        )

    @property
    def _in_public(self) -> str:
        """Why the verdict is as it is, without names of findings."""
        count = {word: sum(risk.outcome == word for risk in self.residual) for word in ("against", "inconclusive")}
        if self.verdict == "unsafe" and not count["against"]:
            return "what was seen before any attack speaks against it"
        against, open_ = (f"{n} figure{' is' if n == 1 else 's are'}" for n in count.values())
        return f"{against} above {'its limit' if count['against'] == 1 else 'their limits'}, {open_} undecided"


def build(measured: Measured, statement: Statement) -> Certificate:
    """Put what was measured and what was stated under the headings of a certificate."""
    report = measured.report
    manifest, residual = report.manifest, _risks(report)
    return Certificate(
        id=statement.release_id or f"urn:sha256:{document.told_digest(report.digest)}",
        issued=manifest.created,
        verdict=report.verdict,
        reason=report.reason,
        statement=statement,
        data=_data(report, statement),
        recipients=tuple(document.vars_of(entry) | {"estimate": None} for entry in report.recipients),
        columns=tuple(_column(entry, manifest.settings) for entry in report.columns),
        initial=() if measured.initial is None else _risks(measured.initial),
        limits=_limits(report),
        residual=residual,
        people={
            "largest risk of one person": measured.largest,
            "average risk": measured.average,
            "largest risk in the untreated table": measured.initial_largest,
            "average risk in the untreated table": measured.initial_average,
        },
        headings={entry.name: _decided(entry.finding) for entry in by_question(report)},
        not_tried=tuple((entry.title, "; ".join(entry.notes)) for entry in report.measures if not entry.ran),
        assumptions=(*_assumptions(report), *statement.assumptions),
        left=measured.left,
        changes=statement.changes,
        limitations=(*LIMITATIONS, *report.warnings, *statement.limitations),
        environment=_environment(report),
        checks=measured.checks,
    )


def _risks(report: document.Document) -> tuple[Risk, ...]:
    filed = {name: heading for heading, names in HEADINGS.items() for name in names}
    found = [
        Risk(
            filed.get(finding.measure, "linkability"),
            name_of(finding.key),
            finding.key,
            finding.outcome,
            *_ends(finding.estimate),
            limit(finding.threshold, finding.people),
        )
        for finding in report.findings
        if finding.estimate is not None and finding.outcome != "not judged"
    ]
    order = list(HEADINGS)
    return tuple(sorted(found, key=lambda risk: (order.index(risk.heading), -(risk.value or 0.0), risk.key)))


def _ends(estimate: Estimate) -> tuple[float, float, float, float, float | None, int]:
    return estimate.value, estimate.low, estimate.high, estimate.chance, estimate.control, estimate.n


def _data(report: document.Document, statement: Statement) -> dict[str, Any]:
    inputs, settings = report.manifest.inputs, report.manifest.settings
    return {
        "people": statement.people,
        "sampling": statement.sampling,
        "population": settings.get("population"),
        "rows of the original": inputs.get("original", {}).get("rows"),
        "rows of the release": inputs["released"]["rows"],
        "kind of release": _kind(inputs, settings),
        "pairing": report.check.words,
    }


def _kind(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    if "original" not in inputs:
        return "one row for each person; without its original"
    return "synthetic" if settings.get("synthetic") else "one row for each person"


def _column(entry: Any, settings: Mapping[str, Any]) -> Column:  # noqa: ANN401 - a ColumnEntry
    """What was done to a column, by what both files show; the masking, where the steward named it."""
    masking = settings.get("masking")
    if not entry.released:
        treatment = "removed"
    elif not entry.original:
        treatment = "only in the release"
    elif entry.rule:
        treatment = entry.rule
    elif entry.own == 1.0:
        treatment = "retained"
    elif entry.own is None:
        treatment = "kept to pair rows" if entry.role == "id" else "not compared"
    else:
        treatment = f"changed: {percent(entry.own)} of people have their own value"
        treatment += f" ({masking})" if masking else ""
    return Column(entry.name, entry.role, entry.kind, treatment, entry.reason)


def _limits(report: document.Document) -> tuple[dict[str, str], ...]:
    """Each limit that judged a figure, its reason and source, said once for all figures that share it."""
    thresholds = report.manifest.policy["thresholds"]
    told: dict[tuple[str, str, str], list[str]] = {}
    for finding in report.findings:
        if finding.estimate is None or finding.outcome == "not judged":
            continue
        entry = thresholds[finding.key]
        words = limit(entry["value"], entry["people"])
        told.setdefault((words, entry["reason"], entry["source"]), []).append(finding.key)
    return tuple(
        {"limit": words, "reason": reason, "source": source, "figures": ", ".join(map(name_of, keys))}
        for (words, reason, source), keys in told.items()
    )


def _decided(finding: document.FindingEntry | None) -> str:
    """The finding that decides a heading, the same as in the report."""
    if finding is None:
        return "no attack of this kind was run: nothing was shown"
    return f"{document.OUTCOMES[finding.outcome]}: {name_of(finding.key)} ({finding.key})"


def _assumptions(report: document.Document) -> tuple[str, ...]:
    settings, manifest = report.manifest.settings, report.manifest
    whose = report.recipient
    known = settings.get("quasi") if whose is None or whose.columns is None else whose.columns
    return (
        *([f"All figures are those of the recipient {whose.name}, for whom the verdict is worst."] if whose else []),
        (
            f"The intruder ({manifest.intruder}) {STANCES[as_intruder(manifest.intruder)].words}; they hold "
            f"{'all columns that both tables share' if known is None else ', '.join(known)}."
        ),
        f"Rows were paired so: {report.check.words}",
        "The confidential columns are not known to the intruder beforehand"
        + (f": {', '.join(settings['confidential'])}." if settings.get("confidential") else "; none was named."),
        "Intervals are at 95 %.",
        *filter(None, [about_known(report.findings)]),
        "Over all figures together a release within its limits is called unsafe at most once in twenty times.",
    )


def _environment(report: document.Document) -> dict[str, Any]:
    manifest = report.manifest
    return {
        "versions": manifest.versions,
        "seed": manifest.seed,
        "command": manifest.command,
        "policy": manifest.policy["name"],
        "policy_digest": manifest.policy.get("digest"),
        "policy_words": report.policy_description if manifest.policy.get("profile") else "",
        "intruder": manifest.intruder,
        "intruder_words": STANCES[as_intruder(manifest.intruder)].words,
        "measures": list(manifest.measures),
        "inputs": {name: dict(source) for name, source in manifest.inputs.items()},
        "report_digest": report.digest,
    }


def _discreet(risk: Risk) -> Risk:
    """A figure without a small count: a share of few people, and not none, is told as such.

    A blind guess may be the count divided by a known number, and goes with it; elsewhere it is rounded too.
    """
    if too_few((risk.value or 0.0) * risk.n):
        return replace(risk, value=None, low=None, high=None, chance=None, control=None, words=TOO_FEW)
    value, low, high = map(in_public, (risk.value, risk.low, risk.high))
    chance, control = in_public(risk.chance, 3), in_public(risk.control, 3)
    return replace(risk, value=value, low=low, high=high, chance=chance, control=control)
