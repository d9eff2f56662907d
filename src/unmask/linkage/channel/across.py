"""Another schema: what people who are known in both files teach of two files, for everybody in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import EngineError
from unmask.linkage.channel.attack import FEWEST
from unmask.linkage.channel.gather import gather
from unmask.linkage.channel.linking import score_rows
from unmask.linkage.channel.select import learn
from unmask.linkage.channel.words import tell_columns
from unmask.threads import one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables import Release

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

STEPS, SETTLED = 200, 1e-6
LARGEST = 500.0
LOOSE = 1e-3  # how little the level is held to zero


def as_ratios(scores: Floats, known: Ints, own: Ints) -> Floats:
    """Scores as log likelihood ratios: how much oftener known people have such a score with their own record.

    Scores order the candidates of a person, and what all of them have in common cancels; who may have no record at all
    must know what a score is worth. So a logistic curve is fitted to the known people with their own records, which
    others taught, and with all others. Its slope is drawn towards one, since few people part the two too well.
    """
    right = scores[known, own]
    wrong = scores[known][np.arange(scores.shape[1])[None, :] != own[:, None]]
    size = np.concatenate([right, wrong])
    is_own = np.concatenate([np.ones(right.size), np.zeros(wrong.size)])
    slope, level = 1.0, -float(np.median(right)) / 2
    for _ in range(STEPS):
        expected = 1.0 / (1.0 + np.exp(-np.clip(slope * size + level, -LARGEST, LARGEST)))
        weight, error = expected * (1 - expected), expected - is_own
        gradient = np.array([(error * size).sum() + (slope - 1.0), error.sum() + level * LOOSE])
        cross = (weight * size).sum()
        curve = np.array([[(weight * size * size).sum() + 1.0, cross], [cross, weight.sum() + LOOSE]])
        step = np.linalg.solve(curve, gradient)
        step *= min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))  # never far at once
        slope, level = max(1e-3, slope - step[0]), level - step[1]
        if float(np.abs(step).max()) < SETTLED:
            break
    return np.asarray(slope * scores + level + np.log(wrong.size / right.size))


def scores_across(release: Release, seed: int) -> tuple[Floats, tuple[str, ...]]:
    """Log likelihood ratios of all people with all records, in the order of the tables, and what was learnt in words.

    The people who are paired teach; columns may have any names.
    """
    with one_thread():
        scene = gather(release, seed)
        known = np.flatnonzero(scene.material.truth >= 0)
        if known.size < FEWEST:
            raise EngineError(
                f"{known.size} people are known in both files: too few to learn from", allowed=f"from {FEWEST}"
            )
        channel = learn(scene.material, known, seed, lambda _: None)
        n, m = scene.material.n_people, scene.material.n_records
        found = score_rows(scene, [channel], np.zeros(n, dtype=np.int64), np.arange(n))
        told = [one for one in tell_columns(scene.material, [channel]) if one.nats > 0]
    scores = np.empty((n, m))
    scores[np.ix_(scene.people, scene.records)] = as_ratios(found, known, scene.material.truth[known])
    return scores, tuple(f"{t.column} {t.words}" if t.several else f"`{t.column}` {t.words}" for t in told)
