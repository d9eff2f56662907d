"""Pairs that agree on every set of attributes, from records that are packed into whole numbers.

An attribute is a field of bits (0: missing). Who no longer asks for it clears its bits, and records that have become
equal are merged: a set is counted from the set with one attribute more, the one of fewest values. Records are taken in
blocks of a few values of the widest attribute, so that all of this stays in the cache of the processor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Codes, Ints
from unmask.kernels.compiling import kernel

__all__ = ["Field", "Packed", "fields_of", "inverted", "pack", "sums_of_sets"]

WORD = 62  # bits of a whole number that are used
BLOCK = 100_000  # records that are merged together, unless more have one value


class Field(NamedTuple):
    """Where an attribute stands: the number, the place of its lowest bit, how many codes it has; whether some miss."""

    word: int
    shift: int
    width: int
    gap: bool

    @property
    def mask(self) -> int:
        """Its bits."""
        return ((1 << _bits(self.width)) - 1) << self.shift


class Packed(NamedTuple):
    """Records as whole numbers (records, words), and how often each occurs in the left file and in the right one."""

    keys: Ints
    left: Ints
    right: Ints

    def taken(self, rows: slice | NDArray[np.integer | np.bool_]) -> Packed:
        """Some of the records."""
        return Packed(self.keys[rows], self.left[rows], self.right[rows])


def _bits(width: int) -> int:
    return max(int(width - 1).bit_length(), 1)


def fields_of(widths: Sequence[int], gaps: Sequence[bool]) -> list[Field]:
    """Give each attribute its bits, in as few numbers as hold them."""
    found, word, shift = [], 0, 0
    for width, gap in zip(widths, gaps, strict=True):
        if shift + _bits(width) > WORD:
            word, shift = word + 1, 0
        found.append(Field(word, shift, width, gap))
        shift += _bits(width)
    return found


def pack(left: Codes, right: Codes, fields: Sequence[Field]) -> Packed:
    """Codes of two files, -1: missing, as whole numbers."""
    n = len(left) + len(right)
    keys = np.zeros((n, fields[-1].word + 1 if fields else 1), dtype=np.int64)
    for k, field in enumerate(fields):
        keys[:, field.word] |= (np.concatenate([left[:, k], right[:, k]]).astype(np.int64) + 1) << field.shift
    known = (np.arange(n) < len(left)).astype(np.int64)
    return Packed(keys, known, 1 - known)


def inverted(sums: Ints, gaps: Sequence[bool]) -> Ints:
    """From sums over (equal, present where some miss, any) to counts of (equal, different, missing)."""
    for axis, gap in enumerate(gaps):
        parts = np.moveaxis(sums, axis, 0)
        found = [parts[0], parts[1] - parts[0], *([parts[2] - parts[1]] if gap else [])]
        sums = np.moveaxis(np.stack(found), 0, axis)
    return sums


def sums_of_sets(packed: Packed, kept: Sequence[Field], asked: Sequence[Field]) -> Ints:
    """For each state of the fields asked about (equal, present where some miss, any): pairs that are in it.

    Pairs agree on the fields ``kept`` in any case (no record misses them). ``asked``: the widest first. Records may
    come many times.
    """
    sums = np.zeros(tuple(3 if field.gap else 2 for field in asked), dtype=np.int64)
    for block in _blocks(packed, kept[0]) if kept else [packed]:
        _walk(_merged(block, (*kept, *asked)), kept, asked, (), sums)
    return sums


def _walk(packed: Packed, kept: Sequence[Field], asked: Sequence[Field], state: tuple[int, ...], sums: Ints) -> None:
    """Fill in the sums of all states that begin with these; the records are all different."""
    if not packed.left.any() or not packed.right.any():
        return
    if not asked:
        sums[state] += int(packed.left @ packed.right)
        return
    field, rest = asked[0], asked[1:]
    there = packed.taken(packed.keys[:, field.word] & field.mask != 0) if field.gap else packed
    for block in _blocks(there, field):
        _walk(block, (*kept, field), rest, (*state, 0), sums)
    for place, records in enumerate((there, packed) if field.gap else (packed,)):
        _walk(_merged(records, (*kept, *rest)), kept, rest, (*state, place + 1), sums)


def _blocks(packed: Packed, field: Field) -> Iterator[Packed]:
    """The records by values of a field, some values at a time where they are few."""
    n = len(packed.keys)
    if n <= BLOCK:
        yield packed
        return
    values = (packed.keys[:, field.word] & field.mask) >> field.shift
    order = np.argsort(values.astype(np.uint16) if field.width <= 2**16 else values, kind="stable")  # by radix
    packed, values = packed.taken(order), values[order]
    begin = 0
    while begin < n:
        end = n if begin + BLOCK >= n else int(np.searchsorted(values, values[begin + BLOCK], side="left"))
        if end <= begin:
            end = int(np.searchsorted(values, values[begin], side="right"))
        yield packed.taken(slice(begin, end))
        begin = end


def _merged(packed: Packed, fields: Sequence[Field]) -> Packed:
    """Clear all other fields, and make equal records one."""
    masks, room = [0] * packed.keys.shape[1], 1
    for field in fields:
        masks[field.word] |= field.mask
        room *= field.width
    return Packed(*_merge(*packed, np.array(masks, dtype=np.int64), min(room, len(packed.keys))))


@kernel
def _merge(keys: Ints, left: Ints, right: Ints, mask: Ints, room: int) -> tuple[Ints, Ints, Ints]:
    """Add up equal records, of which there are at most ``room`` different ones, by open addressing."""
    n, words = keys.shape
    size = 16
    while size < 2 * room:
        size *= 2
    slot = np.full(size, -1, dtype=np.int32)
    found = np.empty((room, words), dtype=np.int64)
    a, b = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    many = 0
    for i in range(n):
        mixed = np.uint64(0)
        for w in range(words):
            mixed = (mixed ^ np.uint64(keys[i, w] & mask[w])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
        at = np.int64(mixed & np.uint64(size - 1))
        while slot[at] >= 0:
            same = True
            for w in range(words):
                same &= found[slot[at], w] == keys[i, w] & mask[w]
            if same:
                break
            at = (at + 1) & (size - 1)
        if slot[at] < 0:
            slot[at] = many
            for w in range(words):
                found[many, w] = keys[i, w] & mask[w]
            many += 1
        a[slot[at]] += left[i]
        b[slot[at]] += right[i]
    return found[:many], a[:many], b[:many]
