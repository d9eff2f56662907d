"""Here, on this machine: the kernels, with progress, and a look at the memory before a long run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import EngineError
from unmask.kernels.search import Decision, Nearest, Tree, decide, nearest, plant

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unmask.kernels.base import Space

    Progress = Callable[[float, str], None]

SHARE_OF_MEMORY = 0.8
PREPARING = "preparing (kernels are compiled once, on the first run)"


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


def check_search(space: Space) -> None:
    """Refuse a search that would not fit."""
    check_memory(
        memory_of_search(space),
        "the search for nearest records",
        "ask fewer people (sample=), or name fewer columns in quasi",
    )


def plant_tree(space: Space, tell: Progress) -> Tree:
    """Build the tree over the points, if it fits."""
    tell(0.0, PREPARING)
    check_search(space)
    return plant(space)


def find_nearest(space: Space, *, seed: int, tell: Progress, tree: Tree | None = None) -> Nearest:
    """Find the nearest points of every query, all ties counted."""
    tree = plant_tree(space, tell) if tree is None else tree
    return nearest(space, seed=seed, tree=tree, progress=lambda done: tell(done, "nearest records"))


def decide_truth(space: Space, truth: NDArray[np.int64], *, tell: Progress, tree: Tree | None = None) -> Decision:
    """Decide only whether the true point is among the nearest, and in how large a tie: far cheaper than the search."""
    tree = plant_tree(space, tell) if tree is None else tree
    return decide(space, truth, tree=tree, progress=lambda done: tell(done, "true records against nearer ones"))


def ask_only(space: Space, rows: NDArray[np.int64]) -> Space:
    """Keep some of the queries."""
    return space._replace(
        queries=np.ascontiguousarray(space.queries[rows]), query_codes=np.ascontiguousarray(space.query_codes[rows])
    )
