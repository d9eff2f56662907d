"""Missing keys as wildcards: a record whose age is suppressed may be anybody's of that description.

With missing as a wildcard, two records are compatible when they agree wherever both have a value. The crowd of a
record is then (sdcMicro's ``freqCalc``)

    f = records with the very same pattern + compatible complete records + alpha * compatible incomplete records

alpha = 1 counts an incomplete record fully (optimistic: suppression protects others), alpha = 0 not at all.
Compatibility is not transitive, so there are no classes to group by. But all records that lack the *same* attributes
agree with another such block on one common set of attributes: one grouping for each pair of blocks, instead of all
pairs of records.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.errors import EngineError

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

MAX_PAIRS = 250_000  # pairs of blocks: some minutes at a million classes


def wildcard_sizes(codes: Codes, missing: NDArray[np.bool_], mass: Floats, alpha: float) -> Floats:
    """Crowd of each class. ``mass`` is its number of records, or the sum of their weights."""
    blocks = _blocks(missing)
    if len(blocks) ** 2 > MAX_PAIRS:
        raise EngineError(
            "too many patterns of missing keys for the wildcard count",
            got=f"{len(blocks)} patterns",
            allowed=f"up to {int(MAX_PAIRS**0.5)}",
            hint="take missing as a value of its own, or fewer quasi-identifiers",
        )
    sizes = mass.astype(np.float64).copy()
    for here in blocks:
        for there in blocks:
            complete = not missing[there[0]].any()
            weight = 1.0 if complete else alpha
            if weight:
                sizes[here] += weight * _compatible(codes, missing, mass, here, there)
    return sizes


def _blocks(missing: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Classes that lack the same attributes, one array for each such pattern."""
    _, block = np.unique(missing, axis=0, return_inverse=True)
    order = np.argsort(block.ravel(), kind="stable")
    return np.split(order, np.cumsum(np.bincount(block.ravel()))[:-1])


def _compatible(
    codes: Codes, missing: NDArray[np.bool_], mass: Floats, here: NDArray[np.intp], there: NDArray[np.intp]
) -> Floats:
    """For each class of one block the mass of the other block's classes that agree with it; not counting itself."""
    common = ~(missing[here[0]] | missing[there[0]])
    if (
        here[0] == there[0]
    ):  # the same pattern: only the class itself agrees on all its values, and it is counted already
        return np.zeros(len(here))
    number = number_rows(codes[np.concatenate([here, there])][:, common])
    mine, theirs = number[: len(here)], number[len(here) :]
    return np.asarray(np.bincount(theirs, mass[there], minlength=int(number.max()) + 1)[mine], dtype=np.float64)


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
