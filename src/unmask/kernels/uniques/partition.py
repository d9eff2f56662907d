"""Partitions of classes of equal records, refined one attribute at a time.

A *class* is a combination of key values that occurs; ``counts`` says how many records share it. A partition lists the
classes group by group: group g is ``rows[starts[g]:starts[g + 1]]``. Refining by one more attribute splits each group
by a counting sort that touches only the group's own members, so a walk over the lattice of attribute sets costs what
is left of the partition and not the table (stripped partitions, as in Manning, Haglin, Keane 2008 and in TANE).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Codes = NDArray[np.int32]


@njit(cache=True)
def split(
    column: Codes,
    rows: Codes,
    begin: int,
    end: int,
    out: Codes,
    at: int,
    edges: Codes,
    tally: Codes,
    touched: Codes,
) -> int:
    """Order ``rows[begin:end]`` by their code into ``out[at:]``; write where parts begin; return how many there are.

    ``edges[p]`` is the beginning of part p within ``out`` and ``edges[parts]`` the end. ``tally`` (one cell for each
    code, all zero) is left all zero; ``touched`` is scratch.
    """
    if end - begin == 2:
        first, second = rows[begin], rows[begin + 1]
        out[at], out[at + 1] = first, second
        edges[0] = at
        if column[first] == column[second]:
            edges[1] = at + 2
            return 1
        edges[1], edges[2] = at + 1, at + 2
        return 2
    parts = 0
    for i in range(begin, end):
        code = column[rows[i]]
        if tally[code] == 0:
            touched[parts] = code
            parts += 1
        tally[code] += 1
    place = at
    for p in range(parts):
        edges[p] = place
        place += tally[touched[p]]
        tally[touched[p]] = edges[p]
    edges[parts] = place
    for i in range(begin, end):
        code = column[rows[i]]
        out[tally[code]] = rows[i]
        tally[code] += 1
    for p in range(parts):
        tally[touched[p]] = 0
    return parts
