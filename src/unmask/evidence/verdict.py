"""The verdict: a pure function of what was reported and the policy, so that a checker can replay the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unmask.evidence.finding import Absence, Finding, Observation, Outcome, Reported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unmask.evidence.policy import Policy

Word = Literal["safe", "unsafe", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word, and the sentence that explains it."""

    word: Word
    reason: str


def judge(reported: Sequence[Reported], policy: Policy) -> tuple[Finding, ...]:
    """Hold every observation against its threshold."""
    findings: list[Finding] = []
    for entry in reported:
        if isinstance(entry.evidence, Absence):
            findings.append(
                Finding(entry.measure, entry.measure, entry.title, entry.evidence.outcome, entry.evidence.reason)
            )
        else:
            findings += [_judge_one(entry.measure, observation, policy) for observation in entry.evidence.observations]
    return tuple(findings)


def _judge_one(measure: str, observation: Observation, policy: Policy) -> Finding:
    threshold, estimate = policy.threshold(observation.key), observation.estimate
    outcome: Outcome
    limit = f"the limit of {threshold.value:.3g} ({threshold.source})"
    if threshold.value >= 1:
        outcome, reason = "not judged", "the policy sets no limit on this figure; it is told, and speaks neither way"
    elif estimate.low > threshold.value:
        outcome, reason = "against", f"even the lower end of the interval ({estimate.low:.3g}) is above {limit}"
    elif estimate.high <= threshold.value:
        outcome, reason = "for", f"even the upper end of the interval ({estimate.high:.3g}) is within {limit}"
    else:
        outcome, reason = (
            "inconclusive",
            f"the interval from {estimate.low:.3g} to {estimate.high:.3g} contains {limit}",
        )
    return Finding(measure, observation.key, observation.claim, outcome, reason, estimate, threshold.value)


def decide(findings: Sequence[Finding]) -> Verdict:
    """Unsafe if one finding is against; safe if every finding that is judged is for; inconclusive otherwise."""
    by: dict[Outcome, list[Finding]] = {}
    for finding in findings:
        by.setdefault(finding.outcome, []).append(finding)
    if "against" in by:
        names = ", ".join(sorted({finding.key for finding in by["against"]}))
        return Verdict("unsafe", f"{_count(by['against'])} against publishing: {names}")
    if "could not run" in by:
        names = ", ".join(sorted({finding.measure for finding in by["could not run"]}))
        return Verdict("inconclusive", f"an attack could not run, and what was not tried is not safe: {names}")
    if "inconclusive" in by:
        names = ", ".join(sorted({finding.key for finding in by["inconclusive"]}))
        return Verdict("inconclusive", f"{_count(by['inconclusive'])} too uncertain to decide: {names}")
    if "for" in by:
        return Verdict("safe", f"{_count(by['for'])} within the policy, none against, none uncertain")
    return Verdict("inconclusive", "no attack applies to these tables: nothing was shown")


def _count(findings: Sequence[Finding]) -> str:
    return f"{len(findings)} finding{'s are' if len(findings) != 1 else ' is'}"
