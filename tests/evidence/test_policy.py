from __future__ import annotations

import numpy as np
import pytest

from unmask.assessment import discover
from unmask.errors import ParameterError
from unmask.evidence.estimate import wilson
from unmask.evidence.finding import Absence, Observation
from unmask.evidence.policy import NAMES, Policy, of_single_people


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_has_its_thresholds_with_reason_and_source(name):
    policy = Policy.load(name)
    for entry in discover().values():
        for key in entry.keys:
            threshold = policy.threshold(key)
            assert 0 <= threshold.value <= 1
            assert len(threshold.reason) > 10
            assert len(threshold.source) > 5


def test_profiles_are_ordered():
    strict, public, partner, internal = (
        Policy.load(name).thresholds for name in ("strict", "public", "partner", "internal")
    )
    for key in public:
        assert strict[key].value <= public[key].value <= partner[key].value <= internal[key].value, key
        assert strict[key].groups >= public[key].groups >= partner[key].groups >= internal[key].groups, key
        if internal[key].people is not None:
            assert strict[key].people <= public[key].people <= partner[key].people <= internal[key].people, key
    assert public["nearest.rate"].value == partner["nearest.rate"].value == 0.09
    assert [profile["anonymity.small"].groups for profile in (public, partner, internal)] == [11, 5, 3]
    assert public["nearest.known"].people == 0 and partner["nearest.known"].people is None


def test_without_a_choice_anybody_may_read_the_file():
    assert Policy.load(None) == Policy.load("public")


BEFORE = {  # of the profiles up to this version, by kind of figure: default, clinical, strict
    "nearest.rate": (0.2, 0.09, 0.05), "uniqueness.average": (0.2, 0.09, 0.05), "nearest.known": (0.05, 0.02, 0.01),
    "probabilistic.linked": (0.05, 0.02, 0.01), "channel.known": (0.01, 0.01, 0.01),
    "copies.unique": (0.01, 0.01, 0.01),
    "uniqueness.unique": (0.2, 0.09, 0.05), "population.unique": (0.2, 0.09, 0.05), "intervals.sd": (1, 1, 0.9),
    "values.rate": (1, 1, 0.95), "model.excess": (0.2, 0.1, 0.05), "inference.excess": (0.2, 0.1, 0.05),
    "singling.excess": (0.2, 0.1, 0.05), "absent.excess": (0.5, 0.4, 0.2), "membership.auc": (0.7, 0.65, 0.6),
    "membership.tpr": (0.1, 0.05, 0.03), "cells.external": (0.2, 0.09, 0.05), "cells.internal": (0.3, 0.2, 0.1),
    "copies.exact": (0.05, 0.02, 0.01), "copies.whole": (0, 0, 0),
    "dictionary.ks": (1, 1, 0.9), "attribute_test.learnt": (0.1, 0.09, 0.02), "household.rate": (0.2, 0.09, 0.05),
    "magnitude.estimable": (0.2, 0.09, 0.05), "clusters.people": (0.2, 0.09, 0.05),
}  # fmt: skip


@pytest.mark.parametrize("key", BEFORE)
def test_no_earlier_name_has_become_laxer(key):
    for name, before in zip(("default", "clinical", "strict"), BEFORE[key], strict=True):
        assert Policy.load(name).threshold(key).value <= before


def test_earlier_shares_of_small_groups_are_a_number_now():
    """20, 9 and 5 % of people in groups below five, then; nobody in a group below eleven, now."""
    for name in ("default", "clinical", "strict", "0.09"):
        limit = Policy.load(name).threshold("anonymity.small")
        assert (limit.people, limit.groups) == (0, 11)


def test_no_limit_is_without_an_argument():
    for name in NAMES:
        for key, limit in Policy.load(name).thresholds.items():
            assert "our choice" not in limit.source + limit.reason, key
            told = limit.reason.startswith("shown for information")
            assert told == (limit.value >= 1 and limit.people is None), key


def test_a_recorded_policy_tells_what_has_moved():
    limits = {"nearest.known": {"value": 0.02, "reason": "r", "source": "s"}}
    policy, told = Policy.recorded("clinical", "", limits, ["nearest.known", "anonymity.small"])
    assert policy.threshold("nearest.known").value == 0.02 and policy.threshold("nearest.known").people is None
    assert told == [
        "policy 'clinical' is called 'public' now",
        "figure 'anonymity.small' is new: its limit is that of the profile 'public'",
        "limit 'nearest.known' was 2 %, is 1 % and no people (groups of 11) now; the report's own is used",
    ]
    own, told = Policy.recorded("our board", "", limits, ["nearest.known"])
    assert (own.name, told) == ("our board", [])


def write(tmp_path, text):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    return path


def test_a_file_extends_a_profile(tmp_path):
    path = write(
        tmp_path, 'extends = "strict"\n[thresholds."nearest.rate"]\nvalue = 0.5\nreason = "why"\nsource = "who"\n'
    )
    policy = Policy.load(path)
    assert policy.threshold("nearest.rate").value == 0.5
    assert policy.threshold("nearest.known") == Policy.load("strict").threshold("nearest.known")


@pytest.mark.parametrize("value", [0, 1])
def test_a_limit_may_be_nothing_or_everything(tmp_path, value):
    limit = f'[thresholds."nearest.rate"]\nvalue = {value}\nreason = "why"\nsource = "who"\n'
    assert Policy.load(write(tmp_path, f'extends = "strict"\n{limit}')).threshold("nearest.rate").value == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("= 1", "not a readable TOML"),
        ('extend = "strict"', "did you mean 'extends'"),
        ("name = 'x'", "no thresholds"),
        (
            'extends = "strict"\n[thresholds."nearest.rat"]\nvalue=0.1\nreason="a"\nsource="b"',
            "did you mean 'nearest.rate'",
        ),
        ('extends = "strict"\n[thresholds."nearest.rate"]\nvalue=1.5\nreason="a"\nsource="b"', "from 0 to 1"),
        ('extends = "strict"\n[thresholds."nearest.rate"]\nvalue=true\nreason="a"\nsource="b"', "no number"),
        ('extends = "strict"\n[thresholds."nearest.rate"]\nvalue=0.1\nsource="b"', "no reason"),
        ('extends = "strict"\nthresholds = 3', "not a table"),
        (
            'extends = "strict"\n[thresholds."nearest.known"]\nvalue=0.1\npeople=-1\nreason="a"\nsource="b"',
            "whole number from 0 on",
        ),
        (
            'extends = "strict"\n[thresholds."anonymity.small"]\nvalue=1\ngroups=2.5\nreason="a"\nsource="b"',
            "whole number from 1 on",
        ),
        ('extends = "stricct"', "did you mean 'strict'"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, text, message):
    with pytest.raises(ParameterError, match=message):
        Policy.load(write(tmp_path, text))


def test_a_file_may_set_a_number_of_people_and_the_size_of_groups(tmp_path):
    limit = '[thresholds."anonymity.small"]\nvalue = 1\npeople = 2\ngroups = 20\nreason = "why"\nsource = "who"\n'
    found = Policy.load(write(tmp_path, f'extends = "partner"\n{limit}')).threshold("anonymity.small")
    assert (found.value, found.people, found.groups) == (1, 2, 20)


def test_missing_file_and_missing_threshold(tmp_path):
    with pytest.raises(ParameterError, match="no policy file"):
        Policy.load(tmp_path / "none.toml")
    with pytest.raises(ParameterError, match="no threshold for 'x'"):
        Policy.load("default").threshold("x")


@pytest.mark.parametrize("name", ["one_to_one", "global", "gdbrl", "assignment"])
def test_a_policy_may_use_former_names_and_acronyms(tmp_path, name):
    limit = 'value = 0.5\nreason = "why"\nsource = "who"\n'
    policy = Policy.load(write(tmp_path, f'extends = "strict"\n[thresholds."{name}.rate"]\n{limit}'))
    assert policy.threshold("one_to_one.rate").value == 0.5
    assert set(policy.thresholds) == set(Policy.load("strict").thresholds)


def test_two_limits_for_one_figure_are_refused(tmp_path):
    """Under two names the last would win, and the stricter one might be lost."""
    limits = "".join(
        f'[thresholds."{name}.rate"]\nvalue = {value}\nreason = "why"\nsource = "who"\n'
        for name, value in (("global", 0.1), ("one_to_one", 0.9))
    )
    with pytest.raises(ParameterError, match="'one_to_one.rate' twice"):
        Policy.load(write(tmp_path, f'extends = "strict"\n{limits}'))


def test_exactly_as_many_people_as_are_needed_are_not_too_few():
    policy = Policy.load("public")
    least = policy.least_people("paired")
    assert policy.too_few("paired", least) == () and policy.too_few("paired", least + 7, besides=7) == ()
    assert len(policy.too_few("paired", least - 1)) == len(policy.too_few("paired", least + 6, besides=7)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_where_nobody_of_the_least_people_is_found_the_core_limits_are_met(name):
    policy = Policy.load(name)
    for kind, core in policy.core.items():
        limits = [t.value for key, t in policy.thresholds.items() if key.partition(".")[0] in core]
        strictest, least = min(value for value in limits if 0 < value < 1), policy.least_people(kind)
        assert wilson(0, least)[1] <= strictest < wilson(0, least - 1)[1]


def test_where_averages_are_judged_no_risk_of_one_person_is_too_large():
    policy = Policy.load("public")
    single = {key for key in policy.thresholds if of_single_people(key)}
    averages = policy.for_averages().thresholds
    assert single and all(averages[key].value == 1.0 for key in single)
    assert all(averages[key] == policy.thresholds[key] for key in set(averages) - single)


def test_only_what_had_no_time_is_late():
    assert Absence.for_want_of_time().late
    assert not Absence("could not run", "there is no control table").late


def test_risks_that_differ_in_the_ninth_place_are_in_order():
    risk, hits = np.array([0.5, 0.500000002, 0.5 + 1e-12]), np.array([0.0, 1.0, 1.0])
    ranked = Observation.of_risks("nearest.worst", risk, hits, "nearest", 1).ranked
    assert ranked.risk.tolist() == [0.500000002, 0.5, 0.5 + 1e-12] and ranked.hits.tolist() == [1.0, 0.0, 1.0]
