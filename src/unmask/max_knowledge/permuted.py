"""Permuted test: is X linked to Y any closer than to a release whose attributes were shuffled apart? [MAXKNOW]_ IV-B

Y' is Y with every attribute permuted by itself: the same values, no relation between them, so nothing in it belongs
to anyone. One instantiation may be unlucky; several are drawn and their distances pooled.
"""

from __future__ import annotations

import numpy as np

from unmask.arrays import Floats, Rows
from unmask.errors import ParameterError
from unmask.evidence import Context, Evidence, Progress, measure, silent
from unmask.kernels.base import Space
from unmask.max_knowledge.evidence import identity_evidence
from unmask.max_knowledge.ranks import Ranked, linkage_distances, part, ranked
from unmask.max_knowledge.result import DeniabilityTest, compared_with_instances
from unmask.study import Index, Study
from unmask.tables import RankMethod, Release

INSTANTIATIONS = 19  # the least p-value is then 0.05
INTRUDERS = 10_000  # original records linked to each instantiation: 100,000 reference distances are plenty
MANY, FEW = 100_000, 2_000  # released records from which on so few are linked to each: 38,000 distances are enough


def permuted_test(
    release: Release | Study,
    *,
    instantiations: int = INSTANTIATIONS,
    intruders: int | None = INTRUDERS,
    ranks: RankMethod = "ordinal",
    seed: int = 0,
) -> DeniabilityTest:
    """Compare the linkage distances from X to Y with those from X to Y'.

    Parameters
    ----------
    release
        The two tables. The intruder knows the columns in `quasi`: by default all shared ones.
    instantiations
        How many times Y' is drawn. The least p-value is 1 / (instantiations + 1).
    intruders
        Original records linked to each Y', drawn anew for each when there are more of them; None: all. The attack
        itself always links every record: only the reference distribution is sampled.
    ranks
        Ranks of equal values: "ordinal" (seeded), "average" or "dense".
    seed
        Seeds the permutations, the ranks of equal values and the p-value.

    """
    if instantiations < 1:
        raise ParameterError("instantiations is out of range", got=str(instantiations), allowed="1 or more")
    if intruders is not None and intruders < 1:
        raise ParameterError("intruders is out of range", got=str(intruders), allowed="1 or more, or None for all")
    return _tested(ranked(release, ranks=ranks, seed=seed), instantiations, intruders, seed)


def _tested(
    both: Ranked,
    instantiations: int,
    intruders: int | None,
    seed: int,
    tell: Progress = silent,
    people: Rows | None = None,
) -> DeniabilityTest:
    distances = linkage_distances(both, part(tell, 0.0, 0.5), people)
    instances = permuted_distances(both, instantiations, intruders, seed, part(tell, 0.5, 1.0))
    return compared_with_instances("permuted", distances, instances, both.n_released, seed)


def permuted_distances(
    both: Ranked, instantiations: int, intruders: int | None, seed: int, tell: Progress = silent
) -> list[Floats]:
    """Return d(x, Y') for every drawn original record, instantiation by instantiation."""
    instances = []
    order = np.sort(both.query_of)
    for number in range(instantiations):
        rng = np.random.default_rng([seed, 2, number])
        asked = order
        if intruders is not None and order.size > intruders:
            asked = np.sort(rng.choice(order, intruders, replace=False))
        instances.append(Index(permuted_space(both.space, rng).of(asked)).least())
        tell((number + 1) / instantiations, "links to shuffled releases")
    return instances


def permuted_space(space: Space, rng: np.random.Generator) -> Space:
    """Permute each attribute of the points by itself; a rank belongs to its value and moves with it."""
    points, codes = space.points.copy(), space.point_codes.copy()
    for k in range(points.shape[1]):
        points[:, k] = points[rng.permutation(len(points)), k]
    for k in range(codes.shape[1]):
        codes[:, k] = codes[rng.permutation(len(codes)), k]
    return space._replace(points=points, point_codes=codes)


@measure(
    "permuted",
    title="Permuted test (maximum-knowledge intruder)",
    story="The intruder knows every original value and links each person to the nearest record in ranks. Would they "
    "find records as close in a release whose attributes were shuffled apart?",
    keys=("permuted.rate", "permuted.ks", "permuted.minimum"),
    cheaper="people",
)
def assess_permuted(study: Study, context: Context) -> Evidence:
    """Run the test with average ranks: equal values are at distance 0, so that ties cannot hide a copy."""
    both = ranked(study, ranks="average", seed=context.seed)
    most = FEW if both.n_released > MANY else INTRUDERS
    most = most if context.people is None else min(most, context.people.size)
    test = _tested(both, INSTANTIATIONS, most, context.seed, part(context.progress, 0.0, 0.9), context.people)
    return identity_evidence(study.release, both, test, "to shuffled releases", context.people)
