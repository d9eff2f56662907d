"""Utility beside the risk: what an assessment tells of what is left of the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, cast, get_args

import polars as pl

from unmask.errors import ParameterError, check_name
from unmask.tables import Release
from unmask.utility import UtilityEntry, compare_analyses, summarise_utility

Looked = Literal["whole", "quick", "none"]
MOST_COLUMNS = 200  # of more, so many are looked at
NAMES_PEOPLE = 0.9  # share of different values from which a column of text that is not published only names people


def check_looked(utility: str | None, only: object) -> Looked:
    """How closely to look; by default less closely where only some measures are run, which is meant to be quick."""
    if utility is None:
        return "whole" if only is None else "quick"
    check_name(utility, get_args(Looked), "utility is whole, quick or none")
    return cast("Looked", utility)


def check_keep(release: Release, keep: Iterable[str]) -> tuple[str, ...]:
    """Refuse an analysis that cannot be computed on the original, before the work."""
    if release.alone and tuple(keep):
        raise ParameterError("keep compares analyses with the original, and none was given", got=f"keep={keep!r}")
    texts = (keep,) if isinstance(keep, str) else tuple(dict.fromkeys(keep))
    compare_analyses(release.original, release.original, texts)
    return texts


def utility_of(release: Release, keep: tuple[str, ...], looked: Looked, seed: int) -> UtilityEntry | None:
    """What is left of a release: of every column that somebody could have analysed."""
    names = published(release)
    if release.alone or looked == "none" or not names or not release.released.height:
        return None
    original, released = release.original, release.released
    whole = len(release.paired_rows) == original.height == released.height
    if whole:  # rows of one person side by side
        original, released = original[release.paired_rows], released[release.truth[release.paired_rows]]
    secret = [name for name in release.confidential if name in names and name in released.columns]
    some = tuple(names[place * len(names) // MOST_COLUMNS] for place in range(MOST_COLUMNS))
    looked_at = names if len(names) <= MOST_COLUMNS else tuple(dict.fromkeys((*some, *secret)))
    found = summarise_utility(
        original, released, columns=looked_at, keep=keep, targets=secret, paired=whole, learn=looked == "whole",
        seed=seed,
    )  # fmt: skip
    if len(looked_at) == len(names):
        return found
    return replace(found, words=f"{found.words} Of {len(names):,} columns {len(looked_at)} were looked at.")


def published(release: Release) -> tuple[str, ...]:
    """Columns of the original less ids, those that the user ignores, and names of people that are not published."""
    out = {release.id, release.household, *release.ignored}
    return tuple(
        name
        for name in release.original.columns
        if name not in out and (name in release.released.columns or not _names_people(release.original[name]))
    )


def _names_people(column: pl.Series) -> bool:
    return column.dtype == pl.String and column.n_unique() > NAMES_PEOPLE * column.len()
