"""Uniqueness: how many records stand alone, and how unevenly the risk is spread [HUDA]_.

The intruder knows the quasi-identifiers of everybody in the release and looks for the records that carry exactly
these values. In a group of |A| equal records they guess right once in |A| times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import lgamma, log

import numpy as np

from unmask.arrays import Floats, Ints, Table
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, measure, rate
from unmask.groups.counting import Sizes, check_people, group_sizes, record_sizes
from unmask.shown import Shown
from unmask.study import Study
from unmask.tables import Release

EXACT_BITS = 54  # from 2^54 on 1/(m+1) is under half the spacing of doubles below 1, so m/(m+1) is 1.0


@dataclass(frozen=True, slots=True)
class GroupRisk(Shown):
    """Group counts of a release. Counts are stored and rates derived: a report shows both."""

    n_records: int  # n
    n_groups: int  # G
    n_unique: int  # n_1, records alone in their group
    sizes: Sizes = field(repr=False)  # how many groups of each size
    population: int | None = None  # N
    _table: Table = field(repr=False, compare=False, default=None)
    _quasi: tuple[str, ...] = field(repr=False, compare=False, default=())
    _weight: str | None = field(repr=False, compare=False, default=None)

    @property
    def group_size(self) -> Ints:
        """Size of each record's group, in row order: counted when asked for, since it is as long as the table."""
        return record_sizes(self._table, self._quasi, self._weight)

    @property
    def k(self) -> int:
        """The smallest group: the release is k-anonymous."""
        return int(self.sizes.size[0])

    @property
    def minimum(self) -> float:
        """DR_min, eq. 7 and 8: the share of records that nobody resembles (of the population, when N is given)."""
        return self.n_unique / (self.population or self.n_records)

    @property
    def average(self) -> float:
        """DR_pr, eq. 10: G/n, the mean of 1/|A| over records."""
        return self.n_groups / self.n_records

    @property
    def threshold(self) -> float:
        """DR_thr, eq. 17: the average, raised by how far the risk is from evenly spread."""
        return threshold_risk(self.sizes)

    @property
    def per_record(self) -> Floats:
        """1/|A| for each record, eq. 9."""
        return 1.0 / self.group_size


def group_risk(
    table: Table, *, quasi: Iterable[str], population: int | None = None, weight: str | None = None
) -> GroupRisk:
    """Count the groups of records that look the same on ``quasi``.

    Parameters
    ----------
    table
        Any frame that narwhals takes; what is lazy or lives elsewhere is counted there.
    quasi
        The columns that the intruder knows. Missing is a value of its own.
    population
        N, the size of the population that the table was drawn from, for DR_min of eq. 7.
    weight
        Column of sampling weights: groups are counted in people, and so are n and all three risks.

    Examples
    --------
    >>> import polars as pl, unmask
    >>> risk = unmask.group_risk(pl.DataFrame({"k": list("abccbdeee")}), quasi=["k"])   # Fig. 2 of the paper
    >>> risk.n_groups, risk.n_unique, risk.k
    (5, 2, 1)

    """
    quasi = (quasi,) if isinstance(quasi, str) else tuple(quasi)
    sizes = group_sizes(table, quasi, weight)
    if population is not None:
        check_people(population, sizes.n_records)
    alone = int(sizes.groups[0]) if sizes.size[0] == 1 else 0
    return GroupRisk(sizes.n_records, sizes.n_groups, alone, sizes, population, table, quasi, weight)


def threshold_risk(sizes: Sizes) -> float:
    """DR_thr of a distribution of group sizes, eq. 17 as docs/methods.md, section 8 reads it (|A_k| inside the sum).

    The three sorted distributions (given, most balanced, most unbalanced) are runs of equal sizes, so the sums go over
    the few places where a run ends, not over the groups.
    """
    n, g = sizes.n_records, sizes.n_groups
    small, extra = divmod(n, g)
    ends = np.cumsum(sizes.groups)
    marks = np.unique(np.concatenate([ends, [g - extra, g - 1, g]]))
    marks = marks[marks > 0]
    width = np.diff(np.concatenate([[0], marks]))
    given = 1.0 / sizes.size[np.searchsorted(ends, marks)]
    balanced = 1.0 / np.where(marks <= g - extra, small, small + 1)  # eq. 11-13
    unbalanced = 1.0 / np.where(marks <= g - 1, 1, n - g + 1)  # eq. 14-16
    above = (width * np.maximum(given - balanced, 0) / given).sum()
    most = (width * np.maximum(unbalanced - balanced, 0)).sum()
    if most <= 0:  # only one distribution is possible: G = 1 or G = n
        return g / n
    return float((g + partition_factor(n, g) * above / most) / n)


def partition_factor(n: int, g: int) -> float:
    """m/(m+1), m the number of partitions of n into exactly g parts.

    It is 1.0 in double precision as soon as m >= 2^54. Compositions number C(n-1, g-1), and a partition has at most g!
    orders, so m >= C(n-1, g-1)/g!: where this bound is beyond 2^54 (in logarithms, with a margin) m is not computed.
    A second bound covers g near n: m counts the partitions of r = n-g into at most g parts, and grows with both; for r
    and g of 310 or more it is at least p(310) = 18,671,488,299,600,364 > 2^54.
    """
    r = n - g
    bound = lgamma(n) - lgamma(g) - lgamma(r + 1) - lgamma(g + 1)
    if bound > (EXACT_BITS + 1) * log(2) or (r >= 310 and g >= 310):
        return 1.0
    m = count_partitions(n, g)
    return m / (m + 1)


def count_partitions(n: int, g: int) -> int:
    """p(n, g) exactly: partitions of n - g into parts of at most g, one part size after the other."""
    if g == 2:
        return n // 2
    if g == 3:
        return (n * n + 6) // 12
    r = n - g
    ways = [1] + [0] * r
    for part in range(1, min(g, r) + 1):
        for total in range(part, r + 1):
            ways[total] += ways[total - part]
    return ways[r]


@measure(
    "uniqueness",
    title="Exact match and uniqueness",
    story="The intruder looks for records with exactly the values they know; where there is one, that is the person.",
    keys=("uniqueness.average", "uniqueness.unique"),
)
def assess_uniqueness(study: Study, context: Context) -> Evidence:
    """Run the exact match and tell what it found, with the group counts of the release."""
    release = study.release
    match, people = study.comparable.match(), release.paired_rows
    credit, crowd = match.credit(release.truth), match.crowd
    risk = group_risk(release.released, quasi=release.quasi)
    context.progress(1.0, "groups")
    unique, chance = (credit[people] == 1.0).astype(np.float64), 1.0 / risk.n_records
    average, alone = (rate(one, chance=chance, seed=context.seed) for one in (credit[people], unique))
    nobody = int((crowd[people] == 0).sum())
    told = uniqueness_evidence(average, alone, nobody, risk, tuple(_of_people(release, risk)))
    return replace(told, per_record=credit, compared=study.compared, notes=study.encoding().notes)


def uniqueness_evidence(
    average: Estimate, unique: Estimate, nobody: int, risk: GroupRisk, more: tuple[Fact, ...] = ()
) -> Evidence:
    """What the exact match found, ties shared and alone; and of how many people no record carries the values."""
    told = f" (For {nobody:,} no record carries their values: masking changed them.)"
    changed = told if nobody > average.n / 2 else ""  # little to go on is no reassurance about other attacks
    return Evidence(
        observations=(
            Observation.of_people(
                "uniqueness.average",
                average,
                f"are found by guessing among the records that equal them.{changed}",
            ),
            Observation.of_people(
                "uniqueness.unique", unique, "carry values that stand in one released record: their own."
            ),
        ),
        facts=(
            Fact("k", risk.k, "size of the smallest group of equal records in the release"),
            Fact("groups G", risk.n_groups, f"different combinations among {risk.n_records:,} released records"),
            Fact("DR_min", risk.minimum, "share of released records that nobody resembles", share=True),
            Fact("DR_pr", risk.average, "mean of 1/(group size) over released records", share=True),
            Fact("DR_thr", risk.threshold, "the same, raised by how unevenly the risk is spread", share=True),
            *more,
            Fact(
                "people whose values nobody carries",
                nobody,
                "masking changed them: the exact match finds no record at all",
            ),
        ),
        figures=(_size_figure(risk),),
    )


def _of_people(release: Release, risk: GroupRisk) -> Iterator[Fact]:
    """The same in people, when something is known of them."""
    if release.n_people is not None:
        yield Fact(
            "DR_min of the population", risk.n_unique / release.n_people, f"N = {release.n_people:,.0f}", share=True
        )
    if release.weight is not None and release.weight in release.released.columns:
        people = group_risk(release.released, quasi=release.quasi, weight=release.weight)
        told = f"by weight, {people.n_records:,} people"
        yield Fact("DR_min in people", people.minimum, told, share=True)
        yield Fact("DR_pr in people", people.average, told, share=True)
        yield Fact("DR_thr in people", people.threshold, told, share=True)


def _size_figure(risk: GroupRisk) -> Figure:
    bins = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 10**18))
    labels = ("50+" if low == 50 else str(low) if low == high else f"{low}-{high}" for low, high in bins)
    records = risk.sizes.size * risk.sizes.groups
    shares = (
        float(records[(risk.sizes.size >= low) & (risk.sizes.size <= high)].sum() / risk.n_records)
        for low, high in bins
    )
    return Figure.bars(
        list(zip(labels, shares, strict=True)),
        title="How large is the crowd that each released record hides in?",
        caption="Released records by the number of records that look exactly like them. A crowd of one is no crowd.",
        said="Share of records by size of their group: ",
        axes=("records that look the same", "share of released records"),
        name="released records",
        form="{}: {share}",
    )
