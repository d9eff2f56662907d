"""The channel of many columns: wide tables, few people who teach, labels that several columns decide."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from unmask import Release
from unmask.linkage.channel import link_channel, select
from unmask.linkage.channel.classes import Class, Graded, chances, classes
from unmask.linkage.channel.gather import gather
from unmask.linkage.channel.groups import Groups
from unmask.linkage.channel.joint import Joint, _shrinkage
from unmask.linkage.channel.posterior import information
from unmask.linkage.channel.predictors import single
from unmask.linkage.channel.propose import MOST_TARGETS, most_telling
from unmask.linkage.channel.select import learn
from unmask.linkage.channel.trial import Trial, error_of, gains, split
from unmask.linkage.channel.words import NOTHING

NOISE = {
    "normal": lambda rng, size: rng.normal(size=size),
    "laplace": lambda rng, size: rng.laplace(0, 0.5**0.5, size),
    "uniform": lambda rng, size: rng.uniform(-(3**0.5), 3**0.5, size),
}


def often(n, columns, draws, sd, seed, noise="normal"):
    """Each number is published several times under other names, with fresh noise; rows in another order."""
    rng = np.random.default_rng(seed)
    x = rng.normal(100, 15, (n, columns)).round(1)
    y = np.concatenate([x + 15 * sd * NOISE[noise](rng, x.shape) for _ in range(draws)], axis=1).round(1)
    order = rng.permutation(n)
    original = pl.DataFrame({"id": np.arange(n), **{f"x{j}": x[:, j] for j in range(columns)}})
    released = pl.DataFrame({"id": order, **{f"y{j:03d}": y[order, j] for j in range(columns * draws)}})
    return Release(original, released, id="id")


def test_records_of_known_people_are_scored_by_what_others_taught():
    release = often(60, 2, 2, 0.5, 0)
    material = gather(release, 0).material
    taught, asked = np.arange(0, 60, 2), np.arange(1, 60, 2)
    channel = learn(material, taught, 0)
    scores = channel.score_all(asked, material.n_records)
    assert channel.learnt
    assert sorted(np.concatenate([r for r, _ in channel.without()])) == sorted(material.truth[taught])
    for records, _ in channel.without():
        others = taught[~np.isin(material.truth[taught], records)]
        slow = sum(e.recipe.fit(material, others).log(asked[:, None], records[None, :]) for e in channel.learnt)
        assert np.allclose(scores[:, records], slow * channel.temperature)
    unknown = material.truth[asked]
    assert np.allclose(scores[:, unknown], channel.score(asked[:, None], unknown[None, :]))


def test_too_few_known_people_are_not_left_out():
    material = gather(often(60, 2, 2, 0.5, 0), 0).material
    assert learn(material, np.arange(20), 0).without() == ()


def test_people_who_are_all_published_together_are_not_left_out():
    """Nobody would be left to teach."""
    release = often(60, 2, 2, 0.5, 0)
    material = replace(gather(release, 0).material, groups=Groups(np.arange(60) // 40, np.arange(60) // 40))
    assert learn(material, np.arange(40), 0).without() == ()


def test_of_many_columns_those_are_learnt_that_go_with_something():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    y = {f"y{j:02d}": rng.normal(size=100) for j in range(MOST_TARGETS)}
    table = pl.DataFrame({"id": np.arange(100), **y, "z": x + rng.normal(size=100), "word": ["a", "b"] * 50})
    material = gather(Release(pl.DataFrame({"id": np.arange(100), "x": x}), table, id="id"), 0).material
    chosen = most_telling(material, range(len(material.records)), np.arange(100))
    assert len(chosen) == MOST_TARGETS
    assert {"z", "word"} <= {material.records[k].name for k in chosen}
    assert list(most_telling(material, [3, 1], np.arange(100))) == [3, 1]


def test_single_is_the_line_of_the_column_that_goes_with_it():
    x = np.random.default_rng(0).normal(size=(50, 3))
    x[:, 2] = 7.0
    assert np.allclose(single(x[:30], 3 - 2 * x[:30, 1], x), 3 - 2 * x[:, 1])


@pytest.mark.parametrize(("shared", "least", "most"), [(0.0, 1.0, 1.0), (2.0, 0.0, 0.3)])
def test_few_people_shrink_noise_of_its_own_wholly_and_shared_noise_hardly(shared, least, most):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(60, 40)) + shared * rng.normal(size=(60, 1))
    assert least <= _shrinkage((z - z.mean(0)) / z.std(0)) <= most


# --- among more people ------------------------------------------------------------------------------------------------


def test_held_out_people_compete_with_people_who_are_not_known():
    material = gather(often(50, 2, 2, 0.5, 0), 0).material
    taught = np.arange(0, 50, 2)
    trial = Trial(material, split(material, taught, 0))
    recipes = [Joint(((0, 0), (1, 1)), "value", "linear"), Joint(((0, 2), (1, 3)), "value", "same")]
    others, theirs = (np.setdiff1d(np.arange(50), side) for side in (taught, material.truth[taught]))
    slow = []
    for learners, asked in trial.parts:
        factors = [recipe.fit(material, learners) for recipe in recipes]
        people, records = [*asked, *others], [*material.truth[asked], *theirs]
        table = [[sum(float(f.log(np.array([i]), np.array([j]))[0]) for f in factors) for j in records] for i in people]
        slow += information(np.array(table))[: asked.size].tolist()
    # which of the others comes first is drawn, and makes no difference as long as all of them are in
    assert np.allclose(trial.gains_among_more(recipes), slow)
    assert np.allclose(trial.gains_among_more([]), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "columns", "draws", "sd", "noise"),
    [(200, 4, 18, 1.0, "laplace"), (150, 3, 40, 1.5, "normal"), (250, 4, 12, 1.2, "uniform")],
)
def test_noise_drawn_often_is_averaged_out(n, columns, draws, sd, noise):
    release = often(n, columns, draws, sd, 0, noise)
    x, y = (t.drop("id").to_numpy() for t in (release.original.sort("id"), release.released.sort("id")))
    means = y.reshape(n, draws, columns).mean(1)
    whole = cdist(x, means, "sqeuclidean")
    averaged = float((linear_sum_assignment(whole)[1] == np.arange(n)).mean())
    linkage = link_channel(release, curve=False)
    assert max(linkage.credit.mean(), linkage.matched.mean()) >= 0.95 * averaged


# --- labels that several columns decide -------------------------------------------------------------------------------


def people_and_classes(n, seed):
    """A class of age, income and sex together, and one that is the sex in other words; rows in another order."""
    rng = np.random.default_rng(seed)
    age, income, sex = rng.integers(18, 90, n), rng.normal(30, 9, n).round(), rng.choice(["m", "f"], n)
    risk = np.where((age > 50) ^ (income > 30), np.where(sex == "m", "A", "B"), np.where(age > 35, "C", "D"))
    order = rng.permutation(n)
    original = pl.DataFrame({"id": np.arange(n), "age": age, "income": income, "sex": sex})
    released = pl.DataFrame({"id": order, "risk": risk[order], "s": np.where(sex == "m", "1", "2")[order]})
    return Release(original, released, id="id")


@pytest.mark.slow
def test_a_class_of_several_columns_is_learnt():
    material = gather(people_and_classes(300, 0), 0).material
    taught, asked = np.arange(0, 300, 2), np.arange(1, 300, 2)
    target = [column.name for column in material.records].index("risk")
    factor = Class(target).fit(material, taught)
    told = factor.log(asked, material.truth[asked]).mean()
    assert told > 0.75 * np.log(4)  # four classes, about as many people in each
    mean = np.exp(factor.log(asked[:, None], np.arange(300)[None, :])).mean(1)
    assert np.allclose(mean, 1.0, atol=0.2)  # chances that sum to one, over the shares of the labels
    linkage = link_channel(people_and_classes(300, 0), curve=False)
    words = {told.column: told.words for told in linkage.columns}
    assert words["risk"] == "is a label for several columns together"
    assert words["s"] == "is a label for `sex`"


def test_sums_come_before_trees_and_neither_where_little_is_left_to_be_told():
    material = gather(people_and_classes(200, 0), 0).material
    assert classes(material, 0, 0.5) == [Graded(0, logs=False), Graded(0, logs=True), Class(0)]
    assert classes(material, 0, 1.35) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("label", [np.zeros(10, dtype=int), np.arange(10) % 7])
def test_chances_of_labels_that_too_few_have_are_those_of_all(label):
    x, share = np.arange(10.0)[:, None], np.arange(1.0, 8.0) / 28
    assert np.allclose(chances(x, label, x, share), share)


# --- in words ---------------------------------------------------------------------------------------------------------


def test_exact_copies_are_told_without_an_error():
    rng = np.random.default_rng(0)
    n = 200
    x = {"a": rng.normal(50, 9, n).round(1), "b": rng.normal(50, 9, n).round(1), "c": rng.integers(0, 9, n)}
    sex = rng.choice(["m", "f"], n)
    y = {"a": x["a"], "d": 3 - 2 * x["b"], "c": x["c"], "e": x["a"] + rng.normal(0, 9, n).round(1), "sex": sex}
    order = rng.permutation(n)
    original = pl.DataFrame({"id": np.arange(n), **x, "sex": sex})
    released = pl.DataFrame({"id": order, **{name: values[order] for name, values in y.items()}})
    linkage = link_channel(Release(original, released, id="id"), curve=False)
    words = {told.column: told.words for told in linkage.columns}
    assert {name: words[name] for name in ("a", "c", "d")} == {
        "a": "is `a`",
        "c": "is `c`",
        "d": "is a straight line of `b`",
    }
    assert words["sex"] in {"is `sex`", NOTHING}  # where a and b have told everybody apart, it adds nothing
    assert "error" in words["e"]


# --- a lens over a whole row ------------------------------------------------------------------------------------------


class Told:
    """A trial of one part, whose candidates come with their scores."""

    parts = ((None, np.arange(80)),)
    material = SimpleNamespace(groups=object())  # so that what held-out people gain is counted among themselves
    gains = staticmethod(gains)
    error = staticmethod(error_of)


def test_columns_come_before_a_lens_that_tells_more_than_any_but_less_than_all():
    rng = np.random.default_rng(12)
    ratio = [0.8 * (rng.normal(size=(80, 80)) + 0.8 * np.eye(80)) - 0.32 for _ in range(8)]
    lens = np.where(sum(ratio) > 0, 1.9, -1.9)  # what all columns say, yes or no: 0.87 for 0.13

    def candidate(place, table):
        gain = gains([table])
        return float(gain.mean()), error_of(gain), SimpleNamespace(target=place), [table]

    columns = [candidate(place, table) for place, table in enumerate(ratio)]
    wide = candidate(-1, lens)
    assert wide[0] > max(column[0] for column in columns)
    order = select._in_order(columns, [wide])
    assert order[0] is wide
    chosen, total = select._enter_all(Told(), columns, [wide])
    assert [entry.recipe.target for entry in chosen] == list(range(8))
    assert gains(total).mean() > gains(select._enter(Told(), order)[1]).mean()
    good = candidate(-1, sum(ratio))  # all that the columns say: nothing is gained without it
    assert select._enter_all(Told(), columns, [good])[0][0].recipe.target == -1
