"""The same release told otherwise: what must not change what is found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

import unmask

TOWNS = ("ash", "birch", "cedar", "elm", "fir", "oak", "pine")
DISEASES = ("asthma", "cancer", "diabetes", "none")


@dataclass(frozen=True)
class Told:
    """The tables of a release and the roles of their columns."""

    tables: dict
    options: dict = field(default_factory=dict)

    def release(self):
        return unmask.Release(**self.tables, **self.options)

    def each(self, change):
        return replace(self, tables={name: change(table) for name, table in self.tables.items()})


def people(seed, n):
    """People of whom numbers, a code, categories and a day are known; a disease and what it cost is the secret."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    weight = np.where(rng.random(n) < 0.05, None, np.round(rng.normal(50 + age / 4, 9, n), 1))
    disease = rng.choice(DISEASES, n, p=[0.2, 0.1, 0.2, 0.5])
    return pl.DataFrame(
        {
            "age": age,
            "weight": pl.Series(weight.tolist(), dtype=pl.Float64),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.integers(1, 6, n),
            "town": rng.choice(TOWNS, n),
            "disease": disease,
            "admitted": pl.Series(np.datetime64("2020-01-01") + rng.integers(0, 700, n)).cast(pl.Date),
            "cost": np.round(rng.lognormal(7, 0.5, n) * (1 + (disease == "cancer")), 2),
        }
    )


def masked(n=160, outside=30, seed=0):
    """People, and a noisy release of most of them."""
    table = people(seed, n)
    rng = np.random.default_rng(seed + 1)
    other = rng.permutation(n)
    release = table.with_columns(
        (pl.col("age") + pl.Series(rng.normal(0, 10, n))).round(0).cast(pl.Int64),
        (pl.col("weight") + pl.Series(rng.normal(0, 5, n))).round(1),
        (pl.col("cost") * pl.Series(rng.lognormal(0, 0.2, n))).round(2),
        pl.col("admitted") + pl.Series(rng.integers(-30, 31, n)) * pl.duration(days=1),
        *(pl.when(pl.Series(rng.random(n) < 0.3)).then(table[name][other]).otherwise(table[name]).alias(name)
          for name in ("town", "region", "disease")),
    )  # fmt: skip
    number = pl.Series("number", np.arange(n) * 7 + 1000)
    tables = {"original": table.with_columns(number), "released": release.with_columns(number)[outside:]}
    return Told(tables, {"id": "number", "confidential": ["disease", "cost"]})


def synthetic(n=150, seed=0):
    """A table like another, with twelve of its people among the rows, and people outside it."""
    table, others, control = people(seed, n), people(seed + 1, n), people(seed + 2, n)
    tables = {"original": table, "released": pl.concat([table[:12], others[12:]]), "control": control}
    return Told(tables, {"synthetic": True, "confidential": ["disease", "cost"]})


# --- told otherwise --------------------------------------------------------------------------------------------------


def with_constant(told):
    return told.each(lambda table: table.with_columns(country=pl.lit("here")))


def with_twin(told):
    return told.each(lambda table: table.with_columns(again=pl.col("age")))


def with_twin_category(told):
    return told.each(lambda table: table.with_columns(place=pl.col("town")))


def with_twin_secret(told):
    options = {**told.options, "confidential": [*told.options["confidential"], "illness"]}
    return replace(told.each(lambda table: table.with_columns(illness=pl.col("disease"))), options=options)


def with_shuffled_rows(told):
    rng = np.random.default_rng(5)
    return told.each(lambda table: table[rng.permutation(table.height)])


def with_shuffled_columns(told):
    rng = np.random.default_rng(6)
    return told.each(lambda table: table.select([table.columns[k] for k in rng.permutation(table.width)]))


def with_other_names(told):
    """Names that sort the other way round."""
    names = told.tables["original"].columns
    book = {name: f"{chr(ord('z') - place)}{place}" for place, name in enumerate(names)}

    def renamed(value):
        return [book.get(one, one) for one in value] if isinstance(value, list) else book.get(value, value)

    options = {option: renamed(value) for option, value in told.options.items()}
    tables = {role: table.rename(lambda name: book.get(name, name)) for role, table in told.tables.items()}
    return Told(tables, options)


def in_other_units(told):
    """Years on another scale, pounds, another currency."""
    scales = (pl.col("age") * 1.8 + 32, pl.col("weight") * 2.2046, pl.col("cost") * 0.91)
    return told.each(lambda table: table.with_columns(scales))


def in_smaller_units(told):
    """Months, grams, cents: whole numbers."""
    scales = (pl.col("age") * 12, (pl.col("weight") * 1000).round(0), (pl.col("cost") * 100).round(0))
    return told.each(lambda table: table.with_columns(scales))


def as_floats(told):
    return told.each(lambda table: table.with_columns(pl.col(pl.Int64).cast(pl.Float64)))


def as_texts(told):
    return told.each(lambda table: table.with_columns(pl.col(pl.Int64, pl.Float64).cast(pl.String)))


def as_times(told):
    return told.each(lambda table: table.with_columns(pl.col(pl.Date).cast(pl.Datetime)))


def with_days_as_texts(told):
    return told.each(lambda table: table.with_columns(pl.col(pl.Date).dt.strftime("%d.%m.%Y")))


def as_categories(told):
    return told.each(lambda table: table.with_columns(pl.col(pl.String).cast(pl.Categorical)))


def with_other_labels(told):
    """Labels that sort in another order. Whole numbers keep theirs: their order is information."""

    def relabelled(table):
        for name, labels in (("sex", ("f", "m")), ("town", TOWNS), ("disease", DISEASES)):
            deal = np.random.default_rng(len(labels)).permutation(len(labels))
            book = {label: f"{'qwertzu'[place]} {name}" for label, place in zip(labels, deal, strict=True)}
            table = table.with_columns(pl.col(name).replace_strict(book))
        return table

    return told.each(relabelled)


TOLD_OTHERWISE = (
    with_shuffled_rows, with_shuffled_columns, with_other_names, in_other_units, in_smaller_units, as_floats, as_texts,
    as_times, with_days_as_texts, as_categories, with_other_labels, with_constant, with_twin, with_twin_category,
    with_twin_secret,
)  # fmt: skip
ADDED = (with_constant, with_twin, with_twin_category, with_twin_secret)  # all of them at once
SAME_VALUES = (with_shuffled_rows, with_shuffled_columns, with_other_labels, as_categories, with_other_names)
