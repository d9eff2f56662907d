"""Points of risk and utility: which are beaten by none, which one to take, and what is kept of a run."""

import json
from dataclasses import replace

import polars as pl
import pytest

from unmask.errors import TableError, UnmaskError
from unmask.masking import parse_masking
from unmask.protect import Frontier, Point, opened, suggest_maskings

BASE = Point("noise(0.1)", 1, "whole", "safe", "", "nearest", 0.1, 0.05, 0.15, 0, 0.5, 0.5, 0.5, None, 1.0)


def point(risk, utility, verdict="safe", stage="whole", name="m"):
    return replace(BASE, masking=name, risk=risk, utility=utility, verdict=verdict, stage=stage, high=risk + 0.05)


def frontier(*points):
    return Frontier(tuple(points), 100, "partner", 0.09)


def test_the_front_is_what_no_other_beats():
    a, b, c, d = (
        point(r, u, name=n) for r, u, n in [(0.1, 0.2, "a"), (0.2, 0.6, "b"), (0.3, 0.5, "c"), (0.2, 0.6, "d")]
    )
    assert set(frontier(a, b, c, d).front) == {a, b, d}  # c has more risk and less left than b; equals stay both


def test_the_one_to_take_is_the_most_useful_that_everything_calls_safe():
    best = point(0.05, 0.6, name="best")
    others = [
        point(0.01, 0.3),
        point(0.3, 0.9, "unsafe"),
        point(0.1, 0.8, "safe", "core"),
        point(0.1, 0.7, "inconclusive"),
    ]
    assert frontier(*others, best).recommended == best
    assert "Take best" in frontier(*others, best).words
    assert frontier(*others[1:]).recommended is None
    assert "None of the 3" in frontier(*others[1:]).words
    assert "None of the 0" in frontier().words


def test_what_was_only_looked_at_is_not_said_to_be_unsafe():
    looked = [point(0.3, 0.9, "unsafe", "glance"), point(0.02, 0.4, "open", "glance", "near")]
    assert "2 releases were only looked at, not attacked" in frontier(*looked).words
    assert "The nearest is near" in frontier(*looked).words
    assert "None of the 1" in frontier(looked[0]).words  # a glance shows that it is unsafe
    assert "None of the 2" in frontier(looked[0], point(0.02, 0.4, "inconclusive", "core")).words


def test_a_row_for_each_point_and_a_picture():
    points = [point(0.05, 0.6, name="a"), point(0.3, 0.9, "unsafe", "glance", "b")]
    table = frontier(*points).to_frame()
    assert table["masking"].to_list() == ["a", "b"]
    assert table["recommended"].to_list() == [True, False]
    names = [series.name for series in frontier(*points).figure().series]
    assert names == ["safe", "unsafe", "recommended", "limit of the policy"]
    assert json.loads(json.dumps(frontier(*points).to_dict()))["recommended"] == "a"


def test_a_folder_keeps_points_and_knows_its_table(tmp_path):
    about = {"table": "abc", "policy": "partner"}
    with opened(tmp_path / "run", about, resume=False) as store:
        store.keep(BASE)
    with opened(tmp_path / "run", about, resume=True) as store:
        assert store.find("noise(0.1)", 1, "whole") == BASE
        assert store.find("noise(0.1)", 2, "whole") is None
        assert store.find("noise(0.1)", 1, "core") is None
        with pytest.raises(TableError, match="another run works"), opened(tmp_path / "run", about, resume=True):
            pass
    with pytest.raises(TableError, match="holds a run already"), opened(tmp_path / "run", about, resume=False):
        pass
    with (
        pytest.raises(TableError, match="of another table"),
        opened(tmp_path / "run", about | {"table": "x"}, resume=True),
    ):
        pass
    with opened(None, about, resume=False) as store:
        assert store is None
    with pytest.raises(UnmaskError, match="no folder"), opened(None, about, resume=True):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(TableError, match="cannot write"), opened(tmp_path / "file", about, resume=False):
        pass


def test_suggestions_fit_the_columns():
    table = pl.DataFrame(
        {
            "age": list(range(20, 80)),
            "income": [1000.5 * k for k in range(60)],
            "sex": ["f", "m"] * 30,
            "zip code": [f"7{k:04d}" for k in range(60)],
            "born": pl.Series(range(60)).cast(pl.Date),
        }
    )
    kinds = dict(zip(table.columns, ["numeric", "numeric", "categorical", "categorical", "date"], strict=True))
    texts = suggest_maskings(table, kinds, table.columns)
    assert len(texts) == len(set(texts)) >= 8
    for text in texts:
        masked = parse_masking(text).apply(table, 1)
        assert masked.height == table.height
        assert not masked.equals(table)
    assert suggest_maskings(table, kinds, ["sex"]) == (
        "rare(25, columns=[sex])",
        *suggest_maskings(table, kinds, ["sex"])[1:],
    )
    assert suggest_maskings(table, kinds, []) == ()
