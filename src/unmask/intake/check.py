"""Check two tables before they are attacked: the pairing, the columns, and names of people."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unmask.errors import TableError, UnmaskError
from unmask.evidence import ColumnEntry, Finding
from unmask.intake.identifiers import Identifier, identifiers
from unmask.intake.origins import origin
from unmask.intake.pairing import WAYS_ON, Pairing, check_pairing
from unmask.intake.suggest import Suggestion, suggest
from unmask.shown import Shown
from unmask.study import Study, as_study
from unmask.tables import Release, form_of


@dataclass(frozen=True, slots=True)
class Check(Shown):
    """What was seen before any attack. ``findings`` are those that no "safe" may ignore."""

    pairing: Pairing
    columns: tuple[ColumnEntry, ...]
    identifiers: tuple[Identifier, ...]
    ignored: tuple[str, ...] = ()  # columns that somebody wants to be left out

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
    def suggestions(self) -> tuple[Suggestion, ...]:
        """The role that each column suggests, and why."""
        return suggest(self.columns, self.identifiers, self.ignored)

    @property
    def roles(self) -> dict[str, str]:
        """The role that each column suggests: direct, quasi, confidential, id, or safe where it says nothing."""
        return {each.column: each.role for each in self.suggestions}


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
    seen = check_pairing(readable(study)), check_columns(study), identifiers(study.release)
    return Check(*seen, study.release.ignored)


def check_columns(study: Study) -> tuple[ColumnEntry, ...]:
    """Look at every column of either file, those of the original first."""
    release = study.release
    names = dict.fromkeys((*release.original.columns, *release.released.columns))
    return tuple(_check(study, name) for name in names)


def _check(study: Study, name: str) -> ColumnEntry:
    release = study.release
    told = release.columns.get(name)
    seen = release.written.get(name)
    forms = [
        "" if (column := table.get_column(name, default=None)) is None else form_of(column, getattr(seen, side, ""))
        for side, table in (("original", release.original), ("released", release.released))
    ]
    beside = all(forms) and release.role(name) != "id" and not release.alone
    rule, own = _own(study, name) if beside else ("", None)
    forms[0] = "" if release.alone else forms[0]
    if told is None and (made := origin(release, name)) is not None:
        rule, own = made
    kind, reason = (told.kind, told.reason) if told else ("", "the original does not have it")
    rule = "; ".join(part for part in (*(seen.rules if seen else ()), rule) if part)
    unshared = not all(forms) and release.role(name) == "ignored" and name not in release.ignored
    role = "unshared" if unshared else release.role(name)
    return ColumnEntry(name, kind, role, reason, forms[0], forms[1], rule, own)


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
    coarser = encoding.spans[name].rule if name in encoding.spans else ""
    return "; ".join(part for part in (rule, coarser) if part), float(np.mean(own[rows]))


def readable(study: Study) -> Study:
    """The study without known columns that cannot be compared at all, such as numbers beside words.

    One of them must stop no attack: they run on the rest, and the report says so.
    """
    release = study.release
    left = tuple(name for name in release.quasi if not _fails(study, name))
    return study if left in ((), release.quasi) else Study(release.with_roles(replace(release.roles, quasi=left)))


def _fails(study: Study, name: str) -> bool:
    try:
        study.encoding([name])
    except TableError:
        return True
    return False
