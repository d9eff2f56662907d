"""Many people: candidates by a search for nearest records, then the channel's own scores of these.

The factors in use are laid out as coordinates (a prediction and a released value, in units of their typical residual)
and codes (the foretold label and the released one), so that near records are probable ones. Records that are equal in
all columns are one candidate of their number. Whoever is not among a person's candidates is not found: the rate is a
lower bound. How many are not, and how likely they are together, is told by samples (``beyond``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.kernels.base import EUCLIDEAN, Space
from unmask.kernels.search import nearest_k
from unmask.linkage.channel.alike import Likeness
from unmask.linkage.channel.beyond import NOTHING, Sampled, beyond
from unmask.linkage.channel.circles import Turned
from unmask.linkage.channel.factors import Choices, Factor, Given, Inside, Labels, Residual, States, Sum, Table
from unmask.linkage.channel.gather import Gathered
from unmask.linkage.channel.joint import Cloud
from unmask.linkage.channel.lenses import Agreement
from unmask.linkage.channel.letters import Spelled
from unmask.linkage.channel.posterior import ROUNDS, SHARPER, SHARPER_ROUNDS, SURE
from unmask.linkage.channel.residuals import Law
from unmask.linkage.channel.select import Channel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Axis = tuple[Floats, Floats]  # of people, of records
Code = tuple[Ints, Ints, float]  # of people, of records, and what it weighs if they differ

CANDIDATES = 24  # near a person, and near a record
LONGEST = 72  # list of both sides
HEAVIEST = 30.0  # what a wrong label may weigh
ABSENT = 2.0  # what a missing value weighs, in squared units
MOST_SCORED = 1_000_000  # pairs at once
APART = 0.1  # how far labels reach that have no order, in units of the others
DIRECTIONS = 12  # that texts are laid out by
MOST_LETTERS = 16  # places of a text by which near records are looked for
SPARE = 0.002  # people beyond the lists who may claim any record
SETTLED = 1e-2  # relative change of a price, whose error is several times that
HIGHEST = 300.0  # by how much those beyond the lists may be likelier than the best of a list


@dataclass(frozen=True, slots=True)
class Short:
    """The candidates of each person asked for, as classes of equal records, and their scores."""

    classes: Ints  # (people, candidates); -1: none
    scores: Floats
    sizes: Ints  # records of each class
    others: Sampled = NOTHING  # people, classes that are not listed for them, scores with what these stand for

    def only(self, rows: Ints, left: Ints) -> Short:
        """Some of the people, in this order, and so many records of each class."""
        place = np.full(len(self.classes), -1, dtype=np.int32)
        place[rows] = np.arange(rows.size)
        kept = place[self.others.query] >= 0
        others = Sampled(place[self.others.query[kept]], self.others.point[kept], self.others.weight[kept])
        classes = self.classes[rows]
        scores = np.where((classes >= 0) & (left[classes] > 0), self.scores[rows], -np.inf)
        return Short(classes, scores, left, others)


def shortlist(scene: Gathered, channel: Channel, rows: Ints, seed: int, *, everybody: bool) -> Short:
    """Find and score the candidates of some people."""
    classes, first = np.unique(scene.alike_records, return_index=True)
    sizes = np.bincount(scene.alike_records)
    space = lay_out(channel, rows, first)
    k, others = min(CANDIDATES, classes.size), NOTHING
    if space is None:
        places = np.broadcast_to(np.argsort(-sizes, kind="stable")[:k], (rows.size, k))
    else:
        places = nearest_k(space, k, seed=seed)[0]
        if everybody:
            places = _joined(places, nearest_k(space.swapped(), min(CANDIDATES, rows.size), seed=seed)[0])
        others = beyond(space, places, seed)

    def score(query: NDArray[Any], point: NDArray[Any]) -> Floats:
        parts = np.array_split(np.arange(query.size), query.size // MOST_SCORED + 1)
        return np.concatenate([channel.score(rows[query[part]], first[point[part]]) for part in parts])

    person, listed = np.nonzero(places >= 0)
    scores = np.full(places.shape, -np.inf)
    scores[person, listed] = score(person, places[person, listed])
    return Short(places, scores, sizes, others._replace(weight=others.weight + score(others.query, others.point)))


def _joined(places: Ints, people: Ints) -> Ints:
    """Lists of both sides as one list per person: records near them, and records that they are near to; -1: none.

    A record that nobody else is near to may be somebody's although nearer ones are many.
    """
    n, k = places.shape
    m, width = len(people), max(k, people.shape[1])
    asking, asked = np.repeat(np.arange(m), people.shape[1]), people.ravel()
    ranks = np.tile(np.arange(k), n), np.tile(np.arange(people.shape[1]), m)
    ours = (np.repeat(np.arange(n), k) * m + places.ravel()) * width + ranks[0]
    theirs = ((asked * m + asking) * width + ranks[1])[asked >= 0]
    pairs = np.sort(np.concatenate((ours[places.ravel() >= 0], theirs)))  # by person, record and rank
    pair, rank = np.divmod(pairs, width)
    fresh = np.append(True, pair[1:] != pair[:-1])
    i, j = np.divmod(pair[fresh], m)
    i, j = np.divmod(np.sort((i * width + rank[fresh]) * m + j), m)  # by person, rank and record
    i //= width
    place = np.arange(i.size) - np.searchsorted(i, np.arange(n))[i]
    kept = place < LONGEST
    lists = np.full((n, int(place[kept].max()) + 1), -1)
    lists[i[kept], place[kept]] = j[kept]
    return lists


def together(shorts: list[Short]) -> Short:
    """Lists of several groups of people under each other."""
    width = max(short.classes.shape[1] for short in shorts)

    def padded(table: NDArray[Any], blank: float) -> NDArray[Any]:
        return np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=blank)

    classes = np.concatenate([padded(short.classes, -1) for short in shorts])
    scores = np.concatenate([padded(short.scores, -np.inf) for short in shorts])
    starts = np.cumsum([0, *(len(short.classes) for short in shorts)])[:-1].astype(np.int32)
    others = [s.others._replace(query=s.others.query + start) for s, start in zip(shorts, starts, strict=True)]
    joined = Sampled(*(np.concatenate(side) for side in zip(*others, strict=True)))
    return Short(classes, scores, shorts[0].sizes, joined)


def lay_out(channel: Channel, rows: Ints, records: Ints) -> Space | None:
    """Coordinates and codes of people and records; None if no factor has any."""
    factors = _single(channel.factors)
    axes = [axis for factor in factors for axis in _axes(factor)]
    codes = [code for factor in factors for code in _codes(factor)]
    if not axes and not codes:
        return None
    axes = axes or [_order_of_labels(codes)]
    steps = np.array([2.0 * min(max(code[2], 0.1), HEAVIEST) for code in codes])
    return Space(
        _table([axis[0][rows] for axis in axes], rows.size).astype(np.float64),
        _table([axis[1][records] for axis in axes], records.size).astype(np.float64),
        _table([code[0][rows] for code in codes], rows.size).astype(np.int32),
        _table([code[1][records] for code in codes], records.size).astype(np.int32),
        EUCLIDEAN,
        np.full(len(axes), ABSENT),
        steps,
        steps / 2,
    )


def _axes(factor: Factor) -> list[Axis]:
    """Coordinates that a factor lays people and records out by."""
    match factor:
        case Cloud():
            return [(factor.predicted[:, k], factor.value[:, k]) for k in range(factor.value.shape[1])]
        case Residual() | Given():
            return [_axis(factor.joint if isinstance(factor, Given) else factor)]
        case Turned():
            return factor.places(_spread(factor.law))
        case Inside():
            return [_containing(factor)]
        case Likeness():
            return _directions(factor)
        case _:
            return []


def _codes(factor: Factor) -> list[Code]:
    """Codes in which a person and their record are likely the same, and what it weighs if not."""
    match factor:
        case Labels():
            gap = np.log((1 - factor.error) * np.median(factor.rarity) + factor.error) - np.log(factor.error)
            return [(factor.first, factor.record, float(np.median(gap)))]
        case Choices():
            weight = float(np.median(np.log(np.median(factor.rarity)) - np.log(factor.error))) * factor.weight
            return [(way, factor.record, float(w)) for way, w in zip(factor.foretold, weight, strict=True)]
        case Spelled():
            return _letters(factor)
        case Agreement():
            each = float(factor.table[-1] - factor.table[0]) / len(factor.person)
            return [(a, b, each) for a, b in zip(factor.person, factor.record, strict=True)]
        case Table() | States():
            return [_likeliest(factor)]
        case _:
            return []


def _order_of_labels(codes: list[Code]) -> Axis:
    """The labels of the code that has most, a little apart: without it thousands of wrong records would be as near."""
    ours, theirs, _ = max(codes, key=lambda code: int(code[1].max()))
    size = max(1.0, float(theirs.max())) / APART
    return np.where(ours < 0, np.nan, ours / size), theirs / size


def _directions(factor: Likeness) -> list[Axis]:
    """Texts as points of few random directions, near where they are alike."""
    turn = np.random.default_rng(0).normal(size=(factor.ours.shape[1], DIRECTIONS)).astype(np.float32)
    reach = float(np.sqrt(max(factor.table[-1] - factor.table[0], 1.0) * 2.0 / DIRECTIONS))
    ours, theirs = (
        np.where((code < 0)[:, None], np.nan, (table @ turn * reach)[code])
        for table, code in ((factor.ours, factor.person), (factor.theirs, factor.record))
    )
    return [(ours[:, k], theirs[:, k]) for k in range(DIRECTIONS)]


def _single(factors: tuple[Factor, ...]) -> list[Factor]:
    """Factors one by one, also those that are sums."""
    return [one for f in factors for one in (_single(f.factors) if isinstance(f, Sum) else [f])]


def _table(columns: list[Any], n: int) -> NDArray[Any]:
    return np.ascontiguousarray(np.column_stack(columns)) if columns else np.zeros((n, 0))


def _axis(factor: Residual) -> Axis:
    spread = _spread(factor.law)
    if factor.precision is not None:
        spread = spread / float(np.nanmedian(factor.precision))
    return factor.predicted / spread, factor.value / spread


def _spread(law: Law) -> float:
    """The typical residual."""
    weight = np.exp(law.table) * law.width
    if weight.size > 1 and weight.sum() > 0:
        share = np.cumsum(weight) / weight.sum()
        low, high = np.searchsorted(share, [0.25, 0.75])
        spread = max((high - low) * law.width / 1.35, law.width / 3)
    else:
        spread = law.width / 3
    if not np.isnan(law.at_zero) and np.exp(law.at_zero) * 4 * law.near > 0.5:
        spread = max(4 * law.near, 1e-3 * spread)
    return float(spread)


def _letters(factor: Spelled) -> list[Code]:
    """The likeliest letter at each of the most telling places."""
    likely, best = factor.tables.argmax(2), factor.tables.max(2)
    gap = np.median(best - np.median(factor.tables, axis=2), axis=1)
    places = np.argsort(-gap, kind="stable")[:MOST_LETTERS].tolist()
    return [(likely[k][factor.person[:, k]], factor.record[:, k], float(gap[k])) for k in places]


def _containing(factor: Inside) -> Axis:
    low, high = (np.where(np.isfinite(end), end, np.nan) for end in (factor.low, factor.high))
    width = float(np.nanmedian(high - low)) or 1.0
    middle = np.where(np.isnan(low), high, np.where(np.isnan(high), low, (low + high) / 2))
    return factor.value / width * 2, middle / width * 2


def _likeliest(factor: Table | States) -> Code:
    shares = np.bincount(factor.record, minlength=factor.table.shape[1]) / factor.record.size
    with np.errstate(divide="ignore"):
        likely = (factor.table + np.log(shares)).argmax(1)
    best = factor.table.max(1)
    return likely[factor.person], factor.record, float(np.median(best - factor.table.mean(1)))


def short_posterior(short: Short, *, everybody: bool) -> Floats:
    """Posterior of one record of each candidate class, by the same steps as that of all pairs.

    If everybody was asked for, a record that many want is worth less to each; that is settled among the lists. Records
    beyond the list of a person take their share at the end.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - heavy

    shape, top = (len(short.classes), short.sizes.size), short.scores.max(1)
    kernel = np.exp(short.scores - top[:, None])
    listed = kernel > 0
    ends = np.append(0, np.cumsum(listed.sum(1)))
    near = short.classes[listed].astype(np.int32), ends.astype(np.int32)  # twice as fast as longer numbers
    table = csr_array((kernel[listed], *near), shape=shape)
    column = _prices(table, short.sizes, np.ones(shape[1]), ROUNDS if everybody else 0)
    plain = table.data
    for rounds in (*(SHARPER_ROUNDS,) * SHARPER, ROUNDS) if everybody else ():
        found = table.data * column[table.indices] / np.repeat(table @ (column * short.sizes), np.diff(ends))
        table.data = plain / np.sqrt(np.maximum(1.0 - found, SURE))
        column = _prices(table, short.sizes, column, rounds)
    person, record, score = short.others
    worth = np.exp(np.minimum(score - top[person], HIGHEST)) * (column * short.sizes)[record]
    whole = table @ (column * short.sizes) + np.bincount(person, weights=worth, minlength=shape[0])
    kernel[listed] = table.data * column[table.indices] / np.repeat(whole, np.diff(ends))
    return np.asarray(kernel)


def _prices(table: Any, sizes: Ints, column: Floats, rounds: int) -> Floats:  # noqa: ANN401 - sparse
    """What records are worth, so that people and records both have one on average; one that nobody wants: 1."""
    back = table.T.tocsr()
    for _ in range(rounds):
        wanted = back @ (1.0 / (table @ (column * sizes)))
        fresh = np.where(wanted > 0, 1.0 / (wanted + SPARE / column), 0.0)
        fresh = np.where(wanted > 0, np.maximum(fresh / fresh.max(), 1e-250), 1.0)
        change = float(np.max(np.abs(np.log(fresh) - np.log(column))))
        column = fresh
        if change < SETTLED:
            break
    return column
