"""`unmask assess --plan`: what each attack would take, in time and memory, and how it would be done; nothing runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unmask.assessment import plan_assessment
from unmask.cli.screen import console, say
from unmask.evidence import name_of
from unmask.planning import seconds
from unmask.shares import in_words

if TYPE_CHECKING:
    from unmask.cli.options import Assess
    from unmask.evidence import Policy
    from unmask.planning import Plan, Planned
    from unmask.tables import Release


def show_plan(release: Release, options: Assess, policy: Policy) -> None:
    """Show the plan for a release as a table, in the order in which attacks would run."""
    plan = plan_assessment(
        release, policy=policy, only=options.only or None, skip=options.skip, recipients=options.recipients,
        budget=seconds(options.budget),
    )  # fmt: skip
    there = [entry for entry in plan.entries if entry.out_of]
    console().print(_table(there))
    for line in _words(plan, there):
        say(line)


def _table(entries: list[Planned]) -> Any:  # noqa: ANN401 - rich's table
    from rich.table import Table  # noqa: PLC0415 - slow to import

    table = Table(box=None, pad_edge=False)
    for name in ("attack", "form", "people"):
        table.add_column(name, justify="right" if name == "people" else "left", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("memory", justify="right", no_wrap=True)
    for entry in entries:
        people = "" if entry.form == "left out" else f"{entry.people:,} of {entry.out_of:,}"
        size = "" if entry.form == "left out" else f"{max(entry.memory, 1_000_000) / 1e6:,.0f} MB"
        name = f"{entry.measure}{'' if entry.judged else ' (not judged)'}"
        table.add_row(name, entry.form, people, _time(entry), size)
    return table


def _time(entry: Planned) -> str:
    return "" if entry.form == "left out" else f"{entry.seconds:,.1f} s" if entry.seconds >= 0.1 else "< 0.1 s"


def _words(plan: Plan, entries: list[Planned]) -> list[str]:
    idle = len(plan.entries) - len(entries)
    each = f", for each of {plan.times} recipients who hold different columns" if plan.times > 1 else ""
    told = [f"{len(entries)} attacks{each}, {in_words(max(1.0, plan.seconds))} in all if one runs after the other."]
    told += [f"{idle} more do not apply to these tables."] if idle else []
    left = [name_of(entry.measure) for entry in entries if entry.form == "left out"]
    if left:
        told.append(
            f"No time within {in_words(plan.budget or 0.0)} for {', '.join(left)}: nothing is then called safe."
        )
    return told
