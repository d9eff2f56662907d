"""How kernels are compiled: kept on disk, without the interpreter lock, and typed as the functions they are.

`lean` leaves numba's reference counts out. A Tree has fifteen arrays, and counting them atomically at every call took
two thirds of the time of a search. A lean function cannot allocate: its caller brings the room it needs.

Translating the arguments of a call from Python, thirty arrays in a search, is a large part of what is compiled: `inner`
functions, which only kernels call, do without.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba as nb

_njit: Any = nb.njit  # its stubs know neither _nrt nor that a compiled function keeps its type
_OPTIONS = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
_INSIDE = {**_OPTIONS, "no_cpython_wrapper": True, "_nrt": False}

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile."""
    return cast("F", _njit(**_OPTIONS)(function))


def lean(function: F) -> F:
    """Compile without reference counts."""
    return cast("F", _njit(**_OPTIONS, _nrt=False)(function))


def inner(function: F) -> F:
    """Compile without reference counts, for kernels only: a call from Python would crash (test_architecture.py)."""
    return cast("F", _njit(**_INSIDE)(function))


def inlined(function: F) -> F:
    """Compile as inner(), and into every caller."""
    return cast("F", _njit(**_INSIDE, forceinline=True)(function))
