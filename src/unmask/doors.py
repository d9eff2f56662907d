"""Doors that open when they are used: a room's stub declares what others may use, and each name loads on first use.

A room whose files load numba or polars has an `__init__.pyi` that names them; its `__init__.py` says what the room
promises and ends with ``__all__ = open_door(__name__)``. Other rooms import their names in the plain way.
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from importlib.resources import files
from types import ModuleType


class _Room(ModuleType):
    """A package that loads what its stub names; importing a file of the same name as a function does not hide it."""

    _homes: dict[str, str]

    def __getattr__(self, name: str) -> object:
        if name not in self._homes:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        home = self._homes[name]
        inside = home == self.__name__  # a room within this one, or a file as a whole
        value = import_module(f"{home}.{name}") if inside else getattr(import_module(home), name)
        super().__setattr__(name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and self._homes.get(name, self.__name__) != self.__name__):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(self._homes)


def open_door(room: str) -> list[str]:
    """Let a package load the names that the stub beside its `__init__` imports; return them."""
    stub = ast.parse(files(room).joinpath("__init__.pyi").read_text(encoding="utf-8"))
    found = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: str(node.module) for node in found for alias in node.names}
    package = sys.modules[room]
    package.__dict__["_homes"] = homes
    package.__class__ = _Room
    return sorted(homes)
