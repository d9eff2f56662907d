"""The blind intruder who fits the noise (docs/methods.md, section 12): two files, no truth, no word about the masking.

They suppose that the release was made from the original by one rule, y = A x + b + e with normal noise e of any
covariance, and that each person has one record. Which rule makes the release likeliest is learnt by EM from the two
files alone; the rule then says how probable each link is. Where noise is unequal or correlated this finds people whom
any fixed distance misses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, Series, measure, rate, silent
from unmask.linkage.competing import competition_of, fewer_people
from unmask.linkage.likelihood.posterior import (
    believe,
    believe_apart,
    best_records,
    candidates,
    candidates_of,
    match_all,
)
from unmask.linkage.likelihood.starts import STARTS, check_starts, learn
from unmask.linkage.likelihood.views import (
    build_view,
    build_views,
    ordered_codes,
    set_sides,
    set_sides_like,
    skewed_columns,
)
from unmask.linkage.result import Linkage
from unmask.shares import percent
from unmask.study import Study, as_study, spread
from unmask.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unmask.arrays import Rows
    from unmask.evidence import Progress
    from unmask.linkage.competing import Added, Pair
    from unmask.linkage.likelihood.em import Fit, Start
    from unmask.linkage.likelihood.posterior import Found
    from unmask.linkage.likelihood.views import Sides
    from unmask.tables import Release

    Floats = NDArray[np.float64]

TOGETHER = 10_000  # people, with their records, from whom the noise is learnt where some stand for all
ROUNDED = 6  # digits of a posterior by which claims are ordered: the rest is rounding


@dataclass(frozen=True, slots=True)
class LikelihoodLinkage(Linkage):
    """``credit``: is the record of greatest posterior the right one? ``margin`` is that posterior."""

    one_to_one: Floats | None = None  # credit in the one-to-one matching of greatest likelihood
    posterior: Floats | None = None  # what the intruder believes of the record they name
    converged: bool = False  # EM came to rest, and so did the posteriors
    steps: int = 0
    view: str = "values"  # in which the noise looked most normal: values, logarithms, ranks, ordered
    start: str = ""
    noise: tuple[tuple[str, float], ...] = ()  # column, sd of its noise in sds of the column (as seen in the view)
    kept: tuple[tuple[str, float], ...] = ()  # column, share of categories that were kept
    correlated: bool = False  # noise goes together between columns
    competition: tuple[Added, Added] | None = None  # what it adds to people found and known, where some were asked for

    @property
    def estimate(self) -> Estimate:
        """The share of people found; where some were asked for, as it would be if all were looked for at once."""
        found = rate(self.credit[self.attempted], chance=self.chance, seed=self.seed)
        return found if self.competition is None else self.competition[0].raise_to(found)

    @property
    def matched(self) -> Estimate:
        """The share of people found by the one-to-one matching."""
        credit = self.credit if self.one_to_one is None else self.one_to_one
        return rate(credit[self.attempted], chance=self.chance, seed=self.seed)

    def known(self, precision: float = 0.95) -> Estimate:
        """The people rightly claimed, where claims are right at least this often."""
        right = np.where(self.claims(precision), self.credit, 0.0)
        known = rate(right[self.attempted], chance=0.0, seed=self.seed)
        return known if self.competition is None else self.competition[1].widen(known)


def link_likelihood(
    release: Release | Study,
    *,
    starts: Sequence[str] = STARTS,
    people: Rows | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> LikelihoodLinkage:
    """Learn from both files how the release was made, and link everybody by how likely each pair is.

    Parameters
    ----------
    release
        The two tables and the roles of their columns. Who belongs to whom is only used to count what was found.
    starts
        Where EM begins: "difference" of the two covariances, its "diagonal", a "quarter" of the original's, a "tenth"
        of every variance, "plain" (each file in its own unit, all columns alike). The likeliest end is kept.
    people
        Rows of the original of those to ask for, where all are too many. The noise is then learnt from some of them
        with their records, each is looked for by themselves among all records, and what competition adds is measured
        among fewer people. None: all.
    seed
        Seeds the sample that a large file is learnt from, and the draw among equally good matchings.
    progress
        Called with the fraction done and a word.

    Examples
    --------
    >>> import unmask
    >>> from unmask.linkage.likelihood import link_likelihood
    >>> people = unmask.datasets.census(100)
    >>> link_likelihood(unmask.Release(people, people)).estimate.value
    1.0

    """
    chosen = check_starts(starts)
    with one_thread():  # sums then come out the same on any machine
        tell, study = silent if progress is None else progress, as_study(release)
        return _link(study, chosen, seed, tell) if people is None else _link_some(study, people, chosen, seed, tell)


def _link(study: Study, chosen: tuple[Start, ...], seed: int, tell: Progress) -> LikelihoodLinkage:
    release, sides = study.release, set_sides(study.encoding())
    views = build_views(sides, ordered_codes(release, sides))
    fit = learn(views, chosen, seed, lambda done: tell(0.7 * done, "learning how the release was made"))
    tell(0.7, "posterior of each link")
    pairs = candidates(fit, seed)
    view, words = fit.view, "posterior of each link"
    beliefs = believe(pairs, view.x_size, view.y_size, lambda done: tell(0.7 + 0.1 * done, words))
    found = best_records(beliefs, sides, release.truth, seed)
    tell(0.8, "everybody at once, one to one")
    matched, optimal = match_all(fit, sides, pairs, release.truth, seed)
    linkage = _linkage(found, fit, release, seed)
    return replace(linkage, optimal=optimal, one_to_one=matched, converged=fit.converged and beliefs.settled)


def _link_some(study: Study, people: Rows, chosen: tuple[Start, ...], seed: int, tell: Progress) -> LikelihoodLinkage:
    """Learn from fewer people, look for these among all records, and measure what competition adds."""
    release = study.release
    fit, seen = _learn_from(Study(fewer_people(study, people, TOGETHER, seed)), chosen, seed, tell)
    tell(0.5, "posterior of each link")
    sides, whole = _seen_as(fit, seen, study)
    pairs = candidates_of(whole, np.unique(sides.original.label[people]), seed)
    found = best_records(believe_apart(pairs, whole.view.y_size), sides, release.truth, seed, people)
    tell(0.7, "what competition adds, among fewer people")
    added = competition_of(study, people, lambda few: _compared(fit, seen, few, seed), seed, together=TOGETHER)
    return replace(_linkage(found, fit, release, seed, people), competition=(added[0], added[1]))


def _linkage(found: Found, fit: Fit, release: Release, seed: int, people: Rows | None = None) -> LikelihoodLinkage:
    """What was found of these people, or of everybody, as a result for all rows."""
    n, posterior = len(release.truth), np.round(found.posterior, ROUNDED)
    rows = np.arange(n) if people is None else people
    asked = np.zeros(n, dtype=bool)
    asked[rows] = True
    believed = spread(posterior, rows, n, np.nan)
    return LikelihoodLinkage(
        links=spread(found.link, rows, n, -1),
        distances=spread(-np.log(np.maximum(posterior, 10.0**-ROUNDED)), rows, n, np.nan),
        credit=spread(found.credit, rows, n, 0.0),
        tie_sizes=spread(found.ties, rows, n, 0),
        margin=believed,
        total_distance=float("nan"),
        optimal=True,
        truth=release.truth,
        n_candidates=release.released.height,
        direction="to_release",
        seed=seed,
        asked=None if people is None else asked,
        posterior=believed,
        converged=fit.converged,
        steps=fit.steps,
        view=fit.view.name,
        start=fit.start,
        noise=_noise(fit),
        kept=tuple(zip(fit.view.code_columns, fit.channel.kept.tolist(), strict=True)),
        correlated=not fit.channel.diagonal,
    )


def _learn_from(few: Study, chosen: tuple[Start, ...], seed: int, tell: Progress) -> tuple[Fit, Sides]:
    """What these people and their records teach, and the columns that they taught it of."""
    seen = set_sides(few.encoding())
    views = build_views(seen, ordered_codes(few.release, seen))
    return learn(views, chosen, seed, lambda done: tell(0.5 * done, "learning how the release was made")), seen


def _seen_as(fit: Fit, seen: Sides, study: Study) -> tuple[Sides, Fit]:
    """What was learnt of some people, for others: their records in the same view."""
    sides = set_sides_like(study.encoding(), seen)
    ordered = ordered_codes(study.release, sides) if fit.view.name == "ordered" else None
    return sides, fit._replace(view=build_view(fit.view.name, sides, skewed_columns(seen), ordered))


def _compared(fit: Fit, seen: Sides, few: Study, seed: int) -> tuple[Pair, Pair]:
    """Credits of people found, and known: looked for one by one, and all at once."""
    sides, fitted = _seen_as(fit, seen, few)
    pairs, view, truth = candidates(fitted, seed, most=0), fitted.view, few.release.truth  # lists, as among all
    beliefs = believe_apart(pairs, view.y_size), believe(pairs, view.x_size, view.y_size)
    plain, best = (best_records(way, sides, truth, seed) for way in beliefs)
    return (plain.credit, best.credit), (_claimed(plain, truth), _claimed(best, truth))


def _claimed(found: Found, truth: Rows) -> Floats:
    """Credit of those who can be claimed at a precision of 95 %."""
    n = len(truth)
    linkage = LikelihoodLinkage(
        found.link, np.zeros(n), found.credit, found.ties, np.round(found.posterior, ROUNDED), 0.0,
        optimal=False, truth=truth, n_candidates=n,
    )  # fmt: skip
    return np.where(linkage.claims(), found.credit, 0.0)


def _noise(fit: Fit) -> tuple[tuple[str, float], ...]:
    """Noise of each column in sds of the column: what was added, over what the original contributes (A x)."""
    view, channel = fit.view, fit.channel
    signal = np.nan_to_num(view.x) @ channel.slope.T
    mean = view.x_size @ signal / view.x_size.sum()
    spread = np.sqrt(np.maximum(view.x_size @ (signal - mean) ** 2 / view.x_size.sum(), 1e-300))
    ratio = np.sqrt(np.diag(channel.noise)) / spread
    return tuple((name, float(value)) for name, value in zip(view.columns, ratio, strict=True))


# --- as a measure -----------------------------------------------------------------------------------------------------


@measure(
    "likelihood",
    title="Blind linkage by likelihood",
    story="The intruder holds the two files and nothing else. They learn from them how much noise each column got and "
    "how the noise goes together, and name for each person the record that is most probably theirs.",
    keys=("likelihood.rate", "likelihood.known"),
    cheaper="people",
)
def assess_likelihood(study: Study, context: Context) -> Evidence:
    """Run the attack and tell what it found."""
    linkage = link_likelihood(study, people=context.people, seed=context.seed, progress=context.progress)
    estimate, known, claimed = linkage.estimate, linkage.known(), int(linkage.claims().sum())
    return Evidence(
        observations=(
            Observation(
                "likelihood.rate",
                f"Someone who learns the noise from the two files alone finds the right record for "
                f"{estimate.hits:,.0f} of {estimate.n:,} people.",
                estimate,
            ),
            Observation(
                "likelihood.known",
                f"For {known.hits:,.0f} of {known.n:,} people they can be sure: the {claimed:,} links they believe "
                "most are right at least 19 times in 20.",
                known,
                claims=claimed,
            ),
        ),
        per_record=linkage.per_record(study.release.original.height),
        posterior=linkage.posterior,
        facts=_facts(linkage, known, claimed),
        figures=_figures(linkage),
        notes=_notes(linkage),
    )


def _facts(linkage: LikelihoodLinkage, known: Estimate, claimed: int) -> tuple[Fact, ...]:
    right = known.hits / claimed if claimed else 0.0
    sure = linkage.attempted & (linkage.margin >= 0.95)
    own = float(linkage.credit[sure].mean()) if sure.any() else 0.0
    at_once = Fact(
        "found one to one", linkage.matched.value, "share found when all are linked at once, at most likelihood",
        share=True,
    )  # fmt: skip
    return (
        *(() if linkage.one_to_one is None else (at_once,)),
        Fact(
            "links that can be claimed", claimed, f"surest first, as long as 19 in 20 are right ({percent(right)} are)"
        ),
        Fact(
            "links the intruder believes to 95 %", int(sure.sum()), f"by their own posterior; {percent(own)} are right"
        ),
        Fact(
            "view",
            linkage.view,
            "in which noise looked most normal: values, logarithms, ranks, ordered (answers as numbers)",
        ),
        Fact("correlated noise", "yes" if linkage.correlated else "no", "whether noise goes together between columns"),
        *(Fact(f"noise of {name}", value, "sd, in sds of the column") for name, value in linkage.noise),
        *(
            Fact(f"{name} kept", value, "share of categories that were not changed", share=True)
            for name, value in linkage.kept
        ),
    )


def _notes(linkage: LikelihoodLinkage) -> tuple[str, ...]:
    notes = []
    if not linkage.noise and not linkage.kept:
        notes.append("no column varies in both files: there was nothing to learn from, and everybody is a guess")
    if not linkage.converged:
        notes.append(
            f"the fit had not come to rest after {linkage.steps} steps: another intruder may find more than is shown"
        )
    if linkage.competition is not None:
        notes.append(
            f"{int(linkage.attempted.sum()):,} people were looked for one by one, by the noise learnt from some of "
            "them; what competition for records adds was measured among fewer people with their records, and is in "
            "the figure as it is expected among all"
        )
    if not linkage.optimal:
        notes.append("the one-to-one matching is near the best, not proven to be it")
    return tuple(notes)


def _figures(linkage: LikelihoodLinkage) -> tuple[Figure, ...]:
    figures = []
    if linkage.noise:
        shown = sorted(linkage.noise, key=lambda entry: (entry[1], entry[0]))[:20]
        names, values = tuple(name for name, _ in shown), tuple(value for _, value in shown)
        figures.append(
            Figure(
                shape="bar",
                title="How much noise did the intruder find in each column?",
                caption="Standard deviation of the noise they learnt, in standard deviations of the column. What is "
                "near 0 was published nearly as it is and gives people away; beyond 2 or 3 a column tells little.",
                alt="Noise by column: " + ", ".join(f"{n} {v:.2f}" for n, v in zip(names, values, strict=True)),
                x_label="column",
                y_label="sd of noise / sd of column",
                series=(Series("noise", names, values),),
            )
        )
    curve = linkage.curve
    figures.append(
        Figure(
            shape="line",
            title="How often is the intruder right about their surest links?",
            caption="Links claimed in order of posterior, the surest first: the share that is right among the share "
            "claimed so far.",
            alt=f"Precision from {percent(curve.precision[0])} for the surest to {percent(curve.precision[-1])} for "
            f"everybody.",
            x_label="people claimed",
            y_label="right",
            series=(Series("precision", tuple(curve.coverage.tolist()), tuple(curve.precision.tolist())),),
            percent=(True, True),
        )
    )
    return tuple(figures)
