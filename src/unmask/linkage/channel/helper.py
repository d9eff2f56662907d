"""A second process of this Python that learns beside this one: it chooses what would be chosen here.

Learning is very many small steps of Python, which threads cannot share. The process gets the tables through a pipe and
gives back what it chose; it writes no file, and ends with this one. Where it cannot be had, or ends before its time,
everything is learnt here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, NoReturn, Self

from unmask.linkage.channel.select import Channel, choose
from unmask.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from unmask.linkage.channel.material import Material

    Ints = NDArray[np.int64]

LEAST = 2_000  # people: what fewer teach is learnt about as soon by one, since a process takes a second to start
MOST = 100_000  # people: the tables of more are long to send, and are held twice
SECONDS = 1.0  # between two looks whether whom it helps is there still
START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from unmask.linkage.channel.helper import serve; serve()"
)
Answer = Channel | None  # None: the process is gone, and it is learnt here


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is to be learnt, from whom, and where it waits for the helper; None: it is learnt here."""

    material: Material
    taught: Ints
    seed: int
    like: tuple[Channel, ...]
    waiting: Future[Answer] | None


class Helper:
    """Takes lessons that nobody has begun yet, in the order in which they were given; of use within ``with``.

    The process is begun at once: it starts while tables of so many ``people`` are still read.
    """

    def __init__(self, people: int) -> None:
        self._process = _begun() if _is_worth(people) else None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="unmask-helper")  # waits for the process
        self._sent: Material | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()  # it holds nothing that anybody needs
            self._thread.shutdown(cancel_futures=True)
            with suppress(BrokenPipeError):  # what was not sent is not wanted
                self._process.communicate()

    def give(self, material: Material, taught: Ints, seed: int, like: Sequence[Channel] = ()) -> Lesson:
        """Have something learnt, here or there."""
        lean = tuple(replace(channel, factors=(), without=tuple) for channel in like)
        there = None
        if self._process is not None:
            there = self._thread.submit(self._ask, self._process, material, (taught, seed, lean))
        return Lesson(material, taught, seed, lean, there)

    def learnt(self, lesson: Lesson, tell: Callable[[float], None]) -> Channel:
        """What was chosen: by the helper if it has begun with it, else here."""
        if lesson.waiting is not None and not lesson.waiting.cancel():
            found = lesson.waiting.result()
            if found is not None:
                tell(1.0)
                return found
        return choose(lesson.material, lesson.taught, lesson.seed, tell, like=lesson.like)

    def _ask(
        self, process: subprocess.Popen[bytes], material: Material, what: tuple[Ints, int, tuple[Channel, ...]]
    ) -> Answer:
        """Have the process learn a lesson; in the thread that waits for it."""
        try:
            if self._sent is not material:
                _send(process.stdin, replace(material, _kept={}, _whole=None))
                self._sent = material
            _send(process.stdin, what)
            found = pickle.load(process.stdout)  # type: ignore[arg-type]  # noqa: S301 - it comes from this program
        except (OSError, EOFError, pickle.PickleError, AttributeError, TypeError):  # it is gone, or never was
            process.kill()
            return None
        return found if isinstance(found, Channel) else None


def _is_worth(people: int) -> bool:
    """Whether a second process would be done sooner, and a processor is there for it."""
    import numba  # noqa: PLC0415 - heavy, and loaded by who links

    return LEAST <= people <= MOST and numba.get_num_threads() > 1 and bool(sys.executable)


def _begun() -> subprocess.Popen[bytes] | None:
    """The process, with the places where modules are looked for; None where it cannot be had."""
    try:
        process = subprocess.Popen(  # noqa: S603 - this Python, and words of ours
            [sys.executable, "-P", "-c", START],  # -P: no module of the folder in which it is begun
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return None
    with suppress(OSError):  # it has ended already, and everything is learnt here
        _send(process.stdin, sys.path)
    return process


def _send(pipe: IO[bytes] | None, what: object) -> None:
    if pipe is None:
        raise EOFError
    pickle.dump(what, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def serve() -> NoReturn:
    """Be the second process: take tables and lessons, give back what is chosen, until there are no more."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    tables: Material | None = None
    with one_thread():
        while True:
            try:
                what = pickle.load(sys.stdin.buffer)  # noqa: S301 - it comes from this program
            except EOFError:
                os._exit(0)
            if isinstance(what, tuple) and tables is not None:
                taught, seed, like = what
                _send(sys.stdout.buffer, choose(tables, taught, seed, like=like))
            else:
                tables = what


def _watch(helped: int) -> None:
    """End where whom it helps has ended without a word."""
    while os.getppid() == helped:
        time.sleep(SECONDS)
    os._exit(1)
