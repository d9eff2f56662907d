from __future__ import annotations

from math import comb, erfc, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.evidence.estimate import Estimate, wilson
from unmask.evidence.finding import Absence, Evidence, Finding, Observation, Reported
from unmask.evidence.policy import Policy, Threshold, beyond_chance
from unmask.evidence.verdict import _judge_one, decide, holm, judge, p_value

POLICY = Policy("test", "", {"x": Threshold(0.2, "because", "us"), "y": Threshold(0.2, "because", "us")})


TAIL = sum(comb(200, k) * 0.2**k * 0.8 ** (200 - k) for k in range(54, 201))  # 54 or more of 200 at a share of 20 %


def report(low, value, high, key="x"):
    estimate = Estimate(value, low, high, 100, 0.01, None, "bootstrap")  # its own interval, not that of a count
    return Reported("m", "M", "story", Evidence((Observation(key, "claim.", estimate),)))


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.21, 0.3, "against"),
        (0.2, 0.3, "inconclusive"),
        (0.1, 0.2, "for"),
        (0.1, 0.21, "inconclusive"),
        (0.0, 0.0, "for"),
    ],
)
def test_outcome_follows_the_interval(low, high, outcome):
    (finding,) = judge([report(low, (low + high) / 2, high)], POLICY)
    assert finding.outcome == outcome
    assert finding.threshold == 0.2


def verdict_of(*outcomes):
    return decide([Finding("m", f"k{i}", "c", outcome, "r") for i, outcome in enumerate(outcomes)]).word


def test_verdict_table():
    assert verdict_of("for", "for") == "safe"
    assert verdict_of("for", "does not apply") == "safe"
    assert verdict_of("for", "inconclusive") == "inconclusive"
    assert verdict_of("for", "could not run") == "inconclusive"
    assert verdict_of("against", "for", "could not run") == "unsafe"
    assert verdict_of("does not apply") == "inconclusive"
    assert verdict_of("not judged") == "inconclusive"
    assert verdict_of("for", "not judged") == "safe"
    assert verdict_of() == "inconclusive"


@given(
    st.lists(st.sampled_from(["for", "against", "inconclusive", "does not apply", "could not run"]), max_size=6),
    st.randoms(),
)
def test_verdict_does_not_depend_on_order_and_bad_news_never_helps(outcomes, random):
    shuffled = outcomes.copy()
    random.shuffle(shuffled)
    assert verdict_of(*outcomes) == verdict_of(*shuffled)
    assert verdict_of(*outcomes, "against") == "unsafe"
    if verdict_of(*outcomes) != "safe":
        assert verdict_of(*outcomes, "does not apply") != "safe"


def test_absence_is_a_finding_with_its_reason():
    entry = Reported("m", "M", "story", Absence("could not run", "no memory"))
    (finding,) = judge([entry], POLICY)
    assert (finding.outcome, finding.reason) == ("could not run", "no memory")
    assert decide([finding]).word == "inconclusive"


def test_a_limit_of_one_is_no_limit_and_never_speaks_for_safety():
    open_ = Policy("open", "", {"x": Threshold(1.0, "because", "us")})
    (finding,) = judge([report(0.9, 0.95, 1.0)], open_)
    assert finding.outcome == "not judged"
    assert decide([finding]).word == "inconclusive"


# --- many figures, one release ----------------------------------------------------------------------------------------


def counted(hits, n, key="x", limit=0.2):
    low, high = wilson(hits, n)
    return Reported("m", "M", "story", Evidence((Observation(key, "claim.", Estimate(hits / n, low, high, n, 0.0)),)))


def test_p_value_is_the_binomial_tail():
    low, high = wilson(30, 100)
    tail = sum(comb(100, k) * 0.2**k * 0.8 ** (100 - k) for k in range(30, 101))
    assert p_value(Estimate(0.3, low, high, 100, 0.0), 0.2) == pytest.approx(tail)
    assert p_value(Estimate(0.1, 0.0, 0.2, 100, 0.0), 0.2) == 1.0


def test_p_value_of_other_figures_is_normal():
    estimate = Estimate(0.3, 0.3 - 1.959963984540054 * 0.05, 0.4, 100, 0.0, None, "bootstrap")
    assert p_value(estimate, 0.2) == pytest.approx(0.5 * erfc(2 / sqrt(2)))
    assert p_value(Estimate(0.3, 0.3, 0.3, 100, 0.0, None, "exact"), 0.2) == 0.0


def test_holm_steps_down():
    assert holm([0.01, 0.04, 0.03, 0.005]) == [True, False, False, True]  # 0.005 <= .0125, .01 <= .0167, .03 > .025
    assert holm([0.01, 0.02, 0.05]) == [True, True, True]
    assert holm([0.2, 0.001]) == [False, True]
    assert holm([]) == []


def test_one_figure_just_above_among_many_is_inconclusive_and_never_safe():
    keys = [f"k{i}" for i in range(40)]
    policy = Policy("test", "", {key: Threshold(0.2, "because", "us") for key in keys})
    many = [counted(10, 200, key) for key in keys[1:]]
    (alone,) = judge([counted(54, 200, "k0")], policy)
    assert alone.outcome == "against"
    beside = judge([counted(54, 200, "k0"), *many], policy)
    assert beside[0].outcome == "inconclusive" and "among 40 figures" in beside[0].reason
    assert decide(beside).word == "inconclusive"
    assert decide(judge([counted(90, 200, "k0"), *many], policy)).word == "unsafe"


def test_a_harmless_release_is_called_unsafe_at_most_at_the_level():
    """Forty figures, each exactly at its limit: the worst case that is still harmless."""
    rng, keys = np.random.default_rng(3), [f"k{i}" for i in range(40)]
    policy = Policy("test", "", {key: Threshold(0.2, "because", "us") for key in keys})
    verdicts = [
        decide(judge([counted(int(hits), 300, key) for key, hits in zip(keys, draw, strict=True)], policy)).word
        for draw in rng.binomial(300, 0.2, size=(400, 40))
    ]
    assert verdicts.count("unsafe") <= 29  # 20 expected at most; 99 % of binomial(400, 0.05)
    assert verdicts.count("safe") == 0


def test_safe_needs_the_core_attacks():
    ran = [Finding(name, f"{name}.rate", "c", "for", "r", Estimate(0.0, 0.0, 0.01, 500, 0.0), 0.2) for name in "ab"]
    assert decide(ran, core=("a", "b")).word == "safe"
    found = decide(ran, core=("a", "b", "c"))
    assert found.word == "inconclusive"
    assert found.reason == "within the limits by 2 of 2 attacks; not enough to say safe: C did not run"
    absent = Finding("c", "c", "C", "does not apply", "r")
    assert decide([*ran, absent], core=("a", "c")).word == "inconclusive"
    three = decide([*ran, absent], core=("a", "d"), left_out=("d", "e"))
    assert three.reason == (
        "within the limits by 2 of 5 attacks (1 does not apply; left out: D, E); not enough to say safe: D did not run"
    )
    left = decide([*ran, absent], core=("a",), left_out=("e",))
    assert left.word == "safe" and left.reason.endswith(
        "none uncertain; 2 of 4 attacks ran (1 does not apply; left out: E)"
    )
    many = decide([*ran, Finding("c", "c", "C", "could not run", "r")], left_out=tuple("defghij"))
    assert many.reason.endswith("2 of 10 attacks ran (1 could not run; 7 left out)")


def test_every_policy_knows_the_core():
    assert set(Policy.load("strict").core) == {"model", "network", "paired", "persons", "synthetic", "tables"}
    assert "channel" in Policy.load().core["paired"]


@pytest.mark.parametrize(
    ("key", "value", "outcome"),
    [("cells.external", 0.83, "for"), ("cells.external", 0.95, "against"), ("membership.auc", 0.75, "against")],
)
def test_a_blind_guess_is_taken_off_where_the_limit_is_for_more_than_that(key, value, outcome):
    """Guessing "no" is right for 8 of 10 where 2 of 10 have the secret; told apart has one half in its limit."""
    chance = 0.5 if key.startswith("membership") else 0.8
    low, high = wilson(value * 2000, 2000)
    estimate = Estimate(value, low, high, 2000, chance)
    reported = Reported("m", "t", "s", Evidence((Observation(key, "claim", estimate),)))
    policy = Policy("p", "", {key: Threshold(0.1 if chance > 0.5 else 0.7, "reason", "source")})
    (found,) = judge([reported], policy)
    assert found.outcome == outcome
    assert ("beyond chance" in found.reason) == key.startswith("cells")


def test_what_counts_from_chance_is_the_same_in_every_policy():
    assert beyond_chance("nearest.rate") and beyond_chance("cells.rare") and beyond_chance("values.rate")
    assert not any(map(beyond_chance, ("membership.auc", "copies.closer", "membership.tpr", "uniqueness.unique", "x")))


def test_columns_that_nobody_compared_are_told_in_their_own_words():
    silent = Finding("columns", "columns.compared", "No attack could compare 'zip'.", "could not run", "")
    assert decide([silent]).reason == "No attack could compare 'zip'"
    moved = Finding("check", "check.pairing", "Rows do not belong together.", "could not run", "")
    assert decide([moved, silent]).reason == "Rows do not belong together. No attack could compare 'zip'"
    stopped = Finding("nearest", "nearest", "Nearest.", "could not run", "")
    for findings in ([stopped], [stopped, silent]):
        verdict = decide(findings)
        assert verdict.word == "inconclusive" and verdict.reason.startswith("an attack could not run")


def test_the_reason_names_the_limit_that_is_shown():
    """A limit of nobody stands in every table: the reason must not speak of a limit of 1 %."""
    known = Policy("test", "", {"x": Threshold(0.01, "because", "us", people=0)})
    for low, high in ((0.3, 0.5), (0.0, 0.02), (0.0, 0.005)):
        (finding,) = judge([report(low, (low + high) / 2, high)], known)
        assert finding.people == 0 and "nobody" in finding.reason and "the limit of 1 %" not in finding.reason


@pytest.mark.parametrize(("hits", "chance"), [(10, 1.0), (54, 2 * TAIL)])
def test_of_two_limits_the_chance_is_twice_the_smaller_one_and_at_most_1(hits, chance):
    """Bonferroni: 10 of 200 are within both; 54 are more than 20 %, and than 40 people."""
    policy = Policy("test", "", {"x": Threshold(0.2, "because", "us", people=40)})
    (observation,) = (evidence := counted(hits, 200).evidence).observations
    assert _judge_one("m", observation, policy, evidence).chance == pytest.approx(chance)


def test_the_verdict_names_findings_in_words_the_largest_first():
    keys = ("nearest.rate", "channel.rate", "channel.known", "one_to_one.rate", "uniqueness.average")
    found = [
        Finding(key.partition(".")[0], key, "c", "against", "r", Estimate(k / 10, 0, 1, 100, 0.01), 0.2)
        for k, key in enumerate(keys, 1)
    ]
    told = decide(found).reason
    named = "Exact match: found; One-to-one matching: found; Learnt masking: known; and 2 more"
    assert told.startswith(f"5 findings are against publishing ({named})")
    assert not [key for key in keys if key in told]


def test_a_finding_says_how_much_of_its_limit_it_uses():
    policy = Policy("test", "", {"x": Threshold(0.2, "because", "us")})
    (found,) = judge([report(0.05, 0.08, 0.1)], policy)
    assert found.used == pytest.approx(0.5)
    open_ = Policy("test", "", {"x": Threshold(1.0, "because", "us")})
    (found,) = judge([report(0.05, 0.08, 0.1)], open_)
    assert found.used is None
