"""The sets of attributes on which two files agree: counts of patterns, and a sum over everybody per person.

The pairs that agree at least on S number the sum over groups g of |A_g| |B_g|; Moebius inversion over the sets gives
the count of every pattern. For the sums, a walk over the attributes takes or leaves each one; taking it splits the
groups, and groups that one file alone is in are dropped, since no larger set can make them agree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import Codes, Floats, Ints
from unmask.kernels.compiling import kernel
from unmask.kernels.groups import identical, label_rows
from unmask.kernels.packed import fields_of, inverted, pack, sums_of_sets


class Patterns(NamedTuple):
    """The patterns that occur, ascending, and how many pairs have each."""

    code: Ints
    count: Ints  # type: ignore[assignment]  # the word of the field; tuples count too


class _Node(NamedTuple):
    """Rows of both files that still may agree: group of each, remaining codes, and how often each occurs."""

    label: Ints
    groups: int
    codes: Codes  # (rows, attributes that remain)
    left: Ints
    right: Ints
    total: int  # pairs that agree so far


def patterns_by_groups(left: Codes, right: Codes) -> Patterns:
    """Count the agreement patterns of all pairs: digit 0 agree, 1 differ, 2 missing in either (where any is, -1)."""
    gaps, sizes = np.asarray((left < 0).any(axis=0) | (right < 0).any(axis=0)), _levels(left, right)
    order = np.argsort(-sizes, kind="stable")  # many values first: their groups are small
    lacking = gaps[order].tolist()
    fields = fields_of((sizes[order] + 1).tolist(), lacking)
    counts = inverted(sums_of_sets(pack(left[:, order], right[:, order], fields), (), fields), lacking)
    flat = np.ascontiguousarray(np.transpose(counts, np.argsort(order))).ravel()
    code = np.flatnonzero(flat)
    return Patterns(code.astype(np.int64), flat[code])


def _levels(left: Codes, right: Codes) -> Ints:
    """Number of values of each attribute."""
    most = np.maximum(left.max(axis=0, initial=-1), right.max(axis=0, initial=-1))
    return np.asarray(most, dtype=np.int64) + 1


def _root(left: Codes, right: Codes) -> tuple[_Node, Ints]:
    """Make equal rows of either file one, with counts, and tell where each row of the left one went."""
    both = np.ascontiguousarray(np.concatenate([left, right]))
    groups = identical(np.empty((len(both), 0)), both)
    n = len(groups.first)
    place, other = groups.label[: len(left)], groups.label[len(left) :]
    a, b = (np.bincount(part, minlength=n) for part in (place, other))
    total = len(left) * len(right)
    return _Node(np.zeros(n, dtype=np.int64), 1, np.ascontiguousarray(both[groups.first]), a, b, total), place


# --- the sum over everybody, for each person --------------------------------------------------------------------------


def sums_by_groups(left: Codes, right: Codes, factors: Floats) -> Floats:
    """For each left record, the sum over all right ones of the product of a factor per attribute, exactly.

    ``factors`` (attributes, 3): agree, differ, missing in either. A product of "differ + (agree - differ) [equal]" is a
    sum over the sets of attributes that are equal, so the walk over the sets that counts patterns gives this as well.
    """
    sizes = _levels(left, right)
    order = np.argsort(-sizes, kind="stable")
    root, place = _root(left[:, order], right[:, order])
    return _sums(root, sizes[order], factors[order])[place]


def _sums(node: _Node, sizes: Ints, factors: Floats) -> Floats:
    """Sum for the records that each row stands for, over the right ones of its group."""
    if node.total == 0:
        return np.zeros(len(node.label))
    if not len(sizes):
        return np.asarray(np.bincount(node.label, weights=node.right, minlength=node.groups)[node.label], np.float64)
    agree, differ, missing = factors[0]
    present = node.codes[:, 0] >= 0
    out = np.where(present, differ, missing) * _rest(node, sizes, factors)
    taken, kept = _split(node, int(sizes[0]))
    out[kept] += (agree - differ) * _sums(taken, sizes[1:], factors[1:])
    if not present.all():
        gone = np.where(present, 0, node.right)
        pairs = _pairs_in_groups(node.label, node.groups, node.left, gone)
        blanks = _rest(node._replace(right=gone, total=pairs), sizes, factors)
        out[present] += (missing - differ) * blanks[present]
    return np.asarray(out, dtype=np.float64)


def _rest(node: _Node, sizes: Ints, factors: Floats) -> Floats:
    """The sum without the first attribute."""
    rest, place = _collapsed(_forget(node), sizes[1:])
    sums = _sums(rest, sizes[1:], factors[1:])
    return sums if place is None else sums[place]


def _forget(node: _Node) -> _Node:
    return node._replace(codes=node.codes[:, 1:])


def _split(node: _Node, size: int) -> tuple[_Node, NDArray[np.bool_]]:
    """Ask that the next attribute is equal, and tell which rows are left."""
    label, groups, total = _refine(node.label, node.groups, node.codes[:, 0], max(size, 1), node.left, node.right)
    return _Node(*_kept(label, node.codes, node.left, node.right, int(groups), int(total))), label >= 0


def _pairs_in_groups(label: Ints, groups: int, left: Ints, right: Ints) -> int:
    a, b = _gather(label, groups, left, right)
    return int(a @ b)


def _collapsed(node: _Node, sizes: Ints) -> tuple[_Node, Ints | None]:
    """Make rows that have become equal one, when there must be many of them, and tell where each row went."""
    room = node.groups
    for size in sizes:
        room *= int(size) + 1
        if 2 * room > len(node.label):
            return node, None
    key = node.label.copy()
    for k, size in enumerate(sizes):
        key = key * (int(size) + 1) + node.codes[:, k] + 1
    left, right = _gather(key, room, node.left, node.right)
    found = np.flatnonzero(left + right)
    codes, rest = np.empty((len(found), len(sizes)), dtype=np.int32), found.copy()
    for k in range(len(sizes) - 1, -1, -1):
        rest, codes[:, k] = np.divmod(rest, int(sizes[k]) + 1)
    place = np.empty(room, dtype=np.int64)
    place[found] = np.arange(len(found))
    return _Node(rest, node.groups, codes - np.int32(1), left[found], right[found], node.total), place[key]


@kernel
def _gather(key: Ints, room: int, left: Ints, right: Ints) -> tuple[Ints, Ints]:
    a, b = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    for i in range(key.shape[0]):
        a[key[i]] += left[i]
        b[key[i]] += right[i]
    return a, b


@kernel
def _kept(
    label: Ints, codes: Codes, left: Ints, right: Ints, groups: int, total: int
) -> tuple[Ints, int, Codes, Ints, Ints, int]:
    """The rows whose label is not -1, without their first code; compiled, so that threads do not wait."""
    n, width = 0, codes.shape[1] - 1
    for i in range(label.shape[0]):
        n += label[i] >= 0
    new, rest = np.empty(n, np.int64), np.empty((n, width), np.int32)
    a, b = np.empty(n, np.int64), np.empty(n, np.int64)
    at = 0
    for i in range(label.shape[0]):
        if label[i] >= 0:
            new[at], a[at], b[at] = label[i], left[i], right[i]
            for k in range(width):
                rest[at, k] = codes[i, k + 1]
            at += 1
    return new, groups, rest, a, b, total


@kernel
def _refine(label: Ints, groups: int, column: Codes, size: int, left: Ints, right: Ints) -> tuple[Ints, int, int]:
    """Split groups by a column; -1 for rows that are missing it or whose group is now in one file only."""
    n = label.shape[0]
    slot = np.full(n, -1, dtype=np.int64)
    room = groups * size
    if room <= 4 * n + 1024:
        for i in range(n):
            if column[i] >= 0:
                slot[i] = label[i] * size + column[i]
    else:
        present = np.flatnonzero(column >= 0)
        keys = np.empty((len(present), 1), dtype=np.int64)
        keys[:, 0] = label[present] * size + column[present]
        first, numbers = label_rows(keys, np.empty((len(present), 0), dtype=np.int32))
        slot[present], room = numbers, len(first)
    a, b = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    for i in range(n):
        if slot[i] >= 0:
            a[slot[i]] += left[i]
            b[slot[i]] += right[i]
    total, found = 0, 0
    for s in range(room):
        if a[s] > 0 and b[s] > 0:
            total += a[s] * b[s]
            a[s] = found
            found += 1
        else:
            a[s] = -1
    for i in range(n):
        slot[i] = a[slot[i]] if slot[i] >= 0 else -1
    return slot, found, total
