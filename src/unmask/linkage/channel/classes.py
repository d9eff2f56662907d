"""Released labels that several columns decide together, such as a class of risk.

Steps along one sum of columns, or of their logarithms (a body mass index, debts over income); boosted trees otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.factors import Labels, Table
from unmask.linkage.channel.labels import neighbours, steps_along
from unmask.linkage.channel.material import Material
from unmask.linkage.channel.numbers import everything
from unmask.linkage.channel.predictors import order_kept
from unmask.threads import one_thread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CLASSES = 30
MOST_TAUGHT = 5000  # people from whom trees learn
DOUBTS = (0.01, 0.03, 0.1, 0.25, 0.5, 0.9)  # weights of what all labels' shares say
PARTS = 2
GRADED_PARTS = 5
MUCH = 0.9  # of what a label can tell: nothing else is looked for
FEWEST_OF_A_KIND = 3  # known people of a label, on average: from fewer, trees learn nothing


@dataclass(frozen=True, slots=True)
class Class:
    """A released label given all columns of the person."""

    target: int

    def fit(self, material: Material, taught: Ints) -> Table:
        """Learn the chance of every label, and how far to doubt it from people who did not teach it."""
        x = material.once(("all", False), lambda: everything(material, logs=False))
        label, taught = material.label(self.target), taught[:MOST_TAUGHT]
        said = label[material.truth[taught]]
        size = len(material.records[self.target].words) + 1
        marginal = np.maximum(np.bincount(label, minlength=size) / label.size, 1e-12)
        foretold, turn = np.empty(taught.size), np.arange(taught.size) % PARTS
        for part in range(PARTS):
            out = turn == part
            chance = chances(x[taught[~out]], said[~out], x[taught[out]], marginal)
            foretold[out] = chance[np.arange(len(chance)), said[out]]
        doubt = max(DOUBTS, key=lambda d: float(np.log((1 - d) * foretold + d * marginal[said]).sum()))
        chance = chances(x[taught], said, x, marginal)
        return Table(np.arange(len(x)), label, np.log((1 - doubt) * chance / marginal + doubt))


def chances(x: Floats, label: Ints, everybody: Floats, marginal: Floats) -> Floats:
    """Chance of each label for everybody, by boosted trees; the shares of all where few of a kind were seen."""
    if not 2 <= np.unique(label).size <= label.size // FEWEST_OF_A_KIND:
        return np.tile(marginal / marginal.sum(), (len(everybody), 1))
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - heavy

    trees = HistGradientBoostingClassifier(
        max_iter=40,
        max_leaf_nodes=6,
        min_samples_leaf=3,
        learning_rate=0.15,
        l2_regularization=1.0,
        early_stopping=False,
    )
    with one_thread():  # known people are few: threads only wait for each other
        seen = trees.fit(x, label).predict_proba(everybody)
    chance = np.zeros((len(everybody), marginal.size))
    chance[:, trees.classes_] = seen
    return chance


@dataclass(frozen=True, slots=True)
class Graded:
    """A released label that changes in steps along a sum of all columns, or of their logarithms."""

    target: int
    logs: bool

    def fit(self, material: Material, taught: Ints) -> Labels:
        """Learn the sum, and how often it tells the truth about people who did not teach it."""
        x = material.once(("all", self.logs), lambda: everything(material, logs=self.logs))
        said = material.label(self.target)[material.truth[taught]]
        first, second, weight = np.zeros(taught.size, dtype=int), np.zeros(taught.size, dtype=int), np.ones(taught.size)
        turn = np.arange(taught.size) % GRADED_PARTS
        for part in range(GRADED_PARTS if taught.size > GRADED_PARTS else 0):
            out = turn == part
            along = graded(x[taught[~out]], said[~out], x[taught])
            first[out], second[out], weight[out] = neighbours(along[~out], said[~out], along[out])
        order = graded(x[taught], said, x)
        return steps_along(material, self.target, order, taught, (first, second, weight))


def graded(x: Floats, label: Ints, everybody: Floats) -> Floats:
    """Places of everybody along the sum of columns by which labels follow each other.

    Which label comes after which is told by the direction that sets labels apart most (Fisher's).
    """
    mean, sd = x.mean(0), x.std(0)
    sd = np.where(sd > 1e-12 * (np.abs(mean) + 1e-300), sd, np.inf)
    z = (x - mean) / sd
    _, place = np.unique(label, return_inverse=True)
    means = np.stack([np.bincount(place, weights=column) for column in z.T], axis=1) / np.bincount(place)[:, None]
    within = (z - means[place]).T @ (z - means[place]) / len(z) + 1e-3 * np.eye(z.shape[1])
    half = np.linalg.inv(np.linalg.cholesky(within))
    between = half @ (means[place].T @ means[place] / len(z)) @ half.T
    direction = half.T @ np.linalg.eigh(between)[1][:, -1]
    weights = order_kept(z, np.argsort(np.argsort(means @ direction))[place].astype(np.float64))
    return np.asarray((everybody - mean) / sd @ weights)


def classes(material: Material, target: int, told: float) -> list[Graded | Class]:
    """Whether a released label is worth all columns: few labels, of which ``told`` nats leave much to be told."""
    words, label = material.records[target].words, material.label(target)
    if not 2 <= len(words) <= MOST_CLASSES or len(material.people) < 2:
        return []
    share = np.bincount(label) / label.size
    most = -float((share[share > 0] * np.log(share[share > 0])).sum())
    return [Graded(target, logs=False), Graded(target, logs=True), Class(target)] if told < MUCH * most else []
