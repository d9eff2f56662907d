"""Released columns that are learnt only together: does each of them tell something?

A law of many columns takes in one that says nothing, and is none the worse for it. So each column is put to a test of
its own: its values are mixed among the records of held-out people, and if their own records stand out no less than
before, it told nothing. What was learnt stays as it is, so a column of chance is as likely to gain as to lose.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from unmask.linkage.channel.axes import Axis
from unmask.linkage.channel.joint import Joint, Lesson
from unmask.linkage.channel.views import Through

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from unmask.linkage.channel.material import Material
    from unmask.linkage.channel.trial import Trial

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Part = tuple[Ints, Ints, dict[int, Lesson]]  # learners, held-out people, what was learnt already, by recipe

MOST = 1.0  # nats that count for one person: a few must not decide
MIXINGS = 4  # of each column, and their mean


def told_apart(trial: Trial, recipes: Iterable[Any], seed: int) -> dict[int, float]:
    """Standard errors by which each released number without a column of its name helps recipes over several columns."""
    several = [recipe for recipe in recipes if isinstance(recipe, Axis | Joint | Through)]
    if not several:
        return {}
    whole = replace(trial.material, _kept={}, _whole=None)
    lessons = [_lessons(whole, several, learners) for learners, _ in trial.parts]
    parts = [(*both, lesson) for both, lesson in zip(trial.parts, lessons, strict=True)]
    now = [_stands_out(whole, several, part) for part in parts]
    names = {column.name.casefold() for column in trial.material.people}
    found = {}
    for place, column in enumerate(whole.records):
        if column.name.casefold() not in names and np.isfinite(column.number).any():
            draw = np.random.default_rng([seed, 8, place])
            pairs = zip(now, parts, strict=True)
            lost = np.concatenate([_lost(whole, several, place, one, part, draw) for one, part in pairs])
            error = trial.error(lost)
            found[place] = float(lost.mean()) / error if error > 0 else 0.0
    return found


def _lost(
    whole: Material, recipes: Sequence[Any], place: int, now: Floats | None, part: Part, draw: Generator
) -> Floats:
    """What held-out people lose if one column is mixed among their records."""
    asked = part[1]
    lost = np.zeros(asked.size)
    for _ in range(MIXINGS):
        other = _stands_out(_mixed(whole, place, whole.truth[asked], draw), recipes, part)
        if now is not None and other is not None:
            lost += np.clip(now - other, -MOST, MOST) / MIXINGS
    return lost


def _lessons(material: Material, recipes: Sequence[Any], learners: Ints) -> dict[int, Lesson]:
    """What the laws of many numbers learn: mixing records of people who taught nothing leaves it as it is."""
    joint = {k: recipe for k, recipe in enumerate(recipes) if isinstance(recipe, Joint)}
    return {k: recipe.learn(material, learners) for k, recipe in joint.items()}


def _stands_out(material: Material, recipes: Sequence[Any], part: Part) -> Floats | None:
    """By how much the own record of each held-out person is likelier than one of the others; None: not to be had."""
    learners, asked, lessons = part
    if asked.size < 2:
        return None
    total = np.zeros((asked.size, asked.size))
    for k, recipe in enumerate(recipes):
        if isinstance(recipe, Through) and recipe.recipe.target >= len(material.view(recipe.view).records):
            return None
        fitted = recipe.seen(material, lessons[k]) if k in lessons else recipe.fit(material, learners)
        total += fitted.log(asked[:, None], material.truth[asked][None, :])
    own = np.diagonal(total).copy()
    np.fill_diagonal(total, -np.inf)
    return np.asarray(own - logsumexp(total, axis=1))


def _mixed(material: Material, place: int, records: Ints, draw: Generator) -> Material:
    """The same release, one column mixed among some records."""
    rows = np.arange(material.n_records)
    rows[records] = draw.permutation(records)
    columns = list(material.records)
    columns[place] = columns[place].take(rows)
    return replace(material, records=tuple(columns), _kept={})
