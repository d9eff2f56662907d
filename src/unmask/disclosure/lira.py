"""Likelihood ratios, person by person, over shadows with and without them [CARLINI]_.

A person's statistic in the shadows that hold them, and in those that do not, has a mean of its own and a spread that
all share. With few shadows a mean is uncertain: it is drawn to that of everybody as far as it could be luck.
"""

from __future__ import annotations

import numpy as np

from unmask.arrays import Flags, Floats

LEAST_SPREAD = 1e-3


def likelihood_ratios(seen: Floats, inside: Flags, asked: Floats) -> Floats:
    """Log of how likely what is asked about is where the person is inside, over where they are not.

    Parameters
    ----------
    seen, inside
        Statistic of each person in each shadow (shadows x people), and whether the shadow holds them: everybody is
        inside some and outside some.
    asked
        The statistic of each person in what is attacked.

    """
    sides = [_normal(seen, held) for held in (inside, ~inside)]
    logs = [-0.5 * ((asked - mean) / sd) ** 2 - np.log(sd) for mean, sd in sides]
    return np.asarray(logs[0] - logs[1])


def calibrated(seen: Floats, inside: Flags, asked: Floats) -> tuple[Floats, Floats]:
    """How far each statistic is above what it is without the person: in each shadow, and in what is attacked.

    A shadow without the person is held against the others of its kind, as what is attacked is against all of them.
    """
    outside = ~inside
    count, total = outside.sum(axis=0), np.where(outside, seen, 0.0).sum(axis=0)
    rest = np.maximum(count - outside, 1)
    own = seen - (total - np.where(outside, seen, 0.0)) / rest
    return own, np.asarray(asked - total / np.maximum(count, 1))


def _normal(seen: Floats, held: Flags) -> tuple[Floats, float]:
    """Mean of each person over the shadows of one kind, drawn to that of all, and the spread around it."""
    count = np.maximum(held.sum(axis=0), 1)
    mean = np.where(held, seen, 0.0).sum(axis=0) / count
    squares = np.where(held, (seen - mean) ** 2, 0.0).sum()
    within = squares / max(1, int(held.sum() - (held.sum(axis=0) > 0).sum()))
    between = max(0.0, float(mean.var()) - float((within / count).mean()))
    weight = between / (between + within / count) if within > 0 else np.ones_like(mean)
    drawn = float(mean.mean()) + weight * (mean - float(mean.mean()))
    spread = np.sqrt(within * (1 + weight / count))
    return drawn, float(max(LEAST_SPREAD, np.sqrt((spread**2).mean() + ((1 - weight) ** 2).mean() * between)))
