"""What can be done to one column, and what each treatment gives and costs.

A treatment *leaves* some of the bits by which the column points to a person, and *costs* some of what the table is
good for. Ten bits single out one person in a thousand. Bits of several columns are added up, which counts twice what
two columns both say: good enough to decide what to try first, never to call a release safe.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from unmask.masking import Chain, Masking, names_people, parse_masking, quoted
from unmask.protect.suggestions import FEW, PERIODS, RARE, at_levels, cut, true_to_form
from unmask.tables import to_floats

NOISE, SWAPS, CROWDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0), (0.02, 0.05, 0.1, 0.2, 0.4), (3, 5, 11, 25)
LARGER = (50, 100)  # groups in which several columns are made equal together
COARSER = ("recoding(", "prefix(", "rare(", "hierarchy(", "dates(", "drop(")  # what is still said is true
PIECES, LOTS, TAILS = (30, 15, 8, 4, 2), (0.05, 0.1, 0.2, 0.4), (0.02, 0.05, 0.1)
SHUFFLED = "data_shuffling("

BLANKED, SAMPLED = "cells of the exposed", "records"  # what is treated last
VALUES = "values of single people"  # what is treated first
MOVING = ("rank_swap", "data_shuffling")  # the released values are people's own, in the records of others


@dataclass(frozen=True, slots=True)
class Treatment:
    """One way to publish a column; an empty masking leaves it as it is."""

    column: str
    masking: str
    bits: float = 0.0  # by which it still points to a person
    cost: float = 0.0  # what the table loses if this column alone is treated so
    together: tuple[str, ...] = ()  # columns that are treated as one

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return self.together or (self.column,)

    @property
    def drawn(self) -> bool:
        """Whether of the numbers only what the other columns say of them is left."""
        return self.masking.startswith(SHUFFLED)


def treatments(table: pl.DataFrame, column: str, kind: str, hierarchy: str | None = None) -> tuple[str, ...]:
    """Maskings that can be tried on a column of this kind; the last one leaves it out."""
    name, found = f"columns=[{quoted(column)}]", []
    values = table[column]
    if hierarchy is not None:
        found += at_levels(values, hierarchy)[:-1]
    if kind == "numeric" and values.dtype.is_numeric():
        found += [true_to_form(f"noise({size}, {name})") for size in NOISE]
        found += [f"rank_swap(share={share}, {name})" for share in SWAPS]
        found += [true_to_form(f"microaggregation({k}, {name})") for k in CROWDS if k <= len(values)]
        found += [f"top_bottom(bottom={tail}, top={1 - tail}, {name})" for tail in TAILS]
        found += [f"{SHUFFLED}[{quoted(column)}])"]
        found += [cut(values, pieces) for pieces in PIECES]
    elif kind == "date" and values.dtype in (pl.Date, pl.Datetime):
        found += [f"dates({period}, {name})" for period in PERIODS]
    elif hierarchy is None:
        text = values.cast(pl.String)
        longest = text.str.len_chars().max()
        if text.n_unique() > FEW and isinstance(longest, int):
            found += [f"prefix({keep}, {name})" for keep in range(min(longest - 1, 6), 0, -1)]
        found += [f"rare({RARE * times}, {name})" for times in (1, 2, 4)]
        found += [] if names_people(values) else [f"pram({lot}, {name})" for lot in LOTS]
    return (*dict.fromkeys(found), f"drop([{quoted(column)}])")


def weigh(
    table: pl.DataFrame,
    column: str,
    maskings: tuple[str, ...],
    left: Callable[[pl.DataFrame], float],
    seed: int,
) -> tuple[Treatment, ...]:
    """Try each masking of one column alone, and leaving it; ``left`` says what is left of the table."""
    found = [Treatment(column, "", bits_left(table[column], table[column]), 0.0)]
    for masking in maskings:
        masked = parse_masking(masking).apply(table, seed)
        if masked.equals(table) or (
            column in masked.columns and masked[column].n_unique() < 2 < table[column].n_unique()
        ):
            continue  # nothing changed, or nothing is left of the column, which is said more plainly by leaving it out
        bits = bits_left(table[column], masked[column]) if column in masked.columns else 0.0
        if masking.startswith(SHUFFLED):
            bits = _bits_drawn(table[column], masked[column], seed)
        found.append(Treatment(column, masking, bits, max(0.0, 1.0 - left(masked))))
    return tuple(found)


def weigh_together(
    table: pl.DataFrame, columns: tuple[str, ...], left: Callable[[pl.DataFrame], float], seed: int
) -> tuple[Treatment, ...]:
    """Numbers treated all at once: made equal in groups of k, or drawn anew (by what other columns say, or alone)."""
    named, listed = ", ".join(columns), ", ".join(map(quoted, columns))
    bits = sum(bits_left(table[name], table[name]) for name in columns)
    found = [Treatment(named, "", bits, 0.0, columns)]
    crowds = [k for k in (*CROWDS, *LARGER) if 2 * k <= table.height]
    anew = [f"{SHUFFLED}[{listed}])", *([f"{SHUFFLED}[{listed}], given=[])"] if table.width > len(columns) else [])]
    alike = [true_to_form(f"microaggregation({k}, columns=[{listed}])") for k in crowds]
    for masking in (*alike, *anew):
        masked = parse_masking(masking).apply(table, seed)
        few = sum(_bits_drawn(table[name], masked[name], seed) for name in columns)
        if not masking.startswith(SHUFFLED):  # who is in a group of k cannot be told from the others
            few = float(np.log2(table.height / crowds[len(found) - 1]))
        found.append(Treatment(named, masking, min(bits, few), max(0.0, 1 - left(masked)), columns))
    dropped = f"drop([{listed}])"
    return (*found, Treatment(named, dropped, 0.0, max(0.0, 1.0 - left(table.drop(columns))), columns))


def coarser_only(options: Mapping[str, tuple[Treatment, ...]]) -> dict[str, tuple[Treatment, ...]]:
    """The treatments after which a table still says what is true, only less of it."""
    return {
        name: tuple(one for one in found if not one.masking or one.masking.startswith(COARSER))
        for name, found in options.items()
    }


def then_blank(state: Mapping[str, Treatment], k: int) -> dict[str, Treatment]:
    """The same treatments, then the fewest cells of what is true blanked after which everybody has k - 1 equals."""
    true = [one for one in state.values() if not one.masking or one.masking.startswith(COARSER)]
    shown = tuple(name for one in true if not one.masking.startswith("drop(") for name in one.columns)
    masking = f"local_suppression({k}, columns=[{', '.join(map(quoted, shown))}])"
    return {**state, BLANKED: Treatment(BLANKED, masking, 0.0, 0.0, shown)}


def then_sample(state: Mapping[str, Treatment], fraction: float) -> dict[str, Treatment]:
    """The same treatments, and then only some of the people."""
    return {**state, SAMPLED: Treatment(SAMPLED, f"sampling({fraction})", 0.0, 0.0, tuple(state))}


def steps_of(state: Mapping[str, Treatment], k: int) -> tuple[Treatment, ...]:
    """The treatments that change something, in turn; numbers that move to others are first shared by k people.

    Nobody's own number is then in the release. Whoever knows one would learn from it that the person is in the file,
    and the largest of a column is somebody's whom everybody knows, in whatever record it stands.
    """
    steps = [one for one in state.values() if one.masking]
    moved = dict.fromkeys(name for one in steps for step in _flat(parse_masking(one.masking)) for name in _moves(step))
    if not moved or k < 2:
        return tuple(steps)
    listed = ", ".join(map(quoted, moved))
    shared = true_to_form(f"microaggregation({k}, method=univariate, columns=[{listed}])")
    return (Treatment(VALUES, shared, together=tuple(moved)), *steps)


def _flat(masking: Masking) -> tuple[Masking, ...]:
    return tuple(one for step in masking.maskings for one in _flat(step)) if isinstance(masking, Chain) else (masking,)


def _moves(step: Masking) -> tuple[str, ...]:
    """The columns whose values a step gives to other people."""
    return tuple(getattr(step, "columns", None) or ()) if step.family in MOVING else ()


def bits_left(original: pl.Series, released: pl.Series) -> float:
    """Mean number of bits by which a released value points to its own person.

    Numbers: log2 of n over the people whose value is at least as near to the released one. Else the mutual information
    of both columns.
    """
    if original.dtype.is_numeric() and released.dtype.is_numeric():
        x, y = to_floats(original, original.name), to_floats(released, released.name)
        there = ~(np.isnan(x) | np.isnan(y))
        x, y = x[there], y[there]
        if not x.size:
            return 0.0
        ordered, reach = np.sort(x), np.abs(x - y)
        slack = 1e-9 * (1.0 + reach + np.abs(y))  # the own value counts, whatever rounding does
        crowd = np.searchsorted(ordered, y + reach + slack, "right") - np.searchsorted(ordered, y - reach - slack)
        return float(np.log2(x.size / np.maximum(crowd, 1)).mean() * x.size / len(original))
    pair = pl.DataFrame({"x": original.cast(pl.String), "y": released.cast(pl.String)})
    return max(0.0, bits(pair.select("x")) + bits(pair.select("y")) - bits(pair))


def _bits_drawn(original: pl.Series, drawn: pl.Series, seed: int) -> float:
    """Bits of values that were drawn anew, beyond those by which values of anybody lie near by luck."""
    luck = bits_left(original, drawn.shuffle(seed))
    return max(0.0, bits_left(original, drawn) - luck)


def bits(frame: pl.DataFrame) -> float:
    """What a record tells on average: the entropy of its values."""
    shares = frame.group_by(frame.columns).len()["len"].to_numpy() / max(frame.height, 1)
    return float(-(shares * np.log2(shares)).sum())


def path(options: Mapping[str, tuple[Treatment, ...]]) -> list[dict[str, Treatment]]:
    """Combinations from "leave everything" on, each step the one that takes most bits for what it costs.

    Every combination on the path costs least among all that leave at most as many bits, up to the last step: each
    column moves along the lower hull of its treatments, and the steepest move of all columns comes first.
    """
    hulls = {column: hull(found) for column, found in options.items()}
    now = {column: found[0] for column, found in hulls.items()}
    moves = [
        ((after.cost - before.cost) / (before.bits - after.bits), column, place)
        for column, found in hulls.items()
        for place, (before, after) in enumerate(itertools.pairwise(found))
    ]
    states = [dict(now)]
    for _, column, place in sorted(moves):
        now[column] = hulls[column][place + 1]
        states.append(dict(now))
    return states


def hull(found: tuple[Treatment, ...]) -> list[Treatment]:
    """The treatments of one column that are worth it, from the most bits left to the fewest: a convex chain."""
    chain: list[Treatment] = []
    for one in sorted(found, key=lambda one: (-one.bits, one.cost, one.masking)):
        if chain and one.bits >= chain[-1].bits - 1e-12:
            continue
        while len(chain) > 1 and _slope(chain[-1], one) <= _slope(chain[-2], chain[-1]):
            chain.pop()
        if len(chain) == 1 and one.cost <= chain[0].cost and chain[0].masking:
            chain.pop()
        chain.append(one)
    return chain


def _slope(one: Treatment, other: Treatment) -> float:
    return (other.cost - one.cost) / (one.bits - other.bits)
