from __future__ import annotations

from importlib import import_module

import numpy as np
import polars as pl
import pytest
from families import CASES

import unmask
from unmask.assessment import discover
from unmask.datasets.gauntlet import Case, Known
from unmask.errors import ParameterError
from unmask.evidence.estimate import Estimate, rate
from unmask.evidence.finding import Evidence, Observation
from unmask.evidence.measure import Measure
from unmask.selfcheck import _ladder, _shuffled, attack_case, check_measure

LADDER = _ladder("census", 0, 120)
LONG = {"absent", "channel", "earlier", "knowledge_curve", "knowledge_sweep", "learned", "likelihood",
        "linkability", "magnitude", "membership", "model", "population", "probabilistic", "singling",
        "special_uniques"}  # seconds on three tables  # fmt: skip


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        pytest.param(name, seed, marks=[pytest.mark.slow] if seed or name in LONG else [])
        for name in sorted(discover())
        for seed in (0, 1)
    ],
)
def test_every_registered_measure_passes(name, seed):
    for check in unmask.selfcheck(only=[name], seed=seed):
        assert check.passed, (check.table, check.failures, check.risks)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_attacks_on_networks_pass(seed):
    checks = unmask.selfcheck(only=["degree", "neighbours", "colours", "propagation", "profiles"], seed=seed)
    assert len(checks) == 5
    for check in checks:
        assert check.passed, (check.measure, check.failures, check.risks)


def test_links_between_files_without_an_id_pass():
    (check,) = unmask.selfcheck(only="believed", size=150)
    assert check.passed and check.risks[0] > 0.95 and check.risks[-1] < 0.02, check


def test_one_attack_on_networks_is_checked_by_name():
    (check,) = unmask.selfcheck(only="colours", size=100)
    assert check.measure == "colours" and check.passed and check.risks[0] > 0.9


def checked(risk, records=None):
    """Check a measure that answers ``risk(release)``, and ``records(release)`` for each record."""

    def run(study, _context):
        release = study.release
        value = risk(release)
        estimate = value if isinstance(value, Estimate) else rate(np.asarray(value, dtype=float), chance=1 / 120)
        return Evidence((Observation("nearest.rate", "claim.", estimate),), per_record=records and records(release))

    return check_measure(
        Measure("m", "M", "s", ("nearest.rate",), run, lambda _: None, 1), "numeric", LADDER, 0
    ).failures


def equal_rows(release):
    return [release.original.row(i)[1:] == release.released.row(int(release.truth[i]))[1:] for i in range(120)]


def test_it_catches_a_constant_measure():
    assert any("not told from an unrelated" in failure for failure in checked(lambda _: np.full(120, 1 / 120)))


def test_it_catches_a_measure_that_rises():
    assert any("rises" in failure for failure in checked(lambda release: 1.0 - np.array(equal_rows(release))))


def test_it_catches_what_is_not_at_chance():
    failures = checked(lambda release: np.where(equal_rows(release), 1.0, np.arange(120) % 2))
    assert any("chance" in failure for failure in failures)


def test_it_catches_row_order():
    def first_row(release):
        return [float(release.original["id"][0] == 0)] + [0.0] * 119

    assert any("row order" in failure for failure in checked(first_row))


def honest(release):
    return np.where(equal_rows(release), 1.0, 0.0)


def test_it_catches_row_order_of_single_records_behind_a_steady_headline():
    failures = checked(honest, lambda release: np.sort(np.arange(120) % 2.0))
    assert [failure for failure in failures if "records" in failure] == list(failures) != []


def test_it_passes_an_honest_measure():
    assert checked(honest) == ()
    unknown = checked(honest, lambda release: np.where(release.original["id"] < 5, np.nan, honest(release)))
    assert unknown == ()


def test_shuffle_keeps_the_pairs():
    moved, order = _shuffled(LADDER[1], 3)
    assert moved.original["id"].to_list() == LADDER[1].original["id"].gather(order).to_list()
    assert moved.truth.tolist() != LADDER[1].truth.tolist()
    assert moved.original["id"].to_list() == moved.released["id"].gather(moved.truth).to_list()


# --- the gauntlet -------------------------------------------------------------------------------------------------


def test_rounding_and_large_crowds_hold_in_the_gauntlet():
    rounded, _ = attack_case(CASES["rounded"], only=["nearest"])
    assert rounded.wanted == pytest.approx(0.99, abs=0.01) and rounded.verdict == "unsafe"
    assert rounded.holds and rounded.holds_by_linking
    crowds, _ = attack_case(CASES["large_crowds"], only=["nearest"])
    assert crowds.wanted is None and crowds.verdict in {"safe", "inconclusive"} and crowds.holds


def test_a_literal_minded_report_fails_in_the_gauntlet():
    blind, _ = attack_case(CASES["rotated"], only=["nearest"])
    assert blind.wanted == 1.0 and blind.best < 0.5 and not blind.holds


def test_what_stops_an_assessment_is_a_failure_of_the_case():
    broken = Known("broken", "noise", lambda seed: Case(*[pl.DataFrame({"a": [1]})] * 2, 1.0, "none", {"id": "b"}))
    answer, reason = attack_case(broken)
    assert answer.verdict == "error" and not answer.holds
    assert reason.startswith("RoleError")


def test_selfcheck_runs_a_part_of_the_gauntlet():
    told = []
    checks = unmask.selfcheck(gauntlet=2, only=["nearest"], progress=lambda *step: told.append(step))
    assert [check.measure for check in checks] == ["gauntlet"] * 2
    assert len({CASES[check.table].family for check in checks}) == 2
    assert all(check.risks[0] == CASES[check.table].make(0).found for check in checks)
    assert told[0][0] == 0.0 and told[-1] == (1.0, "done")
    with pytest.raises(ParameterError, match="at least one case"):
        unmask.selfcheck(gauntlet=0)
    with pytest.raises(ParameterError):
        unmask.selfcheck(gauntlet=1, only=["nothing"])


@pytest.mark.slow
def test_a_measure_that_fails_twice_fails_and_one_that_fails_by_luck_passes(monkeypatch):
    told, module = {}, import_module("unmask.selfcheck")  # the name in the package is the function

    def check(entry, table, _releases, seed):
        bad = ("rises",) if seed < 1000 or told["always"] else ()
        return module.Check(entry.name, table, (0.0,), None, bad)

    monkeypatch.setattr(module, "check_measure", check)
    for told["always"] in (True, False):
        found = unmask.selfcheck(only=["uniqueness"], size=60)
        assert [one.passed for one in found] == [not told["always"]] * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_attacks_on_people_with_many_rows_pass(seed):
    checks = unmask.selfcheck(only=["alike", "bags", "taught", "points", "sequences", "shared", "presence"], seed=seed)
    assert len(checks) == 13  # trajectories have no secret
    for check in checks:
        assert check.passed, (check.measure, check.table, check.failures, check.risks)
