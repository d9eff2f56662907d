"""One job in a process of its own: the command line, with the words that its folder holds.

Words of a command name columns and files. They are read from the job's file, so that nobody sees them in the list of
processes. A worker whose server is gone ends by itself. It gives way to the server, which
answers meanwhile.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from unmask.cli import main

GIVES_WAY = 5  # steps of `nice`: pages come first, and a busy machine still gets the job done
SECONDS = 1.0  # between two looks at the server


def run(folder: Path) -> None:
    """Run the command of a job in its folder."""
    os.nice(GIVES_WAY)
    words = json.loads((folder / "job.json").read_text(encoding="utf-8"))["words"]
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    os.chdir(folder)
    sys.argv = ["unmask", *words]
    main()


def _watch(server: int) -> None:
    while os.getppid() == server:
        time.sleep(SECONDS)
    os.killpg(os.getpgrp(), signal.SIGKILL)  # with what it started; the group is the worker's own


if __name__ == "__main__":
    run(Path(sys.argv[1]))
