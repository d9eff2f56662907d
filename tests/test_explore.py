"""Exploring maskings: rounds, budget, what is kept when a run is killed, and what is refused."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unmask
from command_line import run
from unmask.datasets import places
from unmask.errors import UnmaskError
from unmask.masking import parse_masking
from unmask.protect import opened
from unmask.trying import Job, begin, make_release


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 120
    return pl.DataFrame(
        {
            "pid": [f"p{k}" for k in range(n)],
            "age": rng.integers(18, 90, n),
            "income": np.exp(rng.normal(10, 0.6, n)).round(),
            "sex": rng.choice(["f", "m"], n),
        }
    )


@pytest.fixture
def quick(monkeypatch):
    """Attack with nearest-record linkage alone: what is tried here is the search."""
    attack = Job.attack

    def shorter(self, masking, seed, stage, glance):
        return attack(Job(**{**vars(self), "core": ("nearest",)}), masking, seed, "core", glance)

    def both(self, masking, seed, stage, glance):
        point = shorter(self, masking, seed, stage, glance)
        safe = "safe" if point.high < 0.2 else "unsafe"
        return type(point)(
            **{name: getattr(point, name) for name in point.__slots__} | {"stage": stage, "verdict": safe}
        )

    monkeypatch.setattr(Job, "attack", both)


def test_hopeless_points_get_a_glance_and_useful_ones_everything(people, quick):
    told = []
    maskings = ["noise(0.01)", "noise(20)", "shuffle()", "noise(40)"]
    found = unmask.explore(
        people, maskings, id="pid", policy="partner", progress=lambda done, words: told.append((done, words))
    )
    stages = {point.masking: point.stage for point in found.points}
    assert stages["noise(0.01)"] == "glance"
    assert found.recommended is not None
    assert stages[found.recommended.masking] == "whole"
    assert sum(stage == "whole" for stage in stages.values()) == 1  # the first safe one ends the search
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (1.0, "done")
    assert found.left_out == 0
    utilities = [point.utility for point in found.points]
    assert utilities == sorted(utilities, reverse=True)


def test_a_column_that_is_left_out_is_a_loss(people, quick):
    found = unmask.explore(people, ["drop([age])", "drop([age, income])"], id="pid", policy="partner")
    left = {point.masking: point for point in found.points}
    assert left["drop([age])"].columns == pytest.approx(2 / 3)
    assert left["drop([age, income])"].columns == pytest.approx(1 / 3)


def test_the_recommended_release_can_be_made_again(people, quick):
    found = unmask.explore(people, ["shuffle()"], id="pid", policy="partner")
    table = make_release(people, found.recommended, id="pid")
    assert table.columns == ["age", "income", "sex"]
    assert table.equals(make_release(people, found.recommended, id="pid"))
    assert sorted(table["age"]) == sorted(people["age"])
    assert table["age"].to_list() != people["age"].to_list()


def test_rows_are_known_by_their_order_where_no_id_is(people, quick):
    """A strong masking must not look like a file of strangers."""
    table = people.drop("pid")
    found = unmask.explore(table, ["shuffle()"], policy="partner")
    assert found.recommended is not None
    assert make_release(table, found.recommended).columns == table.columns


def test_without_time_nothing_is_begun(people):
    found = unmask.explore(people, ["noise(1)", "noise(2)"], id="pid", budget=1e-9)
    assert found.points == ()
    assert found.left_out == 2


def test_a_second_run_goes_on_with_what_is_there(people, quick, tmp_path, monkeypatch):
    first = unmask.explore(people, ["shuffle()", "noise(0.01)"], id="pid", policy="partner", folder=tmp_path / "run")
    monkeypatch.setattr(Job, "release", lambda *_: pytest.fail("tried again"))
    again = unmask.explore(
        people, ["shuffle()", "noise(0.01)"], id="pid", policy="partner", folder=tmp_path / "run", resume=True
    )
    assert again == first
    with pytest.raises(UnmaskError, match="another table"):
        unmask.explore(
            people.head(100), ["shuffle()"], id="pid", policy="partner", folder=tmp_path / "run", resume=True
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maskings": []}, "no masking to try"),
        ({"maskings": ["noize(1)"]}, "no such masking"),
        ({"maskings": ["noise(1, columns=[town])"]}, "cannot be used on the table"),
        ({"maskings": ["sampling(0.5)"]}, "does not keep all rows"),
        ({"maskings": ["noise(1)"], "keep": ["mean(town)"]}, "no column is called"),
        ({"maskings": ["noise(1)"], "intruder": "burglar"}, "burglar"),
        ({"maskings": ["noise(1)"], "seeds": 0}, "from 1"),
        ({"maskings": ["noise(1)"], "resume": True}, "no folder"),
        ({"maskings": ["noise(1)"], "axes": ["beauty"]}, "no such axis"),
        ({"maskings": ["noise(1)"], "axes": ["error"]}, "no such axis"),
        ({"maskings": ["noise(1)"], "axes": ["error(town)"]}, "no such column"),
        ({"maskings": ["noise(1)"], "axes": ["precision"], "glance": True}, "masking of places"),
    ],
)
def test_clear_refusals(people, options, message):
    with pytest.raises(UnmaskError, match=message):
        unmask.explore(people, id="pid", **options)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--keep", "mean(nonsuch)"), "no column is called 'nonsuch'"),
        (("--keep", "income ~ same"), "divides by zero"),
        (("--folder", "/proc/unmask"), "cannot write in /proc/unmask"),
        (("--grid", "empty.toml"), "no masking to try"),
        (("--folder", "damaged"), "is damaged"),
    ],
)
def test_one_clear_message_and_exit_code_2(people, tmp_path, capsys, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    people.with_columns(same=pl.lit(1)).write_csv("people.csv")
    Path("empty.toml").write_text("maskings = []\n")
    Path("damaged").mkdir()
    Path("damaged/explore.json").write_text("{")
    assert run("explore", "people.csv", "--id", "pid", *words) == 2
    told = capsys.readouterr().err
    assert expected in told
    assert "Traceback" not in told


def test_two_runs_in_one_folder_and_a_folder_of_another_table(people, tmp_path, capsys):
    people.write_csv(tmp_path / "people.csv")
    folder = tmp_path / "run"
    words = ("explore", str(tmp_path / "people.csv"), "--id", "pid", "--masking", "shuffle()", "--folder", str(folder))
    with opened(folder, {"table": "another"}, resume=False):
        assert run(*words) == 2
        assert f"another run works in {folder}" in capsys.readouterr().err
    assert run(*words, "--resume") == 2
    assert "holds a run of another table" in capsys.readouterr().err


def test_other_roles_are_told_by_their_names(tmp_path):
    about = {"table": "x", "roles": {"id": "pid", "quasi": "['age']"}, "keep": []}
    with opened(tmp_path / "run", about, resume=False):
        pass
    with pytest.raises(UnmaskError, match="with other roles of columns") as told:  # noqa: SIM117 - what opens fails
        with opened(tmp_path / "run", {**about, "roles": {"id": "pid", "weight": "w"}}, resume=True):
            pass
    assert "quasi: none, then ['age'], weight: w, then none" in str(told.value)
    assert "pid" not in str(told.value)
    with pytest.raises(UnmaskError, match="with other analyses to keep"):  # noqa: SIM117
        with opened(tmp_path / "run", {**about, "keep": ["mean(age)"]}, resume=True):
            pass


def test_other_figures_are_those_of_the_measures_and_a_glance_calls_nothing_safe(people, tmp_path):
    numbers = people.select("pid", "age", "income").with_columns(pay=pl.col("income") * 0.3 + pl.col("age"))
    maskings, axes = ["noise(0.1)", "noise(2)"], ["correlations", "distance", "error(pay)"]
    options = {"id": "pid", "axes": axes, "glance": True, "folder": tmp_path / "run"}
    found = unmask.explore(numbers, maskings, **options)
    assert {point.verdict for point in found.points} <= {"unsafe", "open"}
    assert found.recommended is None
    for point in found.points:
        released = parse_masking(point.masking).apply(numbers.drop("pid"), point.seed)
        release = unmask.Release(numbers, released.with_columns(numbers["pid"]), id="pid")
        names = ["age", "income", "pay"]
        before, after = (np.corrcoef(side.select(names).to_numpy().T) for side in (numbers, released))
        assert point.at("correlations") == pytest.approx(np.sqrt(((before - after) ** 2).sum()))
        assert point.at("distance") == unmask.dictionary_test(release).minimum
        assert point.at("error(pay)") == unmask.attribute_test(release, "pay").mean
    assert unmask.explore(numbers, maskings, **options, resume=True) == found
    assert set(axes) <= set(found.to_frame().columns)


def test_a_plane_of_other_figures_has_a_line_for_each_method_from_weak_to_strong(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people.drop("sex").write_csv("people.csv")
    tried = ("noise(2)", "noise(0.1)", "rank_swap(share=0.5)", "rank_swap(share=0.05)")
    words = [f"--masking={text}" for text in tried]
    given = ("explore", "people.csv", "--id", "pid", *words, "--axis", "distance", "--glance")
    assert run(*given, "--chart", "by_strength.svg", "-o", "points.csv") == 1
    assert run(*given, "--axis", "correlations", "--chart", "plane.svg") == 1
    assert "strength of the masking" in Path("by_strength.svg").read_text()
    assert "change of correlations" in Path("plane.svg").read_text()
    found = unmask.explore(people.drop("sex"), tried, id="pid", glance=True)
    plane = found.plane("strength", "utility", ("strength", "left"))
    assert [line.name for line in plane.series] == ["noise(..)", "rank_swap(share=..)"]
    assert [line.x for line in plane.series] == [(0.1, 2.0), (0.05, 0.5)]
    left = {point.masking: point.utility for point in found.points}
    assert plane.series[0].y == (left["noise(0.1)"], left["noise(2)"])


@pytest.mark.slow
def test_the_plane_of_the_graph_attack():
    people = places.people(40, np.random.default_rng(1), urban=0)
    found = unmask.explore(
        people, ["place_noise(0.001)", "place_noise(1)"], axes=["variance", "precision"], glance=True
    )
    near, far = sorted(found.points, key=lambda point: point.at("strength"))
    assert near.at("precision") == 1
    assert near.at("variance") < 0.1
    assert far.at("variance") > 100


def test_the_command(people, quick, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people.write_csv("people.csv")
    words = ["explore", "people.csv", "--id", "pid", "--policy", "partner", "--masking", "shuffle()", "--budget", "5m"]
    written = ["-o", "points.csv", "--chart", "map.svg", "--release", "release.csv"]
    assert run(*words, *written, "--keep", "mean(income)") == 0
    shown = capsys.readouterr().out
    assert "Take shuffle()" in shown
    assert pl.read_csv("points.csv")["recommended"].to_list() == [True]
    assert Path("map.svg").read_text().startswith("<svg")
    assert pl.read_csv("release.csv").columns == ["age", "income", "sex"]
    assert run(*words[:6], "--masking", "noise(0.001)") == 1
    assert run(*words[:6], "--budget", "soon") == 2
    assert "such as 90s" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_where_it_was(people, tmp_path):
    people.write_csv(tmp_path / "people.csv")
    folder = tmp_path / "run"
    tried = [word for text in ("noise(0.01)", "noise(3)", "noise(5)") for word in ("--masking", text)]
    given = ["--id", "pid", "--folder", str(folder), "--policy", "partner", *tried]
    words = [sys.executable, "-m", "unmask", "explore", str(tmp_path / "people.csv"), *given]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    points, until = folder / "points", time.monotonic() + 100
    while time.monotonic() < until and not (points.is_dir() and any(points.glob("*.json"))):
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path.name: path.read_bytes() for path in points.glob("*.json")}
    assert kept
    done = subprocess.run([*words, "--resume"], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in {0, 1}, done.stderr
    assert all((points / name).read_bytes() == content for name, content in kept.items())  # none was made again
    assert len(list(points.glob("*.json"))) > len(kept)


@pytest.mark.slow
def test_two_processes_find_what_one_finds(people):
    maskings = ["noise(0.01)", "noise(3)", "shuffle()"]
    one, two = (unmask.explore(people, maskings, id="pid", policy="partner", jobs=jobs) for jobs in (1, 2))
    plain = [[(p.masking, p.stage, p.verdict, p.risk, p.utility) for p in found.points] for found in (one, two)]
    assert plain[0] == plain[1]


def test_suggestions_move_no_single_value_and_no_postcode():
    """A number that swapping gives to somebody else is shared by as many people as the policy's smallest group."""
    rng = np.random.default_rng(5)
    table = pl.DataFrame({"income": rng.permutation(400) * 7, "post code": rng.integers(10_000, 99_999, 400)})
    for policy, group in (("partner", 5), ("public", 11)):
        job, release, _ = begin(table, policy, "maximum", (), 0, {})
        texts = job.suggestions(release)
        swapped = [text for text in texts if "rank_swap" in text]
        assert swapped
        for text in swapped:
            counts = parse_masking(text).apply(table, 1)["income"].value_counts()["count"]
            assert counts.min() >= group
        codes = table["post code"].cast(pl.String)
        for text in texts:  # a postcode is cut, put together with rare ones, blanked or dropped, never moved
            if "drop(['post code'])" in text:
                continue
            shown = parse_masking(text).apply(table, 1)["post code"].cast(pl.String)
            cut = [a.startswith(b) for a, b in zip(codes, shown, strict=True) if b not in {None, "other"}]
            assert all(cut) and len(cut) > 200


def test_other_draws_of_an_unsafe_masking_are_given_up(people, monkeypatch):
    attacked = []

    def attack(self, masking, seed, stage, glance):
        attacked.append((masking, seed, stage))
        word = "unsafe" if "noise(3" in masking else "safe"
        return replace(glance, stage=stage, verdict=word, reason="as told")

    monkeypatch.setattr(Job, "attack", attack)
    found = unmask.explore(people, ["noise(3)", "shuffle()"], id="pid", policy="partner", seeds=3)
    assert [one for one in attacked if one[0] == "noise(3)"] == [("noise(3)", 1, "core")]
    assert sorted(seed for masking, seed, stage in attacked if (masking, stage) == ("shuffle()", "core")) == [1, 2, 3]
    others = [point for point in found.points if point.masking == "noise(3)" and point.seed > 1]
    assert {(point.stage, point.verdict) for point in others} == {("glance", "unsafe")}
    assert all(point.reason == "another draw of it is unsafe: as told" for point in others)
    assert len(found.points) == 6
