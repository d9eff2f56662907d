"""Copies in a synthetic release: is it nearer to the people it was learnt from than to people it never saw?

Distances to the closest original record are held against those to an equally large control group. Rows that equal a
record are counted one to one and shared among people who are alike, against the same count for control people, or
against the equals that one half of the original has in the other. People alone with their values (`replicas`) and
people whom a row resembles as it does nobody outside (`lookalikes`) are counted by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.disclosure.copy_sides import Here, Sides, Which, some
from unmask.disclosure.equal_rows import (
    Equals,
    counts_of,
    crowds_of,
    equals_beyond_columns,
    equals_of,
    least,
    one_to_one,
)
from unmask.disclosure.key_baselines import equals_beyond_fresh, kinds_beyond_fresh
from unmask.disclosure.lookalikes import MOST_PEOPLE, MOST_ROWS, lookalikes
from unmask.disclosure.near_copies import MOST_OTHERS, TIMES, known_by_rows
from unmask.disclosure.outside import Ruler, needs_outsiders, set_scene
from unmask.evidence import (
    Context,
    Estimate,
    Evidence,
    Fact,
    Figure,
    Observation,
    Progress,
    Series,
    exact,
    excess,
    excess_over_control,
    measure,
    rate,
    silent,
    wilson,
)
from unmask.shares import percent
from unmask.shown import Shown
from unmask.study import Study, as_study
from unmask.tables import Encoded, Release

PAIRED = "each row was made from a person: linkage tells more than distances do (if not so, say --synthetic)"
ALL: tuple[Which, ...] = ("original", "released", "outside")
NEAR = 0.01  # a near copy is nearer to an original than all but this share of rows is to control


@dataclass(frozen=True, slots=True)
class CopyRisk(Shown):
    """Distances of synthetic rows to the original and to control, and what equals a record.

    Distances are Euclidean and standardised, squared.
    """

    closer: Estimate | None  # share of rows nearer to the original than to control, ties half; None without control
    exact: Estimate  # equal to a record one to one, beyond what equals control people (or others of the original)
    unique: Estimate  # people alone with their values who stand in the release, beyond chance
    found: Estimate | None  # people whom a row resembles as it does nobody outside (`lookalikes`)
    known: Estimate | None  # people of whom that is sure (`near_copies`); None where columns are too few
    whole: bool  # the release is the original, row for row, in some order
    copied: float  # share of rows that equal an original record one to one
    near: float  # share of rows nearer to an original record than NEAR of them are to control
    ratio: float  # median of nearest over second nearest distance, to the original ...
    control_ratio: float  # ... and to control
    to_original: Floats = field(repr=False)
    to_control: Floats = field(repr=False)
    per_record: Floats = field(repr=False)  # per original record: the share of its copies that stand in the release
    beyond_all: bool = False  # control is given, but copies are those of everybody, beyond what other people show


def copy_risk(release: Release | Study, *, seed: int = 0, progress: Progress = silent) -> CopyRisk:
    """Compare a synthetic release with the original and with a control table (distance to closest record).

    Parameters
    ----------
    release
        The original, the synthetic table, and ``control``: people from the same population who were not used.
    seed, progress
        Seeds the draw of equally many people, and the bootstrap; called with the fraction done and a word.

    """
    ruler, sides = _sides(as_study(release))
    return risk_of(sides, ruler, seed=seed, progress=progress)


def _sides(study: Study) -> tuple[Ruler | None, Here]:
    """The tables, and a ruler for distances where somebody is outside."""
    n = study.release.original.height
    if needs_outsiders(study.release):
        encoding = study.encoding()
        return None, Here({"original": encoding.original, "released": encoding.released}, np.arange(n), n)
    scene = set_scene(study)
    inside, outside = scene.of(scene.members), scene.of(scene.strangers)
    tables: dict[Which, Encoded] = {"original": inside, "released": scene.encoding.released, "outside": outside}
    return scene.ruler, Here(tables, scene.members, n)


def risk_of(
    sides: Sides, ruler: Ruler | None, *, seed: int = 0, progress: Progress = silent, most: int | None = None
) -> CopyRisk:
    """The same of tables wherever they are; ``ruler``: None where nobody is outside.

    ``most``: rows to compare. Where not all people are compared, for this or since fewer are outside, copies are
    counted over everybody: few rows hold few copies of few people.
    """
    if ruler is None:
        return _without_control(sides, seed)
    found = _with_control(sides, ruler, seed, progress, most)
    compared = min(sides.size("outside"), most or sides.size("outside"))
    if compared >= sides.size("original"):
        return found
    equals, chance = sides.everybody()
    exact_, copied = _exact_of_all(sides, equals, chance, seed), float(np.sort(equals.share).mean())
    return replace(found, exact=exact_, copied=copied, beyond_all=True)


def _with_control(sides: Sides, ruler: Ruler, seed: int, progress: Progress, most: int | None) -> CopyRisk:
    """What people outside show, too."""
    size = min(sides.size("original"), sides.size("outside"), most or sides.size("original"))
    members, strangers = sides.some("original", size, seed), sides.some("outside", size, seed + 1)
    rows = sides.some("released", max(size, 1), seed + 2)
    there = ruler.nearest(rows, members, lambda done, text: progress(0.5 * done, text))
    away = ruler.nearest(rows, strangers, lambda done, text: progress(0.5 + 0.5 * done, text))
    credit = _nearer(there.least, away.least)
    equals, chance = sides.among(members)
    return CopyRisk(
        closer=_widened(rate(credit, chance=0.5, seed=seed), np.where(credit > 0.5, there.row, size + away.row)),
        exact=least(_copied_beyond(rows, members, strangers, seed), equals_beyond_columns(equals, chance, seed)),
        unique=least(
            _alone_beyond(equals, sides.among(strangers).equals, seed),
            equals_beyond_columns(equals, chance, seed, alone=True),
        ),
        found=_claimed(members, sides.some("released", MOST_ROWS, seed + 4), strangers, seed),
        known=known_by_rows(*(_by_lot(sides.some(which, MOST_OTHERS, seed), seed) for which in ALL)),
        whole=sides.whole(),
        copied=float(np.sort(one_to_one(rows, members)).mean()),
        near=float((there.least < np.quantile(away.least, NEAR)).mean()),
        ratio=_ratio(there.least, there.second),
        control_ratio=_ratio(away.least, away.second),
        to_original=np.sort(there.least),
        to_control=np.sort(away.least),
        per_record=sides.shares(),
    )


def _nearer(there: Floats, away: Floats) -> Floats:
    """Whether rows are nearer to the original than to control; ties half."""
    slack = 1e-9 * np.maximum(there, away) + 1e-18
    return np.where(np.abs(there - away) <= slack, 0.5, (there < away).astype(np.float64))


def _copied_beyond(rows: Encoded, members: Encoded, strangers: Encoded, seed: int) -> Callable[[float], Estimate]:
    """Rows that equal a member, beyond so many times those that equal a stranger."""
    credits_ = [_of_crowds(rows, side) for side in (members, strangers)]

    def beyond(times: float) -> Estimate:
        gain = excess(credits_[0], times * credits_[1], seed=seed, crowds=crowds_of(rows))
        return replace(gain, high=max(gain.high, wilson(gain.hits, gain.n)[1]))

    return beyond


def _alone_beyond(members: Equals, strangers: Equals, seed: int) -> Callable[[float], Estimate]:
    """Members who are alone with their values and stand in the release, beyond so many times such strangers."""
    ours, theirs = _replicas(members), _replicas(strangers)
    return lambda times: excess_over_control(ours, theirs, seed=seed, times=times)


def _replicas(people: Equals) -> Floats:
    """Who is alone with their values and stands in the release."""
    return np.asarray(((people.own == 1) & (people.there > 0)), dtype=np.float64)


def _without_control(sides: Sides, seed: int) -> CopyRisk:
    """What can be said with nobody outside: people who have an equal in the release, and none in the original."""
    rows, kinds, empty = sides.size("released"), sides.kinds(), np.zeros(0)
    people, released = (sides.some(which, MOST_OTHERS, seed + 3) for which in ALL[:2])
    equals, chance = sides.everybody()
    lots = [_by_lot(some(side, MOST_OTHERS, seed), seed) for side in (people, released)]
    return CopyRisk(
        closer=None,
        exact=_exact_of_all(sides, equals, chance, seed),
        unique=least(
            lambda times: kinds_beyond_fresh(kinds, rows, alone=True, times=times),
            equals_beyond_columns(equals, chance, seed, alone=True),
        ),
        found=_claimed(people, some(released, max(1, min(MOST_PEOPLE, len(people)) - 1), seed + 4), None, seed),
        known=known_by_rows(lots[0], lots[1]),
        whole=sides.whole(),
        copied=float(np.sort(equals.share).mean()),
        near=float("nan"),
        ratio=float("nan"),
        control_ratio=float("nan"),
        to_original=empty,
        to_control=empty,
        per_record=sides.shares(),
    )


def _exact_of_all(sides: Sides, equals: Equals, chance: Floats, seed: int) -> Estimate:
    """Everybody who has an equal in the release, beyond what other people and independent columns show."""
    kinds, rows = sides.kinds(), sides.size("released")
    return least(
        lambda times: kinds_beyond_fresh(kinds, rows, times=times), equals_beyond_columns(equals, chance, seed)
    )


def _claimed(people: Encoded, rows: Encoded, outside: Encoded | None, seed: int) -> Estimate | None:
    """People whom a row resembles as it does nobody outside, of as many as can be compared.

    With nobody outside, as many rows as there are other people: one of many rows is nearer than one of few.
    """
    others = None if outside is None else some(outside, MOST_PEOPLE, seed + 5)
    return lookalikes(some(people, MOST_PEOPLE, seed + 3), rows, others, seed=seed)


def _by_lot(side: Encoded, seed: int) -> Encoded:
    """Records in an order by lot: the first of them are compared."""
    return side.take(np.random.default_rng(seed + 6).permutation(len(side)))


def _widened(estimate: Estimate, nearest: Ints) -> Estimate:
    """Widen the interval: rows with the same nearest person do not count as independent.

    If each person were inside or outside by lot, the share would vary as sum(c^2) / rows, c rows nearest to a person.
    """
    factor = float(np.sqrt((np.bincount(nearest).astype(np.float64) ** 2).sum() / nearest.size))
    low, high = (estimate.value + factor * (end - estimate.value) for end in (estimate.low, estimate.high))
    return replace(estimate, low=max(0.0, low), high=min(1.0, high))


def _of_crowds(rows: Encoded, people: Encoded) -> Floats:
    """Share of rows that equal somebody, one to one; who equals k people is a k-th of a copy: crowds hide people."""
    _, there = counts_of(rows, people)
    return one_to_one(rows, people) / np.maximum(there, 1)


def _ratio(nearest: Floats, second: Floats) -> float:
    known = np.isfinite(second) & (second > 0)
    return float(np.sqrt(np.median(nearest[known] / second[known]))) if known.any() else 1.0


def replicated_uniques(
    original: Encoded, released: Encoded, control: Encoded | None = None, *, seed: int = 0, times: float = 1.0
) -> tuple[Estimate, Floats]:
    """Share of people who are alone with their values and stand in the release, beyond chance; and who they are.

    ``times``: so many times what other people would show.
    """
    mine = equals_of(original, released)
    replica = _replicas(mine)
    if control is None or not len(control):
        return equals_beyond_fresh(mine.own, mine.there, len(released), alone=True, times=times), replica
    return _alone_beyond(mine, equals_of(control, released), seed)(times), replica


@measure(
    "copies",
    title="Copies in a synthetic release",
    story="The synthetic table was made by a model that may have remembered people. The intruder takes rows that are "
    "too near to somebody they know for records of that person.",
    keys=("copies.exact", "copies.unique", "copies.closer", "copies.found", "copies.known", "copies.whole"),
    applies=lambda release: None if release.synthetic else PAIRED,
    pairs=False,
)
def assess_copies(study: Study, context: Context) -> Evidence:
    """Measure copies and, against control, distances to the closest record."""
    found = copy_risk(study, seed=context.seed, progress=context.progress)
    told = evidence_of_copies(found, study.release.original.height)
    return replace(told, per_record=found.per_record, compared=study.compared)


def evidence_of_copies(found: CopyRisk, n: int) -> Evidence:
    """What a report tells of copies of n people."""
    return Evidence(
        observations=(*_copied(found, n), *_closer(found)),
        identity=False,
        facts=_facts(found),
        figures=() if found.closer is None else (_figure(found),),
        notes=() if found.closer is not None else (ALONE,),
    )


ALONE = (
    "no control table is given: copies are held against the equals that one half of the original has in the other; "
    "distances to the closest record, which need people outside, were not compared"
)


def _copied(found: CopyRisk, n: int) -> Iterator[Observation]:
    alone = found.closer is None or found.beyond_all
    outside = "rows of other people show" if alone else "equals control people"
    yield Observation(
        "copies.exact",
        f"{percent(found.copied)} of the records have an equal on the other side, one to one; shared among people "
        f"who are alike, and beyond what {outside}, it is {percent(found.exact.value)}.",
        found.exact,
    )
    yield Observation.of_people(
        "copies.unique",
        found.unique,
        "are alone with their values and stand in the release, beyond what a table of other people would hold.",
    )
    if found.found is not None:
        than = "any other person is" if found.closer is None else "any row is like anybody outside"
        words = f"have a row in the release that is more like them than {than}."
        yield Observation.of_people("copies.found", found.found, words)
    if found.known is not None:
        words = (
            f"are known by a row that is {TIMES:g} times nearer to them than anybody else is, whichever column is left "
            "out, beyond those to whom other people, or rows to people outside, are as near."
        )
        yield Observation.of_people("copies.known", found.known, words)
    yield Observation(
        "copies.whole",
        "The release is the original, row for row." if found.whole else "The release is not a copy of the original.",
        exact(float(found.whole), n=n, chance=0.0),
    )


def _closer(found: CopyRisk) -> Iterator[Observation]:
    if found.closer is not None:
        yield Observation(
            "copies.closer",
            f"{percent(found.closer.value)} of {found.closer.n:,} synthetic rows are nearer to a person of the "
            f"original "
            "than to anybody in an equally large control group.",
            found.closer,
        )


def _facts(found: CopyRisk) -> tuple[Fact, ...]:
    if found.closer is None:
        return ()
    return (
        Fact(
            "near copies",
            round(found.near, 4),
            f"share of rows nearer to the original than {percent(NEAR)} are to control",
            share=True,
        ),
        Fact("nearest-neighbour ratio", round(found.ratio, 4), f"median; {found.control_ratio:.3g} to control"),
    )


def _figure(found: CopyRisk) -> Figure:
    grid = np.linspace(0, 1, 101)
    curves = [np.sqrt(np.quantile(values, grid)) for values in (found.to_original, found.to_control)]
    return Figure(
        shape="line",
        title="How far is the closest record?",
        caption="Distance from synthetic rows to the closest record of the original and of an equally large control "
        "group. A curve for the original that runs left of the other means memory.",
        alt=f"Median distance to the closest record: original {curves[0][50]:.3g}, control {curves[1][50]:.3g}.",
        x_label="distance to the closest record",
        y_label="rows at most this far",
        series=tuple(
            Series(name, tuple(curve.tolist()), tuple(grid.tolist()))
            for name, curve in zip(("original", "control"), curves, strict=True)
        ),
        percent=(False, True),
    )
