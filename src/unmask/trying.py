"""One release is tried: the table is masked, looked at, attacked. What `explore` and `protect` both do.

A `Job` holds the table, what its columns are, who judges and who attacks; `begin` makes one and refuses what cannot be
done, `make_release` makes again what a point says.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Rows
from unmask.assessment import assess
from unmask.axes import measure_axes
from unmask.errors import ParameterError, UnmaskError, check_name
from unmask.evidence import Judgement, Policy, as_intruder
from unmask.judging import judge_release
from unmask.linkage import link_nearest
from unmask.masking import Chain, Sampling, is_code, parse_masking
from unmask.protect import Point, Stage, Treatment, chained, first_change, mask_around, steps_of, suggest_maskings
from unmask.resume import Remembered
from unmask.shares import percent
from unmask.tables import Release, read_table
from unmask.utility import Left, compare_analyses, what_is_left

ROW = "row of the person"  # pairs the two tables where no id does
GLANCE = 1000  # people whom a glance looks at
REMEMBERED = 20  # releases that are not made again, and of which attacks are not repeated, at the next stage
UNSURE = ("journalist", "marketer")  # they do not know who is in the release
ALL_ROWS = (
    "sampling helps only with --intruder journalist and a population; else releases of the same people are compared"
)
CORE = ("channel", "nearest", "one_to_one", "uniqueness")
LARGER = 2  # times the crowd that the policy asks for: so that others are not sure of anybody either
SLOW = ("channel",)  # of these: tried where the others do not find too much


@dataclass(frozen=True)
class Job:
    """What is explored: the table, what its columns are, who judges and who attacks."""

    table: pl.DataFrame
    roles: dict[str, Any]
    policy: Policy
    intruder: str
    keep: tuple[str, ...]
    seed: int
    around: tuple[str, ...] = ()  # columns that no masking touches: id, household, weight
    ignored: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # that are to be published: one that a masking leaves out is a loss
    core: tuple[str, ...] = field(default=CORE)
    axes: tuple[str, ...] = ()  # other figures of each release
    hierarchies: Mapping[str, str] = field(default_factory=dict)  # files with coarser words for a column's values
    made: dict[tuple[str, int], tuple[pl.DataFrame, Rows]] = field(default_factory=dict, compare=False, repr=False)
    found: dict[tuple[str, int, int], Remembered] = field(default_factory=dict, compare=False, repr=False)

    def release(self, masking: str, seed: int, *, told: bool = False) -> Release:
        """Mask the table; rows stay in their order, so that it is known whose is whose. ``told``: how it was made."""
        if masking and not _keeps_people(masking):
            raise ParameterError("this masking does not keep all rows", got=masking, hint=ALL_ROWS)
        inside = self.table.drop(*self.around, *self.ignored)
        try:
            masked, rows = self.made.get((masking, seed)) or mask_around(inside, masking, seed)
        except UnmaskError as error:
            raise ParameterError(
                "this masking cannot be used on the table", got=masking, hint=" ".join(str(error).split())
            ) from error
        self.made.update({(masking, seed): (masked, rows)})
        _forget_oldest(self.made)
        if masked.height != self.table.height and not (self.may_sample and len(rows) == masked.height):
            raise ParameterError("this masking does not keep all rows", got=masking, hint=ALL_ROWS)
        table, roles = self.table[rows], {**self.roles, **({"masking": masking} if told else {})}
        sides = self.table.drop(*self.ignored), masked.with_columns(table[name] for name in self.around)
        if roles.get("id") is not None:
            return Release(*sides, **roles)
        numbers = pl.int_range(self.table.height, eager=True).cast(pl.String).alias(ROW)
        numbered = sides[0].with_columns(numbers), sides[1].with_columns(numbers[rows])
        return Release(*numbered, **{**roles, "id": ROW})  # whose row is whose is known, whatever the masking

    @property
    def may_sample(self) -> bool:
        """Whether it helps to publish only some people: the intruder does not know who is in, and others are known."""
        return self.intruder in UNSURE and self.roles.get("population") is not None

    @property
    def enough(self) -> bool:
        """Whether there are people enough for the policy to call a release safe; if not, what is unsure may be good."""
        return self.table.height >= self.policy.least_people("paired")

    @property
    def crowd(self) -> int:
        """The smallest group in which the policy wants everybody."""
        return self.policy.threshold("anonymity.small").groups

    def kinds(self, release: Release) -> dict[str, str]:
        """What the columns are that the intruder knows; numbers that are codes by their name are categories."""
        return {name: "categorical" if is_code(self.table[name]) else release.kind(name) for name in release.quasi}

    def suggestions(self, release: Release) -> tuple[str, ...]:
        """Maskings to try where nobody names any; numbers that move to others are first shared by a group."""
        found = self.suggested(release)
        return tuple(chained(one.masking for one in steps_of({"": Treatment("", text)}, self.crowd)) for text in found)

    def suggested(self, release: Release) -> tuple[str, ...]:
        """The same as they are: from weak to strong, and last the fewest changes after which nobody stands alone."""
        kinds, limit = self.kinds(release), self.policy.threshold("nearest.rate").value
        found = list(suggest_maskings(self.table, kinds, release.quasi, self.hierarchies))
        for k in (self.crowd, LARGER * self.crowd):
            change = first_change(self.table, kinds, k=k, limit=limit)
            found += [] if change is None else [change.masking]
        return tuple(dict.fromkeys(found))

    def left(self, masked: pl.DataFrame) -> Left:
        """What is left of the columns that are to be published."""
        return what_is_left(self.table, masked, columns=self.columns, keep=self.keep)

    def usable(self, released: pl.DataFrame) -> tuple[Left, float]:
        """What is left, in its parts and as one number: of a sample every result is less precise, by its root."""
        left = self.left(released)
        return left, left.value * float(np.sqrt(released.height / self.table.height))

    def glance(self, masking: str, seed: int) -> Point:
        """A first look: who is found by nearest-record linkage among some people, and what is left."""
        began, release = time.perf_counter(), self.release(masking, seed)
        some = GLANCE if len(release.paired_rows) > GLANCE else None
        found = link_nearest(release, sample=some, decision_only=True, seed=self.seed).estimate
        limit = self.policy.threshold("nearest.rate").allows("nearest.rate", found.chance)
        left, usable = self.usable(release.released)
        hopeless = found.low > limit and not self.may_sample  # people outside may make up for it
        unsure = some is None and found.high > limit and self.intruder not in UNSURE and self.enough
        return Point(
            masking, seed, "glance", "unsafe" if hopeless else "inconclusive" if unsure else "open",
            f"nearest-record linkage, held against {percent(limit)}",
            "nearest", found.value, found.low, found.high, None, usable, float(np.mean(list(left.columns.values()))),
            left.relations, left.analyses, time.perf_counter() - began,
            measure_axes(self.axes, release, masking, self.seed) if self.axes else (),
        )  # fmt: skip

    def attack_method(self, masking: str, seed: int, safe: Point) -> Point:
        """Attack a release that is safe so far as somebody who knows how it was made; what cannot be tried is told."""
        release = self.release(masking, seed, told=True)
        done = assess(
            release, policy=self.policy, only=("transparent",), intruder=self.intruder, seed=self.seed, utility="none"
        )
        judged = [one for one in done.findings if one.measure == "transparent"]
        against = [one for one in judged if one.outcome in {"against", "inconclusive"}]
        if against:
            word = "unsafe" if any(one.outcome == "against" for one in against) else "inconclusive"
            told = f"who knows how it was made finds too much: {', '.join(one.key for one in against)}"
            return replace(safe, verdict=word, reason=told)
        ran = any(one.estimate is not None for one in judged)
        known = (
            "also against who knows how it was made" if ran else "an intruder who knows how it was made was not tried"
        )
        return replace(safe, reason=f"{safe.reason}; {known}")

    def attack(self, masking: str, seed: int, stage: Stage, glance: Point) -> Point:
        """Attack with what the policy asks for, or with everything."""
        began = time.perf_counter()
        judged = self._judge(masking, seed, stage)
        spent = glance.seconds + time.perf_counter() - began
        used = tuple((one.key, one.used) for one in judged.findings if one.used is not None)
        word, reason = judged.verdict.word, judged.verdict.reason
        point = replace(glance, stage=stage, verdict=word, reason=reason, seconds=spent, used=used)
        if not judged.intruders:  # nothing could be tried, which is no safety: the glance's figure stays
            return point
        best = judged.intruders[-1]
        found, known = best.estimate, None if best.known is None else round(best.known.hits)
        return replace(point, attack=best.measure, risk=found.value, low=found.low, high=found.high, known=known)

    def _judge(self, masking: str, seed: int, stage: Stage) -> Judgement:
        """Attack a release; the slow attacks are left out where the others find so much that it cannot be safe.

        What an attack found on the same release with the same seed, at an earlier stage, it need not find again.
        """
        release, before = self.release(masking, seed), self.found.pop((masking, seed, self.seed), Remembered())
        if stage == "core":
            self.found[masking, seed, self.seed] = before
        _forget_oldest(self.found)

        def judge(only: tuple[str, ...] | None) -> Judgement:
            return judge_release(
                release, policy=self.policy, only=only, intruder=self.intruder, seed=self.seed, before=before
            )

        quick = tuple(name for name in self.core if name not in SLOW)
        if stage == "core" and 0 < len(quick) < len(self.core):
            first = judge(quick)
            if first.verdict.word == "unsafe" or (self.enough and not _may_be_safe(first)):
                left = f"{first.verdict.reason}; {', '.join(SLOW)} was not tried: it cannot be safe"
                return first._replace(verdict=replace(first.verdict, reason=left))
        return judge(self.core if stage == "core" else None)


def _may_be_safe(judged: Judgement) -> bool:
    """Whether further attacks may still end in "safe": no figure is above its limit with its upper end."""
    return all(one.outcome != "inconclusive" for one in judged.findings if one.estimate is not None)


def _forget_oldest(known: dict[Any, Any]) -> None:
    while len(known) > REMEMBERED:
        known.pop(next(iter(known)))


def _keeps_people(masking: str) -> bool:
    """Whether it is known whose record each is: none is made up, and only a last step may draw some of them."""
    parsed = parse_masking(masking)
    steps = parsed.maskings if isinstance(parsed, Chain) else (parsed,)
    return all(step.keeps_people for step in (steps[:-1] if isinstance(steps[-1], Sampling) else steps))


def begin(
    original: object,
    policy: Policy | str | Path | None,
    intruder: str,
    keep: tuple[str, ...],
    seed: int,
    roles: dict[str, Any],
) -> tuple[Job, Release, dict[str, Any]]:
    """Read the table and check what is asked; the unmasked release says what its columns are.

    The third part, the table's hash and the settings, is what a folder of finished points belongs to.
    """
    job = _job(original, policy, intruder, keep, seed, roles)
    compare_analyses(job.table, job.table, job.keep)  # refuses what cannot be computed, before the work
    about = {
        "table": hashlib.sha256(job.table.write_ipc(None).getvalue()).hexdigest(),
        "policy": job.policy.name, "intruder": intruder, "keep": list(keep), "seed": seed,
        "roles": {key: str(value) for key, value in sorted(job.roles.items()) if _given(value)},
    }  # fmt: skip
    whole = job.table.drop(*job.ignored)
    release = Release(whole, whole, **job.roles)
    return replace(job, columns=(*release.quasi, *release.confidential)), release, about


def _given(value: object) -> bool:
    return value is not None and not (isinstance(value, tuple | list | dict) and not value)


def with_hierarchies(job: Job, hierarchies: Mapping[str, str] | None, release: Release) -> Job:
    """The same, where columns that the intruder knows may be written at a level of their hierarchies."""
    for name in hierarchies or {}:
        check_name(name, release.quasi, f"no column that the intruder knows is called {name!r}")
    return replace(job, hierarchies=dict(hierarchies or {}))


def make_release(original: object, point: Point, **roles: Any) -> pl.DataFrame:  # noqa: ANN401 - those of a Release
    """Mask a table as a point says: the table to publish, without the id and what is ignored."""
    job = _job(original, None, "maximum", (), 0, dict(roles))
    out = not_published(job)
    around = tuple(name for name in job.around if name not in out)
    return mask_around(job.table.drop(out), point.masking, point.seed, around)[0]


def not_published(job: Job) -> tuple[str, ...]:
    """Columns that no release has: the id, and what is ignored."""
    return tuple(dict.fromkeys(name for name in (job.roles.get("id"), *job.ignored) if name is not None))


def _job(
    original: object,
    policy: Policy | str | Path | None,
    intruder: str,
    keep: tuple[str, ...],
    seed: int,
    roles: dict[str, Any],
) -> Job:
    reading = roles.get("reading") or {}
    table = read_table(original, name="original", **reading)
    as_intruder(intruder)
    rules = policy if isinstance(policy, Policy) else Policy.load(policy)
    ignored = roles.pop("ignored", ()) or ()
    ignored = (ignored,) if isinstance(ignored, str) else tuple(ignored)
    around = tuple(roles[role] for role in ("id", "household", "weight") if roles.get(role) is not None)
    return Job(table, roles, rules, intruder, keep, seed, around, ignored, core=tuple(rules.core.get("paired", CORE)))
