"""Population risk: a crowd of one in the release may be a crowd in the country.

The *prosecutor*, the *journalist* and the *marketer* [ELEMAM13]_, as ARX shows them. How many people F look like a
record is counted in a register, follows from sampling weights, or is guessed by models (``sizes``, ``loglinear``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats, Table
from unmask.errors import ParameterError, check_name
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, Series, measure, rate
from unmask.groups.counting import Classes, check_keys, count_classes
from unmask.groups.population.dis import Dis, dis_by_formula, dis_by_removal
from unmask.groups.population.known import (
    Households,
    Intruder,
    Known,
    households_of,
    intruders_of,
    with_models,
    with_register,
    with_weights,
)  # fmt: skip
from unmask.groups.population.outside import outside_of
from unmask.groups.population.sizes import Model, Prediction
from unmask.groups.population.weights import Method
from unmask.shares import percent
from unmask.shares import span as percent_span
from unmask.study import Matcher, Study, make_matcher
from unmask.tables import Release

THRESHOLD = 0.2  # ARX's default: a record is at risk when an intruder is right more than once in five times


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationRisk(Known):
    """Risk against a population: what is known of it, and what follows."""

    classes: Classes
    threshold: float
    intruders: tuple[Intruder, ...]
    dis: Dis
    households: Households | None = None

    @property
    def n_unique(self) -> int:
        """Records alone in their group: the sample uniques."""
        return int((self.classes.counts == 1).sum())

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
        """Risk of each record, in row order."""
        return self.classes.spread(self.class_risk)


def population_risk(  # noqa: PLR0913 - three sources of knowledge about the population
    table: Table,
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
    if population is not None and not isinstance(population, Real):
        known = with_register(classes, population)
    elif weight is not None:
        known = with_weights(classes, method)
    else:
        known = with_models(classes, None if population is None else float(population))
    risk = known.class_risk
    return PopulationRisk(
        **{entry.name: getattr(known, entry.name) for entry in fields(known)},
        classes=classes,
        threshold=threshold,
        intruders=intruders_of(classes, risk, known.source, threshold),
        dis=dis_by_formula(classes.counts, min(1.0, classes.n_records / known.population)),
        households=households_of(classes, table, keys, household, risk) if household is not None else None,
    )


def _check(threshold: float, method: str, weight: str | None, population: Any) -> None:  # noqa: ANN401
    if not 0 <= threshold <= 1:
        raise ParameterError("the threshold is out of range", got=str(threshold), allowed="0 to 1")
    check_name(method, ("exact", "approximate"), "unknown method")
    if weight is not None and population is not None:
        raise ParameterError("the population is told twice", got="weight and population", allowed="one of them")


# --- as an attack on a pair of tables ---------------------------------------------------------------------------------

SOURCES = {
    "population": "counted in the table of the population",
    "weights": "sum of the sampling weights",
    "models": "as given; how many look alike is left to models",
}
NO_REGISTER = (
    "without a register nobody knows who is alone in the population: the upper ends take everybody for it who is alone "
    "in the sample (a table of the population tells: --population)"
)


NO_COVER = (
    "from sampling weights: the intervals do not cover a wrong model, and people who look alike may be fewer than the "
    "weights say (risk understated); a table or a number of people tells more (--population instead of --weight)"
)


def _doubts(source: str) -> tuple[str, ...]:
    """What to tell of figures that nobody counted."""
    return () if source == "population" else (NO_REGISTER, NO_COVER) if source == "weights" else (NO_REGISTER,)


def unknown(release: Release) -> str | None:
    """Say when nothing is known about the population."""
    weighed = release.weight is not None and release.weight in release.released.columns
    if weighed or release.n_people is not None:
        return None
    return "nothing is known about the population: no table of it, no number of people, no sampling weight released"


@measure(
    "population",
    title="Population risk: is a crowd of one in the file one in the country?",
    story="The intruder holds a register of the population and links each record to one of the people who look like "
    "it; how many there are is counted, known from the sampling weights, or guessed by models.",
    keys=("population.rate", "population.unique"),
    applies=unknown,
)
def assess_population(study: Study, context: Context) -> Evidence:
    """Risk of each person's own record, where the record still carries the person's values."""
    found, truth = of_release(study), study.release.truth
    context.progress(0.7, "people who look alike")
    own = study.comparable.match().owns(truth)
    credit = np.where(own, found.per_record[truth], 0.0)
    alone = np.where(own, found.classes.spread(found.class_unique)[truth], 0.0)
    single = own & (found.classes.spread(found.classes.counts)[truth] == 1)
    people, counted = study.release.paired_rows, found.source == "population"
    rates = [
        predicted(values[people], single[people], (found.population, found.n_unique), prediction, context.seed)
        for values, prediction in ((credit, found.tau2), (alone, found.tau1))
    ]
    if not counted:
        most = (float(np.sort(np.where(single, 1.0, values)[people]).mean()) for values in (credit, alone))
        rates = [at_most(one, mean) for one, mean in zip(rates, most, strict=True)]
    told = f"of {rates[0].n:,} people are expected to be"
    claims = (
        f"{rates[0].hits:,.1f} {told} found by linking with everybody.",
        f"{rates[1].hits:,.1f} {told} alone in the release and in the population.",
    )
    return Evidence(
        observations=tuple(
            Observation(key, claim, figure)
            for key, claim, figure in zip(("population.rate", "population.unique"), claims, rates, strict=True)
        ),
        per_record=credit,
        outside=outside_of(study, found, own, rates[1]),
        facts=_facts(found, context.seed),
        figures=(_figure(found),),
        notes=(*study.encoding().notes, *found.notes, *_doubts(found.source)),
    )


def of_release(study: Study) -> PopulationRisk:
    """Population risk of the released records: by the register if there is one, else by weights, else by models."""
    release = study.release
    matcher = study.comparable
    if release.population is not None:
        everybody = study.beside("population").encoding().only(matcher.names)
        return _of_register(make_matcher(everybody), release.original.height)
    table = matcher.table
    if release.weight is not None and release.weight in release.released.columns:
        table = table.with_columns(release.released[release.weight].alias(" weight"))
        return population_risk(table, quasi=matcher.names, weight=" weight")
    return population_risk(table, quasi=matcher.names, population=release.n_people)


def _of_register(both: Matcher, n: int) -> PopulationRisk:
    """Count the people of the register (after the first n) who look like each record; overlaps count them in each."""
    people = both.only_people(slice(n, None))
    table = both.table
    if not both.inside:
        register = pl.DataFrame(people.original, schema=list(both.names), orient="row")
        return population_risk(table, quasi=both.names, population=register)
    match = people.match()
    _, groups = match.pairs()
    first = np.array([rows[0] if len(rows) else -1 for rows in match.members()])
    nobody = np.full((int((match.crowd == 0).sum()), len(both.names)), -1, dtype=np.int32)
    register = pl.DataFrame(np.vstack([both.released[first[groups]], nobody]), schema=list(both.names), orient="row")
    found = population_risk(table, quasi=both.names, population=register)
    size = float(max(len(people.original), len(both.released)))
    dis = dis_by_formula(found.classes.counts, min(1.0, found.classes.n_records / size))
    return replace(found, population=size, dis=dis)


def predicted(credit: Floats, single: Flags, known: tuple[float, int], tau: Prediction, seed: int) -> Estimate:
    """Mean credit; its interval also covers how far tau may be off for the sample uniques (the squares add).

    ``known``: people of the population, and sample uniques.
    """
    seen = rate(credit, chance=1 / known[0], seed=seed)
    return off_by_model(seen, float(single.mean()) / max(1, known[1]), tau)


def off_by_model(seen: Estimate, share: float, tau: Prediction) -> Estimate:
    """An estimate whose interval also covers how far tau may be off; ``share``: of people, for each sample unique."""
    down = np.hypot(seen.value - seen.low, share * (tau.value - tau.low))
    up = np.hypot(seen.high - seen.value, share * (tau.high - tau.value))
    ends = max(0.0, float(seen.value - down)), min(1.0, float(seen.value + up))
    return Estimate(seen.value, *ends, seen.n, seen.chance, None, seen.method)


def at_most(figure: Estimate, most: float) -> Estimate:
    """The upper end if everybody who is alone in the sample were alone in the population: no model can exclude it.

    ``most``: the mean risk in that case. Where a third of the people have a job of their own and the others stand in
    large crowds, models that are fitted to both expect a hundredth of the truth, and so do weights.
    """
    return replace(figure, high=min(1.0, max(figure.high, most)))


def model_facts(tau1: Prediction, tau2: Prediction, models: Iterable[Model]) -> tuple[Fact, ...]:
    """The headline, and what each model says."""

    def span(tau: Prediction) -> str:
        return f"({tau.low:.1f} to {tau.high:.1f})"

    return (
        Fact("tau1", tau1.value, f"sample uniques that are unique in the population {span(tau1)}"),
        Fact("tau2", tau2.value, f"right links among sample uniques {span(tau2)}"),
        *(
            Fact(f"tau1, {model.name}", model.tau1.value, f"{span(model.tau1)}; tau2 {model.tau2.value:.1f}")
            for model in models
        ),
    )


def _facts(found: PopulationRisk, seed: int) -> tuple[Fact, ...]:
    removal = found.dis_by_removal(seed=seed)
    intruders = tuple(
        Fact(
            f"{intruder.name}, above {percent(found.threshold)}",
            intruder.above,
            f"share of records; the mean is {percent(intruder.average)}, the worst {percent(intruder.highest)}",
            share=True,
        )
        for intruder in found.intruders
    )
    return (
        Fact("people N", found.population, SOURCES[found.source]),
        Fact(
            "P(PU|SU)", found.unique_share, "share of the sample uniques that are unique in the population", share=True
        ),
        *model_facts(found.tau1, found.tau2, found.models),
        Fact(
            "DIS", found.dis.value, "chance that a unique match is right, from the sample alone, by formula", share=True
        ),
        Fact(
            "DIS by removal",
            removal.value,
            f"the same by experiment (95 % CI {percent_span(removal.low, removal.high)})",
            share=True,
        ),
        *intruders,
    )


def _figure(found: PopulationRisk) -> Figure:
    names = tuple(intruder.name for intruder in found.intruders)
    series = {
        "worst record": tuple(intruder.highest for intruder in found.intruders),
        "mean record": tuple(intruder.average for intruder in found.intruders),
        f"share of records above {percent(found.threshold)}": tuple(intruder.above for intruder in found.intruders),
    }
    told = ", ".join(f"{a.name}: mean {percent(a.average)}, worst {percent(a.highest)}" for a in found.intruders)
    return Figure(
        shape="bar",
        title="What does it help to know who is in the file?",
        caption="The prosecutor knows that their person is in the release, the journalist does not, the marketer links "
        "everybody: risk of the worst and of the mean record, and records above the threshold.",
        alt=f"Risk by intruder: {told}",
        x_label="intruder",
        y_label="risk",
        series=tuple(Series(name, names, values) for name, values in series.items()),
        percent=(False, True),
    )
