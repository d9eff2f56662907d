"""Memory: how much there is, whether a run will fit, and a store that keeps what was made within bounds."""

from __future__ import annotations

import ctypes
import gc
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np

from unmask.errors import EngineError
from unmask.kernels.base import Space
from unmask.kernels.compiling import in_threads

Made = TypeVar("Made")

SHARE_OF_MEMORY = 0.8
SHARE_TO_KEEP = 0.1  # of the free memory that made things may hold ...
MOST_TO_KEEP = 2**30  # ... and the most, in bytes
MANY_ROWS = 200_000
ROWS_TOLD = 256  # about so many rows are in the outline of an array
LARGE = 2**24  # bytes of arrays that are hashed in threads


def available_memory() -> int:
    """Bytes of memory that are free or can be freed, within the limits of the container and of the process."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") + _reclaimable()
    except (ValueError, OSError, AttributeError):  # not on this system: do not refuse what cannot be judged
        return 2**62
    return min(free, room_in_container(), _room_in_process())


def _reclaimable() -> int:
    sizes = _table("/proc/meminfo")
    return max(0, 1024 * (sizes.get("MemAvailable", 0) - sizes.get("MemFree", 0)))


def room_in_container(folder: str = "/sys/fs/cgroup") -> int:
    """Bytes up to the limit of a control group (version 2, then 1); what the system only caches does not count."""
    for limit, used, cached in (
        ("memory.max", "memory.current", ("memory.stat", "inactive_file")),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", ("memory/memory.stat", "total_inactive_file")),
    ):
        most, now = (_table(f"{folder}/{name}").get("") for name in (limit, used))
        if most is not None and now is not None:
            return max(0, most - now + _table(f"{folder}/{cached[0]}").get(cached[1], 0))
    return 2**62


def _room_in_process() -> int:
    """Bytes up to what `ulimit -v` allows this process."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return 2**62
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    used = 1024 * _table("/proc/self/status").get("VmSize", 0)
    return 2**62 if most == resource.RLIM_INFINITY else max(0, most - used)


def _table(path: str) -> dict[str, int]:
    """Whole numbers of a file of the system, by the word before them; nothing where there is no such file."""
    found = {}
    try:
        with open(path, encoding="ascii", errors="replace") as file:  # noqa: PTH123 - not a path of the user's
            for line in file:
                *name, number = line.replace(":", " ").removesuffix("kB\n").split()[:2] or [""]
                if number.isdigit():
                    found["".join(name)] = int(number)
    except OSError:
        return {}
    return found


def check_memory(needed: float, what: str, hint: str) -> None:
    """Refuse a run that would not fit, with the estimate and advice, before it begins."""
    free = SHARE_OF_MEMORY * available_memory()
    if needed > free:
        raise EngineError(
            f"{what} would need about {needed / 2**30:.1f} GB", got=f"{free / 2**30:.1f} GB to use", hint=hint
        )


def memory_of_search(space: Space) -> int:
    """Bytes that a tree and the results of a search take: coordinates in float64, float32 and boxes, and rows."""
    n_queries, n_points = len(space.queries), len(space.points)
    attributes = space.queries.shape[1] + space.query_codes.shape[1]
    return int(n_queries * 40 + n_points * 24 + attributes * (n_points * 32 + n_queries * 16))


def fits(space: Space) -> bool:
    """Whether a search would fit."""
    return memory_of_search(space) <= SHARE_OF_MEMORY * available_memory()


def check_search(space: Space) -> None:
    """Refuse a search that would not fit."""
    check_memory(
        memory_of_search(space),
        "the search for nearest records",
        "ask fewer people (sample=), or name fewer columns in quasi",
    )


def give_back(rows: int) -> None:
    """Return what is no longer used to the system, after work on many rows: Python and the C library hold on to it."""
    if rows > MANY_ROWS:
        gc.collect()
        with suppress(OSError, TypeError, AttributeError):  # systems without it
            ctypes.CDLL(None).malloc_trim(0)


class Kept:
    """Things that were made once, by what they were made from; the least used go first when they grow too large."""

    __slots__ = ("_made", "_sizes")

    def __init__(self) -> None:
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}

    def find(self, key: Hashable) -> Any:  # noqa: ANN401 - whatever was kept
        """Return what is kept under the key, or None."""
        if key in self._made:
            self._made.move_to_end(key)
        return self._made.get(key)

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what is kept under the key, or make it and keep it."""
        if key in self._made:
            return self.find(key)  # type: ignore[no-any-return]
        made = make()
        self._made[key], self._sizes[key] = made, size_of(made)
        limit = min(MOST_TO_KEEP, SHARE_TO_KEEP * available_memory())
        while len(self._made) > 1 and sum(self._sizes.values()) > limit:
            oldest, _ = self._made.popitem(last=False)
            del self._sizes[oldest]
        return made


def size_of(thing: Any) -> int:  # noqa: ANN401 - anything that holds arrays
    """Bytes of the arrays in a thing, in its fields and in tuples of them; an index counts with its tree."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if hasattr(thing, "size_in_memory"):
        return int(thing.size_in_memory)
    if isinstance(thing, tuple):
        return sum(map(size_of, thing))
    if is_dataclass(thing):
        return sum(size_of(getattr(thing, field.name)) for field in fields(thing))
    return 0


def digest(*things: Any) -> str:  # noqa: ANN401 - arrays, numbers, words and tuples of them
    """A fingerprint of contents: the same for equal arrays, whoever made them."""
    hasher = blake2b(digest_size=16)
    for thing in things:
        if isinstance(thing, np.ndarray):
            hasher.update(f"{thing.shape}{thing.dtype}".encode())
            hasher.update(np.ascontiguousarray(thing).data)
        elif isinstance(thing, tuple):
            large = size_of(thing) > LARGE
            hasher.update(f"({' '.join(in_threads(digest, thing, shared=large))})".encode())
        else:
            hasher.update(f"{thing!r};".encode())
    return hasher.hexdigest()


def outline(*things: Any) -> str:  # noqa: ANN401 - arrays and numbers
    """A fingerprint of some rows of each array and of its sum: equal contents have the same, and seldom others.

    Where it is the same, `are_equal` tells. A digest of all contents takes a tenth of the time of a decision.
    """
    told: list[Any] = []
    for thing in things:
        if isinstance(thing, np.ndarray):
            told += [thing.shape, int(_words(thing).sum(dtype=np.int64)), thing[:: len(thing) // ROWS_TOLD or 1]]
        else:
            told.append(thing)
    return digest(*told)


def are_equal(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether the arrays and numbers of two tuples are the same to the last bit."""
    return all(
        a.dtype == b.dtype and np.array_equal(_words(a), _words(b)) if isinstance(a, np.ndarray) else a == b
        for a, b in zip(one, other, strict=True)
    )


def _words(array: Any) -> Any:  # noqa: ANN401 - of any kind of number
    """The same memory as whole numbers."""
    return np.ascontiguousarray(array).view(f"i{array.itemsize}")
