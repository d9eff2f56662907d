"""Intruders in the order of what they know, and the best attack that each has: who knows more never finds less.

Whoever knows more may ignore it and attack as the one before does. So the figure of an intruder is the best over all
attacks that they *could* use, not only over those made for them; per person likewise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from unmask.arrays import Floats
from unmask.evidence.estimate import Estimate
from unmask.evidence.finding import Evidence, Reported

Knowledge = Literal["files", "method", "some", "half"]
ORDER: tuple[Knowledge, ...] = get_args(Knowledge)
WORDS: dict[Knowledge, str] = {
    "files": "holds the two files and nothing else",
    "method": "also knows how the release was made",
    "some": "also knows which records belong to a few people",
    "half": "also knows which records belong to half of the people",
}


FOUND = (".rate", ".average", ".people")  # keys that count people who were found
KNOWS: dict[str, Knowledge] = {  # measures that find people, and what each presumes
    "alike": "files",
    "bags": "files",
    "clusters": "files",
    "colours": "files",
    "degree": "files",
    "graph": "files",
    "knowledge_sweep": "files",
    "likelihood": "files",
    "nearest": "files",
    "neighbours": "files",
    "one_to_one": "files",
    "points": "files",
    "probabilistic": "files",
    "profiles": "files",
    "sequences": "files",
    "special_uniques": "files",
    "uniqueness": "files",
    "transparent": "method",
    "propagation": "some",
    "channel": "half",
    "earlier": "half",
    "learned": "half",
    "taught": "half",
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attack that finds people: what it presumes, and what it reached."""

    measure: str
    knows: Knowledge
    estimate: Estimate
    per_record: Floats | None = field(default=None, repr=False)
    known: Estimate | None = None  # people of whom the intruder is sure, and right


@dataclass(frozen=True, slots=True)
class Intruder:
    """What somebody who knows this much finds by the best attack open to them."""

    knows: Knowledge
    measure: str  # the best attack
    estimate: Estimate
    n_attacks: int  # attacks that were tried for them
    per_record: Floats | None = field(default=None, repr=False)
    known: Estimate | None = None  # by the attack that is sure of most, which may be another one

    @property
    def words(self) -> str:
        """What the intruder knows, in words."""
        return WORDS[self.knows]


def attempts_of(reported: Iterable[Reported]) -> list[Attempt]:
    """The attacks of an assessment that find people, with what their intruders know."""
    found = []
    for entry in reported:
        if entry.measure in KNOWS and isinstance(entry.evidence, Evidence):
            evidence = entry.evidence
            best = max(evidence.observations, key=lambda o: o.estimate.value if o.key.endswith(FOUND) else -1.0)
            sure = [o.estimate for o in evidence.observations if o.key.endswith(".known")]
            found.append(Attempt(entry.measure, KNOWS[entry.measure], best.estimate, evidence.per_record, _most(sure)))
            found += [Attempt(entry.measure, "some", estimate) for estimate in evidence.with_few]
    return found


def _most(estimates: Iterable[Estimate | None]) -> Estimate | None:
    there = [estimate for estimate in estimates if estimate is not None]
    return max(there, key=lambda estimate: (estimate.value, estimate.low), default=None)


def _reached(attempt: Attempt) -> tuple[float, int, float, str]:
    """Order of attempts: the largest share; of equal ones that on most people, which is told of everybody."""
    return attempt.estimate.value, attempt.estimate.n, attempt.estimate.low, attempt.measure


def by_knowledge(attempts: Sequence[Attempt]) -> tuple[Intruder, ...]:
    """The best attack of each intruder, from the worst informed to the best; levels that nobody tried are left out."""
    found = []
    for place, knows in enumerate(ORDER):
        open_to = [attempt for attempt in attempts if ORDER.index(attempt.knows) <= place]
        if not any(attempt.knows == knows for attempt in open_to):
            continue
        best = max(open_to, key=_reached)
        risks = [attempt.per_record for attempt in open_to if attempt.per_record is not None]
        largest = np.max([np.nan_to_num(risk) for risk in risks], axis=0) if risks else None
        known = _most(attempt.known for attempt in open_to)
        found.append(Intruder(knows, best.measure, best.estimate, len(open_to), largest, known))
    return tuple(found)
