from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release, datasets, interval_disclosure, parse_masking
from unmask.disclosure.denoise import denoised


def masked_people(n=600, noise=0.5, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, 5))  # five columns that say nearly the same
    return x, x + noise * rng.normal(size=x.shape)


def test_the_record_says_more_than_its_cell():
    x, y = masked_people()
    estimate = denoised(x[:, 0], y[:, 0], y)
    assert np.abs(x[:, 0] - estimate).mean() < 0.8 * np.abs(x[:, 0] - y[:, 0]).mean()
    oracle = y @ np.linalg.lstsq(y, x[:, 0], rcond=None)[0]
    assert np.abs(x[:, 0] - estimate).mean() < 1.05 * np.abs(x[:, 0] - oracle).mean()


def test_nothing_is_remembered():
    """Values that the record says nothing of are not learnt: every estimate comes from what others taught."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=300), rng.normal(size=(300, 40))
    estimate = denoised(x, y[:, 0], y)
    assert abs(np.corrcoef(x, estimate)[0, 1]) < 0.15


def test_what_is_published_as_it_is_stays():
    x, _ = masked_people()
    assert denoised(x[:, 0], x[:, 0], x).tolist() == x[:, 0].tolist()


def test_missing_cells_and_few_people():
    x, y = masked_people(80)
    y[::7, 2] = np.nan
    y[3, 0] = np.nan
    estimate = denoised(x[:, 0], y[:, 0], y)
    assert np.isnan(estimate[3]) and np.isfinite(np.delete(estimate, 3)).all()
    assert denoised(x[:5, 0], y[:5, 0], y[:5]).tolist()[:3] == y[:3, 0].tolist()


def test_rows_in_another_order_give_the_same():
    x, y = masked_people(200)
    order = np.random.default_rng(5).permutation(200)
    first, second = denoised(x[:, 0], y[:, 0], y), denoised(x[order, 0], y[order, 0], y[order])
    assert second == pytest.approx(first[order], rel=1e-9)


def test_both_figures_are_reported():
    people = datasets.census(400, seed=2)
    release = Release(people, parse_masking("noise(0.5)").apply(people, seed=1))
    found = interval_disclosure(release)
    assert found.denoised.value > found.sd.value + 0.02
    assert found.denoised.chance == found.sd.chance
    copy = interval_disclosure(Release(people, people))
    assert copy.denoised.value == copy.sd.value == 1.0
    assert isinstance(people, pl.DataFrame)
