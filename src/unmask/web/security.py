"""Who may ask: only pages of this server, in the browser of whoever holds the token.

Every request passes `Guard` first. Its `Host` must be this machine's own name, or a page of the web could reach us by a
name of its own that leads here (DNS rebinding). Its `Origin`, and what the browser says of where it comes from, must be
ours, or another page could press our buttons. The token of the printed address is exchanged for a cookie. Cookies are
shared by all ports of a machine, so this one belongs to a path that nobody else knows: another server here never sees
it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "unmask"
FORM_LIMIT = 2_000_000  # bytes of a form without files
MOST_AT_ONCE = 200  # requests that are answered at the same time
BUSY = f"More than {MOST_AT_ONCE} requests at once. Load the page again in a moment; no job is lost."
DRAIN = 10.0  # seconds that a body that is too large is read and thrown away, so that the browser shows our answer
PAGES = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT = (  # a document of its own: no script, no request, no form, and no part of this site
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; sandbox"
)
HEADERS = {
    "content-security-policy": PAGES,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",  # none to others; with "no-referrer" browsers hide the Origin of our own forms
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def _secret() -> Any:  # noqa: ANN401 - a field
    return field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)


@dataclass(frozen=True)
class Keys:
    """What is random about one run of the server."""

    token: str = _secret()  # in the printed address
    session: str = _secret()  # in the cookie
    form: str = _secret()  # in every form
    place: str = field(default_factory=lambda: secrets.token_hex(8))  # where all pages are

    @property
    def root(self) -> str:
        """What every path begins with."""
        return f"/{self.place}"


@dataclass
class Guard:
    """Lets requests through that are the owner's own."""

    app: ASGIApp
    keys: Keys
    hosts: tuple[str, ...]
    upload_limit: int
    last: float = field(default_factory=time.monotonic)  # when somebody asked who may
    now: int = 0  # requests that are being answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        answer = self._refusal(scope, headers) or self._entry(scope)
        if answer is None and not self._known(scope):
            answer = _no("Open the address that unmask printed when it was started: it holds the key to this page.")
        if answer is not None:
            await answer(scope, receive, _with_headers(send))
            return
        self.last = time.monotonic()
        if self.now >= MOST_AT_ONCE:
            await _no(BUSY, 503)(scope, receive, _with_headers(send))
            return
        self.now += 1
        try:
            await self.app(scope, self._limited(scope, receive, _length(headers)), _with_headers(send))
        finally:
            self.now -= 1

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse names that are not ours and pages that are not ours."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self.hosts or len(headers.getlist("host")) != 1:
            return _no("This page has another address.")
        asks = scope["method"] not in {"GET", "HEAD"}
        if (asks and origin is None) or (origin is not None and origin != f"http://{host}"):
            return _no("Another page asked for this.")
        if headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
            return _no("Another page led here. Put the address that unmask printed into the address bar.")
        return None

    def _entry(self, scope: Scope) -> Response | None:
        """Exchange the token for a cookie, and leave the address that holds it."""
        if scope["path"] != f"{self.keys.root}/enter" or scope["method"] != "GET":
            return None
        given = QueryParams(scope["query_string"].decode("latin-1")).get("token", "")
        if not _same(given, self.keys.token):
            return _no("This is not the key. Open the address that unmask printed when it was started last.")
        answer = RedirectResponse(f"{self.keys.root}/", 303)
        answer.set_cookie(COOKIE, self.keys.session, path=self.keys.root, httponly=True, samesite="strict")
        return answer

    def _known(self, scope: Scope) -> bool:
        inside = scope["path"].startswith(f"{self.keys.root}/")
        return inside and _same(HTTPConnection(scope).cookies.get(COOKIE, ""), self.keys.session)

    def _limited(self, scope: Scope, receive: Receive, declared: int) -> Receive:
        """What comes in, unless it is larger than it may be: by what it says, or by what comes."""
        limit = self.upload_limit if scope["path"] == f"{self.keys.root}/cases" else FORM_LIMIT
        so_far = declared if declared > limit else 0

        async def counted() -> Message:
            nonlocal so_far
            message = await receive()
            so_far += len(message.get("body", b""))
            if so_far > limit:
                if message.get("more_body"):
                    await _drain(receive)
                words = (
                    f"This is too large to upload: {limit // 10**6:,} MB at most. Give the paths of the files instead."
                )
                raise HTTPException(413, words)
            return message

        return counted


async def _drain(receive: Receive) -> None:
    """Read what the browser still sends and keep nothing of it: an answer before that is not shown."""
    until = time.monotonic() + DRAIN
    while time.monotonic() < until:
        message = await receive()
        if message["type"] != "http.request" or not message.get("more_body"):
            return


def _length(headers: Headers) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isdecimal() else 0


def _same(one: str, two: str) -> bool:
    return secrets.compare_digest(one.encode(), two.encode())


def _no(words: str, status: int = 403) -> Response:
    return Response(f"unmask: refused. {words}\n", status, media_type="text/plain")


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    """Add the headers that every answer has; a document with a policy of its own keeps that one."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
