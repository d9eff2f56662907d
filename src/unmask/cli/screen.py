"""What the command line shows while it works and when it is done."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unmask.assessment import Assessment


def console(*, to_stderr: bool = False) -> Any:  # noqa: ANN401 - rich's console
    """Open rich's console."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    return Console(stderr=to_stderr, highlight=False)


def show_assessment(assessment: Assessment, *, to_stderr: bool) -> None:
    """Show the summary of an assessment."""
    from unmask.report.terminal import show  # noqa: PLC0415 - imports rich

    show(assessment.document, console(to_stderr=to_stderr))


@contextmanager
def progress_bars(*, quiet: bool) -> Iterator[Callable[[str, float, str], None] | None]:
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
