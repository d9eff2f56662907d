"""Records and people in the order of an attribute, and what is found of them: what the walk together writes on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import inner, lean

Flags = NDArray[np.bool_]
PAIRS, LISTED, VALUE, SECOND, BROUGHT = 0, 1, 2, 3, 4  # places of the state


class Side(NamedTuple):
    """Records, or people: in the order of the highest attribute, and what is known of those with the value at hand."""

    order: Codes  # rows by their value of the highest attribute ...
    table: Codes  # ... and what they say, in this order: of equal values one behind the other
    starts: Codes  # where the rows of each value begin
    block: Codes  # attributes below the highest x rows at hand
    parts: Codes  # rows at hand, part by part, where several records share the second attribute ...
    ends: Codes  # ... and where each part ends


class Told(NamedTuple):
    """What was found of each record."""

    alone: Flags  # no other is equal
    special: Flags  # has an MSU
    single: Ints  # bits of the attributes on which it is unique
    pairs: Ints  # a bit for each pair of attributes on which it is unique


class Room(NamedTuple):
    """Room for splitting. A place tells of a value: 0, the one record that has it and 1, or less 1 the part's number.

    ``now``: bits of the attributes on which, with the highest, a record at hand is unique; all if it need not be told.
    """

    now: Ints
    equal: Ints  # records at hand x the same: bits of the attributes on which two are equal, where they are few
    agree: Ints  # records at hand x people at hand: likewise
    place: Codes
    deeper: Codes  # places of the third attribute
    values: Codes  # that occur
    below: Codes  # of the third attribute
    whole: Codes  # all rows at hand
    last: Codes  # whom each of the people at hand has claimed last: the same is not told again


class Out(NamedTuple):
    """What is found; ``number`` by second and third attribute and 1, and 0 for none."""

    number: Ints
    people: Codes
    records: Codes
    listed: Codes
    masks: Ints
    state: Ints  # pairs, MSUs listed, the value and second attribute that come next, whether its people are at hand


@lean
def order_by(table: Codes, column: int, order: Codes, starts: Codes) -> None:
    """Put rows in the order of a column's values below ``len(starts) - 2``, and say where each value begins."""
    values = starts.shape[0] - 2
    for row in range(table.shape[0]):
        if table[row, column] < values:
            starts[table[row, column] + 2] += 1
    for value in range(values):
        starts[value + 2] += starts[value + 1]
    for row in range(table.shape[0]):
        value = table[row, column]
        if value < values:
            order[starts[value + 1]] = row
            starts[value + 1] += 1


@inner
def note(row: int, mask: int, listed: int, told: Told, out: Out) -> None:
    """Tell that a record has an MSU; list it where people are not looked up."""
    told.special[row] = True
    if listed & mask:
        at = out.state[LISTED]
        out.listed[at], out.masks[at] = row, mask
        out.state[LISTED] = at + 1


@inner
def keep(high: int, records: Side, told: Told, room: Room, value: int) -> None:
    """Keep on which pairs with the highest attribute the records at hand are unique: their bits, in one word or two."""
    begin, bit = records.starts[value], high * (high - 1) // 2
    word, shift = bit >> 6, bit & 63
    for i in range(records.starts[value + 1] - begin):
        bits = room.now[i] & ((1 << high) - 1)
        row = records.order[begin + i]
        told.pairs[row, word] |= bits << shift
        if shift + high > 64:
            told.pairs[row, word + 1] |= bits >> (64 - shift)


@inner
def is_told(told: Told, row: int, second: int, third: int) -> bool:
    """Whether a record is unique on two attributes, the second above the third."""
    bit = second * (second - 1) // 2 + third
    return bool(told.pairs[row, bit >> 6] >> (bit & 63) & 1)
