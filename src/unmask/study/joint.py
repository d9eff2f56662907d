"""Both files of a release on one codebook, so that what is counted in the release can be held against the people in it.

A count alone says how small a crowd is; whether the intruder finds *his* person there also depends on what masking did
to the record. The measures of this room therefore match each person's original values, and give credit only when the
person's own record is among the records matched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.study.match import number_rows

if TYPE_CHECKING:
    from unmask.study.study import Study

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Joint:
    """Codes of the quasi-identifiers in both files: equal numbers are equal values, missing is a value of its own."""

    names: tuple[str, ...]
    original: Codes  # people x attributes
    released: Codes  # records x attributes
    truth: Counts  # the record of each person, -1 when there is none
    people: Counts  # rows of the original that have a record
    notes: tuple[str, ...] = ()

    @property
    def n_released(self) -> int:
        """Records of the release."""
        return len(self.released)

    def match(self, attributes: NDArray[np.intp] | slice = slice(None)) -> tuple[Floats, Counts]:
        """Credit of an intruder who looks for these attributes' values, and how many records carry them."""
        number = number_rows(np.concatenate([self.original, self.released])[:, attributes])
        left, right = number[: len(self.original)], number[len(self.original) :]
        crowd = np.bincount(right, minlength=int(number.max()) + 1)[left]
        own = np.where(self.truth >= 0, right[self.truth], -1) == left
        return np.where(own, 1.0 / np.maximum(crowd, 1), 0.0), crowd


def join(study: Study) -> Joint:
    """Number the values of every quasi-identifier over both files."""
    encoding, release = study.encoding(), study.release
    sides = encoding.original, encoding.released
    both = [np.concatenate([side.numeric[:, k] for side in sides]) for k in range(len(encoding.numeric_names))]
    both += [
        np.concatenate([side.codes[:, k] for side in sides]).astype(float) for k in range(len(encoding.code_names))
    ]
    codes = np.stack([_number(column) for column in both], axis=1)
    n = len(encoding.original)
    return Joint(encoding.names, codes[:n], codes[n:], release.truth, release.paired_rows, encoding.notes)


def _number(column: Floats) -> Codes:
    ranks = pl.Series(column).fill_nan(None).rank("dense")
    return ranks.fill_null(0).cast(pl.Int32).to_numpy()
