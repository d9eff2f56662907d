"""Flows over all matchings of a part: two walks and the exact count agree."""

from __future__ import annotations

import numpy as np
import pytest

from unmask.kernels.assignment import flows


def part(seed, n, m, units, share):
    """A random part: classes, tight pairs, and the flow of one matching of units."""
    rng = np.random.default_rng(seed)
    flow = np.zeros((n, m))
    np.add.at(flow, (rng.integers(0, n, units), rng.integers(0, m, units)), 1)
    flow = flow[flow.sum(axis=1) > 0][:, flow.sum(axis=0) > 0]
    a, b = np.nonzero((rng.random(flow.shape) < share) | (flow > 0))
    return a, b, flow[a, b]


@pytest.mark.parametrize(
    ("seed", "n", "m", "units"), [(0, 2, 2, 5), (1, 4, 5, 9), (2, 6, 3, 9), (3, 8, 8, 8), (4, 1, 4, 6)]
)
def test_where_all_are_tight_each_is_matched_with_each_as_often(seed, n, m, units):
    a, b, flow = part(seed, n, m, units, 1.0)
    spread = flows.spread_part(a, b, flow)
    assert spread == pytest.approx(flows.count_part(a, b, flow), abs=1e-12)
    shuffled = np.random.default_rng(seed).permutation(len(a))
    assert flows.spread_part(a[shuffled], b[shuffled], flow[shuffled]) == pytest.approx(spread[shuffled], abs=1e-12)


def test_all_tight_on_a_large_part_is_what_is_sampled():
    a, b, flow = part(5, 12, 9, 60, 1.0)
    sampled = flows.sample_part(a, b, flow, 20_000, np.random.default_rng(0))
    assert flows.spread_part(a, b, flow) == pytest.approx(sampled, abs=0.05)


def test_one_pair_that_is_not_tight_is_enough():
    a, b, flow = part(1, 4, 5, 9, 1.0)
    free = np.flatnonzero(flow == 0)[0]
    kept = np.arange(len(a)) != free
    assert flows.spread_part(a[kept], b[kept], flow[kept]) is None


def stairs(n):
    """Unit i fits i and all after it, and the last also the first: few whole matchings, very many but for a pair."""
    a, b = np.nonzero(np.triu(np.ones((n, n))))
    a, b = np.append(a, n - 1), np.append(b, 0)
    return a, b, (a == b).astype(float)


@pytest.mark.parametrize(
    ("seed", "n", "m", "units", "share"), [(0, 3, 3, 8, 0.5), (1, 4, 5, 9, 0.4), (2, 6, 6, 9, 0.3)]
)
def test_turned_cycles_give_what_is_counted(seed, n, m, units, share):
    a, b, flow = part(seed, n, m, units, share)
    counted = flows.count_part(a, b, flow)
    assert flows.turn_part(a, b, flow, 20_000, np.random.default_rng(1)) == pytest.approx(counted, abs=0.03)
    assert flows.sample_part(a, b, flow, 20_000, np.random.default_rng(1)) == pytest.approx(counted, abs=0.03)


def test_stairs():
    a, b, flow = stairs(9)
    turned = flows.turn_part(a, b, flow, 20_000, np.random.default_rng(0))
    assert turned == pytest.approx(flows.count_part(a, b, flow), abs=0.03)


def test_every_draw_is_a_matching():
    a, b, flow = part(3, 30, 20, 200, 0.3)
    mean = flows.turn_part(a, b, flow, 50, np.random.default_rng(0))
    assert np.bincount(a, weights=mean) == pytest.approx(np.bincount(a, weights=flow))
    assert np.bincount(b, weights=mean) == pytest.approx(np.bincount(b, weights=flow))
    again = flows.turn_part(a, b, flow, 50, np.random.default_rng(0))
    assert np.array_equal(mean, again)


def test_a_gap_that_stays_open_is_not_waited_for(monkeypatch):
    a, b, flow = part(4, 10, 10, 40, 0.4)
    waited = flows.sample_part(a, b, flow, 4000, np.random.default_rng(0))
    monkeypatch.setattr(flows, "_walk", lambda *_: np.empty(0))
    turned = flows.sample_part(a, b, flow, 4000, np.random.default_rng(0))
    assert not np.array_equal(waited, turned)
    assert turned == pytest.approx(waited, abs=0.08 * flow.max())


def walked(a, b, flow, draws, rng):
    """The walk of a gap, with plain lists: every unit is looked for from the first on."""
    flow, capacity = flow.astype(int), np.bincount(b, weights=flow).astype(int)
    of_b = [np.flatnonzero(b == j) for j in range(len(capacity))]
    total = np.zeros(len(a))

    def unit(pairs, amounts, x):
        for e, amount in zip(pairs, amounts, strict=True):
            if x < amount:
                return e, x
            x -= amount
        return -1, x

    for draw in range(draws + 20):
        steps = 0
        while steps < 2 * capacity.sum():
            j, x = unit(range(len(capacity)), capacity, int(rng.random() * capacity.sum()))
            e, _ = unit(of_b[j], flow[of_b[j]], x)
            while e >= 0:
                flow[e] -= 1
                mine = np.flatnonzero(a == a[e])
                taken, x = unit(mine, capacity[b[mine]], int(rng.random() * capacity[b[mine]].sum()))
                e, _ = unit(of_b[b[taken]], flow[of_b[b[taken]]], x)
                flow[taken] += 1
                steps += 1
        total += flow * (draw >= 20)
    return total / draws


@pytest.mark.parametrize(("seed", "n", "m", "units", "share"), [(5, 6, 4, 30, 0.5), (6, 12, 12, 14, 0.9)])
def test_the_walk_equals_a_slow_one_to_the_last_bit(seed, n, m, units, share):
    a, b, flow = part(seed, n, m, units, share)
    found = flows.sample_part(a, b, flow, 40, np.random.default_rng(2))
    assert np.array_equal(found, walked(a, b, flow, 40, np.random.default_rng(2)))
