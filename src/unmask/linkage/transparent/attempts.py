"""The attacks that are open to the intruder who knows the method; the report judges the one that finds most."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unmask.evidence.estimate import Estimate


class Attempt(NamedTuple):
    """One attack: its name in words, and what it found in all and of each original record."""

    name: str
    estimate: Estimate
    credit: NDArray[np.float64]


def best_of(attempts: list[Attempt]) -> Attempt:
    """The attack that finds most people of the whole file; of equals, the first."""
    return max(attempts, key=lambda attempt: attempt.estimate.value)
