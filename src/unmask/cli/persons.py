"""`unmask assess` where the id repeats: one person, many rows."""

from __future__ import annotations

import shlex
import sys
from dataclasses import MISSING, fields

from unmask.assessment import Assessment
from unmask.cli.options import Assess
from unmask.cli.outputs import tell, write_reports
from unmask.cli.screen import progress_bar
from unmask.errors import ParameterError, RepeatedIdError
from unmask.evidence import Policy
from unmask.persons import Persons
from unmask.persons_assessment import assess_persons

OFTEN = 0.05  # share of the ids that repeat, from which people are taken to have many rows
NOT_FOR_MANY = (  # options that say something of single rows, or attack these
    "only", "skip", "intruder", "by", "keep", "utility", "recipients", "certificate", "public_certificate",
    "statement", "fix", "weight", "household", "population", "coordinates", "distances", "known_distances", "second",
    "synthetic", "masking", "synthesiser", "scenario", "state", "earlier", "hierarchies",
    "epsilon", "delta",
)  # fmt: skip


def check_many_rows(options: Assess, error: RepeatedIdError) -> None:
    """Refuse an id that repeats by mistake, and options that do not go with many rows a person."""
    if not options.many_rows and error.share < OFTEN:
        raise error
    given = [entry.name for entry in fields(options) if entry.name in NOT_FOR_MANY and _given(options, entry.name)]
    if given:
        raise ParameterError(
            "the id repeats (one person, many rows), and these options are for one row a person",
            got=", ".join(f"--{name.replace('_', '-')}" for name in given), hint="leave them out",
        )  # fmt: skip


def _given(options: Assess, name: str) -> bool:
    entry = next(entry for entry in fields(options) if entry.name == name)
    usual = entry.default if entry.default_factory is MISSING else entry.default_factory()
    return bool(getattr(options, name) != usual)


def attack_persons(options: Assess, policy: Policy) -> Assessment:
    """Attack people with many rows; show and write what was found."""
    persons = Persons(
        options.original, options.released, id=str(options.id), time=options.time, place=options.place,
        quasi=options.quasi, confidential=options.confidential, ignored=options.ignored,
        categorical=options.categorical, kinds=options.kinds, control=options.control, reading=options.reading,
    )  # fmt: skip
    if not options.quiet:
        rows = [f"{sizes.sum():,} rows of {sizes.size:,} people" for sizes in persons.sizes]
        sys.stderr.write(f"note: one person, many rows: {rows[0]} in the original, {rows[1]} in the release\n")
    with progress_bar(quiet=options.quiet) as told:
        assessment = assess_persons(
            persons, policy=policy, seed=options.seed, progress=told,
            command=shlex.join(["unmask", *sys.argv[1:]]), show_values=options.show_values,
        )  # fmt: skip
    tell(assessment, write_reports(assessment, options), options)
    return assessment
