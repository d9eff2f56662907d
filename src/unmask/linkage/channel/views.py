"""Views: what a row says besides its cells, as columns of their own in both files.

Masking that hides every cell may keep the numbers of a row but not their order, how many of its cells are empty, or
how many decimals a cell has. A view is a second pair of tables, of the same people and records, with such columns; the
recipes for released columns are tried on it as well (``Through``), and stay if they tell something new.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unmask.linkage.channel.columns import Column, resolution

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unmask.linkage.channel.material import Material

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Make = Callable[[Sequence[Column], Ints | None], list[Column]]  # columns of a file, who belongs together

FEWEST = 2  # columns that can stand in another order
FEWEST_SCORED = 4  # columns of a row that leave something to compare without its mean and spread
STRAYING = 0.05  # share of rows whose numbers do not stand in the usual order
MOST_DIGITS = 6
SCORES, WORDS = "scores", "words"
FEWEST_SHARING, SHARED, MOST_WORDS = 3, 0.5, 30  # columns with the same words, how many of them, and how many in all
DEPENDENT = 2.5  # standard errors by which a column of a view must go with its own original


@dataclass(frozen=True, slots=True)
class Through:
    """A recipe for a column of a view."""

    view: str
    recipe: Any
    target: int = -3

    def fit(self, material: Material, taught: Ints) -> Any:  # noqa: ANN401 - any factor
        """Learn it on the view."""
        return self.recipe.fit(material.view(self.view), taught)


def of_numbers(name: str, values: Floats) -> Column:
    """A column that is numbers only."""
    code = np.where(np.isfinite(values), 0, -1)
    return Column(name, "number", ("",), code, values, None, None, resolution(values))


def of_labels(name: str, labels: Ints, *, missing: NDArray[np.bool_]) -> Column:
    """A column of a few numbered labels."""
    different, inverse = np.unique(labels, return_inverse=True)
    words, place = np.unique([f"{label:+d}" for label in different.tolist()], return_inverse=True)
    code = np.where(missing, -1, place[inverse])
    nothing = np.broadcast_to(np.nan, labels.size)  # takes no room
    return Column(name, "text", tuple(words.tolist()), code, nothing, None, None, 1.0)


# --- the numbers of a row, whatever their order ----------------------------------------------------------------------


def in_order(columns: Sequence[Column], _groups: Ints | None = None) -> list[Column]:
    """The numbers of each row from the smallest to the largest, dates by themselves; empty cells last."""
    made = []
    for kind, table in _alike(columns).items():
        ordered = np.sort(table, axis=1)
        made += [of_numbers(f"{kind} {k + 1} in order", ordered[:, k]) for k in range(table.shape[1])]
    return made


def stray(columns: Sequence[Column]) -> bool:
    """Whether the numbers of many rows do not stand in the usual order."""
    for table in _alike(columns).values():
        ordered, usual = np.sort(table, axis=1), np.argsort(np.nanmedian(table, axis=0), kind="stable")
        with np.errstate(invalid="ignore"):
            if (~((ordered == table[:, usual]) | np.isnan(ordered)).all(1)).mean() >= STRAYING:
                return True
    return False


def _alike(columns: Sequence[Column]) -> dict[str, Floats]:
    """Numbers, and dates, of rows that have several of them."""
    found = {}
    for kind in ("number", "date"):
        alike = [column.number for column in columns if column.kind == kind and np.isfinite(column.number).any()]
        if len(alike) >= FEWEST:
            found[kind] = np.column_stack(alike)
    return found


def row_figures(columns: Sequence[Column], _groups: Ints | None = None) -> list[Column]:
    """The total and the spread of a row's numbers, and how many of its cells are empty or zero."""
    alike = [column.number for column in columns if column.kind == "number" and np.isfinite(column.number).any()]
    made = []
    if len(alike) >= FEWEST:
        table = np.column_stack(alike)
        figures = {"total": np.nansum(table, axis=1), "spread": np.sqrt(_var(table)), "zeros": (table == 0).sum(1)}
        made = [of_numbers(name, values.astype(float)) for name, values in figures.items()]
    empty = np.sum([column.missing for column in columns], axis=0)
    return [*made, of_numbers("empty cells", np.asarray(empty, dtype=float))]


def scores(columns: Sequence[Column], _groups: Ints | None = None) -> list[Column]:
    """Each number less the mean of its row, over the row's spread: what stays if every row has a scale of its own."""
    alike = [column for column in columns if column.kind == "number" and np.isfinite(column.number).any()]
    if len(alike) < FEWEST_SCORED:
        return []
    table = np.column_stack([column.number for column in alike])
    spread = np.sqrt(_var(table))
    with np.errstate(invalid="ignore", divide="ignore"):
        scored = (table - _mean(table)[:, None]) / spread[:, None]
    scored = np.where(np.isfinite(scored), scored, np.nan)
    return [of_numbers(column.name, score) for column, score in zip(alike, scored.T, strict=True)]


def _var(table: Floats) -> Floats:
    there = np.isfinite(table)
    squares = np.where(there, (table - _mean(table)[:, None]) ** 2, 0.0)
    return np.asarray(squares.sum(1) / np.maximum(there.sum(1), 1))


def _mean(table: Floats) -> Floats:
    there = np.isfinite(table)
    return np.asarray(np.where(there, table, 0.0).sum(1) / np.maximum(there.sum(1), 1))


# --- how exactly a cell is written -----------------------------------------------------------------------------------


def digits(columns: Sequence[Column], _groups: Ints | None = None) -> list[Column]:
    """How many decimals each number has; below 0: how many zeros it ends in."""
    made = []
    for column in columns:
        if column.kind == "number" and len(column.words) > FEWEST:
            lengths = np.append(_decimals(column.words), 0)
            made.append(of_labels(column.name, lengths[column.code], missing=column.missing))
    return made


def _decimals(words: Sequence[str]) -> Ints:
    texts = pl.Series(list(words), dtype=pl.String)
    after = texts.str.splitn(".", 2).struct[1].str.len_chars().cast(pl.Int64)
    whole = texts.str.strip_chars()
    zeros = whole.str.len_chars().cast(pl.Int64) - whole.str.strip_chars_end("0").str.len_chars()
    return np.asarray(after.fill_null(-zeros).clip(-MOST_DIGITS, MOST_DIGITS).to_numpy())


# --- within who is published together --------------------------------------------------------------------------------


def within_groups(columns: Sequence[Column], groups: Ints | None) -> list[Column]:
    """Where a number stands in its group: above the smallest of the group, and by rank."""
    if groups is None:
        return []
    made = []
    for column in columns:
        if np.isfinite(column.number).any():
            above = column.number - _group_least(column.number, groups)
            made.append(of_numbers(f"{column.name} above the smallest", above))
            made.append(of_numbers(f"rank of {column.name}", _group_rank(column.number, groups)))
    return made


def _group_least(value: Floats, groups: Ints) -> Floats:
    least = np.full(int(groups.max()) + 1, np.inf)
    np.minimum.at(least, groups, np.where(np.isfinite(value), value, np.inf))
    return np.asarray(np.where(np.isfinite(least), least, np.nan)[groups])


def _group_rank(value: Floats, groups: Ints) -> Floats:
    order = np.lexsort((value, groups))
    rank = np.empty(value.size)
    first = np.searchsorted(groups[order], np.arange(int(groups.max()) + 1))
    rank[order] = np.arange(value.size) - first[groups[order]] + 1.0
    return np.where(np.isfinite(value), rank, np.nan)


# --- words of a row, in whatever columns they stand ------------------------------------------------------------------


def words_of_rows(columns: Sequence[Column], _groups: Ints | None = None) -> list[Column]:
    """How often each row has each word of columns that share their words, such as answers to many questions."""
    made = []
    for number, places in enumerate(_sharing(columns)):
        words = sorted({word.casefold() for place in places for word in columns[place].words})
        counts = np.zeros((len(columns[0]), len(words) + 1))
        for place in places:
            own = [words.index(word.casefold()) for word in columns[place].words]
            counts[np.arange(len(counts)), np.array([*own, len(words)])[columns[place].code]] += 1
        made += [of_numbers(f"{number} {word}", counts[:, k]) for k, word in enumerate(words)]
    return made


def _sharing(columns: Sequence[Column]) -> list[list[int]]:
    """Places of columns of few words that share most of them, if they are several."""
    found: list[tuple[set[str], list[int]]] = []
    for place in sorted(range(len(columns)), key=lambda place: columns[place].name):
        column = columns[place]
        if column.kind == "text" and 1 < len(column.words) <= MOST_WORDS:
            words = {word.casefold() for word in column.words}
            alike = next((held for held in found if len(words & held[0]) >= SHARED * len(words | held[0])), None)
            if alike is None:
                found.append((words, [place]))
            else:
                alike[1].append(place)
    return [places for _, places in found if len(places) >= FEWEST_SHARING]


def wander(plain: Material, taught: Ints) -> bool:
    """Whether known people's words stand in their row more clearly than in the column where they were."""
    made, tables = plain.truth[taught], [words_of_rows(side) for side in (plain.people, plain.records)]
    sides = [{column.name: column.number for column in table} for table in tables]
    ours, theirs = (side for side in sides)
    both = [(ours[name][taught], theirs[name][made]) for name in ours if name in theirs]
    if not both:
        return False
    named = {column.name: column for column in plain.people}
    moved = sum(np.minimum(x, y) - np.minimum(x, np.roll(y, 1)) for x, y in both)
    stayed = np.zeros(taught.size)
    for column in plain.records:
        own = named.get(column.name)
        if own is not None and column.kind == "text" and own.kind == "text":
            place = {word.casefold(): k for k, word in enumerate(column.words)}
            said = np.array([place.get(word.casefold(), -2) for word in own.words] + [-2])[own.code][taught]
            stayed += (said == column.code[made]) * 1.0 - (said == np.roll(column.code[made], 1))
    clear = DEPENDENT * float(np.std(moved - stayed)) / np.sqrt(max(1, taught.size))
    return bool(float(np.mean(moved - stayed)) > clear)


# --- which columns of a view are worth a try --------------------------------------------------------------------------


def dependent(view: Material, taught: Ints, plain: Material | None = None) -> list[int]:
    """Released columns of a view that go with the known people's column of the same name.

    None where ``plain`` columns go together about as closely.
    """
    if plain is not None and not _clearer(view, plain, taught):
        return []
    own = {column.name: column for column in view.people}
    made = view.truth[taught]
    return [
        place
        for place, column in enumerate(view.records)
        if column.name in own and _go_together(own[column.name].take(taught), column.take(made))
    ]


def _clearer(view: Material, plain: Material, taught: Ints) -> bool:
    """Whether columns of a view go with their originals clearly more closely than the plain ones of the same name."""
    names = {column.name for column in view.people} & {column.name for column in view.records}
    found = []
    for material in (view, plain):
        sides = [{c.name: c for c in side} for side in (material.people, material.records)]
        pairs = [(sides[0][name].number[taught], sides[1][name].number[material.truth[taught]]) for name in names]
        found.append([_rank_correlation(x, y) for x, y in pairs])
    gain = np.asarray(found[0]) - np.asarray(found[1])
    return bool(gain.size and gain.mean() > DEPENDENT / np.sqrt(max(1, taught.size)))


def _rank_correlation(x: Floats, y: Floats) -> float:
    there = np.isfinite(x) & np.isfinite(y)
    one, other = (np.argsort(np.argsort(side[there], kind="stable")) for side in (x, y))
    return float(abs(np.corrcoef(one, other)[0, 1])) if there.sum() > 3 else 0.0


def _go_together(one: Column, other: Column) -> bool:
    n = len(one)
    if one.kind == "text":
        table = np.zeros((len(one.words) + 1, len(other.words) + 1))
        np.add.at(table, (one.code, other.code), 1.0)
        table = table[table.any(1)][:, table.any(0)]
        expected = table.sum(1, keepdims=True) * table.sum(0) / n
        free = (table.shape[0] - 1) * (table.shape[1] - 1)
        squares = float(((table - expected) ** 2 / expected).sum())
        return bool(squares > free + DEPENDENT * np.sqrt(2.0 * free))
    there = np.isfinite(one.number) & np.isfinite(other.number)
    if there.sum() < 4 or any(np.unique(values[there]).size < 2 for values in (one.number, other.number)):
        return False
    return bool(_rank_correlation(one.number, other.number) > DEPENDENT / np.sqrt(there.sum()))


VIEWS: dict[str, Make] = {
    "order": in_order,
    "rows": row_figures,
    WORDS: words_of_rows,
    "digits": digits,
    "groups": within_groups,
    SCORES: scores,
}
