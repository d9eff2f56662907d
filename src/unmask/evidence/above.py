"""People above a risk: how many the best attack finds more often than one time in k; how small k is, says the policy.

The risk of one person cannot be seen in one release: they are found or not. That of many can. People are put in the
order of their risk, learnt without their own hit, and the first 10, 20, 40 .. of them are counted. If nobody had a risk
above 1/k, about one in k of each set would be found, or fewer. Where more are, some people are above: were K of m found
each time and the others one time in k, there would be K + (m - K)/k hits. So at least K = (hits - m/k) / (1 - 1/k) are.
Where the release follows from the original by a rule nothing is drawn, and who stands among fewer than k is counted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.evidence.estimate import Estimate, tail, wilson
from unmask.evidence.finding import Observation, Ranked

FIRST = 10  # people of the smallest set: of fewer one hit is no evidence
HALF = 0.5  # a person: fewer are none
SHOWN = 9  # digits in which equal risks are equal


def held_to_risk(observation: Observation, k: int) -> Observation:
    """The observation for a risk of 1/k, where it is about risks."""
    ranked = observation.ranked
    if ranked is None:
        return observation
    estimate, (hits, sizes) = _estimate(ranked, k), _sets(ranked)
    telling = int(np.argmax(_needed(hits, sizes, k)))
    count = np.rint(estimate.hits)
    if count and count == ranked.surely(k):
        claim = f"{count:,.0f} of {estimate.n:,} people stand among fewer than {k} whenever the release is made so."
        return replace(observation, claim=claim, estimate=estimate)
    who = f"{count:,.0f} of {estimate.n:,} people or more are" if count else "Nobody is shown to be"
    of = f"{ranked.measure} finds {hits[telling]:,.0f} of the {sizes[telling]:,} people of largest risk"
    claim = f"{who} found in more than one of {k} draws of the masking: {of}."
    return replace(observation, claim=claim, estimate=estimate)


def luck(ranked: Ranked, k: int, most: int) -> float:
    """How likely so many hits are where only ``most`` people have a risk above 1/k, over all sets and attacks."""
    if ranked.surely(k) > most:
        return 0.0
    hits, sizes = _sets(ranked)
    whole = np.floor(hits + 1e-9) - most
    least = min(tail(found, size - most, 1 / k) for found, size in zip(whole, sizes, strict=True))
    return min(1.0, least * sizes.size * ranked.attacks)


def used_of_risk(ranked: Ranked, k: int) -> float:
    """Share of the hits that are allowed: the largest among the sets; above 1 somebody may be above 1/k."""
    hits, sizes = _sets(ranked)
    return max(float((hits / (sizes / k + HALF * (1 - 1 / k))).max()), 2.0 * (ranked.surely(k) > 0))


def _estimate(ranked: Ranked, k: int) -> Estimate:
    """Share of people above 1/k: at least, by the set that tells most, and at most.

    The lower end is exact and allows for all sets, and for the attack having been chosen as the best. The upper end
    takes the people of a set for above, and of the rest as many as could share its hits if each has more than 1/k.
    """
    from scipy import special  # noqa: PLC0415 - judging alone needs it

    (hits, sizes), n = _sets(ranked), ranked.hits.size
    level = 0.025 / (sizes.size * ranked.attacks)
    surely: Floats = (
        np.where(hits > 0, special.betaincinv(np.maximum(hits, 1e-9), sizes - hits + 1, level), 0.0) * sizes
    )
    low = max(float(ranked.surely(k)), float(np.ceil(_needed(surely, sizes, k).max() - 1e-9))) / n
    value = max(low, float(_needed(hits, sizes, k).max()) / n)
    parts = [(0.0, 0), *zip(hits, sizes, strict=True)]
    most = min((m + (n - m) * min(1.0, k * wilson(max(0.0, hits[-1] - h), n - m)[1])) / n for h, m in parts)
    return Estimate(value, low, max(value, float(most)), n, 0.0, None, "exact")


def _sets(ranked: Ranked) -> tuple[Floats, Ints]:
    """Hits and sizes of the sets of people of largest risk: 10, 20, 40 .. and all; equal risks are in the same sets."""
    n, size, sizes = ranked.risk.size, FIRST, {ranked.risk.size}
    falling = -np.round(ranked.risk, SHOWN)
    while size < n:
        sizes.add(int(np.searchsorted(falling, falling[size - 1], side="right")))
        size *= 2
    found = np.array(sorted(sizes))
    return np.minimum(np.cumsum(ranked.hits)[found - 1], found), found


def _needed(hits: Floats, sizes: Ints, k: int) -> Floats:
    """People above 1/k without whom so many hits are not to be had."""
    return np.asarray(np.maximum(0.0, hits - sizes / k) / max(1 - 1 / k, 1e-9))
