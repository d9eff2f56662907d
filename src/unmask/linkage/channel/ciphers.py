"""Whole numbers turned into others by one key: a multiple modulo a number, bits flipped or mixed; or in another base.

No two of them share anything that an order or a table of categories could learn, and yet a handful of known people give
the key away. Of y = (a x + b) mod m, m divides every dx dy' - dx' dy of differences from one person; then a follows
from one difference, and b from one person. Of y = x xor k, k is x xor y. If every bit of y is a sum (without carrying)
of bits of x, as where they stand in another order, which they are follows by elimination from a few people more than x
has bits.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import reduce

import numpy as np

from unmask.linkage.channel.columns import Column
from unmask.linkage.channel.features import Spelling, TextFeature

FORM = re.compile(r"^(modulo|xor|bits) ([\d ]+) base (\d+) ([ul]) (\d+)$")  # function, key, base, case, width
WHOLE, PARTLY = re.compile(r"^(\d+)(?:\.0+)?$"), re.compile(r"^(\d+)(?:\.\d+)?$")  # of the known ones the whole part
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
BASES = {2: r"[01]{4,}", 8: r"[0-7]{3,}", 16: r"[\da-f]{2,}", 36: r"[\da-z]{2,}"}  # beside ten
LONGEST = 16  # digits in another base
FEWEST = 6  # people with different numbers
SURPLUS = 10  # people more than bits, who must agree
MOST_TRIED = 12  # divisors of a common multiple of the modulus
LEAST = 0.7  # share of people whose number must come out
WORDS = {
    "modulo": "in multiples, modulo one number",
    "xor": "with its bits flipped by one key",
    "bits": "with its bits mixed by one key",
}
Pair = tuple[int, int]


def find_cipher(people: Sequence[Column], target: Column, pairs: Sequence[Pair]) -> Spelling | None:
    """Look for a key that turns a whole number known of some people into what is released of them."""
    for base in (10, *(base for base, digits in BASES.items() if _written(target, digits))):
        made = [(i, _released(target, j, base)) for i, j in pairs]
        if len({y for _, y in made if y is not None}) < FEWEST:
            continue
        least = _least(target, base)
        for place, column in enumerate(people):
            known = {x: y for i, y in made if y is not None and (x := _number(column, i, PARTLY)) is not None}
            if len(known) >= FEWEST and len(set(known.values())) >= FEWEST:
                found = _xor(known, base) or _congruence(known, least) or _mixture(known)
                if found is not None:
                    return Spelling((place,), f"{found} base {base} {_case(target)} {_width(target)}")
    return None


def is_cipher(form: str) -> bool:
    """Whether a form names a key."""
    return FORM.match(form) is not None


def cipher(column: Column, form: str) -> TextFeature:
    """What a key makes of every number of a column."""
    match = FORM.match(form)
    assert match is not None  # noqa: S101 - is_cipher
    name, key, base, width = match[1], [int(part) for part in match[2].split()], int(match[3]), int(match[5])

    def turned(word: str) -> str:
        there = PARTLY.match(word)
        text = in_base(_turn(name, key, int(there[1])), base).zfill(width) if there else ""
        return text.upper() if match[4] == "u" else text

    same = name == "xor" and not key[0]
    words = f"in base {base}" if same else WORDS[name]
    return TextFeature(f"`{column.name}` {words}", tuple(map(turned, column.words)), column.code)


def _turn(name: str, key: list[int], number: int) -> int:
    if name == "xor":
        return number ^ key[0]
    if name == "modulo":
        return (key[0] * number + key[1]) % key[2] + key[3]
    with_one = number << 1 | 1
    return sum(((with_one & mask).bit_count() & 1) << bit for bit, mask in enumerate(key))


def in_base(number: int, base: int) -> str:
    """A whole number in small letters and digits."""
    digits = ""
    while number:
        number, digit = divmod(number, base)
        digits = DIGITS[digit] + digits
    return digits or "0"


def _written(target: Column, digits: str) -> bool:
    """Whether a column's texts may be numbers in another base."""
    fits = re.compile(f"^{digits}$", re.IGNORECASE)
    return bool(target.words) and all(len(word) <= LONGEST and fits.match(word) for word in target.words)


def _released(column: Column, row: int, base: int) -> int | None:
    if base == 10:
        return _number(column, row, WHOLE)
    return int(column.words[column.code[row]], base) if column.code[row] >= 0 else None


def _number(column: Column, row: int, form: re.Pattern[str]) -> int | None:
    there = form.match(column.words[column.code[row]]) if column.code[row] >= 0 else None
    return int(there[1]) if there else None


def _case(target: Column) -> str:
    return "u" if any(word != word.lower() for word in target.words) else "l"


def _width(target: Column) -> int:
    """Digits that numbers are filled up to with zeros; 0: they are not."""
    lengths = {len(word) for word in target.words}
    return lengths.pop() if len(lengths) == 1 and any(word.startswith("0") for word in target.words) else 0


def _xor(known: dict[int, int], base: int) -> str | None:
    (key, count), *_ = Counter(x ^ y for x, y in known.items()).most_common(1)
    return f"xor {key}" if (key or base != 10) and count > LEAST * len(known) else None


def _least(target: Column, base: int) -> int:
    """The least number released: remainders may begin with another one than 0."""
    numbers = (_released(target, int(row), base) for row in np.unique(target.code, return_index=True)[1])
    return min((number for number in numbers if number is not None), default=0)


def _congruence(known: dict[int, int], least: int) -> str | None:
    """The modulus by the first half of the people, if what follows from it holds for most of all."""
    (x0, y0), *others = list(known.items())
    some = [(x - x0, y - y0) for x, y in others][: max(FEWEST - 1, len(others) // 2)]
    cross = (a[0] * b[1] - b[0] * a[1] for k, a in enumerate(some) for b in some[:k])
    multiple = reduce(math.gcd, cross, 0)
    for divisor in range(1, MOST_TRIED + 1):
        modulus = multiple // divisor
        begin = least if modulus <= max(known.values()) else 0
        if multiple % divisor or modulus <= max(known.values()) - begin:
            continue
        step = next(((dx, dy) for dx, dy in some if math.gcd(dx, modulus) == 1), None)
        if step is None:
            continue
        multiplier = step[1] * pow(step[0], -1, modulus) % modulus
        key = [multiplier, (y0 - begin - multiplier * x0) % modulus, modulus, begin]
        if np.mean([_turn("modulo", key, x) == y for x, y in known.items()]) > LEAST:
            return f"modulo {' '.join(map(str, key))}"
    return None


def _mixture(known: dict[int, int]) -> str | None:
    """Which bits of x each bit of y is the sum of, if people more than x has bits all agree."""
    pivots: dict[int, int] = {}  # equations by their highest bit: bits of x and one that is always set, those of y
    free, agree = max(y.bit_length() for y in known.values()), 0
    for x, y in known.items():
        row = _reduced((x << 1 | 1) << free | y, pivots, free)
        if row >> free:
            pivots[row.bit_length()] = row
        elif row:
            return None
        else:
            agree += 1
    if agree < SURPLUS or all(x == y for x, y in known.items()):
        return None
    return "bits " + " ".join(str(_mask(pivots, free, bit)) for bit in range(free))


def _reduced(row: int, pivots: dict[int, int], free: int) -> int:
    """What is left of an equation once the highest bits of others are taken from it."""
    for top in sorted(pivots, reverse=True):
        if row >> (top - 1) & 1:
            row ^= pivots[top]
    return row if row >> free else row & ((1 << free) - 1)


def _mask(pivots: dict[int, int], free: int, bit: int) -> int:
    """The bits of x, and the one that is always set, whose sum is one bit of y; none that nobody tells apart."""
    mask = 0
    for top in sorted(pivots):
        place, row = top - 1 - free, pivots[top]
        rest = (row >> free) ^ (1 << place)
        if ((rest & mask).bit_count() + (row >> bit)) & 1:
            mask |= 1 << place
    return mask
