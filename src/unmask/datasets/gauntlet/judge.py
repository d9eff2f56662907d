"""Whether an assessment keeps up with the intruder who was written for the release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from unmask.datasets.gauntlet.case import FAMILIES, REGISTER, Case, Known
from unmask.shares import percent

VERDICTS = ("safe", "inconclusive", "unsafe")
KEEP_UP = 0.95  # of what the bespoke intruder finds, the report must find
FEW = 0.05  # below this share people are found with certainty: the verdict must say so, no rate is compared
NOT_FOUND = (".ks", ".minimum", ".auc", ".closer", ".average", ".excess", ".rank", ".sd")  # keys that count no people
NOT_PEOPLE = ("values", "intervals", "anonymity", "cell_attacks", "cells", "model", "absent", "membership")
CLAIMED = (".known", ".linked")  # people claimed, of whom one in twenty may be wrong: up to 1/0.95 of those found
LINKING = (
    "nearest", "one_to_one", "global", "probabilistic", "learned", "transparent", "channel", "likelihood",
    "knowledge_curve", "scenario", "graph", "household", "dictionary", "permuted", "copies", "singling", "inference",
)  # fmt: skip

CASES: dict[str, Known] = dict(REGISTER)


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
        return not self.failures

    @property
    def holds_by_linking(self) -> bool:
        """The same, where only measures that name a person's record count."""
        return not self._failures(self.linked, self.linked_key)

    @property
    def failures(self) -> tuple[str, ...]:
        """What is wrong, in words; nothing where the case holds."""
        return self._failures(self.best, self.key)

    def _failures(self, rate: float, key: str) -> tuple[str, ...]:
        if self.verdict not in VERDICTS:
            return ("there is no verdict",)
        if self.wanted is None:
            return ("nobody can be found, and the verdict is unsafe",) if self.verdict == "unsafe" else ()
        failures = []
        if self.verdict != "unsafe":
            failures.append(f"people are found, and the verdict is {self.verdict}")
        if self.rated and self.wanted >= FEW and rate < KEEP_UP * self.wanted:
            failures.append(f"the most that the report finds is {percent(rate)} ({key})")
        return tuple(failures)


def answer(case: Case, verdict: str, findings: Iterable[Any]) -> Answer:
    """Read an assessment's verdict and findings (anything with ``measure``, ``key`` and ``estimate``)."""
    rates = [
        (float(finding.estimate.value), str(finding.key), str(finding.measure))
        for finding in findings
        if finding.estimate is not None and not finding.key.endswith(NOT_FOUND) and finding.measure not in NOT_PEOPLE
    ]
    best = max(rates, default=(0.0, "nothing ran", ""))
    links = [rate for rate in rates if rate[2] in LINKING and not rate[1].endswith(CLAIMED)]
    linked = max(links, default=(0.0, "nothing linked", ""))
    return Answer(case.found, verdict, best[0], best[1], linked[0], linked[1], case.rated)


def quick_part(count: int | None = None) -> tuple[Known, ...]:
    """Return the cases, families in turn, so that the first few are as different as can be."""
    by_family = [[known for known in CASES.values() if known.family == family] for family in FAMILIES]
    in_turn = [known for row in zip_longest(*by_family) for known in row if known is not None]
    return tuple(in_turn[:count])
