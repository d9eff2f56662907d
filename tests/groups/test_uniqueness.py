from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import definitions as naive
from unmask import Release, group_risk
from unmask.errors import ParameterError, RoleError, TableError
from unmask.evidence.measure import Context
from unmask.groups.counting.keys import Sizes
from unmask.groups.uniqueness import (
    assess_uniqueness,
    count_partitions,
    partition_factor,
    threshold_risk,
)
from unmask.study.match import make_matcher
from unmask.study.study import Study
from unmask.tables.encode import encode

ROWS = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, 3, None])), min_size=1, max_size=40)


def frame(rows):
    return pl.DataFrame(
        {"word": [r[0] for r in rows], "number": [r[1] for r in rows]}, schema={"word": pl.String, "number": pl.Int64}
    )


def of(*sizes):
    """A table whose groups have these sizes."""
    return pl.DataFrame({"k": [i for i, size in enumerate(sizes) for _ in range(size)]})


def test_figure_2_nine_records():
    risk = group_risk(pl.DataFrame({"K": list("abccbdeee"), "S": range(9)}), quasi=["K"])
    assert (risk.n_records, risk.n_groups, risk.n_unique, risk.k) == (9, 5, 2, 1)
    assert dict(zip(risk.sizes.size.tolist(), risk.sizes.groups.tolist(), strict=True)) == {1: 2, 2: 2, 3: 1}
    assert risk.minimum == 2 / 9
    assert risk.average == 5 / 9
    assert risk.per_record.tolist() == [1, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 1, 1 / 3, 1 / 3, 1 / 3]


def test_figure_3_three_distributions():
    one, two, three = (group_risk(of(*sizes), quasi="k") for sizes in ((4, 4, 4), (2, 2, 8), (1, 1, 10)))
    assert one.average == two.average == three.average == 1 / 4  # the average cannot tell them apart
    assert one.threshold == 1 / 4  # balanced: the same as the average
    assert one.threshold < two.threshold < three.threshold
    assert [risk.minimum for risk in (one, two, three)] == [0, 0, 2 / 12]


@pytest.mark.parametrize(
    ("n", "g", "m"), [(15, 3, 19), (15, 5, 30), (50, 3, 208), (50, 8, 11740 + 1223), (100, 3, 833), (12, 3, 12)]
)
def test_number_of_partitions(n, g, m):
    counted = sum(1 for _ in naive.partitions(n, g))
    assert count_partitions(n, g) == counted
    if g != 8:
        assert counted == m


@pytest.mark.slow
@pytest.mark.parametrize(("n", "g"), [(15, 3), (15, 5), (50, 3), (50, 8), (100, 3)])
def test_figures_5_to_7_every_distribution(n, g):
    """The paper's claims: equal to G/n when balanced and only then, greatest when most unbalanced, never below G/n."""
    balanced = tuple(sorted([n // g] * (g - n % g) + [n // g + 1] * (n % g)))
    worst = (1,) * (g - 1) + (n - g + 1,)
    values = {}
    m = count_partitions(n, g)
    for sizes in naive.partitions(n, g):
        counted = pl.Series(sizes).value_counts().sort(by=pl.first())
        mine = threshold_risk(Sizes(counted[:, 0].to_numpy(), counted[:, 1].cast(pl.Int64).to_numpy()))
        assert mine == pytest.approx(naive.threshold_risk(sizes, m), abs=1e-12)
        values[sizes] = mine
    assert values[balanced] == pytest.approx(g / n)
    assert all(value > g / n for sizes, value in values.items() if sizes != balanced)
    assert max(values, key=values.get) == worst


def test_figure_7b_hundred_into_eight():
    """All 188,000 partitions are too many to walk one by one; every 97th and both ends are not."""
    m = count_partitions(100, 8)
    chosen = [sizes for i, sizes in enumerate(naive.partitions(100, 8)) if i % 97 == 0]
    chosen += [(12, 12, 12, 12, 13, 13, 13, 13), (1,) * 7 + (93,)]
    values = [group_risk(of(*sizes), quasi="k").threshold for sizes in chosen[-3:]]
    slow = [naive.threshold_risk(sizes, m) for sizes in chosen]
    assert values == pytest.approx(slow[-3:], abs=1e-12)
    assert min(slow) == pytest.approx(8 / 100)
    assert max(slow) == slow[-1]


@given(ROWS)
def test_equals_definition(rows):
    risk = group_risk(frame(rows), quasi=["word", "number"])
    assert risk.minimum == naive.minimum_risk(rows)
    assert risk.average == pytest.approx(naive.average_risk(rows))
    assert sorted(risk.sizes.size.repeat(risk.sizes.groups).tolist()) == naive.group_sizes(rows)
    assert risk.per_record.tolist() == [1 / rows.count(row) for row in rows]
    assert risk.average - 1e-12 <= risk.threshold
    assert risk.minimum <= risk.average <= 1


@given(ROWS, st.randoms())
def test_row_order_changes_nothing(rows, random):
    shuffled = rows.copy()
    random.shuffle(shuffled)
    one, two = (group_risk(frame(r), quasi=["word", "number"]) for r in (rows, shuffled))
    assert (one.minimum, one.average, one.threshold, one.k) == (two.minimum, two.average, two.threshold, two.k)


def test_one_code_for_every_frame():
    table = {"k": ["a", "b", None, None, "a"], "v": [1, 1, 2, 2, 1]}
    frames = [pl.DataFrame(table), pl.LazyFrame(table), pd.DataFrame(table), pa.table(table)]
    for frame_ in frames:
        risk = group_risk(frame_, quasi=["k", "v"])
        assert (risk.n_records, risk.n_groups, risk.n_unique, risk.k) == (5, 3, 1, 1)
        assert risk.per_record.tolist() == [0.5, 1, 0.5, 0.5, 0.5]


def test_pandas_index_is_not_the_order():
    table = pd.DataFrame({"k": ["a", "b", "a"]}, index=[5, 0, 5])
    assert group_risk(table, quasi="k").per_record.tolist() == [0.5, 1.0, 0.5]


def test_population_size_divides_the_uniques():
    risk = group_risk(of(1, 1, 2), quasi="k", population=100)
    assert risk.minimum == 2 / 100  # eq. 7
    with pytest.raises(ParameterError, match="smaller than the table"):
        group_risk(of(1, 1, 2), quasi="k", population=3)


def test_factor_is_exact_where_the_bound_speaks():
    for n, g in ((60, 20), (400, 90), (700, 350), (1000, 5), (618, 309), (620, 310), (2000, 400)):
        m = count_partitions(n, g)
        assert partition_factor(n, g) == m / (m + 1)
    assert partition_factor(10_000_000, 5) == 1.0  # no loop over ten million
    assert partition_factor(10_000_000, 9_999_990) == pytest.approx(42 / 43)  # p(10) = 42


def test_bad_input():
    with pytest.raises(RoleError, match="did you mean 'town'"):
        group_risk(pl.DataFrame({"town": [1]}), quasi=["twon"])
    with pytest.raises(RoleError, match="no quasi"):
        group_risk(pl.DataFrame({"town": [1]}), quasi=[])
    with pytest.raises(TableError, match="no rows"):
        group_risk(pl.DataFrame({"town": []}), quasi=["town"])
    with pytest.raises(TableError, match="not a frame"):
        group_risk([1, 2], quasi=["town"])


@given(ROWS, st.randoms())
def test_exact_match_equals_definition(rows, random):
    other = [random.choice(rows) for _ in rows]
    release = (
        Release(frame(rows).with_row_index("i"), frame(other).with_row_index("i"), quasi=None, ignored=["i"])
        if _usable(rows, other)
        else None
    )
    if release is None:
        return
    names = release.quasi
    left, right = ([tuple(r) for r in t.select(names).rows()] for t in (release.original, release.released))
    encoded = encode(release)
    if encoded.notes:  # a coding that is understood, such as one category in place of two: more fits than is equal
        return
    credit = make_matcher(encoded).match().credit(release.truth)
    assert credit.tolist() == [naive.matching_credit(left, right, release.truth, i) for i in range(len(rows))]


def _usable(rows, other):
    """Both tables need a value in some shared column."""
    return any(any(r[k] is not None for r in rows) and any(r[k] is not None for r in other) for k in (0, 1))


def test_evidence_of_a_copy():
    table = frame([("a", 1), ("a", 1), ("b", 2), ("b", 3)])
    evidence = assess_uniqueness(Study(Release(table, table)), Context())
    average, unique = (o.estimate for o in evidence.observations)
    assert average.value == pytest.approx(3 / 4)
    assert unique.value == 2 / 4
    assert average.chance == 1 / 4
    assert evidence.per_record.tolist() == [0.5, 0.5, 1, 1]


def test_the_report_counts_people_too():
    """DR_min with N, and all three with weights, where they are known."""
    table = pl.DataFrame({"k": ["a", "b", "b", "c"] * 5 + ["d"], "w": [2.0] * 21})
    facts = {f.name: f.value for f in assess_uniqueness(Study(Release(table, table, weight="w")), Context()).facts}
    weighted = group_risk(table, quasi=["k"], weight="w")
    for name, value in (("min", weighted.minimum), ("pr", weighted.average), ("thr", weighted.threshold)):
        assert facts[f"DR_{name} in people"] == value
    numbered = assess_uniqueness(Study(Release(table, table, ignored=["w"], population=300)), Context())
    assert {f.name: f.value for f in numbered.facts}["DR_min of the population"] == 1 / 300


@pytest.mark.parametrize("weights", [[0.0, 2.0, 3.0], [3.0, -1.0, 2.0], [None, 2.0, 3.0], [float("nan"), 2.0, 3.0]])
def test_every_record_has_a_weight(weights):
    """A group with one good weight does not hide a bad one."""
    table = pl.DataFrame({"k": ["a", "a", "b"], "w": pl.Series(weights, dtype=pl.Float64), "text": ["1", "2", "3"]})
    with pytest.raises(RoleError, match="positive number on every record"):
        group_risk(table, quasi="k", weight="w")
    with pytest.raises(RoleError, match="not a column of numbers"):
        group_risk(table, quasi="k", weight="text")
