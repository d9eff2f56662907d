"""Twin of linkability: the nearest row by one half of the columns, then the nearest person by the other."""

from __future__ import annotations

import numpy as np
import polars as pl

from judged.tables import given, judged, seed_of
from naive.judged import by_content, squares, ties
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
