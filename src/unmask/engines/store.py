"""Both tables as codes, in a private database: each value of a key is a small whole number, the same in both.

It is made once, in a few passes, and every question is then asked of it. `sql` says what the two tables hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from unmask.engines.duck import Duck, open_duck
from unmask.engines.sources import Source, as_id, as_number, as_value, open_source, shared_columns
from unmask.engines.spark import Spark, is_spark, open_spark
from unmask.engines.spark_sources import open_spark_source
from unmask.engines.texts import read_alike
from unmask.errors import EngineError, ParameterError, RepeatedIdError, RoleError, TableError, check_name
from unmask.tables import check_columns

Engine = Duck | Spark
ENGINES = ("duckdb", "spark")
NAMED = (("the original", "o"), ("the release", "r"), ("the control table", "c"))
MOST_KEYS = 30  # sets of them are bits of a whole number
NUMBERS = {"whole", "number", "wide", "day", "time"}
FEW_CODES = ROWS_PER_CODE = 20  # whole numbers of few values, each in many rows, are codes: as `tables` has it


@dataclass(frozen=True, slots=True)
class Key:
    """A column that the intruder knows. ``width``: how many codes it has, 0 for missing among them."""

    name: str
    kinds: tuple[str, str]
    numeric: bool
    width: int = 1
    common: int = 0  # values that stand in both tables
    gaps: bool = False  # some are missing, in either table
    reason: str = ""
    foreign: int = 0  # records of the release whose value does not stand in the original
    values: int = 0  # different ones in the original
    present: int = 0  # rows of the original that have one

    @property
    def comparable(self) -> bool:
        """Whether values can be compared as they stand: numbers, or some value stands in both tables."""
        return self.numeric or self.common > 0


@dataclass(frozen=True, slots=True)
class Store:
    """The two tables as codes, and what is known of them."""

    duck: Engine
    keys: tuple[Key, ...]  # numbers first; those that can be compared
    left_out: tuple[Key, ...]  # no value of theirs stands in both tables
    sources: tuple[Source, ...]  # the original, the release, and people outside, where they are given
    n_original: int
    n_released: int
    n_paired: int
    n_outside: int = 0  # people of the control table, who stand below those of the original in one table
    synthetic: bool = False  # no row of the release was made from one person

    @property
    def widths(self) -> list[int]:
        """How many codes each key has."""
        return [key.width for key in self.keys]

    @property
    def names(self) -> tuple[str, ...]:
        """The keys, by name."""
        return tuple(key.name for key in self.keys)

    @property
    def whole(self) -> int:
        """The set of all keys."""
        return (1 << len(self.keys)) - 1

    @property
    def numeric(self) -> list[int]:
        """Places of the keys that are numbers."""
        return [j for j, key in enumerate(self.keys) if key.numeric]


def engine_of(given: tuple[Any, ...], engine: str | None) -> str:
    """The engine that is named, else that of the frames that are given."""
    there = any(map(is_spark, given))
    chosen = engine or ("spark" if there else ENGINES[0])
    check_name(chosen, ENGINES, f"no engine {engine!r}")
    if there and chosen != "spark":
        raise ParameterError(
            "frames of Spark are counted by Spark", got=f"engine {chosen}", hint="leave out the engine"
        )
    return chosen


@contextmanager
def open_store(  # noqa: PLR0913 - what is known of two tables
    original: Any,  # noqa: ANN401 - a path, a relation or a frame
    released: Any,  # noqa: ANN401
    *,
    id: str | None = None,  # noqa: A002 - the word of the field
    control: Any = None,  # noqa: ANN401
    quasi: Iterable[str] | None = None,
    others: Mapping[str, Iterable[str]] | None = None,
    kinds: Mapping[str, str] | None = None,
    memory: str | float = "3GB",
    threads: int = 1,
    engine: str | None = None,
    master: str | None = None,
    work: str | None = None,
    by_content: bool = False,
) -> Iterator[Store]:
    """Read both tables where they are counted; ``others``: columns by other roles, ``kinds``: said by hand.

    ``engine``: duckdb, a private database, within ``memory``; or spark, at a ``master``, with a folder for ``work``.
    ``by_content``: keys in an order of what they hold, so that the order of columns shows in no figure.
    Without an ``id`` the release is synthetic: no row belongs to anybody, and ``control`` are people outside.
    """
    given = (original, released) if control is None else (original, released, control)
    with _opened(given, engine_of(given, engine), (master, work), (memory, threads)) as (duck, read):
        ids = [] if id is None else [id]
        for source in read:
            check_columns(ids, source.types, "id", source.where)
        taken = _others(read, others or {})
        names = shared_columns(read[0], read[1], {*ids, *taken}, quasi)
        if len(names) > MOST_KEYS:
            raise ParameterError("too many quasi-identifiers", got=str(len(names)), allowed=f"up to {MOST_KEYS}")
        check_columns(kinds or {}, names, "kind override", "the columns that the intruder knows")
        sides = read_alike(duck, read, {*names, *ids, *(others or {}).get("id", ())})
        if id is None:
            yield _coded_alone(duck, sides, names, dict(kinds or {}))
        else:
            yield _coded(duck, sides, id, names, dict(kinds or {}), by_content=by_content)


def _others(sides: tuple[Source, ...], roles: Mapping[str, Iterable[str]]) -> list[str]:
    """Columns of other roles. One that neither table has is refused, as in memory: misspelt, it would be a key."""
    everywhere = [name for source in sides[:2] for name in source.types]
    return [name for role, names in roles.items() for name in check_columns(names, everywhere, role, "the tables")]


@contextmanager
def _opened(
    given: tuple[Any, ...], engine: str, where: tuple[str | None, str | None], limits: tuple[str | float, int]
) -> Iterator[tuple[Engine, tuple[Source, ...]]]:
    """The engine, and the tables as it reads them."""
    named = list(zip(given, NAMED, strict=False))
    if engine == "spark":
        with open_spark(given, *where) as spark:
            yield spark, tuple(open_spark_source(spark, one, *names) for one, names in named)
        return
    with open_duck(memory=limits[0], threads=limits[1]) as duck:
        yield duck, tuple(open_source(duck, one, *names) for one, names in named)


def _coded(
    duck: Engine, sides: tuple[Source, ...], id_: str, names: tuple[str, ...], said: dict[str, str], *, by_content: bool
) -> Store:
    pair = [(name, (sides[0].kind(name), sides[1].kind(name))) for name in names]
    for side, source in zip(("o", "r"), sides, strict=True):
        with source.named():
            _refuse_infinities(duck, source, names)
            _plain(duck, side, source, id_, pair)
    n_original, n_released = (_rows(duck, side, id_, one) for side, one in zip(("o", "r"), sides, strict=True))
    total = n_original + n_released
    keys = [_book(duck, j, name, kinds, said.get(name), total) for j, (name, kinds) in enumerate(pair)]
    order, chosen, left = _chosen(keys, by_content=by_content)
    n_paired = _paired(duck, order, chosen, id_)
    duck.drop(*(f"book{j}" for j in range(len(keys))), "plain_o", "plain_r")
    return Store(duck, chosen, left, sides, n_original, n_released, n_paired)


def _coded_alone(duck: Engine, sides: tuple[Source, ...], names: tuple[str, ...], said: dict[str, str]) -> Store:
    """The same where no row belongs to anybody. People outside stand below those of the original (``member``: 0)."""
    pair = [(name, (sides[0].kind(name), sides[1].kind(name))) for name in names]
    tables = [side for side, _ in zip("orc", sides, strict=False)]
    for side, source in zip(tables, sides, strict=True):
        _refuse_other_kinds(source, pair)
        with source.named():
            _refuse_infinities(duck, source, names)
            _plain(duck, side, source, None, pair)
    rows = [int(duck.row(f"SELECT count(*) FROM plain_{side}")[0]) for side in tables]
    for n, source in zip(rows, sides, strict=True):
        _refuse_none(n, source)
    keys = [
        _book(duck, j, name, kinds, said.get(name), rows[0] + rows[1], tables=tables)
        for j, (name, kinds) in enumerate(pair)
    ]
    order, chosen, left = _chosen(keys, by_content=True)
    duck.keep("r", _codes(duck, "r", order, chosen, numbered=False))
    people = [
        f"SELECT t.*, {int(side == 'o')} AS member FROM ({_codes(duck, side, order, chosen, numbered=False)}) AS t"
        for side in tables
        if side != "r"
    ]
    duck.keep("o", " UNION ALL ".join(people))
    duck.drop(*(f"book{j}" for j in range(len(keys))), *(f"plain_{side}" for side in tables))
    return Store(duck, chosen, left, sides, rows[0], rows[1], 0, sum(rows[2:]), synthetic=True)


def _chosen(keys: list[Key], *, by_content: bool) -> tuple[list[int], tuple[Key, ...], tuple[Key, ...]]:
    """The keys that can be compared, with their places, and those that cannot.

    ``by_content``: in an order of what they hold, as `assess` has them, since it decides which rows are drawn.
    """
    order = [j for j in range(len(keys)) if keys[j].comparable]
    if by_content:
        order.sort(key=lambda j: (keys[j].values, -keys[j].present, keys[j].name))
    order.sort(key=lambda j: not keys[j].numeric)  # numbers first, as in memory
    if not order:
        raise EngineError(
            "no attribute of the release has a value in common with the original", hint="is it coded otherwise?"
        )
    return order, tuple(keys[j] for j in order), tuple(key for key in keys if not key.comparable)


def _refuse_other_kinds(source: Source, pair: list[tuple[str, tuple[str, str]]]) -> None:
    """A control table has the columns of the original, and values of the same kind."""
    check_columns([name for name, _ in pair], source.types, "column that the intruder knows", source.where)
    for name, kinds in pair:
        kind = source.kind(name)
        if kind not in kinds and not (kind == "whole" and "number" in kinds):
            raise TableError(
                f"column {name!r} of {source.where} is of another kind than in the original", got=kind, allowed=kinds[0]
            )


def _plain(duck: Engine, side: str, source: Source, id_: str | None, pair: list[tuple[str, tuple[str, str]]]) -> None:
    """The keys as they are compared, under names of ours, and as numbers where they are."""
    dialect = duck.dialect
    values = [f"{as_value(source, name, kinds, dialect)} AS v{j}" for j, (name, kinds) in enumerate(pair)]
    numbers = [
        f"{as_number(source, name, kinds, dialect)} AS x{j}"
        for j, (name, kinds) in enumerate(pair)
        if {*kinds} <= NUMBERS
    ]
    if id_ is not None:
        values = [f"{as_id(source, id_, dialect)} AS id", *values]
    duck.keep(f"plain_{side}", f"SELECT {', '.join([*values, *numbers])} FROM {source.query}")


def _refuse_infinities(duck: Engine, source: Source, names: Iterable[str]) -> None:
    """They are refused by name: as values they would be missing."""
    floats = [name for name in names if source.kind(name) == "number"]
    sizes = [f"abs(CAST({duck.dialect.name(name)} AS DOUBLE))" for name in floats]
    counts = [f"count(*) FILTER (WHERE {size} = CAST('Infinity' AS DOUBLE))" for size in sizes]
    found = duck.row(f"SELECT {', '.join(counts)} FROM {source.query}") if counts else ()
    for name, number in zip(floats, found, strict=True):
        if number:
            raise TableError(
                f"column {name!r} of {source.where} holds an infinity", hint="leave the cell empty, or drop the row"
            )


def _rows(duck: Engine, side: str, id_: str, source: Source) -> int:
    """Number of rows; refuse none, ids that are missing, and ids that repeat."""
    n, known = duck.row(f"SELECT count(*), count(id) FROM plain_{side}")
    _refuse_none(n, source)
    if known < n:
        raise TableError(
            f"id column {id_!r} has {n - known} missing values in {source.where}", hint="fill or drop those rows"
        )
    different = duck.row(f"SELECT count(*) FROM (SELECT id FROM plain_{side} GROUP BY id) AS t")[0]
    if different < n:
        raise RepeatedIdError(
            f"id column {id_!r} repeats in {source.where}",
            got=f"{n} rows, {different} different ids",
            hint="an id must say which single row it is; many rows a person are not attacked by this engine",
        )
    return int(n)


def _refuse_none(n: int, source: Source) -> None:
    if n == 0:
        raise TableError(f"{source.where} has no rows", hint="a table needs at least one row")


def _book(  # noqa: PLR0913 - what is known of a key
    duck: Engine,
    j: int,
    name: str,
    kinds: tuple[str, str],
    said: str | None,
    total: int,
    *,
    tables: Iterable[str] = "or",
) -> Key:
    """Number the values of a key over all tables, in their order, and tell how the key is read by the first two."""
    person = {"o": 1, "r": 0, "c": 2}
    both = " UNION ALL ".join(f"SELECT v{j} AS v, {person[side]} AS person FROM plain_{side}" for side in tables)
    counted = (
        "SELECT v, count(*) FILTER (WHERE person = 1) AS a, count(*) FILTER (WHERE person = 0) AS b "
        f"FROM ({both}) AS t WHERE v IS NOT NULL GROUP BY v"
    )
    duck.keep(f"book{j}", f"SELECT v, a, b, row_number() OVER (ORDER BY v) AS c FROM ({counted}) AS t")
    width, common, values, outside, rows, records, foreign = duck.row(
        "SELECT count(*) + 1, count(*) FILTER (WHERE a > 0 AND b > 0), count(*) FILTER (WHERE a > 0), "
        "count(*) FILTER (WHERE a = 0 AND b > 0), coalesce(sum(a), 0), coalesce(sum(b), 0), "
        f"coalesce(sum(b) FILTER (WHERE a = 0), 0) FROM book{j}"
    )
    numeric, gaps = {*kinds} <= NUMBERS, rows + records < total
    key = Key(name, kinds, numeric, int(width), int(common), gaps, "", int(foreign), int(values), int(rows))
    if said is not None:
        return _as_said(key, said)
    if not key.numeric or not _are_whole(duck, j, kinds):
        return replace(key, reason=_words(kinds))
    if duck.row(f"SELECT count(*) FROM book{j} WHERE a > 0 AND abs(CAST(v AS DOUBLE)) >= {2.0**53}")[0]:  # 2^53 + 1 too
        return replace(key, numeric=False, reason="whole numbers of more than 15 digits: compared for equality only")
    coded = values <= FEW_CODES and rows >= ROWS_PER_CODE * values and outside == 0
    few = f"only {values} different whole numbers in {rows} rows: read as codes, not amounts (override with kinds)"
    return replace(
        key, numeric=not coded, reason=few if coded else f"whole numbers, {values} different ones in {rows} rows"
    )


def _as_said(key: Key, said: str) -> Key:
    """The kind that was said by hand."""
    if said not in {"numeric", "date", "categorical", "boolean"} or (said in {"numeric", "date"} and not key.numeric):
        raise RoleError(
            f"column {key.name!r} cannot be read as {said} by this engine", got=" and ".join(dict.fromkeys(key.kinds)),
            allowed="categorical, or numeric where it holds numbers or dates in both tables",
        )  # fmt: skip
    return replace(key, numeric=said in {"numeric", "date"}, reason="as you said")


def _are_whole(duck: Engine, j: int, kinds: tuple[str, str]) -> bool:
    """Whether all numbers of the original are whole: they may be codes."""
    if not {*kinds} <= {"whole", "wide", "number"}:
        return False
    return bool(duck.row(f"SELECT count(*) FROM book{j} WHERE a > 0 AND v <> round(CAST(v AS DOUBLE))")[0] == 0)


def _words(kinds: tuple[str, str]) -> str:
    if {*kinds} <= {"day", "time"}:
        return "dates or times, used as numbers"
    words = {"text": "text, compared as it stands", "yes": "true/false values"}
    return words.get(kinds[0], "numbers with decimals")


def _codes(duck: Engine, side: str, order: list[int], keys: tuple[Key, ...], *, numbered: bool = True) -> str:
    """The codes of one table, in types as small as they fit, in the order of the keys, and its rows numbered."""
    joins = " ".join(f"LEFT JOIN book{j} AS b{j} ON p.v{j} = b{j}.v" for j in order)
    codes = [
        f"CAST(coalesce(b{j}.c, 0) AS {duck.dialect.code(key.width)}) AS c{at}"
        for at, (j, key) in enumerate(zip(order, keys, strict=True))
    ]
    numbers = [f"p.x{j} AS x{at}" for at, (j, key) in enumerate(zip(order, keys, strict=True)) if key.numeric]
    number = (
        f"{duck.row_number(f'plain_{side}')} AS {'pid' if side == 'o' else 'rid'}, p.id AS id, " if numbered else ""
    )
    return f"SELECT {number}{', '.join([*codes, *numbers])} FROM plain_{side} AS p {joins}"


def _paired(duck: Engine, order: list[int], keys: tuple[Key, ...], id_: str) -> int:
    """Give each person the number of their record, and mark which values it still carries."""
    duck.keep("r", _codes(duck, "r", order, keys))
    same = " + ".join(f"CASE WHEN o.c{j} = r.c{j} THEN {1 << j} ELSE 0 END" for j in range(len(keys)))
    people = _codes(duck, "o", order, keys)
    duck.keep(
        "o",
        "SELECT o.*, coalesce(r.rid, -1) AS truth, CAST(CASE WHEN r.rid IS NULL THEN 0 "
        f"ELSE {same} END AS INTEGER) AS same FROM ({people}) AS o LEFT JOIN r ON {_equal_ids(duck)}",
    )
    paired = int(duck.row("SELECT count(*) FROM o WHERE truth >= 0")[0])
    if not paired:
        raise TableError(f"no id of {id_!r} is in both tables", hint="is it the same column, written the same way?")
    return paired


def _equal_ids(duck: Engine) -> str:
    """Whole numbers are compared as such; else both as text."""
    left, right = (duck.described(f"SELECT id FROM {table}")["id"] for table in ("plain_o", "plain_r"))
    if left == right:
        return "o.id = r.id"
    return f"CAST(o.id AS {duck.dialect.text}) = CAST(r.id AS {duck.dialect.text})"
