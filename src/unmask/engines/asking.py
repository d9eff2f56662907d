"""Searches of a matching, made where the engine computes: each part of the bidders is asked for by itself.

What is sold travels with the question, as the people do who are looked for in `stream`. The parts come back as pairs;
that every bidder was asked for is counted, since the proof of a matching holds only then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from unmask.engines.store import Store
from unmask.errors import EngineError
from unmask.kernels.assignment import Look, Pairs

AT_ONCE = 10_000  # bidders of a part: to make the search tree anew takes less than to ask for them


class Spread(NamedTuple):
    """A question for some bidders at a time, to be sent to where they are; whoever finds nothing says so."""

    look: Look

    @property
    def fields(self) -> str:
        """Names and types of an answer; an object of -1: none."""
        return "bidder bigint, object bigint, cost double"

    def __call__(self, part: Any) -> Pairs:  # noqa: ANN401 - an Arrow table or batch of numbers
        """Ask for some bidders."""
        bidders = np.sort(np.asarray(part.column("id").to_numpy(), dtype=np.int64))
        found = self.look(bidders)
        none = np.setdiff1d(bidders, found.bidder)
        return self.joined([found, Pairs(none, np.full(len(none), -1), np.full(len(none), np.inf))])

    def made(self, columns: Sequence[Any]) -> Pairs:
        """What was found elsewhere, in columns."""
        return Pairs(*columns)

    def joined(self, parts: Sequence[Pairs]) -> Pairs:
        """What parts say together."""
        return Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def ask_spread(store: Store, look: Look, *, at_once: int = AT_ONCE) -> Pairs:
    """Ask for all bidders, so many at a time, in order of their numbers."""
    n, work = len(look.cut), Spread(look)
    query = store.duck.dialect.numbers(n, -(-n // at_once))
    parts = list(store.duck.over_parts(query, work, max(n, 1)))
    found = work.joined(parts) if parts else None
    if found is None or len(np.unique(found.bidder)) != n:
        raise EngineError("not everybody was searched for", hint="Spark's own log says what was lost")
    there = np.flatnonzero(found.object >= 0)
    there = there[np.lexsort((found.object[there], found.bidder[there]))]
    return Pairs(found.bidder[there], found.object[there], found.cost[there])
