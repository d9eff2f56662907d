"""What is looked at once the tables are read: at the very limits."""

from __future__ import annotations

import polars as pl
import pytest

from unmask import Release
from unmask.errors import ParameterError, RoleError, TableError
from unmask.tables.checks import check_claim

PEOPLE = pl.DataFrame({"id": [3, 1, 2], "age": [30.5, 40.5, 50.5], "town": ["x", "y", "z"]})


def test_the_largest_number_is_taken_and_a_larger_one_is_not():
    assert Release(PEOPLE, PEOPLE.with_columns(age=pl.Series([1e100, -1e100, 0.0]))).quasi
    for number in (1.1e100, -1.1e100):
        with pytest.raises(TableError, match="'age' of the release holds numbers beyond"):
            Release(PEOPLE, PEOPLE.with_columns(age=pl.Series([1.0, number, 0.0])))
    with pytest.raises(TableError, match="'age' of the control holds an infinity in row 3"):
        Release(PEOPLE, PEOPLE, control=PEOPLE.with_columns(age=pl.Series([1.0, 2.0, float("-inf")])))


@pytest.mark.parametrize("weights", [[1.0, 0.0, 2.0], [1.0, None, 2.0], [-1.0, 1.0, 2.0], ["1", "2", "3"]])
def test_a_weight_is_a_positive_number_on_every_record(weights):
    released = PEOPLE.with_columns(w=pl.Series(weights))
    count = 3 if weights[0] == "1" else 1
    with pytest.raises(RoleError, match=f"positive number(?s:.*){count} of 3 records"):
        Release(PEOPLE, released, weight="w")
    assert Release(PEOPLE, PEOPLE.with_columns(w=pl.Series([0.1, 1.0, 2.0])), weight="w").weight == "w"
    assert Release(PEOPLE.with_columns(w=pl.lit(0.0)), PEOPLE, weight="w").weight == "w"  # not in what is published


def test_a_population_has_at_least_as_many_people_as_the_release_has_rows():
    assert Release(PEOPLE, PEOPLE, population=3).n_people == 3
    for number in (2.9, float("inf"), float("nan")):
        with pytest.raises(RoleError, match="at least as many"):
            Release(PEOPLE, PEOPLE, population=number)


def warned(original, released, word, **roles):
    return [note for note in Release(original, released, **roles).warnings if word in note]


def test_who_tells_more():
    """More columns, filled gaps: not where the release has gaps of its own, or the original has columns of its own."""
    more = PEOPLE.with_columns(extra=pl.lit(1.5))
    assert "'extra'" in warned(PEOPLE, more, "swapped")[0]
    assert not warned(PEOPLE.with_columns(own=pl.lit(1)), more, "swapped")
    assert not warned(PEOPLE, PEOPLE, "swapped")
    gaps = PEOPLE.with_columns(town=pl.Series(["x", None, "z"]))
    assert "'town'" in warned(gaps, PEOPLE, "swapped")[0]
    assert not warned(gaps, PEOPLE.with_columns(age=pl.Series([30.5, None, 50.5])), "swapped")


def test_names_are_told_from_twenty_people_on():
    def names(n, **columns):
        return pl.DataFrame({"number": range(n), "x": [0.5] * n, **columns})

    assert not warned(names(19), names(19), "names people")
    assert warned(names(20), names(20), "names people")
    half = [k + 0.5 for k in range(20)]
    assert not warned(names(20, number=half), names(20, number=half), "names people")
    twice = [0, *range(19)]
    assert not warned(names(20, number=twice), names(20, number=twice), "names people")
    gap = [None, *range(19)]
    assert not warned(names(20, number=gap), names(20, number=gap), "names people")
    one_off = [*range(19), 99]
    assert not warned(names(20), names(20, number=one_off), "names people")


def test_a_claim_has_an_epsilon_above_0_and_a_delta_below_1():
    assert [check_claim(*claim) for claim in ((None, None), (2, None), (0.1, 0), (1.0, 1e-5))] == [0, 0, 0, 1e-5]
    for epsilon in (0, -1.0, float("nan"), float("inf"), "1"):
        with pytest.raises(ParameterError, match="epsilon is out of range"):
            check_claim(epsilon, None)
    for epsilon, delta in ((None, 0.1), (1.0, 1), (1.0, -1e-9), (1.0, float("nan")), (1.0, "0.1")):
        with pytest.raises(ParameterError, match="delta is out of range"):
            check_claim(epsilon, delta)
