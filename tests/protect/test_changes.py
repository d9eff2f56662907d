"""The change to try first: applied to the table, everybody has the crowd that was asked for."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from unmask.datasets import patients
from unmask.evidence import Policy
from unmask.masking import parse_masking
from unmask.protect.changes import Crowds, first_change
from unmask.protect.treatments import Treatment

KINDS = {"sex": "categorical", "age": "numeric", "town": "categorical", "born": "date"}


def people(n, seed):
    rng = np.random.default_rng(seed)
    days = pl.date_range(pl.date(1940, 1, 1), pl.date(2005, 1, 1), "1d", eager=True)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 99, n),
            "town": rng.choice([f"town {k}" for k in range(40)], n),
            "born": days.gather(rng.integers(0, len(days), n)),
            "diagnosis": rng.choice(["a", "b", "c"], n),
        }
    )


def alike(row, other, names):
    """A blank cell looks like anything."""
    return all(row[name] is None or other[name] is None or row[name] == other[name] for name in names)


def smallest_crowd(table, names):
    rows = table.rows(named=True)
    return min(sum(alike(row, other, names) for other in rows) for row in rows)


@settings(max_examples=8, deadline=None)
@given(n=st.integers(60, 160), seed=st.integers(0, 9), k=st.sampled_from([2, 5, 11]))
def test_everybody_has_the_crowd_after_the_change(n, seed, k):
    table = people(n, seed)
    found = first_change(table, KINDS, k=k, limit=0.5)
    assert found is not None
    masked = parse_masking(found.masking).apply(table, 0)
    shown = [name for name in KINDS if name in masked.columns]
    assert shown and smallest_crowd(masked, shown) >= k
    assert masked["diagnosis"].equals(table["diagnosis"])
    blanked = sum(masked[name].null_count() for name in shown)
    assert (blanked > 0) == (found.blanked > 0) and found.blanked <= 0.03 * n


def test_a_column_is_not_published_as_other_for_nearly_everybody():
    """Months of birth are rare ones nearly all: put together they say "other" of most people, and that is no advice."""
    mixed = "sex", "birth date", "town", "children", "smoker", "days", "height", "bmi", "insurance", "diagnosis"
    table = patients(10_000).select(mixed)
    kinds = unmask.Release(table, table).kind
    found = first_change(table, {name: kinds(name) for name in table.columns}, k=5, limit=0.09)
    assert found is not None
    masked = parse_masking(found.masking).apply(table, 0)
    for name in masked.columns:
        assert (masked[name].cast(pl.String) == "other").mean() <= 0.5


def test_few_enough_are_found_with_the_upper_end():
    table = people(400, 0)
    found = first_change(table, KINDS, k=2, limit=0.05)
    masked = parse_masking(found.masking).apply(table, 0)
    shown = [name for name in KINDS if name in masked.columns]
    groups = masked.group_by(shown).len().height
    assert groups / 400 < 0.05


def test_who_stands_out_by_one_column_loses_that_column():
    table = pl.DataFrame({"sex": ["f", "m"] * 100, "code": [f"{k:03d}" for k in range(200)]})
    found = first_change(table, {"sex": "categorical", "code": "categorical"}, k=11, limit=0.2)
    assert found.masking == "drop([code])" and found.steps == (("code", "drop code"),) and found.blanked == 0


def test_nothing_needs_to_change_or_nothing_helps():
    alike_all = pl.DataFrame({"sex": ["f", "m"] * 100})
    assert first_change(alike_all, {"sex": "categorical"}, k=11, limit=0.09) is None
    alone = pl.DataFrame({"code": [f"{k:03d}" for k in range(200)]})
    assert (
        first_change(alone, {"code": "categorical"}, k=11, limit=0.09) is None
    )  # only dropping it, which is no release
    assert first_change(alone.head(5), {"code": "categorical"}, k=11, limit=0.09) is None
    assert first_change(alone, {}, k=11, limit=0.09) is None


def test_groups_are_counted_by_what_is_still_shown():
    table = pl.DataFrame({"a": [1, 1, 1, 2], "b": ["x", "x", "y", "y"]})
    crowds = Crowds(table, 2, 1.0)
    kept = {name: Treatment(name, "", 1.0, 0.0) for name in ("a", "b")}
    assert sorted(crowds.groups(kept)) == [1, 1, 2] and crowds.standing_out(crowds.groups(kept)) == 2
    dropped = {**kept, "b": Treatment("b", "drop([b])", 0.0, 1.0)}
    assert sorted(crowds.groups(dropped)) == [1, 3]
    assert list(crowds.groups({name: Treatment(name, f"drop([{name}])", 0.0, 1.0) for name in ("a", "b")})) == [4]


def test_rare_people_whom_the_sample_does_not_see_still_have_a_crowd(monkeypatch):
    monkeypatch.setattr("unmask.protect.changes.MOST_ROWS", 100)
    table = people(1000, 1)
    found = first_change(table, KINDS, k=5, limit=0.2)
    masked = parse_masking(found.masking).apply(table, 0)
    assert smallest_crowd(masked, [name for name in KINDS if name in masked.columns]) >= 5


@pytest.mark.parametrize("policy", ["public", "partner"])
def test_groups_of_the_changed_release_are_within_the_policy(policy):
    table = patients(300, seed=3)
    names = [name for name in table.columns if name not in {"patient", "diagnosis", "cost", "longitude", "latitude"}]
    whole = unmask.Release(table, table, id="patient", confidential=["diagnosis", "cost"])
    k = Policy.load(policy).threshold("anonymity.small").groups
    found = first_change(table, {name: whole.kind(name) for name in names}, k=k, limit=0.09)
    masked = parse_masking(found.masking).apply(table.drop("longitude", "latitude"), 0)
    release = unmask.Release(table, masked, id="patient", confidential=["diagnosis", "cost"])
    done = unmask.assess(release, policy=policy, only=["anonymity", "uniqueness", "nearest"], utility="none")
    assert {f.key: f.outcome for f in done.findings if f.outcome == "against"} == {}
