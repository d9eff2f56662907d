"""How large epsilon is at least, shown by an attack that was tried many times [JAGIELSKI]_, [NASR]_.

A mechanism is (epsilon, delta)-private if no rule says "with this person" more than e^epsilon times as often (and delta
more) when it is true as when it is not. A rule that does so often enough shows that epsilon is larger. The rule is
chosen on some runs and counted on others, so that it owes nothing to luck; Clopper and Pearson's ends stand for the two
shares, each wrong with half of what the confidence leaves.
"""

from __future__ import annotations

from math import inf, log
from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints

MOST_RUNS = 10**9  # beyond, no number of runs is named
CONFIDENCE = 0.95


class Counted(NamedTuple):
    """How often a rule says yes: rightly, of so many runs, and wrongly, of so many."""

    right: int
    runs: int
    wrong: int
    others: int

    def shown(self, delta: float = 0.0, confidence: float = CONFIDENCE) -> float:
        """The least epsilon that agrees with these counts, at this confidence; 0 where nothing is shown."""
        level = (1 - confidence) / 2
        low = clopper_pearson(self.right, self.runs, level)[0]
        high = clopper_pearson(self.wrong, self.others, level)[1]
        return _log_ratio(low - delta, high)

    def value(self, delta: float = 0.0) -> float:
        """The epsilon of the shares themselves, with half a run more on either side, so that it is finite."""
        right, wrong = (self.right + 0.5) / (self.runs + 1), (self.wrong + 0.5) / (self.others + 1)
        return _log_ratio(right - delta, wrong)


class Rule(NamedTuple):
    """Say yes from a score on (or, for the other answer, up to it)."""

    level: float
    above: bool

    def counted(self, mine: Floats, others: Floats) -> Counted:
        """How often it is right and wrong; ``above`` false: it says "without", which is right for the others."""
        if self.above:
            return Counted(int((mine >= self.level).sum()), mine.size, int((others >= self.level).sum()), others.size)
        return Counted(int((others <= self.level).sum()), others.size, int((mine <= self.level).sum()), mine.size)


def choose_rule(mine: Floats, others: Floats, delta: float = 0.0, confidence: float = CONFIDENCE) -> tuple[Rule, float]:
    """The rule that shows most on these runs, or comes nearest to it; and how much it shows."""
    levels = np.unique(np.concatenate([mine, others]))
    a, b = np.sort(mine), np.sort(others)
    found = (Rule(float(levels[-1]), above=True), -np.inf)
    for above in (True, False):
        hits, alarms = ((_beyond(side, levels, above=above)) for side in (a, b))
        right, wrong = (hits, alarms) if above else (alarms, hits)
        sizes = (a.size, b.size) if above else (b.size, a.size)
        shown = _shown(right, sizes[0], wrong, sizes[1], delta, confidence)
        best = int(np.argmax(shown))
        if shown[best] > found[1]:
            found = Rule(float(levels[best]), above=above), float(shown[best])
    return found[0], max(0.0, found[1])


def most_shown(runs: int, delta: float = 0.0, confidence: float = CONFIDENCE) -> float:
    """The epsilon that a rule shows which is always right, in so many runs with the person and as many without."""
    return Counted(runs, runs, 0, runs).shown(delta, confidence)


def least_runs(epsilon: float, delta: float = 0.0, confidence: float = CONFIDENCE) -> int | None:
    """The fewest runs in which a rule that is always right shows more than epsilon; None: no number of them."""
    low, high = 0, 1
    while most_shown(high, delta, confidence) <= epsilon:
        low, high = high, 2 * high
        if high > MOST_RUNS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if most_shown(middle, delta, confidence) > epsilon else (middle, high)
    return high


def _beyond(side: Floats, levels: Floats, *, above: bool) -> Ints:
    """How many of a sorted side are at each level or beyond it."""
    return np.asarray(
        side.size - np.searchsorted(side, levels, "left") if above else np.searchsorted(side, levels, "right")
    )


def _shown(right: Ints, n: int, wrong: Ints, m: int, delta: float, confidence: float) -> Floats:
    """`Counted.shown` for many counts at once, below 0 where nothing is shown."""
    from scipy.special import betaincinv  # noqa: PLC0415 - slow to import

    level = (1 - confidence) / 2
    low = np.where(right > 0, betaincinv(np.maximum(right, 1), n - right + 1, level), 0.0)
    high = np.where(wrong < m, betaincinv(wrong + 1, np.maximum(m - wrong, 1), 1 - level), 1.0)
    return np.asarray(np.log(np.maximum(low - delta, 1e-300) / high))


def _log_ratio(above: float, below: float) -> float:
    if above <= 0:
        return 0.0
    return max(0.0, log(above / below)) if below > 0 else inf


def clopper_pearson(hits: int, n: int, level: float = 0.025) -> tuple[float, float]:
    """Exact ends of a share [CLOPPER]_, each wrong with at most this probability."""
    from scipy.special import betaincinv  # noqa: PLC0415 - slow to import

    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, level))
    high = 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1 - level))
    return low, high
