"""The verdict: a pure function of what was reported and the policy, so that a checker can replay the decision.

A release is judged, not forty figures. Each figure is held against its limit by its own 95 % interval; then those
above their limits are looked at together (Holm's method), so that over all figures a harmless release is called unsafe
at most once in twenty times. A figure that is above its limit only by itself is inconclusive, never within it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from unmask.evidence.coverage import unseen
from unmask.evidence.estimate import Z95
from unmask.evidence.finding import Absence, Finding, Observation, Outcome, Reported
from unmask.evidence.intruders import Intruder, attempts_of, by_knowledge
from unmask.evidence.who import STANCES, Who, attempted, closed_to, limits_for, not_tried, seen_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unmask.evidence.estimate import Estimate
    from unmask.evidence.policy import Policy

Word = Literal["safe", "unsafe", "inconclusive"]
LEVEL = 0.05  # chance that a release within all limits is called unsafe
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
    checked: Sequence[Finding] = (),
    intruder: Who = "maximum",
    attempt: float = 1.0,
) -> Judgement:
    """Judge all that was reported; ``columns``: those of the release that some attack has to compare.

    ``shared``: whether the files have known columns of the same name. ``checked``: findings about the tables
    themselves, made before any attack. ``intruder``: who attacks, and ``attempt`` how likely they are to try.
    """
    seen, limits = attempted(seen_by(reported, intruder), attempt), limits_for(policy, intruder)
    silent = unseen(columns, seen, shared=shared)
    findings = (*checked, *silent, *judge(seen, limits))
    core = policy.core.get("synthetic" if synthetic else "paired", ())
    verdict = decide(findings, [name for name in core if closed_to(name, intruder) is None])
    return Judgement(
        _by_whom(verdict, reported, intruder), findings, silent, by_knowledge(attempts_of(seen)), seen, limits
    )


def _by_whom(verdict: Verdict, reported: Sequence[Reported], who: Who) -> Verdict:
    """Say whom a verdict is about, and what they did not try, where that is not everything."""
    if who == "maximum":
        return verdict
    left = ", ".join(not_tried(reported, who))
    more = f"; not tried, since it takes more: {left}" if left else ""
    return replace(verdict, reason=f"{verdict.reason}; for a {who}, who {STANCES[who].words}{more}")


def judge(reported: Sequence[Reported], policy: Policy) -> tuple[Finding, ...]:
    """Hold every observation against its threshold, and those above theirs against all that were looked at."""
    findings: list[Finding] = []
    for entry in reported:
        if isinstance(entry.evidence, Absence):
            findings.append(
                Finding(entry.measure, entry.measure, entry.title, entry.evidence.outcome, entry.evidence.reason)
            )
        else:
            findings += [_judge_one(entry.measure, observation, policy) for observation in entry.evidence.observations]
    return _judge_together(findings)


def _judge_one(measure: str, observation: Observation, policy: Policy) -> Finding:
    threshold, estimate = policy.threshold(observation.key), observation.estimate
    outcome: Outcome
    most = threshold.allows(observation.key, estimate.chance)
    beyond = f" beyond chance ({estimate.chance:.3g})" if most > threshold.value else ""
    limit = f"the limit of {threshold.value:.3g}{beyond} ({threshold.source})"
    if threshold.value >= 1:
        outcome, reason = "not judged", "shown for information; the policy sets no limit"
    elif estimate.low > most:
        outcome, reason = "against", f"even the lower end of the interval ({estimate.low:.3g}) is above {limit}"
    elif estimate.high <= most:
        outcome, reason = "for", f"even the upper end of the interval ({estimate.high:.3g}) is within {limit}"
    else:
        outcome, reason = (
            "inconclusive",
            f"the interval from {estimate.low:.3g} to {estimate.high:.3g} contains {limit}",
        )
    return Finding(measure, observation.key, observation.claim, outcome, reason, estimate, most)


def _judge_together(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Keep "against" where it holds among all figures that have a limit."""
    judged = [finding for finding in findings if finding.outcome in {"for", "against", "inconclusive"}]
    chances = [p_value(finding.estimate, finding.threshold) for finding in judged if finding.estimate is not None]
    holds = {finding.key for finding, sure in zip(judged, holm(chances), strict=True) if sure}
    return tuple(
        replace(finding, outcome="inconclusive", reason=f"{finding.reason}, but {BY_CHANCE.format(len(judged))}")
        if finding.outcome == "against" and finding.key not in holds
        else finding
        for finding in findings
    )


def p_value(estimate: Estimate, limit: float | None) -> float:
    """How likely a figure this large is where the truth is at the limit: binomial for counts, normal otherwise."""
    from scipy import special  # noqa: PLC0415 - judging alone needs it

    if limit is None or estimate.value <= limit:
        return 1.0
    if estimate.method == "wilson":
        hits = float(np.floor(estimate.hits + 1e-9))
        return float(special.betainc(hits, estimate.n - hits + 1, limit)) if hits >= 1 else 1.0
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


def decide(findings: Sequence[Finding], core: Sequence[str] = ()) -> Verdict:  # noqa: PLR0911 - one per case
    """Unsafe if one finding is against; safe if every finding that is judged is for, and the core attacks were run.

    What was not tried is not safe: with one of the ``core`` missing the verdict is inconclusive at best.
    """
    by: dict[Outcome, list[Finding]] = {}
    for finding in findings:
        by.setdefault(finding.outcome, []).append(finding)
    if "against" in by:
        names = ", ".join(sorted({finding.key for finding in by["against"]}))
        return Verdict("unsafe", f"{_count(by['against'])} against publishing: {names}")
    if "could not run" in by:
        names = ", ".join(sorted({finding.measure for finding in by["could not run"]}))
        if {finding.measure for finding in by["could not run"]} <= {"check", "columns"}:  # the tables, not an attack
            return Verdict("inconclusive", " ".join(finding.claim for finding in by["could not run"]).rstrip("."))
        return Verdict("inconclusive", f"an attack could not run, and what was not tried is not safe: {names}")
    if "inconclusive" in by:
        names = ", ".join(sorted({finding.key for finding in by["inconclusive"]}))
        return Verdict("inconclusive", f"{_count(by['inconclusive'])} too uncertain to decide: {names}")
    if "for" not in by:
        return Verdict("inconclusive", "no attack applies to these tables: nothing was shown")
    ran = {finding.measure for finding in findings if finding.estimate is not None}
    missing = [name for name in core if name not in ran]
    if missing:
        told = f"within the limits by {len(ran)} {'attack' if len(ran) == 1 else 'attacks'}"
        return Verdict("inconclusive", f"{told}, but not enough to say safe: {', '.join(missing)} did not run")
    return Verdict("safe", f"{_count(by['for'])} within the policy, none against, none uncertain")


def _count(findings: Sequence[Finding]) -> str:
    return f"{len(findings)} finding{'s are' if len(findings) != 1 else ' is'}"
