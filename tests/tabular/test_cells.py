import numpy as np
import polars as pl
import pytest

from unmask.errors import ParameterError, TableError
from unmask.tabular.cells import Reading, cover, read_cells


def by_sex(values, name="count"):
    return pl.DataFrame({"sex": ["f", "m", "Total"], name: values})


def test_a_total_covers_all_parts_and_a_label_its_own():
    cells = read_cells([by_sex([3, 4, 7])])
    assert cells.parts == (("f", "m"),)
    assert cells.covers.toarray().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert cells.low.tolist() == cells.high.tolist() == [3, 4, 7]
    assert cells.finest.tolist() == [True, True, False]
    assert cells.whole


def test_a_dimension_that_a_table_does_not_have_is_summed_over():
    cells = read_cells([by_sex([3, 4, 7]), pl.DataFrame({"town": ["A", "B"], "count": [5, 2]})])
    assert cells.dimensions == ("sex", "town")
    assert cells.covers.toarray()[3].tolist() == [1, 0, 1, 0]  # town A of both sexes


def test_bands_that_cut_across_each_other_are_cut_at_every_end():
    one = pl.DataFrame({"age": ["15-19", "20-24", "65+"], "n": [20, 30, 4]})
    two = pl.DataFrame({"age": ["15-18", "19-24"], "n": [18, 32]})
    cells = read_cells([one, two])
    assert cells.parts == (("15 to under 19", "19", "20 to under 25", "25 to under 65", "65+"),)
    assert cells.covers.toarray()[0].tolist() == [1, 1, 0, 0, 0]
    assert cells.covers.toarray()[4].tolist() == [0, 1, 1, 0, 0]


def test_labels_that_stand_for_several_cover_their_parts():
    groups = {"town": {"North": frozenset({"A", "B"}), "A": frozenset({"A"})}}
    cells = read_cells([pl.DataFrame({"town": ["A", "North", "C"], "n": [1, 5, 2]})], Reading(groups=groups))
    assert cells.parts == (("A", "B", "C"),)
    assert cells.covers.toarray().tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("value", "how", "told"),
    [
        ("x", Reading(), (0, np.inf)),
        (None, Reading(), (0, np.inf)),
        ("1,234", Reading(), (1234, 1234)),
        ("<5", Reading(), (0, 4)),
        ("<=5", Reading(), (0, 5)),
        ("10", Reading(rounding=5), (8, 12)),
        ("10", Reading(rounding=5, random_rounding=True), (6, 14)),
        ("0", Reading(rounding=3), (0, 1)),
        ("10", Reading(rounding=5, amounts=True), (7.5, 12.5)),
    ],
)
def test_what_is_published_of_a_cell_is_an_interval(value, how, told):
    cells = read_cells([pl.DataFrame({"sex": ["f", "m"], "count": [value, "7"]}, strict=False)], how)
    assert (cells.low[0], cells.high[0]) == told


def test_fewer_than_five_is_at_least_one_where_zeros_are_printed():
    cells = read_cells([pl.DataFrame({"sex": ["f", "m"], "count": ["<5", "0"]})])
    assert (cells.low[0], cells.high[0]) == (1, 4)


def test_combinations_that_are_not_listed_are_empty_unless_told_otherwise():
    table = pl.DataFrame({"sex": ["f", "m", "f"], "ill": ["no", "no", "yes"], "n": [1, 2, 3]})
    cells = read_cells([table])
    assert int((cells.row == 0).sum()) == 1
    assert cells.high[cells.row == 0].tolist() == [0]
    assert not (read_cells([table], Reading(unlisted="withheld")).row == 0).any()


def test_cover_is_the_product_of_parts():
    assert cover([((0, 1), (2,))], (2, 3)).indices.tolist() == [2, 5]


@pytest.mark.parametrize(
    ("tables", "how", "words"),
    [
        ([], Reading(), "no table"),
        ([by_sex([3, -4, 7])], Reading(), "negative number"),
        ([by_sex([1, 2, 3])], Reading(value="people"), "no column of counts"),
        ([pl.DataFrame({"sex": ["f"], "town": ["A"]})], Reading(), "no column of counts"),
        ([by_sex([1, 2, 3]).clear()], Reading(), "no rows"),
        ([pl.DataFrame({"sex": ["f", "f"], "n": [1, 2]})], Reading(), "the same cell twice"),
        ([pl.DataFrame({"age": ["0-9", "10-19", "20-29", "unclear"], "n": [1, 2, 2, 3]})], Reading(), "neither a band"),
        ([pl.DataFrame({"a": [str(i) for i in range(300)], "b": [str(i) for i in range(300)], "n": [1] * 300})],
         Reading(), "too many inner cells"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused_in_one_message(tables, how, words):
    with pytest.raises(TableError, match=words):
        read_cells(tables, how)


def test_an_unknown_word_for_unlisted_cells_is_refused():
    with pytest.raises(ParameterError, match="not listed"):
        read_cells([by_sex([1, 2, 3])], Reading(unlisted="zero"))
