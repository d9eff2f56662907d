"""A Release: the original table, the table to be published, which rows belong together, and who knows what.

It is frozen: what was made of it (``unmask.study``) stays true. A release with other people, or one whose masking is
known, is another Release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats, Rows
from unmask.errors import RoleError, TableError
from unmask.shown import Shown
from unmask.tables.checks import (
    as_second,
    check_claim,
    check_population,
    check_values,
    check_weight,
    identifiers,
    is_synthetic,
    or_alone,
    swapped,
    untested,
)
from unmask.tables.earlier import Earlier, numbered, published_before
from unmask.tables.hierarchy import ValueHierarchy, needed, read_hierarchies
from unmask.tables.order import reordered
from unmask.tables.pairing import for_reading, pair, same_names
from unmask.tables.places import check_coordinates, check_places, read_matrices
from unmask.tables.read import read_all
from unmask.tables.redundant import leave_out_redundant
from unmask.tables.roles import (
    Column,
    Kind,
    Role,
    Roles,
    assign_roles,
    check_columns,
    check_kinds,
    describe,
    said_kinds,
)
from unmask.tables.scenario import Scenario, as_scenario
from unmask.tables.source import Source
from unmask.tables.understand import Written, understand


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Release(Shown):
    """The original and the table to be published, paired, with the role of every column. Frozen once it is made.

    Parameters
    ----------
    original, released
        Paths (CSV, Parquet, Arrow, Stata, SPSS, SAS) or any frame that narwhals takes. Frames stay untouched.
        Where there is no original (None) the release is looked at alone: its values are taken as people's own, and
        attacks that need an original do not apply.
    id
        Column, in both tables, that says which rows belong together. None: the i-th row of one belongs to the i-th of
        the other, and both must have the same number of rows.
    quasi
        Columns of the original that the intruder knows. None: every column that has no other role (maximum
        knowledge). Those that the release has under another name, or not at all, serve the attack that learns how the
        release was made.
    confidential, weight, household, ignored
        Columns that the intruder wants to learn; the sampling weight; who lives together; columns that are left out.
    population
        The people that the original was drawn from: a table with what the intruder knows of them, or how many they are.
    categorical, kinds
        Columns to read as categories whatever they look like, and overrides of the kinds that are inferred, by name:
        "numeric", "ordinal", "categorical", "boolean", "date".
    coordinates
        Two columns of both tables that say where each record is, such as longitude and latitude; for the graph attack.
        They keep their role: by default they are among the columns that the intruder knows. With ``distances`` only
        the original needs them.
    distances, known_distances
        Square matrices (an array, or a path to .npy, .csv or .parquet): the distances that are published with the
        release, one row per row of it, and those among the original records, where no coordinates say them.
    control, second
        People who are *not* in the original, for comparison; and another release of the same people, whose rows need
        not be in the same order: who has both may link them.
    earlier
        Releases of the same people that are published already, paired as this one is (by ``id``, or by the order of
        rows): who has this one has them as well.
    synthetic, masking
        True for a release whose rows were not made from single people: there is then no true record (``paired`` is the
        former name of its opposite, and goes in the next version). How the release
        was made, if the intruder may know it: a masking, or its text, such as "rank_swap(share=0.05)".
    epsilon, delta
        The differential privacy that is claimed for the release, if any: `membership` holds it against what is shown.
    hierarchies
        Groups of a column's values that a release may have in their place: by name a file as ARX writes it, or a tree.
    scenario
        What the intruder holds of the original: a ``Scenario`` (some people, some attributes, coarser values), or its
        fields as a mapping. None: everything.
    reading
        Options of reading: ``separator``, ``encoding``, ``missing`` (cells that mean missing: "99" in all columns,
        "age=99" in one, "age=" for none), and ``sheet`` of workbooks: a name for all tables, or a list such as
        ["original=people", "released=masked"].

    Attributes
    ----------
    truth, paired_rows
        For each row of the original the row of the release that was made from it, -1 if there is none; and the rows
        that have one: the people at risk. None of them when it is synthetic.
    warnings, alone
        What a careful reader should know about the pairing and the columns, in words; whether there is no original.
    written
        How columns were written that had to be read first (marked thousands, units, dates in several forms), by name.

    """

    original: pl.DataFrame
    released: pl.DataFrame
    control: pl.DataFrame | None
    population: pl.DataFrame | None
    second: pl.DataFrame | None
    earlier: tuple[Earlier, ...]
    sources: dict[str, Source]
    roles: Roles
    columns: dict[str, Column]
    coordinates: tuple[str, ...]
    distances: Floats | None
    known_distances: Floats | None
    synthetic: bool
    alone: bool
    masking: Any  # a Masking or its text: tables know no maskings
    epsilon: float | None
    delta: float
    hierarchies: dict[str, ValueHierarchy]
    scenario: Scenario | None
    truth: Rows
    paired_rows: Rows
    warnings: tuple[str, ...]
    written: dict[str, Written]
    _people: float | None
    _kinds: dict[str, Kind]
    _reading: dict[str, Any]

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
        second: Any = None,  # noqa: ANN401
        earlier: Any = (),  # noqa: ANN401 - a path or any frame, or several
        synthetic: bool = False,
        masking: Any = None,  # noqa: ANN401 - a Masking or its text: tables know no maskings
        epsilon: float | None = None,
        delta: float | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        scenario: Scenario | Mapping[str, Any] | None = None,
        reading: Mapping[str, Any] | None = None,
        paired: bool | None = None,
    ) -> None:
        options, holds = dict(reading or {}), as_scenario(scenario)
        given = {"original": original, "released": released, "control": control, "population": population}
        given, read = read_all({**given, "second": second, **numbered(earlier)}, options)
        sources = {name: Source.of(given[name], table) for name, table in read.items()}
        synthetic = is_synthetic(synthetic=synthetic, paired=paired)
        known_distances = or_alone(read, (distances, known_distances, coordinates), control, masking, synthetic)
        left = read["original"] if holds is None else holds.rename(read["original"])
        right, renamed = same_names(left, read["released"])
        wanted = {"id": id, "weight": weight, "household": household, "quasi": quasi, "confidential": confidential}
        roles, notes = assign_roles(left, right, {**wanted, "ignored": ignored}, synthetic=synthetic)
        for other in [name for name in ("control", "population") if name in read]:
            check_columns(roles.quasi, read[other].columns, "quasi", f"the {other} table")
        truth, told = pair(left, right, roles.id, synthetic=synthetic)
        before = published_before(read, left, roles.id, synthetic=synthetic)
        trees = read_hierarchies(hierarchies, left)
        overrides = said_kinds(categorical, needed(trees, (left, right), truth), kinds)
        as_they_are = {roles.id, *(name for name, kind in overrides.items() if kind == "categorical")}
        plain = understand({**read, "original": left, "released": right}, truth, as_they_are, options.get("missing"))
        left, right = plain.tables["original"], plain.tables["released"]
        places = check_coordinates(coordinates, left, right, matrix=distances is not None)
        matrices = read_matrices(distances, known_distances, left.height, right.height)
        sources |= {name: Source(*source) for name, (_, source) in matrices.items() if source is not None}
        published, known = matrices["distances"][0], matrices["known_distances"][0]
        check_places(places, published, known)
        notes += [*renamed, *told, *plain.warnings, *([] if holds is None else [f"scenario: {holds}"])]
        if holds is not None:
            left, right, roles, rows = holds.held(left, right, roles, truth)
            truth, before = truth[rows], tuple(one.of(rows) for one in before)
            known = known if known is None or len(rows) == len(known) else known[np.ix_(rows, rows)]
        fixed = check_kinds(overrides, {**left.schema, **right.schema})
        self._fill(
            original=left, _people=float(population) if isinstance(population, Real) else None, alone=original is None,
            released=right, columns=describe(left, right, roles, fixed, truth), paired_rows=np.flatnonzero(truth >= 0),
            control=plain.tables.get("control"), population=plain.tables.get("population"), known_distances=known,
            second=as_second(read, left), delta=check_claim(epsilon, delta), written=plain.written, distances=published,
            earlier=before, synthetic=synthetic, coordinates=places, hierarchies=trees, _reading=options, _kinds=fixed,
            sources=sources, masking=masking, epsilon=epsilon, scenario=holds, roles=roles, truth=truth,
        )  # fmt: skip
        self._fill(warnings=(*notes, *self._checked()))

    def __repr__(self) -> str:
        """One line, without values: how many rows there are on each side, and whether they are paired."""
        if self.alone:
            return f"<Release alone: {self.released.height:,} rows, no original>"
        paired = "synthetic" if self.synthetic else f"{len(self.paired_rows):,} of them paired"
        return f"<Release: {self.original.height:,} people, {self.released.height:,} released rows, {paired}>"

    def _fill(self, **values: Any) -> None:  # noqa: ANN401 - the fields, whatever they hold
        for name, value in values.items():
            object.__setattr__(self, name, for_reading(value) if name in {"truth", "paired_rows"} else value)

    def _checked(self) -> list[str]:
        """Refuse values that cannot be worked with; return what a careful reader should know."""
        tables = {"original": self.original, "release": self.released, "control": self.control}
        tables |= {f"earlier release {number}": before.table for number, before in enumerate(self.earlier, 1)}
        for where, table in {**tables, "population table": self.population}.items():
            if table is not None:
                check_values(table, where)
        check_weight(self)
        check_population(self)
        return [*untested(self), *([] if self.synthetic else [*swapped(self), *identifiers(self)])]

    # --- the same release, but for something ------------------------------------------------------------------------

    def _changed(self, **changes: Any) -> Release:  # noqa: ANN401 - the fields, whatever they hold
        new: Release = object.__new__(Release)
        new._fill(**{field.name: getattr(self, field.name) for field in fields(self)} | changes)
        return new

    def with_masking(self, masking: Any) -> Release:  # noqa: ANN401 - a Masking or its text
        """Return the release to an intruder who knows how it was made."""
        return self._changed(masking=masking)

    def without_pairs(self) -> Release:
        """Return the release to somebody who does not know which row was made from whom."""
        nobody = np.full(self.original.height, -1, dtype=np.int64)
        return self._changed(synthetic=True, truth=nobody, paired_rows=np.flatnonzero(nobody >= 0))

    def with_kinds(self, kinds: Mapping[str, Kind]) -> Release:
        """The same tables with some columns read otherwise; the kinds of the others are inferred again."""
        fixed = {**self.said_kinds, **kinds}
        columns = describe(self.original, self.released, self.roles, fixed, self.truth)
        return self._changed(_kinds=fixed, columns=columns)

    def with_roles(self, roles: Roles) -> Release:
        """The same tables for an intruder who knows other columns."""
        columns = describe(self.original, self.released, roles, self._kinds, self.truth)
        return self._changed(roles=roles, columns=columns)

    def without_redundant(self) -> Release:
        """The same without known columns that are constant or repeat another; the warnings say which."""
        roles, notes = leave_out_redundant(self)
        told = self._changed(warnings=(*self.warnings, *notes))
        return told.with_roles(roles) if notes else self

    def in_order_of_content(self) -> Release:
        """The same with its columns in an order that follows what they hold, not how the files name or place them."""
        return self._changed(**reordered(self))

    def known_by(self, columns: Iterable[str]) -> Release:
        """Return the release to somebody who holds these columns of the original alone."""
        names = check_columns(columns, self.roles.plain(self.original), "columns", "what a recipient may hold")
        quasi, unshared = (tuple(n for n in names if (n in self.released.columns) is both) for both in (True, False))
        return self.with_roles(replace(self.roles, quasi=quasi, unshared=unshared, named=True))

    def with_tables(self, original: pl.DataFrame, released: pl.DataFrame, truth: Rows) -> Release:
        """Return other tables with the same roles and kinds; nothing is checked again."""
        return self._changed(original=original, released=released, truth=truth, paired_rows=np.flatnonzero(truth >= 0))

    def without_outsiders(self, rows: Flags, why: str) -> Release:
        """The same without some of the control people; the warnings say why."""
        others = None if self.control is None else self.control.filter(~rows)
        return self._changed(
            control=others if others is not None and others.height else None, warnings=(*self.warnings, why)
        )

    def with_control(self) -> Release:
        """The release attacked with control people, who cannot be found, beside the original ones in one table."""
        if self.control is not None:
            return self.with_people(self.control)
        raise RoleError("there is no control table", hint="give one in control=")

    def fits(self, people: pl.DataFrame, name: str) -> bool:
        """Whether a column of another table can be put under the original's."""
        if name not in people.columns or name not in self.original.columns:
            return False
        try:
            self.with_people(people.head(0), [name])
        except TableError:
            return False
        return True

    def with_people(self, people: pl.DataFrame, columns: Iterable[str] | None = None) -> Release:
        """Return the release with more people beside those of the original: none of them has a row in it.

        Their table has the columns that the intruder knows, or those that are named.
        """
        names = list(self.quasi if columns is None else dict.fromkeys(columns))
        for table, where in ((self.original, "the original"), (people, "the table of other people")):
            check_columns(names, table.columns, "known or confidential", where)
        wrong = [n for n in names if self.original[n].dtype.is_temporal() != people[n].dtype.is_temporal()]
        if wrong:  # words and numbers can be compared as text; dates cannot
            raise TableError(
                "only one of the tables has dates there", got=", ".join(map(repr, wrong)), hint="write dates in both"
            )
        try:
            both = pl.concat([self.original.select(names), people.select(names)], how="vertical_relaxed")
        except (pl.exceptions.SchemaError, pl.exceptions.ShapeError):
            raise TableError(
                "the table of other people has columns of other types than the original",
                hint="read both in the same way",
            ) from None
        nobody = np.full(people.height, -1, dtype=np.int64)
        return self.with_tables(both, self.released, np.concatenate([self.truth, nobody]))

    # --- roles, and what else is known ------------------------------------------------------------------------------

    @property
    def id(self) -> str | None:
        """The column that pairs the two tables."""
        return self.roles.id

    @property
    def weight(self) -> str | None:
        """The column of sampling weights."""
        return self.roles.weight

    @property
    def household(self) -> str | None:
        """The column that says who lives together."""
        return self.roles.household

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns that the intruder knows."""
        return self.roles.quasi

    @property
    def confidential(self) -> tuple[str, ...]:
        """The columns that the intruder wants to learn."""
        return self.roles.confidential

    @property
    def ignored(self) -> tuple[str, ...]:
        """The columns that are left out."""
        return self.roles.ignored

    def role(self, name: str) -> Role:
        """Tell the role of a column."""
        return self.roles.of(name)

    def kind(self, name: str) -> Kind:
        """Tell the kind of a column."""
        return self.columns[name].kind

    @property
    def said_kinds(self) -> dict[str, Kind]:
        """Kinds that were said by hand, not inferred."""
        return dict(self._kinds)

    @property
    def n_people(self) -> float | None:
        """N, the people of the population: those in its table, or as many as were said; None when neither is known."""
        return self._people if self.population is None else float(self.population.height)

    @property
    def settings(self) -> dict[str, Any]:
        """The roles and kinds as given, enough to build the same release again."""
        return {
            "id": self.id,
            "quasi": [*self.quasi, *self.roles.unshared] if self.roles.named else None,
            "confidential": list(self.confidential),
            "weight": self.weight,
            "household": self.household,
            "population": self._people,
            "ignored": list(self.ignored),
            "kinds": self.said_kinds,
            "coordinates": list(self.coordinates) or None,
            "synthetic": self.synthetic,
            "masking": None if self.masking is None else str(self.masking),
            **({} if self.epsilon is None else {"epsilon": self.epsilon, "delta": self.delta}),
            **({"hierarchies": {name: one.path for name, one in self.hierarchies.items()}} if self.hierarchies else {}),
            "scenario": None if self.scenario is None else self.scenario.to_dict(),
            "reading": self._reading,
        }
