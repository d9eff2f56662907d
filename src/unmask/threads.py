"""One thread for small work: sums do not hang on the number of threads, and none waits for another."""

import sys
from functools import lru_cache
from typing import Any


def one_thread() -> Any:  # noqa: ANN401 - threadpoolctl has no types
    """Limit the libraries of linear algebra and OpenMP to one thread, for as long as the ``with`` block runs.

    Looking for the loaded libraries reads the process's memory map, which takes longer than many a small model: it is
    done again only when modules were loaded since.
    """
    return _libraries(len(sys.modules)).limit(limits=1)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> Any:  # noqa: ANN401, ARG001 - the number says when to look again
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - comes with scikit-learn

    return ThreadpoolController()
