"""Do paired rows belong together? The mistakes that people make, rebuilt on generated tables."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unmask
from checked_people import N, noisy, people, shuffled
from unmask.intake.pairing import check_pairing
from unmask.study import Study


def looked_at(original, released, **roles):
    return check_pairing(Study(unmask.Release(original, released, **roles)))


@pytest.mark.parametrize("sd", [0.0, 0.2, 1.0])
def test_rows_in_order_look_paired(sd):
    found = looked_at(people(), noisy(people(), sd))
    assert found.looks == "paired"
    assert found.by == "order"
    assert {"sex", "town"} <= set(found.related)
    assert "by their order" in found.words


@pytest.mark.parametrize("sd", [0.0, 0.2, 1.0])
def test_shuffled_rows_look_unpaired(sd):
    found = looked_at(people(), shuffled(noisy(people(), sd)))
    assert found.looks == "unpaired"
    assert found.related == ()


@pytest.mark.slow
def test_shuffled_rows_hardly_ever_look_paired():
    looks = [looked_at(people(k, 60), shuffled(noisy(people(k, 60)), k)).looks for k in range(40)]
    assert looks.count("paired") <= 1


def test_whole_rows_elsewhere_are_counted():
    found = looked_at(people(), shuffled(people()))
    assert found.equal < 0.05
    assert found.equal_elsewhere > 0.9
    assert "somebody else's row" in found.words


def test_an_id_that_numbers_shuffled_rows_anew_is_noticed():
    numbers = pl.Series("nr", np.arange(N))
    found = looked_at(people().with_columns(numbers), shuffled(people()).with_columns(numbers), id="nr")
    assert found.looks == "unpaired"


def test_sorted_by_the_same_column_is_noticed():
    found = looked_at(people().sort("age", "income"), shuffled(people()).sort("age", "sex", "town"))
    assert found.looks == "unpaired"


def test_an_id_is_believed_where_the_release_tells_nothing():
    numbers = pl.Series("nr", np.arange(N))
    found = looked_at(people().with_columns(numbers), people(seed=9).with_columns(numbers), id="nr")
    assert found.looks == "untested"


def test_a_column_that_could_be_an_id_is_told():
    numbers = pl.Series("nr", np.arange(N))
    found = looked_at(people().with_columns(numbers), shuffled(people().with_columns(numbers)))
    assert found.ids == ("nr",)
    assert "--id nr" in found.words


def test_few_rows_and_synthetic_rows_are_not_tested():
    assert looked_at(people()[:10], shuffled(people()[:10])).looks == "untested"
    assert looked_at(people(), people(4), synthetic=True).by == "none"


def test_large_crowds_do_not_look_moved():
    crowd = people().select("sex", pl.col("age") // 40)
    assert looked_at(crowd, crowd).looks == "paired"


def test_order_of_rows_and_columns_makes_no_difference():
    original, released = people(), noisy(people())
    order = np.random.default_rng(3).permutation(N)
    columns = ["town", "income", "sex", "age"]
    one, two = (
        looked_at(original, released),
        looked_at(original[order].select(columns), released[order].select(columns)),
    )
    assert (one.looks, set(one.related), one.equal) == (two.looks, set(two.related), two.equal)


def test_columns_under_other_names_are_looked_at():
    other = {name: f"x{k}" for k, name in enumerate(people().columns)}
    assert looked_at(people(), noisy(people()).rename(other)).looks == "paired"
    assert looked_at(people(), shuffled(noisy(people())).rename(other)).looks == "unpaired"


def test_few_people_are_enough_to_see_that_they_are_paired():
    looks = [looked_at(people(k, 30), noisy(people(k, 30), 0.7)).looks for k in range(20)]
    assert looks.count("paired") >= 19


def test_files_sorted_by_one_column_are_no_pairs():
    table = people(n=400)
    ordered = table.sort("age", "income")
    independent = people(seed=5, n=400).sort("age", "town")
    for released in (independent, shuffled(noisy(table, 0.1)).with_columns(table["age"].sort())):
        pairing = unmask.check(unmask.Release(ordered, released)).pairing
        assert pairing.looks == "unpaired"
        assert pairing.sorted_by == ("age",)
        assert "sorted by 'age'" in pairing.words


def test_sorted_files_that_belong_together_are_pairs():
    ordered = people(n=400).sort("age")
    masked = noisy(ordered, 0.3).with_columns(ordered["age"])
    assert unmask.check(unmask.Release(ordered, masked)).pairing.looks == "paired"
    assert unmask.check(unmask.Release(ordered, ordered)).pairing.looks == "paired"


@pytest.mark.parametrize("seed", range(6))
def test_shuffled_files_sorted_by_a_column_with_ties_are_no_pairs(seed):
    """One in five or so stands at their own row by the sorting alone, which is no sign that the others do."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "age": rng.integers(18, 90, 400),
            "income": np.exp(rng.normal(10, 0.6, 400)),
            "town": rng.choice(list("ABCD"), 400),
        }
    )
    noisy = table.with_columns(pl.col("income") * rng.normal(1, 0.05, 400))
    mixed = noisy.sample(fraction=1, shuffle=True, seed=seed).sort("age", maintain_order=True)
    wrong = unmask.check(unmask.Release(table.sort("age", maintain_order=True), mixed)).pairing
    assert (wrong.looks, wrong.sorted_by) == ("unpaired", ("age",))
    assert any("--id" in told.reason for told in unmask.check(unmask.Release(table.sort("age"), mixed)).findings)
    right = unmask.check(unmask.Release(*(one.sort("age", maintain_order=True) for one in (table, noisy)))).pairing
    assert right.looks == "paired"


def test_rows_in_the_order_of_the_original_are_told():
    """Who has the list of people in its usual order reads off whose row is whose, whatever was masked."""
    table = people().with_row_index("nr")

    def told(released):
        (note,) = [line for line in unmask.Release(table, released, id="nr").warnings if "only pairs" in line]
        return "in the order of the original" in note

    assert told(noisy(table, 1.0))
    assert told(noisy(table, 1.0).filter(pl.col("nr") % 3 == 0))
    assert not told(shuffled(noisy(table, 1.0)))
    assert not told(noisy(table, 1.0).head(10))
    own = pl.Series("rank", np.arange(table.height))
    assert not told(noisy(table, 1.0).with_columns(own))  # its own values tell the order
