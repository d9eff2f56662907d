"""Several maskings one after the other: noise on the numbers, then PRAM on the categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unmask.errors import ParameterError
from unmask.masking.base import Masking, as_polars, check_seed

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Chain(Masking):
    """Apply each masking to what the one before it made; the i-th (from 0) draws with seed + i."""

    maskings: tuple[Masking, ...]
    family: ClassVar[str] = "chain"

    def _check(self) -> None:
        object.__setattr__(self, "maskings", tuple(self.maskings))
        if not self.maskings or not all(isinstance(masking, Masking) for masking in self.maskings):
            raise ParameterError("chain needs maskings", allowed='such as "chain([noise(0.5), pram(0.1)])"')

    def apply(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Apply them in turn."""
        frame = as_polars(table)
        for number, masking in enumerate(self.maskings):
            frame = masking.apply(frame, check_seed(seed) + number)
        return frame

    def unrounded(self, table: object, seed: int = 0) -> pl.DataFrame:
        """Apply them in turn and leave the last one's fractions."""
        frame = as_polars(table)
        for number, masking in enumerate(self.maskings):
            frame = masking.unrounded(frame, check_seed(seed) + number)
        return frame
