"""Shadows: the intruder makes releases (or models) of their own, knowing who is inside, and learns from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.disclosure.outside import Ruler, Scene, in_order, make_ruler
from unmask.errors import EngineError, UnmaskError
from unmask.evidence import Progress
from unmask.study import Study
from unmask.tables import Encoded, canonical_order

Attack = Callable[[Any, Floats, Ints], Floats]


def shadow_scores(
    study: Study,
    scene: Scene,
    mask: Callable[[pl.DataFrame, int], pl.DataFrame],
    shadows: int,
    seed: int,
    progress: Progress,
) -> Floats:
    """Scores of members, then strangers: log odds of being inside, learnt from shadow releases of the strangers."""
    release, whole = study.release, study.everybody().release
    strangers = scene.strangers[in_order(scene.of(scene.strangers))]
    table = whole.original.select(release.quasi)[strangers]
    rng = np.random.default_rng(seed)
    traits, inside = [], []
    for number in range(shadows):
        lot = rng.permutation(strangers.size)
        chosen = np.sort(lot[: strangers.size // 2])
        shadow = mask(table[chosen], int(rng.integers(2**31)))
        studied = Study(whole.with_tables(table, shadow, np.full(table.height, -1, dtype=np.int64)))
        encoding = studied.encoding()
        ruler = make_ruler(encoding, studied.index(scale="original").space)
        traits.append(_traits(ruler, encoding.original, encoding.released))
        mark = np.zeros(strangers.size, dtype=np.int64)
        mark[chosen] = 1
        inside.append(mark)
        progress((number + 1) / (shadows + 1), "shadow releases")
    people = scene.of(np.concatenate([scene.members, scene.strangers]))
    asked = _traits(scene.ruler, people, scene.encoding.released)
    return _log_odds(np.vstack(traits), np.concatenate(inside), asked)


def _traits(ruler: Ruler, people: Encoded, rows: Encoded) -> Floats:
    """How a record looks from outside: distance to the closest row, to the next, and their ratio, in logarithms.

    Each less its median over all who are asked: that makes shadows and the release comparable, whatever their sizes.
    """
    found = ruler.nearest(people, rows)
    second = np.where(np.isfinite(found.second), found.second, found.least)
    scale = float(np.median(found.least)) or 1.0
    near, far = np.log(found.least + 1e-9 * scale), np.log(second + 1e-9 * scale)
    return np.column_stack([near - np.median(near), far - np.median(far), near - far])


def _log_odds(traits: Floats, inside: Ints, asked: Floats) -> Floats:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import

    mean, sd = traits.mean(axis=0), traits.std(axis=0)
    sd = np.where(sd > 0, sd, 1.0)
    order = canonical_order(traits, inside[:, None].astype(np.float64))
    model = LogisticRegression(max_iter=1000).fit(((traits - mean) / sd)[order], inside[order])
    return np.asarray(model.decision_function((asked - mean) / sd))


def learn_membership(
    fit: Callable[[Floats, Ints], object],
    reference: tuple[Floats, Ints],
    shadows: int,
    seed: int,
) -> Attack:
    """Algorithm mia: shadow models, their answers about who was inside and who was not, a classifier of these."""
    known, wanted = np.asarray(reference[0], dtype=np.float64), np.asarray(reference[1])
    order = canonical_order(known, wanted[:, None].astype(np.float64))
    known, wanted = known[order], wanted[order]
    rng = np.random.default_rng(seed)
    traits, inside = [], []
    for _ in range(shadows):
        lot = rng.permutation(len(wanted))
        half = len(wanted) // 2
        try:
            model = fit(known[lot[:half]], wanted[lot[:half]])
        except UnmaskError:
            raise
        except Exception as error:  # the owner's function
            raise EngineError("the fit function failed on a shadow sample", got=type(error).__name__) from error
        for rows, mark in ((lot[:half], 1), (lot[half:], 0)):
            traits.append(answers(model, known[rows], wanted[rows]))
            inside.append(np.full(len(rows), mark))
    seen, marks = np.vstack(traits), np.concatenate(inside)
    return lambda target, x, y: _log_odds(seen, marks, answers(target, np.asarray(x, dtype=np.float64), np.asarray(y)))


def answers(model: Any, known: Floats, wanted: Ints) -> Floats:  # noqa: ANN401 - the owner's model
    """What a model says of people: confidence in the truth, in its best class, entropy; or its error for numbers."""
    if not hasattr(model, "predict_proba"):
        error = np.abs(np.asarray(model.predict(known), dtype=np.float64) - wanted)
        return np.column_stack([np.log(error + 1e-9), error])
    odds = np.clip(np.asarray(model.predict_proba(known), dtype=np.float64), 1e-9, 1.0)
    classes = np.asarray(model.classes_)
    place = np.clip(np.searchsorted(classes, wanted), 0, classes.size - 1)
    truth = np.where(classes[place] == wanted, odds[np.arange(len(wanted)), place], 1e-9)
    return np.column_stack([np.log(truth), np.log(odds.max(axis=1)), -(odds * np.log(odds)).sum(axis=1)])
