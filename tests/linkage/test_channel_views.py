"""What a row says besides its cells, and what rows say that are published together."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import Release
from unmask.evidence.measure import Context
from unmask.linkage.channel import link_channel
from unmask.linkage.channel.columns import read_column
from unmask.linkage.channel.groups import Groups, as_groups, find_groups, pair_groups
from unmask.linkage.channel.lines import opposite
from unmask.linkage.channel.measure import assess_channel
from unmask.linkage.channel.views import digits, in_order, row_figures, within_groups, words_of_rows
from unmask.study.study import as_study

N = 120


def publish(x, y, rng, decimals=2, **more):
    """Both tables with an id, the release in another order; ``more``: further columns of both."""
    names = [f"v{j}" for j in range(x.shape[1])]
    ids, order = np.arange(len(x)), rng.permutation(len(x))
    frames = []
    for side, values in enumerate((x, y)):
        cells = {name: np.round(values[:, j], decimals) for j, name in enumerate(names)}
        frames.append(pl.DataFrame({"id": ids, **cells, **{c: v[side] for c, v in more.items()}}, nan_to_null=True))
    return frames[0], frames[1][order]


def found(frames, **roles):
    return link_channel(Release(*frames, id="id", **roles), curve=False).found.value


# --- views of a row ---------------------------------------------------------------------------------------------------


def columns(**cells):
    return [read_column(pl.Series(name, values)) for name, values in cells.items()]


def test_views_of_two_rows_by_hand():
    table = columns(a=[3.0, None], b=[1.0, 20.0], c=[2.25, 0.0])
    assert [c.number.tolist()[0] for c in in_order(table)] == [1.0, 2.25, 3.0]
    assert [c.number.tolist()[1] for c in in_order(table)][:2] == [0.0, 20.0]
    figures = {c.name: c.number.tolist() for c in row_figures(table)}
    assert figures["total"] == [6.25, 20.0]
    assert figures["empty cells"] == [0.0, 1.0]
    assert figures["zeros"] == [0.0, 1.0]
    wide = columns(a=["3", "1200", "0.25", "1.5"])
    (written,) = digits(wide)
    assert [written.words[k] for k in written.code] == ["+0", "-2", "+2", "+1"]
    least, rank = within_groups(columns(a=[5.0, 7.0, 1.0]), np.array([0, 0, 1]))
    assert least.number.tolist() == [0.0, 2.0, 0.0]
    assert rank.number.tolist() == [1.0, 2.0, 1.0]


@pytest.mark.slow
def test_numbers_of_a_row_in_another_order():
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(120, 18, (N, 6)))
    y = rng.permuted(x, axis=1) + rng.integers(-2, 3, x.shape)
    release = Release(*publish(x, y, rng, 0), id="id")
    evidence = assess_channel(as_study(release), Context(0))
    assert evidence.observations[0].estimate.value > 0.95
    assert any("whatever order" in note for note in evidence.notes)
    assert set(evidence.compared) == {f"v{j}" for j in range(6)}


@pytest.mark.slow
def test_numbers_that_were_sorted_in_every_row():
    """In the release no row strays from the usual order: the original's do."""
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(100, 25, (150, 6)), 1)
    original, released = publish(x, np.sort(np.round(x / 10) * 10, axis=1), rng, 0)
    released = released.rename({f"v{j}": f"smallest {j}" for j in range(6)})
    found = link_channel(Release(original, released, id="id"), curve=False)
    assert found.found.value > 0.85


@pytest.mark.slow
def test_decimals_that_each_cell_keeps():
    rng = np.random.default_rng(4)
    ten = 10.0 ** rng.integers(0, 3, (N, 10))
    x = rng.normal(50, 10, ten.shape)
    y = x + rng.normal(0, 20, ten.shape)
    assert found(publish(np.round(x * ten) / ten, np.round(y * ten) / ten, rng)) > 0.7


def test_views_add_nothing_where_nothing_is_kept():
    rng = np.random.default_rng(5)
    x = np.round(np.exp(rng.normal(7, 1, (N, 6))), 2)
    assert found(publish(x, rng.permuted(x, axis=0), rng)) < 0.05


# --- groups -----------------------------------------------------------------------------------------------------------


def homes(rng, count=36):
    """People in homes of two to five with noisy ages and redrawn jobs; another number of the home in the release."""
    home = np.repeat(np.arange(count), rng.integers(2, 6, count))
    x = np.column_stack([rng.integers(0, 90, home.size), rng.integers(0, 9, home.size)]).astype(float)
    y = np.column_stack([x[:, 0] + np.round(rng.normal(0, 5, home.size)), x[:, 1]])
    redrawn = rng.random(home.size) < 0.3
    y[redrawn, 1] = rng.integers(0, 9, int(redrawn.sum()))
    return x, y, (home, rng.permutation(count)[home] + 1000)


@pytest.mark.parametrize("roles", [{}, {"household": "home"}])
def test_who_is_published_together_is_found_together(roles):
    rng = np.random.default_rng(6)
    x, y, home = homes(rng)
    assert found(publish(x, y, rng, 0, home=home), **roles) > 0.8  # each by themselves: fewer than a third


def test_dates_of_a_person_moved_by_an_offset_of_their_own():
    rng = np.random.default_rng(7)
    who = np.repeat(np.arange(40), rng.integers(3, 7, 40))
    day = rng.integers(0, 900, who.size)
    moved = day + rng.integers(-700, 701, 40)[who]
    ward = rng.integers(0, 4, who.size)
    frames = publish(
        np.column_stack([day, ward]), np.column_stack([moved, ward]), rng, 0, patient=(who, rng.permutation(40)[who])
    )
    assert found(frames, household="patient") > 0.95


def test_groups_may_stand_in_any_order():
    rng = np.random.default_rng(8)
    x, y, home = homes(rng, 16)
    frames = publish(x, y, rng, 0, home=home)
    again = tuple(frame[rng.permutation(frame.height)].select(reversed(frame.columns)) for frame in frames)
    assert found(again) == found(frames)


def test_what_splits_people_otherwise_is_no_group():
    rng = np.random.default_rng(9)
    home = np.repeat(np.arange(40), 3)
    truth = np.arange(120)
    mark = np.arange(120, dtype=np.uint64) << np.uint64(40)
    same = columns(home=[f"h{k}" for k in home]), columns(other=[f"x{k}" for k in (home * 7) % 40])
    shuffled = same[0], columns(other=[f"x{k}" for k in rng.permutation(home)])
    assert find_groups(*same, truth, (mark, None)) is not None
    assert find_groups(*shuffled, truth, (mark, None)) is None


@given(
    st.lists(st.integers(1, 3), min_size=2, max_size=4),
    st.lists(st.integers(1, 3), min_size=2, max_size=4),
    st.integers(0, 1000),
)
@settings(max_examples=40, deadline=None)
def test_groups_are_scored_by_their_best_pairing(ours, theirs, seed):
    people, records = np.repeat(np.arange(len(ours)), ours), np.repeat(np.arange(len(theirs)), theirs)
    scores = np.random.default_rng(seed).normal(0, 3, (people.size, records.size))
    whole = pair_groups(scores, Groups(people, records))
    for a, b in itertools.product(range(len(ours)), range(len(theirs))):
        block = scores[np.ix_(people == a, records == b)]
        assert whole[a, b] == pytest.approx(_best_pairing(block))


def _best_pairing(block):
    if len(block) > block.shape[1]:
        block = block.T
    rows = np.arange(len(block))
    return max(block[rows, list(order)].sum() for order in itertools.permutations(range(block.shape[1]), len(block)))


@given(st.permutations(range(7)), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_posterior_of_groups_has_rows_that_sum_to_one(order, seed):
    people, records = np.array([0, 0, 1, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 1, 2, 2])[list(order)]
    scores = np.random.default_rng(seed).normal(0, 2, (7, 7))
    posterior = np.exp(as_groups(scores, Groups(people, records, 1.0, -1.0)))
    assert posterior.sum(1) == pytest.approx(np.ones(7), abs=0.05)


# --- records between two people ---------------------------------------------------------------------------------------


def test_a_record_between_a_person_and_another_tells_both():
    rng = np.random.default_rng(10)
    x = rng.normal(100, 20, (N, 8))
    y = 0.65 * x + 0.35 * x[rng.permutation(N)]
    assert found(publish(x, y, rng, 1)) > 0.9


def test_who_stands_opposite_by_all_pairs():
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    gap, share = opposite(x, y)
    for i, j in itertools.product(range(6), range(3)):
        one = x[i] - y[j]
        cosines = [one @ (z - y[j]) / np.linalg.norm(one) / np.linalg.norm(z - y[j]) for z in x]
        other = x[int(np.argmin(cosines))] - y[j]
        assert np.exp(gap[i, j]) == pytest.approx(1 + min(cosines), abs=1e-9)
        near = np.linalg.norm(one) / (np.linalg.norm(one) + np.linalg.norm(other))
        assert share[i, j] == pytest.approx(near)


def test_every_row_has_a_scale_of_its_own():
    """Readings as a + b x with a and b of each person: rows keep how their numbers stand to each other."""
    rng = np.random.default_rng(8)
    x = rng.normal(100, 20, (150, 7))
    y = rng.normal(0, 500, (150, 1)) + np.exp(rng.normal(0, 0.7, (150, 1))) * x
    assert found(publish(x, y, rng, decimals=0)) >= 0.95


# --- words of a row, in whatever columns ------------------------------------------------------------------------------


def answers(table):
    words = np.array(["never", "rarely", "often", "always", "mostly"])
    return pl.DataFrame({"id": np.arange(len(table)), **{f"q{k}": words[table[:, k]] for k in range(table.shape[1])}})


def test_words_in_whatever_column_they_stand():
    yes, no = "agree", "refuse"
    both = columns(a=[yes, no, None], b=[no, no, yes], c=[yes, yes, no], other=["up", "down", "off"])
    counts = {column.name: column.number.tolist() for column in words_of_rows(both)}
    assert counts == {"0 agree": [2, 1, 1], "0 refuse": [1, 2, 1]}
    rng = np.random.default_rng(1)
    x = rng.choice(5, (200, 9), p=[0.35, 0.3, 0.2, 0.1, 0.05])
    mixed = answers(rng.permuted(x, axis=1))[rng.permutation(200)]
    _, place, crowd = np.unique(np.sort(x, axis=1), axis=0, return_inverse=True, return_counts=True)
    assert found((answers(x), mixed)) >= 0.9 * (1 / crowd[place.ravel()]).mean() > 0.3
    elsewhere = answers(np.column_stack([rng.permutation(x[:, k]) for k in range(9)]))
    assert found((answers(x), elsewhere)) < 0.05
