"""A claim of differential privacy held against one release: guesses about who is in it [STEINKE]_.

Somebody guesses of some people that they are in the release (or that they are not), and is silent about the others. If
the release is epsilon-private and everybody was in it or not by a coin of their own, each guess is right at most with
probability e^epsilon / (1 + e^epsilon) where half of all are in it, whatever the guesses before it were; so no more of
them are right than of as many coins. Delta adds at most 2 delta for each person to the chance of more. Whom to guess
about is chosen on one half of the people and counted on the other. That people are in or out by coins of their own is
an assumption here: it holds about where members and control were drawn from one population.
"""

from __future__ import annotations

from math import exp, inf, log
from typing import NamedTuple

from unmask.arrays import Floats, Ints
from unmask.disclosure.epsilon import choose_rule, clopper_pearson
from unmask.evidence import Estimate, Observation

LEVEL = 0.05


class Guesses(NamedTuple):
    """Guesses about one half of the people: how many are right, and how many a coin would get right."""

    right: int
    guesses: int
    prior: float  # share of people of whom the guess is true
    people: int

    def shown(self, level: float, delta: float = 0.0) -> float:
        """Epsilon is at least this; wrong with at most this probability."""
        return max(0.0, self.bound(level, delta))

    def bound(self, level: float, delta: float = 0.0) -> float:
        """The same, below 0 where nothing is shown."""
        left = level - 2 * delta * self.people
        if left <= 0 or not self.right:
            return -inf
        return _logit(clopper_pearson(self.right, self.guesses, left)[0]) - _logit(self.prior)

    def allowed(self, epsilon: float) -> float:
        """The largest share of guesses that is right on average, if the claim is true."""
        odds = self.prior / (1 - self.prior)
        return odds / (odds + exp(-min(epsilon, 700.0)))


def guesses_of(scores: tuple[Floats, Floats], split: tuple[Ints, Ints]) -> tuple[Guesses, ...]:
    """Guess about each half by the rule that shows most on the other. ``scores``: of members and of strangers."""
    found = []
    for half in (0, 1):
        away, here = ([side[part != half] for side, part in zip(scores, split, strict=True)],
                      [side[part == half] for side, part in zip(scores, split, strict=True)])  # fmt: skip
        if min(side.size for side in (*away, *here)) == 0:
            continue
        rule, _ = choose_rule(away[0], away[1])
        counted = rule.counted(here[0], here[1])
        everybody = counted.runs + counted.others
        found.append(Guesses(counted.right, counted.right + counted.wrong, counted.runs / everybody, everybody))
    return tuple(found)


def shown_by(guesses: tuple[Guesses, ...], delta: float = 0.0) -> tuple[float, Guesses | None]:
    """The largest epsilon that any of them shows; together they are wrong one time in twenty at most."""
    if not guesses:
        return 0.0, None
    level = LEVEL / len(guesses)
    best = max(guesses, key=lambda one: one.bound(level, delta))
    return best.shown(level, delta), best


def held_to_claim(guesses: tuple[Guesses, ...], epsilon: float | None, delta: float) -> tuple[Observation, ...]:
    """How many more guesses are right than the claim allows; nothing where nothing is claimed."""
    shown, best = shown_by(guesses, delta)
    if epsilon is None or best is None:
        return ()
    allowed, rate = best.allowed(epsilon), best.right / max(best.guesses, 1)
    left = max(LEVEL / len(guesses) - 2 * delta * best.people, 1e-12)
    low = clopper_pearson(best.right, best.guesses, left)[0] if best.guesses else 0.0
    at_delta = f" and delta {delta:g}" if delta else ""
    words = (
        f"Epsilon {epsilon:g}{at_delta} is claimed, and at least {shown:.2f} is shown (95 %): of {best.guesses:,} "
        f"guesses about who is in the release {best.right:,} are right, where the claim allows "
        f"{allowed * best.guesses:,.0f} on average."
    )
    beyond = Estimate(
        max(0.0, rate - allowed), max(0.0, low - allowed), max(0.0, 1 - allowed), max(best.guesses, 1), 0.0, None,
        "exact",
    )  # fmt: skip
    return (Observation("membership.claim", words, beyond),)


def _logit(share: float) -> float:
    return log(share / (1 - share)) if share < 1 else inf
