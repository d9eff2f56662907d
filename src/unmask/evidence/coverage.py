"""Silence is not safety: a released column that no attack could compare is a finding, and the first one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unmask.evidence.finding import Evidence, Finding, Reported

COMPARING = frozenset({"bags", "channel", "copies", "nearest", "one_to_one", "probabilistic", "uniqueness"})
MOST_NAMED = 8
REASON = (
    "nothing of the original says what they hold, so what they tell about people is unknown, and unknown is not safe: "
    "give the original columns that they were made from, under the same names where they are the same, or name them "
    "in ignored if they were drawn at random"
)


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    """How a column is written in both files (empty: not there), and how it was read and why.

    ``own``: share of the people whose released value contains their own; ``rule``: how the intruder gets from one to
    the other.
    """

    name: str
    kind: str
    role: str
    reason: str
    original: str
    released: str
    rule: str
    own: float | None


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
