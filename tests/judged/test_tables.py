"""Numbers that judge published tables, from every filling of small ones."""

from __future__ import annotations

import numpy as np
import polars as pl

from naive import tabular as naive
from unmask.tabular import Reading, report_tables, table_risk

HIDDEN = pl.DataFrame({
    "sex": ["f", "f", "m", "m", "f", "Total", "Total", "Total"],
    "ill": ["no", "yes", "no", "yes", "Total", "no", "yes", "Total"],
    "n": ["0", "x", "12", "x", "3", "12", "4", "16"],
})  # fmt: skip
GROUPS = [[[0], [1]], [[2], [3]]]  # inner cells by sex: no, yes


def judged(table, **options):
    (reported,) = report_tables(table_risk([table], **options))
    return {one.key: one.estimate.value for one in reported.evidence.observations}


def all_fillings(most):
    cells = table_risk([HIDDEN], confidential="ill").cells
    dense = cells.covers.toarray()
    told = [(np.flatnonzero(dense[i]), cells.low[i], cells.high[i]) for i in range(dense.shape[0])]
    return naive.fillings(4, [one for one in told if one[2] < np.inf], most)


def test_counts():
    found, ways = judged(HIDDEN, confidential="ill"), all_fillings(16)
    ends = [naive.ends(ways, [i]) for i in range(4)]
    people = naive.ends(ways, range(4))[0]
    small = sum(low for low, high in ends if high < 11) / people
    learnt = naive.ends(ways, sorted(naive.learnt(ways, GROUPS)))[0] / people
    usual = max(([0, 2], [1, 3]), key=lambda members: sum(naive.ends(ways, members)))
    known = naive.ends(ways, sorted(naive.learnt(ways, GROUPS) - set(usual)))[0] / people
    assert (small, learnt, known) == (4 / 16, 3 / 16, 3 / 16)
    wanted = {"tables.small": small, "tables.learnt": learnt, "tables.known": known}
    for key in ("tables.small", "tables.learnt", "tables.known"):
        assert found[key] == wanted[key]


def test_amounts():
    firms = pl.DataFrame({"town": list("AAABBBC"), "amount": [100.0, 5.0, 2.0, 40.0, 41.0, 39.0, 7.0]})
    table = pl.DataFrame({"town": ["A", "B", "C", "Total"], "amount": ["107", "x", "7", "234"]})
    found = judged(table, original=firms, reading=Reading(amounts=True))
    contributions = [[100, 5, 2], [7], [100, 5, 2, 40, 41, 39, 7]]  # of the published cells
    open_ = sum(sum(sorted(one)[:-2]) < 0.1 * max(one) for one in contributions) / len(contributions)
    follows = float(abs((234 - 107 - 7) - 120) <= 0.1 * 240)  # the only withheld cell is the rest
    assert found["tables.estimable"] == float(open_)
    assert found["tables.within"] == float(follows)
