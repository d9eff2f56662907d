"""The measures that an engine can run on a release larger than memory, each from counts that are made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import polars as pl

from unmask.engines import (
    Asked,
    Near,
    Store,
    count_groups,
    count_kept,
    count_patterns,
    count_sets,
    find_nearest,
    placed_by_distance,
    placed_by_weight,
    sample_people,
)
from unmask.errors import NothingToTryError
from unmask.evidence import Evidence, Progress, Reported
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
from unmask.linkage import (
    Linkage,
    counted_nearest,
    counted_probabilistic,
    learn_from_patterns,
    linkage_of_sample,
)

Made = TypeVar("Made")
K = 5  # as in knowledge_sweep
NO_PEOPLE = "nothing is known about the population: no number of people"


@dataclass(frozen=True, slots=True)
class Large:
    """A release as an engine has it, and what was counted of it so far."""

    store: Store
    sample: int
    sets: int
    seed: int  # of the draw of people
    population: float | None
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

    def _nearest(self, seed: int, tell: Progress) -> Evidence:
        near = find_nearest(self.store, self.asked, placed_by_distance(self.store), tell)
        found = self._linked(near, seed, root=True)
        told = counted_nearest(found, self.store.names)
        return replace(told, asked=self._part(), notes=(*told.notes, *self._sampled()))

    def _probabilistic(self, seed: int, tell: Progress) -> Evidence:
        patterns = count_patterns(self.store, lambda done, words: tell(0.8 * done, words))
        names = tuple(self.store.names[j] for j in patterns.keys)
        sizes = self.store.n_original, self.store.n_released
        learnt = learn_from_patterns(names, patterns.gaps, sizes, patterns.code, patterns.number)
        placing = placed_by_weight(patterns.keys, learnt.step, learnt.missing, learnt.tie)
        near = find_nearest(self.store, self.asked, placing, lambda done, words: tell(0.8 + 0.2 * done, words))
        told = counted_probabilistic(learnt, self._linked(near, seed, root=False), seed)
        fewer = len(names) < len(self.store.names)
        note = (f"compared on {len(names)} of {len(self.store.names)} attributes",) if fewer else ()
        notes = (*told.notes, *note, *self._sampled())
        return replace(told, compared=names, asked=self._part(), notes=notes)

    def _linked(self, near: Near, seed: int, *, root: bool) -> Linkage:
        least, second = (np.sqrt(side) if root else side for side in (near.least, near.second))
        return linkage_of_sample(least, second, near.ties, near.credit, n_candidates=self.store.n_released, seed=seed)

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
