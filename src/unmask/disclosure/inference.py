"""Attribute inference: the released row that is nearest in what is known of a person says the confidential attribute.

The same is done for people who are not in the release: what works on both alike is general knowledge. No pairs are
needed, so that synthetic releases can be attacked as well [GIOMI]_.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats, Rows
from unmask.disclosure.claims import (
    PRECISION,
    Claims,
    Guesses,
    claim_facts,
    claim_figure,
    claim_words,
    claims,
    commonest,
)
from unmask.disclosure.learn import Task, blind_guess, set_task
from unmask.disclosure.outside import needs_outsiders, refuse_overlap
from unmask.disclosure.secrets import nothing_wanted, wanted
from unmask.errors import RoleError, former_percent
from unmask.evidence import (
    Context,
    Estimate,
    Evidence,
    Fact,
    Figure,
    Observation,
    Progress,
    excess_over_control,
    measure,
    rate,
    silent,
)
from unmask.shares import percent, span
from unmask.shown import Shown
from unmask.study import Study, as_study, spread
from unmask.tables import Encoded, Encoding, Release, canonical_order

OUTSIDE = "people outside"
MOST_TIES = 20_000_000  # beyond so many tied rows in all, one of them is drawn instead of taking the mean


@dataclass(frozen=True, slots=True)
class AttributeInference:
    """How often the nearest row tells one attribute: of people in the release, and of people outside it."""

    name: str
    members: Estimate  # chance: the commonest value (or median) of the release; control: the rate on people outside
    excess: Estimate  # members less people outside
    claims: Claims  # of an intruder who speaks only where they are sure
    per_record: Floats = field(repr=False)  # credit of each original record, NaN where there is no value


@dataclass(frozen=True, slots=True)
class Inference(Shown):
    """Attribute inference of each confidential attribute."""

    attributes: tuple[AttributeInference, ...]
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> AttributeInference:
        """The attribute that the release gives away most."""
        return max(self.attributes, key=lambda entry: (entry.excess.value, entry.excess.low))

    @property
    def surest(self) -> AttributeInference:
        """The attribute about which sure claims give most away."""
        return max(self.attributes, key=lambda e: (e.claims.given_away.value, e.claims.given_away.low))


def attribute_inference(  # noqa: PLR0913 - the choices of an experiment
    release: Release | Study,
    *,
    attributes: Iterable[str] | None = None,
    within: float = 0.10,
    precision: float = PRECISION,
    seed: int = 0,
    progress: Progress = silent,
    p: float | None = None,
) -> Inference:
    """Read confidential attributes off the nearest released row, for people in the release and outside it.

    Parameters
    ----------
    release
        The tables; ``control``, or people of the original who were not released, are needed. Pairs are not.
    attributes
        Columns to infer. None: the confidential ones.
    within
        A number is right within this share of the attribute's sd in the original: neither sign nor scale matters.
    precision
        How often a claim must be right of an intruder who may keep silent.
    seed, progress
        Seeds the bootstrap; called with the fraction done and a word.
    p
        The former name of ``within``, in percent, until version 0.3.

    """
    within = within if p is None else former_percent("p", p, "within")
    study = as_study(release)
    release = study.release
    reason = needs_outsiders(release)
    if reason:
        raise RoleError("nobody is known to be outside the release", hint=reason)
    names, notes = wanted(release, attributes)
    refuse_overlap(study)
    found = []
    for number, name in enumerate(names):
        found.append(_attribute(study, set_task(study, name, within=within), len(names), seed, precision))
        progress((number + 1) / len(names), f"nearest rows for {name}")
    return Inference(tuple(found), notes)


def _attribute(study: Study, task: Task, among: int, seed: int, precision: float) -> AttributeInference:
    release = study.release
    inside = np.ones(task.n, dtype=bool) if release.synthetic else release.truth >= 0
    outside = np.flatnonzero(~inside) if release.control is None else np.arange(task.n, len(task.wanted))
    members, strangers = (rows[~np.isnan(task.wanted[rows])] for rows in (np.flatnonzero(inside), outside))
    credit, told = read_off(study, task, np.concatenate([members, strangers]), seed)
    mine, others = credit[: members.size], credit[members.size :]
    near = Guesses(told.right[: members.size], told.sure[: members.size])
    beyond = Guesses(told.right[members.size :], told.sure[members.size :])
    chance = float(blind_guess(task, members).mean())
    return AttributeInference(
        task.name,
        rate(mine, chance=chance, seed=seed, control=float(np.sort(others).mean())),
        excess_over_control(mine, others, seed=seed, among=among),
        claims(near, beyond, same=False, seed=seed, among=among, precision=precision),
        spread(mine, members, task.n, np.nan),
    )


def read_off(study: Study, task: Task, people: Rows, seed: int) -> tuple[Floats, Guesses]:
    """Credit of each person: the share of the nearest rows (those that have a value) that tell the truth.

    And the one guess of an intruder who speaks only where they are sure: the commonest value of the nearest rows (the
    middle one of numbers), the surer the nearer they are and the more of them agree.
    """
    rows = np.flatnonzero(~np.isnan(task.published))
    rows = rows[canonical_order(task.rows[rows], task.published[rows, None])]  # lots go by row number: make it content
    index = study.index_for(_encoding(task, people, rows), scale="original")
    nearest = index.nearest(seed=seed)
    near = _nearness(nearest.least)
    if int(nearest.ties.sum()) > MOST_TIES:
        right = task.right(task.published[rows[nearest.row]], people)
        return right, Guesses(right, near)
    start, listed = index.tied()
    right = task.right(task.published[rows[listed]], np.repeat(people, np.diff(start)))
    reach = task.tolerance if task.numeric else None
    named = [commonest(some, reach) for some in np.split(task.published[rows[listed]], start[1:-1])]
    told, agree = np.array(named).T
    credit = np.asarray(np.add.reduceat(right, start[:-1]) / np.diff(start))
    return credit, Guesses(task.right(told, people), np.round(near * agree, 9))


def _nearness(least: Floats) -> Floats:
    """1 for a row that is the same, 1/2 at the middle distance of all."""
    middle = float(np.median(least))
    return np.asarray(np.where(least <= 0, 1.0, middle / np.maximum(middle + least, 1e-300)))


def nearest_values(study: Study, task: Task, people: Rows) -> Floats:
    """Return the value in the nearest row of each person; among equally near ones by a lot that goes by content."""
    rows = np.flatnonzero(~np.isnan(task.published))
    rows = rows[canonical_order(task.rows[rows], task.published[rows, None])]
    people_order = canonical_order(task.people[people], task.wanted[people, None])
    found = study.index_for(_encoding(task, people[people_order], rows), scale="original").nearest(seed=0)
    values = np.empty(people.size)
    values[people_order] = task.published[rows[found.row]]
    return values


class Holdout(NamedTuple):
    """Control people who have a value: the truth, and what stands in the row nearest to them."""

    task: Task
    truth: Floats
    guess: Floats


def hold_out(study: Study, name: str) -> Holdout | None:
    """Read a confidential attribute off the rows nearest to control people; None where that cannot be compared."""
    release = study.release
    known = [column for column in release.quasi if column != name]
    if release.control is None or name not in release.confidential or not known:
        return None
    if not {*known, name} <= set(release.control.columns):
        return None
    task = set_task(study, name, within=0.10)
    people = np.flatnonzero(~np.isnan(task.wanted[task.n :])) + task.n
    if not people.size or np.isnan(task.published).all():
        return None
    return Holdout(task, task.wanted[people], nearest_values(study, task, people))


def _encoding(task: Task, people: Rows, rows: Rows) -> Encoding:
    """Turn the matrices of a task back into numbers and codes."""
    coded = np.array([name in task.coded for name in task.known])

    def side(values: Floats) -> Encoded:
        codes = np.where(np.isnan(values[:, coded]), -1, values[:, coded]).astype(np.int32)
        return Encoded(np.ascontiguousarray(values[:, ~coded]), np.ascontiguousarray(codes))

    names = np.array(task.known)
    return Encoding(side(task.people[people]), side(task.rows[rows]), tuple(names[~coded]), tuple(names[coded]))


@measure(
    "inference",
    title="Attribute inference",
    story="The intruder takes the released row that is nearest in what they know of a person and reads the confidential"
    " attribute off it. People who are not in the release show how much of that is general knowledge.",
    keys=("inference.excess", "inference.claimed"),
    applies=lambda release: nothing_wanted(release) or needs_outsiders(release),
    pairs=False,
)
def assess_inference(study: Study, context: Context) -> Evidence:
    """Read off attributes, and tell how much better that works on people in the release."""
    found = attribute_inference(study, seed=context.seed, progress=context.progress)
    worst, surest = found.worst, found.surest
    return Evidence(
        observations=(
            Observation(
                "inference.excess",
                f"{worst.name!r} is read off the nearest row for {percent(worst.members.value)} of {worst.members.n:,} "
                f"people, for {percent(worst.members.control or 0)} of people outside the release, and guessed by its "
                f"commonest value for {percent(worst.members.chance)}: the release itself gives away "
                f"{percent(worst.excess.value)}.",
                worst.excess,
            ),
            Observation(
                "inference.claimed", claim_words(surest.claims, surest.name, OUTSIDE), surest.claims.given_away
            ),
        ),
        per_record=np.nan_to_num(worst.per_record),
        identity=False,
        facts=tuple(
            Fact(
                entry.name,
                round(entry.members.value, 4),
                f"95 % CI {span(entry.members.low, entry.members.high)}; people outside "
                f"{percent(entry.members.control or 0)}, commonest value {percent(entry.members.chance)}",
                share=True,
            )
            for entry in found.attributes
        )
        + claim_facts(surest.claims, surest.name),
        figures=(_figure(found), claim_figure(surest.claims, surest.name, OUTSIDE)),
        notes=found.notes,
    )


def _figure(found: Inference) -> Figure:
    return Figure.bars(
        [(entry.name, entry.excess.value) for entry in found.attributes],
        title="What does the nearest row tell about its own people?",
        caption="Share of people in the release about whom the nearest row is right, less the share of people outside.",
        said="",
        axes=("confidential attribute", "people given away"),
    )
