"""The verdict without a report is that of the assessment, and no attack is run twice on the same release."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import unmask
import unmask.attacks
from unmask.evidence import Policy
from unmask.judging import judge_release
from unmask.resume import Remembered
from unmask.trying import begin

ONLY = ("anonymity", "channel", "nearest", "one_to_one", "uniqueness")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    n = 90
    return pl.DataFrame({"age": rng.integers(18, 90, n), "income": np.exp(rng.normal(10, 0.6, n)).round()})


@pytest.fixture
def ran(monkeypatch):
    """The attacks that were run, by name."""
    names, run = [], unmask.attacks.run_measure

    def noted(entry, study, context):
        names.append(entry.name)
        return run(entry, study, context)

    monkeypatch.setattr(unmask.attacks, "run_measure", noted)
    return names


def job_of(people):
    return begin(people, "partner", "maximum", (), 0, {})[0]


def test_the_verdict_is_that_of_the_assessment(people):
    job = job_of(people)
    for masking in ("noise(0.3)", "shuffle()"):
        release = job.release(masking, 1)
        whole = unmask.assess(release, policy="partner", only=ONLY, utility="none")
        judged = judge_release(release, policy=Policy.load("partner"), only=ONLY)
        assert judged.verdict.word == whole.verdict
        assert judged.verdict.reason == whole.reason
        assert judged.findings == tuple(whole.findings)
        best, told = judged.intruders[-1], whole.document.intruders[-1]
        assert (best.measure, best.estimate, best.known) == (told.measure, told.estimate, told.known)


def test_what_was_found_before_is_not_searched_again(people, ran):
    release, before = job_of(people).release("shuffle()", 1), Remembered()
    policy = Policy.load("partner")
    first = judge_release(release, policy=policy, only=("nearest", "uniqueness"), before=before)
    again = judge_release(release, policy=policy, only=("nearest", "uniqueness", "anonymity"), before=before)
    assert sorted(ran) == ["anonymity", "nearest", "uniqueness"]
    assert set(first.findings) < set(again.findings)


def test_slow_attacks_are_left_out_where_the_others_find_too_much(people, ran):
    job = job_of(people)
    glance = replace(job.glance("noise(0.05)", 1), verdict="open")
    point = job.attack("noise(0.05)", 1, "core", glance)
    assert (point.stage, point.verdict) == ("core", "unsafe")
    assert "channel" not in ran
    assert point.attack in {"nearest", "one_to_one"}


def test_a_release_that_passes_the_quick_attacks_is_never_called_safe_without_the_slow_ones(people, ran):
    job = job_of(people)
    point = job.attack("shuffle()", 1, "core", job.glance("shuffle()", 1))
    assert sorted(ran) == sorted(job.core)  # each once, the slow one too
    assert (
        point.attack
        == unmask.assess(job.release("shuffle()", 1), policy="partner", only=job.core, utility="none")
        .document.intruders[-1]
        .measure
    )


def test_what_is_unsure_already_cannot_become_safe_where_there_are_people_enough(people, ran):
    """Among few people every release is unsure, and each is attacked with everything."""
    rng = np.random.default_rng(1)
    many = pl.DataFrame({"age": rng.integers(18, 90, 600), "income": np.exp(rng.normal(10, 0.6, 600)).round()})
    job = job_of(many)
    glances = [job.glance(f"noise({size})", 1) for size in (0.1, 0.2, 3)]
    assert [point.verdict for point in glances] == ["unsafe", "inconclusive", "open"]
    assert all((point.low > 0.09, point.high > 0.09) == (k < 1, k < 2) for k, point in enumerate(glances))
    point = job.attack("noise(0.2)", 1, "core", glances[1])
    assert "channel" not in ran
    assert point.verdict != "safe"
    assert point.reason.endswith("channel was not tried: it cannot be safe")
    assert job_of(people).glance("noise(0.7)", 1).high > 0.09
    assert job_of(people).glance("noise(0.7)", 1).verdict == "open"


def test_another_seed_of_the_attacks_runs_them_again(people, ran):
    job = replace(job_of(people), core=("nearest",))
    glance = job.glance("shuffle()", 1)
    for seed in (0, 0, 5):
        replace(job, seed=seed).attack("shuffle()", 1, "core", glance)
    assert ran == ["nearest", "nearest"]
