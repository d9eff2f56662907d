"""What is being compiled, for whoever waits; and where it is kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core import event  # documented for users, though it lies there
from numba.extending import is_jitted

OURS = "unmask.kernels."
COMPILED = ".nb?"  # how names of files end that numba keeps

_listener: Any = event.Listener  # numba's classes have no types


class _Told(_listener):  # type: ignore[misc]
    """Tells the name of each kernel that begins to be compiled; what is read from disk is not."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell

    def on_start(self, event: Any) -> None:  # noqa: ANN401
        """Tell."""
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith(OURS):
            self.tell(f"{function.__module__.removeprefix(OURS)}.{function.__name__}")

    def on_end(self, event: Any) -> None:  # noqa: ANN401
        """Do nothing."""


@contextmanager
def while_compiling(tell: Callable[[str], None]) -> Iterator[None]:
    """Call ``tell`` with the name of each kernel that is compiled while the block runs."""
    listener: Any = _Told(tell)
    with event.install_listener("numba:compile", listener):
        yield


def kept_in() -> set[Path]:
    """The folders in which the kernels that are imported are kept; none where no folder can be written."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(OURS)]
    kernels = [value for module in modules for value in vars(module).values() if is_jitted(value)]
    return {Path(path) for kernel in kernels if (path := kernel.stats.cache_path) is not None}


def kept_bytes(folders: set[Path]) -> int:
    """How much room compiled code takes in some folders."""
    return sum(file.stat().st_size for folder in folders for file in folder.glob(f"*{COMPILED}"))
