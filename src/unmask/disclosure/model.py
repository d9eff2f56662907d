"""Model-based disclosure (adr): what a model that was learnt from the release guesses about a person [TORRA]_.

A model that is right about *people in general* is what data are for. So the model learnt with the person's own record
stands beside the same model learnt without it (k folds, which is adr: algorithms 9 and 10) and the guess of the
commonest value. The first less the second is what the release gives away about its own people.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeVar

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
from unmask.disclosure.learn import Learner, Task, blind_guess, folds_of, guess, guess_surely, name_of, set_task
from unmask.disclosure.secrets import nothing_wanted, wanted
from unmask.errors import EngineError, ParameterError, former_percent
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, excess, measure, rate, silent
from unmask.shares import percent, span
from unmask.shown import Shown
from unmask.study import Study, as_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from unmask.evidence import Progress
    from unmask.tables import Release

Made = TypeVar("Made")
SAMPLE = 2_000  # people (and their rows) that `assess` learns from
BUDGET = 120.0  # seconds that `assess` gives to all models


@dataclass(frozen=True, slots=True)
class LearnerResult:
    """One learner on one attribute: right with the person's record among what was learnt, and without it."""

    learner: str
    present: Estimate  # learnt from the whole release
    absent: Estimate  # learnt from the other folds: Torra's adr. ``control``: the whole release, on people outside it
    excess: Estimate  # present less absent, person by person
    claims: Claims  # of an intruder who speaks only where they are sure


@dataclass(frozen=True, slots=True)
class AttributeModel:
    """What models guess about one confidential attribute."""

    name: str
    learners: tuple[LearnerResult, ...]
    few: tuple[tuple[tuple[str, ...], float], ...]  # the best 1, 2, ... known attributes, and adr from these alone
    gains: Floats = field(repr=False)  # per original record: right only because its own row is there; NaN: not asked

    @property
    def worst(self) -> LearnerResult:
        """The learner to which the release gives most away."""
        return max(self.learners, key=lambda entry: (entry.excess.value, entry.excess.low))


@dataclass(frozen=True, slots=True)
class ModelDisclosure(Shown):
    """Model-based disclosure of each confidential attribute, and what was left out."""

    attributes: tuple[AttributeModel, ...]
    within: float  # share of the sd
    folds: int
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> AttributeModel:
        """The attribute that the release gives away most."""
        return max(self.attributes, key=lambda entry: (entry.worst.excess.value, entry.worst.excess.low))

    @property
    def surest(self) -> tuple[str, Claims]:
        """The attribute about which sure claims give most away, and these claims."""
        each = [(entry.name, learner.claims) for entry in self.attributes for learner in entry.learners]
        return max(each, key=lambda one: (one[1].given_away.value, one[1].given_away.low))


def model_disclosure(  # noqa: PLR0913 - the choices of an experiment
    release: Release | Study,
    *,
    attributes: Iterable[str] | None = None,
    learners: Sequence[Learner] = ("boosting", "tree"),
    folds: int = 5,
    within: float = 0.10,
    few: int = 3,
    precision: float = PRECISION,
    sample: int | None = None,
    budget: float | None = None,
    seed: int = 0,
    progress: Progress = silent,
    p: float | None = None,
) -> ModelDisclosure:
    """Guess confidential attributes by models that were learnt from the release (Torra's adr, and its excess).

    Parameters
    ----------
    release
        The two tables, paired. What is known: ``quasi``.
    attributes
        Columns to guess. None: the confidential ones.
    learners
        "boosting" (histogram gradient boosting, takes missing values and categories), "tree", "forest", or any
        scikit-learn estimator.
    folds
        Parts for "learnt without the person".
    within
        A guess of a number is right within this share of the attribute's sd in the original.
    few
        Search the best sets of so many known attributes, one added after the other (0: none).
    precision
        How often a claim must be right of an intruder who may keep silent.
    sample
        Learn from, and ask for, so many people only. None: all.
    budget
        Seconds. What does not begin within them is left out, and ``notes`` say so.
    seed, progress
        Seeds folds, learners and bootstrap; called with the fraction done and a word.
    p
        The former name of ``within``, in percent, until version 0.3.

    """
    within = within if p is None else former_percent("p", p, "within")
    if folds < 2 or few < 0:
        raise ParameterError("folds or few is not allowed", got=f"{folds}, {few}", allowed="folds from 2, few from 0")
    study = as_study(release)
    release = study.release
    names, notes = wanted(release, attributes)
    fold, drawn = asked(study, folds, sample, seed)
    until = inf if budget is None else monotonic() + budget

    def models_of(name: str) -> AttributeModel:
        control = release.control is not None and {*release.quasi, name} <= set(release.control.columns)
        task = set_task(study, name, within=within, control=control)
        people = np.flatnonzero((fold >= 0) & ~np.isnan(task.wanted[: task.n]))
        dealt = Folds(release.truth[fold >= 0], fold[fold >= 0], people, fold[people])
        return _attribute(task, dealt, learners, few, seed, until, len(names) * len(learners), precision)

    found, late = in_time(names, budget, models_of, progress)
    missed = [f"{e.name!r}" for e in found if len(e.learners) < len(learners) or (few and not e.few)]
    told = f"some models of {', '.join(missed)} were left out, since the time was over"
    return ModelDisclosure(tuple(found), within, folds, (*notes, *drawn, *late, *([told] if missed else [])))


def asked(study: Study, folds: int, sample: int | None, seed: int) -> tuple[Rows, tuple[str, ...]]:
    """Folds of the people, -1 for those who are not in the sample, and a note; drawn in canonical order, not by row."""
    people, fold = study.release.paired_rows, folds_of(study, folds, seed)
    if sample is None or sample >= people.size:
        return fold, ()
    if sample < 1:
        raise ParameterError("a sample needs at least one person", got=str(sample), allowed="a whole number from 1")
    fold = np.where(folds_of(study, max(1, people.size // sample), seed + 1) == 0, fold, -1)
    few = int((fold >= 0).sum())
    return fold, (f"learnt from, and asked for, {few:,} people drawn at random",) if few < people.size else ()


def in_time(
    names: tuple[str, ...], budget: float | None, make: Callable[[str], Made], progress: Progress
) -> tuple[list[Made], tuple[str, ...]]:
    """Look at one attribute after the other, the first in any case; a note names those that did not begin in time."""
    found: list[Made] = []
    until = inf if budget is None else monotonic() + budget
    for number, name in enumerate(names):
        if found and monotonic() > until:
            late = ", ".join(map(repr, names[number:]))
            return found, (f"left out, since {budget:g} seconds were over: {late}",)
        found.append(make(name))
        progress((number + 1) / len(names), f"models of {name}")
    return found, ()


class Folds(NamedTuple):
    """Rows to learn from and people to ask about, and the fold of each."""

    rows: Rows
    of_rows: Rows
    people: Rows
    of_people: Rows


def _attribute(  # noqa: PLR0913, PLR0917 - one row of the experiment
    task: Task,
    folds: Folds,
    learners: Sequence[Learner],
    few: int,
    seed: int,
    until: float,
    among: int,
    precision: float,
) -> AttributeModel:
    rows, people = folds.rows, folds.people
    if not people.size:
        raise EngineError(f"no person that was asked for has a value of {task.name!r}")
    blind = float(blind_guess(task, people).mean())
    results: list[LearnerResult] = []
    gains: list[Floats] = []
    for learner in learners:
        if results and monotonic() > until:
            break
        told, untold = guess_surely(task, learner, rows, people, seed), out_of_fold(task, learner, folds, seed)
        present, absent = told.right, untold.right
        results.append(
            LearnerResult(
                name_of(learner),
                rate(present, chance=blind, seed=seed),
                rate(absent, chance=blind, seed=seed, control=_on_control(task, learner, rows, seed)),
                excess(present, absent, seed=seed, among=among),
                claims(told, untold, same=True, seed=seed, among=among, precision=precision),
            )
        )
        gains.append(np.maximum(present - absent, 0.0))
    per_record = np.full(task.n, np.nan)
    best = max(range(len(results)), key=lambda k: (results[k].excess.value, results[k].excess.low))
    per_record[people] = gains[best]
    sets = () if monotonic() > until else best_sets(task, folds, few, seed)
    return AttributeModel(task.name, tuple(results), sets, per_record)


def out_of_fold(task: Task, learner: Learner, folds: Folds, seed: int) -> Guesses:
    """Adr (algorithm 10), person by person: the model of each fold is learnt from the rows of the others."""
    credit, sure = np.zeros(folds.people.size), np.full(folds.people.size, -np.inf)
    for part in np.unique(folds.of_rows):
        mine = folds.of_people == part
        learnt, asked = folds.rows[folds.of_rows != part], folds.people[mine]
        if mine.any() and learnt.size and not np.isnan(task.published[learnt]).all():
            credit[mine], sure[mine] = guess_surely(task, learner, learnt, asked, seed)
    return Guesses(credit, sure)


def _on_control(task: Task, learner: Learner, rows: Rows, seed: int) -> float | None:
    outside = np.flatnonzero(~np.isnan(task.wanted[task.n :])) + task.n
    if not outside.size:
        return None
    return float(task.right(guess(task, learner, rows, outside, seed), outside).mean())


def best_sets(task: Task, folds: Folds, few: int, seed: int) -> tuple[tuple[tuple[str, ...], float], ...]:
    """Search forward: the known attribute that predicts best, then the one that adds most, ... by a tree in two halves.

    "A good estimate requiring a large number of input attributes may be ok, but a good estimate from a few can be
    problematic" [TORRA]_.
    """
    chosen: tuple[str, ...] = ()
    found = []
    halves = folds._replace(of_rows=folds.of_rows % 2, of_people=folds.of_people % 2)

    def adr(names: tuple[str, ...]) -> float:
        return float(out_of_fold(task.only(names), "tree", halves, seed).right.mean())

    for _ in range(min(few, len(task.known))):
        rates = {name: adr((*chosen, name)) for name in task.known if name not in chosen}
        best = max(rates, key=lambda name: (rates[name], name))
        chosen = (*chosen, best)
        found.append((chosen, rates[best]))
    return tuple(found)


@measure(
    "model",
    title="Model-based disclosure",
    story="The intruder learns from the release how a confidential attribute follows from what they know, and guesses "
    "it for a person. What counts is how much better they guess because the person's own row is in the release.",
    keys=("model.excess", "model.claimed"),
    applies=nothing_wanted,
)
def assess_model(study: Study, context: Context) -> Evidence:
    """Learn with and without each person, and tell what the release gives away about its own people."""
    found = model_disclosure(
        study, folds=3, few=2, sample=SAMPLE, budget=BUDGET, seed=context.seed, progress=context.progress
    )
    worst, best = found.worst, found.worst.worst
    name, sure = found.surest
    gains = np.array([entry.gains for entry in found.attributes])
    asked = ~np.isnan(gains).all(axis=0)
    per_record = np.zeros(study.release.original.height)
    per_record[asked] = np.nanmax(gains[:, asked], axis=0)
    return Evidence(
        observations=(
            Observation(
                "model.excess",
                f"{worst.name!r} is guessed right for {percent(best.present.value)} of {best.present.n:,} people by "
                f"a model "
                f"({best.learner}) learnt from the release, for {percent(best.absent.value)} when it is learnt without "
                f"their row, and for {percent(best.present.chance)} by the commonest value: the release itself gives "
                f"away "
                f"{percent(best.excess.value)}.",
                best.excess,
            ),
            Observation("model.claimed", claim_words(sure, name, LEFT_OUT), sure.given_away),
        ),
        per_record=per_record,
        identity=False,
        facts=(*_facts(found), *claim_facts(sure, name)),
        figures=(_figure(found), claim_figure(sure, name, LEFT_OUT)),
        notes=(*found.notes, f"a number counts as guessed within {100 * found.within:g} % of its sd"),
    )


def _facts(found: ModelDisclosure) -> tuple[Fact, ...]:
    facts = []
    for entry in found.attributes:
        for result in entry.learners:
            outside = (
                "" if result.absent.control is None else f", people outside the file {percent(result.absent.control)}"
            )
            facts.append(
                Fact(
                    f"{entry.name}, {result.learner}: adr",
                    round(result.absent.value, 4),
                    f"95 % CI {span(result.absent.low, result.absent.high)}; with the person's row "
                    f"{percent(result.present.value)}, commonest value {percent(result.present.chance)}{outside}",
                    share=True,
                )
            )
        facts += [
            Fact(
                f"{entry.name} from {len(names)} known",
                round(value, 4),
                f"adr from {', '.join(names)} alone",
                share=True,
            )
            for names, value in entry.few
        ]
    return tuple(facts)


def _figure(found: ModelDisclosure) -> Figure:
    return Figure.bars(
        [(entry.name, entry.worst.excess.value) for entry in found.attributes],
        title="What does a person's own row add to a guess about them?",
        caption="Share of people about whom a model is right with their row among what it learnt, less without it.",
        said="",
        axes=("confidential attribute", "people given away"),
        name="given away by the person's own row",
    )
