"""Which address is which page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from unmask.errors import UnmaskError, refused_by_system, tell_where
from unmask.web import results, views
from unmask.web.forms import form_of
from unmask.web.pages import HERE, Site, show

View = Callable[[Request], Awaitable[Response] | Response]
Act = Callable[[Request, FormData], Response]
AT_ONCE = 4  # forms that are acted upon: they wait for the disk, and leave the other threads to files

READ: tuple[tuple[str, View], ...] = (
    ("/", views.home),
    ("/case/{case}/check", views.checked),
    ("/case/{case}/audience", views.audience),
    ("/case/{case}/result", views.result),
    ("/case/{case}/protect", views.safer),
    ("/job/{job}", results.told),
    ("/job/{job}/progress", results.progress),
    ("/job/{job}/report", results.report),
    ("/job/{job}/file/{name}", results.file),
    ("/job/{job}/point/{number:int}", results.point),
)
ACTED: tuple[tuple[str, Act], ...] = (
    ("/cases", views.new_case),
    ("/case/{case}/roles", views.roles),
    ("/case/{case}/run", views.run),
    ("/case/{case}/search", views.search),
    ("/case/{case}/delete", views.delete),
    ("/job/{job}/cancel", results.cancel),
    ("/job/{job}/again", results.again),
    ("/job/{job}/attack", results.attack),
)


def build(site: Site) -> Starlette:
    """All pages below the secret place of this run."""
    limit = CapacityLimiter(AT_ONCE)
    routes = [
        *(Route(path, view, methods=["GET"]) for path, view in READ),
        *(Route(path, _acting(act, limit), methods=["POST"]) for path, act in ACTED),
    ]
    inside = [Mount("/static", StaticFiles(directory=HERE / "static")), *routes]
    app = Starlette(
        routes=[Mount(site.keys.root, routes=inside)],
        exception_handlers={HTTPException: _refused, UnmaskError: _cannot, OSError: _no_room, Exception: _crashed},
    )
    app.state.site = site
    return app


def _acting(act: Act, limit: CapacityLimiter) -> View:
    """Read the form of a page and act upon it in a thread: it writes, and others are answered meanwhile."""

    async def view(request: Request) -> Response:
        form = await form_of(request)
        try:
            return await to_thread.run_sync(partial(act, request, form), limiter=limit)
        finally:
            await form.close()

    return view


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as registered
    words = {404: "There is no such page.", 405: "This cannot be done with this page."}
    what = words.get(error.status_code, error.detail)
    return show(request, "problem", status=error.status_code, what=what, error=None)


async def _cannot(request: Request, error: Exception) -> Response:
    assert isinstance(error, UnmaskError)  # noqa: S101 - as registered
    return show(request, "problem", status=422, what=error.what, error=error)


async def _no_room(request: Request, error: Exception) -> Response:
    """The machine would not give something: a full disk, too many open files."""
    tell_where(error)
    what = " ".join((refused_by_system(error) or type(error).__name__).split())
    return show(request, "problem", status=507, what=what, error=None)


async def _crashed(request: Request, error: Exception) -> Response:
    """An error of ours: its words may quote a value, so that they are not shown."""
    tell_where(error)
    what = f"An error of unmask itself ({type(error).__name__}). Please report it."
    return show(request, "problem", status=500, what=what, error=None)


__all__ = ["Site", "build"]
