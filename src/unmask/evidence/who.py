"""Who the intruder is: the prosecutor, the journalist, the marketer, and somebody who knows everything.

The four differ in the attacks open to them, in whether they know who is in the release, and in what they want: one
person or many. `seen_by` turns what was reported into what each of them gets out of it. Nothing that an intruder does
not try counts as safe: it is told, and a column that only such an attack can read is a column that nobody compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

import numpy as np

from unmask.arrays import Floats
from unmask.errors import check_name
from unmask.evidence.estimate import Estimate, wilson
from unmask.evidence.finding import Absence, Crowds, Evidence, Observation, Outside, Reported
from unmask.evidence.intruders import KNOWS, ORDER, Intruder, Knowledge, attempts_of, by_knowledge
from unmask.evidence.policy import Policy, kind_of, of_single_people
from unmask.shares import percent

Who = Literal["prosecutor", "journalist", "marketer", "maximum"]
INTRUDERS: tuple[Who, ...] = get_args(Who)


@dataclass(frozen=True, slots=True)
class Stance:
    """What an intruder knows and wants."""

    words: str
    most: Knowledge  # the most that an attack of theirs may presume
    sure_who_is_in: bool
    one: bool  # wants one person: limits on single people judge too


STANCES: dict[Who, Stance] = {
    "prosecutor": Stance("knows that the person is in the release", "method", sure_who_is_in=True, one=True),
    "journalist": Stance("does not know who is in the release", "method", sure_who_is_in=False, one=True),
    "marketer": Stance("wants many people, whoever they are", "method", sure_who_is_in=False, one=False),
    "maximum": Stance("knows everything, and who half of the people are", "half", sure_who_is_in=True, one=True),
}
TESTS = frozenset({"attribute_test", "dictionary", "permuted"})  # of an intruder of maximum knowledge
BY_LOOKS = frozenset(  # they tell people apart by the known columns, and by nothing else
    {"anonymity", "knowledge_curve", "knowledge_sweep", "likelihood", "nearest", "one_to_one", "probabilistic",
     "special_uniques", "transparent", "uniqueness"}
)  # fmt: skip
BY_THEIR_OWN_ROW = frozenset({"absent", "cells", "model"})  # sure claims beyond the same people left out
NO_POPULATION = "nothing is known of the people outside the release who look the same"
NOT_COUNTED = "people outside the release who look the same are not counted, since `population` was left out"
SURE = 20 / 18  # claims that are right 19 times in 20: at most 1 in 10 is about two who look the same


def as_intruder(given: str) -> Who:
    """Take the name of an intruder."""
    check_name(given, INTRUDERS, f"no intruder {given!r}")
    return cast("Who", given)


def closed_to(measure: str, who: Who) -> str | None:
    """Why an attack is not open to an intruder; None when it is."""
    stance, knows = STANCES[who], KNOWS.get(measure, "files")
    if ORDER.index(knows) > ORDER.index(stance.most):
        return f"not tried: the {who} does not know which records belong to other people"
    if measure in TESTS and who != "maximum":
        return f"not tried: the {who} does not have maximum knowledge"
    return None


def not_tried(reported: Iterable[Reported], who: Who) -> tuple[str, ...]:
    """Attacks of better informed intruders, which say nothing about this one and are not safe because of that."""
    return tuple(entry.measure for entry in reported if closed_to(entry.measure, who))


def seen_by(reported: Sequence[Reported], who: Who) -> tuple[Reported, ...]:
    """What was reported, as an intruder sees it: attacks that are open to them, counted with the people outside."""
    outside = None if STANCES[who].sure_who_is_in else _outside(reported)
    found = []
    for entry in reported:
        reason = closed_to(entry.measure, who)
        evidence = Absence("does not apply", reason) if reason else entry.evidence
        if outside is not None and isinstance(evidence, Evidence) and entry.measure in BY_LOOKS:
            evidence = _with_others(evidence, outside)
        elif outside is not None and isinstance(evidence, Evidence) and entry.measure in BY_THEIR_OWN_ROW:
            evidence = _seldom_there(evidence, outside)
        found.append(replace(entry, evidence=evidence))
    return tuple(found)


def told_of(reported: Sequence[Reported], who: Who) -> tuple[str, ...]:
    """What a careful reader should know of the figures of this intruder."""
    if STANCES[who].sure_who_is_in or _outside(reported) is not None:
        return ()
    why = NO_POPULATION if any(entry.measure == "population" for entry in reported) else NOT_COUNTED
    return (f"the intruder is a {who}, but {why}, so that every figure is that of an intruder who knows who is in",)


def limits_for(policy: Policy, who: Who) -> Policy:
    """The limits that judge an intruder: the marketer is judged by averages."""
    return policy if STANCES[who].one else policy.for_averages()


def best_of(reported: Sequence[Reported], who: Who, attempt: float = 1.0) -> tuple[Intruder | None, float | None]:
    """The attack that finds most people on average, and the largest risk of one person (for who wants one)."""
    ladder = by_knowledge(attempts_of(attempted(seen_by(reported, who), attempt)))
    if not ladder or not STANCES[who].one:
        return (ladder[-1] if ladder else None), None
    open_ = [entry for entry in reported if closed_to(entry.measure, who) is None]
    risk = by_knowledge(attempts_of(open_))[-1].per_record
    if risk is None or not risk.size:
        return ladder[-1], None
    outside = None if STANCES[who].sure_who_is_in else _outside(reported)
    return ladder[-1], float((risk if outside is None else risk * outside.share[2]).max())


def attempted(seen: Sequence[Reported], probability: float) -> tuple[Reported, ...]:
    """People found on average, where an attempt is made only with this probability [ELEMAM13]_; single people stay."""

    def less(observation: Observation) -> Observation:
        if kind_of(observation.key) != "found":
            return observation
        told = f"{observation.claim} An attempt is made with a probability of {percent(probability)}."
        return replace(observation, claim=told, estimate=_times(observation.estimate, (probability,) * 3))

    def of(entry: Reported) -> Reported:
        if not isinstance(entry.evidence, Evidence):
            return entry
        observations = tuple(less(observation) for observation in entry.evidence.observations)
        return replace(entry, evidence=replace(entry.evidence, observations=observations))

    return tuple(of(entry) for entry in seen) if probability < 1 else tuple(seen)


# --- people outside -------------------------------------------------------------------------------------------------


def _outside(reported: Iterable[Reported]) -> Outside | None:
    found = (entry.evidence.outside for entry in reported if isinstance(entry.evidence, Evidence))
    return next((outside for outside in found if outside is not None), None)


def _with_others(evidence: Evidence, outside: Outside) -> Evidence:
    """Share the credit for each person with the people outside who look the same.

    Where only some people were asked for, nobody says whom of the others the attack finds: the largest share counts.
    """
    risk = evidence.per_record
    finds = risk if evidence.asked is None else None
    observations = tuple(_shared(observation, finds, outside) for observation in evidence.observations)
    seen = tuple(old.estimate.value for old in evidence.observations)
    told = ", ".join(f"{o.key} {percent(value)}" for o, value in zip(evidence.observations, seen, strict=True))
    return replace(
        evidence,
        observations=observations,
        per_record=None if risk is None else risk * outside.share[1],
        notes=(*evidence.notes, f"among people known to be in the release: {told}"),
    )


def _shared(observation: Observation, risk: Floats | None, outside: Outside) -> Observation:
    estimate = observation.estimate
    if observation.crowds is not None:  # counted anew by the policy: the crowd is that of the population
        return replace(observation, crowds=_larger(observation.crowds, outside))
    if of_single_people(observation.key):
        estimate = _at_most(estimate, outside.alone)
    elif kind_of(observation.key) == "found":
        estimate = _times(estimate, _ratios(risk, outside), _bounds(risk, outside, estimate.n))
    if estimate is observation.estimate:
        return observation
    others = f" With people outside who look the same that is {estimate.hits:,.1f} of {estimate.n:,}."
    return replace(observation, claim=observation.claim + others, estimate=estimate)


def _seldom_there(evidence: Evidence, outside: Outside) -> Evidence:
    """Sure claims that a person's own row makes right: of those who look the same only some have a row at all.

    Nobody says who is claimed, so that everybody has the largest share of a crowd that anybody may have.
    """

    def less(observation: Observation) -> Observation:
        if kind_of(observation.key) != "sure":
            return observation
        estimate = _times(observation.estimate, _ratios(None, outside))
        others = f" With people outside who look the same, who have no row, it is at most {percent(estimate.value)}."
        return replace(observation, claim=observation.claim + others, estimate=estimate)

    return replace(evidence, observations=tuple(less(observation) for observation in evidence.observations))


def _larger(crowds: Crowds, outside: Outside) -> Crowds:
    """Crowds of the file as parts of those of the population; where shares are of other people, the largest of all."""
    if outside.share.shape[1] == len(crowds.size):
        return crowds._replace(share=outside.share)
    return crowds._replace(share=np.full((3, len(crowds.size)), outside.share[2].max()))


def _ratios(risk: Floats | None, outside: Outside) -> tuple[float, float, float]:
    """What is left of a figure: the shares of those whom the attack finds; the largest where it does not say whom."""
    if risk is None:
        return float(outside.share[0].min()), float(outside.share[1].max()), float(outside.share[2].max())
    total = float(risk.sum())
    if total <= 0:
        return 0.0, 1.0, 1.0
    least, expected, most = (float(risk @ share) / total for share in outside.share)
    return least, expected, most


def _bounds(risk: Floats | None, outside: Outside, n: int) -> tuple[float, float]:
    """Score interval of the shared credits: the shares differ between people, and so does who is drawn."""
    if risk is None:
        return 1.0, 0.0
    least, most = (min(float(n), float(risk @ share)) for share in (outside.share[0], outside.share[2]))
    return wilson(least, n)[0], wilson(most, n)[1]


def _times(
    estimate: Estimate, factors: tuple[float, float, float], bounds: tuple[float, float] = (1.0, 0.0)
) -> Estimate:
    """A part of a figure: factors for the lower end, the value and the upper end; ends at least as wide as bounds."""
    value = estimate.value * factors[1]
    low = min(value, estimate.low * factors[0], bounds[0])
    high = min(max(value, estimate.high * factors[2], bounds[1]), max(estimate.high, value))
    control = None if estimate.control is None else estimate.control * factors[1]
    return Estimate(value, low, high, estimate.n, estimate.chance * factors[1], control, "bootstrap")


def _at_most(estimate: Estimate, alone: tuple[float, float, float]) -> Estimate:
    """People of whom somebody is sure: nobody but those who may be alone in the population."""
    value, high = min(estimate.value, SURE * alone[1]), min(estimate.high, SURE * alone[2])
    low = min(estimate.low, value, alone[0])
    control = None if estimate.control is None else min(estimate.control, value)
    return Estimate(value, low, max(value, high), estimate.n, min(estimate.chance, value), control, "bootstrap")
