"""`unmask assess` where the id repeats: one person, many rows."""

from __future__ import annotations

import shlex
import sys

from unmask.assessment import Assessment
from unmask.cli.options import Assess, ManyRows
from unmask.cli.other_kinds import refuse_others
from unmask.cli.outputs import tell, write_reports
from unmask.cli.screen import progress_bar
from unmask.errors import ParameterError, RepeatedIdError
from unmask.evidence import Policy
from unmask.persons import Persons
from unmask.persons_assessment import assess_persons

OFTEN = 0.05  # share of the ids that repeat, from which people are taken to have many rows
FEWEST = 10  # different ids, below which a column that often repeats is taken for a sex or a ward, not for people ...
MOST = 10  # ... where each has at least this many rows on average
FOR_MANY = {"id", "quasi", "confidential", "categorical", "kinds", "control", "many_rows", "time", "place"}
OF_CHECK = {"accept_roles", "output"}  # say nothing about the release
ONE_ROW = "the id repeats (one person, many rows), and these options are for one row a person"


def check_many_rows(options: ManyRows, error: RepeatedIdError) -> None:
    """Refuse an id that repeats by mistake, and options that do not go with many rows a person."""
    if not options.many_rows:
        _refuse_mistakes(options, error)
    refuse_others(
        options,
        FOR_MANY | OF_CHECK,
        "the id repeats (one person, many rows), and these options are for one row a person",
    )


def _refuse_mistakes(options: ManyRows, error: RepeatedIdError) -> None:
    """Refuse an id that hardly repeats, and a column of few values that is no id at all."""
    if error.people < FEWEST and error.rows >= MOST * error.people and error.share >= OFTEN:
        raise ParameterError(
            f"{options.id!r} does not look like an id",
            got=f"{error.people} different ids in {error.rows:,} rows",
            hint="--id names the column that says whose row it is, such as a patient number; "
            "if these are people with many rows each, say --many-rows",
        )
    if error.share < OFTEN:
        raise error


def persons_of(options: ManyRows) -> Persons:
    """Build the people that the options describe."""
    if options.id is None:
        raise ParameterError("people have many rows, and no --id says whose a row is", hint="name the column")
    return Persons(
        options.original, options.released, id=options.id, time=options.time, place=options.place,
        quasi=options.quasi, confidential=options.confidential, ignored=options.ignored,
        categorical=options.categorical, kinds=options.kinds, control=options.control, reading=options.reading,
    )  # fmt: skip


def told_rows(persons: Persons) -> str:
    """How many rows and people both tables have."""
    rows = [f"{sizes.sum():,} rows of {sizes.size:,} people" for sizes in persons.sizes]
    return f"one person, many rows: {rows[0]} in the original, {rows[1]} in the release"


def attack_persons(options: Assess, policy: Policy) -> Assessment:
    """Attack people with many rows; show and write what was found."""
    persons = persons_of(options)
    if not options.quiet:
        sys.stderr.write(f"note: {told_rows(persons)}\n")
    with progress_bar(quiet=options.quiet) as told:
        assessment = assess_persons(
            persons, policy=policy, seed=options.seed, progress=told,
            command=shlex.join(["unmask", *sys.argv[1:]]), show_values=options.show_values,
        )  # fmt: skip
    tell(assessment, write_reports(assessment, options), options)
    return assessment
