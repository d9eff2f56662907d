"""Records and people that share the value of an attribute, split by further ones together.

A record that falls out alone is unique on the set; it is an MSU unless it is unique on less, of which bits tell. The
people beside it, who carry the value by which it fell out, are those whom it finds: no table of values is searched.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes
from unmask.kernels.compiling import fetch, inner, lean
from unmask.kernels.uniques.few import compare_few
from unmask.kernels.uniques.scarce import find_shared, split_scarce
from unmask.kernels.uniques.sides import (
    BROUGHT,
    COUNTED,
    LISTED,
    PAIRS,
    RECORDS,
    SECOND,
    VALUE,
    Hand,
    Laid,
    Out,
    Parts,
    Room,
    Side,
    Told,
    is_told,
    note,
    settle,
    single_of,
)

AHEAD, SOON = 128, 16  # rows that are asked for before they are needed: of values that come later, and of this one


@lean
def walk(
    high: int, max_size: int, listed: int, few: int, records: Side, people: Side, told: Told, room: Room, out: Out
) -> bool:
    """Walk all sets of this highest attribute, value by value; return whether all is done, or ``out`` is full."""
    state, lower = out.state, high if max_size > 1 else 0
    while state[VALUE] < records.starts.shape[0] - 1:
        value = state[VALUE]
        many = records.starts[value + 1] - records.starts[value]
        others = people.starts[value + 1] - people.starts[value]
        if state[SECOND] < 0:
            _ask(records, lower, value)
            _ask(people, lower, value)
            if out.people.shape[0] - state[PAIRS] < others + few * few:
                return False
            if listed and out.masks.shape[0] - state[LISTED] < few * high * high + 1:
                return False
            state[SECOND], state[BROUGHT], state[COUNTED] = 0, 0, 0
            if many == 1:
                _note_single(high, listed, records, people, told, out)
                state[SECOND] = high + 1
            elif many <= few and others <= few and lower:
                compare_few(high, max_size, listed, records, people, told, room.few, out)
                state[SECOND] = high + 1
            elif not _bring(high, lower, records, room.hand, value):
                state[SECOND] = high + 1
        while state[SECOND] < lower:
            sets = state[SECOND] + 1
            if out.people.shape[0] - state[PAIRS] < others * sets:
                return False
            if listed and out.masks.shape[0] - state[LISTED] < many * (sets + high):
                return False
            pairs = find_shared(state[SECOND], many, records.block, room.scarce)
            if pairs < 0:
                _split(high, max_size, listed, records, people, told, room.hand, room.parts, out)
            else:
                if others and not state[BROUGHT]:
                    _bring_people(high, people, room.hand.last, out)
                split_scarce(high, max_size, listed, pairs, records, people, told, room.hand, room.scarce, out)
            state[SECOND] += 1
        if lower and state[SECOND] == lower:
            _settle_all(high, listed, records, told, room.hand, out)
        state[VALUE] += 1
        state[SECOND] = -1
    return True


@inner
def _ask(side: Side, lower: int, value: int) -> None:
    """Ask for rows that are looked at some values later, as many as there are of this one."""
    begin, end = side.starts[value] + AHEAD, side.starts[value + 1] + AHEAD
    if lower and end - begin <= AHEAD:
        for place in range(begin, min(end, side.starts[-1])):
            fetch(side.table, side.order[place])


@inner
def _note_single(high: int, listed: int, records: Side, people: Side, told: Told, out: Out) -> None:
    """One record has the value at hand: everybody who has it claims this record."""
    value = out.state[VALUE]
    row = records.order[records.starts[value]]
    if single_of(row, records.table) == -1:
        return
    out.number[0, 0] += 1
    note(row, 1 << high, listed, told, out)
    if listed >> high & 1:
        return
    at = out.state[PAIRS]
    for place in range(people.starts[value], people.starts[value + 1]):
        out.people[at], out.records[at] = people.order[place], row
        at += 1
    out.state[PAIRS] = at


@inner
def _bring(high: int, lower: int, records: Side, hand: Hand, value: int) -> bool:
    """Copy what is known of the records with the value at hand, attribute by attribute; tell whether MSUs can be."""
    begin, end = records.starts[value], records.starts[value + 1]
    telling = False
    for i in range(end - begin):
        fetch(records.table, records.order[min(begin + i + SOON, end - 1)])
        row = records.order[begin + i]
        hand.single[i], hand.now[i] = single_of(row, records.table), -1
        telling = telling or hand.single[i] != -1
        if lower:
            for k in range(high):
                records.block[k, i] = records.table[row, k]
    return telling and lower > 0


@inner
def _settle_all(high: int, listed: int, records: Side, told: Told, hand: Hand, out: Out) -> None:
    """Tell of each record at hand on which pairs it has an MSU."""
    begin, before = records.starts[out.state[VALUE]], out.state[RECORDS]
    for i in range(records.starts[out.state[VALUE] + 1] - begin):
        if hand.single[i] != -1:
            shared = ~hand.now[i] & ((1 << high) - 1)
            settle(high, records.order[begin + i], shared, hand.single[i], listed, told, out)
    for second in range(high):
        if out.state[COUNTED] >> second & 1:
            out.number[second + 1, 0] -= out.state[RECORDS] - before


@inner
def _bring_people(high: int, people: Side, last: Codes, out: Out) -> None:
    """The same of the people with that value, once: where no record stands out they are not needed."""
    if out.state[BROUGHT]:
        return
    begin, end = people.starts[out.state[VALUE]], people.starts[out.state[VALUE] + 1]
    for i in range(end - begin):
        last[i] = 0
        fetch(people.table, people.order[min(begin + i + SOON, end - 1)])
        row = people.order[begin + i]
        for k in range(high):
            people.block[k, i] = people.table[row, k]
    out.state[BROUGHT] = 1


@inner
def _tally(
    column: int, block: Codes, rows: Codes, begin: int, end: int, place: Codes, values: Codes
) -> tuple[int, int]:
    """Write into ``place``, all 0 before, what each value of some rows tells; values that occur, parts of several."""
    many, parts = 0, 0
    for at in range(begin, end):
        row = rows[at]
        value = block[column, row]
        there = place[value]
        if there == 0:
            place[value] = row + 1
            values[many] = value
            many += 1
        elif there > 0:
            parts += 1
            place[value] = -parts
    return many, parts


@inner
def _split(
    high: int, max_size: int, listed: int, records: Side, people: Side, told: Told, hand: Hand, split: Parts, out: Out
) -> None:
    """Split the rows at hand by the second attribute; and by a third one where several records are left."""
    value, second = out.state[VALUE], out.state[SECOND]
    begin, place = records.starts[value], split.place
    many = records.starts[value + 1] - begin
    several, parts = _tally(second, records.block, split.whole, 0, many, place, split.values)
    mask, fresh = 1 << high | 1 << second, 0
    for v in range(several):
        i = place[split.values[v]] - 1
        if i >= 0:
            if hand.single[i] >> second & 1:
                place[split.values[v]] = 0
            else:
                fresh += 1
    out.number[second + 1, 0] += fresh
    out.state[COUNTED] |= 1 << second
    if fresh and not listed & mask:
        _bring_people(high, people, hand.last, out)
        others = people.starts[value + 1] - people.starts[value]
        _claim(second, split.whole, 0, others, place, records, people, hand.last, out)
    left = np.int64(0)
    for i in range(many):
        if place[records.block[second, i]] < 0 and hand.single[i] != -1:
            hand.now[i] &= ~(1 << second)
            left |= ~hand.now[i]
    if max_size > 2 and left & ((1 << second) - 1):
        _split_parts(high, mask, parts, listed, records, people, told, hand, split, out)
    for v in range(several):
        place[split.values[v]] = 0


@inner
def _claim(
    column: int, rows: Codes, begin: int, end: int, place: Codes, records: Side, people: Side, last: Codes, out: Out
) -> None:
    """Each of some people claims the record that alone has their value."""
    value, at = out.state[VALUE], out.state[PAIRS]
    first, start = people.starts[value], records.starts[value]
    for i in range(begin, end):
        who = rows[i]
        whose = place[people.block[column, who]]
        if whose > 0 and last[who] != whose:
            last[who] = whose
            out.people[at], out.records[at] = people.order[first + who], records.order[start + whose - 1]
            at += 1
    out.state[PAIRS] = at


@inner
def _split_parts(
    high: int,
    mask: int,
    parts: int,
    listed: int,
    records: Side,
    people: Side,
    told: Told,
    hand: Hand,
    split: Parts,
    out: Out,
) -> None:
    """Split each part of several records by the third attributes on which some of them are not unique yet."""
    second, value = out.state[SECOND], out.state[VALUE]
    many = records.starts[value + 1] - records.starts[value]
    _lay_out(second, many, parts, split.place, records.block, split.records)
    begin, found = 0, False
    for part in range(parts):
        end, left = split.records.ends[part], np.int64(0)
        for at in range(begin, end):
            left |= ~hand.now[split.records.rows[at]]
        for third in range(second):
            if left >> third & 1:
                several, fresh = _split_part(mask, third, begin, end, listed, records, told, hand, split, out)
                if fresh and not listed & (mask | 1 << third):
                    if not found:
                        _bring_people(high, people, hand.last, out)
                        others = people.starts[value + 1] - people.starts[value]
                        _lay_out(second, others, parts, split.place, people.block, split.people)
                        found = True
                    start, stop = split.people.ends[part - 1] if part else 0, split.people.ends[part]
                    _claim(third, split.people.rows, start, stop, split.deeper, records, people, hand.last, out)
                for v in range(several):
                    split.deeper[split.below[v]] = 0
        begin = end


@inner
def _split_part(
    mask: int,
    third: int,
    begin: int,
    end: int,
    listed: int,
    records: Side,
    told: Told,
    hand: Hand,
    split: Parts,
    out: Out,
) -> tuple[int, int]:
    """Split one part by a third attribute; values that occur, and how many records have an MSU there."""
    second, start = out.state[SECOND], records.starts[out.state[VALUE]]
    several, _ = _tally(third, records.block, split.records.rows, begin, end, split.deeper, split.below)
    fresh = 0
    for v in range(several):
        i = split.deeper[split.below[v]] - 1
        if i >= 0:
            row = records.order[start + i]
            if hand.now[i] >> third & 1 or is_told(told, row, second, third):
                split.deeper[split.below[v]] = 0
            else:
                note(row, mask | 1 << third, listed, told, out)
                fresh += 1
    out.number[second + 1, third + 1] += fresh
    return several, fresh


@inner
def _lay_out(second: int, many: int, parts: int, place: Codes, block: Codes, laid: Laid) -> None:
    """Put the rows at hand that belong to a part of several records in the order of these parts."""
    for part in range(parts):
        laid.ends[part] = 0
    for i in range(many):
        there = place[block[second, i]]
        if there < 0:
            laid.ends[-there - 1] += 1
    at = 0
    for part in range(parts):
        at, laid.ends[part] = at + laid.ends[part], at
    for i in range(many):
        there = place[block[second, i]]
        if there < 0:
            laid.rows[laid.ends[-there - 1]] = i
            laid.ends[-there - 1] += 1
