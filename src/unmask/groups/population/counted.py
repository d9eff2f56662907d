"""Population risk from the sizes of groups alone, where the groups themselves are too many to be brought here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.evidence import Evidence, Fact, Observation, rate_of_counts
from unmask.groups.counting import Sizes as Groups
from unmask.groups.counting import check_people
from unmask.groups.population.known import headline, shrunk
from unmask.groups.population.measure import NO_REGISTER, SOURCES, at_most, model_facts, off_by_model
from unmask.groups.population.sizes import Model, Prediction, Sizes, pitman, poisson_gamma, zayatz
from unmask.groups.population.weights import individual_risk

NO_CODES = "the log-linear model needs the groups themselves and was not fitted: two models make the headline"


@dataclass(frozen=True, slots=True)
class SizesRisk:
    """What follows for the groups of each size from how many people there are."""

    sizes: Sizes
    risk: Floats  # E(1/F) of a group of each size
    unique: Floats  # P(F = 1)
    tau1: Prediction
    tau2: Prediction
    models: tuple[Model, ...]

    @property
    def average(self) -> float:
        """Mean risk of a record."""
        return float((self.sizes.size * self.sizes.number) @ self.risk) / self.sizes.n


def risk_of_sizes(groups: Groups, population: float) -> SizesRisk:
    """Fit the models that need sizes only; the headline is the median of those that are fair."""
    check_people(population, groups.n_records)
    sizes = Sizes(groups.size.astype(np.float64), groups.groups.astype(np.float64), float(population))
    alone = (groups.size == 1).astype(np.float64)
    if sizes.uniques == 0 or sizes.fraction == 1.0:
        certain = Prediction(sizes.uniques, sizes.uniques, sizes.uniques)
        risk = individual_risk(groups.size, groups.size / sizes.fraction)
        return SizesRisk(sizes, risk, alone, certain, certain, ())
    models = (pitman(sizes), poisson_gamma(sizes), zayatz(sizes))
    fair = [model for model in models if not model.note]
    tau1, tau2 = headline([model.tau1 for model in fair]), headline([model.tau2 for model in fair])
    risk = shrunk(groups.size, sizes.fraction, tau2.value / sizes.uniques)
    return SizesRisk(sizes, risk, alone * tau1.value / sizes.uniques, tau1, tau2, models)


def population_evidence(groups: Groups, own: Ints, people: int, population: float, seed: int) -> Evidence:
    """Risk of each person whose own record carries their values: ``own`` of them stand in groups of each size."""
    found = risk_of_sizes(groups, population)
    alone, others = groups.size == 1, people - int(own.sum())  # whom their record no longer fits: no risk
    rates = []
    for values, tau in ((found.risk, found.tau2), (found.unique, found.tau1)):
        credit, many = np.concatenate([[0.0], values]), np.concatenate([[others], own])
        seen = rate_of_counts(credit, many, chance=1 / found.sizes.population, seed=seed)
        one = off_by_model(seen, int(own[alone].sum()) / people / max(1, int(found.sizes.uniques)), tau)
        rates.append(at_most(one, float(np.where(alone, 1.0, values) @ own) / people))
    told = f"of {people:,} people are expected to be"
    claims = (
        f"{rates[0].hits:,.1f} {told} found by linking with everybody.",
        f"{rates[1].hits:,.1f} {told} alone in the release and in the population.",
    )
    keys = "population.rate", "population.unique"
    share = found.tau1.value / found.sizes.uniques if found.sizes.uniques else 0.0
    return Evidence(
        observations=tuple(Observation(*one) for one in zip(keys, claims, rates, strict=True)),
        facts=(
            Fact("people N", found.sizes.population, SOURCES["models"]),
            Fact("P(PU|SU)", share, "share of the sample uniques that are unique in the population", share=True),
            Fact("mean risk of a record", found.average, "expected share of right links", share=True),
            *model_facts(found.tau1, found.tau2, found.models),
        ),
        notes=(NO_REGISTER, *((NO_CODES,) if found.models else ())),
    )
