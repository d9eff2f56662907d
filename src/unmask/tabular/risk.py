"""What published tables tell about people: cells of a few, secrets that follow, withheld cells that can be recomputed.

The intruder holds all tables and nothing else. They know that every count is a whole number of people, and work out
how small and how large each cell can be (`bounds`). *Small*: cells that must have somebody in them and can only have a
few. *Learnt*: groups in which only one value of the confidential dimension is left, so that it is known of each of
their members. *Within p*: withheld amounts that follow so closely that the middle is at most p off, whatever is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import ClassVar

import numpy as np
import polars as pl
from scipy import sparse

from unmask.arrays import Counts, Flags, Floats
from unmask.errors import ParameterError, TableError
from unmask.evidence import Progress, silent
from unmask.shown import Shown
from unmask.tables import read_table
from unmask.tabular.bounds import Bounds, Fillings
from unmask.tabular.cells import Cells, Parts, Reading, cover, read_cells
from unmask.tabular.original import Truth, compare

MOST_ASKED = 4_000  # cells whose bounds are looked for in one table; of all dimensions together fewer
P = 0.10  # what statistical offices commonly take


@dataclass(frozen=True, slots=True)
class View:
    """Cells of one set of dimensions (a table's, or all): one part of each, with what follows about them."""

    dimensions: tuple[str, ...]
    table: int  # from 0; -1: all dimensions together
    cells: tuple[Parts, ...] = field(repr=False)
    bounds: Bounds = field(repr=False)


@dataclass(frozen=True, slots=True)
class TableRisk(Shown):
    """What follows from published tables. Counts of people are ends: at least and at most."""

    keys: ClassVar[tuple[str, ...]] = (
        "tables.small", "tables.known", "tables.learnt", "tables.within", "tables.estimable",
    )  # fmt: skip

    cells: Cells = field(repr=False)
    views: tuple[View, ...] = field(repr=False)
    people: int  # in all tables, at least
    confidential: str | None
    learnt: tuple[int, int] = (0, 0)  # people whose confidential value follows, at least and at most
    surprising: tuple[int, int] = (0, 0)  # those of them whose value is not the commonest one
    commonest: float = 0.0  # share of people with the commonest value
    n_withheld: int = 0
    n_recomputed: int = 0  # withheld cells that follow exactly, or within p
    p: float = P
    notes: tuple[str, ...] = ()
    truth: Truth | None = field(default=None, repr=False)

    @property
    def proven(self) -> bool:
        """Whether every end is reached by some filling of the tables; else cells may be known more closely."""
        return all(bool(view.bounds.proven.all()) for view in self.views)

    def sizes(self) -> Counts:
        """For each person of the table with most people in cells of fewer than 11: how large their cell can be."""
        every = [_sizes(view.bounds, self.people) for view in self.views]
        return max(every, key=lambda sizes: int((sizes < 11).sum()), default=np.zeros(0, dtype=np.int64))

    def to_frame(self) -> pl.DataFrame:
        """One row a cell: its labels, the least and the largest number that can stand behind it."""
        frames = []
        for view in self.views:
            labels = {
                name: [self.cells.parts[self.cells.dimensions.index(name)][cell[self.cells.dimensions.index(name)][0]]
                       for cell in view.cells]
                for name in view.dimensions
            }  # fmt: skip
            table = pl.Series("table", ["all" if view.table < 0 else str(view.table + 1)] * len(view.cells))
            frames.append(pl.DataFrame([table]).with_columns(
                *[pl.Series(name, texts) for name, texts in labels.items()],
                low=pl.Series(view.bounds.low), high=pl.Series(view.bounds.high),
            ))  # fmt: skip
        return pl.concat(frames, how="diagonal") if frames else pl.DataFrame()


def table_risk(
    tables: Sequence[object],
    *,
    confidential: str | None = None,
    original: object = None,
    p: float = P,
    reading: Reading | None = None,
    progress: Progress = silent,
) -> TableRisk:
    """Work out what follows from published tables, taken together.

    Parameters
    ----------
    tables
        Frames or files with one row a cell: its labels (``Total`` for all), and its count or amount. Empty, ``x`` or
        any other text: withheld. ``<5``: fewer than five.
    confidential
        The dimension that the intruder wants to learn about people.
    original
        The people behind the tables: checks the tables, and counts exactly whose value follows.
    p
        How close a withheld amount may be known: 0.1 is 10 %.
    reading
        How the tables are written (``unmask.tabular.Reading``).
    progress
        Called with the share done and words.

    """
    if not 0 <= p < 1:
        raise ParameterError("p is a share", got=f"{p:g}", allowed="0 to below 1")
    how = reading or Reading()
    text = {name: option for name, option in how.text.items() if name != "missing"}
    frames = [
        read_table(one, name=f"table {i}", missing=(), as_written=True, **text) for i, one in enumerate(tables, start=1)
    ]
    cells, fillings, notes = _open(frames, how)
    if confidential is not None and confidential not in cells.dimensions:
        raise ParameterError(
            "no table has the confidential dimension", got=confidential, allowed=", ".join(cells.dimensions)
        )
    views = () if not cells.whole else _views(cells, fillings, progress)
    everybody = fillings.bound(sparse.csr_matrix(np.ones((1, cells.covers.shape[1]))))
    people = int(everybody.low[0]) if cells.whole else 0
    learnt = _learnt(cells, fillings, views, confidential) if confidential is not None and cells.whole else None
    recomputed = _recomputed(cells, fillings, p)
    truth = (
        None if original is None else compare(cells, read_table(original, name="original", **how.text), p, how.value)
    )
    return TableRisk(
        cells, views, people, confidential,
        *(((0, 0), (0, 0), 0.0) if learnt is None else learnt.counts(fillings, people, truth)),
        n_withheld=int(cells.withheld.sum()), n_recomputed=int(recomputed.sum()), p=p, notes=notes, truth=truth,
    )  # fmt: skip


def _open(frames: list[pl.DataFrame], how: Reading) -> tuple[Cells, Fillings, tuple[str, ...]]:
    """The cells and their fillings; combinations that are not listed are empty only if the totals allow it."""
    cells = read_cells(frames, how)
    unlisted = cells.row == 0
    n = int(unlisted.sum())
    if not n:
        return cells, Fillings(cells), ()
    try:
        words = f"{n:,} combinations are not listed and taken as empty; --unlisted withheld if they were left out"
        return cells, Fillings(cells), (words,)
    except TableError:
        words = f"{n:,} combinations are not listed, and the totals show that they are not all empty: taken as withheld"
        rest = cells.without(unlisted)
        return rest, Fillings(rest), (words,)


def _views(cells: Cells, fillings: Fillings, progress: Progress) -> tuple[View, ...]:
    """The finest cells of each table, and of all dimensions where several tables cross."""
    shape = dict(zip(cells.dimensions, cells.shape, strict=True))
    wanted = list(dict.fromkeys(cells.of_table))
    every = cells.dimensions
    if len(wanted) > 1 and every not in wanted and prod(cells.shape) <= MOST_ASKED // 4:
        wanted.append(every)
    views = []
    for done, dimensions in enumerate(wanted):
        size = prod(shape[name] for name in dimensions)
        if size > MOST_ASKED:
            raise TableError(
                f"a table has too many cells for bounds of each: {size:,}", allowed=f"at most {MOST_ASKED:,}",
                hint="assess a coarser table, or a part of it",
            )  # fmt: skip
        asked = tuple(product(*[
            [(i,) for i in range(shape[name])] if name in dimensions else [tuple(range(shape[name]))]
            for name in cells.dimensions
        ]))  # fmt: skip
        told = _part(progress, done, len(wanted))
        table = cells.of_table.index(dimensions) if dimensions in cells.of_table else -1
        views.append(View(dimensions, table, asked, fillings.bound(cover(asked, cells.shape), told)))
    return tuple(views)


def _part(progress: Progress, done: int, of: int) -> Progress:
    return lambda share, words: progress((done + share) / of, words)


def _sizes(bounds: Bounds, people: int) -> Counts:
    """For each person, how many people their cell has at most; whoever is in no cell for sure is in a crowd of all."""
    sure = np.maximum(0, bounds.low).astype(np.int64)
    most = np.where(np.isfinite(bounds.high), bounds.high, people).astype(np.int64)
    sizes = np.repeat(most, sure)[:people]
    return np.concatenate([sizes, np.full(people - sizes.size, people, dtype=np.int64)])


@dataclass(frozen=True, slots=True)
class Learnt:
    """Inner cells whose people have one confidential value for sure, and which it is; -1: not known."""

    value: Counts = field(repr=False)  # of each inner cell
    usual: int  # the commonest value
    share: float  # of people who have it, in the middle of what can be

    def counts(
        self, fillings: Fillings, people: int, truth: Truth | None
    ) -> tuple[tuple[int, int], tuple[int, int], float]:
        """People whose value is known, and those whose value is not the usual one; by the truth where it is there."""
        known = self.value >= 0
        return (
            _people_in(known, fillings, people, truth),
            _people_in(known & (self.value != self.usual), fillings, people, truth),
            self.share,
        )


def _people_in(inner: Flags, fillings: Fillings, people: int, truth: Truth | None) -> tuple[int, int]:
    """How many people stand in some inner cells, at least and at most."""
    if truth is not None:
        n = int(inner[truth.inner].sum())
        return n, n
    if not inner.any():
        return 0, 0
    ends = fillings.bound(sparse.csr_matrix(inner.astype(np.float64)[None, :]))
    return int(ends.low[0]), int(min(ends.high[0], people))


def _learnt(cells: Cells, fillings: Fillings, views: Sequence[View], confidential: str) -> Learnt:
    """Groups in which one value alone is left: of each view with the confidential dimension, by its others."""
    axis = cells.dimensions.index(confidential)
    n_values = cells.shape[axis]
    value = np.full(cells.covers.shape[1], -1, dtype=np.int64)
    for view in views:
        if confidential not in view.dimensions:
            continue
        position = np.array([cell[axis][0] for cell in view.cells])
        groups: dict[Parts, list[int]] = {}
        for i, cell in enumerate(view.cells):
            groups.setdefault((*cell[:axis], *cell[axis + 1 :]), []).append(i)
        for members in groups.values():
            possible = [i for i in members if view.bounds.high[i] > 0]
            if len(possible) == 1 and n_values > 1 and view.bounds.low[possible[0]] >= 1:
                cell = view.cells[possible[0]]
                inner = cover([cell], cells.shape).indices
                value[inner] = position[possible[0]]
    every = [tuple(range(n)) for n in cells.shape]
    single = [tuple((i,) if a == axis else every[a] for a in range(len(every))) for i in range(n_values)]
    ends = fillings.bound(cover(single, cells.shape))
    middle = (ends.low + np.where(np.isfinite(ends.high), ends.high, ends.low)) / 2
    return Learnt(value, int(np.argmax(middle)), float(middle.max() / max(1.0, middle.sum())))


def _recomputed(cells: Cells, fillings: Fillings, p: float) -> Flags:
    """Of the withheld cells, those that follow: counts exactly, amounts to within p of the middle."""
    asked = cells.covers[cells.withheld]
    if not asked.shape[0]:
        return np.zeros(0, dtype=bool)
    ends = fillings.bound(sparse.csr_matrix(asked))
    return _follows(ends.low, ends.high, 0.0 if cells.whole else p)


def _follows(low: Floats, high: Floats, p: float) -> Flags:
    finite = np.isfinite(high)
    gap, total = np.where(finite, high - low, np.inf), np.where(finite, high + low, 0.0)
    return np.asarray(finite & (gap <= p * total + 1e-9 * np.maximum(1.0, total)))
