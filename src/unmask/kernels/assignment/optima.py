"""Credits of a global linkage: the share of all optimal matchings that contain a record's true pair.

With optimal prices the *tight* pairs, those whose cost equals profit minus price, are all that an optimal matching may
use, and every one-to-one matching of tight pairs is optimal. So shares are those of the matchings of the tight graph:

- on classes of equal records, an optimal matching is a flow f between classes, and equal records share it: a record of
  a class of r has the chance E[f] / (r s) of a given record of a class of s;
- a pair outside a cycle of alternatives has the same flow in all optimal matchings (strong components; then pairs that
  hang on a class without another choice);
- what remains falls into parts. In one where any two classes are tight (records that are all equally far), each unit is
  matched with each as often. Another small one is counted exactly, by a permanent over subsets. A large one is sampled
  by a walk that opens one pair and moves the gap along tight pairs until it closes; its matchings are uniform. Where
  gaps hardly ever close, by a walk that turns cycles of alternatives; its matchings are uniform too.

The result depends on values only, so shuffling the rows changes nothing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.assignment.classes import Classes, both, of_classes
from unmask.kernels.assignment.flows import count_part, sample_part, spread_part, strip
from unmask.kernels.assignment.solver import Matching
from unmask.kernels.base import Floats, Ints, Space
from unmask.kernels.compiling import in_chunks, lean
from unmask.kernels.search import priced

COUNTED = 10  # units of a part up to which its matchings are counted
_TIGHT = 1e-9  # of the mean cost
_SAMPLE = 32  # bidders that tell whether pairs are tight in masses
_MANY = 64  # tight pairs of a bidder that are masses
_LOOKED = 1 << 24  # pairs that may all be looked at


class Credits(NamedTuple):
    """One entry per query."""

    credit: Floats
    exact: NDArray[np.bool_]  # known exactly, not from a sample of optimal matchings


class _Graph(NamedTuple):
    """Tight pairs of classes. Queries come first, then points; the side with fewer records has a leftover class."""

    a: Ints
    b: Ints
    flow: Floats
    n_a: int
    n_b: int
    whole: bool  # no tight pair is left out


def credits(space: Space, matching: Matching, truth: Ints, *, seed: int = 0, draws: int = 200) -> Credits:  # noqa: A001
    """Share of the optimal matchings that contain (i, truth[i]), for every query i; -1 means no true point: 0.

    A matching that is not proven optimal is taken for the only one, up to equal records; then nothing is exact.
    """
    truth = np.asarray(truth, dtype=np.int64)
    queries, points = both(space)
    graph = _matched(matching, queries, points)
    mean, exact = graph.flow, np.zeros(len(graph.flow), np.bool_)
    if matching.optimal:
        graph = _tight(space, matching, queries, points, graph)
        mean, exact = _mean_flow(graph, seed, draws)
    keys = graph.a * graph.n_b + graph.b
    order = np.argsort(keys)
    known = np.flatnonzero(truth >= 0)
    a, b = queries.label[known], points.label[truth[known]]
    at = order[np.minimum(np.searchsorted(keys, a * graph.n_b + b, sorter=order), len(keys) - 1)]
    found = keys[at] == a * graph.n_b + b
    credit, sure = np.zeros(len(truth)), np.full(len(truth), graph.whole)
    credit[known] = np.where(found, mean[at] / (queries.size[a] * points.size[b]), 0.0)
    sure[known] &= np.where(found, exact[at], True)  # noqa: FBT003
    return Credits(credit, sure)


def _matched(matching: Matching, queries: Classes, points: Classes) -> _Graph:
    """Flow of a matching between classes; what is left over goes to a last class of the other side."""
    n_a, n_b = len(queries.size) + 1, len(points.size) + 1
    rows = np.arange(len(matching.cols))
    a = queries.label
    b = np.where(matching.cols >= 0, points.label[matching.cols], n_b - 1)
    free = np.ones(len(points.label), np.bool_)
    free[matching.cols[matching.cols >= 0]] = False
    keys = np.concatenate([a[rows] * n_b + b, (n_a - 1) * n_b + points.label[free]])
    keys, flow = np.unique(keys, return_counts=True)
    return _Graph(keys // n_b, keys % n_b, flow.astype(np.float64), n_a, n_b, whole=False)


def _tight(space: Space, matching: Matching, queries: Classes, points: Classes, used: _Graph) -> _Graph:
    """All tight pairs, with the flow of the matching."""
    profit = np.empty(len(queries.size))
    price = np.empty(len(points.size))
    profit[queries.label], price[points.label] = matching.profits, matching.prices
    tolerance = _TIGHT * (float(np.nanmean(matching.costs)) or _size(space))
    index, _, rows, cols = priced.index_both(of_classes(space, queries, points), squared=matching.squared)
    keys, whole = _keys(index, price[cols], profit[rows] + tolerance, rows * used.n_b, cols)
    more = [used.a * used.n_b + used.b]
    if len(points.label) > len(queries.label):
        more.append((used.n_a - 1) * used.n_b + np.flatnonzero(price <= tolerance))
    if len(queries.label) > len(points.label):
        more.append(np.flatnonzero(profit >= -tolerance) * used.n_b + used.n_b - 1)
    every = np.sort(np.concatenate([keys, *more]), kind="stable")  # numpy's own unique takes ten times as long
    every = every[np.diff(every, prepend=-1) > 0]
    flow = np.zeros(len(every))
    flow[np.searchsorted(every, used.a * used.n_b + used.b)] = used.flow
    return _Graph(every // used.n_b, every % used.n_b, flow, used.n_a, used.n_b, whole)


def _keys(index: priced.Index, price: Floats, cut: Floats, row: Ints, col: Ints) -> tuple[Ints, bool]:
    """Numbers row + col of the pairs with a priced cost below the bidder's cut, and whether these are all.

    Where bidders have many, as a sample of them tells, a look at every pair is quicker than searches with long lists.
    """
    priced.update_prices(index, price)
    n_b, n_o = len(cut), len(price)
    step = -(-n_b // _SAMPLE)
    some = np.where(np.arange(n_b) % step, -np.inf, cut)
    if n_b * n_o <= _LOOKED and len(priced.pairs_below(index, price, some)[0]) * step > _MANY * n_b:
        tight = np.zeros((n_b, n_o), np.bool_)
        in_chunks(lambda part: _look(index, price, cut, np.arange(n_b)[part], tight), n_b)
        return np.concatenate([np.sort(row[i] + col[tight[i]]) for i in np.argsort(row)]), True
    who, what, whole = priced.pairs_below(index, price, cut)
    return row[who] + col[what], whole


@lean
def _look(index: priced.Index, price: Floats, cut: Floats, bidders: Ints, tight: NDArray[np.bool_]) -> None:
    for i in bidders:
        for j in range(price.shape[0]):
            tight[i, j] = priced.cost_of(index, i, j) + price[j] < cut[i]


def _size(space: Space) -> float:
    """Return some length to measure zero by: the largest number in the files."""
    parts = (space.points, space.missing, space.step, space.code_missing)
    return max(float(np.fmax.reduce(np.abs(part), axis=None, initial=0.0)) for part in parts) or 1.0


def _mean_flow(graph: _Graph, seed: int, draws: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Mean flow of every tight pair over all optimal matchings, and whether it is exact."""
    mean, exact = graph.flow.copy(), np.ones(len(graph.flow), np.bool_)
    inner = np.flatnonzero(_on_cycles(graph))
    a, b = _parts(graph, inner)
    alive = (
        strip(a, b, np.bincount(a), np.bincount(b, minlength=a.max(initial=-1) + 1)) if len(a) else np.zeros(0, bool)
    )
    inner, a, b = inner[alive], a[alive], b[alive]
    if not len(inner):
        return mean, exact
    part = _components(a, b, b.max() + 1)[a]
    order = np.argsort(part, kind="stable")
    bounds = np.append(np.flatnonzero(np.diff(part[order], prepend=-1)), len(order))
    for number, (first, last) in enumerate(pairwise(bounds)):
        chosen = order[first:last]
        edges = inner[chosen]
        left, right = _renumbered(a[chosen]), _renumbered(b[chosen])
        flow = graph.flow[edges]
        if (spread := spread_part(left, right, flow)) is not None:
            mean[edges] = spread
        elif flow.sum() <= COUNTED:
            mean[edges] = count_part(left, right, flow)
        else:
            mean[edges] = sample_part(left, right, flow, draws, np.random.default_rng([seed, number]))
            exact[edges] = False
    return mean, exact


def _on_cycles(graph: _Graph) -> NDArray[np.bool_]:
    """Pairs within a strong component of: query to point if tight, point back to query if matched."""
    n = graph.n_a + graph.n_b
    back = graph.flow > 0
    tails = np.concatenate([graph.a, graph.n_a + graph.b[back]])
    heads = np.concatenate([graph.n_a + graph.b, graph.a[back]])
    label = _components(tails, heads, n, strong=True)
    return np.asarray(label[graph.a] == label[graph.n_a + graph.b])


def _parts(graph: _Graph, inner: Ints) -> tuple[Ints, Ints]:
    """Split at the leftover class: how much of each part is left over is the same in all matchings."""
    a, b = graph.a[inner], graph.b[inner]
    real = (a < graph.n_a - 1) & (b < graph.n_b - 1)
    n = graph.n_a + graph.n_b
    label = _components(a[real], graph.n_a + b[real], n)
    part = np.where(a < graph.n_a - 1, label[a], label[graph.n_a + b])
    left = np.where(a < graph.n_a - 1, a, graph.n_a + part)
    right = np.where(b < graph.n_b - 1, graph.n_a + n + b, graph.n_a + n + graph.n_b + part)
    names = _renumbered(np.concatenate([left, right]))
    return names[: len(a)], names[len(a) :]


def _renumbered(names: Ints) -> Ints:
    """Number names from 0 in their order, without a sort where there are many of few."""
    if len(names) < names.max(initial=-1):
        return np.unique(names, return_inverse=True)[1]
    there = np.zeros(names.max(initial=-1) + 1, np.int64)
    there[names] = 1
    return np.asarray(np.cumsum(there)[names] - 1)


def _components(tails: Ints, heads: Ints, n: int, *, strong: bool = False) -> Ints:
    """Label the (strong) components of a graph of n vertices."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - slow to import, and only needed here
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - as above

    links = coo_array((np.ones(len(tails)), (tails, heads)), shape=(n, n))
    labels: Ints = connected_components(links, directed=strong, connection="strong" if strong else "weak")[1]
    return labels
