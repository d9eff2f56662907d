"""What a table that never saw the person would tell of them by their keys: expected shares, in closed form.

*Fresh*: the original is cut in halves at random; of the people of one half is asked what the release tells, and what
the other half, other people, would have told in its place. *Independent*: rows whose columns are drawn by themselves,
as often as in the release. *Modelled*: rows drawn from trees of pairwise relations [CHOW]_ (each key depends on one
other at most, the target on the key that tells most of it), learnt without the person whose keys are looked up.
Equal people have equal chances, so all of it is counted by combinations of values: no draw, no seed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from unmask.arrays import Counts, Floats, Ints
from unmask.disclosure.key_codes import Coded, combined, total
from unmask.disclosure.key_lookup import Counted
from unmask.evidence import Z95, Estimate

MOST_PAIRS = 4_000_000  # of counts that are tallied without sorting
MOST_TERMS = 40_000_000  # chances of single targets that are added up for DiS


class Tally(NamedTuple):
    """Counts of each combination of keys and target that some person has."""

    people: Counts
    rows: Counts
    here: Counts  # people with the same keys
    there: Counts  # rows with the same keys
    one: Ints  # some person who has it
    key: Ints  # its keys

    @property
    def n(self) -> int:
        """People of the original."""
        return int(self.people.sum())


def tally(counted: Counted) -> Tally:
    """Keep the combinations that some person has."""
    key, cell, here, there, people, made = counted
    one = np.zeros(cell.size, dtype=np.int64)
    one[cell.mine] = np.arange(cell.people)
    used = np.flatnonzero(people)
    one = one[used]
    label = key.code[one]
    return Tally(people[used], made[used], here[label], there[label], one, label)


class Beyond(NamedTuple):
    """A share by the release and by a fresh sample of the same size, and what the one has beyond the other."""

    released: float
    fresh: float
    excess: Estimate
    outside: bool = False  # held against people outside, looked up in the same release


def beyond_fresh(counts: Tally, n_rows: int, *, targets: bool) -> dict[str, Beyond]:
    """What the release tells of people beyond other people's rows: replicated uniques, and targets that are right.

    Both are asked of one half of the people, with as many rows of the release as the other half has people; the mean
    over all ways to cut and to draw. A row that was made from a person is among these rows as often as they are part
    of all rows: the gain is divided by that. People with the same keys are one draw for the interval.
    """
    n, names = counts.n, ("replicated", "correct") if targets else ("replicated",)
    gains, told = ({name: np.zeros(counts.people.size) for name in names} for _ in range(2))
    fresh = {name: np.zeros(counts.people.size) for name in names}
    for half in (n // 2, n - n // 2):
        drawn = min(n - half, n_rows)
        if not half or not drawn:
            continue
        for name in names:
            a, b = (_replicated if name == "replicated" else _correct)(counts, n_rows, half, drawn)
            told[name] += a * half / n
            fresh[name] += b * half / n
            gains[name] += (a - b) * n_rows / drawn * half / n
    found = {}
    for name in names:
        shares = [total(values[name] * counts.people) / n for values in (told, fresh)]
        crowds = np.bincount(counts.key, gains[name] * counts.people).astype(np.float64)
        found[name] = Beyond(shares[0], shares[1], clustered(crowds, n))
    return found


class Kinds(NamedTuple):
    """How many people have so many equals among people (themselves included) and so many among rows."""

    own: Counts
    there: Counts
    people: Counts


def equals_beyond_fresh(
    own: Counts, there: Counts, n_rows: int, *, alone: bool = False, times: float = 1.0
) -> Estimate:
    """Share of people with an equal row, divided among people who are alike, beyond rows of other people.

    ``own``, ``there``: for each person how many people and rows equal them. Halves as in `beyond_fresh`: with a people
    alike in the person's own half each of them counts 1/a where there is a row, and the same for the other half, so
    many ``times``. ``alone``: only who is alone in their half counts.
    """
    return kinds_beyond_fresh(kinds_of(own, there), n_rows, alone=alone, times=times)


def kinds_beyond_fresh(kinds: Kinds, n_rows: int, *, alone: bool = False, times: float = 1.0) -> Estimate:
    """The same of people who were counted."""
    own, there, people = kinds
    n = int(people.sum())
    gains = np.zeros(own.size)
    for half in (n // 2, n - n // 2):
        drawn = min(n - half, n_rows)
        if not half or not drawn:
            continue
        if alone:
            alike = _none(n - 1, half - 1, own - 1)
            nobody = _none(n - 1, half - 1 + drawn, own - 1)
        else:
            alike = (1 - _none(n, half, own)) * n / (half * own)  # mean of 1/a
            nobody = _none(n - 1, drawn, own - 1) * (1 - _none(n - drawn, half, own)) * (n - drawn) / (half * own)
        seen = alike * (1 - _none(n_rows, drawn, there))
        gains += (seen - times * (alike - nobody)) * n_rows / drawn * half / n
    return _estimate(total(people * gains), float(np.sort(people * own * gains**2).sum()), n)  # a crowd is one draw


def kinds_of(own: Counts, there: Counts) -> Kinds:
    """The different pairs of both counts, which are few, and how many people have each."""
    width = int(there.max(initial=0)) + 1
    pair = own * width + there
    if int(pair.max(initial=0)) < MOST_PAIRS:
        people = np.bincount(pair)
        found = np.flatnonzero(people)
        return Kinds(found // width, found % width, people[found])
    found, people = np.unique(pair, return_counts=True)
    return Kinds(found // width, found % width, people)


def _replicated(counts: Tally, n_rows: int, half: int, drawn: int) -> tuple[Floats, Floats]:
    """Chance to be alone in one's half with one row among those drawn; and with one among as many of other people."""
    others, alike = counts.n - 1, counts.here - 1
    alone = _none(others, half - 1, alike)
    one_row = counts.there * (drawn / n_rows) * _none(n_rows - 1, drawn - 1, counts.there - 1)
    left = others - (half - 1) - drawn  # of the other half, but not drawn
    one_other = alike * (drawn / max(others, 1)) * _none(others - 1, others - 1 - left, alike - 1)
    return alone * one_row, one_other


def _correct(counts: Tally, n_rows: int, half: int, drawn: int) -> tuple[Floats, Floats]:
    """Chance that the rows drawn with one's keys are some, and all have one's target; and those of other people."""
    del half
    rows, others = counts.there - counts.rows, counts.n - 1
    released = _none(n_rows, drawn, rows) - _none(n_rows, drawn, counts.there)
    fresh = _none(others, drawn, counts.here - counts.people) - _none(others, drawn, counts.here - 1)
    return released, fresh


def _none(among: int, drawn: int, marked: Counts) -> Floats:
    """Chance that none of the marked is drawn, without putting back; 0 marked or fewer: surely."""
    most = int(marked.max(initial=0))
    steps = np.arange(max(most, 0), dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        stays = np.clip((among - drawn - steps) / (among - steps), 0.0, 1.0)
    chance = np.concatenate([[1.0], np.cumprod(np.nan_to_num(stays))])
    return np.asarray(chance[np.maximum(marked, 0)])


def clustered(sums: Floats, n: int) -> Estimate:
    """The mean gain of n people, given the gains of each crowd: people of one crowd are one draw."""
    sums = np.sort(sums[sums != 0])
    return _estimate(float(sums.sum()), float(np.sort(sums**2).sum()), n)


def _estimate(gained: float, squares: float, n: int) -> Estimate:
    """A mean gain, at least 0; ``squares``: sum of the squared gains of all independent draws."""
    mean, error = gained / n, Z95 * float(np.sqrt(squares)) / n
    least = Z95**2 / (n + Z95**2) if mean <= 0 else 0.0  # nothing seen among n is not nothing
    low, high = (min(max(end, 0.0), 1.0) for end in (mean - error, max(mean + error, least)))
    return Estimate(max(mean, 0.0), low, high, n, 0.0, None, "clustered")


# --- rows that a model draws -----------------------------------------------------------------------------------------


def independent(counts: Tally, keys: Iterable[Coded], target: Coded | None, n_rows: int) -> dict[str, float]:
    """Expected shares by rows whose columns are drawn by themselves, each as often as in the release."""
    chance = np.ones(counts.one.size)
    for column in keys:
        chance *= (np.bincount(column.rows, minlength=column.size) / n_rows)[column.code[counts.one]]
    if target is None:
        return _expected(counts, chance, None, None, n_rows)
    shares = np.bincount(target.rows, minlength=target.size) / n_rows
    return _expected(counts, chance, shares[target.code[counts.one]], [s for s in shares if s > 0], n_rows)


class Pairs:
    """How often two values go together among the people, counted once for each pair of columns."""

    def __init__(self, codes: dict[str, Coded]) -> None:
        self.codes = codes
        self._counted: dict[tuple[str, str], tuple[Coded, Counts, float]] = {}

    def alone(self, name: str, at: Ints) -> Counts:
        """How many people have the values of these."""
        column = self.codes[name]
        return np.asarray(np.bincount(column.mine, minlength=column.size)[column.code[at]])

    def both(self, one: str, two: str, at: Ints) -> Counts:
        """How many people have both values of these."""
        pair, counts, _ = self._pair(one, two)
        return np.asarray(counts[pair.code[at]])

    def told(self, one: str, two: str) -> float:
        """What one column tells of the other, in nats, less what it would tell by chance [AKAIKE]_."""
        return self._pair(one, two)[2]

    def _pair(self, one: str, two: str) -> tuple[Coded, Counts, float]:
        names = (one, two) if one < two else (two, one)
        if names not in self._counted:
            self._counted[names] = _counted_pair(*(self.codes[name] for name in names))
        return self._counted[names]


def _counted_pair(one: Coded, two: Coded) -> tuple[Coded, Counts, float]:
    n = one.people
    pair = combined([Coded(side.mine, side.size, n) for side in (one, two)])
    counts = np.bincount(pair.code, minlength=pair.size)
    first = np.zeros(pair.size, dtype=np.int64)
    first[pair.code] = np.arange(n)
    used = np.flatnonzero(counts)
    alone = [np.bincount(side.mine)[side.code[first[used]]] for side in (one, two)]
    told = total(counts[used] / n * np.log(counts[used] * (n / alone[0]) / alone[1]))
    free = np.prod([np.count_nonzero(np.bincount(side.mine)) - 1.0 for side in (one, two)])
    return pair, counts, told - float(free) / n


def modelled(counts: Tally, pairs: Pairs, keys: tuple[str, ...], target: str | None, n_rows: int) -> dict[str, float]:
    """Expected shares by rows of a model of pairwise relations that was learnt without the person."""
    at, n = counts.one, counts.n
    chance = (pairs.alone(keys[0], at) - 1) / max(n - 1, 1)
    for parent, child in forest(keys, pairs):
        chance = chance * _given(pairs, parent, child, counts)
    if target is None:
        return _expected(counts, chance, None, None, n_rows)
    best = max(keys, key=lambda name: (pairs.told(name, target), name))
    known = best if pairs.told(best, target) > 0 else None
    return _expected(counts, chance, _given(pairs, known, target, counts), None, n_rows)


def _given(pairs: Pairs, parent: str | None, child: str, counts: Tally) -> Floats:
    """Share of the other people who have the person's value, of those who have their value of the parent."""
    at = counts.one
    if parent is None:
        return (pairs.alone(child, at) - 1) / max(counts.n - 1, 1)
    known = pairs.alone(parent, at) - 1
    return np.where(known > 0, (pairs.both(parent, child, at) - 1) / np.maximum(known, 1), 0.0)


def forest(names: tuple[str, ...], pairs: Pairs) -> list[tuple[str | None, str]]:
    """Edges, from known to new, in which columns tell most of each other; None where nothing tells of a column."""
    inside, edges = [names[0]], list[tuple[str | None, str]]()
    while len(inside) < len(names):
        choices = [(a, b) for a in inside for b in names if b not in inside]
        one, two = max(choices, key=lambda pair: (pairs.told(*pair), pair))
        inside.append(two)
        edges.append((one if pairs.told(one, two) > 0 else None, two))
    return edges


def _expected(
    counts: Tally, chance: Floats, right: Floats | None, targets: list[float] | None, n_rows: int
) -> dict[str, float]:
    """Shares of people where each row has the person's keys with this chance, and then their target with ``right``."""
    n, weight, alone = counts.n, counts.people, counts.here == 1
    absent = (1 - chance) ** n_rows
    single = n_rows * chance * (1 - chance) ** (n_rows - 1)
    found = {"UiOiS": (1 - absent) * alone, "repU": single * alone, "iS": 1 - absent}
    if right is not None:
        correct = (1 - chance * (1 - right)) ** n_rows - absent
        found |= {"DiSCO": correct, "DiSDiO": correct * (counts.people == counts.here), "DCAP": right * (1 - absent)}
        if targets is not None and len(targets) * chance.size <= MOST_TERMS:
            found["DiS"] = sum(((1 - chance * (1 - s)) ** n_rows - absent for s in targets), chance * 0)
    shares = {name: total(values * weight) / n for name, values in found.items()}
    if shares.get("DiS"):
        shares["TCAP"] = shares["DiSCO"] / shares["DiS"]
    return shares
