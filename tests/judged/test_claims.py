"""Twins of what sure claims give away: by the nearest rows, by models with and without a person, by groups."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judged.tables import given, judged, seed_of
from naive import claims as naive
from naive import judged_disclosure as twin
from naive.judged import by_content
from unmask.evidence import excess, excess_over_control

NUMBERS = ["a", "b"]


def people(n, seed=0, levels="xyzuvw"):
    draw = np.random.default_rng(seed)
    numbers = {name: np.round(draw.normal(size=n), 3) for name in NUMBERS}
    return pl.DataFrame({**numbers, "ill": draw.choice(list(levels), n)})


def test_inference():
    """The surest of those whose nearest row tells them; a third of the people is in the file as they are."""
    table, other, control = people(90), people(90, 1), people(80, 2)
    released = pl.concat([table[:40], other[40:]])
    case = given(table, released, control=control, confidential=["ill"], quasi=NUMBERS, synthetic=True)
    everybody = [*case.original, *control.to_dicts()]
    right, sure = twin.read_surely(everybody, case.released, (NUMBERS, []), "ill")
    seed = seed_of("inference")
    mine, others = naive.tried((right[:90], sure[:90]), (right[90:], sure[90:]), same=False, seed=seed)
    wanted = excess_over_control(mine, others, seed=seed)
    assert wanted.value > 0.1
    assert judged(case.release, "inference")["inference.claimed"] == wanted


@pytest.mark.parametrize("name", ["model", "absent"])
def test_models(name):
    """Claims of a model that learnt from everybody, and of the same without the people who are asked."""
    table = people(120, levels="xy")
    case = given(table, table, confidential=["ill"], quasi=NUMBERS)
    seed, kinds = seed_of(name), (False, np.array([False, False]))
    books = twin.codebooks(["ill"], case.original)
    names = by_content(NUMBERS, case.original, case.released)
    known = twin.matrix(case.original, names, [], books)
    wanted = twin.matrix(case.original, [], ["ill"], books)[:, 0]
    ordered = twin.matrix(case.original, names, ["ill"], books)
    folds = twin.folds(ordered, ordered, 3, seed) if name == "model" else twin.folds(ordered, ordered, 5, seed + 2)
    options = []
    for kind in ("boosting", "tree") if name == "model" else ("boosting",):
        told, sure = twin.surely(kind, kinds, known, wanted, known, seed)
        without, unsure = np.zeros(120), np.zeros(120)
        for part in set(folds):
            mine = folds == part
            without[mine], unsure[mine] = twin.surely(kind, kinds, known[~mine], wanted[~mine], known[mine], seed)
        inside = [float(a == b) for a, b in zip(told, wanted, strict=True)], list(sure)
        outside = [float(a == b) for a, b in zip(without, wanted, strict=True)], list(unsure)
        pair = naive.tried(inside, outside, same=True, seed=seed)
        options.append(excess(*pair, seed=seed, among=2 if name == "model" else 1))
    best = max(options, key=lambda option: (option.value, option.low))
    assert best.value > 0.1
    found = judged(case.release, name)
    for key in ("model.claimed", "absent.claimed"):
        if key in found:
            assert found[key] == best


def test_cells():
    """The commonest illness of a town, with one's own row and without it; alone, the commonest of the whole file."""
    draw = np.random.default_rng(5)
    towns = [f"t{k // 3}" for k in range(60)] + [f"s{k}" for k in range(40)]
    table = pl.DataFrame({"town": towns, "ill": draw.choice(list("xyz"), 100)})
    case = given(table, table, quasi=["town"], confidential=["ill"])

    def commonest(words):
        told = min(set(words), key=lambda word: (-words.count(word), word))
        return told, words.count(told) / len(words)

    ill = table["ill"].to_list()
    sides = ([], []), ([], [])
    for i, own in enumerate(ill):
        group = [j for j in range(100) if towns[j] == towns[i]]
        for side, rows in zip(sides, (group, [j for j in group if j != i]), strict=True):
            told, share = commonest([ill[j] for j in rows] or ill)
            side[0].append(float(told == own))
            side[1].append(share)
    seed = seed_of("cells")
    wanted = excess(*naive.tried(*sides, same=True, seed=seed), seed=seed)
    assert wanted.value > 0.1
    found = judged(case.release, "cells")["cells.claimed"]
    assert found == wanted
