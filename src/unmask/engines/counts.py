"""Counts of counts, made where the data lives: only as many rows come here as there are different sizes of groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.engines import sql
from unmask.engines.store import Store

Tell = Callable[[float, str], None]


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
