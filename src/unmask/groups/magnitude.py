"""Magnitudes: whose amount can be read off the total of a cell?

Whoever has the release has the total of every cell (a group of equal quasi-identifiers), and knows who is in it.

- *The insider*, the largest other contributor of the cell, takes their own amount away from the total: what is left is
  their guess for the person, and it is close when it is off by less than p % of the person's amount. For the largest
  contributor of the original this is the p % rule, T - x_1 - x_2 < p x_1 [SDC]_.
- *The outsider* takes the total itself: they are close to who makes more than a share of it, the (1, k) dominance rule.

A guess counts only when it is close to the person's amount in the *original*; beside it stands how often the same
guess would be close for anybody. Amounts count by their absolute value; nothing is learnt about an amount of zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.arrays import Counts, Floats
from unmask.evidence import Context, Evidence, Fact, Figure, Observation, measure, rate
from unmask.groups.dominance import Dominance, dominance
from unmask.tables import to_floats

if TYPE_CHECKING:
    from unmask.study import Match, Study
    from unmask.tables import Release


P, SHARE = 0.10, 0.85  # what statistical offices commonly take; the defaults of ``dominance``


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


def _no_magnitude(release: Release) -> str | None:
    return None if magnitudes(release) else "no confidential attribute is an amount that both tables have"


@measure(
    "magnitude",
    title="Totals that give amounts away",
    story="The intruder adds up a confidential amount over the records that look like their person. The largest other "
    "contributor takes their own amount away; an outsider takes the total as it is.",
    keys=("magnitude.estimable", "magnitude.dominated"),
    applies=_no_magnitude,
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
    rules = [dominance(release.released, quasi=release.quasi, magnitude=name, p=P, share=SHARE) for name in names]
    told = f"{rates[0].n:,} people"
    return Evidence(
        observations=(
            Observation(
                "magnitude.estimable",
                f"{rates[0].hits:,.0f} of {told} have an amount that the largest other contributor of their cell "
                f"finds to within {P:.0%}, by taking their own from the total (cells of one included).",
                rates[0],
            ),
            Observation(
                "magnitude.dominated",
                f"{rates[1].hits:,.0f} of {told} make more than {SHARE:.0%} of the total of their "
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
        Fact(f"{rule.magnitude}: cells that fail the p % rule", rule.n_estimable, f"{cells}, p = {rule.p:.0%}"),
        Fact(
            f"{rule.magnitude}: cells that fail the ({rule.n}, k) rule",
            rule.n_dominated,
            f"{cells}, k = {rule.share:.0%}",
        ),
    )


def _figure(rule: Dominance) -> Figure:
    share = rule.first[rule.totals > 0] / rule.totals[rule.totals > 0]
    edges = np.array([0.0, 0.25, 0.5, 0.75, rule.share, 1.0 + 1e-9])
    labels = ("to 25 %", "to 50 %", "to 75 %", f"to {rule.share:.0%}", f"above {rule.share:.0%}")
    counts = np.histogram(share, edges)[0] / max(1, len(share))
    return Figure.bars(
        list(zip(labels, counts.tolist(), strict=True)),
        title=f"How much of a cell's total of {rule.magnitude} is its largest contributor's?",
        caption="Cells of the release by the share of the largest contribution in the total. Nearly all of it: the "
        "total is their amount.",
        said="Cells by share of the largest contributor: ",
        axes=("share of the largest contributor", "share of cells"),
        name="cells",
        form="{}: {:.0%}",
    )
