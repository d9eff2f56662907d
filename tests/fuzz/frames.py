"""Two nasty tables and the roles of their columns, from a seed: the arguments of `Release`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from fuzz.columns import WORD, column, names

if TYPE_CHECKING:
    import random

ROWS = (1, 2, 2, 3, 5, 8, 13, 30)
WIDE = (63, 65, 70)
MASKINGS = (
    "noise(0.5)", "rank_swap(share=0.1)", "microaggregate(k=3)", "pram(0.1)", "round(5)", "shuffle()", "drop(a)",
    "noise(0.1) > round(1)", "nonsense(", "suppress(k=2)",
)  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """An original, a release, and what is said of them."""

    original: pl.DataFrame
    released: pl.DataFrame
    said: dict[str, Any] = field(default_factory=dict)


def pair(rng: random.Random) -> Pair:
    """Two tables that somebody could hand over, however odd."""
    original = table(rng, rng.choice(ROWS), _width(rng))
    released = masked(rng, original)
    said = roles(rng, original, released)
    if "id" not in said and not said.get("synthetic") and rng.random() < 0.95:
        released = released.head(original.height) if released.height > original.height else released
        original = original.head(released.height)
    return Pair(original, released, said)


def _width(rng: random.Random) -> int:
    return rng.choice(WIDE) if rng.random() < 0.03 else rng.choice((1, 2, 2, 3, 3, 4, 5, 8))


def table(rng: random.Random, n: int, width: int) -> pl.DataFrame:
    """A table of nasty columns."""
    return pl.DataFrame([column(rng, n).alias(name) for name in names(rng, width)])


def masked(rng: random.Random, original: pl.DataFrame) -> pl.DataFrame:
    """A release of a table: columns kept, moved, blanked, retyped, replaced, renamed, left out or added."""
    columns = [_masked(rng, original[name].alias("")).alias(name) for name in original.columns]
    kept = [one for one in columns if rng.random() > 0.05] or columns
    if rng.random() < 0.1:
        kept[0] = kept[0].alias(rng.choice(["other", "^.*$", "literal", "a_right"]))
    if rng.random() < 0.15:
        kept.append(column(rng, original.height).alias(names(rng, 1)[0]))
    released = pl.DataFrame(list({one.name: one for one in kept}.values()))
    if rng.random() < 0.2:
        released = released.sample(fraction=1, shuffle=True, seed=rng.randrange(2**31))
    return released.head(max(1, released.height - 1)) if rng.random() < 0.05 else released


def _masked(rng: random.Random, one: pl.Series) -> pl.Series:
    way = rng.random()
    if way < 0.5:
        return one
    if way < 0.6 and one.dtype.is_numeric():
        return (one.cast(pl.Float64) + pl.Series([rng.gauss(0, 1) for _ in one])).alias(one.name)
    if way < 0.7:
        return one.sample(fraction=1, shuffle=True, seed=rng.randrange(2**31))
    if way < 0.8:
        gone = pl.Series([rng.random() < 0.3 for _ in one], dtype=pl.Boolean)
        return pl.select(pl.when(gone).then(None).otherwise(one).alias(one.name)).to_series()
    if way < 0.88 and not one.dtype.is_nested() and one.dtype not in (pl.Binary, pl.Duration):
        return one.cast(pl.String)
    return column(rng, len(one)).alias(one.name)


def roles(rng: random.Random, original: pl.DataFrame, released: pl.DataFrame) -> dict[str, Any]:
    """Who plays which part: often nobody, sometimes everybody, sometimes nonsense."""
    said: dict[str, Any] = {}
    left = list(original.columns)
    rng.shuffle(left)
    if rng.random() < 0.5:
        said["confidential"] = [left.pop() for _ in range(min(len(left) - 1, rng.choice((1, 1, 2))))]
    for role, share in {"id": 0.15, "weight": 0.08, "household": 0.08}.items():
        if rng.random() < share and len(left) > 1:
            said[role] = left.pop()
    if rng.random() < 0.3:
        said["quasi"] = left[: rng.randint(1, len(left))] if left else ["c0"]
    if rng.random() < 0.15:
        said["categorical"] = left[:1]
    if rng.random() < 0.15:
        said["synthetic"] = True
    return {**said, **beside(rng, original, released)}


def beside(rng: random.Random, original: pl.DataFrame, released: pl.DataFrame) -> dict[str, Any]:
    """What else may be given: other people, other releases, a method, places."""
    said: dict[str, Any] = {}
    if rng.random() < 0.12:
        said["control"] = original.sample(fraction=1, with_replacement=True, shuffle=True, seed=rng.randrange(2**31))
    if rng.random() < 0.06:
        said["population"] = rng.choice([original, 1000, original.height, 1e18, pl.concat([original, original])])
    if rng.random() < 0.06:
        said["masking"] = rng.choice(MASKINGS)
    if rng.random() < 0.06:
        said["earlier"] = [masked(rng, original)]
    if rng.random() < 0.05:
        said["second"] = masked(rng, released)
    if rng.random() < 0.06 and original.width > 1:
        said["coordinates"] = rng.sample(original.columns, 2)
    if rng.random() < 0.04:
        said["scenario"] = {"people": rng.choice([0.5, 1.0]), "seed": 1}
    if rng.random() < 0.04:
        said["epsilon"] = rng.choice([0.0, 1.0, 1e400])
    if rng.random() < 0.03:
        said["reading"] = {"missing": [f"{WORD}1", "99"]}
    return said
