"""Top and bottom coding: extreme values are brought to a threshold [SDC]_ section 3.4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.arrays import Floats
from unmask.errors import ParameterError, check_name
from unmask.masking.base import ValueMasking, within

UNITS = ("quantile", "value")


@dataclass(frozen=True)
class TopBottomCoding(ValueMasking):
    """Replace values above `top` by it and values below `bottom` by it; quantiles of each column, or plain values."""

    bottom: float | None = None
    top: float | None = None
    by: str = "quantile"
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "top_bottom"

    def _check(self) -> None:
        check_name(self.by, UNITS, "by is unknown")
        if self.bottom is None and self.top is None:
            raise ParameterError("top_bottom needs a threshold", allowed="bottom, top or both, such as top=0.99")
        for name, value in (("bottom", self.bottom), ("top", self.top)):
            if value is not None and self.by == "quantile":
                within(name, value, 0, 1)
        if self.bottom is not None and self.top is not None and self.bottom > self.top:
            raise ParameterError("bottom is above top", got=f"{self.bottom} and {self.top}")

    def _mask(self, values: Floats, names: tuple[str, ...], seed: int) -> Floats:  # noqa: ARG002  (nothing random)
        masked = values.copy()
        for j in range(len(names)):
            present = ~np.isnan(values[:, j])
            if present.any():
                masked[present, j] = np.clip(values[present, j], *self._thresholds(values[present, j]))
        return masked

    def _thresholds(self, values: Floats) -> tuple[float, float]:
        """Return bottom and top in the column's unit; a quantile is a value that occurs."""
        given = (self.bottom, self.top)
        if self.by == "quantile":
            given = tuple(None if q is None else float(np.quantile(values, q, method="nearest")) for q in given)  # type: ignore[assignment]
        bottom, top = given
        return -np.inf if bottom is None else bottom, np.inf if top is None else top
