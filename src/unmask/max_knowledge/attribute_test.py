"""Attribute test: what can be learnt of one attribute by linking on all the others? [MAXKNOW]_ IV-C

The intruder knows every original value but those of one attribute. They link each person to the nearest released
record on the rest and take its value of the unknown attribute. Their error is the rank difference between that value
and the true one; the reference is their error on a release whose attributes were shuffled apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints, Rows
from unmask.errors import ParameterError, RoleError, check_name
from unmask.evidence import Context, Evidence, Fact, Observation, measure, rate
from unmask.kernels.search import distance_of_pairs
from unmask.max_knowledge.evidence import distributions, facts, ks_observation
from unmask.max_knowledge.ranks import Ranked, ranked
from unmask.max_knowledge.result import DeniabilityTest, compared_with_instances
from unmask.shares import percent
from unmask.study import Index, Study, as_study, spread
from unmask.tables import RankMethod, Release

INSTANTIATIONS = 99  # cheap here: no linkage is repeated
INTRUDERS = 10_000  # people whose error on each Y' is looked at
CLOSE = 0.05  # an estimate within 5 % of the ranks counts as learnt
FOLDS = 5  # people are held out in fifths to see what is learnt without their own record


@dataclass(frozen=True, slots=True)
class AttributeTest(DeniabilityTest):
    """A test of one attribute. `distances` are the rank errors of the intruder's estimates, one per original record."""

    attribute: str = ""
    links: Ints | None = None  # row of the release that each original record was linked to (by lot among ties)
    estimates: pl.Series | None = None  # the intruder's estimate of the attribute: its released value there


def attribute_test(
    release: Release | Study,
    attribute: str,
    *,
    instantiations: int = INSTANTIATIONS,
    ranks: RankMethod = "ordinal",
    seed: int = 0,
) -> AttributeTest:
    """Compare the rank errors of an intruder who lacks one attribute with those on a release that says nothing.

    Parameters
    ----------
    release
        The two tables. The intruder knows the columns in `quasi` less the attribute.
    attribute
        The attribute that they want to learn: any column that both tables have.
    instantiations
        How many times the shuffled release Y' is drawn; of each, at most 10,000 people's errors are kept. The least
        p-value is 1 / (instantiations + 1).
    ranks
        Ranks of equal values: "ordinal" (seeded), "average" or "dense".
    seed
        Seeds the permutations, the lots among equally near records, the ranks of equal values and the p-value.

    """
    if instantiations < 1:
        raise ParameterError("instantiations is out of range", got=str(instantiations), allowed="1 or more")
    study = as_study(release)
    return _tested(study, _ranked(study, attribute, ranks, seed), attribute, instantiations, seed)


def attribute_tests(
    release: Release | Study, *, instantiations: int = INSTANTIATIONS, ranks: RankMethod = "ordinal", seed: int = 0
) -> dict[str, AttributeTest]:
    """Test every attribute that the intruder knows in turn, each as if they did not know it."""
    study = as_study(release)
    return {
        name: attribute_test(study, name, instantiations=instantiations, ranks=ranks, seed=seed)
        for name in study.release.quasi
    }


def _ranked(study: Study, attribute: str, ranks: RankMethod, seed: int) -> Ranked:
    _check_attribute(study.release, attribute)
    known = [name for name in study.release.quasi if name != attribute]
    if not known:
        raise RoleError(
            "the intruder knows no other attribute to link on", got=repr(attribute), hint="name more in quasi="
        )
    return ranked(study, columns=[*known, attribute], ranks=ranks, seed=seed)


def _tested(
    study: Study, both: Ranked, attribute: str, instantiations: int, seed: int, people: Rows | None = None
) -> AttributeTest:
    """Test one attribute; ``people``: rows of the original of those who are asked for, None: all."""
    queries = both.query_of if people is None else both.query_of[people]
    points = _linked(study.index_of(both.without(attribute).space), queries, seed, whole=people is None)
    distances = attribute_errors(both, attribute, queries, points)
    instances = reference_errors(both, attribute, points, instantiations, seed, queries=queries)
    basis = compared_with_instances("attribute", distances, instances, both.n_released, seed)
    rows = both.row_of[points]
    return AttributeTest(
        basis.test, basis.distances, basis.reference, basis.ks, basis.p_value, basis.direction, basis.n_released,
        seed, attribute, rows, study.release.released[attribute].gather(rows),
    )  # fmt: skip


def _linked(index: Index, queries: Ints, seed: int, *, whole: bool) -> Ints:
    """The point that each of some queries is linked to."""
    if whole:
        return np.asarray(index.nearest(seed=seed).row[queries])
    asked, place = np.unique(queries, return_inverse=True)
    return np.asarray(index.nearest(seed=seed, rows=asked).row[place])


def attribute_errors(both: Ranked, attribute: str, queries: Ints, points: Ints) -> Floats:
    """Return the rank difference of one attribute for pairs of an original and a released record."""
    return distance_of_pairs(both.only(attribute).space, queries, points)


def reference_errors(
    both: Ranked, attribute: str, points: Ints, instantiations: int, seed: int, *, queries: Ints | None = None
) -> list[Floats]:
    """Return the rank differences on each Y'; ``queries``: those who were linked to the points, None: everybody.

    In Y' the unknown attribute is permuted by itself, whatever the others say. So the links need not be searched
    again: permuting the attribute under the links that were found has the same law, for people linked to the same
    record too.
    """
    instances = []
    space = both.only(attribute).space
    pairs = np.column_stack([both.query_of if queries is None else queries, points])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]  # the same people for any order of the file
    for number in range(instantiations):
        rng = np.random.default_rng([seed, 3, number])
        moved = rng.permutation(both.n_released)
        some = pairs if len(pairs) <= INTRUDERS else pairs[rng.choice(len(pairs), INTRUDERS, replace=False)]
        instances.append(distance_of_pairs(space, some[:, 0], moved[some[:, 1]]))
    return instances


def _check_attribute(release: Release, attribute: str) -> None:
    shared = [name for name in release.original.columns if name in release.released.columns]
    check_name(attribute, shared, f"no attribute {attribute!r} in both tables", RoleError)
    for where, table in (("original", release.original), ("release", release.released)):
        if table[attribute].null_count() == table.height:
            raise RoleError(f"attribute {attribute!r} has no value in the {where}", hint="there is nothing to learn")


def held_out_errors(study: Study, both: Ranked, test: AttributeTest, seed: int, people: Rows | None = None) -> Floats:
    """Return each person's error when their own record is not in the release: what general knowledge gives.

    Who was linked to another record keeps that link. The others are put in five folds, and each links to the release
    without the records of their fold. Where nothing is left to link to, the error is that of knowing nothing: n.
    ``people``: rows of those whom the test asked for; None: all.
    """
    attribute = test.attribute
    truth, asking = study.release.truth, both.query_of
    truth, asking = (truth, asking) if people is None else (truth[people], asking[people])
    own = np.flatnonzero(test.links == truth)
    fold = np.random.default_rng([seed, 5]).permutation(np.arange(both.n_released) % FOLDS)  # of each point
    errors = test.distances.copy()
    errors[own] = both.n_released
    space = both.without(attribute).space
    for number in range(FOLDS):
        rest = np.flatnonzero(fold != number)
        out = own[fold[both.point_of[truth[own]]] == number]
        if not (rest.size and out.size):
            continue
        queries, place = np.unique(asking[out], return_inverse=True)  # lots must not follow the file's order
        found = study.index_of(space.of(queries, rest)).nearest(seed=seed).row
        errors[out] = attribute_errors(both, attribute, queries, rest[found])[place]
    return errors


def _wanted(release: Release) -> list[str]:
    shared = [name for name in release.confidential if name in release.original.columns]
    return [name for name in shared if name in release.released.columns]


def _applies(release: Release) -> str | None:
    return None if _wanted(release) else "no confidential attribute that both tables have was named"


@measure(
    "attribute_test",
    title="Attribute test (maximum-knowledge intruder)",
    story="The intruder knows every original value but those of one confidential attribute. They link on the others "
    "and take the value they find. Do they do better with the person's own record in the release than without it?",
    keys=("attribute_test.learnt", "attribute_test.ks"),
    applies=_applies,
    cheaper="people",
)
def assess_attribute(study: Study, context: Context) -> Evidence:
    """Run the test for every confidential attribute and tell the worst; average ranks, so that ties hide nothing."""
    release, asked = study.release, context.people
    told = []
    for name in _wanted(release):
        both = _ranked(study, name, "average", context.seed)
        test = _tested(study, both, name, INSTANTIATIONS, context.seed, asked)
        outside = held_out_errors(study, both, test, context.seed, asked)
        near = (test.distances <= CLOSE * test.n_released), (outside <= CLOSE * test.n_released)
        told.append((test, near[0] & ~near[1], near[1] & ~near[0]))
        context.progress(len(told) / len(_wanted(release)), name)
    test, gained, lost = max(told, key=lambda entry: int(entry[1].sum()) - int(entry[2].sum()))
    people = release.paired_rows if asked is None else slice(None)  # whom the figures are about
    opposite = float(lost[people].mean())
    blind = max(opposite, 1.0 / test.n_released)  # a blind guess meets one's own record once in n
    found = rate(gained[people].astype(float), chance=blind, seed=context.seed)
    claim = (
        f"For {found.hits:,.0f} of {found.n:,} people the intruder learns {test.attribute!r} (same category, or within "
        f"{percent(CLOSE)} of the ranks) from the release and would not have without their own record in it; the "
        f"opposite "
        f"happens to {percent(opposite)}."
    )
    gains = np.max([entry[1].astype(float) for entry in told], axis=0)
    means = tuple(
        Fact(f"mean rank error, {t.attribute}", round(t.mean, 1), f"{t.reference_mean:.1f} where nothing is disclosed")
        for t, _, _ in told
    )
    return Evidence(
        observations=(
            Observation("attribute_test.learnt", claim, found),
            ks_observation(
                "attribute_test.ks",
                test,
                f"Their estimates of {test.attribute!r} are off by {test.mean:,.0f} ranks on average, by "
                f"{test.reference_mean:,.0f} where nothing is disclosed. KS distance {test.ks:.2f}: {test.words}.",
                whole=asked is None,
            ),
        ),
        per_record=gains if asked is None else spread(gains, asked, release.original.height, np.nan),
        identity=False,
        facts=(*means, *facts(test, asked)),
        figures=(distributions(test, "to shuffled releases"),),
    )
