"""Who knows what: the intruder's columns, the released columns, in an order that no file's rows or columns decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import EngineError
from unmask.linkage.channel.columns import read_column
from unmask.linkage.channel.groups import find_groups
from unmask.linkage.channel.lots import contents, lots, with_group
from unmask.linkage.channel.material import Material
from unmask.study import Study, telling
from unmask.tables import by_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unmask.linkage.channel.columns import Column
    from unmask.tables import Release

    Ints = NDArray[np.int64]
    Marks = NDArray[np.uint64]

MOST_COLUMNS = 256  # of each file that are read; of a wider table those that tell most


@dataclass(frozen=True, slots=True)
class Gathered:
    """Material in canonical order, and the way back to the rows of the files."""

    material: Material
    people: Ints  # row of the original of each person
    records: Ints  # row of the release of each record
    alike: Ints  # class of people with equal values
    alike_records: Ints  # class of records with equal values

    @property
    def units(self) -> Ints:
        """Whom to know together: who is alike, or published together."""
        return self.alike if self.material.groups is None else self.material.groups.people


def gather(release: Release, seed: int) -> Gathered:
    """Read both tables as the intruder does, and put people and records in the order of a hash of what they contain."""
    ours, theirs = known_columns(release), target_columns(release)
    if not theirs:
        raise EngineError(
            "the release has no column that could give people away", hint="name fewer columns in ignored="
        )
    if not ours:
        raise EngineError("the intruder knows no column of the original", hint="give fewer columns other roles")
    if not (release.truth >= 0).any():
        raise EngineError("nobody is paired: there is nobody to learn from", hint="name the id column in id=")
    ours, theirs = _most_telling(release, ours, theirs)
    order_of_columns = by_content(release, dict.fromkeys((*ours, *theirs)))
    ours, theirs = ([name for name in order_of_columns if name in set(side)] for side in (ours, theirs))
    people = [read_column(release.original[name]) for name in ours]
    records = [read_column(release.released[name]) for name in theirs]
    (mark, lot), (mark_of_record, lot_of_record) = _marked(people, seed), _marked(records, seed + 1)
    groups = find_groups(people, records, release.truth, (lot, _declared(release)))
    if groups is not None:
        lot, lot_of_record = with_group(lot, groups.people), with_group(lot_of_record, groups.records)
        mark, mark_of_record = with_group(mark, groups.people), with_group(mark_of_record, groups.records)
    own, own_lot = (
        np.where(release.truth >= 0, of_record[release.truth], np.uint64(0))
        for of_record in (mark_of_record, lot_of_record)
    )
    order, order_of_records = np.lexsort((own, own_lot, mark, lot)), np.lexsort((mark_of_record, lot_of_record))
    place = np.empty(len(order_of_records), dtype=np.int64)
    place[order_of_records] = np.arange(len(order_of_records))
    truth = np.where(release.truth >= 0, place[release.truth], -1)[order]
    material = Material(
        _ordered(people, order),
        _ordered(records, order_of_records),
        truth,
        groups and groups.take(order, order_of_records),
    )
    alike, alike_records = _classes(mark[order]), _classes(mark_of_record[order_of_records])
    return Gathered(material, order, order_of_records, alike, alike_records)


def _ordered(columns: list[Column], order: Ints) -> tuple[Column, ...]:
    """Columns with their rows in this order; the list is left empty, so that no column is held twice."""
    return tuple(columns.pop(0).take(order) for _ in range(len(columns)))


def _marked(columns: Sequence[Column], seed: int) -> tuple[Marks, Marks]:
    return contents(columns), lots(columns, seed)


def _classes(marks: Marks) -> Ints:
    """Equal marks, which follow each other, as numbers from 0."""
    return np.cumsum(np.diff(marks, prepend=marks[:1]) != 0)


def _declared(release: Release) -> tuple[Column, Column] | None:
    """Who belongs together by the household's column, where both files have it."""
    name = release.household
    if name is None or name not in release.released.columns:
        return None
    return read_column(release.original[name]), read_column(release.released[name])


def _most_telling(release: Release, ours: list[str], theirs: list[str]) -> tuple[list[str], list[str]]:
    """At most so many columns of a wide table: those that only one file has, then those that masking changed least."""
    if max(len(ours), len(theirs)) <= MOST_COLUMNS:
        return ours, theirs
    study = Study(release)
    told = {name: telling(study, name) for name in theirs if name in release.quasi}
    kept = set(sorted(theirs, key=lambda name: (-told.get(name, 1.0), name))[:MOST_COLUMNS])
    sources = sorted(ours, key=lambda name: (name not in kept, name in told, name))[:MOST_COLUMNS]
    return sorted(sources), sorted(kept)


def known_columns(release: Release) -> list[str]:
    """Columns of the original that the intruder knows, whether or not the release has them."""
    if release.roles.named:
        return sorted((*release.quasi, *release.roles.unshared))
    return release.roles.plain(release.original)


def target_columns(release: Release) -> list[str]:
    """Released columns that may give people away: those that the intruder is not to learn only after finding them."""
    known = set(release.quasi) if release.roles.named else None
    names = release.roles.plain(release.released)
    return [n for n in names if known is None or n in known or n not in release.original.columns]
