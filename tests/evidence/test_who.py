"""Four intruders: who knows more never finds less, and what somebody does not try is never safe because of that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import ParameterError
from unmask.evidence.crowds import Crowds, small_groups
from unmask.evidence.estimate import Estimate, rate, wilson
from unmask.evidence.finding import Absence, Evidence, Observation, Outside, Reported
from unmask.evidence.policy import Policy, Threshold, kind_of, of_single_people
from unmask.evidence.verdict import conclude, judge
from unmask.evidence.who import (
    INTRUDERS,
    _larger,
    as_intruder,
    attempted,
    best_of,
    closed_to,
    limits_for,
    seen_by,
    told_of,
)

N = 40
KEYS = {
    "nearest": ("nearest.rate", "nearest.known"),
    "uniqueness": ("uniqueness.average", "uniqueness.unique"),
    "graph": ("graph.rate",),
    "transparent": ("transparent.rate", "transparent.known"),
    "channel": ("channel.rate", "channel.known"),
    "learned": ("learned.rate",),
    "cells": ("cells.claimed", "cells.external"),
}


def told(measure, risk, sure=0.0, few=()):
    """What a measure would report of people with these risks, sure of some share of them."""
    values = (float(np.mean(risk)), sure)
    seen = [Observation(key, "Claim.", _count(v)) for key, v in zip(KEYS[measure], values, strict=False)]
    return Reported(measure, "T", "s", Evidence(tuple(seen), np.asarray(risk, float), with_few=few, compared=("a",)))


def _count(value):
    return Estimate(value, *wilson(value * N, N), N, 0.0, None, "bootstrap")


def population(outside):
    seen = (Observation("population.rate", "Claim.", _count(0.01)),)
    return Reported("population", "T", "s", Evidence(seen, np.zeros(N), outside=outside))


def others(expected, alone=0.0):
    """The same share of everybody's crowd in the release, known for sure."""
    return Outside(np.full((3, N), expected), (alone, alone, alone))


@st.composite
def reports(draw):
    """Any attacks on N people, with any knowledge of the people outside."""
    names = draw(st.lists(st.sampled_from(sorted(KEYS)), min_size=1, unique=True))
    risks = st.lists(st.floats(0, 1), min_size=N, max_size=N)
    found = [told(name, draw(risks), draw(st.floats(0, 1))) for name in names]
    if draw(st.booleans()):
        shares = np.sort([draw(risks) for _ in range(3)], axis=0)
        alone = tuple(sorted(draw(st.lists(st.floats(0, 1), min_size=3, max_size=3))))
        found.append(population(Outside(shares, alone)))
    return tuple(found)


@given(reports())
def test_a_better_informed_intruder_never_finds_less(reported):
    found = {who: best_of(reported, who) for who in INTRUDERS}
    average = {who: 0.0 if best is None else best.estimate.value for who, (best, _) in found.items()}
    upper = {who: 0.0 if best is None else best.estimate.high for who, (best, _) in found.items()}
    assert average["maximum"] >= average["prosecutor"] >= average["journalist"] - 1e-12
    assert average["marketer"] <= average["prosecutor"] + 1e-12
    assert upper["prosecutor"] >= upper["journalist"] - 1e-12
    worst = {who: largest or 0.0 for who, (_, largest) in found.items()}
    assert worst["maximum"] >= worst["prosecutor"] >= worst["journalist"]
    assert worst["marketer"] == 0.0


@given(reports())
def test_every_figure_of_a_worse_informed_intruder_is_at_most_the_same(reported):
    plain, less = ({e.measure: e.evidence for e in seen_by(reported, who)} for who in ("prosecutor", "journalist"))
    for name, evidence in less.items():
        if isinstance(evidence, Absence):
            continue
        for seen, before in zip(evidence.observations, plain[name].observations, strict=True):
            assert seen.estimate.low <= seen.estimate.value <= seen.estimate.high <= before.estimate.high + 1e-12
            assert seen.estimate.value <= before.estimate.value + 1e-12
            assert seen.estimate.low <= before.estimate.low + 1e-12
    assert seen_by(reported, "maximum") == tuple(reported)


@pytest.mark.parametrize("who", INTRUDERS)
def test_attacks_that_need_known_people_are_for_who_knows_them(who):
    reported = (told("nearest", [0.1] * N), told("channel", [0.9] * N, few=(_count(0.5),)))
    seen = {entry.measure: entry.evidence for entry in seen_by(reported, who)}
    assert isinstance(seen["channel"], Evidence) == (who == "maximum")
    best, _ = best_of(reported, who)
    assert best.estimate.value == pytest.approx(0.9 if who == "maximum" else 0.1)
    assert (closed_to("dictionary", who) is None) == (who == "maximum")
    assert closed_to("transparent", who) is None


@pytest.mark.parametrize(("largest", "wanted"), [(0.1, 0.003), (1.0, 0.03)])
def test_sure_claims_by_the_own_row_count_only_for_who_has_one(largest, wanted):
    """The largest share of a crowd counts: one person who may be alone outside leaves the figure as it is."""
    share = np.full((3, N), 0.01)
    share[1:, 0] = largest
    keys = ("cells.external", "cells.claimed")
    seen = tuple(Observation(key, "Claim.", Estimate(0.03, 0.02, 0.05, N, 0.0, None, "bootstrap")) for key in keys)
    reported = Reported("cells", "T", "s", Evidence(seen, np.full(N, 0.5)))
    (told_, _) = seen_by((reported, population(Outside(share, (0.0, 0.0, 0.0)))), "journalist")
    external, claimed = told_.evidence.observations
    assert external == seen[0] and kind_of("cells.claimed") == "sure"
    assert claimed.estimate.value == pytest.approx(wanted)
    assert claimed.estimate.high == pytest.approx(0.05 * largest) and claimed.estimate.low <= 0.02 * 0.01 + 1e-12
    assert "who have no row" in claimed.claim and told_.evidence.per_record[0] == 0.5
    (same, _) = seen_by((reported, population(Outside(share, (0.0, 0.0, 0.0)))), "prosecutor")
    assert same == reported


def test_people_outside_share_the_credit_one_by_one():
    """Of ten people who look like each found one, one is in the release: the claim is right once in ten times."""
    risk, share = np.zeros(N), np.full((3, N), 0.1)
    risk[:20], share[:, 5:20] = 1.0, 0.5  # five with a crowd of ten, fifteen with a crowd of two
    (seen, _) = seen_by((told("nearest", risk), population(Outside(share, (0.0, 0.0, 0.0)))), "journalist")
    estimate = seen.evidence.observations[0].estimate
    assert estimate.value == pytest.approx((5 * 0.1 + 15 * 0.5) / N)
    assert seen.evidence.per_record.tolist() == pytest.approx([0.1] * 5 + [0.5] * 15 + [0.0] * 20)
    assert "8.0 of 40" in seen.evidence.observations[0].claim
    assert seen.evidence.notes == ("among people known to be in the release: nearest.rate 50 %, nearest.known 0 %",)


def test_the_interval_covers_who_was_drawn():
    """People whose credits are shared unevenly: the interval of the shared mean holds the mean in 95 of 100 draws."""
    rng, inside = np.random.default_rng(4), 0
    for _ in range(200):
        risk = (rng.random(N) < 0.5).astype(float)
        share = np.where(rng.random(N) < 0.3, 1.0, 0.05)
        outside = Outside(np.tile(share, (3, 1)), (0.0, 0.0, 0.0))
        reported = Reported(
            "nearest", "T", "s", Evidence((Observation("nearest.rate", "C.", rate(risk, chance=0.0)),), risk)
        )
        (seen, _) = seen_by((reported, population(outside)), "journalist")
        estimate = seen.evidence.observations[0].estimate
        inside += estimate.low <= 0.5 * (0.3 + 0.7 * 0.05) <= estimate.high
    assert inside >= 186


def test_a_figure_that_is_known_for_sure_gets_no_larger_end():
    risk = np.full(N, 0.5)
    exact = Estimate(0.5, 0.5, 0.5, N, 0.0, None, "exact")
    sure = Reported("nearest", "T", "s", Evidence((Observation("nearest.rate", "Claim.", exact),), risk))
    (seen, _) = seen_by((sure, population(others(0.9))), "journalist")
    assert seen.evidence.observations[0].estimate.high == 0.5


def test_nobody_is_known_but_those_alone_in_the_population():
    sure = told("nearest", [1.0] * N, sure=0.5)
    (seen, _) = seen_by((sure, population(others(0.01, alone=0.09))), "journalist")
    known = seen.evidence.observations[1].estimate
    assert known.value == pytest.approx(0.1)  # 0.09 alone, and one claim in ten about two who look the same
    assert known.high == pytest.approx(0.1)
    (seen, _) = seen_by((sure, population(others(0.01, alone=0.9))), "journalist")
    assert seen.evidence.observations[1].estimate.value == 0.5


def test_somebody_who_may_be_alone_has_the_whole_risk():
    reported = (told("nearest", [1.0] * N), population(others(0.01, alone=0.0)))
    assert best_of(reported, "journalist")[1] == pytest.approx(0.01)
    one = others(0.01, alone=1 / N)
    one.share[2, 0] = 1.0
    assert best_of((reported[0], population(one)), "journalist")[1] == 1.0


def test_places_and_households_tell_more_than_looks():
    (seen, _) = seen_by((told("graph", [0.5] * N), population(others(0.01))), "journalist")
    assert seen.evidence.observations[0].estimate.value == 0.5


def test_without_a_word_about_the_population_everybody_counts_as_in():
    reported = (told("nearest", [0.5] * N),)
    assert best_of(reported, "journalist")[0].estimate == best_of(reported, "prosecutor")[0].estimate
    assert "`population` was left out" in told_of(reported, "journalist")[0]
    assert "nothing is known" in told_of((*reported, population(None)), "journalist")[0]
    assert told_of(reported, "prosecutor") == ()
    assert told_of((*reported, population(others(0.1))), "marketer") == ()


POLICY = Policy(
    "test",
    "",
    {key: Threshold(0.2, "why", "us") for keys in KEYS.values() for key in keys}
    | {"population.rate": Threshold(0.2, "why", "us")},
    {"paired": ("channel", "nearest")},
)


def verdict(reported, who, **more):
    return conclude(reported, POLICY, columns=("a",), intruder=who, **more).verdict


def test_the_marketer_is_judged_by_averages():
    reported = (told("nearest", [0.01] * N, sure=0.9),)
    assert verdict(reported, "prosecutor").word == "unsafe"
    assert verdict(reported, "marketer").word == "safe"
    limits = limits_for(POLICY, "marketer")
    assert limits.threshold("nearest.known").value == 1.0
    assert limits.threshold("nearest.rate") == POLICY.threshold("nearest.rate")
    assert limits_for(POLICY, "journalist") is POLICY


def test_what_was_not_tried_is_said_and_never_safe_by_that():
    reported = (told("nearest", [0.01] * N), told("channel", [0.01] * N))
    assert verdict(reported, "maximum").word == "safe"
    found = verdict(reported, "prosecutor")
    assert found.word == "safe" and found.reason.endswith("not tried, since it takes more: Learnt masking")
    only_channel = Reported("nearest", "T", "s", Evidence(reported[0].evidence.observations, compared=()))
    assert verdict((only_channel, reported[1]), "maximum").word == "safe"
    blind = verdict((only_channel, reported[1]), "prosecutor")  # only the channel reads column a
    assert blind.word == "inconclusive" and "No attack could compare" in blind.reason
    assert verdict((reported[1],), "prosecutor").word == "inconclusive"


def test_an_attempt_lessens_averages_and_no_figure_of_a_single_person():
    reported = (told("nearest", [0.5] * N, sure=0.05),)
    (seen,) = attempted(reported, 0.1)
    average, sure = (observation.estimate for observation in seen.evidence.observations)
    assert average.value == pytest.approx(0.05)
    assert average.high == pytest.approx(0.1 * reported[0].evidence.observations[0].estimate.high)
    assert sure == reported[0].evidence.observations[1].estimate
    assert "probability of 10 %" in seen.evidence.observations[0].claim
    assert attempted(reported, 1.0) == reported
    assert verdict(reported, "prosecutor").word == "unsafe"
    assert verdict(reported, "prosecutor", attempt=0.1).word == "safe"
    certain = (told("nearest", [0.5] * N, sure=0.5),)
    assert verdict(certain, "prosecutor", attempt=0.0).word == "unsafe"


def small(sizes, outside, who="journalist", groups=11):
    """The judged finding about small groups, and the claim."""
    observation = small_groups("anonymity.small", np.array(sizes), np.ones(len(sizes), bool), sum(sizes))
    found = Reported("anonymity", "T", "s", Evidence((observation,), 1 / np.array(sizes)))
    policy = Policy("t", "", {"anonymity.small": Threshold(1.0, "r", "s", 0, groups)})
    (seen, _) = seen_by((found, population(outside)), who)
    (finding,) = judge((seen,), policy)
    return finding


def test_few_who_look_the_same_are_counted_in_the_population():
    """Two are alone in the file; of these one is one of 2 outside, one of 400."""
    share = np.ones((3, N))
    share[:, 0], share[:, 1], share[:, 2:] = 1 / 2, 1 / 400, 1 / 20
    outside = Outside(share, (0.0, 0.0, 0.0))
    found = small([1, 1, *[5] * (N - 2)], outside)
    assert (found.estimate.hits, found.outcome) == (pytest.approx(1), "against")
    assert "1 of 40 people match fewer than 11 people of the population" in found.claim
    share[:, 0] = 1 / 11
    assert small([1, 1, *[5] * (N - 2)], outside).outcome == "for"
    assert small([1, 1, *[5] * (N - 2)], outside, "prosecutor").estimate.hits == pytest.approx(N)


def test_shares_of_other_people_count_with_the_largest():
    crowds = Crowds(np.array([1, 2, 3]), np.ones(3, bool), 6)
    outside = Outside(np.tile([0.1, 0.2], (3, 1)), (0.0, 0.0, 0.0))
    assert _larger(crowds, outside).share.tolist() == [[0.2] * 3] * 3


def test_who_is_alone_in_a_sample_may_be_alone_in_the_country():
    """A model expects one in thousands; nobody can say so of one person. A pair is another matter."""
    share = np.full((3, N), 1e-4)
    share[0] = 0.0
    share[2, 0] = 1.0
    found = small([1, *[2] * (N - 1)], Outside(share, (0.0, 0.0, 1 / N)))
    assert found.outcome == "inconclusive" and found.estimate.high * N == pytest.approx(1, abs=0.01)
    share[2, 0] = 1e-4
    assert small([2] * N, Outside(share, (0.0, 0.0, 0.0))).outcome == "for"


def test_the_largest_risk_of_one_person_counts_with_the_population():
    """Each by the share of their own crowd: who is found is one of many outside, and who is alone was not found."""
    share = np.full((3, N), 1 / 2500)
    share[2, 0] = 1.0  # may be alone
    risk = np.full(N, 0.5)
    risk[0] = 0.2
    reported = (told("nearest", risk), population(Outside(share, (0.0, 0.0, 1 / N))))
    assert best_of(reported, "journalist")[1] == pytest.approx(0.2)
    assert best_of(reported, "prosecutor")[1] == pytest.approx(0.5)


def test_kinds_of_figures():
    assert (kind_of("nearest.rate"), kind_of("channel.known"), kind_of("x")) == ("found", "known", "")
    assert of_single_people("nearest.known") and of_single_people("uniqueness.unique")
    assert not of_single_people("nearest.rate")


def test_an_unknown_intruder():
    assert as_intruder("journalist") == "journalist"
    with pytest.raises(ParameterError, match=r"no intruder 'jornalist'(.|\n)*did you mean 'journalist'"):
        as_intruder("jornalist")
