"""The risk of each person: how often the best attack would find them if the masking were drawn again.

A maximum over attacks of their hits is no probability: ten attacks that each toss a coin would find nearly everybody
once. So one attack counts, the one that finds most people, and of it the probability for each person.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats
from unmask.errors import OutOfTimeError, UnmaskError
from unmask.evidence import Absence, Evidence, Fact, Observation, Reported
from unmask.masking import Masking
from unmask.people.calibration import (
    Bin,
    averaged_over_draws,
    calibration_error,
    hits_among_alike,
    levelled,
    luck_of,
    reliability,
)
from unmask.people.chance import follows_by_rule
from unmask.people.isolation import isolation
from unmask.tables import Release

Again = Callable[[str, Release, int], Floats | None]

REDRAWS = 8
SHARED = 0.2  # hits that spread less than this part of a coin's are shares of links, the same in every draw
TITLE = "People above a risk"
STORY = (
    "The intruder uses the attack that finds most people. Who are found more often than anybody in the smallest group "
    "that the policy accepts, if the masking is drawn again?"
)
ALIKE = "how often it finds people who stand as far apart from others in the original (learnt from others than them)"
AMONG = "the person's share of the link, one in as many records as fit them"
RULED = "what it finds: the release follows from the original by a rule, and no draw would change it"
EXACT = "uniqueness"  # the attack that shares a person among the records that carry their values
POSTERIOR = f"how sure it is of its link of the person, averaged with {ALIKE}"
REDRAWN = f"how often it finds them in {REDRAWS} new draws of the masking and in the release, drawn towards {ALIKE}"


@dataclass(frozen=True, slots=True)
class PersonRisk:
    """One probability per original record, NaN for who has no record in the release or was not looked for."""

    risk: Floats = field(repr=False)
    measure: str | None  # the attack that finds most people; None: none of those that ran finds people
    how: str  # where the probabilities come from, in words
    bins: tuple[Bin, ...] = ()  # held-out people by risk, and how many of them were found in the release
    above: Observation | None = field(default=None, repr=False)  # people above the risk that a policy accepts
    asked: tuple[int, int] | None = None  # so many people, of so many, stand for all
    late: bool = False  # there was no time for new draws of the masking, without which nobody's risk is judged
    keys: ClassVar[tuple[str, ...]] = ("risk.above",)  # limits that judge them

    @property
    def error(self) -> float:
        """Calibration error: mean difference between the risks of people of like risk and how many were found."""
        return calibration_error(self.bins)

    def reported(self) -> tuple[Reported, ...]:
        """What the risks of people say of the release, for a policy to judge; nothing where no row is anybody's."""
        if self.late:
            return (Reported("risk", TITLE, STORY, Absence.for_want_of_time()),)
        if self.above is None:
            return ()
        largest = Fact(
            "largest_risk", float(np.nanmax(self.risk)), f"largest risk of one person: {self.how}", share=True
        )
        return (Reported("risk", TITLE, STORY, Evidence((self.above,), facts=(largest,), asked=self.asked)),)


def risk_of_people(release: Release, reported: Sequence[Reported], again: Again, *, seed: int = 0) -> PersonRisk:
    """Estimate each person's risk from what the attacks found; ``again`` attacks another draw of the masking.

    ``again(measure, release, seed)`` gives the hits of one attack, or None where it cannot be run; it raises
    `OutOfTimeError` where there is no time.
    """
    best = _best(release, reported)
    if best is None:
        return PersonRisk(np.full(release.original.height, np.nan), None, "no attack that finds people ran")
    name, evidence, there, attacks = best
    hits = np.asarray(evidence.per_record, dtype=np.float64)[there]
    features = isolation(release)[there]
    alike, late, rule = hits_among_alike(features, hits), False, follows_by_rule(release)
    if evidence.posterior is not None:
        sure = levelled(np.nan_to_num(evidence.posterior[there]), hits)
        luck = 0.0 if rule else luck_of(sure, hits)
        found, how = (1.0 - 0.5 * luck) * sure + 0.5 * luck * alike, POSTERIOR
        held_out = found
    else:
        try:
            redrawn = _redrawn(release, name, again, there, seed)
        except OutOfTimeError:
            redrawn, late = None, True
        (found, how), held_out = (hits, RULED) if rule else _of_one_draw(alike, hits), alike
        if redrawn is not None:
            found, how = _over_draws(features, np.vstack([hits, redrawn])), REDRAWN
            held_out = _over_draws(features, redrawn)
    certain = _among_equals(reported, there) if rule else np.zeros(hits.size)
    risk = np.full(release.original.height, np.nan)
    risk[there] = np.clip(np.maximum(found, certain), 0.0, 1.0)
    told = PersonRisk.keys[0], held_out, hits, name, attacks, certain
    above = None if release.synthetic else Observation.of_risks(*told)
    return PersonRisk(risk, name, how, reliability(risk[there], hits), above, evidence.asked, late)


def _best(release: Release, reported: Sequence[Reported]) -> tuple[str, Evidence, Flags, int] | None:
    """The attack that finds most of the people it looked for, these people, and of how many attacks; equal: by name."""
    paired = np.zeros(release.original.height, dtype=bool)
    paired[release.paired_rows if len(release.paired_rows) else slice(None)] = True
    found: list[tuple[float, str, Evidence, Flags]] = []
    for entry in reported:
        evidence = entry.evidence
        if isinstance(evidence, Evidence) and evidence.identity and evidence.per_record is not None:
            there = paired & ~np.isnan(evidence.per_record)
            if there.any():
                found.append((float(np.sort(evidence.per_record[there]).mean()), entry.measure, evidence, there))
    if not found:
        return None
    surest = max(found, key=lambda one: (round(one[0], 9), one[2].posterior is not None, one[1]))
    return *surest[1:], len(found)


def _among_equals(reported: Sequence[Reported], there: Flags) -> Floats:
    """One in as many records as carry the values of each person, their own among them; 0 where nobody asked."""
    asked = [entry.evidence for entry in reported if entry.measure == EXACT and isinstance(entry.evidence, Evidence)]
    shares = asked[0].per_record if asked else None
    return np.zeros(int(there.sum())) if shares is None else np.nan_to_num(shares[there])


def _of_one_draw(alike: Floats, hits: Floats) -> tuple[Floats, str]:
    """Where hits are luck, how often people alike are found; else the share of the link, which no draw changes."""
    return (hits, AMONG) if luck_of(alike, hits) < SHARED else (alike, ALIKE)


def _over_draws(features: Floats, hits: Floats) -> Floats:
    return averaged_over_draws(hits_among_alike(features, hits.mean(0)), hits)


def _redrawn(release: Release, name: str, again: Again, there: Flags, seed: int) -> Floats | None:
    """Hits (draws x people) of the attack on new draws of the masking; None where the masking is not known."""
    columns = _masked(release)
    if columns is None:
        return None
    found = []
    for number in range(REDRAWS):
        new = _drawn(release, columns, seed + 1 + number)
        hits = again(name, new, seed)
        if hits is None or np.isnan(hits[there]).any():
            return None
        found.append(hits[there])
    return np.array(found)


def _drawn(release: Release, columns: Sequence[str], seed: int) -> Release:
    """The release with other values in the masked columns: rows in the order of the original."""
    made = release.masking.apply(release.original.select(columns), seed)
    rest = release.released[release.truth]
    return release.with_tables(release.original, rest.with_columns(made), np.arange(release.original.height))


def _masked(release: Release) -> tuple[str, ...] | None:
    """Columns that the masking was applied to: those after which the same columns differ as differ in the release."""
    if not isinstance(release.masking, Masking) or len(release.paired_rows) < release.original.height:
        return None
    shared = tuple(name for name in release.original.columns if name in release.released.columns)
    for columns in dict.fromkeys((release.quasi, shared)):
        try:
            new = _drawn(release, columns, 0)
        except (UnmaskError, pl.exceptions.PolarsError):
            continue
        if _changed(new, shared) == _changed(release, shared):
            return columns
    return None


def _changed(release: Release, columns: Sequence[str]) -> set[str]:
    there = release.released[release.truth]
    return {
        name
        for name in columns
        if release.original[name].cast(pl.String).to_list() != there[name].cast(pl.String).to_list()
    }
