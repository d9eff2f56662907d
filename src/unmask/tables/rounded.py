"""Whose own number does a released number stand for? Rounded numbers, bands told by one number, top and bottom codes.

A rounded number equals nobody's, and yet whoever knows a person's number knows what it was rounded to: it stands for an
interval, as a band does that is written with both its ends. Rules are read from the pairs, and a rule is one only if
most of the numbers that were changed are where it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unmask.arrays import Floats

    Ends = Callable[[Floats], tuple[Floats, Floats]]
    Sides = tuple[Floats, Floats, Floats]
    Rule = tuple[str, Ends]  # in words, and the interval that each released number stands for

STEPS = tuple(sorted(round(k * 10.0**power, 9) for power in range(-4, 8) for k in (1, 2, 2.5, 5)))[::-1]
DIGITS = (1, 2, 3)  # significant ones that are kept
MOSTLY = 0.9  # share of people whom a rule must fit
CHANGED = 0.5  # the same of those whose number was changed: others may have been replaced besides
FEWEST = 5  # people whose number was changed; people at the end of a scale who are published under one number
IN_BAND = 5  # people for each number, on average, where bands are on no grid
CLOSE = 1e-6  # of a step: numbers are written in decimals
PROBES = 1000  # numbers that are looked at before all


class Rounded(NamedTuple):
    """The rule in words, and the interval that each released number stands for."""

    words: str
    low: Floats
    high: Floats


def read_rounding(known: Floats, made: Floats, published: Floats) -> Rounded | None:
    """How the numbers of a release were made coarser; None where they were not, or in a way that is not seen.

    ``known`` and ``made`` are those of the same people, before and after; ``published`` all numbers of the release, for
    which the intervals are told. NaN is missing.
    """
    there, every = np.isfinite(known) & np.isfinite(made), published[~np.isnan(published)]
    known, made = known[there], made[there]
    changed = known != made
    if np.count_nonzero(changed) < FEWEST or not np.isfinite(every).all():
        return None
    for words, ends in _rules(known, made, every):
        low, high = ends(made)
        fits = (low <= known) & (known <= high)
        if fits.mean() >= MOSTLY and fits[changed].mean() >= CHANGED:
            return Rounded(words, *ends(published))
    return None


def _rules(known: Floats, made: Floats, every: Floats) -> Iterator[Rule]:
    """Rules that the released numbers may follow, the likeliest first."""
    cut = _cut_off(lambda made: (made, made), known, made, every)
    if cut is not None:
        yield f"the release has a {cut[0]} code: numbers beyond it are published as it", cut[1]
    for words, ends in (*_on_grid(known, made, every), *_of_digits(known, made, every), *_in_stretches(known, made)):
        cut = _cut_off(ends, known, made, every)
        yield (words, ends) if cut is None else (f"{words}; the release has a {cut[0]} code", cut[1])


def _cut_off(ends: Ends, known: Floats, made: Floats, every: Floats) -> Rule | None:
    """The same rule where numbers beyond the largest or smallest released one were published as it."""
    least, most = every.min(), every.max()
    low, high = ends(made)
    top = np.count_nonzero((made == most) & (known > high)) >= FEWEST
    bottom = np.count_nonzero((made == least) & (known < low)) >= FEWEST
    if not (top or bottom):
        return None

    def cut(released: Floats) -> tuple[Floats, Floats]:
        low, high = ends(released)
        return (
            np.where(bottom & (released == least), -np.inf, low),
            np.where(top & (released == most), np.inf, high),
        )

    return " and a ".join(word for word, some in (("top", top), ("bottom", bottom)) if some), cut


# --- one grid for all ------------------------------------------------------------------------------------------------


def _on_grid(known: Floats, made: Floats, every: Floats) -> list[Rule]:
    """Ways to round to the widest step of which all released numbers are multiples, or lie half-way between."""
    for step in STEPS:
        if not any(_grids(every[:PROBES] / step)):
            continue
        multiples, halves = _grids(every / step)
        if multiples and np.round(every / step).any():  # small numbers are multiples of none
            return _to_multiples(known, made, step)
        if halves:
            return [
                (f"numbers are replaced by the middle of bands {step:g} wide", _nearest(known, made, _even_steps(step)))
            ]
    return []


def _grids(parts: Floats) -> tuple[bool, bool]:
    """Whether numbers, in steps, are whole, or lie half-way between whole ones."""
    whole, half = np.abs(parts - np.round(parts)), np.abs(parts - np.floor(parts) - 0.5)
    return float(whole.max()) < CLOSE, float(half.max()) < CLOSE


def _to_multiples(known: Floats, made: Floats, step: float) -> list[Rule]:
    words, small = f"multiples of {step:g}", CLOSE * step
    return [
        (f"numbers are rounded to {words}", _nearest(known, made, _even_steps(step))),
        (f"numbers are rounded down to {words}", lambda made: (made - small, made + step - small)),
        (f"numbers are rounded up to {words}", lambda made: (made - step + small, made + small)),
        (f"numbers are rounded up or down to {words}", lambda made: (made - step + small, made + step - small)),
    ]


def _nearest(known: Floats, made: Floats, place: Callable[[Floats], Sides]) -> Ends:
    """Half a step on either side; a number half-way between two goes where such numbers went.

    ``place`` tells of released numbers the step below and above each, and its number of steps.
    """
    (below, above, number), apart = place(made), known - made
    from_above = np.abs(apart - above / 2) < CLOSE * above
    from_below = np.abs(apart + below / 2) < CLOSE * below
    to_even = bool((np.round(number[from_above | from_below]) % 2 == 0).all())
    any_above, any_below = bool(from_above.any()), bool(from_below.any())

    def ends(released: Floats) -> tuple[Floats, Floats]:
        below, above, number = place(released)
        even = np.round(number) % 2 == 0 if to_even else np.full(released.shape, fill_value=True)
        low = even if any_above and any_below else np.full(released.shape, not any_above)
        high = even if any_above and any_below else np.full(released.shape, any_above)
        return (
            released - below * np.where(low, 0.5 + CLOSE, 0.5 - CLOSE),
            released + above * np.where(high, 0.5 + CLOSE, 0.5 - CLOSE),
        )

    return ends


def _even_steps(step: float) -> Callable[[Floats], Sides]:
    return lambda made: (np.full(made.shape, step), np.full(made.shape, step), made / step)


# --- bands of many widths --------------------------------------------------------------------------------------------


def _of_digits(known: Floats, made: Floats, every: Floats) -> Iterator[Rule]:
    """Only so many significant digits of each number are left."""
    for digits in DIGITS:
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = every / _place(every, digits)
        if (np.abs(parts - np.round(parts))[every != 0] < CLOSE).all():
            words = f"numbers are rounded to {digits} significant {'digit' if digits == 1 else 'digits'}"
            yield words, _nearest(known, made, _digits(digits))
            return


def _digits(digits: int) -> Callable[[Floats], Sides]:
    """Beyond 1,000 numbers are further apart than below it."""

    def sides(made: Floats) -> Sides:
        outward, inward = _place(made, digits), _place(made * (1 - CLOSE), digits)
        with np.errstate(divide="ignore", invalid="ignore"):
            number = np.nan_to_num(made / outward)
        return np.where(made > 0, inward, outward), np.where(made > 0, outward, inward), number

    return sides


def _place(numbers: Floats, digits: int) -> Floats:
    """What the last digit that is left is worth; 0 for 0."""
    with np.errstate(divide="ignore"):
        tens = np.floor(np.log10(np.abs(numbers)))
    return np.where(numbers == 0, 0.0, 10.0 ** (np.where(np.isfinite(tens), tens, 0.0) - digits + 1))


def _in_stretches(known: Floats, made: Floats) -> Iterator[Rule]:
    """Bands told by one number in each, such as their mean: along the known numbers each stands in one stretch.

    By chance that does not happen to several people of each number.
    """
    order = np.lexsort((known, made))
    known, made = known[order], made[order]
    first = np.flatnonzero(np.concatenate([[True], made[1:] != made[:-1]]))
    last = np.concatenate([first[1:], [len(made)]]) - 1
    bands, low, high = made[first], known[first], known[last]
    if not 2 <= len(first) <= len(made) // IN_BAND or (high[:-1] > low[1:]).any():
        return
    if not ((low <= bands) & (bands <= high)).all():
        return
    edges = (high[:-1] + low[1:]) / 2
    starts, stops = np.concatenate([[-np.inf], edges]), np.concatenate([edges, [np.inf]])

    def ends(released: Floats) -> tuple[Floats, Floats]:
        place = np.minimum(np.searchsorted(bands, np.nan_to_num(released)), len(bands) - 1)
        seen = bands[place] == released
        return np.where(seen, starts[place], released), np.where(seen, stops[place], released)

    yield "numbers are told by one number for each band of them", ends
