"""Few records that share a value, compared two by two: bits of a word tell of all further attributes at once.

Where values are many, most groups are of a handful of records, and splitting them by each attribute in turn would look
up a value far away for each row and attribute.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes
from unmask.kernels.compiling import inner, lowest
from unmask.kernels.uniques.sides import PAIRS, VALUE, Out, Room, Side, Told, is_told, note


@inner
def compare_few(
    high: int, max_size: int, listed: int, records: Side, people: Side, told: Told, room: Room, out: Out
) -> None:
    """Find all MSUs with this highest attribute among the records with the value at hand, and who carries their values.

    Each of the people claims a record once, by the first MSU whose values they carry.
    """
    begin, first = records.starts[out.state[VALUE]], people.starts[out.state[VALUE]]
    many = records.starts[out.state[VALUE] + 1] - begin
    others = people.starts[out.state[VALUE] + 1] - first
    _compare_records(high, begin, many, records, room)
    for i in range(many):
        row = records.order[begin + i]
        room.now[i] = -1
        if not told.alone[row]:
            continue
        shared = np.int64(0)
        for j in range(many):
            shared |= room.equal[i, j]
        room.now[i] = ~shared | told.single[row]
        fresh = ~shared & ~told.single[row] & ((1 << high) - 1)
        if not fresh and (max_size < 3 or not ~room.now[i]):
            continue
        for j in range(others):
            room.agree[i, j] = _agree(people.table, first + j, records.table, begin + i, high)
        _note_pairs(high, fresh, row, listed, told, out)
        if not listed >> high & 1:
            _claim(i, fresh & ~listed, 1, others, records, people, room, out)
        if max_size > 2:
            _note_triples(high, i, listed, records, people, told, room, out)


@inner
def _compare_records(high: int, begin: int, many: int, records: Side, room: Room) -> None:
    for i in range(many):
        room.equal[i, i] = 0
        for j in range(i):
            same = _agree(records.table, begin + i, records.table, begin + j, high)
            room.equal[i, j] = same
            room.equal[j, i] = same


@inner
def _agree(left: Codes, row: int, right: Codes, other: int, many: int) -> int:
    """Bits of the attributes on which two rows have the same value, among the first so many."""
    bits = 0
    for k in range(many):
        if left[row, k] == right[other, k]:
            bits |= 1 << k
    return bits


@inner
def _note_pairs(high: int, fresh: int, row: int, listed: int, told: Told, out: Out) -> None:
    """Note the MSUs of a record with one more attribute, by bits."""
    left = fresh
    while left:
        second = lowest(left)
        left &= left - 1
        out.number[second + 1, 0] += 1
        note(row, 1 << high | 1 << second, listed, told, out)


@inner
def _note_triples(
    high: int, i: int, listed: int, records: Side, people: Side, told: Told, room: Room, out: Out
) -> None:
    """Note the MSUs of a record with two more attributes, on neither of which it is unique; and who claims it."""
    value = out.state[VALUE]
    begin, row = records.starts[value], records.order[records.starts[value] + i]
    many, others = records.starts[value + 1] - begin, people.starts[value + 1] - people.starts[value]
    seconds = ~room.now[i]
    while seconds:
        second = lowest(seconds)
        seconds &= seconds - 1
        thirds = ~room.now[i] & ((1 << second) - 1)
        while thirds:
            third = lowest(thirds)
            thirds &= thirds - 1
            both = 1 << second | 1 << third
            if _shares(i, both, many, room) or is_told(told, row, second, third):
                continue
            out.number[second + 1, third + 1] += 1
            mask = both | 1 << high
            note(row, mask, listed, told, out)
            if not listed & mask:
                _claim(i, both, 2, others, records, people, room, out)


@inner
def _shares(i: int, both: int, many: int, room: Room) -> bool:
    """Whether another record has the same values of two attributes."""
    for j in range(many):  # noqa: SIM110 - numba has no generators without memory of their own
        if room.equal[i, j] & both == both:
            return True
    return False


@inner
def _claim(i: int, attributes: int, least: int, others: int, records: Side, people: Side, room: Room, out: Out) -> None:
    """People who agree with a record on one, or on both, of these attributes claim it, and that once."""
    at, value = out.state[PAIRS], out.state[VALUE]
    for j in range(others):
        common = room.agree[i, j] & attributes
        if common and (least == 1 or common == attributes):
            room.agree[i, j] = 0
            out.people[at] = people.order[people.starts[value] + j]
            out.records[at] = records.order[records.starts[value] + i]
            at += 1
    out.state[PAIRS] = at
