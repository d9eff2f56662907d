"""Counts of counts, made where the data lives: only as many rows come here as there are different sizes of groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.engines import sql
from unmask.engines.store import Store

Tell = Callable[[float, str], None]
MOST_PATTERNS = 1024  # group-bys that are made of the classes: each takes a pass over those with a key more


class GroupCounts(NamedTuple):
    """By the number of records of a group, ascending: its groups, the people with its values, and whose own is there.

    ``alone``: groups that one person of the original has the values of. Size 0: values that no record carries.
    """

    size: Ints
    groups: Ints
    people: Ints
    own: Ints
    alone: Ints


class SetCounts(NamedTuple):
    """For each set of keys (a bit mask): groups, records alone, records in groups of fewer than k."""

    masks: Ints
    n_groups: Ints
    n_unique: Ints
    n_below: Ints


class UniqueCounts(NamedTuple):
    """Minimal sample uniques: how many of each set; records that have one; and whom they find.

    By the number of records (``crowd``) that stand out with a person's values: people, and whose own is among them.
    """

    masks: Ints
    number: Ints
    n_special: int
    crowd: Ints
    people: Ints
    own: Ints


class KeptCounts(NamedTuple):
    """For each key: people whose own record carries their value, and pairs of people and records that agree."""

    kept: Ints
    agreeing: Floats


def count_groups(store: Store, mask: int | None = None) -> GroupCounts:
    """Count the groups of some keys (all when None), and the people in them."""
    found = store.duck.columns(sql.crowds(store.whole if mask is None else mask, store.widths))
    return GroupCounts(*(found[name] for name in GroupCounts._fields))


def count_sets(store: Store, largest: int, k: int, tell: Tell) -> tuple[SetCounts, UniqueCounts]:
    """Count the groups of every set of up to so many keys, and find all minimal sample uniques among them (SUDA2).

    Sets come smallest first: who is alone on a part of a set has no minimal unique of the set itself.
    """
    duck, masks = store.duck, sql.masks_of(len(store.keys), largest)
    found: dict[int, tuple[int, ...]] = {}
    number: dict[int, int] = {}
    for place, mask in enumerate(sorted(masks, key=lambda one: (one.bit_count(), one))):
        duck.keep("g", sql.groups_of(mask, store.widths))
        below = f"count(*), count(*) FILTER (WHERE size = 1), coalesce(sum(size) FILTER (WHERE size < {k}), 0)"
        found[mask] = tuple(map(int, duck.row(f"SELECT {below} FROM g")))
        if found[mask][1]:
            duck.keep(f"msu{mask}", sql.new_uniques([part for part in number if part & mask == part]))
            number[mask] = int(duck.row(f"SELECT count(*) FROM msu{mask}")[0])
        tell((place + 1) / len(masks), "sets of attributes")
    duck.drop("g")
    table = np.array([found[mask] for mask in masks], dtype=np.int64)
    uniques = _matched(store, {mask: many for mask, many in sorted(number.items()) if many})
    duck.drop(*(f"msu{mask}" for mask in number))
    return SetCounts(np.array(masks, dtype=np.int64), *(np.ascontiguousarray(table[:, i]) for i in range(3))), uniques


def _matched(store: Store, number: dict[int, int]) -> UniqueCounts:
    """Who carries the values of a record that stands out, over all sets."""
    masks, none = np.array(list(number), dtype=np.int64), np.empty(0, dtype=np.int64)
    if not number:
        return UniqueCounts(masks, none, 0, none, none, none)
    for mask in number:
        store.duck.keep(f"hits{mask}", sql.matched_uniques(mask, store.widths))
    crowds = store.duck.columns(sql.shared_uniques(list(number)))
    special = int(store.duck.row(sql.special_records(list(number)))[0])
    store.duck.drop(*(f"hits{mask}" for mask in number))
    order = np.argsort(crowds["crowd"])
    many = np.array(list(number.values()), dtype=np.int64)
    return UniqueCounts(masks, many, special, *(crowds[name][order] for name in ("crowd", "people", "own")))


def count_kept(store: Store) -> KeptCounts:
    """How much of each key masking has left to the people, and what chance would leave."""
    m = len(store.keys)
    kept = store.duck.row(sql.kept_values(m))
    agreeing = []
    for j in range(m):
        found = store.duck.columns(sql.paired_values(j))
        agreeing.append(float(found["people"].astype(np.float64) @ found["records"]))
    return KeptCounts(np.array(kept, dtype=np.int64), np.array(agreeing))


# --- patterns of agreement over all pairs -----------------------------------------------------------------------------


class PatternCounts(NamedTuple):
    """Patterns of agreement over all pairs of a person and a record, and how often each occurs.

    ``keys``: places of the keys that are compared; a pattern is a number in mixed radix, the first key first; digit 0:
    equal, 1: different, 2: missing on either side (keys with ``gaps`` only).
    """

    keys: list[int]
    gaps: list[bool]
    code: Ints
    number: Ints


def count_patterns(store: Store, tell: Tell) -> PatternCounts:
    """Count the patterns of all pairs, without one pair: sums over classes for every set, then Moebius inversion.

    For each key a class is kept apart by it (equal), counted over all its values that are there (present), or over all
    (any). Who differs is present and not equal, who lacks it is there and not present.
    """
    duck, keys = store.duck, _telling(store, _without_copies(store))
    gaps = [store.keys[j].gaps for j in keys]
    states = [3 if gap else 2 for gap in gaps]
    duck.keep("classes", sql.classes(keys))
    sums = np.zeros(states, dtype=np.int64)
    _descend(store, keys, gaps, sums, tell)
    duck.drop("classes")
    counts = sums
    for axis, gap in enumerate(gaps):
        counts = _inverted(counts, axis, gap=gap)
    flat = counts.ravel()
    there = np.flatnonzero(flat)
    return PatternCounts(keys, gaps, there.astype(np.int64), flat[there])


def _descend(store: Store, keys: list[int], gaps: list[bool], sums: Ints, tell: Tell) -> None:
    """Fill the sums of every combination of states, the keys of most values first: what is left of them is small."""
    order = sorted(range(len(keys)), key=lambda at: -store.keys[keys[at]].width)
    done, total = 0, sums.size

    def visit(table: str, depth: int, state: dict[int, int]) -> None:
        nonlocal done
        if depth == len(order):
            present = [keys[at] for at in state if state[at] == 0 and gaps[at]]
            sums[tuple(state[at] for at in range(len(keys)))] = store.duck.row(sql.pairs(table, present))[0]
            done += 1
            tell(done / total, "agreement patterns of all pairs")
            return
        at = order[depth]
        visit(table, depth + 1, {**state, at: 0})
        kept = [keys[other] for other in sorted(set(order[depth + 1 :]) | {a for a in state if state[a] == 0})]
        for one in range(1, sums.shape[at]):
            there = keys[at] if gaps[at] and one == 1 else None  # present, then any
            store.duck.keep(f"level{depth}", sql.coarser(table, kept, there))
            visit(f"level{depth}", depth + 1, {**state, at: one})
            store.duck.drop(f"level{depth}")

    visit("classes", 0, {})


def _inverted(sums: Ints, axis: int, *, gap: bool) -> Ints:
    """From sums over (equal, present, any) to counts of (equal, different, missing)."""
    parts = np.moveaxis(sums, axis, 0)
    found = [parts[0], parts[1] - parts[0], *([parts[2] - parts[1]] if gap else [])]
    return np.moveaxis(np.stack(found), 0, axis)


def _telling(store: Store, keys: list[int]) -> list[int]:
    """The keys on which two people agree least often, as many as have not too many patterns together."""
    chance = {}
    for j in keys:
        found = store.duck.columns(sql.both_values(j))
        there = found["code"] > 0
        chance[j] = float(found["people"][there].astype(np.float64) @ found["records"][there])
    kept, patterns = [], 1
    for j in sorted(keys, key=lambda one: (chance[one], store.keys[one].name)):
        if patterns * (2 + store.keys[j].gaps) <= MOST_PATTERNS:
            kept.append(j)
            patterns *= 2 + store.keys[j].gaps
    return sorted(kept)


def _without_copies(store: Store) -> list[int]:
    """Leave out keys that class all records of both tables as another key does: EM would take them for evidence."""
    kept: list[int] = []
    for j, key in enumerate(store.keys):
        alike = [
            i for i in kept if store.keys[i].width == key.width and store.keys[i].gaps == key.gaps and key.width > 2
        ]
        if not any(_together(store, i, j) == max(key.width - (not key.gaps), 1) for i in alike):
            kept.append(j)
    return kept


def _together(store: Store, i: int, j: int) -> int:
    """Different pairs of values of two keys, in both tables."""
    both = " UNION ".join(f"SELECT c{i}, c{j} FROM {table}" for table in ("o", "r"))
    return int(store.duck.row(f"SELECT count(*) FROM ({both}) AS t")[0])
