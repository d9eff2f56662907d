"""Household risk: one found member gives the others away, by the household's number or its common address.

The risk of everybody in it is 1 - prod(1 - r), as sdcMicro has it; r is the member's own risk: against the population
when something is known of it, else among the released records that look alike.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.evidence import Context, Evidence, Fact, Observation, measure, rate
from unmask.groups.population import SOURCES, household_risk, of_release, unknown
from unmask.study import Study


@measure(
    "household",
    title="Household risk: one found member gives the others away",
    story="The intruder finds anyone of a household, and then knows who the others are.",
    keys=("household.rate",),
    applies=lambda release: None if release.household is not None else "no column says who lives together",
)
def assess_household(study: Study, context: Context) -> Evidence:
    """1 - prod(1 - r) over the released members of each person's household."""
    release = study.release
    alone, chance, source = _single(study)
    context.progress(0.7, "households")
    people = release.paired_rows
    home = number_homes(release.original[str(release.household)])
    risk = np.zeros(len(alone))
    risk[people] = over_homes(alone[people], home[people])
    members = np.bincount(home[people])[home[people]]
    blind = float((1 - (1 - chance) ** members).mean())
    found = rate(risk[people], chance=blind, seed=context.seed)
    before = float(alone[people].mean())
    claim = f"{found.hits:,.1f} of {found.n:,} people are expected to live with somebody who is found, or to be found."
    return Evidence(
        observations=(Observation("household.rate", claim, found),),
        per_record=risk,
        facts=(
            Fact("households", len(np.unique(home[people])), "people without one count as living alone"),
            Fact("largest household", int(members.max()), "members with a released record"),
            Fact("mean risk without households", before, f"of the members one by one; {source}", share=True),
        ),
    )


def _single(study: Study) -> tuple[Floats, float, str]:
    """Risk of each person alone, what a blind guess gives, and where it comes from."""
    release, match = study.release, study.comparable.match()
    if unknown(release) is not None:
        return match.credit(release.truth), 1 / release.released.height, "among the released records that look alike"
    found = of_release(study)
    credit = np.where(match.owns(release.truth), found.per_record[release.truth], 0.0)
    return credit, 1 / found.population, f"N {SOURCES[found.source]}"


def number_homes(column: pl.Series) -> Ints:
    """Number the households; who has none is one of their own."""
    known = column.rank("dense").fill_null(0).cast(int).to_numpy().astype(np.int64)
    lone = known == 0
    known[lone] = known.max(initial=0) + 1 + np.arange(lone.sum())
    return np.asarray(known - 1)


def over_homes(risk: Floats, home: Ints) -> Floats:
    """The chance that at least one member is found, for every member."""
    return household_risk(risk, home, np.ones(len(risk), np.int64))[home]
