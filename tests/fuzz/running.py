"""Runs an input through the library or the command line, and keeps all that was said."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import typer.main

import unmask
from command_line import run as command
from command_line import shell
from fuzz.inputs import QUICK, Input
from unmask.assessment import discover

LIMIT = 60  # seconds
IDLE = 0.005  # seconds of work in that time: it waits for something that does not come

typer.main.get_command = functools.cache(typer.main.get_command)  # built once, not for each of thousands of commands


class HangError(BaseException):
    """More than the limit; not an Exception, so that nothing catches it."""


@dataclass
class Said:
    """What came of an input."""

    outcome: str = ""
    messages: list[str] = field(default_factory=list)  # what somebody reads
    where: str = ""  # the traceback of an error that is none of ours
    warned: list[str] = field(default_factory=list)
    under: list[str] = field(default_factory=list)  # what was written past Python
    code: int | None = None


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Stop what computes longer, or waits so long for nothing; in the main thread alone.

    On a busy machine a minute of waiting is no minute of work: it goes on as long as anything is done.
    """
    begin = time.process_time()
    seen = [0.0]  # seconds of work at each alarm

    def stop(*_: object) -> None:
        seen.append(time.process_time() - begin)
        if seen[-1] >= seconds or (len(seen) > 2 and seen[-1] - seen[-2] < IDLE):
            raise HangError
        signal.alarm(seconds)

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def below(kept: list[str]) -> Iterator[None]:
    """Keep what libraries that are not Python write to the screen, past `sys.stderr`: polars' panics do."""
    screen = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(screen, 2)
            os.close(screen)
            file.seek(0)
            kept.append(file.read().decode(errors="replace"))


def run(given: Input, folder: Path, *, apart: bool = False) -> Said:
    """Run an input; ``apart``: the command line in a process of its own."""
    said, out, err = Said(), io.StringIO(), io.StringIO()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        with below(said.under), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                with limited(LIMIT):
                    _way(given, folder, said, apart=apart)
            except unmask.errors.UnmaskError as error:
                said.outcome = "refused"
                said.messages.append(str(error))
            except HangError:
                said.outcome, said.where = "hang", traceback.format_exc()
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:  # noqa: BLE001 - that is what is looked for; polars' panic is no Exception
                said.outcome, said.where = "traceback", traceback.format_exc()
    said.messages += [out.getvalue(), err.getvalue()]
    said.warned = sorted({f"{one.category.__name__}: {one.message}" for one in seen})
    return said


def _way(given: Input, folder: Path, said: Said, *, apart: bool) -> None:
    if given.way == "command":
        _command(given, folder, said, apart=apart)
        return
    release = unmask.Release(given.original, given.released, **given.said)
    said.messages += [repr(release), *release.warnings]
    if given.way == "read":
        checked = unmask.check(release)
        said.messages += [finding.claim + finding.reason for finding in checked.findings]
        said.messages += [f"{each.column} {each.role} {each.reason}" for each in checked.suggestions]
        said.outcome = "read"
        return
    measures = list(discover())
    only = {"one": [given.lot.choice(measures)], "quick": QUICK}.get(given.way)
    found = unmask.assess(release, only=only, utility="none" if only else None)
    said.messages += [found.reason, *found.document.warnings]
    said.messages += [f"{one.key} {one.claim} {one.outcome} {one.estimate} {one.reason}" for one in found.findings]
    said.outcome = found.verdict


def _command(given: Input, folder: Path, said: Said, *, apart: bool) -> None:
    paths = [
        _as_file(given.original, folder / "original.parquet"),
        _as_file(given.released, folder / "released.parquet"),
    ]
    words: list[Any] = [given.lot.choice(["check", "check", "assess"]), *paths]
    if words[0] == "assess":
        words += ["--only", given.lot.choice(QUICK), "--utility", "none", "--json", folder / "report.json"]
    for role in ("id", "weight", "household"):
        words += [f"--{role}", given.said[role]] if role in given.said else []
    words += [f"--confidential={','.join(given.said['confidential'])}"] if given.said.get("confidential") else []
    if apart and not any("\0" in str(word) for word in words):  # which no system hands to a process
        found = shell(*words)
        said.code = found.returncode
        said.messages += [found.stdout, found.stderr]
    else:
        said.code = command(*words)
    said.outcome = {0: "exit 0", 1: "exit 1", 2: "exit 2", 3: "exit 3"}.get(said.code, f"exit {said.code}")


def _as_file(table: object, path: Path) -> object:
    if isinstance(table, pl.DataFrame):
        table.write_parquet(path)
        return path
    return table
