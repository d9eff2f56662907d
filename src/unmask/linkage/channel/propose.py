"""Which recipes are worth trying for a released column: a quick look at the known people, before the careful one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.circles import around
from unmask.linkage.channel.features import SIZE, WITHIN
from unmask.linkage.channel.labels import Pattern
from unmask.linkage.channel.lenses import households
from unmask.linkage.channel.material import Key, Material, spread_ranks
from unmask.linkage.channel.numbers import Number
from unmask.linkage.channel.rows import extremes, ranges
from unmask.linkage.channel.shifts import shifted
from unmask.linkage.channel.spikes import spikes
from unmask.linkage.channel.texts import labels, same_numbers, same_of_all, same_texts, writings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEATURES = 3  # of each kind of dependence
MOST_TARGETS = 64  # released columns that are learnt one by one
NUMBERS = 0.5  # share of a column's cells that are numbers, if it is one of numbers
DISORDER = 0.2  # share of steps in the wrong direction that rounding of a noisy value may have
WEAK = 2.0  # standard errors of a rank correlation that make a feature worth trying
FEWEST_SAME = 30  # known people whose texts are all the released ones, from which they are taken to be so
SURE = 0.98  # share of people whose text is the released one, from which nothing else is looked for
FEWEST_WITHIN = 20  # known people from whom it shows that numbers were taken within groups
FEWEST_IN_GROUP, MOST_GROUPS, MOST_PAIRS = 4, 6, 60  # people on average; columns; pairs of number and group
MOST_HOUSEHOLDS = 2  # columns that may be the number of a household
ALL = 1 - 1e-9
SIGNS = 0.05  # share of numbers of the rarer sign from which signs may be random
CLOSE = 0.7  # rank correlation from which exact functions are tried


def propose(material: Material, target: int, taught: Ints, *, decoded: bool = True) -> list[Any]:
    """Recipes for one released column, the plainest first; ``decoded``: as a text that was made into another, too."""
    column = material.records[target]
    fits = writings(material, target, taught) if len(column.words) > 1 else []
    recipes: list[Any] = [*_patterns(material, target, taught), *same_texts(material, target, fits)]
    if fits and len(taught) >= FEWEST_SAME and same_of_all(material, target, taught, fits[0][2]):
        return recipes + same_numbers(material, target, fits)  # nothing could tell more than what was released
    recipes += labels(material, target, taught, decoded=decoded and (not fits or fits[0][0] < SURE))
    if np.isfinite(column.number).any() and np.unique(column.number[np.isfinite(column.number)]).size > 1:
        recipes += _numbers(material, target, taught)
    return recipes


def most_telling(material: Material, targets: Sequence[int], taught: Ints) -> Sequence[int]:
    """The released columns to learn one by one: texts, then the numbers that go most closely with something known."""
    if len(targets) <= MOST_TARGETS:
        return targets
    ranks, _ = material.once(("ranks", taught.tobytes()), lambda: _ranks_of(material, taught))

    def told(target: int) -> float:
        number = material.records[target].number
        if np.isfinite(number).mean() < NUMBERS:
            return 1.0
        return float(_correlations(ranks, spread_ranks(number[material.truth[taught]])).max(initial=0.0))

    return sorted(sorted(targets, key=lambda target: -told(target))[:MOST_TARGETS])


# --- numbers ---------------------------------------------------------------------------------------------------------


def _numbers(material: Material, target: int, taught: Ints) -> list[Any]:
    ranked, close = rank_features(material, target, taught)
    ranked = ranked[:1] if material.is_view else [*ranked, *within_groups(material, target, taught)]
    recipes: list[Any] = []
    column = material.records[target]
    positive = float(np.mean(column.number[np.isfinite(column.number)] > 0)) > 0.5
    for feature in ranked:
        values = material.feature(feature).values
        recipes += [Number(target, feature, "value", how) for how in ("same", "affine", "smooth")]
        if feature in close:
            recipes += [Number(target, feature, space, "between") for space in ("value", "rank")]
        if (
            feature in close
            and _in_order(material, feature, target, taught)
            and column.step >= 1e-6 * float(np.nanmax(column.number) - np.nanmin(column.number))
        ):
            recipes.append(Number(target, feature, "value", "floored"))
        if positive and float(np.mean(values[np.isfinite(values)] > 0)) > 0.5:
            recipes += [Number(target, feature, "log", how) for how in ("same", "affine")]
        recipes += [Number(target, feature, "rank", "same"), Number(target, feature, "probit", "affine")]
    recipes += [*around(material, target, ranked), *_counts(material, target, taught)]
    recipes += shifted(material, target, taught)
    if not material.is_view and spikes(column.number).size:
        recipes += [Number(target, feature, "value", "smooth", spiked=True) for feature in ranked[:2]]
    recipes += [Number(target, feature, "size", "same") for feature in _sizes(material, target, taught)]
    if len(material.people) > 1:
        recipes.append(Number(target, None, "value", "linear"))
        if positive:
            recipes.append(Number(target, None, "log", "loglinear"))
    return recipes


def _counts(material: Material, target: int, taught: Ints) -> list[Number]:
    """How many numbers of a row lie in a range, or the largest of some, for a column that the original has not."""
    name = material.records[target].name.casefold()
    if material.is_view or any(column.name.casefold() == name for column in material.people):
        return []
    y = material.records[target].number[material.truth[taught]]
    keys = ranges(material.people, taught, y) + extremes(material.people, taught, y)
    return [Number(target, key, "value", how) for key in keys for how in ("same", "floored", "affine")]


def _sizes(material: Material, target: int, taught: Ints) -> list[Key]:
    """The feature whose size without its sign goes with that of the released number, more closely than with signs."""
    y = material.records[target].number[material.truth[taught]]
    negative = float(np.mean(y[np.isfinite(y)] < 0)) if np.isfinite(y).any() else 0.0
    if material.is_view or not SIGNS < negative < 1 - SIGNS:
        return []
    keys, sizes = material.once(("sizes", taught.tobytes()), lambda: _ranks_of_sizes(material, taught))
    plain, _ = material.once(("ranks", taught.tobytes()), lambda: _ranks_of(material, taught))
    told, without = _correlations(sizes, spread_ranks(np.abs(y))), _correlations(plain, spread_ranks(y))
    best = int(np.argmax(told)) if told.size else 0
    clear = WEAK / np.sqrt(len(taught))
    return [keys[best]] if told.size and told[best] > max(clear, float(without.max(initial=0.0))) else []


def _ranks_of_sizes(material: Material, taught: Ints) -> tuple[list[Key], Floats]:
    keys = [key for key in material.features if not key[1]]
    columns = [np.nan_to_num(spread_ranks(np.abs(material.feature(key).values[taught])), nan=0.5) for key in keys]
    return keys, np.column_stack(columns) if columns else np.zeros((len(taught), 0))


def _in_order(material: Material, feature: Key, target: int, taught: Ints) -> bool:
    """Whether the released number hardly ever falls as the feature rises, or the reverse."""
    x, y = material.feature(feature).values[taught], material.records[target].number[material.truth[taught]]
    there = np.isfinite(x) & np.isfinite(y)
    change = np.diff(y[there][np.argsort(x[there], kind="stable")])
    moved = int((change != 0).sum())
    return bool(moved) and min(int((change < 0).sum()), int((change > 0).sum())) <= DISORDER * moved


def rank_features(material: Material, target: int, taught: Ints) -> tuple[list[Key], set[Key]]:
    """Features that the released number seems to depend on: by rank correlation, and by neighbours' closeness."""
    made = material.truth[taught]
    y = spread_ranks(material.records[target].number[made])
    there = np.isfinite(y)
    if there.sum() < 3:
        return [], set()
    y = np.where(there, y, 0.5)
    ranks, order = material.once(("ranks", taught.tobytes()), lambda: _ranks_of(material, taught))
    correlation = _correlations(ranks, y)
    jumps = np.abs(np.diff(y[order], axis=0)).mean(0) if len(taught) > 1 else np.zeros(ranks.shape[1])
    name = material.records[target].name.casefold()
    keys = list(material.features)
    own = [k for k, key in enumerate(keys) if material.people[key[0]].name.casefold() == name and not key[1]]
    best = [
        k
        for k in np.argsort(-correlation, kind="stable")[:FEATURES].tolist()
        if correlation[k] > WEAK / np.sqrt(len(taught))
    ]
    near = [
        k
        for k in np.argsort(jumps, kind="stable")[: FEATURES - 1].tolist()
        if jumps[k] < 1 / 3 - 0.3 / np.sqrt(len(taught))
    ]
    tight = jumps < 0.5 * (1 - CLOSE)  # a third of what neighbours differ by if nothing ties them
    close = {keys[int(k)] for k in np.flatnonzero((correlation > CLOSE) | tight)}
    return [keys[k] for k in list(dict.fromkeys(own + best + near))[: FEATURES + 1]], close


def within_groups(material: Material, target: int, taught: Ints) -> list[Key]:
    """The number within a group (a score, a rank) that goes clearly more closely with a released one than any does."""
    y = spread_ranks(material.records[target].number[material.truth[taught]])
    keys, within = material.once(("within", taught.tobytes()), lambda: _ranks_within(material, taught))
    if len(taught) < FEWEST_WITHIN or not keys:
        return []
    ranks, _ = material.once(("ranks", taught.tobytes()), lambda: _ranks_of(material, taught))
    correlation, plain = _correlations(within, y), float(_correlations(ranks, y).max(initial=0.0))
    best = int(np.argmax(correlation))
    gain = np.arctanh(min(float(correlation[best]), ALL)) - np.arctanh(min(plain, ALL))
    return [keys[best]] if gain > WEAK / np.sqrt(len(taught)) else []


def _ranks_within(material: Material, taught: Ints) -> tuple[list[Key], Floats]:
    numbers = [k for k, column in enumerate(material.people) if np.isfinite(column.number).mean() > NUMBERS]
    groups = [k for k in material.levels if len(material.people[k]) > FEWEST_IN_GROUP * len(material.people[k].words)]
    groups = [*households(material.people)[:MOST_HOUSEHOLDS], *groups[:MOST_GROUPS]]
    pairs = [(x, g) for g in groups for x in numbers if x != g][:MOST_PAIRS]
    keys = [(x, f"{form}:{g}") for x, g in pairs for form in WITHIN] + [(g, f"{SIZE}:{g}") for g in groups]
    columns = [np.nan_to_num(spread_ranks(material.feature(key).values[taught]), nan=0.5) for key in keys]
    return keys, np.column_stack(columns) if columns else np.zeros((len(taught), 0))


def _correlations(ranks: Floats, of_record: Floats) -> Floats:
    """Rank correlation of every feature with one released number, whatever its sign."""
    z, w = ranks - 0.5, np.nan_to_num(of_record - 0.5)
    scale = np.sqrt((z**2).sum(0) * (w**2).sum())
    return np.asarray(np.abs(w @ z) / np.where(scale > 0, scale, 1.0))


def _ranks_of(material: Material, taught: Ints) -> tuple[Floats, Ints]:
    """Ranks of the known people in every feature, and the order that they are in."""
    columns = [spread_ranks(feature.values[taught]) for feature in material.features.values()]
    ranks = np.column_stack(columns) if columns else np.zeros((len(taught), 0))
    ranks = np.where(np.isnan(ranks), 0.5, ranks)
    return ranks, np.argsort(ranks, axis=0, kind="stable")


def _patterns(material: Material, target: int, taught: Ints) -> list[Pattern]:
    """Columns whose missing or zero cells go with those of the released column."""
    theirs = material.records[target]
    state = np.where(theirs.missing, 1, np.where(theirs.number == 0, 2, 0))[material.truth[taught]]
    if np.unique(state).size < 2:
        return []
    scores = []
    for place, column in enumerate(material.people):
        ours = np.where(column.missing, 1, np.where(column.number == 0, 2, 0))[taught]
        if np.unique(ours).size > 1:
            table = np.zeros((3, 3))
            np.add.at(table, (ours, state), 1.0 / state.size)
            product = table.sum(1, keepdims=True) * table.sum(0)
            used = table > 0
            scores.append((-float((table[used] * np.log(table[used] / product[used])).sum()), place))
    return [Pattern(target, place) for _, place in sorted(scores)[:2]]
