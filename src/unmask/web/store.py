"""Cases and jobs on disk: what was chosen and what was run, so that a reload or a restart loses nothing.

A case is two tables with what is known of them. A job is one command for a case, with a folder of its own. Tables that
were uploaded or made are in a folder apart, which is emptied when the page is closed. All is for the owner only.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from math import inf, nextafter
from pathlib import Path
from typing import Any, TypeVar

from unmask.errors import TableError
from unmask.tables import write_atomically

ID = re.compile(r"[0-9a-f]{32}")
WAITING = ("queued", "running")
GOES_ON = ("explore", "protect")  # what was tried is kept: they go on where they were
LOCK = ".unmask-serve"  # in every folder of ours: in no other one is anything made private or deleted
T = TypeVar("T", "Case", "Job")


@dataclass(frozen=True, slots=True)
class Case:
    """Two tables, the roles of their columns, who gets the release and who attacks."""

    id: str
    created: float
    original: str
    released: str
    names: tuple[str, str]  # of the files, as they were chosen
    roles: dict[str, str] = field(default_factory=dict)  # of columns that were given one on the page
    kinds: dict[str, str] = field(default_factory=dict)
    synthetic: bool = False
    audience: str = "public"
    intruder: str = "maximum"
    quick: bool = False  # only the attacks without which nothing is safe
    minutes: int = 0  # that a job may take; 0: no limit
    certificate: bool = False
    statement: dict[str, str] = field(default_factory=dict)  # what it states: controller, purpose ..
    keep: tuple[str, ...] = ()  # analyses that must come out
    about: str = ""  # how the release was made, where that was done here
    before: str = ""  # the assessment that it is compared with

    @property
    def title(self) -> str:
        """The two files; or the original and what was done to it."""
        return f"{self.names[0]} and {self.about or self.names[1]}"


@dataclass(frozen=True, slots=True)
class Job:
    """One command: its words, and what became of it."""

    id: str
    case: str
    kind: str  # the command
    words: tuple[str, ...]
    created: float
    state: str = "queued"  # running, done, failed, cancelled, late, interrupted
    code: int | None = None
    seconds: float = 0.0
    limit: float | None = None
    some: bool = False  # not all attacks were asked for

    @property
    def waiting(self) -> bool:
        """Whether it will say more by itself."""
        return self.state in WAITING


class Store:
    """The folder of one server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.RLock()
        self._read: dict[Path, tuple[tuple[int, ...], Case | Job | None]] = {}  # what files held when they were read
        self._lists: dict[Path, tuple[tuple[int, int], list[Any]]] = {}  # and folders
        self._changes: Counter[Path] = Counter()  # that this store made, by folder
        for place in (folder, self.cases, self.jobs, self.private):
            _make(place)

    @property
    def cases(self) -> Path:
        """A file for each case."""
        return self.folder / "cases"

    @property
    def jobs(self) -> Path:
        """A folder for each job."""
        return self.folder / "jobs"

    @property
    def private(self) -> Path:
        """Tables that were uploaded or made here."""
        return self.folder / "private"

    # --- cases ------------------------------------------------------------------------------------------------------

    def new_case(self, **about: Any) -> Case:  # noqa: ANN401 - the fields of a case
        """Note a case; its private folder is made when it is asked for."""
        with self.lock:
            case = Case(created=_after(self.all_cases()), **{"id": new_id(), **about})
            self.save_case(case)
        return case

    def save_case(self, case: Case) -> None:
        """Write a case."""
        with self._changing(self.cases, case.id):
            self._write(self.cases / f"{case.id}.json", case)

    def case(self, name: str) -> Case | None:
        """The case of this id, if there is one."""
        return self._found(Case, self.cases / f"{name}.json") if ID.fullmatch(name) else None

    def all_cases(self) -> list[Case]:
        """All cases, the latest first."""

        def read() -> list[Case]:
            found = [self.case(path.stem) for path in self.cases.glob("*.json")]
            return [case for case in found if case is not None]

        return self._listed(self.cases, read)[::-1]

    def delete_case(self, case: Case) -> None:
        """Forget a case with everything that was made of it."""
        with self.lock:
            for job in self.jobs_of(case.id):
                shutil.rmtree(self.place(job), ignore_errors=True)
            shutil.rmtree(self.private / case.id, ignore_errors=True)
            (self.cases / f"{case.id}.json").unlink(missing_ok=True)
            self._changes.update((self.cases, self.jobs))

    def private_folder(self, name: str) -> Path:
        """Where the tables of a case are that were uploaded or made."""
        return _make(self.private / name)

    # --- jobs -------------------------------------------------------------------------------------------------------

    def new_job(self, case: Case, kind: str, words: tuple[str, ...], **more: Any) -> Job:  # noqa: ANN401 - fields of a job
        """Put a command at the end of the queue."""
        with self.lock:
            created = _after(self.all_jobs())
            job = Job(case=case.id, kind=kind, words=words, created=created, **{"id": new_id(), **more})
            with self._changing(self.jobs, job.id):
                _make(self.place(job))
                self._write(self.place(job) / "job.json", job)
        return job

    def save_job(self, job: Job) -> None:
        """Write a job, unless its case was deleted meanwhile."""
        with self._changing(self.jobs, job.id):
            if self.place(job).is_dir():
                self._write(self.place(job) / "job.json", job)

    def job(self, name: str) -> Job | None:
        """The job of this id, if there is one."""
        return self._found(Job, self.jobs / name / "job.json") if ID.fullmatch(name) else None

    def all_jobs(self) -> list[Job]:
        """All jobs in the order in which they were asked for."""

        def read() -> list[Job]:
            found = [self.job(path.name) for path in self.jobs.iterdir()]
            return [job for job in found if job is not None]

        return self._listed(self.jobs, read)

    def jobs_of(self, case: str) -> list[Job]:
        """The jobs of a case, the latest last."""
        return [job for job in self.all_jobs() if job.case == case]

    def latest(self, case: str, kind: str) -> Job | None:
        """The last job of a kind."""
        return next((job for job in reversed(self.jobs_of(case)) if job.kind == kind), None)

    def place(self, job: Job) -> Path:
        """The folder of a job."""
        return self.jobs / job.id

    def results(self, job: Job, name: str) -> Any:  # noqa: ANN401 - what the command wrote
        """A JSON file that a job wrote, not to be changed; None where there is none."""
        path = self.place(job) / name
        try:
            return _kept(path, _stamp(path))
        except OSError:
            return None

    def again(self, job: Job) -> Job:
        """Put a job back into the queue; a search goes on with what it had tried."""
        with self.lock:
            words = tuple(word for word in job.words if word != "--resume")
            begun = job.kind in GOES_ON and (self.place(job) / "tried" / "explore.json").exists()
            words, created = (*words, "--resume") if begun else words, _after(self.all_jobs())
            fresh = replace(job, words=words, state="queued", code=None, created=created)
            self.save_job(fresh)
        return fresh

    # --- the beginning and the end ----------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Whatever waited or ran when the server ended was interrupted."""
        for job in self.all_jobs():
            if job.waiting:
                self.save_job(replace(job, state="interrupted"))

    # --- files ------------------------------------------------------------------------------------------------------

    def _write(self, path: Path, what: Case | Job) -> None:
        self._read.pop(path, None)
        write_atomically(path, json.dumps(asdict(what)))

    @contextmanager
    def _changing(self, folder: Path, name: str) -> Iterator[None]:
        """Change one case or job; a list that was up to date is so afterwards, and no other file is looked at."""
        with self.lock:
            stamp, found = self._lists.get(folder, ((0, -1), []))
            current = stamp == self._stamp_of(folder)
            yield
            self._changes[folder] += 1
            if current:
                entry = self.case(name) if folder == self.cases else self.job(name)
                others = [other for other in found if other.id != name]
                self._lists[folder] = self._stamp_of(folder), _in_order([*others, *([entry] if entry else [])])

    def _stamp_of(self, folder: Path) -> tuple[int, int]:
        return folder.stat().st_mtime_ns, self._changes[folder]

    def _listed(self, folder: Path, read: Callable[[], list[T]]) -> list[T]:
        """What a folder holds, the oldest first, read again only after a change that was not ours: every page asks.

        One server works in a folder, so that nobody else writes. The stamp is taken before reading: what changes
        meanwhile is read the next time.
        """
        stamp = self._stamp_of(folder)
        before, found = self._lists.get(folder, ((0, -1), []))
        if before != stamp:
            found = _in_order(read())
            self._lists[folder] = stamp, found
        return list(found)

    def _found(self, kind: type[T], path: Path) -> T | None:
        """Read a case or a job, unless its file is the one that was read before: pages ask for all of them."""
        try:
            stamp = _stamp(path)
        except OSError:
            self._read.pop(path, None)
            return None
        before, found = self._read.get(path, ((), None))
        if before != stamp:
            found = _read(kind, path)
            self._read[path] = stamp, found
        return found if isinstance(found, kind) else None

    def forget_tables(self) -> None:
        """Delete the tables that were uploaded or made here."""
        shutil.rmtree(self.private, ignore_errors=True)


def _in_order(found: list[T]) -> list[T]:
    return sorted(found, key=lambda entry: entry.created)


def _after(others: Sequence[Case] | Sequence[Job]) -> float:
    """Now, or just after the latest of the others where the clock was set back: the last one is the one that counts."""
    return max([time.time(), *(nextafter(entry.created, inf) for entry in others)])


def new_id() -> str:
    """An id that cannot be guessed."""
    return secrets.token_hex(16)


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """Open a folder for one server at a time: a new or empty one, or one of ours."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LOCK).exists():
        hint = "name a new folder: its tables are deleted at the end"
        raise TableError(f"{folder} holds other files", hint=hint)
    try:
        store = Store(folder)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise TableError(f"cannot write in {folder}", got=error.strerror or "", hint="choose another folder") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            hint = "end it, or choose another folder (--folder)"
            raise TableError(f"another `unmask serve` works in {folder}", hint=hint) from None
        yield store
    finally:
        os.close(lock)


def _make(place: Path) -> Path:
    """Make a folder that only its owner can look into."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.chmod(0o700)
    return place


def _stamp(path: Path) -> tuple[int, ...]:
    """What tells one content of a file from another."""
    now = path.stat()
    return now.st_ino, now.st_mtime_ns, now.st_size


@lru_cache(maxsize=16)  # reports may be large, and pages that wait are loaded again and again
def _kept(path: Path, stamp: tuple[int, ...]) -> Any:  # noqa: ANN401, ARG001 - any JSON, as long as the file is the same
    return _json(path)


def _json(path: Path) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _read(kind: type[T], path: Path) -> T | None:
    """A case or a job from its file; one that cannot be read is none."""
    found = _json(path)
    known = {entry.name for entry in fields(kind)}
    if not isinstance(found, dict) or not {"id", "created"} <= set(found) <= known:
        return None
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    try:
        return kind(**given)
    except TypeError:
        return None
