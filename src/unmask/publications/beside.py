"""Two releases beside each other: which rows are one person's, as far as the intruder can find out.

Nobody tells them. Columns that are the same in both releases (a pseudonym, a number that was not masked, a few
categories together) say it exactly where they tell rows apart. Where they do not, the intruder learns from the people
whom they know how the one release goes with the other, as they learn a masking, and takes the likeliest row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from unmask.arrays import Floats, Rows
from unmask.errors import EngineError
from unmask.linkage import link_channel
from unmask.tables import Earlier, Release, as_text

STABLE = 0.99  # share of people whose value is the same in both releases, from which a column says who is who
ENOUGH = 0.95  # of the people in both who are linked by such columns: then nothing has to be learnt
SURE = 0.5  # posterior above which a row is laid beside another
PAIR = "row pair"  # column that tells us, not the intruder, which rows are one person's


@dataclass(frozen=True, slots=True)
class Beside:
    """An earlier release beside the new one."""

    rows: Rows = field(repr=False)  # row of the earlier release that is laid beside each row of the new one; -1: none
    keys: tuple[str, ...]  # columns that are the same in both
    learnt: bool  # whether it had to be learnt how one goes with the other
    right: float  # share of the people in both whose rows were laid beside each other
    unexplained: Floats = field(repr=False)  # rows of the new release that the earlier one may lack: how many, by row
    left: Floats = field(repr=False)  # the same of the earlier release: rows that the new one may lack


def lay_beside(release: Release, earlier: Earlier, seed: int) -> Beside:
    """Find the row of the earlier release for every row of the new one, without being told."""
    partner = partners(release, earlier)
    if not (partner >= 0).any():  # nobody is in both: nothing belongs together, and every row is new
        nothing = np.full(partner.size, -1, dtype=np.int64)
        return Beside(
            nothing, (), learnt=False, right=0.0, unexplained=np.ones(partner.size), left=np.ones(earlier.table.height)
        )
    both = _readable(release, earlier, partner)
    keys = stable_columns(both, partner)
    classes = _classes(both, keys)
    rows = _by_keys(*classes)
    learnt = False
    if _right(rows, partner) < ENOUGH:
        by_learning = _by_learning(both, seed)
        learnt = _right(by_learning, partner) > _right(rows, partner)
        rows = by_learning if learnt else rows
    return Beside(rows, keys, learnt, _right(rows, partner), *_differing(both, classes))


def partners(release: Release, earlier: Earlier) -> Rows:
    """The row of the earlier release of each row's person; -1: the person has none, or is not known."""
    found = np.full(release.released.height, -1, dtype=np.int64)
    found[release.truth[release.paired_rows]] = earlier.truth[release.paired_rows]
    return found


def _readable(release: Release, earlier: Earlier, partner: Rows) -> Release:
    """Both releases in one writing, the earlier one first, with all that they publish but ids.

    Columns to leave out that the original has are taken as not published; those that it lacks are pseudonyms and the
    like, which say nothing about people, and everything about which rows belong together.
    """
    aside = {release.id, *(name for name in release.ignored if name in release.original.columns)}
    tables = [table.select(n for n in table.columns if n not in aside) for table in (earlier.table, release.released)]
    known = np.flatnonzero(partner >= 0)
    numbers = np.arange(earlier.table.height), np.full(partner.size, -1, dtype=np.int64)
    numbers[1][known] = partner[known]
    strangers = np.flatnonzero(partner < 0)
    numbers[1][strangers] = earlier.table.height + np.arange(strangers.size)
    old, new = (t.with_columns(pl.Series(PAIR, n)) for t, n in zip(tables, numbers, strict=True))
    return Release(old, new, id=PAIR)


def stable_columns(both: Release, partner: Rows) -> tuple[str, ...]:
    """Columns of both releases that are the same for nearly everybody who is in both, in the order of the names."""
    known = np.flatnonzero(partner >= 0)
    found = []
    for name in sorted(both.quasi):
        old, new = (as_text(side) for side in (both.original[name][partner[known]], both.released[name][known]))
        if float(old.eq_missing(new).mean() or 0.0) >= STABLE:  # type: ignore[arg-type]
            found.append(name)
    return tuple(found)


def _classes(both: Release, keys: tuple[str, ...]) -> tuple[Rows, Rows]:
    """Number of the values that each row of either release has in some columns: the same number, the same values."""
    if not keys:
        return np.zeros(both.original.height, np.int64), np.zeros(both.released.height, np.int64)
    stacked = pl.concat([_texts(table, keys) for table in (both.original, both.released)])
    number = stacked.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int64)
    return number[: both.original.height], number[both.original.height :]


def _texts(table: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame([as_text(table[name]).fill_null("\0").alias(name) for name in names])


def _by_keys(old: Rows, new: Rows) -> Rows:
    """Rows that are the only ones with their values in both releases belong together."""
    size = int(max(old.max(initial=0), new.max(initial=0))) + 1
    alone = (np.bincount(old, minlength=size) == 1) & (np.bincount(new, minlength=size) == 1)
    place = np.full(size, -1, dtype=np.int64)
    place[old] = np.arange(old.size)
    return np.where(alone[new], place[new], -1)


def _by_learning(both: Release, seed: int) -> Rows:
    """The likeliest row of the earlier release, where the intruder is more sure than not."""
    nothing = np.full(both.released.height, -1, dtype=np.int64)
    try:
        linkage = link_channel(both, seed=seed, curve=False)
    except EngineError:  # too few people are in both to learn from
        return nothing
    if linkage.linked is None:
        return nothing
    sure = np.where((linkage.linked >= 0) & (linkage.best > SURE), linkage.best, 0.0)
    order = np.argsort(sure, kind="stable")  # the surest claim on a row of the new release is written last
    order = order[sure[order] > 0]
    nothing[linkage.linked[order]] = order
    return nothing


def _right(rows: Rows, partner: Rows) -> float:
    """Share of the people in both whose rows are laid beside each other."""
    known = partner >= 0
    return float((rows[known] == partner[known]).mean()) if known.any() else 0.0


def _differing(both: Release, classes: tuple[Rows, Rows]) -> tuple[Floats, Floats]:
    """How many rows of either release the other one lacks, spread over those that may be it.

    Of rows with the same values in the columns that both keep, a release that has more of them than the other has some
    of people who are in it alone. Where the rows are the same in all other columns too, it does not matter which: so
    many of them are new, as there are more. Else any of them may be.
    """
    old, new = classes
    size = int(max(old.max(initial=0), new.max(initial=0))) + 1
    counts = np.bincount(old, minlength=size), np.bincount(new, minlength=size)
    found = []
    for side, table, mine, others in ((new, both.released, counts[1], counts[0]), (old, both.original, *counts)):
        more = np.maximum(mine - others, 0)
        alike = _all_alike(side, table, size)
        rows = np.where(more > 0, np.where(alike, more, mine), 0)  # rows of the class that are of people in it alone
        found.append((rows / np.maximum(mine, 1))[side])
    return found[0], found[1]


def _all_alike(classes: Rows, table: pl.DataFrame, size: int) -> Rows:
    """Whether the rows of each class are the same in everything that is published."""
    names = tuple(name for name in table.columns if name != PAIR)
    whole = _texts(table, names).select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy()
    pairs = np.unique(np.column_stack([classes, whole]), axis=0)[:, 0].astype(np.int64)
    return np.asarray(np.bincount(pairs, minlength=size) == 1)
