"""A scenario: what the intruder holds of the original. Some people, some attributes, or values coarser than the file's.

docs/methods.md, section 3, [TORRA]_ ("flexible scenario"): B, the intruder's file, is a part of the original, perhaps
in another schema. A coarser number is known up to an interval (its middle is used); a coarser category by its first
characters, or by a mapping into larger classes, which the intruder applies to the release as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Rows
from unmask.errors import ParameterError, check_name
from unmask.shares import percent
from unmask.tables.roles import Roles, check_columns


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the intruder holds. Everything that is None or empty is held whole.

    ``people``: a number of people (2 or more, whole) or a share of them (below 1), drawn under ``seed``.
    ``attributes``: the columns known. ``coarser``: for a number the width of its intervals, for a category the
    number of first characters known or a mapping of values to classes. ``renamed``: for columns of
    the release, their names in the intruder's file.
    """

    people: float | None = None
    attributes: tuple[str, ...] | None = None
    coarser: Mapping[str, float | Mapping[str, str]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        """Check what can be checked without tables."""
        if self.attributes is not None:
            given: object = self.attributes
            object.__setattr__(self, "attributes", (given,) if isinstance(given, str) else tuple(self.attributes))
        if self.people is not None and (isinstance(self.people, bool) or not self._plausible(self.people)):
            raise ParameterError(
                "people is a number of people or a share of them",
                got=repr(self.people),
                allowed="0 < share < 1, or 1, 2, ...",
            )
        for name, rule in self.coarser.items():
            if not isinstance(rule, Mapping) and not (isinstance(rule, (int, float)) and rule > 0):
                raise ParameterError(
                    f"{name!r} cannot be coarsened so",
                    got=repr(rule),
                    allowed="a width, a number of characters, a mapping",
                )

    @staticmethod
    def _plausible(people: object) -> bool:
        return isinstance(people, (int, float)) and people > 0 and (people < 1 or float(people).is_integer())

    def __str__(self) -> str:
        """Tell in words what the intruder holds; no values."""
        parts = []
        if self.people is not None:
            parts.append(f"{percent(self.people)} of the people" if self.people < 1 else f"{self.people:.0f} people")
        if self.attributes is not None:
            parts.append(f"{len(self.attributes)} attributes ({', '.join(self.attributes)})")
        if self.coarser:
            parts.append(f"coarser values of {', '.join(sorted(self.coarser))}")
        return "the intruder knows " + (", ".join(parts) or "everything")

    def to_dict(self) -> dict[str, Any]:
        """As plain values, from which `as_scenario` makes the same again."""
        coarser = {name: dict(rule) if isinstance(rule, Mapping) else rule for name, rule in self.coarser.items()}
        names = None if self.attributes is None else list(self.attributes)
        return {
            "people": self.people,
            "attributes": names,
            "coarser": coarser,
            "renamed": dict(self.renamed),
            "seed": self.seed,
        }

    def rename(self, original: pl.DataFrame) -> pl.DataFrame:
        """Give the intruder's columns the names that they have in the release."""
        check_columns(self.renamed.values(), original.columns, "renamed", "the original")
        return original.rename({old: new for new, old in self.renamed.items()})

    def narrow(
        self, original: pl.DataFrame, released: pl.DataFrame, roles: Roles
    ) -> tuple[pl.DataFrame, pl.DataFrame, Roles]:
        """Take away attributes and detail."""
        if self.attributes is not None:
            known = check_columns(self.attributes, roles.quasi, "attributes", "what they may know")
            roles = replace(roles, quasi=known, unshared=(), named=True)
        known = roles.quasi
        for name, rule in self.coarser.items():
            check_name(name, known, f"{name!r} is to be coarser, but is not known")
            if not isinstance(rule, Mapping) and original[name].dtype.is_numeric():
                original = original.with_columns(_middle(original[name], float(rule)))
            else:
                original, released = (table.with_columns(_class(table[name], rule)) for table in (original, released))
        return original, released, roles

    def held(
        self, original: pl.DataFrame, released: pl.DataFrame, roles: Roles, truth: Rows
    ) -> tuple[pl.DataFrame, pl.DataFrame, Roles, Rows]:
        """Both tables and the roles as the intruder has them, and the rows of the original that they hold."""
        left, right, roles = self.narrow(original, released, roles)
        rows = self.rows(left, truth)
        return left[rows], right, roles, rows

    def rows(self, original: pl.DataFrame, truth: Rows) -> Rows:
        """The people they hold, drawn from those who can be found by content, not by place."""
        everybody, there = np.arange(original.height), np.flatnonzero(truth >= 0)
        if self.people is None:
            return everybody
        number = round(self.people * len(there)) if self.people < 1 else int(self.people)
        if number >= len(there):
            return everybody
        order = (
            original[there].with_row_index("scenario row").sort(pl.exclude("scenario row"))["scenario row"].to_numpy()
        )
        picked = np.random.default_rng(self.seed).choice(len(there), max(1, number), replace=False)
        return np.sort(there[order[picked]]).astype(np.int64)


def as_scenario(given: Scenario | Mapping[str, Any] | None) -> Scenario | None:
    """Take a Scenario, or its fields as a TOML table gives them."""
    if given is None or isinstance(given, Scenario):
        return given
    names = [entry.name for entry in fields(Scenario)]
    for name in given:
        check_name(name, names, f"a scenario has no {name!r}")
    return Scenario(**given)


def _middle(column: pl.Series, width: float) -> pl.Series:
    return ((column.cast(pl.Float64) / width).floor() * width + width / 2).alias(column.name)


def _class(column: pl.Series, rule: float | Mapping[str, str]) -> pl.Series:
    text = column.cast(pl.String)
    if isinstance(rule, Mapping):
        return text.replace(dict(rule)).alias(column.name)
    return text.str.slice(0, int(rule)).alias(column.name)
