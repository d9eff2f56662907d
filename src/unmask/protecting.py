"""From a table to a release that is safe: the cheapest treatment of each column that the whole assessment accepts.

Each column's treatments are weighed alone (bits that they leave, what they cost), which gives paths of combinations
from "leave everything" to "leave almost nothing" (`protect.treatments`). On each path the first release that is safe is
searched for: with a glance, then with the attacks that the policy asks for, then with everything. Then single columns
are treated more gently while the release stays safe, and the result is attacked again with other seeds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from unmask.errors import ParameterError
from unmask.evidence import Policy, Progress, silent
from unmask.masking import parse_masking
from unmask.protect import (
    Frontier,
    Point,
    Protection,
    Treatment,
    bits_left,
    chained,
    coarser_only,
    opened,
    path,
    steps_of,
    then_blank,
    then_sample,
    treatments,
    weigh,
    weigh_together,
)
from unmask.searching import Search, State
from unmask.tables import Release
from unmask.trying import Job, begin, not_published, with_hierarchies
from unmask.utility import Kept, compare_analyses

Weighed = tuple[dict[str, tuple[Treatment, ...]], list[list[State]]]
BLANKED_GROUPS = 11  # in which everybody stands whose cells are blanked, where the policy asks for less
MOST_BLANKED = 10  # columns of which cells are blanked
FRACTIONS = (0.5, 0.2)  # of the people that are published, where the intruder does not know who is in


def protect_table(  # noqa: PLR0913 - the options of a search
    original: object,
    *,
    policy: Policy | str | Path | None = None,
    intruder: str = "maximum",
    keep: Iterable[str] = (),
    hierarchies: Mapping[str, str] | None = None,
    seed: int = 0,
    budget: float | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    **roles: Any,  # noqa: ANN401 - those of a Release
) -> Protection:
    """Search for the most useful release that the whole assessment calls safe.

    Parameters
    ----------
    original
        The table, a path or any frame.
    policy, intruder
        Who judges, and who attacks: as in `assess`.
    keep
        Analyses that must come out, such as "mean(income) by region": they count in what is left.
    hierarchies
        Files with coarser words for the values of a column, as ARX writes them.
    budget
        Seconds after which no further release is tried.
    folder, resume
        Where every finished release's figures are kept; ``resume`` goes on with a run that was stopped.
    progress
        Called with the fraction done and a word.
    **roles
        As of a ``Release``: ``id``, ``quasi``, ``confidential``, ``ignored``, ``kinds`` ...

    """
    job, release, about = begin(original, policy, intruder, tuple(keep), seed, roles)
    job = with_hierarchies(job, hierarchies, release)
    least, n = job.policy.least_people("paired"), release.original.height
    if n < least:
        raise ParameterError(
            f"the policy {job.policy.name!r} can call no release of so few people safe",
            got=f"{n} people", allowed=f"from {least} on", hint="judge by another policy, or protect a larger table",
        )  # fmt: skip
    told, until = progress or silent, None if budget is None else time.monotonic() + budget
    options, paths = _paths(job, release, told)
    with opened(folder, about, resume=resume) as store:
        search = Search(job, options, store, until, told)
        best = search.single(_singles(job, release, paths[0][0]), search.best(paths))
        again = None if best is None else search.again
    told(1.0, "done")
    limit = job.policy.threshold("nearest.rate").value
    tried = sorted(search.told(), key=lambda point: (-point.utility, point.risk, point.masking))
    before = {one.column: one.bits for one in paths[0][0].values()}
    final = None if best is None else search.tried[search.text(best)]
    out = not_published(job)
    return Protection(
        () if best is None else _as_taken(job, best), before, final, again,
        Frontier(tuple(tried), release.original.height, job.policy.name, limit), out, tuple(search.refused),
        () if final is None else _kept(job, final), tuple(name for name in job.around if name not in out),
    )  # fmt: skip


def _as_taken(job: Job, best: State) -> tuple[Treatment, ...]:
    """The steps with what each took away and cost when it was taken, after those before it."""
    taken, left = list[Treatment](), 1.0
    steps = steps_of(best, job.crowd)
    for place, one in enumerate(steps, 1):
        masked = job.release(chained(step.masking for step in steps[:place]), job.seed + 1).released
        now = job.usable(masked)[1]
        there = [name for name in one.columns if name in masked.columns] if masked.height == job.table.height else []
        bits = sum(bits_left(job.table[name], masked[name]) for name in there)
        taken.append(replace(one, bits=bits, cost=max(0.0, left - now)))
        left = now
    return tuple(taken)


def _kept(job: Job, final: Point) -> tuple[Kept, ...]:
    return compare_analyses(job.table, job.release(final.masking, final.seed).released, job.keep)


def _paths(job: Job, release: Release, told: Progress) -> Weighed:
    """Each column by itself, and the numbers made equal in groups together."""
    inside = job.table.drop(*job.around, *job.ignored)

    def left(masked: pl.DataFrame) -> float:
        if not masked.width:
            return 0.0
        return job.left(masked).value

    found, kinds = dict[str, tuple[Treatment, ...]](), job.kinds(release)
    for place, name in enumerate(release.quasi):
        told(0.1 * place / len(release.quasi), f"weighing treatments of {name}")
        tries = treatments(inside, name, kinds[name], job.hierarchies.get(name))
        found[name] = weigh(inside, name, tries, left, job.seed + 1)
    numbers = tuple(name for name in kinds if kinds[name] == "numeric" and inside[name].dtype.is_numeric())
    together = [path(found)]
    if len(numbers) > 1:
        block = weigh_together(inside, numbers, left, job.seed + 1)
        rest = {name: one for name, one in found.items() if name not in numbers}
        together.append(path({block[0].column: block, **rest}))
        found = {**found, block[0].column: block}
    drawn = [one for one in found[", ".join(numbers)] if one.drawn][-1:] if numbers else []
    together += _last_steps(job, together[0], {name: found[name] for name in release.quasi}, *drawn)
    return found, [[state for state in states if _publishes(state)] for states in together]


def _last_steps(
    job: Job, first: list[State], options: dict[str, tuple[Treatment, ...]], drawn: Treatment | None = None
) -> list[list[State]]:
    """Paths on which cells of the exposed are blanked at the end, or only some of the people are published.

    Cells of all columns, or of those that are no numbers, which are then ``drawn`` anew.
    """
    found = list[list[State]]()
    groups = {job.crowd, BLANKED_GROUPS}
    words = {name: one for name, one in options.items() if drawn is not None and name not in drawn.columns}
    for chosen, before in ((options, {}), (words, {} if drawn is None else {drawn.column: drawn})):
        if 0 < len(chosen) <= MOST_BLANKED:
            coarse = [{**before, **state} for state in path(coarser_only(chosen)) if _publishes(state)]
            found += [[then_blank(state, k) for state in coarse] for k in sorted(groups) if 1 < k <= job.table.height]
    if job.may_sample:
        found += [[then_sample(state, part) for state in first] for part in FRACTIONS]
    return found


def _singles(job: Job, release: Release, whole: State) -> list[State]:
    """Maskings of all columns at once, as `explore` tries them."""
    named, bits = ", ".join(whole), sum(one.bits for one in whole.values())
    found = list[State]()
    for text in job.suggested(release):
        masked = job.release(text, job.seed + 1).released
        left = [bits_left(job.table[name], masked[name]) for name in whole if name in masked.columns]
        cost = 1.0 - job.left(masked).value
        found.append({named: Treatment(named, str(parse_masking(text)), min(bits, sum(left)), cost, tuple(whole))})
    return found


def _publishes(state: State) -> bool:
    return any(not one.masking.startswith("drop(") for one in state.values())
