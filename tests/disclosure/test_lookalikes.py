"""Memories that are no copies: moved a little, with one column drawn anew, or without anybody outside."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from unmask import Release, assess, copy_risk

N = 150


def people(n=N, seed=0, columns=5):
    rng = np.random.default_rng(seed)
    values = np.exp(rng.normal(size=(n, 1)) + rng.normal(size=(n, columns)))
    return pl.DataFrame({f"v{k}": values[:, k] for k in range(columns)}).with_columns(
        town=pl.Series(rng.choice(["ash", "elm", "oak"], n))
    )


def jittered(table, share=0.01, seed=1):
    rng = np.random.default_rng(seed)
    return table.with_columns(pl.col(pl.Float64) * pl.Series(np.exp(rng.normal(0, share, len(table)))))


def found(original, released, **roles):
    return copy_risk(Release(original, released, synthetic=True, **roles)).found


@pytest.mark.parametrize("control", [True, False])
def test_rows_moved_a_little_are_found_with_and_without_people_outside(control):
    roles = {"control": people(seed=7)} if control else {}
    assert found(people(), jittered(people()), **roles).value > 0.9
    half = pl.concat([jittered(people())[: N // 2], people(N // 2, seed=5)])
    assert found(people(), half, **roles).value == pytest.approx(0.5, abs=0.06)


def test_one_column_drawn_anew_does_not_hide_anybody():
    released = people().with_columns(pl.col("v0").shuffle(seed=3), pl.col("town").shuffle(seed=4))
    assert found(people(), released, control=people(seed=7)).value == 1.0


def test_the_pattern_of_missing_cells_is_a_memory():
    rng = np.random.default_rng(2)
    gaps = [rng.random((N, 30)) < 0.4 for _ in range(2)]

    def table(gone, seed):
        values = np.where(gone, np.nan, np.random.default_rng(seed).normal(size=gone.shape))
        return pl.DataFrame({f"v{k}": values[:, k] for k in range(30)}).fill_nan(None)

    original, control, released = table(gaps[0], 1), table(gaps[1], 2), table(gaps[0][rng.permutation(N)], 3)
    assert found(original, released, control=control).low > 0.2


@pytest.mark.parametrize("control", [True, False])
def test_other_people_are_not_found(control):
    for seed in range(12):
        roles = {"control": people(seed=100 + seed)} if control else {}
        estimate = found(people(seed=seed), people(seed=50 + seed), **roles)
        assert estimate.low < 0.05
        assert estimate.value < 0.1
    many = people(20 * N, seed=9)  # the nearest of many rows is near: no memory
    assert found(people(), many).value < 0.1


def test_too_few_numbers_say_nothing_without_people_outside():
    assert found(people(columns=3), people(columns=3, seed=4)) is None


def test_noisy_counts_of_crowds_are_no_copies():
    """A histogram with Laplace noise has the counts of crowds nearly right, and tells nothing of anybody."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        cells = [(a, s, r) for a in range(5) for s in "mf" for r in "ABCDEFGHIJ"]

        def draw(weights, rng=rng, cells=cells):
            chosen = rng.choice(len(cells), 800, p=weights / weights.sum())
            return pl.DataFrame([cells[k] for k in chosen], schema=["age", "sex", "region"], orient="row")

        law = rng.gamma(0.7, size=len(cells))
        original, control = draw(law), draw(law)
        counts = Counter(original.rows())
        noisy = np.maximum(0, [counts[cell] + rng.laplace() for cell in cells])
        release = Release(original, draw(noisy), control=control, synthetic=True)
        outcomes = {f.key: f.outcome for f in assess(release, only=["copies"]).findings}
        assert "against" not in outcomes.values()
