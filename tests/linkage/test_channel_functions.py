"""Functions of several columns: shifts by group, codes of each group, products, the largest of some, places."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.spatial.distance import cdist

from unmask import Release
from unmask.linkage.channel import link_channel
from unmask.linkage.channel.columns import read_column
from unmask.linkage.channel.predictors import quadratic, rooted
from unmask.linkage.channel.rows import extremes, row_feature
from unmask.linkage.channel.shifts import _offsets, _slope

N = 180


def frame(values, names):
    return pl.DataFrame({name: values[:, k] for k, name in enumerate(names)})


def attack(known, made, seed=9):
    number, order = pl.Series("id", np.arange(len(known))), np.random.default_rng(seed).permutation(len(known))
    both = known.select(number, pl.all()), made.select(number, pl.all())[order]
    return link_channel(Release(*both, id="id"), curve=False)


def crowd(table):
    return float(table.select(1 / pl.len().over(table.columns)).to_series().mean())


@pytest.mark.parametrize("factors", [True, False])
def test_amounts_moved_by_group(factors):
    rng = np.random.default_rng(1)
    group, x = rng.integers(0, 12, N), np.exp(rng.normal(6, 0.6, (N, 2)))
    own = rng.normal(0, 3, 12)[group, None]
    y = x * np.exp(own + rng.normal(0, 0.02, x.shape)) if factors else x + 1000 * own + rng.normal(0, 5, x.shape)
    known = frame(x.round(2), ["wage", "rent"]).with_columns(pl.Series("country", [f"C{k}" for k in group]))
    found = attack(known, frame(y.round(4), ["wage", "rent"]))
    best = cdist(np.log(x) + own, np.log(y)) if factors else cdist(x + 1000 * own, y)
    intruder = float((best.argmin(1) == np.arange(N)).mean())  # who knows the factors or amounts
    assert found.found.value >= 0.9 * intruder > 0.5
    told = {entry.column: entry.words for entry in found.columns}
    assert told["wage"].endswith(f"{'multiplied by a factor' if factors else 'moved by an amount'} of each `country`, "
                                 "with an error")  # fmt: skip


def test_offsets_are_means_and_nobody_teaches_their_own():
    code, gap = np.array([0, 0, 0, 1, 1, 2]), np.array([10.0, 10.2, 9.8, -5.0, -5.2, 3.0])
    offset, unseen = _offsets(gap, code, 4)
    assert offset[:2] == pytest.approx([10, -5.1], abs=0.1)
    assert unseen[0] == pytest.approx(10, abs=0.1)
    assert unseen[3] == pytest.approx(-5.2, abs=0.1)
    assert unseen[5] == pytest.approx(offset[3]) == pytest.approx(gap.mean())  # nobody else is in that group
    x = np.array([1.0, 2, 3, 4, 5, 9])
    assert _slope(x, 2 * x + np.array([7.0, 7, 7, -3, -3, 0]), code) == pytest.approx(2)


def test_codes_that_each_group_has_of_its_own():
    rng = np.random.default_rng(2)
    hospital, kinds = rng.integers(0, 4, 360), {"diagnosis": 6, "ward": 5, "drug": 7, "doctor": 6}
    known, made = {"hospital": [f"H{k}" for k in hospital]}, {"hospital": [f"H{k}" for k in hospital]}
    for name, k in kinds.items():
        value, key = rng.integers(0, k, 360), np.array([rng.permutation(k) for _ in range(4)])
        known[name], made[name] = [f"{name}{v}" for v in value], [f"z{v}" for v in key[hospital, value]]
    found = attack(pl.DataFrame(known), pl.DataFrame(made))
    assert found.found.value >= 0.95 * crowd(pl.DataFrame(made))
    words = {entry.column: entry.words for entry in found.columns}["drug"]
    assert words == "is a label for `drug` that each `hospital` has of its own"


def test_distances_to_unknown_places():
    rng = np.random.default_rng(3)
    home = np.round(rng.random((N, 2)) * 40, 3)
    far = np.round(cdist(home, rng.random((3, 2)) * 40), 1)
    found = attack(frame(home, ["east", "north"]), frame(far, ["a", "b", "c"]))
    assert found.found.value > 0.95
    x = home[:60]
    assert rooted(x, cdist(x, [[50.0, 7.0]])[:, 0], home) == pytest.approx(cdist(home, [[50.0, 7.0]])[:, 0], rel=1e-4)
    assert quadratic(x, x[:, 0] * x[:, 1], home) == pytest.approx(home[:, 0] * home[:, 1], rel=1e-3, abs=0.01)


def test_pairs_turned_by_a_random_angle():
    rng = np.random.default_rng(4)
    x, turn = rng.normal(0, 10, (N, 2, 2)), rng.random((N, 2)) * 2 * np.pi
    u, v = x[..., 0], x[..., 1]
    y = np.stack((u * np.cos(turn) - v * np.sin(turn), u * np.sin(turn) + v * np.cos(turn)), axis=2)
    names = ["a1", "a2", "b1", "b2"]
    found = attack(frame(x.reshape(N, 4).round(3), names), frame(y.reshape(N, 4).round(3), names))
    assert found.found.value > 0.95  # radii stay


def test_largest_of_unlike_columns():
    rng = np.random.default_rng(5)
    x, names = np.exp(rng.normal(7, 0.8, (N, 6))).round(), ["wage", "pension", "rent", "food", "travel", "fuel"]
    made = pl.DataFrame({"income": x[:, :3].max(1) // 100 * 100, "least": x[:, 3:].min(1) // 50 * 50})
    found = attack(frame(x, names), made)
    assert found.found.value >= 0.9 * crowd(made) > 0.5
    columns = [read_column(pl.Series(name, x[:, k])) for k, name in enumerate(names)]
    assert extremes(columns, np.arange(N), made["income"].to_numpy()) == [(0, "row largest among 0,1,2")]
    assert row_feature(columns, (0, "row largest among 0,1,2")).values == pytest.approx(x[:, :3].max(1))
    assert extremes(columns, np.arange(N), rng.permutation(x[:, 0])) == []


def test_months_of_peaks():
    rng = np.random.default_rng(6)
    x = np.exp(rng.normal(5, 1, (N, 8))).round(2)
    order = np.argsort(x, axis=1)
    made = pl.DataFrame({"peak": order[:, -1] + 1, "next": order[:, -2] + 1})
    found = attack(frame(x, [f"m{k}" for k in range(8)]), made)
    assert found.found.value >= 0.95 * crowd(made)
