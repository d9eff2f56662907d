"""Codes that stand for missing: named by the user, words such as "unknown", and numbers such as 99 by their shape.

A number is taken for such a code only on evidence: it is one that people use (nines, or a negative one among numbers
that are not), it lies apart from all others, many cells have it, and where the original has it the release has it too
or nothing; or only the release has it, for people of several values, and all others kept theirs. What was decided is
told; a column named in ``missing`` is never guessed about.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

WORDS = (
    "unknown|not known|n/a|na|n.a.|n.a|not available|not applicable|not stated|not given|missing|no answer|refused|"
    "?|??|???|-|--|---|.|..|*|**|***|****|suppressed|redacted|masked|withheld|confidential|null|nil|nan|none|#n/a|"
    "<na>|unbekannt|k.a.|k. a.|keine angabe|ohne angabe|fehlt|inconnu|inconnue|non renseigné|nr|n.r.|n/r|"
    "desconocido|sin dato|onbekend|no answer given|prefer not to say|don't know|do not know|declined|no data|"
    "not recorded|unspecified|nicht bekannt|weiß nicht|keine antwort|refus|ne sait pas|non réponse|nsp|no contesta|"
    "no sabe|ns/nc|sin respuesta|sin información|sconosciuto|non noto|non disponibile|n.d.|nd|nessuna risposta|"
    "desconhecido|ignorado|sem informação|não informado|geen antwoord|okänd|okänt|uppgift saknas|ukjent|ukendt|"
    "uoplyst|ei tietoa|brak danych|brak|nieznane|nieznany|nie podano|neznámé|ismeretlen|неизвестно|"
    "н/д|нет данных|不明|未知|无"
)
MISSING_WORDS = frozenset(WORDS.split("|"))
NINES = tuple(10**digits - 1 for digits in range(1, 5))  # 9, 99, 999, 9999
NEGATIVES = (-1, -2, -3, -7, -8, -9, -99, -98, -97, -88, -77, -999, -998, -997, -9999, -9998, -9997)
OTHERS = 20  # different other values, from which on a number is an amount and not a code
FEWEST = 5  # cells with the code
MASS = 3.0  # times as many as the values next to it have on average
NEXT = 10  # values that are next to it
AGREES = 0.95  # share of people with the code in the original whose record has it too, or nothing


def split(entry: str, columns: Iterable[str]) -> tuple[str | None, str]:
    """Column and code of "age=99"; no column in "99"."""
    name, found, code = entry.partition("=")
    return (name, code) if found and name in set(columns) else (None, entry)


def blank_named(frame: pl.DataFrame, missing: Iterable[str]) -> pl.DataFrame:
    """Empty the cells that hold a named code: "99" in every column, "age=99" in one."""
    for entry in missing:
        name, code = split(entry, frame.columns)
        columns = frame.columns if name is None else [name]
        frame = frame.with_columns(_blank(frame[column], code) for column in columns)
        if name is not None and frame[name].dtype == pl.String:
            frame = frame.with_columns(_as_numbers(frame[name]))
    return frame


def _as_numbers(column: pl.Series) -> pl.Series:
    """Numbers, where a code that is gone was the only text among them."""
    number = column.cast(pl.Float64, strict=False)
    if number.null_count() > column.null_count() or bool(column.str.contains(r"^0\d").any()):
        return column
    whole = number.drop_nulls()
    return number.cast(pl.Int64) if bool((whole == whole.round()).all()) else number


def _blank(column: pl.Series, code: str) -> pl.Series:
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        hit = column.cast(pl.String) == code
    elif column.dtype.is_numeric():
        try:
            hit = column.cast(pl.Float64) == float(code)
        except ValueError:
            return column
    else:
        return column
    return column.set(hit.fill_null(value=False), None)


def missing_codes(original: pl.Series, released: pl.Series, pairs: Pairs) -> list[float]:
    """Numbers of two columns that stand for missing by their shape."""
    sides = [column.cast(pl.Float64).fill_null(np.nan).to_numpy() for column in (original, released)]
    values = np.concatenate([side[~np.isnan(side)] for side in sides])
    different, counts = np.unique(values, return_counts=True)
    found = [*_low(different, counts), *_high(different, counts)]
    return [code for code in found if _agrees(code, sides[0], sides[1], pairs)] or _put_in(sides[0], sides[1], pairs)


def _put_in(known: NDArray[np.float64], published: NDArray[np.float64], pairs: Pairs) -> list[float]:
    """Codes that only the release has, for people of several values, where nothing else was changed."""
    before, after, there = known[pairs[0]], published[pairs[1]], known[~np.isnan(known)]
    if not there.size:
        return []
    codes = np.intersect1d(after[~np.isnan(after)], (*NINES, *NEGATIVES))
    codes = codes[(codes < there.min()) | (codes > there.max())]
    hit = np.isin(after, codes)
    rest = (before == after)[~hit] | np.isnan(after[~hit])
    if not rest.size or np.unique(before[hit]).size < 2 or any((after == code).sum() < FEWEST for code in codes):
        return []
    return codes.tolist() if float(rest.mean()) >= AGREES else []


def _low(different: NDArray[np.float64], counts: NDArray[np.int64]) -> list[float]:
    """Usual negative codes, where nothing else is negative."""
    negative = different < 0
    rest = different[~negative]
    usual = np.isin(different[negative], NEGATIVES)
    if not usual.size or not usual.all() or rest.size <= OTHERS:
        return []
    return different[negative][counts[negative] >= FEWEST].tolist() if (counts[negative] >= FEWEST).all() else []


def _high(different: NDArray[np.float64], counts: NDArray[np.int64]) -> list[float]:
    """Nines at the upper end, apart from the rest; 98 and 97 with them."""
    if different.size <= OTHERS or different[-1] not in NINES:
        return []
    top = different.size - 1
    first = top
    while top - first < 2 and different[first - 1] == different[first] - 1:
        first -= 1
    rest = different[:first]
    if rest.size <= OTHERS or rest[-1] >= different[top]:
        return []
    near, steps = counts[:first][-NEXT:], np.diff(rest[-NEXT - 1 :])
    apart = different[first] - rest[-1] > max(1.0, 2.0 * float(np.median(steps)))
    many = counts[first:].min() >= max(FEWEST, MASS * float(near.mean()))
    return different[first:].tolist() if apart and many else []


def _agrees(code: float, known: NDArray[np.float64], published: NDArray[np.float64], pairs: Pairs) -> bool:
    """Whether people with the code in the original have it in the release, or nothing."""
    hit = known[pairs[0]] == code
    if not hit.any():
        return bool(len(pairs[0])) or bool((known == code).any() and (published == code).any())
    partner = published[pairs[1]][hit]
    return float(np.mean((partner == code) | np.isnan(partner))) >= AGREES
