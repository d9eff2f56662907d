"""What is judged of keys in a synthetic table, recomputed person by person."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judged.tables import agrees, judged
from naive import judged as naive
from naive import keys as twin
from unmask import Release


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
    told = {}
    for name, (mean, error) in wanted.items():
        nothing = 1.959963984540054**2 / (40 + 1.959963984540054**2) if mean <= 0 else 0.0
        wide = max(error, nothing)
        low, high = max(mean - wide, 0.0), min(mean + wide, 1.0)
        told[name] = naive.Judged(max(mean, 0.0), 0.0, 40, low, high)
    assert agrees(found["keys.replicated"], told["replicated"])
    assert agrees(found["keys.disclosed"], told["correct"])
