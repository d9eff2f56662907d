"""Few records that share a value, compared two by two: bits of a word tell of all further attributes at once.

Where values are many, most groups are of a handful of records, and splitting them by each attribute in turn would look
up a value far away for each row and attribute.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes
from unmask.kernels.compiling import inner, lowest
from unmask.kernels.uniques.sides import PAIRS, VALUE, Few, Out, Side, Told, is_told, note, settle, single_of


@inner
def compare_few(
    high: int, max_size: int, listed: int, records: Side, people: Side, told: Told, few: Few, out: Out
) -> None:
    """Find all MSUs with this highest attribute among the records with the value at hand, and who carries their values.

    Each of the people claims a record once, by the first MSU whose values they carry.
    """
    begin, first = records.starts[out.state[VALUE]], people.starts[out.state[VALUE]]
    many = records.starts[out.state[VALUE] + 1] - begin
    others = people.starts[out.state[VALUE] + 1] - first
    _bring(high, begin, many, records, few.rows)
    _bring(high, first, others, people, few.others)
    _compare_records(high, many, few)
    for i in range(many):
        row = records.order[begin + i]
        single, shared = single_of(row, records.table), few.shared[i]
        if single == -1:
            continue
        settle(high, row, shared, single, listed, told, out)
        deeper = max_size > 2 and shared & (shared - 1) != 0
        fresh = 0 if listed >> high & 1 else ((1 << high) - 1) & ~(shared | single | listed)
        if not fresh and not deeper:
            continue
        for j in range(others):
            few.agree[i, j] = _agree(few.others, j, few.rows, i, high)
        _claim(i, fresh, 1, others, records, people, few, out)
        if deeper:
            _note_triples(high, i, listed, records, people, told, few, out)


@inner
def _bring(high: int, begin: int, many: int, side: Side, rows: Codes) -> None:
    for i in range(many):
        row = side.order[begin + i]
        for k in range(high):
            rows[i, k] = side.table[row, k]


@inner
def _compare_records(high: int, many: int, few: Few) -> None:
    """On which attributes any two have the same value; and each with any other, into ``now``."""
    for i in range(many):
        few.equal[i, i] = 0
        shared = np.int64(0)
        for j in range(i):
            same = _agree(few.rows, i, few.rows, j, high)
            few.equal[i, j] = same
            few.equal[j, i] = same
            few.shared[j] |= same
            shared |= same
        few.shared[i] = shared


@inner
def _agree(left: Codes, row: int, right: Codes, other: int, many: int) -> int:
    """Bits of the attributes on which two rows have the same value, among the first so many."""
    bits = 0
    for k in range(many):
        if left[row, k] == right[other, k]:
            bits |= 1 << k
    return bits


@inner
def _note_triples(high: int, i: int, listed: int, records: Side, people: Side, told: Told, few: Few, out: Out) -> None:
    """Note the MSUs of a record with two more attributes, on neither of which it is unique; and who claims it."""
    value = out.state[VALUE]
    begin, row = records.starts[value], records.order[records.starts[value] + i]
    many, others = records.starts[value + 1] - begin, people.starts[value + 1] - people.starts[value]
    seconds = few.shared[i]
    while seconds:
        second = lowest(seconds)
        seconds &= seconds - 1
        thirds = few.shared[i] & ((1 << second) - 1)
        while thirds:
            third = lowest(thirds)
            thirds &= thirds - 1
            both = 1 << second | 1 << third
            if _shares(i, both, many, few) or is_told(told, row, second, third):
                continue
            out.number[second + 1, third + 1] += 1
            mask = both | 1 << high
            note(row, mask, listed, told, out)
            if not listed & mask:
                _claim(i, both, 2, others, records, people, few, out)


@inner
def _shares(i: int, both: int, many: int, few: Few) -> bool:
    """Whether another record has the same values of two attributes."""
    for j in range(many):  # noqa: SIM110 - numba has no generators without memory of their own
        if few.equal[i, j] & both == both:
            return True
    return False


@inner
def _claim(i: int, attributes: int, least: int, others: int, records: Side, people: Side, few: Few, out: Out) -> None:
    """People who agree with a record on one, or on both, of these attributes claim it, and that once."""
    at, value = out.state[PAIRS], out.state[VALUE]
    for j in range(others):
        common = few.agree[i, j] & attributes
        if common and (least == 1 or common == attributes):
            few.agree[i, j] = 0
            out.people[at] = people.order[people.starts[value] + j]
            out.records[at] = records.order[records.starts[value] + i]
            at += 1
    out.state[PAIRS] = at
