"""What the tests of the command line share: call it in this process or in one of its own, and small files."""

from __future__ import annotations

import subprocess
import sys

from unmask.cli import app as cli

GOOD = "id,age,town\n1,31.5,x\n2,42.5,y\n3,53.5,z\n"


def run(*arguments):
    """Call the program in this process; return its exit code."""
    saved = sys.argv
    sys.argv = ["unmask", *map(str, arguments)]
    try:
        cli.main()
    except SystemExit as stop:
        return stop.code or 0
    finally:
        sys.argv = saved
    return 0


def shell(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "unmask", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **options,
    )


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
