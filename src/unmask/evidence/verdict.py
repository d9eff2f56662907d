"""The verdict: a pure function of what was reported and the policy, so that a checker can replay the decision.

A release is judged, not forty figures. Each figure is held against its limit by its own 95 % interval; then those
above their limits are looked at together (Holm's method), so that over all figures a harmless release is called unsafe
at most once in twenty times. A figure that is above its limit only by itself is inconclusive, never within it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from unmask.evidence.above import held_to_risk, luck, used_of_risk
from unmask.evidence.catalogue import name_of
from unmask.evidence.coverage import unseen
from unmask.evidence.crowds import held_to
from unmask.evidence.estimate import Z95, tail, wilson
from unmask.evidence.finding import NO_TIME, Absence, Evidence, Finding, Observation, Outcome, Reported
from unmask.evidence.intruders import Intruder, attempts_of, by_knowledge
from unmask.evidence.who import STANCES, Who, attempted, closed_to, limits_for, not_tried, seen_by
from unmask.shares import percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unmask.evidence.estimate import Estimate
    from unmask.evidence.policy import Policy, Threshold

Word = Literal["safe", "unsafe", "inconclusive"]
BAD_FIRST: tuple[Outcome, ...] = ("against", "inconclusive", "for")
NO_LIMIT = "shown for information; the policy sets no limit"
LEVEL = 0.05  # chance that a release within all limits is called unsafe
MOST_NAMED = 6  # attacks that were left out: of more, only the number is told
MOST_DECIDING = 3  # findings that the sentence names, the largest first
PRECISION = 0.95  # of claims about people whom the intruder is sure of
TABLES = {"check", "columns"}  # findings about the tables themselves, not of an attack
NO_ATTACK = TABLES | {"risk"}  # nor is the risk of people, which follows from all of them
WITHOUT_ORIGINAL = "no original was given, and without one nothing can be called safe"
NOTHING_IN_TIME = "there was no time for any attack within the budget, and what was not tried is not safe: give more"
BY_CHANCE = "among {} figures one that far above its limit is expected by chance"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word, and the sentence that explains it."""

    word: Word
    reason: str


class Judgement(NamedTuple):
    """The verdict on a release, and what it follows from."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    unseen: tuple[Finding, ...]  # those of them that say what no attack could compare
    intruders: tuple[Intruder, ...]
    reported: tuple[Reported, ...]  # as the intruder sees it
    policy: Policy  # the limits that judge this intruder


def conclude(  # noqa: PLR0913 - what a verdict follows from
    reported: Sequence[Reported],
    policy: Policy,
    *,
    columns: Iterable[str],
    shared: bool = True,
    synthetic: bool = False,
    alone: bool = False,
    checked: Sequence[Finding] = (),
    intruder: Who = "maximum",
    attempt: float = 1.0,
    left_out: Sequence[str] = (),
    core: str | None = None,
) -> Judgement:
    """Judge all that was reported; ``columns``: those of the release that some attack has to compare.

    ``shared``: whether the files have known columns of the same name. ``checked``: findings about the tables
    themselves, made before any attack. ``intruder``: who attacks, and ``attempt`` how likely they are to try.
    ``left_out``: attacks that nobody wanted to be run. ``core``: what is published (paired, synthetic, model), where
    that is not told by ``synthetic``: the attacks without which nothing is safe. ``alone``: there is no original, and
    nothing is then safe.
    """
    seen, limits = attempted(seen_by(reported, intruder), attempt), limits_for(policy, intruder)
    silent = unseen(columns, seen, shared=shared)
    findings = (*checked, *silent, *judge(seen, limits))
    needed = policy.core.get(core or ("synthetic" if synthetic else "paired"), ())
    verdict = decide(findings, [name for name in needed if closed_to(name, intruder) is None], left_out)
    verdict = _alone(verdict) if alone else verdict
    verdict = replace(verdict, reason="; ".join((verdict.reason, *cut_short(seen))))
    return Judgement(
        _by_whom(verdict, reported, intruder), findings, silent, by_knowledge(attempts_of(seen)), seen, limits
    )


def cut_short(reported: Iterable[Reported]) -> tuple[str, ...]:
    """Say which attacks asked for some people only, or were not done to the end; nothing where all are exact."""
    asked: dict[tuple[int, int], list[str]] = {}
    told = []
    for entry in reported:
        if not isinstance(entry.evidence, Evidence) or entry.measure in NO_ATTACK:
            continue
        if entry.evidence.asked is not None:
            asked.setdefault(entry.evidence.asked, []).append(name_of(entry.measure))
        if entry.evidence.inexact:
            told.append(f"{name_of(entry.measure)}: {entry.evidence.inexact}")
    some = [f"{n:,} of {of:,} people were asked for by {', '.join(names)}" for (n, of), names in asked.items()]
    return (*some, *told)


def _alone(verdict: Verdict) -> Verdict:
    """Say that there was no original: what was within the limits is then undecided, never safe."""
    if verdict.word == "unsafe":
        return replace(verdict, reason=f"{verdict.reason}; no original was given: values are taken as people's own")
    return Verdict("inconclusive", f"{verdict.reason}; {WITHOUT_ORIGINAL}")


def _by_whom(verdict: Verdict, reported: Sequence[Reported], who: Who) -> Verdict:
    """Say whom a verdict is about, and what they did not try, where that is not everything."""
    if who == "maximum":
        return verdict
    left = ", ".join(map(name_of, not_tried(reported, who)))
    more = f"; not tried, since it takes more: {left}" if left else ""
    return replace(verdict, reason=f"{verdict.reason}; for a {who}, who {STANCES[who].words}{more}")


def judge(reported: Sequence[Reported], policy: Policy) -> tuple[Finding, ...]:
    """Hold every observation against its threshold, and those above theirs against all that were looked at."""
    found: list[Judged] = []
    for entry in reported:
        if isinstance(entry.evidence, Absence):
            absent = Finding(entry.measure, entry.measure, entry.title, entry.evidence.outcome, entry.evidence.reason)
            found.append(Judged(absent))
        else:
            found += [_judge_one(entry.measure, one, policy, entry.evidence) for one in entry.evidence.observations]
    return _judge_together(found)


class Judged(NamedTuple):
    """A finding by itself, and how likely a figure this large is where the truth is at the limit; None: no limit."""

    finding: Finding
    chance: float | None = None


class Held(NamedTuple):
    """How a figure stands to one limit, in words, and how likely one this large is where the truth is at the limit."""

    outcome: Outcome
    reason: str
    chance: float


def _judge_one(measure: str, observation: Observation, policy: Policy, evidence: Evidence) -> Judged:
    threshold = policy.threshold(observation.key)
    observation = held_to_risk(held_to(observation, threshold.groups), threshold.groups)
    estimate = observation.estimate
    most = threshold.allows(observation.key, estimate.chance)
    held = [_as_share(estimate, threshold, most)] if threshold.value < 1 else []
    if threshold.people is not None:
        held.append(_of_some(_as_number(observation, threshold, threshold.people), evidence, threshold.people))
    judged = Finding(
        measure, observation.key, observation.claim, "not judged", NO_LIMIT, estimate, most, threshold.people
    )
    if not held:
        return Judged(judged)
    told = (
        held[::-1] if held[-1].outcome == "against" else held
    )  # of equals the number, which is the limit that is shown
    worst = min(told, key=lambda one: BAD_FIRST.index(one.outcome))
    chance = min(1.0, len(held) * min(one.chance for one in held))
    used = _used(observation, threshold, most)
    return Judged(replace(judged, outcome=worst.outcome, reason=worst.reason, used=used), chance)


def _used(observation: Observation, threshold: Threshold, most: float) -> float | None:
    """How much of the limit a figure uses, where another draw of the attack may move it."""
    if observation.ranked is not None:
        return used_of_risk(observation.ranked, threshold.groups)
    return observation.estimate.high / most if most > 0 and threshold.value < 1 else None


def _as_share(estimate: Estimate, threshold: Threshold, most: float) -> Held:
    """Hold the interval of a share against the largest share that is within the limit."""
    beyond = f" beyond chance ({percent(estimate.chance)})" if most > threshold.value else ""
    words = "the limit of" if threshold.people is None else f"what may pass for {_most(threshold.people)}:"
    limit, chance = f"{words} {percent(threshold.value)}{beyond} ({threshold.source})", p_value(estimate, most)
    if estimate.low > most:
        return Held("against", f"even the lower end of the interval ({percent(estimate.low)}) is above {limit}", chance)
    if estimate.high <= most:
        return Held("for", f"even the upper end of the interval ({percent(estimate.high)}) is within {limit}", chance)
    told = f"the interval from {percent(estimate.low)} to {percent(estimate.high)}"
    return Held("inconclusive", f"{told} contains {limit}", chance)


def _of_some(held: Held, evidence: Evidence, most: int) -> Held:
    """That there are no more people than so many is not shown by some of them, nor by an attack that is not ended."""
    if held.outcome != "for" or (evidence.asked is None and not evidence.inexact):
        return held
    asked = evidence.asked
    told = evidence.inexact if asked is None else f"{asked[0]:,} of {asked[1]:,} people were asked for"
    return Held("inconclusive", f"{told}, which cannot show that it is true of {_most(most)} among all", held.chance)


def _as_number(observation: Observation, threshold: Threshold, most: int) -> Held:
    """Hold a number of people against the most that there may be: whether they are, not how large their share is."""
    estimate, limit = observation.estimate, f"{_most(most)} ({threshold.source})"
    if observation.ranked is not None:
        return _above(estimate, luck(observation.ranked, threshold.groups, most), most, limit)
    if observation.crowds is None and observation.claims is not None:
        return _claimed(observation, threshold, most, limit)
    low, high = (float(np.rint(end * estimate.n)) for end in (estimate.low, estimate.high))
    if low > most:
        chance = 0.0 if observation.crowds is not None else p_value(estimate, most / estimate.n)
        return Held("against", f"{low:,.0f} people, where the limit is {limit}", chance)
    if observation.crowds is None or high <= most:
        return Held("for", f"not shown to be more than the limit of {limit}", 1.0)
    return Held("inconclusive", f"up to {high:,.0f} people, where the limit is {limit}", 1.0)


def _most(people: int) -> str:
    return "nobody" if people == 0 else f"{people:,} {'person' if people == 1 else 'people'}"


def _claimed(observation: Observation, threshold: Threshold, most: int, limit: str) -> Held:
    """Hold people whom the intruder is sure of: who takes their surest link is right now and then by luck.

    They are there if claims like these are shown to be right more often than one in ``groups``.
    """
    found = observation.estimate.hits
    hits, claims = float(np.floor(found + 1e-9)), max(observation.claims or 0, int(found))
    if hits <= most or wilson(hits, claims)[1] < PRECISION:
        return Held("for", f"{hits:,.0f} of {claims:,} claims are right, which is within the limit of {limit}", 1.0)
    chance, told = tail(hits - most, claims - most, 1 / threshold.groups), f"{hits:,.0f} of {claims:,} claims are right"
    if chance > LEVEL:
        return Held("inconclusive", f"{told}: too few to tell knowledge from luck, where the limit is {limit}", chance)
    return Held("against", f"{told}, where the limit is {limit}", chance)


def _above(estimate: Estimate, chance: float, most: int, limit: str) -> Held:
    """Hold the number of people above a risk: what may be luck is undecided, and never within the limit."""
    low, count = np.rint(estimate.low * estimate.n), np.rint(estimate.hits)
    if low > most:
        return Held("against", f"at least {low:,.0f} people, where the limit is {limit}", chance)
    if count > most:
        return Held("inconclusive", f"{count:,.0f} people, which may be luck, where the limit is {limit}", chance)
    return Held("for", f"no set of people is found more often than the limit of {limit} allows", chance)


def _judge_together(found: Sequence[Judged]) -> tuple[Finding, ...]:
    """Keep "against" where it holds among all figures that have a limit."""
    judged = [(finding.key, chance) for finding, chance in found if chance is not None]
    holds = {key for (key, _), sure in zip(judged, holm([chance for _, chance in judged]), strict=True) if sure}
    return tuple(
        replace(finding, outcome="inconclusive", reason=f"{finding.reason}, but {BY_CHANCE.format(len(judged))}")
        if finding.outcome == "against" and finding.key not in holds
        else finding
        for finding, _ in found
    )


def p_value(estimate: Estimate, limit: float | None) -> float:
    """How likely a figure this large is where the truth is at the limit: binomial for counts, normal otherwise."""
    from scipy import special  # noqa: PLC0415 - judging alone needs it

    if limit is None or estimate.value <= limit:
        return 1.0
    if estimate.method == "wilson":
        return tail(float(np.floor(estimate.hits + 1e-9)), estimate.n, limit)
    error = (estimate.value - estimate.low) / Z95
    return float(special.ndtr(-(estimate.value - limit) / error)) if error > 0 else 0.0


def holm(chances: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of many hypotheses can be rejected so that one true one is among them at most with this chance [HOLM]_."""
    order = np.argsort(chances, kind="stable")
    rejected = [False] * len(chances)
    for place, index in enumerate(order):
        if chances[index] > level / (len(chances) - place):
            break
        rejected[index] = True
    return rejected


def decide(findings: Sequence[Finding], core: Sequence[str] = (), left_out: Sequence[str] = ()) -> Verdict:
    """Unsafe if one finding is against; safe if every finding that is judged is for, and the core attacks were run.

    What was not tried is not safe: with one of the ``core`` missing the verdict is inconclusive at best, and the
    sentence says how many attacks were run and which were ``left_out``.
    """
    ran = {finding.measure for finding in findings if finding.estimate is not None} - NO_ATTACK
    absent = {finding.measure for finding in findings if finding.estimate is None} - ran - NO_ATTACK
    count, others = f"{len(ran)} of {len(ran | absent | set(left_out))} attacks", _others(findings, absent, left_out)
    verdict = _by_outcome(findings)
    missing = [name for name in core if name not in ran]
    if verdict.word == "safe" and missing:
        left = ", ".join(map(name_of, missing))
        told = f"within the limits by {count}{others}; not enough to say safe: {left} did not run"
        return Verdict("inconclusive", told)
    return replace(verdict, reason=f"{verdict.reason}; {count} ran{others}") if ran or left_out else verdict


def _others(findings: Sequence[Finding], absent: set[str], left_out: Sequence[str]) -> str:
    """Say what became of the attacks that did not run: " (3 do not apply; left out: channel)"."""
    failed = {finding.measure for finding in findings if finding.outcome == "could not run"} & absent
    idle = len(absent - failed)
    told = [f"{idle} {'does' if idle == 1 else 'do'} not apply"] if idle else []
    told += [f"{len(failed)} could not run"] if failed else []
    if left_out:
        named = f"left out: {', '.join(map(name_of, left_out))}"
        told.append(named if len(left_out) <= MOST_NAMED else f"{len(left_out)} left out")
    return f" ({'; '.join(told)})" if told else ""


def _by_outcome(findings: Sequence[Finding]) -> Verdict:
    """The verdict on what was run, whatever was not."""
    by: dict[Outcome, list[Finding]] = {}
    for finding in findings:
        by.setdefault(finding.outcome, []).append(finding)
    if "against" in by:
        return Verdict("unsafe", f"{_count(by['against'])} against publishing ({_named(by['against'])})")
    if "could not run" in by:
        return _not_tried(by["could not run"], findings)
    if "inconclusive" in by:
        return Verdict(
            "inconclusive", f"{_count(by['inconclusive'])} too uncertain to decide ({_named(by['inconclusive'])})"
        )
    if "for" not in by:
        return Verdict("inconclusive", "no attack applies to these tables: nothing was shown")
    return Verdict("safe", f"{_count(by['for'])} within the policy, none against, none uncertain")


def _not_tried(failed: Sequence[Finding], findings: Sequence[Finding]) -> Verdict:
    """What could not be tried is not safe: a column that nobody compared, an attack that failed, or had no time."""
    if {finding.measure for finding in failed} <= TABLES:
        return Verdict("inconclusive", " ".join(finding.claim for finding in failed).rstrip("."))
    if all(finding.reason == NO_TIME for finding in failed) and all(finding.estimate is None for finding in findings):
        return Verdict("inconclusive", NOTHING_IN_TIME)
    names = ", ".join(sorted({name_of(finding.measure) for finding in failed}))
    return Verdict("inconclusive", f"an attack could not run, and what was not tried is not safe: {names}")


def _named(findings: Sequence[Finding]) -> str:
    """Name the findings with the largest shares, in words; of the others tell how many there are."""
    order = sorted(findings, key=lambda one: (-1.0 if one.estimate is None else -one.estimate.value, one.key))
    names = list(dict.fromkeys(name_of(finding.key) for finding in order))
    more = len(names) - MOST_DECIDING
    return "; ".join([*names[:MOST_DECIDING], *([f"and {more} more"] if more > 0 else [])])


def _count(findings: Sequence[Finding]) -> str:
    return f"{len(findings)} finding{'s are' if len(findings) != 1 else ' is'}"
