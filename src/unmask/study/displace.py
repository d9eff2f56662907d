"""Move places, or change the distances between them, as an owner would before publishing: one definition for all.

The maskings apply it, the graph attack plays it to learn how far distances move.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from unmask.arrays import Floats

Displacement = Literal["coordinates", "donut", "distances", "rounding", "aggregation"]


def mask_points(
    points: Floats, sigma: float, masking: Displacement, kind: str | None, rng: np.random.Generator
) -> Floats:
    """Move points as the owner would: Gaussian noise, a donut (at least sigma / 2, at most sigma away), or a grid."""
    if sigma == 0:
        return points.copy()
    if masking == "coordinates":
        return points + rng.normal(0.0, sigma, size=points.shape)
    if masking == "aggregation":
        return np.asarray((np.floor(points / sigma) + 0.5) * sigma)
    angle = rng.uniform(0.0, 2 * np.pi, size=len(points))
    radius = sigma * np.sqrt(rng.uniform(0.25, 1.0, size=len(points)))
    step = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    if kind != "planar":  # a degree of longitude is shorter
        step[:, 0] /= np.maximum(np.cos(np.deg2rad(points[:, 1])), 0.01)
    return np.asarray(points + step)


def mask_distances(distances: Floats, sigma: float, masking: Displacement, rng: np.random.Generator) -> Floats:
    """Change distances themselves: symmetric Gaussian noise (never below 0), or rounding to multiples of sigma."""
    if sigma == 0:
        return distances.copy()
    if masking == "rounding":
        return np.asarray(np.round(distances / sigma) * sigma)
    noise = rng.normal(0.0, sigma, size=distances.shape)
    if distances.ndim == 2 and distances.shape[0] == distances.shape[1]:
        noise = np.triu(noise, 1)
        noise += noise.T
        noisy = np.maximum(distances + noise, 0.0)
        np.fill_diagonal(noisy, 0.0)
        return noisy
    return np.maximum(distances + noise, 0.0)
