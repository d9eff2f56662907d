from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask.masking import Rounding


@pytest.mark.parametrize("method", ["nearest", "random"])
def test_values_are_multiples_near_the_original(method, people):
    masked = Rounding(10, method=method).apply(people, 2)
    assert (masked["age"] % 10 == 0).all()
    assert masked["age"].dtype == people["age"].dtype
    assert (masked["age"] - people["age"]).abs().max() <= (5 if method == "nearest" else 9)


def test_random_rounding_keeps_the_mean():
    x = pl.DataFrame({"a": np.full(50_000, 3.2)})
    y = Rounding(10, method="random").apply(x, 0)["a"]
    assert set(y.unique()) == {0.0, 10.0}
    assert y.mean() == pytest.approx(3.2, abs=0.1)
