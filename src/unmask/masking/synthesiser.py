"""A synthesiser that is not ours: a command, or a function, that makes a release out of a table, within a time limit.

An intruder who has the synthesiser makes shadow releases with it. Whatever goes wrong in it is one error.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl

from unmask.errors import EngineError, ParameterError, UnmaskError
from unmask.folders import private_folder
from unmask.masking.base import as_polars
from unmask.tables import read_table, write_table

Maker = Callable[[pl.DataFrame, int], pl.DataFrame]  # of a table and a seed
TIME_LIMIT = 600.0
PLACES = ("{in}", "{out}", "{seed}")
HINT = 'as in --synthesiser "python make.py {in} {out} {seed}"'
LAST_WORDS = 200  # letters of what a command said last


@dataclass(frozen=True)
class Synthesiser:
    """A command with the places {in} and {out}, CSV files, and {seed}, run once for each release; no shell reads it."""

    command: str
    seconds: float = TIME_LIMIT

    def __post_init__(self) -> None:
        """Refuse a command without its places."""
        if not isinstance(self.command, str):
            raise ParameterError(
                "a synthesiser is a command", got=type(self.command).__name__, hint="a function is given as masking="
            )
        missing = [place for place in PLACES[:2] if place not in self.command]
        if missing or not shlex.split(self.command):
            raise ParameterError(
                "a synthesiser is a command that reads one file and writes another",
                got=f"no {' and no '.join(missing)}" if missing else "an empty command", hint=HINT,
            )  # fmt: skip
        if not self.seconds > 0:
            raise ParameterError("a time limit is a number of seconds above 0", got=str(self.seconds))

    def __str__(self) -> str:
        """How it is told in a report."""
        return f"synthesiser({self.command})"

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that the command names, such as its script: what it makes follows from their content."""
        return tuple(path for path in map(Path, shlex.split(self.command)) if path.is_file())

    def apply(self, table: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
        """Run the command on a table, in a folder that is deleted afterwards."""
        with private_folder() as folder:
            source, target = folder / "in.csv", folder / "out.csv"
            write_table(table, str(source))
            values = dict(zip(PLACES, (str(source), str(target), str(seed)), strict=True))
            self._run([_filled(word, values) for word in shlex.split(self.command)])
            if not target.exists():
                raise EngineError("the synthesiser wrote no table", got="no file at {out}", hint=HINT)
            try:
                return read_table(str(target), name="table of the synthesiser")
            except UnmaskError as error:
                told = str(error).partition("\n")[0].replace(str(target), "{out}")
                raise EngineError("the synthesiser wrote no table that can be read", got=told) from error

    def _run(self, words: list[str]) -> None:
        try:
            with subprocess.Popen(  # noqa: S603 - the owner's own command, without a shell
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                start_new_session=True,
            ) as process:  # fmt: skip
                try:
                    _, said = process.communicate(timeout=self.seconds)
                except subprocess.TimeoutExpired:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    raise EngineError(f"the synthesiser was stopped {_too_long(self.seconds)}", hint=SLOW) from None
        except OSError as error:
            raise EngineError("the synthesiser cannot be started", got=type(error).__name__, hint=HINT) from error
        if process.returncode:
            last = said.decode(errors="replace").strip().splitlines()[-1:] or [""]
            words_ = f"exit code {process.returncode}" + (f": {last[0][:LAST_WORDS]}" if last[0] else "")
            raise EngineError("the synthesiser failed", got=words_)


SLOW = "give it more time (--time-limit), or a smaller table"


def _too_long(seconds: float) -> str:
    return f"after {seconds:g} seconds"


def _filled(word: str, values: dict[str, str]) -> str:
    for place, value in values.items():
        word = word.replace(place, value)
    return word


def as_maker(given: Any, seconds: float = TIME_LIMIT) -> Maker:  # noqa: ANN401 - a masking, a synthesiser, a function
    """Take whatever makes a release of a table and a seed; what fails, hangs or forgets a column is one error."""
    make = getattr(given, "apply", given)
    if not callable(make):
        raise ParameterError(
            "this makes no releases", got=type(given).__name__, allowed="a masking, or a function of a table and a seed"
        )

    def maker(table: pl.DataFrame, seed: int) -> pl.DataFrame:
        made = make(table, seed) if hasattr(given, "apply") else _within(make, table, seed, seconds)
        frame = as_polars(made)
        absent = [name for name in table.columns if name not in frame.columns]
        if absent or not frame.height:
            told = f"no {', '.join(absent)}" if absent else "no rows"
            raise EngineError(
                "the synthesiser made another kind of table", got=told, allowed="the columns it was given"
            )
        return frame.select(table.columns)

    return maker


def _within(make: Callable[..., Any], table: pl.DataFrame, seed: int, seconds: float) -> Any:  # noqa: ANN401
    """Call a function, but not for ever: one that hangs is left behind."""
    made: list[Any] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            made.append(make(table, seed))
        except BaseException as error:  # noqa: BLE001 - the owner's function
            failed.append(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        if isinstance(failed[0], UnmaskError):
            raise failed[0]
        raise EngineError("the synthesiser failed", got=type(failed[0]).__name__) from failed[0]
    if not made:
        raise EngineError(f"the synthesiser was stopped {_too_long(seconds)}", hint=SLOW)
    return made[0]
