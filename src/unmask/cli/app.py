"""The command line: parse, call, exit code. Everything else is in the library.

Exit codes: 0 safe (or the same, or passed), 1 unsafe (or different, or failed), 3 inconclusive, 2 cannot, 130 stopped.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from typing import Annotated, Any

import typer

from unmask.cli import graph_options, making_options, network_options, options, report_options, serve
from unmask.cli.fields import as_command
from unmask.cli.stopping import STOPPED, stoppable, tell_stopped
from unmask.cli.streams import check_handles, end_unread, guarded
from unmask.errors import DEBUG, ParameterError, UnmaskError, debugging, refused_by_system, tell_where
from unmask.inert import visible

CANNOT = 2
TIMES = ("s", "sec", "second", "seconds", "m", "min", "minute", "minutes", "h", "hour", "hours")
COMMANDS: dict[str, tuple[type[options.Common], str]] = {  # name: its options, and the file whose `run` it is
    "assess": (options.Assess, "assess"),
    "assess-model": (making_options.AssessModel, "assess_model"),
    "assess-tables": (making_options.AssessTables, "assess_tables"),
    "network": (network_options.AssessNetwork, "network"),
    "mask-network": (network_options.MaskNetwork, "mask_network"),
    "check": (options.Check, "check"),
    "link": (options.Link, "link"),
    "graph": (graph_options.Graph, "graph"),
    "graph-sweep": (graph_options.Sweep, "graph_sweep"),
    "mask": (making_options.Mask, "mask"),
    "audit": (making_options.Audit, "audit"),
    "hierarchy": (making_options.Hierarchy, "hierarchy"),
    "fix": (making_options.Fix, "fix"),
    "utility": (making_options.Utility, "utility"),
    "explore": (making_options.Explore, "explore"),
    "protect": (making_options.Protect, "protect"),
    "measures": (options.Measures, "measures"),
    "schema": (report_options.Schema, "schema"),
    "person": (report_options.Person, "person"),
    "compare": (report_options.Compare, "compare"),
    "verify": (report_options.Verify, "verify"),
    "sign": (report_options.Sign, "sign"),
    "selfcheck": (options.Selfcheck, "selfcheck"),
    "demo": (options.Demo, "demo"),
    "warmup": (options.Warmup, "warmup"),
    "serve": (serve.Serve, "serve"),
}

app = typer.Typer(
    name="unmask",
    help="Attack your data release before someone else does.\n\n"
    "Example:  unmask assess original.csv release.csv --id patient --html report.html",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help is twice as fast to show
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line; errors are one clear message and exit code 2."""
    words = sys.argv[1:]
    with guarded() as out:
        watched = nullcontext() if words[:1] == ["serve"] else stoppable()  # a server ends in its own order
        with debugging(on="--debug" in words), watched:
            code = _run(words)
        out.flush()
        if out.failed is not None:
            code = _lost(out.failed)
    sys.exit(code)


def _run(words: list[str]) -> int:
    """Run one command and say why it could not be run; its exit code."""
    try:
        check_handles()
        _refuse_empty(words)
        _refuse_loose_units(words)
        app()
    except SystemExit as end:  # how typer returns, after Ctrl-C too
        return tell_stopped() if end.code == STOPPED else _code(end)
    except UnmaskError as error:
        tell_where(error)
        return _cannot(str(error))
    except KeyboardInterrupt:
        return tell_stopped()
    except BaseException as error:  # noqa: BLE001 - a crash is no verdict, and its words may quote a value
        refused = refused_by_system(error)
        tell_where(error, show_values="--show-values" in words)
        where = "" if os.environ.get(DEBUG) else "; run again with --debug to see where, and please report it"
        return _cannot(refused or f"an error of unmask itself ({type(error).__name__}){where}")
    return 0


def _code(end: SystemExit) -> int:
    """The exit code that was asked for; words in its place are a message."""
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    return _cannot(end.code)


def _lost(error: OSError) -> int:
    """Say that what was told did not arrive; where nobody reads any more there is nobody to say it to."""
    if isinstance(error, BrokenPipeError):
        end_unread()
    return _cannot(f"cannot write to standard output: {error.strerror}; files that were asked for are written")


def _cannot(message: str) -> int:
    sys.stderr.write(f"unmask: {visible(message)}\n")
    return CANNOT


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:  # noqa: FBT002
    if version:
        from unmask import __version__  # noqa: PLC0415 - what is not needed is not imported

        sys.stdout.write(f"unmask {__version__}\n")
        raise typer.Exit


def _runner(file: str) -> Callable[[Any], int]:
    """Import what a command needs when it runs."""

    def run(given: options.Common) -> int:
        code: int = import_module(f"unmask.cli.{file}").run(given)
        return code

    return run


for name, (kind, file) in COMMANDS.items():
    app.command(name, epilog=options.MEASURES if name == "assess" else None)(as_command(kind, _runner(file)))


def _refuse_empty(words: list[str]) -> None:
    """Say which option is empty: an unset variable of the shell would else be a folder, all columns, or no output."""
    for before, word in zip(["", *words], words, strict=False):
        joined = word.startswith("--") and word.endswith("=") and word.count("=") == 1
        if word and not joined:
            continue
        option = word[:-1] if joined else before
        if option == "--labels":  # no labels are a choice
            continue
        what = f"{option} is given, but empty" if option.startswith("-") else "an empty name is given"
        raise ParameterError(what, hint="give a value, or leave it out; is a variable of the shell not set?")


def _refuse_loose_units(words: list[str]) -> None:
    """Say how a time is written: the word after `--budget 10 minutes` would else be one argument too many."""
    for option, number, unit in zip(words, words[1:], words[2:], strict=False):
        if option == "--budget" and number.replace(".", "", 1).isdigit() and unit.lower() in TIMES:
            raise ParameterError(
                "a time is one word", got=f"--budget {number} {unit}", hint=f"--budget {number}{unit[0].lower()}"
            )
