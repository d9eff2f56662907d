"""The model of Fellegi and Sunter from counts of patterns alone, where the records are too many to be brought here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.errors import EngineError
from unmask.evidence import Evidence, Fact
from unmask.kernels.pairs import Patterns
from unmask.kernels.weighing import TIE
from unmask.linkage.probabilistic.levels import Comparison
from unmask.linkage.probabilistic.measure import HELD, thresholds, weight_observations
from unmask.linkage.probabilistic.model import FellegiSunter, Fitting, fit
from unmask.linkage.result import Linkage


@dataclass(frozen=True, slots=True)
class Learnt:
    """A fitted model of exact agreement; ``step``, ``missing``: bits lost where an attribute differs, or is missing."""

    model: FellegiSunter
    lower: float
    upper: float
    step: Floats
    missing: Floats
    notes: tuple[str, ...] = ()
    tie: float = TIE

    @property
    def top(self) -> float:
        """Weight of full agreement, in bits."""
        return float(self.model.weights[:, 0].sum())


def learn_from_patterns(
    names: tuple[str, ...], gaps: list[bool], sizes: tuple[int, int], code: Ints, count: Ints
) -> Learnt:
    """Fit by EM; ``sizes``: people and records, whose pairs show these patterns so often."""
    comparison, patterns = _comparison(names, gaps, sizes), Patterns(code, count)
    unknown = np.full((len(names), int(comparison.radix.max())), np.nan)
    notes: tuple[str, ...] = ()
    try:
        model = fit(comparison, patterns, Fitting(), unknown)
    except EngineError:
        model, notes = fit(comparison, patterns, Fitting(tolerance=1e-3, u="random"), unknown), (HELD,)
    lower, upper = thresholds(model, patterns, 0.05 / sizes[1], 0.05)
    weights = model.weights
    step = weights[:, 0] - weights[:, 1]
    missing = np.where(comparison.gaps, weights[:, 0] - weights[:, -1], 0.0)
    if (step < 0).any() or (missing < 0).any():
        raise EngineError("agreement counts against a match in this model: its weights are no distance")
    return Learnt(model, lower, upper, step, missing, notes)


def _comparison(names: tuple[str, ...], gaps: list[bool], sizes: tuple[int, int]) -> Comparison:
    """Exact agreement on every attribute, of tables that are not here: their numbers of rows are all that is asked."""
    m = len(names)
    left, right = (np.broadcast_to(0.0, (n, m)) for n in sizes)
    return Comparison(names, left, right, np.zeros((m, 1)), np.ones(m, dtype=np.int64), np.array(gaps, dtype=bool))


def counted_probabilistic(learnt: Learnt, linkage: Linkage, seed: int) -> Evidence:
    """What was found for the people who were asked; ``linkage``: distances are bits below full agreement."""
    weight = learnt.top - linkage.distances
    sure, clerical = weight >= learnt.upper, (weight >= learnt.lower) & (weight < learnt.upper)
    return Evidence(
        observations=weight_observations(linkage, sure, seed),
        per_record=linkage.credit,
        facts=(
            Fact("links that the intruder would claim", int(sure.sum()), f"weight of at least {learnt.upper:.1f} bits"),
            Fact(
                "links left to judgement",
                int(clerical.sum()),
                f"weight from {learnt.lower:.1f} bits: the clerical ones",
            ),
            Fact("steps of EM", learnt.model.iterations, "until m and u no longer moved, over all pairs"),
        ),
        notes=learnt.notes,
    )
