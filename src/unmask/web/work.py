"""What pages know of jobs: put one into the queue, say how far it is, and why it has no result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unmask.errors import EngineError
from unmask.tables import write_atomically
from unmask.web.commands import CHECK, SETTINGS, Command
from unmask.web.jobs import DONE, SAYS
from unmask.web.pages import Site
from unmask.web.store import Case, Job, new_id

MOST_WAITING, MOST_CASES = 500, 1000  # jobs at once, and pairs of tables on the first page
CANNOT = 2  # exit code of a command that could not be run: one clear message, without values
ENDED = {
    "cancelled": "You ended it.",
    "interrupted": "The page was closed before it was done.",
    "late": "The time was over before it was done.",
    "failed": "It ended without a result: the process was ended from outside, perhaps because memory was short. "
    "Nothing else is lost.",
}


def enqueue(
    site: Site,
    case: Case,
    command: Command,
    *,
    limit: float | None = None,
    name: str = "",
    beside: dict[str, str] | None = None,
) -> Job:
    """Put a command into the queue. ``beside``: texts of files that it reads in its folder."""
    with site.store.lock:  # it begins when all is there
        check_room(site)
        about = {"id": name or new_id(), "limit": limit, "some": "only" in command.options}
        job = site.store.new_job(case, command.name, command.words, **about)
        settings = {SETTINGS: command.toml} if command.name == "assess" else {}
        for file, text in {**settings, **(beside or {})}.items():
            write_atomically(site.store.place(job) / file, text)
    site.runner.wake()
    return job


def check_room(site: Site, jobs: int = 1, cases: int = 0) -> None:
    """Refuse what would make the queue, or the list of what was chosen, longer than it may be."""
    waiting = sum(job.waiting for job in site.store.all_jobs())
    if waiting + jobs > MOST_WAITING:
        hint = "wait until some are done, or cancel some; nothing that waits is lost"
        raise EngineError("the queue is full", got=f"{waiting} jobs", allowed=f"{MOST_WAITING} at once", hint=hint)
    if cases and len(site.store.all_cases()) + cases > MOST_CASES:
        raise EngineError("too many tables were chosen", allowed=f"{MOST_CASES} pairs", hint="delete some first")


def seen(site: Site, case: Case) -> dict[str, Any] | None:
    """What the last check that was done has seen; None where there is none yet."""
    found = [site.store.results(job, CHECK) for job in site.store.jobs_of(case.id) if job.kind == "check"]
    return next((entry for entry in reversed(found) if entry is not None), None)


def naming(found: dict[str, Any] | None) -> set[str]:
    """Columns that name people by themselves."""
    return {name for name, role in found["roles"].items() if role == "direct"} if found is not None else set()


def following(site: Site, job: Job) -> dict[str, Any]:
    """How far a job is, and how many are before it."""
    noted = site.store.results(job, DONE) if job.state == "running" else None
    noted = noted if isinstance(noted, dict) else {"done": 0.0, "words": "beginning"}
    ahead = [other for other in site.store.all_jobs() if other.waiting and other.created < job.created]
    words = noted["words"] if job.state == "running" else f"{len(ahead)} before this one" if ahead else "next"
    return {"state": job.state, "done": round(float(noted["done"]), 3), "words": words}


def problem_of(site: Site, job: Job) -> list[str] | None:
    """Why there is no result: what the command says, or what happened to it."""
    if job.state not in ENDED:
        return None
    if job.state == "failed" and job.code == CANNOT:
        said = (site.store.place(job) / SAYS).read_text(encoding="utf-8", errors="replace").strip()
        lines = [line.strip() for line in said[said.rfind("unmask: ") :].removeprefix("unmask: ").splitlines()]
        return lines or [ENDED["failed"]]
    case = site.store.case(job.case)
    original = "" if case is None else case.original
    gone = [] if Path(original).exists() else ["The tables were uploaded, and are deleted: choose them again."]
    return [ENDED[job.state], *gone]
