"""What a measure observed, and what the policy makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Counts, Flags, Floats
from unmask.evidence.catalogue import name_of
from unmask.evidence.estimate import Estimate
from unmask.evidence.figure import Figure, Series
from unmask.shown import Shown

FIGURES = ("value", "low", "high", "n", "chance", "control")
SCHEMA = {
    **dict.fromkeys(("measure", "key", "name"), pl.String),
    **dict.fromkeys(FIGURES, pl.Float64),
    "n": pl.Int64,
    "outcome": pl.String,
    "threshold": pl.Float64,
    "people": pl.Int64,
    "claim": pl.String,
    "reason": pl.String,
}
NO_TIME = "left out: there was no time for it within the budget"
Outcome = Literal["for", "against", "inconclusive", "not judged", "does not apply", "could not run"]


class Crowds(NamedTuple):
    """For each person: how many released records carry exactly their values, and whether their own is among them.

    ``share``: for an intruder who does not know who is in the file, the share of the people of the population with
    these values whose records these are (rows: at least, expected, at most).
    """

    size: Counts
    own: Flags
    records: int  # of the release
    share: Floats | None = None
    words: str = ""  # the sentence, with {hits}, {n} and {k}, where it is not about records


class Ranked(NamedTuple):
    """People in the order of their risk, the largest first, and what the best attack made of each in this release.

    ``risk`` was learnt without the person's own hit; ``attacks``: of how many this attack was the best. ``certain``:
    what is known of people's risks without any draw, where the release follows from the original by a rule.
    """

    risk: Floats
    hits: Floats
    measure: str
    attacks: int
    certain: Floats

    def surely(self, k: int) -> int:
        """How many people are known to have a risk above 1/k."""
        return int(np.count_nonzero(self.certain > 1 / k + 1e-9))


@dataclass(frozen=True, slots=True)
class Observation:
    """A figure before it is judged. ``key`` names the threshold in the policy; ``claim`` is a whole sentence."""

    key: str
    claim: str
    estimate: Estimate
    claims: int | None = None  # for people whom the intruder is sure of: how many they claim, right or wrong
    crowds: Crowds | None = field(default=None, repr=False)  # for people in small groups: how small is for the policy
    ranked: Ranked | None = field(default=None, repr=False)  # for people above a risk: which is for the policy

    @classmethod
    def of_people(cls, key: str, estimate: Estimate, words: str, claims: int | None = None) -> Observation:
        """Say of how many people something is true: "12 of 400 people ..."."""
        return cls(key, f"{estimate.counted.capitalize()} people {words}", estimate, claims)

    @classmethod
    def of_risks(
        cls, key: str, risk: Floats, hits: Floats, measure: str, attacks: int, certain: Floats | None = None
    ) -> Observation:
        """Hand over risks of people, learnt without their own hits; which is too large is for the policy to say.

        ``measure`` is the best of so many ``attacks``. Among equal risks the order of rows makes no difference.
        ``certain``: the least that the risks of people are, whatever is drawn.
        """
        sure = np.zeros(0) if certain is None else np.sort(certain[certain > 0])
        order = np.lexsort((hits, -np.round(risk, 9)))
        unknown = Estimate(0.0, 0.0, 1.0, int(risk.size), 0.0, None, "exact")
        return cls(key, "", unknown, ranked=Ranked(risk[order], hits[order], measure, attacks, sure))


@dataclass(frozen=True, slots=True)
class Fact:
    """A named number that helps to understand, and is not judged; ``share``: it is shown as percent."""

    name: str
    value: float | int | str
    meaning: str
    share: bool = False


@dataclass(frozen=True, slots=True)
class Outside:
    """People outside the release who look like those in it: what not knowing who is in costs an intruder.

    ``share``: of the people of the population who look like each person of the original, the share that is in the
    release; rows: at least, expected, at most; 1 where nothing is known. ``alone``: share of the people who are alone
    in the population with their looks, or of whom that cannot be said; at least, expected, at most.
    """

    share: Floats
    alone: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that one measure hands over. ``per_record``: each original record's success in this release, in [0, 1]."""

    observations: tuple[Observation, ...]
    per_record: Floats | None = None
    posterior: Floats | None = None  # how sure the intruder is of the record they take for each person's, in [0, 1]
    facts: tuple[Fact, ...] = ()
    figures: tuple[Figure, ...] = ()
    attributes: tuple[tuple[str, float], ...] = ()  # attribute, what knowing it adds to the risk
    notes: tuple[str, ...] = ()
    with_few: tuple[Estimate, ...] = ()  # what the attack reaches for somebody who knows only a few people
    compared: tuple[str, ...] = ()  # released columns that this attack could compare with the original
    outside: Outside | None = field(default=None, repr=False)  # people of the population who look the same
    asked: tuple[int, int] | None = None  # so many people, of so many, stand for all; None: everybody was asked for
    inexact: str = ""  # what else was not done to the end, in words
    quotes: bool = False  # its words or pictures hold values of a table: for the report, and nowhere else
    identity: bool = True  # per_record is the chance of being *found*; False: of having something learnt about one


@dataclass(frozen=True, slots=True)
class Finding(Shown):
    """A judged claim: for or against publishing, or why it says neither. Silence must not read as safety."""

    measure: str
    key: str
    claim: str
    outcome: Outcome
    reason: str
    estimate: Estimate | None = None
    threshold: float | None = None
    people: int | None = None  # the most people of whom it may be true; None: the policy sets no number
    used: float | None = (
        None  # of the limit, by the upper end of the interval: 1 is at the limit; None: counted exactly
    )


class Findings(tuple[Finding, ...], Shown):
    """The findings of an assessment: a tuple that also shows itself in a notebook, as a frame and as a picture."""

    __slots__ = ()

    def __repr__(self) -> str:
        """One line: how many there are, and how many are above their limits."""
        return f"<{len(self)} findings, {sum(finding.outcome == 'against' for finding in self)} above their limits>"

    def to_frame(self) -> pl.DataFrame:
        """A row for each finding; figures are null where there are none."""
        rows = []
        for finding in self:
            e = finding.estimate
            figures = {name: None if e is None else getattr(e, name) for name in FIGURES}
            told = {"measure": finding.measure, "key": finding.key, "name": name_of(finding.key)}
            judged = {name: getattr(finding, name) for name in ("outcome", "threshold", "people", "claim", "reason")}
            rows.append({**told, **figures, **judged})
        return pl.DataFrame(rows, schema=SCHEMA)


@dataclass(frozen=True, slots=True)
class Absence:
    """A measure that gave no evidence, with the reason in words."""

    outcome: Literal["does not apply", "could not run"]
    reason: str

    @classmethod
    def for_want_of_time(cls) -> Absence:
        """An attack that was left out, since a budget had no time for it."""
        return cls("could not run", NO_TIME)

    @property
    def late(self) -> bool:
        """Whether there was no time for it."""
        return self.reason == NO_TIME


@dataclass(frozen=True, slots=True)
class Reported:
    """A measure's name and title with what it handed over."""

    measure: str
    title: str
    story: str
    evidence: Evidence | Absence = field(repr=False)


PARTS: dict[str, type] = {  # all that evidence is made of, by name: what is kept of it is read back as these
    kind.__name__: kind
    for kind in (Absence, Crowds, Estimate, Evidence, Fact, Figure, Observation, Outside, Ranked, Series)
}
