"""`unmask selfcheck`: does every measure tell a copy from a stranger?"""

from __future__ import annotations

from unmask.cli.options import Selfcheck
from unmask.cli.screen import console, progress_bar
from unmask.report import show_checks, show_gauntlet
from unmask.selfcheck import selfcheck


def run(options: Selfcheck) -> int:
    """Check the measures and show what was seen; 1 when one of them fails."""
    part = (options.cases or True) if options.gauntlet else False
    with progress_bar() as tell:
        checks = selfcheck(only=options.only or None, seed=options.seed, gauntlet=part, progress=tell)
    if options.gauntlet:
        show_gauntlet([(c.table, c.risks[0], c.risks[1], c.failures) for c in checks], console())
    else:
        show_checks([(c.measure, c.table, c.risks, c.chance, c.failures) for c in checks], console())
    return 0 if all(check.passed for check in checks) else 1
