"""Seed and extend: the graph attack for any metric where the product graph is out of reach.

People with rare labels have few candidates, so their part of the product graph is small: its largest clique (found
greedily) is the seed. Every pair of records is then asked how many distances to the seed agree; those that agree with
most are the core, a larger clique is grown among them, and the vote is repeated with it. On what remains branch and
bound looks for a maximum clique within its budget. Nothing outside the core was ever refuted: the answer is not
certified.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Codes, Ints
from unmask.graph.distances import Place
from unmask.graph.geometry import shared_map
from unmask.graph.problem import Problem, Task
from unmask.graph.result import CliqueLinkage, answer, shared_belief
from unmask.kernels.cliques import Cliques, adjacency_of, agreeing, greedy, greedy_clique, maximum_cliques

Words = NDArray[np.uint64]


RARE = 40_000  # vertices of the rare-label part
STARTS = (12, 200)  # greedy cliques tried there, and when they do not grow
SOLVABLE = 1500  # vertices of a core on which branch and bound is worth its time
WORK = 1_000_000  # of branch and bound there
PLENTY = 40  # members of a seed that need not grow to be believed
VOTERS = 64  # believed matches that vote
CORE = 12_000  # candidates that a core may have
SHARE = 0.6  # of the voters that a candidate must agree with


def rare(problem: Problem, size: int = RARE) -> tuple[Problem, Ints, Ints]:
    """Cut the problem down to so many vertices of its rarest labels. Also which records these are, on both sides."""
    n1, n2 = np.diff(problem.start1), np.diff(problem.start2)
    weight = n1[problem.couples[:, 0]] * n2[problem.couples[:, 1]]
    order = np.argsort(weight, kind="stable")
    chosen = problem.couples[order[: max(1, int(np.searchsorted(np.cumsum(weight[order]), size, side="right")))]]
    limit = max(1, int(np.sqrt(size)))  # one label for everybody: its most remote records must do
    if int(weight[order[0]]) <= size:
        limit = max(problem.target.n, problem.identification.n)
    kept1, start1 = _cut(problem.target, problem.order1, problem.start1, np.unique(chosen[:, 0]), limit)
    kept2, start2 = _cut(problem.identification, problem.order2, problem.start2, np.unique(chosen[:, 1]), limit)
    inside = np.isin(problem.couples[:, 0], chosen[:, 0]) & np.isin(problem.couples[:, 1], chosen[:, 1])
    part = replace(
        problem, order1=problem.order1[kept1], order2=problem.order2[kept2], start1=start1, start2=start2,
        couples=np.ascontiguousarray(problem.couples[inside]),
    )  # fmt: skip
    return part, kept1, kept2


def _cut(place: Place, order: Ints, start: Ints, labels: Ints, limit: int) -> tuple[Ints, Ints]:
    """Records of some labels, at most ``limit`` each, and where each label begins among them.

    Of more those are kept who are farthest from everybody: the same people in both files, whatever these say of them.
    """
    held = [np.arange(start[a], start[a + 1]) for a in labels]
    if any(len(rows) > limit for rows in held):
        blocks = np.array_split(order, max(1, len(order) // 512))
        far = np.concatenate([place.rows(block)[:, order].sum(axis=1) for block in blocks])
        held = [np.sort(rows[np.argsort(-far[rows], kind="stable")[:limit]]) for rows in held]
    sizes = np.zeros(len(start) - 1, dtype=np.int64)
    sizes[labels] = [len(rows) for rows in held]
    return np.concatenate(held), np.concatenate([[0], np.cumsum(sizes)])


def seed_clique(problem: Problem, starts: int, size: int = RARE) -> tuple[Ints, Ints]:
    """Records (kernel numbers) of a large clique among people with rare labels."""
    part, kept1, kept2 = rare(problem, size)
    rows, cols = greedy_clique(part.sides(), starts)
    return kept1[rows], kept2[cols]


def candidates(problem: Problem, rows: Ints, cols: Ints) -> tuple[Codes, Codes]:
    """Pairs that agree with most of the believed matches (as many of them as vote)."""
    step = max(1, len(rows) // VOTERS)
    v, w = rows[::step], cols[::step]
    e1, e2 = problem.distances_to(v, w)
    misses = int((1 - SHARE) * len(v))
    found, other, counts = agreeing(e1, e2, problem.start1, problem.start2, problem.couples, problem.window, misses)
    if len(found) > CORE:
        keep = counts >= np.sort(counts)[-CORE]
        found, other = (found[keep], other[keep]) if int(keep.sum()) <= 2 * CORE else (found[:0], other[:0])
    return found, other


def core_graph(problem: Problem, rows: Codes, cols: Codes) -> Words:
    """Adjacency of the candidates."""
    held1, place1 = np.unique(rows, return_inverse=True)
    held2, place2 = np.unique(cols, return_inverse=True)
    d1, d2 = problem.target.block(problem.order1[held1]), problem.identification.block(problem.order2[held2])
    return adjacency_of(d1, d2, place1.astype(np.int32), place2.astype(np.int32), problem.window)


def _extend(problem: Problem, rows: Codes, cols: Codes, rounds: int = 4) -> tuple[Codes, Codes, Codes, Words]:
    clique = np.arange(len(rows), dtype=np.int32)
    bits = core_graph(problem, rows, cols)
    for _ in range(rounds):
        some, other = candidates(problem, rows[clique].astype(np.int64), cols[clique].astype(np.int64))
        if len(some) <= len(clique):
            break
        order = np.lexsort((other, some))
        some, other = some[order], other[order]
        graph = core_graph(problem, some, other)
        out = np.empty(len(some) + 1, dtype=np.int32)
        size = greedy(graph, out)
        if size <= len(clique):
            break
        rows, cols, bits, clique = some, other, graph, np.sort(out[:size])
    return rows, cols, clique, bits


def grow(problem: Problem) -> tuple[Codes, Codes, Codes, Words]:
    """Seed, vote, grow a clique, vote again while it grows. Returns the core, the clique in it, and its adjacency."""
    for starts in STARTS:
        rows, cols = seed_clique(problem, starts)
        grown = _extend(problem, rows.astype(np.int32), cols.astype(np.int32))
        if len(grown[2]) > 2 * len(rows) or len(rows) >= PLENTY:
            break
    return grown


def seed_and_extend(problem: Problem, *, budget: int) -> tuple[Cliques, Codes, Codes]:
    """Find a large clique and the union of those of its size in the core. Never certified for the whole graph."""
    rows, cols, clique, bits = grow(problem)
    if len(rows) > SOLVABLE:
        inside = np.zeros(len(rows), dtype=np.bool_)
        inside[clique] = True
        return Cliques(len(clique), inside, clique, 1, certified=False, work=0), rows, cols
    found = maximum_cliques(bits, rows, cols, bound=clique, budget=min(budget, WORK))
    return found._replace(certified=False), rows, cols


def reaches(problem: Problem, need: int) -> tuple[int, bool]:
    """Size of the clique that seed and extend finds, and whether it has ``need`` members."""
    _, _, clique, _ = grow(problem)
    return len(clique), len(clique) >= need


def attack(task: Task) -> CliqueLinkage:
    """Claim the union of the largest cliques of the core."""
    task.tell(0.0, "seeds")
    found, rows, cols = seed_and_extend(task.problem, budget=task.budget)
    maps = shared_map(task.problem, rows[found.clique], cols[found.clique])
    null = task.by_chance(found.size, maps, lambda other: reaches(other, found.size))
    rows, cols = rows[found.union], cols[found.union]
    return answer(
        task, CliqueLinkage, (rows, cols), null, shared_belief(rows, cols), method="seeds", n_agree=found.size,
        why=f"{task.why}; not certified: only pairs that agree with the seed were searched",
        n_cliques=found.n_found, exact=False,
    )  # fmt: skip
