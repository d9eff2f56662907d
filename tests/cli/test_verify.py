"""`unmask verify` of a report that was written before measures and settings were renamed.

data/before_the_move.json was written by version 0.1 (commit 0f323d8), from the two tables beside it.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import unmask
from command_line import run
from unmask.verify import VERDICT_SINCE_0_1, brought_up_to_date

DATA = Path(__file__).parent / "data"
MEASURES = {
    "global": "one_to_one",
    "scenario": "knowledge_curve",
    "special": "special_uniques",
    "knowledge": "knowledge_sweep",
    "cell_attacks": "cells",
}
KEYS = {  # figures whose limit has another name
    f"{old}.{figure}": f"{MEASURES[old]}.{figure}"
    for old, figures in {
        "global": ("rate", "known"),
        "scenario": ("half",),
        "special": ("rate",),
        "knowledge": ("rate",),
    }.items()
    for figure in figures
}


@pytest.fixture(scope="module")
def result():
    return unmask.verify(DATA / "before_the_move.json")


def test_every_name_that_moved_is_told_and_no_other(result):
    told = set(result.moved)
    expected = {f"measure {old!r} is called {new!r} now" for old, new in MEASURES.items()}
    expected |= {f"limit {old!r} of the policy is called {new!r} now" for old, new in KEYS.items()}
    expected |= {"setting paired = True is called synthetic = False now"}
    new = ("cells.claimed", "cells.rare", "risk.above")
    expected |= {f"figure {key!r} is new: its limit is that of the profile 'public'" for key in new}
    expected |= {"policy 'default' is called 'public' now"}
    assert {line for line in told if "digest" not in line and "the report's own is used" not in line} == expected
    assert "limit 'nearest.rate' was 20 %, is 9 % now; the report's own is used" in told
    assert len([line for line in told if "digest" in line]) == 1
    assert not result.same


def test_figures_are_compared_under_their_new_names(result):
    """Whatever is said to differ is a figure that changed, never one that seems to be gone because of its name."""
    gone = [line for line in result.differences if "is only in" in line or "no measure" in line]
    assert gone == ["finding cells.claimed is only in the new run"]  # a figure that the former version did not have
    for stable in ("one_to_one.rate", "one_to_one.known"):  # nearest judges the better of two directions now
        lines = [line for line in result.differences if f"finding {stable} " in line]
        assert all("still is, with another interval" in line for line in lines)  # they are wider than they were


def test_what_changed_since_0_1_is_explained_for_the_figures_of_the_report(result):
    assert result.since[0].startswith("the report is in the form unmask-report/1 of unmask 0.1, which is read")
    by = {line.split(": ")[0]: line for line in result.since}
    assert "both directions of linkage" in by["nearest.known, nearest.rate"]
    assert "the interval is wider" in by["knowledge_curve.half, nearest.known, one_to_one.known, one_to_one.rate"]
    assert by["verdict"] == VERDICT_SINCE_0_1
    assert not [line for line in result.since if "anonymity" in line or "dictionary" in line]  # not in this report
    changed = {
        line.split()[1] for line in result.differences if line.startswith("finding ") and " only in " not in line
    }
    told = {key for line in result.since[1:] for key in line.split(": ")[0].split(", ")}
    assert changed and changed <= told  # nothing differs without a reason


def test_the_command_tells_them_and_ends_with_1(capsys):
    assert run("verify", DATA / "before_the_move.json") == 1
    shown = capsys.readouterr().out
    assert "  measure 'global' is called 'one_to_one' now\n" in shown
    assert "  setting paired = True is called synthetic = False now\n" in shown
    assert "not the same result" in shown
    assert "what has changed in unmask since the version that wrote the report\n  the report is in the form" in shown


def test_a_figure_that_changed_is_told_beside_the_names(tmp_path):
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path)
    report = tmp_path / "before_the_move.json"
    text = re.sub(r'("key": "global.rate".*?"value": )[\d.]+', r"\g<1>0.125", report.read_text(), flags=re.DOTALL)
    report.write_text(text)
    result = unmask.verify(report)
    assert [line for line in result.differences if line.startswith("finding one_to_one.rate was 0.125, is ")]
    assert "measure 'global' is called 'one_to_one' now" in result.moved


def test_a_figure_that_is_new_takes_its_limit_from_the_profile(tmp_path):
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path)
    report = tmp_path / "before_the_move.json"
    data = json.loads(report.read_text())
    data["manifest"]["measures"] = ["nearest"]
    del data["manifest"]["policy"]["thresholds"]["nearest.known"]
    report.write_text(json.dumps(data))
    assert "figure 'nearest.known' is new: its limit is that of the profile 'public'" in unmask.verify(report).moved


def test_a_synthetic_report_stays_synthetic():
    """The setting is turned round with its name: a release without pairs must not be run as one with pairs."""
    data = json.loads((DATA / "before_the_move.json").read_text())
    data["manifest"]["settings"]["paired"] = False
    current, moved = brought_up_to_date(data)
    assert current["manifest"]["settings"]["synthetic"] is True
    assert "paired" not in current["manifest"]["settings"]
    assert "setting paired = False is called synthetic = True now" in moved


def test_a_report_of_today_has_not_moved(files, tmp_path):
    report = tmp_path / "r.json"
    run("assess", *files, "--id", "patient", "--only", "gdbrl,nearest", "--quiet", "--json", report)
    result = unmask.verify(report)
    assert result.same and result.moved == () and result.since == ()
    assert json.loads(report.read_text())["manifest"]["measures"] == ["nearest", "one_to_one"]
