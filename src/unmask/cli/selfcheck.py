"""`unmask selfcheck`: does every measure tell a copy from a stranger?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.cli.screen import console, progress_bar
from unmask.report.terminal import show_checks
from unmask.selfcheck import selfcheck

if TYPE_CHECKING:
    from unmask.cli.options import Selfcheck


def run(options: Selfcheck) -> int:
    """Check the measures and show what was seen; 1 when one of them fails."""
    with progress_bar() as tell:
        checks = selfcheck(only=options.only or None, seed=options.seed, progress=tell)
    show_checks([(c.measure, c.table, c.risks, c.chance, c.failures) for c in checks], console())
    return 0 if all(check.passed for check in checks) else 1
