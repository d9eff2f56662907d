"""Maskings of networks do what they say, and refuse what they cannot."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import polars as pl
import pytest

from command_line import run
from unmask import Network, datasets, mask_network, network_utility
from unmask.errors import EngineError, UnmaskError
from unmask.networks.masking import grouped

TIES = datasets.friends(150, seed=2)


def compared(masking, ties=TIES, **options):
    masked = mask_network(ties, masking, **options)
    assert masked.ties["person"].to_numpy().tolist() == sorted(masked.ties["person"].to_list())
    assert (masked.ties["person"] < masked.ties["friend"]).all() and not masked.ties.is_duplicated().any()
    people = pl.DataFrame({"id": masked.key["original"].cast(pl.Int64)})
    key = masked.key.with_columns(pl.col("original").cast(pl.Int64))
    network = Network(ties, masked.ties, truth=key, people=people, released_people=masked.people)
    return network, network_utility(network)


def test_renaming_changes_nothing_but_names():
    network, left = compared("rename")
    assert left.kept == 1.0 and left.new == 0.0 and left.degrees == 0.0
    names = network.released.ids.to_list()
    assert sorted(names) == list(range(1, len(names) + 1))
    assert (network.own != np.arange(network.own.size)).mean() > 0.9


def test_deleted_and_added_ties_are_as_many_as_asked():
    _, left = compared("delete(0.2)")
    assert left.kept == pytest.approx(0.8, abs=0.002) and left.new == 0.0
    _, left = compared("add(0.25)")
    assert left.kept == 1.0 and left.new == pytest.approx(0.2, abs=0.002)
    _, left = compared(["delete(0.5)", "add(1)"])
    assert left.kept == pytest.approx(0.5, abs=0.03) and left.new == pytest.approx(0.5, abs=0.03)


def test_rewiring_keeps_everybodys_number_of_ties():
    network, left = compared("rewire(1)")
    assert (network.released.degree[network.own] == network.original.degree).all()
    assert 0.3 < left.kept < 0.5
    assert left.released.clustering < 0.7 * left.original.clustering


@pytest.mark.parametrize("k", [2, 5, 12])
def test_everybody_shares_their_number_of_ties_with_k_minus_one_others(k):
    network, left = compared(f"k_degree({k})")
    assert np.bincount(network.released.degree)[np.unique(network.released.degree)].min() >= k
    assert left.kept == 1.0


def test_numbers_of_ties_are_grouped_at_the_least_cost():
    """Against every way to give each of seven people one of the numbers there are."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        degree, k = rng.integers(0, 5, 7), int(rng.integers(1, 4))
        wanted = grouped(degree, k)
        values = sorted(set(degree.tolist()))
        ways = [
            sum(way) for way in product(values, repeat=7)
            if all(w >= d for w, d in zip(way, degree, strict=True)) and all(way.count(w) >= k for w in way)
        ]  # fmt: skip
        assert (wanted >= degree).all() and np.unique(wanted, return_counts=True)[1].min() >= k
        assert wanted.sum() == min(ways)


def test_randomised_response_is_epsilon_private():
    """The share of wrong answers about ties and about other pairs is 1 / (1 + e^epsilon)."""
    for epsilon in (1.0, 3.0):
        network, left = compared(f"edge_dp({epsilon})")
        wrong = 1 / (1 + np.exp(epsilon))
        others = 150 * 149 / 2 - network.original.n_ties
        n = network.original.n
        assert n == 150
        assert 1 - left.kept == pytest.approx(wrong, abs=4 * np.sqrt(wrong / network.original.n_ties))
        assert left.new * network.released.n_ties / others == pytest.approx(wrong, abs=4 * np.sqrt(wrong / others))


def test_figures_are_those_of_networkx():
    _, left = compared("rename")
    graph = nx.Graph(TIES.rows())
    shape = left.original
    assert shape.clustering == pytest.approx(nx.average_clustering(graph))
    assert shape.transitivity == pytest.approx(nx.transitivity(graph))
    whole = max(nx.connected_components(graph), key=len)
    assert len(whole) == 150  # else distances would be of parts
    every = np.array([d for _, row in nx.all_pairs_shortest_path_length(graph) for d in row.values() if d])
    assert shape.distance == pytest.approx(every.mean(), rel=0.02)  # 100 of 150 people
    found = nx.community.louvain_communities(graph, seed=1)
    assert shape.modularity == pytest.approx(nx.community.modularity(graph, found), abs=0.03)
    assert left.communities == pytest.approx(shape.modularity)  # renaming moves nobody
    other = network_utility(Network(TIES, datasets.friends(150, seed=9)))
    assert other.communities < 0.1 < other.released.modularity


def test_what_is_said_is_kept_where_it_can_be():
    ties = pl.DataFrame({"a": ["x", "y", "z", "z"], "b": ["y", "z", "x", "z"], "since": [1, 2, 3, 4]})
    people = pl.DataFrame({"id": ["x", "y", "z", "lone"], "sex": list("fmfm")})
    masked = mask_network(ties, "delete(0.3)", people=people, seed=1)
    assert masked.ties.columns == ["person", "friend", "since"] and masked.ties.height == 2
    assert masked.people.sort("id")["id"].to_list() == [1, 2, 3, 4]
    key = dict(masked.key.iter_rows())
    assert dict(masked.people.iter_rows()) == {key[name]: sex for name, sex in people.iter_rows()}
    assert mask_network(ties, "add(1)", people=people).notes == ("what is said of ties is not published",)


@pytest.mark.parametrize(
    ("masking", "words"),
    [
        ("noise(1)", "no such masking"), ("delete", "needs a number"), ("delete(2)", "needs a number"),
        ("delete(", "cannot read"), ("k_degree(500)", "k people"),
    ],
)  # fmt: skip
def test_wrong_maskings_are_refused(masking, words):
    with pytest.raises(UnmaskError, match=words):
        mask_network(TIES, masking)


def test_a_network_that_would_be_too_large_is_refused():
    with pytest.raises(EngineError, match="too many"):
        mask_network(datasets.friends(30_000, seed=1), "edge_dp(0.1)")


def test_the_command_line_masks(tmp_path, capsys):
    TIES.write_csv(tmp_path / "t.csv")
    words = ("mask-network", tmp_path / "t.csv", "--masking", "delete(0.1)", "-o", tmp_path / "r.csv")
    assert run(*words, "--key", tmp_path / "key.csv", "--persons", tmp_path / "p.csv") == 0
    assert "150 people" in capsys.readouterr().out
    network = Network(tmp_path / "t.csv", tmp_path / "r.csv", truth=tmp_path / "key.csv",
                      released_people=tmp_path / "p.csv")  # fmt: skip
    assert network.there.all() and network.released.n_ties == round(0.9 * TIES.height)
    assert run("mask-network", tmp_path / "t.csv", "--masking", "nothing", "-o", tmp_path / "x.csv") == 2
    assert not (tmp_path / "x.csv").exists()
