"""Interval disclosure: how near a masked number still is to the person's own, by ranks (rid) and by sd (sdid) [TORRA]_.

Departure: algorithm 7 clamps with min(i - w, 0) and max(i + w, |X| - 1), which leaves the array; here the ends are
max(i - w, 0) and min(i + w, |X| - 1), with w = p |X| / 2.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.arrays import Counts, Flags, Floats
from unmask.disclosure.denoise import Record, denoised, indicators
from unmask.disclosure.inference import hold_out
from unmask.disclosure.secrets import comparable_numbers, numeric_secrets, paired_numbers
from unmask.errors import ParameterError, RoleError, former_percent
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, Series, measure, rate, silent
from unmask.kernels.windows import count_reached, rank_gaps
from unmask.shares import percent
from unmask.shown import Shown
from unmask.study import Study, as_study, spread
from unmask.tables import centre_and_spread
from unmask.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unmask.evidence import Progress
    from unmask.tables import Release


WIDTHS = tuple(p / 100 for p in range(1, 21))
CHANCE_POINTS = 2_000  # masked values, evenly spaced in their order, over which the chance level is averaged


@dataclass(frozen=True, slots=True)
class AttributeIntervals:
    """Share of people whose value is inside the interval, for each width, and the same by chance."""

    name: str
    n: int  # people who have the attribute
    rank: tuple[float, ...]
    sd: tuple[float, ...]
    rank_chance: tuple[float, ...]
    sd_chance: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class IntervalDisclosure(Shown):
    """Interval disclosure of each numeric attribute. Estimates are means over attributes and widths."""

    widths: tuple[float, ...]  # shares: of the people, of the sd
    attributes: tuple[AttributeIntervals, ...]
    rank: Estimate
    sd: Estimate
    denoised: Estimate  # as sd, around what the whole record lets one estimate in place of the published number
    rank_per_record: Floats = field(repr=False)  # one entry per original record, NaN where there is nothing to tell
    sd_per_record: Floats = field(repr=False)
    notes: tuple[str, ...] = ()


class _Column(NamedTuple):
    has: Flags
    rank: Counts  # per person with a value: widths whose window holds the value
    sd: Counts
    result: AttributeIntervals


def interval_disclosure(
    release: Release | Study,
    *,
    attributes: Iterable[str] | None = None,
    widths: Sequence[float] = WIDTHS,
    seed: int = 0,
    progress: Progress = silent,
    grid: Sequence[float] | None = None,
) -> IntervalDisclosure:
    """Rank- and sd-based interval disclosure (Torra, algorithms 7 and 8) of numeric attributes.

    Parameters
    ----------
    release
        The two tables, paired.
    attributes
        Numeric columns. None: the confidential ones if any are named, else all that the intruder knows.
    widths
        Widths p of the intervals, as shares of the people and of the sd: each above 0 and at most 1, ascending.
    seed, progress
        Seeds the bootstrap of the intervals; called with the fraction done and a word.
    grid
        The former name of ``widths``, in percent, until version 0.3.

    Examples
    --------
    >>> import polars as pl, unmask
    >>> people = pl.DataFrame({"income": [1.0, 2.0, 3.0, 4.0]})
    >>> unmask.interval_disclosure(unmask.Release(people, people)).rank.value
    1.0

    """
    if grid is not None:
        former_percent("grid", max(grid, default=0.0), "widths")  # it was one where its largest is above 1
        widths = [p / 100 for p in grid]
    shares = _check_widths(widths)
    study = as_study(release)
    release = study.release
    names, notes = comparable_numbers(study, *numeric_secrets(release, attributes))
    columns: list[_Column] = []
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        jobs = (pool.submit(_column, name, *paired_numbers(study, name), shares) for name in names)
        for number, job in enumerate(list(jobs), start=1):
            columns.append(job.result())
            progress(number / len(names), "intervals")
    present = np.sum([column.has for column in columns], axis=0)
    if not present.any():
        raise RoleError("no person has a value in any of these attributes", got=", ".join(map(repr, names)))
    sides = [_combine(release, columns, present, which, len(shares), seed) for which in ("rank", "sd")]
    outside = _outside(study, names, shares)
    return IntervalDisclosure(
        tuple(shares.tolist()),
        tuple(column.result for column in columns),
        replace(sides[0][0], control=outside[0]),
        replace(sides[1][0], control=outside[1]),
        replace(_denoised(study, names, shares, sides[1][0].chance, seed), control=outside[1]),
        sides[0][1],
        sides[1][1],
        notes,
    )


def _denoised(study: Study, names: tuple[str, ...], widths: Floats, chance: float, seed: int) -> Estimate:
    """Share of values within the widths of an estimate from the whole record, learnt from other people."""
    release = study.release
    encoding = study.encoding((*release.quasi, *(name for name in names if name not in release.quasi)))
    shown = np.column_stack([encoding.released.numeric, *indicators(encoding.released.codes)])
    record = Record(shown[release.truth[release.paired_rows]])
    inside, present = np.zeros(len(record.shown)), np.zeros(len(record.shown))
    with one_thread():  # small products of matrices: threads would only wait for each other
        for place, name in enumerate(names):
            values, masked = paired_numbers(study, name)
            estimate = denoised(values, masked, record, seed=seed + place)
            has = ~np.isnan(values)
            reach = widths * centre_and_spread(values)[1]
            inside[has] += (np.abs(values - estimate)[has, None] <= reach).mean(axis=1)
            present[has] += 1
    some = present > 0
    return rate(inside[some] / present[some], chance=chance, seed=seed)


def _check_widths(given: Sequence[float]) -> Floats:
    widths = np.asarray(given, dtype=np.float64)
    if widths.ndim != 1 or not widths.size or not ((widths > 0) & (widths <= 1)).all() or (np.diff(widths) <= 0).any():
        raise ParameterError("the widths are not allowed", allowed="ascending shares, above 0 and at most 1")
    return widths


def _windows(widths: Floats, n: int) -> Floats:
    """Ranks that the windows of n people reach, doubled, as the gaps are; 0.29 of 100 people are 29."""
    return np.round(widths * n, 9)


def _column(name: str, values: Floats, masked: Floats, widths: Floats) -> _Column:
    has = ~np.isnan(values)
    known, hidden = (values, masked) if has.all() else (values[has], masked[has])
    n = int(known.size)
    if n == 0:
        empty = np.zeros(0, dtype=np.int64)
        zeros = tuple(0.0 for _ in widths)
        return _Column(has, empty, empty, AttributeIntervals(name, 0, zeros, zeros, zeros, zeros))
    gaps, positions, ordered, hidden_ordered = rank_gaps(known, hidden)
    windows = _windows(widths, n)
    spread = centre_and_spread(ordered)[1]
    reach = widths * spread
    rank, rank_rates = _levels(gaps, np.floor(windows).astype(np.int64))
    sd, sd_rates = _levels(np.abs(known - hidden), reach)
    present, places, masked_at = positions.size / n, _spaced(positions), _spaced(hidden_ordered)
    by_rank = _chance(ordered, (_window(ordered, places, width) for width in windows), present)
    by_sd = _chance(ordered, ((masked_at - width, masked_at + width) for width in reach), present)
    return _Column(has, rank, sd, AttributeIntervals(name, n, rank_rates, sd_rates, by_rank, by_sd))


def _outside(study: Study, names: tuple[str, ...], widths: Floats) -> tuple[float | None, float | None]:
    """Both figures for control people: is their value in the interval around what the nearest row has?"""
    shares = []
    for name in names:
        held = hold_out(study, name)
        if held is None:
            return None, None
        values = np.sort(held.task.wanted[: held.task.n])
        values = values[~np.isnan(values)]
        left, right = (np.searchsorted(values, held.guess, side) for side in ("left", "right"))
        position = np.clip(left + right - 1, 0, 2 * (values.size - 1))
        first, last = np.searchsorted(values, held.truth, "left"), np.searchsorted(values, held.truth, "right") - 1
        gaps = np.maximum(np.maximum(position - 2 * last, 2 * first - position), 0).astype(np.int64)
        rank = _levels(gaps, np.floor(_windows(widths, values.size)).astype(np.int64))[1]
        sd = _levels(np.abs(held.guess - held.truth), widths * centre_and_spread(values)[1])[1]
        shares.append((float(np.mean(rank)), float(np.mean(sd))))
    rank_share, sd_share = np.mean(shares, axis=0)
    return float(rank_share), float(sd_share)


def _levels(gaps: Floats | Counts, limits: Floats | Counts) -> tuple[Counts, tuple[float, ...]]:
    """Count for each record the limits that reach its gap, and give the share of records that each limit reaches."""
    levels = np.zeros(gaps.size, dtype=np.int64)
    histogram = np.zeros(limits.size + 1, dtype=np.int64)
    count_reached(gaps, limits, levels, histogram)
    reached = np.cumsum(histogram[::-1])[: limits.size]  # the k-th limit reaches all with at least size - k of them
    return levels, tuple((reached / gaps.size).tolist())


def _spaced(ordered: Floats | Counts) -> Floats:
    """Return at most CHANCE_POINTS of them, evenly spaced."""
    if ordered.size <= CHANCE_POINTS:
        return ordered.astype(np.float64)
    pick = ((np.arange(CHANCE_POINTS) + 0.5) * ordered.size / CHANCE_POINTS).astype(np.int64)
    return ordered[pick].astype(np.float64)


def _chance(ordered: Floats, ends: Iterable[tuple[Floats, Floats]], present: float) -> tuple[float, ...]:
    """Share of all people whose value is between the ends around *somebody's* masked value, for each width."""
    shares = []
    for low, high in ends:
        inside = np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low, "left")
        shares.append(float(inside.sum() / (inside.size * ordered.size)) * present if inside.size else 0.0)
    return tuple(shares)


def _window(ordered: Floats, positions: Floats, width: float) -> tuple[Floats, Floats]:
    """Values at the ends of the window of ranks; it is empty where it lies between two values."""
    low = np.maximum(np.ceil((positions - width) / 2), 0).astype(np.int64)
    high = np.minimum(np.floor((positions + width) / 2), ordered.size - 1).astype(np.int64)
    return ordered[low], ordered[high]


def _combine(
    release: Release, columns: list[_Column], present: Counts, which: str, n_widths: int, seed: int
) -> tuple[Estimate, Floats]:
    """Average over attributes and widths for each person, then over people."""
    people = release.paired_rows
    levels, chance = np.zeros(people.size, dtype=np.int64), np.zeros(people.size)
    for column in columns:
        levels[column.has] += getattr(column, which)
        chance[column.has] += float(np.mean(getattr(column.result, f"{which}_chance"))) if column.result.n else 0.0
    some = present > 0
    credit = levels[some] / (present[some] * n_widths)
    blind = float(np.sort(chance[some] / present[some]).mean())
    per_record = spread(credit, people[some], release.original.height, np.nan)
    return rate(credit, chance=min(1.0, blind), seed=seed), per_record


@measure(
    "intervals",
    title="Interval disclosure",
    story="The intruder has found a person's record; its numbers were masked. They guess that the true value is near "
    "what is published: among the next 1 to 20 % of people, or within 1 to 20 % of a standard deviation.",
    keys=("intervals.rank", "intervals.sd", "intervals.denoised"),
    applies=lambda release: None if numeric_secrets(release, None, refuse=False)[0] else NO_NUMBERS,
)
def assess_intervals(study: Study, context: Context) -> Evidence:
    """Measure both intervals and tell how near the masked values are."""
    found = interval_disclosure(study, seed=context.seed, progress=context.progress)
    span = f"{100 * found.widths[0]:g} to {100 * found.widths[-1]:g} %"
    return Evidence(
        observations=(
            Observation(
                "intervals.rank",
                f"{percent(found.rank.value)} of the values of {len(found.attributes)} numeric attributes are within a "
                f"window of {span} of the people around what is published for them (mean over widths).",
                found.rank,
            ),
            Observation(
                "intervals.sd",
                f"{percent(found.sd.value)} of the values of {len(found.attributes)} numeric attributes are within "
                f"{span} "
                "of a standard deviation of what is published for them (mean over widths).",
                found.sd,
            ),
            Observation(
                "intervals.denoised",
                f"{percent(found.denoised.value)} are within {span} of a standard deviation of what the whole record "
                f"lets "
                "somebody estimate who learnt from other people how the values were masked.",
                found.denoised,
            ),
        ),
        per_record=found.rank_per_record,
        identity=False,
        facts=_facts(found),
        figures=(_figure(found),),
        notes=found.notes,
    )


NO_NUMBERS = "there is no numeric attribute with two different values (a confidential one, if any is named)"


def _facts(found: IntervalDisclosure) -> tuple[Fact, ...]:
    return tuple(
        Fact(
            f"{entry.name}, by ranks",
            round(float(np.mean(entry.rank)), 4),
            f"mean over widths; by chance {percent(float(np.mean(entry.rank_chance)))}, by sd "
            f"{percent(float(np.mean(entry.sd)))}",
            share=True,
        )
        for entry in found.attributes
    )


def _figure(found: IntervalDisclosure) -> Figure:
    lines = {"by ranks": "rank", "by sd": "sd", "by ranks, chance": "rank_chance", "by sd, chance": "sd_chance"}
    curves = {
        name: tuple(np.mean([getattr(entry, line) for entry in found.attributes], axis=0).tolist())
        for name, line in lines.items()
    }
    return Figure(
        shape="line",
        title="How near are the published numbers?",
        caption="Share of values inside an interval of this width around what is published, mean over attributes.",
        alt="Share of values disclosed at the narrowest and the widest interval: "
        + ", ".join(f"{name} {percent(y[0])} and {percent(y[-1])}" for name, y in curves.items()),
        x_label="width of the interval",
        y_label="values inside",
        series=tuple(Series(name, found.widths, y) for name, y in curves.items()),
        percent=(True, True),
    )
