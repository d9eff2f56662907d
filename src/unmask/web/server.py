"""The server itself: bound to this machine, ended when nobody needs it, uploads deleted at the end."""

from __future__ import annotations

import asyncio
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from unmask.errors import ParameterError
from unmask.web.app import Site, build
from unmask.web.jobs import Runner
from unmask.web.security import Guard, Keys
from unmask.web.store import Store, opened

ADDRESS = "127.0.0.1"
SILENT = {"version": 1, "disable_existing_loggers": False, "root": {"level": "CRITICAL"}}  # a log may quote a value
KEPT = 60  # seconds that an idle connection stays: on a busy machine a browser asks late, and must not find it closed
LOOK = 1.0  # seconds between two looks at whether anybody is there


@dataclass(frozen=True)
class Settings:
    """Where jobs are kept, which port, seconds without use until it ends, bytes of the largest upload."""

    folder: Path
    port: int = 0
    idle: float = 1800.0
    upload_limit: int = 500_000_000


def serve(settings: Settings, tell: Callable[[str], None]) -> None:
    """Answer until Ctrl-C, or until it was idle for too long. ``tell`` gets the address to open."""
    with opened(settings.folder) as store, _ended_in_order():
        runner, before = Runner(store), tempfile.tempdir
        tempfile.tempdir = str(store.private)  # an upload is nowhere else, not even while it comes
        try:
            runner.start()
            _answer(settings, store, runner, tell)
        finally:
            tempfile.tempdir = before
            try:
                runner.stop()
            finally:
                store.forget_tables()


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let a closed terminal or a `kill` end the server as Ctrl-C does, so that uploads are deleted."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    signs = (signal.SIGTERM, signal.SIGHUP) if threading.current_thread() is threading.main_thread() else ()
    before = {sign: signal.signal(sign, end) for sign in signs}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def _answer(settings: Settings, store: Store, runner: Runner, tell: Callable[[str], None]) -> None:
    keys = Keys()
    config = uvicorn.Config(
        "", host=ADDRESS, port=settings.port, log_config=SILENT, log_level="critical", access_log=False, ws="none",
        lifespan="off", server_header=False, date_header=False, proxy_headers=False, timeout_graceful_shutdown=2,
        timeout_keep_alive=KEPT,
    )  # fmt: skip
    try:
        here = config.bind_socket()
    except SystemExit:  # uvicorn's answer to a port that is taken
        hint = "another port, or --port 0 for one that is free"
        raise ParameterError(f"port {settings.port} cannot be used", hint=hint) from None
    here.listen()  # before the address is told: whoever opens it at once waits, and is not refused
    port = here.getsockname()[1]
    guard = Guard(
        build(Site(keys, store, runner, settings.upload_limit)), keys, (f"{ADDRESS}:{port}", f"localhost:{port}"),
        settings.upload_limit,
    )  # fmt: skip
    config.app = guard
    tell(f"Open this in your browser:  http://{ADDRESS}:{port}{keys.root}/enter?token={keys.token}")
    tell(f"Reports are kept in {settings.folder}; uploaded tables are deleted at the end. Ctrl-C ends it.")
    with suppress(KeyboardInterrupt):
        asyncio.run(_until_idle(uvicorn.Server(config), guard, runner, settings.idle, here))
    tell("Ended.")


async def _until_idle(server: uvicorn.Server, guard: Guard, runner: Runner, idle: float, here: object) -> None:
    """Answer, and end when nobody has asked for long and no job is left."""

    async def watch() -> None:
        while time.monotonic() - guard.last < idle or runner.busy:  # noqa: ASYNC110 - nobody says that nothing happened
            await asyncio.sleep(min(LOOK, idle / 4))
        server.should_exit = True

    watching = asyncio.create_task(watch())
    try:
        await server.serve([here])  # type: ignore[list-item]  # the socket that uvicorn made
    finally:
        watching.cancel()
