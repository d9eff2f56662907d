"""Values that many cells have (caps, floors) though the others are mixed."""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask import Release
from unmask.linkage.channel import link_channel
from unmask.linkage.channel.residuals import _common, fit_law
from unmask.linkage.channel.spikes import segments, spiked, spikes


def test_by_hand():
    values = np.concatenate([np.arange(60.0), np.full(20, 99.0), np.full(10, -1.0), [np.nan]])
    assert spikes(values).tolist() == [-1.0, 99.0]
    assert spiked(values)[[0, 60, 80, 90]].tolist() == [-1, 1, 0, -1]
    assert spikes(np.repeat(np.arange(10.0), 9)).size == 0  # a few values that all have are no spikes
    at = np.arange(40.0)
    parts = segments(at, np.arange(40), (at >= 30).astype(int))
    assert parts.tolist() == [1] * 30 + [2] * 10
    assert np.unique(segments(at, np.arange(40), np.arange(40) % 2)).tolist() == [1]


def test_caps_stay_and_the_rest_is_mixed():
    rng, n, m = np.random.default_rng(1), 160, 9
    x = np.exp(rng.normal(6, 0.8, (n, m))).round(2)
    cap = np.quantile(x, np.linspace(0.5, 0.75, m), axis=0).diagonal().round(-1)
    y = np.minimum(x, cap)
    for k in range(m):
        below = np.flatnonzero(x[:, k] < cap[k])
        y[below, k] = x[rng.permutation(below), k]
    order = rng.permutation(n)
    names = [f"v{k:02d}" for k in range(m)]
    both = (pl.DataFrame({"id": rows, **dict(zip(names, t[rows].T, strict=True))}) for t, rows in
            ((x, np.arange(n)), (y, order)))  # fmt: skip
    found = link_channel(Release(*both, id="id"), curve=False)
    _, place, count = np.unique(x >= cap, axis=0, return_inverse=True, return_counts=True)
    assert found.found.value >= 0.9 * float((1 / count[place.ravel()]).mean())


def test_any_step_is_noticed():
    rng = np.random.default_rng(2)
    for step in (14, 37, 90):
        noise = step * np.round(rng.normal(0, 500, 150))
        assert step in _common(np.sort(noise)[::2], 1.0)
        law = fit_law(noise, reach=1e5, step=1.0)
        assert law.multiple == step
        assert law.log(np.array([step * 111.0]))[0] > law.log(np.array([step * 111.0 + 1]))[0] + 2
    assert fit_law(np.round(rng.normal(0, 5000, 100)), reach=1e5, step=1.0).multiple == 0


def test_errors_from_a_short_list():
    rng = np.random.default_rng(3)
    offsets = np.array([-81.17, -3.02, 44.4, 130.61])
    law = fit_law(rng.choice(offsets, 120), reach=500.0, step=0.01)
    assert np.allclose(law.repeated, offsets)
    on, near = law.log(offsets), law.log(offsets + 0.02)
    assert (on > near + 4).all()
    mass = np.exp(on) * 4 * law.near
    assert abs(mass.sum() - 1) < 0.1
    plain = fit_law(rng.normal(0, 80, 120).round(2), reach=500.0, step=0.01)
    assert plain.repeated is None
    counts = fit_law(rng.integers(-3, 4, 120).astype(float), reach=10.0, step=1.0)
    assert counts.repeated is None  # a table of steps holds them
