"""The measures that an engine can run on a release larger than memory, each from counts that are made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from unmask.disclosure import FEWEST, NOBODY, PAIRED
from unmask.engines import (
    Asked,
    Near,
    Store,
    ask_spread,
    bring_tables,
    count_groups,
    count_kept,
    count_patterns,
    count_sets,
    find_blocks,
    find_nearest,
    match_in_blocks,
    placed_by_distance,
    placed_by_weight,
    sample_absent,
    sample_extra,
    sample_people,
)
from unmask.errors import NothingToTryError
from unmask.evidence import UNPAIRED, Context, Evidence, Progress, Reported
from unmask.groups import (
    Counted,
    CountedUniques,
    counted_anonymity,
    counted_specials,
    counted_sweep,
    counted_uniqueness,
    most_promising,
    population_evidence,
    sweep_of,
)
from unmask.large_copies import assess_copies, refuse_overlap
from unmask.large_draws import Drawer
from unmask.large_people import assess_members, most_asked, records_of, study_of, told_apart
from unmask.linkage import (
    TOGETHER,
    InBlocks,
    Linkage,
    Passed,
    blocked_one_to_one,
    counted_nearest,
    counted_one_to_one,
    counted_probabilistic,
    largest_of_scales,
    learn_from_patterns,
    linkage_of_sample,
    whole_one_to_one,
)
from unmask.study import Scale, Study

Made = TypeVar("Made")
K = 5  # as in knowledge_sweep
WITHOUT_PAIRS = ("copies", "membership")  # what an engine tries of a synthetic release
IN_ROUNDS = 100_000  # rows of either table up to which everybody is matched: they come here, as codes
MOST_IN_BLOCKS = 2_000_000  # rows of either table whose matching by blocks is summed up here
USEFUL = 0.01  # the largest gap of a matching by blocks that is told: beyond, a sample says more
NO_PEOPLE = "nothing is known about the population: no number of people"


class Passes(NamedTuple):
    """What passes over both tables found of the people asked for, by which scale, and a note where several were tried.

    ``there``: they look for records; ``back``: their records look for people.
    """

    scale: Scale
    note: tuple[str, ...]
    there: Near
    back: Near


def _within(tell: Progress, start: float, share: float) -> Progress:
    """Progress of a part of the work."""
    return lambda done, words: tell(start + share * done, words)


@dataclass(frozen=True, slots=True)
class Large:
    """A release as an engine has it, and what was counted of it so far."""

    store: Store
    sample: int
    sets: int
    seed: int  # of the draw of people
    population: float | None
    id: str | None = None  # of people, where it is known whom a control table has
    _made: dict[str, Any] = field(default_factory=dict)

    def _once(self, name: str, make: Callable[[], Made]) -> Made:
        if name not in self._made:
            self._made[name] = make()
        found: Made = self._made[name]
        return found

    @property
    def counted(self) -> Counted:
        """Groups of all keys."""
        return self._once("counted", lambda: Counted(*count_groups(self.store)))

    @property
    def asked(self) -> Asked:
        """The people who are linked."""
        return self._once("asked", lambda: sample_people(self.store, self.sample, self.seed))

    @property
    def kept(self) -> Any:  # noqa: ANN401 - counts of an engine
        """For each key: people whose record carries their value, and pairs that agree."""
        return self._once("kept", lambda: count_kept(self.store))

    @property
    def largest(self) -> int:
        """Attributes of the largest sets that are looked at."""
        return min(self.sets, len(self.store.keys))

    def _of_sets(self, tell: Progress) -> Any:  # noqa: ANN401 - counts of an engine
        return self._once("sets", lambda: count_sets(self.store, self.largest, K, tell))

    def run(self, name: str, seed: int, tell: Progress) -> Evidence:
        """Run one measure; ``seed`` is its own."""
        if self.store.synthetic and name not in WITHOUT_PAIRS:
            raise NothingToTryError(UNPAIRED)
        evidence: Evidence = getattr(self, f"_{name}")(seed, tell)
        return replace(evidence, notes=(*evidence.notes, *self._left_out()))

    def _left_out(self) -> tuple[str, ...]:
        return tuple(
            f"{key.name!r}: no value of the release occurs in the original, so they cannot be compared; is it coded "
            "otherwise?"
            for key in self.store.left_out
        )

    def _uniqueness(self, seed: int, _tell: Progress) -> Evidence:
        return replace(counted_uniqueness(self.counted, seed), compared=self.store.names)

    def _anonymity(self, _seed: int, _tell: Progress) -> Evidence:
        return counted_anonymity(self.counted)

    def _knowledge_sweep(self, _seed: int, tell: Progress) -> Evidence:
        counts, _ = self._of_sets(tell)
        sweep = sweep_of(self.store.names, self.store.n_released, self.largest, tuple(counts))
        worst = most_promising(sweep, self.kept.kept, self.kept.agreeing, self.store.n_paired)
        return counted_sweep(sweep, worst, Counted(*count_groups(self.store, worst)))

    def _special_uniques(self, _seed: int, tell: Progress) -> Evidence:
        _, uniques = self._of_sets(tell)
        return counted_specials(CountedUniques(*uniques), self.counted, self.store.names, self.largest)

    def _population(self, seed: int, _tell: Progress) -> Evidence:
        if self.population is None:
            raise NothingToTryError(NO_PEOPLE)
        there = self.counted.size > 0
        return population_evidence(
            self.counted.sizes, self.counted.own[there], self.store.n_paired, self.population, seed
        )

    def _passes(self, tell: Progress) -> Passes:
        """Both directions, by the scale that finds most."""

        def made() -> Passes:
            store, asked = self.store, self.asked
            scales: tuple[Scale, ...] = ("own", "original", "released")
            tried = scales if any(key.numeric for key in store.keys) else scales[:1]
            step, there = 1 / (len(tried) + 1), {}
            for at, scale in enumerate(tried):
                placing = placed_by_distance(store, scale)
                there[scale] = find_nearest(store, asked, placing, _within(tell, at * step, step))
            found = {scale: self._linked(near, 0, root=True).estimate for scale, near in there.items()}
            n = found["own"].n if store.n_original == store.n_released else None
            scale, note = largest_of_scales({name: one.value for name, one in found.items()}, n)
            placing = placed_by_distance(store, scale)
            back = find_nearest(store, asked, placing, _within(tell, 1 - step, step), back=True)
            return Passes(scale, note, there[scale], back)

        return self._once("passes", made)

    def _nearest(self, seed: int, tell: Progress) -> Evidence:
        found = self._passes(tell)
        there, back = (
            self._linked(near, seed, root=True, back=k == 1) for k, near in enumerate((found.there, found.back))
        )
        whole = self.store.n_paired >= self.store.n_released
        told = counted_nearest(there, back, found.there.closer, whole=whole)
        return self._of_asked(replace(told, notes=(*told.notes, *found.note)))

    def _one_to_one(self, seed: int, tell: Progress) -> Evidence:
        store = self.store
        context = Context(seed=seed, progress=_within(tell, 0.5, 0.5))
        rows = max(store.n_original, store.n_released)
        if rows <= IN_ROUNDS:
            study = study_of(store, *bring_tables(store))
            ask = None if rows <= TOGETHER else lambda look, _words: ask_spread(store, look)
            return replace(whole_one_to_one(study, context, ask), per_record=None, compared=store.names)
        by_blocks = self._in_blocks(seed, tell)
        if by_blocks is not None:
            return by_blocks
        found = self._passes(_within(tell, 0.0, 0.5))
        there = self._linked(found.there, seed, root=True)
        told = counted_one_to_one(there, self._together(), store.n_paired, found.scale, context)
        return self._of_asked(replace(told, notes=(*told.notes, *found.note)))

    def _in_blocks(self, seed: int, tell: Progress) -> Evidence | None:
        """Everybody, where categories cut both tables; None where they do not, or where too little is proven."""
        store = self.store
        blocks = find_blocks(store) if store.n_original <= MOST_IN_BLOCKS else None
        if blocks is None:
            return None
        found = match_in_blocks(store, blocks, (self.sample, self.seed), _within(tell, 0.0, 0.5))
        if found is None or found.gap > USEFUL:
            return None
        passed, placing = self._passes(_within(tell, 0.5, 0.5)), placed_by_distance(store)
        nearest = self._linked(passed.there, seed, root=True)
        slack = placing.tolerance, float(np.sqrt(placing.floor))
        return self._of_asked(blocked_one_to_one(InBlocks(*found), nearest, slack, blocks.number))

    def _together(self) -> Study:
        """Some people with their records, and as large a share of all who are in one table only."""
        store = self.store
        people = sample_people(store, TOGETHER, self.seed)
        n = len(people.ids)
        extra, absent = (
            round((rows - store.n_paired) * n / store.n_paired) for rows in (store.n_released, store.n_original)
        )
        records = people.own.and_then(sample_extra(store, extra, self.seed)) if extra else people.own
        known = people.known.and_then(sample_absent(store, absent, self.seed)) if absent else people.known
        return study_of(store, known, records, np.append(np.arange(n), np.full(absent, -1)))

    def _membership(self, seed: int, tell: Progress) -> Evidence:
        store, context = self.store, Context(seed=seed, progress=tell)
        if not store.synthetic:
            return assess_members(store, self.sample, self.seed, context)
        if store.n_outside < FEWEST:
            raise NothingToTryError(NOBODY)
        refuse_overlap(store, self.id)
        most, drawer = most_asked(store, self.sample), Drawer(store)
        inside, outside = drawer.some("original", most, seed), drawer.some("outside", most, seed + 1)
        told = told_apart(store, records_of(store, inside), records_of(store, outside), context)
        n = store.n_original
        drawn = (f"{most:,} of {n:,} people were drawn by lot and looked for",) if most < n else ()
        return replace(told, notes=(*told.notes, *drawn))

    def _copies(self, seed: int, tell: Progress) -> Evidence:
        if not self.store.synthetic:
            raise NothingToTryError(PAIRED)
        return assess_copies(self.store, Context(seed=seed, progress=tell), self.id)

    def _of_asked(self, told: Evidence) -> Evidence:
        return replace(told, compared=self.store.names, asked=self._part(), notes=(*told.notes, *self._sampled()))

    def _probabilistic(self, seed: int, tell: Progress) -> Evidence:
        patterns = count_patterns(self.store, _within(tell, 0.0, 0.8))
        names = tuple(self.store.names[j] for j in patterns.keys)
        sizes = self.store.n_original, self.store.n_released
        learnt = learn_from_patterns(names, patterns.gaps, sizes, patterns.code, patterns.number)
        placing = placed_by_weight(patterns.keys, learnt.step, learnt.missing, learnt.tie)
        near = find_nearest(self.store, self.asked, placing, _within(tell, 0.8, 0.2))
        told = counted_probabilistic(learnt, self._linked(near, seed, root=False), seed)
        fewer = len(names) < len(self.store.names)
        note = (f"compared on {len(names)} of {len(self.store.names)} attributes",) if fewer else ()
        notes = (*told.notes, *note, *self._sampled())
        return replace(told, compared=names, asked=self._part(), notes=notes)

    def _linked(self, near: Near, seed: int, *, root: bool, back: bool = False) -> Linkage:
        least, second = (np.sqrt(side) if root else side for side in (near.least, near.second))
        return linkage_of_sample(
            Passed(least, second, near.ties, near.credit),
            n_candidates=self.store.n_original if back else self.store.n_released,
            seed=seed,
            some=self._part() is not None,
            direction="to_original" if back else "to_release",
        )

    def _part(self) -> tuple[int, int] | None:
        """How many people stand for how many: what is true of few of them is not shown to be true of few of all."""
        n, people = len(self.asked.ids), self.store.n_paired
        return None if n == people else (n, people)

    def _sampled(self) -> tuple[str, ...]:
        part = self._part()
        if part is None:
            return ()
        return (f"asked for {part[0]:,} of {part[1]:,} people, drawn by a hash of their ids, among all records",)

    def records(self, reported: tuple[Reported, ...], *, show_values: bool) -> pl.DataFrame:
        """A row for each person who was looked for: what the linkages made of them; their id where it may be shown."""
        found = {
            entry.measure: entry.evidence.per_record
            for entry in reported
            if isinstance(entry.evidence, Evidence) and entry.evidence.per_record is not None
        }
        n = len(self.asked.ids) if found else 1
        table = pl.DataFrame({"row": np.arange(1, n + 1), **found}).with_columns(pl.lit(None, pl.Float64).alias("risk"))
        return table.with_columns(pl.Series("id", self.asked.ids)) if show_values and found else table
