"""One door per room: what others may use is named there, in a paragraph and a list, and nobody imports past it."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import unmask

SOURCE = Path(unmask.__file__).parent
FILES = sorted(path for path in SOURCE.rglob("*.py*") if path.suffix in {".py", ".pyi"})
FOLDERS = sorted(path.parent for path in SOURCE.rglob("*/__init__.py"))
KERNELS = SOURCE / "kernels"
IN_KERNELS = sorted(path for path in KERNELS.iterdir() if path.name[0] != "_")
ROOMS = [folder for folder in FOLDERS if folder != KERNELS and KERNELS not in folder.parents]
MOST = 8  # names in one door
MOST_IN_KERNELS = 16
MORE = {
    "unmask.datasets.gauntlet": 9,  # what a case is made of, which benchmarks/gauntlet writes more of
    "unmask.disclosure": 44,  # one function for each measure, a model, an audit, membership and copies by parts of rows
    "unmask.engines": 28,  # which engine, the store, a question for each kind of count, who is asked, passes, searches
    "unmask.evidence": 58,  # what every measure writes, what assess makes of it, and for which intruder
    "unmask.graph": 19,  # the attack, its choices and a class for each kind of result
    "unmask.groups": 22,  # a function and its result for each measure, the same of counts, and the room that counts
    "unmask.groups.counting": 16,  # counts on every engine, and the classes that all group measures share
    "unmask.linkage": 35,  # one function for each intruder, and what engines found in passes
    "unmask.masking": 52,  # one class for each masking and its claim, synthesisers, which cells to blank, codes
    "unmask.networks": 9,  # a network: attacked, reported, masked, and what is left of it
    "unmask.people": 12,  # the risk of people, of groups of them, and the story of one
    "unmask.protect": 24,  # the search: points, what is kept of them, what can be done to a column, what to do first
    "unmask.certificate": 12,  # the statement, the content, its formats and the reviewer's keys
    "unmask.report": 28,  # a way to show each kind of result
    "unmask.study": 29,  # what every measure asks: matches, spaces, who asks for whom, what fits in memory
    "unmask.tables": 39,  # reading, roles, hierarchies, arrays and writing, for all rooms and the command line
    "unmask.utility": 11,  # a function for each view, and all of them for a report
}
FOR_USERS = {"unmask.datasets.gauntlet", "unmask.graph", "unmask.masking"}  # classes that people name in their scripts


def dotted(path):
    """Module of a file of ours; nothing for a file beside the package."""
    if SOURCE not in path.parents:
        return ""
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


DOORS = [dotted(path) for path in (*ROOMS, *IN_KERNELS)]


def read_of(tree, name):
    """What a file reads of a module that it imported whole."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    return [node.attr for node in found if node.value.id == name]


def door_of(file, module):
    """The first door on the way from a file to a module; None within a room."""
    parts = module.split(".")
    for end in range(2, len(parts) + 1):
        door = ".".join(parts[:end])
        if door in DOORS and not f"{file}.".startswith(f"{door}."):
            return door
    return None


@cache
def imports(path):
    """(door, module, names) of everything that a file imports of another room."""
    tree, file, found = ast.parse(path.read_text()), dotted(path), []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("unmask"):
            continue
        assert node.level == 0
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"  # a door, imported as a module
            names = read_of(tree, alias.asname or alias.name) if whole in DOORS else [alias.name]
            module = whole if whole in DOORS else node.module
            if (door := door_of(file, module)) is not None:
                found.append((door, module, names))
    return found


def named(door):
    return set(import_module(door).__all__)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nobody_imports_past_a_door(path):
    plain = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import)]
    assert not [alias.name for node in plain for alias in node.names if alias.name.startswith("unmask.")]
    for door, module, names in imports(path):
        within = module in DOORS and module.removeprefix(f"{door}.") in named(door)  # a room that the door names
        assert module == door or within, f"{module} is behind the door of {door}"
        assert set(names) <= named(module), f"{module} does not name {sorted(set(names) - named(module))}"


SCRIPTS = [path for folder in ("docs", "benchmarks") for path in sorted((SOURCE.parents[1] / folder).rglob("*.py"))]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_scripts_take_from_a_door_what_it_names(path):
    """What is timed or drawn may lie behind a door; what the door names is taken from it."""
    for door, module, names in imports(path):
        assert module == door or module in DOORS or not set(names) & named(door), f"{module}: use {door}"


@pytest.mark.parametrize("door", DOORS)
def test_a_door_says_what_it_promises_and_names_it(door):
    room = import_module(door)
    assert len(room.__doc__) > 100
    assert 0 < len(room.__all__) <= MORE.get(door, MOST_IN_KERNELS if ".kernels." in door else MOST), len(room.__all__)
    assert all(hasattr(room, name) for name in room.__all__)


def used_in(paths):
    """(door, name) of what files use of other rooms, and of rooms within a room."""
    found = {(module, name) for path in paths for _, module, names in imports(path) for name in names}
    return found | {(module.rpartition(".")[0], module.rpartition(".")[2]) for module, _ in found}


def test_what_a_door_names_is_used_by_others():
    top = SOURCE.parents[1]
    by_users = used_in(path for folder in ("benchmarks", "tests") for path in sorted((top / folder).rglob("*.py")))
    used = used_in(FILES) | {(door, name) for door, name in by_users if door in FOR_USERS}
    assert not {(door, name) for door in DOORS for name in named(door)} - used


def test_base_imports_no_other_room_and_no_numba():
    for path in (KERNELS / "base").glob("*.py"):
        assert not list(imports(path))
        assert "numba" not in path.read_text().replace("no numba", "")


def test_only_four_files_have_private_features_of_numba():
    private = ("llvmlite", "_nrt", "numba.core", "intrinsic", "forceinline", "no_cpython_wrapper")
    public = "from numba.core import event"  # numba documents its events, though they lie there
    users = {path.name for path in FILES if any(word in path.read_text().replace(public, "") for word in private)}
    assert users == {
        "native.py",
        "blocks.py",
        "planting.py",
        "sides.py",
    }
    assert all((KERNELS / "compiling" / name).exists() for name in users)
