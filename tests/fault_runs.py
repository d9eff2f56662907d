"""What the tests of faults share: commands run in real processes to which something happens, and what must be left.

To start Python and load polars for each of a hundred cells would take minutes. One process loads everything, uses none
of it, and forks: each child is a process of its own with limits, streams, folders and rights of its own, in which the
command line runs as it does from a shell.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

BEFORE = b"what was here before\n"
PROGRAM = """
import sys
sys.path.insert(0, {here!r})
import fault_runs
fault_runs.fork_for_all()
"""


@dataclass
class Ended:
    """How a command ended: exit code (or minus the signal), and what it said."""

    code: int
    out: str
    err: str


@dataclass
class Forker:
    """The process that has loaded everything."""

    said: Path  # a folder for what commands say: not their own, whose disk may be full
    process: subprocess.Popen = field(init=False)

    def __post_init__(self):
        program = PROGRAM.format(here=str(Path(__file__).parent))
        self.process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, words, folder, **fault) -> Ended:
        """Run a command in a folder with a fault; see `_suffer` for the faults."""
        asked = {"words": [str(word) for word in words], "folder": str(folder), "said": str(self.said), **fault}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        code = int(self.process.stdout.readline())
        return Ended(code, *((self.said / name).read_text(errors="replace") for name in ("out", "err")))

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def fork_for_all():
    """Load what commands need, then run one for each line of standard input."""
    import importlib

    from unmask import cli

    for name in ("assess", "check", "compare", "explore", "fix", "hierarchy", "link", "mask", "mask_network",
                 "network", "person", "protect", "utility", "verify", "sign", "audit", "assess_tables",
                 "graph", "graph_sweep", "assess_model", "demo"):  # fmt: skip
        importlib.import_module(f"unmask.cli.{name}")
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _be_command(cli.main, **asked)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _be_command(main, words, folder, said, **fault):
    """Run the command in this process, and end it as Python ends."""
    code = 99
    try:
        os.chdir(folder)
        sys.argv = ["unmask", *words]
        _open_streams(Path(said), fault.pop("stdout", "file"))
        _suffer(**fault)
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, AttributeError):
                code = 120  # what Python says to it
    finally:
        os._exit(code)


def _open_streams(said, stdout):
    """Standard input, output and error of the command: files, or what is wrong with them."""
    target = {"file": said / "out", "full": "/dev/full"}.get(stdout, os.devnull)
    (said / "out").write_text("")
    handles = [
        os.open(os.devnull, os.O_RDONLY),
        os.open(target, os.O_WRONLY | os.O_CREAT),
        os.open(said / "err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
        os.close(handle)
    if stdout == "unread":
        read, write = os.pipe()
        os.close(read)
        os.dup2(write, 1)
        os.close(write)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False)
    if stdout == "closed":
        os.close(1)
        sys.stdout = None


def _suffer(env=None, limits=None, more_memory=None, killed_at=None, rights=True):
    """Do to this process what a cell of the table says."""
    import resource

    os.environ.update(env or {})
    for name, value in (limits or {}).items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    if more_memory is not None:  # megabytes above what is taken already
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (taken + more_memory * 2**20,) * 2)
    if not rights:
        give_up_rights()
    if killed_at == "write":
        os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # the new file is there, and not in place


def give_up_rights():
    """Let permissions of files hold for root as well."""
    import ctypes

    libc, words = ctypes.CDLL(None, use_errno=True), ctypes.c_uint32 * 8
    header = words(0x20080522, 0)
    sets = words()
    if libc.capget(header, sets) == 0:
        for place in (0, 1):  # effective and permitted: without those that pass by permissions
            sets[place] &= ~0b110
        libc.capset(header, sets)


def fill_up(disk, but=0):
    """Leave nothing of a small disk, or a few bytes (whole pages of 4,096)."""
    handle = os.open(disk / "filled", os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(handle, b"0" * 4096)
    except OSError:
        os.ftruncate(handle, max(0, os.fstat(handle).st_size - but))
    os.close(handle)


# --- what must be left ----------------------------------------------------------------------------------------------


def whole(path):
    """Whether a file is a whole one of its kind."""
    content = path.read_bytes()
    if path.suffix in {".json", ".sig"}:
        return isinstance(json.loads(content), dict)
    if path.suffix == ".csv":
        rows = list(csv.reader(content.decode().splitlines()))
        return content.endswith(b"\n") and len({len(row) for row in rows}) == 1
    return content.rstrip().endswith((b"</html>", b"</svg>")) or content.endswith(b"\n")


def nothing_half_written(folder, outputs):
    """Each output is what was there before, or a whole new one."""
    for name in outputs:
        path = folder / name
        assert not path.exists() or path.read_bytes() == BEFORE or whole(path), name


def one_clear_message(ended):
    """One thing is said to be wrong, in words, and no traceback is shown."""
    assert "Traceback" not in ended.err and "Traceback" not in ended.out, ended.err
    assert "an error of unmask itself" not in ended.err + ended.out, ended.err
    assert ended.err.count("unmask: ") <= 1, ended.err
    assert "Exception ignored" not in ended.err, ended.err


def left_over(folder):
    """Files that are not whole and were left behind."""
    return sorted(path.name for path in folder.rglob("*") if path.name.endswith(".part"))
