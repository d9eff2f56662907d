"""A plan before the work: what each attack takes in time and memory, and whether everybody is asked for, or some.

Times are those of benchmarks/scale.py (`costs.toml`), grown to the size of the release and scaled to this machine.
Without a budget attacks are exact up to what ends within minutes, whatever the machine: so the result follows from the
tables, the seed and the version. With one, attacks that may decide the verdict come first, the cheapest of them before
others; each gets its cheapest form, as far as there is time, and what is left makes them exact one after the other.
"""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from unmask.calibrating import machine_slowness
from unmask.errors import ParameterError
from unmask.evidence import Absence
from unmask.shown import Shown

if TYPE_CHECKING:
    from unmask.evidence import Measure, Policy, Reported
    from unmask.tables import Release

Form = Literal["exact", "sampled", "bounded", "left out"]
UNITS = {"s": 1, "m": 60, "h": 3600}
EXACT_UP_TO = 40_000  # people: of so many everybody is asked for, unless a budget says otherwise
MINUTES = 200.0  # seconds on the machine of the benchmark, beyond which an attack asks for some people
ENOUGH = 40_000  # people who are then asked for: a rate is within 0.5 points of that of all, 19 times in 20
ALL_UP_TO = {  # people whom a measure asks for by itself, at most
    "attribute_test": 100_000,
    "channel": 200_000,
    "dictionary": 100_000,
    "likelihood": 100_000,
    "nearest": 200_000,
    "one_to_one": 100_000,
    "permuted": 100_000,
}
WHOEVER = 0.7  # part of the time for some people that is needed whoever is asked for
WORTH_IT = 0.8  # share of the time for everybody below which some people are asked for
SIZES = (2_000, 5_000, 10_000, 20_000, 40_000)  # people that a budget may pay for, from few to many
DRAWS = "risk"  # the plan's name for attacks on other draws of the masking, which the risk of people needs
SMALL = 0.05  # share of a budget that is too little to wait for: the core attacks come before larger ones only
BEYOND = 0.25  # what an attack may take beyond its time, and all beyond the budget: just before the end nobody stops
OVERHEAD = 2.0  # seconds for reading, checking and the report
PER_ROW = 20e-6  # the same for every row


def seconds(given: str | float | None) -> float | None:
    """A time as people write it ("90s", "10m", "2h", or a number of seconds), in seconds; None stays None."""
    if given is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", str(given).strip())
    if isinstance(given, bool) or found is None or float(found[1]) == 0:
        raise ParameterError("cannot read this time", got=repr(given), allowed="such as 90s, 10m or 2h")
    return float(found[1]) * UNITS[found[2] or "s"]


@dataclass(frozen=True, slots=True)
class Planned:
    """What is planned for one attack: of ``out_of`` people so many are asked for, in these seconds and bytes."""

    measure: str
    form: Form
    people: int
    out_of: int
    seconds: float
    memory: int
    judged: bool = True  # whether the policy has a limit for a figure of it


@dataclass(frozen=True, slots=True)
class Plan(Shown):
    """Attacks in the order in which they run; ``budget``: seconds for all, or None."""

    entries: tuple[Planned, ...]
    budget: float | None = None
    begun: float | None = field(default=None, compare=False, repr=False)  # None: nobody looks at the clock
    parties: tuple[tuple[tuple[str, ...] | None, Plan], ...] = ()  # of those whose attacks were done in other ways
    times: int = 1  # that all of it is done: once for all who hold the same columns

    def __getitem__(self, measure: str) -> Planned:
        """The part of one attack."""
        return self.entries[self.place(measure)]

    def place(self, measure: str) -> int:
        """When an attack runs: before all that have a larger number."""
        return next(number for number, entry in enumerate(self.entries) if entry.measure == measure)

    def of(self, columns: tuple[str, ...] | None) -> Plan:
        """The plan for those who hold certain columns; None: all of them."""
        return dict(self.parties).get(columns, self)

    @property
    def seconds(self) -> float:
        """What all of it takes."""
        return self.times * sum(entry.seconds for entry in self.entries if entry.form != "left out")

    @property
    def left(self) -> float | None:
        """Seconds that are left of the budget; None: there is none."""
        if self.budget is None or self.begun is None:
            return None
        return self.budget - (time.monotonic() - self.begun)

    @property
    def left_for_draws(self) -> float | None:
        """Seconds for attacks on other draws of the masking, which come last; None: as long as they take."""
        if any(entry.measure == DRAWS and entry.form == "left out" for entry in self.entries):
            return 0.0
        return None if self.left is None else self.left + BEYOND * (self.budget or 0.0)

    def may_take(self, measure: str) -> float | None:
        """Seconds after which an attack that begins now is ended: more than was planned, if others have their time.

        The last one may go on for a part of the budget beyond its end; None: as long as it takes.
        """
        if self.left is None:
            return None
        place = self.place(measure)
        later = sum(entry.seconds for entry in self.entries[place + 1 :] if entry.form != "left out")
        budget = self.budget or 0.0
        most = self.left + BEYOND * budget
        planned = max((1 + BEYOND) * self.entries[place].seconds, 2 * SMALL * budget)
        return min(most, max(planned, self.left - later)) if later else most

    def now(self, measure: str) -> Planned:
        """What to do with an attack that is about to begin: what was planned, or nothing where time ran out.

        One that takes little is not left out because another took a moment too long.
        """
        entry, left, budget = self[measure], self.left, self.budget or 0.0
        if left is None or entry.form == "left out" or entry.seconds <= max(left, 0.0):
            return entry
        little = entry.seconds <= SMALL * budget and entry.seconds <= left + BEYOND * budget
        return entry if little else replace(entry, form="left out")

    def share_of(self, parties: int) -> Plan:
        """The plan for the next of so many who are still to be attacked for: an equal part of what is left."""
        if self.left is None or parties == 1:
            return self
        return replace(self, budget=max(self.left, 0.0) / parties, begun=time.monotonic(), times=1)

    def on_this_machine(self) -> Plan:
        """The same with times of this machine: without a budget they are those of the benchmark's, which decide."""
        slow = machine_slowness()
        return replace(self, entries=tuple(replace(entry, seconds=entry.seconds * slow) for entry in self.entries))

    def as_done(
        self, reported: Iterable[Reported], parties: Mapping[tuple[str, ...] | None, Iterable[Reported]] | None = None
    ) -> dict[str, Any]:
        """What the manifest keeps: the budget, and every attack that was not done whole; empty where all were.

        ``parties``: the same for each who holds certain columns, kept where they differ.
        """
        done = _not_whole(reported)
        others = [{"columns": columns, "measures": _not_whole(entries)} for columns, entries in (parties or {}).items()]
        told = {"budget": self.budget, "measures": done, "parties": others}
        if all(one["measures"] == done for one in others):
            del told["parties"]
        return {name: value for name, value in told.items() if value not in (None, {})}

    def to_frame(self) -> pl.DataFrame:
        """A row for each attack, in the order in which they run."""
        names = ("measure", "form", "people", "out_of", "seconds", "memory", "judged")
        return pl.DataFrame({name: [getattr(entry, name) for entry in self.entries] for name in names})


def _not_whole(reported: Iterable[Reported]) -> dict[str, dict[str, Any]]:
    """How each attack was done that was not done whole."""
    done: dict[str, dict[str, Any]] = {}
    for entry in reported:
        evidence = entry.evidence
        if isinstance(evidence, Absence):
            done |= {entry.measure: {"form": "left out"}} if evidence.late else {}
        elif evidence.asked is not None:
            done[entry.measure] = {"form": "sampled", "people": evidence.asked[0], "out_of": evidence.asked[1]}
        elif evidence.inexact:
            done[entry.measure] = {"form": "bounded"}
    return done


def plan_of(manifest: Mapping[str, Any], measures: Iterable[str]) -> Plan:
    """The plan by which an assessment was done, to do it again: nobody looks at the clock."""
    recorded, names = manifest.get("plan") or {}, tuple(measures)

    def entries(done: Mapping[str, Any]) -> tuple[Planned, ...]:
        forms = {name: done.get(name, {"form": "exact"}) for name in (*names, *({DRAWS} & done.keys()))}
        return tuple(
            Planned(name, form["form"], form.get("people", 0), form.get("out_of", 0), 0.0, 0)
            for name, form in forms.items()
        )

    budget = recorded.get("budget")
    parties = tuple(
        (None if one["columns"] is None else tuple(one["columns"]), Plan(entries(one["measures"]), budget))
        for one in recorded.get("parties", ())
    )
    return Plan(entries(recorded.get("measures", {})), budget, parties=parties)


def plan_attacks(
    release: Release, measures: Sequence[Measure], policy: Policy, *, budget: float | None = None, times: int = 1
) -> Plan:
    """Plan these attacks on a release; ``budget``: seconds for all of them, or None.

    ``times``: how many hold different columns; all of it is done for each, in an equal part of the budget.
    """
    begun = time.monotonic()
    costs = [_cost(entry, release, policy) for entry in measures if entry.applies(release) is None]
    idle = [
        Planned(entry.name, "exact", 0, 0, 0.0, 0, judged=False)
        for entry in measures
        if entry.applies(release) is not None
    ]
    if budget is None:
        entries = [cost.by_default() for cost in costs]
    else:
        slow = machine_slowness()
        costs = [cost.slower(slow) for cost in costs]
        spent = (OVERHEAD + PER_ROW * (release.original.height + release.released.height)) * slow
        entries = _within(costs, (budget - spent) / times)
    core = {name for names in policy.core.values() for name in names}
    little = SMALL * (budget or 0.0) / times
    entries.sort(
        key=lambda one: (not one.judged, one.seconds > little, one.measure not in core, one.seconds, one.measure)
    )
    return Plan((*entries, *idle), budget, begun, times=times)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one attack takes: ``exact`` seconds for everybody; ``fixed`` whoever is asked for, and ``each`` person."""

    measure: str
    people: int
    exact: float
    fixed: float
    memory: int
    judged: bool
    core: bool
    cheaper: str  # how it may do with less time: "people", or not at all
    each: float

    def slower(self, times: float) -> Cost:
        """The same on a machine that takes so many times as long."""
        return replace(self, exact=self.exact * times, fixed=self.fixed * times, each=self.each * times)

    def of(self, people: int) -> Planned:
        """The plan for so many people."""
        form: Form = "exact" if people >= self.people else "sampled"
        asked = min(people, self.people)
        seconds = self.exact if people >= self.people else min(self.exact, self.fixed + people * self.each)
        return Planned(self.measure, form, asked, self.people, seconds, self.memory, self.judged)

    def by_default(self) -> Planned:
        """Exact, or of some people where everybody would take too long."""
        long = self.people > EXACT_UP_TO and (
            self.exact > MINUTES or self.people > ALL_UP_TO.get(self.measure, self.people)
        )
        return self.of(ENOUGH if long and self.cheaper == "people" else self.people)

    def forms(self) -> list[Planned]:
        """All that may be planned, the cheapest first."""
        sizes = [size for size in SIZES if size < self.people] if self.cheaper == "people" else []
        whole = [] if sizes and self.people > ALL_UP_TO.get(self.measure, self.people) else [self.people]
        found = [self.of(size) for size in (*sizes, *whole)]
        return [one for one in found[:-1] if one.seconds < WORTH_IT * found[-1].seconds] + found[-1:]


def _within(costs: Iterable[Cost], budget: float) -> list[Planned]:
    """Give each attack its cheapest form, those that may decide first; then make them exact, as far as time goes."""
    order = sorted(costs, key=lambda cost: (not cost.judged, not cost.core, cost.forms()[0].seconds, cost.measure))
    found: dict[str, Planned] = {}
    for cost in order:
        cheapest = cost.forms()[0]
        fits = cheapest.seconds <= budget
        found[cost.measure] = cheapest if fits else replace(cheapest, form="left out", people=0)
        budget -= cheapest.seconds if fits else 0.0
    for cost in order:
        now = found[cost.measure]
        better = [form for form in cost.forms()[1:] if form.seconds - now.seconds <= budget]
        if now.form == "sampled" and better:
            found[cost.measure] = better[-1]
            budget -= better[-1].seconds - now.seconds
    return list(found.values())


def _cost(entry: Measure, release: Release, policy: Policy) -> Cost:
    """What an attack takes, on the machine of the benchmark, by the costlier of its two tables."""
    n = max(1, len(release.paired_rows) or release.original.height)
    rows = max(n, release.released.height)
    wide = max(1, len(release.quasi))
    known = costs()["measures"].get(entry.name, costs()["unknown"])
    size = rows / costs()["people"]
    seconds = _grown(known, size, wide)
    some = _grown(known["some"], size, wide) if "some" in known else seconds
    judged = any(_limited(policy, key) for key in entry.keys)
    core = any(entry.name in names for names in policy.core.values())
    memory = int(1e6 * known["memory"] * size * wide / costs()["columns"])
    cheaper = "" if release.synthetic else entry.cheaper
    each = (1.0 - WHOEVER) * some / costs()["asked"]
    return Cost(entry.name, n, seconds, WHOEVER * some, memory, judged, core, cheaper, each)


def _grown(known: Mapping[str, float], size: float, wide: int) -> float:
    """Seconds of a measure for a release of this size, in sizes of the benchmark, and so many columns.

    What it takes of the smallest table is mostly learning, which few columns hardly shorten.
    """
    more = (known["seconds"] - known["least"]) * size ** known["exponent"]
    share = wide / costs()["columns"]
    return float(known["least"] * max(1.0, share) + more * share)


def _limited(policy: Policy, key: str) -> bool:
    limit = policy.threshold(key)
    return limit.value < 1 or limit.people is not None


@cache
def costs() -> Mapping[str, Any]:
    """The times and memory of the benchmark: at so many ``people`` and ``columns``, with the exponent of people."""
    return tomllib.loads(resources.files("unmask").joinpath("costs.toml").read_text(encoding="utf-8"))
