"""How far people stand apart: every pair of people compared, by the definition."""

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.people import isolation as module
from unmask.people.isolation import isolation

RNG = np.random.default_rng(1)


def table(n=40):
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": RNG.normal(40, 10, n),
            "pay": [None if RNG.random() < 0.1 else value for value in RNG.normal(size=n).tolist()],
            "town": RNG.choice(["a", "b", "c"], n),
        },
        schema_overrides={"pay": pl.Float64},
    )


def naive(people):
    age = people["age"].to_numpy()
    age = (age - age.mean()) / age.std()
    pay = people["pay"].to_numpy()
    pay = np.nan_to_num((pay - np.nanmean(pay)) / np.nanstd(pay))
    town = people["town"].to_list()
    step = 2 / (1 - sum((town.count(t) / len(town)) ** 2 for t in set(town)))
    found = []
    for i in range(len(town)):
        others = sorted(
            np.sqrt((age[i] - age[k]) ** 2 + (pay[i] - pay[k]) ** 2 + step * (town[i] != town[k]))
            for k in range(len(town))
            if k != i
        )
        found.append([np.log(0.01 + others[0]), np.log(0.01 + others[4])])
    return np.array(found)


def test_equals_the_definition():
    people = table()
    assert isolation(unmask.Release(people, people, id="id")) == pytest.approx(naive(people))


def test_depends_on_the_original_alone_and_not_on_the_order_of_rows(monkeypatch):
    people = table()
    masked = unmask.parse_masking("noise(0.5)").apply(people, seed=1)
    monkeypatch.setattr(module, "PAIRS", 100)
    monkeypatch.setattr(module, "FEWEST", 20)
    whole = isolation(unmask.Release(people, people, id="id"))
    assert (isolation(unmask.Release(people, masked, id="id")) == whole).all()
    order = RNG.permutation(people.height)
    assert isolation(unmask.Release(people[order], masked, id="id")) == pytest.approx(whole[order])


def test_of_too_few_people_nothing_is_said():
    people = table(5)
    assert isolation(unmask.Release(people, people, id="id")).shape == (5, 0)
