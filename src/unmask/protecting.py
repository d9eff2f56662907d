"""From a table to a release that is safe: the cheapest treatment of each column that the whole assessment accepts.

Each column's treatments are weighed alone (bits that they leave, what they cost), which gives paths of combinations
from "leave everything" to "leave almost nothing" (`protect.treatments`). On each path the first release that is safe is
searched for: with a glance, then with the attacks that the policy asks for, then with everything. Then single columns
are treated more gently while the release stays safe, and the result is attacked again with another seed.
"""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from unmask.errors import ParameterError, TableError
from unmask.evidence import Policy, Progress, silent
from unmask.explore import Job, begin
from unmask.masking import parse_masking
from unmask.protect import (
    Frontier,
    Point,
    Stage,
    Store,
    Treatment,
    bits_left,
    opened,
    path,
    suggest_maskings,
    treatments,
    weigh,
    weigh_together,
)
from unmask.shown import Shown
from unmask.tables import Release, read_table
from unmask.utility import what_is_left

State = dict[str, Treatment]
Weighed = tuple[dict[str, tuple[Treatment, ...]], list[list[State]]]
SOFTER, FARTHER = 8, 3  # gentler treatments that are tried; steps on if the last attack finds too much
WORTH = 0.005  # of what is left, for which a gentler treatment is tried
STAGES: tuple[Stage, ...] = ("glance", "core", "whole")
FRESH = 1000  # between the seed of the search and that of the last attack


@dataclass(frozen=True)
class Protection(Shown):
    """What was done to each column, and what the whole assessment says of the result."""

    steps: tuple[Treatment, ...]  # columns that changed
    before: dict[str, float]  # bits by which each column pointed to a person
    final: Point | None  # None: nothing that was tried is safe
    again: Point | None  # the same release, attacked with another seed
    frontier: Frontier
    left_out: tuple[str, ...] = ()  # columns that are not published: the id, what is ignored

    @property
    def words(self) -> str:
        """The result in a few sentences."""
        tried = len(self.frontier.points)
        if self.final is None:
            told = f"No release of these columns that was tried ({tried}) is safe under {self.frontier.policy!r}."
            if not self.frontier.points:
                return f"{told} There was no time for a single one."
            near = min(self.frontier.points, key=lambda point: (point.high, -point.utility))
            return f"{told} The nearest is {near.words} ({near.reason})."
        changed = sum(len(self._columns(step)) for step in self.steps)
        found = f"{self.final.risk:.1%} found (95 % interval {self.final.low:.1%} to {self.final.high:.1%})"
        seeds = "; attacked again with another seed it stays so" if self.again is not None else ""
        return (
            f"Safe under {self.frontier.policy!r}: {found}, {self.final.utility:.0%} of the data left. "
            f"{changed} of {len(self.before)} columns changed, after {tried} releases were tried{seeds}."
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each step was taken."""

        def bits(step: Treatment) -> float:
            return sum(self.before[name] for name in self._columns(step))

        return tuple(
            f"{step.column}: {parse_masking(step.masking)} leaves {step.bits:.1f} of {bits(step):.1f} bits that "
            f"point to a person, and costs {step.cost:.1%} of the data"
            for step in self.steps
        )

    def _columns(self, step: Treatment) -> list[str]:
        """The columns of a step: one, or several that are treated together."""
        return [step.column] if step.column in self.before else [one for one in self.before if one in step.column]

    def plan(self) -> str:
        """The plan as TOML: `unmask mask TABLE --plan plan.toml` makes the same release from it."""
        if self.final is None:
            raise ParameterError("there is no plan: nothing that was tried is safe")
        lines = [
            "# Made by `unmask protect`. `unmask mask TABLE --plan FILE -o RELEASE` makes the same release again.",
            "# Steps may be edited; assess the result before you publish it.",
            f"policy = {_toml(self.frontier.policy)}",
            f"seed = {self.final.seed}",
            f"left_out = [{', '.join(map(_toml, self.left_out))}]",
        ]
        for step, why in zip(self.steps, self.reasons, strict=True):
            lines += ["", "[[steps]]", f"masking = {_toml(step.masking)}", f"why = {_toml(why)}"]
        return "\n".join(lines) + "\n"


def follow_plan(original: object, plan: str | Path, **reading: Any) -> pl.DataFrame:  # noqa: ANN401 - of `read_table`
    """Make the release that a plan describes: the same table and plan give the same bytes."""
    table = read_table(original, name="original", **reading)
    try:
        with open(plan, "rb") as file:  # noqa: PTH123 - a path or a name
            found = tomllib.load(file)
        seed, out = found["seed"], found.get("left_out", [])
        maskings = [step["masking"] for step in found.get("steps", [])]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise TableError(f"{plan} is no plan", got=str(error), hint="make one with: unmask protect --plan") from error
    except OSError as error:
        raise TableError(f"cannot read {plan}", got=error.strerror or "") from error
    missing = [name for name in out if name not in table.columns]
    if missing:
        raise TableError("the plan is for another table", got=f"it has no column {missing[0]!r}")
    inside = table.drop(out)
    return parse_masking(_chained(maskings)).apply(inside, seed) if maskings else inside


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
    steps = tuple(one for one in (best or {}).values() if one.masking)
    out = tuple(dict.fromkeys(name for name in (job.roles.get("id"), *job.ignored) if name is not None))
    return Protection(
        steps, before, final, again, Frontier(tuple(tried), release.original.height, job.policy.name, limit), out
    )


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
        return what_is_left(inside, masked, columns=job.columns, keep=job.keep).value

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
    return found, [[state for state in states if _publishes(state)] for states in together]


def _singles(job: Job, release: Release, whole: State) -> list[State]:
    """Maskings of all columns at once, as `explore` tries them."""
    kinds = {name: release.kind(name) for name in release.quasi}
    named, bits = ", ".join(whole), sum(one.bits for one in whole.values())
    found = []
    for text in suggest_maskings(job.table, kinds, release.quasi):
        masked = job.release(text, job.seed + 1).released
        left = [bits_left(job.table[name], masked[name]) for name in whole if name in masked.columns]
        cost = 1.0 - what_is_left(job.table, masked, columns=job.columns, keep=job.keep).value
        found.append({named: Treatment(named, str(parse_masking(text)), min(bits, sum(left)), cost)})
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

    def best(self, paths: list[list[State]]) -> State | None:
        """The most useful safe release that was found; None where none is, or the time ended before."""
        found: State | None = None
        for states in paths:
            place = self._first_safe(states, found)
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
        return found

    def _first_safe(self, states: list[State], found: State | None) -> int | None:
        """The weakest combination on a path that is safe: doubling steps, then halves, then everything is tried."""
        low, high = 0, len(states) - 1
        while low < high:  # a glance is cheap: skip what nearest-record linkage alone makes hopeless
            middle = (low + high) // 2
            hopeless = self._verdict("glance", states[middle]) == "unsafe"
            low, high = (middle + 1, high) if hopeless else (low, middle)
        self._verdict("glance", states[low])
        if not self._better(states[low], found):
            return None
        unsafe, place, step = low - 1, low, 1
        while self._verdict("core", states[place]) != "safe":
            if place == len(states) - 1:
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
            gentler = [other for other in self.options[one.column] if other.cost < one.cost - WORTH]
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
        """Attack the same release with other lots."""
        fresh, text = replace(self.job, seed=self.job.seed + FRESH), _text(state)
        self.progress(0.95, "attacking the result once more, with another seed")
        return fresh.attack(text, self.job.seed + 1, "whole", self.tried[text])

    def _point(self, state: State) -> Point | None:
        return self.tried.get(_text(state))

    def _safe(self, state: State) -> bool:
        return all(self._verdict(stage, state) == "safe" for stage in ("core", "whole"))

    def _verdict(self, stage: Stage, state: State) -> str:
        """Try a release, unless it was tried so far before; "late" once the time is over."""
        text, seed = _text(state), self.job.seed + 1
        before = self.tried.get(text)
        if before is not None and STAGES.index(before.stage) >= STAGES.index(stage):
            return before.verdict
        if stage != "glance" and before is None and self._verdict("glance", state) == "late":
            return "late"
        point = self.store.find(text, seed, stage) if self.store is not None else None
        if point is None:
            if self.until is not None and time.monotonic() > self.until:
                return "late"
            self.progress(0.1 + 0.8 * (1 - 0.9 ** len(self.tried)), f"{stage}: {text or 'the table as it is'}"[:60])
            point = (
                self.job.glance(text, seed)
                if stage == "glance"
                else self.job.attack(text, seed, stage, self.tried[text])
            )
            if self.store is not None:
                self.store.keep(point)
        self.tried[text] = point
        return point.verdict


def _text(state: State) -> str:
    return _chained([one.masking for one in state.values() if one.masking])


def _chained(maskings: list[str]) -> str:
    return maskings[0] if len(maskings) == 1 else f"chain([{', '.join(maskings)}])" if maskings else ""


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
