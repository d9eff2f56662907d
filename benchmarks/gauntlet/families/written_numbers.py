"""Written otherwise, amounts and measures: signs, separators, units, brackets, open ends and functions of columns."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist

from unmask.datasets.gauntlet.case import Case, case, each, nearest, numbers, publish, rewritten, same, table
from unmask.datasets.gauntlet.people import amounts, register
from unmask.datasets.gauntlet.quick import MONEY, money


@case("written")
def thousands_separators(seed: int = 0) -> Case:
    """Amounts to the nearest thousand are printed with separators, such as 1,234,000; all of them are text."""
    rng = np.random.default_rng(seed)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(each(known, name, lambda v: f"{round(v, -3):,.0f}") for name in MONEY)

    return rewritten(money(500, rng), write, rng, "round and print what is known")


@case("written")
def decimal_comma(seed: int = 0) -> Case:
    """Amounts in hundreds with one decimal, printed as on the continent: 1.234,5."""
    rng = np.random.default_rng(seed)

    def printed(value: float) -> str:
        return f"{value / 100:,.1f}".translate(str.maketrans(",.", ".,"))

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(each(known, name, printed) for name in MONEY)

    return rewritten(money(500, rng), write, rng, "print what is known that way")


@case("written")
def currency_signs(seed: int = 0) -> Case:
    """Amounts to the nearest 500 with signs before and after: € 12,500 in one column, 12500 EUR in another."""
    rng = np.random.default_rng(seed)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        forms = ["€ {:,.0f}", "{:.0f} EUR", "$ {:,.0f}.-", "{:.1f}k"]
        scale = [1, 1, 1, 1000]
        return known.with_columns(
            each(known, name, lambda v, f=f, s=s: f.format(round(v / 500) * 500 / s))  # type: ignore[misc]
            for name, f, s in zip(MONEY, forms, scale, strict=True)
        )

    return rewritten(money(500, rng), write, rng, "round and print what is known")


@case("written")
def unit_signs(seed: int = 0) -> Case:
    """Height in whole centimetres (172 cm), weight in whole kilograms (81 kg), stays in days (4 d)."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("sex", "height", "weight", "days", "job")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        signs = (("height", "cm"), ("weight", "kg"), ("days", "d"))
        return known.with_columns(
            each(known, name, lambda v, sign=sign: f"{v:.0f} {sign}")  # type: ignore[misc]
            for name, sign in signs
        )

    return rewritten(original, write, rng, "round and print what is known")


@case("written")
def percent_signs(seed: int = 0) -> Case:
    """Shares of a budget become whole percents with the sign; below one they are printed as <1%."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(6), 500)
    original = table(shares, 4, [f"share{j}" for j in range(1, 7)])

    def percent(value: float) -> str:
        return "<1%" if value < 0.01 else f"{100 * value:.0f}%"

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(each(known, name, percent) for name in known.columns)

    return rewritten(original, write, rng, "print what is known as percents")


@case("written")
def top_codes(seed: int = 0) -> Case:
    """The ends are cut and marked: ages 90+, incomes 60000+ and amounts to the thousand, children 4+."""
    rng = np.random.default_rng(seed)
    n = 500
    original = pl.DataFrame(
        {
            "sex": rng.choice(["m", "f"], n),
            "age": rng.integers(18, 103, n),
            "children": rng.poisson(2, n),
            "income": np.round(np.exp(rng.normal(10.3, 0.7, n)), -1),
        }
    )

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(
            each(known, "age", lambda v: "90+" if v >= 90 else str(v)),
            each(known, "children", lambda v: "4+" if v >= 4 else str(v)),
            each(known, "income", lambda v: "60000+" if v >= 60000 else f"{v // 1000 * 1000:.0f}"),
        )

    return rewritten(original, write, rng, "cut what is known at the same ends")


@case("written")
def open_ends(seed: int = 0) -> Case:
    """Brackets of unequal width with open ends: under 20, 20 to 29, ... 75 and over, in words and in signs."""
    rng = np.random.default_rng(seed)
    n, names = 500, ["systolic", "diastolic", "pulse", "sugar", "iron", "zinc"]
    original = table(rng.normal(50, 20, (n, 6)), 1, names)
    cuts = np.array([20, 30, 38, 46, 54, 62, 75])

    def bracket(value: float) -> str:
        k = int(np.searchsorted(cuts, value, side="right"))
        if k == 0:
            return "under 20"
        return "≥ 75" if k == len(cuts) else f"{cuts[k - 1]} to {cuts[k] - 1}"

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(each(known, name, bracket) for name in names)

    return rewritten(original, write, rng, "put what is known into the brackets")


@case("written")
def two_significant_digits(seed: int = 0) -> Case:
    """Amounts are printed with two digits and an exponent, such as 3.4e+04."""
    rng = np.random.default_rng(seed)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(each(known, name, lambda v: f"{v:.1e}") for name in MONEY)

    return rewritten(money(500, rng), write, rng, "print what is known with two digits")


@case("written")
def logarithms(seed: int = 0) -> Case:
    """Amounts are published as logarithms with one decimal under names such as log_income."""
    rng = np.random.default_rng(seed)

    def write(known: pl.DataFrame) -> pl.DataFrame:
        logs = [pl.col(name).log().round(1).alias(f"log_{name}") for name in MONEY]
        return known.select("sex", *logs)

    return rewritten(money(500, rng), write, rng, "take the logarithms of what is known")


@case("written")
def percentile_ranks(seed: int = 0) -> Case:
    """Every amount is replaced by its percentile among the people of the table, 1 to 100."""
    rng = np.random.default_rng(seed)
    original = table(amounts(500, 5, rng))

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select((pl.all().rank("ordinal") * 100 / pl.len()).ceil().cast(pl.Int64))

    return rewritten(original, write, rng, "rank what is known")


@case("written")
def standardised(seed: int = 0) -> Case:
    """Every column has mean 0 and sd 1, one decimal, some with the sign turned, all under new names."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(500, 6)) * 3 + 50, 2)
    signs = rng.choice([-1.0, 1.0], 6)
    z = (x - x.mean(0)) / x.std(0)
    pair = publish(table(x), table(signs * z, 1, [f"score_{j}" for j in range(1, 7)]), rng)
    found = nearest(cdist(np.abs(z), np.abs(numbers(pair.released))), pair.truth)
    return pair.case(found, "standardise what is known and forget the signs, then the nearest record")


@case("written")
def sums_and_ratios(seed: int = 0) -> Case:
    """Height and weight are published as body mass index, ten answers as their sum, three incomes as their total."""
    rng = np.random.default_rng(seed)
    n = 500
    base = register(n, rng).select("sex", "height", "weight")
    items = table(rng.integers(1, 8, (n, 10)).astype(float), 0, [f"q{j}" for j in range(1, 11)])
    parts = table(amounts(n, 3, rng), 0, ["wages", "rents", "pension"])

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(
            "sex",
            (pl.col("weight") / (pl.col("height") / 100) ** 2).round(0).alias("bmi"),
            pl.sum_horizontal(items.columns).alias("score"),
            (pl.sum_horizontal(parts.columns) // 500 * 500).alias("income"),
        )

    return rewritten(base.hstack(items).hstack(parts), write, rng, "compute the same from what is known")


@case("written")
def missing_codes(seed: int = 0) -> Case:
    """Missing answers become 9, 99, -1 or 'unknown'; a tenth of the answers given was blanked that way too."""
    rng = np.random.default_rng(seed)
    n, names = 500, ["grade", "age", "balance", "town", "job", "pulse"]
    base = register(n, rng)
    columns: dict[str, list[object]] = {
        "grade": rng.integers(1, 7, n).tolist(),
        "age": rng.integers(18, 90, n).tolist(),
        "balance": np.round(np.exp(rng.normal(6, 1, n)), -1).astype(int).tolist(),
        "town": base["town"].to_list(),
        "job": base["job"].to_list(),
        "pulse": rng.integers(50, 110, n).tolist(),
    }
    gone = rng.random((n, 6)) < 0.2
    original = pl.DataFrame({c: [None if g else v for v, g in zip(columns[c], gone[:, j], strict=True)]
                             for j, c in enumerate(names)})  # fmt: skip
    codes = dict(zip(names, (9, 99, -1, "unknown", "unknown", 999), strict=True))
    blank = rng.random((n, 6)) < 0.1
    masked = original.select(
        pl.when(pl.Series(blank[:, j])).then(pl.lit(None)).otherwise(pl.col(c)).fill_null(pl.lit(codes[c])).alias(c)
        for j, c in enumerate(names)
    )
    pair = publish(original, masked, rng)
    held = original.select(pl.col(c).fill_null(pl.lit(codes[c])) for c in names)
    cost = np.zeros((n, n))
    for c in names:
        one, other = held[c].to_numpy(), pair.released[c].to_numpy()
        away = (other == codes[c])[None, :]
        cost += np.where(one[:, None] == other[None, :], 0.0, np.where(away, 1.0, 50.0))
    return pair.case(nearest(cost, pair.truth), "read the codes as missing; what is missing contradicts nothing")


@case("written")
def values_with_their_question(seed: int = 0) -> Case:
    """Cells hold the code, its label and a footnote sign, such as '3 - often*'; the original holds the code."""
    rng = np.random.default_rng(seed)
    labels = ["never", "rarely", "often", "daily", "no answer"]
    original = table(rng.integers(1, 6, (400, 9)).astype(float), 0, [f"q{j}" for j in range(1, 10)])

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(each(known, c, lambda v: f"{v} - {labels[v - 1]}*") for c in known.columns)

    pair = publish(original, write(original), rng)
    return pair.case(same(write(pair.original.drop("id")), pair), "read the code before the label")
