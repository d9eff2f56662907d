"""From a table to a release that is safe: the cheapest treatment of each column that the whole assessment accepts.

Each column's treatments are weighed alone (bits that they leave, what they cost), which gives paths of combinations
from "leave everything" to "leave almost nothing" (`protect.treatments`). On each path the first release that is safe is
searched for: with a glance, then with the attacks that the policy asks for, then with everything. Then single columns
are treated more gently while the release stays safe, and the result is attacked again with other seeds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from unmask.errors import ParameterError, RoleError
from unmask.evidence import Policy, Progress, silent
from unmask.explore import Job, begin
from unmask.masking import parse_masking
from unmask.protect import (
    Frontier,
    Point,
    Protection,
    Stage,
    Store,
    Treatment,
    bits_left,
    chained,
    coarser_only,
    opened,
    path,
    suggest_maskings,
    then_blank,
    then_sample,
    treatments,
    weigh,
    weigh_together,
)
from unmask.tables import Release
from unmask.utility import Kept, compare_analyses

State = dict[str, Treatment]
Weighed = tuple[dict[str, tuple[Treatment, ...]], list[list[State]]]
SOFTER, FARTHER = 8, 3  # gentler treatments that are tried; steps on if the last attack finds too much
WORTH = 0.005  # of what is left, for which a gentler treatment is tried
STAGES: tuple[Stage, ...] = ("glance", "core", "whole")
FRESH = 1000  # between the seed of the search and those of the last attacks
ATTACKED_AGAIN = 3  # times: one lucky seed in the search and one in the last attack let too many through
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
    least, n = job.policy.least_people("paired"), release.original.height
    if n < least:
        raise ParameterError(
            f"the policy {job.policy.name!r} can call no release of so few people safe",
            got=f"{n} people", allowed=f"from {least} on", hint="judge by another policy, or protect a larger table",
        )  # fmt: skip
    told, until = progress or silent, None if budget is None else time.monotonic() + budget
    options, paths = _paths(job, release, hierarchies or {}, told)
    with opened(folder, about, resume=resume) as store:
        search = Search(job, options, store, until, told)
        best = search.single(_singles(job, release, paths[0][0]), search.best(paths))
        again = None if best is None else search.again
    told(1.0, "done")
    limit = job.policy.threshold("nearest.rate").value
    tried = sorted(search.tried.values(), key=lambda point: (-point.utility, point.risk, point.masking))
    before = {one.column: one.bits for one in paths[0][0].values()}
    final = None if best is None else search.tried[_text(best)]
    out = tuple(dict.fromkeys(name for name in (job.roles.get("id"), *job.ignored) if name is not None))
    return Protection(
        () if best is None else _as_taken(job, best), before, final, again,
        Frontier(tuple(tried), release.original.height, job.policy.name, limit), out, tuple(search.refused),
        () if final is None else _kept(job, final),
    )  # fmt: skip


def _as_taken(job: Job, best: State) -> tuple[Treatment, ...]:
    """The steps with what each took away and cost when it was taken, after those before it."""
    taken, left = list[Treatment](), 1.0
    steps = [one for one in best.values() if one.masking]
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


def _paths(job: Job, release: Release, hierarchies: Mapping[str, str], told: Progress) -> Weighed:
    """Each column by itself, and the numbers made equal in groups together."""
    inside = job.table.drop(*job.around, *job.ignored)
    for name in hierarchies:
        if name not in release.quasi:
            raise ParameterError(
                f"no column that the intruder knows is called {name!r}", allowed=", ".join(release.quasi)
            )

    def left(masked: pl.DataFrame) -> float:
        if not masked.width:
            return 0.0
        return job.left(masked).value

    found: dict[str, tuple[Treatment, ...]] = {}
    for place, name in enumerate(release.quasi):
        told(0.1 * place / len(release.quasi), f"weighing treatments of {name}")
        tries = treatments(inside, name, release.kind(name), hierarchies.get(name))
        found[name] = weigh(inside, name, tries, left, job.seed + 1)
    numbers = tuple(
        name for name in release.quasi if release.kind(name) == "numeric" and inside[name].dtype.is_numeric()
    )
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
    groups = {job.policy.threshold("anonymity.small").groups, BLANKED_GROUPS}
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
    kinds = {name: release.kind(name) for name in release.quasi}
    named, bits = ", ".join(whole), sum(one.bits for one in whole.values())
    found = list[State]()
    for text in suggest_maskings(job.table, kinds, release.quasi):
        masked = job.release(text, job.seed + 1).released
        left = [bits_left(job.table[name], masked[name]) for name in whole if name in masked.columns]
        cost = 1.0 - job.left(masked).value
        found.append({named: Treatment(named, str(parse_masking(text)), min(bits, sum(left)), cost, tuple(whole))})
    return found


def _publishes(state: State) -> bool:
    return any(not one.masking.startswith("drop(") for one in state.values())


@dataclass
class Search:
    """Releases are tried, each no more thoroughly than it deserves."""

    job: Job
    options: dict[str, tuple[Treatment, ...]]
    store: Store | None
    until: float | None
    progress: Progress
    tried: dict[str, Point] = field(default_factory=dict)
    again: Point | None = None
    refused: list[Point] = field(default_factory=list)
    empty: set[str] = field(default_factory=set)

    def best(self, paths: list[list[State]]) -> State | None:
        """The most useful safe release that was found; None where none is, or the time ended before."""
        found: State | None = None
        begun = [(states, self._not_hopeless(states)) for states in paths]
        for states, low in sorted(begun, key=lambda one: -self._promise(one[0][one[1]])):
            place = self._first_safe(states, low, found)
            for _ in range(FARTHER):
                if place is None:
                    break
                state = self._softened(states[place])
                if not self._better(state, found):
                    break
                again = self._attacked_again(state)
                if again.verdict == "safe":
                    found, self.again = state, again
                    break
                self.refused.append(again)
                place = self._next_safe(states, place + 1)
        return found

    def single(self, states: list[State], found: State | None) -> State | None:
        """The most useful of these that is safe and beats what was found; else what was found."""
        open_ = [state for state in states if self._verdict("glance", state) == "open"]
        for state in sorted(open_, key=lambda state: -self.tried[_text(state)].utility):
            if self._better(state, found) and self._safe(state):
                again = self._attacked_again(state)
                if again.verdict == "safe":
                    self.again = again
                    return state
                self.refused.append(again)
        return found

    def _not_hopeless(self, states: list[State]) -> int:
        """The weakest combination on a path that nearest-record linkage alone does not make hopeless: a glance each."""
        low, high = 0, len(states) - 1
        if self._verdict("glance", states[0]) != "unsafe":
            return 0
        while low < high:
            middle = (low + high) // 2
            hopeless = self._verdict("glance", states[middle]) == "unsafe"
            low, high = (middle + 1, high) if hopeless else (low, middle)
        self._verdict("glance", states[low])
        return low

    def _first_safe(self, states: list[State], low: int, found: State | None) -> int | None:
        """The weakest combination on a path that is safe: doubling steps, then halves, then everything is tried."""
        if not self._better(states[low], found):
            return None
        unsafe, place, step = low - 1, low, 1
        while self._verdict("core", states[place]) != "safe":
            if place == len(states) - 1 or not self._better(states[place], found):
                return None
            unsafe, place, step = place, min(place + step, len(states) - 1), 2 * step
        while place - unsafe > 1:
            middle = (unsafe + place) // 2
            safe = self._verdict("core", states[middle]) == "safe"
            unsafe, place = (unsafe, middle) if safe else (middle, place)
        return self._next_safe(states, place)

    def _next_safe(self, states: list[State], place: int) -> int | None:
        """The next one that everything calls safe."""
        return next((at for at in range(place, len(states)) if self._safe(states[at])), None)

    def _softened(self, state: State) -> State:
        """Treat the dearest columns more gently, step by step, while the release stays safe."""
        left = SOFTER
        for one in sorted((one for one in state.values() if one.masking), key=lambda one: -one.cost):
            gentler = [other for other in self.options.get(one.column, ()) if other.cost < one.cost - WORTH]
            for other in sorted(gentler, key=lambda other: (other.bits, other.cost)):
                tried = {**state, one.column: other}
                if self._verdict("glance", tried) != "open" or not self._better(tried, state):
                    continue
                left -= 1
                if left < 0 or not self._safe(tried):
                    break
                state = tried
        return state

    def _better(self, state: State, than: State | None) -> bool:
        if self._point(state) is None:
            return False
        return than is None or self.tried[_text(state)].utility > self.tried[_text(than)].utility

    def _attacked_again(self, state: State) -> Point:
        """Attack the same release with other lots, several times, and then as somebody who knows how it was made."""
        text, seed = _text(state), self.job.seed + 1
        again = self.tried[text]
        for number in range(1, ATTACKED_AGAIN + 1):
            fresh = replace(self.job, seed=self.job.seed + number * FRESH)
            self.progress(0.95, f"attacking the result once more, with another seed ({number} of {ATTACKED_AGAIN})")
            attack = partial(fresh.attack, text, seed, "whole", self.tried[text])
            again = self._finished(text, seed, f"again {number}", attack)
            if again.verdict != "safe":
                return again
        if not text:
            return again
        self.progress(0.97, "attacking it as somebody who knows how it was made")
        return self._finished(text, seed, "method", partial(fresh.attack_method, text, seed, again))

    def _finished(self, text: str, seed: int, stage: str, attack: Callable[[], Point]) -> Point:
        """A last attack, unless it was finished before."""
        found = self.store.find(text, seed, stage) if self.store is not None else None
        if found is None:
            found = attack()
            if self.store is not None:
                self.store.keep(found, stage)
        return found

    def _point(self, state: State) -> Point | None:
        return self.tried.get(_text(state))

    def _promise(self, state: State) -> float:
        """What is left, less what may be found at a glance: where to look first."""
        point = self._point(state)
        return -1.0 if point is None else point.utility - point.high

    def _safe(self, state: State) -> bool:
        return all(self._verdict(stage, state) == "safe" for stage in ("core", "whole"))

    def _verdict(self, stage: Stage, state: State) -> str:
        """Try a release, unless it was tried so far before; "late": the time is over, "empty": nothing is left."""
        text, seed = _text(state), self.job.seed + 1
        before = self.tried.get(text)
        if before is not None and STAGES.index(before.stage) >= STAGES.index(stage):
            return before.verdict
        if text in self.empty:
            return "empty"
        if stage != "glance" and before is None and (first := self._verdict("glance", state)) in {"late", "empty"}:
            return first
        point = self.store.find(text, seed, stage) if self.store is not None else None
        if point is None:
            if self.until is not None and time.monotonic() > self.until:
                return "late"
            point = self._tried(text, seed, stage)
            if point is None:
                return "empty"
        self.tried[text] = point
        return point.verdict

    def _tried(self, text: str, seed: int, stage: Stage) -> Point | None:
        """Try a release; None where blanking has left nothing that an intruder could know."""
        self.progress(0.1 + 0.8 * (1 - 0.9 ** len(self.tried)), f"{stage}: {text or 'the table as it is'}"[:60])
        try:
            point = (
                self.job.glance(text, seed)
                if stage == "glance"
                else self.job.attack(text, seed, stage, self.tried[text])
            )
        except RoleError:
            self.empty.add(text)
            return None
        if self.store is not None:
            self.store.keep(point)
        return point


def _text(state: State) -> str:
    return chained([one.masking for one in state.values() if one.masking])
