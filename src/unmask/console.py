"""What the commands share: reading lists, and the terminal. Nothing heavy is imported before it is used."""

from __future__ import annotations

import csv
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Tell = Callable[[str, float, str], None]  # measure, fraction done, words


def listed(values: list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    """Split "a,b" and '"a,b",c' as a CSV line does; a list from a configuration file (a tuple) holds whole names."""
    if isinstance(values, tuple):
        return values
    return tuple(name for value in values or () for name in next(csv.reader([value], skipinitialspace=True), []))


def console(*, to_stderr: bool = False) -> Any:  # noqa: ANN401 - rich's console
    """Return a terminal to write on."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    return Console(stderr=to_stderr, highlight=False)


@contextmanager
def progress_bars(*, quiet: bool) -> Iterator[Tell | None]:
    """Show bars on standard error when it is a terminal, nothing otherwise."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress  # noqa: PLC0415 - slow to import

    with Progress(console=console(to_stderr=True), transient=True) as progress:
        tasks: dict[str, Any] = {}

        def tell(measure: str, done: float, text: str) -> None:
            if measure not in tasks:
                tasks[measure] = progress.add_task(measure, total=1.0)
            progress.update(tasks[measure], completed=done, description=f"{measure}: {text}")

        yield tell
