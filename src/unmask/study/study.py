"""A Study: a release and everything that was made of it, each thing once.

Measures receive it in place of the release and ask it for encodings, matches and indexes; nobody encodes, places or
plants what another has made before. What it hands out is shared and must not be changed. Small things are kept for
good, large ones (spaces with their trees) within a bound on memory; what was dropped is made again, and is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, TypeVar, Unpack

import numpy as np

from unmask.arrays import Flags
from unmask.errors import EngineError, RoleError
from unmask.kernels.base import Space
from unmask.kernels.compiling import in_threads
from unmask.study.ask import MANY, Index
from unmask.study.match import Matcher, make_matcher
from unmask.study.memory import Kept, are_equal, digest, outline
from unmask.study.metric import SHARED, build_space
from unmask.study.scene import How
from unmask.tables import EncodedColumn, Encoding, Release, assemble, encode_column

Others = Literal["control", "population"]
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What every attack needs of a release, made on demand and kept."""

    release: Release
    _kept: Kept = field(default_factory=Kept, repr=False)  # related studies share it
    _name: str = field(default="", repr=False)  # tells them apart in it
    _columns: dict[str, EncodedColumn] = field(default_factory=dict, init=False, repr=False)
    _related: dict[str, Study] = field(default_factory=dict, init=False, repr=False)
    _placed: dict[Hashable, Hashable] = field(default_factory=dict, init=False, repr=False)  # where its space is kept

    def kept(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Make something of this study once; a room names what it keeps by its own words."""
        return self._kept.get((self._name, key), make)

    # --- encodings and matches --------------------------------------------------------------------------------------

    def encoding(self, columns: Iterable[str] | None = None) -> Encoding:
        """Both tables as arrays: what the intruder knows, or the columns named."""
        if columns is None and not self.release.quasi:
            raise RoleError(
                "the release has no column under the name of one that the intruder knows",
                hint="rename its columns as in the original; the attack `channel` needs no names",
            )
        names = self.release.quasi if columns is None else tuple(columns)
        return self.kept(("encoding", names), lambda: self._assembled(names))

    def _assembled(self, names: tuple[str, ...]) -> Encoding:
        sizes = self.release.original.height, self.release.released.height
        return assemble(in_threads(self._column, names, shared=max(sizes) >= SHARED), *sizes)

    @property
    def compared(self) -> tuple[str, ...]:
        """Released columns that can be compared as they stand: the same values, or numbers, occur in both files."""
        encoding = self.encoding()
        return tuple(name for name in encoding.names if name not in encoding.foreign)

    def _column(self, name: str) -> EncodedColumn:
        if name not in self._columns:
            self._columns[name] = encode_column(self.release, name)
        return self._columns[name]

    @property
    def matcher(self) -> Matcher:
        """Which records carry the values that are known of a person: all that the intruder knows."""
        return self.kept("matcher", lambda: make_matcher(self.encoding()))

    @property
    def comparable(self) -> Matcher:
        """The same without attributes that the release writes in a way of its own: on them nobody could match."""
        names = self.compared
        if not names:
            raise EngineError(
                "no attribute of the release has a value in common with the original", hint="is it coded otherwise?"
            )
        if len(names) == len(self.matcher.names):
            return self.matcher
        return self.kept("comparable", lambda: make_matcher(self.encoding().only(names)))

    def owns(self, name: str) -> Flags:
        """Whether the released value of each person contains their own."""
        return make_matcher(self.encoding([name])).match().owns(self.release.truth)

    # --- spaces and their trees -------------------------------------------------------------------------------------

    def index(self, columns: Iterable[str] | None = None, *, seed: int = 0, **how: Unpack[How]) -> Index:
        """Both tables in a space with its tree, by the choices of `build_space`; queries are the original's records."""
        names = self.release.quasi if columns is None else tuple(columns)
        encoding = self.encoding() if names == self.release.quasi else self._assembled(names)
        return self._placed_at((self._name, encoding.names), encoding, seed, how)

    def index_for(self, encoding: Encoding, *, seed: int = 0, **how: Unpack[How]) -> Index:
        """The same of an encoding that a measure has put together: equal contents give the same index."""
        sides = (encoding.original.numeric, encoding.original.codes, encoding.released.numeric, encoding.released.codes)
        return self._placed_at(digest(sides), encoding, seed, how)

    def _placed_at(self, key: Hashable, encoding: Encoding, seed: int, how: How) -> Index:
        weights, ranks = how.get("weights") or {}, how.get("ranks", "average")
        drawn = how.get("metric") == "permutation" and ranks == "ordinal"  # ranks by lot: else no seed matters
        choices = (how.get("metric", "euclidean"), how.get("scale", "own"), ranks, tuple(sorted(weights.items())))
        place = (key, choices, seed if drawn else 0)
        found: Index | None = self._kept.find(self._placed.get(place))
        if found is None:
            space = build_space(encoding, seed=seed, **how)
            self._placed[place], found = self._shared(space)
        return found

    def index_of(self, space: Space) -> Index:
        """A space with its tree; equal spaces share one."""
        return self._shared(space)[1]

    def _shared(self, space: Space) -> tuple[Hashable, Index]:
        """Where a space with its tree is kept, and both: others of the same outline are compared number by number."""
        outlined = outline(*space)
        for number in count():
            found: Index | None = self._kept.find((outlined, number))
            if found is None or are_equal(found.space, space):
                break
        return (outlined, number), self._kept.get((outlined, number), lambda: Index(space))

    def index_for_few(self, space: Space) -> Index:
        """The same for decisions about few people: among very many points it has no tree, and is not kept."""
        return Index(space) if len(space.points) >= MANY else self.index_of(space)

    # --- the same release with other people -------------------------------------------------------------------------

    def beside(self, others: Others, columns: Iterable[str] | None = None) -> Study:
        """The same release with other people beside those of the original, on one codebook: they have no row in it.

        There is one such study for all columns that can be put under each other; those named must be among them.
        """
        table = self.release.control if others == "control" else self.release.population
        if table is None:
            raise RoleError(f"there is no {others} table", hint=f"give one in {others}=")
        if others not in self._related:
            fitting = [name for name in self.release.original.columns if self.release.fits(table, name)]
            self._related[others] = self.relative(others, self.release.with_people(table, fitting))
        wanted = self.release.quasi if columns is None else columns
        absent = [name for name in wanted if name not in self._related[others].release.original.columns]
        if absent:
            self.release.with_people(table, absent)  # says what is wrong with them
        return self._related[others]

    def everybody(self, columns: Iterable[str] | None = None) -> Study:
        """The people of the original and, if there are any, of control beside them."""
        return self if self.release.control is None else self.beside("control", columns)

    @property
    def alone(self) -> Study:
        """The original as its own release: for columns that the release does not have."""
        if "alone" not in self._related:
            table = self.release.original
            rows = np.arange(table.height, dtype=np.int64)
            self._related["alone"] = self.relative("alone", self.release.with_tables(table, table, rows))
        return self._related["alone"]

    def relative(self, name: str, release: Release) -> Study:
        """The study of another release that shares what both have, under a name of its own."""
        return Study(release, self._kept, f"{self._name}/{name}")


def as_study(release: Release | Study) -> Study:
    """Take a release, or the study of one that others share."""
    return release if isinstance(release, Study) else Study(release)
