"""Who is nearest, in one pass over the release: what a part of it says adds up with what the others say.

The intruders are some people, in memory; the release comes in parts. The least distance over all parts is the least of
theirs, equally near records add, and the next distance is a minimum as well; records nearer than the true one are
counted. Each part is searched by the same kernels as a release in memory, on the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.engines.asked import Asked, Form, Records, columns_of
from unmask.engines.placing import Placing
from unmask.engines.store import Store
from unmask.errors import EngineError
from unmask.kernels.search import count_closer, distance_of_pairs, nearest, plant

PART = 1_000_000  # records that are searched at a time
NEAR = 10  # records nearer than the true one are counted up to so many
Tell = Callable[[float, str], None]


class Near(NamedTuple):
    """For each person asked: the least reduced distance, the next, how many records are at the least; the true one.

    ``closer``: records that are nearer than the true one, up to `NEAR`.
    """

    least: Floats
    second: Floats
    ties: Ints
    true: Floats
    credit: Floats
    closer: Ints


class Work(Protocol):
    """What is asked of each part of a table, to be sent where it is, and how answers add up.

    An answer is a named tuple of arrays with one entry for each person asked; ``records`` is one of them.
    """

    @property
    def fields(self) -> str:
        """Names and types of an answer, in SQL."""

    def __call__(self, part: Any) -> Any:  # noqa: ANN401 - an Arrow table or batch, an answer
        """Ask one part."""

    def made(self, columns: Sequence[Any]) -> Any:  # noqa: ANN401
        """An answer from elsewhere, in columns."""

    def joined(self, parts: Sequence[Any]) -> Any:  # noqa: ANN401
        """What parts say together."""


def pass_over(store: Store, work: Work, tell: Tell, *, table: str = "r", rows: int = PART) -> Any:  # noqa: ANN401
    """Ask all of a table, a part at a time; that all of it was read is counted."""
    whole, parts = store.n_released if table == "r" else store.n_original, []
    for part in store.duck.over_parts(f"SELECT {', '.join(columns_of(store))} FROM {table}", work, rows):
        parts.append(part)
        tell(sum(int(one.records[0]) for one in parts) / whole, "all records, one part after the other")
    found = work.joined(parts) if parts else None
    if found is None or (found.records != whole).any():
        raise EngineError("a table was not read to its end", hint="is it being written?")
    return found


class Found(NamedTuple):
    """What a part of the release says of people: least and next distance, records at the least; of how many records."""

    person: Ints
    least: Floats
    second: Floats
    ties: Ints
    closer: Ints  # than the true one, up to `NEAR`
    records: Ints


class Search(NamedTuple):
    """The people who are asked for, to be sent where the release is; it is asked for them a part at a time."""

    known: Records
    placing: Placing
    form: Form
    true: Floats

    @property
    def fields(self) -> str:
        """Names and types of what a part says."""
        return "person bigint, least double, second double, ties bigint, closer bigint, records bigint"

    def __call__(self, part: Any) -> Found:  # noqa: ANN401 - an Arrow table or batch
        """Search one part."""
        records = self.form.arrays(part)
        space = self.placing.space(self.known, records)
        tree = plant(space)
        found, closer = nearest(space, tree=tree), count_closer(space, self.true, NEAR, tree=tree)
        n = len(found.least)
        return Found(np.arange(n), found.least, found.second, found.ties, closer, np.full(n, len(records.codes)))

    def made(self, columns: Sequence[Any]) -> Found:
        """What was found elsewhere, in columns."""
        return Found(*columns)

    def joined(self, parts: Sequence[Found]) -> Found:
        """What parts say together: the least, the next that is no tie, and the number of ties. It is additive."""
        n, placing = len(self.known.codes), self.placing
        person, low, following, many, nearer, records = (np.concatenate(one) for one in zip(*parts, strict=True))
        least, second = np.full(n, np.inf), np.full(n, np.inf)
        ties, closer, seen = (np.zeros(n, dtype=np.int64) for _ in range(3))
        np.minimum.at(least, person, low)
        tied = low <= least[person] * (1.0 + placing.tolerance) + placing.floor
        np.minimum.at(second, person, np.where(tied, following, low))
        np.add.at(ties, person, np.where(tied, many, 0))
        np.add.at(closer, person, nearer)
        np.add.at(seen, person, records)
        return Found(np.arange(n), least, second, ties, closer, seen)


def find_nearest(
    store: Store, asked: Asked, placing: Placing, tell: Tell, rows: int = PART, *, back: bool = False
) -> Near:
    """One pass over the release for all who are asked; credit is shared among records that are equally near.

    ``back``: the other way, their own records look for the nearest person of the original.
    """
    n, (known, own), placing = len(asked.ids), asked[:2], placing.turned() if back else placing
    known, own = (own, known) if back else (known, own)
    true = distance_of_pairs(placing.space(known, own), np.arange(n), np.arange(n))
    search = Search(known, placing, Form.of(store), true)
    found = pass_over(store, search, tell, table="o" if back else "r", rows=rows)
    right = found.least * (1.0 + placing.tolerance) + placing.floor >= true
    credit = np.where(right, 1.0 / np.maximum(found.ties, 1), 0.0)
    return Near(found.least, found.second, found.ties, true, credit, np.minimum(found.closer, NEAR))
