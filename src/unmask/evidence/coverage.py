"""Silence is not safety: a released column that no attack could compare is a finding, and the first one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.evidence.finding import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unmask.evidence.finding import Reported

MOST_NAMED = 8


def uncompared(columns: Iterable[str], reported: Iterable[Reported]) -> Finding | None:
    """The finding that some released columns were compared by no attack; None when each was by one at least."""
    covered = {name for e in reported if isinstance(e.evidence, Evidence) for name in e.evidence.compared}
    left = [name for name in columns if name not in covered]
    if not left:
        return None
    named = ", ".join(map(repr, left[:MOST_NAMED])) + (f" and {len(left) - MOST_NAMED} more" * (len(left) > MOST_NAMED))
    one = len(left) == 1
    claim = (
        f"{'A released column was' if one else f'{len(left)} released columns were'} compared by no attack: {named}."
    )
    reason = (
        f"nothing of the original says what {'it holds' if one else 'they hold'}, so what {'it tells' if one else 'they tell'} "
        "about people is unknown, and unknown is not safe: give the original column that it was made from, or name it in "
        "ignored if it was drawn at random"
    )
    return Finding("columns", "columns.compared", claim, "could not run", reason)
