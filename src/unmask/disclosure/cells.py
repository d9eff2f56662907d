"""Cells: what all members of a group of equal records share, and what insiders subtract [TORRA]_.

From outside: all published values of the group are one. From inside: a coalition of c members takes its own records
away, and its own amounts from the total that a published mean tells (docs/measures/cells.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl

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
    commonest,
)
from unmask.disclosure.learn import matrix
from unmask.disclosure.secrets import nothing_published, published
from unmask.errors import ParameterError, RoleError, former_percent
from unmask.evidence import Context, Estimate, Evidence, Fact, Observation, exact, measure, rate
from unmask.shown import Shown
from unmask.study import Study, as_study, inverse
from unmask.tables import Release, centre_and_spread


@dataclass(frozen=True, slots=True)
class CellDisclosure(Shown):
    """People whose confidential values follow from their group. ``groups`` lists these groups, the smallest first."""

    external: Estimate
    internal: Estimate
    rare: Estimate | None  # external, of people whose value fewer than half have; None where most people are such
    claims: tuple[
        tuple[str, Claims], ...
    ]  # by attribute: of an intruder who names a group's commonest value where sure
    coalition: int
    groups: pl.DataFrame = field(repr=False)  # attribute, attack, size, people (whose value follows), first_row, rows
    external_per_record: Floats = field(repr=False)
    internal_per_record: Floats = field(repr=False)

    @property
    def surest(self) -> tuple[str, Claims]:
        """The attribute about which sure claims give most away, and these claims."""
        return max(self.claims, key=lambda one: (one[1].given_away.value, one[1].given_away.low))


def cell_disclosure(  # noqa: PLR0913 - the choices of an attack
    release: Release | Study,
    *,
    attributes: Iterable[str] | None = None,
    coalition: int = 1,
    within: float = 0.10,
    precision: float = PRECISION,
    seed: int = 0,
    p: float | None = None,
) -> CellDisclosure:
    """List the groups of equal released records that give a confidential value away, from outside and from inside.

    Parameters
    ----------
    release
        The two tables, paired. A person is looked for in the group that carries what is known (``quasi``, in the
        schema of the release).
    attributes
        Confidential columns of the release. None: those that are named.
    coalition
        Members who put their own values together, c.
    within
        Numbers are one value within this share of their sd; the bound on a contribution is close within it.
    precision
        How often a claim must be right of an intruder who may keep silent.
    seed
        Seeds the bootstrap, where credits are not plain counts.
    p
        The former name of ``within``, in percent, until version 0.3.

    """
    within = within if p is None else former_percent("p", p, "within")
    if coalition < 1 or not 0 <= within <= 1:
        raise ParameterError(
            "coalition or within is not allowed", got=f"{coalition}, {within}", allowed="c from 1, within from 0 to 1"
        )
    study = as_study(release)
    release = study.release
    names = published(release) if attributes is None else tuple(attributes)
    if not names:
        raise RoleError("there is no confidential attribute in the release", hint="name one in confidential=")
    people, n = release.paired_rows, release.original.height
    needed = [*release.quasi, *names]
    outside = release.control is not None and set(needed) <= set(release.control.columns)
    study = study.beside("control", needed) if outside else study
    crowds = _crowds(study)
    outer, inner, blind, within_it, unusual, told = (np.zeros(crowds.own.size) for _ in range(6))
    listed = []
    for name in names:
        external, internal, guess, left, few = _attribute(study, name, crowds, coalition, within)
        unusual, told = np.maximum(unusual, few), np.maximum(told, few * external)
        outer, inner = np.maximum(outer, external), np.maximum(inner, internal)
        blind, within_it = np.maximum(blind, guess), np.maximum(within_it, left)
        listed += _list(name, "external", external[:n], crowds)
        listed += _list(name, "internal", internal[:n], crowds)
    found = [
        rate(
            credit[people],
            chance=float(np.sort(guess[people]).mean()),
            seed=seed,
            control=float(credit[n:].mean()) if outside else None,
        )
        for credit, guess in ((outer, blind), (inner, within_it))
    ]
    rare = _rare(unusual[people], told[people], blind[people])
    sure = _sure(study, names, crowds, within, seed, precision)
    return CellDisclosure(found[0], found[1], rare, sure, coalition, _frame(listed), outer[:n], inner[:n])


def _sure(
    study: Study, names: tuple[str, ...], crowds: Crowds, within: float, seed: int, precision: float
) -> tuple[tuple[str, Claims], ...]:
    """Sure claims about each attribute."""
    found = []
    for name in names:
        inside, outside = _guesses(study, name, crowds, within)
        sure = claims(inside, outside, same=True, seed=seed, among=len(names), precision=precision)
        found.append((name, sure))
    return tuple(found)


def _rare(unusual: Floats, told: Floats, blind: Floats) -> Estimate | None:
    """Share of people with an unusual value whose value is given away: a fact of the file, about few people.

    Over everybody they do not count: where 98 of 100 have no illness, guessing "none" is right for 98.
    """
    few = unusual > 0
    if not 0 < few.sum() < few.size / 2:
        return None
    return exact(float(told[few].mean()), n=int(few.sum()), chance=float(np.sort(blind[few]).mean()))


class Crowds(NamedTuple):
    """The released records among which each person is looked for."""

    own: Rows  # number of each person's crowd, -1: no record carries what is known
    records: dict[int, Rows]  # rows of the release in each crowd
    groups: list[Rows]  # rows of equal records: a crowd is one such group, or several where intervals overlap


def _crowds(study: Study) -> Crowds:
    match, truth = study.comparable.match(), study.release.truth
    groups = match.members()
    several = np.diff(match.start)
    first = match.groups[np.minimum(match.start[:-1], max(0, len(match.groups) - 1))] if len(match.groups) else several
    kinds = np.arange(len(several)) + len(groups)  # numbers of crowds of several groups, after those of one
    own = np.where(several == 0, -1, np.where(several == 1, first, kinds))[match.kind]
    if min(len(rows) for rows in groups if len(rows)) > 1:
        # no record stands alone: microaggregates. A person's group is the one whose centroid stands in their place
        own = np.where((own < 0) & (truth >= 0), match.group[truth], own)
    records = dict(enumerate(groups))
    for kind in np.flatnonzero(several > 1):
        matched = match.groups[match.start[kind] : match.start[kind + 1]]
        records[len(groups) + int(kind)] = np.sort(np.concatenate([groups[group] for group in matched]))
    return Crowds(own, records, [rows for rows in groups if len(rows)])


def _attribute(
    study: Study, name: str, crowds: Crowds, coalition: int, within: float
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """What is learnt from outside and inside, what a blind guess of either gets, and who has a value that few have.

    A guess is blind that names the value which the group leaves, of anybody: where 98 of 100 have no illness, a group
    in which all but one have none tells little that everybody does not know.
    """
    encoding, release = study.encoding([name]), study.release
    truth, values = matrix(encoding.original)[:, 0], matrix(encoding.released)[:, 0]
    numeric = release.columns[name].is_number
    reach = within * centre_and_spread(truth)[1] if numeric else 0.0
    n = truth.size
    external, internal, blind, left = (np.zeros(n) for _ in range(4))
    ordered = np.sort(truth[~np.isnan(truth)])
    alike = _share(ordered, truth, truth, reach)
    for person in np.flatnonzero((crowds.own >= 0) & ~np.isnan(truth)):
        members = crowds.records[int(crowds.own[person])]
        shown = values[members]
        shown = shown[~np.isnan(shown)]
        size = members.size
        if not shown.size or shown.size < size:
            continue  # a suppressed value may be any
        low, high = float(shown.min()), float(shown.max())
        if high - low <= reach:
            external[person] = float(abs(truth[person] - (low + high) / 2) <= reach)
            blind[person] = _share(ordered, low, high, reach)
        common = float(np.sort(shown)[size // 2])
        if size > 1 and (np.abs(shown - common) > reach).sum() <= coalition:
            left[person] = _share(ordered, common, common, reach)
        internal[person] = max(external[person] if size > 1 else 0.0, _inside(truth[person], shown, reach, coalition))
    if numeric:
        internal = np.maximum(internal, _subtracted(release, truth, values, crowds.groups, coalition, within))
    few = (alike < 0.5) & ~np.isnan(truth)
    return external, internal, blind, np.where(internal > 0, alike, left), few.astype(np.float64)


def _guesses(study: Study, name: str, crowds: Crowds, within: float) -> tuple[Guesses, Guesses]:
    """The commonest value of each person's group and how many agree, with the person's own row and without it.

    Where no row is left it is the commonest value of the whole release.
    """
    encoding, release = study.encoding([name]), study.release
    truth, values = matrix(encoding.original)[:, 0], matrix(encoding.released)[:, 0]
    numeric = release.columns[name].is_number
    reach = within * centre_and_spread(truth)[1] if numeric else None
    people = release.paired_rows[~np.isnan(truth[release.paired_rows])]
    found, everybody = np.zeros((4, people.size)), values[~np.isnan(values)]
    blind = commonest(everybody, reach) if everybody.size else (np.nan, 0.0)
    for place, person in enumerate(people):
        own = int(crowds.own[person])
        members = crowds.records[own] if own >= 0 else np.empty(0, dtype=np.int64)
        for side, rows in enumerate((members, members[members != release.truth[person]])):
            shown = values[rows][~np.isnan(values[rows])]
            told, found[2 * side + 1, place] = commonest(shown, reach) if shown.size else blind
            found[2 * side, place] = float(abs(truth[person] - told) <= (reach or 0.0))
    return Guesses(found[0], found[1]), Guesses(found[2], found[3])


def _share(ordered: Floats, low: Any, high: Any, reach: float) -> Any:  # noqa: ANN401 - of one value, or of each of many
    """Share of people whose value is from low to high, or within reach of them."""
    inside = np.searchsorted(ordered, high + reach, "right") - np.searchsorted(ordered, low - reach, "left")
    return inside / max(1, ordered.size)


def _inside(value: float, shown: Floats, reach: float, coalition: int) -> float:
    """Whether c members of the group, by taking their own values away, are left with one value that is the person's."""
    others = int((np.abs(shown - value) > reach).sum())
    same = shown.size - others
    if same == 0:
        return 0.0  # what is published of the group is not this person's value
    return float(shown.size > 1 and (others <= coalition or shown.size - 1 <= coalition))


def _subtracted(
    release: Release, truth: Floats, values: Floats, groups: list[Rows], coalition: int, within: float
) -> Floats:
    """Members of groups whose mean is published: those whom the c largest others bound closely."""
    found = np.zeros(truth.size)
    made_from = inverse(release.truth, values.size)
    for members in groups:
        people = made_from[members]
        amounts = truth[people] if (people >= 0).all() else np.array([np.nan])
        shown = values[members]
        if np.isnan(amounts).any() or people.size < 2 or (amounts < 0).any() or shown.max() > shown.min():
            continue
        total = float(np.sort(amounts).sum())
        if abs(shown[0] * people.size - total) > 1e-6 * max(1.0, abs(total)) + 0.5 * people.size:
            continue  # not the mean (half a unit each: means of whole numbers are rounded)
        order = np.argsort(-amounts, kind="stable")
        best = np.concatenate([[0.0], np.cumsum(amounts[order])])
        for place, k in enumerate(order):
            known = best[min(coalition + (place < coalition), people.size)] - (amounts[k] if place < coalition else 0.0)
            rest = total - known - amounts[k]
            found[people[k]] = float(rest <= within * amounts[k] + 1e-9 * max(1.0, total))
    return found


def _list(name: str, attack: str, credit: Floats, crowds: Crowds) -> list[tuple[str, str, int, int, int, list[int]]]:
    """One line per crowd that gives somebody away. Rows are those of the release, from 1; no values of the data."""
    told = np.flatnonzero((credit > 0) & (crowds.own[: credit.size] >= 0))
    counts = zip(*np.unique(crowds.own[told], return_counts=True), strict=True)
    found = [(crowds.records[int(crowd)], int(count)) for crowd, count in counts]
    return [(name, attack, rows.size, count, int(rows[0]) + 1, (rows + 1).tolist()) for rows, count in found]


def _frame(listed: list[tuple[str, str, int, int, int, list[int]]]) -> pl.DataFrame:
    schema: dict[str, Any] = {
        "attribute": pl.String, "attack": pl.String, "size": pl.Int64, "people": pl.Int64, "first_row": pl.Int64,
        "rows": pl.List(pl.Int64),
    }  # fmt: skip
    return pl.DataFrame(listed, schema=schema, orient="row").sort("size", "attribute", "attack", "first_row")


@measure(
    "cells",
    title="Groups that give values away",
    story="The intruder knows which group of equal records a person is in. If the whole group has one value they have "
    "learnt it; a member of the group may take away their own record first.",
    keys=("cells.external", "cells.internal", "cells.claimed", "cells.rare"),
    applies=nothing_published,
)
def assess_cells(study: Study, context: Context) -> Evidence:
    """Attack the groups from outside and by one insider."""
    found = cell_disclosure(study, seed=context.seed)
    name, sure = found.surest
    several = found.groups.filter(pl.col("size") > 1)
    return Evidence(
        observations=(
            Observation.of_people(
                "cells.external",
                found.external,
                "are in a group of equal records in which everybody has the same confidential value as they "
                "(groups of one included).",
            ),
            Observation.of_people(
                "cells.internal",
                found.internal,
                "are in a group of several where another member learns their confidential value by taking "
                "away their own.",
            ),
            Observation("cells.claimed", claim_words(sure, name, LEFT_OUT), sure.given_away),
            *_told_of_few(found),
        ),
        per_record=np.maximum(found.external_per_record, found.internal_per_record),
        identity=False,
        facts=(
            Fact(
                "groups that give values away",
                found.groups["first_row"].n_unique(),
                "listed by cell_disclosure().groups",
            ),
            Fact("of these with several members", several["first_row"].n_unique(), "nobody has to be found in them"),
            *claim_facts(sure, name),
        ),
        figures=(claim_figure(sure, name, LEFT_OUT),),
        notes=tuple(
            f"a group of {size} released rows, the first in row {first}, gives {name!r} away ({attack} attack)"
            for name, attack, size, _, first, _ in several.head(5).iter_rows()
        ),
    )


def _told_of_few(found: CellDisclosure) -> tuple[Observation, ...]:
    """Those with an unusual value, where most people have a common one."""
    if found.rare is None:
        return ()
    claim = (
        f"{found.rare.hits:,.0f} of {found.rare.n:,} people with a confidential value that fewer than half have are in "
        "a group of equal records that gives it away."
    )
    return (Observation("cells.rare", claim, found.rare),)
