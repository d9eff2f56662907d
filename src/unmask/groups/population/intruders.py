"""Three intruders and a household: the summary of population risk, as ARX and sdcMicro show it.

The prosecutor, the journalist and the marketer are told in ``population``; here their success is counted from the size
of each class in the release and the risk against the population [ELEMAM13]_.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.groups.counting import Classes, collect, open_table, select_keys
from unmask.groups.population.weights import household_risk

Source = Literal["population", "weights", "models"]


@dataclass(frozen=True, slots=True)
class Intruder:
    """One intruder's success: the worst record, the mean over records, and how many records are above the threshold."""

    name: str
    highest: float
    average: float
    n_above: int
    n_records: int

    @property
    def above(self) -> float:
        """Share of records above the threshold."""
        return self.n_above / self.n_records


@dataclass(frozen=True, slots=True)
class Households:
    """Risk of whole households, 1 - prod(1 - r): one found member gives the others away."""

    n_households: int
    expected: float  # sum over records of their household's risk
    n_records: int

    @property
    def average(self) -> float:
        """Mean over records."""
        return self.expected / self.n_records


def households_of(classes: Classes, table: Any, keys: tuple[str, ...], household: str, risk: Floats) -> Households:  # noqa: ANN401
    """Count (household, class) pairs where the table lives, then multiply over each household."""
    frame = open_table(table, household=[household])
    chosen = select_keys(frame, keys, None, nw.col(household).alias("home"))
    pairs = collect(chosen.group_by("home", *(f"k{i}" for i in range(len(keys)))).agg(nw.len().alias("n")))
    found = risk[classes.number(pairs)]
    home = pairs["home"].rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    numbers = pairs["n"].cast(pl.Int64).to_numpy()
    # who has no household is one alone, not a member of one large household of the missing
    known = home > 0
    risks = household_risk(found[known], home[known] - 1, numbers[known])
    members = np.bincount(home[known] - 1, numbers[known])
    lone = float(found[~known] @ numbers[~known])
    return Households(len(risks) + int(numbers[~known].sum()), float(risks @ members) + lone, classes.n_records)


def intruders_of(classes: Classes, risk: Floats, source: Source, threshold: float) -> tuple[Intruder, ...]:
    """The summary of ARX: highest, mean and share above the threshold for each of the three."""
    counts, n = classes.counts, classes.n_records
    single = 1 / counts
    average = float(counts @ risk) / n
    people = float((1 / risk).sum())  # of the population, in classes that occur in the release
    journalist = max(average, classes.n_classes / people) if source == "population" else average
    return (
        Intruder("prosecutor", float(single.max()), classes.n_classes / n, int(counts[single > threshold].sum()), n),
        Intruder("journalist", float(risk.max()), journalist, int(counts[risk > threshold].sum()), n),
        Intruder("marketer", average, average, n if average > threshold else 0, n),
    )
