"""Rounded and cut-off numbers are recognised, with the interval each stands for; noise and swaps are neither."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.study import Study
from unmask.tables.rounded import read_rounding

DRAW = np.random.default_rng(4)
KNOWN = DRAW.uniform(15, 40, 300).round(1)
WHOLE = np.random.default_rng(5).integers(0, 5000, 2000).astype(float)


def rule(known, made):
    return read_rounding(known, made, made)


def fits(known, made):
    found = rule(known, made)
    return (found.low <= known) & (known <= found.high)


@pytest.mark.parametrize("step", [0.5, 2.0, 10.0])
def test_rounding_is_recognised_with_its_step(step):
    made = np.round(KNOWN / step) * step
    assert rule(KNOWN, made).words == f"numbers are rounded to multiples of {step:g}"
    assert fits(KNOWN, made).all()


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_noise_is_no_rounding(scale):
    """Small numbers are nearly nothing beside a wide step, and no multiples of it."""
    known = KNOWN * scale
    assert rule(known, (known + DRAW.normal(0, 3 * scale, known.size)).round(4)) is None


def test_noise_swaps_and_words_for_numbers_are_no_rounding():
    for made in (
        np.round(WHOLE + np.random.default_rng(1).normal(0, 300, WHOLE.size)),
        np.round((WHOLE + np.random.default_rng(1).normal(0, 300, WHOLE.size)) / 100) * 100,
        np.random.default_rng(2).permutation(WHOLE),
        np.where(np.random.default_rng(3).random(WHOLE.size) < 0.1, WHOLE[::-1], WHOLE),
        np.sort(WHOLE)[WHOLE.argsort().argsort() // 100 * 100] * -1,  # bands, told by a number that is in none
    ):
        assert rule(WHOLE, made) is None


@pytest.mark.parametrize("step", [10.0, 0.5])
def test_a_number_that_is_off_the_grid_is_found_wherever_it_stands(step):
    """The first numbers are looked at before all; one beyond them decides as much."""
    known = np.random.default_rng(3).normal(0, 500, 3000)
    published = np.round(known / step) * step
    assert rule(known, published).words.endswith(f"{step:g}")
    published[-1] += 0.3 * step
    found = rule(known, published)
    assert found is None or not found.words.endswith(f"multiples of {step:g}")


WAYS = {
    "half to even": lambda known: np.round(known / 100) * 100,
    "half up": lambda known: np.floor(known / 100 + 0.5) * 100,
    "half down": lambda known: np.ceil(known / 100 - 0.5) * 100,
    "down": lambda known: np.floor(known / 100) * 100,
    "up": lambda known: np.ceil(known / 100) * 100,
    "middle": lambda known: np.floor(known / 100) * 100 + 50,
    "two digits": lambda known: np.array([float(f"{value:.1e}") for value in known]),
    "means of bands": lambda known: np.array([known[known // 700 == value // 700].mean() for value in known]),
    "top code": lambda known: np.minimum(known, 4000),
    "bottom and top": lambda known: np.clip(known, 500, 4000),
    "rounded and cut": lambda known: np.minimum(np.round(known / 250) * 250, 4000),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_person_has_the_interval_of_their_own_number_and_no_other(way):
    """Whoever knows the coding knows the released number: crowds are those of the released numbers."""
    made = WAYS[way](WHOLE)
    own = pl.DataFrame({"x": WHOLE, "id": np.arange(len(WHOLE)).astype(str)})
    release = unmask.Release(own, own.with_columns(x=pl.Series(made)), id="id", kinds={"x": "numeric"})
    match = Study(release).matcher.match()
    assert match.owns(release.truth).all()
    _, group, size = np.unique(made, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(match.crowd, size[group])


def test_who_may_have_been_rounded_up_or_down_matches_both():
    lot = np.random.default_rng(7).random(WHOLE.size)
    made = np.floor(WHOLE / 100 + lot) * 100
    own = pl.DataFrame({"x": WHOLE, "id": np.arange(len(WHOLE)).astype(str)})
    release = unmask.Release(own, own.with_columns(x=pl.Series(made)), id="id", kinds={"x": "numeric"})
    match = Study(release).matcher.match()
    assert match.owns(release.truth).all()
    naive = [(np.abs(made - value) < 100).sum() for value in WHOLE]
    np.testing.assert_array_equal(match.crowd, naive)


def test_a_few_numbers_that_were_replaced_hide_no_rule():
    replaced = np.random.default_rng(8).random(WHOLE.size) < 0.04
    made = np.where(replaced, WHOLE[::-1], WHOLE)
    cut = np.minimum(made, 4500)
    found = rule(WHOLE, cut)
    assert found.words == "the release has a top code: numbers beyond it are published as it"
    assert fits(WHOLE, cut)[~replaced].all()
    assert fits(WHOLE, np.round(made / 50) * 50)[~replaced].all()


def test_missing_numbers_and_very_few_people_have_no_rule():
    made = np.round(KNOWN)
    holes = np.where(np.arange(KNOWN.size) % 7 == 0, np.nan, KNOWN)
    found = read_rounding(holes, made, np.append(made, np.nan))
    assert found.words.endswith("multiples of 1") and np.isnan(found.low[-1])
    assert read_rounding(np.full(9, np.nan), made[:9], made[:9]) is None
    assert read_rounding(KNOWN[:4], made[:4], made[:4]) is None
    assert read_rounding(KNOWN, KNOWN, KNOWN) is None


@pytest.mark.parametrize("write", ["rounded down", "bands"])
def test_bands_and_rounded_numbers_make_the_same_groups(write):
    """A release of pay in thousands is the same, whether it says 12000 or 12000-12999: two people are alone in it."""
    draw = np.random.default_rng(11)
    pay = np.append(draw.integers(1000, 6000, 798), [90_500, 120_700])
    own = pl.DataFrame({"pay": pay, "town": draw.choice(["a", "b", "c"], 800), "id": np.arange(800).astype(str)})
    floor = pl.col("pay") // 1000 * 1000
    text = pl.format("{}-{}", floor, floor + 999)
    release = unmask.Release(own, own.with_columns(floor if write == "rounded down" else text.alias("pay")), id="id")
    found = unmask.assess(release, policy="partner", only=["uniqueness", "anonymity"], utility="none")
    estimates = {finding.key: finding.estimate for finding in found.findings}
    assert estimates["anonymity.small"].value * 800 == pytest.approx(2)
    assert found.verdict == "unsafe"
