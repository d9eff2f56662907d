"""Shapes of what names a person: addresses of mail, account, phone and social-security numbers, names, streets.

A shape is a form of letters and digits, and a check digit where there is one. What could be an amount or a code as well
counts only if the name of its column says so too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address

EMAIL = re.compile(r"^[^@\s*]+@[^@\s*]+\.[A-Za-z]{2,}$")
PHONE = re.compile(r"^(\+|00)?[\d(][\d\s()/.-]{6,17}$")
DIALLED = re.compile(r"^\(?0\d+\)?[\s/-]|^\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}$")  # 030/123456, (555) 123-4567
SOCIAL = re.compile(
    r"^\d{3}-\d{2}-\d{4}$|^756\.\d{4}\.\d{4}\.\d{2}$|^[12] \d{2} \d{2} \d{2} \d{3} \d{3}( \d{2})?$"  # US, CH, FR
    r"|^[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]$"  # GB
    r"|^[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]$"  # IT
    r"|^(?:\d{2})?\d{6}[-+]\d{4}$|^\d{6}[-+A]\d{3}[0-9A-Y]$"  # SE, DK, FI
    r"|^\d{3}\.\d{3}\.\d{3}-\d{2}$"  # BR
)
STREETS = (
    "street|st|road|rd|avenue|ave|lane|drive|square|court|rue|allée|boulevard|chemin|calle|avenida|plaza|via|piazza|"
    "rua|travessa|ulica|ul|aleja|улица|ул"
)
ADDRESS = re.compile(
    rf"\b({STREETS})\b|(straße|strasse|str\.|weg|platz|gasse|straat|gatan|vägen|vej|gate|katu|utca)\b", re.IGNORECASE
)
NAME = re.compile(r"^[^\W\d_][^\W\d_'’.-]*([ ,'’-]+[^\W\d_][^\W\d_'’.-]*\.?){0,4}$")  # noqa: RUF001 - people type both
NUMBER = re.compile(r"^[+-]?[\d.,]+$")
DEVICE = re.compile(r"^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$")
POSTCODE = re.compile(
    r"^[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$|^\d{4} ?[A-Z]{2}$|^\d{5}-\d{4}$|^[A-Z]\d[A-Z] ?\d[A-Z]\d$"  # GB, NL, US, CA
)
DIGIT_POSTCODE = re.compile(r"^(?:[A-Z]{1,2}-)?\d{4,6}$|^\d{3} \d{2}$|^\d{2}-\d{3}$|^\d{4}-\d{3}$|^\d{3}-\d{4}$")
OF_PEOPLE = (
    "sur|first|last|full|given|family|middle|maiden|patient|person|customer|client|employee|member|user|student|"
    "teacher|doctor|contact|child|mother|father|vor|nach|familien|patienten|kunden"
)
NAMED = {
    "a name": rf"(({OF_PEOPLE})[ _.-]?)?names?|pr[eé]noms?|nom( de famille)?|apellidos?|nombres?( y apellidos?)?|"
    r"nome|cognome|sobrenome|naam|achternaam|voornaam|namn|efternamn|navn|imi[eę]|nazwisko|имя|фамилия|фио|"
    r"氏名|名前|姓名|اسم",
    "a phone number": r"(tele)?(ph|f)one?[ _-]?(number|nr|no)?|mobile|cell|handy|telefon(nummer|o)?|t[eé]l[eé]phone|"
    r"tel|fax|móvil|cellulare|телефон|電話(番号)?",
    "an e-mail address": r"e?[ _-]?mail.*",
    "a social-security number": r"ssn|social.?security.*|nino|nhs.?(number|no)?|ahv|sozialvers.*|insee|nir|svnr|bsn|"
    r"pesel|dni|nie|cpf|codice fiscale|personnummer|cpr|national id.*",
    "an account number": r"iban|account.*|konto.*|kreditkarte|credit.?card.*",
    "a postcode": r"post(al)?[ _-]?codes?|zip([ _-]?code)?|plz|postleitzahl|code postal|c[oó]digo postal|cap|cep|"
    r"postnummer|kod pocztowy|индекс|郵便番号",
    "a key": r"(.*[ _-])?(id|key|nr|no|uuid|guid|mrn|number|nummer|numéro|número|patient|case|record)",
}


def named(column: str) -> str | None:
    """What a column is by its name."""
    plain = _plain(column)
    return next((what for what, form in NAMED.items() if re.fullmatch(form, plain)), None)


def of_people(column: str) -> bool:
    """Whether a column is called after people: "patient", "customer"."""
    return re.fullmatch(rf"({OF_PEOPLE})s?", _plain(column)) is not None


def _plain(column: str) -> str:
    return " ".join(column.strip().casefold().split())


def is_iban(text: str) -> bool:
    """Country, two check digits, and the remainder 1 modulo 97 (ISO 13616)."""
    plain = text.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """Thirteen to nineteen digits with the check digit of Luhn."""
    if not re.fullmatch(r"[\d -]+", text):  # \d are decimal digits of any script; isdigit() would take ² as well
        return False
    digits = [int(c) for c in text if c not in " -"]
    if not 13 <= len(digits) <= 19:
        return False
    doubled = [d if k % 2 == 0 else d * 2 - 9 * (d > 4) for k, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def is_social(text: str) -> bool:
    """A form that only such numbers have, or a check digit that one number in ten has by chance."""
    return bool(SOCIAL.match(text)) or _is_pesel(text) or _is_nhs(text) or _is_dni(text) or _is_nir(text)


def _is_pesel(text: str) -> bool:
    if not re.fullmatch(r"\d{11}", text):
        return False
    weighed = sum(int(d) * w for d, w in zip(text, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), strict=True))
    return weighed % 10 == 0 and 1 <= int(text[2:4]) % 20 <= 12


def _is_nhs(text: str) -> bool:
    digits = re.sub(r"[ -]", "", text)
    if not re.fullmatch(r"\d{10}", digits):
        return False
    return sum(int(d) * (10 - k) for k, d in enumerate(digits)) % 11 == 0


def _is_dni(text: str) -> bool:
    found = re.fullmatch(r"([XYZ]?)(\d{7,8})-?([A-Z])", text)
    if not found:
        return False
    number = int(("" if not found[1] else str("XYZ".index(found[1]))) + found[2])
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == found[3]


def _is_nir(text: str) -> bool:
    digits = text.replace(" ", "")
    return bool(re.fullmatch(r"[12]\d{14}", digits)) and 97 - int(digits[:13]) % 97 == int(digits[13:])


def is_network(text: str) -> bool:
    """An address of the internet (version 4 or 6), or of a device."""
    try:
        return bool(DEVICE.match(text) or ip_address(text))
    except ValueError:
        return False


def is_phone(text: str) -> bool:
    """Seven to fifteen digits, with the marks that people put between them."""
    return bool(PHONE.match(text)) and 7 <= sum(c.isdigit() for c in text) <= 15


def is_dialled(text: str) -> bool:
    """A phone number that cannot be taken for an amount or a date: it begins with + or 00, or is broken as one."""
    return is_phone(text) and (text.startswith(("+", "00")) or bool(DIALLED.match(text)))


def is_name(text: str) -> bool:
    """One to five words of letters, the first with a capital and not all of it."""
    return bool(NAME.match(text)) and text[:1].isupper() and len(text) > 1 and not text.isupper()


def is_full_name(text: str) -> bool:
    """The same of two words or more."""
    return is_name(text) and len(text.split()) > 1


def may_be_name(text: str) -> bool:
    """The same in capitals, small letters, or letters that have no capitals: where the name of the column says so."""
    return bool(NAME.match(text)) and len(text) > 1


def is_address(text: str) -> bool:
    """A street and a number."""
    return bool(ADDRESS.search(text)) and any(c.isdigit() for c in text)


SHAPES: tuple[tuple[str, Callable[[str], bool], bool], ...] = (  # what, its shape, whether the name must say it too
    ("an e-mail address", lambda text: bool(EMAIL.match(text)), False),
    ("an account number", is_iban, False),
    ("an account number", is_card, False),
    ("a social-security number", is_social, False),
    ("an address of a computer", is_network, False),
    ("a phone number", is_dialled, False),
    ("a phone number", is_phone, True),
)
