"""Make a network to publish: other names, and ties that are deleted, added, rewired, or drawn by a private coin.

- ``rename``: other names and nothing else; every masking does that.
- ``delete(0.1)``, ``add(0.1)``: a share of the ties, drawn at random, goes, or comes.
- ``rewire(0.5)``: pairs of ties a-b, c-d become a-d, c-b, as many ties as this share of all; everybody keeps their
  number of ties. A tie may be exchanged twice: rewire(1) leaves about a third as they were.
- ``k_degree(5)``: ties are added until everybody shares their number of ties with k - 1 others [LIU]_: the numbers are
  grouped at the least cost by dynamic programming, then ties are added between those who lack most.
- ``edge_dp(6)``: edge-differential privacy by randomised response [WARNER]_: each pair of people is told rightly with
  probability e^epsilon / (1 + e^epsilon). A small epsilon makes far more false ties than there are true ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Counts, Ints
from unmask.errors import EngineError, ParameterError, check_name
from unmask.networks.read import FROM, ID, TO, Ties, read_network
from unmask.shown import Shown

CALL = re.compile(r"\s*([a-z_]+)\s*(?:\(\s*([-+0-9.eE]*)\s*\))?\s*")
FEW = 4_000_000  # pairs that are all written down to draw some
MOST_TIES = 50_000_000
ATTEMPTS = 200  # of k_degree, each with more ties
TRIES = 20  # draws for each pair of ties that is rewired


@dataclass(frozen=True, slots=True)
class MaskedNetwork(Shown):
    """A network to publish, and the key that is not published. ``people``: one row a person, also without ties."""

    ties: pl.DataFrame = field(repr=False)
    people: pl.DataFrame = field(repr=False)
    key: pl.DataFrame = field(repr=False)  # original, released
    notes: tuple[str, ...] = ()


def mask_network(
    ties: Any,  # noqa: ANN401 - as Network takes it
    masking: str | Sequence[str] = "rename",
    *,
    people: Any = None,  # noqa: ANN401
    ends: Sequence[str] = (),
    seed: int = 0,
    reading: dict[str, Any] | None = None,
) -> MaskedNetwork:
    """Mask a network: rename everybody, and change ties by one masking or several in turn.

    Ties are taken without direction. What is said of ties is kept by ``rename`` and ``delete`` alone, what is said of
    people always.

    Parameters
    ----------
    ties
        The network, as ``Network`` takes it.
    masking
        "rename", "delete(0.1)", "add(0.1)", "rewire(0.5)", "k_degree(5)", "edge_dp(6)"; several in turn.
    people, ends, reading
        As for ``Network``.
    seed
        Every random choice follows from it.

    """
    found = read_network(ties, people=people, ends=tuple(ends), name="network", text=reading)
    steps = [_step(text) for text in ([masking] if isinstance(masking, str) else masking)]
    rng = np.random.default_rng(seed)
    ids = _ids(found)
    pairs, rows = _pairs(found, ids)
    for name, number in steps:
        pairs, rows = MASKINGS[name](pairs, rows, len(ids), number, rng)
        if len(pairs) > MOST_TIES:
            raise EngineError(f"{name} makes too many ties", got=f"{len(pairs):,}", allowed=f"at most {MOST_TIES:,}")
    names = rng.permutation(len(ids)) + 1
    return _masked(found, ids, names, pairs, rows)


def _step(text: str) -> tuple[str, float]:
    """Name and number of a masking."""
    call = CALL.fullmatch(text)
    if call is None:
        raise ParameterError("cannot read this masking", got=repr(text), allowed=", ".join(FORMS))
    name, number = call.group(1), call.group(2)
    check_name(name, MASKINGS, "no such masking of networks")
    try:
        given = float(number) if number else None
    except ValueError:
        given = None
    low, high = RANGES[name]
    if name != "rename" and (given is None or not low <= given <= high):
        raise ParameterError(
            f"{name} needs a number",
            got=number or "none",
            allowed=f"from {low:g} to {high:g}, such as {FORMS_OF[name]}",
        )
    return name, given or 0.0


def _ids(found: Ties) -> pl.Series:
    columns = [found.ties[FROM], found.ties[TO], found.people[ID]]
    return pl.concat([column.cast(pl.String) for column in columns if len(column)]).unique().sort()


def _pairs(found: Ties, ids: pl.Series) -> tuple[Ints, Ints]:
    """Each pair of tied people once, and a row of the list that says it."""
    place = pl.DataFrame({ID: ids, "place": np.arange(len(ids))})
    a, b = (
        pl.DataFrame({ID: found.ties[name].cast(pl.String)})
        .join(place, on=ID, how="left", maintain_order="left")["place"].to_numpy().astype(np.int64)
        for name in (FROM, TO)
    )  # fmt: skip
    both = np.sort(np.column_stack([a, b]), axis=1)
    rows = np.flatnonzero(a != b)
    pairs, first = np.unique(both[rows], axis=0, return_index=True)
    return pairs.reshape(-1, 2), rows[first]


def _masked(found: Ties, ids: pl.Series, names: Ints, pairs: Ints, rows: Ints) -> MaskedNetwork:
    """The network under other names, its ties in an order that says nothing."""
    told = np.sort(names[pairs], axis=1) if len(pairs) else np.zeros((0, 2), dtype=np.int64)
    order = np.lexsort((told[:, 1], told[:, 0]))
    ties = pl.DataFrame({"person": told[order, 0], "friend": told[order, 1]})
    said = [name for name in found.ties.columns if name not in {FROM, TO}]
    if said and rows.size and (rows >= 0).all():
        ties = pl.concat([ties, found.ties.select(said)[rows[order]]], how="horizontal")
    key = pl.DataFrame({"original": ids, "released": names})
    about = found.people.with_columns(pl.col(ID).cast(pl.String))
    people = key.join(about, left_on="original", right_on=ID, how="left").drop("original").rename({"released": ID})
    lost = bool(said) and ties.width == 2
    return MaskedNetwork(
        ties, people.sort(ID), key.sort("original"), ("what is said of ties is not published",) if lost else ()
    )


NEW = -1  # row of a tie that nobody listed
Step = Callable[[Ints, Ints, int, float, np.random.Generator], tuple[Ints, Ints]]


def _rename(pairs: Ints, rows: Ints, _n: int, _number: float, _rng: np.random.Generator) -> tuple[Ints, Ints]:
    return pairs, rows


def _delete(pairs: Ints, rows: Ints, _n: int, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    kept = np.sort(rng.permutation(len(pairs))[round(share * len(pairs)) :])
    return pairs[kept], rows[kept]


def _add(pairs: Ints, rows: Ints, n: int, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    wanted = min(round(share * len(pairs)), n * (n - 1) // 2 - len(pairs))
    codes = _others(pairs[:, 0] * n + pairs[:, 1], n, wanted, rng)
    return np.concatenate([pairs, np.column_stack(np.divmod(codes, n))]), np.concatenate([rows, np.full(wanted, NEW)])


def _others(taken: Ints, n: int, wanted: int, rng: np.random.Generator) -> Ints:
    """Pairs low * n + high that are not taken, drawn at random."""
    if n * n <= FEW:
        low, high = np.triu_indices(n, 1)
        return np.sort(rng.permutation(np.setdiff1d(low * n + high, taken))[:wanted])
    found = np.zeros(0, dtype=np.int64)
    while found.size < wanted:
        ends = np.sort(rng.integers(0, n, (2 * (wanted - found.size) + 16, 2)), axis=1)
        drawn = ends[ends[:, 0] < ends[:, 1]]
        codes = drawn[:, 0] * n + drawn[:, 1]
        found = np.unique(np.concatenate([found, codes[~np.isin(codes, taken)]]))
    return np.sort(rng.permutation(found)[:wanted])


def _rewire(pairs: Ints, rows: Ints, _n: int, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Exchange the ends of pairs of ties, half as many pairs as the share of ties."""
    made = [tuple(pair) for pair in pairs.tolist()]
    there, told, left = set(made), rows.copy(), round(share * len(made) / 2)
    for _ in range(TRIES * left if len(made) > 1 else 0):
        i, j = (int(one) for one in rng.integers(0, len(made), 2))
        (a, b), (c, d) = made[i], made[j][:: 1 if rng.random() < 0.5 else -1]
        one, two = tuple(sorted((a, d))), tuple(sorted((c, b)))
        if len({a, b, c, d}) < 4 or one in there or two in there:
            continue
        there -= {made[i], made[j]}
        there |= {one, two}
        made[i], made[j] = one, two
        told[i] = told[j] = NEW
        left -= 1
        if not left:
            break
    return np.array(made, dtype=np.int64).reshape(-1, 2), told


def _k_degree(pairs: Ints, rows: Ints, n: int, k: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    size = int(k)
    if n < size:
        raise ParameterError("k_degree needs k people", got=f"{n:,} people", allowed=f"k up to {n:,}")
    made = {(int(a), int(b)) for a, b in pairs}
    degree = np.bincount(pairs.ravel(), minlength=n)
    wanted = grouped(degree, size)
    for _ in range(ATTEMPTS):
        done = _fill(set(made), degree, wanted, rng)
        if done is not None:
            added = np.array(sorted(done - made), dtype=np.int64).reshape(-1, 2)
            return np.concatenate([pairs, added]), np.concatenate([rows, np.full(len(added), NEW)])
        raised = rng.choice(np.unique(wanted[wanted < n - 1])) if (wanted < n - 1).any() else n
        wanted[wanted == raised] += 1  # probing: a whole group may have one tie more
    raise EngineError(f"no network with numbers of ties in groups of {size} was found", hint="try a smaller k")


def grouped(degree: Counts, k: int) -> Counts:
    """Numbers of ties, none smaller, each shared by k people or more, with the least sum [LIU]_ section 4.1."""
    order = np.argsort(-degree, kind="stable")
    d = degree[order].astype(np.int64)
    n, sums = d.size, np.concatenate([[0], np.cumsum(d)])
    cost, cut = np.full(n + 1, np.iinfo(np.int64).max), np.zeros(n + 1, dtype=np.int64)
    cost[0] = 0
    for end in range(k, n + 1):
        for begin in range(max(0, end - 2 * k + 1), end - k + 1):
            if cost[begin] == np.iinfo(np.int64).max:
                continue
            here = cost[begin] + d[begin] * (end - begin) - (sums[end] - sums[begin])
            if here < cost[end]:
                cost[end], cut[end] = here, begin
    wanted, end = np.empty(n, dtype=np.int64), n
    while end:
        wanted[order[cut[end] : end]] = d[cut[end]]
        end = int(cut[end])
    return wanted


def _fill(made: set[tuple[int, int]], degree: Counts, wanted: Counts, rng: np.random.Generator) -> set[Any] | None:
    """Add ties until everybody has as many as wanted; None: somebody is left who cannot be tied to anybody."""
    lack = wanted - degree
    if int(lack.sum()) % 2:
        return None
    while True:
        short = np.flatnonzero(lack)
        if not short.size:
            return made
        order = rng.permutation(short)
        order = order[np.argsort(-lack[order], kind="stable")]
        a = int(order[0])
        partners = [int(b) for b in order[1:] if (min(a, b), max(a, b)) not in made][: int(lack[a])]
        if len(partners) < lack[a]:
            return None
        for b in partners:
            made.add((min(a, b), max(a, b)))
            lack[b] -= 1
        lack[a] = 0


def _edge_dp(pairs: Ints, rows: Ints, n: int, epsilon: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Tell each pair wrongly with probability 1 / (1 + e^epsilon)."""
    wrong = 1.0 / (1.0 + np.exp(epsilon))
    kept = rng.random(len(pairs)) >= wrong
    free = n * (n - 1) // 2 - len(pairs)
    false = int(rng.binomial(free, wrong))
    if false > MOST_TIES:
        raise EngineError("edge_dp makes too many false ties", got=f"{false:,}", hint="a larger epsilon")
    codes = _others(pairs[:, 0] * n + pairs[:, 1], n, false, rng)
    made = np.concatenate([pairs[kept], np.column_stack(np.divmod(codes, n))])
    return made, np.concatenate([rows[kept], np.full(false, NEW)])


MASKINGS: dict[str, Step] = {
    "rename": _rename, "delete": _delete, "add": _add, "rewire": _rewire, "k_degree": _k_degree, "edge_dp": _edge_dp,
}  # fmt: skip
RANGES = {
    "rename": (0.0, 0.0), "delete": (0.0, 1.0), "add": (0.0, 100.0), "rewire": (0.0, 10.0), "k_degree": (1.0, 1e6),
    "edge_dp": (0.0, 100.0),
}  # fmt: skip
FORMS = ("rename", "delete(0.1)", "add(0.1)", "rewire(0.5)", "k_degree(5)", "edge_dp(6)")
FORMS_OF = dict(zip(MASKINGS, FORMS, strict=True))
