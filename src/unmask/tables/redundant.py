"""Columns that say nothing of their own: one value everywhere, or another column once more.

Whoever counts columns, draws them or adds up distances over them would count such a column as knowledge; it is none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from unmask.tables.release import Release
    from unmask.tables.roles import Role, Roles

    Tables = list[pl.DataFrame]

FIRST = 64  # rows that are looked at before columns are compared as a whole


def leave_out_redundant(release: Release) -> tuple[Roles, list[str]]:
    """Roles without columns that are constant, or equal to another of the same role, in every table; and why.

    Secrets that are constant stay, as do columns with a part of their own (coordinates, kinds that were said), and
    everything where nothing else would be left.
    """
    tables = [t for t in (release.original, release.released, release.control, release.population) if t is not None]
    names = _candidates(release)
    constant = [name for name in names if _is_constant(release, name)]
    roles = release.roles
    twins = _twins(tables, [name for name in names if name not in constant])
    secret = _twins(tables, [name for name in roles.confidential if name not in release.said_kinds])
    out = {*constant, *twins, *secret}
    if not out or (roles.quasi and out >= {*roles.quasi}):
        return roles, []
    notes = [f"column {name!r} has one value everywhere: it tells nobody apart, and is left out" for name in constant]
    notes += [
        f"column {name!r} holds the same as {other!r}: it is counted once"
        for name, other in {**twins, **secret}.items()
    ]
    parts = (roles.quasi, roles.unshared, roles.confidential)
    known, unshared, wanted = (tuple(name for name in part if name not in out) for part in parts)
    redundant: dict[str, Role] = {name: "confidential" if name in secret else "quasi" for name in sorted(out)}
    return replace(roles, quasi=known, unshared=unshared, confidential=wanted, redundant=redundant), notes


def _candidates(release: Release) -> list[str]:
    """Known columns, and those that only the release has."""
    roles, original = release.roles, release.original.columns
    known = [*roles.quasi, *roles.unshared] if roles.named else roles.plain(release.original)
    others = [name for name in roles.plain(release.released) if name not in original]
    kept = {*release.coordinates, *release.said_kinds}
    return [name for name in (*(n for n in original if n in known), *others) if name not in kept]


def _is_constant(release: Release, name: str) -> bool:
    """Whether each file has one value there; other people must have the original's."""
    found = []
    for table in (release.original, release.released, release.control, release.population):
        column = table[name] if table is not None and name in table.columns else None
        if column is not None and not (_one_value(column.head(FIRST)) and _one_value(column)):
            return False
        found.append(None if column is None else str(column[0]))
    return all(other is None or other == found[0] for other in found[2:])


def _one_value(column: pl.Series) -> bool:
    return not column.null_count() and bool((column == column[0]).all())


def _twins(tables: Tables, names: list[str]) -> dict[str, str]:
    """For each column that repeats an earlier one in every table, that one."""
    alike: dict[object, list[str]] = {}
    twins = {}
    for name in names:
        group = alike.setdefault(_beginning(tables, name), [])
        same = next((other for other in group if _is_equal(tables, name, other)), None)
        if same is None:
            group.append(name)
        else:
            twins[name] = same
    return twins


def _beginning(tables: Tables, name: str) -> tuple[object, ...]:
    """What equal columns have in common, and is quickly made."""
    columns = [table[name].head(FIRST) if name in table.columns else None for table in tables]
    return tuple(None if column is None else (_kind(column), tuple(column.to_list())) for column in columns)


def _kind(column: pl.Series) -> str:
    return "number" if column.dtype.is_numeric() else str(column.dtype)


def _is_equal(tables: Tables, name: str, other: str) -> bool:
    return all(bool(table[name].eq_missing(table[other]).all()) for table in tables if name in table.columns)
