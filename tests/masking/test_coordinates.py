from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask.errors import ParameterError, TableError
from unmask.masking import CoordinateNoise, Donut


def places(n=5000):
    rng = np.random.default_rng(0)
    return pl.DataFrame({"lon": rng.uniform(-180, 180, n), "lat": np.degrees(np.arcsin(rng.uniform(-1, 1, n)))})


def metres(a, b):
    """Haversine, the twin of the displacement."""
    lon, lat, lon2, lat2 = (np.radians(v) for v in (a["lon"], a["lat"], b["lon"], b["lat"]))
    h = np.sin((lat2 - lat) / 2) ** 2 + np.cos(lat) * np.cos(lat2) * np.sin((lon2 - lon) / 2) ** 2
    return 2 * 6_371_008.8 * np.arcsin(np.sqrt(h))


def test_donut_keeps_between_its_radii():
    moved = metres(places(), Donut(100, 1000).apply(places(), 1))
    assert moved.min() >= 100 - 0.01
    assert moved.max() <= 1000 + 0.01
    assert (moved < np.sqrt((100**2 + 1000**2) / 2)).mean() == pytest.approx(0.5, abs=0.03)  # uniform by area


def test_noise_has_its_sd():
    moved = metres(places(), CoordinateNoise(500).apply(places(), 1))
    assert np.sqrt((moved**2).mean() / 2) == pytest.approx(500, rel=0.03)


def test_missing_and_edges():
    table = pl.DataFrame({"lon": [None, 10.0, 179.9999], "lat": [50.0, None, 0.0], "x": [1, 2, 3]})
    masked = CoordinateNoise(10_000).apply(table, 0)
    assert masked["lat"][0] == 50.0
    assert masked["lon"][1] == 10.0
    assert -180 <= masked["lon"][2] < 180
    assert masked["x"].equals(table["x"])


def test_clear_refusals():
    with pytest.raises(TableError, match="beyond 90 degrees"):
        CoordinateNoise(1).apply(pl.DataFrame({"lon": [0.0], "lat": [91.0]}))
    with pytest.raises(ParameterError, match="inner is above outer"):
        Donut(5, 1)
