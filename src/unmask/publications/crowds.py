"""Candidates that are left when several releases are held against each other.

Who is in both releases is among the rows that carry their values in the new one *and* lie beside a row that carries
their values in the earlier one: sets of candidates intersect. Who is in one of them alone is among the rows that the
other lacks: an intruder who knows that somebody came after last year's release subtracts that from this year's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats, Rows
from unmask.linkage import target_columns
from unmask.publications.beside import PAIR, Beside
from unmask.study import Match, Study
from unmask.tables import Earlier, Release

KEPT = 0.95  # share of people whose published value contains their own, from which a column is matched by


@dataclass(frozen=True, slots=True)
class Left:
    """People whom several releases leave among few rows: who they are, how many rows, whether theirs is among them."""

    people: Rows = field(repr=False)
    size: Rows = field(repr=False)
    own: Flags = field(repr=False)
    differing: int  # people who are in one release and not in another


def as_published(release: Release, before: Earlier) -> Release:
    """The earlier release in the place of the new one, in plain writing, with the same roles as far as it has them."""
    n, truth = release.original.height, before.truth
    pair = np.full(before.table.height, -1, dtype=np.int64)
    pair[truth[truth >= 0]] = np.flatnonzero(truth >= 0)
    strangers = np.flatnonzero(pair < 0)
    pair[strangers] = n + np.arange(strangers.size)
    aside = [release.id] if release.id is not None else []
    old = before.table.drop(aside, strict=False).with_columns(pl.Series(PAIR, pair))
    original = release.original.drop(aside).with_columns(pl.Series(PAIR, np.arange(n)))
    there = {*original.columns, *old.columns}
    roles = release.roles
    return Release(
        original, old, id=PAIR, quasi=[*roles.quasi, *roles.unshared] if roles.named else None,
        confidential=[name for name in roles.confidential if name in there],
        ignored=[name for name in roles.ignored if name in there],
        kinds={name: kind for name, kind in release.said_kinds.items() if name in there},
    )  # fmt: skip


def without(release: Release, columns: tuple[str, ...]) -> Release | None:
    """The release without some columns; None where it has no others that could tell who somebody is."""
    names = [name for name in columns if name in release.released.columns and name != release.id]
    left = set(target_columns(release)) - set(names)
    if not left or not names:
        return release if left else None
    return release.with_tables(release.original, release.released.drop(names), release.truth)


def left_of(release: Release, before: tuple[Release, ...], beside: tuple[Beside, ...]) -> Left:
    """Among how many rows each person is by all releases; ``before``: the earlier ones, as they were published."""
    n = release.original.height
    size, own = np.full(n, np.inf), np.zeros(n, dtype=bool)
    who = np.zeros(n, dtype=bool)
    differing = np.zeros(n, dtype=bool)
    new = _matched(release)
    for one, laid in zip(before, beside, strict=True):
        old = _matched(one)
        for people, found in (
            ((release.truth >= 0) & (one.truth < 0), _lacking(new, release.truth, laid.unexplained)),
            ((one.truth >= 0) & (release.truth < 0), _lacking(old, one.truth, laid.left)),
            ((release.truth >= 0) & (one.truth >= 0), _common(release, one, (new, old), laid.rows)),
        ):
            if found is None:
                continue
            better = people & ((found[1] & ~own) | ((found[1] == own) & (found[0] < size)))
            size[better], own[better] = found[0][better], found[1][better]
            who |= people
        differing |= (release.truth >= 0) != (one.truth >= 0)
    rows = np.flatnonzero(who & np.isfinite(size))
    return Left(rows, np.ceil(size[rows] - 1e-9).astype(np.int64), own[rows], int(differing.sum()))


def _matched(release: Release) -> Match | None:
    """Which rows carry the values of which people, in columns that were not masked or only coarsened."""
    study, there = Study(release), release.truth >= 0
    names = [name for name in release.quasi if float(study.owns(name)[there].mean()) >= KEPT]
    if not names:
        return None
    places = [study.matcher.names.index(name) for name in names]
    return study.matcher.match(places)


def _lacking(match: Match | None, truth: Rows, weights: Floats) -> tuple[Floats, Flags]:
    """For everybody: how many of the rows that the other release lacks carry their values, their own among them.

    Where their own row does not carry their values, it is one of all the rows that the other release lacks.
    """
    missing = (truth >= 0) & (weights[truth] > 0)
    everything = np.full(truth.size, float(weights.sum()))
    if match is None:
        return everything, missing
    of_group = np.bincount(match.group, weights, minlength=int(match.groups.max(initial=-1)) + 1)
    found = match.owns(truth) & missing
    return np.where(found, match.totals(of_group)[match.kind], everything), missing


def _common(
    release: Release, one: Release, matches: tuple[Match | None, Match | None], rows: Rows
) -> tuple[Floats, Flags] | None:
    """For everybody: how many rows carry their values, as do the rows beside them; and whether their own is one."""
    new, old = matches
    if new is None or old is None or not (rows >= 0).any():
        return None
    records = np.flatnonzero(rows >= 0)
    both = np.stack([new.group[records], old.group[rows[records]]], axis=1)
    pairs, counts = np.unique(both, axis=0, return_counts=True)
    kinds, person = np.unique(np.stack([new.kind, old.kind], axis=1), axis=0, return_inverse=True)
    sizes = np.array([_size(new, old, kind, pairs, counts) for kind in kinds])[person.ravel()]
    laid = np.where(release.truth >= 0, rows[release.truth], -1)
    right = (laid >= 0) & (laid == one.truth)
    return sizes, right & new.owns(release.truth) & old.owns(one.truth)


def _size(new: Match, old: Match, kind: Rows, pairs: Rows, counts: Rows) -> float:
    """Rows in the groups that a kind of people matches in both releases."""
    ours, theirs = (m.groups[m.start[k] : m.start[k + 1]] for m, k in ((new, kind[0]), (old, kind[1])))
    return float(counts[np.isin(pairs[:, 0], ours) & np.isin(pairs[:, 1], theirs)].sum())
