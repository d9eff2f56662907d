"""Seconds on the wall and of processors, side by side. On a shared machine the second are less disturbed."""

from __future__ import annotations

import resource
import time
from typing import NamedTuple


class Seconds(NamedTuple):
    wall: float
    cpu: float

    def __add__(self, other):
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)

    def times(self, factor):
        return Seconds(self.wall * factor, self.cpu * factor)

    def over(self, other):
        """Ratio of processor times and, in brackets, of times on the clock."""
        return f"{self.cpu / other.cpu:.1f} ({self.wall / other.wall:.1f})"

    def __str__(self):
        return f"{self.wall:.3f} s ({self.cpu:.3f} of processors)"


def processors():
    """Seconds of processors, those of processes that were begun and have ended among them."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


def now():
    return Seconds(time.perf_counter(), processors())


def since(start):
    end = now()
    return Seconds(end.wall - start.wall, end.cpu - start.cpu)


def timed(work):
    start = now()
    result = work()
    return since(start), result


def best(work, times):
    """The fastest of some runs: what the work takes when nobody disturbs it."""
    runs = [timed(work) for _ in range(times)]
    return min((seconds for seconds, _ in runs), key=lambda seconds: seconds.cpu), runs[-1][1]


def peak():
    """Peak resident memory of this process, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
