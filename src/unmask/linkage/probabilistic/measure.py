"""Probabilistic linkage (Fellegi-Sunter): the intruder weighs agreements by how rarely they happen by chance.

They hold the original records and compare each with every released one, attribute by attribute: equal, close, or not.
Agreement on a rare thing tells much, agreement on a common one little; how much they learn from the files alone, by
EM, without knowing a single true pair. They link each person to the record of the greatest weight [FELLEGI]_, [TORRA]_.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.errors import EngineError, ParameterError
from unmask.evidence import Context, Evidence, Fact, Figure, Observation, Progress, Series, measure, rate, silent
from unmask.kernels.assignment import CERTIFIED
from unmask.kernels.pairs import Patterns
from unmask.linkage.probabilistic.candidates import Found, best_candidates, count_patterns, match_one_to_one
from unmask.linkage.probabilistic.levels import Comparison, Numbers, compare
from unmask.linkage.probabilistic.model import FellegiSunter, Fitting, fit, unpack
from unmask.linkage.result import Linkage
from unmask.study import Study, as_study, draw, spread
from unmask.tables import Release

Status = Literal["linked", "clerical", "non-linked"]
PAIRS_TO_LEARN_FROM, PAIRS_TO_ASK = 500_000, 40_000_000  # in the measure
PAIRS_WITH_BANDS = 5_000_000  # to learn from, unless asked otherwise
SHADE = 1e-9  # bits: weights that differ by less are equal


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilisticLinkage(Linkage):
    """A linkage and its model. ``distances`` are bits below full agreement, ``margin`` bits above the next."""

    model: FellegiSunter
    weight: Floats  # of the best candidate, in bits
    posterior: Floats  # probability that the link is right, as the intruder sees it
    lower: float  # bits: below it non-linked, from upper on linked, clerical between
    upper: float
    comparison: Comparison

    @property
    def status(self) -> tuple[Status, ...]:
        """Linked, clerical or non-linked, for each record."""
        names: tuple[Status, ...] = ("non-linked", "clerical", "linked")
        place = (self.weight >= self.lower).astype(int) + (self.weight >= self.upper)
        return tuple(names[int(p) if not np.isnan(w) else 0] for p, w in zip(place, self.weight, strict=True))

    def waterfall(self, record: int) -> tuple[tuple[str, str, float], ...]:
        """What each attribute adds to the weight of a record's link: attribute, level in words, bits."""
        model = self.model
        if not 0 <= record < len(self.links) or self.links[record] < 0:
            raise ParameterError("this record has no link", got=str(record), allowed="a row with links >= 0")
        levels = self.comparison.levels(np.array([record]), self.links[[record]])[0]
        return tuple(
            (name, model.levels[k][levels[k]], float(model.weights[k, levels[k]])) for k, name in enumerate(model.names)
        )

    def calibration(self, bins: int = 10) -> tuple[tuple[float, float, int], ...]:
        """Hold the intruder's probabilities against the truth: mean posterior, share that is right, number of links."""
        posterior = self.posterior[self.attempted]
        credit = self.credit[self.attempted]
        place = np.minimum((posterior * bins).astype(int), bins - 1)
        return tuple(
            (float(posterior[place == b].mean()), float(credit[place == b].mean()), int((place == b).sum()))
            for b in range(bins)
            if (place == b).any()
        )


def link_probabilistic(  # noqa: PLR0913 - the choices of the method
    release: Release | Study,
    *,
    numbers: Numbers = "bands",
    widths: Mapping[str, Sequence[float]] | None = None,
    attributes: Sequence[str] | Literal["best"] | None = None,
    fitting: Fitting | None = None,
    false_positive: float | None = None,
    false_negative: float = 0.05,
    one_to_one: bool = False,
    learn_from: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> ProbabilisticLinkage:
    """Link every original record to the released records of greatest match weight.

    Parameters
    ----------
    numbers
        "bands": numbers agree exactly, within one of several widths, or not. "exact": they agree or differ.
    widths
        The widths of single numbers, such as ``{"age": [0, 1, 5]}``; the others' come from the data.
    attributes
        The attributes to compare, at most 14; "best": the 14 on which two people agree least often. None: all.
    fitting
        How EM is run: prior (1/n), u, tolerance, steps.
    false_positive, false_negative
        Wanted rates P(linked | no match) and P(non-linked | match), from which ``upper`` and ``lower`` follow. None:
        one false link for every twenty people, 0.05 / (records in the release).
    one_to_one
        Link no released record twice: the links of greatest total weight above ``lower``.
    learn_from
        Run EM on the pairs of so many people with everybody; the standard errors tell what that costs. None: all where
        agreement is exact; with bands as many as make five million pairs.
    sample
        Ask for so many people only. None: all.
    seed
        Seeds the draw among ties, the sample and the bootstrap.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(100)
    >>> unmask.link_probabilistic(unmask.Release(people, people)).estimate.value
    1.0

    """
    _check_rates(false_positive=false_positive, false_negative=false_negative)
    study = as_study(release)
    encoding, release = study.encoding(), study.release
    comparison = compare(encoding, numbers=numbers, widths=widths, attributes=attributes)
    if learn_from is None:
        learn_from = sample if sample is not None else _enough(comparison)
    rows, taught = (
        np.arange(len(comparison.left)) if size is None else draw(encoding, release.truth, "to_release", size, seed)
        for size in (sample, learn_from)
    )
    asked, teaching = (comparison.of_rows(some) for some in (rows, taught))
    progress(0.0, "agreement patterns of all pairs")
    patterns = count_patterns(teaching)
    progress(0.3, "EM")
    model = fit(teaching, patterns, fitting or Fitting())
    wanted = 0.05 / len(comparison.right) if false_positive is None else false_positive
    lower, upper = thresholds(model, patterns, wanted, false_negative)
    progress(0.6, "best candidates")
    found = best_candidates(
        asked, model, release.truth[rows], seed, lambda done: progress(0.6 + 0.4 * done, "best candidates")
    )
    gap = 0.0
    if one_to_one:
        found, gap = match_one_to_one(asked, model, release.truth[rows], lower, found)
    return _result(release, comparison, model, found, _Cut(rows, lower, upper, seed, gap))


def _enough(comparison: Comparison) -> int | None:
    """People to learn from unless asked otherwise: all where agreement is exact, else as many as make enough pairs."""
    enough = max(1, PAIRS_WITH_BANDS // len(comparison.right))
    return enough if enough < len(comparison.left) and not comparison.exact else None


def _check_rates(**wishes: float | None) -> None:
    for name, wish in wishes.items():
        if wish is not None and not 0 <= wish <= 1:
            raise ParameterError(f"{name} is a rate", got=str(wish), allowed="from 0 to 1")


class _Cut(NamedTuple):
    rows: Ints
    lower: float
    upper: float
    seed: int
    gap: float


def weights_of(model: FellegiSunter, patterns: Patterns) -> Floats:
    """Weight of each pattern, in bits."""
    levels = unpack(patterns, np.array(model.radix, dtype=np.int64))
    return np.asarray(sum(model.weights[k, levels[:, k]] for k in range(levels.shape[1])))


def thresholds(
    model: FellegiSunter, patterns: Patterns, false_positive: float, false_negative: float
) -> tuple[float, float]:
    """Lower and upper weight, in bits, from the wanted error rates of the model over the patterns that occur.

    Patterns of equal weight are taken or left together, and the last bit of a sum, which follows row order, does not
    decide: thresholds lie a shade below the weights that are wanted.
    """
    weights = weights_of(model, patterns)
    order = np.argsort(-weights, kind="stable")
    weight, count = weights[order], patterns.count[order].astype(np.float64)
    match = model.posterior(weight) * count
    other = count - match
    ends = np.append(weight[:-1] - weight[1:] > SHADE, True)
    weight = weight[ends] - SHADE
    wrong = np.cumsum(other)[ends] / max(other.sum(), 1e-300)  # P(weight at least this | no match)
    lost = 1 - np.cumsum(match)[ends] / max(match.sum(), 1e-300)  # P(weight below this | match)
    good = np.flatnonzero(wrong <= false_positive)
    kept = np.flatnonzero(lost <= false_negative + 1e-12)
    upper = float(weight[good[-1]]) if good.size else float(weight[0]) + 1.0
    lower = float(weight[kept[0]]) if kept.size else float(weight[-1])
    return (lower, upper) if lower <= upper else (upper, upper)


def _result(
    release: Release, comparison: Comparison, model: FellegiSunter, found: Found, cut: _Cut
) -> ProbabilisticLinkage:
    n = len(comparison.left)

    top = float(model.weights.max(axis=1).sum())
    margin = np.where(found.ties > 1, 0.0, found.weight - found.second)
    return ProbabilisticLinkage(
        links=spread(found.row, cut.rows, n, -1),
        distances=spread(top - found.weight, cut.rows, n, np.nan),
        credit=spread(found.credit, cut.rows, n, 0.0),
        tie_sizes=spread(found.ties, cut.rows, n, 0),
        margin=spread(margin, cut.rows, n, np.nan),
        total_distance=float(np.nansum(np.sort(top - found.weight))),
        optimal=cut.gap <= CERTIFIED,
        truth=spread(release.truth[cut.rows], cut.rows, n, -1),
        n_candidates=len(comparison.right),
        seed=cut.seed,
        asked=None if len(cut.rows) == n else spread(np.ones(len(cut.rows), dtype=bool), cut.rows, n, blank=False),
        gap=cut.gap,
        model=model,
        weight=spread(found.weight, cut.rows, n, np.nan),
        posterior=spread(found.posterior, cut.rows, n, np.nan),
        lower=cut.lower,
        upper=cut.upper,
        comparison=comparison,
    )


HELD = "m and u did not settle together: u is held at its share among all pairs, nearly all of which are no matches"


@measure(
    "probabilistic",
    title="Probabilistic linkage",
    story="The intruder weighs each agreement by how rarely it happens by chance, learnt from the two files alone, and "
    "takes for each person the record of greatest weight.",
    keys=("probabilistic.rate", "probabilistic.linked"),
)
def assess_probabilistic(study: Study, context: Context) -> Evidence:
    """Run the attack and tell what it found."""
    release = study.release
    linkage, held = _link(study, context)
    sure = np.array(linkage.status)[linkage.attempted] == "linked"
    return Evidence(
        observations=weight_observations(linkage, sure, context.seed),
        per_record=linkage.per_record(release.original.height) if linkage.asked is None else None,
        compared=study.compared,
        facts=_facts(linkage, int(sure.sum())),
        figures=_figures(linkage),
        notes=(*_notes(release, linkage), *held),
    )


def weight_observations(linkage: Linkage, sure: Flags, seed: int) -> tuple[Observation, Observation]:
    """People who are linked to their own record, and those above the intruder's own threshold (``sure``)."""
    right = np.where(sure, linkage.credit[linkage.attempted], 0.0)
    claimed = rate(right, chance=linkage.chance * float(sure.mean()), seed=seed)
    return (
        Observation.of_people(
            "probabilistic.rate", linkage.estimate, "are linked to their own record by weighing agreements."
        ),
        Observation.of_people(
            "probabilistic.linked",
            claimed,
            "are linked, rightly, by the intruder's own threshold.",
            claims=int(sure.sum()),
        ),
    )


def _link(study: Study, context: Context) -> tuple[ProbabilisticLinkage, tuple[str, ...]]:
    """Link with m and u learnt together; where that does not come to rest, with u held at its share among all pairs.

    Coarse tables leave m and u undecided together. Nearly all pairs are no matches, so u is known well enough.
    """
    height, people = study.release.released.height, study.release.original.height
    taught, asked = (max(1, most // height) for most in (PAIRS_TO_LEARN_FROM, PAIRS_TO_ASK))

    def link(fitting: Fitting) -> ProbabilisticLinkage:
        sample = asked if asked < people else None
        return link_probabilistic(
            study,
            attributes="best",
            learn_from=taught,
            sample=sample,
            fitting=fitting,
            seed=context.seed,
            progress=context.progress,
        )

    try:
        return link(Fitting(tolerance=1e-5)), ()
    except EngineError:
        return link(Fitting(tolerance=1e-3, u="random")), (HELD,)


def _notes(release: Release, linkage: ProbabilisticLinkage) -> tuple[str, ...]:
    names = linkage.model.names
    notes = [] if len(names) == len(release.quasi) else [f"compared on {len(names)} of {len(release.quasi)} attributes"]
    if len(names) < 3:
        notes.append("with fewer than three attributes m and u cannot be told apart; only the order of levels counts")
    return tuple(notes)


def _facts(linkage: ProbabilisticLinkage, linked: int) -> tuple[Fact, ...]:
    gap = sum(n * abs(said - right) for said, right, n in linkage.calibration()) / max(1, int(linkage.attempted.sum()))
    clerical = int((np.array(linkage.status)[linkage.attempted] == "clerical").sum())
    return (
        Fact("links that the intruder would claim", linked, f"weight of at least {linkage.upper:.1f} bits"),
        Fact("links left to judgement", clerical, f"weight from {linkage.lower:.1f} bits: the clerical ones"),
        Fact(
            "calibration error",
            gap,
            "mean difference between the probability they see and the share that is right",
            share=True,
        ),
        Fact("steps of EM", linkage.model.iterations, "until m and u no longer moved"),
    )


def _figures(linkage: ProbabilisticLinkage) -> tuple[Figure, ...]:
    prior = linkage.model.prior
    right = np.where(linkage.attempted & (linkage.credit > 0), linkage.weight, -np.inf)
    if not np.isfinite(right).any():
        return ()
    steps = linkage.waterfall(int(np.argmax(right)))
    odds = float(np.log2(prior / (1 - prior)))
    names = ("before comparing", *(f"{name}: {level}" for name, level, _ in steps), "in all")
    bits = (odds, *(weight for _, _, weight in steps), odds + sum(weight for _, _, weight in steps))
    return (
        Figure(
            shape="waterfall",
            title="Why the intruder believes their surest right link",
            caption="Bits for (to the right) and against the two records being one person, one after the other. Above "
            "0 in all: more likely than not.",
            alt="Weights of one link in bits: " + ", ".join(f"{n} {b:+.1f}" for n, b in zip(names, bits, strict=True)),
            x_label="what was compared",
            y_label="bits",
            series=(Series("weight", names, bits),),
        ),
    )
