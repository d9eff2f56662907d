"""Reading networks: every form gives the same arrays, and what cannot be read is said clearly."""

from __future__ import annotations

import igraph
import networkx as nx
import numpy as np
import polars as pl
import pytest

from unmask.errors import UnmaskError
from unmask.networks import Network

TIES = pl.DataFrame({"source": ["ann", "bob", "cy"], "target": ["bob", "cy", "dot"], "weight": [1, 2, 1]})


def arrays(side):
    return side.ids.to_list(), side.start.tolist(), side.indices.tolist()


def forms(tmp_path):
    graph = nx.from_pandas_edgelist(TIES.to_pandas(), edge_attr=True)
    TIES.write_csv(tmp_path / "ties.csv")
    TIES.write_parquet(tmp_path / "ties.parquet")
    nx.write_graphml(graph, tmp_path / "ties.graphml")
    return {
        "frame": TIES, "pandas": TIES.to_pandas(), "csv": tmp_path / "ties.csv", "parquet": tmp_path / "ties.parquet",
        "graphml": tmp_path / "ties.graphml", "networkx": graph,
        "igraph": igraph.Graph.TupleList(TIES.rows(), edge_attrs=["weight"]),
    }  # fmt: skip


def test_every_form_is_the_same_network(tmp_path):
    for name, form in forms(tmp_path).items():
        network = Network(form, TIES)
        assert arrays(network.original) == (["ann", "bob", "cy", "dot"], [0, 1, 3, 5, 6], [1, 0, 2, 1, 3, 2]), name
        assert network.said_of_ties == ("weight",), name
        assert network.original.labels.tolist() == network.released.labels.tolist() == [0, 0, 1, 1, 0, 0], name
        assert network.own.tolist() == [0, 1, 2, 3]


def test_directed_graphs_say_so_themselves():
    graph = nx.DiGraph([(1, 2), (2, 1), (2, 3)])
    network = Network(graph, graph)
    assert network.directed
    labels = dict(zip(zip(network.original.rows.tolist(), network.original.indices.tolist(), strict=True),
                      network.original.labels.tolist(), strict=True))  # fmt: skip
    assert len({labels[0, 1], labels[1, 2], labels[2, 1]}) == 3  # both ways, forth, back
    assert labels[0, 1] == labels[1, 0]
    turned = dict(zip(labels, network.original.backwards().tolist(), strict=True))
    assert all(turned[a, b] == labels[b, a] for a, b in labels)
    with pytest.raises(UnmaskError, match="have a direction"):
        Network(graph, graph.to_undirected())


def test_loops_repeated_ties_and_people_without_ties():
    ties = pl.DataFrame({"from": [1, 2, 2, 3, 1], "to": [2, 1, 2, 1, 2]})
    people = pl.DataFrame({"id": [1, 2, 3, 9]})
    network = Network(ties, ties, people=people)
    assert network.original.n == 4 and network.released.n == 3
    assert network.original.degree.tolist() == [2, 1, 1, 0]
    assert network.own.tolist() == [0, 1, 2, -1]
    told = " ".join(network.notes)
    for words in ("1 ties of the original tie a person to themselves", "2 ties of the original are listed more",
                  "1 people of the original are not in the release"):  # fmt: skip
        assert words in told


def test_the_key_says_who_is_who():
    ties = pl.DataFrame({"from": [1, 2], "to": [2, 3]})
    renamed = pl.DataFrame({"from": ["c", "b"], "to": ["b", "a"]})
    for key in ({1: "a", 2: "b", 3: "c"}, pl.DataFrame({"o": [1, 2, 3], "r": ["a", "b", "c"]})):
        assert Network(ties, renamed, truth=key).own.tolist() == [0, 1, 2]
    assert Network(ties, renamed, truth={1: "a"}).own.tolist() == [0, -1, -1]


def test_ids_of_other_types_are_the_same_people():
    ties = pl.DataFrame({"from": [1, 2], "to": [2, 10]})
    assert Network(ties, ties.cast(pl.String)).own.tolist() == [0, 1, 2]


def test_one_person():
    one = pl.DataFrame({"from": [1], "to": [1]})
    network = Network(one, one)
    assert network.original.n == 1 and network.original.n_ties == 0 and network.chance == 1.0


@pytest.mark.parametrize(
    ("original", "options", "words"),
    [
        (pl.DataFrame({"a": [1]}), {}, "has one column"),
        (pl.DataFrame({"a": [1, None], "b": [2, 3]}), {}, "ties without a person"),
        (pl.DataFrame({"a": [7], "b": [8]}), {}, "nobody of the original is in the release"),
        (nx.Graph(), {}, "nobody in it"),
        (TIES, {"ends": ["source", "nobody"]}, "two columns name the people"),
        (TIES, {"truth": {"ann": "x", "bob": "x"}}, "a person of the release is there twice"),
        (TIES, {"truth": pl.DataFrame({"o": ["ann"]})}, "the key has one column"),
        (TIES, {"people": pl.DataFrame({"id": ["ann", "ann"]})}, "an id is there twice"),
        (TIES, {"people": pl.DataFrame({"id": ["ann", None], "x": [1, 2]})}, "have no id"),
        (7, {}, "neither a path nor a frame"),
    ],
)
def test_what_cannot_be_read_is_said(original, options, words):
    with pytest.raises(UnmaskError, match=words) as caught:
        Network(original, TIES, **options)
    assert "ann" not in str(caught.value)


def test_graphml_that_is_none_and_one_with_entities(tmp_path):
    path = tmp_path / "x.graphml"
    for text, words in (
        ("<graphml><graph><node/></graph></graphml>", "not readable GraphML"),
        ("<graphml><graph>", "not readable GraphML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "entities"),
        ("", "is empty"),
        ("<graphml/>", "nobody in it"),
    ):
        path.write_text(text)
        with pytest.raises(UnmaskError, match=words):
            Network(path, TIES)


def test_what_is_said_under_the_names_of_the_ends_is_kept(tmp_path):
    path = tmp_path / "x.graphml"
    path.write_text(
        '<graphml><key id="d" attr.name="id"/><graph edgedefault="undirected"><node id="a">'
        '<data key="d">q</data></node><node id="b"/><edge source="a" target="b"/></graph></graphml>'
    )
    network = Network(path, path)
    assert network.said_of_people == ("id of the person",)
    assert np.unique(network.original.kind).size == 2
    table = pl.DataFrame({"source": [1], "target": [2], "from": ["x"]})
    assert Network(table, table).said_of_ties == ("from of the tie",)
