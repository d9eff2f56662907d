"""Jobs run one after the other, each in a process of its own: ending one of them loses nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from unmask.cli import PROGRESS
from unmask.errors import UnmaskError
from unmask.web.store import Job, Store

GOOD = {"assess": (0, 1, 3), "check": (0, 1, 3), "explore": (0, 1), "mask": (0,), "protect": (0, 1)}  # exit codes
LOOK = 0.1  # seconds between two looks at a worker
GRACE = 2.0  # seconds to end by itself
SAYS, SAID, DONE = "errors.txt", "told.txt", "progress.json"


class Runner:
    """Takes jobs from the store, the oldest first."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._wake, self._stop = threading.Event(), threading.Event()
        self._cancelled: set[str] = set()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Begin; what was left from before is interrupted."""
        self.store.interrupt()
        self._thread.start()

    def stop(self) -> None:
        """End the job that runs; it and those that wait are interrupted."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        with suppress(UnmaskError, OSError):  # a full disk: the next start finds them
            self.store.interrupt()

    def wake(self) -> None:
        """Look for jobs now."""
        self._wake.set()

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        return any(job.waiting for job in self.store.all_jobs())

    def cancel(self, job: Job) -> None:
        """End a job, or take it out of the queue."""
        with self.store.lock:
            now = self.store.job(job.id)
            if now is not None and now.state == "running":
                self._cancelled.add(job.id)
            elif now is not None and now.state == "queued":
                self.store.save_job(replace(now, state="cancelled"))

    def again(self, job: Job) -> None:
        """Run a job once more."""
        with self.store.lock:
            now = self.store.job(job.id)
            if now is not None and not now.waiting:
                self.store.again(now)
        self.wake()

    def _work(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            try:
                job = self._next()
            except (UnmaskError, OSError):  # a full disk: it may have room again
                job = None
            if job is None:
                self._wake.wait(1.0)
            else:
                self._run(job)

    def _next(self) -> Job | None:
        """Take the oldest job that waits."""
        with self.store.lock:
            job = next((job for job in self.store.all_jobs() if job.state == "queued"), None)
            if job is None:
                return None
            self._cancelled.discard(job.id)
            running = replace(job, state="running")
            self.store.save_job(running)
            return running

    def _run(self, job: Job) -> None:
        began = time.monotonic()
        try:
            process = _start(self.store.place(job))
        except OSError:
            self._save(replace(job, state="failed"))
            return
        state = ""
        while process.poll() is None:
            state = state or self._ended(job, time.monotonic() - began)
            if state:
                _end(process)
            time.sleep(LOOK)
        state = state or ("done" if process.returncode in GOOD[job.kind] else "failed")
        self._save(replace(job, state=state, code=process.returncode, seconds=time.monotonic() - began))

    def _save(self, job: Job) -> None:
        """Note what became of a job; on a full disk as soon as there is room again."""
        while True:
            try:
                self.store.save_job(job)
            except (UnmaskError, OSError):
                if self._stop.wait(1.0):
                    return
            else:
                return

    def _ended(self, job: Job, seconds: float) -> str:
        """Why a job is to end before it is done; nothing where it is not."""
        if self._stop.is_set():
            return "interrupted"
        if job.id in self._cancelled or not self.store.place(job).is_dir():
            return "cancelled"
        return "late" if job.limit is not None and seconds > job.limit else ""


def _start(place: Path) -> subprocess.Popen[bytes]:
    """Begin a worker, the leader of a group of processes, that writes to files of its job alone."""
    (place / DONE).unlink(missing_ok=True)
    surroundings = {**os.environ, PROGRESS: str(place / DONE)}
    with _private(place / SAID) as told, _private(place / SAYS) as errors:
        return subprocess.Popen(  # noqa: S603 - this Python, and a folder of ours
            [sys.executable, "-m", "unmask.web.worker", str(place)],
            stdin=subprocess.DEVNULL, stdout=told, stderr=errors, env=surroundings, cwd=place,
            start_new_session=True,
        )  # fmt: skip


def _private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a worker with whatever it started: asked first, then at once."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
            return
