"""Branch and bound for one clique of a small graph in rows of bits: the inner engine of `cliques`.

Tomita's scheme in San Segundo's bit-parallel form: at every node the candidates are coloured greedily, one class after
the other; a candidate whose colour cannot lift the clique above the best known one is never branched on. The work is
counted, not timed, so that a budget gives the same answer on every machine: one for a node, and one more for every
thousand words that its colouring may touch (a few microseconds).
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes
from unmask.kernels.cliques.bits import ONE, ZERO, Words, drop, has, members, put, shared, size, words_for
from unmask.kernels.compiling import kernel, lowest


@kernel
def degeneracy_order(bits: Words) -> Codes:
    """Vertices so that each has the fewest neighbours among itself and those before it (the last has least degree)."""
    k = len(bits)
    degree = np.empty(k, dtype=np.int32)
    for u in range(k):
        degree[u] = size(bits[u])
    order = np.empty(k, dtype=np.int32)
    found = np.empty(k, dtype=np.int32)
    for place in range(k - 1, -1, -1):
        least = -1
        for u in range(k):
            if degree[u] >= 0 and (least < 0 or degree[u] < degree[least]):
                least = u
        order[place] = least
        degree[least] = -1
        for i in range(members(bits[least], found)):
            if degree[found[i]] > 0:
                degree[found[i]] -= 1
    return order


@kernel
def induced(bits: Words, chosen: Codes) -> Words:
    """Adjacency among the chosen vertices, numbered as chosen."""
    k = len(chosen)
    small = np.zeros((k, words_for(k)), dtype=np.uint64)
    for i in range(k):
        row = bits[chosen[i]]
        for j in range(i):
            if has(row, chosen[j]):
                put(small[i], j)
                put(small[j], i)
    return small


@kernel
def greedy(bits: Words, out: Codes) -> int:
    """Grow a clique by the candidate that keeps most candidates; write it, return its size."""
    k = len(bits)
    pool = np.zeros(words_for(k), dtype=np.uint64)
    for u in range(k):
        put(pool, u)
    found = np.empty(k, dtype=np.int32)
    length = 0
    left = k
    while left:
        best, most = -1, -1
        for i in range(members(pool, found)):
            kept = shared(bits[found[i]], pool)
            if kept > most:
                best, most = found[i], kept
        out[length] = best
        length += 1
        pool &= bits[best]
        left = most
    return length


@kernel
def _colour(bits: Words, pool: Words, skip: int, branch: Codes, colours: Codes, top: int) -> int:
    """Colour the pool greedily; push candidates of a colour above skip with it. Returns the new top of the stack."""
    left = pool.copy()
    free = np.empty_like(pool)
    colour = 0
    width = len(pool)
    start = 0
    while True:
        while start < width and left[start] == ZERO:
            start += 1
        if start == width:
            return top
        colour += 1
        free[start:] = left[start:]
        for word in range(start, width):
            while free[word] != ZERO:
                bit = lowest(free[word])
                u = (word << 6) + bit
                left[word] &= ~(ONE << np.uint64(bit))
                free[word] &= ~(ONE << np.uint64(bit))
                for rest in range(word, width):
                    free[rest] &= ~bits[u, rest]
                if colour > skip:
                    branch[top] = u
                    colours[top] = colour
                    top += 1


@kernel
def _descend(pools: Words, depth: int, row: Words) -> bool:
    """Write the candidates that stay when a vertex is taken; say whether there are any."""
    some = False
    for word in range(len(row)):
        pools[depth + 1, word] = pools[depth, word] & row[word]
        some = some or pools[depth + 1, word] != ZERO
    return some


@kernel
def _with_room(row: Codes, size: int) -> Codes:
    """The row, made longer where it has no room for so many entries."""
    return row if size <= len(row) else np.concatenate((row, np.empty(size, dtype=np.int32)))


@kernel
def search(bits: Words, best: int, first: bool, budget: int, out: Codes) -> tuple[int, int]:  # noqa: FBT001
    """Find a clique of more than ``best`` vertices, the largest or (``first``) any. Returns size (0: none) and work.

    The graph should be numbered by `degeneracy_order`. More work than the budget: the search ends undecided, and the
    caller sees that ``work > budget``.
    """
    k, width = len(bits), words_for(len(bits))
    effort = 1 + ((k * width) >> 10)
    pools = np.zeros((k + 1, width), dtype=np.uint64)
    branch = np.empty(4 * k + 64, dtype=np.int32)
    colours = np.empty(4 * k + 64, dtype=np.int32)
    bottom = np.zeros(k + 2, dtype=np.int64)
    current = np.empty(k + 1, dtype=np.int32)
    for u in range(k):
        put(pools[0], u)
    depth, found, work = 0, 0, effort
    top = _colour(bits, pools[0], best, branch, colours, 0)
    while depth >= 0:
        if top == bottom[depth] or depth + colours[top - 1] <= best:
            top = bottom[depth]
            depth -= 1
            if depth >= 0:
                drop(pools[depth], current[depth])
            continue
        top -= 1
        u = branch[top]
        current[depth] = u
        if not _descend(pools, depth, bits[u]):
            if depth + 1 > best:
                best = depth + 1
                found = best
                out[:found] = current[:found]
                if first:
                    return found, work
            drop(pools[depth], u)
            continue
        work += effort
        if work > budget:
            return found, work
        depth += 1
        bottom[depth] = top
        branch, colours = _with_room(branch, top + k), _with_room(colours, top + k)
        top = _colour(bits, pools[depth], best - depth, branch, colours, top)
    return found, work
