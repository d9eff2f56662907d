"""Kinds and roles of columns: what each one is, who knows it, and why we think so.

Integer codes with few values are the classic trap: 1, 2, 3 may be a region or a number of children. The inference
decides, says what and why in the output, and can be overridden.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from unmask.arrays import Rows
from unmask.errors import RoleError, check_name, did_you_mean
from unmask.tables.digits import FEW_CODES, ROWS_PER_CODE, moved_anywhere
from unmask.tables.intervals import MOSTLY, has_intervals, interval_share
from unmask.tables.recode import are_merged_codes

Kind = Literal["numeric", "ordinal", "categorical", "boolean", "date"]
Role = Literal["id", "quasi", "confidential", "weight", "household", "ignored"]
KINDS: tuple[str, ...] = get_args(Kind)

NO_SHARED_NAME = (
    "no column of the release has the name of an original one: only the attack that learns how the columns were made "
    "can compare them; rename those that are the same as in the original, and every attack is run"
)
MERGED = "whole numbers that always stand under one other number, not near it: codes merged into groups"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the release: its kind, its role, and the reason for the kind in plain words."""

    name: str
    kind: Kind
    role: Role
    reason: str

    @property
    def is_number(self) -> bool:
        """Whether differences mean something: numbers, dates and ordered levels."""
        return self.kind in {"numeric", "date", "ordinal"}


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column plays which part."""

    id: str | None
    weight: str | None
    household: str | None
    quasi: tuple[str, ...]
    confidential: tuple[str, ...]
    ignored: tuple[str, ...]
    named: bool  # whether quasi was named; else it is every shared column without another role
    unshared: tuple[str, ...] = ()  # named in quasi, but the release has no column of this name
    redundant: Mapping[str, Role] = field(default_factory=dict)  # they say nothing of their own: no attack uses them

    def of(self, name: str) -> Role:
        """Tell the role of a column; without one it is ignored."""
        singles: dict[str | None, Role] = {self.household: "household", self.weight: "weight", self.id: "id"}
        if name in singles:
            return singles[name]
        if name in self.confidential:
            return "confidential"
        return "quasi" if name in (*self.quasi, *self.unshared) else self.redundant.get(name, "ignored")

    def plain(self, table: pl.DataFrame) -> list[str]:
        """Columns of one table that hold something and have no role of their own, whether or not the other has them."""
        taken = {self.id, self.weight, self.household, *self.confidential, *self.ignored, *self.redundant}
        return sorted(name for name in table.columns if name not in taken and table[name].null_count() < table.height)


def assign_roles(
    original: pl.DataFrame, released: pl.DataFrame, wanted: Mapping[str, Any], *, synthetic: bool
) -> tuple[Roles, list[str]]:
    """Give every column its role, and tell which were left out. ``wanted`` has the fields of `Roles`, as given."""
    shared = [name for name in original.columns if name in released.columns]
    everywhere = [*original.columns, *(n for n in released.columns if n not in shared)]
    places = {"id": original.columns, "household": original.columns}
    single: dict[str, str | None] = {}
    for role in ("id", "weight", "household"):
        single[role] = name = wanted[role]
        if name is not None:
            where = "the original" if role in places else "the tables"
            check_columns([name], places.get(role, everywhere), role, where)
    if single["id"] is not None and not synthetic:
        check_columns([single["id"]], released.columns, "id", "the release")
    secret = check_columns(wanted["confidential"], everywhere, "confidential", "the tables")
    ignored = check_columns(wanted["ignored"], everywhere, "ignored", "the tables")
    named = wanted["quasi"] is not None
    if named:
        known = tuple(dict.fromkeys(check_columns(wanted["quasi"], original.columns, "quasi", "the original")))
    else:
        known = tuple(name for name in shared if name not in {*single.values(), *secret, *ignored})
    quasi, unshared = (tuple(n for n in known if (n in shared) is both) for both in (True, False))
    roles = Roles(single["id"], single["weight"], single["household"], quasi, secret, ignored, named, unshared)
    _refuse_two_roles(roles)
    roles, notes = _without_empty(roles, original, released)
    return roles, [*notes, *_other_names(roles, original, released)]


def _other_names(roles: Roles, original: pl.DataFrame, released: pl.DataFrame) -> list[str]:
    """Say what the release does not have under its own name; refuse an intruder who knows nothing at all."""
    if roles.quasi:
        names = ", ".join(map(repr, roles.unshared))
        return [f"the release has no column {names}: only the attack that learns how it was made uses it"] * bool(names)
    known = roles.unshared or (() if roles.named else roles.plain(original))
    if not (known and roles.plain(released)):
        raise RoleError(
            "the intruder knows no column", hint="name columns in quasi=, or give fewer of them other roles"
        )
    return [NO_SHARED_NAME]


def _refuse_two_roles(roles: Roles) -> None:
    single = [roles.id, roles.weight, roles.household]
    names = [*single, *roles.quasi, *roles.unshared, *set(roles.confidential), *set(roles.ignored)]
    both = {name for name in names if name is not None and names.count(name) > 1}
    if both:
        raise RoleError(
            "a column has two roles", got=", ".join(sorted(map(repr, both))), hint="leave it in one of them"
        )


def _without_empty(roles: Roles, original: pl.DataFrame, released: pl.DataFrame) -> tuple[Roles, list[str]]:
    """Leave out known columns without a value, and say so; refuse them where they were named."""
    notes, empty = [], []
    tables = ("original", original), ("release", released)
    for name in (*roles.quasi, *roles.unshared):
        where = [w for w, t in tables if name in t.columns and t[name].null_count() == t.height]
        if where and roles.named:
            raise RoleError(f"column {name!r} has no value in the {where[0]}", hint="leave it out of quasi=")
        if where:
            empty.append(name)
            notes.append(
                f"column {name!r} has no value in the {' and the '.join(where)}: it is left out; "
                "drop it or name it in ignored"
            )
    return replace(roles, quasi=tuple(name for name in roles.quasi if name not in empty)), notes


def infer_kind(original: pl.Series, released: pl.Series | None) -> tuple[Kind, str]:  # noqa: PLR0911 - one per kind
    """Tell the kind of a column from both tables, with the reason in words (no values of the data)."""
    kind = original.dtype
    if kind.is_numeric() and released is not None and released.dtype == pl.String and interval_share(released) < MOSTLY:
        return "categorical", "numbers in the original, other text in the release: compared as text"
    if kind == pl.Boolean:
        return "boolean", "true/false values"
    if kind.is_temporal():
        return "date", "dates or times, used as numbers"
    if kind == pl.Enum:
        return "ordinal", "levels with a declared order"
    if kind.is_integer() or (kind.is_float() and is_whole(original)):
        return _infer_integer(original, released)
    if kind.is_numeric():
        return "numeric", "numbers with decimals"
    return _infer_text(original)


def is_whole(column: pl.Series) -> bool:
    """Whether every number is whole: 4.0 is what some programs write for 4 where another row is empty."""
    present = column.drop_nulls()
    present = present.filter(present.is_finite()) if column.dtype.is_float() else present
    return len(present) > 0 and bool((present == present.round()).all())


def _infer_integer(original: pl.Series, released: pl.Series | None) -> tuple[Kind, str]:
    if bool((original.cast(pl.Float64).abs() >= 2.0**53).any()):  # 2^53 + 1 is 2^53 there
        return (
            "categorical",
            "whole numbers of more than 15 digits, such as account numbers: compared for equality only",
        )
    distinct, rows = original.drop_nulls().n_unique(), len(original) - original.null_count()
    looks_coded = distinct <= FEW_CODES and rows >= ROWS_PER_CODE * distinct
    if not looks_coded:
        return "numeric", f"whole numbers, {distinct} different ones in {rows} rows"
    if released is not None and released.dtype.is_numeric():
        outside = (
            released.drop_nulls()
            .cast(pl.Float64)
            .is_in(original.drop_nulls().unique().cast(pl.Float64).implode())
            .not_()
        )
        if bool(outside.any()):
            return (
                "numeric",
                f"few whole numbers ({distinct}), but the release holds others: numbers that were changed, not codes",
            )
    return (
        "categorical",
        f"only {distinct} different whole numbers in {rows} rows: read as codes, not amounts (override with kinds)",
    )


def _infer_text(original: pl.Series) -> tuple[Kind, str]:
    if has_intervals(original):
        if interval_share(original) == 1.0:
            return "numeric", "intervals of numbers, written as text"
        return "categorical", "intervals of numbers and other text: compared for equality only (override with kinds)"
    if interval_share(original) == 1.0:
        if bool(original.drop_nulls().cast(pl.String).str.contains(".", literal=True).any()):
            return "numeric", "numbers with decimals, written as text"
        return "categorical", "digits kept as text, such as postcodes: compared for equality only (override with kinds)"
    distinct, rows = original.drop_nulls().n_unique(), len(original) - original.null_count()
    if rows and distinct > 0.9 * rows and rows > 20:
        return "categorical", f"free text, {distinct} different values in {rows} rows: compared for equality only"
    return "categorical", f"text with {distinct} different values"


def describe(
    original: pl.DataFrame, released: pl.DataFrame, roles: Roles, kinds: Mapping[str, Kind], truth: Rows
) -> dict[str, Column]:
    """Tell kind and role of every column of the original; ``kinds`` overrides what is inferred.

    ``truth``: row of the release for each row of the original, -1 for none: pairs show codes that were merged.
    """
    described, there = {}, set(released.columns)
    paired = np.flatnonzero(truth >= 0)
    for name in original.columns:
        shared = name in there
        kind, reason = infer_kind(original[name], released[name] if shared else None)
        if name in kinds:
            kind, reason = kinds[name], "as you said"
        elif shared and kind == "numeric" and are_merged_codes(original[name][paired], released[name][truth[paired]]):
            kind, reason = "categorical", MERGED
        elif shared and kind == "numeric" and _like_codes(original[name], released[name], (paired, truth[paired])):
            reason += f"; values that were changed went anywhere: if these are codes, say so (kinds {name}=categorical)"
        described[name] = Column(name, kind, roles.of(name), reason)
    return described


def _like_codes(original: pl.Series, released: pl.Series, pairs: tuple[Rows, Rows]) -> bool:
    """Whether whole numbers of many different values were changed as codes are."""
    if not all(column.dtype.is_numeric() and is_whole(column) for column in (original, released)):
        return False
    return bool(moved_anywhere(original, released, pairs))


def check_columns(names: Iterable[str], known: Iterable[str], role: str, where: str) -> tuple[str, ...]:
    """Refuse a role for a column that is not there; name the nearest one."""
    available = list(dict.fromkeys(known))  # of two tables: each once
    wanted = (names,) if isinstance(names, str) else tuple(names)
    for name in wanted:
        if name not in available:
            raise RoleError(
                f"no column {name!r} for role {role!r} in {where}",
                got=repr(name),
                allowed=_listed(available),
                hint=did_you_mean(name, available),
            )
    return wanted


def said_kinds(categorical: Iterable[str], grouped: Iterable[str], kinds: Mapping[str, str] | None) -> dict[str, str]:
    """Kinds that were said by hand: those of ``kinds``, and columns that are read as categories or have groups."""
    names = (categorical,) if isinstance(categorical, str) else tuple(categorical)
    return {**dict.fromkeys((*names, *grouped), "categorical"), **(kinds or {})}


def check_kinds(kinds: Mapping[str, str], known: Iterable[str]) -> dict[str, Kind]:
    """Refuse unknown columns and unknown kinds in an override."""
    check_columns(kinds, known, "kind override", "the tables")
    for name, kind in kinds.items():
        check_name(kind, KINDS, f"no kind {kind!r} for column {name!r}", RoleError)
    return {name: kind for name, kind in kinds.items()}  # type: ignore[misc]  # noqa: C416 - narrows str to Kind


def _listed(names: list[str], most: int = 12) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
