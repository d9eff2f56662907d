"""Candidates by signatures against their definitions, on all networks of up to six people."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import polars as pl
import pytest
from small_networks import ATLAS, both, changed

from naive import networks as naive
from unmask.networks import Network
from unmask.networks.signatures import signatures


def credits_of(network, candidates):
    return dict(zip(network.original.ids.filter(network.there).to_list(), candidates.credit.tolist(), strict=True))


@pytest.mark.parametrize("part", range(4))
def test_equal_to_brute_force_on_all_small_networks(part):
    rng = np.random.default_rng(part)
    for graph in ATLAS[part::4]:
        other, to = changed(graph, rng)
        network, near, there = both(graph, other, to)
        found = signatures(network)
        for got, rounds in ((found.degree, 1), (found.friends, 2), (found.friends_of_friends, 3)):
            wanted = naive.credit(naive.by_colour(naive.refined(near, rounds), naive.refined(there, rounds)), to)
            assert credits_of(network, got) == wanted
        around = {a: {b for b in there if naive.same_around(near, a, there, b)} for a in near}
        assert credits_of(network, found.neighbourhood) == naive.credit(around, to)
        for way, marks in zip(found.refinements, (lambda _: lambda a, b: 0, naive.common), strict=True):
            end = len(near) + 1
            one, two = naive.refined(near, end, marks(near)), naive.refined(there, end, marks(there))
            assert way.stable
            assert way.classes == len(set(two.values()))
            assert credits_of(network, way.rounds[-1]) == naive.credit(naive.by_colour(one, two), to)


def test_no_renaming_tells_apart_more_than_its_orbit():
    """Whoever can take the place of a person by a renaming of the network has the same signature, always."""
    for graph in ATLAS[:120]:
        network = Network(graph, graph)
        near = naive.neighbours(graph.edges, graph.nodes)
        found = signatures(network)
        smallest = [len(naive.orbit(near, person)) for person in network.original.ids]
        for candidates in (
            found.degree,
            found.friends,
            found.neighbourhood,
            *(r.rounds[-1] for r in found.refinements),
        ):
            assert candidates.own.all()
            assert (candidates.size >= smallest).all()


def test_classes_are_those_of_a_second_tool():
    """networkx hashes the same refinement, its first round included."""
    graph = nx.gnm_random_graph(60, 75, seed=2)
    rounds = signatures(Network(graph, graph)).refinements[0].rounds
    with pytest.warns(UserWarning, match="changed in v3.5"):
        hashes = nx.weisfeiler_lehman_subgraph_hashes(graph, iterations=len(rounds))
    for depth, candidates in enumerate(rounds):
        sizes = Counter(hashes[person][depth] for person in graph)
        assert candidates.size.tolist() == [sizes[hashes[person][depth]] for person in sorted(graph)]


def test_two_triangles_and_a_ring_of_six_differ_by_common_friends_alone():
    triangles = pl.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": [2, 3, 1, 5, 6, 4]})
    ring = pl.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": [2, 3, 4, 5, 6, 1]})
    plain, triangular = signatures(Network(triangles, ring)).refinements
    assert plain.rounds[-1].credit.tolist() == [1 / 6] * 6
    assert triangular.rounds[-1].credit.tolist() == [0.0] * 6


def test_direction_and_what_is_said_of_ties_and_people_is_used():
    ring = pl.DataFrame({"a": [1, 2, 3, 4], "b": [2, 3, 4, 1]})
    said = ring.with_columns(weight=pl.Series([1, 2, 3, 4]))
    turned = pl.DataFrame({"a": [1, 2, 4, 1], "b": [2, 3, 3, 4]})  # from 1 to 3 on both sides
    people = pl.DataFrame({"id": [1, 2, 3, 4], "town": list("aabb")})
    assert len(signatures(Network(ring, ring)).refinements) == 2
    assert signatures(Network(said, said)).refinements[2].rounds[-1].credit.tolist() == [1.0] * 4
    directed = signatures(Network(turned, turned, directed=True)).refinements[2]
    assert directed.rounds[-1].credit.tolist() == [1.0, 0.5, 1.0, 0.5]
    known = signatures(Network(ring, ring, people=people, released_people=people)).refinements[2]
    assert known.rounds[0].credit.tolist() == [0.5] * 4  # the town alone
    assert signatures(Network(said, said, ignored=["weight"])).refinements[-1].rounds[-1].credit.tolist() == [0.25] * 4


def test_order_of_rows_and_names_change_nothing():
    rng = np.random.default_rng(3)
    ties = pl.DataFrame(rng.integers(0, 30, (60, 2)), schema=["a", "b"])
    mixed = ties.sample(fraction=1, shuffle=True, seed=1).select(a="b", b="a")
    plain, shuffled = (signatures(Network(one, one)) for one in (ties, mixed))
    for one, two in zip(plain.refinements, shuffled.refinements, strict=True):
        assert [r.credit.tolist() for r in one.rounds] == [r.credit.tolist() for r in two.rounds]
    assert plain.neighbourhood.credit.tolist() == shuffled.neighbourhood.credit.tolist()
