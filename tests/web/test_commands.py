"""What is chosen on the pages, what is typed and the TOML file are the same options."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from command_line import run
from unmask.cli import PROGRESS
from unmask.cli.app import COMMANDS
from unmask.cli.fields import read_options
from unmask.evidence import policy
from unmask.web import commands
from unmask.web.commands import AUDIENCES
from unmask.web.store import Case
from web_pages import CHECKED

COLUMNS = CHECKED["columns"]
CASE = Case("0" * 32, 0.0, "/data/a.csv", "/data/b.csv", ("a.csv", "b.csv"))
NASTY = ["a, b", ' blank "and" quote ', "-dash", "=", "ü", "new\nline"]


def typed(words, monkeypatch, kind="assess"):
    """The options that the command line makes of words."""
    found = []
    monkeypatch.setattr(f"unmask.cli.{kind}.run", lambda options: found.append(options) or 0)
    assert run(*words) == 0
    return found[0]


@pytest.mark.parametrize(
    "case",
    [
        CASE,
        replace(CASE, roles={"nr": "id", "age": "known", "a, b": "confidential", "old": "unknown"}, audience="partner"),
        replace(CASE, kinds={"age": "ordinal", "a, b": "numeric"}, synthetic=True, quick=True, intruder="journalist"),
        replace(CASE, roles=dict.fromkeys(NASTY, "confidential")),
    ],
)
def test_typed_and_read_are_the_same(case, monkeypatch, tmp_path):
    command = commands.assess(case, COLUMNS)
    (tmp_path / "unmask.toml").write_text(command.toml)
    read = read_options(COMMANDS["assess"][0], {"config": str(tmp_path / "unmask.toml")})
    words = shlex.split(commands.shown(command.words))[1:]
    assert words == list(command.words)
    wanted = replace(typed(words, monkeypatch), html=str(tmp_path / "report.html"), json=str(tmp_path / "report.json"))
    assert wanted == replace(read, config=None)


def test_columns_are_known_unless_something_else_is_said():
    assert "quasi" not in commands.assess(CASE, COLUMNS).options
    roles = {"nr": "id", "age": "known", "mail": "unknown", "only in the release": "known"}
    assert commands.assess(replace(CASE, roles=roles), COLUMNS).options["quasi"] == ["age"]


def test_quick_runs_what_every_verdict_needs():
    for name, synthetic, kind in (("public", False, "paired"), ("partner", True, "synthetic")):
        case = replace(CASE, quick=True, audience=name, synthetic=synthetic)
        assert commands.assess(case, COLUMNS).options["only"] == list(policy.Policy.load(name).core[kind])
    assert "only" not in commands.assess(CASE, COLUMNS).options


def test_a_search_publishes_no_names_and_nothing_that_the_release_left_out(monkeypatch):
    case = replace(CASE, roles={"nr": "id", "a, b": "confidential"}, minutes=15, keep=("mean(age)", "count by a"))
    for kind in ("explore", "protect"):
        command = commands.search(kind, case, COLUMNS, {"mail", "nr"}, "/private/release.csv")
        options = typed(command.words, monkeypatch, kind)
        assert options.ignored == ("mail", "old") and options.id == "nr" and options.confidential == ("a, b",)
        assert options.budget == "15m" and options.keep == case.keep and options.folder == "tried"
        assert options.policy == "public" and options.intruder == "maximum"
        assert options.household is None and options.weight is None


def test_a_search_leaves_households_and_weights_alone(monkeypatch):
    case = replace(CASE, roles={"nr": "id", "age": "weight", "old": "household"})  # the release left "old" out
    options = typed(commands.search("protect", case, COLUMNS, set(), "/r.csv").words, monkeypatch, "protect")
    assert options.weight == "age" and options.household is None and options.ignored == ("old",)


def test_a_plan_makes_the_release(tmp_path, files):
    point = {"masking": "noise(0.5, columns=[height])", "seed": 3}
    (tmp_path / "plan.toml").write_text(commands.plan(point, "public", ["patient", "postcode"], ["town"]))
    command = commands.follow(replace(CASE, original=str(files[0])), str(tmp_path / "made.csv"))
    words = [str(tmp_path / word) if word == "plan.toml" else word for word in command.words]
    assert run(*words) == 0
    header = (tmp_path / "made.csv").read_text().splitlines()[0].split(",")
    assert "height" in header and "patient" not in header and "postcode" not in header


def test_the_audiences_are_the_policies():
    assert (*policy.PROFILES, *policy.VARIANTS) == AUDIENCES


def test_the_certificate_is_asked_for_where_it_is_wanted(tmp_path):
    assert "--certificate" not in commands.assess(CASE, COLUMNS).words
    words = commands.assess(replace(CASE, certificate=True), COLUMNS).words
    assert words[-4:] == ("--certificate", "certificate.html", "--public-certificate", "public-certificate.html")
    stated = {"controller": 'The "Hospital"', "valid_until": "2999-01-31"}
    command = commands.assess(replace(CASE, certificate=True, statement=stated), COLUMNS)
    assert command.words == ("assess", "--config", "unmask.toml")  # a statement cannot be typed
    (tmp_path / "unmask.toml").write_text(command.toml)
    read = read_options(COMMANDS["assess"][0], {"config": str(tmp_path / "unmask.toml")})
    assert read.statement == stated and read.certificate == str(tmp_path / "certificate.html")


def test_a_command_tells_how_far_it_is(files, tmp_path, monkeypatch):
    monkeypatch.setenv(PROGRESS, str(tmp_path / "progress.json"))
    assert run("assess", *files, "--id", "patient", "--only", "uniqueness", "--quiet") in {0, 1, 3}
    told = (tmp_path / "progress.json").read_text()
    assert '"done"' in told and "uniqueness" in told
