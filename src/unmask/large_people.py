"""People and records that are brought here from an engine: matched as a release in memory, or told from outsiders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Codes, Floats, Ints, Rows
from unmask.disclosure import FEWEST, MOST_ASKED, NOBODY, Held, Looks, Ruler, hold, membership_of_rows
from unmask.engines import (
    Form,
    Placing,
    Records,
    Store,
    pass_over,
    placed_by_distance,
    sample_absent,
    sample_people,
)
from unmask.errors import NothingToTryError
from unmask.evidence import Context, Evidence
from unmask.kernels.search import least_distances
from unmask.study import Study
from unmask.tables import Encoded, Encoding, Release

MOST_PAIRS = 10_000_000_000  # of candidates and rows, which are all compared: some minutes
LETTERS = "abcdefghijklmnopqrst"


def study_of(store: Store, known: Records, records: Records, truth: Rows) -> Study:
    """Some people and some records as a release in memory, each column as the engine reads it."""
    original, released = (_table(store, side) for side in (known, records))
    kinds = {key.name: "numeric" if key.numeric else "categorical" for key in store.keys}
    number = "".join(["row", *("_" for name in store.names if name.startswith("row"))])
    owner = len(truth) + np.arange(released.height)  # of records of nobody: somebody who is not there
    owner[truth[truth >= 0]] = np.flatnonzero(truth >= 0)
    tables = (
        table.with_columns(pl.Series(number, rows))
        for table, rows in ((original, np.arange(original.height)), (released, owner))
    )
    return Study(Release(*tables, id=number, quasi=store.names, kinds=kinds))


def _table(store: Store, side: Records) -> pl.DataFrame:
    """Numbers as they are, and codes as words of one length: none is a part or a neighbour of another."""
    columns = dict(zip(store.numeric, side.numbers.T, strict=True))
    return pl.DataFrame(
        {
            key.name: pl.Series(columns[j]).fill_nan(None) if key.numeric else _words(side.codes[:, j])
            for j, key in enumerate(store.keys)
        }
    )


def _words(codes: Codes) -> pl.Series:
    different, place = np.unique(codes, return_inverse=True)
    words = [None if code < 0 else _word(int(code)) for code in different]
    return pl.Series(words, dtype=pl.String)[place]


def _word(code: int) -> str:
    return "".join(LETTERS[code // len(LETTERS) ** k % len(LETTERS)] for k in range(8))


# --- who is inside ----------------------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """What a part of the release says of each candidate: logs of sums, the least distance; of how many records."""

    person: Ints
    values: Floats
    near_values: Floats
    noise: Floats
    dense: Floats
    least: Floats
    records: Ints


class Holding(NamedTuple):
    """Candidates, to be sent where the release is, and held against each part of it."""

    people: Records
    placing: Placing
    form: Form

    @property
    def fields(self) -> str:
        """Names and types of an answer."""
        logs = ", ".join(f"{name} double" for name in Answer._fields[1:-1])
        return f"person bigint, {logs}, records bigint"

    def _looks(self, side: Records) -> Looks:
        centre, spread = self.placing.centre[0], self.placing.spread[0]
        return Looks((side.numbers - centre) / spread, np.ascontiguousarray(side.codes[:, self.placing.codes]))

    def __call__(self, part: Any) -> Answer:  # noqa: ANN401 - an Arrow table or batch
        """Hold them against one part."""
        records = self.form.arrays(part)
        held = hold(self._looks(self.people), self._looks(records))
        least = least_distances(self.placing.space(self.people, records))
        n = len(least)
        values, near_values, noise = held.matched
        return Answer(np.arange(n), values, near_values, noise, held.dense, least, np.full(n, held.n_rows))

    def made(self, columns: Sequence[Any]) -> Answer:
        """What was found elsewhere, in columns."""
        return Answer(*columns)

    def joined(self, parts: Sequence[Answer]) -> Answer:
        """What parts say together: sums add, in an order of their size, and the least distance is the least."""
        n = len(self.people.codes)
        told = Answer(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        nearest, seen = np.full(n, np.inf), np.zeros(n, dtype=np.int64)
        np.minimum.at(nearest, told.person, told.least)
        np.add.at(seen, told.person, told.records)
        values, near_values, noise, dense = (_added(told.person, one, n) for one in told[1:5])
        return Answer(np.arange(n), values, near_values, noise, dense, nearest, seen)


def _added(person: Ints, logs: Floats, n: int) -> Floats:
    """Logs of sums, by person: the smallest first, so that the order of parts does not show."""
    order = np.lexsort((logs, person))
    total = np.full(n, -np.inf)
    np.logaddexp.at(total, person[order], logs[order])
    return total


def ruler_of(store: Store) -> Ruler:
    """Distances scaled by the people of the original, and those outside below them."""
    placing, nobody = _placing(store), Records(np.empty((0, len(store.numeric))), _no_codes(0, len(store.keys)))
    return Ruler(placing.space(nobody, nobody), placing.centre[0], placing.spread[0])


def _placing(store: Store) -> Placing:
    sd = placed_by_distance(store).spread[0]
    return placed_by_distance(store, "original")._replace(spread=(sd, sd))


def _no_codes(n: int, keys: int) -> Codes:
    return np.full((n, keys), -1, dtype=np.int32)


def most_asked(store: Store, sample: int) -> int:
    """How many people of either kind are compared with all records."""
    return max(FEWEST, min(MOST_ASKED, sample, MOST_PAIRS // (2 * store.n_released)))


def assess_members(store: Store, sample: int, draw: int, context: Context) -> Evidence:
    """Tell people of the original who are in the release from those who are not; ``draw``: the seed of who is asked."""
    outside = store.n_original - store.n_paired
    if outside < FEWEST:
        raise NothingToTryError(NOBODY)
    most = most_asked(store, sample)
    members, strangers = sample_people(store, most, draw).known, sample_absent(store, most, draw)
    told = told_apart(store, members, strangers, context)
    drawn = f"{len(members.codes):,} of {store.n_paired:,} people were drawn by a hash of their ids and looked for"
    notes = (drawn,) if len(members.codes) < store.n_paired else ()
    return replace(told, notes=(*told.notes, *notes))


def told_apart(store: Store, members: Records, strangers: Records, context: Context) -> Evidence:
    """Tell some people who are in the release from some who are not, against all its rows."""
    people, placing = members.and_then(strangers), _placing(store)
    ruler = Ruler(placing.space(people, people), placing.centre[0], placing.spread[0])

    def against(asked: Encoded) -> tuple[Held, Floats]:
        work = Holding(records_of(store, asked), placing, Form.of(store))
        found = pass_over(store, work, context.progress)
        return Held(
            np.vstack([found.values, found.near_values, found.noise]), found.dense, store.n_released
        ), found.least

    told = membership_of_rows(_encoding(store, people, placing), len(members.codes), ruler, against, context.seed)
    return replace(told, per_record=None, compared=store.names)


def records_of(store: Store, side: Encoded) -> Records:
    """Records of an encoding as an engine has them: of numbers no codes are known."""
    codes = _no_codes(len(side), len(store.keys))
    codes[:, [j for j, key in enumerate(store.keys) if not key.numeric]] = side.codes
    return Records(side.numeric, codes)


def _encoding(store: Store, people: Records, placing: Placing) -> Encoding:
    """People as the original of an encoding; the release is elsewhere."""
    numbers, words = (tuple(key.name for key in store.keys if key.numeric is one) for one in (True, False))
    side = Encoded(people.numbers, np.ascontiguousarray(people.codes[:, placing.codes]))
    return Encoding(side, side.take(np.arange(0)), numbers, words)
