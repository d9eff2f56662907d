"""Which recipes are worth trying for a released text, or for a number as a text: equal, made into another, a label."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.alike import Alike, parts_of, shared
from unmask.linkage.channel.ciphers import find_cipher
from unmask.linkage.channel.digests import find_digest
from unmask.linkage.channel.features import Spelling, TextFeature
from unmask.linkage.channel.labels import MOST_CELLS, Category, Equal, Interval, Steps, categories, foretold_labels
from unmask.linkage.channel.letters import find_letters
from unmask.linkage.channel.material import Key, Material
from unmask.linkage.channel.numbers import Number
from unmask.linkage.channel.squares import find_square

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEATURES = 3  # of each kind of dependence
MOST_LABELS = 2000
PROBES_OF_SQUARES = 24
PROBES = 200  # people on whom texts are compared first
MORE = 0.04  # share of people whom another writing must suit
MOST_WRITINGS = 4
MOST_GROUPS, MOST_GROUPED = 6, 20  # columns whose labels may have tables of their own; columns that these are of
MOST_WITHIN, MUCH = 100, 0.9  # different labels; share of all that can be told from which nothing else is tried
CLEARER = 2.0  # nats, over the root of the number of known people, by which such tables must foretell better
FEW_TEXTS = 20  # different texts, at most, that a table tells more about than their letters
READINGS = {
    "date": ("%Y-%m-%d", "%Y-%m", "%m-%d", "%Y", "%d"),
    "text": (
        "letters",
        "digits",
        "words in order",
        "letters in order",
        "initials",
        "consonants",
        "Soundex",
        "part 1",
        "part -1",
        "first 3",
        "shape",
    ),
}


def labels(material: Material, target: int, taught: Ints, *, decoded: bool) -> list[Any]:
    """Texts made into others (``decoded``), labels by tables or steps, intervals."""
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
        recipes += _tables(material, target, taught)
        recipes += [Steps(target, feature) for feature in _orders(material, target, taught)]
    if column.low is not None:
        recipes += [Interval(target, feature) for feature in _containers(material, target, taught)]
    return recipes


def same_texts(material: Material, target: int, fits: list[Fit]) -> list[Equal]:
    """The released text is a known one in one of a few writings, or in one of several."""
    recipes = [Equal(target, material.spellings[place]) for _, place, _ in fits[:FEATURES]]
    return [*recipes, *_several(material, target, fits)]


def same_numbers(material: Material, target: int, fits: list[Fit]) -> list[Number]:
    """The same for numbers, which are."""
    keys = [(material.spellings[place].columns[0], "") for _, place, _ in fits[:FEATURES]]
    numbers = np.isfinite(material.records[target].number).any()
    known = [key for key in dict.fromkeys(keys) if numbers and key in material.features]
    return [Number(target, key, "value", "same") for key in known]


def same_of_all(material: Material, target: int, taught: Ints, right: NDArray[np.bool_]) -> bool:
    """Whether every known person's text is the released one, or missing in both files."""
    blank = material.records[target].missing[material.truth[taught]]
    return bool((right | blank).all()) and any(
        np.array_equal(column.missing[taught], blank) for column in material.people
    )


Fit = tuple[float, int, "NDArray[np.bool_]"]  # share of people whose text is the released one, spelling, who they are


def writings(material: Material, target: int, taught: Ints) -> list[Fit]:
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
    places = [k for k, c in columns if c.kind == "text" and len(c.words) > FEW_TEXTS]
    found = []
    for parts in parts_of(material.records[target].words):
        texts = [Alike(target, Spelling((k,)), parts) for k in places]
        told = [float(recipe.fit(material, taught).table[-1]) for recipe in texts]
        best = max(range(len(texts)), key=lambda k: told[k], default=0)
        found += [texts[best]] if texts and told[best] > 0 else []
    return found


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


def _tables(material: Material, target: int, taught: Ints) -> list[Category]:
    """Categories that foretell each known person's label from the others best, alone or within a group."""
    plain = [Category(target, spelling) for spelling in material.spellings]
    scored = [(_foretells(material, recipe, taught), place) for place, recipe in enumerate(plain)]
    best = sorted(entry for entry in scored if entry[0] < 0)[:FEATURES]
    found = [plain[place] for _, place in best]
    much = -MUCH * float(np.mean(np.log(material.rarity(target)))) if best else 0.0
    if material.is_view or len(material.records[target].words) > MOST_WITHIN or (best and best[0][0] < much):
        return found
    within = []
    for group in material.levels[:MOST_GROUPS]:
        for place in (k for k in material.levels[:MOST_GROUPED] if k != group):
            recipe = Category(target, Spelling((place,)), group)
            held = len(material.people[group].words)
            within.append((round(_foretells(material, recipe, taught), 9), held, place, group))
    score, _, place, group = min(within, default=(0.0, 0, 0, 0))
    clear = min((score for score, _ in best), default=0.0) - CLEARER / np.sqrt(len(taught))
    return [*found, Category(target, Spelling((place,)), group)] if score < clear else found


def _foretells(material: Material, recipe: Category, taught: Ints) -> float:
    """Less the nats by which each known person's label is foretold from the others with the same category."""
    label = material.label(recipe.target)
    cols, said = len(material.records[recipe.target].words) + 1, label[material.truth[taught]]
    code, levels = categories(material, recipe.spelling, recipe.group)
    held = np.unique(code[taught]).size if recipe.group >= 0 else levels
    if not 2 < held <= max(3, len(taught) // 2) or levels * cols > MOST_CELLS:
        return 0.0
    code = code[taught]
    marginal = np.bincount(label, minlength=cols) / label.size
    counts = np.bincount(code * cols + said, minlength=levels * cols)
    total = np.bincount(code, minlength=levels)
    left = (counts[code * cols + said] - 1 + marginal[said]) / total[code]
    return -float(np.mean(np.log(np.maximum(left, 1e-12) / marginal[said])))


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
