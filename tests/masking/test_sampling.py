from __future__ import annotations

import polars as pl

from unmask.masking import Sampling


def test_keeps_rows_in_order(people):
    masking = Sampling(0.3)
    masked = masking.apply(people, 4)
    assert masked.height == 150
    assert masked.equals(people[masking.rows(500, 4)])
    assert masked["id"].is_unique().all()
    assert not masked.equals(masking.apply(people, 5))


def test_degenerate():
    assert Sampling(0.01).apply(pl.DataFrame({"a": [1]})).height == 1
    assert Sampling(0.5).apply(pl.DataFrame({"a": []})).height == 0
