"""Worst case by learning: the intruder finds the distance that re-identifies best [TORRA]_, docs/methods.md, section 5.

They have, for some people, both the original and their released record (their own, or those of friends), learn which
attributes and which of their combinations give people away, and attack everybody else with what they learnt. That is
the held-out figure: learnt on half the people, tried on the other half, and the other way round. Whoever learnt a
distance may still use the plain one: where that finds more, it is what is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.errors import ParameterError, check_name
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, Progress, measure, rate, silent
from unmask.kernels.base import Space
from unmask.linkage.learned.descent import learn
from unmask.linkage.learned.distances import (
    AGGREGATORS,
    Aggregator,
    Distance,
    MakeIndex,
    importance,
    interactions,
    plain,
)
from unmask.linkage.learned.exact import Optimum, solve_worst_case
from unmask.linkage.nearest import best_scale
from unmask.linkage.result import Linkage
from unmask.shares import percent
from unmask.study import Scale, Study, as_study, inverse, narrowed
from unmask.tables import Encoded, Encoding, Release, canonical_order

LEARN_FROM = 1000  # people to learn from; more teach little
PEOPLE_FOR_ASSESS = 300
Rates = tuple[float, Estimate, Estimate]  # of the learnt distance: held out and in-sample; and of the plain one
MOST_PAIRS = 500_000  # beyond, the measure leaves out what needs a pass over all pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedLinkage(Linkage):
    """``credit`` is held-out: each person was attacked with a distance learnt from others only.

    Where the plain distance finds more of the whole file, it is that of the plain distance; ``learnt`` tells the rate
    of the learnt one.

    As with ``decision_only`` of nearest-record linkage there are no links, distances and margins, only credits.
    """

    distance: Distance  # learnt from everybody
    in_sample: Estimate
    plain: Estimate
    learnt: float
    names: tuple[str, ...]
    importance: tuple[tuple[str, float], ...]
    interactions: tuple[tuple[str, str, float], ...]  # the strongest first


def link_learned(
    release: Release | Study,
    *,
    aggregator: Aggregator | Sequence[Aggregator] = ("mean", "bilinear"),
    learn_from: int = LEARN_FROM,
    scale: Scale = "own",
    seed: int = 0,
    progress: Progress = silent,
) -> LearnedLinkage:
    """Learn a distance from people whose records are known, and attack the others with it.

    Parameters
    ----------
    aggregator
        "mean", "owa", "bilinear" or "choquet"; of several, the one that finds most of the people learnt from.
    learn_from
        Number of people to learn from, at most; drawn at random by content.
    scale
        Whose mean and sd numbers are standardised by, as in `link_nearest`.
    seed
        Seeds halves, draws and the bootstrap.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(100)
    >>> unmask.link_learned(unmask.Release(people, people), aggregator="mean").estimate.value
    1.0

    """
    kinds = _kinds(aggregator)
    if learn_from < 1:
        raise ParameterError("somebody must be learnt from", got=str(learn_from), allowed="learn_from of 1 or more")
    study = as_study(release)
    stage = set_stage(study, scale)
    kinds = _fitting(kinds, stage.space)
    people = np.flatnonzero(stage.truth >= 0)
    order = people[np.random.default_rng(seed).permutation(len(people))]
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    credit = np.zeros(len(stage.truth))
    for turn, (taught, tried) in enumerate((halves, halves[::-1])):
        distance = (
            _learn(stage, taught[:learn_from], kinds, seed, None) if len(taught) else plain(stage.space, kinds[0])
        )
        credit[tried] = stage.credit(distance, tried)
        progress((turn + 1) / 3, "learning on half the people")
    whole = _learn(stage, order[:learn_from], kinds, seed, people)
    upper = stage.credit(whole, people)
    usual = stage.credit(plain(stage.space, "mean"), people)
    progress(1.0, "learning on everybody")
    held_out = float(np.sort(credit[people]).sum())
    learnt = held_out >= float(np.sort(usual).sum())
    best = credit.copy()
    if not learnt:  # the better one of the whole file: who learnt a distance may still use the plain one
        best[people] = usual
    known, common = (rate(credits_, chance=1.0 / len(stage.right), seed=seed) for credits_ in (upper, usual))
    return _result(study.release, stage, whole, best, (held_out / max(1, len(people)), known, common), seed)


class Stage(NamedTuple):
    """The attack with both files in the order of their content, so that nothing depends on the order of rows."""

    space: Space
    truth: Ints
    left: Ints  # rows of the original, in the new order
    right: Ints
    encoding: Encoding
    index_of: MakeIndex  # with what the study has

    def credit(self, distance: Distance, rows: Ints) -> Floats:
        """Credit of some people under a distance."""
        return distance.credit(self.space.of(rows), self.truth[rows], self.index_of)


def set_stage(study: Study, scale: Scale = "own") -> Stage:
    """Order both files by content: equal records by their partner's, which makes them interchangeable."""
    encoding, truth = study.encoding(), study.release.truth
    a, b = encoding.original, encoding.released
    left, right = _by_content(a, b, truth), _by_content(b, a, inverse(truth, len(b)))
    place = np.argsort(right)
    space = study.index(scale=scale).space.of(left, right)
    return Stage(space, np.where(truth[left] >= 0, place[truth[left]], -1), left, right, encoding, study.index_of)


def _by_content(own: Encoded, other: Encoded, partner: Ints) -> Ints:
    """Order of one file's rows by content, then by that of the partner in the other file (-1, the last: nobody)."""
    numbers = np.vstack([other.numeric, np.full((1, other.numeric.shape[1]), np.nan)])
    codes = np.vstack([other.codes, np.full((1, other.codes.shape[1]), -2, dtype=np.int32)])
    return canonical_order(own.numeric, own.codes, numbers[partner], codes[partner])


def _kinds(aggregator: Aggregator | Sequence[Aggregator]) -> tuple[Aggregator, ...]:
    kinds = cast("tuple[Aggregator, ...]", (aggregator,) if isinstance(aggregator, str) else tuple(aggregator))
    for kind in kinds:
        check_name(kind, AGGREGATORS, f"no aggregator {kind!r}")
    if not kinds:
        raise ParameterError("no aggregator given", allowed=", ".join(AGGREGATORS))
    return kinds


def _fitting(kinds: tuple[Aggregator, ...], space: Space) -> tuple[Aggregator, ...]:
    """A bilinear form needs every number: with missing ones it is left out, or refused when it stands alone."""
    if "bilinear" not in kinds or not (np.isnan(space.queries).any() or np.isnan(space.points).any()):
        return kinds
    left: tuple[Aggregator, ...] = tuple(kind for kind in kinds if kind != "bilinear")
    if not left:
        raise ParameterError(
            "a bilinear distance is not defined with missing numbers",
            hint="aggregator='mean' or 'choquet', or fill them",
        )
    return left


def _learn(stage: Stage, rows: Ints, kinds: tuple[Aggregator, ...], seed: int, judge: Ints | None) -> Distance:
    """Learn each kind from some people, and keep the one that finds most of them (or of those in ``judge``)."""
    rows = np.sort(rows)
    judged = rows if judge is None else judge
    best: tuple[float, Distance] | None = None
    for kind in kinds:
        distance = learn_part(stage, rows, kind, seed, judged)
        reached = float(np.sort(stage.credit(distance, judged)).sum())
        if best is None or reached > best[0]:
            best = (reached, distance)
    return cast("tuple[float, Distance]", best)[1]


def learn_part(stage: Stage, rows: Ints, kind: Aggregator, seed: int, judged: Ints) -> Distance:
    """Learn from some rows; where others are judged, the plain distance is kept if it finds more of them."""
    fitted = learn(stage.space.of(rows), stage.truth[rows], kind, seed=seed, index_of=stage.index_of)
    if np.array_equal(judged, rows):
        return fitted
    options = [plain(stage.space, kind), fitted]
    return max(options, key=lambda distance: float(np.sort(stage.credit(distance, judged)).sum()))


def worst_case(release: Release | Study, *, aggregator: Aggregator = "mean", time_limit: float = 60.0) -> Optimum:
    """Find the parameters that re-identify the most people, exactly, with the mixed-integer program (small tables)."""
    stage = set_stage(as_study(release))
    found = solve_worst_case(stage.space, stage.truth, _kinds(aggregator)[0], time_limit=time_limit)
    credit = np.zeros(len(stage.truth))
    credit[stage.left] = found.credit
    return Optimum(found.distance, credit, found.wrong, found.bound, found.constraints, found.seconds)


def _result(
    release: Release, stage: Stage, whole: Distance, held_out: Floats, rates: Rates, seed: int
) -> LearnedLinkage:
    n, names = len(stage.truth), stage.encoding.names
    credit = np.zeros(n)
    credit[stage.left] = held_out
    learnt, in_sample, usual = rates
    shares = importance(whole, stage.space)
    linked = sorted(interactions(whole, stage.space).items(), key=lambda entry: (-abs(entry[1]), entry[0]))
    blank = np.full(n, np.nan)
    return LearnedLinkage(
        links=np.full(n, -1, dtype=np.int64),
        distances=blank,
        credit=credit,
        tie_sizes=np.where(credit > 0, np.round(1.0 / np.maximum(credit, 1e-12)), 0).astype(np.int64),
        margin=blank,
        total_distance=float("nan"),
        optimal=False,
        truth=release.truth,
        n_candidates=release.released.height,
        seed=seed,
        distance=whole,
        in_sample=in_sample,
        plain=usual,
        learnt=learnt,
        names=names,
        importance=tuple(zip(names, shares.tolist(), strict=True)),
        interactions=tuple((names[a], names[b], value) for (a, b), value in linked[:10] if abs(value) > 1e-9),
    )


@measure(
    "learned",
    title="Learned distance (worst case)",
    story="The intruder knows the records of half the people, learns from them which differences to heed, and attacks "
    "the other half with the distance they learnt.",
    keys=("learned.rate",),
)
def assess_learned(study: Study, context: Context) -> Evidence:
    """Run the attack and tell what it found."""
    study, narrow = narrowed(study)
    release = study.release
    small = release.original.height * release.released.height <= MOST_PAIRS
    kinds: tuple[Aggregator, ...] = ("mean", "bilinear", "choquet") if small else ("mean", "bilinear")
    scale, note = best_scale(study, context.seed, context.people)
    linkage = link_learned(
        study,
        aggregator=kinds,
        learn_from=PEOPLE_FOR_ASSESS,
        scale=scale,
        seed=context.seed,
        progress=context.progress,
    )
    estimate = linkage.estimate
    worse = linkage.learnt < estimate.value - 1e-12
    how = "the plain distance, which finds more than the one learnt from others" if worse else _LEARNT
    return Evidence(
        observations=(Observation.of_people("learned.rate", estimate, f"are linked to their own record by {how}."),),
        per_record=linkage.per_record(release.original.height),
        facts=_facts(linkage),
        figures=(_figure(linkage), *_interaction_figure(linkage)),
        notes=(
            *narrow,
            *note,
            *(() if small else ("learnt as weights and as a bilinear form only: the table is large for the others",)),
        ),
    )


_LEARNT = "a distance learnt from others"


def _facts(linkage: LearnedLinkage) -> tuple[Fact, ...]:
    facts = [
        Fact("rate of the learnt distance", linkage.learnt, "learnt from others, tried on each person", share=True),
        Fact(
            "rate in-sample",
            linkage.in_sample.value,
            "learnt on the very people attacked: more than an intruder would reach",
            share=True,
        ),
        Fact(
            "rate of the plain distance",
            linkage.plain.value,
            "nearest-record linkage, all attributes alike",
            share=True,
        ),
        Fact("aggregator", linkage.distance.kind, "the form of distance that found most people"),
    ]
    top = sorted(linkage.importance, key=lambda entry: -entry[1])[:3]
    if top and not np.isnan(top[0][1]):
        facts.append(Fact("attributes that give people away", ", ".join(name for name, _ in top), "largest weights"))
    facts += [
        Fact(f"interaction of {a} and {b}", value, "weight of the two together, relative to all weights", share=True)
        for a, b, value in linkage.interactions[:3]
    ]
    return tuple(facts)


def _figure(linkage: LearnedLinkage) -> Figure:
    top = sorted(linkage.importance, key=lambda entry: (-entry[1], entry[0]))[:15]
    return Figure.bars(
        [(name, 0.0 if np.isnan(weight) else weight) for name, weight in top],
        title="Which attributes give people away?",
        caption="Weight of each attribute in the distance that re-identifies best; all alike would be "
        f"{percent(1 / max(1, len(linkage.importance)))} each.",
        said="Learned weights: ",
        axes=("attribute", "share of the weight"),
        name="learned weight",
    )


def _interaction_figure(linkage: LearnedLinkage) -> tuple[Figure, ...]:
    if not linkage.interactions:
        return ()
    return (
        Figure.bars(
            [(f"{a} and {b}", value) for a, b, value in linkage.interactions],
            title="Which attributes give people away together?",
            caption="The strongest interactions of the learned distance, relative to all weights. Above 0: it counts "
            "when both differ; below 0: a difference in one makes up for the other.",
            said="Interactions: ",
            axes=("two attributes", "weight of the two together"),
            name="interaction",
            form="{} {change}",
        ),
    )
