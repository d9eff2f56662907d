"""How far a released value lies from the predicted one: the law of the residual, learnt from known people.

A law has a mass at equality, a body, and a tail. The body is one of several families (normal, Laplace, Student, Cauchy,
a kernel density, a kernel density within hard ends such as the window of rank swapping, or a table of whole steps);
the one that foretells the other half of the people best is taken. Residuals that are whole multiples of a step wider
than the data's own (noise in whole units leaves the cents, a shift by weeks leaves the weekday), or that are one of a
few values (offsets drawn from a list), are noticed. The tail has the mass of one person in all: what was never seen may
still happen, and a single odd cell never excludes a record for good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Family = Callable[["Sample", Floats, float], Floats]  # residuals, centres of cells, their width -> log density

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
LARGEST = 1e150  # residual: the square of a larger one is infinite
LEAST_ON = 0.5  # share of residuals that must be multiples of a step
PROBES = 100  # residuals by which steps are looked for first
MOST_UNITS = 1e15  # residual that is a whole number to the last digit
NARROW, COMMON, MOST_COMMON = 3, 0.05, 5  # a common divisor is wider, is that of so many pairs; how many are tried
FEWEST_REPEATED, REPEATED = 3, 0.1  # people with the same residual; share of people who have one of those


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
    repeated: Floats | None = None  # values that residuals have again and again, in order
    at_repeated: Floats | None = None  # log density of each

    def log(self, residual: Floats) -> Floats:
        """Log density of each residual; NaN gives a number without meaning."""
        place = (residual - self.low) * (1.0 / self.width) + 1.0
        cell = np.minimum(np.fmax(place, 0.0), self.table.size + 1.0).astype(np.int32)  # NaN: below all
        density = np.concatenate(([self.beyond], self.table, [self.beyond])).take(cell)
        if self.multiple:
            share = residual * (1.0 / self.multiple)
            on = np.abs(share - np.rint(share)) * self.multiple <= self.near
            density += np.where(on, self.on_multiple, self.off_multiple)
        if self.repeated is not None and self.at_repeated is not None:
            first = np.searchsorted(self.repeated, residual - self.near)
            nearest = np.minimum(first, self.repeated.size - 1)
            hit = np.abs(residual - self.repeated[nearest]) <= self.near
            density = np.where(hit, self.at_repeated[nearest], density)
        if not np.isnan(self.at_zero):
            density[np.abs(residual) <= self.near] = self.at_zero
        return np.asarray(density)


def fit_law(residual: Floats, *, reach: float, step: float) -> Law:
    """Learn the law from the residuals of known people.

    ``reach``: range that residuals of any two people have; ``step``: the resolution of the released values.
    """
    reach, step = min(reach, LARGEST), min(step, LARGEST)
    e = np.clip(np.sort(residual[np.isfinite(residual)]), -LARGEST, LARGEST)
    n, near = e.size, max(0.26 * step, 1e-9 * reach, 1e-300)
    reach = max(reach, 4 * near, 1e-12)
    if n < 2:
        return Law(0.0, 1.0, np.zeros(0), -float(np.log(reach)), near, np.nan)
    equal = np.abs(e) <= near
    mass = _mass_at_zero(e, equal, near)
    rest = e[~equal] if mass else e
    at_zero = np.log(mass / (4 * near)) if mass else np.nan
    repeated, counts, rest = _repeated(rest, near, step)
    low, width, table, in_steps = _body(rest, reach, step, near, n)
    share = 1.0 - mass - (counts.sum() / (n + 1.0) if repeated is not None else 0.0)
    outside = int(((rest < low) | (rest > low + width * table.size)).sum())
    tail = (outside + 1.0) / (n + 2.0)
    whole = np.log(share * ((1.0 - tail) * np.exp(table) + tail / reach))
    multiple, on, off = (0.0, 0.0, 0.0) if in_steps else _multiple(rest, near, step)
    at_repeated = None if repeated is None else np.log(counts / (n + 1.0) / (4 * near))
    beyond = float(np.log(share * tail / reach))
    return Law(low, width, whole, beyond, near, float(at_zero), multiple, on, off, repeated, at_repeated)


def _repeated(e: Floats, near: float, step: float) -> tuple[Floats | None, Floats, Floats]:
    """Values that sorted residuals have again and again, though those around them are rare; their counts; the rest.

    None where a table of steps can hold them.
    """
    if not e.size or e[-1] - e[0] < CELLS * step:
        return None, np.zeros(0), e
    apart = np.diff(e) > near
    if apart.size - np.count_nonzero(apart) < REPEATED * e.size / 2:
        return None, np.zeros(0), e
    ends = np.flatnonzero(np.append(apart, True)) + 1
    counts = np.diff(ends, prepend=0)
    often = np.flatnonzero(counts >= FEWEST_REPEATED)
    if not often.size:
        return None, np.zeros(0), e
    middle = (e[ends[often] - counts[often]] + e[ends[often] - 1]) / 2
    around = np.searchsorted(e, middle + 10 * near, "right") - np.searchsorted(e, middle - 10 * near) - counts[often]
    alone = counts[often] > 0.5 * around
    often, middle = often[alone], middle[alone]
    if counts[often].sum() < REPEATED * e.size:
        return None, np.zeros(0), e
    held = np.repeat(np.isin(np.arange(counts.size), often), counts)
    return middle, counts[often].astype(np.float64), e[~held]


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
    quarter, middle, upper = (_quantile(e, share) for share in (0.25, 0.5, 0.75))
    most = WIDEST * (upper - quarter) if upper > quarter else np.inf  # a few wild residuals must not blur the rest
    low, high = max(e[0] - pad, middle - most), min(e[-1] + pad, middle + most)
    grid, cells = (low, (high - low) / CELLS), CELLS
    different = 1 + int(np.count_nonzero(np.diff(np.round(e / (4 * near)))))
    in_steps = different < FEW_STEPS * e.size and (e[-1] - e[0]) / step < CELLS
    if in_steps:
        grid = (np.floor(e[0] / step - 8) * step - step / 2, step)
        cells = int((e[-1] - e[0]) / step) + 18
    centres = grid[0] + grid[1] * (np.arange(cells) + 0.5)
    families = FAMILIES if in_steps else FAMILIES[1:]
    inner = e[(e >= grid[0]) & (e <= grid[0] + grid[1] * cells)]
    best = _best_family(inner, (centres, grid[1]), families, (n, reach)) if e.size >= 8 else _student
    return grid[0], grid[1], _normed(best(Sample.of(inner), centres, grid[1]), grid[1]), best is _steps


def _best_family(
    e: Floats, grid: tuple[Floats, float], families: tuple[Family, ...], tail: tuple[int, float]
) -> Family:
    """The family that foretells the other half best; of equals the first."""
    (at, width), (n, reach) = grid, tail
    parts = (e[::2], e[1::2]) if e.size > 3 else (e, e)  # sorted: each half covers the whole
    low, total, outside = at[0] - width / 2, np.zeros(len(families)), 1.0 / (n / 2 + 2.0)
    for taught, asked in (parts, parts[::-1]):
        sample = Sample.of(taught)
        table = np.exp(_normed(np.array([family(sample, at, width) for family in families]), width))
        place = np.clip(((asked - low) / width).astype(int), 0, at.size - 1)
        total += np.log((1 - outside) * table[:, place] + outside / reach).sum(1)
    return families[int(total.argmax())]


def _normed(log_density: Floats, width: float) -> Floats:
    top = log_density.max(-1, keepdims=True)
    return np.asarray(log_density - top - np.log(np.exp(log_density - top).sum(-1, keepdims=True) * width))


def _quantile(e: Floats, share: float) -> float:
    """Quantile of sorted values, between the two nearest."""
    place = share * (e.size - 1)
    low = int(place)
    high = min(low + 1, e.size - 1)
    return float(e[low] + (e[high] - e[low]) * (place - low))


@dataclass(frozen=True, slots=True)
class Sample:
    """Sorted residuals, and what several families of laws ask of them."""

    e: Floats
    middle: float  # median
    apart: float  # median distance from it
    sd: float
    band: float  # of a kernel, at least a cell

    @classmethod
    def of(cls, e: Floats) -> Sample:
        """Take the measure of sorted residuals."""
        middle, sd = _quantile(e, 0.5), float(e.std())
        spread = min(sd, (_quantile(e, 0.75) - _quantile(e, 0.25)) / 1.34 or np.inf)
        return cls(e, middle, _quantile(np.sort(np.abs(e - middle)), 0.5), sd, 0.9 * spread * e.size**-0.2)


def _normal(of: Sample, at: Floats, width: float) -> Floats:
    return np.asarray(-0.5 * ((at - of.e.mean()) / max(of.sd, width)) ** 2)


def _laplace(of: Sample, at: Floats, width: float) -> Floats:
    return np.asarray(-np.abs(at - of.middle) / max(float(np.abs(of.e - of.middle).mean()), width))


def _student(of: Sample, at: Floats, width: float) -> Floats:
    """Student's law with three degrees of freedom: heavy tails."""
    return np.asarray(-2.0 * np.log1p(((at - of.middle) / max(of.apart / 0.765, width)) ** 2 / 3.0))


def _cauchy(of: Sample, at: Floats, width: float) -> Floats:
    """Cauchy's law: tails so heavy that there is no variance; half of all residuals lie within its scale."""
    return np.asarray(-np.log1p(((at - of.middle) / max(of.apart, width)) ** 2))


def _smooth(e: Floats, at: Floats, width: float, band: float) -> Floats:
    """Histogram smoothed by a normal kernel, by way of its Fourier transform; nothing wraps round."""
    cells = at.size
    counts = np.bincount(np.clip(((e - at[0]) / width + 0.5).astype(int), 0, cells - 1), minlength=cells)
    size = 2 * cells
    turn = np.arange(cells + 1) * (np.pi * max(band, width) / width / cells)
    smoothed = np.fft.irfft(np.fft.rfft(counts, size) * np.exp(-0.5 * turn**2), size)[:cells]
    return np.maximum(smoothed, 0.0)


def _kernel(of: Sample, at: Floats, width: float) -> Floats:
    return np.asarray(np.log(_smooth(of.e, at, width, of.band) + 1e-12))


def _window(of: Sample, at: Floats, width: float) -> Floats:
    """Kernel density between hard ends, a little beyond the outermost residuals; mirrored there."""
    e = of.e
    margin = (e[-1] - e[0]) / (e.size + 1)
    low, high = e[0] - margin, e[-1] + margin
    mirrored = np.concatenate((e, 2 * low - e, 2 * high - e))
    inside = mirrored[(mirrored > at[0] - width / 2) & (mirrored < at[-1] + width / 2)]
    density = _smooth(inside, at, width, of.band) + 1e-12
    return np.asarray(np.where((at >= low - width) & (at <= high + width), np.log(density), -40.0))


def _steps(of: Sample, at: Floats, width: float) -> Floats:
    """Table of whole steps, smoothed a little towards its neighbours."""
    place = np.clip(((of.e - at[0]) / width + 0.5).astype(int), 0, at.size - 1)
    counts = np.bincount(place, minlength=at.size).astype(float)
    near = np.convolve(counts, [0.25, 0.5, 0.25], mode="same")
    return np.asarray(np.log(counts + 2.0 * near / max(near.sum(), 1.0) + 1e-9))


FAMILIES: tuple[Family, ...] = (_steps, _normal, _laplace, _student, _cauchy, _kernel, _window)


def _multiple(e: Floats, near: float, step: float) -> tuple[float, float, float]:
    """The step whose multiples residuals are that tells most, with its log gain on and off it."""
    if e.size < 8 or near > 0.27 * step:  # values without a resolution of their own have no multiples
        return 0.0, 0.0, 0.0
    times_each = np.array([times for times in MULTIPLES if e[-1] - e[0] >= 3 * times * step])
    few = e[:: max(1, e.size // PROBES)]
    usual = times_each[_on(few, times_each[:, None] * step, near).mean(1) > 0.5 * LEAST_ON].tolist()
    best, found = 0.0, (0.0, 0.0, 0.0)
    for times in sorted({*usual, *_common(few, step)}, reverse=True):
        wide = times * step
        share = (_on(e, wide, near).sum() + 0.5) / (e.size + 1.0)
        if share > LEAST_ON and share > 3.0 / times and e[-1] - e[0] >= 3 * wide:
            on, off = float(np.log(share * times)), float(np.log((1 - share) * times / (times - 1)))
            gain = share * on + (1 - share) * off
            best, found = max((best, found), (gain, (wide, on, off)))
    return found


def _common(few: Floats, step: float) -> list[int]:
    """Steps that divide many neighbours among residuals, in units of the data's own; the widest first."""
    if np.abs(few).max() > MOST_UNITS * step:
        return []
    units = np.rint(few / step).astype(np.int64)
    divisors = np.gcd(units[1:], units[:-1])
    wide = divisors[divisors > NARROW]
    if wide.size < COMMON * divisors.size:
        return []
    found, counts = np.unique(wide, return_counts=True)
    often = counts >= COMMON * divisors.size
    return sorted(found[often].tolist(), key=lambda times: -times)[:MOST_COMMON]


def _on(e: Floats, wide: Floats | float, near: float) -> NDArray[np.bool_]:
    """Which residuals are multiples of a step."""
    share = e / wide
    return np.asarray(np.abs(share - np.rint(share)) * wide <= near)


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
    table = _normed(np.log(_smooth(known, at, width, Sample.of(np.sort(known)).band) + 1e-9), width)
    density[there] = table[np.clip(((known - at[0]) / width + 0.5).astype(int), 0, CELLS - 1)]
    return density
