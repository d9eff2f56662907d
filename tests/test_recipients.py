"""Who may get it: one verdict for each recipient, of one study where they hold the same columns."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import unmask
from command_line import run, write
from unmask.attacks import held, parties_of
from unmask.certificate.render import to_html
from unmask.errors import ParameterError, RoleError
from unmask.evidence import Policy
from unmask.evidence.measure import Measure
from unmask.planning import Plan, Planned, plan_of
from unmask.recipients import as_recipients
from unmask.report import words
from unmask.report.front import front

CORE = ["anonymity", "nearest", "one_to_one", "uniqueness", "population"]


def survey(n=500, seed=0, regions=12, ages=20):
    """A sample in which most are alone with their values, from a country where nobody is."""
    rng = np.random.default_rng(seed)
    values = {"region": rng.integers(0, regions, n), "age": rng.integers(0, ages, n), "sex": rng.integers(0, 2, n)}
    return pl.DataFrame({"nr": np.arange(n), **values}).with_columns(pl.col("region", "sex").cast(pl.String))


TABLE = survey()
COUNTRY = pl.DataFrame({"region": map(str, range(12))}).join(pl.DataFrame({"age": range(20)}), how="cross")
COUNTRY = pl.concat([COUNTRY.join(pl.DataFrame({"sex": ["0", "1"]}), how="cross")] * 200)  # 200 people of each look
RELEASE = unmask.Release(TABLE, TABLE, id="nr", population=COUNTRY)


@pytest.mark.parametrize(
    ("who", "word"), [("prosecutor", "unsafe"), ("journalist", "safe"), ("marketer", "safe"), ("maximum", "unsafe")]
)
def test_a_sample_counts_with_its_register_for_who_does_not_know_who_is_in(who, word):
    found = unmask.assess(RELEASE, only=CORE, intruder=who)
    assert found.verdict == word
    assert found.document.manifest.intruder == who
    assert ("not know who is in" in found.reason) == (who == "journalist")


@pytest.mark.slow
@pytest.mark.parametrize("who", ["journalist", "prosecutor", "maximum"])
def test_2700_of_8_000_000_by_every_attack(who):
    """Few are alone in the sample, and the country is told by a number: small crowds are large ones there."""
    table = survey(2700, 3, ages=10)
    found = unmask.assess(unmask.Release(table, table, id="nr", population=8_000_000), intruder=who, policy="clinical")
    assert found.verdict == ("safe" if who == "journalist" else "unsafe")


@pytest.mark.slow
@pytest.mark.parametrize("who", ["journalist", "prosecutor"])
def test_2700_of_8_000_000_with_a_secret(who):
    """An answer that has nothing to do with the known columns: groups of eleven agree on it now and then, by luck."""
    answer = np.where(np.random.default_rng(1).random(2700) < 0.3, "yes", "no")
    table = survey(2700, 3, ages=10).with_columns(pl.Series("answer", answer))
    release = unmask.Release(table, table, id="nr", population=8_000_000, confidential=["answer"])
    found = unmask.assess(release, intruder=who, utility="none")
    assert found.verdict == ("safe" if who == "journalist" else "unsafe")


@pytest.mark.parametrize("who", ["journalist", "marketer"])
def test_alone_in_the_sample_may_be_alone_in_the_country(who):
    """A number of people makes nobody safe who is alone with their income, whatever models say."""
    fine = TABLE.with_columns(pl.Series("income", np.random.default_rng(1).normal(size=500)))
    found = unmask.assess(unmask.Release(fine, fine, id="nr", population=8_000_000), only=CORE, intruder=who)
    assert found.verdict != "safe"
    found = unmask.assess(unmask.Release(TABLE, TABLE, id="nr", population=8_000_000), only=CORE, intruder=who)
    assert found.verdict != "safe"  # a third are alone


def test_one_verdict_for_each_and_each_attack_once(monkeypatch):
    ran = []
    once = Measure.__getattribute__

    def noted(self, name):
        if name == "run":
            ran.append(self.name)
        return once(self, name)

    monkeypatch.setattr(Measure, "__getattribute__", noted)
    found = unmask.assess(
        RELEASE,
        only=CORE,
        intruder="prosecutor",
        recipients=[
            {"name": "anybody", "audience": "strict", "intruder": "journalist"},
            {"name": "office", "intruder": "prosecutor"},
            {"name": "same", "intruder": "prosecutor", "columns": ["sex", "age", "region"]},
            {"name": "little", "intruder": "prosecutor", "columns": ["sex"]},
        ],
    )
    assert sorted(ran) == sorted(2 * CORE)  # on all columns, and on sex alone
    entries = {entry.name: entry for entry in found.document.recipients}
    verdicts = {name: entry.verdict for name, entry in entries.items()}
    assert verdicts == {"anybody": "safe", "office": "unsafe", "same": "unsafe", "little": "safe"}
    assert entries["anybody"].audience == "strict"
    assert entries["office"].estimate.value > 0.5 and entries["office"].largest == 1.0
    assert entries["little"].estimate.value == pytest.approx(2 / 500)
    assert "nearest.rate" in entries["office"].against


def test_the_verdict_for_a_recipient_is_that_of_an_assessment_of_its_own():
    columns = ["sex", "age"]
    given = {"name": "x", "intruder": "journalist", "columns": columns, "audience": "strict"}
    found = unmask.assess(RELEASE, only=CORE, recipients=[given])
    alone = unmask.assess(
        unmask.Release(TABLE, TABLE, id="nr", population=COUNTRY, quasi=columns),
        only=CORE,
        intruder="journalist",
        policy="strict",
    )
    (entry,) = found.document.recipients
    assert (entry.verdict, entry.reason) == (alone.verdict, alone.reason)


def test_an_attempt_lessens_averages_with_the_argument_on_the_page():
    partner = {"name": "partner", "audience": Policy.load("internal"), "intruder": "marketer", "forbids": ["linking"]}
    release = unmask.Release(TABLE, TABLE, id="nr")
    found = unmask.assess(
        release,
        only=CORE[:-1],
        recipients=[
            partner,
            {**partner, "name": "unlikely", "attempt": 0.05},
            {**partner, "name": "argued", "attempt": 0.05, "argument": "an audited enclave", "forbids": []},
            {**partner, "name": "one", "attempt": 0.05, "intruder": "prosecutor"},
        ],
    )
    entries = {entry.name: entry for entry in found.document.recipients}
    words = {name: entry.verdict for name, entry in entries.items()}
    assert words == {"partner": "unsafe", "unlikely": "safe", "argued": "safe", "one": "unsafe"}
    assert entries["unlikely"].argument == "a contract forbids linking"
    assert entries["unlikely"].estimate.value == pytest.approx(0.05 * entries["partner"].estimate.value)
    page = unmask.report.render(found.document)
    assert "Who may get it" in page and "an audited enclave" in page and "no figure of a single person" in page


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"name": "a", "intruder": "spy"}, "no intruder 'spy'"),
        ({"name": "a", "atempt": 0.5}, "did you mean 'attempt'"),
        ({"audience": "strict"}, "a recipient has no name"),
        ({"name": " "}, "a recipient has no name"),
        ({"name": "a", "attempt": 1.5, "argument": "x"}, "out of range"),
        ({"name": "a", "attempt": -0.1, "argument": "x"}, "out of range"),
        ({"name": "a", "attempt": float("nan"), "argument": "x"}, "out of range"),
        ({"name": "a", "attempt": "often"}, "out of range"),
        ({"name": "a", "attempt": 0.5}, "needs an argument"),
        ({"name": "a", "attempt": 0.5, "forbids": ["sharing"]}, "needs an argument"),
        ({"name": "a", "forbids": ["looking"]}, "allowed: linking, sharing"),
        ({"name": "a", "columns": ["sex"]}, "knows everything, and holds only some columns"),
        ({"name": "a", "columns": [], "intruder": "marketer"}, "holds no column"),
        ({"name": "a", "columns": [3], "intruder": "marketer"}, "not a list of names"),
        ("a", "a recipient is a table"),
    ],
)
def test_bad_recipients_are_refused(table, message):
    with pytest.raises(ParameterError, match=message):
        as_recipients([table])


def test_refusals_that_need_the_release_or_the_policy():
    with pytest.raises(ParameterError, match="two recipients are called 'a'"):
        as_recipients([{"name": "a"}, unmask.Recipient(name="a")])
    with pytest.raises(RoleError, match=r"no column 'agee'(.|\n)*did you mean 'age'"):
        unmask.assess(RELEASE, recipients=[{"name": "a", "columns": ["agee"], "intruder": "marketer"}])
    with pytest.raises(ParameterError, match="no policy 'nobody'"):
        unmask.assess(RELEASE, recipients=[{"name": "a", "audience": "nobody"}])
    with pytest.raises(ParameterError, match="among everybody somebody tries"):
        unmask.assess(
            RELEASE, recipients=[{"name": "a", "audience": "strict", "attempt": 0.5, "argument": "they are nice"}]
        )


def test_who_holds_all_columns_shares_the_study():
    given = as_recipients(
        [
            {"name": "a", "intruder": "marketer", "columns": ["age", "region", "sex"]},
            {"name": "b", "intruder": "prosecutor", "columns": ["sex", "age"]},
            {"name": "c", "intruder": "journalist", "columns": ["age", "sex"]},
        ]
    )
    assert held(given[0], RELEASE) is None
    found = parties_of(RELEASE, given, "maximum")
    assert {names: whose for names, (_, whose) in found.items()} == {
        None: {"marketer"},
        ("age", "sex"): {"prosecutor", "journalist"},
    }
    assert found["age", "sex"][0].quasi == ("age", "sex")


# --- no part of a report contradicts another --------------------------------------------------------------------------

ANYBODY = {"name": "anybody", "audience": "strict", "intruder": "journalist"}
LITTLE = {"name": "little", "intruder": "prosecutor", "columns": ["sex"]}
INSIDER = {"name": "insider", "intruder": "prosecutor"}


def told_everywhere(found):
    """The verdict as each form of the report tells it: word and headline."""
    page, certificate = front(found.document), unmask.certify(found, initial=False, check=False)
    suite = ET.fromstring(unmask.report.to_junit(found.document))  # noqa: S314 - our own
    (run,) = json.loads(unmask.report.to_sarif(found.document))["runs"]
    html = unmask.report.render(found.document)
    assert f'<div class="verdict {found.verdict}"><strong>{page.headline}</strong>' in html
    assert found.document.verdict == found.verdict == found.to_dict()["verdict"] == certificate.verdict
    assert page.headline in to_html(certificate)
    assert page.headline in to_html(certificate.for_the_public())
    assert page.headline in unmask.report.to_annotations(found.document)[0]
    told = [result["message"]["text"] for result in run["results"]]  # only what stands in the way
    assert (page.headline in told[0]) if told else found.verdict == "safe"
    red = {case.get("name") for case in suite if case.find("failure") is not None}
    assert ("verdict" in red) == (found.verdict != "safe")
    for entry in found.document.recipients:
        assert (entry.name in red) == (entry.verdict != "safe")
    against = {finding.key for finding in found.findings if finding.outcome == "against"}
    assert bool(against) == (found.verdict == "unsafe")
    assert found.verdict != "safe" or not red
    return page


@pytest.mark.parametrize("intruder", ["journalist", "maximum"])
@pytest.mark.parametrize(
    ("given", "word", "whose", "headline"),
    [
        ([ANYBODY, INSIDER, LITTLE], "unsafe", "insider", "Do not give this release to insider"),
        ([ANYBODY, LITTLE], "safe", "anybody", "Safe to give to anybody and little"),
        ([LITTLE], "safe", "little", "Safe to give to little"),
    ],
)
def test_the_report_is_about_the_worst_recipient(given, word, whose, headline, intruder):
    """Whoever else could attack: with recipients the verdict is theirs, and so is every figure."""
    found = unmask.assess(RELEASE, only=CORE, recipients=given, intruder=intruder)
    page = told_everywhere(found)
    assert (found.verdict, page.headline, found.document.recipient.name) == (word, headline, whose)
    assert f"figures for {whose}" in page.files
    (alone,) = [one for one in given if one["name"] == whose]
    of_one = unmask.assess(RELEASE, only=CORE, recipients=[alone])
    assert of_one.findings == found.findings and of_one.document.policy == found.document.policy
    assert np.array_equal(of_one.risks, found.risks, equal_nan=True)
    assert found.document.manifest.intruder == alone["intruder"]


def test_undecided_for_one_is_undecided_for_all():
    few = TABLE.head(100).select("nr", "sex")
    release = unmask.Release(few, few, id="nr")
    given = [{"name": name, "audience": name, "intruder": "prosecutor"} for name in ("internal", "public")]
    found = unmask.assess(release, only=["anonymity", "nearest", "one_to_one", "uniqueness"], recipients=given)
    assert [entry.verdict for entry in found.document.recipients] == ["safe", "inconclusive"]
    assert told_everywhere(found).headline == "Not shown to be safe for public"


def test_many_recipients_are_named_in_the_headline_and_counted():
    names = [(f"r{k}", "unsafe") for k in range(5)]
    assert words.headline("unsafe", names) == "Do not give this release to r0, r1, r2 and 2 more"
    assert words.headline("safe") == words.VERDICTS["safe"]


# --- command line and manifest ----------------------------------------------------------------------------------------


@pytest.fixture
def config(tmp_path):
    TABLE.write_csv(tmp_path / "a.csv")
    COUNTRY.write_csv(tmp_path / "p.csv")
    return write(
        tmp_path / "c.toml",
        'original = "a.csv"\nreleased = "a.csv"\nid = "nr"\npopulation = "p.csv"\n'
        f"only = {json.dumps(CORE)}\nseed = 3\n"
        '[[recipients]]\nname = "anybody"\nintruder = "journalist"\naudience = "ours.toml"\n'
        '[[recipients]]\nname = "insider"\nintruder = "prosecutor"\n',
    )


def test_the_toml_the_screen_and_the_report_that_can_be_verified(config, capsys):
    write(config.parent / "ours.toml", 'extends = "strict"\nname = "ours"\n')
    report = config.parent / "r.json"
    assert run("assess", "--config", config, "--intruder", "journalist", "--json", report) == 1  # the insider
    shown = " ".join(capsys.readouterr().out.split())  # lines are folded at any width
    assert "Who may get it" in shown and "insider" in shown and "intruder: prosecutor" in shown
    data = json.loads(report.read_text())
    assert data["verdict"] == "unsafe"  # of the worst, whatever --intruder says
    assert [(r["name"], r["audience"], r["verdict"]) for r in data["recipients"]] == [
        ("anybody", "ours (custom)", "safe"),
        ("insider", "public", "unsafe"),
    ]
    (config.parent / "ours.toml").unlink()  # the report holds the limits
    assert unmask.verify(report).same
    data["recipients"][1]["verdict"] = "safe"
    report.write_text(json.dumps(data))
    assert unmask.verify(report).differences[0] == "the verdict for 'insider' was safe, is unsafe"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('[[recipients]]\nname = "a"\nintruder = "x"\n', "no intruder 'x'"),
        ('[recipients]\nname = "a"\n', "not a list of tables"),
        ('intruder = "everybody"\n', "no intruder 'everybody'"),
    ],
)
def test_bad_tables_end_with_2_before_the_work(config, lines, message, capsys):
    head = config.read_text().split("[[")[0]
    write(config, head + lines)
    assert run("assess", "--config", config) == 2
    assert message in capsys.readouterr().err


def test_what_each_recipient_had_no_time_for_is_kept_and_verified(tmp_path):
    """Not only that of the one whom the report is about: the others would be judged anew by attacks that never ran."""
    TABLE.write_csv(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_bytes((tmp_path / "a.csv").read_bytes())
    release = unmask.Release(tmp_path / "a.csv", tmp_path / "b.csv", id="nr")
    names = ["anonymity", "nearest", "uniqueness"]
    forms = [("exact", "left out"), ("left out", "exact")]
    plans = [
        Plan((Planned("anonymity", "exact", 0, 0, 0.0, 0), Planned("nearest", one, 0, 0, 0.0, 0),
              Planned("uniqueness", other, 0, 0, 0.0, 0)), 5.0)
        for one, other in forms
    ]  # fmt: skip
    plan = replace(plans[0], parties=((("region", "age"), plans[1]),))
    given = [
        unmask.Recipient(name="all"),
        unmask.Recipient(name="few", columns=("region", "age"), intruder="prosecutor"),
    ]
    found = unmask.assess(release, only=names, recipients=given, plan=plan, utility="none")
    kept = found.to_dict()["manifest"]["plan"]
    assert kept["measures"] == {"uniqueness": {"form": "left out"}}
    assert {str(one["columns"]): list(one["measures"]) for one in kept["parties"]} == {
        "None": ["uniqueness"], "['region', 'age']": ["nearest"]
    }  # fmt: skip
    again = plan_of(found.to_dict()["manifest"], names)
    assert [again.of(columns)["nearest"].form for columns in (None, ("region", "age"), ("age",))] == [
        "exact", "left out", "exact"
    ]  # fmt: skip
    found.write_json(tmp_path / "report.json")
    assert unmask.verify(tmp_path / "report.json").same
