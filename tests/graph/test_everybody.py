"""Guessing everybody after the geometric alignment: the definition, people at one place, chance, refusals."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numba import config

from graph_files import link_graph
from naive import graph as naive
from unmask.datasets.places import people
from unmask.errors import ParameterError
from unmask.graph import Coordinates, NoiseTolerance
from unmask.graph.distances import read_place
from unmask.graph.everybody import everybody
from unmask.graph.geometry import Overlay
from unmask.graph.problem import pose
from unmask.graph.sweep import sweep
from unmask.graph.tolerance import window

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="the attack takes minutes in plain Python")
PLANE = Coordinates("x", "y", kind="planar")


def files(rng, sizes, sigma):
    """Planar files: so many people of each label, in both; the first ones of the target are the identification's."""
    label = np.repeat(np.arange(len(sizes)), sizes)
    places = rng.uniform(0, 100, size=(len(label), 2))
    noisy = places + rng.normal(0, sigma, size=places.shape)
    return tuple(pl.DataFrame({"label": label, "x": p[:, 0], "y": p[:, 1]}) for p in (noisy, places))


def attack(one, two, sigma, **options):
    options = {"null": None, "everybody": True, "method": "geometric", "tolerance": NoiseTolerance(sigma), **options}
    return link_graph((one, PLANE), (two, PLANE), labels=["label"], **options)


def test_everybody_moves_least():
    """With little noise beside the map, the alignment is the identity: each label's best pairing by definition."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        one, two = files(rng, [1] * 20 + [5, 5, 5], 0.5)
        one = one.filter(pl.int_range(pl.len()) != 34)  # somebody is missing
        found = attack(one, two, 0.5)
        expected = set()
        for label in range(23):
            rows, cols = (np.flatnonzero(t["label"].to_numpy() == label) for t in (one, two))
            a, b = (t.select("x", "y").to_numpy()[r] for t, r in ((one, rows), (two, cols)))
            pairs = naive.least_movement(np.linalg.norm(a[:, None] - b, axis=2))
            expected |= {(int(rows[i]), int(cols[j])) for i, j in pairs}
        assert {(int(a), int(b)) for a, b in found.pairs} == expected
        assert len(found.sure.pairs) <= len(found.pairs)
        assert (found.sure.posterior > 0.5).all()


def test_the_guesses_equal_the_definition():
    """Records on a map that are given, labels that may differ or not, copies, strangers; every assignment is tried."""
    rng, seen = np.random.default_rng(3), {"barred": 0, "agree": 0, "apart": 0, "shared": 0, "crowd": 0}
    for turn in range(300):
        tables = []
        for n in rng.integers(3, 6, size=2):
            label = rng.integers(0, int(rng.integers(1, 5)), n)
            tables.append(pl.DataFrame({"label": label, "x": np.arange(n), "y": np.zeros(n)}))
        apart = int(rng.integers(0, 2))
        one, two = (read_place((table, PLANE), ["label"], "file") for table in tables)
        problem = pose(one, two, window(two, 1.0), {"label": apart})
        if not problem.n_vertices:
            continue
        a, b = (t["label"].to_numpy()[o] for t, o in zip(tables, (problem.order1, problem.order2), strict=True))
        spots, places = rng.uniform(0, 10, size=(one.n, 2)), rng.uniform(0, 10, size=(two.n, 2))
        spots[1] = spots[0] + rng.choice([0.0, 0.01])
        places[0] = spots[0] if turn % 3 else places[-1]
        scale = float(rng.choice([0.0, 0.3, 1.0]))
        some = rng.random((one.n, two.n)) < 0.5
        rows, cols = np.nonzero(some)
        near = (rows.astype(np.int32), cols.astype(np.int32), rng.random(len(rows)))
        none = np.zeros(0, dtype=np.int64)
        found = everybody(problem, Overlay(none, none, np.zeros(0), 0.0, 1, 1.0, 7, spots, places, near), scale)
        may = np.abs(a[:, None] - b) <= apart
        belief = np.zeros((one.n, two.n))
        belief[rows, cols] = near[2]
        answers = naive.everybody(spots, places, a, b, may, max(scale, 1e-6 * np.ptp(places, axis=0).max()))
        crowd = may.mean() >= 0.9
        pairs = frozenset(zip(found.rows.tolist(), found.cols.tolist(), strict=True))
        assert (pairs, found.n_agree) in {(those, 7 if crowd else agree) for those, agree in answers}
        assert len(pairs) == len(found.rows)
        assert found.posterior.tolist() == belief[found.rows, found.cols].tolist()
        agree = max(agree for _, agree in answers)
        now = (not may.all(), agree, agree < len(pairs), len(pairs) > min(one.n, two.n), crowd)
        seen = {key: seen[key] + bool(yes) for key, yes in zip(seen, now, strict=True)}
    assert min(seen.values()) > 20


def test_people_at_one_place_share_the_guesses():
    one, two = files(np.random.default_rng(1), [1] * 20 + [3], 0.0)
    here = pl.int_range(pl.len()) >= 20
    one, two = (t.with_columns(x=pl.when(here).then(50.0).otherwise("x"), y=pl.when(here).then(50.0).otherwise("y"))
                for t in (one, two))  # fmt: skip
    truth = np.column_stack([np.arange(23)] * 2)
    found = attack(one, two, 0.01)
    assert found.exposure(truth).tolist() == pytest.approx([1.0] * 20 + [1 / 3] * 3)


def test_labels_that_may_differ_are_assigned_together():
    rng = np.random.default_rng(2)
    one, two = files(rng, [1] * 30, 0.01)
    one = one.with_columns(pl.col("label") * 2 + pl.Series(rng.integers(0, 2, 30)))
    two = two.with_columns(pl.col("label") * 2)
    found = attack(one, two, 0.01, label_distance={"label": 1})
    assert found.recall(np.column_stack([np.arange(30)] * 2)) == 1.0


def test_heavy_noise_is_not_given_up():
    """At first every alignment looks hopeless here; the best of them still finds far more than a blind guess."""
    table, found = people(100, np.random.default_rng(5)), []
    truth = np.column_stack([np.arange(100)] * 2)
    for seed in range(4):
        noise = np.random.default_rng(seed).normal(0, 2.0, size=(2, 100))
        moved = table.with_columns(lon=pl.col("lon") + noise[0], lat=(pl.col("lat") + noise[1]).clip(-90, 90))
        where = Coordinates("lon", "lat")
        linkage = link_graph(
            (moved, where), (table, where), labels=["sex", "age"], tolerance=NoiseTolerance(2.0), everybody=True,
            null=None, budget=5000,
        )  # fmt: skip
        found.append(linkage.recall(truth))
    assert min(found) > 0  # somebody is guessed each time
    assert np.mean(found) > 0.3  # dealing partners within labels at random finds 0.21


def test_the_exact_attack_does_not_guess():
    one, two = files(np.random.default_rng(1), [1] * 10, 0.1)
    with pytest.raises(ParameterError, match="the exact attack guesses nobody"):
        attack(one, two, 0.1, method="exact")


def test_a_sweep_that_guesses_finds_more():
    table, where = people(80, np.random.default_rng(0)), Coordinates("lon", "lat")
    options = {"labels": ["sex", "age"], "maskings": [("coordinates", 0.8)], "method": "geometric", "budget": 2000}
    sure, guessed = (sweep(table, where, everybody=flag, **options)[0] for flag in (False, True))
    assert guessed.recall > sure.recall + 0.1
    assert guessed.n_claims <= sure.n_claims  # a sure claim may lose its partner to the best pairing of all
