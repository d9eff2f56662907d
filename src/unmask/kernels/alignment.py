"""Laying one map over another: likelihood rasters, alignments from two points, and who then lies on whom.

Points are three numbers each: a unit vector on the sphere (north pole at the middle of the identification file), or
(x, y, 1) in the plane. An alignment is a 3 x 3 matrix. Positions are compared on a flat map (Lambert's equal-area one
for the sphere).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Codes, Floats, Ints, Singles
from unmask.kernels.compiling import kernel

__all__ = ["Raster", "fill", "near_pairs", "one_to_one", "propose", "score"]


class Raster(NamedTuple):
    """The identification file as a map: log-likelihood ratio of meeting someone of a label at a cell."""

    layers: Singles  # (labels, height, width)
    left: float
    low: float
    cell: float
    empty: float  # the ratio where nobody of that label is near


@kernel
def flatten(p: Floats, radius: float) -> tuple[float, float]:
    """Place on the flat map. ``radius`` 0: the plane itself."""
    if radius == 0.0:
        return p[0], p[1]
    stretch = radius * np.sqrt(2.0 / max(1e-9, 1.0 + p[2]))
    return p[0] * stretch, p[1] * stretch


@kernel
def fill(raster: Raster, flat: Floats, label: Ints, sizes: Ints, around: Floats, scale: float, share: float) -> None:
    """Write the map: Gaussian stamps of each identification point, against the density of people around it."""
    layers, left, low, cell, empty = raster
    height, width = layers.shape[1], layers.shape[2]
    reach = int(np.ceil(3.0 * scale / cell))
    for j in range(len(flat)):
        if label[j] < 0:
            continue
        weight = share / (2 * np.pi * scale * scale * sizes[label[j]] * around[j])
        x, y = (flat[j, 0] - left) / cell, (flat[j, 1] - low) / cell
        for gy in range(max(0, int(y) - reach), min(height, int(y) + reach + 1)):
            for gx in range(max(0, int(x) - reach), min(width, int(x) + reach + 1)):
                square = ((gx + 0.5 - x) ** 2 + (gy + 0.5 - y) ** 2) * cell * cell
                layers[label[j], gy, gx] += weight * np.exp(-0.5 * square / (scale * scale))
    for b in range(layers.shape[0]):
        for gy in range(height):
            for gx in range(width):
                ratio = layers[b, gy, gx]
                layers[b, gy, gx] = empty if ratio == 0 else np.log(1.0 - share + ratio)


@kernel
def score(raster: Raster, m: Floats, points: Floats, label: Ints, radius: float, trial: int) -> float:
    """Log-likelihood ratio of an alignment over target points; minus infinity if hopeless after the first ``trial``."""
    layers, left, low, cell, empty = raster
    total = 0.0
    moved = np.empty(3)
    for i in range(len(points)):
        if i == trial and total < trial * empty + 3.0:
            return -np.inf
        for a in range(3):
            moved[a] = m[a, 0] * points[i, 0] + m[a, 1] * points[i, 1] + m[a, 2] * points[i, 2]
        x, y = flatten(moved, radius)
        gx, gy = np.floor((x - left) / cell), np.floor((y - low) / cell)
        if 0 <= gx < layers.shape[2] and 0 <= gy < layers.shape[1]:
            total += layers[label[i], int(gy), int(gx)]
        else:
            total += empty
    return total


@kernel
def frame(p: Floats, q: Floats, radius: float, f: Floats) -> None:
    """Write the axes of two points into f: direction, across, middle. An alignment takes frame to frame."""
    if radius == 0.0:
        step = np.hypot(q[0] - p[0], q[1] - p[1])
        c, s = (q[0] - p[0]) / step, (q[1] - p[1]) / step
        f[0, 0], f[1, 0], f[2, 0] = c, s, 0.0
        f[0, 1], f[1, 1], f[2, 1] = -s, c, 0.0
        f[0, 2], f[1, 2], f[2, 2] = (p[0] + q[0]) / 2, (p[1] + q[1]) / 2, 1.0
        return
    middle = np.sqrt((p[0] + q[0]) ** 2 + (p[1] + q[1]) ** 2 + (p[2] + q[2]) ** 2)
    along = np.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2)
    for a in range(3):
        f[a, 2] = (p[a] + q[a]) / middle
        f[a, 0] = (q[a] - p[a]) / along
    f[0, 1] = f[1, 2] * f[2, 0] - f[2, 2] * f[1, 0]
    f[1, 1] = f[2, 2] * f[0, 0] - f[0, 2] * f[2, 0]
    f[2, 1] = f[0, 2] * f[1, 0] - f[1, 2] * f[0, 0]


@kernel
def _invert(f: Floats, radius: float, out: Floats) -> None:
    """Write the inverse of a frame."""
    out[:] = f.T
    if radius == 0.0:
        out[2, 0], out[2, 1], out[2, 2] = 0.0, 0.0, 1.0
        out[0, 2] = -(f[0, 0] * f[0, 2] + f[1, 0] * f[1, 2])
        out[1, 2] = -(f[0, 1] * f[0, 2] + f[1, 1] * f[1, 2])


@kernel
def gap(p: Floats, q: Floats, radius: float) -> float:
    """Distance of two points."""
    if radius == 0.0:
        return float(np.hypot(p[0] - q[0], p[1] - q[1]))
    chord = np.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2)
    return float(2.0 * radius * np.arcsin(min(1.0, chord / 2.0)))


@kernel
def _fixes(distance: float, radius: float) -> bool:
    """Say whether two points so far apart fix an alignment: not at one place, nor at opposite ends of the earth."""
    return distance > 0.0 and (radius == 0.0 or distance < np.pi * radius * (1 - 1e-12))


@kernel
def propose(
    pairs: Ints, t: Floats, start2: Ints, label1: Ints, w: Floats, slack: float,
    raster: Raster, sample: Floats, layer: Ints, radius: float, best: Floats, kept: Floats,
) -> int:  # fmt: skip
    """Try every alignment that takes two target points to two identification points of their labels and distance.

    The best of them (by a quick score) are kept, worst first, in ``best`` (scores) and ``kept`` (matrices). Returns how
    many were tried.
    """
    tried = 0
    ahead, back, m = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for k in range(len(pairs)):
        u1, u2 = pairs[k, 0], pairs[k, 1]
        wanted = gap(t[u1], t[u2], radius)
        if not _fixes(wanted, radius):
            continue
        frame(t[u1], t[u2], radius, ahead)
        _invert(ahead, radius, back)
        for j1 in range(start2[label1[u1]], start2[label1[u1] + 1]):
            for j2 in range(start2[label1[u2]], start2[label1[u2] + 1]):
                other = gap(w[j1], w[j2], radius)
                if abs(other - wanted) > slack or not _fixes(other, radius):
                    continue
                frame(w[j1], w[j2], radius, ahead)
                for mirror in range(2):
                    for a in range(3):
                        ahead[a, 1] = ahead[a, 1] if mirror == 0 else -ahead[a, 1]
                        for b in range(3):
                            m[a, b] = ahead[a, 0] * back[0, b] + ahead[a, 1] * back[1, b] + ahead[a, 2] * back[2, b]
                    tried += 1
                    value = score(raster, m, sample, layer, radius, 48)
                    if value > best[0]:
                        _keep(value, m, best, kept)
    return tried


@kernel
def _keep(value: float, m: Floats, best: Floats, kept: Floats) -> None:
    """Put a matrix among the best, which rise; the worst one goes."""
    place = 0
    while place + 1 < len(best) and best[place + 1] < value:
        best[place] = best[place + 1]
        kept[place] = kept[place + 1]
        place += 1
    best[place] = value
    kept[place] = m


@kernel
def near_pairs(
    flat1: Floats, order1: Ints, start1: Ints, flat2: Floats, order2: Ints, start2: Ints, couples: Ints, reach: float,
    rows: Codes, cols: Codes, squares: Floats,
) -> int:  # fmt: skip
    """Write pairs of matching labels within reach on the map, and their squared distances; return how many there are.

    ``order1`` and ``order2`` sort the points of each label by x. When the arrays are too short nothing more is written,
    and the caller comes back with longer ones.
    """
    n = 0
    for c in range(len(couples)):
        a, b = couples[c, 0], couples[c, 1]
        lo = start2[b]
        for i in order1[start1[a] : start1[a + 1]]:
            while lo < start2[b + 1] and flat2[order2[lo], 0] < flat1[i, 0] - reach:
                lo += 1
            k = lo
            while k < start2[b + 1] and flat2[order2[k], 0] <= flat1[i, 0] + reach:
                j = order2[k]
                square = (flat1[i, 0] - flat2[j, 0]) ** 2 + (flat1[i, 1] - flat2[j, 1]) ** 2
                if square <= reach * reach:
                    if n < len(rows):
                        rows[n], cols[n], squares[n] = i, j, square
                    n += 1
                k += 1
    return n


@kernel
def one_to_one(rows: Codes, cols: Codes, weight: Floats, n1: int, n2: int, rounds: int) -> Floats:
    """Posterior of each pair when nobody is matched twice: odds ``weight`` against being unmatched on both sides.

    Scaling of a monomer-dimer model: p = a_i w_ij b_j with a_i = 1 / (1 + sum_j w_ij b_j), and the same for b.
    """
    a, b = np.ones(n1), np.ones(n2)
    for _ in range(rounds):
        total = np.ones(n1)
        for k in range(len(rows)):
            total[rows[k]] += weight[k] * b[cols[k]]
        a = 1.0 / total
        total2 = np.ones(n2)
        for k in range(len(rows)):
            total2[cols[k]] += weight[k] * a[rows[k]]
        b = 1.0 / total2
    p = np.empty(len(rows))
    for k in range(len(rows)):
        p[k] = weight[k] * a[rows[k]] * b[cols[k]]
    return p
