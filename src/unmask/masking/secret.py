"""Noise for differential privacy: drawn from a secret, in whole steps, with a law that does not depend on the data.

The bits are SHAKE-256 of the seed: who does not know the seed cannot tell them from coins, whatever they see of them.
NumPy's generators promise no such thing. Noise is a whole number of steps: sums of floating-point numbers leave gaps
that tell the value before the noise [MIRONOV]_, sums of whole numbers do not.
"""

from __future__ import annotations

import hashlib
from math import exp, sqrt

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.errors import ParameterError

LARGEST = 1e17  # scale of noise, in steps, up to which the whole numbers of a computer suffice
HALVINGS = 200  # of an interval in which a standard deviation is looked for


def uniforms(seed: int, task: str, n: int) -> Floats:
    """Numbers between 0 and 1, neither of them included, from the secret: 53 bits each."""
    bits = np.frombuffer(hashlib.shake_256(f"{seed}\0{task}".encode()).digest(8 * n), dtype="<u8")
    return np.asarray(((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)


def two_sided_geometric(seed: int, task: str, n: int, scale: float) -> Ints:
    """Whole numbers k with probability proportional to exp(-|k| / scale): the difference of two geometric ones.

    The floor of an exponential number is geometric. No draw is further out than 37 times the scale: one in 10^16 is.
    """
    if not scale < LARGEST:
        raise ParameterError("epsilon is too small for bounds that wide", got=f"noise of {scale:.0e} steps")
    waits = np.floor(-np.log(uniforms(seed, task, 2 * n)) * scale).astype(np.int64)
    return np.asarray(waits[:n] - waits[n:])


def rounded_normal(seed: int, task: str, n: int, sd: float) -> Ints:
    """Normal noise of this sd, rounded to whole numbers: of whole numbers, that is the same as rounding the sum."""
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import

    if not sd < LARGEST:
        raise ParameterError("epsilon is too small for bounds that wide", got=f"noise of {sd:.0e} steps")
    return np.asarray(np.rint(ndtri(uniforms(seed, task, n)) * sd).astype(np.int64))


def normal_sd(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The least sd of normal noise that is (epsilon, delta)-private: [BALLE]_, theorem 8, solved by halving.

    The end of the last interval that is private is returned, so that rounding errs on the safe side.
    """
    low, high = 0.0, sensitivity
    while normal_delta(epsilon, high, sensitivity) > delta:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        low, high = (middle, high) if normal_delta(epsilon, middle, sensitivity) > delta else (low, middle)
    return high


def normal_delta(epsilon: float, sd: float, sensitivity: float = 1.0) -> float:
    """The least delta for which normal noise of this sd is (epsilon, delta)-private: [BALLE]_, equation 6."""
    from scipy.special import log_ndtr  # noqa: PLC0415 - slow to import

    a, b = sensitivity / (2 * sd), epsilon * sd / sensitivity
    return max(0.0, exp(log_ndtr(a - b)) - exp(min(0.0, epsilon + float(log_ndtr(-a - b)))))


def step_for(scale: float, finest: int = 1024) -> float:
    """A power of two that is between a thousandth and two thousandths of the scale of the noise, about."""
    return float(2.0 ** np.floor(np.log2(scale / finest)))


def total_sensitivity(columns: int) -> float:
    """How far one row can move, in widths of the columns, as normal noise counts it."""
    return sqrt(columns)
