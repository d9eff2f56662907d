"""Numbers that go round: times of day, directions, another time zone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release
from unmask.linkage.channel import link_channel, linking
from unmask.linkage.channel.circles import _period, shorter


def attack(x, y, write=lambda v: v):
    n, order = len(x), np.random.default_rng(9).permutation(len(x))
    known, released = (
        pl.DataFrame({f"t{k}": [write(v) for v in table[:, k].tolist()] for k in range(x.shape[1])}) for table in (x, y)
    )
    number = pl.Series("id", np.arange(n))
    both = known.select(number, pl.all()), released.select(number, pl.all())[order]
    return link_channel(Release(*both, id="id"), curve=False)


def clock(minute):
    return f"{int(minute) // 60:02d}:{int(minute) % 60:02d}"


def test_the_shorter_way_by_hand():
    np.testing.assert_allclose(shorter(np.array([350.0, -350.0, 10.0, 190.0]), 360.0), [-10, 10, 10, -170])


@pytest.mark.parametrize(
    ("values", "period"),
    [
        (np.arange(0, 360), 360.0),
        (np.arange(0, 1440) / 60, 24.0),
        (np.arange(18, 95), 0.0),  # ages have no beginning to cross
        (np.arange(-10, 360), 0.0),
        (np.array([3.0]), 0.0),
        (np.arange(0, 200_000, 7.0), 0.0),
    ],
)
def test_which_numbers_go_round(values, period):
    assert _period(np.asarray(values, dtype=float)) == period


def test_noise_across_midnight_and_another_time_zone():
    rng = np.random.default_rng(1)
    x = rng.normal(0, 100, (160, 4)).round() % 1440
    y = (x + 180 + rng.integers(-20, 21, x.shape)) % 1440
    found = attack(x, y, clock)
    assert found.found.value >= 0.9
    assert "round a circle of 24" in found.columns[0].words


def test_directions_by_lists_of_candidates(monkeypatch):
    rng = np.random.default_rng(2)
    x = rng.integers(0, 360, (200, 4)).astype(float)
    y = (x + rng.integers(-30, 31, x.shape)) % 360
    whole = attack(x, y)
    monkeypatch.setattr(linking, "MOST_PAIRS", 0)
    assert attack(x, y).found.value >= 0.9 * whole.found.value
    assert whole.found.value > 0.75


def test_directions_of_strangers_are_chance():
    rng = np.random.default_rng(3)
    x, y = (rng.integers(0, 360, (150, 4)).astype(float) for _ in range(2))
    assert attack(x, y).found.value < 0.06
