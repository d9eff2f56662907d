"""Categories of all pairs: what agreement and disagreement weigh, and how often they are the case."""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes, Floats
from unmask.kernels.compiling import kernel


@kernel
def weigh_categories(weights: Floats, x: Codes, y: Codes, agree: Floats, differ: Floats) -> None:
    """Add what each category of a pair weighs, in place; ``x`` (people, columns), ``y`` (columns, records), -1 missing.

    ``agree`` and ``differ`` (columns, codes): by the code of the person. What is missing weighs nothing.
    """
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            code = x[i, k]
            if code >= 0:
                same, other = agree[k, code], differ[k, code]
                for j in range(y.shape[1]):
                    weights[i, j] += same if y[k, j] == code else (other if y[k, j] >= 0 else 0.0)


@kernel
def count_categories(share: Floats, x: Codes, y: Codes) -> tuple[Floats, Floats]:
    """Sum of ``share`` over the pairs that have both categories, and over those where they agree, for each column."""
    seen, kept = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    both, same = np.zeros(y.shape[1]), np.zeros(y.shape[1])
    for k in range(x.shape[1]):
        both[:] = 0.0
        same[:] = 0.0
        for i in range(x.shape[0]):
            code = x[i, k]
            if code >= 0:
                for j in range(y.shape[1]):
                    both[j] += share[i, j]
                    same[j] += share[i, j] if y[k, j] == code else 0.0
        for j in range(y.shape[1]):
            if y[k, j] >= 0:
                seen[k] += both[j]
                kept[k] += same[j]
    return seen, kept
