"""What the command line shows while it works and when it is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from unmask.assessment import Assessment
from unmask.evidence import Progress, silent


def say(text: str) -> None:
    """Write a result to standard output."""
    sys.stdout.write(f"{text}\n")


def console(*, to_stderr: bool = False) -> Any:  # noqa: ANN401 - rich's console
    """Open rich's console."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    return Console(stderr=to_stderr, highlight=False)


def show_assessment(assessment: Assessment, *, to_stderr: bool) -> None:
    """Show the summary of an assessment."""
    from unmask.report import show  # noqa: PLC0415 - imports rich

    show(assessment.document, console(to_stderr=to_stderr))


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Progress]:
    """Show a bar on standard error when it is a terminal, nothing otherwise."""
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    from rich.progress import Progress as Bar  # noqa: PLC0415 - slow to import

    with Bar(console=console(to_stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda done, words: bar.update(task, completed=done, description=words)
