"""A plan before the work: what fits into a budget, which people stand for all, and what the verdict makes of it."""

from __future__ import annotations

import importlib
import json
import threading
import time
from contextlib import suppress
from dataclasses import replace

import numba
import numpy as np
import polars as pl
import pytest

import unmask
from command_line import run
from unmask import assessment, calibrating, planning
from unmask.assessment import discover, run_measure
from unmask.calibrating import machine_slowness
from unmask.deadlines import within
from unmask.errors import OutOfTimeError, ParameterError
from unmask.evidence import Context, Estimate, Evidence, Observation, Policy, Reported, conclude, silent
from unmask.linkage.competing import fewer_people
from unmask.linkage.likelihood import measure as likelihood
from unmask.planning import Cost, Plan, Planned, plan_attacks, plan_of, seconds
from unmask.report import render
from unmask.sampling import people_by_hash
from unmask.shares import in_words
from unmask.study import Study

QUICK = ["nearest", "one_to_one", "uniqueness"]


def release(n=150, noise=0.3):
    rng = np.random.default_rng(2)
    own = pl.DataFrame({"id": [f"P{k}" for k in range(n)], **{name: rng.normal(size=n) for name in "abc"}})
    return unmask.Release(own, own.with_columns(pl.col("a", "b", "c") + rng.normal(0, noise, n)), id="id")


def forced(measures=QUICK, people=60, n=150, **forms):
    """A plan in which nearest asks for some people, whatever the size."""
    entries = {name: Planned(name, "exact", n, n, 0.0, 0) for name in measures}
    entries["nearest"] = Planned("nearest", "sampled", people, n, 0.0, 0)
    entries |= {name: Planned(name, form, n, n, 0.0, 0) for name, form in forms.items()}
    return Plan(tuple(entries.values()))


def cost(name="m", people=100_000, exact=100.0, **more):
    given = {"fixed": 10.0, "memory": 1, "judged": True, "core": True, "cheaper": "people", **more}
    return Cost(name, people, exact, **{"each": (exact - given["fixed"]) / people, **given})


# --- times ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"), [("90s", 90), ("10m", 600), ("1.5h", 5400), ("40", 40), (7, 7), (None, None)]
)
def test_times_as_people_write_them(text, found):
    assert seconds(text) == found


@pytest.mark.parametrize("text", ["soon", "0", "-3m", "10 days", "", True, float("nan")])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ParameterError, match="cannot read this time"):
        seconds(text)


def test_times_in_words():
    assert [in_words(t) for t in (1, 40, 60, 600, 5400)] == [
        "1 second",
        "40 seconds",
        "1 minute",
        "10 minutes",
        "1.5 hours",
    ]


def test_the_machine_is_measured_once_and_where_nothing_can_be_kept_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(calibrating, "measure_work", lambda: 2 * calibrating.REFERENCE)
    first = machine_slowness()
    kept = json.loads((tmp_path / "unmask" / "speed.json").read_text())
    (tmp_path / "unmask" / "speed.json").write_text(json.dumps({**kept, "slowness": 7.0}))
    assert first == 2.0
    assert machine_slowness() == 7.0
    (tmp_path / "unmask" / "speed.json").write_text(json.dumps({**kept, "machine": "another", "slowness": 7.0}))
    assert machine_slowness() == 2.0
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert machine_slowness() == 2.0


def test_the_work_that_is_measured_takes_time():
    assert calibrating.measure_work() > 0.001


def test_the_times_that_are_shown_are_those_of_this_machine_with_a_budget_and_without(monkeypatch):
    shown = {}
    for slow in (1.0, 3.0):
        monkeypatch.setattr(planning, "machine_slowness", lambda slow=slow: slow)
        plans = [unmask.plan_assessment(release(), only=["nearest", "channel"], budget=one) for one in (None, "10h")]
        assert plans[0].seconds == pytest.approx(plans[1].seconds)
        assert {entry.form for plan in plans for entry in plan.entries} == {"exact"}
        shown[slow] = plans[0].seconds
    assert shown[3.0] == pytest.approx(3 * shown[1.0])


# --- what is planned ------------------------------------------------------------------------------------------------


def test_by_default_everybody_up_to_what_ends_within_minutes():
    assert cost(people=40_000, exact=1e6).by_default().form == "exact"
    assert cost(people=40_001, exact=1e6).by_default().form == "sampled"
    assert cost(people=40_001, exact=planning.MINUTES).by_default().form == "exact"
    found = cost(people=1_000_000, exact=1_000.0).by_default()
    assert (found.form, found.people, found.out_of) == ("sampled", planning.ENOUGH, 1_000_000)
    assert found.seconds == pytest.approx(10 + 2 * 990 * 0.02)
    assert cost(people=1_000_000, exact=1e6, cheaper="").by_default().form == "exact"
    assert cost("channel", people=200_001, exact=1.0).by_default().form == "sampled"
    forms = [cost("one_to_one", people=n, exact=1.0).by_default().form for n in (100_000, 100_001)]
    assert forms == ["exact", "sampled"]


def test_without_a_budget_nothing_changes_for_tables_of_usual_size():
    plan = plan_attacks(release(), list(discover().values()), Policy.load())
    assert {entry.form for entry in plan.entries} == {"exact"}
    assert plan.left is None


def test_a_budget_pays_the_cheapest_form_of_all_that_may_decide_before_it_makes_any_exact():
    costs = [
        cost("shown", exact=1.0, fixed=1.0, judged=False, core=False, cheaper=""),
        cost("decides", exact=100.0),
        cost("core too", exact=50.0),
        cost("judged", exact=5.0, fixed=5.0, core=False, cheaper=""),
        cost("matching", exact=80.0, fixed=16.0, each=0.002),  # far dearer for everybody than for some
    ]
    cheapest = {"decides": 10 + 90 * 0.02, "core too": 10 + 40 * 0.02, "matching": 20.0, "judged": 5.0, "shown": 1.0}
    tight = {one.measure: one for one in planning._within(costs, sum(cheapest.values()) + 0.01)}
    assert {name: one.seconds for name, one in tight.items()} == pytest.approx(cheapest)
    assert [tight[name].form for name in ("decides", "matching", "judged")] == ["sampled", "sampled", "exact"]
    less = {one.measure: one.form for one in planning._within(costs, sum(cheapest.values()) - 5.5)}
    assert less["judged"] == "left out"  # what is judged and not core gives way before the core does
    assert "left out" not in {less[name] for name in ("decides", "core too", "matching")}
    more = {one.measure: one.form for one in planning._within(costs, 1e6)}
    assert set(more.values()) == {"exact"}


def test_no_plan_costs_more_than_its_budget():
    costs = [
        cost(f"m{k}", exact=float(10 + 7 * k), core=k % 2 == 0, cheaper="people" if k % 3 else "") for k in range(9)
    ]
    for budget in (0.0, 20.0, 60.0, 150.0, 300.0):
        found = planning._within(costs, budget)
        assert sum(one.seconds for one in found if one.form != "left out") <= budget + 1e-9


def test_a_plan_that_is_late_leaves_out_what_no_longer_fits(monkeypatch):
    plan = Plan((Planned("a", "exact", 5, 5, 3.0, 0), Planned("b", "exact", 5, 5, 0.5, 0)), 10.0, begun=100.0)
    for now, forms in ((109.0, ["left out", "exact"]), (111.9, ["left out", "exact"]), (112.1, ["left out"] * 2)):
        monkeypatch.setattr(planning.time, "monotonic", lambda now=now: now)
        assert [plan.now(name).form for name in "ab"] == forms


def endless(entry):
    """The attack, if it took two minutes without a word, and took every error for its own."""

    def run(study, context):
        end = time.monotonic() + 120
        while time.monotonic() < end:
            with suppress(Exception):  # as attacks may
                time.sleep(0.001)
        return entry.run(study, context)

    return replace(entry, run=run)


def test_an_attack_that_takes_longer_than_planned_is_ended_and_the_others_have_their_time(monkeypatch):
    measures = assessment.discover()
    monkeypatch.setattr(assessment, "discover", lambda: {**measures, "nearest": endless(measures["nearest"])})
    unmask.assess(release(), only=QUICK, skip=["nearest"], utility="none")  # kernels are compiled
    began = time.monotonic()
    found = unmask.assess(release(), only=QUICK, budget=10.0, utility="none")
    assert time.monotonic() - began < 60  # 10 and a quarter, and the report
    assert found.to_dict()["manifest"]["plan"]["measures"] == {"nearest": {"form": "left out"}}
    assert "There was no time within the budget of 10 seconds for Nearest" in render(found.document)
    assert "one_to_one.rate" in {finding.key for finding in found.findings}


def test_an_attack_may_take_what_others_leave_and_the_last_a_little_beyond_the_budget(monkeypatch):
    entries = [("a", 10.0), ("b", 20.0), ("c", 5.0), ("d", 0.0)]
    plan = Plan(tuple(Planned(name, "exact", 5, 5, seconds, 0) for name, seconds in entries), 100.0, begun=100.0)
    late = replace(
        plan, entries=tuple(replace(one, form="left out" if one.measure == "c" else "exact") for one in plan.entries)
    )
    for now, wanted in (
        (100.0, [75.0, 95.0, 125.0, 125.0]),
        (190.0, [12.5, 25.0, 35.0, 35.0]),
        (199.0, [12.5, 25.0, 26.0, 26.0]),
        (220.0, [5.0] * 4),
    ):
        monkeypatch.setattr(planning.time, "monotonic", lambda now=now: now)
        assert [plan.may_take(name) for name in "abcd"] == wanted
    monkeypatch.setattr(planning.time, "monotonic", lambda: 100.0)
    assert [late.may_take(name) for name in "ab"] == [80.0, 125.0]
    assert replace(plan, budget=None).may_take("a") is None


def test_recipients_who_hold_different_columns_have_equal_parts_of_the_budget(monkeypatch):
    one, two = cost("a", exact=10.0, fixed=10.0), cost("b", exact=20.0, fixed=20.0)
    monkeypatch.setattr(planning, "_cost", lambda entry, *_: one if entry.name == "nearest" else two)
    measures = [entry for entry in discover().values() if entry.name in {"nearest", "one_to_one"}]
    monkeypatch.setattr(planning, "machine_slowness", lambda: 1.0)
    forms = {
        times: [one.form for one in plan_attacks(release(), measures, Policy.load(), budget=40.0, times=times).entries]
        for times in (1, 2)
    }
    assert forms == {1: ["exact", "exact"], 2: ["exact", "left out"]}
    plan = Plan((Planned("a", "exact", 5, 5, 10.0, 0), Planned("b", "exact", 5, 5, 20.0, 0)), 90.0, begun=0.0, times=3)
    assert plan.seconds == 90.0
    monkeypatch.setattr(planning.time, "monotonic", lambda: 30.0)
    second = plan.share_of(2)
    assert (second.budget, second.left, second.seconds) == (30.0, 30.0, 30.0)
    assert plan.share_of(1) is plan
    assert replace(plan, budget=None).share_of(2).left is None


def test_no_recipient_takes_the_time_of_the_next(monkeypatch):
    measures = assessment.discover()
    monkeypatch.setattr(assessment, "discover", lambda: {**measures, "one_to_one": endless(measures["one_to_one"])})
    unmask.assess(release(), only=QUICK, skip=["one_to_one"], utility="none")  # kernels are compiled
    found = unmask.assess(
        release(),
        only=QUICK,
        budget=16.0,
        utility="none",
        recipients=[{"name": "all"}, {"name": "some", "columns": ["a", "b"], "intruder": "prosecutor"}],
    )
    plan = found.to_dict()["manifest"]["plan"]
    assert plan["budget"] == 16.0
    assert plan["measures"] == {"one_to_one": {"form": "left out"}}
    assert "parties" not in plan  # nearest ran for both


def test_what_comes_after_its_time_is_ended_and_what_came_before_is_not():
    assert ended_in_time()
    for limit in (None, 0.05, 30.0):
        with within(limit):
            done = True
        time.sleep(0.1)
        assert done
    with within(30.0):
        found = []
        thread = threading.Thread(target=lambda: found.append(ended_in_time()))
        thread.start()
        thread.join()
    assert found == [True]


def test_a_library_that_is_being_loaded_is_loaded_whole(tmp_path, monkeypatch):
    """Half a library breaks whoever asks for it next: its module is gone, and its compiled parts are not."""
    (tmp_path / "slow_to_load.py").write_text(
        "import time\nend = time.monotonic() + 0.5\nwhile time.monotonic() < end:\n    pass\nwhole = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    loaded = []
    assert ended_in_time(lambda: loaded.append(importlib.import_module("slow_to_load").whole))
    assert loaded == [True]


def ended_in_time(first=lambda: None):
    began = time.monotonic()
    try:
        with within(0.05):
            first()
            while time.monotonic() - began < 30:
                pass
    except OutOfTimeError:
        return time.monotonic() - began < 20


def test_what_takes_next_to_nothing_does_not_wait_for_what_takes_long(monkeypatch):
    monkeypatch.setattr(planning, "machine_slowness", lambda: 1.0)
    names = ["channel", "dictionary", "nearest"]
    assert [one.measure for one in unmask.plan_assessment(release(), only=names, budget=100).entries][-1] == "channel"
    monkeypatch.setattr(planning, "SMALL", 0.0)
    assert [one.measure for one in unmask.plan_assessment(release(), only=names, budget=100).entries][
        -1
    ] == "dictionary"


def test_no_attack_outlives_its_time_by_taking_the_error_for_its_own():
    assert not issubclass(OutOfTimeError, Exception)


# --- people in place of all -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.1, 0.6])
def test_the_interval_of_some_people_contains_what_all_give(noise):
    given = release(300, noise)
    whole = unmask.link_nearest(given)
    exact = whole.estimate.value, whole.known().value
    inside = []
    for seed in range(150):
        found = unmask.link_nearest(given, sample=people_by_hash(given, 60, seed))
        inside.append(
            [e.low <= value <= e.high for e, value in zip((found.estimate, found.known()), exact, strict=True)]
        )
    assert 0 < exact[0] < 1
    assert np.mean(inside, axis=0).min() >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dictionary", "permuted"])
def test_the_tests_of_maximum_knowledge_of_some_people_contain_what_all_give(name):
    given, entry = release(200, 0.3), discover()[name]
    exact = {one.key: one.estimate.value for one in run_measure(entry, given, Context(0)).observations}
    inside = {key: [] for key in exact}
    for seed in range(40):
        context = Context(0, people=people_by_hash(given, 60, seed))
        for one in run_measure(entry, given, context).observations:
            inside[one.key].append(one.estimate.low <= exact[one.key] <= one.estimate.high)
    assert {key: np.mean(of) for key, of in inside.items() if np.mean(of) < 0.93} == {}


@pytest.mark.slow
def test_what_is_found_all_at_once_is_within_the_interval_of_some_people():
    given, entry = release(400, 0.3), discover()["one_to_one"]
    exact = {one.key: one.estimate.value for one in run_measure(entry, given, Context(0)).observations}
    inside = {key: [] for key in exact}
    for seed in range(40):
        context = Context(0, people=people_by_hash(given, 120, seed))
        for one in run_measure(entry, given, context).observations:
            inside[one.key].append(one.estimate.low <= exact[one.key] <= one.estimate.high)
    assert {key: np.mean(of) for key, of in inside.items() if np.mean(of) < 0.93} == {}


def mixed(n, share):
    """Columns that go together, and noise that goes together otherwise."""
    rng = np.random.default_rng(3)
    own = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4))
    made = own + rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) * share
    names = {"id": [f"P{k}" for k in range(n)]}
    tables = (pl.DataFrame({**names, **dict(zip("abcd", table.T, strict=True))}) for table in (own, made))
    return unmask.Release(*tables, id="id")


@pytest.mark.slow
@pytest.mark.parametrize("given", [release(1200, 0.3), mixed(1200, 0.3)], ids=["one noise for all", "mixed"])
def test_what_a_learnt_noise_finds_all_at_once_is_within_the_interval_of_some_people(given, monkeypatch):
    """What was learnt of some people is part of the attack: with it, everybody is looked for at once."""
    monkeypatch.setattr(likelihood, "TOGETHER", 300)
    learnt, study, inside = likelihood._learn_from, Study(given), []
    for seed in range(15):
        people = people_by_hash(given, 400, seed)
        known = learnt(Study(fewer_people(study, people, 300, 0)), likelihood.STARTS, 0, silent)
        monkeypatch.setattr(likelihood, "_learn_from", lambda *_, known=known: known)
        whole = [at_once.mean() for _, at_once in likelihood._compared(*known, study, 0)]
        found = likelihood.link_likelihood(study, people=people)
        inside.append([e.low <= v <= e.high for e, v in zip((found.estimate, found.known()), whole, strict=True)])
    assert np.mean(inside, axis=0).min() >= 0.93


@pytest.mark.parametrize("name", ["one_to_one", "likelihood"])
def test_some_people_stand_for_all_who_compete(name):
    """In the same way for any order of rows, and with a word about it."""
    given, order = release(), np.random.default_rng(5).permutation(150)
    shuffled = unmask.Release(given.original[order], given.released[::-1], id="id")
    found = [
        run_measure(discover()[name], one, Context(0, people=people_by_hash(one, 60, 0))) for one in (given, shuffled)
    ]
    told = [[(o.key, round(o.estimate.value, 9), round(o.estimate.high, 9)) for o in one.observations] for one in found]
    assert told[0] == told[1]
    assert found[0].observations[0].estimate.n == 60
    assert any("among" in note and "people" in note for note in found[0].notes)


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_of_a_bounded_matching_contains_the_exact_rate(seed):
    rng = np.random.default_rng(seed)
    own = pl.DataFrame({name: rng.normal(size=400) for name in "abc"})
    given, entry = unmask.Release(own, own.select(pl.all() + rng.normal(0, 0.4, 400))), discover()["one_to_one"]
    exact, loose = (run_measure(entry, given, Context(0, loose=loose)) for loose in (False, True))
    assert exact.inexact == ""
    found = loose.observations[0].estimate
    assert found.low <= exact.observations[0].estimate.value <= found.high


def test_some_people_are_found_as_they_are_among_all():
    given = release()
    rows, whole = people_by_hash(given, 40, 0), unmask.link_nearest(given)
    for direction in ("to_release", "to_original"):
        whole = unmask.link_nearest(given, direction=direction).per_record(150)
        some = unmask.link_nearest(given, direction=direction, sample=rows).per_record(150)
        assert np.array_equal(some[rows], whole[rows])
        assert np.isnan(np.delete(some, rows)).all()
    entry = discover()["dictionary"]
    whole, some = (run_measure(entry, given, Context(0, people=people)) for people in (None, rows))
    asked = ~np.isnan(some.per_record)
    assert np.array_equal(np.flatnonzero(asked), rows)
    assert some.observations[0].estimate.n == 40


def test_the_same_result_in_any_order_of_rows_and_on_any_number_of_threads():
    given, order = release(), np.random.default_rng(5).permutation(150)
    shuffled = unmask.Release(given.original[order], given.released[np.random.default_rng(6).permutation(150)], id="id")
    before = numba.get_num_threads()
    found = []
    try:
        for one, threads in ((given, 1), (given, numba.config.NUMBA_NUM_THREADS), (shuffled, 1)):
            numba.set_num_threads(threads)
            found.append(unmask.assess(one, only=["nearest"], plan=forced(["nearest"]), utility="none"))
    finally:
        numba.set_num_threads(before)
    told = [[(f.key, f.estimate, f.outcome) for f in one.findings] for one in found]
    assert told[0] == told[1] == told[2]
    assert np.allclose(found[0].risks[order], found[2].risks, equal_nan=True)


# --- what the verdict and the report make of it ---------------------------------------------------------------------


def judged(asked, policy="public", hits=0, inexact=""):
    estimate = Estimate(hits / 50_000, 0.0, 0.0001, 50_000, 0.0, None, "wilson")
    evidence = Evidence((Observation("nearest.known", "claim.", estimate, claims=hits),), asked=asked, inexact=inexact)
    (found,) = (
        one
        for one in conclude([Reported("nearest", "T", "s", evidence)], Policy.load(policy), columns=()).findings
        if one.key == "nearest.known"
    )
    return found


def test_that_it_is_true_of_nobody_is_not_shown_by_some():
    assert judged(None).outcome == "for"
    found = judged((50_000, 100_000))
    assert found.outcome == "inconclusive"
    assert "50,000 of 100,000 people were asked for" in found.reason
    assert judged((50_000, 100_000), "partner").outcome == "for"  # a share, which the interval shows


def test_that_it_is_true_of_nobody_is_not_shown_by_a_matching_that_is_not_proven_the_best():
    found = judged(None, inexact="matched within 0.001 of the least total distance")
    assert found.outcome == "inconclusive"
    assert "matched within 0.001" in found.reason
    assert judged(None, "partner", inexact="matched within 0.001").outcome == "for"


def test_the_headline_says_who_was_asked_for_and_verify_asks_for_the_same(tmp_path):
    given = release(150)
    for name, table in (("a.csv", given.original), ("b.csv", given.released)):
        table.write_csv(tmp_path / name)
    files = unmask.Release(tmp_path / "a.csv", tmp_path / "b.csv", id="id")
    found = unmask.assess(files, only=QUICK, plan=forced(uniqueness="left out"), utility="none")
    assert found.verdict != "safe"
    assert "60 of 150 people were asked for" in found.reason
    done = found.to_dict()["manifest"]["plan"]["measures"]
    assert done == {"nearest": {"form": "sampled", "people": 60, "out_of": 150}, "uniqueness": {"form": "left out"}}
    found.write_json(tmp_path / "report.json")
    assert unmask.verify(tmp_path / "report.json").same
    again = plan_of(found.to_dict()["manifest"], QUICK)
    assert [again[name].form for name in QUICK] == ["sampled", "exact", "left out"]
    assert "Only 60 of 150 people were asked for" in render(found.document).split("What was not tested")[0]


def test_what_was_left_out_for_want_of_time_is_never_safe():
    given = release(400, 50.0)  # nobody is found
    plan = forced(["anonymity", "nearest", "uniqueness"], people=400, n=400, uniqueness="left out")
    found = unmask.assess(given, only=["anonymity", "nearest", "uniqueness"], plan=plan, utility="none")
    assert {f.outcome for f in found.findings if f.measure == "uniqueness"} == {"could not run"}
    assert found.verdict == "inconclusive"


def test_a_budget_too_small_for_anything_says_so_once(tmp_path):
    found = unmask.assess(release(), budget=0.001, utility="none")
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("there was no time for any attack within the budget")
    assert all(f.estimate is None for f in found.findings)
    assert found.to_dict()["manifest"]["plan"]["budget"] == 0.001


def test_a_budget_with_time_enough_changes_nothing():
    given = release(100)
    whole, within = (unmask.assess(given, only=QUICK, budget=budget, utility="none") for budget in (None, "2h"))
    assert whole.document.digest == within.document.digest


def test_with_a_budget_other_draws_of_the_masking_are_attacked_as_well():
    """Or a release would be safe because there was a budget: without draws its people's risks were not judged."""
    given = masked_alike(3.0)
    whole, within_ = (assess_risk(given, budget=budget) for budget in (None, "2h"))
    assert whole.document.digest == within_.document.digest
    assert "risk.above" in {finding.key for finding in within_.findings}


def test_without_time_for_other_draws_nothing_is_safe_and_verify_attacks_none(tmp_path, monkeypatch):
    given = masked_alike(3.0)
    assert assess_risk(given, budget="2h").verdict == "safe"
    monkeypatch.setattr(Plan, "left_for_draws", property(lambda _: 0.0))
    found = assess_risk(given, budget="2h")
    assert found.verdict == "inconclusive"
    assert "Risk" in found.reason
    done = found.to_dict()["manifest"]["plan"]["measures"]
    assert done == {"risk": {"form": "left out"}}
    monkeypatch.undo()
    assert plan_of(found.to_dict()["manifest"], QUICK).left_for_draws == 0.0
    assert (
        assess_risk(given, plan=plan_of(found.to_dict()["manifest"], RISKED)).document.digest == found.document.digest
    )


RISKED = ["anonymity", "nearest", "one_to_one", "uniqueness"]


def masked_alike(sd):
    """People and a release whose masking is known: other draws of it can be attacked."""
    own = pl.DataFrame(np.random.default_rng(0).normal(size=(600, 4)), schema=list("abcd"))
    return unmask.Release(own, unmask.parse_masking(f"noise({sd})").apply(own, 1), masking=f"noise({sd})")


def assess_risk(given, **more):
    return unmask.assess(given, only=RISKED, intruder="prosecutor", utility="none", **more)


# --- the command line -----------------------------------------------------------------------------------------------


def tables(folder):
    given = release()
    given.original.write_csv(folder / "a.csv")
    given.released.write_csv(folder / "b.csv")
    return folder / "a.csv", folder / "b.csv", "--id", "id"


def test_plan_is_shown_and_nothing_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("unmask.attacks.run_measure", lambda *_: pytest.fail("an attack was run"))
    assert run("assess", *tables(tmp_path), "--plan") == 0
    told = capsys.readouterr().out
    (line,) = (line for line in told.splitlines() if line.startswith("nearest"))
    assert "exact" in line
    assert "150 of 150" in line
    assert " s" in line
    assert "MB" in line
    assert "more do not apply" in told


def test_plan_counts_recipients_who_hold_different_columns(tmp_path, capsys):
    config = tmp_path / "unmask.toml"
    config.write_text(
        '[[recipients]]\nname = "all"\n[[recipients]]\nname = "same"\n'
        '[[recipients]]\nname = "some"\nintruder = "prosecutor"\ncolumns = ["a"]\n'
    )
    assert run("assess", *tables(tmp_path), "--plan", "--config", str(config)) == 0
    assert "for each of 2 recipients who hold different columns" in " ".join(capsys.readouterr().out.split())


def test_plan_within_a_budget_names_what_has_no_time(tmp_path, capsys):
    assert run("assess", *tables(tmp_path), "--plan", "--budget", "1s") == 0
    assert "nothing is then called safe" in capsys.readouterr().out


@pytest.mark.parametrize("more", [(), ("--plan",)])
def test_a_budget_that_cannot_be_read_is_one_error(tmp_path, capsys, more):
    assert run("assess", *tables(tmp_path), "--budget", "soon", *more) == 2
    assert "cannot read this time" in capsys.readouterr().err


def test_no_time_on_the_command_line(tmp_path, capsys):
    assert run("assess", *tables(tmp_path), "--budget", "0.001s", "--utility", "none") == 3
    told = " ".join(capsys.readouterr().out.split())
    assert "no time for any attack" in told.replace("│", "").replace("  ", " ")
