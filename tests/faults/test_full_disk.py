"""A disk that is full, or becomes so: reports, and the folder of finished work, which goes on when there is room."""

from __future__ import annotations

import json

import pytest

import unmask
from command_line import shell
from fault_runs import BEFORE, Ended, fill_up, left_over, one_clear_message

MEASURES = "anonymity,uniqueness,nearest,values,intervals,knowledge_sweep"
PAGE = 4096


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    people = unmask.datasets.patients(60, seed=5).select("patient", "sex", "height", "cost", "smoker", "town")
    people.write_csv(folder / "a.csv")
    unmask.parse_masking("noise(0.3)").apply(people, 1).write_csv(folder / "b.csv")
    return ["assess", folder / "a.csv", folder / "b.csv", "--id", "patient", "--only", MEASURES, "--quiet"]


def call(*words):
    ran = shell(*words)
    ended = Ended(ran.returncode, ran.stdout, ran.stderr)
    one_clear_message(ended)
    return ended


def findings(path):
    told = json.loads(path.read_text())
    return told["verdict"], told["findings"]


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, PAGE, 3 * PAGE])
def test_finished_work_on_a_disk_that_runs_full_goes_on_when_there_is_room(tables, disk, tmp_path, room):
    """What was kept until then is whole and is used; the report of before stays until there is a new one."""
    kept, report = disk / "kept", tmp_path / "r.json"
    report.write_bytes(BEFORE)
    words = (*tables, "--state", kept, "--json", report)
    fill_up(disk, but=room)
    full = call(*words)
    assert full.code == 2 and "make room on the disk" in full.err, full
    assert report.read_bytes() == BEFORE and left_over(disk) == []
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.json")}
    for path in before:
        json.loads(path.read_text())
    assert bool(before) == (room > 0)
    (disk / "filled").unlink()
    again, plain = call(*words), call(*tables, "--json", tmp_path / "plain.json")
    assert again.code == plain.code in {0, 1, 3}
    assert findings(report) == findings(tmp_path / "plain.json")
    assert {path: path.stat().st_mtime_ns for path in before} == before  # not run again


@pytest.mark.slow
@pytest.mark.parametrize("written", ["json", "html"])
@pytest.mark.parametrize("room", [0, PAGE, 2 * PAGE])
def test_a_report_on_a_disk_that_runs_full_is_whole_or_the_one_of_before(tables, disk, written, room):
    """There may be room to begin it: also then the file of before stays, and nothing is left beside it."""
    report = disk / f"r.{written}"
    report.write_bytes(BEFORE)
    fill_up(disk, but=room)
    full = call(*tables, f"--{written}", report)
    assert full.code == 2 and "make room on the disk" in full.err, full
    assert report.read_bytes() == BEFORE and left_over(disk) == []
