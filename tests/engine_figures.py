"""All that an engine counts of two small tables, as plain lists: the same on every engine, to the last digit."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl

from unmask import engines
from unmask.large import Large
from unmask.large_draws import Drawer
from unmask.large_people import Holding, study_of
from unmask.linkage.one_to_one import link_in_rounds

QUASI = ["a`b", "income", "town", "seen"]
KINDS = {"town": "categorical", "income": "numeric"}


def quiet(_done, _words):
    pass


def people(n=150, seed=3):
    """Ties, gaps, NaN, -0.0, dates, times and an odd name; ids of text; some people are in one table only."""
    rng = np.random.default_rng(seed)
    income = np.round(rng.normal(0, 2, n)) / 2
    income = np.where((income == 0) & (rng.random(n) < 0.5), -0.0, income)
    night = dt.datetime(2020, 3, 29)  # noqa: DTZ001 - a clock on the wall, of the night in which it goes forward
    seen = [night + dt.timedelta(minutes=30 * int(half)) for half in rng.integers(0, 8, n)]
    original = pl.DataFrame(
        {
            "who": [f"p {i}" for i in range(n)],
            "a`b": [dt.date(1950, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 40, n)],
            "income": np.where(rng.random(n) < 0.06, np.nan, income),
            "town": [None if rng.random() < 0.06 else str(word) for word in rng.choice(list("uvwx"), n)],
            "seen": seen,
        }
    ).with_columns(pl.col("seen").cast(pl.Datetime("us")))
    moved = pl.when(pl.Series(rng.random(n) < 0.2)).then(pl.lit("u")).otherwise(pl.col("town"))
    released = original.with_columns(moved.alias("town"), pl.col("a`b") + pl.duration(days=rng.integers(-1, 2, n)))
    kept = released.sample(n - 12, shuffle=True, seed=seed)
    others = kept.head(5).with_columns(pl.col("who") + " x")
    return original, pl.concat([kept, others])


def matched(store, at_once=40):
    """Everybody matched one to one in rounds, some people at a time: total, gap, credits and margins."""
    study = study_of(store, *engines.bring_tables(store))
    asked = []

    def ask(look, words):
        asked.append(words)
        return engines.ask_spread(store, look, at_once=at_once)

    found = link_in_rounds(study, ask, "own", 1, quiet)
    each = sorted(map(list, zip(found.credit.tolist(), found.margin.tolist(), strict=True)))  # rows stand in any order
    return [len(asked) > 2, found.total_distance, found.gap, each]


def copied(original, released, control):
    """Copies and members of a synthetic release, by all that is judged of them; control people are outside."""
    with engines.open_store(original, released, control=control, quasi=QUASI, kinds=KINDS) as store:
        drawn = Drawer(store).some("original", 70, 3)
        found = [Large(store, 60, 2, 0, None).run(name, 5, quiet) for name in ("copies", "membership")]
    return [
        [[one.key, *one.estimate.__getstate__()] for told in found for one in told.observations],
        [np.nan_to_num(side, nan=-9.0).tolist() for side in (drawn.numeric, drawn.codes)],
    ]


def noisy(original):
    """The original with days moved by noise and rows in another order: categories cut both tables in the same way."""
    rng = np.random.default_rng(4)
    days = pl.duration(days=rng.integers(-2, 3, original.height))
    return original.with_columns(pl.col("a`b") + days).sample(fraction=1, shuffle=True, seed=6)


def blocked(original, released):
    """Everybody matched by blocks of one category: the total, the proven gap, all credits, and some people."""
    with engines.open_store(original, released, id="who", kinds=KINDS) as store:
        blocks = engines.find_blocks(store, largest=60)
        found = engines.match_in_blocks(store, blocks, (40, 2), quiet)
    plain = [
        found.total,
        found.gap,
        *(side.tolist() for side in (found.credit, found.own, found.alike, found.farthest)),
    ]
    return [list(blocks), plain]


def with_control(tables):
    """The same tables as a synthetic release, with people outside."""
    return *tables, people(60, seed=8)[0]


def figures(store, sets=2, during=quiet):
    """Every kind of count, and the links of a sample; ``during`` hears of each step."""
    asked = engines.sample_people(store, 60, 1)
    near = engines.find_nearest(store, asked, engines.placed_by_distance(store), during, rows=40)
    back = engines.find_nearest(store, asked, engines.placed_by_distance(store, "original"), during, back=True)
    work = Holding(asked.known, engines.placed_by_distance(store, "original"), engines.Form.of(store))
    held = engines.pass_over(store, work, during, rows=40)
    found, uniques = engines.count_sets(store, sets, 5, during)
    parts = [engines.count_groups(store), found, uniques, engines.count_kept(store), near]
    patterns = engines.count_patterns(store, during)
    plain = [[np.asarray(side).tolist() for side in part] for part in (*parts, patterns)]
    return {
        "names": list(store.names),
        "rows": [store.n_original, store.n_released, store.n_paired],
        "keys": [[key.width, key.common, key.gaps, key.numeric] for key in store.keys],
        "ids": asked.ids,
        "held": [np.round(side, 9).tolist() for side in held],  # sums of logs: to the digits that scores have
        "back": [np.asarray(side).tolist() for side in back],
        "extra": [np.nan_to_num(side, nan=-9.0).tolist() for side in engines.sample_extra(store, 5, 1)],
        "absent": [np.nan_to_num(side, nan=-9.0).tolist() for side in engines.sample_absent(store, 5, 1)],
        "counts": plain,
        "matched": matched(store),
    }
