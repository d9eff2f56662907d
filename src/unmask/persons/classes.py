"""People with the same rows, each as often: who cannot be told apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.arrays import Ints
from unmask.kernels.bags import Bags
from unmask.study import number_rows


class Classes(NamedTuple):
    """The class of each person: those of one class have equal bags of rows."""

    of: Ints


def classes_of(bags: Bags, people: int | None = None) -> Classes:
    """Group the first people (all when None) by their rows."""
    return Classes(group_bags(bags.start, number_rows(bags.codes), people))


def group_bags(start: Ints, kinds: Ints, people: int | None = None) -> Ints:
    """A number for each person; equal where the bags of kinds of rows are equal."""
    seen: dict[bytes, int] = {}
    n = start.size - 1 if people is None else people
    found = np.empty(n, dtype=np.int64)
    for p in range(n):
        bag = np.sort(kinds[start[p] : start[p + 1]]).tobytes()
        found[p] = seen.setdefault(bag, len(seen))
    return found
