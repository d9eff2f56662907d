"""Whether an assessment keeps up with the intruder who was written for the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unmask.datasets.gauntlet.case import FAMILIES, REGISTER, Case, Known

if TYPE_CHECKING:
    from collections.abc import Iterable

KEEP_UP = 0.95  # of what the bespoke intruder finds, the report must find
FEW = 0.05  # below this share people are found with certainty: the verdict must say so, no rate is compared
NOT_FOUND = (".ks", ".minimum", ".auc", ".closer", ".average", ".excess", ".rank", ".sd")  # keys that count no people
NOT_PEOPLE = ("values", "intervals", "anonymity", "cell_attacks", "cells", "model", "absent", "membership")
LINKING = (
    "nearest", "one_to_one", "global", "probabilistic", "learned", "transparent", "channel", "likelihood",
    "knowledge_curve", "scenario", "graph", "household", "dictionary", "permuted", "copies", "singling", "inference",
)  # fmt: skip

CASES: dict[str, Known] = dict(sorted(REGISTER.items(), key=lambda entry: list(FAMILIES).index(entry[1].family)))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a report says of a case. ``linked`` is its best rate of measures that name a record, not only count."""

    wanted: float | None
    verdict: str
    best: float
    key: str
    linked: float
    linked_key: str
    rated: bool = True

    @property
    def holds(self) -> bool:
        """No false safe, no false alarm, and at least ``KEEP_UP`` of what the bespoke intruder finds."""
        return self._holds(self.best)

    @property
    def holds_by_linking(self) -> bool:
        """The same, where only measures that name a person's record count."""
        return self._holds(self.linked)

    def _holds(self, rate: float) -> bool:
        if self.wanted is None:
            return self.verdict in {"safe", "inconclusive"}
        if self.wanted < FEW or not self.rated:
            return self.verdict == "unsafe"
        return self.verdict == "unsafe" and rate >= KEEP_UP * self.wanted


def answer(case: Case, verdict: str, findings: Iterable[Any]) -> Answer:
    """Read an assessment's verdict and findings (anything with ``measure``, ``key`` and ``estimate``)."""
    rates = [
        (float(finding.estimate.value), str(finding.key), str(finding.measure))
        for finding in findings
        if finding.estimate is not None and not finding.key.endswith(NOT_FOUND) and finding.measure not in NOT_PEOPLE
    ]
    best = max(rates, default=(0.0, "nothing ran", ""))
    linked = max((rate for rate in rates if rate[2] in LINKING), default=(0.0, "nothing linked", ""))
    return Answer(case.found, verdict, best[0], best[1], linked[0], linked[1], case.rated)


def options(case: Case, accepted: Iterable[str]) -> dict[str, Any]:
    """Return the roles as ``Release`` takes them: ``synthetic=True`` was ``paired=False`` before."""
    roles = dict(case.roles)
    if "synthetic" in roles and "synthetic" not in set(accepted):
        roles["paired"] = not roles.pop("synthetic")
    return roles


def chosen(names: Iterable[str] = (), *, family: str | None = None, quick: bool = False) -> tuple[Known, ...]:
    """Pick cases by name, by family, or the quick part; all of them otherwise."""
    wanted = set(names)
    unknown = wanted - set(CASES)
    if unknown:
        raise KeyError(", ".join(sorted(unknown)))
    return tuple(
        known
        for name, known in CASES.items()
        if (not wanted or name in wanted) and (family is None or known.family == family) and (known.quick or not quick)
    )
