"""Propagation against its twin, and against the known threshold on noisy copies of a random graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from small_networks import both, noisy_pair

from naive import networks as naive
from unmask.errors import ParameterError
from unmask.kernels.networks import ALIKE, COSINE, PLAIN
from unmask.networks import Network
from unmask.networks.propagation import Rules, attack_from_seeds, best_attempt, kept_ties, propagate, seeds_of

WORDS = {PLAIN: "plain", COSINE: "cosine", ALIKE: "alike"}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rules", [Rules(), Rules(PLAIN, 2, 0.0), Rules(PLAIN, 2, 0.0, bold=3), Rules(ALIKE, 1, 0.2)])
def test_equal_to_brute_force(seed, rules):
    rng = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(40, 130, seed=seed)
    other = graph.copy()
    other.remove_edges_from([edge for edge in graph.edges if rng.random() < 0.1])
    to = {a: int(b) for a, b in enumerate(rng.permutation(40))}
    network, near, there = both(graph, nx.relabel_nodes(other, to), to)
    known = rng.choice(40, 6, replace=False)
    image = propagate(network, known, network.own[known], rules)
    wanted = naive.propagate(
        near, there, {int(a): to[int(a)] for a in known}, (WORDS[rules.scoring], rules.marks, rules.clear), rules.bold
    )
    assert {a: int(b) for a, b in enumerate(image) if b >= 0} == wanted
    assert kept_ties(network, image) == naive.kept(near, there, wanted)
    assert len(wanted) > 6 or rules.scoring == COSINE  # somebody is found: the rounds do run


def test_direction_and_people_are_used_where_they_help():
    """In a network that is the same in all directions but for its arrows and towns, these alone tell people apart."""
    graph = nx.DiGraph([(0, i) for i in range(1, 5)] + [(5, i) for i in range(1, 5)] + [(1, 0), (1, 5), (2, 0), (2, 5)])
    for node in (1, 3):
        graph.nodes[node]["town"] = "a"
    network = Network(graph, graph)
    known = np.array([0, 5])
    assert (propagate(network, known, known, Rules(PLAIN, 2, 0.0))[1:5] < 0).all()
    found = propagate(network, known, known, Rules(PLAIN, 2, 0.0, labelled=True))
    assert found.tolist() == [0, 1, 2, 3, 4, 5]
    assert best_attempt(network, known, known).tolist() == [0, 1, 2, 3, 4, 5]


def test_percolation_has_its_known_threshold():
    """[YARTSEVA] theorem 1: with r = 2 and p s² = t, a_c = 1 / (2 n t²) seeds divide nothing from nearly everybody."""
    n, t, kept = 2000, 0.004, 0.8
    threshold = 1 / (2 * n * t * t)
    assert 15 < threshold < 16
    network = noisy_pair(n, t / kept**2, kept, seed=1)
    rng = np.random.default_rng(0)
    for seeds, low, high in ((4, 0.0, 0.02), (60, 0.9, 1.0)):
        known = rng.choice(n, seeds, replace=False)
        image = propagate(network, known, network.own[known], Rules(PLAIN, 2, 0.0))
        image[known] = -1
        share = float((image == network.own).mean())
        assert low <= share <= high, (seeds, share)
        assert not seeds > threshold or (image == network.own).sum() > 0.99 * (image >= 0).sum()


def test_the_number_of_known_people_is_swept_and_judged():
    network = noisy_pair(300, 0.05, 0.95, seed=2)
    found = attack_from_seeds(network, seeds=10, swept=(2, 20), seed=3)
    assert [step.seeds for step in found.steps] == [2, 10, 20]
    assert found.judged.seeds == 10
    assert found.judged.estimate.value > 0.9 and found.judged.estimate.chance == 1 / 300
    assert found.judged.right <= found.judged.claims <= 290
    again = attack_from_seeds(network, seeds=10, swept=(2, 20), seed=3)
    assert np.array_equal(found.credit, again.credit, equal_nan=True)
    assert seeds_of(network, 500) == 60
    with pytest.raises(ParameterError, match="known people"):
        attack_from_seeds(network, seeds=0)


def test_strangers_are_not_claimed_for_long():
    """Two networks of the same form that have nothing to do with each other: claims are few, and wrong."""
    one, two = (nx.gnm_random_graph(300, 1500, seed=seed) for seed in (1, 2))
    found = attack_from_seeds(Network(one, two), seeds=20, swept=())
    assert found.judged.estimate.value < 0.03
    assert found.judged.right < 0.2 * found.judged.claims + 2
