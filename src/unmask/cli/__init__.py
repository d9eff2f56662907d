"""The command line: the only room that knows typer, TOML, the screen and output files.

`main` reads what was typed, runs one command and returns its exit code. A command is imported when it is run, and the
help needs none of them.
"""

from unmask.cli.app import main

__all__ = ["main"]
