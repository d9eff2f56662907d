"""The result of a linkage attack and its measures: Reid, anonymity sets, and what the intruder can *know* [TORRA]_."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.errors import ParameterError
from unmask.evidence import Estimate, Figure, Series, rate, wilson
from unmask.shares import percent
from unmask.shown import Shown
from unmask.study import Direction

LOTS = 100_000  # drawn for one interval
SURE_AT_ONCE = 3.0  # standard errors: for all steps of a curve together
FEW_WRONG = 3  # links: fewer say little of how many there might have been
MOST_STEPS = 2000  # of a curve that is drawn again; more are taken together


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision against coverage: the intruder claims their surest links first. Ties of the margin enter together."""

    coverage: Floats  # share of attempts claimed
    precision: Floats  # share of the claimed links that is right
    margin: Floats  # the least margin among the claimed


@dataclass(frozen=True, slots=True)
class Linkage(Shown):
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
    direction: Direction = "to_release"
    seed: int = 0
    asked: Flags | None = None  # the intruders that were sampled; None: all
    gap: float | None = None  # proven relative distance from the optimum; 0 when it is the optimum
    joint: bool = False  # one to one: who is linked wrongly has somebody else's record, who is then wrong as well

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
        found = rate(self.credit[self.attempted], chance=self.chance, seed=self.seed)
        return in_chains(found) if self.joint else found

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
        """K.Reid: the largest share of people whose links, claimed by margin, are right at least this often.

        A few wrong links more or less among the clearest move it far, which a count of people does not show: its
        interval is that of the whole curve drawn again, and at least that of the count.
        """
        n = int(self.attempted.sum())
        marks = np.zeros(n)
        marks[: self.claimed(precision)] = 1.0
        found, (low, high) = rate(marks, chance=0.0, seed=self.seed), self._drawn_again(precision)
        if self.asked is not None:
            low, high = self._known_of_all(precision, low, high)
        return replace(found, low=min(found.low, low), high=max(found.high, high), method="bootstrap")

    def _known_of_all(self, precision: float, low: float, high: float) -> tuple[float, float]:
        """The same interval where some people stand for all: the largest of many claims flatters a few people.

        Surely known are those up to the last claim whose precision is surely enough, at every step at once; perhaps
        those up to the last whose precision may be enough.
        """
        curve, n = self.curve, int(self.attempted.sum())
        count = np.round(curve.coverage * n)
        ends = [
            (wilson(c * p, c, SURE_AT_ONCE)[0], wilson(c * p, c)[1])
            for c, p in zip(count, curve.precision, strict=True)
        ]
        surely, perhaps = (
            max((c for c, end in zip(count, ends, strict=True) if end[k] >= precision), default=0.0) for k in (0, 1)
        )
        return min(low, wilson(surely, n)[0]), max(high, wilson(perhaps, n)[1])

    def claimed(self, precision: float = 0.95) -> int:
        """The number of people whose links are claimed, the clearest first, as long as they are right this often."""
        if not 0 < precision <= 1:
            raise ParameterError("a precision is a share", got=str(precision), allowed="above 0, at most 1")
        curve = self.curve
        good = np.flatnonzero(curve.precision >= precision - 1e-12)
        return round(float(curve.coverage[good[-1]]) * int(self.attempted.sum())) if good.size else 0

    def claims(self, precision: float = 0.95) -> Flags:
        """Whom these claims are about."""
        curve = self.curve
        good = np.flatnonzero(curve.precision >= precision - 1e-12)
        return self.attempted & (self.margin >= (curve.margin[good[-1]] if good.size else np.inf))

    def right(self, precision: float = 0.95) -> float:
        """How many of the claimed links are right."""
        curve, claimed = self.curve, self.claimed(precision)
        steps = np.flatnonzero(np.round(curve.coverage * int(self.attempted.sum())) == claimed)
        return float(curve.precision[steps[-1]]) * claimed if steps.size else 0.0

    def _drawn_again(self, precision: float) -> tuple[float, float]:
        """95 % percentile interval of the share claimed: right and wrong links of each margin are drawn again.

        Where next to no wrong link was seen there may be some all the same: each draw has as many more, at any margin,
        as one that was not seen leaves open (geometric, of mean one).
        """
        curve = self.curve
        ends = np.concatenate([[0], np.round(curve.coverage * int(self.attempted.sum()))])
        sizes = np.diff(ends)
        right = np.clip(np.diff(np.concatenate([[0.0], curve.precision * ends[1:]])), 0.0, sizes)
        if sizes.size > MOST_STEPS:
            starts = np.linspace(0, sizes.size, MOST_STEPS, endpoint=False).astype(int)
            sizes, right = np.add.reduceat(sizes, starts), np.add.reduceat(right, starts)
        draws = int(np.clip(LOTS // sizes.size, 300, 2000))
        rng = np.random.default_rng(sizes.size)  # a curve has one interval, whichever way ties were drawn
        hits, wrong = (rng.poisson(many, (draws, sizes.size)) for many in (right, sizes - right))
        if (sizes - right).sum() < FEW_WRONG:
            wrong = wrong + rng.multinomial(rng.geometric(0.5, draws) - 1, sizes / sizes.sum())
        claims = np.cumsum(hits + wrong, axis=1)
        good = (np.cumsum(hits, axis=1) >= precision * claims - 1e-9) & (claims > 0)
        last = sizes.size - 1 - np.argmax(good[:, ::-1], axis=1)
        known = np.where(good.any(1), claims[np.arange(draws), last] / np.maximum(claims[:, -1], 1), 0.0)
        low, high = np.quantile(known, [0.025, 0.975])
        return float(low), float(high)

    def per_record(self, n_original: int) -> Floats:
        """One risk for each original record, whichever file asked; NaN for those that were not asked for."""
        if self.direction == "to_release":
            return self.credit.copy() if self.asked is None else np.where(self.asked, self.credit, np.nan)
        risk = np.full(n_original, 0.0 if self.asked is None else np.nan)
        there = self.truth >= 0
        values = self.credit if self.asked is None else np.where(self.asked, self.credit, np.nan)
        risk[self.truth[there]] = values[there]
        return risk

    def figure(self, name: str = "this attack") -> Figure:
        """Precision against coverage."""
        curve = self.curve
        pick = np.unique(np.linspace(0, len(curve.coverage) - 1, 200).round().astype(int))
        known = self.claimed() / max(int(self.attempted.sum()), 1)
        return Figure(
            shape="step",
            title="How sure can the intruder be?",
            caption="They claim their clearest links first, equally clear ones together: of this share of people "
            "claimed, this share is right.",
            alt=f"Precision against coverage. Precision is at least 95 percent up to {percent(known)} of people; "
            f"over all it is {percent(self.estimate.value)}.",
            x_label="people claimed",
            y_label="claims that are right",
            series=(
                Series(
                    name,
                    (0.0, *curve.coverage[pick].tolist()),  # a step ends at its coverage: part of equals is no choice
                    (float(curve.precision[0]), *curve.precision[pick].tolist()),
                ),
                Series("blind guess", (0.0, 1.0), (self.chance, self.chance)),
            ),
            percent=(True, True),
        )


def in_chains(found: Estimate) -> Estimate:
    """The interval of a rate whose errors come in chains: as of so many people fewer.

    Whoever is linked wrongly has one person's record, and another has theirs: both are wrong as well. With a share p
    right, what an error says of these two makes the variance (1 + 2 p) times that of single people; (1 + p) where all
    errors are two people who changed places.
    """
    fewer = found.n / (1.0 + 2.0 * found.value)
    low, high = wilson(found.value * fewer, fewer)
    return replace(found, low=min(found.low, low), high=max(found.high, high))


def why_more(known: Estimate, found: Estimate, right: float | None = None) -> str:
    """Why more people can be known than are found: of those claimed some are wrong, though few. Else nothing."""
    if known.value <= found.value + 1e-12:
        return ""
    claims = f"They claim {known.hits:,.0f} people and are right for "
    told = "at least 19 in 20 of them" if right is None else f"{right:,.0f}, at least 19 in 20"
    return f" {claims}{told}: so more are claimed than found."
