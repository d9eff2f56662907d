"""The best of several attacks is in part the luckiest: a release at its limit is rarely called unsafe for that."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Policy, Release, parse_masking
from unmask.assessment import discover
from unmask.disclosure import membership
from unmask.evidence.finding import Reported
from unmask.evidence.measure import Context
from unmask.evidence.verdict import judge
from unmask.study.study import Study

COLUMNS = list("abcd")
NOISE = parse_masking("noise(1.0)")
LEVEL = 0.05
SINGLE = {  # facts that tell what each attack finds by itself
    "nearest": ("found when",),
    "transparent": ("rate by",),
    "learned": ("rate of the learnt", "rate of the plain"),
    "channel": ("found one",),
}


def normal(n, *seed):
    return pl.DataFrame(np.random.default_rng(seed).normal(size=(n, len(COLUMNS))), schema=COLUMNS)


def allowed(draws):
    return LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / draws)


def false_alarms(name, n, draws):
    """Share of draws whose judged rate is, by its interval, above the true rate of the best attack: the limit."""
    low, single = [], []
    for seed in range(draws):
        people = normal(n, seed)
        release = Release(people, NOISE.apply(people, seed), masking=NOISE)
        evidence = discover()[name].run(Study(release), Context(seed))
        low.append(evidence.observations[0].estimate.low)
        single.append([fact.value for fact in evidence.facts if fact.name.startswith(SINGLE[name])])
    limit = np.mean(single, axis=0).max()
    assert np.shape(single)[1] > 1
    return np.mean(np.array(low) > limit)


def called_unsafe(name, n, draws):
    """Share of releases about other people, with the same laws, that a finding speaks against."""
    against = 0
    for seed in range(draws):
        release = Release(normal(n, seed, 1), normal(n, seed, 2), masking=NOISE)
        entry = discover()[name]
        reported = Reported(name, entry.title, entry.story, entry.run(Study(release), Context(seed)))
        against += any(f.outcome == "against" for f in judge([reported], Policy.load("strict")))
    return against / draws


@pytest.mark.parametrize("name", ["nearest", "transparent"])
def test_a_release_at_the_limit(name):
    assert false_alarms(name, 40, 20) <= allowed(20)


@pytest.mark.parametrize("name", ["nearest", "transparent"])
def test_strangers_are_not_unsafe(name):
    assert called_unsafe(name, 40, 10) <= allowed(10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "draws"),
    [("nearest", 60, 100), ("transparent", 60, 100), ("learned", 60, 40), ("channel", 60, 20)],
)
def test_many_releases_at_the_limit(name, n, draws):
    assert false_alarms(name, n, draws) <= allowed(draws)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["learned", "channel"])
def test_many_strangers_are_not_unsafe(name):
    assert called_unsafe(name, 60, 10) <= allowed(10)


@pytest.mark.slow
def test_membership_at_the_limit(monkeypatch):
    """To take the better of two, for each figure, is no more often wrong than to have chosen it before."""
    both, judged, better = [], [], membership.better
    monkeypatch.setattr(membership, "better", lambda *two: (both.append(two), better(*two))[1])
    noise = parse_masking("noise(0.3)")
    for seed in range(40):
        people = normal(100, seed)
        release = Release(people, noise.apply(people, seed), control=normal(100, seed, 1))
        judged.append(membership.membership_inference(release, masking=noise, shadows=2, seed=seed))
    for figure in ("auc", "tpr_at_1_percent"):
        single = [[getattr(each, figure) for each in two] for two in both]
        means = np.mean([[each.value for each in two] for two in single], axis=0)
        better_one = int(means.argmax())
        by_choice = np.mean([getattr(found, figure).low > means.max() for found in judged])
        chosen_before = np.mean([two[better_one].low > means.max() for two in single])
        assert by_choice <= max(allowed(40), chosen_before)
