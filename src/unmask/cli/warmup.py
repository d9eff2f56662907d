"""`unmask warmup`: compile what attacks need, once and beforehand."""

from __future__ import annotations

from unmask.cli.options import Warmup
from unmask.cli.screen import progress_bar, say
from unmask.warmup import warmup


def run(options: Warmup) -> int:
    """Fill the folder of compiled kernels; say where it is and how large."""
    with progress_bar(quiet=options.quiet) as told:
        made = warmup(progress=told)
    if not options.quiet:
        say(f"{made.compiled} kernels compiled; {made.megabytes:.1f} MB are kept below {made.folder}")
    return 0
