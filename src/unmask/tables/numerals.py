"""Numbers and intervals as people write them, rewritten plainly: ``€ 1.200,50``, ``(1,234)``, ``72 kg``, ``€10k-€20k``.

`plain` rewrites one text so that `intervals.parse_interval` reads it, and tells the unit that stood beside it. What one
cell cannot say (``1.234`` is a thousand or a decimal) is said by the whole column: see `amounts`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

CURRENCIES = {
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD",
    "dollars": "USD", "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP", "¥": "JPY", "jpy": "JPY", "chf": "CHF",
    "fr.": "CHF", "sfr.": "CHF", "₹": "INR", "inr": "INR", "rs.": "INR", "₽": "RUB", "rub": "RUB", "zł": "PLN",
    "pln": "PLN", "kč": "CZK", "czk": "CZK", "kr": "kr", "kr.": "kr", "sek": "SEK", "nok": "NOK", "dkk": "DKK",
    "huf": "HUF", "ft.": "HUF", "cad": "CAD", "c$": "CAD", "aud": "AUD", "a$": "AUD", "cny": "CNY", "rmb": "CNY",
    "brl": "BRL", "r$": "BRL", "mxn": "MXN", "zar": "ZAR", "try": "TRY", "₺": "TRY", "₩": "KRW", "krw": "KRW",
}  # fmt: skip
SCALES = {
    "k": 1e3, "tsd": 1e3, "tsd.": 1e3, "thousand": 1e3, "tausend": 1e3, "mille": 1e3, "mio": 1e6, "mio.": 1e6,
    "mn": 1e6, "million": 1e6, "millions": 1e6, "millionen": 1e6, "bn": 1e9, "mrd": 1e9, "mrd.": 1e9, "billion": 1e9,
    "milliarden": 1e9, "milliards": 1e9,
}  # fmt: skip
UNITS: dict[str, tuple[str, float]] = {  # what it measures, and how many of the first unit it is
    "kg": ("mass", 1.0), "g": ("mass", 1e-3), "mg": ("mass", 1e-6), "t": ("mass", 1e3), "lb": ("mass", 0.45359237),
    "oz": ("mass", 0.028349523125), "m": ("length", 1.0), "cm": ("length", 0.01), "mm": ("length", 1e-3),
    "km": ("length", 1e3), "mi": ("length", 1609.344), "ft": ("length", 0.3048), "in": ("length", 0.0254),
    "l": ("volume", 1.0), "dl": ("volume", 0.1), "cl": ("volume", 0.01), "ml": ("volume", 1e-3),
    "year": ("years", 1.0), "month": ("years", 1.0 / 12.0), "week": ("days", 7.0), "day": ("days", 1.0),
    "hour": ("days", 1.0 / 24.0), "minute": ("days", 1.0 / 1440.0), "%": ("share", 1.0), "‰": ("share", 0.1),
    "°c": ("warmth", 1.0), "mmhg": ("pressure", 1.0), "bpm": ("pulse", 1.0), "m²": ("area", 1.0), "m2": ("area", 1.0),
    "km²": ("area", 1e6), "km2": ("area", 1e6), "ha": ("area", 1e4), "kcal": ("energy", 1.0),
}  # fmt: skip
SAME_UNITS = {
    "year": "y yr yrs years yo y/o an ans jahr jahre jahren j año años anno anni ano anos jaar år lat lata vuotta лет",
    "month": "months mo mth mths monat monate monaten mois mes meses",
    "week": "weeks wk wks woche wochen semaine semaines",
    "day": "days d tag tage tagen jour jours día días",
    "hour": "hours h hr hrs std std. stunde stunden heure heures",
    "minute": "minutes min mins minuten",
    "%": "pct percent prozent pc",
    "kg": "kgs", "lb": "lbs", "cm": "cms", "km": "kilometer kilometers", "mi": "miles", "in": "inches",
}  # fmt: skip
NAMES = {name: unit for unit, names in SAME_UNITS.items() for name in names.split()}
GAPS = str.maketrans(dict.fromkeys("\u00a0\u202f\u2009\u2007\t", " ") | {"\u2212": "-", "\u2019": "'", "\u00b4": "'"})
TOKEN = re.compile(
    r"(?<![a-z0-9])(?<!\d[.,])(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?"
    r"|\d{1,3}(?:[ ']\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?|(?<![.,])[.,]\d+)(?:e[+-]?\d+)?(?!\d|[.,]\d)"
)
GROUPED = {mark: re.compile(rf"\d{{1,3}}(?:\{mark}\d{{2,3}})*\{mark}\d{{3}}(?:[^\d\{mark}].*)?") for mark in ".,"}
OTHER = {".": ",", ",": "."}

# --- texts with every number replaced by 1: what is left is read once for all cells that share it --------------------

CURRENCY = "|".join(sorted((re.escape(word) for word in CURRENCIES), key=len, reverse=True))
UPWARDS = (
    "over|above|more|older|upwards?|up|higher|greater|mehr|älter|aelter|darüber|höher|plus|más|mas|mayores|meer|ouder|"
    "oltre|più|äldre|eldre|ældre|więcej|starsi|starsze|mais|enemmän"
)
DOWNWARDS = "under|below|less|younger|fewer|lower|weniger|jünger|darunter|moins|menos|minder|meno|yngre|mniej|jonger"
AND = "and|or|&|und|oder|et|ou|y|o|e|en|och|og|eller|i|lub|of|ja"
TO = r"-|–|—|to|through|thru|until|till|til|bis|à|au|a|al|hasta|até|tot|t/m|do|\.\.\.?|…|and|und|et|y"  # noqa: RUF001
NO_UNIT = (
    rf"(?!(?:{UPWARDS}|{DOWNWARDS}|and|or|und|oder|et|ou|och|og|eller|lub|to|through|thru|until|till|til|bis|hasta|até|tot|do)"
    r"(?![^\W\d])"
    r"|(?:y|o|e|a|à|au|al|en|i|of|ja)\s)"
)
UNIT = rf"(?:{NO_UNIT}[^\W\d_][^\W_./]*(?:[./][^\W_]+)*[.²³]?|[%‰€$£¥₹₽₺₩]|°c?)"
NUMBER = rf"(?:[+-]\s?)?(?:(?:{CURRENCY})\s?)?(?:[+-]\s?)?1(?:\s?{UNIT}){{0,2}}"
ONE = re.compile(
    rf"^(?P<sign>[+-]?)\s?(?P<before>{CURRENCY})?\s?(?P<inner>[+-]?)\s?1"
    rf"(?P<gap>\s?)(?P<first>{UNIT})?\s?(?P<second>{UNIT})?$"
)
NEGATIVE = re.compile(
    rf"^\(\s?(?P<a>{NUMBER})\s?\)(?P<after>\s?{UNIT})?$|^(?P<before>{CURRENCY})\s?\(\s?1\s?\)$|^(?P<b>{NUMBER})\s?-$"
)
LESS = (
    "under|below|less than|fewer than|lower than|younger than|unter|weniger als|jünger als|moins de|menos de|onder|"
    "meno di|sotto i|sotto|minder dan|jonger dan|yngre än|yngre end|mindre än|poniżej|mniej niż|alle|<"
)
MOST = (
    r"up to|at most|no more than|not more than|max\.?|maximum|bis zu|bis|höchstens|jusqu'à|au plus|hasta|tot|"
    r"fino a|até|do|högst|hoogstens|najwyżej|<=|=<|≤"
)
MORE = (
    "over|above|more than|greater than|older than|exceeding|über|ueber|mehr als|älter als|plus de|más de|mas de|"
    "oltre|più di|mais de|meer dan|ouder dan|äldre än|ældre end|mer än|mere end|powyżej|więcej niż|yli|>"
)
LEAST = (
    r"at least|from|no less than|min\.?|minimum|ab|mindestens|à partir de|au moins|desde|a partir de|vanaf|"
    r"almeno|da|minst|mindst|minstens|od|co najmniej|a partire da|>=|=>|≥"
)
FROM = "(?:between|from|von|de|zwischen|entre|van|da|dai|tra|od|från|fra|mellan)?"
BELOW = "under|unter|below|moins de|less than|menos de|meno di|<"
OLD = r"(?:\s?(?:old|of age|alt))?"
FORMS = tuple(
    (re.compile(form), write)
    for form, write in (
        (rf"^(?:{LESS})\s?(?P<a>{NUMBER}){OLD}$", "<{0}"),
        (rf"^(?:{MOST})\s?(?P<a>{NUMBER}){OLD}$", "<={0}"),
        (rf"^(?:{MORE})\s?(?P<a>{NUMBER}){OLD}$", ">{0}"),
        (rf"^(?:{LEAST})\s?(?P<a>{NUMBER}){OLD}$", ">={0}"),
        (rf"^(?P<a>{NUMBER}){OLD}\s?(?:{AND})?\s?(?:{UPWARDS})$", ">={0}"),
        (rf"^(?P<a>{NUMBER})\s?\+(?:\s?{UNIT})?{OLD}$", ">={0}"),
        (rf"^(?P<a>{NUMBER}){OLD}\s?(?:{AND})\s(?:{DOWNWARDS})$", "<={0}"),
        (rf"^{FROM}\s?(?P<a>{NUMBER})\s?(?:{TO})\s?(?:{BELOW})\s?(?P<b>{NUMBER}){OLD}$", "[{0}, {1})"),
        (rf"^{FROM}\s?(?P<a>{NUMBER})\s?(?:{TO})\s?(?P<b>{NUMBER}){OLD}$", "{0}-{1}"),
        (rf"^(?P<a>{NUMBER})\s?(?:<=|≤)[a-z_ ]*<\s?(?P<b>{NUMBER})$", "[{0}, {1})"),
        (rf"^(?P<a>{NUMBER})\s?<[a-z_ ]*(?:<=|≤)\s?(?P<b>{NUMBER})$", "({0}, {1}]"),
        (rf"^(?P<a>{NUMBER})\s?(?:<=|≤)[a-z_ ]*(?:<=|≤)\s?(?P<b>{NUMBER})$", "[{0}, {1}]"),
        (rf"^\[\s?(?P<a>{NUMBER})\s?[,;]\s?(?P<b>{NUMBER})\s?\]$", "[{0}, {1}]"),
        (rf"^\[\s?(?P<a>{NUMBER})\s?[,;]\s?(?P<b>{NUMBER})\s?[)\[]$", "[{0}, {1})"),
        (rf"^[(\]]\s?(?P<a>{NUMBER})\s?[,;]\s?(?P<b>{NUMBER})\s?\]$", "({0}, {1}]"),
        (rf"^[(\]]\s?(?P<a>{NUMBER})\s?[,;]\s?(?P<b>{NUMBER})\s?[)\[]$", "({0}, {1})"),
        (rf"^[\[(\]]\s?(?:-\s?(?:inf|∞))?\s?[,;]\s?(?P<a>{NUMBER})\s?\]$", "<={0}"),
        (rf"^[\[(\]]\s?(?:-\s?(?:inf|∞))?\s?[,;]\s?(?P<a>{NUMBER})\s?[)\[]$", "<{0}"),
        (rf"^\[\s?(?P<a>{NUMBER})\s?[,;]\s?(?:\+?\s?(?:inf|∞))?\s?[\])\[]$", ">={0}"),
        (rf"^[(\]]\s?(?P<a>{NUMBER})\s?[,;]\s?(?:\+?\s?(?:inf|∞))?\s?[\])\[]$", ">{0}"),
    )
)
ABOUT = (
    r"^(?:~|≈|c\.|ca\.?|circa|about|approx\.?|approximately|around|roughly|etwa|rund|ungefähr|environ|cerca de) ?"
    r"([^a-z]*\d)"
)
NO_CENTS = r"(\d)[.,](?:--?|[–—])( |$)"  # noqa: RUF001 - 1.200,-
TENS = re.compile(r"^(\d?0)(?:'?s|er|代|-talet|-årene)$")


class Plain(NamedTuple):
    """One text, rewritten: a number or an interval that `parse_interval` reads, and the unit ("" for none)."""

    text: str
    unit: str


class Frame(NamedTuple):
    """What surrounds the numbers of a text: how to write them, sign and scale of each, and their unit."""

    write: str
    signs: tuple[float, ...]
    scales: tuple[float, ...]
    unit: str


def plain(text: str, decimal: str) -> Plain | None:
    """One text rewritten; None where it is neither a number nor an interval."""
    text = tidy(text)
    if match := TENS.match(text):
        return Plain(f"{match[1]}-{int(match[1]) + 9}", "")
    tokens: list[str] = []
    frame = frame_of(TOKEN.sub(lambda match: tokens.append(match[0]) or "1", text))  # type: ignore[func-returns-value]
    if frame is None or len(tokens) != len(frame.signs):
        return None
    values = [_value(token, decimal) for token in tokens]
    if None in values:
        return None
    numbers = [(value or 0.0) * scale for value, scale in zip(values, frame.scales, strict=True)]
    if len(numbers) == 2 and frame.scales[0] == 1.0 < frame.scales[1] and numbers[0] * frame.scales[1] <= numbers[1]:
        numbers[0] *= frame.scales[1]  # 10-20k: the "k" counts for both
    ends = [written(sign * number) for sign, number in zip(frame.signs, numbers, strict=True)]
    return Plain(frame.write.format(*ends), frame.unit)


def tidy(text: str) -> str:
    """One kind of blank, small letters, no "about", no dash for cents, a semicolon between the ends of [20,30)."""
    text = " ".join(text.translate(GAPS).lower().split())
    text = re.sub(NO_CENTS, r"\1\2", re.sub(ABOUT, r"\1", text))
    if text and text[0] in "[(]" and ("[" in text or "]" in text) and text.count(",") == 1:
        return text.replace(",", ";")
    return text


@lru_cache(maxsize=4096)
def frame_of(text: str) -> Frame | None:
    """Read a text whose numbers are all 1."""
    if (one := _one(text)) is not None:
        return Frame("{0}", (one[0],), (one[1],), one[2])
    for form, write in FORMS:
        if match := form.match(text):
            parts = [_one(part) for part in match.groupdict().values()]
            known = [part for part in parts if part is not None]
            units = {unit for _, _, unit in known if unit}
            if len(known) == len(parts) and len(units) < 2:
                return Frame(write, tuple(p[0] for p in known), tuple(p[1] for p in known), "".join(units))
    return None


def _one(text: str) -> tuple[float, float, str] | None:
    """Sign, scale and unit of one number."""
    if match := NEGATIVE.match(text):
        found = _one(f"{match['before']} 1" if match["before"] else (match["a"] or match["b"]) + (match["after"] or ""))
        return None if found is None else (-found[0], *found[1:])
    match = ONE.match(text)
    if match is None or (match["sign"] and match["inner"]):
        return None
    units, scale = [match["before"]] if match["before"] else [], 1.0
    for place, word in enumerate(match.group("first", "second")):
        if word is None:
            continue
        if word in SCALES or (word == "m" and units):  # € 5m
            scale *= SCALES.get(word, 1e6)
        elif place == 0 and not match["gap"] and not (word in UNITS or word in NAMES or word in CURRENCIES):
            return None  # 12a is a code, 12 apples are a number
        else:
            units.append(word)
    names = {_unit(word) for word in units}
    sign = -1.0 if "-" in (match["sign"], match["inner"]) else 1.0
    return (sign, scale, "".join(names)) if len(names) < 2 else None


def _value(token: str, decimal: str) -> float | None:
    other = OTHER[decimal]
    if other in token:
        if not GROUPED[other].fullmatch(token):
            return None
        token = token.replace(other, "")
    try:
        return float(token.replace(" ", "").replace("'", "").replace(decimal, "."))
    except ValueError:
        return None


def _unit(word: str) -> str:
    """The name of a unit or currency, the same for one and many."""
    if word in CURRENCIES:
        return CURRENCIES[word]
    return NAMES.get(word) or (word if word in UNITS else word.removesuffix("s"))


def written(value: float) -> str:
    """A number in plain digits."""
    return repr(int(value)) if abs(value) < 2**53 and value == int(value) else repr(value)
