"""The command line: the only room that knows typer, TOML, the screen and output files.

`main` reads what was typed, runs one command and returns its exit code. A command is imported when it is run, and the
help needs none of them. For the web page, whose jobs are commands: a command tells how far it is in the file that
the environment variable `PROGRESS` names.
"""

from unmask.cli.app import main
from unmask.cli.serve import PROGRESS

__all__ = ["PROGRESS", "main"]
