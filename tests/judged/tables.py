"""Small releases for the twins of judged numbers: ties, categories, gaps, people who are in one file only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from unmask import Release, assess
from unmask.assessment import discover


class Given(NamedTuple):
    """A release and the same as rows, with the released row of each person (None: none)."""

    release: Release
    original: list[dict]
    released: list[dict]
    truth: list[int | None]

    @property
    def people(self) -> list[int]:
        return [i for i, own in enumerate(self.truth) if own is not None]

    def of(self, values) -> list:
        """Keep the values of those who are in the release."""
        return [values[i] for i in self.people]


def given(original, released, **roles) -> Given:
    release = Release(original, released, **roles)
    ids = None if "id" not in roles else released[roles["id"]].to_list()
    rows = original.to_dicts()
    if ids is None:
        truth = list(range(len(rows)))
    else:
        truth = [ids.index(row[roles["id"]]) if row[roles["id"]] in ids else None for row in rows]
    return Given(release, rows, released.to_dicts(), truth)


def numeric(n=16, noise=0.4, seed=0, m=3):
    """Eighths, and eighths with noise: some are equal, and differences are exact."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(n, m)) * 8) / 8
    y = np.round((x + noise * rng.normal(size=(n, m))) * 8) / 8
    names = list("abcdefgh"[:m])
    return pl.DataFrame(x, schema=names), pl.DataFrame(y, schema=names)


def mixed(n=24, seed=0):
    """Two numbers and two categories, with ties and gaps on both sides."""
    rng = np.random.default_rng(seed)
    original = pl.DataFrame(
        {
            "age": rng.integers(20, 30, n).astype(float),
            "pay": np.round(rng.normal(10, 3, n) * 8) / 8,
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["ash", "elm", "oak"], n),
        }
    )
    gap = pl.Series(rng.random(n) < 0.1)
    released = original.with_columns(
        age=pl.col("age") + pl.Series(rng.choice([-1.0, 0.0, 0.0, 1.0], n)),
        pay=((pl.col("pay") + pl.Series(rng.normal(0, 1.0, n))) * 8).round() / 8,
        town=pl.when(gap).then(None).otherwise(pl.col("town")),
    )
    hole = pl.Series(rng.random(n) < 0.08)
    return original.with_columns(age=pl.when(hole).then(None).otherwise("age")), released


def different_people(table, masked, absent=3, extra=2, seed=0):
    """Number the people, take some out of the release, put strangers in, and shuffle it."""
    n = table.height
    one = table.with_columns(id=pl.Series(range(n)))
    two = masked.with_columns(id=pl.Series(range(n)))
    strangers = two[:extra].with_columns(id=pl.Series(range(n, n + extra)))
    two = pl.concat([two[absent:], strangers])
    return one, two[np.random.default_rng(seed).permutation(two.height)]


def judged(release, name, seed=0):
    """The estimate of every finding of one measure, by key."""
    return {finding.key: finding.estimate for finding in assess(release, only=[name], seed=seed).findings}


def seed_of(name, seed=0) -> int:
    """The seed that `assess` hands to a measure."""
    return int(np.random.SeedSequence([seed, discover()[name].seed]).generate_state(1)[0] % (2**31))


def agrees(found, wanted, close=1e-9) -> bool:
    """Whether an estimate is what its twin says; shows both where not."""
    same = (
        found.n == wanted.n
        and abs(found.value - wanted.value) < close
        and abs(found.chance - wanted.chance) < close
        and abs(found.low - wanted.low) <= wanted.slack
        and abs(found.high - wanted.high) <= wanted.slack
    )
    assert same, (found, wanted)
    return same
