"""Dictionary test: is X linked to Y any closer than records that combine its values at random? [MAXKNOW]_ IV-A

The intruder holds every original record. The dictionary D_X holds every combination of original values, attribute by
attribute: nothing in it belongs to anyone. If X is no closer to the release than D_X is, no link can be told from
one made up.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unmask.arrays import Floats, Ints, Rows
from unmask.errors import ParameterError
from unmask.evidence import Context, Evidence, Progress, measure, silent
from unmask.max_knowledge.evidence import identity_evidence
from unmask.max_knowledge.ranks import Ranked, linkage_distances, part, ranked
from unmask.max_knowledge.result import DeniabilityTest, compared
from unmask.study import Index, Study
from unmask.tables import RankMethod, Release

SIZE = 10_000  # records drawn from the dictionary, as in the paper


def dictionary_test(
    release: Release | Study, *, size: int = SIZE, ranks: RankMethod = "ordinal", seed: int = 0
) -> DeniabilityTest:
    """Compare the linkage distances of X with those of a sample of its dictionary.

    Parameters
    ----------
    release
        The two tables. The intruder knows the columns in `quasi`: by default all shared ones.
    size
        Records drawn from the dictionary (each attribute independently from its original values). The whole
        dictionary, n to the power m records, is used when it is no larger.
    ranks
        Ranks of equal values: "ordinal" (seeded), "average" or "dense".
    seed
        Seeds the sample, the ranks of equal values and the p-value.

    """
    if size < 1:
        raise ParameterError("size is out of range", got=str(size), allowed="1 or more")
    return _tested(ranked(release, ranks=ranks, seed=seed), size, seed)


def _tested(both: Ranked, size: int, seed: int, tell: Progress = silent, people: Rows | None = None) -> DeniabilityTest:
    distances = linkage_distances(both, part(tell, 0.0, 0.7), people)
    reference = dictionary_distances(both, size, seed, part(tell, 0.7, 1.0))
    return compared("dictionary", distances, reference, both.n_released, seed)


def dictionary_distances(both: Ranked, size: int, seed: int, tell: Progress = silent) -> Floats:
    """Return d(x, Y) for the records of the dictionary, drawn or all."""
    rows = list(dictionary_rows(both, size, seed))
    space, numbers = both.space, both.space.queries.shape[1]
    queries = np.empty((rows[0].size, numbers))
    codes = np.empty((rows[0].size, space.query_codes.shape[1]), np.int32)
    for k in range(numbers):
        queries[:, k] = space.queries[rows[k], k]
    for k in range(codes.shape[1]):
        codes[:, k] = space.query_codes[rows[numbers + k], k]
    return Index(space._replace(queries=queries, query_codes=codes)).least(tell=tell)


def dictionary_rows(both: Ranked, size: int, seed: int) -> Iterator[Ints]:
    """Yield, for each attribute, the query from which each dictionary record takes its value."""
    attributes = both.space.queries.shape[1] + both.space.query_codes.shape[1]
    n = both.n_original
    order = np.sort(both.query_of)  # queries with their multiplicity: the marginals of X
    if attributes * np.log(n) <= np.log(size) + 1e-9:
        for grid in np.meshgrid(*[order] * attributes, indexing="ij"):
            yield grid.ravel()
        return
    rng = np.random.default_rng([seed, 1])
    for _ in range(attributes):
        yield order[rng.integers(0, n, size)]


@measure(
    "dictionary",
    title="Dictionary test (maximum-knowledge intruder)",
    story="The intruder knows every original value and links each person to the nearest record in ranks. Could they "
    "have linked people who do not exist, made up of values at random, as closely?",
    keys=("dictionary.rate", "dictionary.ks", "dictionary.minimum"),
    cheaper="people",
)
def assess_dictionary(study: Study, context: Context) -> Evidence:
    """Run the test with average ranks: equal values are at distance 0, so that ties cannot hide a copy."""
    both = ranked(study, ranks="average", seed=context.seed)
    test = _tested(both, SIZE, context.seed, part(context.progress, 0.0, 0.9), context.people)
    return identity_evidence(study.release, both, test, "of made-up records", context.people)
