"""Networks attacked, judged and reported: a copy, a masked one, an unrelated one; and the command line."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import polars as pl
import pytest

import unmask
from command_line import run
from unmask import Network, assess_network, datasets, network_risk
from unmask.errors import ParameterError

KEYS = ("degree", "neighbours", "colours", "propagation", "profiles")


@pytest.fixture(scope="module")
def ties():
    return datasets.friends(200, seed=3)


def thinned(ties, share, seed=0):
    return ties.filter(pl.Series(np.random.default_rng(seed).random(ties.height) < share))


def everybody(ties, other):
    people = pl.DataFrame({"id": np.arange(1, 201)})
    return Network(ties, other, people=people, released_people=people)


def rates(assessment):
    return {finding.measure: finding.estimate for finding in assessment.findings if finding.key.endswith(".rate")}


@pytest.fixture(scope="module")
def ladder(ties):
    """A copy, two masked networks, one that has nothing to do with the people."""
    others = (ties, thinned(ties, 0.95), thinned(ties, 0.5), datasets.friends(200, seed=77))
    return [assess_network(everybody(ties, other), seeds=20) for other in others]


def test_every_attack_tells_a_copy_from_a_masked_network_from_a_stranger(ladder):
    found = [rates(one) for one in ladder]
    for name in KEYS:
        values = [step[name].value for step in found]
        assert values[0] >= values[1] - 0.01 >= values[2] - 0.02 >= values[3] - 0.03, name
        assert found[3][name].low <= 0.02, name  # a blind guess finds one of two hundred
    assert found[0]["colours"].value > 0.9 and found[0]["propagation"].value > 0.9 and found[0]["profiles"].value > 0.9
    assert found[1]["propagation"].value > 0.9 and found[1]["colours"].value < 0.5
    assert [one.verdict for one in ladder[:2]] == ["unsafe", "unsafe"]
    assert not [finding.key for finding in ladder[3].findings if finding.outcome == "against"]


def test_every_figure_has_its_chance_interval_and_null(ladder):
    for assessment in ladder:
        for finding in assessment.findings:
            estimate = finding.estimate
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
            assert finding.key.endswith(".small") or estimate.chance == 1 / 200
        *attacks, shape = assessment.document.measures
        assert [entry.name for entry in attacks] == list(KEYS)
        assert shape.name == "shape" and len(shape.facts) == 8 and shape.figures
        for entry in attacks:
            null = next(fact.value for fact in entry.facts if fact.name == "null")
            assert 0 <= null <= 1 / 200


def test_everybody_has_a_risk(ladder, ties):
    frame = ladder[0].records
    assert frame.columns == ["row", "degree", "neighbours", "colours", "profiles", "propagation", "risk"]  # no id
    assert frame.height == 200
    assert frame["risk"].mean() > 0.9
    part = assess_network(Network(ties, ties.filter(pl.col("person") > 20)), seeds=10, show_values=True)
    assert part.records.columns[:2] == ["row", "id"]  # where values were asked for
    gone = ~Network(ties, ties.filter(pl.col("person") > 20)).there
    assert part.records["risk"].is_null().to_numpy()[gone].all()
    assert part.records["degree"].is_null().to_numpy().tolist() == gone.tolist()


def test_shuffling_ties_and_renaming_the_release_changes_no_risk(ties):
    rng = np.random.default_rng(8)
    to = rng.permutation(201)
    masked = thinned(ties, 0.9)
    renamed = masked.select(
        friend=pl.Series(to[masked["person"].to_numpy()]), person=pl.Series(to[masked["friend"].to_numpy()])
    ).sample(fraction=1, shuffle=True, seed=1)
    key = pl.DataFrame({"original": np.arange(201), "released": to})
    plain = network_risk(Network(ties, masked), seeds=10).to_frame()
    other = network_risk(Network(ties.reverse(), renamed, truth=key), seeds=10).to_frame()
    for name in plain.columns:
        assert np.allclose(plain[name].to_numpy(), other[name].to_numpy(), equal_nan=True), name


def test_few_people_are_answered():
    pair = pl.DataFrame({"a": [1, 1], "b": [2, 3]})
    for ties in (pl.DataFrame({"a": [1], "b": [1]}), pair):
        found = assess_network(Network(ties, ties))
        assert found.verdict in {"unsafe", "inconclusive"}
        outcomes = {finding.measure: finding.outcome for finding in found.findings}
        assert outcomes["propagation"] == "does not apply"
    with pytest.raises(ParameterError, match="seed"):
        assess_network(Network(pair, pair), seed=-1)


def test_the_same_seed_gives_the_same_report():
    few = datasets.friends(60, seed=1)
    network = Network(few, thinned(few, 0.95))
    digests = {assess_network(network, seeds=10, seed=4).document.digest for _ in range(2)}
    assert len(digests) == 1


def test_the_command_line_reports_and_writes(tmp_path, ties):
    ties.write_csv(tmp_path / "o.csv")
    thinned(ties, 0.9).write_parquet(tmp_path / "r.parquet")
    words = ("network", tmp_path / "o.csv", tmp_path / "r.parquet", "--seeds", 10, "--json", tmp_path / "r.json")
    assert run(*words, "--html", tmp_path / "r.html", "--records", tmp_path / "p.csv", "--quiet") == 1
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["verdict"] == "unsafe"
    assert report["manifest"]["inputs"]["original network"]["ties"] == ties.height
    assert pl.read_csv(tmp_path / "p.csv").height == len(set(ties["person"]) | set(ties["friend"]))
    page = (tmp_path / "r.html").read_text()
    assert "How far must the intruder look?" in page and "How many people must the intruder know?" in page
    assert "holds the original network" in page and "columns of people" not in page
    assert "unmask person" not in page and "strongest attack of each family" not in page
    assert "The two networks" in page and "The two tables" not in page.replace("<dt>", "")
    assert run("verify", tmp_path / "r.json") == 2


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        ("", (), "is empty"),
        ("a,b\n", (), "no rows"),
        ("a\n1\n", (), "one column"),
        ("a,b\n901,902\n", (), "nobody of the original"),
        ("a,b\n1,2\n", ("--ends", "a,c"), "two columns name"),
        ("a,b\n1,2\n", ("--policy", "nobody"), "nobody"),
        ("a,b\n1,2\n", ("--seeds", "0"), "seeds"),
    ],
)
def test_bad_input_is_one_clear_error(tmp_path, capsys, ties, text, more, words):
    ties.write_csv(tmp_path / "o.csv")
    (tmp_path / "r.csv").write_text(text)
    assert run("network", tmp_path / "r.csv", tmp_path / "o.csv", *more) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "an error of unmask itself" not in told and "901" not in told


@pytest.mark.slow
def test_networks_of_other_people_raise_no_alarm_beyond_the_level():
    """Fifteen pairs of networks of one kind that have nothing to do with each other: at 5 %, three are too many."""
    verdicts = []
    for seed in range(15):
        people = pl.DataFrame({"id": np.arange(1, 151)})
        one, two = datasets.friends(150, seed), datasets.friends(150, seed + 1000)
        verdicts.append(assess_network(Network(one, two, people=people, released_people=people)).verdict)
    assert verdicts.count("unsafe") < 3


def test_people_known_beforehand_have_the_risk_of_another_attack(ties, monkeypatch):
    monkeypatch.setattr("unmask.networks.propagation.QUICK", 0)  # as in a large network: one draw
    found = network_risk(Network(ties, thinned(ties, 0.95)), seeds=10)
    assert found.propagation.draws == 1 and len(found.propagation.steps) == 1
    assert int(np.isnan(found.propagation.credit[found.network.there]).sum()) == 10
    assert not np.isnan(found.risks()[0][found.network.there]).any()


def test_public_names():
    assert unmask.Network is Network and callable(unmask.assess_network)


def test_assess_takes_networks_too(tmp_path, ties, capsys):
    ties.write_csv(tmp_path / "t.csv")
    paths = tmp_path / "t.csv", tmp_path / "t.csv"
    assert run("network", *paths, "--json", tmp_path / "a.json", "--quiet") == 1
    assert run("assess", "--network", *paths, "--json", tmp_path / "b.json", "--quiet") == 1
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert one["findings"] == two["findings"]
    capsys.readouterr()
    assert run("assess", "--network", *paths, "--id", "a", "--with", tmp_path / "t.csv") == 2
    told = capsys.readouterr().err
    assert "--id" in told and "--earlier" in told and "unmask network" in told


def test_assess_knows_graphml_by_itself(tmp_path):
    nx.write_graphml(nx.path_graph(6), tmp_path / "g.graphml")
    words = "assess", tmp_path / "g.graphml", tmp_path / "g.graphml", "--quiet"
    assert run(*words, "--json", tmp_path / "g.json") in {1, 3}
    assert "original network" in json.loads((tmp_path / "g.json").read_text())["manifest"]["inputs"]
