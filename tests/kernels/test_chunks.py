"""Work in chunks over threads: all of it once, also in chunks of chunks, and errors come out."""

from threading import Barrier
from time import sleep

import numba as nb
import numpy as np
import pytest

from unmask.kernels.compiling import in_chunks


@pytest.mark.parametrize("threads", [1, 2])
def test_every_item_is_worked_on_once_also_by_work_that_is_in_chunks_itself(threads):
    done, told = np.zeros(1000, dtype=int), []

    def inner(part):
        def add(piece):
            done[part.start + piece.start : part.start + piece.stop] += 1

        in_chunks(add, part.stop - part.start, chunk=7)

    before = nb.get_num_threads()
    nb.set_num_threads(min(threads, before))
    in_chunks(inner, len(done), chunk=64, progress=told.append)
    nb.set_num_threads(before)
    assert (done == 1).all()
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_an_error_comes_out_and_the_threads_can_be_used_again():
    def fail(part):
        raise ValueError(part.start)

    with pytest.raises(ValueError, match="^0$"):
        in_chunks(fail, 100, chunk=10)
    seen = []
    in_chunks(lambda part: seen.append(part.start), 100, chunk=10)
    assert sorted(seen) == list(range(0, 100, 10))


@pytest.mark.skipif(nb.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize("told", [None, lambda _done: None])
def test_after_an_error_no_other_chunk_is_begun_and_the_first_error_comes_out(told):
    begun, together = [], Barrier(2)

    def fail(part):
        begun.append(part.start)
        together.wait()  # both threads have one chunk each, and both fail
        raise ValueError(part.start)

    before = nb.get_num_threads()
    nb.set_num_threads(2)
    with pytest.raises(ValueError, match="^0$"):
        in_chunks(fail, 1000, chunk=10, progress=told)
    nb.set_num_threads(before)
    assert sorted(begun) == [0, 10]


def test_who_is_told_may_end_the_work():
    begun = []

    def stop(done):
        raise KeyboardInterrupt(done)

    def work(part):
        begun.append(part.start)
        sleep(0.002)

    with pytest.raises(KeyboardInterrupt):
        in_chunks(work, 1000, chunk=1, progress=stop)
    assert len(begun) < 100
    assert len(begun) == len(set(begun))
