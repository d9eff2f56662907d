"""Records and people in the order of an attribute, and what is found of them: what the walk together writes on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import inner, lean, lowest

Flags = NDArray[np.bool_]
PAIRS, LISTED, VALUE, SECOND, BROUGHT, RECORDS, COUNTED = 0, 1, 2, 3, 4, 5, 6  # places of the state


class Side(NamedTuple):
    """Records, or people: in the order of the highest attribute, and what is known of those with the value at hand."""

    table: Codes
    order: Codes  # rows by their value of the highest attribute
    starts: Codes  # where the rows of each value begin
    block: Codes  # attributes below the highest x rows at hand


class Told(NamedTuple):
    """What was found of each record."""

    special: Flags  # has an MSU
    shared: Ints  # a bit for each pair of attributes on which it is not unique, of those on which it might be


class Hand(NamedTuple):
    """What is known of the records and people with the value at hand.

    ``now``: bits of the attributes on which, with the highest, a record is unique, as far as they were looked at; all
    others are set, and all if it need not be told.
    """

    now: Ints
    single: Ints  # bits of the attributes on which a record is unique by itself; all if another is equal
    last: Codes  # whom each of the people has claimed last: the same is not told again


class Few(NamedTuple):
    """Room for few records and people, who are compared two by two; bits of the attributes on which ..."""

    rows: Codes  # what the records say
    others: Codes  # what the people say
    equal: Ints  # ... two records are equal
    agree: Ints  # ... a record and one of the people are
    shared: Ints  # ... any other record is equal


class Laid(NamedTuple):
    """Rows at hand part by part, where several records share the second attribute, and where each part ends."""

    rows: Codes
    ends: Codes


class Parts(NamedTuple):
    """Room for splitting. A place tells of a value: 0, the one record with it and 1, or less 1 the part's number."""

    place: Codes
    deeper: Codes  # places of the third attribute
    values: Codes  # that occur
    below: Codes  # of the third attribute
    whole: Codes  # all rows at hand
    records: Laid
    people: Laid


class Scarce(NamedTuple):
    """Room for a second attribute that hardly any two records share."""

    recent: Codes  # of each value the last record that has it, counted on from what was there before
    since: Ints  # where this count goes on
    twins: Codes  # pairs of records with the same value, one behind the other


class Room(NamedTuple):
    """All of it; a function is handed what it needs, since each array is a part of what is compiled."""

    hand: Hand
    few: Few
    parts: Parts
    scarce: Scarce


class Out(NamedTuple):
    """What is found; ``number`` by second and third attribute and 1, and 0 for none.

    Of two attributes it is the number less that of all records told: of most sets nearly all records are MSUs.
    """

    number: Ints
    people: Codes
    records: Codes
    listed: Codes
    masks: Ints
    state: Ints  # pairs, MSUs listed, value and second attribute that come next, people at hand or not, records told,
    # and bits of the second attributes whose MSUs were counted at once


@lean
def order_by(column: Codes, order: Codes, starts: Codes) -> None:
    """Put rows in the order of their values below ``len(starts) - 2``, and say where each value begins."""
    values = starts.shape[0] - 2
    for row in range(column.shape[0]):
        if column[row] < values:
            starts[column[row] + 2] += 1
    for value in range(values):
        starts[value + 2] += starts[value + 1]
    for row in range(column.shape[0]):
        value = column[row]
        if value < values:
            order[starts[value + 1]] = row
            starts[value + 1] += 1


@inner
def single_of(row: int, table: Codes) -> int:
    """Bits of the attributes on which a record is unique by itself; all of them if another is equal."""
    last = table.shape[1] - 1
    return int(np.int64(table[row, last]) << 31 | np.int64(table[row, last - 1]))


@inner
def note(row: int, mask: int, listed: int, told: Told, out: Out) -> None:
    """Tell that a record has an MSU; list it where people are not looked up."""
    told.special[row] = True
    if listed & mask:
        at = out.state[LISTED]
        out.listed[at], out.masks[at] = row, mask
        out.state[LISTED] = at + 1


@inner
def settle(high: int, row: int, shared: int, single: int, listed: int, told: Told, out: Out) -> None:
    """Tell on which pairs with the highest attribute a record has an MSU, when all are known: where it shares none.

    What is shared is kept, in one word or two, for sets of three.
    """
    lower = (1 << high) - 1
    found = lower & ~(shared | single)
    left = lower & ~(found | out.state[COUNTED])
    out.state[RECORDS] += 1
    while left:
        out.number[lowest(left) + 1, 0] -= 1
        left &= left - 1
    if shared and told.shared.shape[1]:
        bit = high * (high - 1) // 2
        word, shift = bit >> 6, bit & 63
        told.shared[row, word] |= shared << shift
        if shift + high > 64:
            told.shared[row, word + 1] |= shared >> (64 - shift)
    if found:
        told.special[row] = True
        left = found if listed >> high & 1 else found & listed
        while left:
            note(row, 1 << high | 1 << lowest(left), listed, told, out)
            left &= left - 1


@inner
def is_told(told: Told, row: int, second: int, third: int) -> bool:
    """Whether a record is unique on two attributes, the second above the third, and on neither by itself."""
    bit = second * (second - 1) // 2 + third
    return not told.shared[row, bit >> 6] >> (bit & 63) & 1
