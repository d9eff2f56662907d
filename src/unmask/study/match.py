"""One matcher: which released records carry the values that the intruder knows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]


def number_rows(codes: Codes) -> NDArray[np.int64]:
    """Give equal rows the same number 0, 1, ...; numbers are packed anew before a product of domains overflows."""
    number, reach = np.zeros(len(codes), np.int64), 1
    for k in range(codes.shape[1]):
        wide = int(codes[:, k].max(initial=0)) + 1
        if reach * wide >= 2**62:
            number = np.unique(number, return_inverse=True)[1].ravel().astype(np.int64)
            reach = int(number.max(initial=0)) + 1
        number, reach = number * wide + codes[:, k], reach * wide
    return np.unique(number, return_inverse=True)[1].ravel().astype(np.int64)
