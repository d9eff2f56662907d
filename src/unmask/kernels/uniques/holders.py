"""Who carries the values of some records: a table of the records by hash, and one look for each person.

The records are all different on the attributes at hand, so each person carries the values of one of them at most. A
place of the table holds 31 bits of a record's hash above its number: whoever has other bits need not be compared. Bits,
eight for each place, fit into a faster memory than the table does, and tell of most people that no record is theirs.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import inner, kernel


@inner
def _hash(columns: Codes, keys: Ints, row: int) -> int:
    """31 bits of a row's values: steps of 32 bits, so that plain Python gives the same numbers."""
    h = 0x9E3779B1
    for k in range(keys.shape[0]):
        h = ((h ^ int(columns[keys[k], row])) * 0x2C1B3C6D) & 0xFFFFFFFF
        h ^= h >> 15
    h = (h * 0x297A2D39) & 0xFFFFFFFF
    return (h ^ (h >> 15)) >> 1


@kernel
def find_holders(known: Codes, carried: Codes, keys: Ints, holders: Ints) -> tuple[Codes, Codes]:
    """Everybody who carries the values of one of ``holders``, no two of them alike on ``keys``: people, and records.

    Attributes are rows of ``known`` (of people) and ``carried`` (of records), so that one is read without the others.
    """
    size = 16
    while size < 2 * holders.shape[0]:
        size *= 2
    table, bits = np.zeros(size, np.int64), np.zeros(size, np.uint8)
    for i in range(holders.shape[0]):
        h = _hash(carried, keys, holders[i])
        bit = h & (8 * size - 1)
        bits[bit >> 3] |= np.uint8(1 << (bit & 7))
        at = h & (size - 1)
        while table[at]:
            at = (at + 1) & (size - 1)
        table[at] = (h << 32) | (i + 1)
    n = known.shape[1]
    people, records = np.empty(n, np.int32), np.empty(n, np.int32)
    many = 0
    for person in range(n):
        h = _hash(known, keys, person)
        bit = h & (8 * size - 1)
        if not bits[bit >> 3] >> (bit & 7) & 1:
            continue
        at = h & (size - 1)
        while table[at]:
            if table[at] >> 32 == h:
                record = holders[(table[at] & 0xFFFFFFFF) - 1]
                same = True
                for k in range(keys.shape[0]):
                    same = same and known[keys[k], person] == carried[keys[k], record]
                if same:
                    people[many], records[many] = person, record
                    many += 1
                    break
            at = (at + 1) & (size - 1)
    return people[:many].copy(), records[:many].copy()
