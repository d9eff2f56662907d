"""Which address is which page."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from unmask.errors import UnmaskError, refused_by_system, tell_where
from unmask.web import results, views
from unmask.web.pages import HERE, Site, show

ROUTES = (
    ("/", views.home, "GET"),
    ("/cases", views.new_case, "POST"),
    ("/case/{case}/check", views.checked, "GET"),
    ("/case/{case}/roles", views.roles, "POST"),
    ("/case/{case}/audience", views.audience, "GET"),
    ("/case/{case}/run", views.run, "POST"),
    ("/case/{case}/result", views.result, "GET"),
    ("/case/{case}/protect", views.safer, "GET"),
    ("/case/{case}/search", views.search, "POST"),
    ("/case/{case}/delete", views.delete, "POST"),
    ("/job/{job}", results.told, "GET"),
    ("/job/{job}/progress", results.progress, "GET"),
    ("/job/{job}/report", results.report, "GET"),
    ("/job/{job}/file/{name}", results.file, "GET"),
    ("/job/{job}/cancel", results.cancel, "POST"),
    ("/job/{job}/again", results.again, "POST"),
    ("/job/{job}/point/{number:int}", results.point, "GET"),
    ("/job/{job}/attack", results.attack, "POST"),
)


def build(site: Site) -> Starlette:
    """All pages below the secret place of this run."""
    routes = [Route(path, view, methods=[method]) for path, view, method in ROUTES]
    inside = [Mount("/static", StaticFiles(directory=HERE / "static")), *routes]
    app = Starlette(
        routes=[Mount(site.keys.root, routes=inside)],
        exception_handlers={HTTPException: _refused, UnmaskError: _cannot, OSError: _no_room, Exception: _crashed},
    )
    app.state.site = site
    return app


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
