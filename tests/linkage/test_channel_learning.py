"""Learning as others do: what those who know many people could use decides where those who know few look."""

import numpy as np
import polars as pl
import pytest

from unmask import Release, link_channel
from unmask.linkage.channel import propose, select
from unmask.linkage.channel.gather import gather
from unmask.linkage.channel.labels import Equal
from unmask.linkage.channel.numbers import Number
from unmask.linkage.channel.select import learn

N = 160


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(5)
    town, income, score = rng.integers(0, 12, N), rng.normal(50, 20, N).round(2), rng.normal(size=N)
    original = pl.DataFrame({"town": [chr(97 + t) * 3 for t in town], "income": income, "score": score})
    noisy = (income + rng.normal(0, 4, N)).round(2)
    released = pl.DataFrame(
        {"town": [chr(65 + t) * 3 for t in town], "income": noisy, "lot": rng.normal(size=N).round(3)}
    )
    return Release(original, released)


@pytest.fixture(scope="module")
def scene(release):
    return gather(release, 0)


def by_name(scene):
    return {column.name: place for place, column in enumerate(scene.material.records)}


def test_a_column_that_told_nothing_is_not_looked_at_again(scene, monkeypatch):
    whole = learn(scene.material, np.arange(N // 2), 0)
    place, asked = by_name(scene), []
    plain = propose.propose

    def watched(material, target, taught, **how):
        asked.append((target, how["decoded"], material.is_view))
        return plain(material, target, taught, **how)

    monkeypatch.setattr(select, "propose", watched)
    learn(scene.material, np.arange(30), 0, like=(whole,))
    plainly = {target: decoded for target, decoded, is_view in asked if not is_view}
    assert set(plainly) == {place["town"], place["income"]}
    assert plainly[place["town"]]  # a text may be one made into another
    assert not plainly[place["income"]]  # a number to all who learnt from many


def test_who_knows_few_people_finds_as_many_as_by_looking_everywhere(scene):
    """Of the columns that say something the same is learnt, whether or not the others are looked at."""
    whole = learn(scene.material, np.arange(N // 2), 0)
    place, people, records = by_name(scene), np.arange(N)[:, None], np.arange(N)[None, :]
    told = [learn(scene.material, np.arange(40), 0, like=like) for like in ((), (whole,))]
    assert {place["town"], place["income"]} <= set(told[1].by_column) | {e.recipe.target for e in told[1].learnt}
    own = [np.mean(c.score(people, records).argmax(1) == scene.material.truth) for c in told]
    assert own[1] >= own[0] - 0.05
    assert own[1] > 0.2


def test_texts_that_are_the_released_ones_of_all_need_no_other_recipe(scene):
    recipes = propose.propose(scene.material, by_name(scene)["town"], np.arange(N))
    assert recipes
    assert all(isinstance(recipe, Equal) for recipe in recipes)


def test_one_known_person_with_another_text_and_all_is_tried(release):
    """A single exception among known people, and tables and orders are proposed again."""
    released = release.released.with_columns(
        town=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("ZZZ")).otherwise(pl.col("town"))
    )
    changed = gather(Release(release.original, released), 0)
    recipes = propose.propose(changed.material, by_name(changed)["town"], np.arange(N))
    assert any(not isinstance(recipe, Equal | Number) for recipe in recipes)


def test_cells_that_are_missing_in_one_file_only_are_no_equal_texts(release):
    blank = pl.when(pl.int_range(pl.len()) < 9).then(None).otherwise(pl.col("town"))
    one, both = release.released.with_columns(town=blank), release.original.with_columns(town=blank)
    for original, same in ((release.original, False), (both, True)):
        changed = gather(Release(original, one), 0)
        recipes = propose.propose(changed.material, by_name(changed)["town"], np.arange(N))
        plain = [recipe for recipe in recipes if type(recipe).__name__ != "Pattern"]
        assert all(isinstance(recipe, Equal) for recipe in plain) is same


def test_equal_columns_tell_as_much_as_before(release):
    """Published as they are, and everybody who is alone with their values is found."""
    alone = release.original.is_unique().to_numpy()
    found = link_channel(Release(release.original, release.original), curve=False)
    assert found.credit[alone].all()
