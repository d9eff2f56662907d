"""What is looked at once the tables are read: numbers that cannot be used, and signs of a mistake."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import polars as pl

from unmask.errors import ParameterError, RoleError, TableError
from unmask.tables.recode import is_coarser

if TYPE_CHECKING:
    from unmask.tables.release import Release

SEEN = 2000  # pairs that are looked at for a sign that the files are swapped ...
LEAST = 20  # ... not in fewer
REPEATED = 2  # times that a value of the release occurs on average, at least
LARGEST = 1e100  # their squares and sums must stay finite
CANNOT_TEST = (
    "the epsilon that is claimed cannot be tested: give people outside (control=, --control), or how the release was "
    "made (masking=, --masking); unmask audit tests a method by itself"
)


def check_values(table: pl.DataFrame, where: str) -> None:
    """Refuse infinities, and numbers whose squares are."""
    for name in table.columns:
        column = table[name]
        if column.dtype.is_float() and bool(column.is_infinite().any()):
            row = int(column.is_infinite().arg_true()[0]) + 1
            raise TableError(
                f"column {name!r} of the {where} holds an infinity in row {row}",
                hint="replace it by a number or leave the cell empty",
            )
        if column.dtype.is_numeric() and bool((column.cast(pl.Float64).abs() > LARGEST).any()):
            raise TableError(f"column {name!r} of the {where} holds numbers beyond {LARGEST:.0e}", hint="rescale it")


def check_weight(release: Release) -> None:
    """A released sampling weight is a number of people on every record."""
    if release.weight is None or release.weight not in release.released.columns:
        return
    column = release.released[release.weight]
    number = column.dtype.is_numeric()
    wrong = int((~(column.fill_null(0) > 0)).sum()) if number else len(column)
    if wrong:
        raise RoleError(
            f"the sampling weight {release.weight!r} must be a positive number on every record of the release",
            got=f"{wrong} of {len(column)} records have none" + ("" if number else f" ({column.dtype.base_type()})"),
            hint="a weight is the number of people that a record stands for",
        )


def check_population(release: Release) -> None:
    """A population that is a number has at least as many people as the release has rows."""
    if release.n_people is None or release.population is not None:
        return
    if not release.released.height <= release.n_people < float("inf"):
        raise RoleError(
            "the population is not a number of people, at least as many as the release has rows",
            got=f"{release.n_people:g} people, {release.released.height} rows",
            hint="population= is the number of people that the original was drawn from, or a table of them",
        )


def is_synthetic(*, synthetic: bool, paired: bool | None) -> bool:
    """Take the former ``paired`` for its opposite; refuse both at odds."""
    if paired is None:
        return bool(synthetic)
    if synthetic and paired:
        raise ParameterError("a release is synthetic or paired, not both", hint="leave out paired=: it is synthetic=")
    return not paired


def or_alone(
    read: dict[str, pl.DataFrame], places: tuple[Any, Any, Any], control: object, masking: object, synthetic: object
) -> Any:  # noqa: ANN401 - known distances, a path or an array
    """Without an original take the release for it; refuse what says something only beside an original.

    ``places``: published distances, known ones, coordinates. Return the known distances: the published ones, alone.
    """
    distances, known, coordinates = places
    if "original" in read:
        return known
    given = {"synthetic": synthetic, "control": control, "masking": masking, "second": read.get("second")}
    given["earlier"] = read.get("earlier 1")
    if "released" not in read:
        raise ParameterError("no table is given", hint="give the original and the table you want to publish")
    if given["synthetic"]:
        raise ParameterError(
            "a synthetic table alone says nothing about the people it was made from",
            got="synthetic, and no original",
            hint="give the original as the first table",
        )
    useless = [name for name, value in given.items() if value is not None and value is not False]
    if useless:
        raise ParameterError(
            f"{' and '.join(useless)} cannot be used without an original", hint="give the original as the first table"
        )
    read["original"] = read["released"]
    return distances if known is None and coordinates is None else known


def as_second(read: dict[str, pl.DataFrame], original: pl.DataFrame) -> pl.DataFrame | None:
    """The other release of the same people, if there is one; refuse a table that has no column of the original."""
    second = read.get("second")
    if second is not None and not set(second.columns) & set(original.columns):
        raise RoleError(
            "the second release has no column of the original", got=f"{second.width} columns, none of them shared",
            hint="columns of all tables are compared by their names",
        )  # fmt: skip
    return second


def swapped(release: Release) -> list[str]:
    """Warn when the release tells more than the original."""
    original, released = release.original[release.paired_rows], release.released[release.truth[release.paired_rows]]
    coarse = [
        name
        for name in release.quasi
        if is_coarser(released[name], original[name]) or _splits(original[name], released[name])
    ]
    extra = set(release.released.columns) > set(release.original.columns)
    gaps = [name for name in release.quasi if original[name].null_count() and not released[name].null_count()]
    if not (coarse or extra or (gaps and not any(released[name].null_count() for name in release.quasi))):
        return []
    more = sorted(set(release.released.columns) - set(release.original.columns))
    names = ", ".join(map(repr, (coarse or gaps or more)[:5]))
    return [f"the release has more detail than the original in {names}: are the two files swapped?"]


def _splits(original: pl.Series, released: pl.Series) -> bool:
    """Whether each value of the release stands for one of the original, and several for the same: days for months."""
    pairs = pl.DataFrame({"new": released.head(SEEN), "old": original.head(SEEN)})
    new, old = pairs["new"].n_unique(), pairs["old"].n_unique()
    few = old < new <= pairs.height / REPEATED  # values that hardly repeat stand for one value of anything
    return pairs.height >= LEAST and few and pairs.n_unique() == new


def identifiers(release: Release) -> list[str]:
    """Warn of a column that numbers the people and was published unchanged."""
    paired, partners = release.paired_rows, release.truth[release.paired_rows]
    notes = []
    for name in release.quasi:
        column = release.original[name]
        if column.dtype.is_float() or column.null_count() or column.n_unique() < len(column) or len(column) < 20:
            continue
        same = column[paired].cast(pl.String) == release.released[name][partners].cast(pl.String)
        if bool(same.all()):
            notes.append(
                f"column {name!r} has one value per record and is published unchanged: it names people. "
                "Drop it from the release, or name it in id or ignored if it will not be published"
            )
    return notes


def check_claim(epsilon: Any, delta: Any) -> float:  # noqa: ANN401 - whatever was given
    """Refuse a claim that is none; return delta."""
    numbers = [part is None or (isinstance(part, int | float) and isfinite(part)) for part in (epsilon, delta)]
    if not numbers[0] or (epsilon is not None and epsilon <= 0):
        raise ParameterError("epsilon is out of range", got=repr(epsilon), allowed="a number, more than 0")
    if delta is not None and (epsilon is None or not numbers[1] or not 0 <= delta < 1):
        told = "no epsilon beside it" if epsilon is None else repr(delta)
        raise ParameterError("delta is out of range", got=told, allowed="from 0, less than 1, with an epsilon")
    return float(delta or 0.0)


def untested(release: Release) -> list[str]:
    """Say that a claim of differential privacy cannot be tested, where nobody is known to be outside."""
    outside = release.control is not None or (not release.synthetic and bool((release.truth < 0).any()))
    return [CANNOT_TEST] if release.epsilon is not None and release.masking is None and not outside else []
