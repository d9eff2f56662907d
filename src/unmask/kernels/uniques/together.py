"""Records and people that share the value of an attribute, split by further ones together.

A record that falls out alone is unique on the set; it is an MSU unless it is unique on less, of which bits tell. The
people beside it, who carry the value by which it fell out, are those whom it finds: no table of values is searched.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes
from unmask.kernels.compiling import inner, lean
from unmask.kernels.uniques.few import compare_few
from unmask.kernels.uniques.sides import (
    BROUGHT,
    LISTED,
    PAIRS,
    SECOND,
    VALUE,
    Out,
    Room,
    Side,
    Told,
    is_told,
    keep,
    note,
)


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
            if out.people.shape[0] - state[PAIRS] < others + few * few:
                return False
            if listed and out.masks.shape[0] - state[LISTED] < few * high * high + 1:
                return False
            state[SECOND], state[BROUGHT] = 0, 0
            if many == 1:
                _note_single(high, listed, records, people, told, out)
                state[SECOND] = high
            elif many <= few and others <= few and lower:
                compare_few(high, max_size, listed, records, people, told, room, out)
                state[SECOND] = high
            elif not _bring(high, lower, records, told, room, value):
                state[SECOND] = high
        while state[SECOND] < lower:
            sets = state[SECOND] + 1
            if out.people.shape[0] - state[PAIRS] < others * sets:
                return False
            if listed and out.masks.shape[0] - state[LISTED] < many * sets:
                return False
            _split(high, max_size, listed, records, people, told, room, out)
            state[SECOND] += 1
        if told.pairs.shape[1] and high and many > 1:
            keep(high, records, told, room, value)
        state[VALUE] += 1
        state[SECOND] = -1
    return True


@inner
def _note_single(high: int, listed: int, records: Side, people: Side, told: Told, out: Out) -> None:
    """One record has the value at hand: everybody who has it claims this record."""
    value = out.state[VALUE]
    row = records.order[records.starts[value]]
    if not told.alone[row]:
        return
    told.single[row] |= 1 << high
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
def _bring(high: int, lower: int, records: Side, told: Told, room: Room, value: int) -> bool:
    """Copy what is known of the records with the value at hand, attribute by attribute, unless no MSU can be there."""
    begin, end = records.starts[value], records.starts[value + 1]
    telling = False
    for i in range(end - begin):
        row = records.order[begin + i]
        room.now[i] = told.single[row] if told.alone[row] else -1
        telling = telling or told.alone[row]
    if not telling or not lower:
        return False
    for i in range(end - begin):
        for k in range(high):
            records.block[k, i] = records.table[begin + i, k]
    return True


@inner
def _bring_people(high: int, people: Side, room: Room, out: Out) -> None:
    """The same of the people with that value, once: where no record stands out they are not needed."""
    if out.state[BROUGHT]:
        return
    begin, end = people.starts[out.state[VALUE]], people.starts[out.state[VALUE] + 1]
    for i in range(end - begin):
        room.last[i] = 0
        for k in range(high):
            people.block[k, i] = people.table[begin + i, k]
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
    high: int, max_size: int, listed: int, records: Side, people: Side, told: Told, room: Room, out: Out
) -> None:
    """Split the rows at hand by the second attribute; and by a third one where several records are left."""
    value, second = out.state[VALUE], out.state[SECOND]
    begin, place = records.starts[value], room.place
    many = records.starts[value + 1] - begin
    several, parts = _tally(second, records.block, room.whole, 0, many, place, room.values)
    mask = 1 << high | 1 << second
    fresh = 0
    for v in range(several):
        i = place[room.values[v]] - 1
        if i >= 0:
            if room.now[i] >> second & 1:
                place[room.values[v]] = 0
            else:
                room.now[i] |= 1 << second
                note(records.order[begin + i], mask, listed, told, out)
                fresh += 1
    out.number[second + 1, 0] += fresh
    if fresh and not listed & mask:
        _bring_people(high, people, room, out)
        others = people.starts[value + 1] - people.starts[value]
        _claim(second, room.whole, 0, others, place, records, people, room, out)
    if parts and max_size > 2 and second:
        _split_parts(high, mask, parts, listed, records, people, told, room, out)
    for v in range(several):
        place[room.values[v]] = 0


@inner
def _claim(
    column: int, rows: Codes, begin: int, end: int, place: Codes, records: Side, people: Side, room: Room, out: Out
) -> None:
    """Each of some people claims the record that alone has their value."""
    value, at = out.state[VALUE], out.state[PAIRS]
    first, start = people.starts[value], records.starts[value]
    for i in range(begin, end):
        who = rows[i]
        whose = place[people.block[column, who]]
        if whose > 0 and room.last[who] != whose:
            room.last[who] = whose
            out.people[at], out.records[at] = people.order[first + who], records.order[start + whose - 1]
            at += 1
    out.state[PAIRS] = at


@inner
def _split_parts(
    high: int, mask: int, parts: int, listed: int, records: Side, people: Side, told: Told, room: Room, out: Out
) -> None:
    """Split each part of several records by the third attributes on which some of them are not unique yet."""
    second = out.state[SECOND]
    value, lower = out.state[VALUE], (1 << second) - 1
    many = records.starts[value + 1] - records.starts[value]
    left = np.int64(0)
    for i in range(many):
        if room.place[records.block[second, i]] < 0:
            left |= ~room.now[i]
    if not left & lower:
        return
    _lay_out(second, many, parts, room, records)
    begin, found = 0, False
    for part in range(parts):
        end, left = records.ends[part], np.int64(0)
        for at in range(begin, end):
            left |= ~room.now[records.parts[at]]
        for third in range(second):
            if left >> third & 1:
                several, fresh = _split_part(mask, third, begin, end, listed, records, told, room, out)
                if fresh and not listed & (mask | 1 << third):
                    if not found:
                        _bring_people(high, people, room, out)
                        _lay_out(second, people.starts[value + 1] - people.starts[value], parts, room, people)
                        found = True
                    start = people.ends[part - 1] if part else 0
                    _claim(third, people.parts, start, people.ends[part], room.deeper, records, people, room, out)
                for v in range(several):
                    room.deeper[room.below[v]] = 0
        begin = end


@inner
def _split_part(
    mask: int, third: int, begin: int, end: int, listed: int, records: Side, told: Told, room: Room, out: Out
) -> tuple[int, int]:
    """Split one part by a third attribute; values that occur, and how many records have an MSU there."""
    second, start = out.state[SECOND], records.starts[out.state[VALUE]]
    several, _ = _tally(third, records.block, records.parts, begin, end, room.deeper, room.below)
    fresh = 0
    for v in range(several):
        i = room.deeper[room.below[v]] - 1
        if i >= 0:
            row = records.order[start + i]
            if room.now[i] >> third & 1 or is_told(told, row, second, third):
                room.deeper[room.below[v]] = 0
            else:
                note(row, mask | 1 << third, listed, told, out)
                fresh += 1
    out.number[second + 1, third + 1] += fresh
    return several, fresh


@inner
def _lay_out(second: int, many: int, parts: int, room: Room, side: Side) -> None:
    """Put the rows at hand that belong to a part of several records in the order of these parts."""
    for part in range(parts):
        side.ends[part] = 0
    for i in range(many):
        there = room.place[side.block[second, i]]
        if there < 0:
            side.ends[-there - 1] += 1
    at = 0
    for part in range(parts):
        at, side.ends[part] = at + side.ends[part], at
    for i in range(many):
        there = room.place[side.block[second, i]]
        if there < 0:
            side.parts[side.ends[-there - 1]] = i
            side.ends[-there - 1] += 1
