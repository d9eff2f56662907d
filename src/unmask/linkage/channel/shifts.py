"""A released number that is a straight line of a known one, moved by an amount of each group's own.

Amounts in the currency of each country, readings of instruments that every hospital set for itself, a secret offset by
region: within a group they go with the known number as closely as ever, and over all groups hardly at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmask.linkage.channel.factors import Residual, fit_states
from unmask.linkage.channel.material import in_space, spread_ranks
from unmask.linkage.channel.residuals import fit_law, log_density

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.linkage.channel.material import Material

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FEWEST_IN_GROUP, FEWEST, MOST_GROUPS, MOST_NUMBERS = 4, 20, 6, 40  # people on average; in all; columns of each kind
WEAK = 3.0  # standard errors by which a number must go more closely with the released one within groups
CERTAIN = 1 - 1e-9
ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Shifted:
    """A released number foretold from a known one by one slope for all, and an offset for each group."""

    target: int
    column: int  # of the person
    group: int  # a column of the person
    space: str  # "value" or "log": offsets of logarithms are factors

    def fit(self, material: Material, taught: Ints) -> Residual:
        """Learn slope, offsets and the law of what is left; of each known person by the offset that others taught."""
        made = material.truth[taught]
        known = in_space(material.people[self.column].number, self.space)
        value, code = material.record(self.target, self.space), material.people[self.group].code
        code = np.where(code < 0, int(code.max()) + 1, code)
        there = np.isfinite(known)
        rows = taught[there[taught] & np.isfinite(value[made])]
        states = fit_states((~there).astype(int), (~np.isfinite(value)).astype(int), taught, made)
        step = self._step(material, value)
        density = material.once(("density", self.target, self.space, step), lambda: log_density(value, step))
        if rows.size < FEWEST_IN_GROUP:
            law = fit_law(np.zeros(0), reach=1.0, step=1.0)
            return Residual(np.full(known.size, np.nan), value, density, law, states)
        x, y, groups = known[rows], value[material.truth[rows]], int(code.max()) + 1
        slope = _slope(x, y, code[rows])
        offset, unseen = _offsets(y - slope * x, code[rows], groups)
        predicted = np.where(there, slope * known + offset[code], np.nan)
        reach = float(np.nanmax(value) - np.nanmin(value)) + float(np.nanmax(predicted) - np.nanmin(predicted))
        law = fit_law(y - slope * x - unseen, reach=reach, step=step)
        return Residual(predicted, value, density, law, states)

    def _step(self, material: Material, value: Floats) -> float:
        whole = material.records[self.target].step
        return whole * 1e-3 if self.space == "value" else 1e-9 * float(np.nanmax(value) - np.nanmin(value) + 1e-300)


def _slope(x: Floats, y: Floats, code: Ints) -> float:
    """Slope within groups; a few odd people do not bend it."""
    x, y = _centred(x, code), _centred(y, code)
    weight, slope = np.ones(x.size), 0.0
    for _ in range(ROUNDS):
        square = float(weight @ x**2)
        slope = float(weight @ (x * y)) / square if square > 0 else 0.0
        gap = np.abs(y - slope * x)
        scale = 2.0 * 1.4826 * float(np.median(gap))
        if scale <= 0:
            break
        weight = 1.0 / np.maximum(1.0, gap / scale)
    return slope


def _centred(values: Floats, code: Ints) -> Floats:
    counts = np.maximum(np.bincount(code), 1)
    return np.asarray(values - (np.bincount(code, weights=values) / counts)[code])


def _offsets(gap: Floats, code: Ints, groups: int) -> tuple[Floats, Floats]:
    """Mean gap of each group, shrunk to that of all as far as groups differ little; and without each person's own."""
    counts, sums = np.bincount(code, minlength=groups), np.bincount(code, weights=gap, minlength=groups)
    whole, variance = float(gap.mean()), float(gap.var())
    free = max(1, gap.size - int(np.count_nonzero(counts)))
    within = float(_centred(gap, code).var()) * gap.size / free
    apart: float = max(variance - within, 1e-12 * variance, 1e-300)
    weight = within / apart
    offset = (sums + weight * whole) / np.maximum(counts + weight, 1e-12)
    others = counts[code] - 1
    unseen = np.where(
        others + weight > 0, (sums[code] - gap + weight * whole) / np.maximum(others + weight, 1e-12), whole
    )
    return np.where(counts + weight > 0, offset, whole), unseen


def shifted(material: Material, target: int, taught: Ints) -> list[Shifted]:
    """The number and the group within which it goes most closely with a released one, if clearly more than over all."""
    column, made = material.records[target], material.truth[taught]
    if len(taught) < FEWEST or material.is_view:
        return []
    found = []
    for space in ("value", "log"):
        y = in_space(column.number[made], space)
        there = np.isfinite(y)
        if there.mean() > 0.5:
            found += [(gain, space, x, g) for gain, x, g in _gains(material, taught[there], y[there], space)]
    best = max(found, default=None)
    return [] if best is None else [Shifted(target, best[2], best[3], best[1])]


def _gains(material: Material, taught: Ints, y: Floats, space: str) -> list[tuple[float, int, int]]:
    """How much more closely each number goes with y within each group, beyond what is clear; where it does."""
    key = ("centred", space, taught.tobytes())
    numbers, groups, whole, within = material.once(key, lambda: _known(material, taught, space))
    if not numbers or not groups:
        return []
    plain = float(np.abs(_correlated(whole, y)).max())
    found = []
    for g, table in zip(groups, within, strict=True):
        free = taught.size - len(material.people[g].words)
        told = np.abs(_correlated(table, _centred(y, _codes(material, g)[taught])))
        best = int(np.argmax(told))
        gain = np.arctanh(min(float(told[best]), CERTAIN)) - np.arctanh(min(plain, CERTAIN)) - WEAK / np.sqrt(free)
        if gain > 0:
            found.append((float(gain), numbers[best], g))
    return found


def _known(material: Material, taught: Ints, space: str) -> tuple[list[int], list[int], Floats, list[Floats]]:
    """Numbers and groups of the known people: ranks of the numbers, over all and within each group."""
    tables = {k: in_space(column.number[taught], space) for k, column in enumerate(material.people)}
    numbers = [k for k, values in tables.items() if np.isfinite(values).mean() > 0.9][:MOST_NUMBERS]
    groups = [k for k in material.levels if taught.size > FEWEST_IN_GROUP * len(material.people[k].words)][:MOST_GROUPS]
    filled = [np.where(np.isfinite(tables[k]), tables[k], np.nanmean(tables[k])) for k in numbers]
    within = [_ranked([_centred(values, _codes(material, g)[taught]) for values in filled]) for g in groups]
    return numbers, groups, _ranked(filled), within


def _codes(material: Material, place: int) -> Ints:
    code = material.people[place].code
    return np.where(code < 0, int(code.max()) + 1, code)


def _ranked(columns: list[Floats]) -> Floats:
    return np.column_stack([spread_ranks(column) - 0.5 for column in columns]) if columns else np.zeros((0, 0))


def _correlated(ranks: Floats, y: Floats) -> Floats:
    other = spread_ranks(y) - 0.5
    scale = np.sqrt((ranks**2).sum(0) * (other**2).sum())
    return np.asarray(other @ ranks / np.where(scale > 0, scale, 1.0))
