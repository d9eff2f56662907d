"""Twin of linkability: the nearest row by one half of the columns, then the nearest person by the other."""

from __future__ import annotations

import numpy as np
import polars as pl

from judged.tables import agrees, given, judged, seed_of
from naive.judged import Judged, by_content, squares, ties
from unmask.evidence import excess_over_control

NAMES = list("abcde")


def people(n, seed):
    draw = np.random.default_rng(seed)
    return pl.DataFrame({name: np.round(draw.normal(size=n) * (k + 1), 3) for k, name in enumerate(NAMES)})


def bridged(persons, rows, one, two):
    """Share of ways from each person to a nearest row and on to a nearest person that lead back to them."""
    there, back = squares(persons, rows, one, [], "original"), squares(rows, persons, two, [], "released")
    credits_ = []
    for i in range(len(persons)):
        ways = [1.0 / len(ties(back[r])) if i in ties(back[r]) else 0.0 for r in ties(there[i])]
        credits_.append(sum(ways) / len(ways))
    return np.array(credits_)


def test_linkability():
    table, control = people(40, 0), people(40, 1)
    noisy = table.with_columns(pl.all() + pl.Series(np.round(np.random.default_rng(3).normal(size=40) * 0.1, 3)))
    case = given(table, noisy[::-1], control=control, synthetic=True)
    names, seed = by_content(NAMES, case.original, case.released), seed_of("linkability")
    rng, options = np.random.default_rng(seed), {}
    for _ in range(3):
        first = frozenset(names[k] for k in rng.permutation(5)[:2])
        options[first] = [n for n in names if n in first], [n for n in names if n not in first]
    found = []
    for one, two in options.values():
        sides = [bridged(side, case.released, one, two) for side in (case.original, control.to_dicts())]
        found.append(excess_over_control(*sides, seed=seed, among=len(options)))
    wanted = max(found, key=lambda option: (option.value, option.low))
    assert wanted.value > 0.2
    assert judged(case.release, "linkability")["linkability.excess"] == wanted


def through(persons, first, second, columns):
    """Share of ways from each person to a nearest row, on to a nearest row of the second release, and back to them."""
    own, both, last = columns
    steps = [
        squares(persons, first, own, [], "original"),
        squares(first, second, both, [], "original"),
        squares(second, persons, last, [], "released"),
    ]
    shares = []
    for step in steps:
        nearest = [set(ties(row)) for row in step]
        shares.append(np.array([[(k in near) / len(near) for k in range(step.shape[1])] for near in nearest]))
    return np.diag(shares[0] @ shares[1] @ shares[2])


def test_linkability_across_two_releases():
    table, control = people(40, 0), people(40, 1)
    noises = [pl.Series(np.round(np.random.default_rng(k).normal(size=40) * 0.1, 3)) for k in (3, 4)]
    first, second = (table.with_columns(pl.all() + noise) for noise in noises)
    one, two = first.select("a", "b", "c", "d")[::-1], second.select("c", "d", "e")
    case = given(table, one, control=control, synthetic=True, second=two)
    found = judged(case.release, "linkability")
    columns = ["a", "b"], ["c", "d"], ["e"]
    sides = [through(side, case.released, two.to_dicts(), columns) for side in (case.original, control.to_dicts())]
    wanted = excess_over_control(*sides, seed=seed_of("linkability"))
    assert 0.05 < wanted.value < 1
    assert agrees(found["linkability.across"], Judged(wanted.value, 0.0, 40, wanted.low, wanted.high, 1e-6))
