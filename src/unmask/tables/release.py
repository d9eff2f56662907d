"""A Release: the original table, the table to be published, which rows belong together, and who knows what."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unmask.errors import RoleError, TableError
from unmask.tables.checks import check_values, check_weight, identifiers, swapped
from unmask.tables.encode import as_text
from unmask.tables.places import check_coordinates, check_places, read_matrices
from unmask.tables.read import fingerprint, read_table
from unmask.tables.roles import Column, Kind, Role, check_columns, check_kinds, infer_kind
from unmask.tables.scenario import Scenario, as_scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table came from, and a hash that tells whether it is still the same."""

    path: str | None
    sha256: str
    rows: int
    columns: int

    @classmethod
    def of(cls, source: Any, frame: pl.DataFrame) -> Source:  # noqa: ANN401 - a path or any frame
        """Note the path, if there is one, and the content."""
        path = str(source) if isinstance(source, (str, Path)) else None
        return cls(path, fingerprint(source, frame), frame.height, frame.width)


class Release:
    """The original and the table to be published, paired, with the role of every column.

    Parameters
    ----------
    original, released
        Paths (CSV, Parquet, Arrow, Stata, SPSS, SAS) or any frame that narwhals takes. Frames stay untouched.
    id
        Column, in both tables, that says which rows belong together. None: the i-th row of one belongs to the i-th of
        the other, and both must have the same number of rows.
    quasi
        Columns that the intruder knows. None: every shared column that has no other role (maximum knowledge).
    confidential, weight, household, ignored
        Columns that the intruder wants to learn; the sampling weight; who lives together; columns that are left out.
    population
        What is known of the people that the original was drawn from: a table of them (a register with the columns that
        the intruder knows), or how many they are.
    categorical
        Columns to read as categories whatever they look like; short for ``kinds={name: "categorical"}``.
    kinds
        Overrides of the inferred kinds: "numeric", "ordinal", "categorical", "boolean", "date".
    coordinates
        Two columns of both tables that say where each record is, such as longitude and latitude; for the graph attack.
        They keep their role: by default they are among the columns that the intruder knows. With ``distances`` only
        the original needs them.
    distances, known_distances
        Square matrices (an array, or a path to .npy, .csv or .parquet): the distances that are published with the
        release, one row per row of it, and those among the original records, where no coordinates say them.
    control
        Table of people who are *not* in the original, for comparison.
    paired
        False for a synthetic release, whose rows were not made from single people: there is then no true record.
    masking
        How the release was made, if the intruder may know it: a masking, or its text, such as "rank_swap(5)".
    scenario
        What the intruder holds of the original: a ``Scenario`` (some people, some attributes, coarser values), or its
        fields as a mapping. None: everything.
    reading
        Options of reading text files: ``separator``, ``encoding``, ``missing``.

    Attributes
    ----------
    truth
        For each row of the original the row of the release that was made from it, -1 if there is none.
    warnings
        What a careful reader should know about the pairing and the columns, in words.

    """

    def __init__(  # noqa: PLR0913 - the roles of a release are this many
        self,
        original: Any,  # noqa: ANN401 - a path or any frame
        released: Any,  # noqa: ANN401
        *,
        id: str | None = None,  # noqa: A002 - the word of the field
        quasi: Iterable[str] | None = None,
        confidential: Iterable[str] = (),
        weight: str | None = None,
        household: str | None = None,
        population: Any = None,  # noqa: ANN401 - a path, any frame, or a number
        ignored: Iterable[str] = (),
        categorical: Iterable[str] = (),
        kinds: Mapping[str, str] | None = None,
        coordinates: Iterable[str] | None = None,
        distances: Any = None,  # noqa: ANN401 - a path or an array
        known_distances: Any = None,  # noqa: ANN401
        control: Any = None,  # noqa: ANN401
        paired: bool = True,
        masking: Any = None,  # noqa: ANN401 - a Masking or its text: tables know no maskings
        scenario: Scenario | Mapping[str, Any] | None = None,
        reading: Mapping[str, Any] | None = None,
    ) -> None:
        options = dict(reading or {})
        self._reading = options
        self.original = read_table(original, name="original", **options)
        self.released = read_table(released, name="release", **options)
        self.control = None if control is None else read_table(control, name="control", **options)
        counted = isinstance(population, Real) or population is None
        self.population = None if counted else read_table(population, name="population", **options)
        self._n_people = float(population) if isinstance(population, Real) else None
        self.sources = {
            name: Source.of(source, frame)
            for name, source, frame in (
                ("original", original, self.original),
                ("released", released, self.released),
                ("control", control, self.control),
                ("population", population, self.population),
            )
            if frame is not None
        }
        self.id, self.weight, self.household = id, weight, household
        self.has_pairs, self.masking = bool(paired), masking
        self.scenario = as_scenario(scenario)
        self._notes: list[str] = []
        if self.scenario is not None:
            self.original = self.scenario.rename(self.original)
        self._set_roles(quasi, confidential, ignored, categorical, kinds)
        self.coordinates = check_coordinates(coordinates, self.original, self.released, matrix=distances is not None)
        matrices = read_matrices(distances, known_distances, self.released.height, self.original.height)
        self.distances, self.known_distances = matrices["distances"][0], matrices["known_distances"][0]
        self.sources |= {name: Source(*source) for name, (_, source) in matrices.items() if source is not None}
        check_places(self.coordinates, self.distances, self.known_distances)
        self.truth = self._pair()
        if self.scenario is not None:
            self._narrow(self.scenario)
        self.columns = self._describe()
        for where, table in self._tables():
            check_values(table, where)
        check_weight(self)
        self._check_population()
        if self.has_pairs:
            self._notes += swapped(self)
            self._notes += identifiers(self)

    # --- roles ------------------------------------------------------------------------------------------------------

    def _set_roles(
        self,
        quasi: Iterable[str] | None,
        confidential: Iterable[str],
        ignored: Iterable[str],
        categorical: Iterable[str],
        kinds: Mapping[str, str] | None,
    ) -> None:
        shared = [name for name in self.original.columns if name in self.released.columns]
        if not shared:
            raise TableError(
                "the two tables share no column",
                got=f"{self.original.width} and {self.released.width} columns",
                hint="rename the columns of the release as in the original",
            )
        everywhere = [*self.original.columns, *(n for n in self.released.columns if n not in shared)]
        if self.id is not None:
            check_columns([self.id], self.original.columns, "id", "the original")
            if self.has_pairs:
                check_columns([self.id], self.released.columns, "id", "the release")
        if self.weight is not None:
            check_columns([self.weight], everywhere, "weight", "the tables")
        if self.household is not None:
            check_columns([self.household], self.original.columns, "household", "the original")
        self.confidential = check_columns(confidential, everywhere, "confidential", "the tables")
        self.ignored = check_columns(ignored, everywhere, "ignored", "the tables")
        taken = {self.id, self.weight, self.household, *self.confidential, *self.ignored}
        if quasi is None:
            self.quasi = tuple(name for name in shared if name not in taken)
        else:
            self.quasi = tuple(dict.fromkeys(check_columns(quasi, shared, "quasi", "both tables")))
        self._refuse_two_roles()
        self._explicit = quasi is not None
        names = (categorical,) if isinstance(categorical, str) else tuple(categorical)
        self._kinds = check_kinds({**dict.fromkeys(names, "categorical"), **(kinds or {})}, everywhere)
        if self.control is not None:
            check_columns(self.quasi, self.control.columns, "quasi", "the control table")
        if self.population is not None:
            check_columns(self.quasi, self.population.columns, "quasi", "the population table")
        self._drop_empty()
        if not self.quasi:
            raise RoleError(
                "the intruder knows no column", hint="name columns in quasi=, or give fewer of them other roles"
            )

    def _refuse_two_roles(self) -> None:
        single = [self.id, self.weight, self.household]
        roles = [*single, *set(self.quasi), *set(self.confidential), *set(self.ignored)]
        both = {name for name in roles if name is not None and roles.count(name) > 1}
        if both:
            raise RoleError(
                "a column has two roles", got=", ".join(sorted(map(repr, both))), hint="leave it in one of them"
            )

    def _drop_empty(self) -> None:
        for name in self.quasi:
            where = [
                w
                for w, t in (("original", self.original), ("release", self.released))
                if t[name].null_count() == t.height
            ]
            if not where:
                continue
            if self._explicit:
                raise RoleError(f"column {name!r} has no value in the {where[0]}", hint="leave it out of quasi=")
            self._notes.append(
                f"column {name!r} has no value in the {' and the '.join(where)}: it is left out; "
                "drop it or name it in ignored"
            )
            self.quasi = tuple(other for other in self.quasi if other != name)

    # --- pairs ------------------------------------------------------------------------------------------------------

    def _pair(self) -> NDArray[np.int64]:
        if not self.has_pairs:
            return self._nobody()
        if self.id is None:
            if self.original.height != self.released.height:
                raise TableError(
                    "the tables have different numbers of rows, so the order cannot say which belong together",
                    got=f"{self.original.height} rows in the original, {self.released.height} in the release",
                    hint="name the column that both tables share in id=",
                )
            return np.arange(self.original.height, dtype=np.int64)
        left, right = self._ids(self.original, "original"), self._ids(self.released, "release")
        if left.dtype != right.dtype:
            left, right = as_text(left), as_text(right)
        rows = pl.DataFrame({"id": right}).with_row_index("row")
        found = pl.DataFrame({"id": left}).join(rows, on="id", how="left", maintain_order="left")["row"]
        truth = found.cast(pl.Int64).fill_null(-1).to_numpy().copy()
        self._notes.append(
            f"id column {self.id!r} only pairs the two tables; take it out of what you publish, it names everybody"
        )
        self._note_unpaired(truth)
        return truth

    def _nobody(self) -> NDArray[np.int64]:
        """Return no pairs: a synthetic row belongs to nobody, and an id in it says nothing."""
        self._notes.append(
            "the release is taken as synthetic: no row was made from one person, and attacks that "
            "need pairs are left out"
        )
        return np.full(self.original.height, -1, dtype=np.int64)

    def _ids(self, table: pl.DataFrame, where: str) -> pl.Series:
        column = table[str(self.id)]
        if column.null_count():
            raise TableError(
                f"id column {self.id!r} has {column.null_count()} missing values in the {where}",
                hint="fill or drop those rows",
            )
        if column.n_unique() < len(column):
            first = int(column.is_duplicated().arg_true()[0]) + 1
            raise TableError(
                f"id column {self.id!r} repeats in the {where}",
                got=f"{len(column)} rows, {column.n_unique()} different ids; the first repeated one is in row {first}",
                hint="an id must say which single row it is",
            )
        return column

    def _note_unpaired(self, truth: NDArray[np.int64]) -> None:
        absent, extra = int((truth < 0).sum()), self.released.height - int((truth >= 0).sum())
        if absent == len(truth):
            raise TableError(
                f"no id of {self.id!r} is in both tables", hint="is it the same column, written the same way?"
            )
        if absent:
            self._notes.append(
                f"{absent} of {len(truth)} original records have no row in the release: they cannot be found there"
            )
        if extra:
            self._notes.append(f"{extra} rows of the release belong to no original record")

    def _narrow(self, scenario: Scenario) -> None:
        """Leave the intruder what the scenario says he holds."""
        self.original, self.released, self.quasi = scenario.narrow(self.original, self.released, self.quasi)
        rows = scenario.rows(self.original, self.truth)
        if rows is not None:
            self.original, self.truth = self.original[rows], self.truth[rows]
            if self.known_distances is not None:
                self.known_distances = self.known_distances[np.ix_(rows, rows)]
        self._notes.append(f"scenario: {scenario}")

    def with_control(self) -> Release:
        """Return the release attacked with the control people beside the original ones: they cannot be found.

        One table of both, so that they are written in the release's schema and standardised alike.
        """
        if self.control is None:
            raise RoleError("there is no control table", hint="give one in control=")
        return self.with_people(self.control)

    def with_people(self, people: pl.DataFrame) -> Release:
        """Return the release with more people beside those of the original: none of them has a row in it."""
        both, names = copy(self), list(self.quasi)
        wrong = [n for n in names if self.original[n].dtype.is_temporal() != people[n].dtype.is_temporal()]
        if wrong:  # words and numbers can be compared as text; dates cannot
            raise TableError(
                "only one of the tables has dates there", got=", ".join(map(repr, wrong)), hint="write dates in both"
            )
        both.original = pl.concat([self.original.select(names), people.select(names)], how="vertical_relaxed")
        both.truth = np.concatenate([self.truth, np.full(people.height, -1, dtype=np.int64)])
        both.__dict__.pop("paired", None)
        return both

    @cached_property
    def paired(self) -> NDArray[np.int64]:
        """Rows of the original that have a row in the release: the people at risk."""
        return np.flatnonzero(self.truth >= 0)

    @property
    def n_people(self) -> float | None:
        """N, the people of the population: those in its table, or as many as were said; None when neither is known."""
        return self._n_people if self.population is None else float(self.population.height)

    def _tables(self) -> list[tuple[str, pl.DataFrame]]:
        tables = {"original": self.original, "release": self.released}
        more = {"control": self.control, "population table": self.population}
        return [*tables.items(), *((name, table) for name, table in more.items() if table is not None)]

    def _check_population(self) -> None:
        if self._n_people is not None and not self.released.height <= self._n_people < float("inf"):
            raise RoleError(
                "the population is not a number of people, at least as many as the release has rows",
                got=f"{self._n_people:g} people, {self.released.height} rows",
                hint="population= is the number of people that the original was drawn from, or a table of them",
            )

    # --- columns ----------------------------------------------------------------------------------------------------

    def role(self, name: str) -> Role:
        """Tell the role of a column."""
        if name == self.id:
            return "id"
        if name in {self.weight, self.household}:
            return "weight" if name == self.weight else "household"
        if name in self.confidential:
            return "confidential"
        return "quasi" if name in self.quasi else "ignored"

    def _describe(self) -> dict[str, Column]:
        described = {}
        for name in self.original.columns:
            released = self.released[name] if name in self.released.columns else None
            kind, reason = infer_kind(self.original[name], released)
            if name in self._kinds:
                kind, reason = self._kinds[name], "as you said"
            described[name] = Column(name, kind, self.role(name), reason)
        return described

    def kind(self, name: str) -> Kind:
        """Tell the kind of a column."""
        return self.columns[name].kind

    # --- warnings ---------------------------------------------------------------------------------------------------

    @property
    def settings(self) -> dict[str, Any]:
        """The roles and kinds as given, enough to build the same release again."""
        return {
            "id": self.id,
            "quasi": list(self.quasi) if self._explicit else None,
            "confidential": list(self.confidential),
            "weight": self.weight,
            "household": self.household,
            "population": self._n_people,
            "ignored": list(self.ignored),
            "kinds": dict(self._kinds),
            "coordinates": list(self.coordinates) or None,
            "paired": self.has_pairs,
            "masking": None if self.masking is None else str(self.masking),
            "scenario": None if self.scenario is None else self.scenario.to_dict(),
            "reading": self._reading,
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader should know, in words."""
        return tuple(self._notes)
