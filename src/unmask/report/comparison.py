"""Two reports side by side: before and after a change, or last year and this year. Nothing is computed anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from unmask.evidence import ColumnEntry, Estimate, name_of
from unmask.report.document import Document, FindingEntry, plain
from unmask.report.front import front
from unmask.report.front_numbers import best
from unmask.report.reading import read_report
from unmask.report.words import OUTCOMES, limit, percent, span
from unmask.schemas import FORMS
from unmask.shown import Shown

SCHEMA = FORMS["comparison"].name()
LIMIT = "limit of "
Way = Literal["rose", "fell", "outcome", "only before", "only after"]
WAYS: dict[Way, str] = {
    "rose": "higher",
    "fell": "lower",
    "outcome": "as before by its interval, but judged otherwise",
    "only before": "only before",
    "only after": "only after",
}
SETTINGS = ("intruder", "seed", "measures", "by", "keep")  # of the manifest, besides the settings themselves


class Told(Protocol):
    """Anything with a document: an assessment."""

    @property
    def document(self) -> Document:
        """The report as data."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two reports: its verdict and its three numbers."""

    title: str
    files: str
    verdict: str
    headline: str
    sentence: str
    policy: str
    found: Estimate | None
    known: Estimate | None


@dataclass(frozen=True, slots=True)
class Moved:
    """A finding that is not what it was: its interval lies elsewhere, or it is judged otherwise."""

    key: str
    name: str
    way: Way
    before: Estimate | None
    after: Estimate | None
    outcomes: tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Difference:
    """A column or a setting that differs, as words."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Comparison(Shown):
    """Two reports side by side. ``same``: findings that did not move."""

    before: Side
    after: Side
    moved: tuple[Moved, ...]
    same: int
    columns: tuple[Difference, ...]
    settings: tuple[Difference, ...]

    @property
    def words(self) -> str:
        """The comparison in a few sentences."""
        verdicts = self.before.verdict, self.after.verdict
        told = [f"Still {verdicts[1]}." if verdicts[0] == verdicts[1] else f"{verdicts[0]} became {verdicts[1]}."]
        if self.before.found is not None and self.after.found is not None:
            told.append(f"People found: {rate(self.before.found)} before, {rate(self.after.found)} after.")
        ways = {way: sum(entry.way == way for entry in self.moved) for way in WAYS}
        counts = [f"{n} {WAYS[way]}" for way, n in ways.items() if n]
        told.append(f"Findings: {', '.join([*counts, f'{self.same} as before'])}.")
        if self.settings:
            told.append(f"The tests differ in {', '.join(self._differing)}.")
        return f"{told[0][:1].upper()}{' '.join(told)[1:]}"

    @property
    def _differing(self) -> list[str]:
        """Settings that differ, in words: limits are counted, not listed."""
        limits = sum(entry.name.startswith(LIMIT) for entry in self.settings)
        names = [entry.name for entry in self.settings if not entry.name.startswith(LIMIT)]
        return [*names, *([f"{limits} limit{'s' * (limits > 1)}"] if limits else [])]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as the JSON holds it."""
        return {"schema": SCHEMA, "words": self.words, **plain(asdict(self))}


def rate(estimate: Estimate | None) -> str:
    """A rate with its interval: 98.9 % (98-99.4 %)."""
    return "-" if estimate is None else f"{percent(estimate.value)} ({span(estimate.low, estimate.high)})"


def outcome(word: str | None) -> str:
    """An outcome in words; nothing where there is none."""
    return "-" if word is None else OUTCOMES[word]


def compare_reports(before: str | Path | Told, after: str | Path | Told) -> Comparison:
    """Compare two reports: JSON files, or assessments.

    A finding has moved where the two intervals do not meet, or where it is judged otherwise; the others are counted.
    """
    one, two = (read_report(side) if isinstance(side, (str, Path)) else side.document for side in (before, after))
    old, new = ({f.key: f for f in side.findings if f.outcome != "does not apply"} for side in (one, two))
    keys = list(dict.fromkeys([*old, *new]))
    found = [_moved(key, old.get(key), new.get(key)) for key in keys]
    moved = sorted((entry for entry in found if entry is not None), key=_most_first)
    return Comparison(_side(one), _side(two), tuple(moved), found.count(None), _columns(one, two), _settings(one, two))


def _most_first(entry: Moved) -> tuple[int, float]:
    """Higher ones first, then lower ones; within these the largest step."""
    step = 0.0 if entry.before is None or entry.after is None else abs(entry.after.value - entry.before.value)
    return list(WAYS).index(entry.way), -step


def _side(document: Document) -> Side:
    page, reached = front(document), best(document)
    told = page.title, page.files, document.verdict, page.headline, page.sentence
    return Side(*told, document.policy, reached.estimate, reached.known)


def _moved(key: str, before: FindingEntry | None, after: FindingEntry | None) -> Moved | None:
    old, new = (None if one is None else one.estimate for one in (before, after))
    outcomes = (None if before is None else before.outcome, None if after is None else after.outcome)
    way = _way(old, new, outcomes)
    return None if way is None else Moved(key, name_of(key), way, old, new, outcomes)


def _way(old: Estimate | None, new: Estimate | None, outcomes: tuple[str | None, str | None]) -> Way | None:
    if None in outcomes:
        return "only after" if outcomes[0] is None else "only before"
    if old is not None and new is not None and (new.low > old.high or new.high < old.low):
        return "rose" if new.low > old.high else "fell"
    return "outcome" if outcomes[0] != outcomes[1] else None


def _columns(one: Document, two: Document) -> tuple[Difference, ...]:
    old, new = ({column.name: _column(column) for column in side.columns} for side in (one, two))
    return _differing(old, new)


def _column(column: ColumnEntry) -> str:
    own = "" if column.own is None else f"; own value for {percent(column.own)}"
    return f"{column.role}; {column.released or 'not published'}{own}"


def _settings(one: Document, two: Document) -> tuple[Difference, ...]:
    def told(side: Document) -> dict[str, str]:
        of = {name: _text(getattr(side.manifest, name)) for name in SETTINGS}
        of |= {name: _text(value) for name, value in side.manifest.settings.items()}
        limits = side.manifest.policy.get("thresholds", {})
        judged = {finding.key for finding in side.findings if finding.estimate is not None}
        of |= {LIMIT + name_of(key): _limit(told) for key, told in limits.items() if key in judged}
        inputs = side.manifest.inputs.items()
        sums = {name: str(source.get("keyed") or source.get("sha256")) for name, source in inputs}
        hashes = {f"{name} table": f"checksum {plain[:21]}" for name, plain in sums.items()}
        people = {f"rows of the {name} table": _text(s.get("rows")) for name, s in inputs}
        return {"policy": side.policy, **of, **hashes, **people}

    found = _differing(told(one), told(two))
    return tuple(e for e in found if not (e.name.startswith(LIMIT) and "not there" in (e.before, e.after)))


def _limit(told: Mapping[str, Any]) -> str:
    """A limit, as the report writes it."""
    return limit(told.get("value"), told.get("people"))


def _text(value: object) -> str:
    if value is None or value in ((), [], {}, ""):
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _differing(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Difference, ...]:
    names = dict.fromkeys([*old, *new])
    pairs = [(name, old.get(name, "not there"), new.get(name, "not there")) for name in names]
    return tuple(Difference(*entry) for entry in pairs if entry[1] != entry[2])
