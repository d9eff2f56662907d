"""The search of `protect`: along paths of combinations for the first that is safe, then gentler ones, then a proof.

A release that everything calls safe once may be so by the luck of a seed. The last attacks try it again with other
seeds, other draws of the same masking, and as somebody who knows how it was made.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from math import sqrt
from statistics import mean, stdev

from unmask.errors import RoleError
from unmask.evidence import Progress
from unmask.protect import Point, Stage, Store, Treatment, chained, steps_of
from unmask.trying import Job

State = dict[str, Treatment]
SOFTER, FARTHER = 8, 3  # gentler treatments that are tried; steps on if the last attack finds too much
WORTH = 0.005  # of what is left, for which a gentler treatment is tried
STAGES: tuple[Stage, ...] = ("glance", "core", "whole")
HOPELESS = ("unsafe", "inconclusive")  # at a glance: what is attacked with more is not safer
FRESH = 1000  # between the seed of the search and those of the last attacks
ATTACKED_AGAIN, AT_MOST = 3, 20  # times with other seeds of the attacks: more where the figures vary much
DRAWN_AGAIN = 2  # times with other draws of the masking
ROOM = 0.99  # how likely the next seed's figure has to be within its limit: many releases are tried, and some are lucky
AMPLE = 0.8  # of a limit, where so much is used with the next seed at most, three seeds are enough
SLACK = 1e-9  # for rounding


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
    lucky: set[str] = field(default_factory=set)  # safe once, and not in the last attacks
    empty: set[str] = field(default_factory=set)

    def text(self, state: State) -> str:
        """What is done in turn, written as one masking."""
        return chained(one.masking for one in steps_of(state, self.job.crowd))

    def best(self, paths: list[list[State]]) -> State | None:
        """The most useful safe release that was found; None where none is, or the time ended before."""
        found: State | None = None
        begun = [(states, self._not_hopeless(states)) for states in paths]
        for states, low in sorted(begun, key=lambda one: -self._promise(one[0][one[1]])):
            place = self._first_safe(states, low, found)
            for _ in range(FARTHER):
                if place is None:
                    break
                softer = self._softened(states[place])
                if not self._better(softer[-1], found):
                    break
                proven = self._proven(back_from(softer), found)
                if proven is not None:
                    found = proven
                    break
                place = self._next_safe(states, place + 1)
        return found

    def single(self, states: list[State], found: State | None) -> State | None:
        """The most useful of these that is safe and beats what was found; else what was found."""
        open_ = [state for state in states if self._verdict("glance", state) == "open"]
        for state in sorted(open_, key=lambda state: -self.tried[self.text(state)].utility):
            if self._better(state, found) and self._safe(state) and self._proven((state,), found) is not None:
                return state
        return found

    def told(self) -> list[Point]:
        """All that was tried, with what the last attacks say of those that were safe before them."""
        again = {point.masking: point for point in self.refused}
        return [
            replace(point, verdict=again[text].verdict, reason=again[text].reason) if text in again else point
            for text, point in self.tried.items()
        ]

    def _not_hopeless(self, states: list[State]) -> int:
        """The weakest combination on a path that nearest-record linkage alone does not make hopeless: a glance each."""
        low, high = 0, len(states) - 1
        if self._verdict("glance", states[0]) not in HOPELESS:
            return 0
        while low < high:
            middle = (low + high) // 2
            hopeless = self._verdict("glance", states[middle]) in HOPELESS
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

    def _softened(self, state: State) -> list[State]:
        """Treat the dearest columns more gently, step by step, while the release stays safe: all that were, in turn."""
        left, safe = SOFTER, [state]
        for one in sorted((one for one in state.values() if one.masking), key=lambda one: -one.cost):
            gentler = [other for other in self.options.get(one.column, ()) if other.cost < one.cost - WORTH]
            for other in sorted(gentler, key=lambda other: (other.bits, other.cost)):
                tried = {**state, one.column: other}
                if self.text(tried) in self.lucky:
                    continue
                if self._verdict("glance", tried) not in {"open", "safe"} or not self._better(tried, state):
                    continue
                left -= 1
                if left < 0 or not self._safe(tried):
                    break
                state = tried
                safe.append(state)
        return safe

    def _better(self, state: State, than: State | None) -> bool:
        if self._point(state) is None:
            return False
        return than is None or self.tried[self.text(state)].utility > self.tried[self.text(than)].utility

    def _proven(self, states: tuple[State, ...], found: State | None) -> State | None:
        """The first of these that stays safe in the last attacks and is better than what was found."""
        for text, state in {self.text(state): state for state in states}.items():
            if text not in self.lucky and self._better(state, found):
                again = LastAttacks(self.job, self.store, self.progress).prove(self.tried[text])
                if again.verdict == "safe":
                    self.again = again
                    return state
                self.refused.append(again)
                self.lucky.add(text)
        return None

    def _point(self, state: State) -> Point | None:
        return self.tried.get(self.text(state))

    def _promise(self, state: State) -> float:
        """What is left, less what may be found at a glance: where to look first."""
        point = self._point(state)
        return -1.0 if point is None else point.utility - point.high

    def _safe(self, state: State) -> bool:
        return all(self._verdict(stage, state) == "safe" for stage in ("core", "whole"))

    def _verdict(self, stage: Stage, state: State) -> str:
        """Try a release, unless it was tried so far before; "late": the time is over, "empty": nothing is left."""
        text, seed = self.text(state), self.job.seed + 1
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


@dataclass(frozen=True)
class LastAttacks:
    """Whether a release that is safe is so with other seeds, by its method, and with room for one more seed."""

    job: Job
    store: Store | None
    progress: Progress

    def prove(self, first: Point) -> Point:
        """The last attack of all if each calls it safe; else the one that does not."""
        points = [first]
        for number in range(1, AT_MOST + 1):
            if number > ATTACKED_AGAIN and not at_the_limit(points, AMPLE):
                break
            self.progress(0.95, f"attacking the result once more, with another seed ({number})")
            points.append(self._attacked(first, f"again {number}", number, first.seed))
            if points[-1].verdict != "safe":
                return points[-1]
        if near := at_the_limit(points):
            told = f"with other seeds too near to the limit to stay within it: {', '.join(near)}"
            return replace(points[-1], verdict="inconclusive", reason=told)
        other = self._another_draw(first) if first.masking else None
        return other or (self._by_method(points[-1]) if first.masking else points[-1])

    def _another_draw(self, first: Point) -> Point | None:
        """Another draw of the same masking that is not safe, if there is one: then the first was luck."""
        published = self.job.release(first.masking, first.seed).released
        for number in range(1, DRAWN_AGAIN + 1):
            seed = first.seed + number * FRESH
            if self.job.release(first.masking, seed).released.equals(published, null_equal=True):
                return None  # no chance plays a part
            self.progress(0.96, f"attacking another draw of the masking ({number} of {DRAWN_AGAIN})")
            other = self._attacked(first, f"draw {number}", number, seed)
            if other.verdict != "safe":
                return replace(other, reason=f"another draw of the same masking is {other.verdict}: {other.reason}")
        return None

    def _by_method(self, safe: Point) -> Point:
        self.progress(0.97, "attacking it as somebody who knows how it was made")
        fresh = replace(self.job, seed=self.job.seed + ATTACKED_AGAIN * FRESH)
        attack = partial(fresh.attack_method, safe.masking, safe.seed, safe)
        return self._finished(safe, "method", attack)

    def _attacked(self, first: Point, stage: str, number: int, seed: int) -> Point:
        """Attack a draw of the masking with everything, with the seeds of another number."""
        fresh = replace(self.job, seed=self.job.seed + number * FRESH)
        return self._finished(first, stage, partial(fresh.attack, first.masking, seed, "whole", first))

    def _finished(self, first: Point, stage: str, attack: Callable[[], Point]) -> Point:
        """A last attack, unless it was finished before."""
        found = self.store.find(first.masking, first.seed, stage) if self.store is not None else None
        if found is None:
            found = attack()
            if self.store is not None:
                self.store.keep(found, stage)
        return found


def back_from(softer: list[State]) -> tuple[State, ...]:
    """The gentlest release, the one halfway back and the first: what is proven in turn until one stays safe."""
    return tuple(softer[place] for place in sorted({len(softer) - 1, (len(softer) - 1) // 2, 0}, reverse=True))


def at_the_limit(points: list[Point], part: float = 1.0) -> list[str]:
    """Figures that the next seed may bring above their limits, or a part of them: by how far they varied here."""
    from scipy import special  # noqa: PLC0415 - the last attacks alone need it

    figures: dict[str, list[float]] = {}
    for point in points:
        for key, used in point.used:
            figures.setdefault(key, []).append(used)
    return [key for key, found in figures.items() if _next(found, special.stdtrit) > part + SLACK]


def _next(found: list[float], quantile: Callable[[int, float], float]) -> float:
    """What the next of these figures is below with that probability (the prediction interval of Student's t)."""
    many = len(found)
    if many == 1:
        return found[0]
    return mean(found) + quantile(many - 1, ROOM) * stdev(found) * sqrt(1 + 1 / many)
