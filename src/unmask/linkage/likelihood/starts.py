"""Where EM begins, and which end is kept: several guesses of the noise in several views, the likeliest wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from unmask.errors import ParameterError, check_name
from unmask.linkage.likelihood.em import (
    DENSE,
    KEPT,
    SAMPLE,
    STRIP,
    Channel,
    Fit,
    Start,
    climb,
    positive,
    released_law,
    weighted_moments,
)
from unmask.linkage.likelihood.views import View

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STARTS: tuple[Start, ...] = get_args(Start)
TRIAL_STEPS, TRIAL_TOLERANCE = 12, 3e-3
LAST_STEPS, LAST_TOLERANCE = 150, 1e-4
LEAST_START = 1e-3  # variance that a start gives a direction at least: nothing is excluded before it was looked at
LARGE = 10 * STRIP  # pairs that a sampled step of EM goes through, at most; a fifth of them while starts are tried


def check_starts(starts: Sequence[str]) -> tuple[Start, ...]:
    """The starts that are meant."""
    for name in starts:
        check_name(name, STARTS, f"no start {name!r}")
    if not starts:
        raise ParameterError("no start given", allowed=", ".join(STARTS))
    return tuple(start for start in STARTS if start in starts)


def draw_columns(view: View, seed: int, pairs: int = LARGE) -> tuple[Ints, Floats]:
    """Released classes to learn from and how many records of each: all, or a sample of a large file."""
    if len(view.x) <= DENSE and len(view.y) <= DENSE:
        return np.arange(len(view.y)), view.y_size
    most = int(np.clip(pairs // len(view.x), min(SAMPLE, max(200, 5 * view.x.shape[1])), SAMPLE))
    records = np.repeat(np.arange(len(view.y)), view.y_size.astype(np.int64))
    drawn = np.random.default_rng(seed).permutation(len(records))[:most]
    columns, counts = np.unique(records[drawn], return_counts=True)
    return columns, counts.astype(np.float64)


def learn(views: list[View], starts: tuple[Start, ...], seed: int, tell: Callable[[float], None]) -> Fit:
    """Try every start in every view for some steps, free the slopes of the likeliest, and let it come to rest."""
    columns, weight = draw_columns(views[0], seed, LARGE // 5)
    trials = [
        Fit(channel, -np.inf, False, 0, start, view)  # noqa: FBT003
        for view in views
        for start, channel in _guesses(view, starts)
    ]
    ends = []
    for number, trial in enumerate(trials):
        ends.append(climb(trial, columns, weight, steps=TRIAL_STEPS, tolerance=TRIAL_TOLERANCE))
        tell(0.6 * (number + 1) / len(trials))
    best = max(ends, key=lambda fit: fit.likelihood)
    for freedom in ("own", "full"):
        if not _can_learn(best, freedom):
            continue
        freed = replace(best.channel, freedom=freedom)
        tried = climb(best._replace(channel=freed), columns, weight, steps=TRIAL_STEPS, tolerance=TRIAL_TOLERANCE)
        best = tried if tried.likelihood > best.likelihood else best
    tell(0.7)
    columns, weight = draw_columns(views[0], seed)
    return climb(best, columns, weight, steps=LAST_STEPS, tolerance=LAST_TOLERANCE)


def _can_learn(fit: Fit, freedom: str) -> bool:
    """Slopes need complete records, and several people for each of them."""
    p, people = fit.view.x.shape[1], min(fit.view.x_size.sum(), fit.view.y_size.sum())
    return bool(p and fit.view.complete and people >= 10 * (p * p if freedom == "full" else p))


def _guesses(view: View, starts: tuple[Start, ...]) -> list[tuple[Start, Channel]]:
    """Noise as the difference of covariances, its diagonal, a quarter of the original's, a tenth of every variance.

    "plain" starts where nearest-record linkage stands: each file in its own unit, all columns alike.
    """
    p, q = view.x.shape[1], view.x_codes.shape[1]
    mean_x, shape = weighted_moments(view.x, view.x_size)
    mean_y, spread = released_law(view)
    same, kept = np.eye(p), np.full(q, KEPT)
    if not p:
        return [(starts[0], Channel(same, np.zeros(0), same, kept, diagonal=True, freedom="fixed"))]
    own = np.diag(np.sqrt(np.maximum(np.diag(spread), 1e-12) / np.maximum(np.diag(shape), 1e-12)))
    guesses: dict[Start, tuple[Floats, Floats, bool]] = {
        "difference": (same, spread - shape, False),
        "diagonal": (same, np.diag(np.diag(spread - shape)), True),
        "quarter": (same, shape / 4, False),
        "tenth": (same, same / 10, False),
        "plain": (own, own @ own / 10, True),
    }
    wanted = [
        start for start in starts if view.name in {"values", "ordered"} or start in {"diagonal", "tenth"}
    ] or list(starts)
    return [
        (start, Channel(slope, mean_y - slope @ mean_x, _at_least(noise), kept, diagonal, "fixed"))
        for start in wanted
        for slope, noise, diagonal in [guesses[start]]
        if diagonal or view.correlated
    ] or [("diagonal", Channel(same, mean_y - mean_x, _at_least(guesses["diagonal"][1]), kept, True, "fixed"))]  # noqa: FBT003


def _at_least(noise: Floats) -> Floats:
    """A covariance with some variance in every direction."""
    values, vectors = np.linalg.eigh(positive(noise))
    return np.asarray((vectors * np.maximum(values, LEAST_START)) @ vectors.T)
