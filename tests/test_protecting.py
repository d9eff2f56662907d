"""From a table to a safe release: what is searched, what is told, and that a plan can be followed again."""

import signal
import subprocess
import sys
import tomllib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import unmask
from command_line import run
from unmask.cli.protect import over_budget
from unmask.errors import UnmaskError
from unmask.protect import opened
from unmask.trying import Job, begin, make_release


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 400
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
    """Judge by nearest-record linkage alone: what is tried here is the search. The list holds what was attacked."""
    attacked = []

    def attack(self, masking, seed, stage, glance):
        attacked.append((stage, masking, self.seed))
        return replace(glance, stage=stage, verdict="safe" if glance.high < 0.09 else "unsafe", known=0)

    monkeypatch.setattr(Job, "attack", attack)
    monkeypatch.setattr(Job, "attack_method", lambda _self, _masking, _seed, safe: safe)
    return attacked


def test_the_result_is_safe_by_everything_and_attacked_again(people, quick):
    told = []
    found = unmask.protect_table(
        people, id="pid", policy="partner", progress=lambda done, words: told.append((done, words))
    )
    assert found.final is not None
    assert (found.final.stage, found.final.verdict) == ("whole", "safe")
    assert found.final.high < 0.09
    assert found.again is not None
    fresh = {seed for stage, masking, seed in quick if stage == "whole" and masking == found.final.masking}
    assert len(fresh - {0}) == 3
    assert told[-1] == (1.0, "done")
    assert "Safe under 'partner'" in found.words
    assert "other seeds" in found.words
    assert len(found.reasons) == len(found.steps) > 0


@pytest.mark.slow
def test_no_single_masking_that_is_safe_leaves_more(people, quick):
    found = unmask.protect_table(people, id="pid", policy="partner")
    others = unmask.explore(people, id="pid", policy="partner").points
    safe = [point.utility for point in [*others, *found.frontier.points] if point.verdict == "safe"]
    assert len(safe) > 3
    assert found.final.utility == max(safe)


def test_a_plan_gives_the_same_bytes(people, quick, tmp_path):
    found = unmask.protect_table(people, id="pid", policy="partner")
    plan = tmp_path / "plan.toml"
    plan.write_text(found.plan())
    made = unmask.follow_plan(people, plan)
    assert made.equals(make_release(people, found.final, id="pid"))
    assert "pid" not in made.columns
    assert tomllib.loads(found.plan())["policy"] == "partner"


def test_households_weights_and_lost_sums_on_the_command_line(people, quick, tmp_path, capsys):
    """The columns around stay where they are, no step sees them, and the plan makes the same bytes."""
    homes = [f"h{k // 2}" for k in range(people.height)]
    weights = np.random.default_rng(1).uniform(1, 3, people.height).round(2)
    table = people.clone().insert_column(1, pl.Series("home", homes)).insert_column(2, pl.Series("weight", weights))
    table = table.with_columns(other=pl.col("age") * 7, total=pl.col("income") + pl.col("age") * 7)
    files = {name: str(tmp_path / name) for name in ("people.csv", "release.csv", "again.csv", "plan.toml")}
    table.write_csv(files["people.csv"])
    words = ("--id", "pid", "--household", "home", "--weight", "weight", "--policy", "partner")
    done = run("protect", files["people.csv"], *words, "-o", files["release.csv"], "--plan", files["plan.toml"])
    assert done == 0
    release = pl.read_csv(files["release.csv"])
    assert release.columns[:2] == ["home", "weight"]
    assert release["home"].to_list() == homes
    assert release["weight"].to_list() == list(weights)
    assert tomllib.loads((tmp_path / "plan.toml").read_text())["untouched"] == ["home", "weight"]
    assert run("mask", files["people.csv"], "--plan", files["plan.toml"], "-o", files["again.csv"]) == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "release.csv").read_bytes()
    told = " ".join(capsys.readouterr().out.split())
    kept = {"total", "income", "other"} <= set(release.columns) and release["total"].dtype.is_numeric()
    lost = kept and not (release["total"] - release["income"] - release["other"]).abs().max() < 1e-6
    assert lost == ("note: total = income + other holds in the original and no longer" in told)
    assert lost


def test_more_time_than_was_given_is_told(people, quick, tmp_path, capsys):
    """Time ends the search between releases, not within one: who waited longer is told why."""
    people.write_csv(tmp_path / "people.csv")
    words = ("--id", "pid", "--policy", "partner", "--output", tmp_path / "release.csv")
    run("protect", tmp_path / "people.csv", *words, "--budget", "0.01s")
    told = " ".join(capsys.readouterr().out.split())
    assert "of a budget of 0.01 seconds" in told and "no release was begun after that time" in told
    assert over_budget(98.0, 90.0) == over_budget(1e9, None) == ""
    assert "this took 3.4 minutes of a budget of 1.5 minutes" in over_budget(202.0, 90.0)


def test_a_release_that_another_seed_finds_unsafe_is_not_taken(people, quick, monkeypatch):
    attack = Job.attack

    def harsher(self, masking, seed, stage, glance):
        point = attack(self, masking, seed, stage, glance)
        return replace(point, verdict="unsafe") if self.seed and glance.high > 0.03 else point

    monkeypatch.setattr(Job, "attack", harsher)
    found = unmask.protect_table(people, id="pid", policy="partner")
    assert found.final is None or found.final.high <= 0.03


def test_what_looked_safe_at_first_is_said(people, quick, monkeypatch):
    known = "who knows how it was made finds too much: transparent.rate"
    monkeypatch.setattr(
        Job, "attack_method", lambda _self, _masking, _seed, safe: replace(safe, verdict="unsafe", reason=known)
    )
    found = unmask.protect_table(people.select("pid", "age"), id="pid", policy="partner")
    assert found.final is None
    assert len(found.refused) > 0
    assert f"{len(found.refused)} looked safe" in found.words
    assert known in found.words
    assert ": safe," not in found.words


def test_the_method_is_known_to_the_last_intruder(people):
    """A masking without chance is undone by who knows it: every rounded income is one person's, or not."""
    job, _, _ = begin(people, "partner", "maximum", (), 0, {"id": "pid"})
    safe = job.glance("rounding(1, columns=[income])", 1)
    assert job.attack_method("rounding(1, columns=[income])", 1, safe).verdict == "unsafe"
    blank = "local_suppression(11, columns=[age, income, sex])"
    told = job.attack_method(blank, 1, replace(job.glance(blank, 1), verdict="safe", reason="ok"))
    assert told.reason.startswith("ok; also against") or told.verdict != "safe"


def test_cells_of_the_exposed_are_blanked(quick):
    """Hardly anybody stands out: some cells are blanked, and no column is changed as a whole."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame({name: rng.choice(list("aaaaaaabbbbc"), 400) for name in ("town", "job", "car")})
    found = unmask.protect_table(table, policy="partner")
    blanked = [point for point in found.frontier.points if "local_suppression" in point.masking]
    assert blanked
    masked = make_release(table, next(point for point in blanked if point.masking.startswith("local_suppression(5")))
    assert masked.group_by(masked.columns).len()["len"].min() >= 5


def test_steps_cost_what_they_cost_when_they_are_taken(people, quick):
    found = unmask.protect_table(people, id="pid", policy="partner", keep=["mean(income)", "mean(age) by sex"])
    assert sum(step.cost for step in found.steps) == pytest.approx(1 - found.final.utility, abs=1e-9)
    assert len(found.kept) == 2
    assert "of 2 analyses come out" in found.words
    lost = [one for one in found.kept if one.reason]
    assert all(one.words in found.words for one in lost)


@pytest.mark.slow
def test_a_sample_helps_only_against_who_does_not_know_who_is_in(people, quick):
    with pytest.raises(UnmaskError, match="does not keep all rows"):
        unmask.explore(people, ["sampling(0.5)"], id="pid", policy="partner")
    outside = pl.concat([people.drop("pid")] * 20)
    found = unmask.protect_table(people, id="pid", policy="partner", intruder="journalist", population=outside)
    sampled = [point for point in found.frontier.points if "sampling(0.5)" in point.masking]
    assert sampled
    whole = {point.masking: point.utility for point in found.frontier.points}
    same = [p for p in sampled if p.masking == "sampling(0.5)"]
    assert all(point.utility < 0.8 * whole.get("", 1.0) for point in same)
    released = make_release(people, sampled[0], id="pid", population=outside)
    assert released.height == 200


@pytest.mark.slow
def test_nothing_safe_is_said(people, monkeypatch):
    def attack(self, masking, seed, stage, glance):
        return replace(glance, stage=stage, verdict="unsafe", reason="everybody is found")

    monkeypatch.setattr(Job, "attack", attack)
    found = unmask.protect_table(people, id="pid", policy="partner")
    assert found.final is None
    assert "No release of these columns" in found.words
    assert "everybody is found" in found.words
    with pytest.raises(UnmaskError, match="there is no plan"):
        found.plan()


def test_a_table_that_is_safe_is_left_as_it_is(quick):
    rng = np.random.default_rng(2)
    coarse = pl.DataFrame({"sex": rng.choice(["f", "m"], 400), "region": rng.choice(["n", "s"], 400)})
    found = unmask.protect_table(coarse, policy="partner")
    assert found.steps == ()
    assert found.final.utility == 1
    assert tomllib.loads(found.plan()).get("steps") is None


def test_no_time_is_no_safety(people, quick):
    found = unmask.protect_table(people, id="pid", policy="partner", budget=1e-9)
    assert found.final is None
    assert "no time" in found.words


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on(people, quick, tmp_path):
    first = unmask.protect_table(people, id="pid", policy="partner", folder=tmp_path / "run")
    before = len(quick)
    again = unmask.protect_table(people, id="pid", policy="partner", folder=tmp_path / "run", resume=True)
    assert again.final == first.final
    assert len(quick) == before  # nothing is attacked again
    with pytest.raises(UnmaskError, match="another table"):
        unmask.protect_table(people.head(399), id="pid", policy="partner", folder=tmp_path / "run", resume=True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keep": ["mean(nonsuch)"]}, "nonsuch"),
        ({"hierarchies": {"nonsuch": "x.csv"}}, "nonsuch"),
        ({"policy": "nonsuch"}, "nonsuch"),
        ({"resume": True}, "no folder"),
    ],
)
def test_what_cannot_be_asked_is_refused(people, options, words):
    with pytest.raises(UnmaskError, match=words):
        unmask.protect_table(people, id="pid", **options)


def test_too_few_people_are_said_before_the_work(people):
    with pytest.raises(UnmaskError, match="so few people"):
        unmask.protect_table(people.head(30), id="pid", policy="partner")


def test_on_the_command_line(people, quick, tmp_path, capsys):
    people.write_csv(tmp_path / "people.csv")
    table, release, plan = (str(tmp_path / name) for name in ("people.csv", "release.csv", "plan.toml"))
    done = run("protect", table, "--id", "pid", "--policy", "partner", "-o", release, "--plan", plan,
               "--points", str(tmp_path / "points.csv"), "--chart", str(tmp_path / "map.svg"))  # fmt: skip
    assert done == 0
    assert "Safe under 'partner'" in capsys.readouterr().out
    again = str(tmp_path / "again.csv")
    done = run("mask", table, "--plan", plan, "-o", again)
    assert done == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "release.csv").read_bytes()
    assert (tmp_path / "map.svg").read_text().startswith("<svg")


@pytest.fixture
def written(people, tmp_path):
    """The table as a file, and the words that protect it."""
    people.with_columns(same=pl.lit(1)).write_csv(tmp_path / "people.csv")
    table, out = str(tmp_path / "people.csv"), str(tmp_path / "out.csv")
    return ("protect", table, "--id", "pid", "--policy", "partner", "-o", out)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--keep", "mean(nonsuch)"), "no column is called 'nonsuch'"),
        (("--keep", "income ~ same"), "divides by zero"),
        (("--keep", "correlation(income, same)"), "no number on the original"),
        (("--confidential", "age,income,sex,same"), "knows no column"),
        (("--folder", "/proc/unmask"), "cannot write in /proc/unmask"),
        (("--resume",), "no folder to go on in"),
    ],
)
def test_one_clear_message_and_exit_code_2(written, capsys, words, expected):
    assert run(*written, *words) == 2
    told = capsys.readouterr().err
    assert expected in told
    assert "Traceback" not in told


def test_two_runs_in_one_folder_and_a_folder_of_another_table(written, quick, people, tmp_path, capsys):
    folder = tmp_path / "run"
    with opened(folder, {"table": "another"}, resume=False):
        assert run(*written, "--folder", str(folder)) == 2
        assert f"another run works in {folder}" in capsys.readouterr().err
    assert run(*written, "--folder", str(folder), "--resume") == 2
    assert "holds a run of another table" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_where_it_was(written, tmp_path):
    """Glances alone: the first release that would be attacked whole kills the process, as kill -9 does."""
    folder = tmp_path / "run"
    killed = (
        "import os, signal, sys\n"
        "from unmask.cli import main\nfrom unmask.trying import Job\n"
        "Job.attack = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.argv = sys.argv[:1] + sys.argv[2:]\nmain()\n"
    )
    words = [sys.executable, "-c", killed, "unmask", *written, "--folder", str(folder)]
    died = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert died.returncode == -signal.SIGKILL, died.stderr
    kept = {path.name: path.read_bytes() for path in (folder / "points").glob("*.json")}
    assert kept
    assert run(*written, "--folder", str(folder), "--resume", "--budget", "1s") in {0, 1}
    assert all((folder / "points" / name).read_bytes() == content for name, content in kept.items())
    assert not (tmp_path / "out.csv").exists() or pl.read_csv(tmp_path / "out.csv").height


def test_refusals_of_the_command_line(people, tmp_path, capsys):
    people.write_csv(tmp_path / "people.csv")
    table, out = str(tmp_path / "people.csv"), str(tmp_path / "out.csv")
    (tmp_path / "plan.toml").write_text("seed = [")
    for words, expected in [
        (("protect", table, "-o", out, "--hierarchy", "sex"), "hierarchy"),
        (("protect", table, "-o", out, "--hierarchy", "sex=nonsuch.csv"), "nonsuch.csv"),
        (("protect", table, "-o", out, "--budget", "soon"), "time"),
        (("mask", table, "-o", out), "one of both"),
        (("mask", table, "-o", out, "--plan", str(tmp_path / "plan.toml")), "is no plan"),
        (("mask", table, "-o", out, "--plan", str(tmp_path / "plan.toml"), "--reverse-map"), "reverse-map"),
    ]:
        assert run(*words) == 2
        assert expected in capsys.readouterr().err
