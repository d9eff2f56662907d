"""Every set of known attributes: how the risk grows with each one that the intruder happens to know.

Counts of every set up to a size tell how risk grows with their number, which smallest sets single somebody out, and
what each attribute adds on average over all that may be known already (its Shapley value [SHAPLEY]_).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import comb
from typing import Literal

import numpy as np
import polars as pl

from unmask.arrays import Counts, Floats, Table
from unmask.errors import EngineError, ParameterError, check_name
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, Series, measure, shared_rate
from unmask.groups.counting import check_keys, count_classes
from unmask.shares import percent
from unmask.shown import Shown
from unmask.study import Matcher, Study, narrowed

Risk = Literal["average", "unique", "below"]

MAX_SETS = 1 << 20
REPORT_WORK = 500_000_000  # classes looked at for a report: some seconds


@dataclass(frozen=True, slots=True)
class Knowledge(Shown):
    """Counts of every set of attributes; one entry for each set. Rates derive from counts."""

    keys: tuple[str, ...]
    n_records: int
    max_size: int
    k: int
    masks: Counts  # bit j: the j-th key is known
    n_groups: Counts
    n_unique: Counts
    n_below: Counts  # records in groups of fewer than k

    @property
    def sizes(self) -> Counts:
        """How many attributes each set has."""
        return np.bitwise_count(self.masks).astype(np.int64)

    def risk(self, kind: Risk = "average") -> Floats:
        """Risk of each set: G/n, the share of records alone, or in groups of fewer than k."""
        chosen = {"average": self.n_groups, "unique": self.n_unique, "below": self.n_below}
        check_name(kind, chosen, "unknown risk")
        return chosen[kind] / self.n_records

    def attributes(self, mask: int) -> tuple[str, ...]:
        """Names of the attributes of a set."""
        return tuple(key for j, key in enumerate(self.keys) if mask >> j & 1)

    def growth(self, kind: Risk = "average") -> pl.DataFrame:
        """Least, mean and largest risk by the number of attributes known, and the set with the largest."""
        risk, sizes = self.risk(kind), self.sizes
        rows = []
        for size in range(1, self.max_size + 1):
            here = np.flatnonzero(sizes == size)
            worst = here[np.argmax(risk[here])]
            names = ", ".join(self.attributes(int(self.masks[worst])))
            rows.append((size, float(risk[here].min()), float(risk[here].mean()), float(risk[worst]), names))
        return pl.DataFrame(rows, schema=["known", "least", "mean", "largest", "worst_set"], orient="row")

    def smallest_sets(self, *, share: float = 0.0) -> list[tuple[tuple[str, ...], int]]:
        """Sets that single out more than ``share`` of the records while no part of them does; smallest first."""
        hits = self.n_unique > share * self.n_records
        count = dict(zip(self.masks[hits].tolist(), self.n_unique[hits].tolist(), strict=True))
        bits = [1 << j for j in range(len(self.keys))]
        # Who is alone stays alone when more is known: no part of a set does if no part with one attribute less does.
        minimal = [mask for mask in count if not any(mask & bit and mask ^ bit in count for bit in bits)]
        ranked = sorted(minimal, key=lambda mask: (mask.bit_count(), -count[mask], mask))
        return [(self.attributes(mask), count[mask]) for mask in ranked]

    def shapley(self, kind: Risk = "average") -> dict[str, float]:
        """What each attribute adds to the risk, averaged over all orders in which attributes become known.

        Shapley value of the risk as a game: phi_j = 1/m sum_s mean over sets S of s others of v(S + j) - v(S). Their
        sum is the risk with everything known less that with nothing known; a sweep that stops at ``max_size`` stops
        the sum over s there, and the values sum to the mean risk of sets of that size, less that with nothing known.
        """
        m = len(self.keys)
        nothing = 1 / self.n_records if kind == "average" else float(kind == "below" and self.n_records < self.k)
        nothing = nothing if kind != "unique" else float(self.n_records == 1)
        value, sizes = self.risk(kind), self.sizes
        place = {mask: at for at, mask in enumerate(self.masks.tolist())}
        shares = np.zeros(m)
        for j in range(m):
            with_j = np.flatnonzero(self.masks >> j & 1)
            without = [place.get(mask) for mask in (self.masks[with_j] ^ (1 << j)).tolist()]
            before = np.array([nothing if at is None else value[at] for at in without])
            weight = np.array([1 / (m * comb(m - 1, size - 1)) for size in sizes[with_j].tolist()])
            shares[j] = ((value[with_j] - before) * weight).sum()
        return dict(zip(self.keys, shares.tolist(), strict=True))


def knowledge_sweep(table: Table, *, quasi: Iterable[str], max_size: int | None = None, k: int = 5) -> Knowledge:
    """Count the groups of every set of at most ``max_size`` quasi-identifiers (all sets when None).

    The table is grouped once, where it lives, by all quasi-identifiers; the sets are counted here from its classes.
    """
    keys = check_keys(quasi)
    if max_size is not None and not 1 <= max_size <= len(keys):
        raise ParameterError("max_size is out of range", got=str(max_size), allowed=f"1 to {len(keys)}, or None")
    if k < 1:
        raise ParameterError("k is out of range", got=str(k), allowed="1 or more")
    size = len(keys) if max_size is None else max_size
    sets = sum(comb(len(keys), s) for s in range(1, size + 1))
    if sets > MAX_SETS:
        raise EngineError(
            "too many sets of attributes", got=str(sets), allowed=f"up to {MAX_SETS}", hint="take a smaller max_size"
        )
    classes = count_classes(table, keys)
    from unmask.kernels.uniques import subset_counts  # noqa: PLC0415 - numba is heavy

    codes, records, n = classes.codes(narrow=True), classes.counts, classes.n_records
    del classes  # the values themselves are not needed any more
    masks, counts = subset_counts(codes, records, max_size=size, k=k)
    return Knowledge(keys, n, size, k, masks, counts[:, 0], counts[:, 1], counts[:, 2])


@measure(
    "knowledge_sweep",
    title="The worst three attributes that the intruder may know",
    story="The intruder knows three attributes of everybody, the worst three there are, and looks for their values.",
    keys=("knowledge_sweep.rate",),
)
def assess_knowledge(study: Study, context: Context) -> Evidence:
    """Sweep all sets of up to three attributes over the release, then match people on the most promising one."""
    study, note = narrowed(study)
    matcher, people, n = study.comparable, study.release.paired_rows, study.release.released.height
    sweep = knowledge_sweep(matcher.table, quasi=matcher.names, max_size=size_of_sets(matcher))
    context.progress(0.8, "sets of attributes")
    worst = worst_set(sweep, _left(study))
    match = matcher.match([j for j in range(len(matcher.names)) if worst >> j & 1])
    credit = match.credit(study.release.truth)
    chance = float((match.crowd[people] > 0).mean()) / n  # where no record matches, none is claimed
    told = sweep_evidence(sweep, worst, shared_rate(credit[people], chance))
    return replace(told, per_record=credit, notes=(*matcher.notes, *note))


def sweep_evidence(sweep: Knowledge, worst: int, found: Estimate) -> Evidence:
    """What share of people the worst set found, and how the risk grows with what is known."""
    names = sweep.attributes(worst)
    claim = f"{found.hits:,.0f} of {found.n:,} people are found by {len(names)} attributes: {', '.join(names)}."
    return Evidence(
        observations=(Observation("knowledge_sweep.rate", claim, found),),
        facts=_facts(sweep),
        figures=(_figure(sweep),),
        attributes=tuple(sweep.shapley().items()),
    )


def size_of_sets(matcher: Matcher) -> int:
    """Sets of up to three attributes for a report, of fewer where that is too much work."""
    m, n = len(matcher.names), len(matcher.released)
    size = next((s for s in (3, 2) if sum(comb(m, k) for k in range(1, s + 1)) * n <= REPORT_WORK), 1)
    return min(size, m)


def worst_set(sweep: Knowledge, left: Floats) -> int:
    """The set that promises most: many groups in the release, of attributes that masking has left to the people.

    An attribute that everybody lost tells the intruder nothing, however many values it has. What is left is taken
    attribute by attribute, since choosing by success itself would favour luck; when nothing is, groups alone decide.
    """
    bits = (sweep.masks[:, None] >> np.arange(len(sweep.keys))) & 1
    promise = sweep.n_groups * np.where(bits == 1, left, 1.0).prod(axis=1)
    return int(sweep.masks[np.argmax(promise if promise.max() > 0 else sweep.n_groups)])


def _left(study: Study) -> Floats:
    """Share of people whose own record still carries their value, beyond a random record's; 0 within three errors."""
    rows, truth = study.release.paired_rows, study.release.truth
    people, n = study.comparable.only_people(rows), len(rows)
    beyond = np.zeros(len(people.names))
    for j in range(len(people.names)):
        match = people.match([j], records=truth[rows])
        beyond[j] = beyond_luck(float(match.owns(np.arange(n)).mean()), float(match.crowd.sum()) / n**2, n)
    return beyond


def beyond_luck(kept: float, luck: float, n: int) -> float:
    """Share of n people whose value was kept, beyond a random record's; 0 within three standard errors."""
    return kept - luck if kept - luck > 3 * np.sqrt(luck * (1 - luck) / n) else 0.0


def _facts(sweep: Knowledge) -> tuple[Fact, ...]:
    smallest = sweep.smallest_sets()
    named = f"the smallest: {', '.join(smallest[0][0])}" if smallest else f"up to {sweep.max_size} attributes"
    return (
        Fact(
            "sets of attributes",
            len(sweep.masks),
            f"all sets of up to {sweep.max_size} of {len(sweep.keys)} attributes",
        ),
        Fact("smallest sets that single somebody out", len(smallest), named),
    )


def _figure(sweep: Knowledge) -> Figure:
    growth = sweep.growth()
    known = tuple(float(size) for size in growth["known"])
    lines = {"worst set": "largest", "mean set": "mean", "best set": "least"}
    told = ", ".join(f"{size:.0f} known: {percent(risk)}" for size, risk in zip(known, growth["largest"], strict=True))
    return Figure(
        shape="line",
        title="How does the risk grow with what the intruder knows?",
        caption="Mean of 1/(group size) over released records, by the number of attributes known: for the worst set of "
        "that many, the mean over all sets, and the best.",
        alt=f"Risk of the worst set of attributes by the number known: {told}",
        x_label="attributes known",
        y_label="mean risk of a record",
        series=tuple(Series(name, known, tuple(growth[column])) for name, column in lines.items()),
        percent=(False, True),
    )
