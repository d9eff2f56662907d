from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.evidence.estimate import Estimate
from unmask.evidence.finding import Absence, Evidence, Finding, Observation, Reported
from unmask.evidence.policy import Policy, Threshold
from unmask.evidence.verdict import decide, judge

POLICY = Policy("test", "", {"x": Threshold(0.2, "because", "us"), "y": Threshold(0.2, "because", "us")})


def report(low, value, high, key="x"):
    estimate = Estimate(value, low, high, 100, 0.01)
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
