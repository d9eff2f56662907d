"""Numbers that judge a published network, from neighbours in sets and every renaming."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from naive import networks as naive
from unmask.networks import Network, network_risk, report_network
from unmask.networks.propagation import best_attempt, sureness

N = 60
SEED = 5


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(1)
    graph = nx.gnm_random_graph(N, 110, seed=3)
    other = graph.copy()
    other.remove_edges_from(list(graph.edges)[:6])
    to = {a: int(b) for a, b in enumerate(rng.permutation(N))}
    risk = network_risk(Network(graph, nx.relabel_nodes(other, to), truth=to), seeds=6, seed=SEED)
    judged = {one.key: one.estimate.value for entry in report_network(risk) for one in entry.evidence.observations}
    near = naive.neighbours(graph.edges, graph.nodes)
    there = naive.neighbours(nx.relabel_nodes(other, to).edges, range(N))
    return risk, judged, near, there, to


def found_by(candidates, to):
    return sum(naive.credit(candidates, to).values()) / N


def small(candidates, to):
    """Share of people in groups of fewer than 11 that hold them, by how often such groups do."""
    groups = {a: c for a, c in candidates.items() if 0 < len(c) < 11}
    right = [a for a, c in groups.items() if to[a] in c]
    certainty = len(right) / max(1, len(groups))
    return sum(len(groups[a]) < 11 * certainty for a in right) / N


def by_rounds(near, there, rounds, marks=lambda _: lambda a, b: 0):
    return naive.by_colour(naive.refined(near, rounds, marks(near)), naive.refined(there, rounds, marks(there)))


def test_degree(case):
    _, judged, near, there, to = case
    candidates = {a: {b for b in there if len(there[b]) == len(near[a])} for a in near}
    assert judged["degree.rate"] == pytest.approx(found_by(candidates, to))
    assert judged["degree.small"] == pytest.approx(small(candidates, to))


def test_neighbours(case):
    _, judged, near, there, to = case
    around = {a: {b for b in there if naive.same_around(near, a, there, b)} for a in near}
    ways = [by_rounds(near, there, 2), by_rounds(near, there, 3), around]
    assert judged["neighbours.rate"] == pytest.approx(max(found_by(way, to) for way in ways))
    assert judged["neighbours.small"] == pytest.approx(small(around, to))


def test_colours(case):
    _, judged, near, there, to = case
    ways = [by_rounds(near, there, k, marks) for marks in (lambda _: lambda a, b: 0, naive.common) for k in range(1, 6)]
    shares = [found_by(way, to) for way in ways]
    assert judged["colours.rate"] == pytest.approx(max(shares))
    assert judged["colours.small"] == pytest.approx(small(ways[int(np.argmax(np.round(shares, 12)))], to))


def test_propagation(case):
    risk, judged, near, there, to = case
    network, hits, asked, claims = risk.network, np.zeros(N), np.zeros(N), []
    for draw in range(5):
        known = np.sort(np.random.default_rng((SEED, 6, draw)).choice(np.arange(N), 6, replace=False))
        seeds = {int(a): to[int(a)] for a in known}
        plain = ("plain", 2, 0.0)
        ways = [naive.propagate(near, there, seeds, *how) for how in
                ((plain, 3), (("cosine", 2, 0.5), 0), (plain, 0), (plain, 10))]  # fmt: skip
        kept = [naive.kept(near, there, way) for way in ways]
        enough = next((i + 1 for i in range(4) if max(kept[: i + 1]) > 0.5 * min(110, 104)), 4)
        best = ways[int(np.argmax(kept[:enough]))]
        image = best_attempt(network, known, network.own[known])
        assert {a: int(b) for a, b in enumerate(image) if b >= 0} == best
        rest = np.setdiff1d(np.arange(N), known)
        hits[rest] += [best.get(int(a)) == to[int(a)] for a in rest]
        asked[rest] += 1
        claims += naive.sure(near, there, best, rest.tolist(), to)
    assert judged["propagation.rate"] == pytest.approx(np.mean((hits / np.maximum(asked, 1))[asked > 0]))
    assert judged["propagation.known"] == pytest.approx(round(naive.surest(claims)[1] / 5) / (N - 6))


def test_profiles(case):
    """The matching is a heuristic: what is judged is counted anew from the pairs and the credits that it gives."""
    risk, judged, near, there, to = case
    found = risk.profiles
    claimed = [
        (value, bool(hit))
        for value, hit in zip(
            *(part[found.image >= 0] for part in (sureness(risk.network, found.image), found.propagated)), strict=True
        )
    ]
    image = {a: int(b) for a, b in enumerate(found.image) if b >= 0}
    assert np.allclose(sorted(claimed), sorted(naive.sure(near, there, image, range(N), to)))
    shares = [found.matched.sum() / N, found.propagated.sum() / N]
    assert set(np.unique(found.propagated)) <= {0.0, 1.0}
    assert judged["profiles.rate"] == pytest.approx(max(shares))
    assert judged["profiles.known"] == pytest.approx(naive.surest(claimed)[1] / N)
