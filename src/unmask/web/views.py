"""The pages on which something is chosen: files, roles, audience and intruder, what to look for."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from unmask.errors import UnmaskError
from unmask.evidence import STANCES, Policy
from unmask.web import commands
from unmask.web.commands import AUDIENCES, KINDS, ROLES
from unmask.web.forms import MINUTES, SIDES, STATED, audience_in, kept_in, roles_in, table_of, text
from unmask.web.pages import case_of, lead, show, site_of
from unmask.web.results import few_of
from unmask.web.store import Case, Job, new_id
from unmask.web.work import check_room, enqueue, following, naming, problem_of, seen


async def home(request: Request) -> Response:
    """Choose two files, or go on with those that were chosen before."""
    return _home(request)


def _home(request: Request, *, error: UnmaskError | None = None, given: dict[str, str] | None = None) -> Response:
    site = site_of(request)
    jobs: dict[str, list[Job]] = {}
    for job in site.store.all_jobs():
        jobs.setdefault(job.case, []).append(job)
    cases = [(case, jobs.get(case.id, [])) for case in site.store.all_cases()]
    return show(
        request, "home", status=422 if error else 200, step="Files", cases=cases, error=error,
        given=given or dict.fromkeys(SIDES, ""), megabytes=site.upload_limit // 10**6,
    )  # fmt: skip


def new_case(request: Request, form: FormData) -> Response:
    """Take two files and check them."""
    site, name = site_of(request), new_id()
    folder = site.store.private / name
    try:
        check_room(site, cases=1)
        folder = site.store.private_folder(name)
        (original, released), names = zip(*(table_of(form, side, folder) for side in SIDES), strict=True)
        with site.store.lock:  # others may have taken the room meanwhile
            check_room(site, cases=1)
            case = site.store.new_case(id=name, original=original, released=released, names=names)
            enqueue(site, case, commands.check(case, []))
    except UnmaskError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return _home(request, error=error, given={side: text(form, f"{side}_path") for side in SIDES})
    if not any(folder.iterdir()):
        folder.rmdir()  # nothing was uploaded
    return lead(request, f"/case/{case.id}/check")


async def checked(request: Request) -> Response:
    """What was seen in the tables, and the role of each column to change."""
    return _checked(request, case_of(request))


def _checked(request: Request, case: Case, error: UnmaskError | None = None) -> Response:
    site = site_of(request)
    job, found = site.store.latest(case.id, "check"), seen(site, case)
    return show(
        request, "check", step="Check", case=case, job=job, found=found, error=error, status=422 if error else 200,
        problem=None if job is None else problem_of(site, job), roles=ROLES, kinds=KINDS,
        chosen=_chosen(case, found), words="" if found is None else _words(found),
        following=None if job is None else following(site, job),
    )  # fmt: skip


def _words(found: dict[str, Any]) -> str:
    """What the check says of the rows, without the option that is typed: the id is chosen on the page."""
    typed = [f": --id {name}." for name in found["ids"][:1]]
    told: str = found["check"]["words"]
    return told.removesuffix(typed[0]) + ": it is chosen below." if typed and told.endswith(typed[0]) else told


def _chosen(case: Case, found: dict[str, Any] | None) -> dict[str, str]:
    """The role of each column as it was given, else as the check suggests it."""
    ids = [] if found is None else found.get("ids", [])
    suggested = {name: "id" for name in ids[:1] if not case.roles}
    names = [] if found is None else [entry["name"] for entry in found["columns"]]
    return {name: case.roles.get(name) or suggested.get(name, "known") for name in names}


def roles(request: Request, form: FormData) -> Response:
    """Take the roles of the columns; check again, or go on."""
    site, case = site_of(request), case_of(request)
    found = seen(site, case)
    if found is None:
        return lead(request, f"/case/{case.id}/check")
    try:
        case = replace(case, **roles_in(form, found["columns"]))
    except UnmaskError as error:
        return _checked(request, case, error)
    site.store.save_case(case)
    if text(form, "then") == "check":
        enqueue(site, case, commands.check(case, found["columns"]))
        return lead(request, f"/case/{case.id}/check")
    return lead(request, f"/case/{case.id}/audience")


async def audience(request: Request) -> Response:
    """Who gets the release, and who attacks it."""
    case = case_of(request)
    audiences = [(name, Policy.load(name).description) for name in AUDIENCES]
    intruders = [(name, stance.words) for name, stance in STANCES.items()]
    core = Policy.load(case.audience).core["synthetic" if case.synthetic else "paired"]
    return show(
        request, "audience", step="Audience", case=case, audiences=audiences, intruders=intruders, core=core,
        minutes=MINUTES, stated=STATED,
    )  # fmt: skip


def run(request: Request, form: FormData) -> Response:
    """Attack the release."""
    site, case = site_of(request), case_of(request)
    found = seen(site, case)
    if found is None:
        return lead(request, f"/case/{case.id}/check")
    case = replace(case, **audience_in(form))
    site.store.save_case(case)
    job = enqueue(site, case, commands.assess(case, found["columns"]), limit=60.0 * case.minutes or None)
    return lead(request, f"/job/{job.id}")


async def result(request: Request) -> Response:
    """Lead to the last assessment of a case, or to where it is asked for."""
    case = case_of(request)
    job = site_of(request).store.latest(case.id, "assess")
    return lead(request, f"/case/{case.id}/audience" if job is None else f"/job/{job.id}")


async def safer(request: Request) -> Response:
    """What must be left of the data in a safer release, and how long to look for one."""
    site, case = site_of(request), case_of(request)
    jobs = [job for job in site.store.jobs_of(case.id) if job.kind in {"explore", "protect"}]
    return show(request, "protect", step="Safer release", case=case, jobs=jobs, minutes=MINUTES, few=few_of(site, case))


def search(request: Request, form: FormData) -> Response:
    """Look for a safer release: try maskings, or treat column by column."""
    site, case = site_of(request), case_of(request)
    found = seen(site, case)
    if found is None:
        return lead(request, f"/case/{case.id}/check")
    case = replace(case, **kept_in(form))
    site.store.save_case(case)
    kind, name = "explore" if text(form, "way") == "explore" else "protect", new_id()
    release = site.store.private_folder(case.id) / f"{name}.csv"
    wanted = commands.search(kind, case, found["columns"], naming(found), str(release))
    return lead(request, f"/job/{enqueue(site, case, wanted, name=name).id}")


def delete(request: Request, _: FormData) -> Response:
    """Forget a case: its jobs, reports and uploaded tables."""
    site, case = site_of(request), case_of(request)
    for job in site.store.jobs_of(case.id):
        site.runner.cancel(job)
    site.store.delete_case(case)
    return lead(request, "/")
