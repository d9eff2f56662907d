"""Check two tables before they are attacked: the pairing, the columns, and names of people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.errors import TableError, UnmaskError
from unmask.evidence import ColumnEntry, Finding
from unmask.intake.identifiers import Identifier, identifiers
from unmask.intake.pairing import WAYS_ON, Pairing, check_pairing
from unmask.shown import Shown
from unmask.study import Study, as_study
from unmask.tables import Release, form_of


@dataclass(frozen=True, slots=True)
class Check(Shown):
    """What was seen before any attack. ``findings`` are those that no "safe" may ignore."""

    pairing: Pairing
    columns: tuple[ColumnEntry, ...]
    identifiers: tuple[Identifier, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing stands against going on to a verdict."""
        return not self.findings

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Pairs that look wrong leave everything open; a column that names people is against publishing."""
        found = []
        if self.pairing.looks == "unpaired":
            claim = "The rows of the two files do not seem to belong together."
            found.append(Finding("check", "check.pairing", claim, "could not run", f"{self.pairing.words} {WAYS_ON}"))
        naming = [entry for entry in self.identifiers if entry.against]
        if naming:
            columns = ", ".join(repr(entry.column) for entry in naming)
            claim = f"The release names people: {columns}."
            reason = "; ".join(entry.words for entry in naming)
            found.append(Finding("check", "check.identifiers", claim, "against", reason))
        return tuple(found)

    @property
    def roles(self) -> dict[str, str]:
        """The role that each column suggests: direct, quasi, confidential, id, or safe where it says nothing."""
        direct = {entry.column for entry in self.identifiers if entry.direct}
        return {
            entry.name: "direct" if entry.name in direct else "safe" if "only one value" in entry.reason else entry.role
            for entry in self.columns
        }


def check(release: Release | Study) -> Check:
    """Look at a release before it is attacked: do rows belong together, how are columns written, who is named.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(200)
    >>> unmask.check(unmask.Release(people, people)).pairing.looks
    'paired'

    """
    study = as_study(release)
    return Check(check_pairing(study), check_columns(study), identifiers(study.release))


def check_columns(study: Study) -> tuple[ColumnEntry, ...]:
    """Look at every column of either file, those of the original first."""
    release = study.release
    names = [*release.original.columns, *(n for n in release.released.columns if n not in release.original.columns)]
    return tuple(_check(study, name) for name in names)


def _check(study: Study, name: str) -> ColumnEntry:
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
    return ColumnEntry(name, kind, release.role(name), reason, forms[0], forms[1], rule, own)


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
