"""Totals that give amounts away: by definition, by the rules of statistical offices, and in the report."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import groups as naive
from unmask import Release, assess
from unmask.evidence.measure import Context
from unmask.groups.magnitude import SHARE, P, assess_magnitude, dominance
from unmask.selfcheck import selfcheck
from unmask.study.study import Study

AMOUNTS = st.sampled_from([0.0, 1.0, 1.05, 40.0, 50.0, -3.0, None])
VALUES = st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["x", "y"]), AMOUNTS)
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=12)
SCHEMA = {"town": pl.String, "branch": pl.String, "sales": pl.Float64}


def release(people, records):
    tables = [pl.DataFrame(rows, schema=SCHEMA, orient="row") for rows in (people, records)]
    return Release(*tables, quasi=["town", "branch"], confidential=["sales"], kinds={"sales": "numeric"})


@given(PAIRS)
def test_both_guesses_by_definition(pairs):
    people, records = ([pair[side] for pair in pairs] for side in (0, 1))
    found = assess_magnitude(Study(release(people, records)), Context())
    wanted = naive.amount_guesses(people, records, [0, 1], 2, P, SHARE)
    assert [o.estimate.hits for o in found.observations] == pytest.approx(np.sum(wanted, axis=0).tolist())
    assert found.per_record.tolist() == [float(max(pair)) for pair in wanted]


@given(PAIRS)
def test_a_copy_fails_in_the_cells_that_fail_the_p_percent_rule(pairs):
    """On the original itself the insider is right about somebody in a cell exactly when the rule forbids its total."""
    people = [pair[0] for pair in pairs]
    found = assess_magnitude(Study(release(people, people)), Context())
    rule = dominance(pl.DataFrame(people, schema=SCHEMA, orient="row"), quasi=["town", "branch"], magnitude="sales")
    inside = [pair[0] for pair in naive.amount_guesses(people, people, [0, 1], 2, P, SHARE)]
    cells = {row[:2] for row, close in zip(people, inside, strict=True) if close}
    unsafe = {key for key, flag in zip(rule.classes.columns.rows(), rule.estimable.tolist(), strict=True) if flag}
    assert cells == unsafe
    assert found.observations[0].estimate.hits == pytest.approx(sum(inside))


def test_one_amount_that_is_given_away_is_enough():
    """Nothing true is published of sales; of staff a total of 80, and 40 of it are one's own."""
    names = ["sales", "staff"]
    table = pl.DataFrame({"town": ["a", "a", "b", "b"], "sales": [1.0, 500.0, 7.0, 900.0], "staff": [40.0] * 4})
    masked = table.with_columns(sales=90.0)
    both = Release(table, masked, quasi=["town"], confidential=names, kinds=dict.fromkeys(names, "numeric"))
    found = assess_magnitude(Study(both), Context())
    assert found.observations[0].estimate.hits == 4 and found.per_record.tolist() == [1.0] * 4


def test_chance_is_how_often_the_guess_would_fit_anybody():
    """Cell a: 100 and 1. Each finds the other; 100 fits one of four people, and so does 1. Nothing is guessed of 0."""
    people = [("a", "x", 100.0), ("a", "x", 1.0), ("b", "x", 0.0), ("b", "y", 7.0)]
    found = assess_magnitude(Study(release(people, people)), Context())
    inside, outside = (o.estimate for o in found.observations)
    assert (inside.hits, outside.hits) == (3, 2)  # the outsider sees 101 and 7
    assert inside.chance == pytest.approx((1 / 4 + 1 / 4 + 0 + 1 / 4) / 4)
    assert outside.chance == pytest.approx((1 / 4 + 1 / 4 + 0 + 1 / 4) / 4)  # 101 is taken for both people of cell a


def test_noise_on_amounts_protects():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"town": rng.integers(0, 60, 200).astype(str), "sales": rng.lognormal(3, 1.5, 200)})
    masked = table.with_columns(pl.col("sales") * rng.uniform(0.2, 5.0, 200))
    plain, noisy = (
        assess_magnitude(Study(Release(table, other, quasi=["town"], confidential=["sales"])), Context())
        for other in (table, masked)
    )
    assert plain.observations[0].estimate.low > noisy.observations[0].estimate.high


def test_does_not_apply_without_amounts():
    table = pl.DataFrame({"town": ["a", "b"] * 10, "ill": ["x", "y"] * 10})
    found = assess(Release(table, table, confidential=["ill"]), only=["magnitude", "uniqueness"])
    assert {f.measure: f.outcome for f in found.findings}["magnitude"] == "does not apply"


def test_the_report_tells_the_rules(tmp_path):
    people = [("a", "x", 100.0), ("a", "x", 50.0), ("a", "x", 9.0), ("b", "y", 5.0), ("b", "y", 5.0), ("b", "y", 5.0)]
    found = assess(release(people, people), only=["magnitude"])
    assert {f.key for f in found.findings} == {"magnitude.estimable", "magnitude.dominated"}
    assert found.records["magnitude"].to_list() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]  # 159 - 50 is 109, 9 % above 100
    found.write_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "sales: cells that fail the p % rule" in page
    assert "largest contributor" in page


def test_selfcheck():
    checks = selfcheck(only=["magnitude"], size=150)
    assert all(check.passed for check in checks)
    assert {check.table for check in checks if check.chance is not None} == {"mixed", "surveyed"}


def test_who_is_not_in_the_release_is_no_contributor():
    """The largest amount of the original was not released: it is not in the total, and nobody takes it away."""
    original = pl.DataFrame({"i": [1, 2, 3, 4], "town": ["a"] * 4, "sales": [1000.0, 100.0, 50.0, 1.0]})
    one = Release(original, original[1:], id="i", quasi=["town"], confidential=["sales"], kinds={"sales": "numeric"})
    found = assess_magnitude(Study(one), Context())
    assert found.observations[0].estimate.hits == pytest.approx(2)  # 151 - 50 = 101 for 100, 151 - 100 = 51 for 50
    assert found.per_record.tolist()[1:] == [1.0, 1.0, 0.0]
