from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unmask
from naive import disclosure as naive
from unmask import Release, copy_risk, datasets
from unmask.assessment import discover
from unmask.disclosure.copies import assess_copies, one_to_one
from unmask.errors import RoleError
from unmask.evidence.measure import Context
from unmask.selfcheck import shuffle
from unmask.study.study import Study
from unmask.tables.encode import Encoded


def people(seed, n=200):
    return datasets.patients(n, seed=seed).drop("patient")


def synthetic(released, original=None, control=None, **roles):
    return Release(
        people(1) if original is None else original, released, control=people(3) if control is None else control,
        synthetic=True, **roles,
    )  # fmt: skip


def test_a_copy_a_draw_and_half_of_each():
    copy = copy_risk(synthetic(people(1)))
    assert copy.closer.value == 1.0 and copy.whole and copy.copied == 1.0 and copy.exact.low > 0.9
    draw = copy_risk(synthetic(people(2)))
    assert draw.closer.low <= 0.5 <= draw.closer.high and not draw.whole and draw.exact.value == 0.0
    half = copy_risk(synthetic(pl.concat([people(1)[:100], people(2)[:100]])))
    assert copy.closer.value > half.closer.value > draw.closer.value
    assert half.copied == pytest.approx(0.5)
    assert np.nansum(half.per_record) == 100
    assert half.near > 0.4 > draw.near


@pytest.mark.parametrize("outside", [200, 100, 20])
def test_few_people_outside_hide_no_copy(outside):
    """A tenth of the rows are people of the original, however many the control table holds; other people show none."""
    made = pl.concat([people(1)[:20], people(2)[20:]])
    found = copy_risk(synthetic(made, control=people(3)[:outside]))
    assert found.copied == pytest.approx(0.1) and found.exact.value == pytest.approx(0.1)
    none = copy_risk(synthetic(people(2), control=people(3)[:outside]))
    assert none.copied == none.exact.value == 0.0


def test_an_exact_copy_of_categorical_data_is_not_safe():
    """A peer scores a copy of few categories as safe, since control people equal it as well."""
    rng = np.random.default_rng(0)
    tables = [pl.DataFrame({f"c{k}": rng.choice(["u", "v"], 500) for k in range(2)}) for _ in range(3)]
    found = copy_risk(
        Release(tables[0], tables[0].sample(fraction=1.0, shuffle=True, seed=1), control=tables[2], synthetic=True)
    )
    assert found.whole
    verdict = unmask.assess(Release(tables[0], tables[0], control=tables[2], synthetic=True), only=["copies"])
    assert verdict.verdict == "unsafe"
    assert not copy_risk(Release(tables[0], tables[1], control=tables[2], synthetic=True)).whole
    many = [pl.DataFrame({f"c{k}": rng.choice(list("uvwx"), 300) for k in range(8)}) for _ in range(3)]
    assert copy_risk(Release(many[0], many[0], control=many[2], synthetic=True)).closer.low > 0.9
    fresh = copy_risk(Release(many[0], many[1], control=many[2], synthetic=True)).closer
    assert fresh.low <= 0.5 <= fresh.high


@given(
    st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=12),
    st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=12),
)
def testone_to_one_equals_definition(a, b):
    sides = [Encoded(np.empty((len(v), 0)), np.array(v, dtype=np.int32)[:, None]) for v in (a, b)]
    assert one_to_one(*sides).mean() == pytest.approx(naive.overlap(a, b))


def test_every_pair_based_attack_says_that_it_does_not_apply():
    base = synthetic(people(2, 150), confidential=["diagnosis", "cost"])
    assert (base.truth == -1).all() and base.settings["synthetic"] is True
    fits = {name for name, entry in discover().items() if entry.applies(base) is None}
    assert fits >= {"copies", "inference", "membership", "singling"}
    assert not fits & {"nearest", "uniqueness", "intervals", "values", "model", "absent", "cells"}
    assessment = unmask.assess(base)
    outcomes = {finding.measure: finding for finding in assessment.findings}
    assert outcomes["nearest"].outcome == "does not apply" and "synthetic" in outcomes["nearest"].reason
    assert not [finding for finding in assessment.findings if finding.outcome == "could not run"]
    assert any("synthetic" in warning for warning in assessment.document.warnings)


def test_different_sizes_row_order_and_no_control():
    base = synthetic(people(2, 333), control=people(3, 80))
    assert copy_risk(shuffle(base, 2)).closer == copy_risk(base).closer
    alone = Release(people(1), people(2), synthetic=True)
    assert discover()["copies"].applies(alone) is None
    assert copy_risk(alone).closer is None  # nobody outside to compare distances with
    assert "linkage" in discover()["copies"].applies(Release(people(1), people(2), control=people(3)))


def test_a_control_that_overlaps_the_original_is_named_and_refused():
    with pytest.raises(RoleError, match=r"overlaps(?s:.*)60 of 200"):
        copy_risk(synthetic(people(2), control=pl.concat([people(1)[:60], people(3)[:140]])))
    numbered = [people(seed).with_row_index("id", offset=off) for seed, off in ((1, 0), (2, 0), (3, 150))]
    with pytest.raises(RoleError, match="50 ids of 'id' are in both"):
        copy_risk(Release(numbered[0], numbered[1].drop("id"), control=numbered[2], id="id", synthetic=True))
    rng = np.random.default_rng(0)
    alike = [pl.DataFrame({"c": rng.choice(["u", "v"], 100), "d": rng.choice(["u", "v"], 100)}) for _ in range(3)]
    copy_risk(Release(alike[0], alike[1], control=alike[2], synthetic=True))  # strangers may be alike


def test_evidence():
    evidence = assess_copies(Study(synthetic(people(2))), Context())
    assert [o.key for o in evidence.observations] == [
        "copies.exact", "copies.unique", "copies.found", "copies.known", "copies.whole", "copies.closer",
    ]  # fmt: skip
    assert len(evidence.figures[0].series) == 2


# --- without control --------------------------------------------------------------------------------------------------


def test_a_copy_is_seen_without_control():
    people = datasets.census(300, seed=5)
    found = copy_risk(Release(people, people.sample(fraction=1, shuffle=True, seed=1), synthetic=True))
    assert found.whole and found.closer is None
    assert (found.exact.value, found.unique.value) == pytest.approx((1.0, 1.0), abs=1e-12)


def test_a_few_memorised_people_are_seen_without_control():
    people, others = datasets.census(400, seed=5), datasets.census(400, seed=6)
    mixed = pl.concat([others.head(388), people.head(12)])
    found = copy_risk(Release(people, mixed, synthetic=True))
    assert found.unique.value == pytest.approx(0.03)
    assert found.unique.low > 0.01
    assert found.per_record[:12].tolist() == [1.0] * 12


def test_other_people_are_no_copies_without_control():
    people, others = datasets.census(400, seed=5), datasets.census(400, seed=6)
    found = copy_risk(Release(people, others, synthetic=True))
    assert found.exact.value == found.unique.value == 0.0
    coarse = [table.select((pl.all() / pl.all().std() / 2).round()) for table in (people, others)]
    assert copy_risk(Release(*coarse, synthetic=True)).unique.low <= 0.01


@pytest.mark.parametrize("control", [True, False])
def test_nobody_copied_is_not_nobody_in_every_population(control):
    """A bootstrap of zeros is zero in every draw: the upper end stays that of nobody among so many people."""
    n, rng = 300, np.random.default_rng(0)

    def crowd():
        return pl.DataFrame({"a": rng.integers(0, 3, n), "b": rng.integers(0, 3, n)}).cast(pl.String)

    outside = {"control": crowd()} if control else {}
    risk = copy_risk(unmask.Release(crowd(), crowd(), synthetic=True, **outside))
    for found in (risk.exact, risk.unique):
        assert found.high >= 1.96**2 / (n + 1.96**2) - 1e-3
    policy = unmask.Policy.load("public")
    assert policy.least_people("synthetic") > n
    assert risk.unique.high > policy.thresholds["copies.unique"].value
