from __future__ import annotations

import pytest

from unmask.assessment import discover
from unmask.errors import ParameterError
from unmask.evidence.policy import NAMES, Policy


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
    assert public["nearest.rate"].value == partner["nearest.rate"].value == 0.09
    assert Policy.load("0.09") == Policy.load("clinical") == Policy.load("public")
    assert Policy.load(None) == Policy.load("default")


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
        ('extends = "stricct"', "did you mean 'strict'"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, text, message):
    with pytest.raises(ParameterError, match=message):
        Policy.load(write(tmp_path, text))


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
