"""How kernels are compiled: kept on disk, without the interpreter lock, and typed as the functions they are.

`lean` leaves numba's reference counts out. A Tree has fifteen arrays, and counting them atomically at every call took
two thirds of the time of a search. A lean function cannot allocate: its caller brings the buffers it needs.

Translating the arguments of a call from Python, thirty arrays in a search, is a large part of what is compiled: `inner`
functions, which only kernels call, do without.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numba as nb

native: Any = None
if not (os.environ.get("UNMASK_PLAIN_KERNELS") or nb.config.DISABLE_JIT):  # type: ignore[attr-defined]
    try:
        from unmask.kernels.compiling import native
    except (AttributeError, ImportError):  # a numba without the private features: everything runs as written
        native = None

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile."""
    return _compiled(function, "wrapped")


def lean(function: F) -> F:
    """Compile without reference counts."""
    return _compiled(function, "wrapped", "uncounted")


def inner(function: F) -> F:
    """Compile without reference counts, for kernels only: a call from Python would crash (test_architecture.py)."""
    return _compiled(function, "unwrapped", "uncounted")


def inlined(function: F) -> F:
    """Compile as inner(), and into every caller."""
    return _compiled(function, "unwrapped", "uncounted", "forced")


def machine(function: F) -> F:
    """Take the machine code of this name from native.py, or compile the function as it is written."""
    if not native:
        return inlined(function)
    code = getattr(native, function.__name__)
    code.py_func = function  # for tests, as numba's own functions have it
    return cast("F", code)


def _compiled(function: F, *ways: str) -> F:
    options = {} if not native else {name: value for way in ways for name, value in native.OPTIONS[way].items()}
    if native:
        options["pipeline_class"] = native.PartCompiler if "unwrapped" in ways else native.KernelCompiler
    if not native:
        function.__qualname__ += "_plain"  # has a place of its own in numba's cache on disk
    compiled = nb.njit(nogil=True, **options)(function)
    if compiled is not function:  # numba is not switched off
        if native:
            native.compile_little(compiled)
        keep = native.keep_carefully if native else type(compiled).enable_caching
        with suppress(RuntimeError):  # no folder can be written, neither beside the source nor the user's own
            keep(compiled)
    return cast("F", compiled)
