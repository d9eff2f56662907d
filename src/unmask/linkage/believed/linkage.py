"""The linkage: whom they would believe to have found, how surely, and where the truth is known, how often rightly."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats, Ints, Rows
from unmask.errors import EngineError, RoleError, TableError
from unmask.evidence import Estimate, Figure, rate
from unmask.linkage.believed.agreement import agreement_scores
from unmask.linkage.believed.related import relate
from unmask.linkage.believed.shares import shares_of
from unmask.linkage.channel import scores_across
from unmask.linkage.probabilistic import compare
from unmask.shares import percent
from unmask.shown import Shown
from unmask.study import Study
from unmask.tables import Encoding, Release, read_table

PAIR = "row pair"  # column that pairs the rows of people who are known in both files
MOST_PAIRS = 4_000_000  # that are weighed all at once
TIE = 1e-9
BELIEVED = 0.5  # probability from which a link is believed
NULL_DRAWS = 5  # files of rows that are nobody's
BINS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
NOTHING = "the two files have no column that can be compared: none of the same name, and no age beside a birth date"
RENAME = (
    "rename columns that say the same, or name people who are in both files in --known, who teach how the columns of "
    "one go with those of the other"
)


@dataclass(frozen=True, slots=True)
class Believed(Shown):
    """Links between two files without a common id. Arrays have one entry per row of the first file."""

    links: Rows = field(repr=False)  # likeliest row of the second file; of several alike the first
    probability: Floats = field(repr=False)  # that the person's row is this one; of several alike, each
    ties: Ints = field(repr=False)  # rows that are as likely
    asked: Flags = field(repr=False)  # people who were looked for: not those who are known already
    compared: tuple[str, ...]  # what was compared, in words
    overlap: float  # people who are in both files, as learnt from them
    n_records: int
    by_chance: tuple[int, ...] = ()  # people believed to be found in files of rows that are nobody's
    truth: Rows | None = field(default=None, repr=False)  # the right row of those of whom it is known; -1: not there
    credit: Floats | None = field(default=None, repr=False)  # 1/ties where the right row is among the likeliest
    told: Flags | None = field(default=None, repr=False)  # people whose right row, or absence, the truth tells

    @property
    def believed(self) -> Flags:
        """People whom they believe to have found: the likeliest row is likelier theirs than not."""
        return self.asked & (self.probability >= BELIEVED)

    @property
    def beyond_chance(self) -> bool:
        """Whether more people are believed to be found than in any of the files in which nobody is."""
        return int(self.believed.sum()) > max(self.by_chance, default=0)

    @property
    def expected(self) -> tuple[float, float, float]:
        """Links that they expect to be right, and the ends of the 95 % interval if their model holds."""
        chances = np.sort(self.probability[self.believed])
        mean, spread = float(chances.sum()), 1.96 * float(np.sqrt((chances * (1 - chances)).sum()))
        return mean, max(0.0, mean - spread), min(float(chances.size), mean + spread)

    def surer_than(self, probability: float) -> int:
        """People whom they believe to have found with at least this probability."""
        return int((self.asked & (self.probability >= probability)).sum())

    @property
    def right(self) -> Estimate | None:
        """Share of the believed links that are right, where the truth is known; None where it is not, or none is."""
        counted = self.believed if self.told is None else self.believed & self.told
        if self.credit is None or not counted.any():
            return None
        return rate(self.credit[counted], chance=1.0 / self.n_records)

    @property
    def found(self) -> Estimate | None:
        """Share of the people who are in both files by the truth whose link is believed and right."""
        if self.truth is None or self.credit is None:
            return None
        there = self.asked & (self.truth >= 0)
        if not there.any():
            return None
        return rate(np.where(self.believed, self.credit, 0.0)[there], chance=1.0 / self.n_records)

    @property
    def figure(self) -> Figure:
        """How many people they believe to have found, by how surely."""
        bars = [(f"{percent(low)} to {percent(high)}", float(self._between(low, high))) for low, high in pairwise(BINS)]
        return Figure.bars(
            bars,
            title="How surely would they believe to have found people?",
            caption="People by the probability that the link is right, as someone with both files reckons it.",
            said="People: ",
            axes=("probability of the link", "people"),
            form="{} {:.0f}",
        )

    def _between(self, low: float, high: float) -> int:
        above = self.probability >= low
        below = self.probability < high if high < 1 else np.ones_like(above)
        return int((self.asked & above & below).sum())


def link_believed(
    original: Any,  # noqa: ANN401 - a path or any frame
    released: Any,  # noqa: ANN401
    *,
    known: Any = None,  # noqa: ANN401
    truth: Any = None,  # noqa: ANN401
    seed: int = 0,
    **roles: Any,  # noqa: ANN401 - of Release
) -> Believed:
    """Link the people of one file to the records of another that shares no id with it, and say how surely.

    Parameters
    ----------
    original, released
        What the intruder holds, such as a list of voters, and the release: paths or frames.
    known
        Pairs of rows of people who are known in both files: a path or frame of two columns, named like a column of
        either file that has one value per row, or row numbers from 1. From them is learnt how the columns of one file
        go with those of the other, whatever they are called. None: columns of the same name, and ages beside birth
        dates, are compared, and EM learns from the two files alone how often they agree.
    truth
        Pairs in the same form, all of them: links are counted. It teaches nothing.
    seed
        Seeds what is learnt from known people.
    roles
        ``quasi``, ``ignored``, ``kinds`` and ``reading`` of a Release.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.patients(80, seed=1).select("sex", "birth date", "town", "postcode")
    >>> found = unmask.link_believed(people[:60], people[20:])
    >>> found.surer_than(0.9) > 30
    True

    """
    reading = dict(roles.pop("reading", None) or {})
    tables = [
        read_table(table, name=name, role=role, **{"as_written": True, **reading})
        for table, name, role in ((original, "original", "original"), (released, "release", "released"))
    ]
    taught, right = (_pairs(given, tables, name) for given, name in ((known, "known pairs"), (truth, "truth")))
    tables = [t.drop(n for p in (taught, right) if p is not None for n in p.names[k] if n in t.columns) for k, t in
              enumerate(tables)]  # fmt: skip
    if taught is not None:
        scores, compared = _by_known(tables, taught.rows, seed, roles)
        return _believed(scores, compared, taught, right)
    encoding, told = _comparable(tables, roles)
    comparison = compare(encoding)
    by_chance = tuple(_count(agreement_scores(comparison, seed + draw)) for draw in range(NULL_DRAWS))
    compared = (*(f"`{name}`" for name in comparison.names), *told)
    return _believed(agreement_scores(comparison), compared, None, right, by_chance)


@dataclass(frozen=True, slots=True)
class _Pairs:
    rows: tuple[Ints, Ints]  # row of the first and of the second file
    names: tuple[tuple[str, ...], tuple[str, ...]]  # ids of either file, which are not compared
    of_all: Flags  # people of the first file whom the pairs name


def _pairs(given: Any, tables: list[pl.DataFrame], what: str) -> _Pairs | None:  # noqa: ANN401 - a path or any frame
    if given is None:
        return None
    table = read_table(given, name=what, as_written=True)
    if table.width != 2:
        raise TableError(f"the {what} are two columns, a row of either file each", got=f"{table.width} columns")
    found, names = [], []
    for name, side, which in zip(table.columns, tables, ("first", "second"), strict=True):
        rows, named = _rows_of(table[name], side, f"{what}: column {name!r}", which)
        found.append(rows)
        names.append(named)
    for rows, which in zip(found, ("first", "second"), strict=True):
        if np.unique(rows).size < rows.size:
            raise TableError(f"the {what} name a row of the {which} file twice", hint="a person has one row in each")
    of_all = np.zeros(tables[0].height, dtype=bool)
    of_all[found[0]] = True
    return _Pairs((found[0], found[1]), (names[0], names[1]), of_all)


def _rows_of(ids: pl.Series, table: pl.DataFrame, what: str, which: str) -> tuple[Ints, tuple[str, ...]]:
    """The rows of a file that ids name: by the column of the same name, else by row number."""
    if ids.name in table.columns:
        column = table[ids.name].cast(pl.String)
        if column.n_unique() < len(column):
            raise TableError(f"{what} is a column of the {which} file that repeats", hint="name rows by one value each")
        place = pl.DataFrame({"id": column}).with_row_index("row")
        rows = pl.DataFrame({"id": ids.cast(pl.String)}).join(place, on="id", how="left", maintain_order="left")["row"]
        unknown = int(rows.null_count())
        named: tuple[str, ...] = (ids.name,)
    else:
        numbers = ids.cast(pl.Int64, strict=False)
        inside = numbers.is_between(1, table.height).fill_null(False)  # noqa: FBT003
        unknown, rows, named = int((~inside).sum()), numbers - 1, ()
    if unknown:
        raise TableError(
            f"{what} names rows that the {which} file does not have", got=f"{unknown} of {len(ids)}",
            hint=f"its name is that of an id column of the {which} file, or it holds row numbers from 1",
        )  # fmt: skip
    return rows.cast(pl.Int64).to_numpy(), named


def _check_size(n: int, m: int) -> None:
    if n < 2 or m < 2:
        raise TableError("one row alone cannot be told from others", got=f"{n} and {m} rows", allowed="from 2 in each")
    if n * m > MOST_PAIRS:
        raise EngineError(
            "these are more pairs of rows than are weighed at once", got=f"{n:,} times {m:,}",
            allowed=f"{MOST_PAIRS:,}", hint="split both files by a column that must agree, such as sex or region",
        )  # fmt: skip


def _count(scores: Floats) -> int:
    """People whom they would believe to have found by these scores."""
    return int((shares_of(scores)[0].max(axis=1) >= BELIEVED).sum())


def _comparable(tables: list[pl.DataFrame], roles: dict[str, Any]) -> tuple[Encoding, list[str]]:
    """The columns of both files that can be compared as they stand, and those that were made comparable, in words."""
    left, right, told = relate(*tables)
    _check_size(left.height, right.height)
    plain = [{name.strip().casefold() for name in table.columns} for table in (left, right)]
    study = Study(Release(left, right, synthetic=True, **roles)) if plain[0] & plain[1] else None
    if study is None or not study.release.quasi or not study.compared:
        raise RoleError(NOTHING, hint=RENAME)
    return study.encoding(study.compared), told


def _by_known(
    tables: list[pl.DataFrame], pairs: tuple[Ints, Ints], seed: int, roles: dict[str, Any]
) -> tuple[Floats, tuple[str, ...]]:
    """Log likelihood ratios by what people who are known in both files teach, whatever columns are called."""
    n, m = (table.height for table in tables)
    _check_size(n, m)
    number = n + np.arange(m)
    number[pairs[1]] = pairs[0]
    sides = [t.with_columns(pl.Series(PAIR, ids)) for t, ids in zip(tables, (np.arange(n), number), strict=True)]
    return scores_across(Release(*sides, id=PAIR, **roles), seed)


def _believed(
    scores: Floats, compared: tuple[str, ...], taught: _Pairs | None, right: _Pairs | None,
    by_chance: tuple[int, ...] = (),
) -> Believed:  # fmt: skip
    n, m = scores.shape
    known = np.zeros(n, dtype=bool) if taught is None else taught.of_all
    found, count = np.zeros((n, m)), 0.0
    rest = np.flatnonzero(~known), np.setdiff1d(np.arange(m), () if taught is None else taught.rows[1])
    if all(side.size for side in rest):  # who is known already takes their record away
        found[np.ix_(*rest)], count = shares_of(scores[np.ix_(*rest)])
    top = found.max(axis=1)
    best = found >= top[:, None] * (1 - TIE)
    truth, credit, told = None, None, None
    if right is not None:
        truth = np.full(n, -1, dtype=np.int64)
        truth[right.rows[0]] = right.rows[1]
        hit = (truth >= 0) & best[np.arange(n), truth]
        credit, told = np.where(hit, 1.0 / best.sum(axis=1), 0.0), np.ones(n, dtype=bool)
    return Believed(
        best.argmax(axis=1),
        top,
        best.sum(axis=1),
        ~known,
        compared,
        count + float(known.sum()),
        m,
        by_chance,
        truth,
        credit,
        told,
    )
