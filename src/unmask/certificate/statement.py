"""What only people can say of a release: who is responsible, what it is for, how long the finding holds.

In a TOML file it is the table ``[statement]`` with the fields of `Statement`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import Any

from unmask.errors import ParameterError, check_name, did_you_mean

MODELS = ("public", "partner", "enclave")
LISTS = ("assumptions", "limitations", "changes")
DAYS = ("valid_until", "review_on")
NOT_SAID = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The steward's part of a certificate; what is empty is shown as "not stated".

    ``model``: how the release is given away (public, partner, enclave). ``people``: whom the data are about;
    ``sampling``: how they were chosen. ``changes``: what was changed after the first test. ``reviewer``,
    ``qualification`` and ``opinion`` are the expert's own words, which a signature covers.
    """

    title: str = ""
    release_id: str = ""
    controller: str = ""
    steward: str = ""
    purpose: str = ""
    model: str = ""
    people: str = ""
    sampling: str = ""
    valid_until: str = ""
    review_on: str = ""
    reviewer: str = ""
    qualification: str = ""
    opinion: str = ""
    assumptions: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check kinds, days and the model; nothing here is ever taken for a risk."""
        for name in (entry.name for entry in fields(self)):
            _check_text(name, getattr(self, name))
        if self.model:
            check_name(self.model, MODELS, f"a release is not given away as {self.model!r}")
        for name in DAYS:
            _check_day(name, getattr(self, name))

    @property
    def missing(self) -> tuple[str, ...]:
        """Fields that a reader expects and nobody filled in."""
        needed = ("controller", "steward", "purpose", "model", "people", "valid_until", "reviewer")
        return tuple(name for name in needed if not getattr(self, name))

    def to_dict(self) -> dict[str, Any]:
        """Fields by name."""
        return asdict(self)


def as_statement(given: Statement | Mapping[str, Any] | None) -> Statement:
    """A statement of a mapping, such as a table of a TOML file; an unknown field is an error with a guess."""
    if isinstance(given, Statement):
        return given
    known, values = [entry.name for entry in fields(Statement)], dict(given or {})
    for name in values:
        if name not in known:
            what = f"a statement has no field {name!r}"
            raise ParameterError(what, allowed=", ".join(known), hint=did_you_mean(str(name), known))
    for name in DAYS:
        if isinstance(values.get(name), date):  # TOML has dates of its own
            values[name] = values[name].isoformat()[:10]
    for name in LISTS:
        if isinstance(values.get(name), (list, tuple)):
            values[name] = tuple(values[name])
    return Statement(**values)


def _check_text(name: str, value: object) -> None:
    if name in LISTS:
        if not isinstance(value, tuple) or not all(isinstance(part, str) and part.strip() for part in value):
            raise ParameterError(f"{name} of the statement is not a list of sentences", hint=f'{name} = ["..", ".."]')
    elif not isinstance(value, str):
        raise ParameterError(f"{name} of the statement is not text", got=type(value).__name__, hint=f'{name} = ".."')


def _check_day(name: str, value: str) -> None:
    try:
        day = date.fromisoformat(value) if value else None
    except ValueError:
        raise ParameterError(f"{name} of the statement is not a day", got=value, allowed="2027-06-30") from None
    if name == "valid_until" and day is not None and day < date.today():  # noqa: DTZ011 - a day where the steward is
        raise ParameterError("valid_until of the statement is over already", got=value, hint="name a day to come")
