"""The kernels of nearest() where stored distances are exact: ranks, thousands of which may be as near.

Each query starts at the leaf nearest to it, and leaves are compared as they are stored, 48 points at a time. Once a few
leaves hold points that tie, only what is nearer is sought, and boxes of ties are not entered; at the end the ties are
counted by bits (ties.py), and the second distance is found on the way.
"""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import LEAF, Codes, Ints, Singles, Space
from unmask.kernels.compiling import inlined, lean, lowest
from unmask.kernels.draws import pick, stem
from unmask.kernels.search.best import Best, draw_ties, find_best, soonest
from unmask.kernels.search.masks import split
from unmask.kernels.search.ties import EVERYBODY, FEW, SIDES, begin, by_bits, count_tied, next_tied, rows_among
from unmask.kernels.search.tree import Tree
from unmask.kernels.search.walk import Buffer, enter, new_buffer, next_near

Found = tuple[float, float, int, int]  # stored distances of the nearest and the second, ties, place of a nearest point


@lean
def _find_ranks(tree: Tree, slots: Ints, leaves: Codes, best: Best, buffer: Buffer) -> None:
    """Search the queries of some slots, each from its leaf."""
    for i in range(slots.shape[0]):
        slot = slots[i]
        least, second, best.ties[slot], best.place[slot] = _find(tree, tree.probes[best.query[slot]], leaves[i], buffer)
        best.least[slot], best.second[slot] = least * tree.scale, second * tree.scale


@inlined
def _find(tree: Tree, probe: Singles, start: int, buffer: Buffer) -> Found:
    grain, few, done = tree.grain / tree.scale, FEW if tree.numeric <= SIDES else tree.lanes.shape[0], -1
    least, second, ties, place, within = np.inf, np.inf, 0, -1, np.inf
    top = enter(tree, buffer)
    buffer.nodes[top], buffer.floors[top] = start, 0.0  # a box of level 0: comes first
    top += 1
    while top > 0:
        leaf, mask, top = next_near(tree, probe, within, buffer, top)
        if mask == 0 or leaf == done:
            continue
        if leaf == start:
            done = start
        bits, near = split(buffer.far, least)
        if bits == 0:
            second = min(second, near)
        else:
            _, near = split(buffer.far, -1.0)
            bits, beyond = split(buffer.far, near)
            if near < least:
                least, second, ties, place = near, min(least, beyond), 0, leaf * LEAF + lowest(bits)
            else:
                second, few = min(second, beyond), few - 1
            ties += rows_among(tree, leaf * LEAF, bits)
            if few == 0:
                few, top = -1, enter(tree, buffer)
        within = least - grain if few < 0 else max(least, second - grain)
    if few < 0:
        ties, beyond = count_tied(tree, probe, (max(least, second - grain), least), buffer, EVERYBODY)
        second = min(second, beyond)
    return least, second, ties, place


@lean
def _draw_ranks(tree: Tree, slots: Ints, seed: int, best: Best, buffer: Buffer) -> None:
    """As draw_ties in best.py, over ranges of points that tie."""
    for slot in slots:
        query, shortest, winner = best.query[slot], np.inf, best.place[slot]
        if best.ties[slot] == tree.members.shape[0]:  # any point will do, and nobody needs to wait
            best.place[slot] = tree.position[pick(stem(seed, query, 4), 0, tree.members.shape[0])]
            continue
        probe, least = tree.probes[query], best.least[slot] / tree.scale
        stems, state, last = (stem(seed, query, 1), stem(seed, query, 2)), begin(tree, buffer), 1
        while last:
            first, last, bits, state = next_tied(tree, probe, (least, least), buffer, state)
            for at in range(first, last, LEAF):
                mask = bits & ((1 << min(LEAF, last - at)) - 1)
                shortest, winner = soonest(tree, at, mask, stems, (shortest, winner))
        best.place[slot] = winner


def find_part(space: Space, tree: Tree, slots: Ints, leaves: Codes, best: Best) -> None:
    """Search the queries of some slots by the kernel that the tree is for."""
    if tree.sharp:
        _find_ranks(tree, slots, leaves, best, new_buffer())
    else:
        find_best(space, tree, slots, best, new_buffer())


def draw_part(space: Space, tree: Tree, slots: Ints, seed: int, best: Best) -> None:
    """Draw among the ties of some slots, so too."""
    if by_bits(tree):
        _draw_ranks(tree, slots, seed, best, new_buffer())
    else:
        draw_ties(space, tree, slots, seed, best, new_buffer())
