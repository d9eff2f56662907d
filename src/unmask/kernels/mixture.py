"""One step of EM for a mixture of two kinds of pairs, over patterns and their counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.compiling import kernel

if TYPE_CHECKING:
    from unmask.kernels.space import Floats

Levels = NDArray[np.uint8]


@kernel
def expect(levels: Levels, counts: Floats, log_m: Floats, log_u: Floats, prior: float) -> tuple[Floats, float]:
    """Expected number of matches on each level of each attribute, and the log-likelihood."""
    matches = np.zeros(log_m.shape)
    likelihood = 0.0
    log_p, log_q = math.log(prior), math.log1p(-prior)
    for g in range(levels.shape[0]):
        a, b = log_p, log_q
        for k in range(levels.shape[1]):
            a += log_m[k, levels[g, k]]
            b += log_u[k, levels[g, k]]
        top = max(a, b)
        total = top + math.log(math.exp(a - top) + math.exp(b - top))
        likelihood += counts[g] * total
        share = counts[g] * math.exp(a - total)
        if share > 0:
            for k in range(levels.shape[1]):
                matches[k, levels[g, k]] += share
    return matches, likelihood
