"""Maximum cliques, their union, product graphs and thinning against the naive twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numba import config

from naive import graph as naive
from unmask.kernels.cliques import bits as words
from unmask.kernels.cliques import cliques, hashed, product, truss

ROUNDS = 60 if config.DISABLE_JIT else 1000
NONE = np.empty(0, dtype=np.int32)


def rows_of_bits(n, edges):
    bits = np.zeros((n, words.words_for(n)), dtype=np.uint64)
    for i, j in edges:
        words.put(bits[i], j)
        words.put(bits[j], i)
    return bits


def random_files(rng, n1, n2, n_labels):
    """Two small files of points on a grid: many equal distances and co-located duplicates."""
    points = rng.integers(0, rng.integers(2, 6), size=(n1 + n2, 2)).astype(float)
    labels = np.sort(rng.integers(0, n_labels, size=n1)), np.sort(rng.integers(0, n_labels, size=n2))
    d = np.hypot(*(points[:, None] - points).T)
    return d[:n1, :n1].copy(), d[n1:, n1:].copy(), *labels


def sides_of(d1, d2, labels1, labels2, window, n_labels):
    edges = np.arange(n_labels + 1)
    couples = np.column_stack([edges[:-1], edges[:-1]])
    return product.sides(d1, d2, np.searchsorted(labels1, edges), np.searchsorted(labels2, edges), couples, window)


def joined(s, rows, cols):
    """Adjacency by window joins."""
    bits, found = np.zeros((len(rows), words.words_for(len(rows))), dtype=np.uint64), np.empty(len(rows) + 1, np.int32)
    for u in range(len(rows)):
        for x in found[: product.neighbours(s, rows[u], cols[u], found)]:
            words.put(bits[u], x)
    return bits


def edges_of(s):
    rows, cols = product.vertices(s.start1, s.start2, s.couples, s.first)
    bits = product.adjacency(s, rows, cols)
    assert (bits == product.adjacency_of(s.d1, s.d2, rows, cols, s.window)).all()
    assert (bits == joined(s, rows, cols)).all()
    found = {(i, j) for i in range(len(rows)) for j in range(i + 1, len(rows)) if words.has(bits[i], j)}
    return list(zip(rows.tolist(), cols.tolist(), strict=True)), found


def test_a_set_is_what_was_put_in():
    row = np.zeros(3, dtype=np.uint64)
    for k in (0, 63, 64, 130):
        words.put(row, k)
    words.drop(row, 63)
    out = np.empty(192, dtype=np.int32)
    assert out[: words.members(row, out)].tolist() == [0, 64, 130]
    assert words.size(row) == 3
    assert words.shared(row, row) == 3
    assert not words.has(row, 63)


def test_two_triangles_that_share_an_edge_are_both_in_the_union():
    edges = {(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)}
    line = np.arange(5, dtype=np.int32)
    found = cliques.maximum_cliques(rows_of_bits(5, edges), line, line, bound=NONE)
    assert found.size == 3
    assert found.union.tolist() == [True, True, True, True, False]
    assert found.n_found == 2
    assert found.certified


def test_equals_definition_on_random_graphs():
    rng = np.random.default_rng(1)
    for _ in range(ROUNDS // 4):
        n = int(rng.integers(1, 14))
        edges = {(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < rng.uniform(0.1, 0.95)}
        line = np.arange(n, dtype=np.int32)
        found = cliques.maximum_cliques(rows_of_bits(n, edges), line, line, bound=NONE)
        expected = naive.maximum_cliques(n, edges)
        assert found.size == len(expected[0])
        assert set(np.flatnonzero(found.union).tolist()) == set().union(*expected)
        assert frozenset(found.clique.tolist()) in expected
        assert 1 <= found.n_found <= len(expected)


@pytest.mark.parametrize("closed", [False, True])
def test_product_graph_equals_definition(closed):
    rng = np.random.default_rng(2)
    for _ in range(ROUNDS // 20):
        d1, d2, labels1, labels2 = random_files(rng, 7, 6, 3)
        low, high = (-1.0, 1.0) if closed else (-1.0, 1.5)
        s = sides_of(
            d1, d2, labels1, labels2, product.Window(low, high).closed() if closed else product.Window(low, high), 3
        )

        def agrees(a, b, low=low, high=high):
            return low <= b - a <= high if closed else low < b - a < high

        assert edges_of(s) == naive.product_graph(d1, d2, labels1, labels2, agrees)


def test_a_relative_window_follows_the_distance():
    d = np.array([[0.0, 100.0], [100.0, 0.0]])
    for other, same in ((109.0, True), (110.0, True), (110.1, False), (89.9, False), (90.0, True)):
        window = product.Window(0.0, 0.0, 0.9, 1.1).closed()
        assert product.agree(window, 100.0, other) == same
        d2 = d * other / 100
        s = sides_of(d, d2, np.zeros(2, dtype=int), np.zeros(2, dtype=int), window, 1)
        assert len(edges_of(s)[1]) == (2 if same else 0)


def test_bounds_and_thinning_lose_no_clique():
    rng = np.random.default_rng(3)
    for _ in range(ROUNDS // 20):
        d1, d2, labels1, labels2 = random_files(rng, 9, 9, 2)
        s = sides_of(d1, d2, labels1, labels2, product.Window(-0.8, 0.8), 2)
        size, _, pairs = naive.attack(d1, d2, labels1, labels2, lambda a, b: -0.8 < b - a < 0.8)
        rows, cols = product.vertices(s.start1, s.start2, s.couples, s.first)
        bounds = product.matching_bounds(s, rows, cols)
        for u in range(len(rows)):
            if (rows[u], cols[u]) in pairs:
                assert bounds[u] >= size
        keep = np.arange(len(rows), dtype=np.int32)
        left = hashed.thin(s, keep, rows, cols, size)
        assert pairs <= set(zip(rows[left].tolist(), cols[left].tolist(), strict=True))


def test_thinning_in_many_passes_loses_no_clique(monkeypatch):
    monkeypatch.setattr(hashed, "SMALL", 4)
    test_bounds_and_thinning_lose_no_clique()


def test_testing_all_pairs_equals_window_joins_in_larger_files():
    rng = np.random.default_rng(5)
    n_labels, size = 3, (20, 12) if config.DISABLE_JIT else (140, 90)
    window = product.Window(-0.05, 0.02, 0.97, 1.04).closed()
    d1, d2, labels1, labels2 = random_files(rng, *size, n_labels)
    d1 *= rng.uniform(0.9, 1.1, size=d1.shape)
    edges = np.arange(n_labels + 1)
    couples = np.array([[0, 0], [0, 1], [1, 0], [2, 2]])  # labels within a distance: several couples of one label
    starts = np.searchsorted(labels1, edges), np.searchsorted(labels2, edges)
    s = product.sides((d1 + d1.T) / 2, d2, *starts, couples, window)
    rows, cols = product.vertices(s.start1, s.start2, s.couples, s.first)
    unsorted = product.sides(s.d1, s.d2, *starts, couples, window, joins=False)
    bits = joined(s, rows, cols)
    assert int(np.bitwise_count(bits).sum()) > 100
    assert (bits == product.adjacency(unsorted, rows, cols)).all()
    mixed = rng.permutation(len(rows)).astype(np.int32)  # vertices in any order
    found = product.adjacency_of(s.d1, s.d2, rows[mixed], cols[mixed], window)
    assert all(
        words.has(found[i], j) == words.has(bits[mixed[i]], mixed[j]) for i, j in rng.integers(0, len(rows), (9999, 2))
    )


def test_pruning_loses_no_clique_and_keeps_its_edges():
    rng = np.random.default_rng(6)
    for _ in range(ROUNDS // 10):
        d1, d2, labels1, labels2 = random_files(rng, 8, 8, 2)
        s = sides_of(d1, d2, labels1, labels2, product.Window(-0.8, 0.8), 2)
        vertices, edges = edges_of(s)
        expected = naive.maximum_cliques(len(vertices), edges)
        rows, cols = product.vertices(s.start1, s.start2, s.couples, s.first)
        bits, kept = truss.prune(product.adjacency(s, rows, cols), rows, cols, len(expected[0]))
        place = {int(u): k for k, u in enumerate(kept)}
        for clique in expected:
            assert all(words.has(bits[place[u]], place[v]) for u, v in combinations(clique, 2))
        left = {
            (int(kept[i]), int(kept[j]))
            for i in range(len(kept))
            for j in range(i + 1, len(kept))
            if words.has(bits[i], j)
        }
        assert left <= edges
        back = {(int(kept[j]), int(kept[i])) for i in range(len(kept)) for j in range(i) if words.has(bits[i], j)}
        assert back == left  # an edge goes on both sides


def test_a_budget_that_ends_is_said():
    rng = np.random.default_rng(4)
    n = 60
    edges = {(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.7}
    line = np.arange(n, dtype=np.int32)
    assert not cliques.maximum_cliques(rows_of_bits(n, edges), line, line, bound=NONE, budget=3).certified
    assert cliques.maximum_cliques(rows_of_bits(n, edges), line, line, bound=NONE).certified


def test_an_empty_graph_has_no_clique():
    found = cliques.maximum_cliques(rows_of_bits(0, set()), NONE, NONE, bound=NONE)
    assert found.size == 0
    assert found.certified


@pytest.mark.parametrize("n", [1, 5, 63, 64, 65, 130, 200])
def test_the_lower_half_mirrors_the_upper(n):
    upper = np.triu(np.random.default_rng(n).random((n, n)) < 0.3, 1)

    def packed(square):
        wide = np.zeros((n, 64 * words.words_for(n)), dtype=bool)
        wide[:, :n] = square
        return np.packbits(wide, axis=1, bitorder="little").view(np.uint64).copy()

    rows = packed(upper)
    words.mirror(rows)
    assert (rows == packed(upper | upper.T)).all()
