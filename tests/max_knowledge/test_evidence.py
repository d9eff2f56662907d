"""What the tests hand to the report, and that every measure of this room passes the self-check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deniability_tables import correlated, frame
from unmask.assessment import assess
from unmask.evidence.measure import Context
from unmask.evidence.policy import PROFILES, Policy
from unmask.max_knowledge.dictionary import assess_dictionary, dictionary_test
from unmask.max_knowledge.evidence import identity_evidence
from unmask.max_knowledge.permuted import assess_permuted
from unmask.max_knowledge.ranks import ranked
from unmask.selfcheck import selfcheck
from unmask.study.study import Study
from unmask.tables.release import Release

MEASURES = ("attribute_test", "dictionary", "permuted")


def test_self_check():
    for check in selfcheck(only=MEASURES, size=200):
        assert check.passed, (check.measure, check.table, check.failures)


@pytest.mark.parametrize("run", [assess_dictionary, assess_permuted])
def test_evidence_of_a_copy(run):
    table = correlated(150)
    evidence = run(Study(Release(table, table)), Context(seed=2))
    rate, ks, minimum = evidence.observations
    assert rate.estimate.value == 1
    assert ks.estimate.low <= ks.estimate.value <= ks.estimate.high
    assert minimum.estimate.value == 1
    assert (evidence.per_record == 1).all()
    assert "An intruder who knows everything links like one who knows nothing for 0 % of the records" in ks.claim
    assert [len(series.x) for series in evidence.figures[0].series] == [60, 60]
    assert sum(evidence.figures[0].series[0].y) == pytest.approx(1)


def test_unpaired_people_do_not_count():
    table = correlated(60).with_row_index("id")
    evidence = assess_dictionary(Study(Release(table, table[:40], id="id")), Context())
    assert evidence.observations[0].estimate.n == 40
    assert evidence.per_record.size == 60
    assert (evidence.per_record[40:] == 0).all()


@pytest.mark.parametrize(("made_up", "counts"), [(18, 0.0), (19, 1.0)])
def test_a_link_closer_than_19_others_cannot_be_denied(made_up, counts):
    """One of 20 links, their own among them, is as close: 5 %, which is little enough; one of 19 is not."""
    table = correlated(30)
    study = Study(Release(table, table))
    both = ranked(study, ranks="average")
    test = replace(dictionary_test(study, ranks="average"), reference=np.full(made_up, 1e9))
    evidence = identity_evidence(study.release, both, test, "of made-up records")
    assert evidence.observations[0].estimate.value == counts == evidence.per_record.mean()
    assert evidence.observations[0].estimate.chance == pytest.approx(counts / 30)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_key_has_a_threshold_with_a_reason(profile):
    policy = Policy.load(profile)
    for key in ("dictionary.rate", "permuted.ks", "dictionary.minimum", "attribute_test.learnt", "attribute_test.ks"):
        assert policy.threshold(key).reason


def test_in_an_assessment():
    table = correlated(100)
    noisy = frame(table.to_numpy() + np.random.default_rng(0).normal(size=(100, 4)))
    assessment = assess(Release(table, noisy), only=MEASURES)
    assert {"dictionary", "permuted", "risk"} <= set(assessment.records.columns)
    outcomes = {finding.key: finding.outcome for finding in assessment.findings}
    assert outcomes["attribute_test"] == "does not apply"
    assert outcomes["dictionary.ks"] == "not judged"  # in the default profile


@pytest.mark.parametrize("run", [assess_dictionary, assess_permuted])
def test_progress_rises(run):
    told = []
    run(Study(Release(correlated(50), correlated(50, seed=1))), Context(progress=lambda done, _text: told.append(done)))
    assert told == sorted(told)
    assert told[0] >= 0
    assert told[-1] <= 1
