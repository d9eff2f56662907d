"""The result of a linkage attack and its measures: Reid, anonymity sets, and what the intruder can *know* [TORRA]_."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.errors import ParameterError
from unmask.evidence import Estimate, rate

if TYPE_CHECKING:
    from unmask.study import Direction


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision against coverage: the intruder claims their surest links first. Ties of the margin enter together."""

    coverage: Floats  # share of attempts claimed
    precision: Floats  # share of the claimed links that is right
    margin: Floats  # the least margin among the claimed


@dataclass(frozen=True, slots=True)
class Linkage:
    """What a linkage attack found. Arrays have one entry per intruder record.

    ``links`` is the row that the record is linked to (-1: none); among tied candidates one is drawn at random and
    ``credit`` shares the success: 1/|T| when the true record is among the |T| nearest, else 0. No risk depends on the
    drawn one.
    """

    links: Ints
    distances: Floats
    credit: Floats
    tie_sizes: Ints
    margin: Floats
    total_distance: float
    optimal: bool
    truth: Ints  # the row that each record ought to be linked to, -1: not there
    n_candidates: int
    direction: Direction
    seed: int = 0
    asked: Flags | None = None  # the intruders that were sampled; None: all
    gap: float | None = None  # proven relative distance from the optimum; 0 when it is the optimum

    @property
    def attempted(self) -> Flags:
        """The records that were asked for and can be found: those with a true partner."""
        there = self.truth >= 0
        return there if self.asked is None else there & self.asked

    @property
    def chance(self) -> float:
        """A blind guess: one candidate drawn at random."""
        return 1.0 / self.n_candidates

    @property
    def estimate(self) -> Estimate:
        """Reid: the mean credit of the records that can be found, with interval and chance level."""
        return rate(self.credit[self.attempted], chance=self.chance, seed=self.seed)

    @property
    def curve(self) -> Curve:
        """Precision and coverage when links are claimed in order of margin, the largest first."""
        margin, credit = self.margin[self.attempted], self.credit[self.attempted]
        if np.isnan(margin).any():
            raise ParameterError("a decision alone has no margins", hint="link with decision_only=False")
        order = np.lexsort((credit, -margin))
        margin, credit = margin[order], credit[order]
        ends = np.flatnonzero(np.append(margin[1:] != margin[:-1], True))
        counts = ends + 1
        return Curve(counts / margin.size, np.cumsum(credit)[ends] / counts, margin[ends])

    def known(self, precision: float = 0.95) -> Estimate:
        """K.Reid: the largest share of people whose links, claimed by margin, are right at least this often."""
        if not 0 < precision <= 1:
            raise ParameterError("a precision is a share", got=str(precision), allowed="above 0, at most 1")
        curve, n = self.curve, int(self.attempted.sum())
        good = np.flatnonzero(curve.precision >= precision - 1e-12)
        claimed = round(float(curve.coverage[good[-1]]) * n) if good.size else 0
        marks = np.zeros(n)
        marks[:claimed] = 1.0
        return rate(marks, chance=0.0, seed=self.seed)

    def per_record(self, n_original: int) -> Floats:
        """One risk for each original record, whichever file asked; NaN for those that were not asked for."""
        if self.direction == "to_release":
            return self.credit.copy() if self.asked is None else np.where(self.asked, self.credit, np.nan)
        risk = np.full(n_original, 0.0 if self.asked is None else np.nan)
        there = self.truth >= 0
        values = self.credit if self.asked is None else np.where(self.asked, self.credit, np.nan)
        risk[self.truth[there]] = values[there]
        return risk
