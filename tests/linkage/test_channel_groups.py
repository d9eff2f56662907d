"""The channel of numbers taken within groups, of lists and of notes with the words of a form."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release
from unmask.linkage.channel import link_channel
from unmask.linkage.channel.alike import Shared, shared
from unmask.linkage.channel.columns import read_column
from unmask.linkage.channel.features import WITHIN, within
from unmask.linkage.channel.gather import gather
from unmask.linkage.channel.lenses import kin
from unmask.linkage.channel.pieces import pieces_of
from unmask.linkage.channel.propose import within_groups


def release_of(original, released, seed=0):
    """Number the people and mix the rows of the release."""
    order = np.random.default_rng(seed).permutation(original.height)
    ids = pl.Series("id", np.arange(original.height))
    return Release(original.with_columns(ids), released.with_columns(ids)[order], id="id")


def naive_within(values, groups, form):
    """The same, person by person."""
    found = []
    for value, group in zip(values, groups, strict=True):
        members = [v for v, g in zip(values, groups, strict=True) if g == group and v is not None]
        if form in {"largest", "smallest", "total"}:  # a group has it also for who says nothing
            found.append({"largest": max, "smallest": min, "total": sum}[form](members))
            continue
        if value is None:
            found.append(np.nan)
            continue
        mean = sum(members) / len(members)
        spread = (sum((v - mean) ** 2 for v in members) / len(members)) ** 0.5
        found.append(
            {
                "score": (value - mean) / (spread or 1.0),
                "gap": value - mean,
                "ratio": value / mean if mean else np.nan,
                "rank": 1 + sum(v < value for v in members),
            }[form]
        )
    return found


@pytest.mark.parametrize("form", WITHIN)
def test_numbers_within_a_group(form):
    values = [3.0, 1.0, None, 5.0, 7.5, -2.0, 4.0, 9.0]
    groups = ["a", "b", "a", "a", "b", None, "a", "b"]
    feature = within(read_column(pl.Series("x", values)), read_column(pl.Series("g", groups)), form)
    assert feature.values == pytest.approx(naive_within(values, groups, form), nan_ok=True)
    assert "`x`" in feature.words and "`g`" in feature.words


def in_groups(n, seed, write):
    """Pay and hours that differ by job, written within the job; a column of noise."""
    rng = np.random.default_rng(seed)
    job = rng.choice(list("ABCDE"), n)
    middle, spread = rng.normal(50, 30, (5, 3)), rng.uniform(2, 25, (5, 3))
    code = np.searchsorted(list("ABCDE"), job)
    x = rng.normal(middle[code], spread[code]).round(2)
    names = ["pay", "hours", "debt"]
    original = pl.DataFrame({"job": job, **{c: x[:, k] for k, c in enumerate(names)}})
    released = pl.DataFrame({f"n{k}": write(pl.Series(x[:, k]), original["job"]) for k in range(3)})
    return release_of(original, released, seed)


def scores(values, job):
    table = pl.DataFrame({"v": values, "job": job})
    return table.select(((pl.col("v") - pl.col("v").mean()) / pl.col("v").std()).over("job").round(2)).to_series()


def ranks(values, job):
    return pl.DataFrame({"v": values, "job": job}).select(pl.col("v").rank("ordinal").over("job")).to_series()


@pytest.mark.parametrize(("write", "word"), [(scores, "score"), (ranks, "rank")])
def test_numbers_taken_within_groups_are_found(write, word):
    linkage = link_channel(in_groups(160, 0, write), curve=False)
    assert linkage.found.value > 0.95
    assert any(f"the {word} of `pay` within `job`" in told.words for told in linkage.columns)


def test_groups_are_not_tried_where_a_number_itself_goes_as_closely():
    release = in_groups(160, 0, lambda values, _: values.round(0))
    material = gather(release, 0).material
    assert all(not within_groups(material, k, np.arange(160)) for k in range(3))


# --- lists and notes --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_list_of_some_of_what_several_columns_hold():
    rng = np.random.default_rng(0)
    codes = [f"{a}{b:02d}" for a in "ABCD" for b in range(15)]
    rows = [rng.choice(codes, 4, replace=False).tolist() for _ in range(160)]
    original = pl.DataFrame({f"d{k}": [row[k] for row in rows] for k in range(4)})
    listed = [", ".join(sorted(rng.permutation(row)[: rng.integers(2, 5)].tolist())) for row in rows]
    release = release_of(original, pl.DataFrame({"list": listed}))
    material = gather(release, 0).material
    assert shared(material, 0, np.arange(160)) == [Shared(0, (0, 1, 2, 3))]
    # of two or three codes some people have the same: what an intruder finds who looks them up
    lists = [set(text.split(", ")) for text in listed]
    fitting = [[len(entry - set(row)) == 0 for entry in lists] for row in rows]
    longest = [[fits * len(lists[j]) for j, fits in enumerate(row)] for row in fitting]
    looked_up = np.mean([(row[i] == max(row)) / row.count(max(row)) for i, row in enumerate(longest)])
    assert link_channel(release, curve=False).found.value > 0.9 * looked_up


def test_no_words_are_shared_by_chance():
    rng = np.random.default_rng(0)
    original = pl.DataFrame({f"d{k}": rng.choice(list("abcdefgh"), 200) for k in range(3)})
    released = pl.DataFrame({"list": [" ".join(rng.choice(list("abcdefgh"), 3)) for _ in range(200)]})
    assert shared(gather(release_of(original, released), 0).material, 0, np.arange(200)) == []


def test_the_words_of_a_form_are_no_pieces():
    texts = ["A man of 34 years in Ulm, seen twice, did not pay", "A woman of 71 years in Bonn, seen once, did not pay"]
    pieces = pieces_of(read_column(pl.Series("note", [*texts, texts[0].replace("34", "35")])))
    assert [set(piece.words) for piece in pieces] == [
        {"man", "woman"}, {"34", "71", "35"}, {"Ulm", "Bonn"}, {"twice", "once"},
    ]  # fmt: skip


# --- values of one household ------------------------------------------------------------------------------------------


def mixed_in_households(households, seed):
    """Every column is mixed by itself among the people of a household; no household is published."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(households), rng.integers(3, 6, households))
    x = rng.normal(100, 20, (home.size, 4)).round(1)
    y = x.copy()
    for k in range(households):
        members = np.flatnonzero(home == k)
        for j in range(4):
            y[members, j] = x[rng.permutation(members), j]
    names = [f"v{j}" for j in range(4)]
    return release_of(
        pl.DataFrame(x, schema=names).with_columns(pl.Series("home", home)), pl.DataFrame(y, schema=names)
    )


def test_in_how_many_columns_a_record_has_values_of_a_household():
    release = mixed_in_households(12, 0)
    material = gather(release, 0).material
    (recipe,) = kin(material)
    n = material.n_people
    count = recipe.fit(material, np.arange(n)).count(np.arange(n)[:, None], np.arange(n)[None, :])
    home = material.people[recipe.household].code
    x, y = (np.column_stack([side[k].number for k in places]) for side, places in (
        (material.people, [a for a, _ in recipe.columns]), (material.records, [b for _, b in recipe.columns]),
    ))  # fmt: skip
    slow = [[sum(y[j, k] in x[home == home[i], k] for k in range(4)) for j in range(n)] for i in range(n)]
    assert count.tolist() == slow
    assert (count[np.arange(n), material.truth] == 4).all()


def test_people_are_looked_for_among_the_records_of_their_household():
    """Three to five candidates in place of 240 records, and cells that stayed tell which: more than one in four."""
    linkage = link_channel(mixed_in_households(60, 1), curve=False)
    assert linkage.found.value > 0.25
    assert any("from people with the same `home`" in told.words for told in linkage.columns)


def test_a_household_is_a_column_that_a_few_people_share():
    table = {f"v{j}": np.arange(60.0) for j in range(2)}
    more = {"pairs": np.arange(60) // 2, "all": np.zeros(60), "own": np.arange(60) * 7, "many": np.arange(60) // 20}
    material = gather(release_of(pl.DataFrame(table | more), pl.DataFrame(table)), 0).material
    assert [material.people[lens.household].name for lens in kin(material)] == ["pairs"]
