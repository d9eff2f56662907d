"""Harmless by construction: nobody can be found, and nothing about one person can be learnt. Alarm here is false."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.stats import norm, rankdata

from unmask.datasets.gauntlet.case import Case, case, table
from unmask.datasets.gauntlet.people import amounts, coarse_survey, survey
from unmask.datasets.gauntlet.quick import harmless_pair, harmless_rows


@case("harmless")
def differentially_private(seed: int = 0) -> Case:
    """Rows drawn from a histogram of four coarse columns with Laplace noise, epsilon 1."""
    rng, original = np.random.default_rng(seed), coarse_survey(800, seed)
    cells = [(a, s, r, i) for a in range(0, 100, 20) for s in "mf" for r in "ABCDEFGHIJ" for i in ("yes", "no")]
    counts = dict.fromkeys(cells, 0)
    for row in original.rows():
        counts[row] += 1
    weight = np.maximum(0.0, np.array([counts[cell] for cell in cells]) + rng.laplace(0, 1, len(cells)))
    drawn = rng.choice(len(cells), 800, p=weight / weight.sum())
    released = pl.DataFrame([cells[k] for k in drawn], schema=original.schema, orient="row")
    return harmless_rows(
        original, released, "epsilon 1", control=coarse_survey(800, seed + 1), confidential=["illness"]
    )


@case("harmless")
def rare_secret(seed: int = 0) -> Case:
    """Sex and region only, and a secret of two people in a hundred that depends on neither."""
    rng = np.random.default_rng(seed)
    n = 3000
    original = pl.DataFrame(
        {
            "sex": rng.choice(["m", "f"], n),
            "region": rng.choice(list("ABCDEFGHIJ"), n),
            "secret": np.where(rng.random(n) < 0.02, "yes", "no"),
        }
    )
    return harmless_pair(
        original, original, rng, "crowds of a hundred, and a secret that depends on nothing", confidential=["secret"]
    )


@case("harmless")
def general_knowledge(seed: int = 0) -> Case:
    """Crowds of two hundred by age and sex; the illness comes with age, in the release as everywhere."""
    rng = np.random.default_rng(seed)
    n = 2000

    def people() -> pl.DataFrame:
        age = rng.integers(0, 5, n) * 15 + 20
        ill = rng.random(n) < np.interp(age, [20, 80], [0.1, 0.85])
        return pl.DataFrame({"age": age, "sex": rng.choice(["m", "f"], n), "illness": np.where(ill, "yes", "no")})

    original, control = people(), people()
    return harmless_pair(original, original, rng, "what is learnt holds for people outside as well",
                   confidential=["illness"], control=control)  # fmt: skip


@case("harmless")
def marginals_only(seed: int = 0) -> Case:
    """Each coarse column is drawn by itself, with the shares of the original."""
    rng, original = np.random.default_rng(seed), coarse_survey(800, seed)
    released = original.select(pl.Series(c, rng.choice(original[c].to_numpy(), 800)) for c in original.columns)
    return harmless_rows(original, released.cast(original.schema), "shares of single columns",
                  control=coarse_survey(800, seed + 1), confidential=["illness"])  # fmt: skip


@case("harmless")
def many_categories(seed: int = 0) -> Case:
    """Six columns of thirty categories each, drawn anew from fixed shares: every row is unlike every other."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(3, 33)

    def people(n: int) -> pl.DataFrame:
        codes = rng.choice(30, (n, 6), p=share / share.sum())
        return pl.DataFrame({f"c{j}": [f"k{v:02d}" for v in codes[:, j]] for j in range(6)})

    return harmless_rows(people(800), people(800), "independent columns", control=people(800))


@case("harmless")
def copula_of_others(seed: int = 0) -> Case:
    """A Gaussian copula fitted to other people of the same population; the people attacked were never seen."""
    rng = np.random.default_rng(seed)
    everybody = amounts(1800, 5, rng)
    seen = everybody[1200:]
    normal = norm.ppf(rankdata(seen, axis=0) / (len(seen) + 1))
    drawn = norm.cdf(rng.multivariate_normal(np.zeros(5), np.corrcoef(normal.T), 600))
    y = np.column_stack([np.quantile(seen[:, j], drawn[:, j]) for j in range(5)])
    return harmless_rows(
        table(everybody[:600]), table(y), "the people attacked were never seen", control=table(everybody[600:1200])
    )


@case("harmless")
def other_city(seed: int = 0) -> Case:
    """People of another population, older and richer."""
    shifted = survey(600, seed + 7).with_columns(pl.col("age") + 10, pl.col("income") * 1.5)
    return harmless_rows(
        survey(600, seed), shifted.cast(survey(1, 0).schema), "other people", control=survey(600, seed + 1)
    )


@case("harmless")
def columns_shuffled(seed: int = 0) -> Case:
    """A row for everybody, but each of six coarse columns was shuffled by itself."""
    rng = np.random.default_rng(seed)
    n = 800
    original = pl.DataFrame({f"c{j}": rng.integers(0, k, n) for j, k in enumerate((2, 3, 4, 5, 6, 8))})
    masked = original.select(pl.Series(c, rng.permutation(original[c].to_numpy())) for c in original.columns)
    return harmless_pair(original, masked, rng, "no row has anything to do with its person")


@case("harmless")
def numbers_drawn_anew(seed: int = 0) -> Case:
    """A row for everybody with numbers drawn anew from the normal law with the original's means and covariances."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(600, 2)) @ rng.normal(size=(2, 5)) + rng.normal(size=(600, 5))
    y = rng.multivariate_normal(x.mean(0), np.cov(x.T), 600)
    return harmless_pair(table(x), table(y), rng, "no row has anything to do with its person")


@case("harmless")
def drowned_in_noise(seed: int = 0) -> Case:
    """Noise of fifty sd on three columns."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(600, 3))
    return harmless_pair(table(x), table(x + rng.normal(0, 50, x.shape), 1), rng, "noise of fifty sd")


@case("harmless")
def fresh_gaps(seed: int = 0) -> Case:
    """Shuffled columns with cells blanked at random after the shuffle: the gaps are nobody's."""
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 6, (600, 8)).astype(float)
    gone = [np.where(rng.random(x.shape) < 0.2, np.nan, t) for t in (x, rng.permuted(x, axis=0))]
    return harmless_pair(table(gone[0], 0), table(gone[1], 0), rng, "neither values nor gaps belong to the person")


@case("harmless")
def groups_of_fifty(seed: int = 0) -> Case:
    """Everybody has the mean of their group of fifty, formed at random."""
    rng = np.random.default_rng(seed)
    x = rng.normal(100, 15, (1000, 4))
    y = x.copy()
    for group in np.split(rng.permutation(1000), 20):
        y[group] = x[group].mean(0)
    return harmless_pair(table(x, 1), table(y, 0), rng, "means of fifty random people")


@case("harmless")
def salted_pseudonyms(seed: int = 0) -> Case:
    """Names are replaced by random numbers that nobody can compute; sex and region stay, in crowds of forty."""
    rng = np.random.default_rng(seed)
    n = 1000
    original = pl.DataFrame(
        {
            "name": [f"person {k}" for k in rng.permutation(n)],
            "sex": rng.choice(["m", "f"], n),
            "region": rng.choice(list("ABCDEFGHIJ"), n),
        }
    )
    numbers = pl.Series("name", [f"{k:06d}" for k in rng.permutation(999999)[:n]])
    return harmless_pair(original, original.with_columns(numbers), rng, "random numbers and crowds of forty")
