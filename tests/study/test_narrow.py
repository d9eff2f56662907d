from __future__ import annotations

import numpy as np
import polars as pl

import unmask
from unmask import Release
from unmask.study.narrow import _keeps_order, narrowed, telling
from unmask.study.study import Study


def wide(n=60, columns=70, seed=0):
    """Columns c00 ... published as they are, shuffled from the tenth on."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    y = x.copy()
    for j in range(10, columns):
        y[:, j] = rng.permutation(x[:, j])
    names = [f"c{j:02d}" for j in range(columns)]
    return pl.DataFrame(x, schema=names), pl.DataFrame(y, schema=names)


def test_the_most_telling_attributes_are_kept_and_it_is_said():
    study = Study(Release(*wide()))
    fewer, note = narrowed(study, 12)
    assert {f"c{j:02d}" for j in range(10)} <= set(fewer.release.quasi)
    assert len(fewer.release.quasi) == 12
    assert "with 70 attributes it looks at the 12" in note[0]
    same, nothing = narrowed(study, 70)
    assert same is study and nothing == ()


def test_telling_is_1_for_a_copy_and_near_0_for_a_shuffle():
    study = Study(Release(*wide(200, 12)))
    assert telling(study, "c00") > 0.999
    assert telling(study, "c11") < 0.25
    codes = pl.DataFrame({"a": ["x", "y"] * 50})
    assert telling(Study(Release(codes, codes)), "a") == 0.5
    assert telling(Study(Release(codes, codes.reverse())), "a") == -0.5
    strange = codes.with_columns(pl.Series("a", ["z", "y"] * 50))  # a category that nobody has, the last of all
    assert telling(Study(Release(codes, strange)), "a") == 0.25


def test_measures_over_sets_run_on_many_columns():
    release = Release(*wide(40, 66))
    found = unmask.assess(release, only=["knowledge_sweep", "special_uniques"])
    assert all(finding.estimate is not None for finding in found.findings)
    notes = [note for entry in found.document.measures for note in entry.notes]
    assert sum("with 66 attributes" in note for note in notes) == 2


def test_words_keep_no_order():
    """Whole numbers said to be categories keep theirs; texts that are none have none, and end nothing."""
    town = pl.DataFrame({"town": ["x", "y", "z"] * 10, "age": [k + 0.5 for k in range(30)]})
    assert not _keeps_order(Study(Release(town, town)), "town")
    half = town.with_columns(town=pl.Series(["1", "2", "3"] * 10))
    assert not _keeps_order(Study(Release(half, town)), "town")


def test_answers_keep_their_order_beside_gaps():
    """Moved by one each, and nobody by more; some answers are missing in either file."""
    rng = np.random.default_rng(0)
    answers = rng.integers(2, 7, 400)
    moved = np.clip(answers + rng.choice([-1, 0, 1], 400), 2, 6)
    tables = [
        pl.DataFrame({"x": [None if k % 20 == side else int(v) for k, v in enumerate(values)]})
        for side, values in enumerate((answers, moved))
    ]
    study = Study(Release(*tables))
    assert study.release.kind("x") == "categorical" and _keeps_order(study, "x")
