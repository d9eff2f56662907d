"""The verdict on a release without its report: what a search among many releases needs, and no more."""

from __future__ import annotations

from collections.abc import Iterable

from unmask.assessment import choose, discover
from unmask.attacks import again_with, attack_all, parties_of, with_left_out
from unmask.evidence import Context, Judgement, Policy, as_intruder
from unmask.planning import plan_attacks
from unmask.recipients import sides_of
from unmask.resume import Remembered
from unmask.tables import Release


def judge_release(
    release: Release,
    *,
    policy: Policy,
    only: Iterable[str] | None = None,
    intruder: str = "maximum",
    seed: int = 0,
    before: Remembered | None = None,
) -> Judgement:
    """Judge a release as `assess` does, with the same seeds: the same findings, and nothing that no limit judges.

    ``before``: what attacks have found on this very release with this seed. They are not run again.
    """
    measures, who = discover(), as_intruder(intruder)
    chosen = choose(measures, only, ())
    plan = plan_attacks(release, chosen, policy)
    found = attack_all(parties_of(release, (), who), chosen, Context(seed, brief=True), before, plan)
    attacked = with_left_out(found, chosen, measures)
    (side,) = sides_of(attacked, (), release, policy=policy, who=who, again=again_with(chosen, plan), seed=seed)
    return side.judged
