"""Random small tables with what breaks things: ties, duplicates, constants, missing values, categories."""

from __future__ import annotations

import polars as pl
from hypothesis import strategies as st

SCHEMA = {"a": pl.Float64, "b": pl.Float64, "c": pl.String, "e": pl.Float64}
ROW = st.tuples(
    st.sampled_from([0.0, 0.5, 1.0, 2.0, 7.25]),
    st.one_of(st.none(), st.sampled_from([-1.5, 0.0, 3.0])),
    st.one_of(st.none(), st.sampled_from(["x", "y", "z"])),
    st.just(4.5),
)


def table(rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


@st.composite
def pairs(draw, min_rows=1, max_rows=14, *, complete=False):
    """An original and a release of the same length."""
    n = draw(st.integers(min_rows, max_rows))
    rows = [draw(st.lists(ROW, min_size=n, max_size=n)) for _ in range(2)]
    if complete:
        rows = [[(a, b or 0.0, c or "x", e) for a, b, c, e in side] for side in rows]
    return table(rows[0]), table(rows[1])
