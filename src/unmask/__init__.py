"""unmask: attack your data release before someone else does.

The flow in five lines::

    release = unmask.Release("original.csv", "release.csv", id="patient", confidential=["diagnosis"])   # READ
    linkage = unmask.link_nearest(release)                                                              # LINK
    risk = unmask.group_risk(release.released, quasi=["sex", "town"])                                   # COUNT
    assessment = unmask.assess(release)                                                                 # JUDGE
    assessment.write_html("report.html")                                                                # TELL
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from importlib.resources import files
from types import ModuleType

__version__ = "0.2.0"


def _public() -> dict[str, str]:
    """Where each public name lives, as the stub beside this file declares it; a home is imported on first use."""
    stub = ast.parse(files(__name__).joinpath("__init__.pyi").read_text(encoding="utf-8"))
    found = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in found for alias in node.names}


_HOMES = _public()
__all__ = sorted(_HOMES)  # noqa: PLE0605 - the stub declares them


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'unmask' has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f"unmask.{name}") if home == "unmask" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """Keeps ``unmask.verify`` the function: importing the file verify.py would put the module under that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType) and _HOMES[name] != "unmask"):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
