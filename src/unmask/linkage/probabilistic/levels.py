"""Comparison vectors: for each attribute, how closely two records agree, as a level. Level 0 is the closest.

Categories agree or differ. Numbers agree exactly, or within the first, second, ... of several widths, or not. The
widths come from the data: they are the differences that 0.03 %, 0.1 %, ... 45 % of all pairs of one record of each file
stay within, so that agreement within the first is rare by chance. Fourteen of them, closely spaced where noise of a
tenth of the sd moves values: six threw away so much that a third of the right links was lost. A missing value on either
side is a level of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unmask.arrays import Codes, Flags, Floats, Ints
from unmask.errors import ParameterError, check_name
from unmask.kernels.pairs import level_shares
from unmask.tables import Encoding

Numbers = Literal["bands", "exact"]
# of all pairs within the first, second, ... width
SHARES = (0.0003, 0.001, 0.003, 0.006, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3, 0.45)
MOST_ATTRIBUTES = 14
GRID = 2000  # quantiles of each file that the widths are found from


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two files as numbers (codes too; NaN is missing), and the edges of the levels of each attribute."""

    names: tuple[str, ...]
    left: Floats  # (n, attributes)
    right: Floats
    edges: Floats  # (attributes, most): level = number of edges that the difference is beyond
    n_edges: Ints
    gaps: Flags  # attributes with missing values: one more level

    @property
    def radix(self) -> Ints:
        """Number of levels of each attribute."""
        return self.n_edges + 1 + self.gaps

    @property
    def exact(self) -> bool:
        """Whether every attribute agrees or differs, and nothing between."""
        return bool((self.n_edges == 1).all() and (self.edges[:, 0] == 0).all())

    def codes(self) -> tuple[Codes, Codes]:
        """Both files as whole numbers, the same for equal values, -1 for missing: what exact agreement needs."""
        both = np.concatenate([self.left, self.right])
        codes = np.empty(both.shape, dtype=np.int32)
        for k in range(both.shape[1]):
            found, number = np.unique(both[:, k], return_inverse=True)  # NaN is one value, the last
            codes[:, k] = np.where(np.isnan(found)[number], -1, number)
        return np.ascontiguousarray(codes[: len(self.left)]), np.ascontiguousarray(codes[len(self.left) :])

    def levels(self, left: Ints, right: Ints) -> Ints:
        """Levels of the pairs (left[i], right[i])."""
        found = np.empty((len(left), len(self.names)), dtype=np.int64)
        for k in range(len(self.names)):
            gap = np.abs(self.left[left, k] - self.right[right, k])
            beyond = (gap[:, None] > self.edges[k, : self.n_edges[k]]).sum(axis=1)
            found[:, k] = np.where(np.isnan(gap), self.n_edges[k] + 1, beyond)
        return found

    def words(self, k: int) -> tuple[str, ...]:
        """Name the levels of an attribute."""
        bands = [f"within {edge:.3g}" if edge > 0 else "equal" for edge in self.edges[k, : self.n_edges[k]]]
        return (*bands, "different", *(["missing"] if self.gaps[k] else []))

    def of_rows(self, rows: Ints) -> Comparison:
        """Keep some of the intruder's records, in their order."""
        if len(rows) == len(self.left):
            return self
        return Comparison(self.names, self.left[rows], self.right, self.edges, self.n_edges, self.gaps)


def compare(
    encoding: Encoding,
    *,
    numbers: Numbers = "bands",
    widths: Mapping[str, Sequence[float]] | None = None,
    attributes: Sequence[str] | Literal["best"] | None = None,
) -> Comparison:
    """Choose attributes and levels."""
    check_name(numbers, ("bands", "exact"), f"no way {numbers!r} to compare numbers")
    _check_widths(encoding, widths or {})
    columns = {name: encoding.columns(name) for name in encoding.names}
    edges = {
        name: _edges(name, *columns[name], banded=numbers == "bands" and name in encoding.numeric_names, given=widths)
        for name in encoding.names
    }
    names = _choose(encoding, attributes, columns, edges)
    most = max(len(edges[name]) for name in names)
    table = np.full((len(names), most), np.inf)
    for k, name in enumerate(names):
        table[k, : len(edges[name])] = edges[name]
    left, right = (np.ascontiguousarray(np.column_stack([columns[n][side] for n in names])) for side in (0, 1))
    gaps = np.asarray(np.isnan(left).any(axis=0) | np.isnan(right).any(axis=0))
    return Comparison(names, left, right, table, np.array([len(edges[n]) for n in names], dtype=np.int64), gaps)


def _check_widths(encoding: Encoding, widths: Mapping[str, Sequence[float]]) -> None:
    for name, given in widths.items():
        check_name(name, encoding.numeric_names, f"no number {name!r} to give widths to")
        steps = np.asarray(given, dtype=np.float64)
        if steps.ndim != 1 or not steps.size or not np.isfinite(steps).all() or (steps < 0).any():
            raise ParameterError(f"the widths of {name!r} are not usable", allowed="numbers from 0, such as [0, 1, 5]")


def _edges(
    name: str, a: Floats, b: Floats, *, banded: bool, given: Mapping[str, Sequence[float]] | None
) -> tuple[float, ...]:
    if given and name in given:
        return tuple(sorted({float(width) for width in given[name]}))
    if not banded:
        return (0.0,)
    a, b = (_grid(side) for side in (a, b))
    if not (a.size and b.size):
        return (0.0,)
    widest = max(a[-1], b[-1]) - min(a[0], b[0])
    return tuple(sorted({0.0, *(w for share in SHARES if 0 < (w := _width(a, b, share)) < widest)}))


def _grid(column: Floats) -> Floats:
    """Sorted present values, at most GRID of them, evenly through the ranks: the same for any order of rows."""
    values = np.sort(column[~np.isnan(column)])
    if values.size <= GRID:
        return values
    return values[np.linspace(0, values.size - 1, GRID).round().astype(np.int64)]


def within(a: Floats, b: Floats, width: float) -> Ints:
    """For each a, the number of sorted b at most ``width`` away, by sorted search."""
    return np.searchsorted(b, a + width, "right") - np.searchsorted(b, a - width, "left")


def _width(a: Floats, b: Floats, share: float) -> float:
    """The difference that this share of all pairs stays within, by bisection on counts of sorted search."""
    low, high = 0.0, float(max(a[-1], b[-1]) - min(a[0], b[0]))
    wanted = share * a.size * b.size
    if within(a, b, 0.0).sum() >= wanted:
        return 0.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if within(a, b, middle).sum() >= wanted else (middle, high)
    return high


def _choose(
    encoding: Encoding,
    attributes: Sequence[str] | Literal["best"] | None,
    columns: Mapping[str, tuple[Floats, Floats]],
    edges: Mapping[str, tuple[float, ...]],
) -> tuple[str, ...]:
    if attributes is None or attributes == "best":
        known = _without_copies(encoding.names, columns)
        if len(known) <= MOST_ATTRIBUTES:
            return known
        if attributes is None:
            raise ParameterError(
                "patterns of so many attributes cannot be counted",
                got=f"{len(known)} attributes",
                allowed=f"up to {MOST_ATTRIBUTES}",
                hint=f"name those to compare in attributes=, or take attributes='best': the {MOST_ATTRIBUTES} on "
                "which two people agree least often",
            )
        chance = {name: _agreement(*columns[name], edges[name][0]) for name in known}
        best = sorted(known, key=lambda name: (chance[name], name))[:MOST_ATTRIBUTES]
        return tuple(name for name in known if name in best)
    names = tuple([attributes] if isinstance(attributes, str) else attributes)
    for name in names:
        check_name(name, encoding.names, f"no attribute {name!r} to compare")
    if not 1 <= len(set(names)) <= MOST_ATTRIBUTES:
        raise ParameterError(
            "too many attributes, or none", got=str(len(names)), allowed=f"from 1 to {MOST_ATTRIBUTES}"
        )
    return tuple(name for name in encoding.names if name in names)


def _without_copies(names: tuple[str, ...], columns: Mapping[str, tuple[Floats, Floats]]) -> tuple[str, ...]:
    """Leave out attributes that say nothing beside another one: they are not independent evidence, and EM breaks.

    Two attributes are copies when they class and order the records of both files alike, or one against the other; and,
    where values repeat, when they class them alike in whatever order.
    """
    kept: dict[str, Ints] = {}
    for name in names:
        classes = np.unique(np.concatenate(columns[name]), return_inverse=True)[1].astype(np.int64)
        tested = 2 * np.unique(columns[name][0]).size <= columns[name][0].size
        if not any(_is_copy(classes, other, tested=tested) for other in kept.values()):
            kept[name] = classes
    return tuple(kept)


def _is_copy(a: Ints, b: Ints, *, tested: bool) -> bool:
    most = int(a.max())
    if most == 0 or most != int(b.max()):
        return False
    if np.array_equal(a, b) or np.array_equal(a, most - b):
        return True
    return tested and np.unique(b * (most + 1) + a).size == most + 1


def _agreement(a: Floats, b: Floats, width: float) -> float:
    a, b = (_grid(side) for side in (a, b))
    return float(within(a, b, width).mean() / b.size) if a.size and b.size else 1.0


def shares_of_levels(comparison: Comparison) -> tuple[Floats, Floats]:
    """Share of all pairs on each level of each attribute, by sorted search, and its standard error.

    The pairs are not independent: each record is in many. The error is that of a two-sample U-statistic [HOEFFDING]_:
    var(share of one record's partners, over the records of either file) / n, added up.
    """
    most = int(comparison.radix.max())
    shares, errors = np.zeros((len(comparison.names), most)), np.zeros((len(comparison.names), most))
    sizes = len(comparison.left), len(comparison.right)
    ordered = [np.sort(side, axis=0) for side in (comparison.left, comparison.right)]  # missing ones last
    present = [sizes[side] - np.isnan(ordered[side]).sum(axis=0) for side in (0, 1)]
    for k in range(len(comparison.names)):
        levels = int(comparison.radix[k])
        columns = [np.ascontiguousarray(ordered[side][: present[side][k], k]) for side in (0, 1)]
        edges = comparison.edges[k, : comparison.n_edges[k]]
        for side in (0, 1):
            mean, square = level_shares(columns[side], columns[1 - side], sizes[side], sizes[1 - side], edges)
            errors[k, :levels] += square[:levels] / (sizes[side] * max(1, sizes[side] - 1))
            if side == 0:
                shares[k, :levels] = mean[:levels]
    return shares, np.sqrt(errors)
