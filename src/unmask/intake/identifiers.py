"""Columns of the release that name people: found by their shape and by their name, told without a value.

What names a person by itself (a name, an e-mail address, a phone number, an account or social-security number, an
address, free text) has no place in a release, unless its values were made up: where the original has the column too
and none of its values is in the release, the column is told and not held against publishing. What narrows people down
(an exact date, a full postcode, a key of many values) is told; the attacks judge it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from unmask.tables import Release, as_text

LOOKED_AT = 2000  # different values of a column
MOSTLY = 0.8  # share of values that must have the shape
OFTEN = 0.5  # of different values among all, for a column that tells people apart
LONG_TEXT = 40  # characters on average, of free text
WORDS_OF_TEXT = 4
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


def recognise(column: pl.Series) -> tuple[str, str, bool] | None:
    """Tell what a column looks like, why, and whether that names a person; None for anything else."""
    values = column.drop_nulls()
    if not len(values):
        return None
    if column.dtype.is_temporal():
        return _exact_dates(values)
    texts = as_text(values).str.strip_chars()
    looked = texts.unique().sort().head(LOOKED_AT)
    distinct = texts.n_unique() / len(texts)
    hint = named(column.name)
    for what, fits, needs_name in SHAPES:
        share = sum(map(fits, looked)) / len(looked)
        if share >= MOSTLY and (hint == what if needs_name else True):
            why = "by its name and shape" if hint == what else f"{share:.0%} of its values have the shape"
            return what, why, True
    if column.dtype != pl.String:
        return None
    return _by_text(looked, distinct, len(texts), hint)


def _by_text(looked: pl.Series, distinct: float, rows: int, hint: str | None) -> tuple[str, str, bool] | None:
    """Names, addresses, free text and keys: less sure, so that most people must have their own."""
    apart = rows >= 20 and distinct > OFTEN
    names = sum(map(_is_name, looked)) / len(looked)
    if hint == "a name" and names >= MOSTLY:
        return "a name", "by its name and shape", True
    if sum(map(_is_address, looked)) / len(looked) >= MOSTLY:
        return "an address", "a street and a number", True
    length = float(looked.str.len_chars().mean() or 0)  # type: ignore[arg-type]
    if apart and length >= LONG_TEXT and sum(len(t.split()) >= WORDS_OF_TEXT for t in looked) >= MOSTLY * len(looked):
        return "free text", f"{distinct:.0%} different texts of {length:.0f} characters on average", True
    if apart and names >= MOSTLY and any(" " in text for text in looked):
        return "a name", f"{distinct:.0%} different texts of one to four capitalised words", True
    if rows >= 20 and distinct > 1 - 1e-9 and not any(map(NUMBER.match, looked.head(50))):
        return "a key", "every record has its own value", False
    return None


def _exact_dates(values: pl.Series) -> tuple[str, str, bool] | None:
    """Days that tell people apart: not the first of a month or a year."""
    if values.dtype in (pl.Time, pl.Duration):
        return None
    days = values.cast(pl.Date)
    if (days.dt.day() == 1).mean() > MOSTLY or days.n_unique() < 100:  # type: ignore[operator]
        return None
    return "an exact date", f"{days.n_unique()} different days", False


# --- shapes ---------------------------------------------------------------------------------------------------------

EMAIL = re.compile(r"^[^@\s*]+@[^@\s*]+\.[A-Za-z]{2,}$")
PHONE = re.compile(r"^(\+|00)?[\d][\d\s()/.-]{6,17}$")
SOCIAL = re.compile(r"^\d{3}-\d{2}-\d{4}$|^756\.\d{4}\.\d{4}\.\d{2}$|^[12] \d{2} \d{2} \d{2} \d{3} \d{3}( \d{2})?$")
STREETS = (
    "street|st|road|rd|avenue|ave|lane|drive|square|court|rue|allée|boulevard|chemin|calle|avenida|plaza|via|piazza"
)
ADDRESS = re.compile(rf"\b({STREETS})\b|(straße|strasse|str\.|weg|platz|gasse|straat|gatan|vej)\b", re.IGNORECASE)
NAME = re.compile(r"^[^\W\d_][^\W\d_'’.-]*([ ,'’-]+[^\W\d_][^\W\d_'’.-]*\.?){0,4}$")  # noqa: RUF001 - people type both
NUMBER = re.compile(r"^[+-]?[\d.,]+$")
NAMED = {
    "a name": r"(sur|first|last|full|given|family|vor|nach|familien|maiden)?[ _]?name|pr[eé]nom|nom|apellidos?|nombre",
    "a phone number": r"(tele)?(ph|f)one?(number|nr|no)?|mobile|cell|handy|telefon(nummer)?|telephone|tel|fax",
    "an e-mail address": r"e?[ _-]?mail.*",
    "a social-security number": r"ssn|social.?security.*|nino|nhs.?(number|no)?|ahv|sozialvers.*|insee|svnr|bsn",
    "an account number": r"iban|account.*|konto.*|kreditkarte|credit.?card.*",
}


def named(column: str) -> str | None:
    """What a column is by its name."""
    plain = column.strip().casefold()
    return next((what for what, form in NAMED.items() if re.fullmatch(form, plain)), None)


def _is_iban(text: str) -> bool:
    """Country, two check digits, and the remainder 1 modulo 97 (ISO 13616)."""
    plain = text.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _is_card(text: str) -> bool:
    """Thirteen to nineteen digits with the check digit of Luhn."""
    digits = [int(c) for c in text if c.isdigit()]
    if not 13 <= len(digits) <= 19 or not re.fullmatch(r"[\d -]+", text):
        return False
    doubled = [d if k % 2 == 0 else d * 2 - 9 * (d > 4) for k, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _is_phone(text: str) -> bool:
    return bool(PHONE.match(text)) and 7 <= sum(c.isdigit() for c in text) <= 15


def _is_dialled(text: str) -> bool:
    """A phone number that cannot be taken for an amount or a date: it begins with + or 00, or is broken by blanks."""
    return _is_phone(text) and (text.startswith(("+", "00")) or bool(re.match(r"^\(?0\d+\)?[\s/-]", text)))


def _is_name(text: str) -> bool:
    return bool(NAME.match(text)) and text[:1].isupper() and len(text) > 1 and not text.isupper()


def _is_address(text: str) -> bool:
    return bool(ADDRESS.search(text)) and any(c.isdigit() for c in text)


SHAPES: tuple[tuple[str, Callable[[str], bool], bool], ...] = (  # what, its shape, whether the name must say it too
    ("an e-mail address", lambda text: bool(EMAIL.match(text)), False),
    ("an account number", _is_iban, False),
    ("an account number", _is_card, False),
    ("a social-security number", lambda text: bool(SOCIAL.match(text)), False),
    ("a phone number", _is_dialled, False),
    ("a phone number", _is_phone, True),
)
