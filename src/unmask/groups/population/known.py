"""What is known about the population: a register, sampling weights, or only how many people there are.

Each says how many people F look like a record: the chance to pick the right one, E(1/F), and to be alone, P(F = 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints, Table
from unmask.errors import RoleError
from unmask.groups.counting import Classes, check_people, collect, count_classes, open_table, select_keys
from unmask.groups.population.loglinear import log_linear
from unmask.groups.population.sizes import Model, Prediction, pitman, poisson_gamma, predict, sizes_of, zayatz
from unmask.groups.population.weights import Method, household_risk, inclusion, individual_risk, unique_variance
from unmask.shown import Shown

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


def households_of(classes: Classes, table: Table, keys: tuple[str, ...], household: str, risk: Floats) -> Households:
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


@dataclass(frozen=True, slots=True)
class Known(Shown):
    """What follows for each class from what is known of the population."""

    source: Source  # where F comes from: "population" (a register), "weights" or "models"
    population: float  # N: counted, the sum of the weights, or given
    class_risk: Floats  # E(1/F) of each class: the journalist's chance with one of its records
    class_unique: Floats  # P(F = 1) of each class of one record, 0 of larger ones
    tau1: Prediction  # sample uniques that are unique in the population
    tau2: Prediction  # right links expected when every sample unique is linked
    models: tuple[Model, ...] = ()  # what each model says, when models are all there is
    notes: tuple[str, ...] = ()  # what a careful reader should know


def with_register(classes: Classes, population: Table) -> Known:
    """1/F and P(PU | SU) = sum I(F=1, f=1) / sum I(f=1), counted (Torra 2024; docs/methods.md, section 8)."""
    everybody = count_classes(population, classes.keys, name="population")
    people = _matched(classes, everybody)
    short = int((people < classes.counts).sum())
    people = np.maximum(people, classes.counts)  # whoever is in the release is in the population
    alone = classes.counts == 1
    tau1, tau2 = float((alone & (people == 1)).sum()), float((1 / people[alone]).sum())
    missing = f"{short} classes have fewer people in the population table than records: it does not hold everybody"
    size = float(max(everybody.n_records, classes.n_records))
    certain = (Prediction(tau1, tau1, tau1), Prediction(tau2, tau2, tau2))
    unique = (alone & (people == 1)).astype(np.float64)
    return Known("population", size, 1 / people, unique, *certain, (), ((missing,) if short else ()))


def with_weights(classes: Classes, method: Method) -> Known:
    """Benedetti-Franconi; for sample uniques P(F=1 | f=1) = p, and their 1/F varies independently."""
    assert classes.weights is not None  # noqa: S101 - counted with a weight
    p = inclusion(classes.counts, classes.weights)
    risk = individual_risk(classes.counts, classes.weights, method)
    alone = classes.counts == 1
    most = float(alone.sum())
    tau1 = predict(p[alone].sum(), (p[alone] * (1 - p[alone])).sum(), most)
    tau2 = predict(risk[alone].sum(), unique_variance(p[alone]).sum(), most)
    size = float(classes.weights.sum())
    low = size < classes.n_records
    notes = ("the weights sum to less than the number of records: they are not numbers of people",) if low else ()
    people = max(size, float(classes.n_records))
    return Known("weights", people, risk, np.where(alone, p, 0.0), tau1, tau2, (), notes)


def with_models(classes: Classes, population: float | None) -> Known:
    """Nothing is known but N: four models side by side; the headline holds what the fair ones say."""
    if population is None:
        raise RoleError(
            "nothing is known about the population",
            allowed="weight=, a population table, or the number of people",
            hint="population=1_000_000 says that the table was drawn from a million people",
        )
    check_people(population, classes.n_records)
    sizes = sizes_of(classes.counts, float(population))
    if sizes.uniques == 0 or sizes.fraction == 1.0:
        certain = Prediction(sizes.uniques, sizes.uniques, sizes.uniques)
        risk = individual_risk(classes.counts, classes.counts / sizes.fraction)  # 1/f when everybody is in the table
        alone = (classes.counts == 1).astype(np.float64)
        return Known("models", float(population), risk, alone, certain, certain)
    keyed = log_linear(classes.codes(), classes.counts, float(population))
    models = (keyed, pitman(sizes), poisson_gamma(sizes), zayatz(sizes))
    fair = [model for model in models if not model.note]  # Zayatz is shown, and known to overstate
    tau1, tau2 = headline([model.tau1 for model in fair]), headline([model.tau2 for model in fair])
    risk = shrunk(classes.counts, sizes.fraction, tau2.value / sizes.uniques)
    alone = np.where(classes.counts == 1, tau1.value / sizes.uniques, 0.0)
    notes = tuple(f"{model.name}: {said}" for model in models for said in (model.note, model.remark) if said)
    return Known("models", float(population), risk, alone, tau1, tau2, models, notes)


def headline(predictions: list[Prediction]) -> Prediction:
    """The median of the models, and an interval that holds the intervals of all: none is known to be right."""
    value = float(np.median([p.value for p in predictions]))
    return Prediction(value, min(p.low for p in predictions), max(p.high for p in predictions))


def shrunk(counts: Ints, fraction: float, alone: float) -> Floats:
    """1/F by class: what the models say for uniques; larger classes by Benedetti-Franconi with p = pi, never above."""
    plain = individual_risk(counts, counts / fraction)
    return np.where(counts == 1, alone, np.minimum(plain, alone))


def _matched(classes: Classes, everybody: Classes) -> Ints:
    """F of each class: the people of the population with the same key values, 0 when there are none."""
    keys, people = list(classes.keys), everybody.columns.with_columns(pl.Series("", everybody.counts))
    for key, kind in classes.columns.schema.items():
        if people.schema[key] != kind:
            people = _as_kind(people, key, kind)
    people = people.group_by(keys).agg(pl.col("").sum())
    joined = classes.columns.join(people, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined[""].fill_null(0).to_numpy().astype(np.int64)


def _as_kind(people: pl.DataFrame, key: str, kind: pl.DataType) -> pl.DataFrame:
    """Write a key as the table has it. Who has a value that cannot be written so looks like nobody in the table."""
    given = pl.col(key)
    same = given.is_null() | given.cast(kind, strict=False).is_not_null()
    if kind.is_numeric() and people.schema[key].is_numeric():
        same &= (given.cast(kind, strict=False).cast(pl.Float64) == given.cast(pl.Float64)).fill_null(value=True)
    try:
        return people.filter(same).with_columns(given.cast(kind, strict=False))
    except pl.exceptions.PolarsError:
        raise RoleError(
            f"column {key!r} has values of another kind in the population table",
            got=f"{kind} in the table, {people.schema[key]} in the population",
            hint="write it the same way in both",
        ) from None
