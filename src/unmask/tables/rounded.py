"""Whose own number does a released number stand for? Rounded numbers, middles of bands, and top and bottom codes.

A rounded number equals nobody's, and yet contains the value of everybody who was rounded to it. What is recognised is
told in words; the attacks see the numbers as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from unmask.arrays import Flags, Floats

STEPS = tuple(sorted(round(k * 10.0**power, 9) for power in range(-4, 8) for k in (1, 2, 2.5, 5)))[::-1]
MOSTLY = 0.9  # share of people whom a rule must fit
EXACT = 0.5  # share with the very same number, above which nothing is rounded
FEWEST = 5  # people at the end of a scale who are published under one number
CLOSE = 1e-6  # of a step: numbers are written in decimals
PROBES = 1000  # numbers that are looked at before all


class Contained(NamedTuple):
    """The rule in words, and whose value is in the published one."""

    words: str
    own: Flags


def containing(known: Floats, published: Floats) -> Contained | None:
    """How numbers (paired, none missing) were rounded or cut off; None where neither is seen."""
    same = known == published
    if not known.size or same.all():
        return None
    cut = _cut_off(known, published)
    if cut is not None:
        return cut
    return None if same.mean() > EXACT else _rounded(known, published)


def _cut_off(known: Floats, published: Floats) -> Contained | None:
    """Numbers beyond the largest or smallest released one that were published as it, and no other was changed."""
    top, bottom = published.max(), published.min()
    above, below = (known > top) & (published == top), (known < bottom) & (published == bottom)
    own = (known == published) | above | below
    sides = [word for word, some in (("top", above), ("bottom", below)) if some.sum() >= FEWEST]
    if not sides or own.mean() < MOSTLY:
        return None
    return Contained(f"the release has a {' and a '.join(sides)} code: numbers beyond it are published as it", own)


def _rounded(known: Floats, published: Floats) -> Contained | None:
    """The widest step of which all released numbers are multiples, or lie half-way between, and that fits."""
    for step in STEPS:
        ways = _ways(known, published, step)
        for words, own in ways:
            if own.mean() >= MOSTLY:
                return Contained(f"numbers are {words}", own)
        if ways:
            return None
    return None


def _ways(known: Floats, published: Floats, step: float) -> list[tuple[str, Flags]]:
    """Ways to round to a step, if released numbers lie on one grid of it."""
    if not any(_grids(published[:PROBES] / step)):
        return []
    parts = published / step
    multiples, halves = _grids(parts)
    apart = known - published
    small = CLOSE * step
    near = np.abs(apart) <= step / 2 + small
    if multiples and np.round(parts).any():  # small numbers are multiples of none
        words = f"multiples of {step:g}"
        up, down = (apart <= small) & (apart > -step - small), (apart >= -small) & (apart < step + small)
        return [(f"rounded to {words}", near), (f"rounded down to {words}", down), (f"rounded up to {words}", up)]
    if halves:
        return [(f"replaced by the middle of bands {step:g} wide", near)]
    return []


def _grids(parts: Floats) -> tuple[bool, bool]:
    """Whether numbers, in steps, are whole, or lie half-way between whole ones."""
    if not np.isfinite(parts).all():
        return False, False
    whole, half = np.abs(parts - np.round(parts)), np.abs(parts - np.floor(parts) - 0.5)
    return float(whole.max()) < CLOSE, float(half.max()) < CLOSE
