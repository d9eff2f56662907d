"""What the command line shows while it works and when it is done."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

from unmask.assessment import Assessment
from unmask.cli.serve import PROGRESS
from unmask.cli.stopping import note
from unmask.errors import TableError
from unmask.evidence import ENDED, Progress, silent
from unmask.inert import json_text, visible
from unmask.tables import write_atomically

ONCE = "; first run, compiling once: "
BETWEEN = 0.2  # seconds, at least, between two notes of how far a command is


def say(text: str, *, to_stderr: bool = False) -> None:
    """Write a result to standard output, or to standard error where that is taken."""
    (sys.stderr if to_stderr else sys.stdout).write(f"{visible(text)}\n")


def console(*, to_stderr: bool = False) -> Any:  # noqa: ANN401 - rich's console
    """Open rich's console; what steers a terminal is written out, but for rich's own colours."""
    from rich.console import Console  # noqa: PLC0415 - slow to import
    from rich.segment import Segment  # noqa: PLC0415

    class Inert(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:  # noqa: ANN401 - as rich has it
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else visible(text), style, control)

    return Inert(stderr=to_stderr, highlight=False)


def show_assessment(assessment: Assessment, *, to_stderr: bool) -> None:
    """Show the summary of an assessment."""
    from unmask.report import show  # noqa: PLC0415 - imports rich

    show(assessment.document, console(to_stderr=to_stderr))


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Progress]:
    """Show how far a command is; what attacks found is noted, to be told if somebody stops it."""
    with _shown(quiet=quiet) as show:
        last: Any = [0.0, ""]

        def tell(done: float, words: str) -> None:
            title, ended, found = words.partition(f": {ENDED}")
            if ended:
                note(f"{title}: {found}")
            last[:] = done, words
            show(done, words)

        def tell_compiling(name: str) -> None:
            show(last[0], f"{last[1]}{ONCE}{name}")

        with nullcontext() if show is silent else _while_compiling(tell_compiling):
            yield tell


def _while_compiling(tell: Callable[[str], None]) -> AbstractContextManager[None]:
    from unmask.kernels.compiling import while_compiling  # noqa: PLC0415 - numba

    return while_compiling(tell)


@contextmanager
def _shown(*, quiet: bool) -> Iterator[Progress]:
    """Show a bar on standard error when it is a terminal; note it in a file where one is asked for."""
    if os.environ.get(PROGRESS):
        yield _noted(os.environ[PROGRESS])
        return
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    from rich.progress import Progress as Bar  # noqa: PLC0415 - slow to import

    with Bar(console=console(to_stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda done, words: bar.update(task, completed=done, description=words)


def _noted(path: str) -> Progress:
    """Write how far a command is into a file, for whoever waits for it (`unmask serve`)."""
    last = 0.0

    def tell(done: float, words: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= BETWEEN:
            last = now
            with suppress(TableError):  # a full disk: how far it is matters less than that it goes on
                write_atomically(path, json_text({"done": done, "words": words}))

    return tell
