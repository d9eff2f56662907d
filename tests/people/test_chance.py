"""Which releases follow from the original by a rule, and which were drawn."""

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.people.chance import follows_by_rule

RNG = np.random.default_rng(2)
PEOPLE = pl.DataFrame(
    {"pay": RNG.normal(100, 20, 80).round(2), "age": RNG.integers(20, 60, 80), "town": RNG.choice(list("abcdef"), 80)}
)
RULES = {
    "as it is": pl.col("pay"),
    "rounded": (pl.col("pay") / 30).round() * 30,
    "cut": pl.col("pay").clip(None, 120),
    "bands": pl.when(pl.col("pay") < 90).then(pl.lit("under 90")).otherwise(pl.lit("90 and more")).alias("pay"),
    "years": (pl.col("age") // 10) * 10,
    "merged": pl.col("town").replace({"a": "b", "c": "d"}),
}
DRAWN = {
    "noise": pl.col("pay") + pl.Series(RNG.normal(0, 1, 80)),
    "a hundredth": pl.col("pay") + pl.Series(np.where(np.arange(80) == 7, 50.0, 0.0)),
    "random rounding": (pl.col("age") // 10 + pl.Series(RNG.integers(0, 2, 80))) * 10,
    "swapped towns": pl.col("town").shuffle(1),
    "other words": pl.Series("pay", [f"w{k}" for k in RNG.permutation(80)]),
    "gaps": pl.when(pl.col("age") < 30).then(None).otherwise(pl.col("age")).alias("age"),
}


@pytest.mark.parametrize("name", [*RULES, *DRAWN])
def test_rules_and_lots(name):
    released = PEOPLE.with_columns({**RULES, **DRAWN}[name])
    order = np.random.default_rng(0).permutation(80)
    numbered = [table.with_row_index("id") for table in (PEOPLE, released)]
    release = unmask.Release(numbered[0], numbered[1][order], id="id", quasi=PEOPLE.columns)
    assert follows_by_rule(release) == (name in RULES)


def test_nobody_is_paired():
    assert not follows_by_rule(unmask.Release(PEOPLE, PEOPLE, synthetic=True))
