"""What a crowd gives away: the confidential values within each group of look-alikes, against the whole file.

All from one table of counts, (group, value) -> records, for each group with shares p_v and the file's shares q_v:
l-diversity [LDIV]_, alpha [ALPHAK]_, t [TCLOSE]_, delta [DELTA]_ and beta [BETA]_, as docs/measures/anonymity.md
defines them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unmask.arrays import Counts, Floats

Ground = Literal["equal", "ordered", "numeric"]


@dataclass(frozen=True, slots=True)
class Diversity:
    """Diversity of one confidential attribute: one entry for each group; the file's value is its worst group's."""

    attribute: str
    ground: Ground
    c: float
    distinct: Counts
    entropy: Floats
    recursive: Counts
    alpha: Floats
    t: Floats
    delta: Floats
    beta: Floats
    enhanced_beta: Floats

    @property
    def worst(self) -> dict[str, float]:
        """The value of each model that the whole file meets."""
        low, high = ("distinct", "entropy", "recursive"), ("alpha", "t", "delta", "beta", "enhanced_beta")
        least = {name: float(getattr(self, name).min()) for name in low}
        return least | {name: float(getattr(self, name).max()) for name in high}


@dataclass(frozen=True, slots=True)
class Cells:
    """Counts of (group, value) pairs that occur, sorted by both; ``positions`` are the values on their scale."""

    group: Counts
    value: Counts  # code, 0..m-1, in the order of the values
    count: Counts | Floats  # records; parts of records where missing keys are wildcards
    n_groups: int
    positions: Floats  # of the m values, for the numeric ground distance
    whole: Floats | None = None  # records of each value in the file, where groups overlap and do not sum to it

    @property
    def sizes(self) -> Floats:
        """Records in each group."""
        return np.bincount(self.group, self.count, minlength=self.n_groups).astype(np.float64)

    @property
    def shares(self) -> Floats:
        """p_v: share of the value in its group."""
        return np.asarray(self.count / self.sizes[self.group])

    @property
    def overall(self) -> Floats:
        """q_v: share of each value in the file."""
        counts = (
            np.bincount(self.value, self.count, minlength=len(self.positions)) if self.whole is None else self.whole
        )
        return np.asarray(counts / counts.sum())


def diversity(cells: Cells, attribute: str, ground: Ground, c: float, placed: Cells | None = None) -> Diversity:
    """All models of one attribute from its table of counts; ``placed``: the cells whose value lies on the scale."""
    t = total_variation(cells) if ground == "equal" else earth_movers(placed or cells, ground)
    p, q = cells.shares, cells.overall[cells.value]
    gain = (p - q) / q
    beyond = np.where((gain > 0) & (gain > -np.log(q) + 1e-12), np.inf, gain)
    return Diversity(
        attribute,
        ground,
        c,
        distinct=np.bincount(cells.group, minlength=cells.n_groups),
        entropy=np.exp(-np.bincount(cells.group, p * np.log(p), minlength=cells.n_groups)),
        recursive=recursive(cells, c),
        alpha=_largest(cells, p),
        t=t,
        delta=_largest(cells, np.abs(np.log(p / q))),
        beta=np.maximum(0.0, _largest(cells, gain)),
        enhanced_beta=np.maximum(0.0, _largest(cells, beyond)),
    )


def recursive(cells: Cells, c: float) -> Counts:
    """Largest l with r_1 < c (r_l + ... + r_m) in each group, at least 1 (every group is trivially (c, 1)-diverse)."""
    order = np.lexsort((-cells.count, cells.group))
    group, count = cells.group[order], cells.count[order]
    first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    before = np.cumsum(count) - count  # records before this one, over all groups
    tail = cells.sizes[group] - (before - before[first][np.cumsum(np.r_[True, group[1:] != group[:-1]]) - 1])
    largest = np.zeros(cells.n_groups)
    largest[group[first]] = count[first]
    enough = largest[group] * (1 + 1e-9) < c * tail  # sums of parts of records are not exact
    held = np.bincount(group, enough, minlength=cells.n_groups)
    return np.maximum(1, held.astype(np.int64))


def total_variation(cells: Cells) -> Floats:
    """EMD with equal distances: half of sum |p - q|; values that a group lacks add their q."""
    p, q = cells.shares, cells.overall[cells.value]
    present = np.bincount(cells.group, np.abs(p - q) - q, minlength=cells.n_groups)
    return np.asarray(np.maximum(0.0, (1 + present) / 2))


def earth_movers(cells: Cells, ground: Ground) -> Floats:
    """EMD on a line: sum over neighbouring values of |P_i - Q_i| d_i, P and Q cumulative (Li et al. 2007).

    P is a step function that moves only at the group's own values. On each step the sum over i has one change of sign,
    found by bisection in Q, and is read from running sums: the cost is that of the table of counts, not groups x
    values.
    """
    m = len(cells.positions)
    if m < 2 or not cells.count.size:
        return np.zeros(cells.n_groups)
    steps = np.diff(cells.positions) if ground == "numeric" else np.ones(m - 1)
    width = np.r_[steps / steps.sum(), 0.0]  # d_i, from value i to the next; nothing after the last
    big_q = np.cumsum(cells.overall)
    run, weighted = np.r_[0.0, np.cumsum(width)], np.r_[0.0, np.cumsum(width * big_q)]
    begins = np.r_[True, cells.group[1:] != cells.group[:-1]]
    first = np.flatnonzero(begins)
    total = np.cumsum(cells.count)
    base = (total - cells.count)[first][np.cumsum(begins) - 1]
    big_p = (total - base) / cells.sizes[cells.group]
    start, stop = cells.value, np.r_[np.where(begins[1:], m, cells.value[1:]), m]
    turn = np.clip(np.searchsorted(big_q, big_p), start, stop)
    above = big_p * (run[turn] - run[start]) - (weighted[turn] - weighted[start])
    below = (weighted[stop] - weighted[turn]) - big_p * (run[stop] - run[turn])
    distance = np.bincount(cells.group, above + below, minlength=cells.n_groups)
    distance[cells.group[first]] += weighted[cells.value[first]]  # before a group's first value P is 0
    return np.asarray(np.clip(distance, 0.0, 1.0))


def _largest(cells: Cells, values: Floats) -> Floats:
    """Maximum over the values of each group (rows are sorted by group)."""
    first = np.flatnonzero(np.r_[True, cells.group[1:] != cells.group[:-1]])
    out = np.full(cells.n_groups, -np.inf)
    out[cells.group[first]] = np.maximum.reduceat(values, first)
    return out
