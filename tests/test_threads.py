import numpy as np
from threadpoolctl import ThreadpoolController, threadpool_limits

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
