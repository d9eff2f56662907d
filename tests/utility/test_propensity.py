from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask.errors import ParameterError, RoleError
from unmask.utility import propensity_score


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    return pl.DataFrame({"a": a, "b": a + 0.1 * rng.normal(size=n), "t": rng.choice(["x", "y", "z"], n)}).with_columns(
        pl.col("t").replace("z", None)
    )


@pytest.mark.parametrize("model", ["logistic", "tree"])
def test_the_same_table_cannot_be_told_apart(model):
    same = propensity_score(table(), table(), model=model)
    assert same.auc == pytest.approx(0.5, abs=0.02)
    assert same.ratio < 0.1


def test_another_table_can():
    far = table().with_columns(pl.col("a") + 100)
    assert propensity_score(table(), far).auc > 0.99
    assert propensity_score(table(), far).ratio > 0.9
    apart = table().with_columns(pl.col("b").shuffle(seed=1))
    assert propensity_score(table(), apart).auc > 0.8  # a tree sees the broken relation, which no marginal shows


def test_same_seed_same_score_and_clear_refusals():
    assert propensity_score(table(), table(seed=1), seed=3) == propensity_score(table(), table(seed=1), seed=3)
    with pytest.raises(ParameterError, match="did you mean 'tree'"):
        propensity_score(table(), table(), model="tre")
    with pytest.raises(RoleError, match="at least two"):
        propensity_score(table(1), table(1))
