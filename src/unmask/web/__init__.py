"""WEB: the same steps in a browser, for people without a terminal; the only room that knows HTTP.

Two files, the check, audience and intruder, the run, the report, a safer release, downloads: pages that are made here
and need no script. What is computed is the command line's own work, each command in a process of its own (`jobs`,
`worker`), so that the page says which command does the same. `serve` answers on 127.0.0.1 alone and refuses whoever
does not hold the token (`security`).
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
