"""Learners that guess a confidential attribute from known ones, and the task they are given.

Everything that a learner sees is put in canonical order first, so that no result depends on the order of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unmask.arrays import Flags, Floats, Rows
from unmask.disclosure.claims import Guesses
from unmask.errors import EngineError, ParameterError, RoleError, check_name
from unmask.silence import many_kinds
from unmask.study import Study
from unmask.tables import Encoded, canonical_order, centre_and_spread
from unmask.threads import one_thread

Learner = Any  # one of LEARNERS, or a scikit-learn estimator
LEARNERS = ("boosting", "tree", "forest")
MOST_CATEGORIES = 200  # more are given to the learner as ordered codes


@dataclass(frozen=True, slots=True)
class Task:
    """What is known and what is wanted: of people (the original, then control) and of the rows of the release.

    Categories are codes; missing is NaN everywhere.
    """

    name: str
    known: tuple[str, ...]
    people: Floats  # (n + control, m)
    rows: Floats  # (r, m)
    wanted: Floats  # (n + control,)
    published: Floats  # (r,)
    n: int  # people of the original
    categorical: Flags  # (m,) few enough categories for a learner to take as such
    coded: frozenset[str]  # the known attributes that are categories
    numeric: bool  # the wanted attribute is a number
    tolerance: float  # a guess of a number is right within this

    def right(self, guess: Floats, people: Rows) -> Floats:
        """Credit 1 for each right guess about ``people``: equal, or within the tolerance for a number."""
        truth = self.wanted[people]
        hit = np.abs(guess - truth) <= self.tolerance if self.numeric else guess == truth
        return np.asarray(hit, dtype=np.float64)

    def only(self, names: Sequence[str]) -> Task:
        """Return the same task for an intruder who knows these attributes alone."""
        keep = [self.known.index(name) for name in names]
        people, rows, few = self.people[:, keep], self.rows[:, keep], self.categorical[keep]
        return replace(self, known=tuple(names), people=people, rows=rows, categorical=few)


def set_task(study: Study, name: str, *, within: float, control: bool = True) -> Task:
    """Encode what is known and what is wanted. ``within``: a number is right within this share of its sd."""
    if not 0 < within <= 1:
        raise ParameterError("a tolerance is a share of the sd", got=f"within={within}", allowed="above 0, at most 1")
    release = study.release
    known = tuple(column for column in release.quasi if column != name)
    if not known:
        raise RoleError(f"nothing is known from which {name!r} could be guessed", hint="name columns in quasi=")
    source = study.everybody([*known, name]) if control else study
    encoding = source.encoding(known)
    wanted, published = _target(source, name)
    numeric = release.columns[name].is_number
    spread = centre_and_spread(wanted[: release.original.height])[1] if numeric else 0.0
    flags = np.array([False] * len(encoding.numeric_names) + [True] * len(encoding.code_names), dtype=bool)
    people, rows = matrix(encoding.original), matrix(encoding.released)
    for k in np.flatnonzero(flags):
        levels = max(people[:, k].max(initial=0, where=~np.isnan(people[:, k])), 0) + 1
        flags[k] = (
            levels <= MOST_CATEGORIES and rows[:, k].max(initial=0, where=~np.isnan(rows[:, k])) < MOST_CATEGORIES
        )
    return Task(
        name, encoding.names, people, rows, wanted, published, release.original.height, flags,
        frozenset(encoding.code_names), numeric, within * spread,
    )  # fmt: skip


def matrix(side: Encoded) -> Floats:
    """Numbers and codes in one matrix, NaN for missing."""
    codes = side.codes.astype(np.float64)
    codes[side.codes < 0] = np.nan
    return np.ascontiguousarray(np.hstack([side.numeric, codes]))


def _target(study: Study, name: str) -> tuple[Floats, Floats]:
    """Values of a column in both tables; none of the release where it does not have it."""
    there = name in study.release.released.columns
    encoding = (study if there else study.alone).encoding([name])
    return matrix(encoding.original)[:, 0], matrix(encoding.released)[:, 0] if there else np.empty(0)


def folds_of(study: Study, count: int, seed: int) -> Rows:
    """Deal the people into folds: by lot over their canonical order (own and published values), not by row."""
    release = study.release
    people = release.paired_rows
    if people.size < count:
        raise ParameterError(
            "there are fewer people than folds", got=f"{people.size} people, {count} folds", hint="give fewer folds="
        )
    order = study.kept("order of people", lambda: _order_of_people(study))  # sorting a million takes seconds
    fold = np.full(release.original.height, -1, dtype=np.int64)
    lot = np.random.default_rng(seed).permutation(people.size) % count
    fold[people[order]] = lot
    return fold


def _order_of_people(study: Study) -> Rows:
    """The paired people by what both tables hold of them."""
    release = study.release
    shared = [name for name in (*release.quasi, *release.confidential) if name in release.released.columns]
    encoding, people = study.encoding(dict.fromkeys(shared)), release.paired_rows
    return canonical_order(matrix(encoding.original)[people], matrix(encoding.released)[release.truth[people]])


def guess(task: Task, learner: Learner, rows: Rows, people: Rows, seed: int) -> Floats:
    """Learn the wanted attribute from ``rows`` of the release and guess it for ``people``."""
    return learn_and_apply(task, learner, task.rows[rows], task.published[rows], task.people[people], seed)


def guess_surely(task: Task, learner: Learner, rows: Rows, people: Rows, seed: int) -> Guesses:
    """The same: how right each guess is, and how sure."""
    told, sure = learn_and_claim(task, learner, task.rows[rows], task.published[rows], task.people[people], seed)
    return Guesses(task.right(told, people), sure)


def learn_and_apply(task: Task, learner: Learner, known: Floats, wanted: Floats, asked: Floats, seed: int) -> Floats:
    """Learn from the records that have a value, in canonical order; a single value is guessed for everybody."""
    return learn_and_claim(task, learner, known, wanted, asked, seed)[0]


def learn_and_claim(
    task: Task, learner: Learner, known: Floats, wanted: Floats, asked: Floats, seed: int
) -> tuple[Floats, Floats]:
    """Learn, guess, and say how sure each guess is: the probability of the category, or how alike a leaf's numbers are.

    Other models of numbers are equally sure of all their guesses.
    """
    has = ~np.isnan(wanted)
    known, wanted = known[has], wanted[has]
    if not wanted.size:
        raise EngineError(f"there is no value of {task.name!r} to learn from")
    order = canonical_order(known, wanted[:, None])
    known, wanted = known[order], wanted[order]
    levels = np.unique(wanted)
    if levels.size == 1 or not asked.size:
        return np.full(len(asked), levels[0]), np.ones(len(asked))

    known, asked = in_one_unit(known, asked, task.categorical)
    model = make_learner(learner, task, min(levels.size, wanted.size), seed)
    if not _takes_missing(model):
        middle = np.array([np.median(c[~np.isnan(c)]) if (~np.isnan(c)).any() else 0.0 for c in known.T])
        known, asked = np.where(np.isnan(known), middle, known), np.where(np.isnan(asked), middle, asked)
    with one_thread(), many_kinds():  # small tables: threads cost more than they bring
        model.fit(known, wanted if task.numeric else wanted.astype(np.int64))
        return np.asarray(model.predict(asked), dtype=np.float64), _sure(task, model, asked)


def in_one_unit(known: Floats, asked: Floats, categorical: Flags) -> tuple[Floats, Floats]:
    """Numbers in sds of those to learn from, to nine digits: in pounds or in kilograms a tree is cut at one place.

    A column without a value to learn from tells nothing: it is one and the same for everybody.
    """
    known, asked = known.copy(), asked.copy()
    untold = np.isnan(known).all(axis=0)
    known[:, untold], asked[:, untold] = 0.0, 0.0
    for k in np.flatnonzero(~categorical):
        centre, spread = centre_and_spread(known[:, k])
        for side in (known, asked):
            side[:, k] = np.round((side[:, k] - centre) / (spread or 1.0), 9)
    return known, asked


def _sure(task: Task, model: Learner, asked: Floats) -> Floats:
    if not task.numeric and hasattr(model, "predict_proba"):
        return np.asarray(np.round(model.predict_proba(asked).max(axis=1), 9))
    if task.numeric and hasattr(model, "tree_"):
        return np.asarray(-np.round(model.tree_.impurity[model.apply(asked)], 9))
    return np.ones(len(asked))


def _takes_missing(model: Learner) -> bool:
    try:
        return bool(model.__sklearn_tags__().input_tags.allow_nan)
    except AttributeError:  # scikit-learn before 1.6
        tags: dict[str, Any] = model._get_tags() if hasattr(model, "_get_tags") else {}  # noqa: SLF001 - its only door
        return bool(tags.get("allow_nan", False))


def make_learner(learner: Learner, task: Task, n_levels: int, seed: int) -> Learner:
    """Return an estimator: one of ours by name, or a copy of the one given."""
    if not isinstance(learner, str):
        if not (hasattr(learner, "fit") and hasattr(learner, "predict")):
            raise ParameterError("a learner is a name or a scikit-learn estimator", got=type(learner).__name__)
        from sklearn.base import clone  # noqa: PLC0415 - slow to import

        model = clone(learner)
        if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
            model.set_params(random_state=seed % 2**31)
        return model
    check_name(learner, LEARNERS, f"no learner {learner!r}")
    return _ours(learner, task, n_levels, seed % 2**31)


def _ours(learner: str, task: Task, n_levels: int, seed: int) -> Learner:
    from sklearn import ensemble, tree  # noqa: PLC0415 - slow to import

    if learner == "boosting":
        kind = ensemble.HistGradientBoostingRegressor if task.numeric else ensemble.HistGradientBoostingClassifier
        trees = 50 if task.numeric else max(8, min(50, 120 // n_levels))  # a tree per category and round
        return kind(
            max_iter=trees, learning_rate=0.2, min_samples_leaf=5, early_stopping=False, random_state=seed,
            categorical_features=task.categorical if task.categorical.any() else None,
        )  # fmt: skip
    if learner == "tree":
        kind = tree.DecisionTreeRegressor if task.numeric else tree.DecisionTreeClassifier
        return kind(min_samples_leaf=2, random_state=seed)
    kind = ensemble.RandomForestRegressor if task.numeric else ensemble.RandomForestClassifier
    return kind(n_estimators=50, random_state=seed)


def name_of(learner: Any) -> str:  # noqa: ANN401 - a name or an estimator
    """Name a learner for the report."""
    return learner if isinstance(learner, str) else type(learner).__name__


def blind_guess(task: Task, people: Rows) -> Floats:
    """Credit of who knows only the released column: its commonest category, or its median."""
    values = np.sort(task.published[~np.isnan(task.published)])
    if not values.size:
        return np.zeros(people.size)
    if task.numeric:
        return task.right(np.full(people.size, float(np.median(values))), people)
    levels, counts = np.unique(values, return_counts=True)
    return task.right(np.full(people.size, levels[counts.argmax()]), people)
