"""Slow, obvious twins of the graph attack: the definitions of the paper, nothing else."""

from __future__ import annotations

from itertools import combinations, permutations
from operator import eq

import numpy as np


def product_graph(d1, d2, labels1, labels2, agrees, may=eq):
    """Definition 6 over complete graphs: vertices in row order, and the set of edges between their numbers.

    ``agrees``: of target and identification distance; ``may``: of target and identification label.
    """
    vertices = [(v, w) for v in range(len(d1)) for w in range(len(d2)) if may(labels1[v], labels2[w])]
    edges = set()
    for (i, (v1, w1)), (j, (v2, w2)) in combinations(enumerate(vertices), 2):
        if v1 != v2 and w1 != w2 and agrees(d1[v1, v2], d2[w1, w2]):
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


def attack(d1, d2, labels1, labels2, agrees, may=eq):
    """Size of the maximum cliques, their number, and the set of pairs in their union."""
    vertices, edges = product_graph(d1, d2, labels1, labels2, agrees, may)
    cliques = maximum_cliques(len(vertices), edges)
    return len(cliques[0]), len(cliques), {vertices[u] for c in cliques for u in c}


def least_movement(far):
    """Everybody of the smaller side gets a partner: the pairs with the least total of squared distances."""
    if len(far) > far.shape[1]:
        return {(i, j) for j, i in least_movement(far.T)}
    best = min(permutations(range(far.shape[1]), len(far)), key=lambda p: sum(far[i, j] ** 2 for i, j in enumerate(p)))
    return set(enumerate(best))


def everybody(spots, places, labels1, labels2, may, noise):
    """As many pairs that may match as there can be, of these the least total of squares; how many of them agree.

    Records of one file with one label at one place are one: each has the partners of all. Returns every best answer.
    """
    n1, n2 = len(spots), len(places)
    far = [[plane(a, b) for b in places] for a in spots]
    tried = []
    for order in permutations(range(max(n1, n2)), min(n1, n2)):
        pairs = [(i, j) if n1 <= n2 else (j, i) for i, j in enumerate(order)]
        pairs = [(i, j) for i, j in pairs if may[i, j]]
        tried.append((-len(pairs), sum(far[i][j] ** 2 for i, j in pairs), pairs))
    most, least, _ = min(tried)
    one = [[a == b and plane(p, q) < 1e-6 for b, q in zip(labels1, spots, strict=True)]
           for a, p in zip(labels1, spots, strict=True)]  # fmt: skip
    two = [[a == b and plane(p, q) < 1e-6 for b, q in zip(labels2, places, strict=True)]
           for a, p in zip(labels2, places, strict=True)]  # fmt: skip
    answers = set()
    for count, total, pairs in tried:
        if count == most and total <= least + 1e-9:
            shared = {(a, b) for i, j in pairs for a in range(n1) if one[i][a] for b in range(n2) if two[j][b]}
            answers.add((frozenset(shared), sum(far[i][j] < 3 * noise for i, j in pairs)))
    return answers


def votes(files, may, seed, window, turns=20):
    """Guess everybody by votes: every assignment of least mean square deviation; who fits votes in the next turn.

    ``files``: distances and labels of both. ``window``: of a target distance, the lowest and the highest identification
    distance that agree. A deviation is from its middle, in standard deviations (at first half a window is 1.645 of
    them; then as the believed show, by their median), and its square counts for 9 at most. Copies (one label, the same
    distances to all) vote once, and not on each other. Who fits nobody (9) gets no partner, a mean below 4 is believed,
    equally good assignments are all taken. Returns guesses, the believed, and how many people who all agree have as
    many distances between them that agree.
    """
    (d1, _), (d2, _) = files
    one, two = ([[a == b and (d[i] == d[j]).all() for j, b in enumerate(labels)].index(True)
                 for i, a in enumerate(labels)] for d, labels in files)  # fmt: skip
    believed, sd, guesses = sorted(seed), 1 / 1.645, set(seed)

    def off(v, a, w, b):
        low, high = window(d1[v, a])
        far = abs(d2[w, b] - (low + high) / 2)
        return far / ((high - low) / 2) if high > low else (np.inf if far else 0.0)

    def deviations():
        once = sorted({(one[a], two[b]): (a, b) for a, b in reversed(believed)}.values())
        return once, [off(a, c, b, d) for (a, b), (c, d) in combinations(once, 2)
                      if one[a] != one[c] and two[b] != two[d]]  # fmt: skip

    for _ in range(turns):
        mean = {}
        for v, w in zip(*np.nonzero(may), strict=True):
            asked = [(a, b) for a, b in deviations()[0] if one[a] != one[v] and two[b] != two[w]]
            square = [min(9.0, (off(v, a, w, b) / sd) ** 2) for a, b in asked]
            mean[int(v), int(w)] = sum(square) / len(square) if square else 9.0
        n1, n2 = may.shape
        tried = []
        for order in permutations(range(max(n1, n2)), min(n1, n2)):
            pairs = [(i, j) if n1 <= n2 else (j, i) for i, j in enumerate(order)]
            tried.append((sum(mean.get(pair, 1e6) for pair in pairs), pairs))
        least = min(tried)[0]
        best = [[pair for pair in pairs if mean.get(pair, 9.0) < 9.0] for t, pairs in tried if t <= least + 1e-9]
        guesses = {pair for pairs in best for pair in pairs}
        fits = sorted(pair for pair in guesses if mean[pair] < 4.0)
        if len(fits) <= 2 or fits == believed:
            break
        believed = fits
        offs = deviations()[1]
        sd = min(max(1.4826 * float(np.median(offs)), 0.06), 1e6) if offs else sd
    offs, n = deviations()[1], len({a for a, _ in believed})
    agree = n * (n - 1) / 2 * sum(x < 1 for x in offs) / max(1, len(offs))
    return guesses, believed, min((abs(k * (k - 1) / 2 - agree), k) for k in np.arange(1, n + 1, 0.001))[1]


def sphere(a, b):
    """Distance of Example 2: the spherical law of cosines, R = 6371 km."""
    (lon1, lat1), (lon2, lat2) = np.deg2rad(a), np.deg2rad(b)
    cosine = np.sin(lat1) * np.sin(lat2) + np.cos(lat1) * np.cos(lat2) * np.cos(lon1 - lon2)
    return 6371.0 * np.arccos(min(1.0, cosine))


def quasi_clique(d1, d2, vertices, known, agrees, gamma):
    """The known pairs, and others that agree with at least a share gamma of them (their own records not asked).

    One to one: the pairs that agree with most come first; pairs of one share that want the same record get nothing,
    and nobody who agrees with fewer gets that record either.
    """
    share = {}
    for v, w in vertices:
        asked = [(a, b) for a, b in known if a != v and b != w]
        share[v, w] = sum(agrees(d1[v, a], d2[w, b]) for a, b in asked) / max(1, len(asked))
    answer = set(known)
    rows, cols = {v for v, _ in known}, {w for _, w in known}
    for level in sorted(set(share.values()), reverse=True):
        here = [(v, w) for v, w in vertices if share[v, w] == level and v not in rows and w not in cols]
        for v, w in here if level >= gamma else []:
            if [a for a, _ in here].count(v) == 1 and [b for _, b in here].count(w) == 1:
                answer.add((v, w))
        rows |= {v for v, _ in here}
        cols |= {w for _, w in here}
    return answer


def followers(d1, d2, labels1, labels2, agrees, known):
    """Of each target record the identification records that it may be once some people are known."""
    rows, cols = {int(v) for v, _ in known}, {int(w) for _, w in known}
    return [
        {
            w
            for w in range(len(d2))
            if v not in rows
            and w not in cols
            and labels1[v] == labels2[w]
            and all(agrees(d1[v, a], d2[w, b]) for a, b in known)
        }
        for v in range(len(d1))
    ]


def score(pairs, truth, n_identification):
    """Precision, recall, and the risk of each identification record: claims on it share the credit."""
    pairs, truth = set(pairs), set(truth)
    right = pairs & truth
    risk = [0.0] * n_identification
    for _, w in right:
        risk[w] = 1 / sum(col == w for _, col in pairs)
    return len(right) / len(pairs), len(right) / len(truth), risk


def masked(points, sigma, masking, kind, rng):
    """The owner's masking of places, one by one."""
    out = []
    for x, y in points:
        if masking == "coordinates":
            out.append((x + sigma * rng.standard_normal(), y + sigma * rng.standard_normal()))
        elif masking == "aggregation":  # the middle of the cell
            out.append((sigma * (x // sigma) + sigma / 2, sigma * (y // sigma) + sigma / 2))
        else:  # anywhere in the ring, by rejection
            while True:
                east, north = rng.uniform(-sigma, sigma, size=2)
                if sigma / 2 <= np.sqrt(east**2 + north**2) <= sigma:
                    break
            out.append((x + east / (np.cos(np.deg2rad(y)) if kind == "lonlat" else 1.0), y + north))
    return np.array(out)


def plane(a, b):
    """Distance in the plane."""
    return np.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)
