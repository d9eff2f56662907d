"""What is judged of keys in a synthetic table, recomputed person by person."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judged.tables import agrees, judged, seed_of
from naive import judged as naive
from naive import keys as twin
from unmask import Release
from unmask.evidence import wilson


@pytest.mark.parametrize("size", [30, 47])
def test_keys(size):
    draw = np.random.default_rng(size)
    people = pl.DataFrame({name: draw.choice(list("abcd"), 40) for name in ("town", "work", "secret")})
    made = pl.DataFrame({name: draw.choice(list("abcd"), size) for name in people.columns})
    rows = pl.concat([people[:25], made])[:size]
    release = Release(people, rows, synthetic=True, quasi=["town", "work"], confidential=["secret"])
    found = judged(release, "keys")
    keys = twin.worst_keys(people.to_dicts(), rows.to_dicts(), ["town", "work"], "secret")
    wanted = twin.beyond_other_people(people.to_dicts(), rows.to_dicts(), keys, "secret")
    rng = np.random.default_rng(seed_of("keys"))
    claims = twin.other_claims(people.to_dicts(), rows.to_dicts(), keys, "secret", rng)
    gain, error = twin.surer(people.to_dicts(), rows.to_dicts(), claims, keys, "secret")
    sure = min(gain - 1.959963984540054 * error, wilson(max(gain, 0.0) * 40, 40)[0])
    told = {}
    for name, (mean, error) in wanted.items():
        nothing = 1.959963984540054**2 / (40 + 1.959963984540054**2) if mean <= 0 else 0.0
        wide = max(error, nothing)
        low, high = max(mean - wide, 0.0), min(mean + wide, 1.0)
        low = min(low, max(sure, 0.0)) if name == "correct" else low
        told[name] = naive.Judged(max(mean, 0.0), 0.0, 40, low, high)
    assert agrees(found["keys.replicated"], told["replicated"])
    assert agrees(found["keys.disclosed"], told["correct"])


@pytest.mark.parametrize("others", [40, 25])
def test_keys_beyond_people_outside(others):
    """With people outside: they are looked up in the same release, and the interval is no narrower than Newcombe's."""
    draw = np.random.default_rng(others)
    people, outside = (
        pl.DataFrame({name: draw.choice(list("abcd"), n) for name in ("town", "work", "secret")}) for n in (40, others)
    )
    rows = pl.concat([people[:25], people[:5]])
    release = Release(people, rows, control=outside, synthetic=True, quasi=["town", "work"], confidential=["secret"])
    found = judged(release, "keys")["keys.disclosed"]
    keys = twin.worst_keys(people.to_dicts(), rows.to_dicts(), ["town", "work"], "secret")
    (a, b), error = twin.beyond_outside(*(t.to_dicts() for t in (people, rows, outside)), keys, "secret")
    (la, ua), (lb, ub) = wilson(a * 40, 40), wilson(b * others, others)
    low = min(a - b - error, a - b - ((a - la) ** 2 + (ub - b) ** 2) ** 0.5)
    high = max(a - b + error, a - b + ((ua - a) ** 2 + (b - lb) ** 2) ** 0.5)
    assert a > b > 0
    assert agrees(found, naive.Judged(a - b, 0.0, 40, max(low, 0.0), min(high, 1.0)))
