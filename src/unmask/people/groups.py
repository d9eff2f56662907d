"""Who bears the risk: people found and their mean risk in each group of a column.

No group is small enough to point at somebody: a category of fewer than eleven people is merged with others, and numbers
are put into bands whose ends are rounded. Everybody who has a risk is in one group, so groups add up to all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.discretion import LEAST, round_cuts, too_few
from unmask.evidence import Estimate, Figure, Series, rate
from unmask.shares import percent
from unmask.shown import Shown
from unmask.tables import Release, as_text, check_columns, to_floats

MOST = 25  # groups: the smallest beyond them are merged
BANDS = 5
FEW = 10  # different numbers that are groups as they are
MISSING, OTHER = "(missing)", "(other)"
LEVEL = 0.05
MUCH = 1.5  # times as many as of all: less is not worth a line


@dataclass(frozen=True, slots=True)
class GroupOfPeople:
    """People who share a value: their mean risk, how many of them the best attack found, and that against all.

    ``ratio``: share found in the group over the share found of all; not a number where nobody is found.
    """

    name: str
    n: int
    risk: float
    found: Estimate
    ratio: float


@dataclass(frozen=True, slots=True)
class RiskByGroup(Shown):
    """The groups of one column, those with most people found first; none where fewer than eleven people have a risk."""

    column: str
    measure: str | None  # the attack that finds most people
    everybody: GroupOfPeople | None
    groups: tuple[GroupOfPeople, ...]
    figure: Figure | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What the best attack found: its hits and the risk of every original record (NaN: not looked for)."""

    measure: str | None
    hits: Floats
    risk: Floats
    chance: float  # of a blind guess


def check_by(release: Release, columns: Sequence[str] | str) -> tuple[str, ...]:
    """Refuse a column that neither table has."""
    return check_columns(columns, [*release.original.columns, *release.released.columns], "by", "the tables")


def risk_by_group(release: Release, column: str, found: Found) -> RiskByGroup:
    """Split the people by a column of the original, or of the release where the original does not have it."""
    check_by(release, column)
    there = np.flatnonzero(~np.isnan(found.risk))
    if there.size < LEAST:
        return RiskByGroup(column, found.measure, None, ())
    everybody = _group("everybody", there, found, float("nan"))
    whole = everybody.found.value
    names, codes = _groups(release, column, there)
    groups = [_group(name, there[codes == place], found, whole) for place, name in enumerate(names)]
    groups.sort(key=lambda group: (-group.found.value, group.name))
    told = RiskByGroup(column, found.measure, _group("everybody", there, found, whole), tuple(groups))
    return RiskByGroup(told.column, told.measure, told.everybody, told.groups, _figure(told, whole))


def uneven(release: Release, found: Found) -> str:
    """One line where some group is found far more often than all, whichever of all columns it is of; else nothing.

    The lower end of its share is exact, and at a level that allows for every group of every column that was looked at.
    """
    from scipy import special  # noqa: PLC0415 - this alone needs it

    there = np.flatnonzero(~np.isnan(found.risk))
    hidden = {release.id, release.weight, *release.ignored}
    columns = [name for name in release.original.columns if name not in hidden]
    looked = [(name, *_groups(release, name, there)) for name in columns] if there.size >= LEAST else []
    looked = [entry for entry in looked if len(entry[1]) > 1]
    tried = sum(len(names) for _, names, _ in looked)
    hits = found.hits[there]
    whole = float(np.sort(hits).mean()) if there.size else 0.0
    surest: tuple[float, str, float, int] | None = None
    for name, groups, codes in looked:
        for place in range(len(groups)):
            mine = np.sort(hits[codes == place])
            total, n = float(mine.sum()), int(mine.size)
            low = float(special.betaincinv(total, n - total + 1.0, LEVEL / tried)) if total > 0 else 0.0
            if low > MUCH * whole and (surest is None or (low, name) > surest[:2]):
                surest = (low, name, total / n, n)
    if surest is None:
        return ""
    low, name, share, n = surest
    return (
        f"risk is uneven: of {n:,} people who share a value of {name!r} {percent(share)} are found (at least "
        f"{percent(low)}, "
        f"allowing for all {tried} groups that were looked at), of all {percent(whole)}; --by {name!r} shows every "
        f"group"
    )


def _group(name: str, rows: Ints, found: Found, whole: float) -> GroupOfPeople:
    estimate = rate(found.hits[rows], chance=found.chance)
    ratio = estimate.value / whole if whole > 0 else float("nan")
    return GroupOfPeople(name, int(rows.size), float(np.sort(found.risk[rows]).mean()), estimate, ratio)


def _groups(release: Release, column: str, there: Ints) -> tuple[list[str], Ints]:
    """Names of the groups, none of fewer than LEAST people, and the group of each person."""
    values = _values(release, column, there).alias("value")
    counted = values.value_counts(name="n")
    large = counted.filter(pl.col("n") >= LEAST).sort("n", "value", descending=[True, False]).head(MOST)
    kept, sizes = large["value"].to_list(), large["n"].to_list()
    if len(kept) == MOST < counted.height:
        kept.pop(), sizes.pop()
    while kept and too_few(there.size - sum(sizes)):  # those left over are too few to be told of by themselves
        kept.pop(), sizes.pop()
    codes = values.replace_strict(kept, list(range(len(kept))), default=len(kept), return_dtype=pl.Int64)
    names = [*kept, OTHER] if len(kept) < counted.height else kept
    return names, codes.to_numpy()


def _values(release: Release, column: str, there: Ints) -> pl.Series:
    """The value of each person as text: categories as they are, dates as years, many different numbers as bands."""
    mine = column in release.original.columns
    values = release.original[column][there] if mine else release.released[column][release.truth[there]]
    if values.dtype in (pl.Date, pl.Datetime):
        values = values.dt.year()
    known = release.columns.get(column)
    number = values.dtype.is_numeric() or values.dtype.is_temporal()
    if number and values.n_unique() > FEW and (known is None or known.kind != "categorical"):
        return _banded(to_floats(values, column))
    return as_text(values).fill_null(MISSING)


def _banded(numbers: Floats) -> pl.Series:
    """Bands of about equal numbers of people; their ends are rounded, so that they are nobody's value."""
    present = np.sort(numbers[~np.isnan(numbers)])
    parts = max(1, min(BANDS, present.size // (2 * LEAST)))
    edges = round_cuts(present, np.quantile(present, np.arange(1, parts) / parts)) if parts > 1 else np.empty(0)
    ends = [f"{edge:,.10g}" if abs(edge) >= 10_000 else f"{edge:.10g}" for edge in edges]
    names = ["all values"]
    if ends:
        names = [f"under {ends[0]}", *(f"{a} to under {b}" for a, b in pairwise(ends)), f"{ends[-1]} and more"]
    place = np.searchsorted(edges, np.nan_to_num(numbers), side="right")
    return pl.Series([MISSING if gone else names[at] for gone, at in zip(np.isnan(numbers), place, strict=True)])


def _figure(told: RiskByGroup, whole: float) -> Figure | None:
    if len(told.groups) < 2:
        return None
    names = tuple(f"{group.name} ({group.n:,})" for group in told.groups)
    found = [group.found for group in told.groups]
    said = ", ".join(
        f"{name} {percent(one.value)} ({percent(one.low)} to {percent(one.high)})"
        for name, one in zip(names, found, strict=True)
    )
    return Figure(
        shape="interval",
        title=f"Who bears the risk, by {told.column}?",
        caption=f"Share of each group whom {told.measure} finds, with its 95 % interval; the upright line is that of "
        "all. Each interval stands for itself: of twenty groups one misses its truth.",
        alt=f"Share found by {told.column}: {said}; all {percent(whole)}",
        x_label=told.column,
        y_label="share found",
        series=(
            Series("found", names, tuple(one.value for one in found)),
            Series("low", names, tuple(one.low for one in found)),
            Series("high", names, tuple(one.high for one in found)),
            Series("everybody", names[:1], (whole,)),
        ),
        percent=(False, True),
    )
