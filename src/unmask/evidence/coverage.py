"""Silence is not safety: a released column that no attack could compare is a finding, and the first one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.evidence.finding import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unmask.evidence.finding import Reported

COMPARING = frozenset({"channel", "copies", "nearest", "one_to_one", "probabilistic", "uniqueness"})
MOST_NAMED = 8
REASON = (
    "nothing of the original says what they hold, so what they tell about people is unknown, and unknown is not safe: "
    "give the original columns that they were made from, under the same names where they are the same, or name them "
    "in ignored if they were drawn at random"
)


def unseen(columns: Iterable[str], reported: Sequence[Reported], *, shared: bool = True) -> tuple[Finding, ...]:
    """The finding that no attack could compare some released columns, where one that compares columns was run.

    Where the files share no column name there is hardly one that could, and that is said in any case.
    """
    if shared and not any(isinstance(entry.evidence, Evidence) and entry.measure in COMPARING for entry in reported):
        return ()
    found = uncompared(columns, reported)
    return () if found is None else (found,)


def uncompared(columns: Iterable[str], reported: Iterable[Reported]) -> Finding | None:
    """The finding that some released columns were compared by no attack; None when each was by one at least."""
    covered = {name for e in reported if isinstance(e.evidence, Evidence) for name in e.evidence.compared}
    left = [name for name in columns if name not in covered]
    if not left:
        return None
    more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
    named = ", ".join(map(repr, left[:MOST_NAMED])) + more
    claim = f"No attack could compare {len(left)} of the released columns: {named}."
    return Finding("columns", "columns.compared", claim, "could not run", REASON)
