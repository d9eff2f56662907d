"""What every page shares: the templates, the site that it belongs to, and how numbers are written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from unmask.evidence import name_of
from unmask.inert import inert
from unmask.report import KNOWN, MORE_KNOWN, percent
from unmask.shares import span
from unmask.web.forms import FIELD
from unmask.web.jobs import Runner
from unmask.web.plane import in_short
from unmask.web.security import Keys
from unmask.web.store import Case, Job, Store

HERE = Path(__file__).parent
STEPS = ("Files", "Check", "Audience", "Run", "Report", "Safer release", "Download")


@dataclass(frozen=True)
class Site:
    """What the pages of one server share."""

    keys: Keys
    store: Store
    runner: Runner
    upload_limit: int


def site_of(request: Request) -> Site:
    """The site of a request."""
    found: Site = request.app.state.site
    return found


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=inert,
    )  # fmt: skip
    found.filters |= {"percent": percent, "in_short": in_short, "name": name_of}
    found.globals |= {"known": KNOWN, "more_known": MORE_KNOWN, "span": span}
    return found


def show(request: Request, page: str, *, status: int = 200, step: str = "", **about: Any) -> HTMLResponse:  # noqa: ANN401 - what the page tells
    """Make a page."""
    site = site_of(request)
    text = _templates().get_template(f"{page}.html.j2").render(
        root=site.keys.root, form_token=site.keys.form, form_field=FIELD, steps=STEPS, step=step,
        **{"case": None, "job": None, **about},
    )  # fmt: skip
    return HTMLResponse(text, status)


def lead(request: Request, path: str) -> RedirectResponse:
    """Lead to a page after something was done, so that a reload does not do it again."""
    return RedirectResponse(f"{site_of(request).keys.root}{path}", 303)


def case_of(request: Request) -> Case:
    """The case that an address names; an unknown one is no page."""
    found = site_of(request).store.case(request.path_params["case"])
    if found is None:
        raise HTTPException(404)
    return found


def job_of(request: Request) -> Job:
    """The job that an address names; an unknown one is no page."""
    found = site_of(request).store.job(request.path_params["job"])
    if found is None:
        raise HTTPException(404)
    return found
