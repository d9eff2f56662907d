"""Rounding to multiples of a base, to the nearest or at random without bias [SDC]_ section 3.5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.arrays import Floats
from unmask.errors import check_name
from unmask.masking.base import ValueMasking, at_least, generator

METHODS = ("nearest", "random")


@dataclass(frozen=True)
class Rounding(ValueMasking):
    """Round to multiples of `base`. `random` rounds up with the probability that keeps the mean; halves go to even."""

    base: float
    method: str = "nearest"
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "rounding"

    def _check(self) -> None:
        at_least("base", self.base, 0, strict=True)
        check_name(self.method, METHODS, "method is unknown")

    def _mask(self, values: Floats, names: tuple[str, ...], seed: int) -> Floats:
        steps = values / self.base
        if self.method == "nearest":
            rounded: Floats = np.rint(steps) * self.base
            return rounded
        for j, name in enumerate(names):
            steps[:, j] = np.floor(steps[:, j] + generator(seed, name).random(len(values)))
        return steps * self.base
