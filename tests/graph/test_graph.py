"""The graph attack in `assess`: finds people in a lightly masked map, nobody in another's, whatever the row order."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from numba import config
from typer.testing import CliRunner

import unmask
from graph_files import link_graph
from unmask.assessment import discover, run_measure
from unmask.cli.app import app
from unmask.datasets.places import people
from unmask.errors import RoleError, TableError
from unmask.evidence.finding import Absence
from unmask.evidence.measure import Context
from unmask.graph.distances import between
from unmask.graph.measure import _others
from unmask.graph.stage import set_stage
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


@pytest.mark.slow
def test_a_light_masking_gives_people_away_and_strangers_do_not():
    light = evidence(release(moved(0.02)))
    estimate = light.observations[0].estimate
    assert estimate.value > 0.8
    assert estimate.chance == 1 / 120
    assert light.per_record.shape == (120,)
    assert light.per_record.mean() >= estimate.value  # the larger of the attacks, person by person
    strangers = people(120, np.random.default_rng(77)).with_row_index("id")
    other = evidence(release(strangers)).observations[0].estimate
    assert other.low <= other.chance <= other.high
    assert other.high < estimate.low


@pytest.mark.slow
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


@pytest.mark.slow
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
    text = PEOPLE.with_columns(pl.lit("in the east").alias("lon"))  # "13.4 E" is a number with its unit
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
    assert "Who is found, on the map" in text
    assert "What would be safe to publish" in text


def matrices(sigma=0.02, unit=1.0):
    """The release without places, the matrix that is published with it, and the exact one."""
    points = PEOPLE.select("lon", "lat").to_numpy()
    noisy = moved(sigma).select("lon", "lat").to_numpy()
    return PEOPLE.drop("lon", "lat"), unit * between(noisy, noisy, "lonlat"), between(points, points, "lonlat")


@pytest.mark.slow
def test_a_released_matrix_is_as_good_as_places():
    released, d, _ = matrices()
    matrix, places = evidence(release(released, distances=d)), evidence(release(moved(0.02)))
    assert matrix.observations[0].estimate.value == pytest.approx(places.observations[0].estimate.value, abs=0.05)
    assert matrix.observations[0].estimate.value > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "said"), [(1000.0, "1000 to one"), (1 / 1.609344, "to one")])
def test_the_unit_of_a_matrix_protects_nobody(unit, said):
    released, d, _ = matrices(unit=unit)
    found = evidence(release(released, distances=d))
    assert found.observations[0].estimate.value > 0.8
    assert said in found.notes[0]


def test_planar_places_that_could_be_degrees_are_told_by_the_matrix():
    planar = PEOPLE.with_columns(lon=pl.col("lon") * 2, lat=pl.col("lat") - 40)
    points = planar.select("lon", "lat").to_numpy()
    found = evidence(release(PEOPLE.drop(WHERE), original=planar, distances=between(points, points, "planar")))
    assert "unit of the coordinates" in found.notes[0]
    assert found.observations[0].estimate.value > 0.95


@pytest.mark.slow
def test_a_general_metric_needs_no_places():
    released, d, exact = matrices()
    found = evidence(release(released, distances=d, known_distances=exact, coordinates=None))
    assert found.observations[0].estimate.value > 0.4
    facts = {fact.name: fact.value for fact in found.facts}
    assert facts["pairs that agree"] > facts["most by chance"]
    other = between(*[people(120, np.random.default_rng(77)).select(WHERE).to_numpy()] * 2, "lonlat")
    strangers = evidence(release(released, distances=other, known_distances=exact, coordinates=None))
    assert strangers.observations[0].estimate.value == 0.0


@pytest.mark.slow
def test_row_order_of_matrices_changes_no_risk():
    released, d, exact = matrices(0.05)
    for roles in ({"distances": d}, {"distances": d, "known_distances": exact, "coordinates": None}):
        given = release(released, **roles)
        turned = shuffle(given, 5)
        one, two = evidence(given), evidence(turned)
        assert one.observations[0].estimate == two.observations[0].estimate
        assert one.per_record[turned.original["id"].to_numpy()].tolist() == two.per_record.tolist()


def test_rows_of_a_matrix_follow_the_release_and_the_scenario():
    """Half of the people are in the release, and the intruder knows some of them."""
    released, d, exact = matrices()
    rows = np.random.default_rng(1).permutation(120)[:80]
    roles = {"distances": d[np.ix_(rows, rows)], "known_distances": exact, "coordinates": None}
    given = release(released[rows], **roles, scenario={"people": 0.5})
    assert given.known_distances.shape == (given.original.height,) * 2
    found = evidence(given)
    assert found.observations[0].estimate.value > 0.4


@pytest.mark.slow
def test_the_maps_show_places_only_when_asked():
    given = release(moved(0.02))
    quiet, shown = (
        run_measure(discover()["graph"], given, Context(show_values=show)).figures[1] for show in (False, True)
    )
    xs = {x for line in quiet.series for x in line.x}
    assert xs <= {k / 100 for k in range(101)}
    assert sum(len(line.x) for line in quiet.series) == 120
    assert {x for line in shown.series for x in line.x} == set(PEOPLE["lon"])
    assert shown.series[0].name == "found"


@pytest.mark.slow
def test_the_risk_utility_map_falls_with_the_masking():
    figures = evidence(release(moved(0.02))).figures[2:]
    assert [figure.y_label for figure in figures] == ["share of people who are found", "share of claims that are right"]
    lines = {line.name: line for line in figures[0].series}
    assert set(lines) == {"noise on places", "donut", "noise on distances", "rounded distances", "this release"}
    for name in ("noise on places", "donut"):
        assert lines[name].y[0] > 0.9 > lines[name].y[-1]
        assert list(lines[name].x) == sorted(lines[name].x)
    assert lines["this release"].x[0] < 0.03


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d[:-1, :-1], "119 x 119"),
        (lambda d: np.where(np.arange(120) == 7, np.nan, d), "missing or infinite"),
        (lambda d: -d, "negative"),
        (lambda d: np.triu(d), "not symmetric"),
    ],
)
def test_bad_matrices_are_refused_when_the_release_is_made(change, says):
    released, d, exact = matrices()
    with pytest.raises(TableError, match="distances of the release") as error:
        release(released, distances=change(d))
    assert says in str(error.value)
    with pytest.raises(TableError, match="known distances"):
        release(released, distances=d, known_distances=change(exact))


@pytest.mark.slow
def test_without_labels_places_alone_give_people_away():
    bare = PEOPLE.select("id", "lon", "lat")
    noisy = moved(0.005).select("id", "lon", "lat")
    found = evidence(release(noisy, original=bare))
    assert "no labels" in found.notes[0]
    assert found.observations[0].estimate.value > 0.8
    strangers = people(120, np.random.default_rng(77)).with_row_index("id").select(bare.columns)
    other = evidence(release(strangers, original=bare)).observations[0].estimate
    assert other.low <= other.chance <= other.high


def test_a_matrix_alone_says_nothing():
    released, d, exact = matrices()
    with pytest.raises(RoleError, match="where people are"):
        release(released, distances=d, coordinates=None)
    with pytest.raises(RoleError, match="without released ones"):
        release(PEOPLE, known_distances=exact)


@pytest.mark.slow
def test_the_command_line_takes_matrices_and_verify_finds_them(tmp_path):
    released, d, _ = matrices()
    PEOPLE.write_csv(tmp_path / "a.csv")
    released.write_csv(tmp_path / "b.csv")
    np.save(tmp_path / "d.npy", d)
    settings = tmp_path / "unmask.toml"
    settings.write_text('original = "a.csv"\nreleased = "b.csv"\nid = "id"\ncoordinates = ["lon", "lat"]\n')
    words = ["assess", "--config", str(settings), "--only", "graph", "--quiet", "--json", str(tmp_path / "r.json")]
    typed = CliRunner().invoke(app, [*words, "--distances", str(tmp_path / "d.npy"), "--show-values"])
    assert typed.exit_code == 1, typed.output
    first = json.loads((tmp_path / "r.json").read_text())
    assert first["manifest"]["inputs"]["distances"]["rows"] == 120
    assert unmask.verify(tmp_path / "r.json").same
    with settings.open("a") as file:
        file.write('distances = "d.npy"\n')
    assert CliRunner().invoke(app, words).exit_code == 1
    second = json.loads((tmp_path / "r.json").read_text())
    assert second["findings"] == first["findings"]
    assert second["digest"] != first["digest"]  # one shows places, the other does not
    assert unmask.verify(tmp_path / "r.json").same
    np.save(tmp_path / "d.npy", d * 1.5)
    assert any("distances" in said for said in unmask.verify(tmp_path / "r.json").differences)
    np.save(tmp_path / "d.npy", d[:5])
    command = [sys.executable, "-m", "unmask", *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("unmask: distances of the release do not fit the table")


@pytest.mark.slow
def test_noise_on_distances_hides_nobody_from_who_knows_them():
    """The largest clique holds a sixth of the people; the finding is what votes find, and says so."""
    points, people_only = PEOPLE.select(WHERE).to_numpy(), PEOPLE.drop(WHERE)
    rng, exact = np.random.default_rng(3), between(points, points, "lonlat")
    noise = np.triu(rng.normal(0, 0.1 * np.median(exact), exact.shape), 1)
    masked = np.abs(exact + noise + noise.T) * (1 - np.eye(len(exact)))
    found = evidence(release(people_only, people_only, coordinates=None, distances=masked, known_distances=exact))
    assert found.observations[0].estimate.value > 0.9
    facts = {fact.name: fact for fact in found.facts}
    assert "as many distances agree" in facts["pairs that agree"].meaning
    assert int(facts["sure claims"].value.split()[0]) < 60
    also = next(note for note in found.notes if note.startswith("also tried"))
    assert int(also.split(", ")[1].split()[0]) < 60  # the clique


@pytest.mark.parametrize("published", ["matrix", "places"])
def test_the_order_of_the_files_does_not_tell_couples_apart(published):
    """30 couples of one label at one address: found with luck in half of the cases, and nobody for certain.

    The stage has both files in one order, which must not help. Places on a grid are the case of two target records at
    one place, from which no alignment follows (it was an error).
    """
    rng = np.random.default_rng(0)
    points = np.repeat(rng.uniform(0, 1e5, (30, 2)), 2, axis=0)
    table = pl.DataFrame({"id": np.arange(60), "label": np.repeat(rng.integers(0, 3, 30), 2).astype(str)})
    if published == "matrix":
        exact = between(points, points, "planar")
        given = release(table, table, coordinates=None, distances=np.round(exact / 1e4) * 1e4, known_distances=exact)
    else:
        x, y = points.T
        grid = [np.floor(axis / 8000) * 8000 + 4000 for axis in (x, y)]
        files = (table.with_columns(x=pl.Series(a), y=pl.Series(b)) for a, b in ((x, y), grid))
        given = release(*reversed(list(files)), coordinates=("x", "y"))
    found = evidence(given)
    assert 0.35 < found.observations[0].estimate.value <= 0.5
    assert found.per_record.max() == 0.5


@pytest.mark.slow
def test_a_town_and_its_mirror_image_are_guessed_by_lot():
    """Everybody has a mirror image of their label: half of the people are found on average, not all by row order."""
    half = np.random.default_rng(2).uniform(1e3, 1e5, (12, 2))
    points = np.vstack([half, half * [-1, 1]])
    table, exact = pl.DataFrame({"id": np.arange(24), "label": ["a"] * 24}), between(points, points, "planar")
    given = release(table, table, coordinates=None, distances=np.round(exact / 5e3) * 5e3, known_distances=exact)
    measure = discover()["graph"]
    rates = [run_measure(measure, given, Context(seed=seed)).observations[0].estimate.value for seed in range(8)]
    assert 0.15 < np.mean(rates) < 0.85


def test_attacks_that_found_fewer_are_told_beside_the_best():
    tried = [SimpleNamespace(why=word) for word in ("votes", "clique", "overlay")]
    shares = [np.full(10, share) for share in (0.3, 0.9, 0.5)]
    assert _others(tried, shares, 1) == (
        "also tried, 3 people found: votes",
        "also tried, 5 people found: overlay",
    )


@pytest.mark.slow
def test_heavy_noise_is_judged_by_the_best_of_the_attacks():
    """Few claims are sure under heavy noise, yet the map lies right: the rate is what guessing everybody finds."""
    given = release(moved(0.5))
    found = evidence(given)
    stage = set_stage(given, 0)
    truth = np.column_stack([np.arange(120)] * 2)
    asked = {"labels": stage.labels, "tolerance": stage.tolerance, "seed": 0}
    overlaid = link_graph(stage.target, stage.identification, method="geometric", budget=20_000, **asked)
    clique = link_graph(stage.target, stage.identification, method="exact", **asked)
    guessed = link_graph(stage.target, stage.identification, method="geometric", everybody=True, budget=20_000, **asked)
    voted = link_graph(stage.target, stage.identification, method="votes", **asked | {"tolerance": stage.whole})
    shares = [linkage.exposure(truth) for linkage in (guessed, voted, clique)]
    estimate = found.observations[0].estimate
    assert estimate.hits == pytest.approx(max(credit.sum() for credit in shares))
    assert estimate.hits > 1.5 * max(overlaid.hits(truth), clique.hits(truth))
    assert found.per_record[stage.rows].tolist() == np.max(shares, axis=0).tolist()
    assert "best of 3 attacks tried" in found.observations[0].claim
    assert sum(note.startswith("also tried") for note in found.notes) == 2  # all but the best of the three
