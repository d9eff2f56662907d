"""Attribute test: what can be learnt of one attribute by linking on all the others? [MAXK]_ IV-C

The intruder knows every original value but those of one attribute. He links each person to the nearest released
record on the rest and takes its value of the unknown attribute. His error is the rank difference between that value
and the true one; the reference is his error on a release whose attributes were shuffled apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmask.deniability.permutation import Ranked, ranked
from unmask.deniability.result import DeniabilityTest, compared_with_instances
from unmask.engines import local
from unmask.errors import ParameterError, RoleError, did_you_mean

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from unmask.kernels.space import Space
    from unmask.tables.encode import RankMethod
    from unmask.tables.release import Release

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

INSTANTIATIONS = 99  # cheap here: no linkage is repeated


@dataclass(frozen=True, slots=True)
class AttributeTest(DeniabilityTest):
    """A test of one attribute. `distances` are the rank errors of the intruder's estimates, one per original record."""

    attribute: str = ""
    links: Ints | None = None  # row of the release that each original record was linked to (by lot among ties)
    estimates: pl.Series | None = None  # the intruder's estimate of the attribute: its released value there


def attribute_test(
    release: Release,
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
        The attribute that he wants to learn: any column that both tables have.
    instantiations
        How many times the shuffled release Y' is drawn. The least p-value is 1 / (instantiations + 1).
    ranks
        Ranks of equal values: "ordinal" (seeded), "average" or "dense".
    seed
        Seeds the permutations, the lots among equally near records, the ranks of equal values and the p-value.

    """
    if instantiations < 1:
        raise ParameterError("instantiations is out of range", got=str(instantiations), allowed="1 or more")
    _check_attribute(release, attribute)
    known = [name for name in release.quasi if name != attribute]
    if not known:
        raise RoleError(
            "the intruder knows no other attribute to link on", got=repr(attribute), hint="name more in quasi="
        )
    both = ranked(release, columns=[*known, attribute], ranks=ranks, seed=seed)
    return _tested(release, both, attribute, instantiations, seed)


def attribute_tests(
    release: Release, *, instantiations: int = INSTANTIATIONS, ranks: RankMethod = "ordinal", seed: int = 0
) -> dict[str, AttributeTest]:
    """Test every attribute that the intruder knows in turn, each as if he did not know it."""
    return {
        name: attribute_test(release, name, instantiations=instantiations, ranks=ranks, seed=seed)
        for name in release.quasi
    }


def _tested(release: Release, both: Ranked, attribute: str, instantiations: int, seed: int) -> AttributeTest:
    others = both.without(attribute)
    points = local.nearest(others.space, seed=seed).index[both.query_of]
    distances = attribute_errors(both, attribute, both.query_of, points)
    instances = reference_errors(both, attribute, points, instantiations, seed)
    basis = compared_with_instances("attribute", distances, instances, both.n_released, seed)
    rows = both.row_of[points]
    return AttributeTest(
        basis.test, basis.distances, basis.reference, basis.ks, basis.p_value, basis.direction, basis.n_released,
        seed, attribute, rows, release.released[attribute].gather(rows),
    )  # fmt: skip


def attribute_errors(both: Ranked, attribute: str, queries: Ints, points: Ints) -> Floats:
    """Return the rank difference of one attribute for pairs of an original and a released record."""
    space = only(both, attribute)
    asked = space._replace(queries=space.queries[queries], query_codes=space.query_codes[queries])
    return local.distance_to(asked, points)


def reference_errors(both: Ranked, attribute: str, points: Ints, instantiations: int, seed: int) -> list[Floats]:
    """Return the rank differences on each Y'.

    In Y' the unknown attribute is permuted by itself, whatever the others say. So the links need not be searched
    again: permuting the attribute under the links that were found has the same law, for people linked to the same
    record too.
    """
    instances = []
    for number in range(instantiations):
        moved = np.random.default_rng([seed, 3, number]).permutation(both.n_released)
        instances.append(attribute_errors(both, attribute, both.query_of, moved[points]))
    return instances


def only(both: Ranked, attribute: str) -> Space:
    """Return the space of a single attribute."""
    rest = both
    for name in (*both.numeric_names, *both.code_names):
        if name != attribute:
            rest = rest.without(name)
    return rest.space


def _check_attribute(release: Release, attribute: str) -> None:
    shared = [name for name in release.original.columns if name in release.released.columns]
    if attribute not in shared:
        raise RoleError(
            f"no attribute {attribute!r} in both tables",
            allowed=", ".join(shared),
            hint=did_you_mean(attribute, shared),
        )
    for where, table in (("original", release.original), ("release", release.released)):
        if table[attribute].null_count() == table.height:
            raise RoleError(f"attribute {attribute!r} has no value in the {where}", hint="there is nothing to learn")
