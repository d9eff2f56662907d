"""Singling out: "there is one person who is at least 83 and from Moor".

The intruder looks for descriptions that fit exactly one released row, and claims that they fit exactly one person of
the original. Descriptions that fit one person of an equally large control group as often say nothing about the original
[GIOMI]_, [WP29]_.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unmask.arrays import Flags, Floats, Rows
from unmask.disclosure.learn import matrix
from unmask.disclosure.outside import draw, in_order, needs_outsiders, set_scene
from unmask.errors import NothingToTryError, ParameterError
from unmask.evidence import Z95, Context, Estimate, Evidence, Fact, Observation, Progress, measure, rate, silent, wilson
from unmask.shares import percent
from unmask.shown import Shown
from unmask.study import Study, as_study
from unmask.tables import Release, canonical_order

RESAMPLES = 200
TRIALS = 20  # descriptions tried for each that is wanted


@dataclass(frozen=True, slots=True)
class SinglingOut(Shown):
    """Descriptions that fit one released row: how many fit one person of the original, and one of control."""

    excess: Estimate  # original less control; as a share of people where there are fewer descriptions than wanted
    original: Estimate  # share that fit exactly one person of the original; control: of the control group
    n_attributes: int
    per_record: Floats = field(repr=False)  # 1 for people who are the only one that a description fits


def singling_out(
    release: Release | Study, *, attributes: int = 3, claims: int = 500, seed: int = 0, progress: Progress = silent
) -> SinglingOut:
    """Find descriptions that fit one released row, and see whether they single out a person.

    Parameters
    ----------
    release
        The tables; ``control``, or people of the original who were not released. Pairs are not needed.
    attributes
        Attributes in a description: a category or a missing value is named, a number is "at least" or "at most".
    claims
        Different descriptions wanted; at most TRIALS times as many are tried.
    seed
        Seeds the descriptions and the draw of equally many people on both sides.

    """
    if attributes < 1 or claims < 1:
        raise ParameterError("attributes and claims are whole numbers", got=f"{attributes}, {claims}", allowed="from 1")
    study = as_study(release)
    scene = set_scene(study)
    coded = np.array([False] * len(scene.encoding.numeric_names) + [True] * len(scene.encoding.code_names))
    rows = matrix(scene.encoding.released)[in_order(scene.encoding.released)]
    size = min(scene.members.size, scene.strangers.size)
    groups = []
    for number, people in enumerate((scene.members, scene.strangers)):
        chosen = people[draw(scene.of(people), size, seed + number)]
        groups.append((chosen, matrix(scene.of(chosen))))
    found, tried = _claims(rows, coded, min(attributes, coded.size), claims, seed, progress)
    if not found:
        raise NothingToTryError(
            "no description fits a single released row", got=f"{tried} tried", hint="try more attributes="
        )
    pool = np.vstack([table for _, table in groups])
    order = canonical_order(pool)
    fitting = [np.flatnonzero(_fits(pool[order][:, columns], values, signs)) for columns, values, signs in found]
    inside = order < size
    mine, theirs = _singled(fitting, inside)
    per_record = np.zeros(study.release.original.height)
    for people in (fit[inside[fit]] for fit in fitting):
        if people.size == 1:
            per_record[groups[0][0][order[people]]] = 1.0
    return SinglingOut(
        _excess(fitting, (mine, theirs), size, seed, min(1.0, len(found) / size) if len(found) < claims else 1.0),
        rate(mine, chance=float(theirs.mean()), seed=seed, control=float(theirs.mean())),
        min(attributes, coded.size),
        per_record,
    )


def _singled(fitting: list[Rows], inside: Flags) -> tuple[Floats, Floats]:
    """For each description, whether it fits exactly one person inside, and exactly one outside."""
    sizes = np.array([fit.size for fit in fitting])
    ends = np.concatenate([[0], np.cumsum(sizes)])
    counts = np.concatenate([[0], np.cumsum(inside[np.concatenate(fitting)])])
    within = counts[ends[1:]] - counts[ends[:-1]]
    return (within == 1).astype(np.float64), (sizes - within == 1).astype(np.float64)


def _excess(fitting: list[Rows], singled: tuple[Floats, Floats], size: int, seed: int, share: float) -> Estimate:
    """Estimate original less control; its spread is that of groups drawn anew from both, since descriptions overlap.

    It is at least that of two shares of so many descriptions: of three, one that fits by luck is a third. ``share``:
    people whom as many descriptions could single out at most; more are not learnt about, whatever the descriptions do.
    """
    rng = np.random.default_rng([seed, 1])
    draws = []
    for _ in range(RESAMPLES):
        inside = np.zeros(2 * size, dtype=bool)
        inside[rng.permutation(2 * size)[:size]] = True
        draws.append(float(np.subtract(*(one.mean() for one in _singled(fitting, inside)))))
    half, (mine, theirs) = Z95 * float(np.std(draws)), (float(one.mean()) for one in singled)
    (low, high), (less, more) = (wilson(float(one.sum()), one.size) for one in singled)
    below = max(half, float(np.hypot(mine - low, more - theirs)))  # Newcombe's interval of a difference
    above = max(half, float(np.hypot(high - mine, theirs - less)))
    value, low, high = (min(1.0, max(0.0, share * (mine - theirs + far))) for far in (0.0, -below, above))
    return Estimate(value, low, high, len(fitting), 0.0, None, "bootstrap")


def _claims(
    rows: Floats, coded: Flags, width: int, claims: int, seed: int, progress: Progress
) -> tuple[list[tuple[Rows, Floats, Rows]], int]:
    """Describe random rows by random attributes, and keep each description that fits no other row, once."""
    rng = np.random.default_rng(seed)
    middle = np.array([np.median(c[~np.isnan(c)]) if (~np.isnan(c)).any() else 0.0 for c in rows.T])
    found: dict[tuple[int, ...], tuple[Rows, Floats, Rows]] = {}
    tried = 0
    while len(found) < claims and tried < TRIALS * claims:
        row, columns = int(rng.integers(len(rows))), np.sort(rng.permutation(coded.size)[:width])
        values = rows[row, columns]
        signs = np.where(coded[columns] | np.isnan(values), 0, np.where(values >= middle[columns], 1, -1))
        tried += 1
        if _fits(rows[:, columns], values, signs).sum() == 1:
            found[row, *columns.tolist()] = (columns, values, signs)
        if tried % 1000 == 0:
            progress(min(0.99, len(found) / claims), "descriptions")
    return list(found.values()), tried


def _fits(table: Floats, values: Floats, signs: Rows) -> Flags:
    """Which rows a description fits: 1 at least, -1 at most, 0 equal (or both missing)."""
    fits = np.ones(len(table), dtype=bool)
    for k, (value, sign) in enumerate(zip(values, signs, strict=True)):
        column = table[:, k]
        if np.isnan(value):
            fits &= np.isnan(column)
        elif sign == 0:
            fits &= column == value
        else:
            fits &= (column >= value) if sign > 0 else (column <= value)
    return fits


@measure(
    "singling",
    title="Singling out",
    story="The intruder finds a description, such as at least this old and from that town, that fits a single "
    "released row, and claims that it fits a single real person.",
    keys=("singling.excess",),
    applies=needs_outsiders,
    pairs=False,
)
def assess_singling(study: Study, context: Context) -> Evidence:
    """Single out by random descriptions, and tell how much better that works on the original than on control."""
    found = singling_out(study, seed=context.seed, progress=context.progress)
    n = found.original.n
    return Evidence(
        observations=(
            Observation(
                "singling.excess",
                f"Of {n:,} descriptions ({found.n_attributes} attributes) that fit one released row, "
                f"{percent(found.original.value)} fit exactly one person of the original, and "
                f"{percent(found.original.control or 0)} one of an equally large control group.",
                found.excess,
            ),
        ),
        per_record=found.per_record,
        identity=False,
        facts=(
            Fact(
                "descriptions that single out a person",
                round(found.original.value, 4),
                "share of those tried",
                share=True,
            ),
            Fact(
                "the same on control",
                round(found.original.control or 0.0, 4),
                "what the population alone explains",
                share=True,
            ),
        ),
    )
