"""What an index finds against the whole distance matrix, on rank spaces with ties, gaps and categories."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import polars as pl
import pytest

from unmask.errors import EngineError
from unmask.kernels.search import distance_of_pairs
from unmask.max_knowledge.ranks import ranked
from unmask.study import ask
from unmask.study.ask import Index
from unmask.study.study import Study
from unmask.tables.release import Release


def table(rng, n=300):
    age = pl.Series(rng.integers(0, 30, n)).set(pl.Series(rng.random(n) < 0.1), None)
    return pl.DataFrame({"age": age, "pay": rng.normal(size=n).round(1), "town": rng.choice(["A", "B"], n)})


@pytest.mark.parametrize("ranks", ["ordinal", "average", "dense"])
def test_equal_to_the_whole_matrix(ranks):
    rng = np.random.default_rng(0)
    space = ranked(Release(table(rng), table(rng)), ranks=ranks).space
    n_queries, n_points = len(space.queries), len(space.points)
    rows, columns = np.divmod(np.arange(n_queries * n_points), n_points)
    matrix = distance_of_pairs(space, rows, columns).reshape(n_queries, n_points)
    least = matrix.min(axis=1)
    index = Index(space)
    assert index.nearest(seed=0).least == pytest.approx(least)
    truth = rng.integers(-1, n_points, n_queries)
    nearest = matrix <= least[:, None] * (1 + 1e-9)
    right = np.where(truth >= 0, nearest[np.arange(n_queries), truth], 0) / nearest.sum(axis=1)
    assert index.decide(truth).credit == pytest.approx(right)
    assert nearest[np.arange(n_queries), index.nearest(seed=1).row].all()
    start, tied = index.tied()
    assert np.diff(start).tolist() == nearest.sum(axis=1).tolist()
    assert nearest[np.repeat(np.arange(n_queries), np.diff(start)), tied].all()


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev", "permutation"])
def test_some_of_the_people_ask_the_same_tree(metric, monkeypatch):
    """Rows in any order, and twice: as if a space of their own were made for them."""
    rng = np.random.default_rng(1)
    release = Release(table(rng), table(rng))
    index = Study(release).index(metric=metric)
    rows = rng.integers(0, 300, 90)
    truth = rng.integers(0, 300, 90)
    own = Index(index.space.of(rows))
    wanted = own.nearest(seed=3), own.decide(truth), own.rank_of_truth(truth, 20), own.nearest_k(4, seed=3), own.tied()
    planted = []
    monkeypatch.setattr(ask, "plant", lambda space, plant=ask.plant: planted.append(1) or plant(space))
    found = (
        index.nearest(seed=3, rows=rows),
        index.decide(truth, rows=rows),
        index.rank_of_truth(truth, 20, rows=rows),
        index.nearest_k(4, seed=3, rows=rows),
        index.tied(rows),
    )
    for mine, theirs in zip(found, wanted, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))
    assert planted == [1]


def test_a_sample_is_asked_where_everybody_would_not_fit(monkeypatch):
    rng = np.random.default_rng(2)
    index = Study(Release(table(rng), table(rng)[:40].with_row_index("id"), synthetic=True)).index()
    few, truth = np.arange(10), np.arange(10)
    wanted = Index(index.space.of(few)).decide(truth).credit
    monkeypatch.setattr("unmask.study.memory.available_memory", lambda: 20_000)
    with pytest.raises(EngineError, match=r"would need(?s:.*)sample="):
        index.nearest(seed=0)
    assert np.array_equal(index.decide(truth, rows=few).credit, wanted)


@pytest.mark.parametrize("many", [1, 10**9])
def test_few_people_among_many_points_are_decided_without_a_tree_and_equally(monkeypatch, many):
    monkeypatch.setattr(ask, "MANY", many)
    rng = np.random.default_rng(3)
    space = ranked(Release(table(rng), table(rng)), ranks="average").space
    index, rows = Index(space), np.array([1, 5, 6, 200])
    truth = rng.integers(-1, len(space.points), len(space.queries))
    few = index.decide(truth[rows], rows=rows)
    assert (index._tree is None) == (many == 1)
    assert np.array_equal(few.credit, index.decide(truth).credit[rows])


@pytest.mark.parametrize(("columns", "asked"), [(ask.WIDE - 1, 0), (ask.WIDE, 1)])
def test_trees_of_many_attributes_are_planted_with_one_thread_of_openblas(monkeypatch, columns, asked):
    limits = []

    @contextmanager
    def noted():
        limits.append("one")
        yield

    monkeypatch.setattr(ask, "one_thread", noted)
    values = np.random.default_rng(0).normal(size=(300, columns))
    people = pl.DataFrame({f"c{k}": values[:, k] for k in range(columns)})
    index = Study(Release(people, people)).index()
    assert (index.decide(np.arange(300)).credit == 1.0).all()
    assert len(limits) == asked
