"""Maskings of places and distances: what the graph attack plays, applied to a table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask.errors import ParameterError, TableError
from unmask.graph.tolerance import MASKINGS
from unmask.masking import PlaceMasking, parse_masking
from unmask.study.displace import mask_distances

TABLE = pl.DataFrame({"lon": [8.0, 9.5, None, 13.25] * 500, "lat": [50.0, 51.0, 52.0, None] * 500, "n": range(2000)})
NAMES = ("place_noise", "place_donut", "place_grid", "distance_noise", "distance_rounding")


def moved(text, seed=0):
    masked = parse_masking(text).apply(TABLE, seed)
    there = (pl.col("lon") + pl.col("lat")).is_not_null()
    before, after = (table.filter(there).select("lon", "lat").to_numpy() for table in (TABLE, masked))
    return masked, after - before, before, after


def test_every_masking_that_the_graph_attack_knows_has_a_text():
    known = [parse_masking(f"{name}(0.5)") for name in NAMES]
    assert {masking.moves for masking in known} == set(MASKINGS)
    assert all(isinstance(masking, PlaceMasking) and masking.strength == 0.5 for masking in known)
    assert [str(masking) for masking in known] == [f"{name}(0.5)" for name in NAMES]
    assert not isinstance(parse_masking("noise(0.5)"), PlaceMasking)


def test_noise_has_its_standard_deviation_on_each_coordinate():
    masked, steps, *_ = moved("place_noise(0.1)")
    assert steps.std(axis=0) == pytest.approx([0.1, 0.1], rel=0.08)
    assert steps.mean(axis=0) == pytest.approx([0, 0], abs=0.01)
    assert abs(np.corrcoef(steps.T)[0, 1]) < 0.1
    assert masked["n"].equals(TABLE["n"])
    assert masked.filter(pl.col("lat").is_null())["lon"].to_list() == [13.25] * 500  # who has no place is not moved
    assert masked.filter(pl.col("lon").is_null())["lat"].to_list() == [52.0] * 500


def test_a_donut_leaves_nobody_near_where_they_were():
    for kind, stretch in (("planar", False), ("lonlat", True)):
        _, steps, before, _ = moved(f"place_donut(0.1, kind={kind})")
        if stretch:  # a degree of longitude is shorter away from the equator
            steps = steps * np.column_stack([np.cos(np.deg2rad(before[:, 1])), np.ones(len(steps))])
        radius = np.hypot(*steps.T)
        assert radius.min() >= 0.05 - 1e-9 and radius.max() <= 0.1 + 1e-9
        assert (radius**2).mean() == pytest.approx((0.05**2 + 0.1**2) / 2, rel=0.05)  # uniform over the ring


def test_a_grid_has_the_middles_of_its_squares():
    _, steps, _, after = moved("place_grid(0.5)")
    assert np.abs(steps).max() <= 0.25
    assert np.allclose((after / 0.5) % 1, 0.5)


def test_distances_stay_distances():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(60, 2))
    d = np.hypot(*(points[:, None] - points[None]).T)
    table = pl.DataFrame({f"d{j}": d[:, j] for j in range(60)})
    noisy = parse_masking("distance_noise(0.3)").apply(table, 4).to_numpy()
    assert np.array_equal(noisy, noisy.T) and (noisy >= 0).all() and (np.diag(noisy) == 0).all()
    far = (d > 1.5) & (np.arange(60)[:, None] < np.arange(60))
    assert (noisy - d)[far].std() == pytest.approx(0.3, rel=0.1)
    rounded = parse_masking("distance_rounding(0.25)").apply(table, 4).to_numpy()
    assert np.array_equal(rounded, np.round(d / 0.25) * 0.25)
    for text in ("distance_noise(1)", "distance_rounding(1)"):
        with pytest.raises(TableError, match="square matrix"):
            parse_masking(text).apply(TABLE)


def test_distances_between_two_files_are_noisy_and_never_below_0():
    d = np.repeat([[0.0], [5.0]], 400, axis=0).reshape(2, 400)
    noisy = mask_distances(d, 0.1, "distances", np.random.default_rng(2))
    assert noisy[1].mean() == pytest.approx(5.0, abs=0.02) and noisy[1].std() == pytest.approx(0.1, rel=0.15)
    assert noisy[0].min() == 0 and (noisy[0] == 0).mean() == pytest.approx(0.5, abs=0.1)  # half of the noise is cut off


@pytest.mark.parametrize("name", NAMES[:3])
def test_strength_0_changes_nothing_and_a_seed_is_a_seed(name):
    assert moved(f"{name}(0)")[0].equals(TABLE)
    one, again, other = (moved(f"{name}(0.3)", seed)[0] for seed in (1, 1, 2))
    assert one.equals(again)
    assert one.equals(other) == (name == "place_grid")


@pytest.mark.parametrize("text", ["place_noise(-1)", "place_donut(1e999)", "distance_noise(-0.1)", "place_grid(x)"])
def test_a_strength_is_a_number_from_0(text):
    with pytest.raises(ParameterError):
        parse_masking(text)


def test_other_names_and_kinds_of_coordinates():
    renamed = TABLE.rename({"lon": "x", "lat": "y"})
    one = parse_masking("place_noise(1, x=x, y=y)").apply(renamed, 3)
    assert one["x"].to_list() == parse_masking("place_noise(1)").apply(TABLE, 3)["lon"].to_list()
    with pytest.raises(ParameterError, match="kind is unknown"):
        parse_masking("place_donut(1, kind=round)")
