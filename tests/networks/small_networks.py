"""Small networks that the tests of this room share."""

from __future__ import annotations

import networkx as nx
import numpy as np
import polars as pl

from naive import networks as naive
from unmask.networks import Network

ATLAS = [graph for graph in nx.graph_atlas_g() if 2 <= graph.number_of_nodes() <= 6]


def listed(ties):
    ends = np.array(sorted(ties), dtype=np.int64).reshape(-1, 2)
    return pl.DataFrame({"source": ends[:, 0], "target": ends[:, 1]})


def changed(graph, rng):
    """The same network under other names, with one pair tied that was not, or the other way round."""
    people = sorted(graph)
    to = dict(zip(people, (rng.permutation(len(people)) + 100).tolist(), strict=True))
    made = graph.copy()
    a, b = rng.choice(people, 2, replace=False)
    made.remove_edge(a, b) if made.has_edge(a, b) else made.add_edge(a, b)
    return nx.relabel_nodes(made, to), to


def both(graph, other, to):
    """The network of two graphs, and both as sets of neighbours."""
    near, there = (naive.neighbours(one.edges, one.nodes) for one in (graph, other))
    return Network(graph, other, truth=to), near, there


def noisy_pair(n, p, kept, seed):
    """Two copies of one random graph that each keep a share of its ties, under the same names."""
    rng = np.random.default_rng(seed)
    ties = np.array(nx.fast_gnp_random_graph(n, p, seed=seed).edges)
    people = pl.DataFrame({"id": np.arange(n)})
    parts = [ties[rng.random(len(ties)) < kept] for _ in range(2)]
    return Network(*(listed(map(tuple, part)) for part in parts), people=people, released_people=people)
