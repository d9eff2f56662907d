import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from naive import tabular as naive
from unmask.errors import TableError
from unmask.tabular.bounds import Fillings
from unmask.tabular.cells import Reading, read_cells


def inner(n):
    return sparse.identity(n, format="csr")


def test_two_margins_give_frechets_bounds():
    rows, columns = [5, 7, 9], [3, 18]
    tables = [pl.DataFrame({"a": list("xyz"), "n": rows}), pl.DataFrame({"b": list("pq"), "n": columns})]
    found = Fillings(read_cells(tables)).bound(inner(6))
    expected = [(max(0, r + c - 21), min(r, c)) for r in rows for c in columns]
    assert list(zip(found.low, found.high, strict=True)) == expected
    assert found.proven.all()


def test_differencing_two_tables_finds_the_people_between_them():
    tables = [pl.DataFrame({"age": ["15-19", "20-24"], "n": [20, 30]}), pl.DataFrame({"age": ["15-18"], "n": [18]})]
    found = Fillings(read_cells(tables)).bound(inner(3))
    assert found.low.tolist() == found.high.tolist() == [18, 2, 30]


def test_one_withheld_cell_follows_from_its_total_and_four_in_a_square_do_not():
    one = pl.DataFrame({"sex": ["f", "m", "Total"], "n": ["x", "4", "7"]})
    found = Fillings(read_cells([one])).bound(inner(2))
    assert found.low.tolist() == found.high.tolist() == [3, 4]


@given(
    truth=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    shown=st.lists(st.booleans(), min_size=4, max_size=4),
    margins=st.tuples(st.booleans(), st.booleans()),
    base=st.sampled_from([0, 0, 3]),
)
@settings(max_examples=30)
def test_ends_are_those_of_all_fillings(truth, shown, margins, base):
    """Two by two, some cells withheld, margins published or not, rounded or not: against every filling there is."""
    table = np.array(truth).reshape(2, 2)

    def told(value):
        return str(int(base * round(value / base)) if base else int(value))

    rows = [(a, b, told(table[i, j]) if shown[2 * i + j] else "x")
            for i, a in enumerate("fm") for j, b in enumerate("AB")]  # fmt: skip
    rows += [("Total", "Total", told(table.sum()))]
    rows += [(a, "Total", told(table[i].sum())) for i, a in enumerate("fm")] if margins[0] else []
    rows += [("Total", b, told(table[:, j].sum())) for j, b in enumerate("AB")] if margins[1] else []
    cells = read_cells([pl.DataFrame(rows, schema=["sex", "town", "n"], orient="row")], Reading(rounding=base))
    found = Fillings(cells).bound(inner(4))
    dense = cells.covers.toarray()
    published = [
        (np.flatnonzero(dense[i]), cells.low[i], cells.high[i]) for i in range(dense.shape[0]) if cells.high[i] < np.inf
    ]
    ways = naive.fillings(4, published, most=int(table.sum()) + base)
    assert list(zip(found.low, found.high, strict=True)) == [naive.ends(ways, [i]) for i in range(4)]
    assert found.proven.all()


def test_amounts_need_not_be_whole():
    tables = [pl.DataFrame({"town": ["A", "B", "Total"], "amount": ["x", "x", "7.5"]})]
    found = Fillings(read_cells(tables, Reading(amounts=True))).bound(inner(2))
    assert found.low.tolist() == [0, 0] and found.high.tolist() == [7.5, 7.5]


def test_nothing_bounds_what_no_total_covers():
    found = Fillings(read_cells([pl.DataFrame({"town": ["A", "B"], "n": ["x", "3"]})])).bound(inner(2))
    assert found.low.tolist() == [0, 3] and found.high.tolist() == [np.inf, 3]


def test_tables_that_contradict_each_other_are_named_by_row():
    tables = [pl.DataFrame({"sex": ["f", "m"], "n": [3, 4]}), pl.DataFrame({"sex": ["Total"], "n": [9]})]
    with pytest.raises(TableError, match=r"contradict each other: table 2, row 1"):
        Fillings(read_cells(tables))


def test_empty_tables_with_a_total_contradict_it():
    with pytest.raises(TableError, match="contradict"):
        Fillings(read_cells([pl.DataFrame({"sex": ["f", "m", "Total"], "n": [0, 0, 2]})]))
