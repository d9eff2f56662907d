"""Slow, obvious twins of the graph attack: the definitions of the paper, nothing else."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np


def product_graph(d1, d2, labels1, labels2, agrees):
    """Definition 6 over complete graphs: vertices in row order, and the set of edges between their numbers."""
    vertices = [(v, w) for v in range(len(d1)) for w in range(len(d2)) if labels1[v] == labels2[w]]
    edges = set()
    for (i, (v1, w1)), (j, (v2, w2)) in combinations(enumerate(vertices), 2):
        if v1 != v2 and w1 != w2 and agrees(d2[w1, w2] - d1[v1, v2]):
            edges.add((i, j))
    return vertices, edges


def maximal_cliques(n, edges):
    """Bron and Kerbosch, without pivots."""
    near = [set() for _ in range(n)]
    for i, j in edges:
        near[i].add(j)
        near[j].add(i)

    def grow(clique, candidates, excluded):
        if not candidates and not excluded:
            yield clique
        for u in sorted(candidates):
            yield from grow(clique | {u}, candidates & near[u], excluded & near[u])
            candidates = candidates - {u}
            excluded = excluded | {u}

    yield from grow(frozenset(), set(range(n)), set())


def maximum_cliques(n, edges):
    """All of them, listed."""
    cliques = list(maximal_cliques(n, edges)) if n else [frozenset()]
    most = max(map(len, cliques))
    return [c for c in cliques if len(c) == most]


def attack(d1, d2, labels1, labels2, agrees):
    """Size of the maximum cliques, their number, and the set of pairs in their union."""
    vertices, edges = product_graph(d1, d2, labels1, labels2, agrees)
    cliques = maximum_cliques(len(vertices), edges)
    return len(cliques[0]), len(cliques), {vertices[u] for c in cliques for u in c}


def least_movement(far):
    """Everybody of the smaller side gets a partner: the pairs with the least total of squared distances."""
    if len(far) > far.shape[1]:
        return {(i, j) for j, i in least_movement(far.T)}
    best = min(permutations(range(far.shape[1]), len(far)), key=lambda p: sum(far[i, j] ** 2 for i, j in enumerate(p)))
    return set(enumerate(best))


def sphere(a, b):
    """Distance of Example 2: the spherical law of cosines, R = 6371 km."""
    (lon1, lat1), (lon2, lat2) = np.deg2rad(a), np.deg2rad(b)
    cosine = np.sin(lat1) * np.sin(lat2) + np.cos(lat1) * np.cos(lat2) * np.cos(lon1 - lon2)
    return 6371.0 * np.arccos(min(1.0, cosine))
