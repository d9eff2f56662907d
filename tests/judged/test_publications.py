"""Twins of what all releases give away together: candidates that match in each of them, counted one by one."""

from __future__ import annotations

import numpy as np
import polars as pl

from judged.tables import agrees, given, judged, seed_of
from naive import judged as naive
from unmask import link_published

N, WIDER = 90, {1: 1.0, 2: 2.241403 / 1.959964, 3: 2.393980 / 1.959964}


def widened(one, times, least=0.0):
    low, high = (one.value + times * (end - one.value) for end in one[3:5])
    return one._replace(low=max(least, low), high=min(1.0, high))


def different(linkage):
    attacks = [linkage.credit, linkage.matched, linkage.alone]
    return sum(not any(np.array_equal(a, b) for b in attacks[:k]) for k, a in enumerate(attacks))


def test_earlier():
    """Sex and age band this year, sex and town last year, under one pseudonym."""
    rng = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "id": range(N), "sex": rng.choice(["f", "m"], N), "age": rng.integers(20, 60, N),
            "town": rng.choice(list("abcd"), N),
        }
    )  # fmt: skip
    key = pl.Series("key", rng.permutation(N))
    band = (pl.col("age") // 10 * 10).cast(pl.String) + "-" + (pl.col("age") // 10 * 10 + 9).cast(pl.String)
    new, old = table.drop("town").with_columns(key, age=band), table.drop("age").with_columns(key)
    case = given(table, new[::-1], id="id", ignored=["key"], earlier=[old[rng.permutation(N)]])
    people = [(row["sex"], row["age"] // 10, row["town"]) for row in case.original]
    sizes = [sum(other == one for other in people) for one in people]
    linkage, found = link_published(case.release, seed=seed_of("earlier")), judged(case.release, "earlier")
    wanted = naive.rate([1 / size for size in sizes], 1 / N)
    times = WIDER[different(linkage.together)] * WIDER[3]
    assert agrees(found["earlier.rate"], widened(wanted, times)._replace(slack=0.02))
    sure = linkage.together.claimed.tolist()
    known = naive.rate([float(claim) / size for claim, size in zip(sure, sizes, strict=True)], 0.0)
    assert agrees(found["earlier.known"], widened(known, WIDER[2])._replace(slack=0.02))
    small = sum(size < 11 for size in sizes) / N
    assert found["earlier.small"].value == small
    assert small > 0.5 and found["earlier.small"].n == N
