"""What people who compete for records add to an attack, or take away: everybody at once finds others than one by one.

Whoever looks for everybody at once finds more, since a record that suits somebody else better is nobody else's; but
people who have no record take one as well, and then fewer are found. Among fewer people, drawn at random with their
records and with as large a share of those who are in one file only, both can be had: the same people asked for one by
one, and all at once. What is expected of all follows from how many of them are found one by one, which is known:
measured in standard deviations of a normal law (probits), as one measures how well a signal is told from noise,
competition moves what is found by a step that changes slowly with it. Where people gain by it, the step fades as the
crowd grows and the share falls, by much the same part of itself in one table as in another; where they lose, it stays.
How far steps wander around that between fewer people and all was measured on many tables
(tests/linkage/test_competing_coverage.py), and widens the interval on both sides, as do the errors of the step and of
the share. More people are found no oftener than fewer are, all at once.

Of people *known* the upper end holds more where people gain: what is added rises from nothing, where everybody is known
anyway, ever more slowly with the logarithm of their number, and falls again as people get lost in the crowd. So it is
at least what it was among the fewer, or what it would be if it went on rising as it did last, or, where nearly
everybody is known, the same share of those who are missed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from unmask.evidence import Z95, rate, wilson
from unmask.study import Study
from unmask.tables import canonical_order

if TYPE_CHECKING:
    from unmask.arrays import Floats, Rows
    from unmask.evidence import Estimate
    from unmask.tables import Encoded, Release

TOGETHER = 40_000  # people, with their records, who are looked for all at once
FEWER = 4  # times: to see how what is added changes
FADE, DOUBT = 0.65, 0.2  # by what share of itself a gain falls with each sd that the share falls; its sd over tables
WANDER, BENT = 0.02, 0.2  # sd of a step around that, after one sd of the share; and per sd of the step itself
LONGER = 0.2  # sd of the rest of the change of a step, from fewer people to more: to this what was seen is compared
AGAIN = 0.5  # by how much of that rest a gain may change again; a loss by all of it
BY_CHANCE = 2.6  # times as much as their people explain may four parts differ: 19 times in 20 they differ less
Z99 = 2.576  # of those who are missed there may be few, and they stand for many
ALL = 1.0 - 1e-4  # a share that is taken for all: its probit has an end

Pair = tuple["Floats", "Floats"]  # credits of the same people: as they were asked for, and by the whole attack


@dataclass(frozen=True, slots=True)
class Trend:
    """How far competition moves the share that is found one by one, in probits: at one share, and how that changes.

    With the share it fades, steadily, and wanders: both as they were seen to over tables, and as was seen of this one.
    """

    at: float  # probit of the share found one by one of those who were looked for all at once
    step: float
    fade: float  # by what share of itself the step falls with each sd of the share
    error: float = 0.0  # standard error of the step, and of its change with the number of people
    doubt: float = 0.0  # sd of the slope
    wander: float = 0.0  # sd of the step after one sd of the share

    def gain(self, share: float, deviations: float = 0.0) -> float:
        """What is added to such a share of people; below 0 where people without a record take those of others.

        ``deviations``: what it is so many standard deviations beyond what is expected.
        """
        if share <= 0.0:
            return 0.0
        x = float(ndtri(min(share, ALL)))
        apart = x - self.at
        sd = np.sqrt(self.error**2 + (self.doubt * apart) ** 2 + self.wander**2 * abs(apart))
        step = self.step * np.exp(self.fade * apart) + deviations * sd
        return float(ndtr(x + step)) - share if share < ALL or step < 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class Added:
    """What competition may add to a share of people, and the share of fewer people that is found with it."""

    most: float  # upper end of what is added
    together: float  # upper end of what is found of fewer people, all at once; 1 where that is fewer than one by one
    trend: Trend | None = None  # what is expected; None: nothing
    regained: float = 0.0  # upper end of the share of those missed one by one who are found all at once

    def expected(self, share: float, deviations: float = 0.0) -> float:
        """What is expected to be added to a share of people found one by one, or lost by it."""
        return 0.0 if self.trend is None else self.trend.gain(share, deviations)

    def raise_to(self, estimate: Estimate) -> Estimate:
        """The estimate of all at once: moved by what is expected, with the errors of both.

        The upper end is at most what is found of fewer people: a larger crowd hides people better.
        """
        moved = self._moved(estimate)
        high = min(moved.high, max(self.together, moved.low))
        value = min(moved.value, high)
        return replace(moved, value=value, high=high, low=min(value, moved.low))

    def widen(self, estimate: Estimate) -> Estimate:
        """The estimate, lowered by what is expected to be lost; its ends hold what competition may add and take away.

        What may be gained is left to the upper end: the share of people known is a lower bound, unless others compete.
        """
        moved = self._moved(estimate)
        added = max(self.most, (1.0 - estimate.high) * self.regained)
        high = min(1.0, max(estimate.high, min(estimate.high + added, self.together)))
        return replace(estimate, value=min(estimate.value, moved.value), low=min(estimate.low, moved.low), high=high)

    def _moved(self, estimate: Estimate) -> Estimate:
        """The estimate moved by what is expected: its own error and that of the step are independent [ZOU]_."""

        def found(share: float, deviations: float = 0.0) -> float:
            return min(max(share + self.expected(share, deviations), 0.0), 1.0)

        value = found(estimate.value)
        low, high = (
            float(np.hypot(value - found(end), value - found(estimate.value, z)))
            for end, z in ((estimate.low, -Z95), (estimate.high, Z95))
        )
        return replace(estimate, value=value, low=max(0.0, value - low), high=min(1.0, value + high))


def added(fewer: Sequence[Pair], more: Pair, steps: float, seed: int) -> Added:
    """What competition adds among so many steps more, by what it adds to several fewer people and to more."""
    chains, few = _chains(fewer), joined(fewer)
    before, now = (whole - plain for plain, whole in (few, more))
    error = Z95 * now.std() / np.sqrt(now.size)
    rising = max(0.0, float(now.mean() - before.mean())) * steps
    found = rate(more[1], chance=0.0, seed=seed)
    together = min(1.0, found.value + (found.high - found.value) * float(np.sqrt(chains)))
    return Added(
        max(0.0, float(now.mean() + error) + rising),
        together if now.mean() >= 0.0 else 1.0,
        _trend(few, more, chains, steps),
        wilson(max(0.0, float(now.sum())), float((1.0 - more[0]).sum()), Z99)[1],
    )


def _chains(parts: Sequence[Pair]) -> float:
    """How many times as large the variance of what is found at once is as that of so many people by themselves.

    Who loses their record takes another's, and so on: what becomes of people who are linked by such a chain is one
    draw. Chains can be long where people who have no record must take one of somebody all the same, and then the parts
    differ by more than their people explain.
    """
    whole = np.concatenate([pair[1] for pair in parts])
    within = 1.0 + 2.0 * float(whole.mean())
    if len(parts) < FEWER:
        return within
    between = float(np.var([pair[1].mean() for pair in parts], ddof=1))
    times = between * whole.size / len(parts) / max(float(whole.var()), 1.0 / whole.size)
    return max(within, times, FEWER * (times - BY_CHANCE))  # such chains are as many times as long among all parts


def _trend(fewer: Pair, more: Pair, chains: float, steps: float) -> Trend:
    """How competition moves the share of more people, and how much farther or less far than that of fewer.

    The slope that is likeliest if gains fade by FADE, more or less, losses stay, and steps wander around that. By what
    the step changed beyond that from fewer to more people, it may change again, either way, with each such step to all:
    chains of people who lose their records grow longer with their number, whatever share is found one by one.
    """
    (then, then_step, then_error), (now, step, error) = (_moved(*pair, chains) for pair in (fewer, more))
    apart, wander = now - then, float(np.hypot(WANDER, BENT * step))
    fade, chance = FADE if step > 0.0 else 0.0, then_error**2 + error**2
    rest = step - then_step - fade * step * apart
    steady = (DOUBT * step * apart) ** 2
    weight = steady / (steady + chance + wander**2 * abs(apart))
    if step and apart:
        fade += weight * rest / (step * apart)
    real = LONGER**2 / (LONGER**2 + chance)  # share of the rest that is none of chance
    again = ((real * rest) ** 2 + real * chance) * (AGAIN**2 if step > 0.0 else 1.0)
    error = float(np.sqrt(error**2 + again * steps))
    return Trend(now, step, fade, error, DOUBT * abs(step) * float(np.sqrt(1.0 - weight)), wander)


def _moved(plain: Floats, whole: Floats, chains: float) -> tuple[float, float, float]:
    """Probit of what is found one by one, how far competition moves it, and the standard error of that."""
    one_by_one, at_once = _probit(plain), _probit(whole)
    spread = (chains * (whole - plain).var() + 1.0 / plain.size) / plain.size  # of nobody's gain the error is not 0
    density = np.exp(-(((one_by_one + at_once) / 2) ** 2) / 2) / np.sqrt(2 * np.pi)
    return one_by_one, at_once - one_by_one, float(np.sqrt(spread) / density)


def _probit(credits_: Floats) -> float:
    """Probit of a mean credit, kept from 0 and 1 by half a person."""
    return float(ndtri((credits_.sum() + 0.5) / (credits_.size + 1.0)))


def competition_of(
    study: Study,
    people: Rows,
    attack: Callable[[Study], Sequence[Pair]],
    seed: int,
    *,
    together: int = TOGETHER,
    everyone: int | None = None,
) -> tuple[Added, ...]:
    """Measure on fewer of these people what each figure of an attack gains when all are looked for at once.

    ``everyone``: how many all are; None: those of the study.
    """
    most = min(together, people.size)
    size = max(1, most // FEWER)
    parts = [_of_paired(attack, fewer_people(study, people, size, seed, part)) for part in range(most // size)]
    fewer = zip(*parts, strict=True)
    more = _of_paired(attack, fewer_people(study, people, most, seed))
    steps = float(np.log((everyone or len(study.release.paired_rows)) / most) / np.log(FEWER))
    return tuple(added(*pairs, steps, seed) for pairs in zip(fewer, more, strict=True))


def _of_paired(attack: Callable[[Study], Sequence[Pair]], few: Release) -> list[Pair]:
    """Credits of those who have a record: the others only compete."""
    there = few.paired_rows
    return [(plain[there], whole[there]) for plain, whole in attack(Study(few))]


def joined(pairs: Sequence[Pair]) -> Pair:
    """The credits of several draws, as of one."""
    plain, whole = (np.concatenate(credits_) for credits_ in zip(*pairs, strict=True))
    return plain, whole


def fewer_people(study: Study, people: Rows, size: int, seed: int, part: int = 0) -> Release:
    """So many of these people with their records, and as large a share of all who are in one file only.

    People who have no record compete for records as well, and records of nobody for people. They are drawn by what both
    files hold of them, not by their rows; a larger draw of the same seed contains them. ``part``: others, of whom no
    other part has anybody.
    """
    release, encoding, draw = study.release, study.encoding(), np.random.default_rng([seed, 8])
    a, b, truth = encoding.original, encoding.released, np.asarray(release.truth)
    own = truth[people]
    order = canonical_order(a.numeric[people], a.codes[people], b.numeric[own], b.codes[own])
    lot = draw.permutation(people.size)[part * size : (part + 1) * size]
    chosen = np.sort(people[order[lot]])
    share = chosen.size / len(release.paired_rows)

    def some(rows: Rows, side: Encoded) -> Rows:
        rows, most = rows[canonical_order(side.numeric[rows], side.codes[rows])], round(rows.size * share)
        return np.sort(draw.permutation(rows)[part * most : (part + 1) * most])

    spare = some(np.setdiff1d(np.arange(release.released.height), truth[truth >= 0]), b)
    absent = some(np.flatnonzero(truth < 0), a)
    known, records = np.concatenate((chosen, absent)), np.concatenate((truth[chosen], spare))
    there = np.concatenate((np.arange(chosen.size), np.full(absent.size, -1)))
    return release.with_tables(release.original[known], release.released[records], there)
