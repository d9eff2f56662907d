"""Population risk: a crowd of one in the release may be a crowd in the country.

Three intruders (El Emam 2013, ch. 16; as ARX shows them):

- the *prosecutor* knows that his target is in the release: 1/f, f the records that look like it;
- the *journalist* does not know, and takes anyone: 1/F, F the people of the population who look like it;
- the *marketer* links everybody and counts the right ones: the mean of 1/F over records.

F comes from a population table (register) when there is one; from sampling weights (``individual``); or it is only
known in law, from the sizes of the groups and from the keys (``superpopulation``, ``loglinear``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.errors import ParameterError, RoleError
from unmask.evidence.estimate import rate
from unmask.evidence.finding import Evidence, Fact, Observation
from unmask.evidence.measure import Context, measure
from unmask.groups.attackers import Attacker, Households, Source, attackers_of, households_of
from unmask.groups.classes import Classes, check_keys, count_classes
from unmask.groups.individual import Method, inclusion, individual_risk, unique_variance
from unmask.groups.joint import join
from unmask.groups.loglinear import log_linear
from unmask.groups.matching import Dis, dis_by_formula, dis_by_removal
from unmask.groups.superpopulation import Model, Prediction, pitman, poisson_gamma, predict, sizes_of, zayatz

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unmask.tables.release import Release

Floats = NDArray[np.float64]

THRESHOLD = 0.2  # ARX's default: a record is at risk when an intruder is right more than once in five times


@dataclass(frozen=True, slots=True)
class PopulationRisk:
    """Risk against a population. ``class_risk``: the journalist's chance with a record of each class."""

    classes: Classes
    source: Source
    population: float  # N: counted, the sum of the weights, or given
    threshold: float
    class_risk: Floats
    tau1: Prediction  # sample uniques that are unique in the population
    tau2: Prediction  # right links expected when every sample unique is linked
    models: tuple[Model, ...]
    attackers: tuple[Attacker, ...]
    dis: Dis
    households: Households | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_unique(self) -> int:
        """Records alone in their group: the sample uniques."""
        return int((self.classes.counts == 1).sum())

    @property
    def class_weights(self) -> Floats:
        """Sum of the sampling weights of each class (what is known of F); the counts without weights."""
        return self.classes.counts.astype(np.float64) if self.classes.weights is None else self.classes.weights

    @property
    def unique_share(self) -> float:
        """P(PU | SU): the share of sample uniques that are unique in the population (0 when there are none)."""
        return self.tau1.value / self.n_unique if self.n_unique else 0.0

    @property
    def expected(self) -> float:
        """Right links expected when every record is linked (sdcMicro's global risk, as a number of records)."""
        return float(self.classes.counts @ self.class_risk)

    @property
    def average(self) -> float:
        """Global risk: the mean over *records*, not over classes (pyCANON's average_rir is the latter)."""
        return self.expected / self.classes.n_records

    def dis_by_removal(self, *, rounds: int = 100, seed: int = 0) -> Dis:
        """DIS by the experiment itself: take every record out, put it back with probability n/N, and match it."""
        fraction = min(1.0, self.classes.n_records / self.population)
        return dis_by_removal(self.classes.counts, fraction, rounds=rounds, seed=seed)

    @property
    def per_record(self) -> Floats:
        """Risk of each record, in row order (tables in process)."""
        return self.classes.spread(self.class_risk)


def population_risk(  # noqa: PLR0913 - three sources of knowledge about the population
    table: Any,  # noqa: ANN401 - any frame that narwhals takes
    *,
    quasi: Iterable[str],
    weight: str | None = None,
    population: Any = None,  # noqa: ANN401 - a frame, or the number of people
    household: str | None = None,
    method: Method = "exact",
    threshold: float = THRESHOLD,
) -> PopulationRisk:
    """Estimate the risk against the population that ``table`` was drawn from.

    Parameters
    ----------
    table
        Any frame that narwhals takes; it is counted where it lives.
    quasi
        The columns that the intruder knows.
    weight
        Column of sampling weights: how many people a record stands for.
    population
        A frame with the same columns (everybody, a register), or N, the number of people, when nothing else is known.
    household
        Column that says who lives together.
    method
        "exact", or "approximate": p/(f - (1-p)) for f > 2, as sdcMicro has it.
    threshold
        Records with a larger risk are counted as above it.

    """
    keys = check_keys(quasi)
    _check(threshold, method, weight, population)
    classes = count_classes(table, keys, weight=weight)
    if population is not None and not isinstance(population, (int, float)):
        known = _with_register(classes, population)
    elif weight is not None:
        known = _with_weights(classes, method)
    else:
        known = _with_models(classes, population)
    source, size, risk, tau1, tau2, models, notes = known
    homes = households_of(classes, table, keys, household, risk) if household is not None else None
    fraction = min(1.0, classes.n_records / size)
    attackers = attackers_of(classes, risk, source, threshold)
    return PopulationRisk(
        classes,
        source,
        size,
        threshold,
        risk,
        tau1,
        tau2,
        models,
        attackers,
        dis_by_formula(classes.counts, fraction),
        homes,
        notes,
    )


_Known = tuple[Source, float, Floats, Prediction, Prediction, tuple[Model, ...], tuple[str, ...]]


def _with_register(classes: Classes, population: Any) -> _Known:  # noqa: ANN401 - any frame
    """1/F and P(PU | SU) = sum I(F=1, f=1) / sum I(f=1), counted (Torra 2024, uniqueness; METHODS.md, section 8)."""
    everybody = count_classes(population, classes.keys, name="population")
    people = _matched(classes, everybody)
    short = int((people < classes.counts).sum())
    people = np.maximum(people, classes.counts)  # whoever is in the release is in the population
    alone = classes.counts == 1
    tau1, tau2 = float((alone & (people == 1)).sum()), float((1 / people[alone]).sum())
    missing = f"{short} classes have fewer people in the population table than records: it does not hold everybody"
    size = float(max(everybody.n_records, classes.n_records))
    certain = (Prediction(tau1, tau1, tau1), Prediction(tau2, tau2, tau2))
    return "population", size, 1 / people, *certain, (), ((missing,) if short else ())


def _with_weights(classes: Classes, method: Method) -> _Known:
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
    return "weights", max(size, float(classes.n_records)), risk, tau1, tau2, (), notes


def _with_models(classes: Classes, population: float | None) -> _Known:
    """Nothing is known but N: four models side by side; the headline holds what the fair ones say."""
    if population is None:
        raise RoleError(
            "nothing is known about the population",
            allowed="weight=, a population table, or the number of people",
            hint="population=1_000_000 says that the table was drawn from a million people",
        )
    if population < classes.n_records:
        raise ParameterError(
            "the population is smaller than the table", got=f"{population} people, {classes.n_records} records"
        )
    sizes = sizes_of(classes.counts, float(population))
    if sizes.uniques == 0 or sizes.fraction == 1.0:
        certain = Prediction(sizes.uniques, sizes.uniques, sizes.uniques)
        risk = np.where(classes.counts == 1, 1.0, 1 / classes.counts)
        return "models", float(population), risk, certain, certain, (), ()
    keyed = log_linear(classes.codes(), classes.counts, float(population))
    models = tuple(model for model in (keyed, pitman(sizes), poisson_gamma(sizes), zayatz(sizes)) if model is not None)
    fair = [model for model in models if not model.note]  # Zayatz is shown, and known to overstate
    tau1, tau2 = _headline([model.tau1 for model in fair]), _headline([model.tau2 for model in fair])
    risk = _shrunk(classes, sizes.fraction, tau2.value / sizes.uniques)
    large = ("the keys have too many combinations for a log-linear model",) if keyed is None else ()
    return "models", float(population), risk, tau1, tau2, models, (*large, *(m.note for m in models if m.note))


def _headline(predictions: list[Prediction]) -> Prediction:
    """The median of the models, and an interval that holds the intervals of all: none is known to be right."""
    value = float(np.median([p.value for p in predictions]))
    return Prediction(value, min(p.low for p in predictions), max(p.high for p in predictions))


def _shrunk(classes: Classes, fraction: float, alone: float) -> Floats:
    """1/F by class: what the models say for uniques; larger classes by Benedetti-Franconi with p = pi, never above."""
    counts = classes.counts
    plain = individual_risk(counts, counts / fraction)
    return np.where(counts == 1, alone, np.minimum(plain, alone))


def _matched(classes: Classes, everybody: Classes) -> NDArray[np.int64]:
    """F of each class: the people of the population with the same key values, 0 when there are none."""
    people = everybody.columns.with_columns(pl.Series("", everybody.counts))
    kinds = {key: kind for key, kind in classes.columns.schema.items() if everybody.columns.schema[key] != kind}
    people = people.with_columns(pl.col(key).cast(kind, strict=False) for key, kind in kinds.items())
    joined = classes.columns.join(people, on=list(classes.keys), how="left", nulls_equal=True, maintain_order="left")
    return joined[""].fill_null(0).to_numpy().astype(np.int64)


def _check(threshold: float, method: str, weight: str | None, population: Any) -> None:  # noqa: ANN401
    if not 0 <= threshold <= 1:
        raise ParameterError("the threshold is out of range", got=str(threshold), allowed="0 to 1")
    if method not in {"exact", "approximate"}:
        raise ParameterError("unknown method", got=repr(method), allowed="'exact', 'approximate'")
    if weight is not None and population is not None:
        raise ParameterError("the population is told twice", got="weight and population", allowed="one of them")


# --- as an attack on a pair of tables ---------------------------------------------------------------------------------


def _has_weight(release: Release) -> str | None:
    if release.weight is None:
        return "nothing is known about the population: no sampling weight is named"
    return None if release.weight in release.released.columns else "the sampling weight is not in the release"


@measure(
    "population",
    title="Population risk: is a crowd of one in the file one in the country?",
    story="The intruder holds a register of the population and links each record to one of the people who look like "
    "it; how many there are is known from the sampling weights.",
    keys=("population.rate", "population.unique"),
    applies=_has_weight,
)
def assess_population(release: Release, context: Context) -> Evidence:
    """Benedetti-Franconi risk of each person's own record, where the record still carries the person's values."""
    joint = join(release)
    table = pl.DataFrame(joint.released, schema=list(joint.names), orient="row")
    table = table.with_columns(release.released[str(release.weight)].alias(" weight"))
    found = population_risk(table, quasi=joint.names, weight=" weight")
    context.progress(0.7, "weights")
    own = joint.match()[0] > 0
    credit = np.where(own, found.per_record[joint.truth], 0.0)
    alone = np.where(
        own,
        found.classes.spread(
            np.where(found.classes.counts == 1, inclusion(found.classes.counts, found.class_weights), 0.0)
        )[joint.truth],
        0.0,
    )
    people, chance = joint.people, 1 / found.population
    rates = [rate(values[people], chance=chance, seed=context.seed) for values in (credit, alone)]
    told = f"of {rates[0].n:,} people"
    return Evidence(
        observations=(
            Observation(
                "population.rate",
                f"{rates[0].hits:,.1f} {told} are expected to be found by linking with everybody.",
                rates[0],
            ),
            Observation(
                "population.unique",
                f"{rates[1].hits:,.1f} {told} are expected to be the only one in the population.",
                rates[1],
            ),
        ),
        per_record=credit,
        facts=_facts(found),
        notes=(*joint.notes, *found.notes),
    )


def _facts(found: PopulationRisk) -> tuple[Fact, ...]:
    summary = tuple(
        Fact(
            f"{attacker.name}, above {found.threshold:g}",
            attacker.above,
            f"share of records; the worst is {attacker.highest:.3g}",
        )
        for attacker in found.attackers
    )
    return (
        Fact("people N", found.population, "sum of the sampling weights"),
        Fact(
            "tau1",
            found.tau1.value,
            f"sample uniques that are unique in the population ({found.tau1.low:.0f} to {found.tau1.high:.0f})",
        ),
        Fact(
            "tau2",
            found.tau2.value,
            f"right links among sample uniques ({found.tau2.low:.0f} to {found.tau2.high:.0f})",
        ),
        Fact("DIS", found.dis.value, "chance that a unique match is right, from the sample alone"),
        *summary,
    )
