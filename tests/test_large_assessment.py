"""`assess_large` and `unmask assess --engine duckdb`: the figures of `assess`, a verdict, and what was not tried."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from importlib import resources

import numpy as np
import polars as pl
import pytest
from jsonschema import Draft202012Validator

import unmask
from unmask import large_assessment as whole
from unmask.cli import large as command
from unmask.cli.app import app
from unmask.errors import ParameterError
from unmask.large import Large

pytest.importorskip("duckdb")
from typer.testing import CliRunner

SAME = ("anonymity.small", "knowledge_sweep.rate", "special_uniques.rate", "uniqueness.average", "uniqueness.unique")


def people(n=300, seed=1):
    rng = np.random.default_rng(seed)
    original = pl.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(0, 70, n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice([f"t{i}" for i in range(15)], n),
        }
    )
    moved = original.with_columns(pl.col("age") + pl.Series(rng.integers(-1, 2, n)))
    return original, moved.sample(fraction=1, shuffle=True, seed=seed)


@pytest.fixture(scope="module")
def tables():
    return people()


@pytest.fixture(scope="module")
def large(tables):
    return unmask.assess_large(*tables, id="id", population=3000, sample=100)


def test_judged_figures_are_those_of_assess(tables, large):
    only = [key.split(".")[0] for key in SAME]
    here = unmask.assess(unmask.Release(*tables, id="id"), only=only, utility="none")
    before, after = ({finding.key: finding for finding in one.findings} for one in (here, large))
    for key in SAME:
        assert after[key].estimate == before[key].estimate, key  # to the last digit
        assert (after[key].claim, after[key].outcome) == (before[key].claim, before[key].outcome)
    facts = [
        {f.name: f.value for m in one.document.measures if m.name == "uniqueness" for f in m.facts}
        for one in (here, large)
    ]
    assert {name: facts[1][name] for name in facts[0]} == facts[0]


def test_links_of_the_sample_are_those_of_link_nearest(tables, large):
    shown = unmask.assess_large(*tables, id="id", only=["nearest"], sample=100, show_values=True).records
    whole = unmask.link_nearest(unmask.Release(*tables, id="id"))
    assert shown["nearest"].to_list() == whole.credit[shown["id"].cast(pl.Int64).to_numpy()].tolist()
    assert "id" not in large.records.columns
    assert large.records["nearest"].to_list() == shown["nearest"].to_list()


def test_population_needs_a_number_of_people_and_tells_its_models(tables, large):
    keys = {finding.key: finding for finding in large.findings}
    assert keys["population.unique"].estimate.high >= keys["uniqueness.unique"].estimate.value - 1e-12
    without = unmask.assess_large(*tables, id="id", only=["population", "uniqueness"])
    assert {f.measure: f.outcome for f in without.findings}["population"] == "does not apply"


def test_what_was_not_tried_is_told_and_is_never_safe(tables, large):
    assert large.verdict == "unsafe"
    assert any("channel" in line and "not tried" in line for line in large.document.warnings)
    original, _ = tables
    rng = np.random.default_rng(5)
    dull = original.select("id", *(pl.Series(name, rng.choice(2, 300).astype(str)) for name in ("sex", "town")))
    hidden = dull.with_columns(sex=pl.lit("0"))
    calm = unmask.assess_large(dull, hidden, id="id", policy="internal", only=["uniqueness", "anonymity"])
    assert all(finding.outcome in {"for", "not judged"} for finding in calm.findings)
    assert calm.verdict == "inconclusive"
    assert "did not run" in calm.reason


def test_a_sample_does_not_show_that_nobody_is_known():
    """A limit in people is met by asking for all of them, and not by asking for two of three."""
    original, released = people(900)
    mixed = released.with_columns(pl.col(name).shuffle(seed=k) for k, name in enumerate(("age", "town", "sex")))
    for sample, outcome in ((600, "inconclusive"), (900, "for")):
        found = unmask.assess_large(original, mixed, id="id", sample=sample, policy="public")
        known = next(one for one in found.findings if one.key == "nearest.known")
        assert known.estimate.hits == 0
        assert (known.outcome, "600 of 900 people were asked for" in known.reason) == (outcome, sample == 600)


def test_rows_that_do_not_belong_together_are_noticed():
    original, released = people()
    strangers = released.with_columns(pl.col("id").shuffle(seed=3))
    found = unmask.assess_large(original, strangers, id="id", only=["nearest", "uniqueness"])
    assert "check.pairing" in {finding.key for finding in found.findings}
    assert found.verdict != "safe"


def test_a_column_that_cannot_be_compared_is_not_passed_over(tables):
    original, released = tables
    coded = released.with_columns(pl.col("town").replace_strict({f"t{i}": f"x{i}" for i in range(15)}))
    found = unmask.assess_large(original, coded, id="id", only=["uniqueness"])
    assert any(
        "No attack could compare 1 of the released columns: 'town'" in finding.claim for finding in found.findings
    )


def lenient():
    """A policy that asks for no attack which this engine does not have: only then can it call a release safe."""
    return dataclasses.replace(unmask.Policy.load("internal"), core={"paired": ("uniqueness",)})


RECODED = {
    "no value is common": {f"t{i}": f"x{i}" for i in range(15)},
    "one value is common": {f"t{i}": f"x{i}" for i in range(1, 15)},
    "two values are made one": {"t1": "t1 or t2", "t2": "t1 or t2"},
}


@pytest.mark.parametrize("change", [None, *RECODED])
def test_a_release_with_a_recoded_column_is_never_safe(tables, change):
    """Fifteen towns among 300 people: the figures themselves are within the limits, with and without the change."""
    original, released = tables
    few = [table.select("id", "sex", "town").with_columns(sex=pl.lit("f")) for table in (original, released)]
    if change:
        few[1] = few[1].with_columns(pl.col("town").replace(RECODED[change]))
    found = unmask.assess_large(*few, id="id", policy=lenient(), only=["uniqueness"])
    assert {f.outcome for f in found.findings if f.measure == "uniqueness"} <= {"for"}
    assert found.verdict == ("inconclusive" if change else "safe")
    if change:
        assert "'town'" in found.document.warnings[0]  # before all else


def test_results_do_not_depend_on_order_or_threads(tables, large):
    original, released = tables
    turned = unmask.assess_large(
        original.reverse(), released.reverse(), id="id", population=3000, sample=100, threads=2
    )
    assert [f.estimate for f in turned.findings] == [f.estimate for f in large.findings]


def test_report_in_all_forms(large, tmp_path):
    large.write_html(tmp_path / "r.html")
    assert "not tried" in (tmp_path / "r.html").read_text()
    assert "duckdb" in json.dumps(large.to_dict()["manifest"]["settings"])
    large.write_json(tmp_path / "r.json")
    form = json.loads((resources.files("unmask.schemas") / "report-2.json").read_text())
    Draft202012Validator(form).validate(json.loads((tmp_path / "r.json").read_text()))
    with pytest.raises(ParameterError, match="larger than memory"):
        unmask.verify(tmp_path / "r.json")


def test_measures_that_the_engine_does_not_have(tables):
    with pytest.raises(ParameterError, match="does not have"):
        unmask.assess_large(*tables, id="id", only=["channel"])
    for wrong in ({"sample": 0}, {"sets": 0}, {"seed": -1}):
        with pytest.raises(ParameterError):
            unmask.assess_large(*tables, id="id", **wrong)


def test_the_command_line(tables, tmp_path):
    for name, table in zip(("original", "released"), tables, strict=True):
        (tmp_path / name).mkdir()
        table[:200].write_parquet(tmp_path / name / "a.parquet")
        table[200:].write_parquet(tmp_path / name / "b.parquet")
    given = ["assess", str(tmp_path / "original"), str(tmp_path / "released"), "--engine", "duckdb"]
    asked = [
        *given,
        "--id",
        "id",
        "--memory",
        "1GB",
        "--only",
        "uniqueness,anonymity",
        "--json",
        str(tmp_path / "r.json"),
    ]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 1, done.output
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "unsafe"
    assert "duckdb" in done.output


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--engine", "duckdb"], "needs an id"),
        (["--engine", "duckdb", "--id", "id", "--intruder", "marketer"], "--intruder"),
        (["--engine", "duckdb", "--id", "id", "--separator", ";"], "--separator"),
        (["--engine", "duck", "--id", "id"], "no engine 'duck'"),
        (["--engine", "duckdb", "--id", "id", "--only", "channel"], "does not have"),
        (["--threads", "2"], "give --engine duckdb"),
        (["--engine", "duckdb", "--id", "id", "--plan"], "--plan is for assessments in memory"),
        (["--threads", "2", "--plan"], "give --engine duckdb"),
    ],
)
def test_wrong_options_are_refused(more, words):
    done = CliRunner().invoke(app, ["assess", "a.parquet", "b.parquet", *more])
    assert isinstance(done.exception, ParameterError)
    assert words in str(done.exception)


@pytest.mark.parametrize("people", [0, -5, 10, float("nan"), float("inf")])
def test_a_population_smaller_than_the_release_is_refused_before_any_work(tables, people):
    with pytest.raises(ParameterError, match="at least as many as the release has rows"):
        unmask.assess_large(*tables, id="id", population=people)


def test_all_options_of_the_engine_are_options_of_assess():
    from unmask.cli.options import Assess

    assert {*Assess.__dataclass_fields__} >= command.FOR_LARGE


@pytest.mark.parametrize("turned", [0, 1])
def test_the_order_of_columns_shows_in_no_figure(turned):
    """What is drawn by lot is drawn over an order of records, which went by the order of columns."""
    rng = np.random.default_rng(5)
    original = people(420, seed=6)[0].with_columns(pl.Series("cost", rng.normal(size=420).round(2)))
    noisy = original.with_columns(
        pl.col("age") + pl.Series(rng.integers(-9, 10, 420)), pl.col("cost") + pl.Series(rng.normal(size=420))
    )
    numbers = [original, noisy.head(220)]
    given = list(numbers)
    given[turned] = given[turned].select(reversed(given[turned].columns))
    before, after = (
        unmask.assess_large(*pair, id="id", only=["membership", "nearest", "one_to_one"]) for pair in (numbers, given)
    )
    figures = [[(one.key, one.estimate) for one in told.findings] for told in (before, after)]
    assert figures[0] == figures[1]
    assert any(key.startswith("membership") for key, _ in figures[0])


def test_the_report_names_columns_in_the_order_of_the_original(tables):
    told = unmask.assess_large(*tables, id="id", only=["uniqueness"]).document.columns
    assert [entry.name for entry in told] == ["age", "sex", "town"]


def test_what_each_attack_found_is_told_while_the_others_run(tables):
    """Ctrl-C says "Found so far": the words of progress are what it knows."""
    told = []
    how = {"id": "id", "only": ["anonymity", "uniqueness", "population"]}
    done = unmask.assess_large(*tables, **how, progress=lambda _done, words: told.append(words))
    ended = [words for words in told if ": ended: " in words]
    claims = {finding.claim for finding in done.findings}
    assert len(ended) == 2  # nobody said of how many people: that attack found nothing
    assert all(words.partition(": ended: ")[2] in claims for words in ended)


# --- going on after a stop --------------------------------------------------------------------------------------------


@pytest.fixture
def files(tables, tmp_path):
    paths = [tmp_path / "o.parquet", tmp_path / "r.parquet"]
    for table, path in zip(tables, paths, strict=True):
        table.write_parquet(path)
    return paths


HOW = {"id": "id", "only": ["anonymity", "nearest", "uniqueness"], "sample": 100}


def counted_runs(monkeypatch):
    ran, run = [], Large.run
    monkeypatch.setattr(Large, "run", lambda self, name, *rest: ran.append(name) or run(self, name, *rest))
    return ran


def test_the_same_call_goes_on_after_a_stop(files, tmp_path, monkeypatch):
    wanted = unmask.assess_large(*files, **HOW)
    with monkeypatch.context() as patch:
        run = Large.run

        def stopped(self, name, *rest):
            if name == "uniqueness":
                raise KeyboardInterrupt
            return run(self, name, *rest)

        patch.setattr(Large, "run", stopped)
        with pytest.raises(KeyboardInterrupt):
            unmask.assess_large(*files, **HOW, resume=tmp_path / "state")
    ran = counted_runs(monkeypatch)
    again = unmask.assess_large(*files, **HOW, resume=tmp_path / "state")
    assert ran == ["uniqueness"]
    assert [(f.key, f.claim, f.estimate) for f in again.findings] == [
        (f.key, f.claim, f.estimate) for f in wanted.findings
    ]
    assert again.records.equals(wanted.records)
    ran.clear()
    unmask.assess_large(*files, **{**HOW, "sample": 90}, resume=tmp_path / "state")
    assert ran == ["anonymity", "nearest", "uniqueness"]  # of another question nothing is taken


def test_what_has_no_checksum_is_not_kept(tables, files, tmp_path, monkeypatch):
    with pytest.raises(ParameterError, match="files of this machine only"):
        unmask.assess_large(*tables, **HOW, resume=tmp_path / "state")
    monkeypatch.setattr(whole, "MOST_KEPT", 10)  # an entry for each person would be too much
    unmask.assess_large(*files, **HOW, resume=tmp_path / "state")
    ran = counted_runs(monkeypatch)
    unmask.assess_large(*files, **HOW, resume=tmp_path / "state")
    assert ran == ["anonymity"]


KILLED = """
import os, sys
from unmask.large import Large
run = Large.run
def killed(self, name, *rest):
    if name == "uniqueness":
        os.kill(os.getpid(), 9)
    return run(self, name, *rest)
Large.run = killed
from unmask.cli.app import main
sys.argv = ["unmask", *sys.argv[1:]]
main()
"""


@pytest.mark.slow
def test_the_same_command_goes_on_after_kill_9(files, tmp_path, monkeypatch):
    words = ["assess", *map(str, files), "--engine", "duckdb", "--id", "id", "--only", "anonymity,nearest,uniqueness"]
    words += ["--json", str(tmp_path / "r.json")]
    done = subprocess.run([sys.executable, "-c", KILLED, *words], capture_output=True, check=False)
    assert done.returncode == -9
    assert len(list((tmp_path / ".r.json.state").glob("*.json"))) == 2
    ran = counted_runs(monkeypatch)
    assert CliRunner().invoke(app, words).exit_code == 1
    assert ran == ["uniqueness"]
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "unsafe"
    assert not (tmp_path / ".r.json.state").exists()
