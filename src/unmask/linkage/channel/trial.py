"""Trials: how well a recipe, learnt from some of the known people, tells the others apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.factors import Residual
from unmask.linkage.channel.groups import as_groups
from unmask.linkage.channel.material import Material
from unmask.linkage.channel.numbers import Chain, Number
from unmask.linkage.channel.posterior import information

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PARTS = 3
ASKED = 170  # held-out people of a part that recipes are compared on
BESIDE = 400  # people whom the intruder does not know that held-out people are compared among


@dataclass(frozen=True, slots=True)
class Trial:
    """The parts that the known people are split into: whom a recipe is learnt from, and whom it is judged by."""

    material: Material
    parts: tuple[tuple[Ints, Ints], ...]
    by_column: dict[int, Any] = field(default_factory=dict)  # the recipe of each released column that tells by itself
    shown: dict[int, float] = field(default_factory=dict)  # standard errors above chance that a column tells by itself
    not_decoded: frozenset[int] = frozenset()  # released columns that are no text made into another
    _fits: dict[Any, Residual] = field(default_factory=dict)

    def scores(self, recipe: Any, parts: slice = slice(None)) -> list[Floats]:  # noqa: ANN401 - any recipe
        """Scores of held-out people (rows) with each other's records (columns), a table per part."""
        tables = []
        for part, (_, asked) in enumerate(self.parts[parts]):
            factor = self.fit(recipe, part)
            tables.append(factor.log(asked[:, None], self.material.truth[asked][None, :]))
        return tables

    def fit(self, recipe: Any, part: int) -> Any:  # noqa: ANN401
        """Learn a recipe from the learners of a part; numbers once, since chains ask again."""
        learners = self.parts[part][0]
        if isinstance(recipe, Chain):
            return recipe.join(
                self.material, learners, [self.fit(number, part) for number in (recipe.own, *recipe.before)]
            )
        if not isinstance(recipe, Number):
            return recipe.fit(self.material, learners)
        if (recipe, part) not in self._fits:
            self._fits[recipe, part] = recipe.fit(self.material, learners)
        return self._fits[recipe, part]

    def gains(self, tables: list[Floats]) -> Floats:
        """What each held-out person's true record gains over chance; whole groups are compared if there are any."""
        groups, truth = self.material.groups, self.material.truth
        if groups is None:
            return gains(tables)
        asked = [asked for _, asked in self.parts]
        return gains(
            [as_groups(table, groups.take(rows, truth[rows])) for table, rows in zip(tables, asked, strict=True)]
        )

    def gains_among_more(self, recipes: Sequence[Any]) -> Floats:
        """What held-out people gain by the sum of recipes if people who are not known, and their records, compete.

        A few held-out people are soon told apart from each other: which of two channels tells more then shows only
        among more people. Whose record is whose is asked of held-out people alone.
        """
        material, known = self.material, np.unique(np.concatenate([learners for learners, _ in self.parts]))
        others = np.setdiff1d(np.arange(material.n_people), known)
        records = np.setdiff1d(np.arange(material.n_records), material.truth[known])
        most, draw = min(others.size, records.size, BESIDE), np.random.default_rng(0)
        others, records = (draw.permutation(side)[:most] for side in (others, records))
        found = []
        for part, (_, asked) in enumerate(self.parts):
            rows, cols = np.append(asked, others), np.append(material.truth[asked], records)
            total = np.zeros((rows.size, cols.size))
            for recipe in recipes:
                total += self.fit(recipe, part).log(rows[:, None], cols[None, :])
            found.append(information(total)[: asked.size])
        return np.concatenate(found)

    def error(self, gain: Floats) -> float:
        """Standard error of a mean over held-out people: those who are published together are one observation."""
        if self.material.groups is None:
            return error_of(gain)
        units = [
            self.material.units(asked) + part * self.material.n_people for part, (_, asked) in enumerate(self.parts)
        ]
        _, unit = np.unique(np.concatenate(units), return_inverse=True)
        sums = np.bincount(unit.ravel(), weights=gain - gain.mean())
        return float(np.sqrt((sums**2).sum()) / max(1, gain.size))


def gains(tables: list[Floats]) -> Floats:
    """What each held-out person's true record gains over chance."""
    return np.concatenate([information(table) for table in tables])


def split(material: Material, taught: Ints, seed: int) -> tuple[tuple[Ints, Ints], ...]:
    """Split the known people into learners and asked, several times; who is published together stays together."""
    unit = np.unique(material.units(taught), return_inverse=True)[1].ravel()
    if not unit.any():  # all are published together: there is nothing to keep apart
        unit = np.arange(taught.size)
    units = int(unit.max()) + 1
    mixed = np.random.default_rng(seed).permutation(units)
    place = np.argsort(mixed)[unit]
    parts = min(PARTS, max(2, units // 3))
    ends = np.cumsum([piece.size for piece in np.array_split(mixed, parts)])
    of_part = np.searchsorted(ends, place, "right")
    pieces = [np.flatnonzero(of_part == part) for part in range(parts)]
    return tuple(
        (taught[of_part != part], np.sort(taught[piece[np.argsort(place[piece], kind="stable")][:ASKED]]))
        for part, piece in enumerate(pieces)
    )


def error_of(gain: Floats) -> float:
    """Standard error of a mean over people."""
    return float(gain.std() / np.sqrt(max(1, gain.size)))
