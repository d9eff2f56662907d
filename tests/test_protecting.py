"""From a table to a safe release: what is searched, what is told, and that a plan can be followed again."""

import tomllib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import unmask
from command_line import run
from unmask.errors import UnmaskError
from unmask.explore import Job, make_release


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
    fresh = [masking for stage, masking, seed in quick if stage == "whole" and seed != 0]
    assert found.final.masking in fresh
    assert told[-1] == (1.0, "done")
    assert "Safe under 'partner'" in found.words
    assert "another seed" in found.words
    assert len(found.reasons) == len(found.steps) > 0


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


def test_a_release_that_another_seed_finds_unsafe_is_not_taken(people, quick, monkeypatch):
    attack = Job.attack

    def harsher(self, masking, seed, stage, glance):
        point = attack(self, masking, seed, stage, glance)
        return replace(point, verdict="unsafe") if self.seed and glance.high > 0.03 else point

    monkeypatch.setattr(Job, "attack", harsher)
    found = unmask.protect_table(people, id="pid", policy="partner")
    assert found.final is None or found.final.high <= 0.03


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


def test_a_run_that_was_stopped_goes_on(people, quick, tmp_path):
    first = unmask.protect_table(people, id="pid", policy="partner", folder=tmp_path / "run")
    before = len(quick)
    again = unmask.protect_table(people, id="pid", policy="partner", folder=tmp_path / "run", resume=True)
    assert again.final == first.final
    assert len(quick) - before <= 3  # only the last attack, of each path, is made again
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
