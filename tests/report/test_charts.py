from __future__ import annotations

import re

import pytest

from unmask.evidence.figure import Figure, Series
from unmask.report.charts import draw, folded, spans


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


@pytest.mark.parametrize(("largest", "label"), [(900.0, ">200<"), (0.9, ">0.2<"), (9e6, ">2M<")])
def test_numbers_on_an_axis_are_whole_words(largest, label):
    xs = tuple(largest * k / 40 for k in range(41))
    line = Figure("line", "t", "c", "a", "ranks", "share", (Series("s", xs, xs),))
    svg = draw(line)
    assert label in svg
    assert ">0.2k<" not in svg


def test_small_pictures_are_not_blown_up():
    svg = draw(bars("bar", ("a long word to lie", "another long word", "a third", "a fourth", "a fifth"), (1.0,) * 5))
    width = float(re.search(r' width="([0-9.]+)"', svg)[1])
    assert f"max-width:{1.05 * width:.0f}px" in svg


def test_a_step_holds_before_its_end():
    """Of people claimed up to the second point, the share that is right is the second one's."""
    step = Figure("step", "t", "c", "a", "x", "y", (Series("s", (0.0, 5.0, 10.0), (1.0, 1.0, 0.5)),))
    paths = re.findall(r' d="M([0-9.,L]+)"', draw(step))
    assert [tuple(map(float, pair.split(","))) for pair in paths[0].split("L")][-3:] == [
        (395, 0),
        (395, 115),
        (790, 115),
    ]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("age", ["age"]),
        ("days_absent_without_a_written_excuse_of_parents", ["days_absent_without_a_written_", "excuse_of_parents"]),
        ("x" * 80, ["x" * 36, "x" * 36, "x" * 8]),
        ("age and income", ["age and income"]),
    ],
)
def test_a_long_label_goes_over_lines_and_loses_no_letter(name, lines):
    assert folded(name).split("\n") == lines
    assert re.sub(r"\s", "", folded(name)) == re.sub(r"\s", "", name)


def test_the_picture_keeps_room_for_bars_beside_long_labels():
    names = tuple(f"distance_between_home_and_school_in_kilometres_by_road_{i}" for i in range(4))
    drawn = draw(bars("bar", names, (1.0, 2.0, 3.0, 4.0)))
    width = float(re.search(r'<svg[^>]* width="([0-9.]+)"', drawn)[1])
    assert width < 1100 and drawn.count("<tspan") >= 8  # two lines each, and the letters stay as large as elsewhere
