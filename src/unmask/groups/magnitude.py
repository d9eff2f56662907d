"""Magnitudes: whose amount can be read off the total of a cell, a group of equal quasi-identifiers?

A total is unsafe when few contribute most of it, (n, k) dominance, or when the second largest contributor can estimate
the largest to within p % [SDC]_: `dominance` says it of one table. As an attack, the largest other contributor takes
their own amount from the total, an outsider takes the total itself; a guess counts only when it is close to the
person's amount in the *original*, and beside it stands how often it would be close for anybody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from unmask.arrays import Counts, Flags, Floats, Table
from unmask.errors import ParameterError, RoleError
from unmask.evidence import Context, Evidence, Fact, Figure, Observation, measure, rate
from unmask.groups.counting import Classes, Frame, as_key, check_keys, collect, count_classes, open_table, select_keys
from unmask.shares import percent
from unmask.shown import Shown
from unmask.study import Match, Study
from unmask.tables import Release, to_floats

NO_AMOUNT = "no confidential attribute is an amount that both tables have"
P, SHARE = 0.10, 0.85  # what statistical offices commonly take; the defaults of ``dominance``


@dataclass(frozen=True, slots=True)
class Dominance(Shown):
    """Totals of a magnitude by cell, and which may not be published."""

    magnitude: str
    classes: Classes
    n: int
    share: float
    p: float
    totals: Floats
    largest: Floats  # sum of the n largest contributions
    rest: Floats  # total less the two largest
    first: Floats  # the largest

    @property
    def dominated(self) -> Flags:
        """(n, k) rule: the n largest make more than the share of the total."""
        return np.asarray((self.totals > 0) & (self.largest > self.share * self.totals))

    @property
    def estimable(self) -> Flags:
        """P % rule: the second largest can estimate the largest too closely."""
        return np.asarray((self.first > 0) & (self.rest < self.p * self.first))

    @property
    def n_dominated(self) -> int:
        """Cells that fail the (n, k) rule."""
        return int(self.dominated.sum())

    @property
    def n_estimable(self) -> int:
        """Cells that fail the p % rule."""
        return int(self.estimable.sum())

    @property
    def per_record(self) -> Flags:
        """Whether the record is in a cell that fails one of the rules, in row order."""
        return self.classes.spread(self.dominated | self.estimable)

    def table(self) -> pl.DataFrame:
        """One row for each cell."""
        return self.classes.table(total=self.totals, dominated=self.dominated, estimable=self.estimable)


def dominance(
    table: Table, *, quasi: Iterable[str], magnitude: str, n: int = 2, share: float = SHARE, p: float = P
) -> Dominance:
    """Apply (n, k) dominance and the p % rule to the total of ``magnitude`` in each cell.

    Contributions count by their absolute value; missing ones count nothing. Only the largest few of each cell leave
    the place where the data lives.
    """
    keys = check_keys(quasi)
    if n < 1 or not 0 < share <= 1 or not 0 <= p <= 1:
        raise ParameterError(
            "a dominance rule is out of range",
            got=f"n={n}, share={share}, p={p}",
            allowed="n >= 1, 0 < share <= 1, 0 <= p <= 1",
        )
    frame = open_table(table, quasi=keys, magnitude=[magnitude])
    if not frame.collect_schema()[magnitude].is_numeric():
        raise RoleError(
            f"{magnitude!r} is not a magnitude",
            got=str(frame.collect_schema()[magnitude]),
            allowed="a column of numbers",
        )
    amount = as_key(frame, magnitude, frame.collect_schema()[magnitude]).cast(nw.Float64).abs().fill_null(0.0)
    classes = count_classes(table, keys, amount=amount)
    assert classes.extra is not None  # noqa: S101 - asked for above
    top = _largest(frame, classes, amount, max(n, 2))
    totals = classes.extra["amount"].cast(pl.Float64).to_numpy()
    if not np.isfinite(totals).all():
        raise RoleError(f"{magnitude!r} has amounts without end", hint="a magnitude is a finite number, or missing")
    rest = np.maximum(0.0, totals - top[:, :2].sum(axis=1))
    return Dominance(magnitude, classes, n, share, p, totals, top[:, :n].sum(axis=1), rest, top[:, 0])


def _largest(frame: Frame, classes: Classes, amount: nw.Expr, n: int) -> Floats:
    """The n largest amounts of each class (classes x n, zeros where there are fewer), ranked where the data lives."""
    names = [f"k{i}" for i in range(len(classes.keys))]
    chosen = select_keys(frame, classes.keys, None, amount.alias("x")).lazy()
    ranked = chosen.with_columns(nw.col("x").rank("min", descending=True).over(*names).alias("r")).filter(
        nw.col("r") <= n
    )
    few = collect(
        ranked.group_by(*names, "x").agg(nw.len().alias("n"))
    )  # equal amounts come as one row with their number
    few = few.with_columns(pl.Series("g", classes.number(few))).sort("g", "x", descending=[False, True])
    group, x = few["g"].to_numpy(), few["x"].to_numpy().astype(np.float64)
    repeats = np.minimum(few["n"].to_numpy().astype(np.int64), n)
    group, x = np.repeat(group, repeats), np.repeat(x, repeats)
    rank = np.arange(len(group)) - np.searchsorted(group, group)
    top = np.zeros((classes.n_classes, n))
    top[group[rank < n], rank[rank < n]] = x[rank < n]
    return top


class Guesses(NamedTuple):
    """For each person whether a guess is close, and how often it would be for anybody: insider, outsider."""

    close: tuple[Floats, Floats]
    blind: tuple[Floats, Floats]


def magnitudes(release: Release) -> tuple[str, ...]:
    """Confidential attributes that are numbers in both tables."""
    both = [
        name for name in release.confidential if {name} <= set(release.original.columns) & set(release.released.columns)
    ]
    return tuple(
        name
        for name in both
        if release.kind(name) == "numeric"
        and release.original[name].dtype.is_numeric()
        and release.released[name].dtype.is_numeric()
    )


@measure(
    "magnitude",
    title="Totals that give amounts away",
    story="The intruder adds up a confidential amount over the records that look like their person. The largest other "
    "contributor takes their own amount away; an outsider takes the total as it is.",
    keys=("magnitude.estimable", "magnitude.dominated"),
    applies=lambda release: None if magnitudes(release) else NO_AMOUNT,
)
def assess_magnitude(study: Study, context: Context) -> Evidence:
    """Hold both guesses against the amounts of the original."""
    release = study.release
    match, names = study.comparable.match(), magnitudes(release)
    guesses = [guess_amounts(release, match, name) for name in names]
    context.progress(0.6, "totals")
    people = release.paired_rows
    closes = [np.max([guess.close[side] for guess in guesses], axis=0) for side in (0, 1)]
    blinds = [1 - np.prod([1 - guess.blind[side] for guess in guesses], axis=0) for side in (0, 1)]
    rates = [
        rate(close[people], chance=float(np.sort(blind[people]).mean()), seed=context.seed)
        for close, blind in zip(closes, blinds, strict=True)
    ]
    rules = [dominance(release.released, quasi=release.quasi, magnitude=name) for name in names]
    told = f"{rates[0].n:,} people"
    return Evidence(
        observations=(
            Observation(
                "magnitude.estimable",
                f"{rates[0].hits:,.0f} of {told} have an amount that the largest other contributor of their cell "
                f"finds to within {percent(P)}, by taking their own from the total (cells of one included).",
                rates[0],
            ),
            Observation(
                "magnitude.dominated",
                f"{rates[1].hits:,.0f} of {told} make more than {percent(SHARE)} of the total of their "
                "cell, which then tells their amount.",
                rates[1],
            ),
        ),
        per_record=np.maximum(*closes),
        identity=False,
        facts=tuple(fact for rule in rules for fact in _facts(rule)),
        figures=tuple(_figure(rule) for rule in rules),
        notes=study.matcher.notes,
    )


def guess_amounts(release: Release, match: Match, name: str) -> Guesses:
    """Guess everybody's amount from the total of the released records that carry their values."""
    truth = np.nan_to_num(np.abs(to_floats(release.original[name], name)))
    published = np.nan_to_num(np.abs(to_floats(release.released[name], name)))
    total = match.totals(np.bincount(match.group, published, minlength=len(match.sizes)))[match.kind]
    insider: Floats = total - _largest_other(
        np.where(release.truth >= 0, truth, 0.0), match.kind
    )  # who is in the total
    outsider_reach, insider_reach = (1 - SHARE) / SHARE, P
    anybody = np.sort(truth[truth > 0])
    guesses = [(insider, insider_reach), (total, outsider_reach)]
    close = tuple(
        ((guess > 0) & (np.abs(guess - truth) < reach * truth)).astype(np.float64) for guess, reach in guesses
    )
    blind = tuple(_blind(guess, reach, anybody, len(truth)) for guess, reach in guesses)
    return Guesses((close[0], close[1]), (blind[0], blind[1]))


def _largest_other(amounts: Floats, cell: Counts) -> Floats:
    """The largest amount of another person of the cell, 0 for who is alone."""
    order = np.lexsort((-amounts, cell))
    ranked, group = amounts[order], cell[order]
    first = np.r_[True, group[1:] != group[:-1]]
    start = np.flatnonzero(first)
    place = np.cumsum(first) - 1
    second = np.zeros(len(start))
    several = np.diff(np.r_[start, len(group)]) > 1
    second[several] = ranked[start[several] + 1]
    other = np.empty(len(amounts))
    other[order] = np.where(first, second[place], ranked[start][place])
    return other


def _blind(guess: Floats, reach: float, anybody: Floats, n: int) -> Floats:
    """Share of all people whose amount x the guess is close to, |guess - x| < reach x; 0 where nothing is guessed."""
    high = guess / (1 - reach) if reach < 1 else np.full(len(guess), np.inf)
    near = np.searchsorted(anybody, high, "left") - np.searchsorted(anybody, guess / (1 + reach), "right")
    return np.where(guess > 0, np.maximum(near, 0) / n, 0.0)


def _facts(rule: Dominance) -> tuple[Fact, ...]:
    cells = f"of {rule.classes.n_classes:,} cells of the release"
    return (
        Fact(f"{rule.magnitude}: cells that fail the p % rule", rule.n_estimable, f"{cells}, p = {percent(rule.p)}"),
        Fact(
            f"{rule.magnitude}: cells that fail the ({rule.n}, k) rule",
            rule.n_dominated,
            f"{cells}, k = {percent(rule.share)}",
        ),
    )


def _figure(rule: Dominance) -> Figure:
    share = rule.first[rule.totals > 0] / rule.totals[rule.totals > 0]
    edges = np.array([0.0, 0.25, 0.5, 0.75, rule.share, 1.0 + 1e-9])
    labels = ("to 25 %", "to 50 %", "to 75 %", f"to {percent(rule.share)}", f"above {percent(rule.share)}")
    counts = np.histogram(share, edges)[0] / max(1, len(share))
    return Figure.bars(
        list(zip(labels, counts.tolist(), strict=True)),
        title=f"How much of a cell's total of {rule.magnitude} is its largest contributor's?",
        caption="Cells of the release by the share of the largest contribution in the total. Nearly all of it: the "
        "total is their amount.",
        said="Cells by share of the largest contributor: ",
        axes=("share of the largest contributor", "share of cells"),
        name="cells",
        form="{}: {share}",
    )
