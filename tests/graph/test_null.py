"""Chance: files that share nobody raise no more alarms than the level says, whatever the labels and the places."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numba import config
from scipy.stats import binom

from graph_files import link_graph
from unmask.datasets.places import people
from unmask.graph import Coordinates, NoiseTolerance
from unmask.graph.distances import between, read_place
from unmask.graph.geometry import one_map
from unmask.graph.null import places_may_be_dealt, same_label, strangers
from unmask.graph.problem import pose
from unmask.graph.tolerance import window

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="hundreds of people take minutes in plain Python")
LONLAT = Coordinates("lon", "lat")
WORK = {"exact": 20_000_000, "seeds": 20_000_000, "geometric": 3_000, "everybody": 2_000, "votes": 0}
PAIRS, LEVEL = 25, 0.05
# An attack of the right level raises more than this many alarms on 25 pairs in less than one of a hundred worlds
# (4: P(X > 4) = 0.007 for X binomial of 25 and 0.05). The same for all methods.
MOST = int(binom.ppf(0.99, PAIRS, LEVEL))


def pair(n, common, sigma, seed, urban=0.45):
    """Target with noise on its places, identification, and who is who."""
    rng = np.random.default_rng(seed)
    everyone = people(2 * n - common, rng, urban=urban)
    noise = rng.normal(0, sigma, size=(2, n))
    target = everyone[:n].with_columns(lon=pl.col("lon") + noise[0], lat=pl.col("lat") + noise[1])
    return target, everyone[n - common :], np.column_stack([np.arange(n - common, n), np.arange(common)])


def attack(target, identification, method, sigma, *, labels=("sex", "age"), seed=0):
    options = {"method": "geometric", "everybody": True} if method == "everybody" else {"method": method}
    return link_graph(
        (target, LONLAT), (identification, LONLAT), labels=labels, tolerance=NoiseTolerance(sigma), seed=seed,
        budget=WORK[method], **options,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "sigma"),
    [
        ("exact", 0.02),
        ("seeds", 0.02),
        ("geometric", 0.05),
        ("everybody", 0.1),
        ("votes", 0.1),
    ],
)
def test_disjoint_files_raise_no_more_alarms_than_the_level(method, sigma):
    """25 pairs of files of 300 people with nobody in common."""
    assert MOST == 4
    alarms = 0
    for seed in range(PAIRS):
        target, identification, _ = pair(300, 0, sigma, 100 + seed)
        alarms += attack(target, identification, method, sigma, seed=seed).found
    assert alarms <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("labels", [["sex"], []])
@pytest.mark.parametrize("method", ["exact", "seeds", "geometric", "everybody", "votes"])
def test_neighbours_of_one_town_are_no_alarm(method, labels):
    """Everybody lives in a town, labels are few or none: strangers are near each other, and are not the same."""
    alarms = 0
    for seed in range(PAIRS):
        target, identification, _ = pair(60, 0, 0.03, 400 + seed, urban=1.0)
        alarms += attack(target, identification, method, 0.03, labels=labels, seed=seed).found
    assert alarms <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("labels", [["sex"], []])
@pytest.mark.parametrize("method", ["exact", "seeds", "geometric", "everybody", "votes"])
def test_people_in_both_files_are_still_found_with_few_labels(method, labels):
    found = []
    for seed in range(5):
        target, identification, truth = pair(60, 60 if method in {"everybody", "votes"} else 40, 0.01, 500 + seed)
        linkage = attack(target, identification, method, 0.01, labels=labels, seed=seed)
        found.append(linkage.recall(truth))
    assert np.mean(found) > 0.5


def with_region(table):
    return table.with_columns(region=(pl.col("lon") / 3).floor() * 10 + (pl.col("lat") / 2).floor())


@pytest.mark.parametrize(
    "method", ["exact", "seeds", "geometric", "everybody", pytest.param("votes", marks=pytest.mark.slow)]
)
def test_labels_that_live_in_certain_places_are_no_alarm(method):
    """Where the region is a label, dealing places would send people to where nobody of their region lives."""
    alarms, found = 0, []
    for seed in range(PAIRS):
        target, identification, _ = pair(100, 0, 0.05, 600 + seed)
        files = with_region(target), with_region(identification)
        alarms += attack(*files, method, 0.05, labels=["sex", "region"], seed=seed).found
    assert alarms <= MOST
    for seed in range(3):
        target, identification, truth = pair(100, 60, 0.02, 700 + seed)
        target, identification = with_region(target), with_region(identification)
        region = pl.concat([target["region"][:40], identification["region"][:60]])  # is not masked
        target = target.with_columns(region=region)
        linkage = attack(target, identification, method, 0.02, labels=["sex", "region"], seed=seed)
        found.append(linkage.recall(truth))
    assert np.mean(found) > 0.4


def problem(labels, n=40, common=20):
    target, identification, truth = pair(n, common, 0.01, 3)
    one, two = read_place((target, LONLAT), labels, "t"), read_place((identification, LONLAT), labels, "i")
    return pose(one, two, window(two, 1.0), None), truth


def test_places_are_dealt_to_other_labels():
    """All places, all labels, and the target stay; only who lives where changes."""
    given, _ = problem(["sex", "age"])
    assert places_may_be_dealt(given)
    drawn = strangers(given, None, np.random.default_rng(0))
    assert sorted(drawn.order2.tolist()) == sorted(given.order2.tolist()) == list(range(40))
    assert drawn.order2.tolist() != given.order2.tolist()
    assert (drawn.target, drawn.identification) == (given.target, given.identification)
    assert (drawn.start2 == given.start2).all()


@pytest.mark.parametrize("known", ["places", "matrix"])
def test_without_labels_people_of_one_map_are_dealt_to_the_files(known):
    given, truth = problem([])
    if known == "matrix":
        target, identification, _ = pair(40, 20, 0.01, 3)
        points = [t.select("lon", "lat").to_numpy() for t in (target, identification)]
        files = [(t, between(p, p, "lonlat")) for t, p in zip((target, identification), points, strict=True)]
        one, two = (read_place(file, [], "file") for file in files)
        given = pose(one, two, window(two, 1.0), None)
    back1, back2 = np.argsort(given.order1), np.argsort(given.order2)
    rows, cols = back1[truth[:, 0]], back2[truth[:, 1]]
    spots, places = one_map(given, rows[:8], cols[:8])
    off = np.linalg.norm(spots[rows] - places[cols], axis=1)
    assert np.median(off) < 3.0  # kilometres: the noise is one
    assert not places_may_be_dealt(given)
    drawn = strangers(given, lambda: (spots, places), np.random.default_rng(0))
    before, after = np.vstack([spots, places]), np.vstack([drawn.target.points, drawn.identification.points])
    assert sorted(map(tuple, before.tolist())) == sorted(map(tuple, after.tolist()))
    side = {tuple(p): k for k, points in enumerate((drawn.target.points, drawn.identification.points)) for p in points}
    apart = sum(side[tuple(spots[i])] != side[tuple(places[j])] for i, j in zip(rows, cols, strict=True))
    assert 4 <= apart <= 16  # 20 before; half of them by chance


def test_labels_that_nobody_shares_are_not_tied_to_places():
    """Neighbours share labels more often than in every deal of them; never is not more often than never."""
    rng = np.random.default_rng(0)
    places = pl.DataFrame({"lon": rng.uniform(0, 1, 60), "lat": rng.uniform(0, 1, 60)})
    for label, dealt in (
        (np.arange(60), True),
        (rng.integers(0, 6, 60), True),
        ((places["lon"].to_numpy() * 6).astype(int), False),
    ):
        file = (places.with_columns(label=label), LONLAT)
        place = read_place(file, ["label"], "file")
        assert places_may_be_dealt(pose(place, place, window(place, 1.0), None)) == dealt


def test_people_are_dealt_within_their_labels():
    """Whoever a label's people are after the deal, they are the people of that label of both files."""
    given, _ = problem(["sex"], n=40)
    rng = np.random.default_rng(1)
    spots, places = rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    drawn = strangers(given, lambda: (spots, places), rng)
    moved = 0
    for label in range(len(given.start1) - 1):
        here, there = (given.label1 == label), (given.label2 == label)
        before = {tuple(p) for p in np.vstack([spots[here], places[there]]).tolist()}
        after = np.vstack([drawn.target.points[here], drawn.identification.points[there]]).tolist()
        assert {tuple(p) for p in after} == before
        moved += len({tuple(p) for p in after[: here.sum()]} & {tuple(p) for p in places[there].tolist()})
    assert 10 <= moved <= 30  # of 40: half by chance


def test_the_share_of_matching_labels_is_over_all_pairs():
    tables = [pl.DataFrame({"label": label, "x": np.arange(len(label)), "y": 0}) for label in ([0, 0, 1, 2], [0, 1, 3])]
    one, two = (read_place((table, Coordinates("x", "y", kind="planar")), ["label"], "file") for table in tables)
    assert same_label(pose(one, two, window(two, 1.0), None)) == 3 / 12
