"""A second attribute that hardly any two of the records at hand share: one look at each row, and nothing is sorted.

For each value the last record that has it is remembered, with a number that grows from set to set: what an earlier set
left behind is known by its number and need not be wiped out.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes
from unmask.kernels.compiling import inner, lowest
from unmask.kernels.uniques.sides import PAIRS, SECOND, VALUE, Hand, Out, Scarce, Side, Told, is_told, note

FULL = 2**31 - 1


@inner
def find_shared(second: int, many: int, block: Codes, scarce: Scarce) -> int:
    """Pairs of records with the same value, one behind the other, into the room; -1 where there are too many."""
    if scarce.since[0] > FULL - many:
        for value in range(scarce.recent.shape[0]):
            scarce.recent[value] = 0
        scarce.since[0] = 1
    since, pairs = scarce.since[0], 0
    scarce.since[0] = since + many
    for i in range(many):
        value = block[second, i]
        there = scarce.recent[value]
        scarce.recent[value] = since + i
        if there >= since:
            if 2 * pairs == scarce.twins.shape[0]:
                return -1
            scarce.twins[2 * pairs], scarce.twins[2 * pairs + 1] = i, there - since
            pairs += 1
    return pairs


@inner
def split_scarce(
    high: int,
    max_size: int,
    listed: int,
    pairs: int,
    records: Side,
    people: Side,
    told: Told,
    hand: Hand,
    scarce: Scarce,
    out: Out,
) -> None:
    """Find MSUs of two attributes, and of three where records share the second; the people at hand are there."""
    second, left = out.state[SECOND], np.int64(0)
    for place in range(2 * pairs):
        i = scarce.twins[place]
        if hand.single[i] != -1:
            hand.now[i] &= ~(1 << second)
            left |= ~hand.now[i]
    if not listed & (1 << high | 1 << second):
        _claim(second, records, people, hand, scarce, out)
    if max_size > 2 and left & ((1 << second) - 1):
        _note_triples(high, listed, 2 * pairs, records, people, told, hand, scarce, out)


@inner
def _claim(second: int, records: Side, people: Side, hand: Hand, scarce: Scarce, out: Out) -> None:
    """Each of the people at hand claims the record that alone has their value, if it has no smaller MSU."""
    value, at = out.state[VALUE], out.state[PAIRS]
    first, start = people.starts[value], records.starts[value]
    since = scarce.since[0] - (records.starts[value + 1] - start)
    for who in range(people.starts[value + 1] - first):
        whose = scarce.recent[people.block[second, who]] - since
        if whose >= 0 and (hand.now[whose] & ~hand.single[whose]) >> second & 1 and hand.last[who] != whose + 1:
            hand.last[who] = whose + 1
            out.people[at], out.records[at] = people.order[first + who], records.order[start + whose]
            at += 1
    out.state[PAIRS] = at


@inner
def _note_triples(
    high: int, listed: int, twins: int, records: Side, people: Side, told: Told, hand: Hand, scarce: Scarce, out: Out
) -> None:
    """Note the MSUs of twins with the second attribute and a third, and who claims them."""
    second, begin = out.state[SECOND], records.starts[out.state[VALUE]]
    for place in range(twins):
        i = scarce.twins[place]
        left = ~hand.now[i] & ((1 << second) - 1)
        if left:
            left = _unique_among(i, place, twins, left, second, records.block, scarce.twins)
        while left:
            third = lowest(left)
            left &= left - 1
            if not is_told(told, records.order[begin + i], second, third):
                out.number[second + 1, third + 1] += 1
                mask = 1 << high | 1 << second | 1 << third
                note(records.order[begin + i], mask, listed, told, out)
                if not listed & mask:
                    _claim_by_both(i, third, records, people, out)


@inner
def _unique_among(i: int, place: int, twins: int, attributes: int, second: int, block: Codes, of: Codes) -> int:
    """Bits of those attributes on which no twin with the same second one has this one's value; 0 if it was asked."""
    found = attributes
    for other in range(twins):
        j = of[other]
        if i == j and other < place:
            return 0
        if i != j and block[second, i] == block[second, j]:
            left = found
            while left:
                third = lowest(left)
                left &= left - 1
                if block[third, i] == block[third, j]:
                    found ^= 1 << third
    return found


@inner
def _claim_by_both(i: int, third: int, records: Side, people: Side, out: Out) -> None:
    """People at hand with the values of a record in both attributes claim it."""
    value, second, at = out.state[VALUE], out.state[SECOND], out.state[PAIRS]
    first, row = people.starts[value], records.order[records.starts[value] + i]
    for who in range(people.starts[value + 1] - first):
        if (
            people.block[second, who] == records.block[second, i]
            and people.block[third, who] == records.block[third, i]
        ):
            out.people[at], out.records[at] = people.order[first + who], row
            at += 1
    out.state[PAIRS] = at
