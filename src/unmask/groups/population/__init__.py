"""Risk in the population that the release was drawn from.

`population_risk` counts people of a register, or estimates their number from the sample alone or from weights; a
`PopulationRisk` says which of these it was. `household_risk` is the same for whole households, and
`population_evidence` what sizes of groups tell where nothing else can be brought here.
"""

from unmask.groups.population.counted import population_evidence
from unmask.groups.population.measure import SOURCES, PopulationRisk, of_release, population_risk, unknown
from unmask.groups.population.weights import household_risk

__all__ = [
    "SOURCES", "PopulationRisk", "household_risk", "of_release", "population_evidence", "population_risk", "unknown",
]  # fmt: skip
