"""An assessment that was stopped goes on where it was, the same to the last bit; what does not fit is not taken."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import unmask
from unmask import attacks, resume
from unmask.errors import TableError
from unmask.evidence import Absence, Evidence
from unmask.resume import decode, encode, keeping
from unmask.tables import locked_folder

QUICK = ["nearest", "uniqueness", "inference", "probabilistic", "anonymity"]


def release(seed=1, n=80):
    people = unmask.datasets.patients(n, seed=5)
    masked = unmask.parse_masking("noise(0.3)").apply(people, seed)
    return unmask.Release(people, masked, id="patient", confidential=["diagnosis"])


def counted(monkeypatch):
    """Names of the measures that are really run."""
    ran, plain = [], attacks.run_measure
    monkeypatch.setattr(attacks, "run_measure", lambda entry, *rest: ran.append(entry.name) or plain(entry, *rest))
    return ran


def test_what_was_finished_is_not_run_again_and_the_result_is_the_same(tmp_path, monkeypatch):
    whole = unmask.assess(release(), only=QUICK)
    ran = counted(monkeypatch)

    def stop(entry, *rest):
        if entry.name == "probabilistic":
            raise KeyboardInterrupt
        return plain(entry, *rest)

    plain = attacks.run_measure
    monkeypatch.setattr(attacks, "run_measure", stop)
    with pytest.raises(KeyboardInterrupt):
        unmask.assess(release(), only=QUICK, resume=tmp_path / "state")
    assert ran == ["anonymity", "inference", "nearest"]
    monkeypatch.setattr(attacks, "run_measure", plain)
    del ran[:]
    again = unmask.assess(release(), only=QUICK, resume=tmp_path / "state")
    assert ran == ["probabilistic", "uniqueness"]
    assert again.document.digest == whole.document.digest
    assert again.records.equals(whole.records)
    assert again.findings == whole.findings


@pytest.mark.parametrize(
    "other",
    [
        lambda state: unmask.assess(release(seed=2), only=QUICK, resume=state),
        lambda state: unmask.assess(release(), only=QUICK, resume=state, seed=3),
        lambda state: unmask.assess(release(), only=QUICK, resume=state, show_values=True),
        lambda state: unmask.assess(
            unmask.Release(release().original, release().released, id="patient", confidential=["cost"]),
            only=QUICK, resume=state,
        ),
    ],
    ids=["another table", "another seed", "values shown", "other roles"],
)  # fmt: skip
def test_what_does_not_fit_is_not_taken(tmp_path, monkeypatch, other):
    unmask.assess(release(), only=QUICK, resume=tmp_path)
    ran = counted(monkeypatch)
    other(tmp_path)
    assert ran == sorted(QUICK)


def test_a_broken_file_is_run_again(tmp_path, monkeypatch):
    whole = unmask.assess(release(), only=QUICK, resume=tmp_path)
    for number, path in enumerate(sorted(tmp_path.glob("*.json"))):
        path.write_text(['{"$type"', '{"$type": "Path"}', "[]", '{"$type": "Fact", "x": 1}', "\0"][number])
    ran = counted(monkeypatch)
    assert unmask.assess(release(), only=QUICK, resume=tmp_path).document.digest == whole.document.digest
    assert ran == sorted(QUICK)


def test_what_is_kept_holds_no_cell_and_is_the_owners_alone(tmp_path):
    people = unmask.datasets.patients(80, seed=5)
    canary = people.with_columns(diagnosis=people["diagnosis"].str.replace("^", "CANARY"))
    given = unmask.Release(canary, unmask.parse_masking("noise(0.3)").apply(canary, 1), id="patient",
                           confidential=["diagnosis"])  # fmt: skip
    unmask.assess(given, only=QUICK, resume=tmp_path / "state")
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    kept = sorted((tmp_path / "state").glob("*.json"))
    assert len(kept) == len(QUICK)
    for path in kept:
        assert "CANARY" not in path.read_text()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.slow
@pytest.mark.parametrize("show_values", [False])
def test_no_attack_leaves_a_value_behind(tmp_path, show_values):
    """Of no column, in words, pictures or arrays, on a paired and a synthetic release, whatever a report shows."""
    everybody = unmask.datasets.patients(150, seed=5)
    texts = [name for name, kind in everybody.schema.items() if kind == pl.String and name != "patient"]
    everybody = everybody.with_columns(pl.col(texts).str.replace("^", "CANARY "), pl.col("cost", "bmi") + 0.123456)
    people, others = everybody[:90], everybody[90:]
    masked = unmask.parse_masking("noise(0.3)").apply(people, 1)
    roles = {"confidential": ["diagnosis", "cost"], "control": others, "id": "patient"}
    cells = np.concatenate([table[name].to_numpy() for table in (people, masked, others) for name in ("cost", "bmi")])
    for more in ({"population": 5000, "coordinates": ["longitude", "latitude"]}, {"synthetic": True}):
        unmask.assess(unmask.Release(people, masked, **roles, **more), resume=tmp_path, show_values=show_values,
                      utility="none")  # fmt: skip
    kept = sorted(tmp_path.glob("*.json"))
    assert len(kept) > 30
    for path in kept:
        assert "CANARY" not in path.read_text(), path.name
        assert not np.isin(numbers_in(json.loads(path.read_text())), cells).any(), path.name
    assert any(path.name.startswith("graph") for path in kept) != show_values


def numbers_in(value):
    """All numbers of a file of the state, those of its arrays among them."""
    if isinstance(value, dict) and "$array" in value:
        return decode(value).astype(float).ravel()
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value] if isinstance(value, (int, float)) else []
    return np.concatenate([np.array(own, dtype=float), *map(numbers_in, inside)])


@pytest.mark.parametrize("other", ["hierarchy", "distances", "known_distances"])
def test_what_is_given_in_memory_is_part_of_the_name(tmp_path, other):
    """A hierarchy or matrix of the same path, or of none, may be another."""
    tree = tmp_path / "sex.csv"
    near = np.abs(np.subtract.outer(np.arange(80.0), np.arange(80.0)))

    def name(change):
        tree.write_text(f"F;{'all' if change != 'hierarchy' else 'everybody'}\nM;all\n")
        given = {key: near * (2 if key == change else 1) for key in ("distances", "known_distances")}
        people = release().original
        made = unmask.Release(people, people, id="patient", hierarchies={"sex": tree}, **given)
        with keeping(tmp_path / "state", made, seed=0) as kept:
            return kept._path(None, "nearest")

    assert name(other) != name("nothing") == name("nothing")


def test_after_a_full_disk_it_goes_on(tmp_path, monkeypatch):
    """The third attack finds no room: one message, nothing half written; with room again the first two are there."""
    plain, times = resume.write_atomically, []

    def full(path, content):
        times.append(path)
        if len(times) == 3:
            raise TableError("cannot write", got="No space left on device")
        plain(path, content)

    monkeypatch.setattr(resume, "write_atomically", full)
    with pytest.raises(TableError, match="No space left"):
        unmask.assess(release(), only=QUICK, resume=tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 2
    ran = counted(monkeypatch)
    unmask.assess(release(), only=QUICK, resume=tmp_path)
    assert ran == sorted(QUICK)[2:]


def test_an_attack_that_could_not_run_is_tried_again(tmp_path, monkeypatch):
    plain = attacks.run_measure
    monkeypatch.setattr(attacks, "run_measure", lambda *_: Absence("could not run", "no memory"))
    unmask.assess(release(), only=["nearest"], resume=tmp_path)
    monkeypatch.setattr(attacks, "run_measure", plain)
    found = unmask.assess(release(), only=["nearest"], resume=tmp_path)
    assert [finding.outcome for finding in found.findings if finding.key == "nearest.rate"] != ["could not run"]


def test_two_runs_in_one_folder_are_one_too_many(tmp_path):
    with locked_folder(tmp_path), pytest.raises(TableError, match="another run works in"):
        unmask.assess(release(), only=["nearest"], resume=tmp_path)


@pytest.mark.slow
def test_every_measure_is_read_back_as_it_was(monkeypatch):
    """On a paired and a synthetic release with people outside: the same evidence after a trip through JSON."""
    seen = []
    plain = attacks.run_measure

    def trip(entry, *rest):
        found = plain(entry, *rest)
        again = decode(json.loads(json.dumps(encode(found))))
        assert encode(again) == encode(found)
        assert type(again) is type(found)
        if isinstance(found, Evidence):
            seen.append(entry.name)
            assert all(np.array_equal(a, b, equal_nan=True) for a, b in
                       ((found.per_record, again.per_record), (found.posterior, again.posterior))
                       if a is not None)  # fmt: skip
        return again

    everybody = unmask.datasets.patients(150, seed=5)
    people, others = everybody[:90], everybody[90:]
    masked = unmask.parse_masking("noise(0.3)").apply(people, 1)
    roles = {"confidential": ["diagnosis", "cost"], "control": others, "id": "patient"}
    for more in ({"population": 5000}, {"synthetic": True}):
        whole = unmask.assess(unmask.Release(people, masked, **roles, **more))
        monkeypatch.setattr(attacks, "run_measure", trip)
        assert unmask.assess(unmask.Release(people, masked, **roles, **more)).document.digest == whole.document.digest
        monkeypatch.setattr(attacks, "run_measure", plain)
    assert {"nearest", "channel", "cells", "membership", "copies", "population"} <= set(seen)


def test_a_killed_command_goes_on_and_leaves_nothing_behind(tmp_path):
    given = release(n=150)
    given.original.write_csv(tmp_path / "a.csv")
    given.released.write_csv(tmp_path / "b.csv")
    a, b, report = (str(tmp_path / name) for name in ("a.csv", "b.csv", "r.json"))
    asked = ["--id", "patient", "--only", ",".join([*QUICK, "learned"]), "--json", report, "--quiet"]
    words = [sys.executable, "-m", "unmask", "assess", a, b, *asked]
    state = tmp_path / ".r.json.state"
    run = subprocess.Popen(words)
    while run.poll() is None and len(list(state.glob("*.json"))) < 2:
        time.sleep(0.02)
    os.kill(run.pid, signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL  # it had not ended
    assert not (tmp_path / "r.json").exists()
    kept = {path.name: path.stat().st_mtime_ns for path in state.glob("*.json")}
    assert kept
    named = [*words, "--state", str(state)]
    assert subprocess.run(named, check=False).returncode in {0, 1, 3}
    assert all((state / name).stat().st_mtime_ns == then for name, then in kept.items())  # a named folder stays
    assert subprocess.run(words, check=False).returncode in {0, 1, 3}
    assert not state.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv", "r.json"]
    assert unmask.verify(tmp_path / "r.json").same


def test_a_synthesiser_whose_script_has_changed_is_another_one(tmp_path):
    """What is kept follows from what the script made, not from its name."""
    script = tmp_path / "make.py"
    own, kept = release(), []
    given = unmask.Release(
        own.original.drop("id", strict=False),
        own.released.drop("id", strict=False),
        synthetic=True,
        masking=unmask.Synthesiser(f"python {script} {{in}} {{out}} {{seed}}"),
    )
    for content in ("pass", "pass  # copies", "pass"):
        script.write_text(content)
        with keeping(tmp_path / "state", given, seed=0) as before:
            kept.append(before.about)
    assert kept[0] == kept[2] != kept[1]
