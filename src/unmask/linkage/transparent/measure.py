"""Transparency attacks: the intruder knows how the release was made, and uses it [NIN]_, [TORRA]_.

They hold the original records, the release, and the name and parameters of the masking, which offices publish
and which may not be the secret that protects people (Kerckhoffs). For each person they rule out the records that cannot
have been made from them, and weigh the others by how likely the masking makes them: a posterior, not only a link.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.errors import EngineError, ParameterError
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, Progress, measure, rate, silent
from unmask.kernels.likelihood import Likelihoods, likelihoods
from unmask.kernels.weighing import TIE
from unmask.linkage.result import Linkage, why_more
from unmask.linkage.transparent.again import link_again
from unmask.linkage.transparent.attempts import Attempt, attempt, best_of, blind_attempts
from unmask.linkage.transparent.chains import describe, peel
from unmask.linkage.transparent.matching import MOST_PAIRS, matching_credit
from unmask.masking import Chain, Masking, parse_masking
from unmask.shares import percent
from unmask.study import Study, as_study, draw, spread
from unmask.tables import Release

PAIRS_FOR_ASSESS = 20_000_000
SURE = 0.95  # posterior from which the intruder relies on a link


@dataclass(frozen=True, slots=True, kw_only=True)
class TransparentLinkage(Linkage):
    """Links by likelihood. ``distances`` and ``margin`` are in units of log-likelihood (natural logarithms)."""

    posterior: Floats  # of the linked record, given that the person is in the release
    true_posterior: Floats  # of the true record
    anonymity: Ints  # size of the set A_b of records that the person can have become
    inside: Flags  # whether the true record is in it
    matched: Floats | None = None  # credit in the most likely one-to-one matching; None: too many, or not all asked for

    @property
    def one_to_one(self) -> Estimate | None:
        """Success of the most likely one-to-one matching; None where it was not made."""
        if self.matched is None:
            return None
        return rate(self.matched[self.attempted], chance=self.chance, seed=self.seed)

    @property
    def reid_k(self) -> Estimate:
        """Reid_k: the success of guessing within the anonymity set, 1/|A_b| where it holds the true record."""
        credit = np.where(self.inside, 1.0 / np.maximum(self.anonymity, 1), 0.0)[self.attempted]
        return rate(credit, chance=self.chance, seed=self.seed)

    def sure(self, least: float = SURE) -> Estimate:
        """Share of people whose link has at least this posterior, and is right."""
        if not 0 < least <= 1:
            raise ParameterError("a posterior is a probability", got=str(least), allowed="above 0, at most 1")
        claimed = self.posterior[self.attempted] >= least
        right = np.where(claimed, self.credit[self.attempted], 0.0)
        return rate(right, chance=self.chance * float(claimed.mean()), seed=self.seed)


def link_transparent(
    release: Release | Study,
    *,
    masking: Masking | str | None = None,
    sample: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> TransparentLinkage:
    """Link every original record to the released records that the known masking makes likeliest.

    Parameters
    ----------
    masking
        What the intruder knows: a masking, or a text such as "rank_swap(share=0.05)". None: ``release.masking``.
    sample
        Ask for so many people only. None: all.
    seed
        Seeds the draw among ties, the sample and the bootstrap.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(200)
    >>> swapped = unmask.parse_masking("rank_swap(share=0.05)").apply(people, 1)
    >>> linkage = unmask.link_transparent(unmask.Release(people, swapped), masking="rank_swap(share=0.05)")
    >>> bool(linkage.inside.all())
    True

    """
    study = as_study(release)
    release = study.release
    known = _read(masking if masking is not None else release.masking)
    encoding = study.encoding()
    n = release.original.height
    rows = np.arange(n) if sample is None else draw(encoding, release.truth, "to_release", sample, seed)
    progress(0.0, "what the masking allows")
    before, known = peel(release, known)
    encoding = encoding if before is release else Study(before).encoding()
    made = describe(before, encoding, known)
    made = made._replace(x=made.x[rows], low=made.low[rows], high=made.high[rows], x_rank=made.x_rank[rows])
    found = likelihoods(made, release.truth[rows], seed)
    progress(0.5, "likelihoods")
    whole = len(rows) == n and n * release.released.height <= MOST_PAIRS
    matched = matching_credit(made, encoding, release.truth, seed) if whole else None
    progress(1.0, "the most likely matching")
    return replace(_result(release, found, rows, seed), matched=matched)


def _read(masking: Masking | str | None) -> Masking:
    if masking is None:
        raise ParameterError("the masking is not given", hint='masking="noise(0.5)", here or in Release')
    return parse_masking(masking) if isinstance(masking, str) else masking


def _result(release: Release, found: Likelihoods, rows: Ints, seed: int) -> TransparentLinkage:
    best, n = found.best, release.original.height
    nobody = best.ties == 0  # no released record can have been made from this person: the masking was another
    credit = np.where(~nobody & (best.true >= best.best - TIE), 1.0 / np.maximum(best.ties, 1), 0.0)
    with np.errstate(invalid="ignore"):
        posterior = np.where(nobody, 0.0, np.exp(best.best - best.total))
        true_posterior = np.where(nobody | np.isnan(best.true), 0.0, np.exp(best.true - best.total))
        second = np.where(best.second <= -1e299, -np.inf, best.second)
        margin = np.where(nobody | (best.ties > 1), 0.0, best.best - second)
    distances = np.where(nobody, np.nan, -best.best)
    return TransparentLinkage(
        links=spread(best.row, rows, n, -1),
        distances=spread(distances, rows, n, np.nan),
        credit=spread(credit, rows, n, 0.0),
        tie_sizes=spread(best.ties, rows, n, 0),
        margin=spread(margin, rows, n, np.nan),
        total_distance=float(np.nansum(np.sort(distances))),
        optimal=True,
        truth=release.truth,
        n_candidates=release.released.height,
        seed=seed,
        asked=None if len(rows) == n else spread(np.ones(len(rows), dtype=bool), rows, n, blank=False),
        gap=0.0,
        posterior=spread(posterior, rows, n, np.nan),
        true_posterior=spread(true_posterior, rows, n, np.nan),
        anonymity=spread(found.possible, rows, n, 0),
        inside=spread(found.true_possible, rows, n, blank=False),
    )


def _applies(release: Release) -> str | None:
    if release.masking is None:
        return 'it is not said how the release was made (masking="noise(0.5)", or --masking)'
    if not isinstance(release.masking, str | Masking):
        return "what is known is a synthesiser, which makes new rows: none of them was made from one person"
    return None


@measure(
    "transparent",
    title="The intruder who knows the method",
    story="The intruder knows the masking and its parameters. They rule out the records that cannot have been made "
    "from a person, and weigh the others by how likely the masking makes them.",
    keys=("transparent.rate", "transparent.known"),
    applies=_applies,
)
def assess_transparent(study: Study, context: Context) -> Evidence:
    """Run every attack that is open to who knows the method, and judge the one that finds most of the whole file."""
    release = study.release
    masking, seed = _read(release.masking), context.seed
    people = max(1, PAIRS_FOR_ASSESS // release.released.height)
    sample = people if people < release.original.height else None
    linkage, note = _follow(study, masking, sample, context)
    again = link_again(study, masking, sample=sample, seed=seed)
    asked = linkage.asked if linkage is not None else None
    blind = blind_attempts(study, asked, seed)
    attempts = [*_informed(linkage, again, asked, release.original.height), *blind]
    best, (sure, how) = best_of(attempts), _known(linkage, again, blind)
    return Evidence(
        observations=(
            Observation.of_people(
                "transparent.rate",
                best.estimate,
                f"are linked to their own record by an intruder who knows the masking ({best.name}).",
            ),
            Observation.of_people(
                "transparent.known",
                sure,
                f"are linked, {how}.{why_more(sure, best.estimate)}",
                claims=round(sure.hits),
            ),
        ),
        per_record=best.credit if asked is None else None,
        facts=(Fact("best attack", best.name, "what the rate is of"), *_rates(attempts), *_facts(linkage, blind)),
        figures=(_figure(linkage, best.estimate.chance, attempts),),
        notes=note,
    )


def _follow(
    study: Study, masking: Masking, sample: int | None, context: Context
) -> tuple[TransparentLinkage | None, tuple[str, ...]]:
    """Likelihoods; of a chain that cannot be followed none, and a word about it."""
    try:
        return link_transparent(study, sample=sample, seed=context.seed, progress=context.progress), ()
    except EngineError as error:
        if not isinstance(masking, Chain):
            raise
        told = f"{error}".splitlines()[0]
        return None, (f"this chain cannot be followed ({told}): the rate is that of attacks that need not follow it",)


def _known(linkage: TransparentLinkage | None, again: Linkage | None, blind: list[Attempt]) -> tuple[Estimate, str]:
    """People of whom the intruder is sure: by posterior, by their own masked row, or by margin as the blind one is."""
    claims = [(linkage.sure(), f"rightly, with a posterior of {percent(SURE)} or more")] if linkage is not None else []
    if again is not None:
        claims.append((again.known(SURE), "with a margin to their own masked row that is right 19 times in 20"))
    margin = "with a margin that is right 19 times in 20, by {}"
    claims += [(a.known, margin.format(a.name)) for a in blind if a.known is not None]
    return max(claims, key=lambda claim: claim[0].value)


def _informed(linkage: TransparentLinkage | None, again: Linkage | None, asked: Flags | None, n: int) -> list[Attempt]:
    """What the likelihoods find, person by person and one to one; and what masking the original again finds."""
    found = [] if linkage is None else [attempt("the likeliest record", linkage, n, asked)]
    if linkage is not None and linkage.matched is not None and linkage.one_to_one is not None:
        found.append(Attempt("the most likely one-to-one matching", linkage.one_to_one, linkage.matched))
    if again is not None:
        found.append(attempt("masking the original again", again, n, asked))
    return found


def _rates(attempts: list[Attempt]) -> tuple[Fact, ...]:
    return tuple(Fact(f"rate by {a.name}", a.estimate.value, "share of people found", share=True) for a in attempts)


def _facts(linkage: TransparentLinkage | None, blind: list[Attempt]) -> tuple[Fact, ...]:
    ignorant = Fact(
        "rate of the blind intruder",
        best_of(blind).estimate.value,
        "the best of those who do not use the method",
        share=True,
    )
    if linkage is None:
        return (ignorant,)
    there = linkage.attempted
    outside = int((~linkage.inside[there]).sum())
    return (
        ignorant,
        Fact(
            "median anonymity set",
            float(np.median(linkage.anonymity[there])),
            "released records that a person can have become (under noise: with a probability of 99 %)",
        ),
        Fact("Reid_k", linkage.reid_k.value, "success of guessing within the anonymity set", share=True),
        Fact(
            "people whose own record is ruled out",
            outside,
            "many of them mean that the masking is not what was said; under noise one in a hundred is expected",
        ),
    )


def _figure(linkage: TransparentLinkage | None, chance: float, attempts: list[Attempt]) -> Figure:
    shown = [] if linkage is None else [("guess in the anonymity set", linkage.reid_k.value)]
    shown += [(attempt.name.removeprefix("the "), attempt.estimate.value) for attempt in attempts]
    return Figure.bars(
        [("blind guess", chance), *sorted(shown, key=lambda bar: bar[1])],
        title="What does knowing the method add?",
        caption="People found by a guess, and by every attack that is open to an intruder who knows the masking.",
        said="Share of people found: ",
        axes=("attack", "people found"),
    )
