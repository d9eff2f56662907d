"""`unmask assess --engine duckdb` and `--engine spark`: releases that are larger than memory."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import replace

from unmask.assessment import Assessment
from unmask.cli.options import Assess
from unmask.cli.other_kinds import refuse_others
from unmask.cli.outputs import by_suffix, state_of, tell, write_reports
from unmask.cli.screen import progress_bar
from unmask.cli.targets import check_files
from unmask.errors import ParameterError, check_name
from unmask.evidence import Policy
from unmask.large_assessment import assess_large, chosen_of

FOR_LARGE = {
    "id", "quasi", "confidential", "categorical", "kinds", "population", "only", "skip", "engine", "memory", "threads",
    "sample", "master", "work", "state", "synthetic", "control",
}  # fmt: skip
OF = {"duckdb": ("memory", "threads"), "spark": ("master", "work")}  # options that are for one of them
READING = ("separator", "encoding", "missing", "sheet")


def attack_large(options: Assess) -> Assessment:
    """Attack by the engine that is named; show and write what was found."""
    engine = str(options.engine)
    check_name(engine, ("memory", *OF), f"no engine {engine!r}")
    words = f"the engine {engine} compares two tables as they stand, and these options are not for it"
    refuse_others(options, FOR_LARGE, words)
    given = [f"--{name}" for name in READING if getattr(options, name)]
    others = [name for one, names in OF.items() if one != engine for name in names]
    given += [f"--{name}" for name in others if getattr(options, name) != getattr(Assess(), name)]
    if given:
        raise ParameterError(words, got=", ".join(given), hint="leave them out")
    options, people = _checked(options)
    elsewhere = any("://" in str(table) for table in (options.original, options.released, options.control))
    state = None if elsewhere and options.state is None else state_of(options)
    with progress_bar(quiet=options.quiet) as told:
        assessment = assess_large(
            options.original, options.released, id=options.id, synthetic=options.synthetic,
            control=options.control, quasi=options.quasi, ignored=options.ignored,
            confidential=options.confidential, categorical=options.categorical, kinds=options.kinds,
            population=people, policy=Policy.load(options.policy), only=options.only or None,
            skip=options.skip, sample=options.sample, seed=options.seed, memory=options.memory,
            threads=options.threads, engine=engine, master=options.master, work=options.work, progress=told,
            command=shlex.join(["unmask", *sys.argv[1:]]), show_values=options.show_values, resume=state,
        )  # fmt: skip
    tell(assessment, write_reports(assessment, options), options)
    if state is not None and options.state is None:
        shutil.rmtree(state, ignore_errors=True)
    return assessment


def _checked(options: Assess) -> tuple[Assess, float | None]:
    """Refuse, before any work, what is missing, and files that cannot be written; folders and patterns are read."""
    options = by_suffix(options)
    if options.original is None or options.released is None:
        raise ParameterError(f"the engine {options.engine} needs two tables", hint="name ORIGINAL and RELEASED")
    if options.id is None and not options.synthetic:
        raise ParameterError(
            f"the engine {options.engine} needs an id",
            hint="--id names the column that says which rows belong together; a release that is --synthetic has none",
        )
    if isinstance(options.population, str):
        raise ParameterError(
            "the population is a number of people for this engine", got="a file", hint="--population N"
        )
    chosen_of(options.only or None, options.skip, str(options.engine))
    check_files(replace(options, original=None, released=None))
    return options, options.population
