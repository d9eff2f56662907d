from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask.errors import RoleError
from unmask.masking import Pram
from unmask.masking.pram import transition_matrix


def towns(n=40_000):
    return pl.DataFrame({"town": np.random.default_rng(0).choice(["A", "B", "C"], n, p=[0.7, 0.2, 0.1])})


@pytest.mark.parametrize("invariant", [False, True])
def test_rows_of_the_matrix_are_distributions(invariant):
    matrix = transition_matrix(np.array([7, 2, 1]), 0.3, invariant=invariant)
    assert matrix.sum(axis=1) == pytest.approx(1)
    assert (matrix >= 0).all()


def test_invariant_matrix_keeps_the_marginal():
    share = np.array([0.7, 0.2, 0.1])
    assert share @ transition_matrix(np.array([7, 2, 1]), 0.3, invariant=True) == pytest.approx(share)


@pytest.mark.parametrize("invariant", [False, True])
def test_draws_follow_the_matrix(invariant):
    before, after = towns()["town"], Pram(0.4, invariant=invariant).apply(towns(), 3)["town"]
    counts = np.array([int((before == town).sum()) for town in "ABC"])
    wanted = transition_matrix(counts, 0.4, invariant=invariant)
    for i, a in enumerate("ABC"):
        for j, b in enumerate("ABC"):
            assert ((before == a) & (after == b)).sum() / counts[i] == pytest.approx(wanted[i, j], abs=0.025)


def test_as_many_categories_as_records():
    table = pl.DataFrame({"kind": [f"n{i}" for i in range(50_000)]}, schema={"kind": pl.Categorical})
    assert (Pram(0.2).apply(table, 0)["kind"] != table["kind"]).mean() == pytest.approx(0.2, abs=0.01)


NAMES = [f"{first} {last}" for first in ("Anna", "Ben", "Eva") for last in ("Smith", "Rossi", "Kaya", "Dupont")]
REPEATED = {
    "surname": [NAMES[k % 12].split()[1] for k in range(60)],
    "customer": [f"{'ABCDEFGH'[k % 8]}{'aeiou'[k % 5]}n {NAMES[k % 12].split()[1]}" for k in range(120)],
    "contact": [f"p{k % 30}@clinic.org" for k in range(60)],
    "home": [f"Lindenstrasse {k % 20}" for k in range(60)],
    "remarks": [f"came on day {k % 40} with pain in the left knee, was sent home" for k in range(60)],
}


@pytest.mark.parametrize("column", REPEATED)
def test_names_are_refused_also_where_they_repeat(column):
    table = pl.DataFrame({column: REPEATED[column]})
    assert table[column].n_unique() < 0.9 * table.height
    with pytest.raises(RoleError, match=rf"names or free text, which pram does not protect.*\n?.*drop\(\[{column}\]\)"):
        Pram(0.5, columns=(column,)).apply(table)
    beside = table.with_columns(town=pl.Series(["A", "B", "C"] * (table.height // 3)))
    masked = Pram(0.5).apply(beside)  # columns that nobody named: names stay as they are, and `unmask mask` says so
    assert masked[column].equals(table[column])
    assert not masked["town"].equals(beside["town"])


def test_few_kinds_of_words_are_no_names():
    table = pl.DataFrame({"town": ["New York", "San Jose", "Oslo"] * 20, "ward": ["Ward A", "Ward B", "Ward C"] * 20})
    assert not Pram(0.9, columns=("town", "ward")).apply(table).equals(table)


def test_a_share_p_changes():
    changed = Pram(0.3).apply(towns(), 1)["town"] != towns()["town"]
    assert changed.mean() == pytest.approx(0.3, abs=0.01)


def test_invariant_pram_keeps_frequencies():
    before, after = towns()["town"], Pram(0.6, invariant=True).apply(towns(), 1)["town"]
    for town in "ABC":
        assert (after == town).mean() == pytest.approx((before == town).mean(), abs=0.01)
    assert (before != after).mean() == pytest.approx(0.6 * (1 - 0.54), abs=0.01)


def test_types_and_named_columns(people):
    table = people.with_columns(flag=pl.col("age") > 50, cat=pl.col("town").cast(pl.Categorical))
    masked = Pram(0.5).apply(table, 0)
    assert masked.schema == table.schema
    assert (masked["flag"] != table["flag"]).any()
    assert masked["age"].equals(table["age"])
    assert not Pram(0.5, columns=("age",)).apply(table, 0)["age"].equals(table["age"])
    with pytest.raises(RoleError, match="did you mean 'town'"):
        Pram(0.5, columns=("twon",)).apply(table)


def test_row_order_does_not_change_the_categories():
    table = pl.DataFrame({"a": ["x", "y", "x", None]})
    assert Pram(0).apply(table).equals(table)
    assert set(Pram(1).apply(table)["a"].drop_nulls()) == {"x", "y"}
