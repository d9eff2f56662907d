"""Everybody matched one to one by blocks, held against memory: the same matching, or a gap that is true."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unmask
from unmask import engines, large
from unmask.engines import blocks as blocks_file
from unmask.errors import EngineError
from unmask.large_people import study_of
from unmask.linkage.one_to_one import link_one_to_one

pytest.importorskip("duckdb")
KEYS = ["a", "b", "d", "town", "sex"]


def quiet(_done, _words):
    pass


def tables(n=240, noise=0.1, seed=3):
    """Numbers with ties and gaps that noise moves; categories stay, some of them missing."""
    rng = np.random.default_rng(seed)
    original = pl.DataFrame(
        {
            "id": np.arange(n),
            "a": np.where(rng.random(n) < 0.05, np.nan, rng.normal(size=n)),
            "b": rng.normal(size=n).round(1),
            "d": rng.normal(50, 9, n),
            "town": [None if rng.random() < 0.1 else str(word) for word in rng.choice(list("uvwxyz"), n)],
            "sex": rng.choice(["f", "m"], n),
        }
    )
    original = pl.concat([original, original[:15].with_columns(pl.col("id") + n)])  # some are alike
    moved = [pl.col(k) + pl.Series(rng.normal(0, noise * 9 ** (k == "d"), n + 15)) for k in "abd"]
    return original, original.with_columns(moved).sample(fraction=1, shuffle=True, seed=seed)


def told(assessment):
    return [(f.key, f.claim, f.outcome, f.estimate) for f in assessment.findings]


@pytest.fixture
def small(monkeypatch):
    """Blocks are for tables that are too large to be matched in rounds: here all are."""
    monkeypatch.setattr(large, "TOGETHER", 100)
    monkeypatch.setattr(large, "IN_ROUNDS", 0)
    monkeypatch.setattr(large, "find_blocks", lambda store: engines.find_blocks(store, largest=60))


def test_findings_are_those_of_assess(small):
    pair = tables()
    here = unmask.assess(unmask.Release(*pair, id="id", quasi=KEYS), only=["one_to_one"], utility="none")
    there = unmask.assess_large(*pair, id="id", only=["one_to_one"])
    assert told(there) == told(here)
    notes = " ".join(note for m in there.document.measures for note in m.notes)
    assert "blocks of equal categories" in notes and "not to be the least" not in notes
    again = unmask.assess_large(*(table.reverse() for table in pair), id="id", only=["one_to_one"], threads=2)
    assert told(again) == told(there)


@pytest.mark.parametrize("noise", [0.05, 0.3, 0.6, 1.5])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_gap_is_true(noise, seed):
    pair = tables(noise=noise, seed=seed)
    with engines.open_store(*pair, id="id") as store:
        blocks = engines.find_blocks(store, largest=60)
        found = engines.match_in_blocks(store, blocks, (50, 0), quiet)
        best = link_one_to_one(study_of(store, *engines.bring_tables(store))).total_distance
    assert blocks.number > 2 and blocks.largest <= 60
    assert best <= found.total * (1 + 1e-9)
    assert found.total * (1 - found.gap) <= best * (1 + 1e-9)
    assert (found.gap < 1e-9) == (noise < 0.1)  # where people stay near their records, blocks lose nothing


def test_the_fewest_keys_that_cut_small_enough_are_taken():
    with engines.open_store(*tables(), id="id") as store:
        names = [store.names[j] for j in engines.find_blocks(store, largest=100).keys]
        assert names == ["town"]
        assert len(engines.find_blocks(store, largest=40).keys) == 2
        assert engines.find_blocks(store, largest=3) is None


@pytest.mark.parametrize("change", ["fewer records", "another category", "no category"])
def test_tables_that_categories_do_not_cut_have_no_blocks(change):
    original, released = tables()
    if change == "fewer records":
        released = released[:-1]
    elif change == "another category":
        released = released.with_columns(
            sex=pl.lit("f"), town=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("q")).otherwise(pl.col("town"))
        )
    else:
        original, released = original.drop("town", "sex"), released.drop("town", "sex")
    with engines.open_store(original, released, id="id") as store:
        assert engines.find_blocks(store, largest=200) is None


def test_a_gap_that_says_too_little_is_not_used(small):
    found = unmask.assess_large(*tables(noise=0.6), id="id", only=["one_to_one"])
    assert "too many to be matched at once" in " ".join(note for m in found.document.measures for note in m.notes)


def test_a_matching_that_is_near_the_best_does_not_show_that_nobody_is_known(small, monkeypatch):
    monkeypatch.setattr(large, "USEFUL", 1.0)
    found = unmask.assess_large(*tables(noise=1.5), id="id", only=["one_to_one"], policy="public")
    notes = " ".join(note for m in found.document.measures for note in m.notes)
    assert "not to be the least" in notes and "within" in found.reason
    known = next(f for f in found.findings if f.key == "one_to_one.known")
    assert known.outcome in {"inconclusive", "against"}


def test_who_is_asked_across_blocks_is_limited_and_counted(monkeypatch):
    with engines.open_store(*tables(noise=0.6), id="id") as store:
        blocks = engines.find_blocks(store, largest=60)
        with monkeypatch.context() as patch:
            patch.setattr(blocks_file, "MOST_ACROSS", 0)
            assert engines.match_in_blocks(store, blocks, (10, 0), quiet) is None
        groups = store.duck._groups
        monkeypatch.setattr(store.duck, "_groups", lambda *given: list(groups(*given))[1:])
        with pytest.raises(EngineError, match="not everybody"):
            engines.match_in_blocks(store, blocks, (10, 0), quiet)
        left = store.duck.row("SELECT count(*) FROM information_schema.tables WHERE table_name = 'matched'")
        assert left == (0,)
