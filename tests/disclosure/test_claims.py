"""An intruder who may keep silent: definitions written slowly, known answers, and a second tool."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from naive import claims as naive
from reference import second_tool
from unmask.disclosure.claims import (
    SHARES,
    Guesses,
    _tried,
    anonymity_loss,
    best_claims,
    best_share,
    claimed,
    claims,
    coefficient,
    commonest,
    loss,
    right_by_share,
)
from unmask.errors import ParameterError

PEOPLE = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.1, 0.5, 0.9, 1.0])), min_size=4, max_size=14
)


def guesses(pairs):
    right, sure = zip(*pairs, strict=True)
    return Guesses(np.array(right), np.array(sure))


def leak(n, share, seed, base=0.2, surer=0.5):
    """A share of the people is known for sure, the others are guessed; and as many outside."""
    draw = np.random.default_rng(seed)
    known = draw.random(n) < share
    inside = Guesses((known | (draw.random(n) < base)).astype(float), draw.random(n) + surer * known)
    return inside, Guesses((draw.random(n) < base).astype(float), draw.random(n))


@given(PEOPLE, st.sampled_from([0.1, 0.25, 0.5, 0.8, 1.0]))
def test_equally_sure_people_are_claimed_alike(pairs, share):
    told = guesses(pairs)
    wanted = [naive.weight(list(told.sure), place, share) for place in range(len(pairs))]
    assert claimed(told.sure, share) == pytest.approx(wanted)
    assert right_by_share(told, np.array([share]))[0] == pytest.approx(naive.rightly(*told, share))


@settings(max_examples=25, deadline=None)
@given(PEOPLE, PEOPLE, st.integers(0, 3), st.booleans())
def test_what_is_tried_is_chosen_on_the_other_half(mine, others, seed, same):
    others = (others * 14)[: len(mine)] if same else others
    inside, outside = guesses(mine), guesses(others)
    found = _tried(inside, outside, same=same, seed=seed, precision=0.9)
    wanted = naive.tried([list(s) for s in inside], [list(s) for s in outside], same=same, seed=seed)
    assert found[0] == pytest.approx(wanted[0]) and found[1] == pytest.approx(wanted[1])


@pytest.mark.parametrize("seed", range(3))
def test_the_share_that_gives_most_away(seed):
    inside, outside = leak(80, 0.3, seed, surer=2)
    assert best_share(inside, outside, 0.9) == naive.best_share(inside, outside) > 0


def test_a_leak_about_few_is_found_and_a_guess_is_not():
    """Eight in a hundred are known: a rate over everybody gains less than its limit of 9 %, sure claims 6 %."""
    inside, outside = leak(8000, 0.08, 1, surer=1)
    assert float(inside.right.mean() - outside.right.mean()) < 0.09
    found = claims(inside, outside, same=False, seed=1)
    assert 0.035 < found.given_away.low < 0.064 < found.given_away.high + 0.01
    assert found.share == pytest.approx(0.08, abs=0.02) and found.precision >= 0.9 and found.others < 0.4
    assert found.alc > 0.9
    none = claims(*leak(2000, 0.0, 1), same=False, seed=1)
    assert none.given_away.value == 0 and none.share == 0 and abs(none.alc) < 0.1


def test_the_precision_can_be_chosen():
    draw = np.random.default_rng(0)
    inside = Guesses((draw.random(1000) < 0.85).astype(float), draw.random(1000))
    outside = Guesses((draw.random(1000) < 0.3).astype(float), draw.random(1000))
    assert claims(inside, outside, same=False).given_away.value < 0.1  # a few of the surest, by luck
    assert claims(inside, outside, same=False, precision=0.8).given_away.value > 0.4
    for wrong in (0.3, 1.2):
        with pytest.raises(ParameterError, match="share of claims"):
            claims(inside, outside, same=False, precision=wrong)


def test_order_of_people_makes_no_difference():
    inside, outside = leak(300, 0.2, 4, surer=1)
    mixed = np.random.default_rng(0).permutation(300)
    again = Guesses(inside.right[mixed], inside.sure[mixed])
    assert claims(again, outside, same=False).given_away == claims(inside, outside, same=False).given_away


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize("base", [0.3, 0.93])
def test_harmless_claims_are_seldom_above(n, base):
    """People inside are guessed as well as those outside: the lower end is above 0 at most in one of twenty draws."""
    above = 0
    for seed in range(300):
        draw = np.random.default_rng([seed, n])
        sides = [Guesses((draw.random(n) < base).astype(float), draw.random(n)) for _ in range(2)]
        above += claims(*sides, same=False, seed=seed).given_away.low > 0
    assert above <= 15


def test_commonest_value():
    assert commonest(np.array([2.0, 1.0, 2.0, 1.0, 3.0]), None) == (1.0, 0.4)
    assert commonest(np.array([5.0, 1.0, 1.1]), 0.2) == (1.1, pytest.approx(2 / 3))


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.9), st.floats(0, 0.9))
def test_coefficients_by_their_formula(precision, recall, base, attack):
    assert coefficient(precision, recall) == pytest.approx(naive.prc(precision, recall), abs=6e-5)
    assert loss(base, attack) == pytest.approx(naive.alc(base, attack), abs=6e-5)
    assert coefficient(precision, 1.0) == pytest.approx(precision, abs=6e-5)


def test_too_few_people_have_no_coefficient():
    assert anonymity_loss(*leak(5, 0.5, 0)) is None


@pytest.mark.peers
def test_coefficients_of_the_second_tool():
    """`anonymity-loss-coefficient` finds the same, to its printed digits."""
    for seed, share in enumerate((0.2,)):
        inside, outside = leak(400, share, seed)
        theirs = second_tool("alc", np.column_stack(inside), np.column_stack(outside))
        for name, side in (("attack", inside), ("base", outside)):
            best = best_claims(side, 0.1)
            assert [best.n, best.precision, best.recall] == [theirs[f"{name}_{k}"] for k in ("n", "prec", "recall")]
            assert coefficient(best.precision, best.recall) == theirs[f"{name}_prc"]
        assert anonymity_loss(inside, outside) == theirs["alc"]


def people(seed, n):
    draw = np.random.default_rng(seed)
    known = {f"x{k}": draw.normal(size=n) for k in range(3)}
    return pl.DataFrame({**known, "secret": draw.choice(list("abcdefghij"), n)})


def test_a_leak_that_a_rate_over_everybody_calls_safe():
    """A synthesiser that remembers 8 % of the people."""
    n = 1600
    original, fresh = people(0, n), people(1, n)
    synthetic = pl.concat([original[: n * 8 // 100], fresh[n * 8 // 100 :]]).sample(fraction=1, shuffle=True, seed=1)
    release = unmask.Release(original, synthetic, control=people(2, n), synthetic=True, confidential=["secret"])
    found = {f.key: f for f in unmask.assess(release, only=["inference"], utility="none").findings}
    assert found["inference.excess"].outcome == "for" and found["inference.claimed"].outcome == "against"
    assert len(SHARES) == 100


def test_the_report_shows_the_curve():
    release = unmask.Release(
        people(0, 200), people(1, 200), control=people(2, 200), synthetic=True, confidential=["secret"]
    )
    entry = next(m for m in unmask.assess(release, only=["inference"], utility="none").document.measures)
    assert any("sure of" in figure.title and len(figure.series) == 2 for figure in entry.figures)
    assert {"secret: people claimed", "secret: ALC"} <= {fact.name for fact in entry.facts}
