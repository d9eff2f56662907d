"""Minimal sample uniques of up to three attributes and whom they find, in one walk over records and people together.

Each attribute is taken as the highest of a set. Records with equal values of it are looked at together with the people
who carry that value; what is known of both is copied to one place, which fits a fast memory, and all sets of this
highest attribute are walked there (``together``): few records are compared two by two (``few``), a second attribute
that hardly two share takes one look at each (``scarce``). Nothing is kept of a set but how many MSUs it has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from math import comb
from typing import NamedTuple

import numpy as np

from unmask.kernels.base import Codes, Ints
from unmask.kernels.uniques.kinds import Kinds, Numbered, number_values
from unmask.kernels.uniques.partition import restore
from unmask.kernels.uniques.sides import (
    LISTED,
    PAIRS,
    RECORDS,
    Few,
    Flags,
    Hand,
    Laid,
    Out,
    Parts,
    Room,
    Scarce,
    Side,
    Told,
    order_by,
)
from unmask.kernels.uniques.together import walk

MOST_ATTRIBUTES = 3  # of a set: being unique on less is told by one attribute and by pairs
ENOUGH = 1 << 20  # pairs, or MSUs, that are handed over together
FEW = 24  # records, and people, with equal values up to which they are compared two by two
SCARCE = 8  # pairs of records with equal values up to which these are not laid out part by part


class Claimed(NamedTuple):
    """What some sets of attributes told; it holds until the next is asked for.

    Pairs of a person and the record that they would take for their own: equal pairs may come again.
    """

    number: dict[int, int]  # MSUs of each set that is done
    people: Codes
    records: Codes
    listed: Codes  # a record ...
    masks: Ints  # ... and the set on which it is alone, where nobody was looked up
    special: Flags  # records with an MSU so far


def find_claims(
    kinds: Kinds,
    people: Codes,
    *,
    max_size: int,
    apart: Collection[int] = (),
    progress: Callable[[float], None] | None = None,
) -> Iterator[Claimed]:
    """Minimal sample uniques of up to ``max_size`` (at most three) attributes, and everybody who carries their values.

    ``people`` (people x attributes) has the same numbers for the same values as the records have. Of attributes in
    ``apart`` it has others: MSUs with one of them are listed, and nobody is looked up. Sets come in increasing order of
    their masks, where attributes with more values have higher bits; bit k of a mask that is handed over is column k.
    """
    n, m = kinds.table.shape
    numbered = number_values(kinds, people, apart)
    words = m * (m - 1) // 128 + 1 if max_size == MOST_ATTRIBUTES else 0
    told = Told(np.zeros(n, np.bool_), np.zeros((n, words), np.int64))
    listed = sum(1 << place for place, column in enumerate(numbered.order.tolist()) if column in apart)
    room = _room(n, len(people), int(numbered.cards.max()), m)
    spare = np.empty(n, np.int32), np.empty(len(people), np.int32)
    for high in range(m):
        yield from _of_highest(high, max_size, numbered, told, listed, room, spare)
        if progress is not None:
            progress(_sets(high + 1, max_size) / _sets(m, max_size))


def _of_highest(
    high: int, max_size: int, numbered: Numbered, told: Told, listed: int, room: Room, spare: tuple[Codes, Codes]
) -> Iterator[Claimed]:
    """All sets with one highest attribute; a part of them whenever there is enough to hand over."""
    values = int(numbered.cards[high])
    records = _side(numbered.records, numbered.columns[0][high], high, values, spare[0])
    people = _side(numbered.people, numbered.columns[1][high], high, values, spare[1])
    pairs = ENOUGH + FEW**2 + people.block.shape[1] * (high + 1)  # the last part is hardly ever touched
    most = ENOUGH + FEW * high**2 + records.block.shape[1] * (2 * high + 1) + 1 if listed else 0
    who, whose, stands_out = (np.empty(size, np.int32) for size in (pairs, pairs, most))
    number, masks = np.zeros((high + 1, high + 1), np.int64), np.empty(most, np.int64)
    out = Out(number, who, whose, stands_out, masks, np.array([0, 0, 0, -1, 0, 0, 0]))
    done = False
    while not done:
        done = walk(high, max_size, listed, FEW, records, people, told, room, out)
        told_of, some = out.state[PAIRS], out.state[LISTED]
        if done:
            number[1:, 0] += out.state[RECORDS]
        sets = _numbers(number, high, numbered.order) if done else {}
        yield Claimed(
            sets, who[:told_of], whose[:told_of], stands_out[:some], restore(masks[:some], numbered.order), told.special
        )
        out.state[[PAIRS, LISTED]] = 0


def _side(table: Codes, column: Codes, high: int, values: int, order: Codes) -> Side:
    """Rows by their value of the highest attribute; room for those of the most frequent value."""
    starts = np.zeros(values + 2, np.int32)
    order_by(column, order, starts)
    most = int(np.diff(starts[:-1]).max(initial=0))
    return Side(table, order, starts[:-1], np.empty((high, most), np.int32))


def _room(records: int, people: int, values: int, width: int) -> Room:
    most, several = np.empty((2, records), np.int64), np.empty((2, FEW, FEW), np.int64)
    rows, split = np.empty((2, FEW, width), np.int32), np.empty((2, records), np.int32)
    places, whole = np.zeros((3, values + 1), np.int32), np.arange(max(records, people), dtype=np.int32)
    laid = [Laid(np.empty(size, np.int32), np.empty(records, np.int32)) for size in (records, people)]
    return Room(
        Hand(most[0], most[1], np.empty(people, np.int32)),
        Few(rows[0], rows[1], several[0], several[1], np.empty(FEW, np.int64)),
        Parts(places[0], places[1], split[0], split[1], whole, *laid),
        Scarce(places[2], np.ones(1, np.int64), np.empty(2 * SCARCE, np.int32)),
    )


def _numbers(number: Ints, high: int, order: Ints) -> dict[int, int]:
    """MSUs of each set that has any, by its mask: second and third attribute are places in the table, 0 for none."""
    second, third = np.nonzero(number)
    masks = (1 << high) | ((1 << second) >> 1) | ((1 << third) >> 1)
    return dict(zip(restore(masks, order).tolist(), number[second, third].tolist(), strict=True))


def _sets(m: int, max_size: int) -> int:
    """Count the sets of m attributes, the empty one aside."""
    return sum(comb(m, k) for k in range(1, max_size + 1))
