"""Counts of counts, made where the data lives: only as many rows come here as there are different sizes of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
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
    made: dict[str, dict[int, int]] = {}  # tables of minimal uniques, and how many each set of theirs has
    for batch in _batches(masks, duck.together):
        duck.hold("g", sql.groups_of(batch, store.widths))
        counts = duck.columns(sql.counts_of_sets(k))
        found |= dict(zip(counts["mask"].tolist(), zip(*list(counts.values())[1:], strict=True), strict=True))
        if counts["alone"].any():
            parts = [name for name, those in made.items() if any(p & m == p for p in those for m in batch)]
            duck.keep(f"msu{len(made)}", sql.new_uniques(parts))
            many = duck.columns(f"SELECT mask, count(*) AS number FROM msu{len(made)} GROUP BY mask")
            made[f"msu{len(made)}"] = dict(zip(many["mask"].tolist(), many["number"].tolist(), strict=True))
        tell(len(found) / len(masks), "sets of attributes")
    duck.drop("g")
    table = np.array([found[mask] for mask in masks], dtype=np.int64)
    uniques = _matched(store, made)
    duck.drop(*made)
    return SetCounts(np.array(masks, dtype=np.int64), *(np.ascontiguousarray(table[:, i]) for i in range(3))), uniques


def _batches(masks: list[int], together: int) -> Iterator[list[int]]:
    """The sets, smallest first, so many at a time of one size: none of them is a part of another."""
    for _, level in groupby(sorted(masks, key=lambda one: (one.bit_count(), one)), key=int.bit_count):
        chosen = list(level)
        yield from (chosen[start : start + together] for start in range(0, len(chosen), together))


def _matched(store: Store, made: dict[str, dict[int, int]]) -> UniqueCounts:
    """Who carries the values of a record that stands out, over all sets."""
    number = dict(sorted(pair for those in made.values() for pair in those.items()))
    masks, many = (np.array(list(side), dtype=np.int64) for side in (number, number.values()))
    if not number:
        return UniqueCounts(masks, many, 0, many, many, many)
    tables = [name for name, those in made.items() if those]
    for name in tables:
        store.duck.keep(f"hits_{name}", sql.matched_uniques(name, list(made[name]), store.widths))
    crowds = store.duck.columns(sql.shared_uniques([f"hits_{name}" for name in tables]))
    special = int(store.duck.row(sql.special_records(tables))[0])
    store.duck.drop(*(f"hits_{name}" for name in tables))
    order = np.argsort(crowds["crowd"])
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
