"""Releases called synthetic, with people outside, of which it is known whether they remember anybody."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from disclosure import synthetic_tables as tables
from unmask import Release, assess, datasets, membership_inference
from unmask.errors import RoleError

REMEMBER = {
    "a shuffled copy": tables.shuffled,
    "every row moved in one column": tables.moved,
    "3 % memorised": lambda table, rng: tables.memorised(table, rng, 0.03),
    "10 % memorised, moved by 2 %": lambda table, rng: tables.memorised(table, rng, 0.1, 0.02),
    "a bootstrap, moved by 5 %": tables.bootstrap,
    "smote": tables.smote,
}
FORGET = {"copula": tables.copula, "independent": tables.independent, "private": tables.private_histogram}


def findings(make, seed, n=300):
    inside, outside = tables.people(n, seed)
    release = Release(inside, make(inside, np.random.default_rng(seed)), control=outside, synthetic=True)
    assessment = assess(release, only=["copies", "membership"], utility="none")
    return assessment.verdict, {finding.key: finding for finding in assessment.findings}


@pytest.mark.parametrize("name", REMEMBER)
def test_what_remembers_people_is_unsafe(name):
    assert findings(REMEMBER[name], 0)[0] == "unsafe"


def test_rows_moved_in_one_column_are_unsafe_by_more_than_one_measure():
    _, found = findings(tables.moved, 1)
    against = {finding.measure for finding in found.values() if finding.outcome == "against"}
    assert against == {"copies", "membership"}
    assert found["copies.exact"].outcome == "for"  # no row equals a person
    assert found["copies.closer"].outcome == "not judged"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", FORGET)
def test_what_forgets_them_is_not(name, seed):
    assert findings(FORGET[name], seed)[0] != "unsafe"


@pytest.mark.parametrize("outside", [False, True])
def test_a_column_moved_as_a_whole_hides_nobody(outside):
    """Every row of a shuffled copy moved by one sd in the same column: each number keeps its place."""
    table = people_with_words(400, 3)
    moved = table.with_columns(born=pl.col("born") + 23)[np.random.default_rng(0).permutation(400)]
    control = people_with_words(400, 4) if outside else None
    release = Release(table, moved, control=control, synthetic=True)
    found = assess(release, only=["copies"], utility="none")
    assert found.verdict == "unsafe"
    assert {f.key for f in found.findings if f.outcome == "against"} == {"copies.whole"}


def whole(make, seed, *, outside, confidential=(), n=300):
    """Every attack, under the default policy."""
    inside, others = tables.people(n, seed)
    if confidential:
        draw = np.random.default_rng([seed, 1])
        inside, others = (
            t.with_columns(secret=pl.Series((draw.random(n) < 0.02).astype(int))) for t in (inside, others)
        )
    made = make(inside, np.random.default_rng(seed))
    return assess(
        Release(inside, made, control=others if outside else None, synthetic=True, confidential=confidential),
        utility="none",
    )


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("name", REMEMBER)
def test_every_attack_on_what_remembers_people(name, outside):
    found = whole(REMEMBER[name], 7, outside=outside)
    assert found.verdict == "unsafe"
    if name == "every row moved in one column":
        against = {finding.measure for finding in found.findings if finding.outcome == "against"}
        assert len(against) > 1


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_people_who_were_moved_a_little_are_known(seed, outside):
    inside, others = tables.people(300, seed)
    made = tables.memorised(inside, np.random.default_rng(seed), 0.1, 0.02)
    release = Release(inside, made, control=others if outside else None, synthetic=True)
    found = assess(release, only=["copies"], utility="none")
    by = {f.key: f for f in found.findings}
    assert found.verdict == "unsafe" and by["copies.known"].outcome == "against"
    assert 10 <= by["copies.known"].estimate.low * 300 <= 30  # of the 30 who are there


HARMLESS = {**FORGET, "marginals only": tables.marginals}


@pytest.mark.slow
@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("name", HARMLESS)
def test_every_attack_on_what_forgets_them(name, outside):
    for seed in range(20, 28):
        assert whole(HARMLESS[name], seed, outside=outside).verdict != "unsafe"


def test_peoples_own_numbers_are_no_marginals():
    """Dealt out column by column, a number that one person alone has still tells that they are in the file."""
    inside, others = tables.people(300, 20)
    made = tables.dealt(inside, np.random.default_rng(20))
    release = Release(inside, made, control=others, synthetic=True)
    found = {f.key: f.outcome for f in assess(release, only=["copies"], utility="none").findings}
    assert found["copies.exact"] == "for"  # no row is anybody's
    assert found["copies.found"] == "against"


@pytest.mark.parametrize("outside", [False, True])
def test_a_rare_secret_independent_of_everything(outside):
    for seed in range(2):
        assert whole(tables.copula, seed, outside=outside, confidential=["secret"]).verdict != "unsafe"


def people_with_words(n, seed):
    table = datasets.patients(n, seed=seed)
    return table.select("sex", "town", pl.col("birth date").dt.year().alias("born"), "diagnosis")


def test_other_people_of_one_number_are_no_copy():
    """One number without ties has the same order in any table: that says nothing."""
    draw = np.random.default_rng(1)
    old, new = (pl.DataFrame({"x": draw.normal(size=100), "k": ["a"] * 100}) for _ in range(2))
    found = assess(Release(old, new, synthetic=True), only=["copies"], utility="none")
    assert {f.key: f.outcome for f in found.findings}["copies.whole"] == "for"


@pytest.mark.parametrize("seed", range(3))
def test_three_percent_memorised_in_four_coarse_columns_cannot_be_told(seed):
    """Who knows exactly how common each combination is would be right 19 times in 20 about next to nobody.

    A person with chance q of a row like theirs in a fresh table is one of 3 % memorised, where there is such a row,
    with probability 0.03 / (0.03 + q).
    """
    table, population = people_with_words(300, 10 + seed), people_with_words(100_000, 777)
    made = pl.concat([table[:9], people_with_words(291, 50 + seed)])
    alike = population.group_by(population.columns).len("alike")
    common = table.join(alike, on=table.columns, how="left", maintain_order="left")["alike"].fill_null(0).to_numpy()
    sure = 0.03 / (0.03 + 300 * common / 100_000) >= 0.95
    assert sure.sum() * 0.03 < 1  # memorised people of whom that is so
    found = assess(Release(table, made, synthetic=True), only=["copies"], utility="none")
    assert found.verdict == "inconclusive"


@pytest.mark.parametrize("make", [tables.copula, tables.dealt])
@pytest.mark.parametrize("seed", range(6))
def test_few_columns_of_a_fresh_or_dealt_table_are_no_copies(make, seed):
    """Four columns: many rows equal somebody, as rows of other people and of independent columns do."""
    table = people_with_words(300, 10 + seed)
    for released in (make(table, np.random.default_rng(seed)), people_with_words(300, 50 + seed)):
        found = assess(Release(table, released, synthetic=True), only=["copies"], utility="none")
        assert found.verdict != "unsafe"


def test_control_people_of_the_original_are_refused():
    inside, _ = tables.people()
    release = Release(inside, tables.shuffled(inside, np.random.default_rng(0)), control=inside[:100], synthetic=True)
    with pytest.raises(RoleError, match="overlaps the original"):
        assess(release, only=["membership"], utility="none")


def test_few_people_are_never_safe_and_it_is_said_once():
    inside, outside = tables.people(30)
    release = Release(inside, tables.copula(inside, np.random.default_rng(0)), control=outside, synthetic=True)
    found = assess(release, only=["copies", "membership"], utility="none")
    assert found.verdict == "inconclusive"
    told = [line for line in found.document.warnings if "people on, and these are 30" in line]
    assert len(told) == 1
    with pytest.raises(RoleError, match="outside"):
        membership_inference(Release(inside, inside, control=outside[:10], synthetic=True))
