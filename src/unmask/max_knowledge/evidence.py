"""What the maximum-knowledge tests hand to the report: rates, the two distributions as a picture, the sentence."""

from __future__ import annotations

import numpy as np

from unmask.arrays import Floats
from unmask.evidence import Estimate, Evidence, Fact, Figure, Observation, Series, exact, rate
from unmask.max_knowledge.compare import LEVEL, ks_interval, one_sided
from unmask.max_knowledge.ranks import Ranked
from unmask.max_knowledge.result import DeniabilityTest
from unmask.shares import percent
from unmask.tables import Release

BINS = 60
WORST = 5  # least protected records that are named by row


def identity_evidence(release: Release, both: Ranked, test: DeniabilityTest, reference: str) -> Evidence:
    """Tell an identity test: which links are right and cannot be denied, KS, and the least protected record.

    The headline counts people: a link is held against the release when it is right *and* closer than 19 of 20 links
    that disclose nothing. A release of other people passes it, though its attributes hang together as theirs do and
    the two distributions differ.
    """
    risk = right_links(release, both) * (test.deniability <= LEVEL)
    people = release.paired_rows
    chance = float((test.deniability[people] <= LEVEL).mean()) / test.n_released
    found = rate(risk[people], chance=chance, seed=test.seed)
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
            ),
            _minimum_observation(f"{name}.minimum", test),
        ),
        per_record=risk,
        facts=facts(test),
        figures=(distributions(test, reference),),
    )


def right_links(release: Release, both: Ranked) -> Floats:
    """Return the credit of every original record under the permutation distance, ties shared."""
    truth = np.where(release.truth >= 0, both.point_of[release.truth], -1)
    return both.index.decide(truth, rows=both.query_of).credit


def ks_observation(key: str, test: DeniabilityTest, claim: str) -> Observation:
    """Tell how far the distances lie to the left of the reference; the other side is over-protection, not risk."""
    left = one_sided(test.distances, test.reference)[0]
    low, high = ks_interval(test.distances, test.reference, test.seed)
    estimate = Estimate(left, min(low, left), max(high, left), test.distances.size, 0.0, None, "bootstrap")
    return Observation(key, claim, estimate)


def facts(test: DeniabilityTest) -> tuple[Fact, ...]:
    """Tell the numbers that the papers print."""
    worst = ", ".join(str(row + 1) for row in test.least_protected(WORST))
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


def _minimum_observation(key: str, test: DeniabilityTest) -> Observation:
    """Tell the least protected record as closeness, 1 - distance / n: a limit of 0.99 asks for 1 % of the ranks."""
    usual = float(np.quantile(test.reference, min(1.0, 1.0 / test.distances.size)))
    claim = f"The least protected record is linked at {test.minimum:,.0f} ranks, {percent(test.minimum_share)} of n."
    closeness = exact(1.0 - test.minimum_share, n=test.distances.size, chance=1.0 - usual / test.n_released)
    return Observation(key, claim, closeness)
