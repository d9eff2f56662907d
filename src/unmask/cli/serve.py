"""`unmask serve`: the same in a browser, on this machine alone."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from unmask.cli.fields import option
from unmask.cli.options import Common
from unmask.errors import EngineError, ParameterError

PROGRESS = "UNMASK_PROGRESS"  # names a file: a command tells there how far it is
NEEDS = ("starlette", "uvicorn", "python_multipart")
LARGEST = 65535


@dataclass(frozen=True, kw_only=True)
class Serve(Common):
    """Do it all in a browser: choose two files, check them, attack, read the report, make a safer release.

    Example:  unmask serve --folder unmask-serve --idle 1h

    Prints an address that only your browser on this machine can open. Nothing leaves the machine. Reports stay in the
    folder; tables that were uploaded or made there are deleted at the end (Ctrl-C, or when it was idle for too long).
    """

    port: int = option("Port of the page; 0: one that is free.", default=0, minimum=0)
    folder: str = option("Where jobs and reports are kept, for you alone.", default="unmask-serve")
    idle: str = option("End after so long without a request and a job: 90s, 30m, 2h.", default="30m")
    upload_limit: int = option("Largest upload, in megabytes.", default=500, minimum=1)


def run(options: Serve) -> int:
    """Answer until it is ended, or idle for too long."""
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        hint = "pip install 'unmask[web]', or `make serve`"
        raise EngineError("the web page needs packages that are not installed", got=", ".join(missing), hint=hint)
    if options.port > LARGEST:
        raise ParameterError("no such port", got=str(options.port), allowed=f"0 to {LARGEST}")
    from unmask.cli.screen import say  # noqa: PLC0415
    from unmask.planning import seconds  # noqa: PLC0415 - what is not needed is not imported
    from unmask.web import Settings, serve  # noqa: PLC0415

    idle = seconds(options.idle)
    assert idle is not None  # noqa: S101 - a text is a time

    def tell(line: str) -> None:
        say(line)
        sys.stdout.flush()  # somebody waits for the address, also in a pipe

    serve(Settings(Path(options.folder).resolve(), options.port, idle, options.upload_limit * 10**6), tell)
    return 0
