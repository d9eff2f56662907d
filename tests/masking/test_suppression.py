from __future__ import annotations

import pytest

from unmask.errors import ParameterError, RoleError
from unmask.masking import Suppression, parse_masking


def test_only_the_given_cells_go(people):
    masked = parse_masking("suppression([(0, age), (2, age), (1, id)])").apply(people)
    assert masked["age"].null_count() == 2
    assert masked["age"][1] == people["age"][1]
    assert masked["id"].null_count() == 1
    assert masked.drop("age", "id").equals(people.drop("age", "id"))


def test_clear_refusals(people):
    with pytest.raises(ParameterError, match="no such row"):
        Suppression(((500, "age"),)).apply(people)
    with pytest.raises(RoleError, match="did you mean 'age'"):
        Suppression(((0, "aged"),)).apply(people)
    with pytest.raises(ParameterError, match="not a row and a column"):
        parse_masking("suppression([(age, 0)])")
