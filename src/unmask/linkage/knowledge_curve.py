"""Flexible scenarios: the intruder who knows less. How fast does the risk grow with what they know? [TORRA]_

They hold some of the attributes only. Which ones is not for the protector to choose, so the attack is run for many sets
of each size, and both the mean and the worst set are told: risk against the number of attributes known. Who knows more
may leave some of it aside, so the worst set is one of that size or smaller, and what it grows from is tried as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from unmask.arrays import Flags, Floats
from unmask.errors import ParameterError
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, Series, measure, rate, silent
from unmask.linkage.nearest import best_reading, best_scale
from unmask.shares import percent
from unmask.study import Study, as_study, draw, narrowed, of_attributes, spread
from unmask.tables import by_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unmask.evidence import Progress
    from unmask.tables import Release

    Names = tuple[str, ...]

SETS = 12  # of each size, unless there are fewer
PEOPLE = 1000


@dataclass(frozen=True, slots=True)
class Size:
    """What an intruder finds who knows this many attributes."""

    known: int
    sets: int  # sets of this size that the mean is over
    exhaustive: bool  # whether these are all
    mean: float
    worst: float  # of the sets tried of this size or smaller: who knows more may leave some aside
    worst_set: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Risk against the number of attributes known."""

    sizes: tuple[Size, ...]
    half: Estimate  # mean over the sets of half the attributes
    per_record: Floats  # the same for each original record; NaN for those not asked


def knowledge_curve(
    release: Release | Study, *, sets: int = SETS, people: int | None = None, seed: int = 0, progress: Progress = silent
) -> Knowledge:
    """Link nearest records for sets of 1, 2, ... all attributes.

    Parameters
    ----------
    sets
        Sets of attributes to try for each size; all of them where there are no more. Where there are more, as many
        again that have one attribute more than the worst set so far are tried, for the worst set only.
    people
        People to ask for, drawn at random. None: all.
    seed
        Seeds the draw of sets and people, and the bootstrap.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(100)
    >>> unmask.knowledge_curve(unmask.Release(people, people), sets=2).sizes[-1].mean
    1.0

    """
    if sets < 1:
        raise ParameterError("at least one set of attributes is to be tried", got=str(sets), allowed="from 1")
    study = as_study(release)
    encoding = study.encoding()
    names, truth = by_content(study.release, encoding.names), study.release.truth
    rows = np.arange(len(truth)) if people is None else draw(encoding, truth, "to_release", people, seed)
    there = truth[rows] >= 0
    sizes: list[Size] = []
    half, of_half = np.zeros(len(rows)), [0.0]

    whole = study.index(scale=best_scale(study, seed)[0]).space
    asked: dict[Names, Floats] = {}

    def ask(chosen: Names) -> Floats:
        if chosen not in asked:
            space = of_attributes(whole, [k for k, name in enumerate(encoding.names) if name in chosen])
            asked[chosen] = study.index_for_few(space).decide(truth[rows], rows=rows).credit
        return asked[chosen]

    for known in range(1, len(names) + 1):
        drawn = {chosen: ask(chosen) for chosen in _sets(names, known, sets, seed)}
        rates = {chosen: _share(credit, there) for chosen, credit in drawn.items()}
        mean, exhaustive = float(np.mean(list(rates.values()))), len(drawn) == comb(len(names), known)
        if sizes:
            larger = [] if exhaustive else _larger(sizes[-1], names, sets, seed)
            rates |= {chosen: _share(ask(chosen), there) for chosen in larger if chosen not in rates}
            rates = {sizes[-1].worst_set: sizes[-1].worst, **rates}  # first, since of equal sets the smaller is told
        worst = max(rates, key=lambda chosen: rates[chosen])
        sizes.append(Size(known, len(drawn), exhaustive, mean, rates[worst], worst))
        if known == (len(names) + 1) // 2:
            half = np.sum(np.sort(list(drawn.values()), axis=0), axis=0) / len(drawn)
            of_half = [rates[chosen] for chosen in drawn]
        progress(known / len(names), f"{known} attributes known")
    risk = spread(half, rows, len(truth), np.nan)
    estimate = rate(half[truth[rows] >= 0], chance=1.0 / len(encoding.released), seed=seed)
    return Knowledge(tuple(sizes), over_sets(estimate, of_half, comb(len(names), (len(names) + 1) // 2)), risk)


def over_sets(estimate: Estimate, rates: Sequence[float], all_sets: int) -> Estimate:
    """Widen the interval of people by what the sets that were not drawn leave open, by Student's law.

    Both parts are independent, so their squares add up. One set of several says nothing of the others.
    """
    from scipy import special  # noqa: PLC0415 - this alone needs it

    many = len(rates)
    if many == all_sets:
        return estimate
    if many == 1:
        return replace(estimate, low=0.0, high=1.0, method="bootstrap")
    error = float(np.std(rates, ddof=1)) * np.sqrt((1.0 - many / all_sets) / many)
    reach = float(special.stdtrit(many - 1, 0.975)) * error
    low, high = (float(np.hypot(estimate.value - end, reach)) for end in (estimate.low, estimate.high))
    ends = max(0.0, estimate.value - low), min(1.0, estimate.value + high)
    return replace(estimate, low=ends[0], high=ends[1], method="bootstrap")


def _sets(names: tuple[str, ...], known: int, sets: int, seed: int) -> list[tuple[str, ...]]:
    """All sets of a size, or as many as asked for, drawn without repetition."""
    if comb(len(names), known) <= sets:
        return list(combinations(names, known))
    rng = np.random.default_rng([seed, known])
    drawn: dict[tuple[str, ...], None] = {}
    while len(drawn) < sets:
        drawn[tuple(sorted(rng.choice(len(names), known, replace=False).tolist()))] = None
    return [tuple(names[int(k)] for k in places) for places in drawn]


def _larger(before: Size, names: Names, sets: int, seed: int) -> list[Names]:
    """The worst set so far and one attribute more: every such set, or as many as asked for."""
    others = [name for name in names if name not in before.worst_set]
    if len(others) > sets:
        rng = np.random.default_rng([seed, before.known, 1])
        others = [others[int(k)] for k in np.sort(rng.choice(len(others), sets, replace=False))]
    return [tuple(one for one in names if one == name or one in before.worst_set) for name in others]


def _share(credit: Floats, there: Flags) -> float:
    return float(np.sort(credit[there]).mean())


@measure(
    "knowledge_curve",
    title="The intruder who knows less",
    story="The intruder knows only some of the attributes of each person, we cannot say which, and takes the closest "
    "record of the release.",
    keys=("knowledge_curve.half",),
)
def assess_scenario(study: Study, context: Context) -> Evidence:
    """Tell how the risk grows with the number of attributes known."""
    study, note = narrowed(study)
    study, read = best_reading(study, context.seed)
    release = study.release
    sample = PEOPLE if release.original.height > PEOPLE else None
    curve = knowledge_curve(study, sets=4, people=sample, seed=context.seed, progress=context.progress)
    middle = (len(curve.sizes) + 1) // 2
    enough = next((size.known for size in curve.sizes if size.worst > 0.2), None)
    facts = [
        Fact(
            "worst set of half the attributes",
            curve.sizes[middle - 1].worst,
            "share found, of the sets tried, or fewer",
            share=True,
        ),
        Fact("attributes tried as worst", ", ".join(curve.sizes[middle - 1].worst_set), "the set that finds so many"),
    ]
    if enough is not None:
        facts.append(Fact("attributes that find one person in five", enough, "for the worst set tried"))
    return Evidence(
        observations=(
            Observation.of_people(
                "knowledge_curve.half",
                curve.half,
                f"are found by an intruder who knows {middle} of {len(curve.sizes)} attributes.",
            ),
        ),
        per_record=None if sample is not None else curve.per_record,
        facts=tuple(facts),
        figures=(_figure(curve),),
        notes=(*note, *read),
    )


def _figure(curve: Knowledge) -> Figure:
    known = tuple(float(size.known) for size in curve.sizes)
    mean, worst = tuple(size.mean for size in curve.sizes), tuple(size.worst for size in curve.sizes)
    return Figure(
        shape="line",
        title="How much must the intruder know?",
        caption="People found by nearest-record linkage, by the number of attributes known: the mean over sets of that "
        "size, and the worst set tried of that size or smaller (who knows more may leave some aside).",
        alt="Share of people found by number of attributes known: "
        + ", ".join(f"{size.known}: mean {percent(size.mean)}, worst {percent(size.worst)}" for size in curve.sizes),
        x_label="attributes known",
        y_label="people found",
        series=(Series("worst set", known, worst), Series("mean", known, mean)),
        percent=(False, True),
    )
