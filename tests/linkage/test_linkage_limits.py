"""Both linkages at their limits, from Python and from the command line: an answer, or one clear error, each."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from unmask import Release, datasets, link_globally, link_nearest, parse_masking
from unmask.cli.app import app
from unmask.errors import EngineError, TableError
from unmask.kernels.compiling import in_chunks
from unmask.study.ask import PREPARING

MANY = 100_000
rng = np.random.default_rng(3)
PEOPLE = datasets.census(MANY).with_row_index("id")
TWINS = pl.DataFrame({"a": np.repeat([1.5, 2.5], MANY // 2), "b": np.ones(MANY)})
WIDE = pl.DataFrame(rng.normal(size=(300, 200)), schema=[f"c{i}" for i in range(200)])
CASES = {  # original, release, id, share that is found
    "one record": (pl.DataFrame({"a": [1.5], "b": [2.0]}), None, None, 1.0),
    "all rows equal": (pl.DataFrame({"a": [1.5] * 7, "b": ["x"] * 7}), None, None, 1 / 7),
    "one attribute": (pl.DataFrame({"a": rng.normal(size=500)}), None, None, 1.0),
    "constant attributes": (WIDE.select("c0", b=pl.lit(4.0), c=pl.lit("x")), None, None, 1.0),
    "200 attributes": (WIDE, None, None, 1.0),
    "1e5 duplicates": (TWINS, None, None, 2 / MANY),
    "10 and 1e5": (PEOPLE[:10], PEOPLE, "id", 1.0),
    "1e5 and 10": (PEOPLE, PEOPLE[:10], "id", 1.0),
}


def tables(name):
    original, released, id_, share = CASES[name]
    return original, original if released is None else released, id_, share


@pytest.mark.parametrize(
    ("name", "link"),
    [
        pytest.param(name, link, marks=[pytest.mark.slow] if link is link_globally and " and " in name else [])
        for name in CASES
        for link in (link_nearest, link_globally)
    ],
)
def test_limits_are_answered(name, link):
    original, released, id_, share = tables(name)
    linkage = link(Release(original, released, id=id_), scale="none")
    assert linkage.optimal
    assert linkage.estimate.value == pytest.approx(share)
    assert linkage.estimate.low <= share <= linkage.estimate.high + 1e-12
    assert linkage.distances[linkage.attempted] == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_limits_are_answered_on_the_command_line(name, tmp_path):
    original, released, id_, share = tables(name)
    paths = [tmp_path / "original.parquet", tmp_path / "release.parquet"]
    for table, path in zip((original, released), paths, strict=True):
        table.write_parquet(path)
    out = tmp_path / "found.parquet"
    words = ["link", *map(str, paths), "--scale", "none", "-o", str(out), *(["--id", id_] if id_ else [])]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    found, n = pl.read_parquet(out), min(original.height, released.height)
    for column in ("nearest", "one_to_one", "either"):
        assert found[column].sum() / n == pytest.approx(share), column


@pytest.mark.parametrize("link", [link_nearest, link_globally])
def test_infinities_are_refused_by_name_and_row(link, tmp_path):
    broken = PEOPLE[:50].with_columns(wages=pl.Series([1.0, np.inf] * 25))
    with pytest.raises(TableError, match="'wages' of the release holds an infinity in row 2"):
        link(Release(PEOPLE[:50], broken, id="id"))
    PEOPLE[:50].write_parquet(tmp_path / "a.parquet")
    broken.write_parquet(tmp_path / "b.parquet")
    result = CliRunner().invoke(app, ["link", str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")])
    assert isinstance(result.exception, TableError)


@pytest.mark.parametrize(("link", "hint"), [(link_nearest, "sample="), (link_globally, "fewer records")])
def test_what_would_not_fit_is_refused_with_the_estimate_and_advice(link, hint, monkeypatch, tmp_path):
    release = Release(PEOPLE, PEOPLE, id="id")
    monkeypatch.setattr("unmask.study.memory.available_memory", lambda: 10 * 2**20)
    with pytest.raises(EngineError, match=r"would need about [0-9.]+ GB") as refused:
        link(release)
    assert hint in str(refused.value)
    PEOPLE[:5000].write_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr("unmask.study.memory.available_memory", lambda: 1000)
    attack = "nearest" if link is link_nearest else "one_to_one"
    result = CliRunner().invoke(app, ["link", *[str(tmp_path / "a.parquet")] * 2, "--attack", attack])
    assert isinstance(result.exception, EngineError)
    assert hint in str(result.exception)


@pytest.mark.parametrize("link", [link_nearest, link_globally])
def test_progress_says_first_that_kernels_are_compiled_and_goes_up(link):
    people = datasets.census(400)
    told = []
    link(
        Release(people, parse_masking("noise(0.5)").apply(people, 1)),
        progress=lambda done, text: told.append((done, text)),
    )
    assert told[0] == (0.0, PREPARING)
    assert "compiled once, on the first run" in PREPARING
    shares = [done for done, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize("link", [link_nearest, link_globally])
@pytest.mark.parametrize("metric", ["euclidean", "gower", "permutation"])
def test_chunks_and_threads_change_nothing(link, metric, monkeypatch):
    people = datasets.patients(900, seed=2).drop("patient")
    release = Release(people, parse_masking("noise(0.4)").apply(people, 1))
    whole = link(release, metric=metric)
    monkeypatch.setitem(in_chunks.__kwdefaults__, "chunk", 37)
    monkeypatch.setattr("unmask.kernels.search.priced.CHUNK", 41)
    monkeypatch.setattr("unmask.kernels.assignment.solver._CHUNK", 53)
    for threads in (1, 2):
        monkeypatch.setattr("numba.get_num_threads", lambda threads=threads: threads)
        parts = link(release, metric=metric)
        assert parts.total_distance == whole.total_distance
        for name in ("links", "distances", "credit", "margin", "tie_sizes"):
            assert np.array_equal(getattr(parts, name), getattr(whole, name)), name
