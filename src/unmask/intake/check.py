"""Check two tables before they are attacked: the pairing, the columns, and names of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.evidence import Finding
from unmask.intake.columns import ColumnCheck, check_columns
from unmask.intake.identifiers import Identifier, identifiers
from unmask.intake.pairing import WAYS_ON, Pairing, check_pairing
from unmask.study import Study, as_study

if TYPE_CHECKING:
    from unmask.tables import Release


@dataclass(frozen=True, slots=True)
class Check:
    """What was seen before any attack. ``findings`` are those that no "safe" may ignore."""

    pairing: Pairing
    columns: tuple[ColumnCheck, ...]
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
