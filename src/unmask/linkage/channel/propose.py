"""Which recipes are worth trying for a released column: a quick look at the known people, before the careful one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.alike import Alike, shared
from unmask.linkage.channel.ciphers import find_cipher
from unmask.linkage.channel.circles import around
from unmask.linkage.channel.digests import find_digest
from unmask.linkage.channel.features import SIZE, WITHIN, Spelling, TextFeature
from unmask.linkage.channel.labels import MOST_CELLS, Category, Equal, Interval, Pattern, Steps, foretold_labels
from unmask.linkage.channel.lenses import households
from unmask.linkage.channel.letters import find_letters
from unmask.linkage.channel.material import Key, Material, spread_ranks
from unmask.linkage.channel.numbers import Number
from unmask.linkage.channel.rows import ranges
from unmask.linkage.channel.squares import find_square

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEATURES = 3  # of each kind of dependence
MOST_TARGETS = 64  # released columns that are learnt one by one
NUMBERS = 0.5  # share of a column's cells that are numbers, if it is one of numbers
MOST_LABELS = 2000
DISORDER = 0.2  # share of steps in the wrong direction that rounding of a noisy value may have
PROBES_OF_SQUARES = 24
PROBES = 200  # people on whom texts are compared first
WEAK = 2.0  # standard errors of a rank correlation that make a feature worth trying
FEWEST_SAME = 30  # known people whose texts are all the released ones, from which they are taken to be so
SURE = 0.98  # share of people whose text is the released one, from which nothing else is looked for
MORE = 0.04  # share of people whom another writing must suit
MOST_WRITINGS = 4
FEW_TEXTS = 20  # different texts, at most, that a table tells more about than their letters
READINGS = {
    "date": ("%Y-%m-%d", "%Y-%m", "%m-%d", "%Y", "%d"),
    "text": (
        "letters",
        "digits",
        "words in order",
        "initials",
        "consonants",
        "Soundex",
        "part 1",
        "part -1",
        "first 3",
        "shape",
    ),
}
FEWEST_WITHIN = 20  # known people from whom it shows that numbers were taken within groups
FEWEST_IN_GROUP, MOST_GROUPS, MOST_PAIRS = 4, 6, 60  # people on average; columns; pairs of number and group
MOST_HOUSEHOLDS = 2  # columns that may be the number of a household
ALL = 1 - 1e-9
SIGNS = 0.05  # share of numbers of the rarer sign from which signs may be random
CLOSE = 0.7  # rank correlation from which exact functions are tried


def propose(material: Material, target: int, taught: Ints, *, decoded: bool = True) -> list[Any]:
    """Recipes for one released column, the plainest first; ``decoded``: as a text that was made into another, too."""
    column = material.records[target]
    fits = _writings(material, target, taught) if len(column.words) > 1 else []
    recipes: list[Any] = [*_patterns(material, target, taught), *_same_texts(material, target, fits)]
    if fits and len(taught) >= FEWEST_SAME and _same_of_all(material, target, taught, fits[0][2]):
        return recipes + _same_numbers(material, target, fits)  # nothing could tell more than what was released
    recipes += _labels(material, target, taught, decoded=decoded and (not fits or fits[0][0] < SURE))
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
    recipes += [Number(target, feature, "size", "same") for feature in _sizes(material, target, taught)]
    if len(material.people) > 1:
        recipes.append(Number(target, None, "value", "linear"))
        if positive:
            recipes.append(Number(target, None, "log", "loglinear"))
    return recipes


def _counts(material: Material, target: int, taught: Ints) -> list[Number]:
    """How many like numbers of a row lie in a range, where the release has no column of that name."""
    name = material.records[target].name.casefold()
    if material.is_view or any(column.name.casefold() == name for column in material.people):
        return []
    keys = ranges(material.people, taught, material.records[target].number[material.truth[taught]])
    return [Number(target, key, "value", "same") for key in keys]


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


# --- labels ----------------------------------------------------------------------------------------------------------


def _labels(material: Material, target: int, taught: Ints, *, decoded: bool) -> list[Any]:
    column = material.records[target]
    if len(column.words) < 2:
        return []
    recipes: list[Any] = []
    if decoded:
        pairs = [(int(i), int(material.truth[i])) for i in taught[:60]]
        made = [find_digest(material, column, pairs), find_cipher(material.people, column, pairs)]
        made.append(find_square(material.people, column, pairs[:PROBES_OF_SQUARES]))
        recipes += [Equal(target, spelling) for spelling in made if spelling is not None]
        recipes += [*_readings(material, target, taught), *find_letters(material, target, taught)]
        recipes += [*_alike(material, target, taught), *shared(material, target, taught)]
    if len(column.words) <= min(MOST_LABELS, 0.5 * len(column)):
        recipes += [Category(target, material.spellings[place]) for place in _tables(material, target, taught)]
        recipes += [Steps(target, feature) for feature in _orders(material, target, taught)]
    if column.low is not None:
        recipes += [Interval(target, feature) for feature in _containers(material, target, taught)]
    return recipes


def _same_texts(material: Material, target: int, fits: list[Fit]) -> list[Equal]:
    recipes = [Equal(target, material.spellings[place]) for _, place, _ in fits[:FEATURES]]
    return [*recipes, *_several(material, target, fits)]


def _same_numbers(material: Material, target: int, fits: list[Fit]) -> list[Number]:
    keys = [(material.spellings[place].columns[0], "") for _, place, _ in fits[:FEATURES]]
    numbers = np.isfinite(material.records[target].number).any()
    known = [key for key in dict.fromkeys(keys) if numbers and key in material.features]
    return [Number(target, key, "value", "same") for key in known]


def _same_of_all(material: Material, target: int, taught: Ints, right: NDArray[np.bool_]) -> bool:
    """Whether every known person's text is the released one, or missing in both files."""
    blank = material.records[target].missing[material.truth[taught]]
    return bool((right | blank).all()) and any(
        np.array_equal(column.missing[taught], blank) for column in material.people
    )


Fit = tuple[float, int, "NDArray[np.bool_]"]  # share of people whose text is the released one, spelling, who they are


def _writings(material: Material, target: int, taught: Ints) -> list[Fit]:
    """Writings of what is known that are the released text more often than chance, the best first."""
    label, made = material.label(target), material.truth[taught]
    chance = float(np.mean(1.0 / material.rarity(target)[made]))
    fits = []
    for place in _agreeing(material, target, taught[:PROBES]).tolist():
        spelling = material.spellings[place]
        foretold = foretold_labels(material.text(spelling), material.book(target))[taught]
        right = (foretold == label[made]) & (foretold >= 0)
        if right.mean() > 1.5 * chance + 2.0 / len(taught):
            fits.append((float(right.mean()), place, right))
    return sorted(fits, key=lambda fit: (-fit[0], fit[1]))


def _agreeing(material: Material, target: int, people: Ints) -> Ints:
    """Places of the spellings that are the released text for any of a few people."""
    few = material.once(("few", people.tobytes()), lambda: material.sample(people, material.truth[people]))
    fold = few.book(target).fold
    ours = few.once(("marks", fold), lambda: np.array([_marks(few.text(s), fold, -1) for s in material.spellings]))
    theirs = _marks(few.heard(target), fold, -2)[few.truth]
    return np.flatnonzero((ours == theirs).any(1)) if len(ours) else np.zeros(0, dtype=np.int64)


def _marks(feature: TextFeature, fold: Callable[[str], str], none: int) -> Ints:
    """A number for each text, equal for equal texts."""
    return np.array([hash(fold(text)) for text in feature.texts] + [none], dtype=np.int64)[feature.code]


def _readings(material: Material, target: int, taught: Ints) -> list[Equal]:
    """Forms that the released text and what is known have in common, though the texts differ."""
    kind, made, scores = material.records[target].kind, material.truth[taught], []
    places = [place for place, column in enumerate(material.people) if column.kind == kind]
    for form, place in product(READINGS.get(kind, ()), places):
        spelling = Spelling((place,), form)
        label, rarity = material.label(target, form)[made], material.rarity(target, form)[made]
        if material.heard(target, form).texts:
            right = foretold_labels(material.text(spelling), material.book(target, form))[taught] == label
            share, chance = float(right.mean()), float(np.mean(1.0 / rarity))
            if share > 1.5 * chance + 2.0 / len(taught):
                scores.append((share * np.log(chance), place, form))
    return [Equal(target, Spelling((place,), form), (), form) for _, place, form in sorted(scores)[: FEATURES - 1]]


def _alike(material: Material, target: int, taught: Ints) -> list[Alike]:
    """Texts that are more alike in known pairs than in others."""
    if material.records[target].kind != "text":
        return []
    columns = enumerate(material.people)
    texts = [Alike(target, Spelling((k,))) for k, c in columns if c.kind == "text" and len(c.words) > FEW_TEXTS]
    told = [float(recipe.fit(material, taught).table[-1]) for recipe in texts]
    best = max(range(len(texts)), key=lambda k: told[k], default=0)
    return [texts[best]] if texts and told[best] > 0 else []


def _several(material: Material, target: int, fits: list[Fit]) -> list[Equal]:
    """Writings of which each person's text is one: the best, then those that suit whom it does not suit."""
    if not fits:
        return []
    chosen, right = [fits[0][1]], fits[0][2]
    while len(chosen) < MOST_WRITINGS:
        more, place, also = max(((float((f[2] & ~right).mean()), -f[1], f[2]) for f in fits), key=lambda m: m[:2])
        if more < MORE:
            break
        chosen.append(-place)
        right = right | also
    first, *others = (material.spellings[place] for place in chosen)
    return [Equal(target, first, tuple(others))] if others else []


def _tables(material: Material, target: int, taught: Ints) -> list[int]:
    """Categories that foretell each known person's label from the others best."""
    label, made = material.label(target), material.truth[taught]
    cols = len(material.records[target].words) + 1
    said, scores = label[made], []
    marginal = np.bincount(label, minlength=cols) / label.size
    for place, spelling in enumerate(material.spellings):
        feature = material.text(spelling)
        levels = len(feature.texts) + 1
        if not 2 < levels <= max(3, len(taught) // 2) or levels * cols > MOST_CELLS:
            continue
        code = np.where(feature.code < 0, levels - 1, feature.code)[taught]
        counts = np.bincount(code * cols + said, minlength=levels * cols)
        total = np.bincount(code, minlength=levels)
        left = (counts[code * cols + said] - 1 + marginal[said]) / total[code]
        scores.append((-float(np.mean(np.log(np.maximum(left, 1e-12) / marginal[said]))), place))
    return [place for score, place in sorted(scores)[:FEATURES] if score < 0]


def _orders(material: Material, target: int, taught: Ints) -> list[Key]:
    """Orders in which neighbours have the same label more often than chance."""
    said = material.label(target)[material.truth[taught]]
    shares = np.bincount(said) / said.size
    chance, scores = float((shares**2).sum()), []
    for place, feature in material.features.items():
        values = feature.values[taught]
        there = np.isfinite(values)
        order = np.argsort(values[there], kind="stable")
        alike = said[there][order]
        share = float(np.mean(alike[1:] == alike[:-1])) if alike.size > 2 else 0.0
        if share > chance + 2.0 * np.sqrt(chance / max(1, alike.size)):
            scores.append((-share, place))
    return [place for _, place in sorted(scores)[:FEATURES]]


def _containers(material: Material, target: int, taught: Ints) -> list[Key]:
    """Numbers that lie in the released intervals more often than chance."""
    column = material.records[target]
    made, scores = material.truth[taught], []
    assert column.low is not None and column.high is not None  # noqa: S101, PT018 - intervals
    low, high = column.low[made], column.high[made]
    for place, feature in material.features.items():
        values = feature.values[taught]
        share = float(np.mean((values >= low) & (values < high)))
        other = np.roll(values, 1)
        chance = float(np.mean((other >= low) & (other < high)))
        if share > chance + 0.05:
            scores.append((chance - share, place))
    return [place for _, place in sorted(scores)[:FEATURES]]


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
