"""`unmask protect`: search for a release that is safe, write it, and say what was done and why."""

from __future__ import annotations

import time

from unmask.cli.explore import FOUND, NONE_SAFE, key_of
from unmask.cli.fields import roles_of
from unmask.cli.making_options import Protect
from unmask.cli.screen import progress_bar, say
from unmask.cli.targets import check_files, write_atomically, write_findings, write_table
from unmask.masking import lost_sums, quoted
from unmask.planning import seconds
from unmask.protect import Protection
from unmask.protecting import protect_table
from unmask.shares import in_words
from unmask.tables import read_table
from unmask.trying import make_release

LATE = 1.1  # of the budget, from which on it is said what a search took


def run(options: Protect) -> int:
    """Protect, tell and write; the exit code says whether a safe release was found."""
    check_files(options)
    key_of(options.folder)
    roles = {**roles_of(options), "reading": options.reading}
    began = time.monotonic()
    with progress_bar() as tell:
        found = protect_table(
            options.original, policy=options.policy, intruder=options.intruder, keep=options.keep,
            hierarchies=options.hierarchies, seed=options.seed, budget=seconds(options.budget),
            folder=options.folder, resume=options.resume, progress=tell, **roles,
        )  # fmt: skip
    for line in found.reasons:
        say(line)
    say(found.words)
    if late := over_budget(time.monotonic() - began, seconds(options.budget)):
        say(late)
    _write(found, options)
    if found.final is None:
        return NONE_SAFE
    release = make_release(options.original, found.final, **roles)
    write_table(release, options.output)
    say(f"Release: {options.output}.")
    for relation in lost_sums(read_table(options.original, name="original", **options.reading), release):
        whole = relation.split(" = ")[0]
        say(f"note: {relation} holds in the original and no longer; with --ignored {quoted(whole)} it can be added up")
    return FOUND


def over_budget(took: float, budget: float | None) -> str:
    """Say by how much a search took longer than it was given, and why; nothing where it did not."""
    if budget is None or took < LATE * budget:
        return ""
    return (
        f"note: this took {in_words(took)} of a budget of {in_words(budget)}: no release was begun after that time, "
        "but those begun were finished, and one that looked safe was attacked again."
    )


def _write(found: Protection, options: Protect) -> None:
    if options.plan is not None and found.final is not None:
        write_atomically(options.plan, found.plan())
        say(f"Plan: {options.plan}.")
    if options.points is not None:
        write_findings(found.frontier.to_frame(), options.points)
        say(f"Releases that were tried: {options.points}.")
    if options.chart is not None and found.frontier.points:
        from unmask.report import draw  # noqa: PLC0415 - imports altair

        write_atomically(options.chart, draw(found.frontier.figure()))
        say(f"Picture: {options.chart}.")
