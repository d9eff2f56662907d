"""Shadows: the intruder makes releases (or models) of their own, knowing who is inside, and learns from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unmask.arrays import Flags, Floats, Ints, Rows
from unmask.disclosure.candidates import DIGITS, WIDTHS, looks, matched
from unmask.disclosure.lira import calibrated, likelihood_ratios
from unmask.disclosure.outside import Ruler, Scene, in_order, make_ruler
from unmask.errors import EngineError, UnmaskError
from unmask.evidence import Progress
from unmask.masking import Maker, as_maker
from unmask.study import Study
from unmask.tables import Encoded, canonical_order

Attack = Callable[[Any, Floats, Ints], Floats]


class Plan(NamedTuple):
    """How shadows are made: of whom (rows of the scene's people, in canonical order), how many pairs, by which seed."""

    everybody: Rows
    pairs: int
    seed: int


class Shadows(NamedTuple):
    """Statistics of the people asked for in each shadow, by name (shadows x people), and whether it holds them."""

    seen: dict[str, Floats]
    inside: Flags


def shadow_scores(study: Study, scene: Scene, mask: Maker, how: Plan, progress: Progress) -> dict[str, Floats]:
    """Scores of members, then strangers, by the name of the attack, learnt from shadow releases.

    Shadows are made of halves of everybody, whom the intruder knows without knowing who is inside, in pairs: who is
    not in one is in the other. *likelihood ratio*: person by person; *learnt from shadows*: log odds of being inside by
    all statistics, as they are and above what they are without the person.
    """
    people = np.concatenate([scene.members, scene.strangers])
    order = in_order(scene.of(people))
    asked = _statistics(scene.ruler, scene.of(people[order]), scene.encoding.released)
    shadows = _shadows(study, people[order], mask, how, progress)
    scores = {f"likelihood ratio, {name}": likelihood_ratios(seen, shadows.inside, asked[name])
              for name, seen in shadows.seen.items()}  # fmt: skip
    scores["learnt from shadows"] = learnt(shadows, asked)
    return {name: _unordered(np.round(values, DIGITS), order) for name, values in scores.items()}


def _shadows(study: Study, asked: Rows, mask: Maker, how: Plan, progress: Progress) -> Shadows:
    """Make the shadow releases, and look at the people asked for in each of them."""
    whole = study.everybody().release
    everybody = how.everybody
    table = whole.original.select(study.release.quasi)[everybody]
    place = np.full(int(everybody.max()) + 1, -1, dtype=np.int64)
    place[everybody] = np.arange(everybody.size)
    rng, seen, inside = np.random.default_rng(how.seed), [], []
    lot = np.arange(everybody.size)
    for number in range(2 * how.pairs):
        lot = rng.permutation(everybody.size) if number % 2 == 0 else lot[::-1]  # who is left
        chosen = np.sort(lot[: everybody.size // 2])
        shadow = mask(table[chosen], int(rng.integers(2**31)))
        studied = Study(whole.with_tables(table, shadow, np.full(table.height, -1, dtype=np.int64)))
        encoding = studied.encoding(study.release.quasi)
        ruler = make_ruler(encoding, studied.index(study.release.quasi, scale="original").space)
        seen.append(_statistics(ruler, encoding.original.take(place[asked]), encoding.released))
        inside.append(np.isin(place[asked], chosen))
        progress((number + 1) / (2 * how.pairs + 1), "shadow releases")
    return Shadows({name: np.vstack([one[name] for one in seen]) for name in seen[0]}, np.vstack(inside))


def _statistics(ruler: Ruler, people: Encoded, rows: Encoded) -> dict[str, Floats]:
    """What a release says of people, as normal scores of ranks: shadows and the release are alike, whatever their size.

    How much rows are theirs rather than anybody else's, by each width.
    """
    ours, theirs = (looks(side, ruler.mean, ruler.sd) for side in (people, rows.take(in_order(rows))))
    found = {name: matched(ours, theirs, kernel) for name, kernel in WIDTHS.items()}
    return {name: _normal_scores(values) for name, values in found.items()}


def _normal_scores(values: Floats) -> Floats:
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import

    order = np.sort(values)
    ranks = (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")) / 2
    return np.asarray(ndtri(np.clip(ranks / order.size, 0.5 / order.size, 1 - 0.5 / order.size)))


def learnt(shadows: Shadows, asked: dict[str, Floats]) -> Floats:
    """Log odds by all statistics, learnt from who is in each shadow."""
    known, wanted = [], []
    for name, seen in shadows.seen.items():
        own, target = calibrated(seen, shadows.inside, asked[name])
        known += [seen.ravel(), own.ravel()]
        wanted += [asked[name], target]
    return _log_odds(np.column_stack(known), shadows.inside.ravel().astype(np.int64), np.column_stack(wanted))


def _unordered(values: Floats, order: Rows) -> Floats:
    """Bring values from canonical order back to that of the people."""
    found = np.empty_like(values)
    found[order] = values
    return found


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


__all__ = ["Maker", "Plan", "Shadows", "answers", "as_maker", "learn_membership", "learnt", "shadow_scores"]
