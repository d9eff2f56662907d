"""Absent attributes (DDMBAR): what the release lets a model say about something that need not even be in it [TORRA]_.

Two models of the attribute are learnt, from the original and from the release (algorithm 11), and the people are
counted about whom they say the same. A faithful release behaves like the original, and that is no harm. What is judged
is memory: how much oftener the model of the release is right about people when it learnt from their own records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from unmask.arrays import Floats, Rows
from unmask.disclosure.claims import (
    LEFT_OUT,
    PRECISION,
    Claims,
    Guesses,
    claim_facts,
    claim_figure,
    claim_words,
    claims,
)
from unmask.disclosure.learn import Learner, Task, folds_of, learn_and_claim, name_of, set_task
from unmask.disclosure.model import asked, in_time
from unmask.disclosure.secrets import nothing_wanted, wanted
from unmask.errors import EngineError, former_percent
from unmask.evidence import Context, Estimate, Evidence, Fact, Observation, Progress, excess, measure, rate, silent
from unmask.shares import percent, span
from unmask.shown import Shown
from unmask.study import Study, as_study, spread
from unmask.tables import Release

SAMPLE = 2_000  # people that `assess` learns from
BUDGET = 120.0  # seconds that `assess` gives to the models
PARTS = 5  # the people of one of so many parts are asked of a model that did not see their records


@dataclass(frozen=True, slots=True)
class AbsentAttribute:
    """Agreement of two models of one attribute."""

    name: str
    learner: str
    agreement: Estimate  # DDMBAR; chance: what the two models' answers agree on by their frequencies alone
    halves: Estimate  # agreement of models from two halves of the original
    excess: Estimate  # right about people when learnt with their records, less when learnt without, person by person
    claims: Claims  # of an intruder who speaks only where they are sure
    per_record: Floats = field(repr=False)


@dataclass(frozen=True, slots=True)
class AbsentDisclosure(Shown):
    """DDMBAR of each confidential attribute."""

    attributes: tuple[AbsentAttribute, ...]
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> AbsentAttribute:
        """The attribute of which the release remembers most people."""
        return max(self.attributes, key=lambda entry: (entry.excess.value, entry.excess.low))

    @property
    def surest(self) -> AbsentAttribute:
        """The attribute about which sure claims give most away."""
        return max(self.attributes, key=lambda e: (e.claims.given_away.value, e.claims.given_away.low))


def absent_disclosure(  # noqa: PLR0913 - the choices of an experiment
    release: Release | Study,
    *,
    attributes: Iterable[str] | None = None,
    learner: Learner = "boosting",
    within: float = 0.10,
    precision: float = PRECISION,
    sample: int | None = None,
    budget: float | None = None,
    seed: int = 0,
    progress: Progress = silent,
    p: float | None = None,
) -> AbsentDisclosure:
    """Compare a model learnt from the original with one learnt from the release (Torra's DDMBAR).

    Parameters
    ----------
    release
        The two tables, paired. What is known: ``quasi``.
    attributes
        Columns of the original. None: the confidential ones that the release does not have, or all confidential ones.
        The model of the release learns a column that is not in it from the people's own values.
    learner
        "boosting", "tree", "forest" or a scikit-learn estimator.
    within
        Two answers in numbers are the same within this share of the attribute's sd.
    precision
        How often a claim must be right of an intruder who may keep silent.
    sample
        Learn from, and ask for, so many people only. None: all.
    budget
        Seconds. Attributes that do not begin within them are left out, and ``notes`` say so.
    seed, progress
        Seeds halves, learner and bootstrap; called with the fraction done and a word.
    p
        The former name of ``within``, in percent, until version 0.3.

    """
    within = within if p is None else former_percent("p", p, "within")
    study = as_study(release)
    release = study.release
    names, notes = wanted(release, attributes, absent=True)
    if attributes is None:
        names = tuple(name for name in names if name not in release.released.columns) or names
    fold, drawn = asked(study, 2, sample, seed)
    part = folds_of(study, min(PARTS, release.paired_rows.size), seed + 2)

    def models_of(name: str) -> AbsentAttribute:
        task = set_task(study, name, within=within, control=False)
        return _attribute(release, task, (fold, part), learner, len(names), seed, precision)

    found, late = in_time(names, budget, models_of, progress)
    return AbsentDisclosure(tuple(found), (*notes, *drawn, *late))


def _attribute(  # noqa: PLR0913, PLR0917 - one row of the experiment
    release: Release, task: Task, folds: tuple[Rows, Rows], learner: Learner, among: int, seed: int, precision: float
) -> AbsentAttribute:
    fold, part = folds
    people = np.flatnonzero(fold >= 0)
    rows = release.truth[people]
    known, masked, wanted = task.people[people], task.rows[rows], task.wanted[people]
    labels = task.published[rows] if task.published.size else wanted
    half = fold[people]
    if np.isnan(labels).all() or any(np.isnan(wanted[half == k]).all() for k in (0, 1)):
        raise EngineError(f"there are too few values of {task.name!r} to learn from")

    def surely(x: Floats, y: Floats, asked: Floats) -> tuple[Floats, Floats]:
        return learn_and_claim(task, learner, x, y, asked, seed)

    def model(x: Floats, y: Floats, asked: Floats) -> Floats:
        return surely(x, y, asked)[0]

    truth, guess = model(known, wanted, known), model(masked, labels, masked)
    first, second = (model(known[half == k], wanted[half == k], known) for k in (0, 1))
    agree, level = _same(task, truth, guess), _same(task, first, second)
    chance = _chance(task, truth, guess)
    (present, sure), without, anyhow_sure = surely(masked, labels, known), *_nothing(people.size)
    for mine in (part[people] == k for k in np.unique(part[people])):
        if not np.isnan(labels[~mine]).all():
            without[mine], anyhow_sure[mine] = surely(masked[~mine], labels[~mine], known[mine])
    right, anyhow = _same(task, present, wanted), _same(task, without, wanted)
    return AbsentAttribute(
        task.name,
        name_of(learner),
        rate(agree, chance=chance, seed=seed, control=float(level.mean())),
        rate(level, chance=_chance(task, first, second), seed=seed),
        excess(right, anyhow, seed=seed, among=among),
        claims(
            Guesses(right, sure), Guesses(anyhow, anyhow_sure), same=True, seed=seed, among=among, precision=precision
        ),
        spread(np.maximum(right - anyhow, 0.0), people, task.n, np.nan),
    )


def _nothing(n: int) -> tuple[Floats, Floats]:
    """No guess, and no trust in it."""
    return np.full(n, np.nan), np.full(n, -np.inf)


def _same(task: Task, one: Floats, two: Floats) -> Floats:
    return np.asarray(np.abs(one - two) <= task.tolerance if task.numeric else one == two, dtype=np.float64)


def _chance(task: Task, one: Floats, two: Floats) -> float:
    """P(same) of an answer of one model and an answer of the other about somebody else, over all pairs."""
    a, b = np.sort(one), np.sort(two)
    reach = task.tolerance if task.numeric else 0.0
    inside = np.searchsorted(b, a + reach, "right") - np.searchsorted(b, a - reach, "left")
    return float(inside.sum() / (float(a.size) * b.size))


@measure(
    "absent",
    title="Attributes that need not be in the release",
    story="The intruder learns from masked records how something follows from them that is not in the release. What "
    "their model says about a person because that person's own record was there, it has remembered.",
    keys=("absent.excess", "absent.claimed"),
    applies=lambda release: nothing_wanted(release, absent=True),
)
def assess_absent(study: Study, context: Context) -> Evidence:
    """Compare models of the original and of the release."""
    found = absent_disclosure(study, sample=SAMPLE, budget=BUDGET, seed=context.seed, progress=context.progress)
    worst, surest = found.worst, found.surest
    return Evidence(
        observations=(
            Observation(
                "absent.excess",
                f"A model of {worst.name!r} learnt from the release is right about {percent(worst.excess.value)} "
                f"more of "
                f"{worst.excess.n:,} people when their own records are among those it learns from.",
                worst.excess,
            ),
            Observation("absent.claimed", claim_words(surest.claims, surest.name, LEFT_OUT), surest.claims.given_away),
        ),
        per_record=np.nan_to_num(worst.per_record),
        identity=False,
        facts=tuple(
            Fact(
                f"{entry.name}: DDMBAR",
                round(entry.agreement.value, 4),
                f"95 % CI {span(entry.agreement.low, entry.agreement.high)}; two halves "
                f"{percent(entry.halves.value)}, by "
                f"chance {percent(entry.agreement.chance)} ({entry.learner})",
                share=True,
            )
            for entry in found.attributes
        )
        + claim_facts(surest.claims, surest.name),
        figures=(claim_figure(surest.claims, surest.name, LEFT_OUT),),
        notes=found.notes,
    )
