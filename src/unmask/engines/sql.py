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


def groups_of(masks: Sequence[int], widths: Sequence[int]) -> str:
    """The groups of some sets: how many records each has, and one of them."""
    each = []
    for mask in masks:
        chosen, keys = _named(packed(mask, widths))
        groups = f"FROM (SELECT rid, {chosen} FROM r) AS t GROUP BY {keys}"
        each.append(f"SELECT CAST({mask} AS BIGINT) AS mask, min(rid) AS rid, count(*) AS size {groups}")
    return " UNION ALL ".join(each)


def counts_of_sets(k: int) -> str:
    """Of each set in table ``g``: groups, records that are alone, records in groups of fewer than k."""
    below = f"CAST(coalesce(sum(size) FILTER (WHERE size < {k}), 0) AS BIGINT) AS below"
    return f"SELECT mask, count(*) AS groups, count(*) FILTER (WHERE size = 1) AS alone, {below} FROM g GROUP BY mask"


def new_uniques(parts: Sequence[str]) -> str:
    """Records alone on a set (table ``g``) and not on a part of it; ``parts``: tables with the uniques of such."""
    alone = "SELECT g.mask AS mask, g.rid AS rid FROM g WHERE g.size = 1"
    if not parts:
        return alone
    known = " UNION ALL ".join(f"SELECT rid, mask FROM {part}" for part in parts)
    return f"{alone} AND NOT EXISTS (SELECT 1 FROM ({known}) AS m WHERE m.rid = g.rid AND (m.mask & g.mask) = m.mask)"


def matched_uniques(table: str, masks: Sequence[int], widths: Sequence[int]) -> str:
    """People who carry the values of a record that is alone with them on a set: person and record."""
    each = []
    for mask in masks:
        left, right = packed(mask, widths, "o."), packed(mask, widths, "r.")
        equal = " AND ".join(f"{a} = {b}" for a, b in zip(left, right, strict=True))
        holders = f"(SELECT r.* FROM r JOIN {table} AS m ON r.rid = m.rid WHERE m.mask = {mask}) AS r"
        each.append(f"SELECT o.pid AS pid, r.rid AS rid, o.truth AS truth FROM o JOIN {holders} ON {equal}")
    return " UNION ALL ".join(each)


def special_records(tables: Sequence[str]) -> str:
    """How many records stand out on some set."""
    every = " UNION ALL ".join(f"SELECT rid FROM {table}" for table in tables)
    return f"SELECT count(*) FROM (SELECT rid FROM ({every}) AS m GROUP BY rid) AS t"


def shared_uniques(tables: Sequence[str]) -> str:
    """By how many records a person matches: people who have a record, and whose own is among them."""
    every = " UNION ALL ".join(f"SELECT pid, rid, truth FROM {table}" for table in tables)
    inner = (
        "SELECT pid, count(*) AS crowd, max(CASE WHEN rid = truth THEN 1 ELSE 0 END) AS own "
        f"FROM (SELECT DISTINCT pid, rid, truth FROM ({every}) AS t WHERE truth >= 0) AS h GROUP BY pid"
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


def number(value: float) -> str:
    """A number to the last digit: as a literal it could be read as a decimal of fewer."""
    return f"CAST('{value!r}' AS DOUBLE)"


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


def moments(table: str, places: Sequence[int]) -> str:
    """Number of values, least and largest of some numbers."""
    chosen = ", ".join(f"count(x{j}), min(x{j}), max(x{j})" for j in places)
    return f"SELECT {chosen} FROM {table}"


def exact_sums(table: str, terms: Sequence[tuple[str, float, float]]) -> str:
    """Sums that depend on no order: each term as two whole numbers, in units of 1/scale and of 1/(scale * fine)."""
    chosen = []
    for term, scale, fine in terms:
        scaled, half = f"({term}) * {number(scale)}", number(0.5)
        high = f"floor({scaled} + {half})"
        low = f"floor(({scaled} - {high}) * {number(fine)} + {half})"
        chosen += [f"sum(CAST({high} AS BIGINT))", f"sum(CAST({low} AS BIGINT))"]
    return f"SELECT {', '.join(chosen)} FROM {table}"


def square(j: int, mean: float) -> str:
    """The square of a number around its mean."""
    return f"(x{j} - {number(mean)}) * (x{j} - {number(mean)})"


def sampled(hashed: str, n: int) -> str:
    """People who are asked: the least hashes of their ids, and their place among them."""
    least = f"SELECT pid, {hashed} AS h FROM o WHERE truth >= 0 ORDER BY h, pid LIMIT {n}"
    return f"SELECT pid, row_number() OVER (ORDER BY h, pid) AS place FROM ({least}) AS t"


# --- a synthetic release: `o` has no numbers of records, and ``member`` is 0 for people outside ----------------------


def shares_of(j: int) -> str:
    """How many records have each code of a key."""
    return f"SELECT c{j} AS code, count(*) AS number FROM r GROUP BY c{j}"


def people_with_chance(m: int, n_rows: int) -> str:
    """People of the original, and the chance that one row equals them where columns are drawn by themselves."""
    joins = " ".join(f"LEFT JOIN ({shares_of(j)}) AS f{j} ON o.c{j} = f{j}.code" for j in range(m))
    shares = " * ".join(f"(CAST(coalesce(f{j}.number, 0) AS DOUBLE) / CAST({n_rows} AS DOUBLE))" for j in range(m))
    return f"SELECT o.*, {shares} AS chance FROM o {joins} WHERE o.member = 1"


def equal_groups(mask: int, widths: Sequence[int], people: str) -> str:
    """For each combination of values that somebody has: people and records who have it, their chance, its number."""
    chosen, keys = _named(packed(mask, widths))
    both = (
        f"SELECT {chosen}, 1 AS a, 0 AS b, chance FROM {people} UNION ALL "
        f"SELECT {chosen}, 0, 1, CAST(0 AS DOUBLE) FROM r"
    )
    counted = "CAST(sum(a) AS BIGINT) AS own, CAST(sum(b) AS BIGINT) AS there, max(chance) AS chance"
    return f"SELECT {keys}, {counted} FROM ({both}) AS t GROUP BY {keys} HAVING sum(a) > 0"


def equal_kinds(groups: str) -> str:
    """How many people have so many equals among people and so many among records."""
    chosen = "SELECT own, there, CAST(sum(own) AS BIGINT) AS people"
    return f"{chosen} FROM {groups} GROUP BY own, there ORDER BY own, there"


def equal_people(groups: str, condition: str) -> str:
    """The different people of some groups: their equals among people and records, their chance, and in how many."""
    chosen = "SELECT own, there, chance, count(*) AS number"
    return f"{chosen} FROM {groups}{condition} GROUP BY own, there, chance ORDER BY own, there, chance"


def ranked(table: str, j: int) -> str:
    """The present codes of a key by their place among those of a table, and how many rows have each."""
    there = f"SELECT c{j} AS code, count(*) AS number FROM {table} WHERE c{j} > 0 GROUP BY c{j}"
    return f"SELECT code, number, row_number() OVER (ORDER BY code) AS place FROM ({there}) AS t"


def other_places(one: str, other: str) -> str:
    """How many places two tables of them do not share, or not with as many rows."""
    return (
        f"SELECT count(*) FROM {one} AS a FULL OUTER JOIN {other} AS b ON a.place = b.place "
        "WHERE coalesce(a.number, 0) <> coalesce(b.number, 0)"
    )


def sizes_of_codes(table: str, j: int) -> str:
    """How many codes of a key, missing among them, so many rows have."""
    return (
        f"SELECT number, count(*) AS codes FROM (SELECT count(*) AS number FROM {table} GROUP BY c{j}) AS t "
        "GROUP BY number ORDER BY number"
    )


def short_of_rows(people: str, places: Sequence[int], m: int) -> str:
    """How many combinations have more people than records, where some keys are told by their places alone."""
    sides = []
    for table, side, a in ((people, "a", 1), ("r", "b", 0)):
        joins = " ".join(f"LEFT JOIN place_{side}{j} AS p{j} ON t.c{j} = p{j}.code" for j in places)
        columns = ", ".join(
            f"coalesce(p{j}.place, 0) AS k{j}" if j in places else f"CAST(t.c{j} AS BIGINT) AS k{j}" for j in range(m)
        )
        sides.append(f"SELECT {columns}, {a} AS a, {1 - a} AS b FROM {table} AS t {joins}")
    keys = ", ".join(f"k{j}" for j in range(m))
    grouped = f"SELECT sum(a) AS a, sum(b) AS b FROM ({' UNION ALL '.join(sides)}) AS u GROUP BY {keys}"
    return f"SELECT count(*) FROM ({grouped}) AS g WHERE a > b"


def equal_outsiders(mask: int, widths: Sequence[int]) -> str:
    """People outside who equal somebody of the original, and people of the original who equal another of them."""
    chosen, keys = _named(packed(mask, widths))
    both = f"SELECT {chosen}, member FROM o"
    counted = "sum(member) AS a, sum(1 - member) AS c"
    inner = f"SELECT {counted} FROM ({both}) AS t GROUP BY {keys}"
    return (
        "SELECT CAST(coalesce(sum(CASE WHEN a > 0 THEN c ELSE 0 END), 0) AS BIGINT), "
        f"CAST(coalesce(sum(CASE WHEN a > 1 THEN a ELSE 0 END), 0) AS BIGINT) FROM ({inner}) AS g"
    )


# --- blocks: people and records with the same values of some keys -----------------------------------------------------


def block_sizes(mask: int, widths: Sequence[int]) -> str:
    """Of the groups of some keys: how many, the largest, and those that do not have as many people as records."""
    grouped = both_packed(packed(mask, widths), [], grouped=True)
    return f"SELECT count(*), max(a), count(*) FILTER (WHERE a <> b) FROM ({grouped}) AS g"


def in_blocks(block: tuple[str, str], columns: Sequence[str]) -> str:
    """All people (side 1) and records (side 0), with their block."""
    chosen = ", ".join(columns)
    return (
        f"SELECT {block[0]} AS block, 1 AS side, o.pid AS number, o.truth AS truth, {chosen} FROM o UNION ALL "
        f"SELECT {block[1]}, 0, r.rid, CAST(-1 AS BIGINT), {chosen} FROM r"
    )


def ends_of_blocks() -> str:
    """For each block of table ``matched``: the largest profit of its people, and the least price of its records."""
    return (
        "SELECT block, max(value) FILTER (WHERE side = 1) AS profit, min(value) FILTER (WHERE side = 0) AS price "
        "FROM matched GROUP BY block ORDER BY block"
    )


ACROSS = "FROM ways JOIN matched AS m ON m.block = ways.block AND m.side = 1 AND m.value > ways.least"


def asked_across(columns: Sequence[str]) -> str:
    """People who may find a record of another block (table ``ways``) cheaper, beside all records of such blocks."""
    chosen = ", ".join(columns)
    people = f"SELECT ways.target AS block, 1 AS side, m.number AS number, m.value AS value, {chosen} {ACROSS}"
    targets = "(SELECT DISTINCT target FROM ways) AS w"
    return (
        f"{people} JOIN o ON o.pid = m.number UNION ALL "
        f"SELECT m.block, 0, m.number, m.value, {chosen} FROM matched AS m JOIN {targets} ON m.block = w.target "
        "JOIN r ON r.rid = m.number WHERE m.side = 0"
    )


def least_of_people() -> str:
    """For each person the least cost + price over all blocks: table ``beyond`` has what others offer."""
    offered = "SELECT number, min(least) AS least FROM beyond GROUP BY number"
    return (
        "SELECT CASE WHEN b.least < m.value THEN b.least ELSE m.value END AS least "
        f"FROM matched AS m LEFT JOIN ({offered}) AS b ON b.number = m.number WHERE m.side = 1"
    )
