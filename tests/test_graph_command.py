"""`unmask graph`: reads, attacks, counts, writes, and says clearly why when it cannot."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from numba import config
from typer.testing import CliRunner

import unmask
from unmask.attacks.graph_distances import between
from unmask.cli import app
from unmask.datasets.places import people
from unmask.errors import UnmaskError

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="the attack takes minutes in plain Python")
COMMON = 60
LABELS = ("--labels", "sex,age")
BOTH = ("--target-distances", "{d}", "--ident-lonlat", "lon,lat")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release of 90 people with a matrix, 100 people whom the intruder knows, 60 of them in both."""
    path = tmp_path_factory.mktemp("graph")
    rng = np.random.default_rng(1)
    everyone = people(130, rng).with_row_index("id")
    target, ident = everyone[rng.permutation(90)], everyone[30:][rng.permutation(100)]
    points = target.select("lon", "lat").to_numpy()
    points = points + rng.normal(0, 0.02, size=points.shape)
    np.save(path / "d.npy", between(points, points, "lonlat"))
    target.with_columns(lon=points[:, 0], lat=points[:, 1]).write_csv(path / "places.csv")
    target.drop("lon", "lat").write_csv(path / "target.csv")
    ident.write_csv(path / "ident.csv")
    return path


def run(folder, *arguments):
    words = [str(word).format(d=folder / "d.npy", f=folder) for word in arguments]
    return CliRunner().invoke(app, ["graph", str(folder / "target.csv"), str(folder / "ident.csv"), *words])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_finds_people_and_writes_row_numbers(folder, suffix):
    out = folder / f"pairs{suffix}"
    result = run(folder, *LABELS, *BOTH, "--sigma", 0.02, "--alpha", 0.95, "--truth", "id", "-o", out)
    assert result.exit_code == 0, result.output
    pairs = pl.read_csv(out) if suffix == ".csv" else pl.read_parquet(out)
    assert pairs.columns == ["target_row", "ident_row", "belief"]
    assert (out.stat().st_mode & 0o777) == 0o600
    target, ident = pl.read_csv(folder / "target.csv"), pl.read_csv(folder / "ident.csv")
    right = int((target["id"].gather(pairs["target_row"] - 1) == ident["id"].gather(pairs["ident_row"] - 1)).sum())
    assert right > COMMON / 2
    assert f"({right} of {pairs.height} claims are right)" in result.output
    assert f"({right} of {COMMON} people in both tables)" in result.output
    library = unmask.link_graph(
        (target, folder / "d.npy"), (ident, unmask.Coordinates("lon", "lat")),
        labels=["sex", "age"], tolerance=unmask.NoiseTolerance(0.02, 0.95),
    )  # fmt: skip
    assert (library.pairs + 1).tolist() == pairs.select("target_row", "ident_row").to_numpy().tolist()


def test_coordinates_on_both_sides_and_an_absolute_tolerance(folder):
    arguments = ["--target-lonlat", "lon,lat", "--ident-lonlat", "lon,lat", "--tolerance", "5", "--method", "exact"]
    files = [str(folder / "places.csv"), str(folder / "ident.csv")]
    result = CliRunner().invoke(app, ["graph", *files, *LABELS, *arguments])
    assert result.exit_code == 0, result.output
    assert "exact: asked for" in result.output
    assert "pairs claimed" in result.output


def test_strangers_are_not_found(folder):
    ident = pl.read_csv(folder / "ident.csv")
    rng = np.random.default_rng(9)
    people(60, rng).with_columns(id=1000 + pl.int_range(60)).select(ident.columns).write_csv(folder / "strangers.csv")
    files = [str(folder / "target.csv"), str(folder / "strangers.csv")]
    words = ["--target-distances", str(folder / "d.npy"), "--ident-lonlat", "lon,lat", "--sigma", "0.02"]
    result = CliRunner().invoke(app, ["graph", *files, *LABELS, *words, "--truth", "id"])
    assert result.exit_code == 0, result.output
    assert "Nothing found" in result.output
    assert "nobody is in both tables" in result.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--labels", "sex,agee", *BOTH, "--sigma", 1), "did you mean 'age'"),
        ((*LABELS, *BOTH), "one of --sigma, --tolerance, --relative"),
        ((*LABELS, *BOTH, "--sigma", 1, "--tolerance", 2), "--sigma and --tolerance"),
        ((*LABELS, *BOTH, "--sigma", -1), "at least 0"),
        ((*LABELS, *BOTH, "--sigma", 1, "--alpha", 2), "alpha is a probability"),
        ((*LABELS, *BOTH, "--sigma", 1, "--masking", "blur"), "unknown masking"),
        ((*LABELS, *BOTH, "--sigma", 1, "--method", "magic"), "unknown method"),
        ((*LABELS, *BOTH, "--sigma", 1, "--truth", "sex"), "does not say who is who"),
        ((*LABELS, *BOTH, "--sigma", 1, "--truth", "name"), "no column 'name'"),
        ((*LABELS, *BOTH, "--sigma", 1, "-o", "{f}/p.xlsx"), ".csv or .parquet"),
        ((*LABELS, *BOTH, "--sigma", 1, "-o", "{f}/ident.csv"), "is also an input"),
        ((*LABELS, *BOTH, "--sigma", 1, "-o", "{f}/nowhere/p.csv"), "no folder"),
        ((*LABELS, "--ident-lonlat", "lon,lat", "--sigma", 1), "one of --target-distances"),
        ((*LABELS, *BOTH, "--target-lonlat", "lon,lat", "--sigma", 1), "one of --target-distances"),
        ((*LABELS, "--target-distances", "{d}", "--ident-lonlat", "lon", "--sigma", 1), "takes two columns"),
        ((*LABELS, "--target-distances", "{f}/none.npy", "--ident-lonlat", "lon,lat", "--sigma", 1), "cannot read"),
        ((*LABELS, "--target-distances", "{d}", "--ident-distances", "{d}", "--sigma", 1), "100"),
        ((*LABELS, "--target-lonlat", "lon,lat", "--ident-lonlat", "lon,lat", "--sigma", 1), "no such column"),
        (("--labels", ",", *BOTH, "--sigma", 1), "label"),
    ],
)
def test_clear_refusals(folder, arguments, says):
    result = run(folder, *arguments)
    assert isinstance(result.exception, UnmaskError), result.output
    assert says in str(result.exception)


def test_an_error_is_one_message_and_exit_code_2(folder):
    words = ["graph", "target.csv", "ident.csv", *LABELS, "--sigma", "1"]
    command = [sys.executable, "-m", "unmask", *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("unmask: where are the people of the release?")
    assert "Traceback" not in done.stderr
