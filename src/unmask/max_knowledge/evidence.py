"""What the maximum-knowledge tests hand to the report: rates, the two distributions as a picture, the sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.arrays import Floats, Rows
from unmask.evidence import Estimate, Evidence, Fact, Figure, Observation, Series, exact, rate
from unmask.max_knowledge.compare import LEVEL, ks_interval, one_sided
from unmask.max_knowledge.ranks import Ranked
from unmask.max_knowledge.result import DeniabilityTest
from unmask.shares import percent
from unmask.study import spread
from unmask.tables import Release

BINS = 60
WORST = 5  # least protected records that are named by row


def identity_evidence(
    release: Release, both: Ranked, test: DeniabilityTest, reference: str, people: Rows | None = None
) -> Evidence:
    """Tell an identity test: which links are right and cannot be denied, KS, and the least protected record.

    The headline counts people: a link is held against the release when it is right *and* closer than 19 of 20 links
    that disclose nothing. A release of other people passes it, though its attributes hang together as theirs do and
    the two distributions differ. ``people``: rows of those who were asked for; None: all.
    """
    n = release.original.height
    rows = np.arange(n) if people is None else people
    risk = spread(right_links(release, both, rows) * (test.deniability <= LEVEL), rows, n, np.nan)
    close = spread((test.deniability <= LEVEL).astype(np.float64), rows, n, np.nan)
    asked = release.paired_rows if people is None else people
    found = rate(risk[asked], chance=float(close[asked].mean()) / test.n_released, seed=test.seed)
    name = test.test
    return Evidence(
        observations=(
            Observation.of_people(
                f"{name}.rate",
                found,
                f"are linked to their own record, closer than 19 of 20 links {reference}: they cannot deny it.",
            ),
            ks_observation(
                f"{name}.ks",
                test,
                "An intruder who knows everything links like one who knows nothing for "
                f"{percent(test.deniable)} of the records (95 % where nothing is disclosed). Against links "
                f"{reference} the "
                f"KS distance is {test.ks:.2f}: {test.words}.",
                whole=people is None,
            ),
            _minimum_observation(f"{name}.minimum", test, whole=people is None),
        ),
        per_record=risk,
        facts=facts(test, rows),
        figures=(distributions(test, reference),),
    )


def right_links(release: Release, both: Ranked, rows: Rows) -> Floats:
    """Return the credit of some original records under the permutation distance, ties shared."""
    truth = np.where(release.truth >= 0, both.point_of[release.truth], -1)[rows]
    return both.index.decide(truth, rows=both.query_of[rows]).credit


def ks_observation(key: str, test: DeniabilityTest, claim: str, *, whole: bool = True) -> Observation:
    """Tell how far the distances lie to the left of the reference; the other side is over-protection, not risk.

    Where some people stand for all, the largest of many differences flatters them: the distribution of all is within
    1.36 / sqrt(n) of theirs everywhere, 19 times in 20 [DKW]_.
    """
    left = one_sided(test.distances, test.reference)[0]
    low, high = ks_interval(test.distances, test.reference, test.seed)
    if not whole:
        within = float(np.sqrt(np.log(2 / LEVEL) / 2 / test.distances.size))
        low, high = max(0.0, min(low, left - within)), min(1.0, max(high, left + within))
    estimate = Estimate(left, min(low, left), max(high, left), test.distances.size, 0.0, None, "bootstrap")
    return Observation(key, claim, estimate)


def facts(test: DeniabilityTest, rows: Rows | None = None) -> tuple[Fact, ...]:
    """Tell the numbers that the papers print; ``rows``: those of the original that were asked for, where not all."""
    least = test.least_protected(WORST)
    worst = ", ".join(str(row + 1) for row in (least if rows is None else rows[least]))
    return (
        Fact("direction", test.direction, test.words),
        Fact("KS distance", round(test.ks, 4), "largest difference of the two distribution functions"),
        Fact("p-value", round(test.p_value, 4), "of a difference this large where nothing is disclosed"),
        Fact("mean distance", round(test.mean, 1), f"ranks; {test.reference_mean:.1f} where nothing is disclosed"),
        Fact("least protected rows", worst, "original records with the closest links; look at them first"),
    )


def distributions(test: DeniabilityTest, reference: str) -> Figure:
    """Draw both distributions of linkage distances ([MAXKNOW]_ Figures 3, 5 and 6)."""
    top = float(max(test.distances.max(), test.reference.max(), 1.0))
    edges = np.linspace(0.0, np.nextafter(top, np.inf), BINS + 1)
    centres = tuple(((edges[1:] + edges[:-1]) / 2).tolist())

    def shares(values: Floats) -> tuple[float, ...]:
        return tuple((np.histogram(values, edges)[0] / values.size).tolist())

    return Figure(
        shape="line",
        title="How close are the links?",
        caption="Linkage distance in ranks: of the people in the original, and of links that disclose nothing. "
        "The farther left the first curve, the more the release tells.",
        alt=f"Two distributions of linkage distances. Mean {test.mean:.0f} ranks for the people, "
        f"{test.reference_mean:.0f} for links {reference}; KS distance {test.ks:.2f}, {test.direction}.",
        x_label="linkage distance (ranks)",
        y_label="share of links",
        series=(
            Series("people in the original", centres, shares(test.distances)),
            Series(f"links {reference}", centres, shares(test.reference)),
        ),
        percent=(False, True),
    )


def _minimum_observation(key: str, test: DeniabilityTest, *, whole: bool) -> Observation:
    """Tell the least protected record as closeness, 1 - distance / n: a limit of 0.99 asks for 1 % of the ranks.

    Unless the whole file was asked for, somebody else may be closer still: up to a distance of nothing.
    """
    usual = float(np.quantile(test.reference, min(1.0, 1.0 / test.distances.size)))
    claim = f"The least protected record is linked at {test.minimum:,.0f} ranks, {percent(test.minimum_share)} of n."
    closeness = exact(1.0 - test.minimum_share, n=test.distances.size, chance=1.0 - usual / test.n_released)
    return Observation(key, claim, closeness if whole else replace(closeness, high=1.0))
