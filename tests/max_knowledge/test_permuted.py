from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from deniability_tables import correlated, frame, shuffled
from naive import max_knowledge as naive
from unmask.errors import ParameterError
from unmask.max_knowledge import permuted_test
from unmask.max_knowledge.permuted import permuted_space
from unmask.max_knowledge.ranks import ranked
from unmask.tables.release import Release


def test_reference_equals_its_twin():
    rng = np.random.default_rng(0)
    xs, ys = rng.normal(size=(2, 12, 3))
    release = Release(frame(xs), frame(ys))
    test = permuted_test(release, instantiations=3, seed=1)
    both = ranked(release, seed=1)
    wanted = []
    for number in range(3):
        points = permuted_space(both.space, np.random.default_rng([1, 2, number])).points
        wanted += naive.linkage(both.space.queries, points)  # ranks are values too
    assert sorted(test.reference) == pytest.approx(sorted(wanted))


def test_a_permuted_release_keeps_its_marginals():
    space = ranked(Release(correlated(50), correlated(50, seed=1))).space
    moved = permuted_space(space, np.random.default_rng(0))
    assert (np.sort(moved.points, axis=0) == np.sort(space.points, axis=0)).all()
    assert not (moved.points == space.points).all()


def test_identity_discloses_and_independence_does_not():
    table = correlated(400)
    same = permuted_test(Release(table, table), instantiations=2)
    assert same.direction == "disclosive"
    assert same.ks > 0.99
    none = permuted_test(Release(table, shuffled(table)), instantiations=10)
    assert none.ks < 0.1
    assert none.risk.mean() < 0.05


def test_noise_protects_more_and_more():
    table = correlated(300)
    noise = np.random.default_rng(3).normal(size=(300, 4))
    tests = [
        permuted_test(Release(table, frame(table.to_numpy() + kappa * noise)), instantiations=5)
        for kappa in (0.1, 0.5, 1)
    ]
    assert tests[0].ks > tests[1].ks > tests[2].ks
    assert tests[0].mean < tests[1].mean < tests[2].mean


def test_p_value_is_calibrated_where_everyone_meets_the_same_few_records():
    """Values far inside the release's range all link to its middle: one release is one draw, not n."""
    p = []
    for seed in range(60):
        inside = frame(0.05 * correlated(60, m=3, seed=seed).to_numpy())
        p.append(permuted_test(Release(inside, shuffled(correlated(60, m=3, seed=99), seed)), instantiations=9).p_value)
    assert np.mean(np.array(p) <= 0.1) < 0.25
    assert np.mean(p) == pytest.approx(0.55, abs=0.12)


def test_sampled_intruders_and_clear_refusals():
    table = correlated(60)
    release = Release(table, shuffled(table))
    assert permuted_test(release, instantiations=4, intruders=10).reference.size == 40
    assert permuted_test(release, instantiations=4, intruders=None).reference.size == 240
    for wrong in ({"instantiations": 0}, {"intruders": 0}, {"ranks": "odd"}):
        with pytest.raises(ParameterError):
            permuted_test(release, **wrong)


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"a": [1.0], "b": [2.0]}),
        pl.DataFrame({"a": [1.0] * 30, "b": np.arange(30.0)}),
        pl.DataFrame({"a": [1.0] * 30, "b": [2.0] * 30}),
        pl.DataFrame({"a": np.arange(30.0)}),
        pl.DataFrame({"a": [None, *np.arange(29.0)], "b": [*np.arange(29.0), None]}),
        pl.DataFrame({"a": ["x", "y"] * 15}),
    ],
    ids=["one record", "constant attribute", "all equal", "one attribute", "missing", "categories only"],
)
def test_degenerate_tables_are_answered(table):
    test = permuted_test(Release(table, table), instantiations=2)
    assert test.distances.shape == (table.height,)
    assert np.isfinite([test.ks, test.p_value, test.minimum, test.mean]).all()
    assert ((test.risk >= 0) & (test.risk <= 1)).all()
