"""Who knows what: the intruder's columns, the released columns, in an order that no file's rows or columns decide."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import EngineError
from unmask.linkage.channel.columns import read_column
from unmask.linkage.channel.groups import find_groups
from unmask.linkage.channel.material import Material
from unmask.study import Study, telling
from unmask.tables import plain_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unmask.linkage.channel.columns import Column
    from unmask.tables import Release

    Ints = NDArray[np.int64]
    Marks = NDArray[np.uint64]

MOST_COLUMNS = 256  # of each file that are read; of a wider table those that tell most
SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Material in canonical order, and the way back to the rows of the files."""

    material: Material
    people: Ints  # row of the original of each person
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
    people = [read_column(release.original[name]) for name in ours]
    records = [read_column(release.released[name]) for name in theirs]
    mark, mark_of_record = marks(people, seed), marks(records, seed + 1)
    groups = find_groups(people, records, release.truth, (mark, _declared(release)))
    if groups is not None:
        mark, mark_of_record = with_group(mark, groups.people), with_group(mark_of_record, groups.records)
    own = np.where(release.truth >= 0, mark_of_record[release.truth], np.uint64(0))
    order, order_of_records = np.lexsort((own, mark)), np.argsort(mark_of_record, kind="stable")
    place = np.empty(len(order_of_records), dtype=np.int64)
    place[order_of_records] = np.arange(len(order_of_records))
    truth = np.where(release.truth >= 0, place[release.truth], -1)[order]
    material = Material(
        tuple(column.take(order) for column in people),
        tuple(column.take(order_of_records) for column in records),
        truth,
        groups and groups.take(order, order_of_records),
    )
    alike = np.unique(mark[order], return_inverse=True)[1]
    return Gathered(material, order, alike, np.unique(mark_of_record[order_of_records], return_inverse=True)[1])


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
    return plain_columns(release.original, release.roles)


def target_columns(release: Release) -> list[str]:
    """Released columns that may give people away: those that the intruder is not to learn only after finding them."""
    known = set(release.quasi) if release.roles.named else None
    names = plain_columns(release.released, release.roles)
    return [n for n in names if known is None or n in known or n not in release.original.columns]


def with_group(mark: Marks, groups: Ints) -> Marks:
    """Marks of rows that also depend on what the rows of their group contain."""
    total = np.zeros(int(groups.max()) + 1, dtype=np.uint64)
    np.add.at(total, groups, mark)
    return _mixed(mark + _mixed(total[groups]))


def _mixed(total: Marks) -> Marks:
    mixed = total ^ (total >> np.uint64(31))
    mixed *= SPREAD
    return np.asarray(mixed ^ (mixed >> np.uint64(29)), dtype=np.uint64)


def marks(columns: Sequence[Column], seed: int) -> Marks:
    """A number for each row that depends on what it contains, not on where it or a column stands."""
    total = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        key = f"{seed}/{column.name}".encode()
        keyed = hashlib.blake2b(digest_size=8, key=key[:64])
        words = [_digest(keyed.copy(), word) for word in (*column.words, "\0")]
        total += np.frombuffer(b"".join(words), dtype=np.uint64)[column.code]
    return _mixed(total)


def _digest(keyed: hashlib.blake2b, word: str) -> bytes:
    keyed.update(word.encode())
    return keyed.digest()
