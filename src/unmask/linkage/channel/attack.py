"""The attack: learn the channel from some people, look for the others, each person by what others taught."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import EngineError, ParameterError
from unmask.evidence import claims, claims_again, silent
from unmask.linkage.channel.competition import competition
from unmask.linkage.channel.gather import Gathered, gather
from unmask.linkage.channel.helper import Helper, Lesson
from unmask.linkage.channel.linking import MOST_PAIRS, Links, best_rate, link_people
from unmask.linkage.channel.result import ChannelLinkage, Point, rising
from unmask.linkage.channel.select import Channel, fitted, looked_through
from unmask.linkage.channel.words import tell_columns
from unmask.study import Study, as_study, give_back
from unmask.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unmask.arrays import Rows
    from unmask.evidence import Progress
    from unmask.tables import Release

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FEWEST = 4  # people that must teach
SIZES = (10, 30, 100, 300, 1000)
CURVE_PAIRS = 4_000_000  # up to which everybody is asked for at each point of the curve
MOST_CURVE_PAIRS = 10_000_000  # that are scored all at once
CURVE_PEOPLE = 1000  # asked for at each point of the curve, where there are many
MOST_PEOPLE = 200_000  # who are all asked for
SAMPLE = 5000  # people asked for where all would be too many


def link_channel(
    release: Release | Study,
    *,
    folds: int = 2,
    people: int | Rows | None = None,
    seed: int = 0,
    curve: bool = True,
    progress: Progress = silent,
) -> ChannelLinkage:
    """Learn from some people how the release was made, and look for the others.

    Parameters
    ----------
    release
        The two tables and the roles of their columns.
    folds
        Parts that the people are split into; each part is attacked by what the others taught. 2: the intruder knows
        half of the people.
    people
        How many people to ask for, drawn at random, or the rows of the original of those to ask for. None: all.
    seed
        Seeds the split and what is drawn.
    curve
        Whether to ask as well what 10, 30, 100, ... known people would suffice for.
    progress
        Called with the fraction done and a word.

    Returns
    -------
    ChannelLinkage
        The candidates of everybody are all released records, also those of people who taught: so the rate compares
        with that of every other attack and with the size of groups. Whoever strikes out the records of the people they
        know has fewer candidates left, finds more (``struck_out``), and is surer: by this they claim people
        (``known``), but only where the record is the one they would name anyway and stood out before.

    """
    if folds < 2:
        raise ParameterError("people are attacked by what others taught", got=f"{folds} folds", allowed="from 2")

    release = as_study(release).release
    with one_thread(), Helper(release.original.height) as helper:  # threads would only wait: its products are small
        return _attack(release, (folds, people, seed), helper, curve=curve, progress=progress)


@dataclass(frozen=True, slots=True)
class Taught:
    """A release as the intruder reads it, which part each person is in, and what the other parts taught."""

    scene: Gathered
    part: Ints  # of each person, in the order of the scene
    channels: list[Channel]
    known: int  # people who are in both files

    @property
    def by_row(self) -> Ints:
        """The part of each row of the original."""
        found = np.empty_like(self.part)
        found[self.scene.people] = self.part
        return found


def teach(
    release: Release, folds: int, seed: int, progress: Progress, helper: Helper, by_row: Ints | None = None
) -> Taught:
    """Learn a channel for each part of the people from the others; ``by_row``: parts that are given."""
    scene = gather(release, seed)
    there = np.flatnonzero(scene.material.truth >= 0)
    if there.size < max(folds, FEWEST):
        raise EngineError(
            f"{there.size} people are in both files: too few to learn from some and attack others",
            allowed=f"from {max(folds, FEWEST)}",
        )
    part = np.searchsorted(np.unique(scene.units[there]), scene.units) % folds
    part = part if by_row is None else by_row[scene.people]
    channels: list[Channel] = []
    taught = [there[part[there] != fold] for fold in range(folds)]
    lessons = [helper.give(scene.material, people, seed) for people in reversed(taught)][::-1]
    for fold, lesson in enumerate(lessons):
        channels.append(_learn(helper, lesson, _learning(progress, fold, folds)))
        if scene.material.is_large or fold == folds - 1:
            scene.material.forget(looked_through(channels))
            give_back(scene.material.n_records)
    return Taught(scene, part, channels, int(there.size))


def _attack(
    release: Release, how: tuple[int, int | Rows | None, int], helper: Helper, *, curve: bool, progress: Progress
) -> ChannelLinkage:
    folds, people, seed = how
    taught = teach(release, folds, seed, progress, helper)
    scene, part, channels = taught.scene, taught.part, taught.channels
    lessons = lessons_of_few(scene, channels, seed, helper) if curve else []
    rows = _asked(scene, people, seed)
    progress(0.6, "looking for everybody")
    competing = rows.size == scene.material.n_people
    links = link_people(scene, channels, part, rows, seed, most=None if competing else 0)  # as `competition` links few
    added = competition(scene, channels, part, seed, competing=competing) if _leaves_out(scene, rows) else None
    found = replace(result_of(taught, links, rows, seed), competition=added)
    channels[:] = [replace(channel, factors=(), without=tuple) for channel in channels]  # the curve learns its own
    points = learning_curve(scene, lessons, helper, seed, progress)
    return replace(found, learning=rising(points, found.found)) if points else found


def _leaves_out(scene: Gathered, rows: Ints) -> bool:
    """Whether the attack did less than fewer people would allow: people one by one, or not with their group."""
    in_groups = scene.material.groups is not None and rows.size * scene.material.n_records > MOST_PAIRS
    return rows.size < scene.material.n_people or in_groups


def _asked(scene: Gathered, people: int | Rows | None, seed: int) -> Ints:
    """Rows of the scene to ask for: all, or as many as are wanted or fit, or those of the people who are named."""
    if isinstance(people, np.ndarray):
        return np.flatnonzero(np.isin(scene.people, people))
    there = np.flatnonzero(scene.material.truth >= 0)
    n, records = scene.material.n_people, scene.material.n_records
    if people is None and n * records <= MOST_PAIRS:
        return np.arange(n)
    if people is None and n <= MOST_PEOPLE:
        return np.arange(n)
    most = max(1, min(people or SAMPLE, there.size))
    return np.sort(np.random.default_rng([seed, 5]).choice(there, most, replace=False))


def _learn(helper: Helper, lesson: Lesson, tell: Callable[[float], None]) -> Channel:
    if lesson.taught.size < FEWEST:
        return Channel((), (), 1.0)
    return fitted(helper.learnt(lesson, tell), lesson.material, lesson.taught)


def _learning(progress: Progress, fold: int, folds: int) -> Callable[[float], None]:
    return lambda done: progress(0.6 * (fold + done) / folds, "learning the channel")


def lessons_of_few(scene: Gathered, channels: list[Channel], seed: int, helper: Helper) -> list[Lesson]:
    """Lessons of 10, 30, 100, ... known people, the longest given to the helper first.

    They look at rows and columns as those do who learnt from many (``channels``), which is no secret of the release.
    """
    there = np.flatnonzero(scene.material.truth >= 0)
    order = _whole_units(scene, np.random.default_rng([seed, 7]).permutation(there))
    sizes = [size for size in SIZES if size <= there.size // (2 if size <= 100 else 4)]
    return [helper.give(scene.material, np.sort(order[:size]), seed, channels) for size in reversed(sizes)][::-1]


def learning_curve(
    scene: Gathered, lessons: list[Lesson], helper: Helper, seed: int, progress: Progress
) -> tuple[Point, ...]:
    """What the intruder finds who knows 10, 30, 100, ... people: of those they do not know."""
    there = np.flatnonzero(scene.material.truth >= 0)
    order = _whole_units(scene, np.random.default_rng([seed, 7]).permutation(there))
    points = []
    for number, lesson in enumerate(lessons):
        points.append(_point(scene, lesson, order[lesson.taught.size :], helper, seed))
        progress(0.7 + 0.3 * (number + 1) / len(lessons), "how few known people suffice")
    return tuple(points)


def _point(scene: Gathered, lesson: Lesson, others: Ints, helper: Helper, seed: int) -> Point:
    """What is found from so many people; of many others some are asked for, and little is kept in memory."""
    size, rows = lesson.taught.size, np.arange(scene.material.n_people)
    if rows.size * scene.material.n_records > CURVE_PAIRS:
        rows = np.sort(others)[:CURVE_PEOPLE]
        scene.material.forget(looked_through(lesson.like))
        give_back(scene.material.n_records)
    channel = _learn(helper, lesson, lambda _: None)
    part = np.zeros(scene.material.n_people, dtype=np.int64)
    links = link_people(scene, [channel], part, rows, seed, most=MOST_CURVE_PAIRS)
    return Point(size, best_rate(links.attacks, np.isin(rows, others), 1.0 / scene.material.n_records, seed))


def _whole_units(scene: Gathered, people: Ints) -> Ints:
    """The same people, those who are published together one after the other."""
    _, first, unit = np.unique(scene.material.units(people), return_index=True, return_inverse=True)
    return people[np.argsort(first[unit.ravel()], kind="stable")]


def result_of(taught: Taught, links: Links, rows: Ints, seed: int) -> ChannelLinkage:
    """What was found of the people in some rows of the scene, in the order of the table."""
    scene, folds = taught.scene, len(taught.channels)
    material, n = scene.material, scene.material.n_people
    there = material.truth[rows] >= 0
    sure = np.zeros(rows.size) if links.sure is None else links.sure
    claimed = claims(sure, links.credit, there, seed)

    def back(values: NDArray[Any], blank: float) -> NDArray[Any]:
        whole = np.full(n, blank, dtype=values.dtype)
        whole[scene.people[rows]] = values
        return whole

    return ChannelLinkage(
        asked=back(there, blank=False),
        credit=back(links.credit, 0.0),
        matched=back(links.matched, 0.0),
        alone=back(links.alone, 0.0),
        posterior=back(links.own, np.nan),
        best=back(links.top, np.nan),
        struck=None if links.struck is None else back(links.struck, 0.0),
        claimed=back(claimed & there, blank=False),
        known_again=claims_again(sure, links.credit, there, seed) if rows.size < n else None,
        n_candidates=material.n_records,
        taught=taught.known * (folds - 1) // folds,
        columns=tell_columns(material, taught.channels),
        learning=(),
        seed=seed,
        linked=None if links.record is None else back(np.where(links.record >= 0, scene.records[links.record], -1), -1),
    )
