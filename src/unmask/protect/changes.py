"""The first change to try where a release is not safe: columns made coarser or dropped until nobody stands out.

Coarser columns say what is true, only less of it, and nothing else is published about the columns that the intruder
knows. So how many people look alike in them can be counted, and no attack on these columns does better than to pick one
of those who do. What the other columns give away is not looked at: the change is to be attacked like any release.

It begins with nothing and gives back, of one column after the other, what is worth most for the bits that it tells, as
long as everybody has the crowd that the policy asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from unmask.errors import UnmaskError
from unmask.masking import Rare, names_people, parse_masking, quoted
from unmask.protect.protection import chained
from unmask.protect.suggestions import RARE
from unmask.protect.treatments import COARSER, Treatment, bits, treatments
from unmask.protect.wording import in_words

MOST_ROWS = 20_000  # by which treatments are chosen; all rows decide whether the change is enough
MOST_COLUMNS = 40
MOST_OUT = 0.03  # share of the people of whom single cells may be blanked
NORMAL = 1.96
MOST_MERGED = 0.5  # share of the people whose values may be put together with other rare ones: else little is said
SOME = 0.5  # bits that any column costs, so that one which tells little is not better than one which tells much
State = dict[str, Treatment]


@dataclass(frozen=True, slots=True)
class FirstChange:
    """Columns that are dropped or made coarser, after which everybody looks like ``k`` - 1 others or more in them.

    ``steps``: columns, and what is done to each; ``blanked``: people of whom single cells are blanked at the end.
    """

    masking: str
    steps: tuple[tuple[str, str], ...]
    k: int
    blanked: int


def first_change(table: pl.DataFrame, kinds: Mapping[str, str], *, k: int, limit: float) -> FirstChange | None:
    """Search for the change; None where nothing of these columns can be published, or nothing needs to change.

    ``kinds``: of each column that the intruder knows; ``k``: the smallest crowd; ``limit``: the largest share of people
    that may be found, with the upper end of its interval.
    """
    names = [name for name in kinds if name in table.columns][: MOST_COLUMNS + 1]
    if not names or len(names) > MOST_COLUMNS or table.height < k:
        return None
    rows = np.sort(np.random.default_rng(0).choice(table.height, min(table.height, MOST_ROWS), replace=False))
    some = Crowds(table.select(names)[rows], k, limit)
    options = {name: _options(some.table, name, kinds[name]) for name in names}
    if some.enough({name: found[0] for name, found in options.items()}):
        return None
    whole = some if len(rows) == table.height else Crowds(table.select(names), k, limit)
    for part in (1.0, 0.5, 0.25, 0.0):  # where people whom the sample did not see stand out, it must say less
        state = replace(some, out=part * MOST_OUT).fullest(options)
        if whole.enough(state):
            return _told(state, whole) if _publishes(state) else None
    return None


@dataclass
class Crowds:
    """A table under several treatments: who looks like whom."""

    table: pl.DataFrame
    k: int
    limit: float
    out: float = MOST_OUT  # share of the people who may still stand in a smaller crowd
    done: dict[tuple[str, str], pl.Series | None] = field(default_factory=dict)

    def groups(self, state: State) -> pl.Series:
        """Sizes of the groups of people who look alike; everybody does where no column is left."""
        columns = [self._column(name, one.masking) for name, one in state.items()]
        shown = [column for column in columns if column is not None]
        return pl.DataFrame(shown).group_by(pl.all()).len()["len"] if shown else pl.Series([self.table.height])

    def enough(self, state: State) -> bool:
        """Whether nobody stands in a smaller crowd than wanted, and few enough are found in all."""
        return self._enough(self.groups(state))

    def _enough(self, sizes: pl.Series) -> bool:
        share = len(sizes) / self.table.height
        upper = share + NORMAL * float(np.sqrt(share * (1 - share) / self.table.height))
        return self.standing_out(sizes) <= self.out * self.table.height and upper <= self.limit

    def standing_out(self, sizes: pl.Series) -> int:
        """People who still stand in a smaller crowd."""
        return int(sizes.filter(sizes < self.k).sum())

    def fullest(self, options: Mapping[str, tuple[Treatment, ...]]) -> State:
        """From nothing on, column by column: what gives most for the bits that all columns together tell more."""
        now = {name: min(found, key=lambda one: one.bits) for name, found in options.items()}
        left, told = [one for found in options.values() for one in found], 0.0
        while left:
            sizes = [(self.groups({**now, one.column: one}), one) for one in left if one.cost < now[one.column].cost]
            open_ = [(_joint(size), one) for size, one in sizes if self._enough(size)]
            if not open_:
                break
            before = told
            told, taken = min(open_, key=lambda pair: (_price(pair[0] - before, pair[1], now), pair[1].masking))
            now[taken.column] = taken
            left = [one for _, one in open_]  # what was too much is too much beside more columns
        return now

    def _column(self, name: str, masking: str) -> pl.Series | None:
        if (name, masking) not in self.done:
            masked = parse_masking(masking).apply(self.table.select(name)) if masking else self.table.select(name)
            self.done[name, masking] = masked[name] if name in masked.columns else None
        return self.done[name, masking]


def _options(table: pl.DataFrame, name: str, kind: str) -> tuple[Treatment, ...]:
    """Ways to say less of a column, with the bits that each leaves; rare periods and prefixes also together.

    The first distinctions of a column are worth more than the last: the cost is 1 less the root of what is left.
    """
    found = [text for text in treatments(table, name, kind) if text.startswith(COARSER)]
    if kind not in {"numeric", "date"} and names_people(table[name]):
        found = [text for text in found if text.startswith("drop(")]
    rare = f"rare({RARE}, columns=[{quoted(name)}])"
    found += [f"chain([{text}, {rare}])" for text in found if text.startswith(("dates(", "prefix("))]
    column = table.select(name)
    whole = bits(column)
    told = [Treatment(name, "", whole, 0.0)]
    for text in found:
        try:
            masked = parse_masking(text).apply(column)
        except UnmaskError:
            continue  # this column cannot be written so
        left = bits(masked) if masked.width else 0.0
        if not masked.width or (0 < left < whole and _mostly_named(masked[name])):
            told.append(Treatment(name, text, left, 1.0 - float(np.sqrt(left / whole)) if whole else 0.0))
    return tuple(told)


def _mostly_named(column: pl.Series) -> bool:
    """Whether most people keep a value, where rare ones were put together."""
    return int((column.cast(pl.String) == Rare.other).sum()) <= MOST_MERGED * len(column)


def _price(more: float, one: Treatment, now: State) -> float:
    """Bits that are told, for what the column gets back."""
    return (SOME + more) / (now[one.column].cost - one.cost)


def _joint(sizes: pl.Series) -> float:
    """Bits that all columns tell together: the entropy of the groups."""
    shares = sizes.to_numpy() / sizes.sum()
    return float(-(shares * np.log2(shares)).sum())


def _publishes(state: State) -> bool:
    return any(not one.masking.startswith("drop(") for one in state.values())


def _told(state: State, crowds: Crowds) -> FirstChange:
    steps = [one for one in state.values() if one.masking]
    out = crowds.standing_out(crowds.groups(state))
    dropped = [one.column for one in steps if one.masking.startswith("drop(")]
    texts = [f"drop([{', '.join(map(quoted, dropped))}])"] if dropped else []
    texts += [one.masking for one in steps if one.column not in dropped]
    shown = ", ".join(quoted(name) for name in state if name not in dropped)
    texts += [f"local_suppression({crowds.k}, columns=[{shown}])"] if out else []
    told = tuple((one.column, in_words(one.masking)) for one in steps)
    return FirstChange(str(parse_masking(chained(texts))), told, crowds.k, out)
