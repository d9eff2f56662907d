"""An intruder who may keep silent: they name a secret only where they are sure, and say nothing of the others.

A rate over everybody hides them: who is certain of one person in thirty and guesses about the rest looks like somebody
who guesses. So people are put in the order of how sure the intruder is, and claims about the surest are held against as
many claims about people who are outside the release (or the same people, left out of it). Precision: share of claims
that are right; recall: share of people about whom one is made. The anonymity loss coefficient is that of [ALC]_.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from unmask.arrays import Flags, Floats, Rows
from unmask.errors import ParameterError
from unmask.evidence import Estimate, Fact, Figure, Series, excess, excess_over_control, wilson
from unmask.shares import percent

LEFT_OUT = "the same people left out"
PRECISION = 0.9  # that claims must reach
SHARES = np.arange(1, 101) / 100  # of the people, about whom a claim may be made
CLEARLY = 1.6448536269514722  # standard errors by which claims must beat those about others, or nobody claims anything
LEAST_RECALL, STRENGTH = 1e-4, 3.0  # of the precision-recall coefficient: R_min and alpha of the paper
TIGHT, LOOSE = 0.1, 0.25  # width of the interval of a precision that counts; the second where the first gives nothing


class Guesses(NamedTuple):
    """For each person how right the guess about them is, in [0, 1], and how sure the intruder is of it."""

    right: Floats
    sure: Floats


@dataclass(frozen=True, slots=True)
class Claims:
    """What sure claims give away: about people in the release, and about as many others.

    ``given_away``: people rightly claimed beyond as many claims about others; which share to claim is chosen on one
    half of the people and tried on the other, so that it is not the luckiest.
    """

    given_away: Estimate
    share: float  # recall: people about whom the intruder claims with the precision wanted, at most
    precision: float  # of these claims; 0 without any
    others: float  # precision of as many claims about others
    alc: float | None  # anonymity loss coefficient; None where there are too few people for it
    wanted: float
    curve: tuple[Floats, Floats, Floats] = field(
        repr=False, compare=False
    )  # share claimed, precision inside, precision of others


def claims(
    inside: Guesses, outside: Guesses, *, same: bool, seed: int = 0, among: int = 1, precision: float = PRECISION
) -> Claims:
    """Hold the surest claims about people in the release against as many about others.

    ``same``: the others are the same people, left out of the release; else they are people outside it. ``among``: this
    is the largest of so many figures.
    """
    if not 0.5 <= precision <= 1:
        raise ParameterError("a precision is a share of claims", got=str(precision), allowed="from 0.5 to 1")
    mine, theirs = right_by_share(inside, SHARES), right_by_share(outside, SHARES)
    good = np.flatnonzero(mine / SHARES >= precision)
    last = int(good[-1]) if good.size else None
    a, b = _tried(inside, outside, same=same, seed=seed, precision=precision)
    gain = excess if same else excess_over_control
    return Claims(
        given_away=gain(a, b, seed=seed, among=among),
        share=0.0 if last is None else float(SHARES[last]),
        precision=0.0 if last is None else float(mine[last] / SHARES[last]),
        others=0.0 if last is None else float(theirs[last] / SHARES[last]),
        alc=anonymity_loss(inside, outside),
        wanted=precision,
        curve=(SHARES, mine / SHARES, theirs / SHARES),
    )


def right_by_share(guesses: Guesses, shares: Floats) -> Floats:
    """Share of people who are rightly claimed where so many of the surest are; equally sure ones count alike."""
    right = np.concatenate([[0.0], np.cumsum(_shared(guesses))])
    places = shares * guesses.right.size
    return np.asarray(np.interp(places, np.arange(right.size), right) / guesses.right.size)


def _shared(guesses: Guesses) -> Floats:
    """How right guesses are, the surest first, with the mean of those that are equally sure."""
    _, tie, counts = np.unique(-guesses.sure, return_inverse=True, return_counts=True)
    means = np.bincount(tie, guesses.right) / counts
    return np.asarray(np.repeat(means, counts))


def claimed(sure: Floats, share: float) -> Floats:
    """Weight of each person where a share of the surest is claimed: 1, 0, or in between for the last equally sure."""
    levels, tie, counts = np.unique(-sure, return_inverse=True, return_counts=True)
    before = np.cumsum(counts) - counts
    part = np.clip((share * sure.size - before) / counts, 0.0, 1.0)
    return np.asarray(part[tie.reshape(sure.shape)]) if levels.size else np.zeros(0)


def _tried(inside: Guesses, outside: Guesses, *, same: bool, seed: int, precision: float) -> tuple[Floats, Floats]:
    """Credit of each person: the share to claim is chosen on one half of the people and tried on the other."""
    rng = np.random.default_rng([seed, 7])
    first = _half([*inside, *(outside if same else ())], rng)
    second = first if same else _half(list(outside), rng)
    mine, theirs = np.zeros(inside.right.size), np.zeros(outside.right.size)
    for part in (0, 1):
        here, there = first == part, second == part
        if not all(side.any() for side in (here, ~here, there, ~there)):
            continue
        share = best_share(_of(inside, ~here), _of(outside, ~there), precision)
        mine[here] = claimed(inside.sure[here], share) * inside.right[here]
        theirs[there] = claimed(outside.sure[there], share) * outside.right[there]
    return mine, theirs


def _of(guesses: Guesses, some: Flags) -> Guesses:
    return Guesses(guesses.right[some], guesses.sure[some])


def _half(content: list[Floats], rng: np.random.Generator) -> Rows:
    """0 or 1 for each person, by a lot over their content, not over the order of rows."""
    half = np.empty(content[0].size, dtype=np.int64)
    half[np.lexsort(content[::-1])] = rng.permutation(content[0].size) % 2
    return half


def best_share(inside: Guesses, outside: Guesses, precision: float) -> float:
    """The share to claim that gives most away for sure, where the precision is reached; 0: better to keep silent."""
    mine, theirs = right_by_share(inside, SHARES), right_by_share(outside, SHARES)
    error = np.sqrt(mine * (1 - mine) / inside.right.size + theirs * (1 - theirs) / outside.right.size)
    for_sure = np.where(mine / SHARES >= precision, mine - theirs - CLEARLY * error, -1.0)
    best = int(np.argmax(for_sure))
    return float(SHARES[best]) if for_sure[best] > 0 else 0.0


# --- the anonymity loss coefficient ----------------------------------------------------------------------------------


class Best(NamedTuple):
    """The claims with the largest precision-recall coefficient: how many, and the middle of their interval."""

    n: int
    precision: float
    recall: float


def coefficient(precision: float, recall: float) -> float:
    """Precision-recall coefficient (1 - (log R / log R_min)^alpha) P, in four digits as its authors print it [ALC]_."""
    precision, recall = min(max(precision, 0.0), 1.0), min(max(recall, 0.0), 1.0)
    if recall <= LEAST_RECALL:
        return round(recall, 4)
    return round(float((1 - (np.log10(recall) / np.log10(LEAST_RECALL)) ** STRENGTH) * precision), 4)


def best_claims(guesses: Guesses, width: float) -> Best:
    """The best coefficient over all numbers of surest people, where the precision is known to within ``width``."""
    order = np.argsort(-guesses.sure, kind="stable")
    sure, right = guesses.sure[order], np.cumsum(guesses.right[order])
    ends = np.flatnonzero(np.append(np.diff(sure) != 0, True))  # of those that are equally sure, all or none
    found, most = Best(0, 0.0, 0.0), 0.0
    for end in ends:
        n = int(end) + 1
        low, high = (round(side, 4) for side in wilson(float(right[end]), n))
        middle = low + (high - low) / 2
        value = coefficient(middle, n / sure.size) if high - low < width else 0.0
        if value > most:
            found, most = Best(n, round(middle, 4), round(n / sure.size, 4)), value
    return found


def anonymity_loss(inside: Guesses, outside: Guesses) -> float | None:
    """Relative gain of the coefficient over that of others: 1 all is lost, 0 nothing; below 0 others do better."""
    for width in (TIGHT, LOOSE):
        attack, base = (best_claims(side, width) for side in (inside, outside))
        if attack.n and base.n:
            return loss(coefficient(*base[1:]), coefficient(*attack[1:]))
    return None


def loss(base: float, attack: float) -> float:
    """ALC of two coefficients [ALC]_."""
    base, attack = min(base, 0.99999999), min(attack, 0.99999999)
    return round((attack - base) / (1.0 - base), 4)


def commonest(values: Floats, reach: float | None) -> tuple[float, float]:
    """The commonest of some values (of equally common ones the least), and the share that agrees with it.

    ``reach``: of numbers the middle one, with which those within reach agree; None for categories.
    """
    if reach is None:
        levels, counts = np.unique(values, return_counts=True)
        return float(levels[counts.argmax()]), float(counts.max() / values.size)
    middle = float(np.sort(values)[(values.size - 1) // 2])
    return middle, float((np.abs(values - middle) <= reach).mean())


# --- in a report -----------------------------------------------------------------------------------------------------


def claim_words(found: Claims, name: str, others: str) -> str:
    """The sentence of the judged figure."""
    kept = f"Sure claims about {name!r} (right {percent(found.wanted)} of the time)"
    if not found.share:
        return f"{kept} can be made about nobody; {percent(found.given_away.value)} of people are given away by them."
    return (
        f"{kept} can be made about {percent(found.share)} of {found.given_away.n:,} people; as many about {others} are "
        f"right {percent(found.others)} of the time. By their own row {percent(found.given_away.value)} of people "
        f"are given away."
    )


def claim_facts(found: Claims, name: str) -> tuple[Fact, ...]:
    """Precision, recall and the coefficient."""
    told = [
        Fact(
            f"{name}: people claimed",
            round(found.share, 4),
            f"with a precision of at least {percent(found.wanted)}",
            share=True,
        )
    ]
    if found.alc is not None:
        words = "anonymity loss coefficient: 1 all is lost, 0 nothing; its authors call up to 0.5 safe"
        told.append(Fact(f"{name}: ALC", found.alc, words))
    return tuple(told)


def claim_figure(found: Claims, name: str, others: str) -> Figure:
    """Precision against recall, inside and outside."""
    x, y, z = (tuple(side.tolist()) for side in found.curve)
    return Figure(
        shape="line",
        title="How often is an intruder right who claims only what they are sure of?",
        caption=f"Precision of claims about {name!r} by the share of people about whom one is made, the surest first. "
        "Only where the first line is above the second does the release itself give somebody away.",
        alt=f"The surest tenth of claims is right {percent(y[9])} of the time in the release, {percent(z[9])} for "
        f"{others}; "
        f"all of them {percent(y[-1])} and {percent(z[-1])}.",
        x_label="people claimed",
        y_label="claims that are right",
        series=(Series("people in the release", x, y), Series(others, x, z)),
        percent=(True, True),
    )
