"""A released model: who was it learnt from, and what does it tell about them?

The intruder holds the model and suspects some people, of whom it was learnt from some. They learn reference models of
the same kind from halves of these people, and compare, person by person, how sure the model is of a person's true
value with how sure models are that saw them, and that did not (likelihood ratio [CARLINI]_); or learn from all
reference models together how people inside look (shadow models [TORRA]_, [SHOKRI]_). To learn an attribute, they ask
the model with every value that it may have, and take the one that fits the known outcome best [FREDRIKSON]_.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.disclosure.inner import best_of, halves
from unmask.disclosure.lira import likelihood_ratios
from unmask.disclosure.membership_words import facts_of, figures_of
from unmask.disclosure.roc import Membership
from unmask.disclosure.shadow import Shadows, learnt
from unmask.errors import EngineError, ParameterError, RoleError, UnmaskError
from unmask.evidence import (
    Estimate,
    Evidence,
    Fact,
    Observation,
    Progress,
    Reported,
    excess_over_control,
    largest,
    silent,
)
from unmask.shares import percent, span
from unmask.tables import canonical_order

FEWEST = 50  # people on either side
LEVELS = 20  # values of an attribute that are tried
SURE = 1e-4  # a model is never surer than this short of 1: few trees that all agree are not
Fit = Callable[[Any, Any], Any]


class Question(NamedTuple):
    """How a model is asked: by which columns, as a frame or as a matrix, and what it answers."""

    features: tuple[str, ...]
    target: str
    frames: bool

    def rows(self, people: pl.DataFrame) -> Any:  # noqa: ANN401 - what the owner's model takes
        """The columns that the model takes, as it takes them."""
        table = people.select(self.features)
        if not self.frames:
            return table.cast(pl.Float64).to_numpy()
        try:
            import pandas as pd  # type: ignore[import-untyped]  # noqa: PLC0415 - only if it is there
        except ImportError:
            return table
        return pd.DataFrame({name: table[name].to_list() for name in table.columns})

    def wanted(self, people: pl.DataFrame) -> Any:  # noqa: ANN401 - classes or numbers
        """The true values of what the model predicts."""
        return people[self.target].to_numpy()


class ModelRisk(NamedTuple):
    """What a released model gives away."""

    membership: Membership
    attributes: dict[str, Estimate]  # by confidential attribute: guessed by asking the model, beyond people outside
    reference: str  # what the reference models are
    shadows: int


def question_of(model: Any, people: pl.DataFrame, target: str, ignored: Sequence[str] = ()) -> Question:  # noqa: ANN401
    """Find the columns that a model takes: by the names that it was learnt with, or all but the target."""
    if target not in people.columns:
        raise RoleError("the target is not in the original", got=target, allowed=", ".join(people.columns))
    if not (hasattr(model, "predict") or hasattr(model, "predict_proba")):
        raise ParameterError("this is no model", got=type(model).__name__, allowed="an object with predict")
    named = getattr(model, "feature_names_in_", None)
    features = [name for name in people.columns if name not in {target, *ignored}] if named is None else list(named)
    absent = [name for name in features if name not in people.columns]
    wanted = getattr(model, "n_features_in_", len(features))
    if absent or wanted != len(features):
        raise RoleError(
            "the model takes other columns than the tables have",
            got=f"no {', '.join(absent)}" if absent else f"{len(features)} columns, where it takes {wanted}",
            hint="leave out columns that it was not learnt from (--ignore)",
        )
    numbers = all(kind.is_numeric() or kind == pl.Boolean for kind in people.select(features).schema.values())
    return Question(tuple(map(str, features)), target, frames=named is not None or not numbers)


def model_risk(  # noqa: PLR0913 - who, and how closely
    model: Any,  # noqa: ANN401 - the owner's
    members: pl.DataFrame,
    strangers: pl.DataFrame,
    question: Question,
    *,
    confidential: Sequence[str] = (),
    fit: Fit | None = None,
    shadows: int = 32,
    seed: int = 0,
    progress: Progress = silent,
) -> ModelRisk:
    """Attack a model with the people that it was learnt from, and as many or as few others.

    Parameters
    ----------
    model
        Has ``predict_proba``, or ``predict`` alone.
    members, strangers
        People it was learnt from, and people of the same population it never saw.
    question
        Which columns it takes and predicts (``question_of``).
    confidential
        Columns it takes that the intruder wants to learn.
    fit
        Learns a reference model, ``fit(X, y)``; None: the same kind with the same settings where it is known how to
        learn one, a forest of ours otherwise.
    shadows
        Number of reference models; they come in pairs, each of one half of all people.
    seed, progress
        Seeds the halves; called with the fraction done and a word.

    """
    if shadows < 4:
        raise ParameterError("too few reference models", got=str(shadows), allowed="from 4")
    if min(members.height, strangers.height) < FEWEST:
        raise RoleError(
            "there are too few people to tell members from others", got=f"{members.height} and {strangers.height}",
            allowed=f"{FEWEST} or more on either side",
        )  # fmt: skip
    names = (*question.features, question.target)
    people = pl.concat([members.select(names), strangers.select(names)], how="vertical_relaxed")
    learn, words = (fit, "as you learn it") if fit is not None else reference_of(model, people[question.target])
    order = _in_order(people)
    asked = _statistics(model, people[order], question)
    reference = _reference_models(learn, people[order], question, ((shadows + 1) // 2, seed), progress)
    attacks = {
        "likelihood ratio": likelihood_ratios(reference.seen["truth"], reference.inside, asked["truth"]),
        "learnt from reference models": learnt(reference, asked),
        "confidence": asked["truth"],
    }
    split = _split(order, members.height, seed)
    back = np.argsort(order)
    found = best_of({name: np.round(scores, 9)[back] for name, scores in attacks.items()}, split, seed)
    guessed = {
        name: _attribute(model, (members, strangers), question, name, seed) for name in _fitting(confidential, question)
    }
    return ModelRisk(found, guessed, words, 2 * ((shadows + 1) // 2))


def reference_of(model: Any, target: pl.Series) -> tuple[Fit, str]:  # noqa: ANN401 - the owner's
    """How a model of the same kind is learnt, and what it is in words."""
    from sklearn.base import clone  # noqa: PLC0415 - slow to import

    if hasattr(model, "fit") and hasattr(model, "get_params"):
        return lambda x, y: clone(model).fit(x, y), f"{type(model).__name__} with the same settings"
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor  # noqa: PLC0415

    classes = hasattr(model, "predict_proba") or not target.dtype.is_float()
    kind = RandomForestClassifier if classes else RandomForestRegressor
    return lambda x, y: _with_words(kind(random_state=0), x).fit(x, y), "forests of ours (its kind is not known)"


def _with_words(model: Any, rows: Any) -> Any:  # noqa: ANN401 - scikit-learn's
    """A model that takes words too, as numbers: a frame may hold them."""
    from sklearn.compose import make_column_transformer  # noqa: PLC0415 - slow to import
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OrdinalEncoder  # noqa: PLC0415

    words = [name for name in getattr(rows, "columns", ()) if np.asarray(rows[name]).dtype.kind not in "biuf"]
    if not words:
        return model
    numbered = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_pipeline(make_column_transformer((numbered, words), remainder="passthrough"), model)


def _fitting(confidential: Sequence[str], question: Question) -> tuple[str, ...]:
    """Attributes that the model takes: what it does not take it cannot be asked with."""
    absent = [name for name in confidential if name not in question.features]
    if absent:
        raise RoleError(
            "the model does not take this confidential column", got=", ".join(absent),
            allowed=", ".join(question.features),
        )  # fmt: skip
    return tuple(confidential)


def _in_order(people: pl.DataFrame) -> Any:  # noqa: ANN401 - rows
    """Rows in an order that does not follow the file."""
    codes = [
        people[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        if people[name].dtype.is_numeric()
        else people[name].cast(pl.String).rank("dense").cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in people.columns
    ]
    return canonical_order(np.column_stack(codes))


def _split(order: Any, members: int, seed: int) -> tuple[Any, Any]:  # noqa: ANN401 - halves by lot, over the order
    rng = np.random.default_rng([seed, 3])
    found = []
    for inside in (order[order < members], order[order >= members] - members):
        half = np.empty(inside.size, dtype=np.int64)
        half[inside] = halves(inside.size, rng)
        found.append(half)
    return found[0], found[1]


def _reference_models(
    learn: Fit, people: pl.DataFrame, question: Question, how: tuple[int, int], progress: Progress
) -> Shadows:
    """Learn models from halves of everybody, in pairs, and ask each about everybody."""
    rng, seen, inside = np.random.default_rng(how[1]), [], []
    n = people.height
    for number in range(how[0]):
        lot = rng.permutation(n)
        for half in (np.sort(lot[: n // 2]), np.sort(lot[n // 2 :])):
            some = people[half]
            try:
                model = learn(question.rows(some), question.wanted(some))
            except UnmaskError:
                raise
            except Exception as error:  # the owner's function
                raise EngineError("a reference model could not be learnt", got=type(error).__name__) from error
            seen.append(_statistics(model, people, question))
            inside.append(np.isin(np.arange(n), half))
        progress((number + 1) / (how[0] + 1), "reference models")
    return Shadows({name: np.vstack([one[name] for one in seen]) for name in seen[0]}, np.vstack(inside))


def _statistics(model: Any, people: pl.DataFrame, question: Question) -> dict[str, Floats]:  # noqa: ANN401
    """How sure the model is of the truth (log odds), and of what it says; or how small its error is, for numbers."""
    odds, classes = _answers(model, people, question)
    if classes is None:
        error = np.abs(odds - question.wanted(people).astype(np.float64))
        scale = float(np.median(error)) or 1.0
        return {"truth": -np.log(error / scale + 1e-3)}
    truth = _of_truth(odds, classes, question.wanted(people))
    surest = np.clip(odds.max(axis=1), SURE, 1 - SURE)
    return {"truth": np.log(truth / (1 - truth)), "surest": np.log(surest / (1 - surest))}


def _of_truth(odds: Floats, classes: Any, wanted: Any) -> Floats:  # noqa: ANN401 - of any type
    place = {value: number for number, value in enumerate(np.asarray(classes).tolist())}
    at = np.array([place.get(value, -1) for value in np.asarray(wanted).tolist()])
    found = np.where(at >= 0, odds[np.arange(len(at)), np.maximum(at, 0)], 0.0)
    return np.clip(found, SURE, 1 - SURE)


def _answers(model: Any, people: pl.DataFrame, question: Question) -> tuple[Floats, Any]:  # noqa: ANN401
    """Probabilities of all classes and these; for a model of labels 1 and 0; for one of numbers them, and None."""
    try:
        if hasattr(model, "predict_proba"):
            odds = np.asarray(model.predict_proba(question.rows(people)), dtype=np.float64)
            return odds, getattr(model, "classes_", np.unique(question.wanted(people)))
        said = np.asarray(model.predict(question.rows(people)))
    except Exception as error:  # the owner's model
        raise EngineError(
            "the model cannot be asked about these people", got=type(error).__name__,
            hint="are the columns those it was learnt from, in the same order (--ignore the others)?",
        ) from error  # fmt: skip
    if said.dtype.kind == "f":
        return said, None
    classes = np.unique(np.concatenate([said, question.wanted(people)]))
    return (said[:, None] == classes[None, :]).astype(np.float64), classes


# --- attributes -------------------------------------------------------------------------------------------------------


def _attribute(
    model: Any,  # noqa: ANN401 - the owner's
    sides: tuple[pl.DataFrame, pl.DataFrame],
    question: Question,
    name: str,
    seed: int,
) -> Estimate:
    """Members whose attribute is guessed by asking the model, beyond people outside."""
    levels, prior, code = _levels(sides[1][name], sides[0][name])
    credit = []
    for people in sides:
        fits = np.column_stack([_fit_of(model, people.with_columns(value.alias(name)), question) for value in levels])
        credit.append((np.argmax(fits + prior, axis=1) == code(people[name])).astype(np.float64))
    return excess_over_control(credit[0], credit[1], seed=seed)


def _fit_of(model: Any, people: pl.DataFrame, question: Question) -> Floats:  # noqa: ANN401
    return _statistics(model, people, question)["truth"]


def _levels(outside: pl.Series, inside: pl.Series) -> tuple[list[Any], Floats, Callable[[pl.Series], Any]]:
    """Values to try, the log of how frequent each is outside, and which of them a person's value is.

    Numbers of many values are tried by the middle of each tenth of them, and the tenth is what is guessed.
    """
    both = pl.concat([inside, outside.cast(inside.dtype)]).drop_nulls()
    if both.n_unique() > LEVELS and both.dtype.is_numeric():
        edges = np.unique(np.quantile(both.to_numpy(), np.linspace(0.1, 0.9, 9)))

        def code(column: pl.Series) -> Any:  # noqa: ANN401 - places
            return np.searchsorted(edges, column.cast(pl.Float64).fill_null(np.nan).to_numpy(), "right")

        middles = [both.filter(pl.Series(code(both) == k)).median() for k in range(edges.size + 1)]
        levels = [pl.lit(middle).cast(inside.dtype) for middle in middles]
    else:
        common = both.alias("value").value_counts().sort(["count", "value"], descending=[True, False])
        values = common["value"].head(LEVELS).to_list()
        place = {value: number for number, value in enumerate(values)}
        levels = [pl.lit(value, dtype=inside.dtype) for value in values]

        def code(column: pl.Series) -> Any:  # noqa: ANN401
            return np.array([place.get(value, -1) for value in column.to_list()])

    counts = np.bincount(np.maximum(code(outside), 0), minlength=len(levels))
    return levels, np.log((counts + 1) / (counts.sum() + len(levels))), code


def worst_attribute(risk: ModelRisk) -> tuple[str, Estimate] | None:
    """The attribute that is learnt of most people, with the interval of the largest of so many."""
    if not risk.attributes:
        return None
    name = max(risk.attributes, key=lambda key: risk.attributes[key].value)
    return name, largest(tuple(risk.attributes.values()))


# --- what is reported -------------------------------------------------------------------------------------------------


def report_model(risk: ModelRisk) -> tuple[Reported, ...]:
    """What is judged: membership, and the attribute that is learnt of most people."""
    found, worst = risk.membership, worst_attribute(risk)
    membership = Evidence(
        observations=(
            Observation(
                "membership.auc",
                "A person whom the model was learnt from and a person outside are told apart "
                f"{percent(found.auc.value)} of the time.",
                found.auc,
            ),
            Observation(
                "membership.tpr",
                f"{percent(found.tpr_at_1_percent.value)} of {found.tpr_at_1_percent.n:,} people are recognised as "
                f"those "
                "the model was learnt from while 1 % of outsiders are wrongly accused.",
                found.tpr_at_1_percent,
            ),
        ),
        per_record=found.per_record,
        identity=False,
        facts=facts_of(found),
        figures=figures_of(found),
        notes=(f"{risk.shadows} reference models were learnt: {risk.reference}",),
    )
    reported = [Reported("membership", "Membership inference on a model", MEMBERSHIP, membership)]
    if worst is not None:
        words = f"of the people it was learnt from have their {worst[0]} guessed by asking the model, beyond outsiders."
        observation = Observation("inference.excess", f"{percent(worst[1].value)} {words}", worst[1])
        facts = tuple(
            Fact(name, round(one.value, 4), f"95 % CI {span(one.low, one.high)}; beyond people outside", share=True)
            for name, one in risk.attributes.items()
        )
        evidence = Evidence(observations=(observation,), identity=False, facts=facts)
        reported.append(Reported("inference", "Attribute inference through a model", ATTRIBUTES, evidence))
    return tuple(reported)


MEMBERSHIP = (
    "To be among those a model was learnt from is the secret. The intruder learns models like it, with and without a "
    "person, and compares how sure each is of what is true of the person."
)
ATTRIBUTES = (
    "The intruder knows all that the model takes but one attribute, and what is true. They ask the model with every "
    "value of the attribute, and take the one that fits best."
)
