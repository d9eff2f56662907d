"""Released labels that several columns decide together, such as a class of risk: boosted trees over all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.factors import Table
from unmask.linkage.channel.material import Material
from unmask.linkage.channel.numbers import everything
from unmask.threads import one_thread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CLASSES = 30
MOST_TAUGHT = 5000  # people from whom trees learn
DOUBTS = (0.01, 0.03, 0.1, 0.25, 0.5, 0.9)  # weights of what all labels' shares say
PARTS = 2
FEWEST_OF_A_KIND = 3  # known people of a label, on average: from fewer, trees learn nothing


@dataclass(frozen=True, slots=True)
class Class:
    """A released label given all columns of the person."""

    target: int

    def fit(self, material: Material, taught: Ints) -> Table:
        """Learn the chance of every label, and how far to doubt it from people who did not teach it."""
        x = material.once(("all", "boosted"), lambda: everything(material, logs=False))
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


def classes(material: Material, target: int, told: float) -> list[Class]:
    """Whether a released label is worth the trees: few labels, of which ``told`` nats leave much to be told."""
    words, label = material.records[target].words, material.label(target)
    if not 2 <= len(words) <= MOST_CLASSES or len(material.people) < 2:
        return []
    share = np.bincount(label) / label.size
    most = -float((share[share > 0] * np.log(share[share > 0])).sum())
    return [Class(target)] if told < 0.9 * most else []
