"""Well-known fingerprints and encodings of values: a hash without a secret hides nothing that can be guessed.

The intruder hashes what they know in the usual writings with the usual functions, and looks for the result in the
release: whole or cut, in hexadecimal or base 64, in capitals or not, of one column or of several written together in
any order.
"""

from __future__ import annotations

import base64
import codecs
import hashlib
import re
import zlib
from dataclasses import replace
from functools import partial, reduce
from itertools import chain, islice, permutations, product
from typing import TYPE_CHECKING

import numpy as np

from unmask.linkage.channel.ciphers import cipher, is_cipher
from unmask.linkage.channel.features import DATE_TEXTS, Spelling, TextFeature, spell
from unmask.linkage.channel.squares import is_square, square

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unmask.linkage.channel.columns import Column
    from unmask.linkage.channel.material import Material

    Sign = Callable[[str], tuple[str, ...]]

SHORTEST = 4  # digits that a fingerprint must have
PROBES = 24
LIKELY = 6  # digits of a fingerprint of several columns
RANDOM = re.compile(r"^(?:[0-9a-f]+|[0-9A-F]+|[0-9A-Za-z+/=_-]+)$")
FULL_DATES = tuple(form for form in DATE_TEXTS if "%d" in form and ("%Y" in form))
JOINTS = ("", "|", "-", "_", " ", ";", ",", ":", "#", "/", "||", ", ", "+", ".")
TIDY = ("lower", "upper", "lower, tight", "upper, tight", "tight", "letters", "unaccented, upper")
MOST_JOINED = 600  # choices of several columns in an order


def _writings(digest: bytes) -> tuple[str, ...]:
    hexed, based = digest.hex(), base64.b64encode(digest).decode()
    return (
        hexed,
        hexed.upper(),
        based,
        based.rstrip("="),
        base64.urlsafe_b64encode(digest).decode().rstrip("="),
    )


def _hashed(name: str) -> Sign:
    return lambda text: _writings(hashlib.new(name, text.encode(), usedforsecurity=False).digest())


def _crc(text: str) -> tuple[str, ...]:
    value = zlib.crc32(text.encode())
    return f"{value:08x}", f"{value:08X}", str(value), f"{value:x}"


def _plain(text: str) -> tuple[str, ...]:
    raw = text.encode()
    return (
        base64.b64encode(raw).decode(),
        base64.b64encode(raw).decode().rstrip("="),
        raw.hex(),
        raw.hex().upper(),
        text[::-1],
        codecs.encode(text, "rot13"),
    )


SIGNS: dict[str, Sign] = {
    "an encoding": _plain,
    "MD5": _hashed("md5"),
    "SHA-1": _hashed("sha1"),
    "SHA-256": _hashed("sha256"),
    "SHA-512": _hashed("sha512"),
    "CRC-32": _crc,
    "SHA-224": _hashed("sha224"),
    "SHA-384": _hashed("sha384"),
    "SHA3-256": _hashed("sha3_256"),
    "BLAKE2b": _hashed("blake2b"),
}


def looks_signed(column: Column) -> bool:
    """Whether texts may be fingerprints or encodings: no blanks, long enough; numbers only if long and whole."""
    words = column.words
    few = words[:: max(1, len(words) // 200)]
    if column.kind == "number" and not all(word.isdigit() and len(word) > SHORTEST for word in few):
        return False
    long = [len(word) >= SHORTEST and " " not in word for word in few]
    return len(words) > 1 and float(np.mean(long)) > 0.95


def find_digest(material: Material, target: Column, pairs: Sequence[tuple[int, int]]) -> Spelling | None:
    """Look for a signing that turns what is known of some people into what is released of them."""
    if target.kind in {"date", "interval"} or not looks_signed(target):
        return None
    there = [(i, j) for i, j in pairs if target.code[j] >= 0][:PROBES]
    wanted = [target.words[target.code[j]] for _, j in there]
    rows = np.array([i for i, _ in there], dtype=np.int64)
    if len(rows) < 4:
        return None
    probed = [column.take(rows) for column in material.people]
    for spelling in chain(_usual(probed), _joins(probed, wanted)):
        found = _try(write(probed, spelling), wanted)
        if found is not None:
            return replace(spelling, sign=(*found, len(wanted[0])))
    return None


def _usual(columns: Sequence[Column]) -> Iterator[Spelling]:
    """Every column in its usual writings."""
    more = {"date": FULL_DATES, "number": ("point", "cents"), "text": TIDY}
    for place, column in enumerate(columns):
        yield from (Spelling((place,), form) for form in ("", *more.get(column.kind, ())))


def _joins(columns: Sequence[Column], wanted: list[str]) -> Iterator[Spelling]:
    """Several columns written together whose fingerprint is released of one of the first two people."""
    signs = _likely(wanted)
    if not signs:
        return
    orders = _orders(columns, MOST_JOINED // len(signs))
    tried = set()
    for form in ("", *TIDY[:5], *FULL_DATES):
        texts = tuple(_probe(column, form) for column in columns)
        fresh = texts not in tried
        tried.add(texts)
        for order, joint in product(orders if fresh else (), JOINTS):
            whole = [joint.join(texts[place][person] for place in order) for person in (0, 1)]
            pairs = list(zip(whole, wanted[:2], strict=True))
            if any(_fits(signed, word) for text, word in pairs for sign in signs for signed in sign(text)[:3]):
                yield Spelling(order, form, joint)


def _orders(columns: Sequence[Column], most: int) -> list[tuple[int, ...]]:
    """Two to four columns in every order; first those without amounts, which nobody makes keys of."""
    several = [place for place, column in enumerate(columns) if len(column.words) > 1]
    several.sort(key=lambda place: any("." in word for word in columns[place].words))
    found = []
    for size in (2, 3, 4):
        orders = sorted(islice(permutations(range(len(several)), size), 20 * most), key=max)
        found += [tuple(several[k] for k in order) for order in orders[: most // 3]]
    return found


def _likely(wanted: list[str]) -> list[Sign]:
    """The functions that may have made fingerprints of this length; none if the texts do not look like any."""
    length = len(wanted[0])
    if length < LIKELY or len(set(wanted)) < 0.5 * len(wanted) or any(len(word) != length for word in wanted):
        return []
    if not any(letter.isdigit() for word in wanted for letter in word) or any(
        not RANDOM.match(word) for word in wanted
    ):
        return []
    names = [name for name in SIGNS if name.startswith(("MD5", "SHA", "BLAKE"))]
    whole = [name for name in names if length in {len(text) for text in SIGNS[name]("")}]
    return [SIGNS[name] for name in whole or names]


def _probe(column: Column, form: str) -> tuple[str, str]:
    """What a form makes of the first two people."""
    feature = spell(column, applicable(column, form))
    texts = (*feature.texts, "")
    return texts[feature.code[0]], texts[feature.code[1]]


def applicable(column: Column, form: str) -> str:
    """A form of several columns together, as far as it concerns this one: dates have forms of their own."""
    return form if (column.kind == "date") == ("%" in form) else ""


def write(columns: Sequence[Column], spelling: Spelling) -> TextFeature:
    """Make the text that a spelling names."""
    if is_cipher(spelling.form):
        feature = cipher(columns[spelling.columns[0]], spelling.form)
    elif len(spelling.columns) == 1:
        feature = spell(columns[spelling.columns[0]], spelling.form)
    elif is_square(spelling.form):
        feature = square(columns, spelling)
    else:
        parts = [spell(columns[place], applicable(columns[place], spelling.form)) for place in spelling.columns]
        feature = reduce(partial(_joined, joint=spelling.joint), parts)
    return feature if spelling.sign is None else _signed(feature, spelling.sign)


def _joined(a: TextFeature, b: TextFeature, joint: str) -> TextFeature:
    """Both texts of each person in one."""
    width = max(1, len(b.texts))
    both = np.where((a.code >= 0) & (b.code >= 0), a.code * width + b.code, -1)
    different, place = np.unique(both, return_inverse=True)
    texts = tuple(a.texts[k // width] + joint + b.texts[k % width] if k >= 0 else "" for k in different.tolist())
    return TextFeature(f"{a.words} and {b.words}", texts, np.where(both < 0, -1, place))


def _try(feature: TextFeature, wanted: list[str]) -> tuple[str, int, bool] | None:
    """Which function, writing and end of it give what is released: of nearly all of those tried."""
    known = [(feature.texts[code], word) for code, word in zip(feature.code.tolist(), wanted, strict=True) if code >= 0]
    if len(known) < 4 or len({text for text, _ in known}) < 2:
        return None
    first, word = known[0]
    for name, sign in SIGNS.items():
        if all(not _fits(text, word) for text in sign(first)) and all(
            not _fits(text, known[1][1]) for text in sign(known[1][0])
        ):
            continue
        for writing in range(len(sign(first))):
            for tail in (False, True):
                right = [_cut(sign(text)[writing], len(w), tail=tail) == w for text, w in known]
                if np.mean(right) > 0.7:
                    return name, writing, tail
    return None


def _fits(text: str, word: str) -> bool:
    return text.startswith(word) or text.endswith(word)


def _cut(text: str, length: int, *, tail: bool) -> str:
    return text[-length:] if tail else text[:length]


def _signed(feature: TextFeature, sign: tuple[str, int, bool, int]) -> TextFeature:
    name, writing, tail, length = sign
    whole = name in {"an encoding", "CRC-32"}
    signed = (SIGNS[name](text)[writing] for text in feature.texts)
    texts = tuple(text if whole else _cut(text, length, tail=tail) for text in signed)
    return TextFeature(f"{name} of {feature.words}", texts, feature.code)
