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
from unmask.cli.app import app
from unmask.datasets.places import people
from unmask.errors import EngineError, UnmaskError
from unmask.graph.distances import between

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="the attack takes minutes in plain Python")
COMMON = 60
LABELS = ("--labels", "sex,age")
BOTH = ("--released-distances", "{d}", "--original-lonlat", "lon,lat")


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
    (path / "ident.txt").write_text("0,1")
    target.with_columns(lon=points[:, 0], lat=points[:, 1]).write_csv(path / "places.csv")
    target.drop("lon", "lat").write_csv(path / "target.csv")
    ident.write_csv(path / "ident.csv")
    return path


def run(folder, *arguments):
    words = [str(word).format(d=folder / "d.npy", f=folder) for word in arguments]
    return CliRunner().invoke(app, ["graph", str(folder / "ident.csv"), str(folder / "target.csv"), *words])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_finds_people_and_writes_row_numbers(folder, suffix):
    out = folder / f"pairs{suffix}"
    result = run(folder, *LABELS, *BOTH, "--sigma", 0.02, "--alpha", 0.95, "--truth", "id", "-o", out)
    assert result.exit_code == 0, result.output
    pairs = pl.read_csv(out) if suffix == ".csv" else pl.read_parquet(out)
    assert pairs.columns == ["original_row", "released_row", "belief"]
    assert (out.stat().st_mode & 0o777) == 0o600
    target, ident = pl.read_csv(folder / "target.csv"), pl.read_csv(folder / "ident.csv")
    right = int((target["id"].gather(pairs["released_row"] - 1) == ident["id"].gather(pairs["original_row"] - 1)).sum())
    assert right > COMMON / 2
    assert f"({right} of {pairs.height} claims are right)" in result.output
    assert f"({right} of {COMMON} people in both tables)" in result.output
    library = unmask.link_graph(
        original=(ident, unmask.Coordinates("lon", "lat")), released=(target, folder / "d.npy"),
        labels=["sex", "age"], tolerance=unmask.NoiseTolerance(0.02, 0.95),
    )  # fmt: skip
    assert (library.pairs + 1).tolist() == pairs.select("released_row", "original_row").to_numpy().tolist()


def test_everybody_is_guessed_and_said(folder, tmp_path):
    """The same as in Python, beliefs beside the pairs, the right ones counted."""
    out = tmp_path / "pairs.csv"
    words = (*LABELS, *BOTH, "--sigma", 0.02, "--truth", "id", "--seed", 4)
    result = run(folder, *words, "--everybody", "-o", out)
    assert result.exit_code == 0, result.output
    pairs = pl.read_csv(out)
    target, ident = pl.read_csv(folder / "target.csv"), pl.read_csv(folder / "ident.csv")
    library = unmask.link_graph(
        original=(ident, unmask.Coordinates("lon", "lat")), released=(target, folder / "d.npy"),
        everybody=True, seed=4,
        labels=["sex", "age"], tolerance=unmask.NoiseTolerance(0.02),
    )  # fmt: skip
    assert (library.pairs + 1).tolist() == pairs.select("released_row", "original_row").to_numpy().tolist()
    assert library.posterior.tolist() == pytest.approx(pairs["belief"].to_list())
    assert "geometric: everybody is to be guessed" in result.output
    sure = pairs.filter(pl.col("belief") > 0.5).height
    assert f"{pairs.height} pairs claimed: {library.n_agree} agree on the map, {sure} more likely" in result.output
    asked = run(folder, *words, "--everybody", "--method", "geometric", "-o", out)
    assert asked.output.splitlines()[1:3] == result.output.splitlines()[1:3]
    right = int((target["id"].gather(pairs["released_row"] - 1) == ident["id"].gather(pairs["original_row"] - 1)).sum())
    assert f"({right} of {pairs.height} claims are right)" in result.output
    assert right > COMMON / 2
    assert 0 < sure < pairs.height


@pytest.mark.parametrize("words", [("--method", "votes"), ()])
def test_who_has_no_places_guesses_everybody_by_votes(folder, words, tmp_path):
    points = pl.read_csv(folder / "ident.csv").select("lon", "lat").to_numpy()
    np.save(folder / "theirs.npy", between(points, points, "lonlat"))
    where = ("--released-distances", "{d}", "--original-distances", "{f}/theirs.npy", "--tolerance", 5)
    clique, out = run(folder, *LABELS, *where, "--method", "seeds", "--truth", "id"), tmp_path / "pairs.csv"
    result = run(folder, *LABELS, *where, "--everybody", "--truth", "id", "-o", out, *words)
    assert result.exit_code == 0, result.output
    assert ("asked for" if words else "votes: everybody is to be guessed, by distances alone") in result.output
    pairs = pl.read_csv(out)
    assert 0 < pairs["belief"].null_count() < pairs.height  # seeds are weighed, guesses are not
    weighed = pairs.height - pairs["belief"].null_count()
    assert f"{pairs.height} pairs claimed: {weighed} agree with each other, the others are the best" in result.output
    recalls = [float(told.output.split("recall ")[1].split()[0]) for told in (clique, result)]
    assert recalls[1] > recalls[0]
    for method in ("exact", "seeds"):
        refused = run(folder, *LABELS, *where, "--everybody", "--method", method)
        assert f"the {method} attack guesses nobody" in str(refused.exception)


def test_quasi_cliques_label_distances_and_chance_are_options(folder):
    words = (*LABELS, *BOTH, "--sigma", 0.02, "--alpha", 0.7)
    clique, quasi = run(folder, *words), run(folder, *words, "--gamma", 0.6)
    sizes = [int(result.output.split(" pairs claimed")[0].split()[-1]) for result in (clique, quasi)]
    assert sizes[0] < sizes[1]
    assert "and by gamma" in quasi.output
    strict = run(folder, *words, "--draws", 99, "--level", 0.01)
    assert "in 99 draws, p = 0.01" in strict.output
    names = ("--labels", "sex,id", *BOTH, "--sigma", 0.02)
    same, near = run(folder, *names), run(folder, *names, "--label-distance", "id=1")
    counts = [int(result.output.split(" pairs with matching labels")[0].split()[-1]) for result in (same, near)]
    assert counts[0] == COMMON
    assert COMMON < counts[1] <= 3 * COMMON


def test_coordinates_on_both_sides_and_an_absolute_tolerance(folder):
    arguments = [
        "--released-lonlat",
        "lon,lat",
        "--original-lonlat",
        "lon,lat",
        "--tolerance",
        "5",
        "--method",
        "exact",
    ]
    files = [str(folder / "ident.csv"), str(folder / "places.csv")]
    result = CliRunner().invoke(app, ["graph", *files, *LABELS, *arguments])
    assert result.exit_code == 0, result.output
    assert "exact: asked for" in result.output
    assert "pairs claimed" in result.output


def test_strangers_are_not_found(folder):
    ident = pl.read_csv(folder / "ident.csv")
    rng = np.random.default_rng(9)
    people(60, rng).with_columns(id=1000 + pl.int_range(60)).select(ident.columns).write_csv(folder / "strangers.csv")
    files = [str(folder / "strangers.csv"), str(folder / "target.csv")]
    words = ["--released-distances", str(folder / "d.npy"), "--original-lonlat", "lon,lat", "--sigma", "0.02"]
    result = CliRunner().invoke(app, ["graph", *files, *LABELS, *words, "--truth", "id"])
    assert result.exit_code == 0, result.output
    assert "Nothing found" in result.output
    assert "nobody is in both tables" in result.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--labels", "sex,agee", *BOTH, "--sigma", 1), "did you mean 'age'"),
        ((*LABELS, *BOTH), "one of --masking (or --sigma), --tolerance, --relative"),
        ((*LABELS, *BOTH, "--sigma", 1, "--tolerance", 2), "--sigma and --tolerance"),
        ((*LABELS, *BOTH, "--sigma", -1), "sd is out of range"),
        ((*LABELS, *BOTH, "--sigma", 1, "--alpha", 2), "alpha is a probability"),
        (
            (*LABELS, *BOTH, "--masking", "blur(1)"),
            "allowed: distance_noise, distance_rounding, place_donut, place_grid, place_noise",
        ),
        ((*LABELS, *BOTH, "--masking", "place_nois(1)"), "did you mean 'place_noise'"),
        ((*LABELS, *BOTH, "--masking", "noise(1)"), "cannot be used here"),
        ((*LABELS, *BOTH, "--masking", "place_noise(1)", "--sigma", 1), "given twice"),
        ((*LABELS, *BOTH, "--masking", "place_noise(1)", "--relative", 1), "--relative and --masking"),
        ((*LABELS, *BOTH, "--sigma", 1, "--method", "magic"), "unknown method"),
        ((*LABELS, *BOTH, "--sigma", 1, "--truth", "sex"), "does not say who is who"),
        ((*LABELS, *BOTH, "--sigma", 1, "--truth", "name"), "no column 'name'"),
        ((*LABELS, *BOTH, "--sigma", 1, "-o", "{f}/p.docx"), ".csv, .tsv, .parquet"),
        ((*LABELS, *BOTH, "--sigma", 1, "-o", "{f}/ident.csv"), "is also an input"),
        ((*LABELS, *BOTH, "--sigma", 1, "-o", "{f}/nowhere/p.csv"), "no folder"),
        ((*LABELS, "--original-lonlat", "lon,lat", "--sigma", 1), "one of --released-distances"),
        ((*LABELS, *BOTH, "--released-lonlat", "lon,lat", "--sigma", 1), "one of --released-distances"),
        ((*LABELS, "--released-distances", "{d}", "--original-lonlat", "lon", "--sigma", 1), "takes two columns"),
        (
            (*LABELS, "--released-distances", "{f}/none.npy", "--original-lonlat", "lon,lat", "--sigma", 1),
            "cannot read",
        ),
        ((*LABELS, "--released-distances", "{d}", "--original-distances", "{d}", "--sigma", 1), "100"),
        ((*LABELS, "--released-lonlat", "lon,lat", "--original-lonlat", "lon,lat", "--sigma", 1), "no such column"),
        (("--labels", ",", *BOTH, "--sigma", 1), "label"),
        ((*LABELS, *BOTH, "--sigma", 1, "--alpha", 0), "alpha is a probability"),
        ((*LABELS, *BOTH, "--sigma", 1, "--alpha", 1), "alpha is a probability"),
        ((*LABELS, *BOTH, "--sigma", "nan"), "sd is out of range"),
        ((*LABELS, *BOTH, "--tolerance", -1), "at least 0"),
        ((*LABELS, *BOTH, "--relative", "inf"), "at least 0"),
        ((*LABELS, *BOTH, "--sigma", 1, "--gamma", 2), "gamma is a share"),
        ((*LABELS, *BOTH, "--sigma", 1, "--draws", 5), "could never find anything"),
        ((*LABELS, *BOTH, "--sigma", 1, "--level", 2), "could never find anything"),
        ((*LABELS, *BOTH, "--sigma", 1, "--label-distance", "age"), "is not name=number"),
        ((*LABELS, *BOTH, "--sigma", 1, "--label-distance", "age=1"), "needs a label of numbers"),
        ((*LABELS, *BOTH, "--sigma", 1, "--label-distance", "id=1"), "for no label"),
        ((*LABELS, "--released-distances", "{d}", "--original-lonlat", "lon,lon", "--sigma", 1), "two columns"),
        (
            (*LABELS, "--released-distances", "{f}/ident.txt", "--original-lonlat", "lon,lat", "--sigma", 1),
            "unknown type",
        ),
    ],
)
def test_clear_refusals(folder, arguments, says):
    result = run(folder, *arguments)
    assert isinstance(result.exception, UnmaskError), result.output
    assert says in str(result.exception)


def test_former_spellings_still_work(folder):
    """--sigma with the name of a masking, and the names of the two sides, as they were up to version 0.1."""
    now = run(folder, *LABELS, *BOTH, "--masking", "place_noise(0.02)").output
    assert "pairs claimed" in now
    former = ("--target-distances", "{d}", "--ident-lonlat", "lon,lat", "--sigma", 0.02)
    for more in ((), ("--masking", "coordinates")):
        assert run(folder, *LABELS, *former, *more).output == now
    rounded = ("--masking", "distance_rounding(5)"), ("--sigma", 5, "--masking", "rounding")
    assert len({run(folder, *LABELS, *BOTH, *words).output for words in rounded}) == 1
    common = ("--lonlat", "lon,lat", "--repetitions", 1)
    sweeps = ("--masking", "place_donut(0.1)", "--masking", "place_donut(0.4)"), ("--masking", "donut=0.1,0.4")
    assert len({sweep(folder, *common, *words).output for words in sweeps}) == 1


def test_tables_in_the_wrong_order_are_noticed(folder):
    files = [str(folder / "target.csv"), str(folder / "ident.csv")]
    for where in (
        ("--released-distances", str(folder / "d.npy"), "--original-lonlat", "lon,lat"),
        ("--released-distances", str(folder / "d.npy"), "--original-distances", "lo*"),
    ):
        result = CliRunner().invoke(app, ["graph", *files, *LABELS, *where, "--tolerance", "5"])
        assert isinstance(result.exception, UnmaskError), result.output
        assert "are the two tables swapped? The original comes first" in str(result.exception)


def test_tables_are_read_as_told(folder, tmp_path):
    """Separator, encoding and marks of missing values reach the reader in both commands."""
    odd = {}
    for name in ("ident", "target"):
        text = (folder / f"{name}.csv").read_text().replace(",", "^").replace("sex", "größe")
        odd[name] = tmp_path / f"{name}.csv"
        odd[name].write_bytes(text.encode("latin-1"))
    reading = ("--separator", "^", "--encoding", "latin-1", "--missing", "f,m")
    where = ("--released-distances", str(folder / "d.npy"), "--original-lonlat", "lon,lat", "--sigma", "0.02")
    words = ["graph", str(odd["ident"]), str(odd["target"]), "--labels", "größe,age", *where, *reading]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.exception
    by_age = run(folder, "--labels", "age", *BOTH, "--sigma", 0.02)  # all sexes missing: no label
    assert result.output == by_age.output
    words = ["graph-sweep", str(odd["ident"]), "--labels", "größe", "--lonlat", "lon,lat", "--repetitions", "1"]
    swept = CliRunner().invoke(app, [*words, "--masking", "place_noise(0.1)", *reading])
    assert swept.exit_code == 0, swept.exception


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.with_columns(lon=pl.when(pl.col("id") > 60).then("lon")), "missing or infinite"),
        (lambda t: t.with_columns(lat=pl.col("lat") + 40), "not degrees"),
        (lambda t: t.with_columns(lon=pl.col("lon") + 360), "not degrees"),
        (lambda t: t.with_columns(pl.col("lon").cast(pl.String) + " E"), "not numbers"),
        (lambda t: t.clear(), "the intruder's table (hers.csv) has a header but no rows"),
    ],
)
def test_places_that_are_none_are_refused(folder, tmp_path, change, says):
    change(pl.read_csv(folder / "ident.csv")).write_csv(tmp_path / "hers.csv")
    words = ["--released-distances", str(folder / "d.npy"), "--original-lonlat", "lon,lat", "--sigma", "0.02"]
    result = CliRunner().invoke(app, ["graph", str(tmp_path / "hers.csv"), str(folder / "target.csv"), *LABELS, *words])
    assert isinstance(result.exception, UnmaskError), result.output
    assert says in str(result.exception)
    assert "the the" not in str(result.exception)


def test_two_columns_of_one_name_and_a_label_named_twice(folder, tmp_path):
    lines = (folder / "ident.csv").read_text().splitlines()
    (tmp_path / "twice.csv").write_text("\n".join([lines[0].replace("age", "sex"), *lines[1:]]))
    words = ["--released-distances", str(folder / "d.npy"), "--original-lonlat", "lon,lat", "--sigma", "0.02"]
    files = [str(tmp_path / "twice.csv"), str(folder / "target.csv")]
    assert "the same name" in str(CliRunner().invoke(app, ["graph", *files, "--labels", "sex", *words]).exception)
    once, twice = (run(folder, "--labels", f"sex,age{more}", *BOTH, "--sigma", 0.02) for more in ("", ",sex"))
    assert twice.output == once.output


@pytest.mark.parametrize("words", [("--method", "exact"), ("--everybody",)])
def test_what_does_not_fit_into_memory_is_refused_with_an_estimate(folder, monkeypatch, words):
    monkeypatch.setattr("unmask.study.memory.available_memory", lambda: 100)
    result = run(folder, *LABELS, *BOTH, "--sigma", 0.02, *words)
    assert isinstance(result.exception, EngineError), result.output
    assert "would need about" in str(result.exception)
    refused = sweep(folder, "--lonlat", "lon,lat", "--masking", "place_donut(0.1)")
    assert "a sweep over all distances of these people would need about" in str(refused.exception)


def test_an_error_is_one_message_and_exit_code_2(folder):
    words = ["graph", "ident.csv", "target.csv", *LABELS, "--sigma", "1"]
    command = [sys.executable, "-m", "unmask", *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("unmask: where are the people of the intruder's table?")
    assert "Traceback" not in done.stderr


def tiny(folder, name, rows, *, xy=None, labels=None):
    """Write a small table and its matrix; returns the words that name them as the target."""
    rng = np.random.default_rng(len(name))
    points = rng.normal(size=(rows, 2)) if xy is None else np.asarray(xy, dtype=float)
    table = pl.DataFrame({"sex": labels or ["f"] * rows, "age": ["30"] * rows, "x": points[:, 0], "y": points[:, 1]})
    table.write_csv(folder / f"{name}.csv")
    np.save(folder / f"{name}.npy", between(points, points, "planar"))
    return folder / f"{name}.csv", folder / f"{name}.npy"


def attack(target, ident, *words):
    """Attack one small table with another by their matrices."""
    where = ["--released-distances", str(target[1]), "--original-distances", str(ident[1])]
    return CliRunner().invoke(app, ["graph", str(ident[0]), str(target[0]), *LABELS, *where, *map(str, words)])


@pytest.mark.parametrize("given", ["d_*", "d_0,d_1,d_2,d_3,d_4,d_5,d_6,d_7"])
def test_a_set_of_distance_columns_is_a_matrix(tmp_path, given):
    plain = tiny(tmp_path, "plain", 8)
    d = np.load(plain[1])
    wide = pl.read_csv(plain[0]).with_columns(**{f"d_{i}": d[i] for i in range(8)})
    wide.write_csv(tmp_path / "wide.csv")
    by_columns = attack((tmp_path / "wide.csv", given), plain, "--tolerance", 0)
    by_matrix = attack(plain, plain, "--tolerance", 0)
    assert by_columns.exit_code == 0, by_columns.output
    assert by_columns.output == by_matrix.output
    assert "8 pairs claimed" in by_matrix.output
    few = attack((tmp_path / "wide.csv", "d_0,d_1"), plain, "--tolerance", 0)
    assert "8 x 2" in str(few.exception)
    none = attack((tmp_path / "wide.csv", "e*"), plain, "--tolerance", 0)
    assert "is a distance" in str(none.exception)
    assert "no column 'd_9'" in str(attack((tmp_path / "wide.csv", "d_0,d_9"), plain, "--tolerance", 0).exception)


@pytest.mark.parametrize("words", [("--tolerance", 0), ("--masking", "distance_noise(0)"), ("--relative", 0)])
def test_no_tolerance_means_equal_distances(tmp_path, words):
    one = tiny(tmp_path, "one", 12)
    result = attack(one, one, *words)
    assert result.exit_code == 0, result.output
    assert "12 pairs claimed: 12 agree with each other, proven to be the largest." in result.output


@pytest.mark.parametrize("words", [("--tolerance", 0), ("--tolerance", 1), ("--masking", "distance_noise(1)")])
@pytest.mark.parametrize(("rows", "xy", "labels"), [(1, None, None), (9, [[3, 4]] * 9, None), (6, None, ["m"] * 6)])
def test_degenerate_files_are_answered_with_nothing(tmp_path, words, rows, xy, labels):
    """One record, everybody at one point, no equal labels: nothing can be told apart, nothing is claimed."""
    one, two = tiny(tmp_path, "one", rows, xy=xy, labels=labels), tiny(tmp_path, "two", rows, xy=xy)
    for method in ("auto", "exact", "seeds", "votes"):
        result = attack(one, two, *words, "--method", method)
        assert result.exit_code == 0, result.exception
        assert f"Nothing found: no pair is claimed among {rows} x {rows} records." in result.output
    places = ["--released-lonlat", "x,y", "--original-lonlat", "x,y", "--planar", "--method", "geometric"]
    result = CliRunner().invoke(app, ["graph", str(two[0]), str(one[0]), *LABELS, *places, *map(str, words)])
    assert result.exit_code == 0, result.exception
    assert "Nothing found" in result.output


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda d: np.where(np.eye(8) > 0, np.nan, d), "missing or infinite\n  got: first in row 1\n"),
        (lambda d: np.triu(d), "not symmetric"),
        (lambda d: -d, "negative"),
        (lambda d: d[:7, :7], "do not fit the table\n  got: 7 x 7\n  allowed: 8 x 8"),
        (lambda d: d[:, :0], "do not fit the table\n  got: 8 x 0"),
    ],
)
@pytest.mark.parametrize("side", ["target", "identification"])
def test_bad_matrices_are_refused(tmp_path, spoil, says, side):
    good = tiny(tmp_path, "good", 8)
    bad = good[0], tmp_path / "bad.npy"
    np.save(bad[1], spoil(np.load(good[1])))
    result = attack(bad, good, "--tolerance", 1) if side == "target" else attack(good, bad, "--tolerance", 1)
    assert isinstance(result.exception, UnmaskError), result.output
    assert f"distances of the {side} file" in str(result.exception)
    assert says in str(result.exception)


def sweep(folder, *words):
    return CliRunner().invoke(app, ["graph-sweep", str(folder / "ident.csv"), *LABELS, *map(str, words)])


def test_a_sweep_says_what_is_safe(folder, tmp_path):
    maskings = ("--masking", "place_noise(0.01)", "--masking", "place_noise(1.5)", "--masking", "distance_rounding(5)")
    words = ("--lonlat", "lon,lat", *maskings, "--repetitions", 2)
    words = (*words, "--method", "geometric")
    result = sweep(folder, *words, "-o", tmp_path / "map.csv", "--chart", tmp_path / "map.svg")
    assert result.exit_code == 0, result.output
    table = pl.read_csv(tmp_path / "map.csv")
    assert table["masking"].to_list() == ["coordinates", "coordinates", "rounding"]
    assert table["recall"][0] > 0.9 > table["recall"][1]
    assert table["change"].is_between(0, 1).all()
    assert "noise on places 0.01: distances move by" in result.output
    assert "<svg" in (tmp_path / "map.svg").read_text()
    assert sweep(folder, *words).output.splitlines()[1:4] == result.output.splitlines()[1:4]


def test_a_sweep_that_guesses_everybody_finds_more(folder):
    words = ("--lonlat", "lon,lat", "--masking", "place_noise(0.8)", "--repetitions", 2)
    found = []
    for more in (("--method", "geometric", "--sure-only"), ("--everybody",), (), ("--method", "exact")):
        result = sweep(folder, *words, *more)
        assert result.exit_code == 0, result.output
        found.append(float(result.output.split("the attack finds ")[1].split("%")[0]))
        guessed = "--sure-only" not in more and "exact" not in more
        assert ("of its sure claims right" if guessed else "of its claims right") in result.output
    assert found[1] > found[0] + 10
    assert found[2] == found[1]  # the owner asks for the worst unless they say otherwise
    assert found[3] < found[1]


def test_a_sweep_of_a_matrix_masks_distances(tmp_path):
    one = tiny(tmp_path, "one", 30)
    words = ["graph-sweep", str(one[0]), *LABELS, "--distances", str(one[1]), "--repetitions", "1"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "noise on distances" in result.output
    assert "donut" not in result.output
    wrong = CliRunner().invoke(app, [*words, "--masking", "place_donut(1)"])
    assert "only distances are known" in str(wrong.exception)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("--lonlat", "lon,lat", "--masking", "blur(1)"),
            "allowed: distance_noise, distance_rounding, place_donut, place_grid, place_noise",
        ),
        (("--lonlat", "lon,lat", "--masking", "place_donut"), "radius is missing"),
        (("--lonlat", "lon,lat", "--masking", "place_donut(-1)"), "radius is out of range"),
        (("--lonlat", "lon,lat", "--overlap", 0), "people in common"),
        (("--lonlat", "lon,lat", "--overlap", 0.001), "people in common"),
        (("--lonlat", "lon,lat", "--overlap", 2), "people in common"),
        (("--lonlat", "lon,lat", "--alpha", 1), "alpha is a probability"),
        (("--lonlat", "lon,lat", "--masking", "place_donut(1e999)"), "radius is out of range"),
        (("--lonlat", "lon,lat", "--masking", "place_donut(1)", "--everybody", "--method", "exact"), "guesses nobody"),
        (("--lonlat", "lon,lat", "--distances", "d.npy"), "one of --distances"),
        (("--lonlat", "lon,lat", "--chart", "map.png"), ".svg"),
        (("--lonlat", "lon,lat", "-o", "map.docx"), ".csv, .tsv, .parquet"),
        (("--lonlat", "lon"), "takes two columns"),
        ((), "where are the people?"),
    ],
)
def test_a_sweep_refuses_clearly(folder, words, says):
    result = sweep(folder, *words)
    assert isinstance(result.exception, UnmaskError), result.output
    assert says in str(result.exception)


def test_a_sweep_of_people_at_one_place_has_nothing_to_mask(tmp_path):
    one = tiny(tmp_path, "one", 5, xy=[[1, 1]] * 5)
    result = CliRunner().invoke(app, ["graph-sweep", str(one[0]), *LABELS, "--lonlat", "x,y", "--planar"])
    assert "nothing to mask" in str(result.exception)
