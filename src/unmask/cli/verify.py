"""`unmask verify`: run a report again and compare."""

from __future__ import annotations

from unmask.cli.options import Verify
from unmask.cli.screen import progress_bar, say
from unmask.cli.targets import check_files
from unmask.verify import verify


def run(options: Verify) -> int:
    """Run the manifest again; 0 when the result is the same, else 1 and what differs or is called otherwise now."""
    check_files(options)
    with progress_bar() as tell:
        result = verify(options.report, original=options.original, released=options.released, progress=tell)
    if result.same:
        say(f"the same result (verdict: {result.verdict})")
        return 0
    say("not the same result" if result.differences else "the same figures, under names that have moved")
    for line in (*result.differences, *result.moved):
        say(f"  {line}")
    return 1
