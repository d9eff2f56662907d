"""Records between two people: means of a person and somebody else, or points on the line from one to the other.

Seen from such a record the other person stands exactly opposite. How nearly anybody stands opposite to a person, and at
which share of the way the record then lies, is evidence that the person is one of the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.material import Material

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST = 4  # columns: with fewer, somebody stands opposite by chance
MOST = 600_000_000  # people, people and records that are looked at
BINS = 8
SHARES = 9  # an odd number: half of the way is the middle of one
FEW = 4.0  # pairs for each true one
EXACT = 1e-12


@dataclass(frozen=True, slots=True)
class Pairs:
    """Evidence of every pair of a person and a record."""

    table: Floats

    def log(self, i: Ints, j: Ints) -> Floats:
        """Look up the pair."""
        return np.asarray(self.table[i, j])


@dataclass(frozen=True, slots=True)
class Between:
    """Records between a person and somebody else, in the numbers that both files have."""

    columns: tuple[tuple[int, int], ...]  # of the person, of the record
    target: int = -1

    def fit(self, material: Material, taught: Ints) -> Pairs:
        """Compare how nearly somebody stands opposite to known people with how nearly to anybody."""
        gap, share = material.once(("opposite", self.columns), lambda: self._seen(material))
        made = material.truth[taught]
        edges = np.unique(np.quantile(gap[taught, made], np.linspace(0, 1, BINS)))
        edges[-1] = edges[-1] + 0.5  # of a logarithm
        near = np.searchsorted(edges, gap, "left")
        table = _told(near, near[taught, made], edges.size + 1, material.n_records)[near]
        place = np.minimum((share * SHARES).astype(np.int64), SHARES - 1)
        close = near < edges.size
        table += np.where(close, _told(place[close], place[taught, made], SHARES, 1)[place], 0.0)
        return Pairs(table)

    def _seen(self, material: Material) -> tuple[Floats, Floats]:
        x = np.column_stack([material.people[a].number for a, _ in self.columns])
        y = np.column_stack([material.records[b].number for _, b in self.columns])
        scale = np.nanstd(x, axis=0)
        return opposite(np.nan_to_num(x / scale), np.nan_to_num(y / scale))


def _told(anybody: Ints, known: Ints, size: int, records: int) -> Floats:
    """Log ratio of how often known pairs and any pairs are in each bin.

    Bins with hardly more pairs than true ones say the same: which of them is chance.
    """
    chance = (np.bincount(anybody.ravel(), minlength=size) + 0.5) / (anybody.size + 0.5 * size)
    share = (np.bincount(known, minlength=size) + chance) / (known.size + 1.0)
    certain = chance * records < FEW * share
    if certain.any():
        chance[certain], share[certain] = chance[certain].mean(), share[certain].mean()
    return np.asarray(np.log(share / chance))


def opposite(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """For every person and record: log of 1 + cosine to who stands most opposite, and the share of the way to them."""
    gap, share = np.empty((len(x), len(y))), np.empty((len(x), len(y)))
    for j, record in enumerate(y):
        away = x - record
        far = np.sqrt((away**2).sum(1))
        unit = away / np.maximum(far, EXACT)[:, None]
        cosine = unit @ unit.T
        other = cosine.argmin(1)
        gap[:, j] = np.log(np.maximum(1.0 + cosine[np.arange(len(x)), other], EXACT))
        share[:, j] = far / np.maximum(far + far[other], EXACT)
    return gap, share


def between(material: Material) -> Between | None:
    """The lens over all numbers that both files have, if these are enough and the files not too large."""
    names = {column.name.casefold(): k for k, column in enumerate(material.people)}
    pairs = [
        (names[column.name.casefold()], place)
        for place, column in enumerate(material.records)
        if column.name.casefold() in names
        and all(np.isfinite(c.number).mean() > 0.95 for c in (column, material.people[names[column.name.casefold()]]))
        and np.nanstd(material.people[names[column.name.casefold()]].number) > 0
    ]
    few = material.n_people**2 * material.n_records <= MOST
    return Between(tuple(pairs)) if len(pairs) >= FEWEST and few else None
