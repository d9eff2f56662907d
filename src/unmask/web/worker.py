"""One job in a process of its own: the command line, with the words that its folder holds.

Words of a command name columns and files. They are read from the job's file, so that nobody sees them in the list of
processes. A worker whose server is gone ends by itself. It gives way to the server, which answers meanwhile.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

GIVES_WAY = 5  # steps of `nice`: pages come first, and a busy machine still gets the job done
GROUP = Path("/proc/self/autogroup")  # Linux shares processors among sessions first, whatever is nice within one
SECONDS = 1.0  # between two looks at the server


def run(folder: Path) -> None:
    """Run the command of a job in its folder."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    give_way()
    from unmask.cli import main  # noqa: PLC0415 - loaded when it has given way: that takes a second

    words = json.loads((folder / "job.json").read_text(encoding="utf-8"))["words"]
    os.chdir(folder)
    sys.argv = ["unmask", *words]
    main()


def give_way() -> None:
    """Let the server go first: this process, and the session that it leads, where the system shares by sessions."""
    os.nice(GIVES_WAY)
    with suppress(OSError):  # a system that does not, or a file of the system that may not be written
        GROUP.write_text(str(GIVES_WAY), encoding="utf-8")


def _watch(server: int) -> None:
    while os.getppid() == server:
        time.sleep(SECONDS)
    os.killpg(os.getpgrp(), signal.SIGKILL)  # with what it started; the group is the worker's own


if __name__ == "__main__":
    run(Path(sys.argv[1]))
