"""Without seeds: profiles by their definition, noisy copies are found, strangers are not."""

from __future__ import annotations

import networkx as nx
import numpy as np
import polars as pl
import pytest
from small_networks import noisy_pair

from unmask import datasets
from unmask.networks import Network
from unmask.networks.profiles import attack_without_seeds, profiles, space_of, spectral_pairs
from unmask.networks.signatures import common_ties


def test_a_profile_is_what_it_says():
    graph = nx.gnm_random_graph(25, 60, seed=4)
    graph.add_node(25)
    side = Network(graph, graph).original
    found, triangles = profiles(side, common_ties(side)), nx.triangles(graph)
    for a in graph:
        near = sorted(np.log1p(graph.degree(b)) for b in graph[a])
        second = [np.mean([np.log1p(graph.degree(c)) for c in graph[b]]) for b in graph[a]]
        quantiles = [near[int(q * (len(near) - 1) + 0.5)] for q in (0, 0.25, 0.5, 0.75, 1)] if near else [0.0] * 5
        wanted = [np.log1p(graph.degree(a)), *quantiles, np.mean(near) if near else 0, np.mean(second) if near else 0,
                  np.log1p(triangles[a])]  # fmt: skip
        assert found[a] == pytest.approx(wanted), a


def test_a_network_with_a_tenth_of_its_ties_deleted_is_found_without_knowing_anybody():
    ties = datasets.friends(400, seed=1)
    rng = np.random.default_rng(0)
    network = Network(ties, ties.filter(pl.Series(rng.random(ties.height) < 0.9)))
    found = attack_without_seeds(network)
    assert found.right > 0.9 * found.claims > 300
    assert found.kept > 0.8 * network.original.n_ties
    assert found.estimates[-1].value == found.propagated.mean() == found.right / network.there.sum()
    assert found.credit is found.propagated


def test_spectral_pairs_of_a_copy_are_right():
    network = noisy_pair(120, 0.1, 1.0, seed=1)
    one, two = spectral_pairs(network)
    assert one.size > 20
    assert (network.own[one] == two).all()


def test_strangers_are_at_chance():
    one, two = (nx.gnm_random_graph(200, 900, seed=seed) for seed in (5, 6))
    found = attack_without_seeds(Network(one, two))
    assert all(estimate.low <= 2 / 200 for estimate in found.estimates)
    assert found.right <= 3


def test_people_who_all_look_the_same_share_the_guess():
    ring = nx.cycle_graph(8)
    found = attack_without_seeds(Network(ring, ring))
    assert found.matched.tolist() == [1 / 8] * 8
    assert found.claims == 0
    assert space_of(*(profiles(s, common_ties(s)) for s in (Network(ring, ring).original,) * 2)).queries.shape[1] == 0
