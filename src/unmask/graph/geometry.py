"""The geometric attack: distances alone redraw the map, and two people on it are enough to lay it over another.

The release's distances to a few landmarks give every record a place on a map that may be turned, moved or mirrored. Two
records of the release and two of the intruder's with the same labels and the same distance fix how; each such alignment
is scored by how many others then lie on someone with their labels. The best is refined by expectation maximisation:
noise, share of common people and alignment from the posterior of each pair, one to one; pairs above one half are
claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from unmask.arrays import Codes, Floats, Ints
from unmask.graph.distances import EARTH, Place, unit_vectors
from unmask.graph.everybody import everybody
from unmask.graph.problem import Maps, Problem, Task
from unmask.graph.result import MapLinkage, answer
from unmask.kernels.alignment import Raster, fill, near_pairs, one_to_one, propose, score

LANDMARKS = 12
SHARE = 0.2  # of common people assumed while searching
CELLS = 24_000_000  # of all layers of the raster
QUICK, FULL = 256, 2048  # target points that score an alignment: at first, and of the best ones
PATIENT = 47  # ... at first where all looked hopeless (heavy noise): so few that none is given up on the way
TURNS = 8  # of expectation maximisation, at most
SETTLERS = 2500  # target records that settle an alignment, about
STILL = 0.003  # change of share and noise at which it ends
KEPT = 24  # alignments that get the full score
BATCHES = (4, 16, 48, 192, 768, 4096)  # pairs of target records tried until the score leaves no doubt


@dataclass(frozen=True, slots=True)
class Overlay:
    """One map laid over the other. Records are kernel numbers."""

    rows: Ints
    cols: Ints
    posterior: Floats  # of each pair
    score: float  # log-likelihood ratio of the alignment, before refinement
    n_tried: int
    scale: float  # standard deviation of a place
    n_agree: int = 0  # people whose partner explains them: what chance is asked about
    spots: Floats | None = None  # the target's records on the identification file's map
    places: Floats | None = None
    near: tuple[Codes, Codes, Floats] | None = None  # every pair that was weighed, and its posterior


def as_vectors(points: Floats, kind: str | None) -> Floats:
    """Unit vectors of longitude and latitude, or (x, y, 1)."""
    if kind == "planar":
        return np.column_stack([points, np.ones(len(points))])
    return unit_vectors(points)


def centred(vectors: Floats, kind: str | None) -> Floats:
    """Turn the sphere so that the middle of the points is the north pole (the plane stays)."""
    if kind == "planar":
        return vectors
    pole = vectors.mean(axis=0)
    pole /= np.linalg.norm(pole)
    east = np.cross([0.0, 0.0, 1.0] if abs(pole[2]) < 0.9 else [1.0, 0.0, 0.0], pole)
    east /= np.linalg.norm(east)
    return np.asarray(vectors @ np.column_stack([east, np.cross(pole, east), pole]))


def flat(vectors: Floats, radius: float) -> Floats:
    """Places on the flat map."""
    if radius == 0.0:
        return np.ascontiguousarray(vectors[:, :2])
    return np.asarray(vectors[:, :2] * (radius * np.sqrt(2.0 / np.maximum(1e-9, 1.0 + vectors[:, 2])))[:, None])


def redraw(place: Place, order: Ints, kind: str | None) -> Floats:
    """Vectors of the target's records: from its coordinates, or from its distances to landmarks (landmark MDS)."""
    if place.points is not None:
        return centred(as_vectors(place.points[order], kind), kind)
    chosen = [0]
    rows = [place.rows(order[:1])[0, order]]
    while len(chosen) < min(LANDMARKS, place.n):
        far = int(np.argmax(np.min(rows, axis=0)))
        if np.min(rows, axis=0)[far] == 0:
            break
        chosen.append(far)
        rows.append(place.rows(order[[far]])[0, order])
    d = np.array(rows)
    among = d[:, chosen]
    middle = np.eye(len(chosen)) - 1.0 / len(chosen)
    values, axes = np.linalg.eigh(-0.5 * middle @ among**2 @ middle)
    base = axes[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-12)) if len(chosen) > 1 else np.zeros((1, 2))
    spots = -0.5 * (d**2 - (among**2).mean(axis=1)[:, None]).T @ np.linalg.pinv(base).T
    if kind == "planar":
        for _ in range(4):
            spots = _settle_plane(spots, spots[chosen], d)
        return np.column_stack([spots, np.ones(len(spots))])
    return _settle_sphere(spots, np.array(chosen), d)


def _settle_plane(spots: Floats, base: Floats, d: Floats) -> Floats:
    """One Gauss-Newton step of every point towards its distances to the landmarks."""
    step = spots[:, None] - base
    length = np.maximum(np.hypot(step[..., 0], step[..., 1]), 1e-9)
    return spots + _solve(step / length[..., None], d.T - length)


def _solve(slope: Floats, error: Floats) -> Floats:
    normal = np.einsum("nka,nkb->nab", slope, slope) + 1e-6 * np.eye(2)
    return np.asarray(np.linalg.solve(normal, np.einsum("nka,nk->na", slope, error)[..., None])[..., 0])


def _settle_sphere(spots: Floats, chosen: Ints, d: Floats) -> Floats:
    """Put a flat guess on the sphere and let landmarks, then everybody, settle to the distances along it."""
    reach = np.hypot(*spots.T)
    angle = reach / EARTH
    out = np.where(reach > 0, np.sin(angle) / np.maximum(reach, 1e-12), 0.0)
    p = np.column_stack([spots * out[:, None], np.cos(angle)])
    base = p[chosen]
    for _ in range(60):
        base = _step_sphere(base, base, d[:, chosen], 0.5)
    p[chosen] = base
    for _ in range(4):
        p = _step_sphere(p, base, d, 1.0)
    return centred(p, "lonlat")


def _step_sphere(p: Floats, base: Floats, d: Floats, pace: float) -> Floats:
    """One Gauss-Newton step on the sphere, in the two tangent directions of each point."""
    first = np.cross(p, np.where(np.abs(p[:, :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    first /= np.linalg.norm(first, axis=1)[:, None]
    second = np.cross(p, first)
    chord = np.linalg.norm(p[:, None] - base, axis=2)
    arc = 2 * np.arcsin(np.minimum(1.0, chord / 2))
    slope = -np.stack([first @ base.T, second @ base.T], axis=2) / np.maximum(np.sin(arc), 1e-12)[..., None]
    slope[arc < 1e-9] = 0.0
    move = pace * _solve(slope, d.T / EARTH - arc)
    p = p + move[:, :1] * first + move[:, 1:] * second
    return np.asarray(p / np.linalg.norm(p, axis=1)[:, None])


def one_map(problem: Problem, rows: Ints, cols: Ints) -> tuple[Floats, Floats]:
    """Both files on one flat map: the target is laid over the identification file by pairs of matches."""
    one, two, kind = problem.target, problem.identification, problem.identification.kind or "planar"
    if two.points is None:
        w = redraw(two, problem.order2, kind)
        one = one if one.points is None else replace(one, matrix=one.distances(), points=None)
    else:
        w = centred(as_vectors(two.points[problem.order2], kind), kind)
    t = redraw(one, problem.order1, kind)
    radius = 0.0 if kind == "planar" else EARTH
    ones = np.ones(len(rows))
    hands = [_procrustes(t[rows], w[cols], ones, radius, np.diag([hand, 1.0, 1.0])) for hand in (1.0, -1.0)]
    best = min(hands, key=lambda m: float(((t[rows] @ m.T - w[cols]) ** 2).sum()))
    return flat(t @ best.T, radius), flat(w, radius)


def shared_map(problem: Problem, rows: Codes, cols: Codes) -> Callable[[], Maps]:
    """Both files on one map by the matches, made when it is first asked for."""
    return cache(lambda: one_map(problem, rows.astype(np.int64), cols.astype(np.int64)))


def density(places: Floats) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
    """People per unit of area at the identification file's points, and the coarse grid it was read from."""
    low, high = places.min(axis=0), places.max(axis=0)
    side = np.maximum((high - low) / 64, 1e-9)
    cells = np.minimum(((places - low) / side).astype(int), 63)
    counts = np.zeros((64, 64))
    np.add.at(counts, (cells[:, 0], cells[:, 1]), 1.0)
    grid = (counts + 0.5) / ((len(places) + 0.5 * 4096) * side.prod())
    return np.asarray(grid[cells[:, 0], cells[:, 1]]), (low, side, grid)


def _at(grid: tuple[Floats, Floats, Floats], places: Floats) -> Floats:
    low, side, values = grid
    cells = np.clip(((places - low) / side).astype(int), 0, 63)
    return np.asarray(values[cells[:, 0], cells[:, 1]])


def attack(task: Task) -> MapLinkage:
    """Claim who is more likely right than wrong on the best map, or guess everybody there."""

    def lay(problem: Problem) -> Overlay:
        found = overlay(problem, task.noise, task.budget)
        return everybody(problem, found, task.noise) if task.everybody else found

    def play(other: Problem) -> tuple[float, bool]:
        n_agree = lay(other).n_agree
        return n_agree, n_agree >= found.n_agree

    task.tell(0.0, "alignment")
    found = lay(task.problem)
    maps = np.zeros((task.problem.target.n, 2)), np.zeros((task.problem.identification.n, 2))
    if found.spots is not None and found.places is not None:  # else nothing was laid over: one point does as well
        maps = found.spots, found.places
    null = task.by_chance(found.n_agree, lambda: maps, play)
    return answer(
        task,
        MapLinkage,
        (found.rows, found.cols),
        null,
        found.posterior,
        method="geometric",
        n_agree=found.n_agree,
        why=f"{task.why}; {found.n_tried} alignments tried, noise of a place {found.scale:.3g}",
    )


def overlay(problem: Problem, scale: float, budget: int = 2**62) -> Overlay:
    """Find the best alignment and the posterior of each pair. ``scale``: noise of a place, in the map's unit.

    No further batch of alignments is tried once ``budget`` were.
    """
    place = problem.identification
    assert place.points is not None  # noqa: S101  # the caller chose this method because of them
    radius = 0.0 if place.kind == "planar" else EARTH
    w = centred(as_vectors(place.points[problem.order2], place.kind), place.kind)
    t = redraw(problem.target, problem.order1, place.kind)
    places = flat(w, radius)
    extent = float(np.ptp(places, axis=0).max())
    scale = max(scale, 1e-6 * extent, 1e-12)
    none = np.zeros(0, dtype=np.int64)
    if extent == 0 or len(t) < 2:
        return Overlay(none, none, np.zeros(0), 0.0, 0, scale)
    around, grid = density(places)
    found = search(problem, t, w, (places, around), 1.7 * scale, radius, budget)
    if found is None:
        return Overlay(none, none, np.zeros(0), 0.0, 0, scale)
    m, value, tried = found
    return refine(problem, t, (w, places, grid), m, (scale, radius, value, tried))


def _rarest(problem: Problem) -> tuple[Ints, Ints]:
    """Target records that have candidates, rarest labels first, and the label of every target record."""
    label1 = problem.label1
    weight = np.diff(problem.start2)[label1]
    order = np.argsort(weight, kind="stable")
    return order[weight[order] > 0], label1


def search(  # noqa: PLR0913, PLR0917  # the parts of one picture
    problem: Problem, t: Floats, w: Floats, where: tuple[Floats, Floats], scale: float, radius: float,
    budget: int,
) -> tuple[Floats, float, int] | None:  # fmt: skip
    """Two-point alignments until one leaves no doubt: its likelihood ratio beats the number tried by far."""
    places, around = where
    rarest, label1 = _rarest(problem)
    if len(rarest) < 2:
        return None
    sample = rarest[:FULL]
    ground, layer = _raster(problem, label1[sample], places, around, scale)
    best, kept = np.full(KEPT, -np.inf), np.zeros((KEPT, 3, 3))
    pairs = _far_pairs(t, rarest)

    def attempt(some: Ints, quick: int) -> tuple[int, float, Floats]:
        """Propose alignments by some pairs: how many, and the best full score of those kept so far."""
        few = sample[:quick]
        n = propose(
            some, t, problem.start2, label1, w, 2 * scale, ground, t[few], layer[label1[few]], radius, best, kept
        )
        good = kept[np.isfinite(best)]
        full = [score(ground, m, t[sample], layer[label1[sample]], radius, len(sample)) for m in good]
        return (n, max(full), good[int(np.argmax(full))]) if full else (n, -np.inf, np.zeros((3, 3)))

    top, value, tried = np.zeros((3, 3)), -np.inf, 0
    for begin, end in zip((0, *BATCHES[:-1]), BATCHES, strict=True):
        more, now, m = attempt(pairs[begin:end], QUICK)
        tried += more
        value, top = (now, m) if now > value else (value, top)
        if end >= len(pairs) or tried >= budget or value > np.log(max(1, tried)) + 20:
            break
    if not np.isfinite(value):
        more, value, top = attempt(pairs[:end], PATIENT)
        tried += more
    return (top, float(value), tried) if np.isfinite(value) else None


def _raster(problem: Problem, labels: Ints, places: Floats, around: Floats, scale: float) -> tuple[Raster, Ints]:
    """Likelihood of meeting someone of some labels at each cell, and the layer of each label."""
    held = np.unique(labels)
    layer = np.full(len(problem.start1), -1, dtype=np.int64)
    layer[held] = np.arange(len(held))
    box = np.maximum(np.ptp(places, axis=0), 1e-9) + 8 * scale
    cell = max(0.75 * scale, float(np.sqrt(box.prod() * len(held) / CELLS)))
    shape = (len(held), int(box[1] / cell) + 1, int(box[0] / cell) + 1)
    low = places.min(axis=0) - 4 * scale
    ground = Raster(np.zeros(shape, dtype=np.float32), float(low[0]), float(low[1]), cell, float(np.log(1 - SHARE)))
    fill(ground, places, layer[problem.label2], np.diff(problem.start2)[held], around, max(scale, cell), SHARE)
    return ground, layer


def _far_pairs(t: Floats, rarest: Ints) -> Ints:
    """Pairs of rare target records, far apart first within each batch of rarity: far points fix an alignment well."""
    k = min(len(rarest), 128)
    i, j = np.triu_indices(k, 1)
    distance = np.linalg.norm(t[rarest[i]] - t[rarest[j]], axis=1)
    good = distance > 0.5 * np.quantile(distance, 0.9) if len(distance) else distance > 0
    i, j = i[good], j[good]
    order = np.lexsort((i, np.maximum(i, j)))
    return np.column_stack([rarest[i], rarest[j]])[order][: BATCHES[-1]].astype(np.int64)


Known = tuple[Floats, Floats, tuple[Floats, Floats, Floats]]  # the identification file: vectors, places, density
Belief = tuple[Codes, Codes, Floats]  # pairs that were weighed, and their posterior


def refine(problem: Problem, t: Floats, ground: Known, m: Floats, state: tuple[float, float, float, int]) -> Overlay:
    """Expectation maximisation over alignment, noise and share of common people; one-to-one posteriors.

    In large files a part of the target's records settles the alignment, and everybody the rest.
    """
    scale, radius, value, tried = state
    step, turns = max(1, len(t) // SETTLERS), TURNS
    noise, share = 1.5 * scale, SHARE
    if step > 1:
        turns = 2
        part = replace(problem, order1=problem.order1[::step], start1=-(-problem.start1 // step))
        m, noise, share, _ = _turns(part, t[::step], ground, (m, noise, share), (scale, radius, TURNS - turns))
    m, noise, _, weighed = _turns(problem, t, ground, (m, noise, share), (scale, radius, turns))
    rows, cols, p = weighed
    claimed = p > 0.5
    pairs = (rows[claimed].astype(np.int64), cols[claimed].astype(np.int64), p[claimed])
    return Overlay(*pairs, value, tried, noise, int(claimed.sum()), flat(t @ m.T, radius), ground[1], weighed)


def _turns(
    problem: Problem, t: Floats, ground: Known, start: tuple[Floats, float, float], limits: tuple[float, float, int]
) -> tuple[Floats, float, float, Belief]:  # fmt: skip
    """Some turns of expectation maximisation. Returns alignment, noise, share, and the posterior of every near pair."""
    (w, places, grid), (m, noise, share), (scale, radius, turns) = ground, start, limits
    label1, label2 = problem.label1, problem.label2
    sizes = np.diff(problem.start2)[label2]
    by2 = np.lexsort((places[:, 0], label2))
    for turn in range(turns):
        spots = flat(t @ m.T, radius)
        by1 = np.lexsort((spots[:, 0], label1))
        rows, cols, squares = _near(problem, (spots, by1), (places, by2), 4.5 * noise)
        here = _at(grid, spots)
        odds = share / (1 - share) * np.exp(-0.5 * squares / noise**2)
        odds /= 2 * np.pi * noise**2 * sizes[cols] * here[rows]
        p = one_to_one(rows, cols, odds, len(t), len(w), 8)
        total = float(p.sum())
        if total < 1.5 or turn == turns - 1:
            break
        before = (share, noise)
        share = float(np.clip(total / len(t), 1e-3, 1 - 1e-3))
        noise = float(np.clip(np.sqrt((p * squares).sum() / (2 * total)), 0.3 * scale, 2.0 * scale))
        if np.allclose((share, noise), before, rtol=STILL, atol=0.0):
            break
        m = _procrustes(t[rows], w[cols], p, radius, m)
    return m, noise, share, (rows, cols, p)


def _near(
    problem: Problem, one: tuple[Floats, Ints], two: tuple[Floats, Ints], reach: float
) -> tuple[Codes, Codes, Floats]:
    """Pairs of matching labels within reach on the map, and their squared distances. Both sides: places, order by x."""
    (spots, by1), (places, by2) = one, two
    size = 4 * (len(spots) + len(places))
    while True:
        rows, cols, squares = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
        n = near_pairs(
            spots, by1, problem.start1, places, by2, problem.start2, problem.couples, reach, rows, cols, squares
        )
        if n <= size:
            return rows[:n], cols[:n], squares[:n]
        size = n


def _procrustes(a: Floats, b: Floats, p: Floats, radius: float, before: Floats) -> Floats:
    """Alignment that takes a to b best under weights p, of the same handedness as before."""
    dims, centre_a, centre_b = (3, np.zeros(3), np.zeros(3))
    if radius == 0.0:
        dims, centre_a, centre_b = 2, p @ a / p.sum(), p @ b / p.sum()
    u, _, v = np.linalg.svd(((b - centre_b) * p[:, None])[:, :dims].T @ (a - centre_a)[:, :dims])
    hand = np.sign(np.linalg.det(before[:dims, :dims])) * np.sign(np.linalg.det(u @ v))
    turn = u @ np.diag([1.0] * (dims - 1) + [hand]) @ v
    if radius != 0.0:
        return np.asarray(turn)
    m = np.eye(3)
    m[:2, :2] = turn
    m[:2, 2] = centre_b[:2] - turn @ centre_a[:2]
    return m
