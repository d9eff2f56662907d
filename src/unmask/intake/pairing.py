"""Do the paired rows belong together? The surest way to a false "safe" is to look for people at the wrong rows.

Three signs are read. Values of a person and of the record that is taken for theirs go together more than values of
people and records dealt at random (a permutation test over the columns). Whole rows of the original stand in the
release, but at somebody else's place. And a column that looks like an id was not named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.arrays import Floats
from unmask.errors import UnmaskError
from unmask.shares import percent
from unmask.study import Study, number_rows
from unmask.tables import Release, as_text, to_floats

Codes = NDArray[np.int64]
Statistic = Callable[[Codes], float]

Looks = Literal["paired", "unpaired", "untested"]
SHUFFLES = 199
LEAST = 20  # pairs, below which nothing can be said
SAMPLE = 2000  # pairs that are looked at
MOST_PAIRS = 200  # pairs of columns that are looked at where the names differ
CLEARLY = 4.5  # standard errors: among the columns of a table hardly ever by chance
TOGETHER = 4.0  # standard errors of all columns together
WITH_OTHERS = 2.0  # standard errors of one column where all together are clear
TIED = 2  # rows that are equal in what both files are sorted by, on average: else neighbours change places
WINDOW = 10  # rows that are shuffled among each other where both files are sorted
MOST_SWAPPED = 0.5  # share of people at others' rows that a masking may explain where an id pairs the rows
WAYS_ON = (
    "Name the column that says which rows belong together (--id), put the rows of both files in the same order, or say "
    "that no row was made from one person (--synthetic)"
)


@dataclass(frozen=True, slots=True)
class Pairing:
    """How rows were paired, and whether it looks right. Shares are of the people that have a record."""

    by: Literal["id", "order", "none", "alone", "person"]
    pairs: int
    looks: Looks
    related: tuple[str, ...]  # columns whose values go together in paired rows
    tested: int  # columns
    equal: float  # share whose own record equals them in every column that can be compared
    equal_elsewhere: float  # share for whom only other people's records do
    ids: tuple[str, ...]  # columns that could say which rows belong together
    sorted_by: tuple[str, ...] = ()  # columns by which both files are sorted: that they go together says nothing
    told: str = ""  # what is said in place of that: of people with many rows

    @property
    def words(self) -> str:
        """What a reader should know, in sentences."""
        if self.told:
            return self.told
        how = {
            "id": f"{self.pairs} people have a record, by the id column.",
            "order": f"Rows are paired by their order: row 1 with row 1, and so on ({self.pairs} pairs).",
            "none": "The release is synthetic: rows are not paired.",
            "alone": "There is no original: the release is looked at alone, and its values are taken as people's own.",
        }[self.by]
        return " ".join([how, *self._evidence(), *self._hint()])

    def _evidence(self) -> list[str]:
        if self.by in {"none", "alone"}:
            return []
        if self.looks == "untested":
            return ["There is too little to tell whether the pairs are right."]
        if self.looks == "paired":
            few = f"{len(self.related)} of {self.tested}"
            return [f"They look right: {few} columns go together in paired rows more than in rows dealt at random."]
        told = ["The pairs look wrong: paired rows are no more alike than rows dealt at random"]
        if self.related:
            told = ["The pairs look wrong"]
        elif self.sorted_by:
            names = ", ".join(map(repr, self.sorted_by))
            near = (
                f"both files are sorted by {names}, and beyond that paired rows are no more alike than rows near them"
            )
            told = [f"The pairs look wrong: {near}"]
        if self.equal_elsewhere > 0:
            told.append(
                f", and {percent(self.equal_elsewhere)} of the people stand in the release at somebody else's row"
            )
        return ["".join(told) + "."]

    def _hint(self) -> list[str]:
        if self.by != "order" or not self.ids:
            return []
        return [f"{', '.join(map(repr, self.ids))} could be an id: --id {self.ids[0]}."]


def check_pairing(study: Study) -> Pairing:
    """Look at the pairs of a release."""
    release = study.release
    if release.synthetic or release.alone:
        return Pairing("none" if release.synthetic else "alone", 0, "untested", (), 0, 0.0, 0.0, ())
    by: Literal["id", "order"] = "order" if release.id is None else "id"
    ids = id_columns(release)
    equal, elsewhere, moved = _whole_rows(study)
    ordered = sorted_by(release) if by == "order" else ()
    related, tested = _related(release, ordered)
    looks: Looks = "paired" if related or (ordered and equal > MOST_SWAPPED) else "unpaired"
    believed = by == "id" and not related  # the release may tell nothing about anybody
    if len(release.paired_rows) < LEAST or not tested or believed:
        looks = "untested"
    swapped = by == "id" and bool(related) and elsewhere < MOST_SWAPPED
    if moved and not swapped:
        looks = "unpaired"
    return Pairing(by, len(release.paired_rows), looks, related, tested, equal, elsewhere, ids, ordered)


def id_columns(release: Release) -> tuple[str, ...]:
    """Shared columns that tell everybody apart and have the same values in both files, in whatever order."""
    found, there = [], set(release.released.columns) - {release.id}
    for name in release.original.columns:
        if name not in there:
            continue
        left, right = (as_text(table[name]) for table in (release.original, release.released))
        if release.original[name].dtype.is_float() or left.null_count() or right.null_count():
            continue
        if left.n_unique() == len(left) >= LEAST and right.n_unique() == len(right):
            shared = len(set(left) & set(right))
            found += [name] if shared > len(right) / 2 else []
    return tuple(found)


def _whole_rows(study: Study) -> tuple[float, float, bool]:
    """Share of people whose own record equals them, of those for whom only others do, and whether that is a sign.

    It is one where more people stand at another's row than at their own, and clearly more than have a double in the
    original itself: as many would have one among other people of the same population.
    """
    release = study.release
    if not len(release.paired_rows) or not release.quasi:
        return 0.0, 0.0, False
    try:
        matcher = study.comparable
    except UnmaskError:
        return 0.0, 0.0, False
    match = matcher.match()
    rows = release.paired_rows
    own = match.owns(release.truth)[rows]
    other = (match.crowd[rows] > 0) & ~own
    number = number_rows(matcher.original)
    double = float((np.bincount(number)[number] > 1).mean())
    n, share = len(rows), float(other.mean())
    error = np.sqrt(max(double * (1 - double), 1 / n) / n)
    return float(own.mean()), share, bool(share > own.mean() and share > double + CLEARLY * error and n >= LEAST)


# --- do values go together? -----------------------------------------------------------------------------------------


def sorted_by(release: Release) -> tuple[str, ...]:
    """Columns by which the rows of both files are sorted."""
    found = []
    for name in release.original.columns:
        sides = [table[name] for table in (release.original, release.released) if name in table.columns]
        if len(sides) < 2 or any(side.null_count() or side.n_unique() < 2 for side in sides):
            continue
        if all(_is_sorted(side) for side in sides):
            found.append(name)
    return tuple(found)


def _is_sorted(column: pl.Series) -> bool:
    plain = column if column.dtype.is_numeric() or column.dtype.is_temporal() else as_text(column)
    return plain.is_sorted() or plain.is_sorted(descending=True)


def _shuffles(n: int, near: Codes | None) -> list[Codes]:
    """Random orders of n rows; with ``near`` rows change places with those of the same number only."""
    rng = np.random.default_rng(0)
    if near is None:
        return [rng.permutation(n) for _ in range(SHUFFLES)]
    moving = near if np.bincount(near).mean() >= TIED else None
    return [
        np.lexsort((rng.random(n), (np.arange(n) + rng.integers(WINDOW)) // WINDOW if moving is None else moving))
        for _ in range(SHUFFLES)
    ]


def _ties(release: Release, rows: Codes, ordered: tuple[str, ...]) -> Codes:
    """A number for each row, the same where a file says nothing of their order; of the file that says less."""
    sides = ((release.original, rows), (release.released, release.truth[rows]))
    ties = [table[chosen].select(pl.struct(ordered).rank("dense").alias("tie"))["tie"] for table, chosen in sides]
    return min((tie.to_numpy().astype(np.int64) - 1 for tie in ties), key=lambda tie: int(tie.max()))


def _related(release: Release, ordered: tuple[str, ...] = ()) -> tuple[tuple[str, ...], int]:
    """Released columns whose values go together with an original column's in paired rows, and how many were looked at.

    Every statistic is held against the same shuffles of the pairs. One column must stand out by far; or all together
    must tell more than in any shuffle, which a few dozen people can show. Where both files are sorted by some columns
    (``ordered``), rows are shuffled among those that are equal in them, or among their neighbours where hardly any
    are, and those columns do not count: sorting puts a person at their own row once in as many as are tied.
    """
    rows = release.paired_rows[:SAMPLE] if ordered else _by_content(release)[:SAMPLE]
    if len(rows) < LEAST:
        return (), 0
    partners = release.truth[rows]
    statistics = {}
    for left, right in _columns(release, ordered):
        made = _statistic(release.original[left][rows], release.released[right][partners])
        if made is not None:
            statistics[left, right] = made
    if not statistics:
        return (), 0
    straight = np.arange(len(rows))
    observed = np.array([value(straight) for value in statistics.values()])
    orders = _shuffles(len(rows), _ties(release, rows, ordered) if ordered else None)
    shuffled = np.array([[value(order) for value in statistics.values()] for order in orders])
    centre, spread = shuffled.mean(axis=0), shuffled.std(axis=0)
    spread = np.where(spread > 0, spread, np.inf)
    clear, by_lot = (observed - centre) / spread, (shuffled - centre) / spread
    least = max(CLEARLY, by_lot.max())  # a column by itself ...
    sums = by_lot.sum(axis=1)
    if clear.sum() > max(sums.max(), TOGETHER * sums.std()):  # ... or all of them together, more than in any dealing
        least = min(clear.max(), WITH_OTHERS)
    related = [names[1] for names, z in zip(statistics, clear, strict=True) if z >= least]
    return tuple(dict.fromkeys(related)), len({names[1] for names in statistics})


def _by_content(release: Release) -> Codes:
    """Paired rows in an order that follows what they hold and not the order of the files: any of them are a sample."""
    rows = release.paired_rows
    sides = ((release.original, rows), (release.released, release.truth[rows]))
    keys = np.zeros(len(rows), dtype=np.uint64)
    for side, (table, chosen) in enumerate(sides):
        for name in table.columns:
            keys += as_text(table[name][chosen]).hash(seed=side).to_numpy()  # a sum: columns may come in any order
    return rows[np.argsort(keys, kind="stable")]


def _columns(release: Release, ordered: tuple[str, ...]) -> list[tuple[str, str]]:
    """Pairs of columns to look at: those of one name, or all of them where no name is shared."""
    aside = {release.id, release.weight, *release.ignored, *ordered}
    left = [name for name in release.original.columns if name not in aside]
    right = [name for name in release.released.columns if name not in aside]
    same = [(name, name) for name in left if name in right]
    return same or [(a, b) for b in right for a in left][:MOST_PAIRS]


def _statistic(original: pl.Series, released: pl.Series) -> Statistic | None:
    """How much two columns go together for an order of the second; None where one of them says nothing."""
    left, right = _ranks(original), _ranks(released)
    if left is not None and right is not None:
        return lambda order: float(abs(left @ right[order]))
    codes = _codes(original), _codes(released)
    sizes = [int(code.max()) + 1 for code in codes]
    if min(sizes) < 2 or max(sizes) > len(original) / 2:  # one value, or nearly everybody has their own
        if not set(as_text(original).drop_nulls()) & set(as_text(released).drop_nulls()):
            return None
        return _agreement(original, released)
    expected = np.outer(np.bincount(codes[0]), np.bincount(codes[1]))

    def together(order: Codes) -> float:  # chi-square, but for a constant
        joint = np.bincount(codes[0] * sizes[1] + codes[1][order], minlength=expected.size).reshape(sizes)
        return float((joint**2 / expected).sum())

    return together


def _agreement(original: pl.Series, released: pl.Series) -> Statistic:
    """How many rows have the same value."""
    both = _codes(pl.concat([as_text(original), as_text(released)]))
    left, right = both[: len(original)], both[len(original) :]
    return lambda order: float((left == right[order]).sum())


def _ranks(column: pl.Series) -> Floats | None:
    """Centred ranks of numbers and dates, missing in the middle; None for what is no number, or constant."""
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        return None
    values = pl.Series(to_floats(column, column.name)).fill_nan(None).rank("average")
    ranks = (values - values.mean()).fill_null(0.0).to_numpy()
    return ranks if np.abs(ranks).max(initial=0.0) > 0 else None


def _codes(column: pl.Series) -> Codes:
    ranks = as_text(column).rank("dense").fill_null(0).to_numpy()
    return np.unique(ranks, return_inverse=True)[1].ravel().astype(np.int64)
