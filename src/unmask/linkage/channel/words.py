"""What was learnt, in words: column names and functions only, never a value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.linkage.channel.alike import Alike, Shared
from unmask.linkage.channel.axes import Axis
from unmask.linkage.channel.circles import Around
from unmask.linkage.channel.classes import Class, Graded
from unmask.linkage.channel.joint import Joint
from unmask.linkage.channel.labels import Category, Equal, Interval, Pattern, Steps, foretold_labels
from unmask.linkage.channel.lenses import Kin, Untouched, count_equal
from unmask.linkage.channel.letters import Letters
from unmask.linkage.channel.lines import Between
from unmask.linkage.channel.numbers import Chain, Number
from unmask.linkage.channel.pieces import Pieces
from unmask.linkage.channel.predictors import line
from unmask.linkage.channel.result import Told
from unmask.linkage.channel.select import clear
from unmask.linkage.channel.shifts import Shifted
from unmask.linkage.channel.views import Through

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unmask.linkage.channel.features import Spelling
    from unmask.linkage.channel.letters import Spelled
    from unmask.linkage.channel.material import Key, Material
    from unmask.linkage.channel.select import Channel, Learnt

HOW = {
    "same": "is {x}, with an error",
    "floored": "is {x} in whole steps",
    "affine": "is a straight line of {x}, with an error",
    "between": "is a function of {x}",
    "smooth": "is a curve of {x}, with an error",
    "linear": "is a linear function of all columns, with an error",
    "loglinear": "is a product of powers of all columns, with an error",
    "quadratic": "is a function of several columns and their products, with an error",
    "rooted": "is the root of a function of several columns and their products, with an error",
    "index": "follows a sum of several columns",
    "logindex": "follows a product or ratio of several columns",
    "boosted": "is a function of several columns, with an error",
}
SPACE = {
    "value": "",
    "size": " without its sign",
    "log": " that grows with the value",
    "rank": " in its rank",
    "probit": " in its rank",
}
VARIES = {"group": "differs by", "number": "goes with"}  # the size of an error
SPACE_OF_ALL = {"value": "values", "log": "logarithms", "probit": "ranks", "rank": "ranks", "products": "products"}
TOGETHER = "is {} with an error that goes with those of the other numbers"
ALONG = "is part of a sum of numbers that keeps the order of people"
CHANGED = {"pairs": "letters", "words": "words", "runs": "stretches of it"}  # of texts that are alike
SEEN = {  # what a view is about, and what was learnt through it
    "order": ("numbers of a row", "stay nearly what they were, in whatever order they stand"),
    "rows": ("rows as a whole", "keep their total, their spread, or how many cells are empty or zero"),
    "words": ("answers of a row", "stay as often what they were, in whatever columns they stand"),
    "digits": ("decimals", "stay as many as they were in each cell"),
    "groups": ("rows of one group", "keep how they differ from each other"),
    "scores": ("numbers of a row", "keep how they stand to each other, whatever the row's mean and spread"),
}
PARTLY = "agree with their originals in several columns at once"
BY_ROW = "is told by the numbers of its row together"
NOTHING = "tells nothing about who it is"
EXACT = 0.99  # share of people for whom a function must be exact to be told without an error
FEWEST_VALUES = 3  # through two points there is always a line


def tell_columns(material: Material, channels: list[Channel]) -> tuple[Told, ...]:
    """One clause per released column, the most telling first: by the channel that told most."""
    told: dict[str, Told] = {}
    for channel in channels:
        for entry, factor in zip(channel.learnt, channel.factors, strict=True):
            fresh, together = _told(material, entry, factor, channel.by_column)
            told[fresh.column] = max(told.get(fresh.column, fresh), fresh, key=lambda t: t.nats)
            for name, words in together:
                told.setdefault(name, Told(name, words, entry.told / len(together)))
    told = {name: replace(t, clear=t.several or _is_clear(material, channels, name)) for name, t in told.items()}
    rest = [Told(c.name, NOTHING, 0.0) for c in material.records if c.name not in told]
    return (*sorted(told.values(), key=lambda t: (-t.nats, t.column)), *rest)


def _is_clear(material: Material, channels: list[Channel], name: str) -> bool:
    """Whether more was learnt of a column than chance may teach; told together under its own name it is compared."""
    places = [place for place, column in enumerate(material.records) if column.name == name]
    alone = any(entry.recipe.target in places for channel in channels for entry in channel.learnt)
    named = name.casefold() in {column.name.casefold() for column in material.people}
    return (named and not alone) or clear(channels, places)


def _told(
    material: Material,
    entry: Learnt,
    factor: Any,  # noqa: ANN401 - any factor
    by_column: Mapping[int, Any],
) -> tuple[Told, list[tuple[str, str]]]:
    """What was learnt by one recipe, and what it says of each of its columns if these are several."""
    recipe = entry.recipe
    names = [column.name for column in material.records]
    match recipe:
        case Through():
            about, words = SEEN[recipe.view]
            numbers = [(c.name, BY_ROW) for c in material.records if np.isfinite(c.number).any()]
            return Told(about, words, entry.told, several=True), numbers
        case Axis():
            along = [(names[record], ALONG) for record in recipe.records]
            return Told("numbers", tell(material, recipe, factor), entry.told, several=True), along
        case Joint():
            pairs = [(names[b], _of_all(material, recipe, (a, b), by_column)) for a, b in recipe.columns]
            return Told("numbers", tell(material, recipe, factor), entry.told, several=True), pairs
        case Untouched() | Kin():
            partly = isinstance(recipe, Untouched) and not _whole(material, recipe, factor)
            about, words = ("rows", PARTLY) if partly else ("whole rows", tell(material, recipe, factor))
            return Told(about, words, entry.told, several=True), []
        case Between():
            pairs = [(names[record], BY_ROW) for _, record in recipe.columns]
            return Told("records", "lie between a person and somebody else", entry.told, several=True), pairs
        case _:
            return Told(names[recipe.target], tell(material, recipe, factor), entry.told), []


def _whole(material: Material, recipe: Untouched, factor: Any) -> bool:  # noqa: ANN401 - Agreement
    """Whether the rows of some people were left as they are in every column."""
    people = np.flatnonzero(material.truth >= 0)
    equal = count_equal(factor.person, factor.record, people, material.truth[people])
    return bool((equal == len(recipe.columns)).any())


def _of_all(material: Material, recipe: Joint, places: tuple[int, int], by_column: Mapping[int, Any]) -> str:
    """The clause for one of the numbers that are told together: what it is by itself, if it is not of one name."""
    ours, theirs = places
    own = by_column.get(theirs) if recipe.sources else None
    exact = _exact(material, theirs, (ours, "")) if ours >= 0 else None
    if exact is None and own is not None:
        return tell(material, own, own.fit(material, np.flatnonzero(material.truth >= 0)))
    return exact or TOGETHER.format("a linear function of all columns" if recipe.sources else "its original")


def tell(material: Material, recipe: Any, factor: Any) -> str:  # noqa: ANN401, PLR0911 - any recipe; one clause each
    """A clause that says what a released column is."""
    match recipe:
        case Number():
            return _number(material, recipe)
        case Chain():
            names = ", ".join(f"`{material.records[other.target].name}`" for other in recipe.before)
            words = _number(material, recipe.own)
            return f"{words} shared with {names}" if "error" in words else words
        case Steps():
            exact = _exact(material, recipe.target, recipe.feature)
            return exact or f"changes in steps along {material.feature(recipe.feature).words}"
        case Interval():
            return f"is an interval around {material.feature(recipe.feature).words}"
        case Pattern():
            return f"is missing or zero where `{material.people[recipe.column].name}` is"
        case Axis():
            return "stand in nearly the same order as people do by one sum of their numbers"
        case Joint():
            what = "linear functions of all columns" if recipe.sources else "their originals"
            return f"are {what} with errors that go together, in {SPACE_OF_ALL[recipe.space]}"
        case Kin():
            return f"are put together from people with the same `{material.people[recipe.household].name}`"
        case Untouched():
            return "were left as they are for some people"
        case _:
            return _tell_text(material, recipe, factor)


def _tell_text(material: Material, recipe: Any, factor: Any) -> str:  # noqa: ANN401, PLR0911 - as above
    match recipe:
        case Equal():
            return _equal(material, recipe)
        case Category():
            return _category(material, recipe)
        case Shifted():
            known, group = (material.people[place].name for place in (recipe.column, recipe.group))
            how = "multiplied by a factor" if recipe.space == "log" else "moved by an amount"
            return f"is a straight line of `{known}`, {how} of each `{group}`, with an error"
        case Graded():
            return f"changes in steps along a {'product or ratio' if recipe.logs else 'sum'} of several columns"
        case Class():
            return "is a label for several columns together"
        case Letters():
            return _letters(material, recipe, factor)
        case Around():
            exact = _exact(material, recipe.target, recipe.feature)
            return exact or f"is {material.feature(recipe.feature).words}, moved round a circle of {recipe.period:g}"
        case Alike() | Shared():
            return _alike(material, recipe)
        case Pieces():
            inner, pairs = material.pieces(recipe.target), zip(recipe.recipes, factor.factors, strict=True)
            told = ((inner.records[part.target].name.partition(" of ")[0], tell(inner, part, f)) for part, f in pairs)
            return ", ".join(f"its {name} {words}" for name, words in told)
        case _:
            return "tells something"


def _alike(material: Material, recipe: Alike | Shared) -> str:
    if isinstance(recipe, Shared):
        return f"holds words of {', '.join(f'`{material.people[k].name}`' for k in recipe.columns)}, in any order"
    return f"is nearly {material.text(recipe.spelling).words}, some {CHANGED[recipe.parts]} changed"


def _category(material: Material, recipe: Category) -> str:
    words = material.text(recipe.spelling).words
    if recipe.group >= 0:
        return f"is a label for {words} that each `{material.people[recipe.group].name}` has of its own"
    return f"is {'' if _copied(material, recipe.target, recipe.spelling) else 'a label for '}{words}"


def _equal(material: Material, recipe: Equal) -> str:
    ways = [material.text(spelling).words for spelling in (recipe.spelling, *recipe.others)]
    return f"has {' or '.join(ways)}" if recipe.reading else f"is {' or '.join(ways)}"


def _letters(material: Material, recipe: Letters, factor: Spelled) -> str:
    texts = dict.fromkeys(material.text(source.spelling).words for source in recipe.used())
    return f"is made of the letters of {', '.join(texts)}, {' or '.join(factor.kinds)}"


def _exact(material: Material, target: int, feature: Key | None) -> str | None:
    """The clause for a number that is the known one, or a straight line of it, for all but a few; else None."""
    if feature is None:
        return None
    people = np.flatnonzero(material.truth >= 0)
    x, y = material.feature(feature).values[people], material.records[target].number[material.truth[people]]
    there = np.isfinite(x) & np.isfinite(y)
    x, y, words = x[there], y[there], material.feature(feature).words
    if not y.size:
        return None
    near = max(0.26 * material.records[target].step, 1e-9 * float(np.ptp(y)))
    if np.mean(np.abs(y - x) <= near) >= EXACT:
        return f"is {words}"
    slope, intercept = line(x, y)
    if np.mean(np.abs(y - slope * x - intercept) <= near) < EXACT:
        return None
    coded = feature[1] == "order" or np.unique(y).size < FEWEST_VALUES
    return f"is a label for `{material.people[feature[0]].name}`" if coded else f"is a straight line of {words}"


def _copied(material: Material, target: int, spelling: Spelling) -> bool:
    """Whether a released text is the known one, for all but a few."""
    people = np.flatnonzero(material.truth >= 0)
    foretold = foretold_labels(material.text(spelling), material.book(target))[people]
    return bool(np.mean(foretold == material.label(target)[material.truth[people]]) >= EXACT)


def _number(material: Material, recipe: Number) -> str:
    exact = _exact(material, recipe.target, recipe.feature)
    if exact is not None:
        return exact
    x = material.feature(recipe.feature).words if recipe.feature is not None else ""
    words = HOW[recipe.how].format(x=f"the size of {x}" if recipe.space == "size" else x)
    words += SPACE[recipe.space] if words.endswith("error") else ""
    form, _, place = recipe.scale.partition(":")
    by = material.people[int(place)].name if form in VARIES else ""
    if by and f"`{by}`" not in x:  # a function of a column may differ by that column in every way
        words += "" if "error" in words else ", with an error"
        words += f" {'and' if words.endswith('value') else 'that'} {VARIES[form]} `{by}`"
    return words + ("; cells with a value that many have stay such cells" if recipe.spiked else "")
