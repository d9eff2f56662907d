"""Linkage and membership by engines, held against the same attacks in memory: the same findings and claims."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unmask
from unmask import engines, large
from unmask.assessment import discover
from unmask.attacks import seed_of
from unmask.errors import EngineError
from unmask.evidence import Context
from unmask.large_people import MOST_PAIRS, Holding, assess_members, study_of
from unmask.linkage.one_to_one import assess_some, link_in_rounds
from unmask.sampling import people_by_hash
from unmask.study import Study

pytest.importorskip("duckdb")
LINKS = ("nearest", "one_to_one")
KEYS = ["a", "b", "d", "c"]  # numbers first, as engines have them


def quiet(_done, _words):
    pass


def no_blocks(_store):
    """As if categories did not cut the tables: what is done then is tested here, blocks in test_large_blocks.py."""


def tables(n=240, released=240, seed=3):
    """Numbers with ties and gaps, and a category; as many people are released, shuffled."""
    rng = np.random.default_rng(seed)
    original = pl.DataFrame(
        {
            "id": np.arange(n),
            "a": np.where(rng.random(n) < 0.05, np.nan, rng.normal(size=n)),
            "b": rng.normal(size=n).round(1),
            "c": rng.choice(list("uvwxyz"), n),
            "d": rng.normal(50, 9, n),
        }
    )
    noisy = original.with_columns(
        pl.col(name) + pl.Series(rng.normal(0, 0.4 * 9 ** (name == "d"), n)) for name in "abd"
    )
    return original, noisy.sample(fraction=1, shuffle=True, seed=seed)[:released]


def told(assessment):
    return [(f.key, f.claim, f.outcome, f.estimate) for f in assessment.findings]


@pytest.mark.parametrize("released", [240, 150])
def test_findings_of_everybody_are_those_of_assess(released):
    """Both directions, all scales where the files differ, and the matching of all."""
    pair = tables(released=released)
    here = unmask.assess(unmask.Release(*pair, id="id", quasi=KEYS), only=LINKS, utility="none")
    there = unmask.assess_large(*pair, id="id", only=LINKS)
    assert told(there) == told(here)
    facts = [[(fact.name, fact.value) for m in one.document.measures for fact in m.facts] for one in (here, there)]
    assert facts[0] == facts[1]
    assert any("fewer than 10 records are closer" in name for name, _ in facts[1])


def test_top_coded_numbers_are_found_by_the_scale_of_one_file_as_in_memory():
    original, _ = tables()
    released = original.with_columns(pl.col("d").clip(upper_bound=51), pl.col("a").clip(upper_bound=0.3))
    here = unmask.assess(unmask.Release(original, released, id="id", quasi=KEYS), only=LINKS, utility="none")
    there = unmask.assess_large(original, released, id="id", only=LINKS)
    assert told(there) == told(here)
    notes = [" ".join(note for m in one.document.measures for note in m.notes) for one in (here, there)]
    assert all("masking changed means or deviations" in one for one in notes)


@pytest.mark.parametrize(("extra", "absent"), [(0, 0), (60, 0), (60, 90)])
def test_a_sample_is_matched_as_in_memory(monkeypatch, extra, absent):
    """What matching adds is measured among the same people; those in one table only come in proportion."""
    original, released = tables(released=240 - absent)
    original = original.filter(~pl.col("id").is_in(list(range(extra))))
    monkeypatch.setattr(large, "TOGETHER", 100)
    monkeypatch.setattr(large, "IN_ROUNDS", 0)
    monkeypatch.setattr(large, "find_blocks", no_blocks)
    with engines.open_store(original, released, id="id", by_content=True) as store:
        order = ["id", *store.names]  # lots are drawn over records, by the order of columns
    pair = original.select(order), released.select(order)
    study = Study(unmask.Release(*pair, id="id", quasi=order[1:]))
    people = people_by_hash(study.release, 100, 0)
    seed = seed_of(0, discover()["one_to_one"])
    wanted = assess_some(study, people, Context(seed=seed))
    found = unmask.assess_large(original, released, id="id", only=["one_to_one"], sample=100)
    claims = [(f.key, f.claim, f.estimate) for f in found.findings if f.measure == "one_to_one"]
    if extra:  # which of them are drawn differs
        assert claims[0][2].value == pytest.approx(wanted.observations[0].estimate.value, abs=0.05)
        paired = len(study.release.paired_rows)
        sides = [100 + round((height - paired) * 100 / paired) for height in (original.height, released.height)]
        with engines.open_store(original, released, id="id") as store:
            few = large.Large(store, 100, 3, 0, None)._together().release
        assert [few.original.height, few.released.height] == sides
        assert (few.truth[:100] == np.arange(100)).all() and (few.truth[100:] == -1).all()
        return
    assert claims == [(o.key, o.claim, o.estimate) for o in wanted.observations]
    assert any("100 of 240 people" in note for m in found.document.measures for note in m.notes)
    assert any("too many to be matched at once" in note for m in found.document.measures for note in m.notes)


@pytest.mark.parametrize("released", [240, 150])
def test_everybody_is_matched_in_rounds_as_in_memory(monkeypatch, released):
    """The same figures within the gap that is told, and in one part or in many; who is known is only near the best."""
    pair = tables(released=released)
    here = unmask.assess(unmask.Release(*pair, id="id", quasi=KEYS), only=["one_to_one"], utility="none")
    monkeypatch.setattr(large, "TOGETHER", 100)
    there = unmask.assess_large(*pair, id="id", only=["one_to_one"])
    monkeypatch.setattr(large, "ask_spread", lambda store, look: engines.ask_spread(store, look, at_once=7))
    assert told(unmask.assess_large(*pair, id="id", only=["one_to_one"])) == told(there)
    totals = [
        fact.value for one in (here, there) for m in one.document.measures for fact in m.facts if "total" in fact.name
    ]
    assert totals[0] <= totals[1] <= totals[0] * (1 + 1.0001e-4)
    rates = [next(f.estimate.value for f in one.findings if f.key == "one_to_one.rate") for one in (here, there)]
    assert rates[1] == pytest.approx(rates[0], abs=0.02)
    notes = " ".join(note for m in there.document.measures for note in m.notes)
    assert "in rounds" in notes and "as far as fewer people tell" not in notes


def test_a_search_that_loses_people_is_no_proof(monkeypatch):
    with engines.open_store(*tables(), id="id") as store:
        whole = store.duck.over_parts
        monkeypatch.setattr(store.duck, "over_parts", lambda query, *more: whole(f"{query} LIMIT 200", *more))
        study = study_of(store, *engines.bring_tables(store))
        with pytest.raises(EngineError, match="not everybody was searched for"):
            link_in_rounds(study, lambda look, _words: engines.ask_spread(store, look), "own", 0, quiet)


def test_ranks_and_the_way_back_equal_those_in_memory():
    pair = tables(released=200)
    study = Study(unmask.Release(*pair, id="id", quasi=KEYS))
    with engines.open_store(*pair, id="id") as store:
        asked = engines.sample_people(store, 80, 0)
        near = engines.find_nearest(store, asked, engines.placed_by_distance(store, "original"), quiet, rows=37)
        back = engines.find_nearest(store, asked, engines.placed_by_distance(store), quiet, rows=41, back=True)
    rows = np.array([int(one) for one in asked.ids])
    assert near.closer.tolist() == unmask.true_ranks(study, cap=10, scale="original")[rows].tolist()
    whole = unmask.link_nearest(study, direction="to_original")
    assert back.credit.tolist() == whole.per_record(240)[rows].tolist()
    assert near.closer.max() > 0 and 0 < back.credit.mean() < 1


@pytest.mark.parametrize("rows", [1_000_000, 41])
def test_members_are_told_from_outsiders_as_in_memory(monkeypatch, rows):
    pair = tables(released=150)
    release = unmask.Release(*pair, id="id", quasi=KEYS)
    wanted = unmask.membership_inference(release, seed=5)
    whole = engines.pass_over
    monkeypatch.setattr("unmask.large_people.pass_over", lambda *given: whole(*given, rows=rows))
    with engines.open_store(*pair, id="id") as store:
        found = assess_members(store, 1000, 0, Context(seed=5))
    assert [o.estimate for o in found.observations] == [wanted.auc, wanted.tpr_at_1_percent]
    assert "90 people outside the release were compared with" in found.notes


def test_fewer_people_are_held_against_more_records():
    pair = tables(released=150)
    with engines.open_store(*pair, id="id") as store:
        found = assess_members(store, 30, 0, Context())
        assert found.observations[0].estimate.n == 30
        assert "30 of 150 people were drawn" in " ".join(found.notes)
        assert engines.sample_absent(store, 1000, 0).codes.shape[0] == 90
        assert engines.sample_extra(store, 1000, 0).codes.shape[0] == 0
    assert MOST_PAIRS >= 2 * 1000 * 1_000_000  # a million rows are compared with as many people as in memory


def test_membership_does_not_apply_without_outsiders_nor_copies_to_pairs():
    found = unmask.assess_large(*tables(), id="id", only=["membership", "copies"])
    assert {f.measure: f.outcome for f in found.findings} == dict.fromkeys(("membership", "copies"), "does not apply")


def test_what_parts_say_of_candidates_adds_up():
    pair = tables(released=150)
    with engines.open_store(*pair, id="id") as store:
        people, form = engines.sample_people(store, 20, 0).known, engines.Form.of(store)
        work = Holding(people, engines.placed_by_distance(store, "original"), form)
        one, many = (engines.pass_over(store, work, quiet, rows=rows) for rows in (1000, 13))
    for column, name in zip(one, one._fields, strict=True):
        assert getattr(many, name) == pytest.approx(column, rel=1e-12), name
    assert [entry.split()[0] for entry in work.fields.split(", ")] == list(one._fields)


def test_columns_may_have_any_name_and_codes_no_meaning():
    original, released = (table.rename({"a": "row", "c": "row_"}) for table in tables())
    with engines.open_store(original, released, id="id") as store:
        study = study_of(store, *engines.bring_tables(store))
    assert set(study.compared) == {"row", "b", "d", "row_"}
    assert study.release.original["row_"].str.len_chars().unique().to_list() == [8]
    assert (np.sort(study.release.truth) == np.arange(240)).all()
