"""Findings that anybody would expect: a value that most people have, or one that a single key tells [SYNTHPOP]_.

They count in the shares of a table and say little about its people. Each is named with its level and its pair, so that
a reader can decide; what is judged goes beyond rows of other people, where such findings are found as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from unmask.arrays import Flags
from unmask.shares import percent
from unmask.shown import Shown

ONE_WAY = 50, 0.9  # more people than this with one value, and more of those rightly told than this share
TWO_WAY = 4, 0.8  # more people in one cell than this, and more of the people with the key's level than this share


@dataclass(frozen=True, slots=True)
class Expected(Shown):
    """A value that is no surprise: for anybody (no key), or for who has a level of one key.

    ``people``: rightly told this value. ``share``: of all people, or of those with the key's level, who have it.
    """

    level: str | None
    key: str | None
    key_level: str | None
    people: int
    share: float


def expected_findings(original: pl.DataFrame, keys: Iterable[str], target: str, correct: Flags) -> tuple[Expected, ...]:
    """List what anybody would expect among the people whose target is told rightly (synthpop's check_1way, check_2way).

    Values are text; None is a missing one.
    """
    names = {f"key {place}": name for place, name in enumerate(keys)}  # a column may be called "len" or "share"
    columns = {**names, "target": target}
    table = pl.DataFrame({key: original[name].cast(pl.String) for key, name in columns.items()})
    told = table.filter(pl.Series(correct))
    counts = told["target"].value_counts(sort=True) if told.height else None
    found = []
    if counts is not None and counts["count"][0] > ONE_WAY[0] and counts["count"][0] > ONE_WAY[1] * told.height:
        level = counts["target"][0]
        same = table["target"].is_null() if level is None else table["target"].eq_missing(level)
        share = int(same.sum()) / table.height
        found.append(Expected(level, None, None, int(counts["count"][0]), share))
    large = told.group_by(list(columns)).len().filter(pl.col("len") > TWO_WAY[0])
    for key, name in names.items():
        pairs = large.group_by([key, "target"]).agg(pl.col("len").sum())
        holds = table.group_by([key, "target"]).len("have").with_columns(all=pl.col("have").sum().over(key))
        both = pairs.join(holds, on=[key, "target"], how="left", nulls_equal=True)
        both = both.with_columns(share=pl.col("have") / pl.col("all")).filter(pl.col("share") > TWO_WAY[1])
        found += [
            Expected(row["target"], name, row[key], int(row["len"]), float(row["share"]))
            for row in both.sort("len", key, "target", descending=[True, False, False]).iter_rows(named=True)
        ]
    return tuple(sorted(found, key=lambda one: (one.key is not None, -one.people)))


def expected_words(found: Iterable[Expected], target: str, *, show_values: bool) -> Iterable[str]:
    """Say each kind once; levels of keys only where values may be shown."""
    pairs: dict[str, list[Expected]] = {}
    for one in found:
        if one.key is None:
            yield (
                f"{one.people:,} of the people who are told rightly have one value of {target} ({one.level!r}), which "
                f"{percent(one.share)} of all have: to be told it is no surprise"
            )
        else:
            pairs.setdefault(one.key, []).append(one)
    for key, some in pairs.items():
        first = some[0]
        level = f", first of all {first.key_level!r} with {first.level!r}" if show_values else ""
        yield (
            f"{sum(one.people for one in some):,} of the people who are told rightly have a level of {key} that tells "
            f"{target} by itself for {percent(TWO_WAY[1])} of people and more ({len(some)} pairs of levels{level})"
        )
