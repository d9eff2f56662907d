"""Rows that are published together: people of a household, visits of a patient, found as a whole.

A column that splits people in the original as a column of the release does, under whatever names, says who belongs
together. Groups are then compared by the best pairing of their members, one to one; and a member of a group is
compared with members of that group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from unmask.linkage.channel.columns import Column
from unmask.linkage.channel.posterior import one_to_one_posterior

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Marks = NDArray[np.uint64]

KEPT = 0.95  # share of known people whose group is one in the other file as well
LARGEST = 100  # people in a group, on average
EQUAL = 0.5  # share of known people with the same word in both files: then the word itself is compared
PROBES = 200
FAR = 25.0  # groups whose score is this far below the best of a group are not candidates
FLOOR = -600.0
LIKELY = 1e-3  # groups whose members are compared one by one
ROUNDS = 8
TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Groups:
    """Number of the group that each person and each record belongs to, and how much an equal size speaks for a pair."""

    people: Ints
    records: Ints
    same_size: float = 0.0
    other_size: float = 0.0

    def take(self, people: Ints, records: Ints) -> Groups:
        """The same of some people and records."""
        parts = self.people[people], self.records[records]
        ours, theirs = (np.unique(part, return_inverse=True)[1].ravel() for part in parts)
        return replace(self, people=ours, records=theirs)


def find_groups(
    people: Sequence[Column], records: Sequence[Column], truth: Ints, hints: tuple[Marks, tuple[Column, Column] | None]
) -> Groups | None:
    """The finest columns of both files that split known people alike, if there are any; those declared come first.

    ``hints``: a number for each person by what they are, which half of them are known, and the declared columns.
    """
    mark, declared = hints
    known = np.flatnonzero((truth >= 0) & (mark >> np.uint64(40) & np.uint64(1) == 0))
    if not known.size:
        return None
    if declared is not None and _split_alike(*declared, known, truth[known]):
        return _weigh(declared, known, truth[known])
    pairs = [
        (ours, theirs)
        for ours in filter(_splits, people)
        for theirs in filter(_splits, records)
        if not _equal(ours, theirs, known, truth[known]) and _split_alike(ours, theirs, known, truth[known])
    ]
    finest = max(pairs, key=lambda pair: len(pair[0].words), default=None)
    return None if finest is None else _weigh(finest, known, truth[known])


def _splits(column: Column) -> bool:
    """Whether a column puts most people together with some others, but not with very many."""
    there = column.code[column.code >= 0]
    if len(column.words) < 3 or there.size > LARGEST * len(column.words):
        return False
    return bool((np.bincount(there)[there] > 1).mean() > 0.5)


def _equal(ours: Column, theirs: Column, known: Ints, made: Ints) -> bool:
    """Whether the words themselves are the same, so that they can be compared."""
    a, b = ours.code[known[:PROBES]], theirs.code[made[:PROBES]]
    same = [i >= 0 and j >= 0 and ours.words[i] == theirs.words[j] for i, j in zip(a, b, strict=True)]
    return float(np.mean(same)) >= EQUAL


def _split_alike(ours: Column, theirs: Column, known: Ints, made: Ints) -> bool:
    a, b = ours.code[known], theirs.code[made]
    there = (a >= 0) & (b >= 0)
    a, b = a[there], b[there]
    return a.size >= max(1.0, KEPT * known.size) and _one_way(a, b) and _one_way(b, a)


def _one_way(a: Ints, b: Ints) -> bool:
    """Whether those together in one file are together in the other: of each group those who are with the most."""
    pairs, counts = np.unique(a * (int(b.max()) + 1) + b, return_counts=True)
    largest = np.zeros(int(a.max()) + 1, dtype=np.int64)
    np.maximum.at(largest, pairs // (int(b.max()) + 1), counts)
    sizes = np.bincount(a)
    several = sizes > 1
    return bool(several.any()) and float(largest[several].sum()) >= KEPT * float(sizes[several].sum())


def _alone(code: Ints) -> Ints:
    """Who is in no group is alone."""
    nobody = code < 0
    fresh = code.copy()
    fresh[nobody] = code.max() + 1 + np.arange(int(nobody.sum()))
    return np.unique(fresh, return_inverse=True)[1].ravel().astype(np.int64)


def _weigh(columns: tuple[Column, Column], known: Ints, made: Ints) -> Groups:
    people, records = (_alone(column.code) for column in columns)
    ours, theirs = np.bincount(people), np.bincount(records)
    pairs = np.unique(np.column_stack((people[known], records[made])), axis=0)
    same = (float((ours[pairs[:, 0]] == theirs[pairs[:, 1]]).sum()) + 0.5) / (len(pairs) + 1.0)
    top = int(max(ours.max(), theirs.max())) + 1
    shares = np.bincount(ours, minlength=top) / ours.size, np.bincount(theirs, minlength=top) / theirs.size
    chance = float(np.clip(shares[0] @ shares[1], 1e-6, 1 - 1e-6))
    told = np.log(same / chance), np.log((1 - same) / (1 - chance))
    return Groups(people, records, max(0.0, float(told[0])), min(0.0, float(told[1])))


# --- scores of whole groups ------------------------------------------------------------------------------------------


def as_groups(scores: Floats, groups: Groups) -> Floats:
    """Scores of people with records, given that whole groups are matched one to one and members within them."""
    return _spread(scores, groups, one_to_one_posterior(pair_groups(scores, groups)))


def _members(groups: Ints) -> list[Ints]:
    return np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])


def pair_groups(scores: Floats, groups: Groups) -> Floats:
    """Score of each group of people with each group of records: of the best pairing of their members."""
    ours, theirs = _members(groups.people), _members(groups.records)
    sizes = np.bincount(groups.records)
    starts, order = np.cumsum(sizes) - sizes, np.concatenate(theirs)
    return np.array(
        [
            _group_scores(
                scores[np.ix_(rows, order)], starts, np.where(sizes == len(rows), groups.same_size, groups.other_size)
            )
            for rows in ours
        ]
    )


def _group_scores(block: Floats, starts: Ints, size: Floats) -> Floats:
    """Best pairing of a group's members with those of every other group that can come near the best."""
    bounds = np.maximum.reduceat(block, starts, axis=1).sum(0)
    ends = np.append(starts[1:], block.shape[1])
    small = ends - starts < len(block)  # not everybody has a partner: who is left over says nothing
    if small.any():
        bounds = np.where(small, np.maximum.reduceat(np.maximum(block, 0.0), starts, axis=1).sum(0), bounds)
    bounds = bounds + size
    found, best = np.full(starts.size, FLOOR), -np.inf
    for b in np.argsort(-bounds, kind="stable").tolist():
        if bounds[b] < best - FAR:
            break
        part = block[:, starts[b] : ends[b]]
        found[b] = float(part[linear_sum_assignment(part, maximize=True)].sum()) + size[b]
        best = max(best, found[b])
    return found


def _spread(scores: Floats, groups: Groups, posterior: Floats) -> Floats:
    """Log posterior of people and records: of their groups, and of them within these."""
    ours, theirs = _members(groups.people), _members(groups.records)
    with np.errstate(divide="ignore"):
        whole = np.maximum(np.log(posterior) - np.log([len(members) for members in theirs]), FLOOR)
    fresh = whole[groups.people][:, groups.records]
    for a, b in zip(*np.nonzero(posterior > LIKELY), strict=True):
        cells = np.ix_(ours[a], theirs[b])
        fresh[cells] = np.maximum(_within(scores[cells]) + np.log(posterior[a, b]), FLOOR)
    return np.asarray(fresh)


def _within(block: Floats) -> Floats:
    """Log posterior of the members of two groups, one to one where they are as many."""
    work = block - block.max(1, keepdims=True)
    kernel = np.exp(work)
    column = np.ones(kernel.shape[1])
    for _ in range(ROUNDS if kernel.shape[0] == kernel.shape[1] else 0):
        column = 1.0 / np.maximum((1.0 / np.maximum(kernel @ column, TINY)) @ kernel, TINY)
    return np.asarray(work + np.log(column) - np.log(np.maximum(kernel @ column, TINY))[:, None])
