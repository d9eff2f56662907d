"""Files say their form; real ones fit the schema that is published; others are refused by name."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from jsonschema import Draft202012Validator

import unmask
from command_line import run
from unmask.cli.explore import _maskings
from unmask.cli.making_options import Explore
from unmask.errors import ParameterError, TableError
from unmask.evidence import Evidence, Policy
from unmask.protect import opened
from unmask.protect.protection import follow_plan
from unmask.report import compare_reports
from unmask.resume import keeping
from unmask.schemas import FORMS, check_form, load_schema
from unmask.web import commands

ROOT = Path(__file__).resolve().parents[2]


def script():
    spec = importlib.util.spec_from_file_location("docs_schemas", ROOT / "docs" / "schemas.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def closed(schema):
    """The same, and nothing that it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(one) for name, one in schema.items()}
    own = isinstance(schema.get("properties"), dict) and "required" in schema
    return {**found, "additionalProperties": False} if own and "additionalProperties" not in schema else found


def fits(kind, data):
    problems = [error.message[:200] for error in Draft202012Validator(closed(load_schema(kind))).iter_errors(data)]
    assert not problems, problems[:5]


@pytest.mark.parametrize("kind", FORMS)
def test_every_schema_is_one_and_is_what_the_code_writes(kind):
    schema = load_schema(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["properties"]["schema"] == {"const": FORMS[kind].name()}
    name = f"{kind}-{FORMS[kind].written}.json"
    assert json.loads(script().texts()[name]) == schema  # python docs/schemas.py --write
    assert FORMS[kind].written == FORMS[kind].read[0]
    assert f"`{FORMS[kind].name()}`" in (ROOT / "docs" / "schemas.md").read_text()


def test_a_report_and_a_comparison_fit(files, tmp_path):
    run("assess", *files, "--id", "patient", "--only", "nearest,uniqueness", "--quiet", "--json", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    fits("report", report)
    fits("comparison", compare_reports(tmp_path / "r.json", tmp_path / "r.json").to_dict())
    for broken in ({**report, "verdict": 7}, {**report, "findings": [{}]}, {**report, "more": 1}):
        with pytest.raises(AssertionError):
            fits("report", broken)
    run("compare", tmp_path / "r.json", tmp_path / "r.json", "--json", tmp_path / "c.json")
    with pytest.raises(TableError, match="is a comparison of two reports, not a report"):
        unmask.verify(tmp_path / "c.json")


def read(path):
    """A file as it is read by others: numbers that are none are no JSON."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_a_check_says_its_form(files, tmp_path):
    run("check", *files, "--json", tmp_path / "c.json")
    found = read(tmp_path / "c.json")
    fits("check", found)
    with pytest.raises(AssertionError):
        fits("check", {**found, "columns": [{}]})


def test_what_is_left_of_the_data_says_its_form(files, tmp_path):
    run("utility", *files, "--keep", "mean(cost)", "-o", tmp_path / "u.json")
    found = read(tmp_path / "u.json")
    found.pop("il1s", None)  # more figures, where columns are numbers
    fits("utility", found)
    assert found["analyses"][0]["numbers"]


def test_releases_that_were_tried_say_their_form(files, tmp_path):
    run("explore", files[0], "--id", "patient", "--masking", "noise(0.3)", "--glance", "--json", tmp_path / "e.json")
    found = read(tmp_path / "e.json")
    fits("frontier", found)
    assert found["points"]


def test_an_audit_says_its_form(files, tmp_path):
    claim = "laplace(1, [(cost, 0, 100000)])"
    run("audit", files[0], "--masking", claim, "--runs", "20", "--people", "5", "--json", tmp_path / "a.json")
    fits("audit", read(tmp_path / "a.json"))


def test_certificates_and_signatures_fit_and_are_checked(files, tmp_path):
    """Both certificates as the command writes them, and the signature of one."""
    words = ("--id", "patient", "--only", "uniqueness", "--quiet", "--certificate", tmp_path / "c.html")
    run("assess", *files, *words, "--public-certificate", tmp_path / "p.html")
    for name in ("c", "p"):
        fits("certificate", read(tmp_path / f"{name}.jsonld"))
    with pytest.raises(AssertionError):
        fits("certificate", {**read(tmp_path / "c.jsonld"), "verdict": 7})
    run("sign", "--new-key", tmp_path / "k.pem")
    run("sign", tmp_path / "c.jsonld", "--key", tmp_path / "k.pem", "--name", "Dr A")
    signature = read(tmp_path / "c.jsonld.sig")
    fits("signature", signature)
    for broken in ({**signature, "sha256": "x"}, {**signature, "more": 1}, {**signature, "schema": "unmask-report/2"}):
        with pytest.raises(AssertionError):
            fits("signature", broken)


def test_a_report_on_tables_fits(tmp_path):
    (tmp_path / "t.csv").write_text("town,ill,count\na,no,5\na,yes,1\nb,no,9\nb,yes,4\n")
    run("assess-tables", tmp_path / "t.csv", "--confidential", "ill", "--quiet", "--json", tmp_path / "r.json")
    fits("report", read(tmp_path / "r.json"))


@pytest.mark.slow
def test_reports_on_networks_fit(tmp_path):
    """As the command of networks writes them, and `assess`, with and without who is who."""
    ties = "from,to\n" + "".join(f"p{one},p{(one * 7 + 1) % 20}\n" for one in range(40))
    names = [f"p{one}" for one in range(20)]
    (tmp_path / "n.csv").write_text(ties)
    (tmp_path / "r.csv").write_text(ties.replace("p", "q"))
    (tmp_path / "k.csv").write_text("known,released\n" + "".join(f"{name},q{name[1:]}\n" for name in names))
    both = (tmp_path / "n.csv", tmp_path / "r.csv", "--truth", tmp_path / "k.csv")
    for words in (("network", *both), ("network", both[0], both[0]), ("assess", both[0], both[0], "--network")):
        assert run(*words, "--quiet", "--json", tmp_path / "r.json") in {0, 1, 3}, words
        found = read(tmp_path / "r.json")
        fits("report", found)
        assert found["findings"]


@pytest.mark.slow
def test_reports_on_many_rows_a_person_fit(tmp_path):
    lot = np.random.default_rng(0)
    visits = {"person": np.repeat(np.arange(30), 3), "day": lot.integers(1, 300, 90), "town": lot.choice([*"abcd"], 90)}
    pl.DataFrame(visits).write_csv(tmp_path / "v.csv")
    words = ("--id", "person", "--quiet", "--json", tmp_path / "r.json")
    assert run("assess", tmp_path / "v.csv", tmp_path / "v.csv", *words) in {0, 1, 3}
    found = read(tmp_path / "r.json")
    fits("report", found)
    assert found["findings"]


@pytest.mark.slow
def test_what_commands_keep_and_plan_fits(files, tmp_path):
    """The states of a real run, all attacks of it, and the plan that `protect` writes."""
    words = ("--id", "patient", "--only", "nearest,uniqueness,cells", "--quiet", "--state", tmp_path / "kept")
    assert run("assess", *files, *words) in {0, 1, 3}
    states = [read(path) for path in (tmp_path / "kept").glob("*.json")]
    assert len(states) == 3
    for state in states:
        fits("state", state)
    people = unmask.datasets.patients(420, seed=5).select("patient", "sex", "smoker")
    people.write_csv(tmp_path / "p.csv")
    words = ("--id", "patient", "--policy", "internal", "-o", tmp_path / "o.csv", "--plan", tmp_path / "plan.toml")
    assert run("protect", tmp_path / "p.csv", *words) == 0
    plan = tomllib.loads((tmp_path / "plan.toml").read_text())
    fits("plan", plan)
    assert follow_plan(tmp_path / "p.csv", tmp_path / "plan.toml").height == 420


@pytest.mark.slow
def test_reports_of_every_kind_fit():
    import kinds

    for assessment in kinds._reports().values():
        fits("report", assessment.to_dict())


def test_a_plan_says_its_form_and_is_read(tmp_path, files):
    text = commands.plan({"seed": 3, "masking": "noise(0.5)"}, "partner", ["cost"], [])
    fits("plan", tomllib.loads(text))
    path = tmp_path / "plan.toml"
    path.write_text(text)
    made = follow_plan(files[0], path)
    assert "cost" not in made.columns
    path.write_text(re.sub(r"schema = .*\n", "", text))  # as 0.1 wrote them
    assert follow_plan(files[0], path).equals(made)
    path.write_text(text.replace("unmask-plan/1", "unmask-plan/7"))
    with pytest.raises(TableError, match=r"unmask-plan/7(.|\n)*allowed: unmask-plan/1(.|\n)*later version"):
        follow_plan(files[0], path)


def test_a_policy_may_say_its_form(tmp_path):
    path = tmp_path / "p.toml"
    text = 'schema = "unmask-policy/1"\nextends = "public"\n[thresholds."nearest.rate"]\nvalue = 0.1\nreason = "r"\n'
    path.write_text(text + 'source = "s"\n')
    fits("policy", tomllib.loads(path.read_text()))
    assert Policy.load(path).threshold("nearest.rate").value == 0.1
    path.write_text(path.read_text().replace("policy/1", "policy/2"))
    with pytest.raises(ParameterError, match="unmask-policy/2"):
        Policy.load(path)


def test_settings_say_their_form_and_are_read(files, tmp_path, capsys):
    roles = tmp_path / "roles.toml"
    run("check", *files, "--accept-roles", roles)
    fits("settings", tomllib.loads(roles.read_text()))
    words = ("assess", *files, "--config", roles, "--only", "uniqueness", "--quiet")
    assert run(*words) in {0, 1, 3}
    roles.write_text(roles.read_text().replace("unmask-settings/1", "unmask-plan/1"))
    assert run(*words) == 2
    assert "is a plan, not a file of options" in capsys.readouterr().err


def test_a_grid_may_say_its_form(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text('schema = "unmask-grid/1"\nmaskings = ["noise(0.1)"]\n')
    fits("grid", tomllib.loads(path.read_text()))
    options = Explore(original="x.csv", grid=str(path))
    assert _maskings(options) == ("noise(0.1)",)
    path.write_text('schema = "unmask-grid/3"\n')
    with pytest.raises(ParameterError, match="unmask-grid/3"):
        _maskings(options)


def test_the_folder_of_a_run_fits(files, tmp_path):
    words = ("--id", "patient", "--masking", "noise(0.3)", "--glance", "--axis", "distance", "--folder", tmp_path / "f")
    assert run("explore", files[0], *words) in {0, 1}
    header = read(tmp_path / "f" / "explore.json")
    fits("run", {name: value for name, value in header.items() if name != "axes"})
    assert header["axes"]
    for broken in ({**header, "seed": "x"}, {**header, "keep": 1}):
        assert list(Draft202012Validator(load_schema("run")).iter_errors(broken))


def test_a_folder_of_a_run_says_its_form(tmp_path):
    with opened(tmp_path / "f", {"table": "x"}, resume=False):
        pass
    header = tmp_path / "f" / "explore.json"
    assert json.loads(header.read_text())["schema"] == "unmask-run/1"
    header.write_text('{"table": "x"}')  # as it was written before
    with opened(tmp_path / "f", {"table": "x"}, resume=True):
        pass
    header.write_text('{"schema": "unmask-run/4", "table": "x"}')
    with pytest.raises(TableError, match="unmask-run/4"), opened(tmp_path / "f", {"table": "x"}, resume=True):
        pass


def test_what_a_stopped_run_had_found_says_its_form(tmp_path):
    people = unmask.datasets.census(20)
    found = Evidence((), per_record=np.array([0.5, 1.0]))
    with keeping(tmp_path, unmask.Release(people, people)) as kept:
        kept.keep(None, "nearest", found)
        path = next(tmp_path.glob("nearest-*.json"))
        fits("state", json.loads(path.read_text()))
        assert kept.find(None, "nearest").per_record.tolist() == [0.5, 1.0]
        path.write_text(path.read_text().replace("unmask-state/1", "unmask-state/2"))
        with pytest.raises(TableError, match="unmask-state/2"):
            kept.find(None, "nearest")
        path.write_text(json.dumps({"$type": "Evidence"}))  # before files said their form: the attack runs again
        assert kept.find(None, "nearest") is None


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, "does not say its form"),
        (7, "it says"),
        ("x/9", "x/9"),
        ("unmask-report/0", "earlier version"),
        ("unmask-report/3", "later version"),
        ("unmask-plan/1", "is a plan, not a report"),
        ("unmask-poem/1", "is something else, not a report"),
    ],
)
def test_others_are_refused_by_name_with_what_is_read(found, words):
    with pytest.raises(TableError, match=words) as caught:
        check_form("report", found, "r.json")
    assert "allowed: unmask-report/2 or unmask-report/1" in str(caught.value) and "hint: " in str(caught.value)


def test_the_command_prints_them(capsys):
    assert run("schema", "policy") == 0
    assert json.loads(capsys.readouterr().out) == load_schema("policy")
    assert run("schema") == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} == set(FORMS)
    assert run("schema", "poem") == 2
    assert "there is no schema 'poem'" in capsys.readouterr().err
