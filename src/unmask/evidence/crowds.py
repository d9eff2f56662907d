"""People in small groups: how many match fewer released records than the policy asks for, their own among them.

A crowd protects by its size only where the record that the intruder looks for is in it. In a release that has nothing
to do with people, some stand by chance in a small crowd that carries their values. So each crowd counts with how often
the small ones hold the person's own record: a person's risk is that share divided by the size of the crowd.
"""

from __future__ import annotations

import numpy as np

from unmask.arrays import Counts, Flags, Floats
from unmask.evidence.estimate import Estimate, wilson
from unmask.evidence.finding import Crowds, Observation

GROUPS = 11  # where a policy says nothing else: the groups of public files


def small_groups(key: str, size: Counts, own: Flags, records: int, words: str = "") -> Observation:
    """Observe how many people stand in small groups; how small is for the policy to say, when it judges.

    ``words``: the sentence, with {hits}, {n} and {k}, where the groups are no records.
    """
    crowds = Crowds(size, own, records, words=words)
    return held_to(Observation(key, "", in_groups_below(crowds, GROUPS), crowds=crowds), GROUPS)


def held_to(observation: Observation, k: int) -> Observation:
    """The observation for groups of k, where it is about groups."""
    if observation.crowds is None:
        return observation
    estimate = in_groups_below(observation.crowds, k)
    of = "records" if observation.crowds.share is None else "people of the population"
    words = observation.crowds.words or f"{{hits}} of {{n}} people match fewer than {{k}} {of}, their own among them."
    claim = words.format(hits=f"{np.rint(estimate.hits):,.0f}", n=f"{estimate.n:,}", k=k)
    return Observation(observation.key, claim, estimate, crowds=observation.crowds)


def in_groups_below(crowds: Crowds, k: int) -> Estimate:
    """Share of people with a risk above 1/k; the ends count them by the ends of how often small crowds are right.

    Where small crowds are right at least as often as all crowds are, all of them teach how often that is: the match is
    one rule for everybody, and the only person in a small crowd is not a coin tossed once.
    """
    people, seen = len(crowds.size), crowds.size > 0
    small = seen & (crowds.size < k)
    right = small & crowds.own
    n_small, n_right, n_seen = int(small.sum()), int(right.sum()), int(seen.sum())
    low, high = wilson(n_right, n_small)
    share, overall = n_right / max(1, n_small), int((crowds.own & seen).sum()) / max(1, n_seen)
    if share >= overall:
        low = max(low, wilson(overall * n_seen, n_seen)[0])
    least, value, most = (
        float(np.sort(_below(crowds, k * certainty, end)[right]).sum()) / people
        for end, certainty in enumerate((low, share, high))
    )
    chance = float(crowds.size[small].sum()) / (crowds.records * people)
    return Estimate(value, min(least, value), max(most, value), people, chance, None, "exact")


def _below(crowds: Crowds, limit: float, end: int) -> Floats:
    """Probability of each person that fewer than ``limit`` look like them: 0 or 1 where they are counted.

    Where only the share of the population is known that was drawn, f of F people were drawn one by one, and F is less
    than k as often as k - 1 draws give f people or more. Whoever is alone in the file may be alone in the population.
    """
    if crowds.share is None:
        return (crowds.size < limit).astype(np.float64)
    from scipy import special  # noqa: PLC0415 - judging alone needs it

    share = np.clip(crowds.share, 1e-12, 1.0)
    counted = (np.floor(crowds.size / share[end] + 1e-9) < limit).astype(np.float64)
    most = np.ceil(limit) - 1.0
    drawn = special.betainc(np.maximum(crowds.size, 1), np.maximum(most - crowds.size + 1, 1e-9), share[end])
    drawn = np.where(crowds.size <= most, drawn, 0.0)
    return np.asarray(np.where(share[0] == share[2], counted, drawn))
