"""One door per sub-room of kernels: what others may use is named there, and nobody imports past it."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import unmask

SOURCE = Path(unmask.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
KERNELS = SOURCE / "kernels"
DOORS = sorted(path.stem for path in KERNELS.iterdir() if path.name[0] != "_")
MOST = 16  # names in one door


def read_of(tree, name):
    """What a file reads of a module that it imported whole."""
    dotted = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    return [node.attr for node in dotted if node.value.id == name]


def imports(path):
    """(module, names) of everything of kernels that a file imports."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "unmask.kernels":
            for alias in node.names:
                yield ["unmask", "kernels", alias.name], read_of(tree, alias.asname or alias.name)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("unmask.kernels"):
            yield node.module.split("."), [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            assert not [alias.name for alias in node.names if alias.name.startswith("unmask.kernels")]


def room_of(path):
    return path.relative_to(KERNELS).parts[0].removesuffix(".py") if KERNELS in path.parents else None


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nobody_imports_past_a_door(path):
    for module, names in imports(path):
        if module[2] == room_of(path):
            continue
        assert len(module) == 3, f"{'.'.join(module)} is inside a room"
        assert set(names) <= set(import_module(".".join(module)).__all__)


@pytest.mark.parametrize("room", DOORS)
def test_a_door_says_what_it_promises_and_names_it(room):
    door = import_module(f"unmask.kernels.{room}")
    assert len(door.__doc__) > 100
    assert 0 < len(door.__all__) <= MOST
    assert all(hasattr(door, name) for name in door.__all__)


def test_what_a_door_names_is_used_by_others():
    used = {
        (module[2], name) for path in FILES for module, names in imports(path) for name in names
        if len(module) == 3 and module[2] != room_of(path)
    }  # fmt: skip
    named = {(room, name) for room in DOORS for name in import_module(f"unmask.kernels.{room}").__all__}
    assert named == used


def test_base_imports_no_other_room_and_no_numba():
    for path in (KERNELS / "base").glob("*.py"):
        assert all(module[2] == "base" for module, _ in imports(path))
        assert "numba" not in path.read_text().replace("no numba", "")


def test_only_one_file_has_private_features_of_numba():
    private = ("llvmlite", "_nrt", "numba.core", "intrinsic", "forceinline", "no_cpython_wrapper")
    users = {path.name for path in FILES if any(word in path.read_text() for word in private)}
    assert users == {"native.py"}
