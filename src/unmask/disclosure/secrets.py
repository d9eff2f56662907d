"""Which attributes the intruder wants to learn, and their values on both sides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from unmask.arrays import Codes, Floats
from unmask.errors import NothingToTryError, RoleError
from unmask.study import Study
from unmask.tables import Release, check_columns, has_intervals, to_floats


def published(release: Release, *, numeric: bool | None = None) -> tuple[str, ...]:
    """Confidential columns that are in both tables; ``numeric`` picks numbers (True) or categories (False).

    Where none of the people at risk has a value, nothing can be learnt.
    """
    return tuple(
        name
        for name in release.confidential
        if name in release.columns
        and name in release.released.columns
        and (numeric is None or release.columns[name].is_number == numeric)
        and _had(release, name)
    )


def nothing_published(release: Release) -> str | None:
    """Why no confidential column is published; None where there is one."""
    if published(release):
        return None
    if any(name in release.columns and name in release.released.columns for name in release.confidential):
        return "nobody at risk has a value of a confidential attribute that is published"
    return "no confidential attribute is named and published"


def _had(release: Release, name: str) -> bool:
    """Whether somebody at risk has a value; without pairs everybody is."""
    column = release.original[name]
    missing = column.null_count()
    if missing in {0, len(column)} or release.synthetic:
        return missing < len(column)
    return column.gather(release.paired_rows).null_count() < len(release.paired_rows)


def _chosen(release: Release, attributes: Iterable[str] | None, *, numeric: bool) -> tuple[str, ...]:
    """Those named; else the confidential ones if any are named; else what the intruder knows."""
    if attributes is not None:
        shared = [name for name in release.original.columns if name in release.released.columns]
        names = check_columns(attributes, shared, "attribute", "both tables")
        wrong = [name for name in names if release.columns[name].is_number != numeric]
        if wrong:
            raise RoleError(
                f"column {wrong[0]!r} is {'not numeric' if numeric else 'numeric'}",
                got=release.kind(wrong[0]),
                hint=f"override its kind: kinds={{{wrong[0]!r}: {'numeric' if numeric else 'categorical'!r}}}",
            )
        return names
    if release.confidential:
        return published(release, numeric=numeric)
    return tuple(name for name in release.quasi if release.columns[name].is_number == numeric)


def numeric_secrets(
    release: Release, attributes: Iterable[str] | None, *, refuse: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Numeric attributes to look at, with a note on each that was left out because it tells nothing."""
    names, notes = [], []
    for name in _chosen(release, attributes, numeric=True):
        column = release.original[name]
        if column.null_count() == len(column):
            notes.append(f"{name!r} is left out: it has no value in the original")
        elif column.min() == column.max():
            notes.append(f"{name!r} is left out: it has one value in the original, which everybody knows")
        else:
            names.append(name)
    if refuse and not names:
        raise RoleError(
            "there is no numeric attribute with two different values", hint="name some in attributes= or confidential="
        )
    return tuple(names), tuple(notes)


def comparable_numbers(
    study: Study, names: tuple[str, ...], notes: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of some numeric attributes that are numbers in the release as well, with a note on each other one."""
    left = tuple(name for name in names if study.encoding([name]).numeric_names)
    if not left:
        raise NothingToTryError("the release has no number in the place of any of these numbers")
    out = tuple(f"{name!r} is left out: the release has no numbers there" for name in names if name not in left)
    return left, (*notes, *out)


def paired_numbers(study: Study, name: str) -> tuple[Floats, Floats]:
    """Original and published value of each paired person; an interval is published as its centre."""
    encoding, release = study.encoding([name]), study.release
    original, released = encoding.original.numeric[:, 0], encoding.released.numeric[:, 0]
    if has_intervals(release.released[name]):
        original = to_floats(release.original[name], name)  # the person's own number, not the interval it falls into
    people = release.paired_rows
    if people.size == release.original.height:
        return original, released[release.truth]
    return original[people], released[release.truth[people]]


class Categories(NamedTuple):
    """Codes of one categorical attribute for paired people, -1 for missing, and the number of categories."""

    original: Codes
    released: Codes
    n_categories: int
    notes: tuple[str, ...]


def category_secrets(release: Release, attributes: Iterable[str] | None) -> tuple[str, ...]:
    """Categorical attributes to look at."""
    return _chosen(release, attributes, numeric=False)


def paired_categories(study: Study, name: str) -> Categories:
    """Original and published category of each paired person, on one codebook."""
    encoding, release = study.encoding([name]), study.release
    people = release.paired_rows
    left, right = encoding.original.codes[:, 0], encoding.released.codes[:, 0]
    size = int(max(left.max(initial=-1), right.max(initial=-1))) + 1
    return Categories(left[people], right[release.truth[people]], size, encoding.notes)


def wanted(
    release: Release, attributes: Iterable[str] | None, *, absent: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """As `learnable`, but refused where there is none."""
    names, notes = learnable(release, attributes, absent=absent)
    if not names:
        raise RoleError("no confidential attribute can be learnt", got="; ".join(notes) or "none", hint="name one")
    return names, notes


def nothing_wanted(release: Release, *, absent: bool = False) -> str | None:
    """Why there is nothing to learn; None where there is something."""
    if not release.confidential:
        return "no confidential attribute is named"
    names, notes = learnable(release, None, absent=absent)
    return None if names else "; ".join(notes) or "no confidential attribute is published"


def learnable(
    release: Release, attributes: Iterable[str] | None, *, absent: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Confidential attributes that a model can learn, and a note on each that was left out, with the reason.

    ``absent``: also those that the release does not have.
    """
    given = release.confidential
    if attributes is not None:
        given = check_columns(attributes, release.original.columns, "attribute", "the original")
    names, notes = [], []
    for name in given:
        reason = _unlearnable(release, name, absent=absent)
        names += [] if reason else [name]
        notes += [f"{name!r} is left out: {reason}"] if reason else []
    return tuple(names), tuple(notes)


def _unlearnable(release: Release, name: str, *, absent: bool) -> str | None:  # noqa: PLR0911 - one per reason
    if name not in release.original.columns:
        return "the original does not have it, so no guess can be checked"
    if name not in release.released.columns and not absent:
        return "the release does not have it"
    column = release.original[name].drop_nulls()
    if not len(column):
        return "it has no value"
    if column.n_unique() == 1:
        return "it has one value, which everybody knows"
    if not release.columns[name].is_number and column.n_unique() == len(column):
        return "it has one value per record, so there is nothing to learn about it from others"
    if name in release.released.columns and release.released[name].null_count() == release.released.height:
        return "it has no value in the release"
    twin = _twin(release, name)
    return f"it equals {twin!r}, which the intruder knows already" if twin else None


def _twin(release: Release, name: str) -> str | None:
    """Return a known column that says the same, value for value."""
    column, kind = release.original[name].to_physical(), release.columns[name].kind
    for other in release.quasi:
        known = release.original[other]
        if other == name or release.columns[other].kind != kind or known.n_unique() != column.n_unique():
            continue
        if bool((known.to_physical().rank("dense").eq_missing(column.rank("dense"))).all()):
            return other
    return None
