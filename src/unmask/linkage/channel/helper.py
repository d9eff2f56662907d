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

LEAST = 400  # people: of fewer learning takes no longer than the start of a process
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
    """Takes lessons that nobody has begun yet, in the order in which they were given; of use within ``with``."""

    def __init__(self) -> None:
        self._lock, self._ended = threading.Lock(), False
        self._thread: ThreadPoolExecutor | None = None  # waits for the process
        self._process: subprocess.Popen[bytes] | None = None
        self._sent: Material | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)
        if self._process is not None:
            with suppress(BrokenPipeError):  # what was not sent is not wanted
                self._process.communicate()

    def give(self, material: Material, taught: Ints, seed: int, like: Sequence[Channel] = ()) -> Lesson:
        """Have something learnt, here or there."""
        lean = tuple(replace(channel, factors=(), without=tuple) for channel in like)
        if not _is_worth(material):
            return Lesson(material, taught, seed, lean, None)
        self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="unmask-helper")
        return Lesson(material, taught, seed, lean, self._thread.submit(self._ask, material, (taught, seed, lean)))

    def learnt(self, lesson: Lesson, tell: Callable[[float], None]) -> Channel:
        """What was chosen: by the helper if it has begun with it, else here."""
        if lesson.waiting is not None and not lesson.waiting.cancel():
            found = lesson.waiting.result()
            if found is not None:
                tell(1.0)
                return found
        return choose(lesson.material, lesson.taught, lesson.seed, tell, like=lesson.like)

    def _ask(self, material: Material, what: tuple[Ints, int, tuple[Channel, ...]]) -> Answer:
        """Have the process learn a lesson; in the thread that waits for it."""
        try:
            pipes = self._pipes()
            if self._sent is not material:
                _send(pipes[0], replace(material, _kept={}, _whole=None))
                self._sent = material
            _send(pipes[0], what)
            found = pickle.load(pipes[1])  # noqa: S301 - it comes from this program
        except (OSError, EOFError, pickle.PickleError, AttributeError, TypeError):  # it is gone, or never was
            self._end()
            return None
        return found if isinstance(found, Channel) else None

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """To and from the process, which is begun with the first lesson."""
        with self._lock:
            if self._ended:
                raise EOFError
            is_new = self._process is None
            self._process = self._process or _begun()
        to, back = self._process.stdin, self._process.stdout
        if to is None or back is None:
            raise EOFError
        if is_new:
            _send(to, sys.path)
        return to, back

    def _end(self) -> None:
        """End the process at once: it holds nothing that anybody needs."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()


def _is_worth(material: Material) -> bool:
    """Whether a second process would be done sooner, and a processor is there for it."""
    import numba  # noqa: PLC0415 - heavy, and loaded by who links

    return LEAST <= material.n_people <= MOST and numba.get_num_threads() > 1 and bool(sys.executable)


def _begun() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this Python, and words of ours
        [sys.executable, "-c", START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def _send(pipe: IO[bytes], what: object) -> None:
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
