"""Well-known fingerprints and encodings of values: a hash without a secret hides nothing that can be guessed.

The intruder hashes what they know in the usual writings with the usual functions, and looks for the result in the
release: whole or cut, in hexadecimal or base 64, in capitals or not, as a number or its remainder, as a UUID, of one
column, or of several written together in any order (a checksum of rows, if they have seven columns or fewer).
"""

from __future__ import annotations

import base64
import codecs
import hashlib
import math
import re
import uuid
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
    Signed = tuple[str, int, bool, int]  # function, writing, whether its end is kept, length or divisor

SHORTEST = 4  # digits that a fingerprint must have
PROBES = 24
LIKELY = 6  # digits of a fingerprint of several columns
MOSTLY = 0.95  # share of the numbers that are long enough
RANDOM = re.compile(r"^(?:[0-9a-f]+|[0-9A-F]+|[0-9A-Za-z+/=_-]+)$")
FULL_DATES = tuple(form for form in DATE_TEXTS if "%d" in form and ("%Y" in form))
JOINTS = ("", "|", "-", "_", " ", ";", ",", ":", "#", "/", "||", ", ", "+", ".")
TIDY = ("lower", "upper", "lower, tight", "upper, tight", "tight", "letters", "unaccented, upper")
MOST_JOINED = 600  # choices of several columns in an order
FEW, MOST = 4, 7  # columns of a key; of a checksum of rows, since every order of them is tried
USUAL_JOINTS = ("", ",", "|", ";", " ", "-")
WHOLE = {"an encoding", "CRC-32", "a checksum", "UUID"}  # never cut
HASHES = ("MD5", "SHA", "BLAKE")
HEADS = (7, 8, 12, 15, 16)  # hexadecimal digits that are usually read as a number
REMAINDER = -1  # in place of a writing: the number is divided by something, and what is left is released
SMALLEST_DIVISOR = 1000
NAMESPACES = (uuid.NAMESPACE_DNS, uuid.NAMESPACE_URL, uuid.NAMESPACE_OID, uuid.NAMESPACE_X500)


def _writings(digest: bytes) -> tuple[str, ...]:
    hexed, based = digest.hex(), base64.b64encode(digest).decode()
    return (
        hexed,
        hexed.upper(),
        based,
        based.rstrip("="),
        base64.urlsafe_b64encode(digest).decode().rstrip("="),
    )


def _numbered(name: str) -> Sign:
    """The first digits of a hash read as a number, and all of it in the form of a UUID."""

    def sign(text: str) -> tuple[str, ...]:
        hexed = SIGNS[name](text)[0]
        return (*(str(int(hexed[:head], 16)) for head in HEADS), str(uuid.UUID(hexed[:32].ljust(32, "0"))))

    return sign


def _hashed(name: str) -> Sign:
    return lambda text: _writings(hashlib.new(name, text.encode(), usedforsecurity=False).digest())


def _blake(size: int) -> Sign:
    return lambda text: _writings(hashlib.blake2b(text.encode(), digest_size=size, usedforsecurity=False).digest())


def _uuid(text: str) -> tuple[str, ...]:
    made = [of(space, text) for of in (uuid.uuid5, uuid.uuid3) for space in NAMESPACES]
    return tuple(written for one in made for written in (str(one), one.hex))


def _sums(text: str) -> tuple[str, ...]:
    """What programming languages and old tools make of a text: Java, Adler-32, FNV-1a of 32 and 64 bits."""
    raw = text.encode()
    java = 0
    for letter in text:
        java = (31 * java + ord(letter)) & 0xFFFFFFFF
    fnv = _fnv(raw, 0x811C9DC5, 0x01000193, 32), _fnv(raw, 0xCBF29CE484222325, 0x100000001B3, 64)
    values = java, java - (java >> 31 << 32), zlib.adler32(raw), *fnv
    return (*map(str, values), *(f"{value:08x}" for value in values if value >= 0))


def _fnv(raw: bytes, start: int, prime: int, bits: int) -> int:
    value = start
    for byte in raw:
        value = ((value ^ byte) * prime) % (1 << bits)
    return value


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
    "BLAKE2s": _hashed("blake2s"),
    **{f"BLAKE2b of {8 * size} bits": _blake(size) for size in (8, 16, 20, 32)},
    "UUID": _uuid,
    "a checksum": _sums,
}
SIGNS |= {f"a number of {name}": _numbered(name) for name in SIGNS if name.startswith(HASHES)}


def looks_signed(column: Column) -> bool:
    """Whether texts may be fingerprints or encodings: no blanks, long enough; numbers only if long and whole."""
    words = column.words
    few = words[:: max(1, len(words) // 200)]
    if column.kind == "number" and np.mean([_whole(word) and len(word) > SHORTEST for word in few]) < MOSTLY:
        return False
    long = [len(word) >= SHORTEST and " " not in word for word in few]
    return len(words) > 1 and float(np.mean(long)) > MOSTLY


def _whole(word: str) -> bool:
    return word.removeprefix("-").isdigit()


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
            return replace(spelling, sign=found)
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
    if len(signs) <= 2:  # the length tells which function it is
        yield from _rows(columns, wanted, signs)


def _rows(columns: Sequence[Column], wanted: list[str], signs: list[Sign]) -> Iterator[Spelling]:
    """Five to seven columns in every order whose fingerprint is released of the first person."""
    several = [place for place, column in enumerate(columns) if column.words]
    if len(several) > MOST:
        return
    texts = {place: _probe(columns[place], "")[0] for place in several}
    orders = chain.from_iterable(permutations(several, size) for size in range(len(several), FEW, -1))
    for order, joint in product(orders, USUAL_JOINTS):
        whole = joint.join([texts[place] for place in order])
        if any(_fits(signed, wanted[0]) for sign in signs for signed in sign(whole)[:3]):
            yield Spelling(order, "", joint)


def _orders(columns: Sequence[Column], most: int) -> list[tuple[int, ...]]:
    """Two to four columns in every order; first those without amounts, which nobody makes keys of."""
    several = [place for place, column in enumerate(columns) if len(column.words) > 1]
    several.sort(key=lambda place: any("." in word for word in columns[place].words))
    found = []
    for size in range(2, FEW + 1):
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
    names = [name for name in SIGNS if name.startswith(HASHES)]
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


def _try(feature: TextFeature, wanted: list[str]) -> Signed | None:
    """Which function, writing and end of it give what is released: of nearly all of those tried."""
    known = [(feature.texts[code], word) for code, word in zip(feature.code.tolist(), wanted, strict=True) if code >= 0]
    if len(known) < 4 or len({text for text, _ in known}) < 2:
        return None
    first, word = known[0]
    numbers = all(word.isdigit() for _, word in known)
    for name, sign in SIGNS.items():
        if numbers and (divisor := _divisor(sign, known)):
            return name, REMAINDER, False, divisor
        if all(not _fits(text, word) for text in sign(first)) and all(
            not _fits(text, known[1][1]) for text in sign(known[1][0])
        ):
            continue
        for writing in range(len(sign(first))):
            for tail in (False, True):
                right = [_cut("".join(sign(text)[writing : writing + 1]), len(w), tail=tail) == w for text, w in known]
                if np.mean(right) > 0.7:
                    return name, writing, tail, len(wanted[0])
    return None


def _divisor(sign: Sign, known: list[tuple[str, str]]) -> int:
    """What the fingerprints, as numbers, were divided by so that the released numbers are left; 0 if by nothing."""
    if not _is_hex(sign(known[0][0])[0]):
        return 0
    divisor = 0
    for text, word in known:
        divisor = math.gcd(divisor, int(sign(text)[0], 16) - int(word))
        if divisor and divisor < SMALLEST_DIVISOR:
            return 0
    return divisor if divisor > max(int(word) for _, word in known) else 0


def _is_hex(text: str) -> bool:
    return len(text) >= 2 * LIKELY and all(letter in "0123456789abcdef" for letter in text)


def _fits(text: str, word: str) -> bool:
    return text.startswith(word) or text.endswith(word)


def _cut(text: str, length: int, *, tail: bool) -> str:
    return text[-length:] if tail else text[:length]


def _signed(feature: TextFeature, sign: Signed) -> TextFeature:
    name, writing, tail, length = sign
    words = f"{name} of {feature.words}"
    if writing == REMAINDER:
        left = tuple(str(int(SIGNS[name](text)[0], 16) % length) for text in feature.texts)
        return TextFeature(f"a remainder of {words}", left, feature.code)
    signed = [SIGNS[name](text)[writing] for text in feature.texts]
    whole = name in WHOLE or name.startswith("a number of")
    texts = tuple(text if whole else _cut(text, length, tail=tail) for text in signed)
    return TextFeature(words, texts, feature.code)
