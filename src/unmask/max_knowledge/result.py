"""The result of a maximum-knowledge test: two distributions of linkage distances and what their difference says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.errors import ParameterError
from unmask.max_knowledge.compare import (
    LEVEL,
    Direction,
    deniability,
    direction,
    false_link_rate,
    instance_p_value,
    ks_distance,
    ks_p_value,
)
from unmask.shown import Shown

WORDS: dict[Direction, str] = {
    "disclosive": "links are closer than chance makes them: the release tells who is who",
    "none": "links are as close as chance makes them: any of them can be denied",
    "over-protected": "links are farther than chance makes them: the release misleads, and more was masked than needed",
}


@dataclass(frozen=True, slots=True)
class DeniabilityTest(Shown):
    """What an intruder who knows every original value links, beside what they would link if the release said nothing.

    Distances are permutation distances (ranks, 0 to n - 1). A record whose linkage distance is small against the
    reference is badly protected; one at or beyond the reference can deny any link.
    """

    test: str
    distances: Floats  # one per original record: d(x, Y)
    reference: Floats  # pooled, from a linkage that discloses nothing
    ks: float
    p_value: float  # of a difference this large where nothing is disclosed
    direction: Direction
    n_released: int
    seed: int = 0

    @property
    def minimum(self) -> float:
        """The distance of the least protected record."""
        return float(self.distances.min())

    @property
    def mean(self) -> float:
        """Mean linkage distance, summed in sorted order."""
        return float(np.sort(self.distances).mean())

    @property
    def reference_mean(self) -> float:
        """Mean linkage distance where nothing is disclosed."""
        return float(np.sort(self.reference).mean())

    @property
    def minimum_share(self) -> float:
        """The distance of the least protected record as a share of n."""
        return self.minimum / self.n_released

    @property
    def words(self) -> str:
        """The direction in words."""
        return WORDS[self.direction]

    @property
    def deniability(self) -> Floats:
        """Per record, the chance that a link which discloses nothing is at least as close (a Monte Carlo p-value)."""
        return deniability(self.distances, self.reference)

    @property
    def deniable(self) -> float:
        """Share of records that are linked no closer than 19 of 20 chance links."""
        return float((self.deniability > 0.05).mean())

    @property
    def risk(self) -> Floats:
        """Per record, one minus the share of chance links among all links at least as close as its own."""
        return 1.0 - false_link_rate(self.deniability)

    def least_protected(self, count: int = 10) -> Ints:
        """Return the rows of the original with the smallest linkage distances, the worst first."""
        if count < 1:
            raise ParameterError("count is out of range", got=str(count), allowed="1 or more")
        return np.argsort(self.distances, kind="stable")[:count]


def compared(test: str, distances: Floats, reference: Floats, n_released: int, seed: int) -> DeniabilityTest:
    """Compare with a sample of links that disclose nothing: the last step of Algorithm 2."""
    ks, p_value = ks_distance(distances, reference), ks_p_value(distances, reference, seed)
    side = direction(distances, reference, p_value)
    return DeniabilityTest(test, distances, reference, ks, p_value, side, n_released, seed)


def compared_with_instances(
    test: str, distances: Floats, instances: Sequence[Floats], n_released: int, seed: int
) -> DeniabilityTest:
    """Compare with several releases that disclose nothing; with fewer than 19 of them the level is 1 / (B + 1)."""
    reference = np.concatenate(instances)
    ks, p_value = ks_distance(distances, reference), instance_p_value(distances, instances)
    side = direction(distances, reference, p_value, max(LEVEL, 1 / (1 + len(instances))))
    return DeniabilityTest(test, distances, reference, ks, p_value, side, n_released, seed)
