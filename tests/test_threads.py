import numpy as np
import polars as pl
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import unmask
from unmask.assessment import discover, run_measure
from unmask.evidence import Context
from unmask.kernels.base import LEAF
from unmask.kernels.search import decide, decide_few, nearest, plant
from unmask.kernels.search.splitting import _SHARED
from unmask.sampling import people_by_hash
from unmask.study import Study
from unmask.threads import one_thread


def threads():
    return [library["num_threads"] for library in ThreadpoolController().info()]


def test_every_loaded_library_has_one_thread_within_the_block_and_its_own_number_after_it():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2):
        before = threads()
        assert before
        with one_thread():
            assert set(threads()) == {1}
        assert threads() == before


def test_a_library_that_was_loaded_later_is_limited_too():
    with one_thread():
        pass
    import sklearn.ensemble  # noqa: F401 - brings OpenMP

    with one_thread():
        assert set(threads()) == {1}


@pytest.fixture
def on_threads(monkeypatch):
    """Run something on 1, 2 and 8 threads."""

    def run(work):
        found = []
        for threads in (1, 2, 8):
            monkeypatch.setattr("numba.get_num_threads", lambda threads=threads: threads)
            found.append(work())
        return found

    return run


def noisy(n, columns=5):
    rng = np.random.default_rng(0)
    own = pl.DataFrame({f"c{k}": rng.normal(size=n).round(3) for k in range(columns)})
    return unmask.Release(own, own.select(pl.all() + rng.normal(0, 0.4, n)))


def equal(found):
    return all(np.array_equal(one, other, equal_nan=True) for one, other in zip(found[0], found[-1], strict=True))


def test_trees_searches_and_decisions_are_the_same_on_any_number_of_threads(on_threads):
    """Enough leaves for threads to share the splitting, and decisions about few people by meeting all points."""
    space = Study(noisy(30_000)).index().space
    truth, few = np.arange(30_000), np.arange(0, 30_000, 20)
    assert len(space.points) // LEAF >= _SHARED

    def work():
        tree = plant(space)
        found = nearest(space.of(few), tree=tree._replace(probes=tree.probes[few]))
        return *tree[:10], *found, *decide(space, truth, tree=tree), *decide_few(space.of(few), truth[few], most=1e18)

    found = on_threads(work)
    assert equal(found)
    assert equal(found[:2])


@pytest.mark.parametrize("name", ["anonymity", "nearest", "one_to_one", "special_uniques"])
def test_measures_are_the_same_on_any_number_of_threads(on_threads, name):
    given = noisy(3000)
    found = on_threads(lambda: run_measure(discover()[name], given, Context(0)))
    assert len({str(one.observations) for one in found}) == 1


@pytest.mark.slow
def test_the_learnt_channel_is_the_same_on_any_number_of_threads(on_threads):
    given = noisy(7000, 3)  # beyond all pairs: by lists of candidates
    people = people_by_hash(given, 1500, 0)
    found = on_threads(lambda: run_measure(discover()["channel"], given, Context(0, brief=True, people=people)))
    assert len({str(one.observations) for one in found}) == 1
