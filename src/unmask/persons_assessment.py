"""`unmask.assess_persons`: attack a release with many rows a person, judge what was found, and report it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unmask.assessment import Assessment
from unmask.errors import ParameterError
from unmask.evidence import Findings, Policy, Progress, conclude, silent
from unmask.fingerprints import fingerprints
from unmask.linkage import target_columns
from unmask.made_with import made_with
from unmask.persons import Persons, persons_risk, report_persons
from unmask.report import document

CHECK = document.CheckEntry(True, "untested", "people have many rows, which no key pairs one to one", ())  # noqa: FBT003
HOW = "how often it finds them in this release: one time in as many people as fit equally well"
MEASURES = ("alike", "bags", "taught", "points", "sequences", "shared", "presence")


def assess_persons(
    persons: Persons,
    *,
    policy: Policy | str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
    command: str | None = None,
    show_values: bool = False,
) -> Assessment:
    """Attack a release in which people have many rows each, and say whether it may be published.

    Parameters
    ----------
    persons
        The original and the released table, and the column that says whose row it is.
    policy, seed, progress, command, show_values
        As for ``assess``.

    Examples
    --------
    >>> import unmask
    >>> visits = unmask.datasets.visits(60)
    >>> unmask.assess_persons(unmask.Persons(visits, visits, id="patient")).verdict
    'unsafe'

    """
    if seed < 0:
        raise ParameterError("a seed is a whole number from 0", got=str(seed))
    rules = policy if isinstance(policy, Policy) else Policy.load(policy)
    found = persons_risk(persons, seed=seed, progress=progress)
    release = persons.release
    judged = conclude(
        report_persons(found), rules, columns=target_columns(release), core="persons"
    )  # fmt: skip
    few = rules.too_few("persons", int(persons.there.sum()))
    risk, best = found.risks()
    labels = tuple(persons.ids.cast(pl.String)) if show_values else None
    built = document.build(
        judged,
        check=CHECK,
        columns=(),
        warnings=(*(f"{one.claim} {one.reason}" for one in judged.unseen), *few, *_coded(persons)),
        risk={**found.credits(), "risk": risk},
        people=document.PeopleEntry(best, HOW, int((~np.isnan(risk)).sum()), 0.0, ()),
        labels=labels,
        manifest=_manifest(persons, rules, seed, command, show_values=show_values),
    )
    records = found.to_frame() if show_values else found.to_frame().drop("id")  # an id is a value
    return Assessment(judged.verdict.word, judged.verdict.reason, Findings(judged.findings), records, built, release)


def _coded(persons: Persons) -> tuple[str, ...]:
    """How values were read that the release has otherwise, and what a careful reader should know."""
    about = [note for note in persons.release.warnings if not note.startswith("the release is taken as synthetic")]
    return (*persons.notes, *about, *persons.encoding().notes)


def _manifest(
    persons: Persons, policy: Policy, seed: int, command: str | None, *, show_values: bool
) -> document.Manifest:
    settings: dict[str, Any] = {**persons.release.settings, "time": persons.time, "place": [*persons.place]}
    people = {"original": persons.n, "released": len(persons.released_ids)}
    inputs = {
        name: {**document.vars_of(source), **({"people": people[name]} if name in people else {})}
        for name, source in persons.release.sources.items()
    }
    return document.Manifest(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        seed=seed,
        measures=MEASURES,
        inputs=fingerprints(inputs),
        settings={**settings, "synthetic": False, "many_rows": True},
        policy=policy.told(),
        versions=made_with(),
        show_values=show_values,
    )
