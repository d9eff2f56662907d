"""Would chance have found as much? The graph attack has no notion of "nobody in common": here it gets one.

Under the null the files share nobody. Giving the identification records each other's places (their labels stay)
destroys every true match and keeps all else: the places, the labels, their numbers. The p-value counts how many such
files hold as large an answer as the one observed. Where labels and places are related (a quarter of one language), that
null is too easy; whoever can draw independent files of people gives them instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    Draw = Callable[[np.random.Generator], tuple[float, bool]]


@dataclass(frozen=True, slots=True)
class Null:
    """How to calibrate: how many draws, and the level below which an answer counts.

    With ``draws`` exchangeable draws the smallest p-value is 1 / (draws + 1). Drawing ends as soon as the level is out
    of reach. ``independent``: a function that draws an identification file (table, distances) of other people.
    """

    draws: int = 19
    level: float = 0.05
    independent: Callable[[np.random.Generator], tuple[Any, Any]] | None = None

    def __post_init__(self) -> None:
        """Refuse a calibration that could never find anything."""
        if not 0 < self.level < 1 or self.draws < 1 or 1 / (self.draws + 1) > self.level:
            raise ParameterError(
                "this null calibration could never find anything",
                got=f"draws={self.draws}, level={self.level}",
                allowed="1 / (draws + 1) <= level < 1",
                hint="level 0.05 needs 19 draws, level 0.01 needs 99",
            )


@dataclass(frozen=True, slots=True)
class Calibration:
    """What chance found."""

    p_value: float
    level: float
    observed: float  # clique size, or alignment score
    sizes: tuple[float, ...]  # what each null draw showed: for cliques the size met, at least
    n_reached: int  # draws that reached the observed size

    @property
    def significant(self) -> bool:
        """Whether the answer counts."""
        return self.p_value <= self.level


def calibrate(
    observed: float, draw: Draw, null: Null, seed: int, tell: Callable[[float], None]
) -> Calibration:  # fmt: skip
    """Draw from the null until all draws are made or significance is out of reach."""
    sizes: list[float] = []
    reached = 0
    for k, child in enumerate(np.random.default_rng([seed, 6]).spawn(null.draws)):
        size, met = draw(child)
        sizes.append(float(size))
        reached += met
        tell((k + 1) / null.draws)
        if (1 + reached) / (1 + null.draws) > null.level:
            break
    return Calibration((1 + reached) / (1 + len(sizes)), null.level, float(observed), tuple(sizes), reached)
