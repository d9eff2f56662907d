"""How far a released value lies from the predicted one: the law of the residual, learnt from known people.

A law has a mass at equality, a body, and a tail. The body is one of several families (normal, Laplace, Student, Cauchy,
a kernel density, a kernel density within hard ends such as the window of rank swapping, or a table of whole steps);
the one that foretells the other half of the people best is taken. Residuals that are whole multiples of a step wider
than the data's own (noise in whole units leaves the cents, a shift by weeks leaves the weekday) are noticed. The tail
has the mass of one person in all: what was never seen may still happen, and a single odd cell never excludes a record
for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CELLS = 1024
WIDEST = 40.0  # interquartile ranges that the table of a law reaches to either side
FEW_STEPS = 0.34  # a table of steps is tried if there are fewer different residuals than this share of people
MULTIPLES = (
    604800,
    86400,
    10080,
    3600,
    1440,
    1000,
    500,
    365,
    168,
    100,
    60,
    50,
    30,
    28,
    25,
    24,
    20,
    12,
    10,
    7,
    5,
    4,
    3,
    2,
)


@dataclass(frozen=True, slots=True)
class Law:
    """Log density of a residual, by a table over its middle part and a constant beyond it."""

    low: float
    width: float  # of a cell
    table: Floats
    beyond: float
    near: float  # residuals up to this size are equality
    at_zero: float  # log density of equality; NaN: none
    multiple: float = 0.0  # 0, or the step that residuals are multiples of
    on_multiple: float = 0.0
    off_multiple: float = 0.0

    def log(self, residual: Floats) -> Floats:
        """Log density of each residual; NaN gives a number without meaning."""
        with np.errstate(invalid="ignore"):
            place = np.nan_to_num((residual - self.low) * (1.0 / self.width), nan=-1.0, posinf=-1.0, neginf=-1.0)
        cell = np.clip(place + 1.0, 0.0, self.table.size + 1.0).astype(np.int32)
        density = np.concatenate(([self.beyond], self.table, [self.beyond]))[cell]
        if self.multiple:
            share = residual * (1.0 / self.multiple)
            on = np.abs(share - np.rint(share)) * self.multiple <= self.near
            density += np.where(on, self.on_multiple, self.off_multiple)
        if not np.isnan(self.at_zero):
            density[np.abs(residual) <= self.near] = self.at_zero
        return np.asarray(density)


def fit_law(residual: Floats, *, reach: float, step: float) -> Law:
    """Learn the law from the residuals of known people.

    ``reach``: range that residuals of any two people have; ``step``: the resolution of the released values.
    """
    e = np.sort(residual[np.isfinite(residual)])
    n, near = e.size, max(0.26 * step, 1e-9 * reach, 1e-300)
    reach = max(reach, 4 * near, 1e-12)
    if n < 2:
        return Law(0.0, 1.0, np.zeros(0), -float(np.log(reach)), near, np.nan)
    equal = np.abs(e) <= near
    mass = _mass_at_zero(e, equal, near)
    rest = e[~equal] if mass else e
    at_zero = np.log(mass / (4 * near)) if mass else np.nan
    low, width, table, in_steps = _body(rest, reach, step, near, n)
    share = (1.0 - mass) if mass else 1.0
    outside = int(((rest < low) | (rest > low + width * table.size)).sum())
    tail = (outside + 1.0) / (n + 2.0)
    whole = np.log(share * ((1.0 - tail) * np.exp(table) + tail / reach))
    multiple, on, off = (0.0, 0.0, 0.0) if in_steps else _multiple(rest, near, step)
    return Law(low, width, whole, float(np.log(share * tail / reach)), near, float(at_zero), multiple, on, off)


def _mass_at_zero(e: Floats, equal: NDArray[np.bool_], near: float) -> float:
    """Share of equal values, if they are more than the neighbourhood explains."""
    count, n = int(equal.sum()), e.size
    around = int((np.abs(e) <= 10 * near).sum()) - count  # nine times as wide
    if count < 2 or count <= 0.5 * around:
        return 0.0
    return (count + 0.5) / (n + 1.0)


def _body(e: Floats, reach: float, step: float, near: float, n: int) -> tuple[float, float, Floats, bool]:
    """Log density over cells of the family that foretells the other half best."""
    if e.size < 2 or e[-1] - e[0] <= 2 * near:
        middle = float(e.mean()) if e.size else 0.0
        width = 4 * near if e.size else reach
        return middle - width / 2, width, np.array([-np.log(width)]), False
    pad = 0.75 * (e[-1] - e[0])
    quarter, middle, upper = np.quantile(e, [0.25, 0.5, 0.75])
    most = WIDEST * (upper - quarter) if upper > quarter else np.inf  # a few wild residuals must not blur the rest
    low, high = max(e[0] - pad, middle - most), min(e[-1] + pad, middle + most)
    grid = (low, (high - low) / CELLS)
    families = [_normal, _laplace, _student, _cauchy, _kernel, _window]
    if np.unique(np.round(e / (4 * near))).size < FEW_STEPS * e.size and (e[-1] - e[0]) / step < CELLS:
        grid = (np.floor(e[0] / step - 8) * step - step / 2, step)
        cells = int((e[-1] - e[0]) / step) + 18
        families = [_steps, *families]
    else:
        cells = CELLS
    centres = grid[0] + grid[1] * (np.arange(cells) + 0.5)
    inner = e[(e >= grid[0]) & (e <= grid[0] + grid[1] * cells)]
    parts = (inner[::2], inner[1::2]) if inner.size > 3 else (inner, inner)  # sorted: each half covers the whole

    def foretold(family: object) -> float:
        total = 0.0
        for taught, asked in (parts, parts[::-1]):
            table = np.exp(_normed(family(taught, centres, grid[1]), grid[1]))  # type: ignore[operator]
            place = np.clip(((asked - grid[0]) / grid[1]).astype(int), 0, cells - 1)
            tail = 1.0 / (n / 2 + 2.0)
            total += float(np.log((1 - tail) * table[place] + tail / reach).sum())
        return total

    best = max(families, key=foretold) if e.size >= 8 else _student
    return grid[0], grid[1], _normed(best(inner, centres, grid[1]), grid[1]), best is _steps


def _normed(log_density: Floats, width: float) -> Floats:
    top = float(log_density.max())
    return np.asarray(log_density - top - np.log(np.exp(log_density - top).sum() * width))


def _normal(e: Floats, at: Floats, width: float) -> Floats:
    sd = max(float(e.std()), width)
    return np.asarray(-0.5 * ((at - e.mean()) / sd) ** 2)


def _laplace(e: Floats, at: Floats, width: float) -> Floats:
    middle = float(np.median(e))
    return np.asarray(-np.abs(at - middle) / max(float(np.abs(e - middle).mean()), width))


def _student(e: Floats, at: Floats, width: float) -> Floats:
    """Student's law with three degrees of freedom: heavy tails."""
    middle = float(np.median(e))
    scale = max(float(np.median(np.abs(e - middle))) / 0.765, width)
    return np.asarray(-2.0 * np.log1p(((at - middle) / scale) ** 2 / 3.0))


def _cauchy(e: Floats, at: Floats, width: float) -> Floats:
    """Cauchy's law: tails so heavy that there is no variance; half of all residuals lie within its scale."""
    middle = float(np.median(e))
    scale = max(float(np.median(np.abs(e - middle))), width)
    return np.asarray(-np.log1p(((at - middle) / scale) ** 2))


def _bandwidth(e: Floats, width: float) -> float:
    low, high = np.quantile(e, [0.25, 0.75])
    spread = min(float(e.std()), float(high - low) / 1.34 or np.inf)
    return float(max(0.9 * spread * e.size**-0.2, width))


def _smooth(e: Floats, at: Floats, width: float, band: float) -> Floats:
    """Histogram smoothed by a normal kernel, by way of its Fourier transform; nothing wraps round."""
    cells = at.size
    counts = np.bincount(np.clip(((e - at[0]) / width + 0.5).astype(int), 0, cells - 1), minlength=cells)
    size = 2 * cells
    turn = np.fft.rfftfreq(size) * (2 * np.pi * band / width)
    smoothed = np.fft.irfft(np.fft.rfft(counts, size) * np.exp(-0.5 * turn**2), size)[:cells]
    return np.maximum(smoothed, 0.0)


def _kernel(e: Floats, at: Floats, width: float) -> Floats:
    return np.asarray(np.log(_smooth(e, at, width, _bandwidth(e, width)) + 1e-12))


def _window(e: Floats, at: Floats, width: float) -> Floats:
    """Kernel density between hard ends, a little beyond the outermost residuals; mirrored there."""
    margin = (e.max() - e.min()) / (e.size + 1)
    low, high = e.min() - margin, e.max() + margin
    mirrored = np.concatenate((e, 2 * low - e, 2 * high - e))
    inside = mirrored[(mirrored > at[0] - width / 2) & (mirrored < at[-1] + width / 2)]
    density = _smooth(inside, at, width, _bandwidth(e, width)) + 1e-12
    return np.asarray(np.where((at >= low - width) & (at <= high + width), np.log(density), -40.0))


def _steps(e: Floats, at: Floats, width: float) -> Floats:
    """Table of whole steps, smoothed a little towards its neighbours."""
    cells = at.size
    counts = np.bincount(np.clip(((e - at[0]) / width + 0.5).astype(int), 0, cells - 1), minlength=cells).astype(float)
    near = np.convolve(counts, [0.25, 0.5, 0.25], mode="same")
    return np.asarray(np.log(counts + 2.0 * near / max(near.sum(), 1.0) + 1e-9))


def _multiple(e: Floats, near: float, step: float) -> tuple[float, float, float]:
    """The widest step that nearly all residuals are multiples of, with its log gain on and off it."""
    if e.size < 8 or near > 0.27 * step:  # values without a resolution of their own have no multiples
        return 0.0, 0.0, 0.0
    for times in MULTIPLES:
        wide = times * step
        if e[-1] - e[0] < 3 * wide:
            continue
        on = np.abs(e / wide - np.rint(e / wide)) * wide <= near
        share = (on.sum() + 0.5) / (e.size + 1.0)
        if share > 0.5 and share > 3.0 / times:
            return wide, float(np.log(share * times)), float(np.log((1 - share) * times / (times - 1)))
    return 0.0, 0.0, 0.0


def log_density(values: Floats, step: float) -> Floats:
    """Log density of each value among all: by counting where values repeat, else by a kernel; 0 where there is none."""
    there = np.isfinite(values)
    density = np.zeros(values.size)
    known = values[there]
    if known.size == 0:
        return density
    different, inverse, counts = np.unique(known, return_inverse=True, return_counts=True)
    if different.size < 0.5 * known.size or different.size < 3:
        near = max(0.26 * step, 1e-9 * float(different[-1] - different[0]))
        density[there] = np.log(counts / known.size / max(4 * near, 1e-300))[inverse]
        return density
    pad = 0.1 * (different[-1] - different[0])
    width = (different[-1] - different[0] + 2 * pad) / CELLS
    at = different[0] - pad + width * (np.arange(CELLS) + 0.5)
    table = _normed(np.log(_smooth(known, at, width, _bandwidth(known, width)) + 1e-9), width)
    density[there] = table[np.clip(((known - at[0]) / width + 0.5).astype(int), 0, CELLS - 1)]
    return density
