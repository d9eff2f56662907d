"""A policy file is called custom, whatever it calls itself, and says by its digest what it changes."""

from __future__ import annotations

import json

import pytest

import unmask
from command_line import run
from unmask.evidence import Policy
from unmask.evidence.custom import changes, described, digest_of

LIMIT = '[thresholds."nearest.rate"]\nvalue = 0.9\nreason = "why"\nsource = "who"\n'


def policy(folder, name, extends="strict", limits=LIMIT):
    path = folder / "p.toml"
    path.write_text(f'extends = "{extends}"\nname = "{name}"\n{limits}')
    return path


@pytest.mark.parametrize("name", ["strict", "public", "partner", "internal", "default", "strict (custom)", "ours"])
def test_whatever_it_calls_itself(tmp_path, name):
    made = Policy.load(policy(tmp_path, name))
    assert made.name == f"{name.removesuffix(' (custom)')} (custom)" and made.profile == "strict"
    assert made.changed == ("nearest.rate is 90 % instead of 5 %",)
    assert "It changes 1 limit: nearest.rate is 90 % instead of 5 %." in made.description
    assert digest_of(made.thresholds)[:12] in made.description


def test_a_file_that_changes_nothing_is_custom_too(tmp_path):
    made = Policy.load(policy(tmp_path, "strict", limits=""))
    assert made.name == "strict (custom)" and made.changed == () and "It changes no limit." in made.description
    assert made.told()["digest"] == Policy.load("strict").told()["digest"]


def test_a_built_in_one_is_called_by_its_name():
    for name in ("public", "partner", "internal", "strict"):
        made = Policy.load(name)
        assert made.name == name and not made.profile and "profile" not in made.told()


def test_a_file_of_a_file_is_held_against_the_profile_below(tmp_path):
    policy(tmp_path, "one", extends="partner")
    (tmp_path / "q.toml").write_text('extends = "p.toml"\nname = "public"\n')
    made = Policy.load(tmp_path / "q.toml")
    assert made.profile == "partner" and made.changed == ("nearest.rate is 90 % instead of 9 %",)


def test_without_a_profile_below_it_is_held_against_the_one_it_is_called_like(tmp_path):
    (tmp_path / "p.toml").write_text(f'name = "strict"\n{LIMIT}')
    made = Policy.load(tmp_path / "p.toml")
    assert made.profile == "strict" and "anonymity.small is not set" in " ".join(made.changed)
    (tmp_path / "p.toml").write_text(LIMIT)
    made = Policy.load(tmp_path / "p.toml")
    assert made.name == "p.toml (custom)" and made.profile == "public"  # without the path of the folder


def test_the_digest_is_of_the_limits_alone(tmp_path):
    base = Policy.load("public").thresholds
    one, two = (Policy.load(policy(tmp_path, name)).thresholds for name in ("a", "b"))
    assert digest_of(one) == digest_of(two) != digest_of(base)
    assert changes(base, base) == () and changes({}, {"x": base["nearest.rate"]}) == ("x is not set instead of 9 %",)


def test_three_changes_are_told_and_the_others_counted():
    base = Policy.load("public").thresholds
    keys = sorted(base)
    told = {n: described(" Ours. ", {key: base[key] for key in keys[n:]}, base, "public") for n in (3, 4)}
    assert all(text.startswith(" Ours. A policy file (digest ") for text in told.values())
    assert "It changes 3 limits: " in told[3] and told[3].count("is not set instead of") == 3 and "more" not in told[3]
    assert told[4].count("is not set instead of") == 3 and told[4].endswith("; and 1 more.")
    assert described(" ", base, base, "public").startswith("A policy file (digest ")


def test_every_form_of_the_report_says_so(tmp_path, files, capsys):
    given = policy(tmp_path, "strict", extends="public")
    out = {name: tmp_path / name for name in ("r.json", "r.html", "c.html", "p.html")}
    run("assess", *files, "--id", "patient", "--policy", given, "--only", "nearest", "--json", out["r.json"],
        "--html", out["r.html"], "--certificate", out["c.html"], "--public-certificate", out["p.html"])  # fmt: skip
    told = json.loads(out["r.json"].read_text())
    digest = told["manifest"]["policy"]["digest"]
    assert told["policy"] == told["manifest"]["policy"]["name"] == "strict (custom)"
    assert told["manifest"]["policy"]["changed"] == ["nearest.rate is 90 % instead of 9 %"]
    shown = {"screen": " ".join(capsys.readouterr().out.split())}
    shown |= {name: out[name].read_text().replace("\N{NO-BREAK SPACE}", " ") for name in ("r.html", "c.html", "p.html")}
    for name, text in shown.items():
        assert "strict (custom)" in text and digest[:12] in text and "90 % instead of 9 %" in text, name
    assert unmask.verify(out["r.json"]).same


def test_two_files_of_one_name_do_not_share_a_folder_of_work(tmp_path):
    from unmask.trying import _named

    one = Policy.load(policy(tmp_path, "ours"))
    two = Policy.load(policy(tmp_path, "ours", extends="partner"))
    assert one.name == two.name and _named(one) != _named(two) and _named(Policy.load("public")) == "public"
