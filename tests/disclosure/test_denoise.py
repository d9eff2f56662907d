from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release, datasets, interval_disclosure, parse_masking
from unmask.disclosure import denoise
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


def by_ridge(truth, masked, record, seed):
    """The same with scikit-learn's ridge regression, person by person: two folds, and two halves to choose in."""
    columns = [masked, *record.T]
    told = [np.where(np.isnan(c), np.nanmean(c), c) for c in columns]
    scaled = [(c - c.mean()) / c.std() for c in told]
    rows = np.column_stack([*scaled, *(np.isnan(c) for c in columns if np.isnan(c).any())])
    n, estimate = len(truth), masked.copy()
    ordered = sorted(range(n), key=lambda i: (truth[i], *rows[i]))
    lot = np.random.default_rng(seed).permutation(n) % 2
    fold = {person: int(lot[place]) for place, person in enumerate(ordered)}
    for part in (0, 1):
        taught = [i for i in ordered if fold[i] != part]
        errors = {}
        for shrink in (1e-3, 1e-1, 10.0):
            halves = taught[::2], taught[1::2]
            errors[shrink] = np.mean(
                [
                    np.median(np.abs(ridge(rows, truth, mine, shrink).predict(rows[other]) - truth[other]))
                    for mine, other in (halves, halves[::-1])
                ]
            )
        best = min(errors, key=errors.get)
        asked = [i for i in ordered if fold[i] == part]
        if errors[best] < np.median(np.abs(masked[taught] - truth[taught])):
            estimate[asked] = ridge(rows, truth, taught, best).predict(rows[asked])
    return estimate


def ridge(rows, truth, people, shrink):
    from sklearn.linear_model import Ridge

    return Ridge(alpha=shrink * len(people)).fit(rows[people], truth[people])


@pytest.mark.parametrize(("n", "noise", "seed"), [(60, 0.5, 1), (45, 2.0, 2), (40, 0.9, 3), (24, 4.0, 4)])
def test_the_estimate_is_that_of_a_ridge_regression(n, noise, seed):
    x, y = masked_people(n, noise, seed)
    y[::7, 2] = np.nan
    wanted = by_ridge(x[:, 0], y[:, 0], y, seed)
    assert (wanted != y[:, 0]).any()
    assert denoised(x[:, 0], y[:, 0], y, seed=seed) == pytest.approx(wanted, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(("n", "noise", "seed"), [(60, 3.0, 1), (24, 5.0, 2)])
def test_with_more_columns_than_people_it_is_the_same_regression(n, noise, seed):
    x, y = masked_people(n, noise, seed)
    others = x[:, :1] + np.random.default_rng(seed).normal(size=(n, 90))
    others[::7, 2] = np.nan
    wanted = by_ridge(x[:, 0], y[:, 0], others, seed)
    assert (wanted != y[:, 0]).any()
    assert denoised(x[:, 0], y[:, 0], others, seed=seed) == pytest.approx(wanted, rel=1e-7, abs=1e-9)


def test_a_record_that_was_used_before_gives_the_same():
    """What is standardised once is so for the same people only."""
    x, y = masked_people(200)
    y[:40, 1], y[5:60, 3] = np.nan, np.nan
    record = denoise.Record(y)
    for k in (0, 1, 2, 3, 0):
        fresh = denoised(x[:, k], y[:, k], y)
        assert np.array_equal(denoised(x[:, k], y[:, k], record), fresh, equal_nan=True)


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


def test_of_many_people_some_teach_and_all_are_estimated(monkeypatch):
    """The teachers follow from what is known of them, not from the order of rows; nobody is estimated worse."""
    x, y = masked_people(n=900)
    x[5, 0], y[7, 0] = np.nan, np.nan
    whole = denoised(x[:, 0], y[:, 0], y)
    monkeypatch.setattr(denoise, "TEACHERS", 300)
    monkeypatch.setattr(denoise, "BLOCK", 77)
    some = denoised(x[:, 0], y[:, 0], y)
    order = np.random.default_rng(0).permutation(900)
    assert np.allclose(denoised(x[order, 0], y[order, 0], y[order]), some[order], rtol=1e-9, equal_nan=True)
    assert np.isnan(some[7])
    assert np.flatnonzero(some == y[:, 0]).tolist() == [5]  # whose own value nobody knows
    assert np.nanmean(np.abs(x[:, 0] - some)) < 1.1 * np.nanmean(np.abs(x[:, 0] - whole))


def test_who_teaches_is_drawn_by_lot(monkeypatch):
    monkeypatch.setattr(denoise, "TEACHERS", 200)
    x, y = masked_people(n=400)
    times = np.zeros(400)
    for seed in range(100):
        times[denoise._drawn(x[:, 0], y[:, 0], y, np.arange(400), seed)] += 1
    assert times.sum() == 200 * 100
    assert 25 < times.min() < times.max() < 75  # five standard errors
