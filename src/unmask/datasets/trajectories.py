"""Where telephones were, hour by hour: a home, a place of work and a few others for each person. Made, not collected.

Antennas stand on a square; people live and work anywhere, near each other more often than not. A telephone is seen
about ten times in a week, at home by night and at work by day, else anywhere near.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import polars as pl

SIDE = 12  # antennas in a row of the square
WEEK = 7 * 24
ELSEWHERE = 0.25  # of the hours
BEGIN = datetime(2026, 3, 2)  # noqa: DTZ001 - a Monday, in the time of the place


def trajectories(n: int = 300, *, points: int = 10, seed: int = 0) -> pl.DataFrame:
    """Generate where ``n`` people were, ``points`` times each on average (1 at least): person, time, antenna."""
    rng = np.random.default_rng(seed)
    home, work = (np.clip(rng.normal(SIDE / 2, SIDE / 4, (n, 2)), 0, SIDE - 1) for _ in range(2))
    seen = 1 + rng.poisson(max(0, points - 1), n)
    person = np.repeat(np.arange(n), seen)
    rows = person.size
    hour = rng.integers(0, WEEK, rows)
    at_work = (hour % 24 >= 8) & (hour % 24 < 17) & (hour // 24 < 5)
    where = np.where(at_work[:, None], work[person], home[person])
    away = rng.random(rows) < ELSEWHERE
    where = np.where(away[:, None], where + rng.normal(0, 2.0, (rows, 2)), where)
    cell = np.clip(np.round(where), 0, SIDE - 1).astype(int)
    table = pl.DataFrame(
        {
            "person": np.array([f"T{number:06d}" for number in rng.permutation(10 * n)[:n]])[person],
            "time": [BEGIN + timedelta(hours=int(one)) for one in hour],
            "antenna": [f"A{east:02d}{north:02d}" for east, north in cell],
        }
    )
    return table.unique(maintain_order=True).sort("person", "time", maintain_order=True)
