"""Whatever is given, nothing that must never happen does: a bounded part of `make fuzz`, by hypothesis."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fuzz import files, run, running
from fuzz.columns import DIGITS, WORD
from fuzz.inputs import KINDS, Input, kind_of, make
from fuzz.judging import faults
from fuzz.running import Said

SEEDS = st.integers(0, 2**31)


def wrong(seed):
    with tempfile.TemporaryDirectory() as folder:
        return run.tried(seed, Path(folder))[2]


@settings(max_examples=60)
@given(seed=SEEDS)
def test_reading_and_checking_end_well(seed):
    assume(kind_of(seed)[2] == "read")
    assert wrong(seed) == []


@pytest.mark.slow
@settings(max_examples=250)
@given(seed=SEEDS)
def test_whatever_is_done_ends_well(seed):
    assume(kind_of(seed)[2] != "all")
    assert wrong(seed) == []


@pytest.mark.parametrize("name", files.PLACES)
@pytest.mark.parametrize("way", ["read", "command"])
def test_what_is_no_file_is_refused_or_read(name, way, tmp_path):
    path = files.PLACES[name](tmp_path)
    one = Input(0, name, way, path, files.GOOD, {}, canary=True, lot=kind_of(0)[0])
    assert faults(one, running.run(one, tmp_path)) == []


def test_a_seed_makes_the_same_input_again(tmp_path):
    for seed in range(40):
        places = [tmp_path / str(seed) / side for side in "ab"]
        for place in places:
            place.mkdir(parents=True)
        one, other = (make(seed, place) for place in places)
        assert (one.kind, one.way, sorted(one.said)) == (other.kind, other.way, sorted(other.said))
        if one.kind == "frames":
            assert one.original.equals(other.original) and one.released.equals(other.released)
        elif not one.kind.startswith("place"):
            assert one.original.read_bytes() == other.original.read_bytes()
    assert {kind_of(seed)[1] for seed in range(400)} == set(KINDS)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (Said("traceback", where="Traceback\nKeyError: 1"), "traceback"),
        (Said("hang"), "hang"),
        (Said("exit 70", code=70), "exit code"),
        (Said("read", warned=["RuntimeWarning: x"]), "warning"),
        (Said("read", messages=["UserWarning: x"]), "warning"),
        (Said("refused", under=["thread '<unnamed>' panicked"]), "past Python"),
        (Said("safe", messages=["could not run: an error of unmask itself (KeyError); run again"]), "of unmask itself"),
        (Said("refused", messages=[f"no such town: {WORD}3"]), "a value"),
        (Said("refused", messages=[f"got: {int(DIGITS):,}"]), "a value"),
    ],
)
def test_the_judge_sees_each_fault(said, word):
    one = Input(0, "text", "read", None, None, {}, canary=True, lot=kind_of(0)[0])
    assert any(word in fault for fault in faults(one, said))
    assert faults(one, Said("read", messages=["all is well"], code=0)) == []
    assert faults(one, Said("safe"), Said("unsafe")) == ["another result the second time"]


def test_a_pipe_that_nobody_writes_to_is_a_hang(tmp_path, monkeypatch):
    """The limit stops what waits for nothing."""
    monkeypatch.setattr(running, "LIMIT", 1)
    path = files.PLACES["pipe"](tmp_path)
    monkeypatch.setattr(running, "_way", lambda *_, **__: path.read_bytes())
    one = Input(0, "pipe", "read", path, path, {}, canary=True, lot=kind_of(0)[0])
    assert running.run(one, tmp_path).outcome == "hang"


def test_a_run_goes_on_where_it_was(tmp_path, monkeypatch):
    counts, asked = tmp_path / "counts.json", []
    monkeypatch.setattr(run, "tried", lambda seed, _: asked.append(seed) or ("text | read", "read", [], ""))
    for _ in range(2):
        assert run.go_on(counts, 1.0, 3) == 0
    assert asked == [0, 1, 2, 3, 4, 5]
    monkeypatch.setattr(run, "state", lambda: "another source")
    monkeypatch.setattr(run, "tried", lambda seed, _: ("text | read", "hang", ["hang"], ""))
    assert run.go_on(counts, 1.0, 2) == 2
    parts = list(json.loads(counts.read_text()).values())
    assert [part["counts"] for part in parts] == [{"text | read | read": 6}, {"text | read | hang": 2}]
    assert parts[1]["first"] == 6 and set(parts[1]["faults"]) == {"6", "7"}
    assert "| text | read | 8 | read 6, hang 2 |" in run.table(counts)


def test_an_input_that_kills_the_process_is_named_by_the_next(tmp_path, monkeypatch):
    counts, asked = tmp_path / "counts.json", []

    def deadly(seed, _):
        asked.append(seed)
        if seed == 1:
            raise KeyboardInterrupt
        return "text | read", "read", [], ""

    monkeypatch.setattr(run, "tried", deadly)
    with pytest.raises(KeyboardInterrupt):
        run.go_on(counts, 1.0, 3)
    assert run.go_on(counts, 1.0, 3) == 1
    part = next(iter(json.loads(counts.read_text()).values()))
    assert asked == [0, 1, 0, 2] and part["faults"] == {"1": ["the process died"]}
    assert part["counts"] == {"text | read | read": 2, "unknown | unknown | died": 1}
