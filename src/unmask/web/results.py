"""The pages of jobs: how far one is, what it found, files to take along, and releases to attack next."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from unmask.certificate import can_print, to_pdf
from unmask.errors import UnmaskError
from unmask.evidence import Policy, kind_of
from unmask.report import TOO_FEW, headline
from unmask.tables import write_atomically
from unmask.web import commands
from unmask.web.commands import CERTIFICATE, DATA, MAP, PLAN, POINTS, PUBLIC, REPORT, SETTINGS, shown
from unmask.web.forms import text
from unmask.web.jobs import SAID
from unmask.web.pages import Site, job_of, lead, show, site_of
from unmask.web.plane import in_short, plane
from unmask.web.security import REPORT as REPORT_POLICY
from unmask.web.store import Case, Job, new_id
from unmask.web.work import check_room, enqueue, following, naming, problem_of, seen

RELEASE = "release.csv"
STAYING = frozenset({"known", "unknown", "confidential"})  # roles that a release of its own has as well
PRINTED = {"certificate.pdf": CERTIFICATE, "public-certificate.pdf": PUBLIC}  # made when they are asked for
FILES = {  # that may be taken along, with what they are
    REPORT: "The report, one HTML file",
    DATA: "The report as data (JSON), from which it can be run again",
    CERTIFICATE: "The certificate, for a reviewer to sign",
    "certificate.pdf": "The same as PDF",
    "certificate.jsonld": "The certificate as data: this is what is signed",
    PUBLIC: "The certificate to be shown to anybody, without paths and small counts",
    "public-certificate.pdf": "The same as PDF",
    "public-certificate.jsonld": "The same as data",
    RELEASE: "The release",
    PLAN: "The plan (TOML): what was done to the table, to do it again",
    SETTINGS: "All settings (TOML), for the command line",
    POINTS: "Every release that was tried, with its figures",
    MAP: "The picture of what is found and what is left",
}


def told(request: Request) -> Response:
    """A job: how far it is, or what came out."""
    site, job = site_of(request), job_of(request)
    case = site.store.case(job.case)
    if case is None:
        raise HTTPException(404)
    if job.kind == "check":
        return lead(request, f"/case/{case.id}/check")
    about: dict[str, Any] = {"case": case, "job": job, "files": files_of(site, case, job), "command": shown(job.words)}
    if job.state != "done":
        step = "Run" if job.kind == "assess" else "Safer release"
        return show(request, "job", step=step, following=following(site, job), problem=problem_of(site, job), **about)
    if job.kind == "assess":
        return show(request, "result", step="Report", **about, **_compared(site, case, job))
    if job.kind == "mask":
        return lead(request, f"/case/{case.id}/result")
    points, limit = points_of(site, job), Policy.load(case.audience).threshold("nearest.rate").value
    return show(
        request, "frontier", step="Safer release", points=points, plane=plane(points, limit), limit=limit,
        lines=_lines(site, job) if job.kind == "protect" else [], planned=(site.store.place(job) / PLAN).exists(),
        best=next((number for number, entry in enumerate(points) if entry["recommended"]), None),
        few=few_of(site, case), **about,
    )  # fmt: skip


async def progress(request: Request) -> Response:
    """How far a job is, for the page that waits for it."""
    return JSONResponse(following(site_of(request), job_of(request)))


# --- results --------------------------------------------------------------------------------------------------------


def facts_of(site: Site, job: Job | None) -> dict[str, Any] | None:
    """The numbers of an assessment that fit on half a page."""
    found = None if job is None else site.store.results(job, DATA)
    if found is None:
        return None
    best = found["intruders"][-1] if found["intruders"] else _by_rows(found["findings"])
    return {
        "verdict": found["verdict"],
        "headline": headline(found["verdict"]),
        "reason": found["reason"],
        "against": [entry["claim"] for entry in sorted(found["findings"], key=_plainest) if _against(entry)],
        "policy": found["policy"],
        "found": None if best is None else best["estimate"],
        "known": None if best is None else best["known"],
        "claims": best is not None and best["known"] is not None and best["known"]["value"] > best["estimate"]["value"],
        "left": (found.get("utility") or {}).get("value"),
        "advice": (found.get("advice") or {}).get("words"),
        "warnings": found["warnings"],
        "few": next((line for line in found["warnings"] if TOO_FEW in line), None),
        "check": found["check"],
    }


def few_of(site: Site, case: Case) -> str | None:
    """Why nothing can be called safe, where people are too few for the policy: a search would look in vain."""
    facts = facts_of(site, site.store.latest(case.id, "assess"))
    return None if facts is None else facts["few"]


def _against(entry: dict[str, Any]) -> bool:
    return bool(entry["outcome"] == "against")


def _plainest(entry: dict[str, Any]) -> tuple[bool, float]:
    """Order of findings: people found, the most first; then all others."""
    return kind_of(entry.get("key", "")) != "found", -((entry.get("estimate") or {}).get("value") or 0.0)


def _by_rows(findings: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Who compares rows of a synthetic table with people, as on page 1 of its report."""
    rows = [entry for entry in findings if entry["key"] == "copies.found" and entry["estimate"] is not None]
    return {"estimate": rows[0]["estimate"], "known": None} if rows else None


def _compared(site: Site, case: Case, job: Job) -> dict[str, Any]:
    """What was found, and what was found in the release before."""
    before = facts_of(site, site.store.job(case.before)) if case.before else None
    return {"facts": facts_of(site, job), "before": before}


def points_of(site: Site, job: Job) -> list[dict[str, Any]]:
    """The releases that a search tried, the most useful first."""
    try:
        lines = (site.store.place(job) / POINTS).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line]
    except (OSError, ValueError):
        return []


def _lines(site: Site, job: Job) -> list[str]:
    """What a search said, but for the files that it wrote."""
    said = (site.store.place(job) / SAID).read_text(encoding="utf-8", errors="replace").splitlines()
    return [
        line for line in said if not line.startswith(("Release:", "Plan:", "Picture:", "Releases that were tried:"))
    ]


async def report(request: Request) -> Response:
    """The report, as a document of its own: nothing in it can ask this site for anything."""
    place = site_of(request).store.place(job_of(request)) / REPORT
    if not place.is_file():
        raise HTTPException(404)
    return FileResponse(place, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})


# --- files ----------------------------------------------------------------------------------------------------------


def _where(site: Site, case: Case, job: Job, name: str) -> Path:
    """Where a file of a job is."""
    if name == RELEASE:
        made = site.store.private / case.id
        return made / f"{job.id}.csv" if job.kind == "protect" else made / RELEASE
    making = site.store.latest(case.id, "mask") if name == PLAN and job.kind == "assess" else None
    return site.store.place(making or job) / name


def files_of(site: Site, case: Case, job: Job) -> list[tuple[str, str]]:
    """Files of a job that are there to be taken along."""
    printed = PRINTED if can_print() else {}
    there = [name for name in FILES if _where(site, case, job, printed.get(name, name)).is_file()]
    return [(name, FILES[name]) for name in there]


async def file(request: Request) -> Response:
    """A file to take along: one of a few names, and only of this job."""
    site, job, name = site_of(request), job_of(request), request.path_params["name"]
    case = site.store.case(job.case)
    if case is None or name not in FILES:
        raise HTTPException(404)
    take = {"content-disposition": f'attachment; filename="{name}"'}
    place = _where(site, case, job, name)
    page = None if name not in PRINTED else _where(site, case, job, PRINTED[name])
    if page is not None and page.is_file() and can_print():
        with suppress(UnmaskError):  # a browser that cannot print leaves no file
            await run_in_threadpool(_print, page, place)
    if not place.is_file():
        raise HTTPException(404)
    return FileResponse(place, headers=take)


def _print(page: Path, place: Path) -> None:
    """Print a certificate, unless this very page was printed: then both are dated alike, whatever the clock did."""
    made = page.stat().st_mtime_ns
    if not place.is_file() or place.stat().st_mtime_ns != made:
        write_atomically(place, to_pdf(page.read_text(encoding="utf-8")))
        os.utime(place, ns=(made, made))


# --- what a person does with a job ----------------------------------------------------------------------------------


def cancel(request: Request, _: FormData) -> Response:
    """End a job."""
    job = job_of(request)
    site_of(request).runner.cancel(job)
    return lead(request, f"/job/{job.id}")


def again(request: Request, _: FormData) -> Response:
    """Run a job again, or go on with it."""
    job = job_of(request)
    if not job.waiting:
        check_room(site_of(request))
    site_of(request).runner.again(job)
    return lead(request, f"/job/{job.id}")


def point(request: Request) -> Response:
    """One release that was tried, beside the one that was assessed."""
    site, job = site_of(request), job_of(request)
    case, points, number = site.store.case(job.case), points_of(site, job), request.path_params["number"]
    if case is None or number >= len(points):
        raise HTTPException(404)
    before = facts_of(site, site.store.latest(case.id, "assess"))
    return show(
        request, "point", step="Safer release", case=case, job=job, point=points[number], number=number, before=before
    )


def attack(request: Request, form: FormData) -> Response:
    """Make a release that was tried, or the one that was found, and attack it with everything."""
    site, job = site_of(request), job_of(request)
    case, points, number = site.store.case(job.case), points_of(site, job), text(form, "number")
    if case is None or job.kind not in {"explore", "protect"} or not (number == "" or number.isdecimal()):
        raise HTTPException(404)
    chosen = None if not number else points[int(number)] if int(number) < len(points) else None
    planned = site.store.place(job) / PLAN
    if chosen is None and (number or not planned.is_file()):
        raise HTTPException(404)
    check_room(site, jobs=3, cases=1)
    done = _made(site, case, job, chosen)
    return lead(request, f"/job/{done.id}")


def _made(site: Site, case: Case, job: Job, chosen: dict[str, Any] | None) -> Job:
    """A case of its own for the release: it is made by its plan, checked, and attacked with everything."""
    found, before, name = seen(site, case), site.store.latest(case.id, "assess"), new_id()
    columns = [] if found is None else found["columns"]
    aside = commands.left_out(case, columns, naming(found))
    around = commands.untouched(case, aside)
    release = site.store.private_folder(name) / RELEASE
    fresh = site.store.new_case(
        id=name, original=case.original, released=str(release), names=(case.names[0], RELEASE),
        about=f"a release by {in_short(chosen['masking'])}" if chosen else "the release that was found",
        before="" if before is None else before.id, audience=case.audience,
        intruder=case.intruder, minutes=case.minutes, certificate=case.certificate,
        statement=case.statement,
        kinds={column: kind for column, kind in case.kinds.items() if column not in aside},
        roles={column: role for column, role in case.roles.items() if role in STAYING or column in around},
    )  # fmt: skip
    ids = [column for column, role in case.roles.items() if role == "id"]
    kept = (site.store.place(job) / PLAN).read_text(encoding="utf-8") if chosen is None else ""
    plan = commands.plan(chosen, case.audience, [*ids, *aside], around) if chosen else kept
    enqueue(site, fresh, commands.follow(fresh, str(release)), beside={PLAN: plan})
    enqueue(site, fresh, commands.check(fresh, columns))
    return enqueue(site, fresh, commands.assess(fresh, columns), limit=60.0 * fresh.minutes or None)
