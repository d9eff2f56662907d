"""The queries, as plain text: one plan for every engine that speaks SQL.

Two tables are asked. ``r`` has a row for each released record: its codes c0, c1, .. (0: missing), its numbers x0, x1,
.. and its number ``rid``. ``o`` has one for each person of the original: the same, with the number of their own record
(``truth``; none: -1) and ``same``, whose bit j is set where that record carries their value of key j.

Sets of keys are bit masks. Keys of a set are packed into as few whole numbers as hold them, in mixed radix: grouping by
one number takes a fraction of the memory of grouping by eight columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

ROOM = 2**62  # of one packed number


def name(column: str) -> str:
    """A column or table by its name, whatever is in it."""
    return '"' + column.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as it stands."""
    return "'" + value.replace("'", "''") + "'"


def bits(mask: int) -> list[int]:
    """Places of the keys of a set."""
    return [j for j in range(mask.bit_length()) if mask >> j & 1]


def masks_of(m: int, largest: int) -> list[int]:
    """All sets of up to so many of m keys, in the order of their masks."""
    return sorted(sum(1 << j for j in chosen) for k in range(1, largest + 1) for chosen in combinations(range(m), k))


def packed(mask: int, widths: Sequence[int], side: str = "") -> list[str]:
    """The keys of a set as few whole numbers; ``widths``: how many codes each key has, missing among them."""
    found, number, reach = [], "", 1
    for j in bits(mask):
        column = f"CAST({side}c{j} AS BIGINT)"
        if number and reach * widths[j] >= ROOM:
            found.append(number)
            number, reach = "", 1
        number = f"({number} * {widths[j]} + {column})" if number else column
        reach *= widths[j]
    return [*found, number] if number else ["CAST(0 AS BIGINT)"]


def _named(expressions: Iterable[str]) -> tuple[str, str]:
    """Expressions under the names k0, k1, .., and these names."""
    given = list(expressions)
    return ", ".join(f"{one} AS k{i}" for i, one in enumerate(given)), ", ".join(f"k{i}" for i in range(len(given)))


def sizes(mask: int, widths: Sequence[int]) -> str:
    """How many groups of each size the released records form: size, groups."""
    chosen, keys = _named(packed(mask, widths))
    inner = f"SELECT count(*) AS size FROM (SELECT {chosen} FROM r) AS t GROUP BY {keys}"
    return f"SELECT size, count(*) AS groups FROM ({inner}) AS g GROUP BY size ORDER BY size"


def crowds(mask: int, widths: Sequence[int]) -> str:
    """By the number of records of a group: groups, people with its values, those whose own record is in it, ...

    ... people who are alone with its values in the original, whether or not they have a record.
    """
    chosen, keys = _named(packed(mask, widths))
    owned = f"CASE WHEN truth >= 0 AND (same & {mask}) = {mask} THEN 1 ELSE 0 END"
    both = (
        f"SELECT {chosen}, 1 AS record, 0 AS person, 0 AS paired, 0 AS own FROM r UNION ALL "
        f"SELECT {chosen}, 0, 1, CASE WHEN truth >= 0 THEN 1 ELSE 0 END, {owned} FROM o"
    )
    counted = ", ".join(
        f"count(*) FILTER (WHERE {word} = 1) AS {short}"
        for word, short in (("record", "size"), ("person", "n_all"), ("paired", "n_paired"), ("own", "n_own"))
    )
    inner = f"SELECT {counted} FROM ({both}) AS t GROUP BY {keys}"
    return (
        "SELECT size, count(*) AS groups, CAST(sum(n_paired) AS BIGINT) AS people, CAST(sum(n_own) AS BIGINT) AS own, "
        f"count(*) FILTER (WHERE n_all = 1) AS alone FROM ({inner}) AS g GROUP BY size ORDER BY size"
    )


def groups_of(mask: int, widths: Sequence[int]) -> str:
    """The groups of a set: how many records each has, and one of them."""
    chosen, keys = _named(packed(mask, widths))
    return f"SELECT min(rid) AS rid, count(*) AS size FROM (SELECT rid, {chosen} FROM r) AS t GROUP BY {keys}"


def new_uniques(mask: int) -> str:
    """Records alone on a set (table ``g``) that are not alone on a part of it (table ``msu``, of smaller sets)."""
    within = f"msu.rid = g.rid AND (msu.mask & {mask}) = msu.mask"
    return (
        f"SELECT g.rid AS rid, {mask} AS mask FROM g WHERE g.size = 1 AND NOT EXISTS (SELECT 1 FROM msu WHERE {within})"
    )


def matched_uniques(mask: int, widths: Sequence[int]) -> str:
    """People who carry the values of a record that is alone with them on a set: person and record."""
    left, right = packed(mask, widths, "o."), packed(mask, widths, "r.")
    equal = " AND ".join(f"{a} = {b}" for a, b in zip(left, right, strict=True))
    holders = f"(SELECT r.* FROM r JOIN msu ON r.rid = msu.rid WHERE msu.mask = {mask}) AS r"
    return f"SELECT o.pid AS pid, r.rid AS rid, o.truth AS truth FROM o JOIN {holders} ON {equal}"


def shared_uniques() -> str:
    """By how many records a person matches (table ``hits``): people who have a record, and whose own is among them."""
    inner = (
        "SELECT pid, count(*) AS crowd, max(CASE WHEN rid = truth THEN 1 ELSE 0 END) AS own "
        "FROM (SELECT DISTINCT pid, rid, truth FROM hits WHERE truth >= 0) AS h GROUP BY pid"
    )
    return f"SELECT crowd, count(*) AS people, CAST(sum(own) AS BIGINT) AS own FROM ({inner}) AS p GROUP BY crowd"


def kept_values(m: int) -> str:
    """For each key: people whose own record still carries their value."""
    chosen = ", ".join(f"count(*) FILTER (WHERE (same & {1 << j}) > 0) AS kept{j}" for j in range(m))
    return f"SELECT {chosen} FROM o WHERE truth >= 0"


def paired_values(j: int) -> str:
    """For each code of a key: people who have a record, and the records of such people."""
    both = (
        f"SELECT c{j} AS code, 1 AS person FROM o WHERE truth >= 0 UNION ALL "
        f"SELECT r.c{j}, 0 FROM r JOIN o ON r.rid = o.truth"
    )
    return (
        "SELECT code, count(*) FILTER (WHERE person = 1) AS people, count(*) FILTER (WHERE person = 0) AS records "
        f"FROM ({both}) AS t GROUP BY code"
    )


def both_values(j: int) -> str:
    """For each code of a key: how often it stands in the original, and in the release."""
    both = f"SELECT c{j} AS code, 1 AS person FROM o UNION ALL SELECT c{j}, 0 FROM r"
    return (
        "SELECT code, count(*) FILTER (WHERE person = 1) AS people, count(*) FILTER (WHERE person = 0) AS records "
        f"FROM ({both}) AS t GROUP BY code ORDER BY code"
    )


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def rows_where(conditions: Sequence[str]) -> str:
    """How many rows of both tables meet some conditions."""
    both = " UNION ALL ".join(f"SELECT 1 AS one FROM {table}{_where(conditions)}" for table in ("o", "r"))
    return f"SELECT count(*) FROM ({both}) AS t"


def codes_where(j: int, conditions: Sequence[str]) -> str:
    """How often each code of a key stands in both tables, missing left out, among rows that meet some conditions."""
    there = _where([*conditions, f"c{j} > 0"])
    both = " UNION ALL ".join(f"SELECT c{j} AS code FROM {table}{there}" for table in ("o", "r"))
    return f"SELECT code, count(*) AS number FROM ({both}) AS t GROUP BY code ORDER BY code"


def both_packed(words: Sequence[str], conditions: Sequence[str], *, grouped: bool) -> str:
    """Rows of both tables as whole numbers k0, k1, .., and whether they are people (a) or records (b), or how many."""
    chosen, keys = _named(words)
    both = (
        f"SELECT {chosen}, 1 AS a, 0 AS b FROM o{_where(conditions)} UNION ALL "
        f"SELECT {chosen}, 0, 1 FROM r{_where(conditions)}"
    )
    if not grouped:
        return both
    summed = "CAST(sum(a) AS BIGINT) AS a, CAST(sum(b) AS BIGINT) AS b"
    return f"SELECT {keys}, {summed} FROM ({both}) AS t GROUP BY {keys}"


def moments(table: str, j: int) -> str:
    """Number of values, least, largest and mean of a number."""
    return f"SELECT count(x{j}), min(x{j}), max(x{j}), fsum(x{j}) / count(x{j}) FROM {table}"


def squares(table: str, j: int, mean: float) -> str:
    """Sum of the squares around the mean."""
    return f"SELECT fsum((x{j} - {mean!r}) * (x{j} - {mean!r})) FROM {table}"


def sampled(seed: int, n: int) -> str:
    """People who are asked: the least MD5 sums of their ids, as text, after a seed. The same on every engine."""
    order = f"md5(concat({text(f'{seed}:')}, CAST(id AS VARCHAR)))"
    return f"SELECT pid FROM o WHERE truth >= 0 ORDER BY {order}, pid LIMIT {n}"
