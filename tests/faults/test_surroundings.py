"""Faults that begin with Python itself, and two runs at once: in processes of their own, as a shell starts them."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import unmask
from fault_runs import BEFORE, Ended, one_clear_message, whole
from unmask.tables import locked_folder, write_atomically

SOURCE = Path(unmask.__file__).parent
ASSESS = "assess a.csv b.csv --id Kundennummer --only anonymity --json r.json --quiet"
LIKE_C = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}  # nothing but ASCII, as on an old server


@pytest.fixture
def place(tmp_path):
    """People whose columns have letters that ASCII lacks, and that Turkish writes otherwise."""
    names = {"patient": "Kundennummer", "sex": "İşçi", "height": "Größe", "cost": "INCOME"}
    people = unmask.datasets.patients(60, seed=5).select(*names).rename(names)
    people.write_csv(tmp_path / "a.csv")
    unmask.parse_masking("noise(0.3)").apply(people, 1).write_csv(tmp_path / "b.csv")
    return tmp_path


def shell(words, folder, *flags, stdout=subprocess.PIPE, **env):
    command = [sys.executable, *flags, "-m", "unmask", *words.split(" ")]
    ran = subprocess.run(
        command, cwd=folder, stdout=stdout, stderr=subprocess.PIPE, env={**os.environ, **env}, check=False
    )
    ended = Ended(ran.returncode, (ran.stdout or b"").decode(), ran.stderr.decode())
    one_clear_message(ended)
    return ended


def found(path):
    """What a report says, without when it was made and how it was called."""
    told = json.loads(path.read_text())
    return {name: told[name] for name in ("verdict", "findings")}


@pytest.mark.slow
def test_names_that_the_terminal_cannot_write_are_written_all_the_same(place):
    ended = shell("check a.csv b.csv --json -", place, **LIKE_C)
    assert ended.code in {0, 1, 3} and "Größe" in {entry["name"] for entry in json.loads(ended.out)["columns"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "env"),
    [((), LIKE_C), ((), {"LC_ALL": "tr_TR.UTF-8"}), (("-O",), {}), ((), {"TERM": "dumb"})],
    ids=["C", "Turkish", "python -O", "dumb"],
)
def test_the_same_is_found(place, flags, env):
    plain = shell(ASSESS, place)
    first = found(place / "r.json")
    again = shell(ASSESS, place, *flags, **env)
    assert (again.code, again.err) == (plain.code, plain.err)
    assert found(place / "r.json") == first


@pytest.mark.slow
def test_turkish_as_it_is_there(place, tmp_path):
    """Made from the sources of the system where it has them: `I` is lower case for nobody but Turks."""
    made = subprocess.run(
        ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(tmp_path / "tr_TR.UTF-8")], check=False, capture_output=True
    )
    there = (tmp_path / "tr_TR.UTF-8").exists()
    if not there and not os.environ.get("CI"):  # .ci/run installs it
        pytest.skip("the package locales is not installed")
    assert there, made.stderr
    first = shell(ASSESS, place), found(place / "r.json")
    again = shell(ASSESS, place, LOCPATH=str(tmp_path), LC_ALL="tr_TR.UTF-8"), found(place / "r.json")
    assert (first[0].code, first[1]) == (again[0].code, again[1])


@pytest.mark.slow
def test_nothing_asks_for_the_language_of_the_machine():
    """Letters of either case, the order of words and numbers are those of Python, the same everywhere."""
    asks = {"setlocale", "strcoll", "strxfrm", "format_string", "localeconv"}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.Import) and any(each.name == "locale" for each in node.names)), path
            assert not (isinstance(node, ast.Attribute) and node.attr in asks), path
            assert not (isinstance(node, ast.Attribute) and node.attr == "LOCALE"), path


def test_a_closed_standard_error_does_not_make_a_verdict(place):
    """Exit code 1 is "unsafe": a message that cannot be told must not become one."""
    code = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m unmask mask missing.csv -o r.csv 2>&-"], cwd=place, check=False
    )
    assert code.returncode == 2


# --- two at once ----------------------------------------------------------------------------------------------------


def test_a_second_run_for_the_same_report_is_refused_and_changes_nothing(place):
    (place / "r.json").write_bytes(BEFORE)
    with locked_folder(place / ".r.json.state"):
        ended = shell(ASSESS, place)
    assert ended.code == 2 and "another run works in" in ended.err
    assert (place / "r.json").read_bytes() == BEFORE


@pytest.mark.slow
def test_two_runs_that_write_one_file_leave_one_of_theirs(place):
    words = [sys.executable, "-m", "unmask", "mask", "a.csv", "--masking", "noise(0.3)", "-o", "r.csv", "--seed"]
    runs = [
        subprocess.Popen([*words, seed], cwd=place, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) for seed in "12"
    ]
    assert [(run.communicate()[1], run.returncode) for run in runs] == [(b"", 0)] * 2
    assert whole(place / "r.csv") and sorted(path.name for path in place.iterdir()) == ["a.csv", "b.csv", "r.csv"]


def test_a_reader_sees_one_file_or_the_other(tmp_path):
    target, ends = tmp_path / "t.json", threading.Event()
    texts = [json.dumps({"n": [digit] * 20_000}) for digit in (1, 2)]

    def write(text):
        while not ends.is_set():
            write_atomically(target, text)

    write_atomically(target, texts[0])
    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    for writer in writers:
        writer.start()
    seen = [target.read_text() for _ in range(200)]
    ends.set()
    for writer in writers:
        writer.join()
    assert set(seen) <= set(texts) and [path.name for path in tmp_path.iterdir()] == ["t.json"]


def test_a_folder_that_the_run_before_has_just_removed_is_not_worked_in(tmp_path, monkeypatch):
    """The lock was taken on a file that is gone: two runs would each believe that the folder is theirs."""
    from unmask.tables import folder as room

    place, plain = tmp_path / "state", room.fcntl.flock

    def removed(*given):
        (place / room.LOCK).unlink()
        return plain(*given)

    monkeypatch.setattr(room.fcntl, "flock", removed)
    with pytest.raises(unmask.errors.TableError, match="another run works in"), locked_folder(place):
        pytest.fail("it was let in")
