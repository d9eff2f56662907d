"""Read a network: lists of ties in any format of tables, GraphML, networkx and igraph objects.

People are numbers or text, and ties two of them with whatever else is said of the tie. A tie of somebody with
themselves is left out, ties that are listed twice count once; both are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

import polars as pl

from unmask.errors import ParameterError, TableError
from unmask.tables import check_file, format_of, read_table

ENDS = (
    ("source", "target"), ("from", "to"), ("src", "dst"), ("ego", "alter"), ("person", "friend"),
    ("sender", "receiver"), ("caller", "callee"), ("follower", "followed"), ("node1", "node2"),
)  # fmt: skip
FROM, TO, ID = "from", "to", "id"
WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)


@dataclass(frozen=True, slots=True)
class Ties:
    """A network as it was read: people (``id`` and what is said of each), and ties (``from``, ``to`` and the rest)."""

    people: pl.DataFrame
    ties: pl.DataFrame
    directed: bool


def read_network(
    source: Any,  # noqa: ANN401 - a path, a frame, or a graph of another library
    *,
    people: Any = None,  # noqa: ANN401 - a path or a frame
    ends: tuple[str, ...] = (),
    directed: bool = False,
    name: str = "network",
    text: Mapping[str, Any] | None = None,
) -> Ties:
    """Read ``source``; ``people``: a table with a row a person, for those without ties and for what is known of them.

    ``ends``: the two columns that name the people of a tie. GraphML and graph objects say themselves whether ties have
    a direction; ``directed`` is for lists.
    """
    options = dict(text or {})
    if isinstance(source, str | Path) and format_of(source) == ".graphml":
        found = _graphml(Path(source), name)
    elif callable(getattr(source, "is_directed", None)) and hasattr(source, "vs"):
        found = _igraph(source)
    elif callable(getattr(source, "is_directed", None)) and hasattr(source, "edges"):
        found = _networkx(source)
    else:
        found = _listed(read_table(source, name=name, as_written=True, **options), ends, name, directed=directed)
    if people is not None:
        table = read_table(people, name=f"people of the {name}", as_written=True, **options)
        found = Ties(_with_people(found, table, name), found.ties, found.directed)
    _refuse_gaps(found, name)
    return found


def _listed(table: pl.DataFrame, ends: tuple[str, ...], name: str, *, directed: bool) -> Ties:
    """Ties of a table: its two columns of people, and what is said of each tie."""
    known = {column.lower(): column for column in table.columns}
    if ends and (len(ends) != 2 or not set(ends) <= set(table.columns)):
        raise ParameterError(
            f"the {name}: two columns name the people of a tie", got=", ".join(ends), allowed=", ".join(table.columns)
        )
    if table.width < 2:
        raise TableError(f"the {name} has one column", hint="a tie has two people: two columns, or --separator")
    pair = ends or next(((known[a], known[b]) for a, b in ENDS if a in known and b in known), tuple(table.columns[:2]))
    ties = table.select(
        pl.col(pair[0]).alias(FROM), pl.col(pair[1]).alias(TO), pl.exclude(*pair).name.map(_apart)
    )  # what else a tie has may be called like its ends
    return Ties(pl.DataFrame({ID: pl.Series([], dtype=ties.schema[FROM])}), ties, directed)


def _apart(column: str) -> str:
    return f"{column} of the tie" if column in {FROM, TO} else column


def _with_people(found: Ties, table: pl.DataFrame, name: str) -> pl.DataFrame:
    """The table of people, one row each, beside those that a graph file names itself."""
    known = {column.lower(): column for column in table.columns}
    column = next((known[word] for word in ("id", "person", "node", "name") if word in known), table.columns[0])
    table = table.rename({column: ID}) if column != ID else table
    if table[ID].is_duplicated().any():
        raise TableError(
            f"people of the {name}: an id is there twice", got=f"{int(table[ID].is_duplicated().sum())} rows",
            hint="one row a person",
        )  # fmt: skip
    if found.people.width > 1 or found.people.height:
        own = found.people.with_columns(pl.col(ID).cast(pl.String))
        table = own.join(table.with_columns(pl.col(ID).cast(pl.String)), on=ID, how="full", coalesce=True)
    return table


def _refuse_gaps(found: Ties, name: str) -> None:
    for column in (FROM, TO):
        gaps = found.ties[column].is_null()
        if gaps.any():
            row = int(gaps.arg_max() or 0) + 1
            raise TableError(f"the {name} has ties without a person", got=f"{int(gaps.sum())}, the first in row {row}")
    if found.people[ID].is_null().any():
        raise TableError(f"people of the {name} have no id", got=f"{int(found.people[ID].null_count())} rows")
    if not found.people.height and not found.ties.height:
        raise TableError(f"the {name} has nobody in it", hint="a network needs at least one person")


def _networkx(graph: Any) -> Ties:  # noqa: ANN401 - whatever has nodes and edges
    people = [{ID: node, **told} for node, told in graph.nodes(data=True)]
    ties = [{**told, FROM: a, TO: b} for a, b, told in graph.edges(data=True)]
    return Ties(_frame(people, [ID]), _frame(ties, [FROM, TO]), bool(graph.is_directed()))


def _igraph(graph: Any) -> Ties:  # noqa: ANN401 - whatever has vs and es
    named = "name" in graph.vs.attributes()
    names = graph.vs["name"] if named else list(range(graph.vcount()))
    said = [word for word in graph.vs.attributes() if word != "name"]
    people = [{**{word: vertex[word] for word in said}, ID: name} for name, vertex in zip(names, graph.vs, strict=True)]
    ties = [{**edge.attributes(), FROM: names[edge.source], TO: names[edge.target]} for edge in graph.es]
    return Ties(_frame(people, [ID]), _frame(ties, [FROM, TO]), bool(graph.is_directed()))


def _frame(rows: list[dict[Any, Any]], first: list[str]) -> pl.DataFrame:
    """Rows of some library as a frame: ids as they are where all are whole numbers, else as text; the rest as text."""
    names = list(dict.fromkeys([*first, *(str(name) for row in rows for name in row)]))
    columns = {name: [row.get(name) for row in rows] for name in names}
    made = []
    for name, values in columns.items():
        whole = name in first and all(isinstance(value, int) and not isinstance(value, bool) for value in values)
        texts = values if whole else [None if value is None else str(value) for value in values]
        made.append(pl.Series(name, texts, dtype=pl.Int64 if whole else pl.String))
    return pl.DataFrame(made)


class _GraphML:
    """Nodes, edges and their data of a GraphML file; entities are refused, as they can be made to grow."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.people: list[dict[Any, Any]] = []
        self.ties: list[dict[Any, Any]] = []
        self.directed = False
        self._row: dict[Any, Any] | None = None
        self._key: str | None = None
        self._text: list[str] = []

    def start(self, tag: str, told: dict[str, str]) -> None:
        word = tag.rpartition(":")[2]
        if word == "graph":
            self.directed = told.get("edgedefault") == "directed"
        elif word == "key":
            self.names[told["id"]] = told.get("attr.name", told["id"])
        elif word == "node":
            self._row = {ID: told["id"]}
            self.people.append(self._row)
        elif word == "edge":
            self._row = {FROM: told["source"], TO: told["target"]}
            self.ties.append(self._row)
        elif word == "data":
            self._key, self._text = told["key"], []

    def text(self, more: str) -> None:
        if self._key is not None:
            self._text.append(more)

    def end(self, tag: str) -> None:
        word = tag.rpartition(":")[2]
        if word == "data" and self._row is not None and self._key is not None:
            name = self.names.get(self._key, self._key)
            name = f"{name} of the person" if name in {ID, FROM, TO} else name
            self._row[name] = "".join(self._text).strip()
            self._key = None
        elif word in {"node", "edge"}:
            self._row = None

    def entity(self, *_: object) -> None:
        raise TableError("a GraphML file with entities is not read", hint="write it again without them")


def _graphml(path: Path, name: str) -> Ties:
    check_file(path)
    found, parser = _GraphML(), expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = found.start, found.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = found.text, found.entity
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
    except (expat.ExpatError, KeyError) as error:
        where = f"line {error.lineno}" if isinstance(error, expat.ExpatError) else "an attribute is missing"
        raise TableError(f"the {name} ({path.name}) is not readable GraphML", got=where) from error
    return Ties(_frame(found.people, [ID]), _frame(found.ties, [FROM, TO]), found.directed)
