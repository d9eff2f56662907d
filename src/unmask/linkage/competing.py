"""What competition adds: of very many people some are asked for one by one, though all of them want records.

Whoever looks for everybody at once finds more, since a record that suits somebody else better is nobody else's. Among
fewer people, drawn at random with their records, both can be had: the same people asked for one by one, and all at
once. What that adds rises from nothing, where everybody is found anyway, ever more slowly with the logarithm of their
number, and falls again as people get lost in the crowd. So it is at most what it would be if it went on rising as it
does last, or if it falls, what it was; or, where nearly everybody is found and it has hardly begun to rise, the same
share of those who are missed one by one. More people are found no oftener than fewer are, all at once. What is expected
follows from how many are found one by one among all, which is known: measured in standard deviations of a normal law
(probits), as one measures how well a signal is told from noise, competition moves what is found by a step that changes
slowly and steadily with it.
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
    from unmask.tables import Release

TOGETHER = 40_000  # people, with their records, who are looked for all at once
FEWER = 4  # times: to see how what is added changes
USUAL = 0.2  # sd of the change over tables, by which one that is hardly seen is not carried far
Z99 = 2.576  # of those who are missed there may be few, and they stand for many

Pair = tuple["Floats", "Floats"]  # credits of the same people: as they were asked for, and by the whole attack


@dataclass(frozen=True, slots=True)
class Trend:
    """How far competition moves the share that is found one by one, in probits: at one share, and how that changes."""

    at: float  # probit of the share found one by one of those who were looked for all at once
    step: float
    slope: float

    def gain(self, share: float) -> float:
        """What is added to such a share of people."""
        if not 0.0 < share < 1.0:
            return 0.0
        x = float(ndtri(share))
        return float(ndtr(x + self.step + self.slope * (x - self.at))) - share


@dataclass(frozen=True, slots=True)
class Added:
    """What competition may add to a share of people, and the share of fewer people that is found with it."""

    most: float  # upper end of what is added
    together: float  # upper end of what is found of fewer people, all at once
    trend: Trend | None = None  # what is expected; None: nothing
    least: float = 0.0  # lower end: below 0 where competition may do harm
    regained: float = 0.0  # upper end of the share of those missed one by one who are found all at once

    def expected(self, share: float) -> float:
        """What is expected to be added to a share of people found one by one."""
        return 0.0 if self.trend is None else self.trend.gain(share)

    def widen(self, estimate: Estimate) -> Estimate:
        """The estimate, its upper end raised by what competition may add."""
        high = min(estimate.high + max(self.most, (1.0 - estimate.high) * self.regained), self.together)
        return replace(estimate, high=min(1.0, max(estimate.high, high)))

    def raise_to(self, estimate: Estimate) -> Estimate:
        """The estimate of all at once: raised by what is expected, between what may be lost and what may be added."""
        wide = self.widen(estimate)
        value = min(max(estimate.value + self.expected(estimate.value), 0.0), wide.high)
        return replace(wide, value=value, low=min(value, max(0.0, estimate.low + min(0.0, self.least))))


def added(fewer: Pair, more: Pair, steps: float, seed: int) -> Added:
    """What competition adds among so many steps more, by what it adds to fewer people and to more."""
    before, now = (whole - plain for plain, whole in (fewer, more))
    error = Z95 * now.std() / np.sqrt(now.size)
    rising = max(0.0, float(now.mean() - before.mean())) * steps
    return Added(
        max(0.0, float(now.mean() + error)) + rising,
        rate(more[1], chance=0.0, seed=seed).high,
        _trend(fewer, more),
        float(now.mean() - error),
        wilson(max(0.0, float(now.sum())), float((1.0 - more[0]).sum()), Z99)[1],
    )


def _trend(fewer: Pair, more: Pair) -> Trend:
    """How competition moves the share of more people, and how much farther or less far than that of fewer."""
    (then, then_step, then_error), (now, step, error) = (_moved(*pair) for pair in (fewer, more))
    apart = now - then
    ridge = (then_error**2 + error**2) / USUAL**2  # the likeliest slope, if slopes are normal around 0
    return Trend(now, step, (step - then_step) * apart / (apart * apart + ridge))


def _moved(plain: Floats, whole: Floats) -> tuple[float, float, float]:
    """Probit of what is found one by one, how far competition moves it, and the standard error of that."""
    one_by_one, at_once = _probit(plain), _probit(whole)
    spread = ((whole - plain).var() + 1.0 / plain.size) / plain.size  # of nobody's gain the error is not 0
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
    parts = [attack(Study(fewer_people(study, people, size, seed, part))) for part in range(most // size)]
    fewer = [joined(pairs) for pairs in zip(*parts, strict=True)]
    more = attack(Study(fewer_people(study, people, most, seed)))
    steps = float(np.log((everyone or len(study.release.paired_rows)) / most) / np.log(FEWER))
    return tuple(added(*pairs, steps, seed) for pairs in zip(fewer, more, strict=True))


def joined(pairs: Sequence[Pair]) -> Pair:
    """The credits of several draws, as of one."""
    plain, whole = (np.concatenate(credits_) for credits_ in zip(*pairs, strict=True))
    return plain, whole


def fewer_people(study: Study, people: Rows, size: int, seed: int, part: int = 0) -> Release:
    """So many of these people, with their records and as large a share of the records of nobody.

    They are drawn by what both files hold of them, not by their rows; a larger draw of the same seed contains them.
    ``part``: others, of whom no other part has anybody.
    """
    release, encoding, draw = study.release, study.encoding(), np.random.default_rng([seed, 8])
    a, b, truth = encoding.original, encoding.released, np.asarray(release.truth)
    own = truth[people]
    order = canonical_order(a.numeric[people], a.codes[people], b.numeric[own], b.codes[own])
    chosen = np.sort(people[order[draw.permutation(people.size)[part * size : (part + 1) * size]]])
    nobodys = np.setdiff1d(np.arange(release.released.height), truth[truth >= 0])
    nobodys = nobodys[canonical_order(b.numeric[nobodys], b.codes[nobodys])]
    spare = draw.permutation(nobodys)[: round(nobodys.size * chosen.size / len(release.paired_rows))]
    records = np.concatenate((truth[chosen], np.sort(spare)))
    return release.with_tables(release.original[chosen], release.released[records], np.arange(chosen.size))
