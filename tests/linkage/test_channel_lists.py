"""Lists in a cell and columns of yes and no; what the people of one household have together."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release
from unmask.linkage.channel import link_channel
from unmask.linkage.channel.columns import read_column
from unmask.linkage.channel.features import has_item, items, within
from unmask.linkage.channel.material import Material

ILLS = ["angina", "asthma", "copd", "diabetes", "eczema", "gout", "migraine", "stroke", "ulcer"]


def attack(known, published):
    number = pl.Series("id", np.arange(known.height))
    released = published.select(number, pl.all()).sample(fraction=1.0, shuffle=True, seed=4)
    return link_channel(Release(known.select(number, pl.all()), released, id="id"), curve=False)


def crowd(table):
    return float(table.select(1 / pl.len().over(table.columns)).to_series().mean())


def both_forms(n, seed):
    ill = np.random.default_rng(seed).random((n, len(ILLS))) < 0.35
    lists = pl.DataFrame({"ills": ["; ".join(np.array(ILLS)[row]) or "none" for row in ill]})
    return lists, pl.DataFrame({name: ill[:, k] for k, name in enumerate(ILLS)})


def test_items_by_hand():
    column = read_column(pl.Series("ills", ["gout; asthma", "asthma", None, "gout;ulcer", "asthma, gout", "gout"] * 2))
    assert items(column) == ("asthma", "gout")  # ulcer stands in two cells only
    np.testing.assert_array_equal(has_item(column, "gout")[:6], [1, 0, np.nan, 1, 1, 1])


@pytest.mark.parametrize("texts", [["Smith, John", "Miller, Ann"], ["a", "b"], ["12/03/1961", "13/04/1962"], ["1,5"]])
def test_what_is_no_list(texts):
    names = [f"{text}{k}" if "S" in text or "M" in text else text for k, text in enumerate(texts * 90)]
    assert items(read_column(pl.Series("x", names))) == ()


def test_yes_and_no_as_a_list_and_a_list_as_yes_and_no():
    lists, flags = both_forms(160, 1)
    wanted = crowd(lists)
    assert attack(flags, lists).found.value >= 0.95 * wanted
    numbered = flags.select(pl.col(name).cast(pl.Int8).alias(f"f{k}") for k, name in enumerate(ILLS))
    assert attack(lists, numbered).found.value >= 0.95 * wanted


@pytest.mark.slow
def test_lists_of_strangers_are_chance():
    lists, flags = both_forms(160, 1)[0], both_forms(160, 2)[1]
    assert attack(flags, lists).found.value < 0.05
    assert attack(lists, flags.select(pl.all().cast(pl.Int8).name.prefix("f"))).found.value < 0.05


def test_what_a_household_has_together_by_hand():
    age, home = read_column(pl.Series("age", [40, 38, 5, 70])), read_column(pl.Series("home", ["a", "a", "a", "b"]))
    wanted = {"largest": [40, 40, 40, 70], "smallest": [5, 5, 5, 70], "total": [83, 83, 83, 70], "size": [3, 3, 3, 1]}
    for form, values in wanted.items():
        np.testing.assert_array_equal(within(age, home, form).values, values)


def test_a_sample_of_people_knows_the_whole_household():
    people = tuple(read_column(pl.Series(name, [3, 3, 3, 1])) for name in ("a", "b"))
    sample = Material(people, people, np.arange(4)).sample(np.array([0, 3]), np.array([0, 3]))
    np.testing.assert_array_equal(sample.feature((0, "size:1")).values, [3.0, 1.0])


def test_facts_about_the_household_without_its_number():
    rng = np.random.default_rng(3)
    home = np.repeat(np.arange(60), rng.integers(1, 6, 60))
    known = pl.DataFrame(
        {"home": home, "age": rng.integers(0, 90, home.size), "sex": rng.choice(["m", "f"], home.size)}
    )
    together = pl.col("age").max().over("home").alias("oldest"), pl.len().over("home").alias("members")
    made = known.select((pl.col("age") // 10 * 10).alias("decade"), "sex", *together)
    found = attack(known, made)
    assert found.found.value >= 0.95 * crowd(made)
    words = {told.column: told.words for told in found.columns}
    assert words["oldest"] == "is the largest `age` of those with the same `home`"
    assert words["members"] == "is the number of people with the same `home`"
