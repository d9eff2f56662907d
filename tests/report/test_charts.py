from __future__ import annotations

import pytest

from unmask.evidence.figure import Figure, Series
from unmask.report.charts import draw, spans


def bars(shape, names, values):
    return Figure(
        shape=shape,
        title="Title",
        caption="Caption",
        alt="Alt",
        x_label="x",
        y_label="bits",
        series=(Series("weight", names, values),),
    )


def test_a_waterfall_begins_where_the_last_bar_ended_and_sums_from_zero():
    figure = bars("waterfall", ("before", "age: equal", "town: different", "in all"), (-3.0, 5.0, -1.0, 1.0))
    assert spans(figure) == [(0.0, -3.0), (-3.0, 2.0), (2.0, 1.0), (0.0, 1.0)]
    assert spans(bars("bar", ("a", "b"), (2.0, -1.0))) == [(0.0, 2.0), (0.0, -1.0)]


@pytest.mark.parametrize("shape", ["bar", "waterfall"])
def test_long_names_are_written_out(shape):
    names = tuple(f"a rather long attribute number {i}" for i in range(12))
    drawn = draw(bars(shape, names, tuple(float(i) for i in range(12))))
    assert all(f">{name}<" in drawn for name in names)
