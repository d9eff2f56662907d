"""Setting the stage of the graph attack in `assess`: who is drawn, what is compared, and how far distances moved.

The release publishes places or a matrix of distances; the intruder holds places, or exact distances. The owner knows
who is who, so that the unit of a matrix and the spread of its masking are read from the true pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats, Ints
from unmask.errors import EngineError
from unmask.graph.distances import Coordinates, Place, between
from unmask.graph.tolerance import WIDEST, Deviations
from unmask.tables import Release, as_text

Kind = Literal["lonlat", "planar"]
File = tuple[pl.DataFrame, "Coordinates | Floats"]

PEOPLE = 300  # drawn for the attack, so that it takes seconds
FEWEST = 4  # with fewer, no answer could differ from chance
ALPHA = 0.9  # share of true distances that agree
SAME = 0.9  # labels that the release changed more often than this are not compared
UNITS = (0.8, 1.25)  # a ratio of distances outside is another unit
LABEL = "everybody"  # stands in where no label is left
X, Y = "x", "y"


@dataclass(frozen=True, slots=True)
class Side(Place):
    """One file before people are drawn: labels, and places or a matrix, of everybody who has a partner."""

    of_matrix: Ints  # rows of the matrix, which may hold others as well

    def where(self) -> dict[str, Floats]:
        """Numbers that say where each record is, whatever the order of the rows."""
        first, second = self.keys()
        some = slice(None) if self.matrix is None else self.of_matrix
        return {X: first[some], Y: second[some]}

    def among(self, order: Ints, kind: Kind) -> Floats:
        """Distances among some records."""
        if self.points is None:
            return self.block(self.of_matrix[order])
        return between(self.points[order], self.points[order], kind)

    def file(self, order: Ints, kind: Kind, distances: Floats) -> File:
        """Return the table and its distances, as `link_graph` takes them."""
        if self.points is None:
            return self.labels[order], distances
        x, y = self.points[order].T
        return self.labels[order].with_columns(pl.Series(X, x), pl.Series(Y, y)), Coordinates(X, Y, kind=kind)


@dataclass(frozen=True, slots=True)
class Stage:
    """The two files of the attack: row i of one is row i of the other."""

    rows: Ints  # of the original
    target: File
    identification: File
    labels: tuple[str, ...]
    tolerance: Deviations  # as far as distances moved, but no wider than cliques bear
    whole: Deviations  # as far as they moved
    known: Floats  # distances of the people drawn
    released: Floats  # the same as published, in the unit of the known ones
    blank: Ints  # rows of the original without a place in one of the files
    notes: tuple[str, ...]

    @property
    def has_places(self) -> bool:
        """Whether the intruder knows places, not only distances."""
        return isinstance(self.identification[1], Coordinates)


def applies(release: Release) -> str | None:
    """Say why there is no such attack, or None."""
    if not release.coordinates and release.distances is None:
        return "no coordinates and no distances named"
    tables = [(release.original, "original")] if release.known_distances is None else []
    tables += [(release.released, "release")] if release.distances is None else []
    for table, where in tables:
        if not set(release.coordinates) <= set(table.columns):
            return f"the coordinates are not in the {where} any more"
        if not all(table[name].dtype.is_numeric() for name in release.coordinates):
            return f"the coordinates of the {where} are not numbers"
    return f"fewer than {FEWEST} people" if len(release.paired_rows) < FEWEST else None


def set_stage(release: Release, seed: int) -> Stage:
    """Draw people by the canonical order of the files, and measure how far their distances moved."""
    paired = release.paired_rows
    tables = (release.original[paired], release.released[release.truth[paired]])
    labels, left_out = _labels(release, tables)
    original = _side(release, tables[0], labels, release.known_distances, paired)
    released = _side(release, tables[1], labels, release.distances, release.truth[paired])
    whole = np.asarray(np.isfinite([*original.where().values(), *released.where().values()]).all(axis=0))
    if int(whole.sum()) < FEWEST:
        raise EngineError("too few people have a place in both files", got=str(int(whole.sum())), allowed=f"{FEWEST}")
    order = _draw(original, released, whole, seed)
    kind = _kind(original, released, order)
    known, published = original.among(order, kind), released.among(order, kind)
    ratio = _ratio(known, published) if release.distances is not None else 1.0
    published = published / ratio
    moved = (known - published)[np.triu_indices(len(order), 1)]
    widest = WIDEST * float(np.median(known))
    ends = np.quantile(moved, [(1 - ALPHA) / 2, (1 + ALPHA) / 2])
    low, high = np.clip(ends, -widest, widest)
    return Stage(
        rows=paired[order],
        target=released.file(order, kind, published),
        identification=original.file(order, kind, known),
        labels=labels or (LABEL,),
        tolerance=Deviations(float(low), float(high)),
        whole=Deviations(float(ends[0]), float(ends[1])),
        known=known,
        released=published,
        blank=paired[~whole],
        notes=(_unit(labels, kind, original, ratio), *_left_out(left_out, whole, len(order))),
    )


def _side(release: Release, table: pl.DataFrame, labels: tuple[str, ...], matrix: Floats | None, rows: Ints) -> Side:
    frame = pl.DataFrame({name: as_text(table[name]) for name in labels} or {LABEL: ["-"] * table.height})
    if matrix is not None:
        return Side(frame, matrix, None, None, rows)
    return Side(frame, None, table.select(pl.col(release.coordinates).cast(pl.Float64)).to_numpy(), None, rows)


def _draw(original: Side, released: Side, whole: Flags, seed: int) -> Ints:
    """Choose at most PEOPLE of those who have a place, by content and not by row order."""
    content = [side.labels.with_columns(**side.where()) for side in (original, released)]
    both = pl.concat([content[0], content[1].rename(lambda name: f"{name} of the release")], how="horizontal")
    both = both.with_row_index("the row").filter(pl.Series(whole))
    order = both.sort([name for name in both.columns if name != "the row"], nulls_last=True)["the row"].to_numpy()
    if len(order) > PEOPLE:
        order = order[np.sort(np.random.default_rng(seed).choice(len(order), PEOPLE, replace=False))]
    return order.astype(np.int64)


def _kind(original: Side, released: Side, order: Ints) -> Kind:
    """Degrees where all coordinates could be; beside a matrix, whichever of both fits it better."""
    points = [side.points[order] for side in (original, released) if side.points is not None]
    if any((np.abs(place) > [360.0, 90.0]).any() for place in points):
        return "planar"
    if released.matrix is None or original.points is None:
        return "lonlat"
    upper = np.triu_indices(len(order), 1)
    published = released.among(order, "lonlat")[upper]
    fits = {kind: _correlation(original.among(order, kind)[upper], published) for kind in ("lonlat", "planar")}
    return "planar" if fits["planar"] > fits["lonlat"] else "lonlat"


def _correlation(a: Floats, b: Floats) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else 0.0


def _ratio(known: Floats, published: Floats) -> float:
    """How many units of the matrix one unit of the known distances is: 1, another power of ten, or as found."""
    both = (known > 0) & (published > 0)
    ratio = float(np.median(published[both] / known[both])) if both.any() else 1.0
    ten = 10.0 ** round(float(np.log10(ratio)))
    return ten if UNITS[0] <= ratio / ten <= UNITS[1] else ratio


def _unit(labels: tuple[str, ...], kind: Kind, original: Side, ratio: float) -> str:
    unit = "as known" if original.points is None else "in the unit of the coordinates"
    if original.points is not None and kind == "lonlat":
        unit = "in km (the coordinates are degrees)"
    scaled = "" if ratio == 1.0 else f"; the released ones are in another unit, {ratio:.4g} to one"
    return f"the attack compared {', '.join(map(repr, labels)) or 'no labels'} and distances {unit}{scaled}"


def _left_out(labels: tuple[str, ...], whole: Flags, drawn: int) -> list[str]:
    notes, people = [], int(whole.sum())
    if labels:
        notes.append(f"labels that the release often changed were not compared: {', '.join(map(repr, labels))}")
    if not whole.all():
        notes.append(f"{int((~whole).sum())} people have no place in one of the files: this attack cannot find them")
    if drawn < people:
        notes.append(f"{drawn} of {people} people were drawn; the others' risk is the rate of the drawn")
    return notes


def _labels(release: Release, sides: tuple[pl.DataFrame, pl.DataFrame]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Categorical quasi-identifiers that the release mostly kept, and those that it did not."""
    names = [
        name
        for name in release.quasi
        if name not in (*release.coordinates, X, Y)
        and (release.kind(name) in {"categorical", "boolean", "ordinal"} or sides[0][name].dtype == pl.String)
    ]
    kept = tuple(
        name
        for name in names
        if float(as_text(sides[0][name]).eq_missing(as_text(sides[1][name])).mean()) >= SAME  # type: ignore[arg-type]
    )
    return kept, tuple(name for name in names if name not in kept)
