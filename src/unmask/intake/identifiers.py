"""Columns of the release that name people: found by their shape and by their name, told without a value.

What names a person by itself (a name, an e-mail address, a phone number, an account or social-security number, an
address, free text) has no place in a release, unless its values were made up: where the original has the column too
and none of its values is in the release, the column is told and not held against publishing. What narrows people down
(an exact date, a full postcode, a key of many values) is told; the attacks judge it.
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.tables import Release, as_text, recognise

DETAIL = "the attacks judge what it gives away; consider a coarser form"
OUT = "take it out"


@dataclass(frozen=True, slots=True)
class Identifier:
    """A released column that names people or narrows them down."""

    column: str
    what: str
    reason: str
    direct: bool  # it names a person by itself
    kept: bool  # its values are those of the original, or cannot be compared with them

    @property
    def against(self) -> bool:
        """Whether it must not be published."""
        return self.direct and self.kept

    @property
    def words(self) -> str:
        """One sentence without a value."""
        todo = OUT if self.against else DETAIL if self.kept else "its values are not those of the original"
        return f"{self.column!r} looks like {self.what} ({self.reason}): {todo}"


def identifiers(release: Release) -> tuple[Identifier, ...]:
    """Look at every released column but the id that pairs the tables and those that are left out."""
    aside = {release.id, release.weight, *release.ignored}
    found = []
    for name in release.released.columns:
        if name in aside:
            continue
        seen = recognise(release.released[name])
        if seen is not None:
            what, reason, direct = seen
            found.append(Identifier(name, what, reason, direct, _kept(release, name)))
    return tuple(found)


def _kept(release: Release, name: str) -> bool:
    """Whether released values are those of the original; a column that only the release has counts as such."""
    if name not in release.original.columns:
        return True
    there = set(as_text(release.original[name]).drop_nulls())
    return any(value in there for value in as_text(release.released[name]).drop_nulls().unique())
