"""Claims of an intruder who may keep silent, person by person; and the anonymity loss coefficient by its formula."""

from __future__ import annotations

from math import log10, sqrt

import numpy as np

SHARES = [k / 100 for k in range(1, 101)]


def weight(sure, place, share):
    """How much of the claim about one person is made where a share of the surest is: equally sure ones alike."""
    surer = sum(other > sure[place] for other in sure)
    alike = sum(other == sure[place] for other in sure)
    return min(1.0, max(0.0, (share * len(sure) - surer) / alike))


def rightly(right, sure, share):
    """Share of people who are rightly claimed."""
    return sum(weight(sure, place, share) * right[place] for place in range(len(right))) / len(right)


def best_share(inside, outside, precision=0.9):
    best, most = 0.0, 0.0
    for share in SHARES:
        a, b = rightly(*inside, share), rightly(*outside, share)
        error = sqrt(a * (1 - a) / len(inside[0]) + b * (1 - b) / len(outside[0]))
        if a / share >= precision - 1e-12 and a - b - 1.6448536269514722 * error > most + 1e-12:
            best, most = share, a - b - 1.6448536269514722 * error
    return best


def halves(rng, *content):
    order = sorted(range(len(content[0])), key=lambda place: tuple(side[place] for side in content))
    lot, half = rng.permutation(len(order)) % 2, [0] * len(order)
    for place, person in enumerate(order):
        half[person] = int(lot[place])
    return half


def tried(inside, outside, *, same, seed, precision=0.9):
    """Credit of each person inside and outside; the share is chosen on the other half of both."""
    rng = np.random.default_rng([seed, 7])
    first = halves(rng, *inside, *(outside if same else ()))
    second = first if same else halves(rng, *outside)
    credits_ = [0.0] * len(first), [0.0] * len(second)

    def part(side, half, number):
        return [[value for value, one in zip(values, half, strict=True) if one == number] for values in side]

    for number in (0, 1):
        share = best_share(part(inside, first, 1 - number), part(outside, second, 1 - number), precision)
        for credit, side, half in ((credits_[0], inside, first), (credits_[1], outside, second)):
            mine = [place for place, one in enumerate(half) if one == number]
            sure = [side[1][place] for place in mine]
            for k, place in enumerate(mine):
                credit[place] = weight(sure, k, share) * side[0][place]
    return np.array(credits_[0]), np.array(credits_[1])


def prc(precision, recall, least=1e-4, alpha=3):
    """Eq. of the precision-recall coefficient."""
    return recall if recall <= least else (1 - (log10(recall) / log10(least)) ** alpha) * precision


def alc(base, attack):
    """How much of what is left to lose is lost."""
    return (attack - base) / (1 - base)
