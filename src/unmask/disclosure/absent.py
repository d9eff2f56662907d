"""Absent attributes (DDMBAR): what the release lets a model say about something that need not even be in it.

"Observance of religious holidays or political orientation may not be an attribute in the database, but the database may
contain enough information to estimate these" [TORRA]_. Two models of the attribute are learnt, one from the original X
and one from the release X', and the share of people is counted about whom they say the same: V(x) = V'(x')
(algorithm 11). Two models from two halves of X agree as well, without knowing the same people: that is the level of
what is true in general.

A faithful release behaves like the original; that is what it is for, and no harm to anybody. What is judged is memory:
how much oftener the model of the release is right about people when their own records were among those it learnt from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.arrays import Floats, Rows
from unmask.disclosure.learn import Task, folds_of, learn_and_apply, name_of, set_task
from unmask.disclosure.secrets import learnable
from unmask.errors import EngineError, RoleError, former_percent
from unmask.evidence import Context, Estimate, Evidence, Fact, Observation, excess, measure, rate, silent
from unmask.study import Study, as_study

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unmask.evidence import Progress
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
    per_record: Floats = field(repr=False)


@dataclass(frozen=True, slots=True)
class AbsentDisclosure:
    """DDMBAR of each confidential attribute."""

    attributes: tuple[AbsentAttribute, ...]
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> AbsentAttribute:
        """The attribute of which the release remembers most people."""
        return max(self.attributes, key=lambda entry: (entry.excess.value, entry.excess.low))


def absent_disclosure(  # noqa: PLR0913 - the choices of an experiment
    release: Release | Study,
    *,
    attributes: Iterable[str] | None = None,
    learner: Any = "boosting",  # noqa: ANN401 - a name or an estimator
    within: float = 0.10,
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
    sample
        Learn from, and ask for, so many people only. None: all.
    budget
        Seconds. Attributes that do not begin within them are left out, and ``notes`` say so.
    seed
        Seeds halves, learner and bootstrap.
    progress
        Called with the fraction done and a word.
    p
        The former name of ``within``, in percent, until version 0.3.

    """
    within = within if p is None else former_percent("p", p, "within")
    study = as_study(release)
    release = study.release
    names, notes = learnable(release, attributes, absent=True)
    if attributes is None:
        names = tuple(name for name in names if name not in release.released.columns) or names
    if not names:
        raise RoleError("no confidential attribute can be learnt", got="; ".join(notes) or "none", hint="name one")
    fold = folds_of(study, 2, seed)
    if sample is not None and sample < release.paired_rows.size:
        fold = np.where(folds_of(study, max(1, release.paired_rows.size // sample), seed + 1) == 0, fold, -1)
        notes = (*notes, f"learnt from, and asked for, {int((fold >= 0).sum()):,} people drawn at random")
    part = folds_of(study, min(PARTS, release.paired_rows.size), seed + 2)
    found: list[AbsentAttribute] = []
    until = None if budget is None else monotonic() + budget
    for number, name in enumerate(names):
        if until is not None and found and monotonic() > until:
            late = ", ".join(map(repr, names[number:]))
            notes = (*notes, f"left out, since {budget:g} seconds were over: {late}")
            break
        task = set_task(study, name, within=within, control=False)
        found.append(_attribute(release, task, (fold, part), learner, len(names), seed))
        progress((number + 1) / len(names), f"models of {name}")
    return AbsentDisclosure(tuple(found), notes)


def _attribute(
    release: Release,
    task: Task,
    folds: tuple[Rows, Rows],
    learner: Any,  # noqa: ANN401 - a name or an estimator
    among: int,
    seed: int,
) -> AbsentAttribute:
    fold, part = folds
    people = np.flatnonzero(fold >= 0)
    rows = release.truth[people]
    known, masked, wanted = task.people[people], task.rows[rows], task.wanted[people]
    labels = task.published[rows] if task.published.size else wanted
    half = fold[people]
    if np.isnan(labels).all() or any(np.isnan(wanted[half == k]).all() for k in (0, 1)):
        raise EngineError(f"there are too few values of {task.name!r} to learn from")

    def model(x: Floats, y: Floats, asked: Floats) -> Floats:
        return learn_and_apply(task, learner, x, y, asked, seed)

    truth, guess = model(known, wanted, known), model(masked, labels, masked)
    first, second = (model(known[half == k], wanted[half == k], known) for k in (0, 1))
    agree, level = _same(task, truth, guess), _same(task, first, second)
    chance = _chance(task, truth, guess)
    present, without = model(masked, labels, known), np.full(people.size, np.nan)
    for mine in (part[people] == k for k in np.unique(part[people])):
        if not np.isnan(labels[~mine]).all():
            without[mine] = model(masked[~mine], labels[~mine], known[mine])
    right, anyhow = _same(task, present, wanted), _same(task, without, wanted)
    per_record = np.full(task.n, np.nan)
    per_record[people] = np.maximum(right - anyhow, 0.0)
    return AbsentAttribute(
        task.name,
        name_of(learner),
        rate(agree, chance=chance, seed=seed, control=float(level.mean())),
        rate(level, chance=_chance(task, first, second), seed=seed),
        excess(right, anyhow, seed=seed, among=among),
        per_record,
    )


def _same(task: Task, one: Floats, two: Floats) -> Floats:
    return np.asarray(np.abs(one - two) <= task.tolerance if task.numeric else one == two, dtype=np.float64)


def _chance(task: Task, one: Floats, two: Floats) -> float:
    """P(same) of an answer of one model and an answer of the other about somebody else, over all pairs."""
    a, b = np.sort(one), np.sort(two)
    reach = task.tolerance if task.numeric else 0.0
    inside = np.searchsorted(b, a + reach, "right") - np.searchsorted(b, a - reach, "left")
    return float(inside.sum() / (float(a.size) * b.size))


def _applies(release: Release) -> str | None:
    if not release.confidential:
        return "no confidential attribute is named"
    names, notes = learnable(release, None, absent=True)
    return None if names else "; ".join(notes)


@measure(
    "absent",
    title="Attributes that need not be in the release",
    story="The intruder learns from masked records how something follows from them that is not in the release. What "
    "their model says about a person because that person's own record was there, it has remembered.",
    keys=("absent.excess",),
    applies=_applies,
)
def assess_absent(study: Study, context: Context) -> Evidence:
    """Compare models of the original and of the release."""
    found = absent_disclosure(study, sample=SAMPLE, budget=BUDGET, seed=context.seed, progress=context.progress)
    worst = found.worst
    return Evidence(
        observations=(
            Observation(
                "absent.excess",
                f"A model of {worst.name!r} learnt from the release is right about {worst.excess.value:.1%} more of "
                f"{worst.excess.n:,} people when their own records are among those it learns from.",
                worst.excess,
            ),
        ),
        per_record=np.nan_to_num(worst.per_record),
        identity=False,
        facts=tuple(
            Fact(
                f"{entry.name}: DDMBAR",
                round(entry.agreement.value, 4),
                f"{entry.agreement.low:.3g} to {entry.agreement.high:.3g}; two halves {entry.halves.value:.3g}, by "
                f"chance {entry.agreement.chance:.3g} ({entry.learner})",
            )
            for entry in found.attributes
        ),
        notes=found.notes,
    )
