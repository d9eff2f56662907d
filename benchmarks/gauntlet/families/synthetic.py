"""Said to be synthetic: no row is anybody's, says the label. The intruder knows better.

Where no row belongs to a person, ``found`` is the share of people of whom the intruder is sure that the release was
made from them: so near to a row, or so equal to it, as nobody outside is.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist

from unmask.datasets.gauntlet.case import Case, case, numbers, table
from unmask.datasets.gauntlet.people import amounts, survey
from unmask.datasets.gauntlet.quick import equal, synthetic_case


def _scales(table_: pl.DataFrame) -> np.ndarray:
    return np.asarray(np.log(numbers(table_)))


def _nearer_than_anybody(original: pl.DataFrame, released: pl.DataFrame, control: pl.DataFrame) -> float:
    """Share of people with a released row nearer than the nearest that anybody outside has."""
    one, other, outside = (_scales(frame) for frame in (original, released, control))
    limit = cdist(outside, other).min()
    return float((cdist(one, other).min(1) < limit).mean())


@case("synthetic")
def three_percent_memorised(seed: int = 0) -> Case:
    """Columns drawn independently, and 24 of 800 people copied into the release; a control table is given."""
    rng, original = np.random.default_rng(seed), survey(800, seed)
    drawn = pl.DataFrame({c: original[c].to_numpy()[rng.permutation(800)] for c in original.columns})
    released = pl.concat([drawn.cast(original.schema).head(776), original.head(24)])[rng.permutation(800)]
    found = equal(original, released)
    return synthetic_case(original, released, found, "equal rows: no outsider has one", control=survey(800, seed + 1))


@case("synthetic")
def memorised_with_jitter(seed: int = 0) -> Case:
    """Three people in ten are copied with 0.5 % of noise, the other rows are new people; control given."""
    rng = np.random.default_rng(seed)
    everybody = amounts(1200, 6, rng)
    original, control = table(everybody[:400]), table(everybody[400:800])
    near = everybody[:120] * np.exp(rng.normal(0, 0.005, (120, 6)))
    released = table(np.concatenate([near, everybody[800:1080]])[rng.permutation(400)])
    found = _nearer_than_anybody(original, released, control)
    return synthetic_case(original, released, found, "rows nearer than anybody outside has one", control=control)


@case("synthetic")
def bootstrap_with_jitter(seed: int = 0) -> Case:
    """People drawn with replacement, each value moved by 1 %; control given."""
    rng = np.random.default_rng(seed)
    everybody = amounts(800, 6, rng)
    drawn = everybody[rng.integers(0, 400, 400)] * np.exp(rng.normal(0, 0.01, (400, 6)))
    original, released, control = table(everybody[:400]), table(drawn), table(everybody[400:])
    found = _nearer_than_anybody(original, released, control)
    return synthetic_case(original, released, found, "rows nearer than anybody outside has one", control=control)


@case("synthetic")
def jitter_without_control(seed: int = 0) -> Case:
    """Everybody is copied with 1 % of noise, said to be synthetic, and no control table is given."""
    rng = np.random.default_rng(seed)
    x = amounts(400, 6, rng)
    original = table(x)
    released = table((x * np.exp(rng.normal(0, 0.01, x.shape)))[rng.permutation(400)])
    one, other = _scales(original), _scales(released)
    limit = np.partition(cdist(one, one), 1)[:, 1]  # how near one person is to the next
    found = float((cdist(one, other).min(1) < limit / 3).mean())
    return synthetic_case(original, released, found, "rows three times nearer than any other person is")


@case("synthetic")
def smote(seed: int = 0) -> Case:
    """Every row lies on the line between a person and one of their three nearest (SMOTE); control given."""
    rng = np.random.default_rng(seed)
    n, m = 300, 6
    everybody = rng.normal(size=(2 * n, m))
    x = everybody[:n]
    ends = np.argsort(cdist(x, x), 1)[np.arange(n), rng.integers(1, 4, n)]
    y = x + rng.random((n, 1)) * (x[ends] - x)
    original, released, control = table(x, 5), table(y[rng.permutation(n)], 5), table(everybody[n:], 5)
    mixed = np.concatenate([numbers(original), numbers(control)])  # the intruder does not know who is inside
    named = _on_lines(numbers(released), mixed)
    found = float(named[:n].mean() - named[n:].mean())
    return synthetic_case(
        original, released, found, "pairs of people on whose line a row lies", control=control, rated=False
    )


def _on_lines(y: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Tell the people that are an end of a line through a released row."""
    named = np.zeros(len(people), bool)
    far = cdist(y, people)
    for i, near in enumerate(np.argsort(far, 1)[:, :25]):
        to = far[i, near]
        over = to[:, None] + to[None] - cdist(people[near], people[near])  # 0 on the line between the two
        np.fill_diagonal(over, np.inf)
        a, b = np.unravel_index(over.argmin(), over.shape)
        if over[a, b] < 1e-4:
            named[near[[a, b]]] = True
    return named


@case("synthetic")
def copied_but_one_column(seed: int = 0) -> Case:
    """Everybody's row is copied, only the illness is drawn anew; control given."""
    rng, original = np.random.default_rng(seed), survey(500, seed)
    released = original.with_columns(pl.Series("illness", rng.permutation(original["illness"].to_numpy())))
    known = [c for c in original.columns if c != "illness"]
    found = equal(original, released[rng.permutation(500)], known)
    return synthetic_case(
        original,
        released[rng.permutation(500)],
        found,
        "rows equal in all other columns",
        control=survey(500, seed + 1),
    )


@case("synthetic")
def hot_deck(seed: int = 0) -> Case:
    """The first half of every row is one person's, the second half that of the person most like them; control given."""
    rng = np.random.default_rng(seed)
    everybody = amounts(800, 8, rng)
    x = everybody[:400]
    log = np.log(x[:, :4])
    donor = np.argsort(cdist(log, log), 1)[:, 1]
    names = [f"v{j:02d}" for j in range(8)]
    original = table(x, 2, names)
    released = table(np.hstack([x[:, :4], x[donor, 4:]])[rng.permutation(400)], 2, names)
    found = equal(original, released, names[:4])
    return synthetic_case(
        original, released, found, "rows equal in the first half", control=table(everybody[400:], 2, names)
    )


@case("synthetic")
def outliers_memorised(seed: int = 0) -> Case:
    """New people, but the fifteen richest of 500 are in the release as they are; control given."""
    rng, original = np.random.default_rng(seed), survey(500, seed)
    rich = original.sort("income", descending=True).head(15)
    released = pl.concat([survey(485, seed + 2), rich])[rng.permutation(500)]
    found = equal(original, released)
    return synthetic_case(original, released, found, "equal rows: no outsider has one", control=survey(500, seed + 1))


@case("synthetic")
def secret_by_cell(seed: int = 0) -> Case:
    """Rows are drawn from the cells of four columns with the usual secret of the cell, which nothing else tells."""
    rng = np.random.default_rng(seed)

    def people(n: int) -> pl.DataFrame:
        columns = {c: rng.integers(0, k, n) for c, k in (("age", 12), ("region", 10), ("job", 8), ("sex", 2))}
        return pl.DataFrame({**columns, "secret": rng.choice(["yes", "no"], n)})

    original, control = people(600), people(600)
    keys = ["age", "region", "job", "sex"]
    usual = pl.col("secret").mode().sort().first().over(keys)  # the model remembers the cell, not the row
    released = original.with_columns(usual)[rng.integers(0, 600, 600)]
    told = released.group_by(keys).agg(pl.col("secret").first().alias("told"))

    def balance(frame: pl.DataFrame) -> float:
        """Right claims less wrong ones, a share of the people: 0 for whom the release says nothing."""
        claims = frame.join(told, on=keys)
        right = int((claims["told"] == claims["secret"]).sum())
        return (2 * right - claims.height) / frame.height

    found = balance(original) - balance(control)
    return synthetic_case(
        original,
        released,
        found,
        "read the secret off the cell: right where outsiders are at one half",
        control=control,
        confidential=["secret"],
        rated=False,
    )


@case("synthetic")
def rows_with_missing_copied(seed: int = 0) -> Case:
    """Values are new, but the pattern of missing cells of 24 questions is copied person by person; control given."""
    rng = np.random.default_rng(seed)
    n, m = 400, 24

    def answers(gone: np.ndarray) -> pl.DataFrame:
        return table(np.where(gone, np.nan, np.round(rng.normal(50, 10, gone.shape))), 0)

    patterns = [rng.random((n, m)) < 0.3 for _ in range(2)]
    original, control = answers(patterns[0]), answers(patterns[1])
    released = answers(patterns[0][rng.permutation(n)])
    there = set(map(tuple, np.isnan(numbers(released)).tolist()))
    inside, outside = (
        np.mean([tuple(row) in there for row in np.isnan(numbers(frame)).tolist()]) for frame in (original, control)
    )
    return synthetic_case(
        original,
        released,
        float(inside - outside),
        "patterns of missing cells that occur in the release",
        control=control,
        rated=False,
    )
