"""How kernels are compiled: kept on disk, without the interpreter lock, and typed as the functions they are.

`lean` leaves numba's reference counts out. A Tree has fifteen arrays, and counting them atomically at every call took
two thirds of the time of a search. A lean function cannot allocate: its caller brings the room it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba as nb

_njit: Any = nb.njit  # its stubs know neither _nrt nor that a compiled function keeps its type

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile."""
    return cast("F", _njit(cache=True, nogil=True)(function))


def lean(function: F) -> F:
    """Compile without reference counts."""
    return cast("F", _njit(cache=True, nogil=True, _nrt=False)(function))


def inlined(function: F) -> F:
    """Compile without reference counts, and into every caller."""
    return cast("F", _njit(cache=True, nogil=True, forceinline=True, _nrt=False)(function))
