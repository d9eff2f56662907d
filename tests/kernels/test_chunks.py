"""Work in chunks over threads: all of it once, also in chunks of chunks, and errors come out."""

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
