"""How each column is written in both files, what it is taken for, and whose own value the release contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import TableError, UnmaskError
from unmask.tables import form_of

if TYPE_CHECKING:
    from unmask.study import Study


@dataclass(frozen=True, slots=True)
class ColumnCheck:
    """One column of either file. ``own``: share of people whose released value contains their own; None: not known."""

    name: str
    role: str
    original: str  # how it is written; "" where the file does not have it
    released: str
    kind: str
    reason: str
    rule: str  # how the intruder gets from one to the other
    own: float | None

    @property
    def words(self) -> str:
        """For how many people the release contains their value."""
        if not self.released:
            return "not published"
        if not self.original:
            return "only in the release"
        return "cannot be compared" if self.own is None else f"{self.own:.0%} of people find their own value"


def check_columns(study: Study) -> tuple[ColumnCheck, ...]:
    """Look at every column of either file, those of the original first."""
    release = study.release
    names = [*release.original.columns, *(n for n in release.released.columns if n not in release.original.columns)]
    return tuple(_check(study, name) for name in names)


def _check(study: Study, name: str) -> ColumnCheck:
    release = study.release
    told = release.columns.get(name)
    seen = release.written.get(name)
    forms = [
        form_of(table[name], getattr(seen, side, "")) if name in table.columns else ""
        for side, table in (("original", release.original), ("released", release.released))
    ]
    rule, own = _own(study, name) if all(forms) and release.role(name) != "id" else ("", None)
    kind, reason = (told.kind, told.reason) if told else ("", "the original does not have it")
    rule = "; ".join(part for part in (*(seen.rules if seen else ()), rule) if part)
    return ColumnCheck(name, release.role(name), forms[0], forms[1], kind, reason, rule, own)


def _own(study: Study, name: str) -> tuple[str, float | None]:
    """The rule in words, and the share of paired people whose own value the release contains."""
    release = study.release
    rows = release.paired_rows
    try:
        encoding = study.encoding([name])
        own = study.owns(name)
    except UnmaskError as error:
        return str(error).split("\n", 1)[0], None
    rule = "; ".join(note.removeprefix(f"{name!r}: ") for note in encoding.notes)
    if encoding.foreign or not len(rows):
        return rule, None
    return rule, float(np.mean(own[rows]))


def unreadable(study: Study) -> tuple[str, ...]:
    """Known columns that cannot be compared at all, such as numbers beside words: one of them must stop no attack."""
    return tuple(name for name in study.release.quasi if _fails(study, name))


def _fails(study: Study, name: str) -> bool:
    try:
        study.encoding([name])
    except TableError:
        return True
    return False
