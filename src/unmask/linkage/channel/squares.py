"""Squares of the map: the usual codes of a longitude and a latitude, of any length."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np

from unmask.linkage.channel.columns import Column
from unmask.linkage.channel.features import Spelling, TextFeature, coded
from unmask.linkage.channel.normal_forms import tight

BASE32 = "0123456789bcdefghjkmnpqrstuvwxyz"
BASE20 = "23456789CFGHJMPQRVWX"
FINEST = 12  # letters of a geohash
MOST_PLACES = 8  # columns that may be a longitude or a latitude
LEAST = 0.7  # share of people whose square must be the released one


def _halves(longitude: float, latitude: float, bits: int) -> list[int]:
    """East or west, north or south, in turn: the bits of a map halved again and again."""
    x, y = (longitude + 180) / 360, (latitude + 90) / 180
    found = []
    for turn in range(bits):
        value = 2 * (x if turn % 2 == 0 else y)
        found.append(int(value >= 1))
        x, y = (value % 1, y) if turn % 2 == 0 else (x, value % 1)
    return found


def geohash(longitude: float, latitude: float) -> str:
    """Five bits a letter."""
    bits = _halves(longitude, latitude, 5 * FINEST)
    numbers = [int("".join(map(str, bits[k : k + 5])), 2) for k in range(0, len(bits), 5)]
    return "".join(BASE32[number] for number in numbers)


def quadkey(longitude: float, latitude: float) -> str:
    """The tile of a web map, a digit for each zoom."""
    x, sine = (longitude + 180) / 360, math.sin(math.radians(latitude))
    y = 0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi) if abs(sine) < 1 else 0.5
    column, row = int(x * 2**24), int(min(max(y, 0.0), 1.0) * 2**24)
    return "".join(str((column >> bit & 1) + 2 * (row >> bit & 1)) for bit in range(23, -1, -1))


def maidenhead(longitude: float, latitude: float) -> str:
    """The locator of radio amateurs, such as JN58td."""
    x, y, found = (longitude + 180) / 20, (latitude + 90) / 10, ""
    for parts, first in ((18, "A"), (10, "0"), (24, "a"), (10, "0"), (24, "a")):
        place = min(int(x), parts - 1), min(int(y), parts - 1)
        found += "".join(chr(ord(first) + k) for k in place)
        following = {18: 10, 10: 24, 24: 10}[parts]
        x, y = (x - place[0]) * following, (y - place[1]) * following
    return found


def plus_code(longitude: float, latitude: float) -> str:
    """An open location code, without its plus."""
    x, y, found = (longitude + 180) / 20, (latitude + 90) / 20, ""
    for _ in range(5):
        found += BASE20[min(int(y), 19)] + BASE20[min(int(x), 19)]
        x, y = x % 1 * 20, y % 1 * 20
    return found


SQUARES: dict[str, Callable[[float, float], str]] = {
    "geohash": geohash,
    "quadkey": quadkey,
    "Maidenhead locator": maidenhead,
    "plus code": plus_code,
}


def is_square(form: str) -> bool:
    """Whether a form is a square of the map: its name, and how many letters."""
    return form.rpartition(" ")[0] in SQUARES


def square(columns: Sequence[Column], spelling: Spelling) -> TextFeature:
    """The square of each person's place."""
    name, _, length = spelling.form.rpartition(" ")
    x, y = (columns[place] for place in spelling.columns)
    there = np.isfinite(x.number) & np.isfinite(y.number)
    texts = [SQUARES[name](*place)[: int(length)] for place in zip(x.number[there], y.number[there], strict=True)]
    code = np.full(len(x), -1)
    code[there] = np.arange(len(texts))
    return coded(f"the {name} of `{x.name}` and `{y.name}`", texts, code)


def find_square(columns: Sequence[Column], target: Column, pairs: Sequence[tuple[int, int]]) -> Spelling | None:
    """Two columns and a code of the map that make what is released of some people."""
    said = [(i, target.words[target.code[j]]) for i, j in pairs if target.code[j] >= 0]
    places = [k for k, column in enumerate(columns) if _on_the_map(column)][:MOST_PLACES]
    if len(said) < 4 or len(places) < 2 or any("." in word for _, word in said):  # a number with decimals is no code
        return None
    there = [(i, tight(word).casefold()) for i, word in said]
    for x, y in permutations(places, 2):
        if np.nanmax(np.abs(columns[y].number)) > 90:
            continue
        for name, code in SQUARES.items():
            right = [_is(code, columns[x].number[i], columns[y].number[i], word) for i, word in there]
            if np.mean(right) > LEAST:
                return Spelling((x, y), f"{name} {max(len(word) for _, word in there)}")
    return None


def _on_the_map(column: Column) -> bool:
    known = column.number[np.isfinite(column.number)]
    return bool(known.size) and bool(np.abs(known).max() <= 180) and bool((known % 1 != 0).any())


def _is(code: Callable[[float, float], str], x: float, y: float, word: str) -> bool:
    return len(word) > 1 and math.isfinite(x + y) and code(x, y).casefold().startswith(word.rstrip("0") or word)
