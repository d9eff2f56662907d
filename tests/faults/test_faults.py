"""Every cell of the table on docs/faults.md: a command to which something happens, and what is left of its files."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import unmask
from command_line import run
from fault_runs import BEFORE, Forker, fill_up, left_over, nothing_half_written, one_clear_message

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
COMMANDS = {  # words, and what is written
    "assess": (
        "assess a.csv b.csv --id patient --only anonymity --json r.json --html r.html --records r.csv",
        "r.json r.html r.csv",
    ),
    "check": ("check a.csv b.csv --json r.json --accept-roles r.toml", "r.json r.toml"),
    "link": ("link a.csv b.csv --id patient --attack nearest -o r.csv", "r.csv"),
    "mask": ("mask a.csv --masking noise(0.3) -o r.csv", "r.csv"),
    "fix": ("fix b.csv --quasi sex,smoker,town --k 3 -o r.csv", "r.csv"),
    "hierarchy": ("hierarchy a.csv --column height -o r.csv", "r.csv"),
    "utility": ("utility a.csv b.csv -o r.json", "r.json"),
    "explore": ("explore a.csv --id patient --masking noise(0.3) --glance -o r.csv --json r.json", "r.csv r.json"),
    "mask-network": ("mask-network ties.csv -o r.csv --key r.key.csv", "r.csv r.key.csv"),
    "compare": ("compare one.json two.json -o r.html --json r.json", "r.html r.json"),
    "verify": ("verify one.json", ""),
    "measures": ("measures", ""),
    "person": ("person one.json --row 3 --chart r.svg", "r.svg"),
    "sign": ("sign r.jsonld --key key.pem --name A", "r.jsonld.sig"),
    "audit": (
        "audit a.csv --masking laplace(1,[(height,100,220)]) --runs 20 --people 10 --json r.json --chart r.svg",
        "r.json r.svg",
    ),
    "assess-tables": (
        "assess-tables towns.csv sexes.csv --json r.json --html r.html --records r.csv", "r.json r.html r.csv"
    ),
    "network": ("network ties.csv ties.csv --json r.json --html r.html --records r.csv", "r.json r.html r.csv"),
    "selfcheck": ("selfcheck --only anonymity", ""),
    "schema": ("schema report", ""),
    "graph": (
        "graph x.csv y.csv --labels sex --original-lonlat x,y --released-lonlat x,y --planar --tolerance 1 -o r.csv",
        "r.csv",
    ),
    "graph-sweep": (
        "graph-sweep x.csv --labels sex --lonlat x,y --planar --repetitions 1 -o r.csv --chart r.svg",
        "r.csv r.svg",
    ),
    "assess-model": (
        "assess-model m.pkl s.csv --trust --control c.csv --target sex --shadows 4 --json r.json --html r.html",
        "r.json r.html",
    ),
    "protect": (
        "protect p.csv --id patient --policy internal --budget 1s -o safe.csv --points r.csv", "r.csv"
    ),
    "demo": ("demo --n 30 -o d", "d/original.csv d/release.csv d/report.html d/report.json d/records.csv"),
}  # fmt: skip
SMALL = 200  # bytes of the largest file: fewer than any report or table has here
FAULTS = {
    "kill -9 while it writes": {"killed_at": "write"},
    "no file over 200 bytes": {"limits": {"FSIZE": SMALL}, "stdout": "nowhere"},
    "disk full": {"disk": True, "stdout": "nowhere"},
    "output in a read-only folder": {"rights": False, "locked": True},
    "read-only home": {"rights": False, "env": {"HOME": "{home}", "XDG_DATA_HOME": "{home}/data", "UNMASK_KEY": ""}},
    "no home at all": {"env": {"HOME": "/nowhere", "UNMASK_KEY": ""}},
    "TMPDIR is nowhere": {"env": {"TMPDIR": "/nowhere"}},
    "64 files open at once": {"limits": {"NOFILE": 64}},
    "8 files open at once": {"limits": {"NOFILE": 8}},
    "4 MB of memory left": {"more_memory": 4},
    "standard output closed": {"stdout": "closed"},
    "standard output read by nobody": {"stdout": "unread"},
    "standard output on a full disk": {"stdout": "full"},
    "dumb terminal": {"env": {"TERM": "dumb"}},
    "files dated ten years ahead": {"ahead": True},
}
FIRST = (  # of the commands of the second and third table
    "kill -9 while it writes", "no file over 200 bytes", "disk full", "output in a read-only folder", "no home at all",
    "8 files open at once", "4 MB of memory left", "standard output read by nobody", "standard output on a full disk",
)  # fmt: skip
QUICK = {"mask": None, "assess": ("kill -9 while it writes", "standard output read by nobody")}  # None: all faults


def table():
    """The tables of the page: what happens, by fault and command."""
    found, head = {}, []
    for line in PAGE.read_text().splitlines():
        first, *cells = (cell.strip().strip("`") for cell in line.strip("| \n").split("|"))
        head = cells if first == "what happens to it" else head
        if first in FAULTS:
            found |= {(first, name): cell for name, cell in zip(head, cells, strict=True)}
    return found


@pytest.fixture(scope="module")
def forker(tmp_path_factory):
    found = Forker(tmp_path_factory.mktemp("said"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Sixty people, a release, a few ties, and two reports: made once, copied for each cell."""
    folder = tmp_path_factory.mktemp("made")
    people = unmask.datasets.patients(60, seed=5).select("patient", "sex", "height", "cost", "smoker", "town")
    masked = unmask.parse_masking("noise(0.3)").apply(people, 1)
    people.write_csv(folder / "a.csv")
    masked.write_csv(folder / "b.csv")
    (folder / "ties.csv").write_text("from,to\n" + "".join(f"p{i},p{(i * 7 + 1) % 60}\n" for i in range(120)))
    for name in ("town", "sex"):
        people.group_by(name, "smoker").len("count").sort(name, "smoker").write_csv(folder / f"{name}s.csv")
    (folder / "sexs.csv").rename(folder / "sexes.csv")
    (folder / "r.jsonld").write_text("{}\n")
    make_others(people, folder)
    assert run("sign", "--new-key", folder / "key.pem") == 0
    for name in ("one", "two"):
        release = unmask.Release(folder / "a.csv", folder / "b.csv", id="patient")
        unmask.assess(release, only=["anonymity"], seed=len(name)).write_json(folder / f"{name}.json")
    return folder


def make_others(people, folder):
    """People at places, a model with people whom it never saw, and a table that is large enough to be protected."""
    rng = np.random.default_rng(1)
    spots = people.select("sex").with_columns(x=rng.uniform(0, 1e4, 60), y=rng.uniform(0, 1e4, 60))
    spots.write_csv(folder / "x.csv")
    spots.write_csv(folder / "y.csv")
    model = GaussianNB().fit(people.select("height", "cost").to_numpy(), people["sex"])
    (folder / "m.pkl").write_bytes(pickle.dumps(model))
    others = unmask.datasets.patients(60, seed=6)
    for name, table in (("s", people), ("c", others)):
        table.select("height", "cost", "sex").write_csv(folder / f"{name}.csv")
    unmask.datasets.patients(420, seed=5).select("patient", "sex", "smoker").write_csv(folder / "p.csv")


@pytest.fixture
def place(made, tmp_path):
    folder = tmp_path / "here"
    shutil.copytree(made, folder)
    (tmp_path / "home").mkdir(mode=0o500)
    return folder


def outputs(command):
    return COMMANDS[command][1].split()


def happened(ended, folder, command):
    """What happened, in the words of the page; anything else is wrong."""
    names = outputs(command)
    nothing_half_written(folder, names)
    one_clear_message(ended)
    before = [(folder / name).read_bytes() == BEFORE for name in names]
    if ended.code in {0, 1, 3}:
        assert not any(before) and ended.err.count("unmask: ") == 0
        return "runs"
    if ended.code == 2:
        assert ended.err.count("unmask: ") == 1
        return "refused" if all(before) and "standard output" not in ended.err else "told"
    if ended.code == -signal.SIGPIPE:
        assert not any(before) and ended.err == ""
        return "ended"
    assert ended.code == -signal.SIGKILL and all(before)
    return "killed"


def suffer(forker, place, command, fault, disk=None):
    """Put the files of before in place, do what the row says, and run the command."""
    asked = dict(FAULTS[fault])
    if asked.pop("disk", False):
        place = fill(place, disk, command)
    else:
        put_before(place, command)
    if asked.pop("ahead", False):
        for path in place.iterdir():
            os.utime(path, (time.time() + 3e8,) * 2)
    locked = {place, *((place / name).parent for name in outputs(command))} if asked.pop("locked", False) else set()
    for folder in locked:
        folder.chmod(0o500)
    home = str(place.parent / "home")
    asked["env"] = {name: text.format(home=home) for name, text in asked.get("env", {}).items()}
    ended = forker.run(COMMANDS[command][0].split(" "), place, **asked)
    for folder in locked:
        folder.chmod(0o700)
    return ended, place


def put_before(folder, command):
    for name in outputs(command):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(BEFORE)


def fill(place, disk, command):
    """Move the work to the small disk, and leave nothing of it."""
    needed = [word for word in COMMANDS[command][0].split(" ") if (place / word).is_file()]
    folder = disk / "here"
    folder.mkdir()
    for name in needed + (["a.csv", "b.csv"] if command in {"verify", "person"} else []):
        shutil.copy(place / name, folder)
    put_before(folder, command)
    fill_up(disk)
    return folder


def cells():
    for (fault, command), expected in table().items():
        quick = command in QUICK and (QUICK[command] is None or fault in QUICK[command])
        marks = () if quick else (pytest.mark.slow,)
        yield pytest.param(fault, command, expected, id=f"{command}: {fault}", marks=marks)


def test_the_page_has_every_cell():
    assert {fault for fault, _ in table()} == set(FAULTS)
    assert len(table()) == 12 * len(FAULTS) + (len(COMMANDS) - 12) * len(FIRST)
    assert {command for _, command in table()} == set(COMMANDS)


@pytest.mark.parametrize(("fault", "command", "expected"), list(cells()))
def test_what_the_page_says_happens(forker, place, request, fault, command, expected):
    disk = request.getfixturevalue("disk") if FAULTS[fault].get("disk") else None
    ended, folder = suffer(forker, place, command, fault, disk)
    assert happened(ended, folder, command) == expected, ended
    if expected != "killed":
        assert left_over(folder) == []
        return
    again = forker.run(COMMANDS[command][0].split(" "), folder)  # whoever is killed can be run again
    assert again.code in {0, 1, 3}, again
    nothing_half_written(folder, outputs(command))
    assert all((folder / name).read_bytes() != BEFORE for name in outputs(command))
    assert [name for name in left_over(folder) if name.startswith(".r.")] == []
