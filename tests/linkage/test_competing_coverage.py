"""What some people say of all who compete for records: over draws, the interval holds what all at once find.

The files hold all people, lack some, hold records of nobody, or both; values are coarse, whole or fine.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.evidence import Context
from unmask.linkage.channel import link_channel
from unmask.linkage.likelihood import link_likelihood
from unmask.linkage.one_to_one import assess_all, assess_some
from unmask.sampling import people_by_hash
from unmask.study import Study

SHARES = [(0.0, 0.0), (0.4, 0.0), (0.0, 0.4), (0.25, 0.25)]  # of people without a record, of records of nobody
DRAWS = 6


def coarse(n, rng):
    """Ten years of birth, a town, children, a height to 10 cm: many tie. A fifth have a child more in the release."""
    own = pl.DataFrame(
        {
            "born": rng.integers(0, 10, n) * 10.0,
            "town": rng.integers(0, 62, n).astype(str),
            "children": rng.poisson(1.5, n).astype(float),
            "height": np.round(rng.normal(170, 10, n) / 10) * 10,
        }
    )
    return own, own.with_columns(pl.col("children") + pl.Series((rng.random(n) < 0.2).astype(float)))


def fine(n, rng, sd=0.05, columns=3):
    own = rng.normal(size=(n, columns))
    names = list("abcdefgh")[:columns]
    return pl.DataFrame(own, schema=names), pl.DataFrame(own + rng.normal(0, sd, own.shape), schema=names)


def crowded(n, rng):
    """Next to nobody is found."""
    return fine(n, rng, 0.2)


def clear(n, rng):
    """Next to everybody is found one by one: who has no record then takes those of others, in long chains."""
    return fine(n, rng, 0.01)


def wide(n, rng):
    return fine(n, rng, 0.9, 8)


def whole(n, rng):
    own = rng.integers(0, 12, (n, 3))
    made = np.clip(own + rng.integers(-1, 2, own.shape), 0, 12)
    return tuple(pl.DataFrame(side * 1.5, schema=list("abc")) for side in (own, made))


def release(kind, n, absent, extra, seed):
    rng = np.random.default_rng(seed)
    own, made = (table.with_columns(id=pl.Series([f"p{k}" for k in range(n)])) for table in kind(n, rng))
    kept = made[: round(n * (1 - absent))].sample(fraction=1, shuffle=True, seed=seed)
    return unmask.Release(own[round(n * extra) :], kept, id="id")


def figures(evidence):
    return [one.estimate for one in evidence.observations]


def held(given, sizes, draws=DRAWS):
    """For each figure and draw: the interval of some people, and the value of all."""
    study = Study(given)
    exact = [one.value for one in figures(assess_all(study, Context(seed=0)))]
    return [
        list(
            zip(figures(assess_some(study, people_by_hash(given, size, seed), Context(seed=seed))), exact, strict=True)
        )
        for size in sizes
        for seed in range(draws)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [coarse, fine, crowded, clear, wide, whole])
def test_the_interval_of_some_people_holds_the_matching_of_all(kind):
    inside, above, width = [], [], []
    for at, (absent, extra) in enumerate(SHARES):
        found = held(release(kind, 4000, absent, extra, 200 + at), (500, 1500))
        inside.append(np.mean([[e.low <= v <= e.high for e, v in draw] for draw in found], axis=0))
        above.append(np.mean([[v <= e.high for e, v in draw] for draw in found], axis=0))
        width.append(np.mean([draw[0][0].high - draw[0][0].low for draw in found[DRAWS:]]))
    assert np.mean(inside, axis=0).min() >= 0.95  # of the rate and of people known
    assert np.mean(above, axis=0).min() >= 0.97
    assert np.min(inside) >= 0.7  # in no kind of files is it missed as a rule
    assert np.mean(width) < 0.2  # and that of 1,500 people says something


@pytest.mark.slow
def test_the_rate_of_few_people_is_neither_too_high_nor_too_low_over_tables():
    """Who gains among 400 gains less among 4,000: in the mean that is foreseen."""
    drawn = [
        held(release(kind, 4000, 0.0, 0.0, seed), (400,), 2)
        for kind in (coarse, fine, crowded, clear, wide, whole)
        for seed in (1, 2)
    ]
    errors = np.array([found.value - exact for table in drawn for (found, exact), _ in table])
    assert abs(errors.mean()) < 0.01
    assert np.sqrt((errors**2).mean()) < 0.035


@pytest.mark.slow
@pytest.mark.parametrize(("absent", "extra"), SHARES)
def test_so_it_does_in_a_larger_table(absent, extra):
    (rates, known) = zip(*held(release(coarse, 20_000, absent, extra, 5), (2000, 8000), 4), strict=True)
    for found in (rates, known):
        assert np.mean([e.low <= v <= e.high for e, v in found]) >= 0.85  # at most one of eight
    assert np.mean([abs(e.value - v) for e, v in rates[4:]]) < 0.04  # 8,000 asked for


@pytest.mark.slow
@pytest.mark.parametrize("absent", [0.4, 0.0])
def test_who_learns_the_channel_is_no_surer_of_some_people_than_of_all(absent):
    given = release(coarse, 4000, absent, 0.0, 3)
    everybody = link_channel(given, curve=False)
    for seed in range(4):
        some = link_channel(given, people=people_by_hash(given, 1500, seed), curve=False)
        assert some.known.low <= everybody.known.value <= some.known.high
        assert some.found.low <= everybody.found.value <= some.found.high


@pytest.mark.slow
def test_a_learnt_noise_lets_people_without_a_record_compete():
    given = release(wide, 2000, 0.4, 0.0, 4)
    exact = link_likelihood(given)
    for seed in range(4):
        some = link_likelihood(given, people=people_by_hash(given, 700, seed))
        assert some.estimate.low <= exact.estimate.value <= some.estimate.high
        assert some.known().low <= exact.known().value <= some.known().high
