"""`unmask link`: every choice of the two linkages from the command line, one row per person, clear refusals."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import unmask
from unmask.cli.app import app
from unmask.errors import UnmaskError
from unmask.report.words import percent

N = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """People and a masked release of most of them in another order, with an id; and the same as a Release."""
    path = tmp_path_factory.mktemp("link")
    people = unmask.datasets.census(N, seed=5).with_row_index("id")
    masked = unmask.parse_masking("noise(0.4)").apply(people.drop("id"), 1).with_columns(id=people["id"])
    masked[:110].sample(110, shuffle=True, seed=2).write_csv(path / "release.csv")
    people.write_csv(path / "original.csv")
    return path


def run(folder, *arguments):
    words = [str(word) for word in arguments]
    return CliRunner().invoke(
        app, ["link", str(folder / "original.csv"), str(folder / "release.csv"), "--id", "id", *words]
    )


def release_of(folder, **roles):
    return unmask.Release(str(folder / "original.csv"), str(folder / "release.csv"), id="id", **roles)


@pytest.mark.parametrize("direction", ["to_release", "to_original"])
def test_the_file_has_what_python_gives(folder, direction):
    out = folder / f"{direction}.csv"
    result = run(folder, "--direction", direction, "--metric", "manhattan", "--cap", 5, "-o", out)
    assert result.exit_code == 0, result.output
    release, written = release_of(folder), pl.read_csv(out)
    nearest = unmask.link_nearest(release, metric="manhattan", direction=direction)
    globally = unmask.link_globally(release, metric="manhattan")
    assert written["row"].to_list() == list(range(1, N + 1))
    for name in ("nearest link", "nearest equally good", "rank of the true record", "one_to_one link"):
        assert written[name].dtype == pl.Int64
    assert written["nearest"].to_list() == pytest.approx(nearest.per_record(N).tolist())
    assert written["one_to_one"].to_list() == pytest.approx(globally.credit.tolist())
    assert written["either"].to_list() == pytest.approx(np.maximum(nearest.per_record(N), globally.credit).tolist())
    ranks = unmask.true_ranks(release, metric="manhattan", direction=direction, cap=5)
    for person in range(110):
        asked = person if direction == "to_release" else int(release.truth[person])
        assert written["nearest link"][person] == nearest.links[asked] + 1
        assert written["nearest margin"][person] == pytest.approx(nearest.margin[asked])
        assert written["nearest distance"][person] == pytest.approx(nearest.distances[asked])
        assert written["rank of the true record"][person] == ranks[asked]
    assert written["rank of the true record"][110:].is_null().all()
    assert written["one_to_one link"].drop_nulls().n_unique() == 110


def test_the_words_tell_rates_proof_and_union(folder):
    told = run(folder).output
    release = release_of(folder)
    nearest, globally = unmask.link_nearest(release), unmask.link_globally(release)
    union = np.maximum(nearest.credit, globally.credit)[release.paired_rows].mean()
    for rate in (nearest.estimate.value, globally.estimate.value, union, nearest.known().value):
        assert percent(float(rate)) in told
    assert "proven to be the least" in told
    assert "Fewer than 10 records are closer than the true one" in told
    assert "different numbers of people" in told
    assert "different numbers of people" not in run(folder, "--scale", "original").output


def test_options_reach_the_attacks(folder):
    assert "One to one" not in run(folder, "--attack", "nearest").output
    assert "Nearest" not in run(folder, "--attack", "one_to_one").output
    assert run(folder, "--attack", "one_to_one").output == run(folder, "--attack", "global").output  # its former name
    loose = run(folder, "--attack", "one_to_one", "--max-gap", 0.5, "--squared", "--time-budget", 60).output
    assert "of the least" in loose or "proven to be the least" in loose
    sampled = run(folder, "--attack", "nearest", "--sample", 40, "--seed", 3, "-o", folder / "some.parquet")
    assert "of 40 people found" in sampled.output
    written = pl.read_parquet(folder / "some.parquet")
    assert written["nearest"].is_not_null().sum() == written["rank of the true record"].is_not_null().sum() == 40
    plain = run(folder, "--attack", "nearest", "--scale", "none", "--quasi", "wages,interest").output
    heavy = run(folder, "--attack", "nearest", "--scale", "none", "--quasi", "wages,interest", "--weights", "wages=0")
    wanted = unmask.link_nearest(
        release_of(folder, quasi=["wages", "interest"]), scale="none", weights={"wages": 0.0}
    ).estimate
    assert f"{wanted.hits:,.0f} of 110" in heavy.output
    assert plain != heavy.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--attack", "nearst"), "did you mean 'nearest'"),
        (("--metric", "euclid"), "no metric"),
        (("--weights", "wages"), "not name=number"),
        (("--weights", "wages=-1"), "weight"),
        (("--direction", "back"), "no direction"),
        (("--sample", "0"), "at least one person"),
        (("--cap", "0"), "cap"),
        (("--max-gap", "2"), "gap"),
        (("--time-budget", "0"), "time budget"),
        (("--precision", "0"), "precision"),
        (("--metric", "manhattan", "--squared"), "squared"),
        (("-o", "x.txt"), ".csv, .tsv, .parquet"),
        (("--chart", "x.svg"), "without a common id"),
        (("--attack", "global", "--metric", "mahalanobis", "--weights", "wages=2"), "no weights"),
    ],
)
def test_what_cannot_be_done_is_said(folder, arguments, words):
    result = run(folder, *arguments)
    assert isinstance(result.exception, UnmaskError), result.output
    assert words in str(result.exception)


def test_the_output_does_not_overwrite_an_input(folder):
    result = run(folder, "-o", folder / "release.csv")
    assert "also an input" in str(result.exception)


def test_files_without_an_id_are_drawn(tmp_path):
    people = unmask.datasets.patients(40, seed=1).select("sex", "town", "postcode", "birth date")
    people[:35].write_csv(tmp_path / "one.csv")
    people[::-1].write_csv(tmp_path / "two.csv")
    words = ["link", str(tmp_path / "one.csv"), str(tmp_path / "two.csv"), "--chart", str(tmp_path / "c.svg")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "The picture" in result.output and (tmp_path / "c.svg").read_text().startswith("<svg")
