"""Missing keys as wildcards: two records are compatible when they agree wherever both have a value.

The crowd of a record (sdcMicro's ``freqCalc``) is the records with its very pattern, compatible complete records, and
``alpha`` times the compatible incomplete ones; its confidential values count with the same weights. Compatibility is
not transitive, so there are no classes to group by. But all records that lack the *same* attributes agree with another
such block on one common set of attributes: one grouping for each pair of blocks, instead of all pairs of records.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Codes, Flags, Floats, Ints
from unmask.errors import EngineError
from unmask.study import number_rows

MAX_PAIRS = 250_000  # pairs of blocks: some minutes at a million classes


def wildcard_sizes(codes: Codes, missing: Flags, mass: Floats, alpha: float) -> Floats:
    """Crowd of each class. ``mass`` is its number of records, or the sum of their weights."""
    blocks = _checked_blocks(missing)
    sizes = mass.astype(np.float64).copy()
    for here in blocks:
        for there in blocks:
            complete = not missing[there[0]].any()
            weight = 1.0 if complete else alpha
            if weight:
                sizes[here] += weight * _compatible(codes, missing, mass, here, there)
    return sizes


class Crowds(NamedTuple):
    """Confidential values in the crowd of each class: (class, value) pairs sorted by both, with their mass."""

    group: Ints
    value: Ints
    mass: Floats

    def take(self, places: NDArray[Any]) -> Crowds:
        """Only the pairs at these places, or where the mask is set."""
        return Crowds(self.group[places], self.value[places], self.mass[places])


def wildcard_values(codes: Codes, missing: Flags, own: Crowds, alpha: float) -> Crowds:
    """Confidential values over crowds instead of classes: the crowd of a class, each value with the mass it has there.

    ``own`` holds the classes' own values. Where block meets block, the other's values are summed once for each
    combination on the common attributes; a class then takes the sums of its combination: never pairs of records.
    """
    blocks = _checked_blocks(missing)
    n_values = int(own.value.max(initial=0)) + 1
    block_of = np.empty(len(codes), np.int64)
    for b, block in enumerate(blocks):
        block_of[block] = b
    order = np.argsort(block_of[own.group], kind="stable")
    cells = np.split(order, np.cumsum(np.bincount(block_of[own.group], minlength=len(blocks)))[:-1])
    parts = []
    for b, here in enumerate(blocks):
        met = [own.take(cells[b])]
        for t, there in enumerate(blocks):
            weight = alpha if missing[there[0]].any() else 1.0
            if t != b and weight:
                theirs = own.take(cells[t])._replace(mass=weight * own.mass[cells[t]])
                met.append(_met(codes, missing, here, there, theirs, n_values))
        parts.append(_summed(met, n_values))
    return _summed(parts, n_values)


def _met(
    codes: Codes,
    missing: Flags,
    here: NDArray[np.intp],
    there: NDArray[np.intp],
    theirs: Crowds,
    n_values: int,
) -> Crowds:
    """The values of the other block's classes that agree with each class of this one."""
    common = ~(missing[here[0]] | missing[there[0]])
    number = number_rows(codes[np.concatenate([here, there])][:, common])
    mine = number[: len(here)]
    of_class = np.full(len(codes), -1, np.int64)
    of_class[there] = number[len(here) :]
    sums = _summed([Crowds(of_class[theirs.group], theirs.value, theirs.mass)], n_values)
    first, last = np.searchsorted(sums.group, mine, "left"), np.searchsorted(sums.group, mine, "right")
    many = last - first
    place = np.repeat(first - np.r_[0, np.cumsum(many)[:-1]], many) + np.arange(many.sum())
    return Crowds(np.repeat(here.astype(np.int64), many), sums.value[place], sums.mass[place])


def _summed(parts: list[Crowds], n_values: int) -> Crowds:
    """One entry for each (class, value), sorted by both."""
    pairs = np.concatenate([part.group * n_values + part.value for part in parts])
    pair, place = np.unique(pairs, return_inverse=True)
    mass = np.concatenate([part.mass for part in parts])
    total = np.bincount(place.ravel(), mass, minlength=len(pair)).astype(np.float64)
    return Crowds(pair // n_values, pair % n_values, total)


def _checked_blocks(missing: Flags) -> list[NDArray[np.intp]]:
    blocks = _blocks(missing)
    if len(blocks) ** 2 > MAX_PAIRS:
        raise EngineError(
            "too many patterns of missing keys for the wildcard count",
            got=f"{len(blocks)} patterns",
            allowed=f"up to {int(MAX_PAIRS**0.5)}",
            hint="take missing as a value of its own, or fewer quasi-identifiers",
        )
    return blocks


def _blocks(missing: Flags) -> list[NDArray[np.intp]]:
    """Classes that lack the same attributes, one array for each such pattern."""
    _, block = np.unique(missing, axis=0, return_inverse=True)
    order = np.argsort(block.ravel(), kind="stable")
    return np.split(order, np.cumsum(np.bincount(block.ravel()))[:-1])


def _compatible(codes: Codes, missing: Flags, mass: Floats, here: NDArray[np.intp], there: NDArray[np.intp]) -> Floats:
    """For each class of one block the mass of the other block's classes that agree with it; not counting itself."""
    common = ~(missing[here[0]] | missing[there[0]])
    if (
        here[0] == there[0]
    ):  # the same pattern: only the class itself agrees on all its values, and it is counted already
        return np.zeros(len(here))
    number = number_rows(codes[np.concatenate([here, there])][:, common])
    mine, theirs = number[: len(here)], number[len(here) :]
    return np.asarray(np.bincount(theirs, mass[there], minlength=int(number.max()) + 1)[mine], dtype=np.float64)
