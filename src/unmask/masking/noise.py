"""Noise: independent, correlated, multiplicative [MAXKNOW]_ section V-A, [SDC]_ chapter 3.

Integer columns come back rounded to integers (a released age of 37.2184 would only announce the masking). Rounding
follows the noise and uses nothing of the original, so it reveals nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.arrays import Floats
from unmask.masking.base import ValueMasking, at_least, column_sd, generator


@dataclass(frozen=True)
class Noise(ValueMasking):
    """Add independent normal noise whose sd is `kappa` times the sd of the attribute."""

    kappa: float
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "noise"

    def _check(self) -> None:
        at_least("kappa", self.kappa, 0)

    def _mask(self, values: Floats, names: tuple[str, ...], seed: int) -> Floats:
        return values + self.kappa * column_sd(values) * _normal(values, names, seed)


@dataclass(frozen=True)
class CorrelatedNoise(ValueMasking):
    """Add normal noise whose covariance is `kappa` squared times that of the data, so that correlations survive.

    The covariance is that of the complete records; with fewer than two of them the noise is independent.
    """

    kappa: float
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "correlated_noise"

    def _check(self) -> None:
        at_least("kappa", self.kappa, 0)

    def _mask(self, values: Floats, names: tuple[str, ...], seed: int) -> Floats:
        return values + self.kappa * _normal(values, names, seed) @ _root(values)


@dataclass(frozen=True)
class MultiplicativeNoise(ValueMasking):
    """Multiply each value by a normal factor of mean 1 and sd `sd`: large values move more, zeros not at all."""

    sd: float
    columns: tuple[str, ...] | None = None
    family: ClassVar[str] = "multiplicative_noise"

    def _check(self) -> None:
        at_least("sd", self.sd, 0)

    def _mask(self, values: Floats, names: tuple[str, ...], seed: int) -> Floats:
        return values * (1.0 + self.sd * _normal(values, names, seed))


def _normal(values: Floats, names: tuple[str, ...], seed: int) -> Floats:
    """Return standard normal noise for a matrix, one stream per column."""
    noise = np.empty_like(values)
    for j, name in enumerate(names):
        noise[:, j] = generator(seed, name).standard_normal(len(values))
    return noise


def _root(values: Floats) -> Floats:
    """Return the symmetric R with R R = the covariance of the data; works for singular covariances too."""
    if values.shape[1] == 0:
        return np.empty((0, 0))
    complete = values[~np.isnan(values).any(axis=1)]
    if len(complete) < 2:
        return np.diag(column_sd(values))
    covariance = np.atleast_2d(np.cov(complete, rowvar=False))
    eigenvalues, vectors = np.linalg.eigh(covariance)
    root: Floats = (vectors * np.sqrt(np.clip(eigenvalues, 0.0, None))) @ vectors.T
    return root  # the symmetric root: does not depend on the signs of the eigenvectors
