"""Whole numbers turned into others by one key: a multiple modulo a number, or bits flipped.

No two of them share anything that an order or a table of categories could learn, and yet a handful of known people give
the key away. Of y = (a x + b) mod m, m divides every dx dy' - dx' dy of differences from one person; then a follows
from one difference, and b from one person. Of y = x xor k, k is x xor y.
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

FORM = re.compile(r"^(modulo|xor) (\d+) (\d+) (\d+) (\d+)$")  # function, multiplier, addend or key, modulus, width
WHOLE = re.compile(r"^\d+(?:\.0+)?$")
FEWEST = 6  # people with different numbers
MOST_TRIED = 12  # divisors of a common multiple of the modulus
LEAST = 0.7  # share of people whose number must come out
Pair = tuple[int, int]


def find_cipher(people: Sequence[Column], target: Column, pairs: Sequence[Pair]) -> Spelling | None:
    """Look for a key that turns a whole number known of some people into what is released of them."""
    made = [(i, _whole(target, j)) for i, j in pairs]
    for place, column in enumerate(people):
        known = {x: y for i, y in made if y is not None and (x := _whole(column, i)) is not None}
        if len(known) >= FEWEST and len(set(known.values())) >= FEWEST:
            found = _xor(known) or _congruence(known)
            if found is not None:
                return Spelling((place,), f"{found} {_width(target)}")
    return None


def is_cipher(form: str) -> bool:
    """Whether a form names a key."""
    return FORM.match(form) is not None


def cipher(column: Column, form: str) -> TextFeature:
    """What a key makes of every number of a column."""
    match = FORM.match(form)
    assert match is not None  # noqa: S101 - is_cipher
    name, (multiplier, addend, modulus, width) = match[1], map(int, match.groups()[1:])

    def turned(number: int) -> str:
        made = number ^ addend if name == "xor" else (multiplier * number + addend) % modulus
        return f"{made:0{width}d}"

    texts = tuple(turned(int(word.split(".")[0])) if WHOLE.match(word) else "" for word in column.words)
    words = "with its bits flipped by one key" if name == "xor" else "in multiples, modulo one number"
    return TextFeature(f"`{column.name}` {words}", texts, column.code)


def _whole(column: Column, row: int) -> int | None:
    word = column.words[column.code[row]] if column.code[row] >= 0 else ""
    return int(word.split(".")[0]) if WHOLE.match(word) else None


def _width(target: Column) -> int:
    """Digits that numbers are filled up to with zeros; 0: they are not."""
    lengths = {len(word) for word in target.words}
    return lengths.pop() if len(lengths) == 1 and any(word.startswith("0") for word in target.words) else 0


def _xor(known: dict[int, int]) -> str | None:
    (key, count), *_ = Counter(x ^ y for x, y in known.items()).most_common(1)
    return f"xor 1 {key} 0" if key and count > LEAST * len(known) else None


def _congruence(known: dict[int, int]) -> str | None:
    """The modulus by the first half of the people, if what follows from it holds for most of all."""
    (x0, y0), *others = list(known.items())
    some = [(x - x0, y - y0) for x, y in others][: max(FEWEST - 1, len(others) // 2)]
    cross = (a[0] * b[1] - b[0] * a[1] for k, a in enumerate(some) for b in some[:k])
    multiple = reduce(math.gcd, cross, 0)
    for divisor in range(1, MOST_TRIED + 1):
        modulus = multiple // divisor
        if multiple % divisor or modulus <= max(known.values()):
            continue
        step = next(((dx, dy) for dx, dy in some if math.gcd(dx, modulus) == 1), None)
        if step is None:
            continue
        multiplier = step[1] * pow(step[0], -1, modulus) % modulus
        addend = (y0 - multiplier * x0) % modulus
        right = [(multiplier * x + addend) % modulus == y for x, y in known.items()]
        if np.mean(right) > LEAST:
            return f"modulo {multiplier} {addend} {modulus}"
    return None
