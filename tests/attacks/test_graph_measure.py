"""The graph attack in `assess`: finds people in a lightly masked map, nobody in another's, whatever the row order."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from numba import config

import unmask
from unmask.assess import discover, run_measure
from unmask.datasets.places import people
from unmask.errors import RoleError
from unmask.evidence.finding import Absence
from unmask.evidence.measure import Context
from unmask.selfcheck import shuffle

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="the attack takes minutes in plain Python")
WHERE = ("lon", "lat")
PEOPLE = people(120, np.random.default_rng(3)).with_row_index("id")


def moved(sigma, table=PEOPLE, seed=0):
    noise = np.random.default_rng(seed).normal(0, sigma, size=(2, table.height))
    return table.with_columns(lon=pl.col("lon") + noise[0], lat=pl.col("lat") + noise[1])


def release(released, original=PEOPLE, **roles):
    return unmask.Release(original, released, id="id", **{"coordinates": WHERE, **roles})


def evidence(given):
    return run_measure(discover()["graph"], given, Context(seed=0))


def test_a_light_masking_gives_people_away_and_strangers_do_not():
    light = evidence(release(moved(0.02)))
    estimate = light.observations[0].estimate
    assert estimate.value > 0.8
    assert estimate.chance == 1 / 120
    assert light.per_record.shape == (120,)
    assert light.per_record.mean() == pytest.approx(estimate.value)
    strangers = people(120, np.random.default_rng(77)).with_row_index("id")
    other = evidence(release(strangers)).observations[0].estimate
    assert other.low <= other.chance <= other.high
    assert other.high < estimate.low


def test_row_order_changes_no_risk():
    given = release(moved(0.05))
    turned = shuffle(given, 5)
    assert turned.coordinates == WHERE
    one, two = evidence(given), evidence(turned)
    assert one.observations[0].estimate == two.observations[0].estimate
    assert one.per_record[turned.original["id"].to_numpy()].tolist() == two.per_record.tolist()


def test_only_distances_count():
    """A map that was turned and shifted has the same distances, so it protects nobody."""
    planar = PEOPLE.with_columns(lon=pl.col("lon") * 1000, lat=pl.col("lat") * 1000)
    turned = planar.with_columns(lon=5 - pl.col("lat"), lat=pl.col("lon") + 70)
    found = evidence(release(turned, original=planar))
    assert found.observations[0].estimate.value > 0.95
    assert any("unit of the coordinates" in note for note in found.notes)


def test_more_people_are_drawn_and_changed_labels_left_out():
    crowd = people(400, np.random.default_rng(8)).with_row_index("id")
    released = moved(0.01, crowd).with_columns(age=pl.lit("any"))
    given = release(released.with_columns(lon=pl.when(pl.col("id") > 4).then("lon")), original=crowd)
    found = evidence(given)
    assert found.observations[0].estimate.n == 300
    notes = " ".join(found.notes)
    assert "300 of 395 people were drawn" in notes
    assert "not compared: 'age'" in notes
    assert "5 people have no place" in notes
    assert (found.per_record[:5] == 0).all()


def test_where_it_does_not_apply_it_says_why():
    assert evidence(release(PEOPLE, coordinates=None)) == Absence(
        "does not apply", "no coordinates and no distances named"
    )
    text = PEOPLE.with_columns(pl.col("lon").cast(pl.String) + " E")
    assert "not numbers" in evidence(release(text)).reason
    assert "fewer than 4" in evidence(release(PEOPLE[:3], original=PEOPLE[:3])).reason


def test_coordinates_are_two_columns_of_both_tables():
    with pytest.raises(RoleError, match="two columns"):
        release(PEOPLE, coordinates=["lon"])
    with pytest.raises(RoleError, match="in the release"):
        release(PEOPLE.drop("lat"))


def test_it_is_in_the_report_without_values(tmp_path):
    given = release(moved(0.02))
    report = unmask.assess(given, only=["graph"])
    assert report.verdict == "unsafe"
    report.write_json(tmp_path / "r.json")
    report.write_html(tmp_path / "r.html")
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["manifest"]["settings"]["coordinates"] == list(WHERE)
    assert "Distances alone" in (tmp_path / "r.html").read_text()
    text = (tmp_path / "r.json").read_text() + (tmp_path / "r.html").read_text()
    assert not any(f"{value:.6f}" in text for value in PEOPLE["lon"])
