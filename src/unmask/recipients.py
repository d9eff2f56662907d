"""Recipients of a release: one verdict each, by what they hold, what a contract forbids and how likely they try.

In a TOML file each is a table ``[[recipients]]`` with the fields of `Recipient`: name, audience, intruder, columns ..
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.attacks import Attacked, held
from unmask.errors import ParameterError, check_name
from unmask.evidence import INTRUDERS, STANCES, Judgement, Policy, Reported, Who, as_intruder, best_of
from unmask.people import PersonRisk
from unmask.report import document
from unmask.tables import Release

if TYPE_CHECKING:
    from unmask.attacks import Again, Columns

WORST_FIRST = ("unsafe", "inconclusive", "safe")
FORBIDS = ("linking", "sharing")
FOR_ANYBODY = frozenset({"public", "strict", "clinical"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """Somebody who may get the release.

    ``audience``: a profile, the path of a policy file, or a ``Policy``; None: that of the assessment. ``columns``:
    those of the original that they hold; None: all. ``forbids``: what a contract forbids them, "linking" or "sharing".
    ``attempt``: probability that they try at all; below 1 it needs a contract that forbids linking, or an
    ``argument`` in words, and it is not taken for a file that anybody may have.
    """

    name: str
    audience: str | Path | Policy | None = None
    intruder: str = "maximum"
    columns: tuple[str, ...] | None = None
    forbids: tuple[str, ...] = ()
    attempt: float = 1.0
    argument: str = ""

    def __post_init__(self) -> None:
        """Check what can be checked without tables."""
        if not isinstance(self.name, str) or not self.name.strip():
            raise ParameterError("a recipient has no name", hint='name = "research partner"')
        as_intruder(self.intruder)
        for field, value in (("columns", self.columns), ("forbids", self.forbids)):
            object.__setattr__(self, field, _names(self.name, field, value))
        for word in self.forbids:
            check_name(word, FORBIDS, f"recipient {self.name!r}: a contract forbids {word!r}")
        if self.columns is not None and self.intruder == "maximum":
            raise ParameterError(
                f"recipient {self.name!r} knows everything, and holds only some columns",
                allowed=", ".join(who for who in INTRUDERS if who != "maximum"),
                hint="leave out columns, or name another intruder",
            )
        self._check_attempt()

    def _check_attempt(self) -> None:
        given = self.attempt
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 1:
            what = f"recipient {self.name!r}: the probability of an attempt is out of range"
            raise ParameterError(what, got=repr(given), allowed="0 to 1")
        if given < 1 and "linking" not in self.forbids and not self.argument.strip():
            raise ParameterError(
                f"recipient {self.name!r}: a probability of an attempt below 1 needs an argument",
                hint='forbids = ["linking"] if a contract does, or argument = "why", which the report prints',
            )

    def policy(self, of_all: Policy) -> Policy:
        """The limits that judge them; refused where they are for anybody and an attempt is taken to be unlikely."""
        given = self.audience
        limits = of_all if given is None else given if isinstance(given, Policy) else Policy.load(given)
        if self.attempt < 1 and limits.calls_itself in FOR_ANYBODY:
            raise ParameterError(
                f"recipient {self.name!r}: the probability of an attempt is below 1, and the file is for anybody",
                got=f"attempt {self.attempt:g}, audience {limits.name}",
                hint="among everybody somebody tries: leave out attempt, or name another audience",
            )
        return limits

    @property
    def who(self) -> Who:
        """The intruder."""
        return as_intruder(self.intruder)

    def to_dict(self, of_all: Policy) -> dict[str, Any]:
        """As plain values, from which the same recipient can be made again."""
        limits = self.policy(of_all)
        return {
            "name": self.name,
            "audience": {**limits.told(), "description": limits.description},
            "intruder": self.intruder,
            "columns": None if self.columns is None else list(self.columns),
            "forbids": list(self.forbids),
            "attempt": self.attempt,
            "argument": self.argument,
        }


def _names(who: str, field: str, given: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - as a TOML file gives it
    names = (given,) if isinstance(given, str) else given
    if names is not None and not (isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)):
        raise ParameterError(f"recipient {who!r}: {field} is not a list of names", hint=f'{field} = ["a", "b"]')
    if field == "columns" and names is not None and not names:
        raise ParameterError(f"recipient {who!r} holds no column", hint="leave out columns: all are held")
    return None if names is None else tuple(dict.fromkeys(names))


def as_recipients(given: Iterable[Recipient | Mapping[str, Any]]) -> tuple[Recipient, ...]:
    """Take recipients, or their fields as the tables of a TOML file give them; each name once."""
    found = tuple(entry if isinstance(entry, Recipient) else _made(entry) for entry in given)
    names = [entry.name for entry in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"two recipients are called {twice!r}", hint="give each a name of its own")
    return found


def _made(table: Mapping[str, Any]) -> Recipient:
    known = [field.name for field in fields(Recipient)]
    if not isinstance(table, Mapping):
        raise ParameterError("a recipient is a table", got=type(table).__name__, hint='[[recipients]]\n  name = "x"')
    for word in table:
        check_name(word, known, f"a recipient has no {word!r}")
    if "name" not in table:
        raise ParameterError("a recipient has no name", hint='name = "research partner"')
    return Recipient(**table)


def entry_of(recipient: Recipient, judged: Judgement, reported: tuple[Reported, ...]) -> document.RecipientEntry:
    """What the report tells of a recipient; ``reported``: by all attacks, before it is seen with their eyes."""
    best, largest = best_of(reported, recipient.who, recipient.attempt)
    return document.RecipientEntry(
        name=recipient.name,
        audience=judged.policy.name,
        intruder=recipient.intruder,
        words=STANCES[recipient.who].words,
        columns=recipient.columns,
        forbids=recipient.forbids,
        attempt=recipient.attempt,
        argument=recipient.argument or ("a contract forbids linking" if recipient.attempt < 1 else ""),
        verdict=judged.verdict.word,
        reason=judged.verdict.reason,
        against=tuple(finding.key for finding in judged.findings if finding.outcome == "against"),
        estimate=None if best is None else best.estimate,
        measure=None if best is None else best.measure,
        largest=largest,
    )


# --- one verdict each, and one for all ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Side:
    """Whom a report may be about: one recipient, or everybody where none is named (``entry`` is None)."""

    attacked: Attacked
    policy: Policy
    who: Who
    found: PersonRisk
    judged: Judgement
    entry: document.RecipientEntry | None = None


def sides_of(  # noqa: PLR0913 - what the verdicts follow from
    attacked: Mapping[Columns, Attacked],
    recipients: Sequence[Recipient],
    release: Release,
    *,
    policy: Policy,
    who: Who,
    again: Again,
    seed: int,
) -> tuple[Side, ...]:
    """The verdict for each recipient; without any, the one for ``who`` under ``policy``."""
    risks: dict[tuple[Columns, Who], PersonRisk] = {}

    def risk_of(names: Columns, whose: Who, limits: Policy) -> PersonRisk:
        if (names, whose) not in risks:
            risks[names, whose] = attacked[names].risk_for(limits, whose, again, seed)
        return risks[names, whose]

    def side(recipient: Recipient) -> Side:
        names, limits = held(recipient, release), recipient.policy(policy)
        one, found = attacked[names], risk_of(names, recipient.who, limits)
        judged = one.judge(limits, recipient.who, found, recipient.attempt)
        return Side(one, limits, recipient.who, found, judged, entry_of(recipient, judged, one.reported))

    if recipients:
        return tuple(side(recipient) for recipient in recipients)
    found = risk_of(None, who, policy)
    return (Side(attacked[None], policy, who, found, attacked[None].judge(policy, who, found)),)


def worst_of(sides: Sequence[Side]) -> Side:
    """The side that the report is about, so that no part contradicts another: of the worst verdict who finds most."""

    def badness(side: Side) -> tuple[int, float]:
        found = [intruder.estimate.value for intruder in side.judged.intruders]
        return WORST_FIRST.index(side.judged.verdict.word), -max(found, default=0.0)

    worst = min(sides, key=badness)
    if worst.entry is None:
        return worst
    verdict = worst.judged.verdict
    all_safe = f"safe for each of {len(sides)} recipients; " if verdict.word == "safe" and len(sides) > 1 else ""
    told = replace(verdict, reason=f"{all_safe}for {worst.entry.name}: {verdict.reason}")
    return replace(worst, judged=worst.judged._replace(verdict=told))
