"""Propensity: can a classifier tell released records from original ones? pMSE of [WOO]_ and [SNOKE]_.

A model learns which table a record is from. Where it cannot, every predicted probability is the released share c and
the mean squared error pMSE = mean (p - c)^2 is near 0; where it always can, pMSE is c (1 - c). A model that learns
noise is above 0 even where both tables are alike: the null says how far, with the labels dealt at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.errors import RoleError, UnmaskError, check_name
from unmask.shown import Shown
from unmask.utility.analyses import numbers
from unmask.utility.pairs import read_pair

Model = Literal["logistic", "tree", "cart"]  # tree: gradient boosting; cart: one tree, quick
FOLDS = 5
LARGEST = float(np.finfo(np.float32).max)  # that a forest takes: what is larger counts as this
SMALLEST_LEAF = 20  # records of one tree's leaf
COMMON = 20  # categories of a column that get an indicator; the others share one


@dataclass(frozen=True, slots=True)
class Propensity(Shown):
    """The predicted probabilities' distance from knowing nothing, in and out of sample."""

    pmse: float  # out of sample
    worst: float  # c (1 - c), a model that always knows
    auc: float  # out of sample: 0.5 cannot tell, 1 always can
    n: int
    null: float | None = None  # mean pmse with labels dealt at random; None: not asked

    @property
    def ratio(self) -> float:
        """PMSE as a share of the worst: 0 indistinguishable, 1 always told apart."""
        return self.pmse / self.worst

    @property
    def times_null(self) -> float | None:
        """PMSE over that of labels dealt at random: near 1 indistinguishable. None: not asked, or nothing to divide."""
        return self.pmse / self.null if self.null else None


def propensity_score(
    original: object, released: object, *, model: Model = "tree", seed: int = 0, permutations: int = 0
) -> Propensity:
    """Cross-validate a classifier between both tables over every shared column.

    Both rows of a person are held out together when the tables have as many rows: otherwise a model could recognise
    a record by its twin. ``permutations``: so often the labels are dealt at random, for the null; the two of a person
    between themselves.
    """
    check_name(model, get_args(Model), "model is unknown")
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - slow to import

    left, right = read_pair(original, released)
    if min(left.height, right.height) < 2:
        raise RoleError("a propensity score needs at least two records of each table")
    features = features_of(left, right)
    label = np.repeat([0.0, 1.0], [left.height, right.height])
    folds = _folds(left.height, right.height, seed)
    predicted, share = _predicted(features, label, folds, model, seed), label.mean()
    rng = np.random.default_rng([seed, 19])
    dealt = (_dealt(left.height, right.height, rng) for _ in range(permutations))
    nulls = [float(((_predicted(features, one, folds, model, seed) - share) ** 2).mean()) for one in dealt]
    return Propensity(
        float(((predicted - share) ** 2).mean()),
        float(share * (1 - share)),
        float(roc_auc_score(label, predicted)),
        label.size,
        float(np.mean(nulls)) if nulls else None,
    )


def _predicted(features: Floats, label: Floats, folds: Ints, model: Model, seed: int) -> Floats:
    """The probability of being released of every record, by a model that has not seen its fold."""
    predicted = np.empty(label.size)
    for fold in range(int(folds.max()) + 1):
        held = folds == fold
        predicted[held] = _fit(features[~held], label[~held], features[held], model, seed)
    return predicted


def _dealt(n_left: int, n_right: int, rng: np.random.Generator) -> Floats:
    """Labels at random, as many of each: a person's two between themselves, or all among all."""
    if n_left != n_right:
        return rng.permutation(np.repeat([0.0, 1.0], [n_left, n_right]))
    swapped = rng.integers(0, 2, n_left).astype(float)
    return np.concatenate([swapped, 1.0 - swapped])


def _fit(train: Floats, label: Floats, held: Floats, model: Model, seed: int) -> Floats:
    """Return the probability of being released for the held records (scikit-learn is imported when first needed)."""
    if np.unique(label).size < 2:
        return np.full(len(held), label.mean())
    if model == "tree":
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415

        classifier = HistGradientBoostingClassifier(max_iter=50, max_depth=4, random_state=seed)
    elif model == "cart":
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

        classifier = DecisionTreeClassifier(max_depth=6, min_samples_leaf=SMALLEST_LEAF, random_state=seed)
    else:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with scikit-learn

    with threadpool_limits(1):  # tables are small, and threads that wait for each other cost more than they save
        result: Floats = classifier.fit(train, label).predict_proba(held)[:, 1]
    return result


def _folds(n_left: int, n_right: int, seed: int) -> Ints:
    """Give every record a fold; a person's two rows share theirs when the tables are as long."""
    rng = np.random.default_rng([seed, 17])
    count = min(FOLDS, n_left, n_right)
    left = rng.permutation(np.arange(n_left) % count)
    return np.concatenate([left, left if n_left == n_right else rng.permutation(np.arange(n_right) % count)])


def features_of(left: pl.DataFrame, right: pl.DataFrame) -> Floats:
    """Both tables: numbers (intervals: their middle; missing: the original's median), categories as indicators."""
    columns: list[Floats] = []
    for name in left.columns:
        if name in right.columns:
            columns += _column(left[name], right[name])
    if not columns:
        raise RoleError("the two tables share no column")
    return np.column_stack(columns)


def _column(x: pl.Series, y: pl.Series) -> list[Floats]:
    both = _numbers(x, y)
    if both is not None:
        missing = np.isnan(both)
        centre = float(np.nanmedian(both[: x.len()])) if (~missing[: x.len()]).any() else 0.0
        filled = np.clip(np.where(missing, centre, both), -LARGEST, LARGEST)
        return [filled, *([missing.astype(float)] if missing.any() else [])]
    both_text = pl.concat([x.cast(pl.String), y.cast(pl.String)]).fill_null("\0missing").alias("text")
    counts = both_text.value_counts(sort=True)
    common = counts.sort(["count", "text"], descending=[True, False])["text"][:COMMON]
    return [(both_text == value).to_numpy().astype(float) for value in common]


def _numbers(x: pl.Series, y: pl.Series) -> Floats | None:
    try:
        return np.concatenate([numbers(x), numbers(y)])
    except UnmaskError:
        return None
