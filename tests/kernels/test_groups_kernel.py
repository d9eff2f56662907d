"""Equal rows: as numbers are equal, with NaN equal to NaN, whatever their bits."""

from __future__ import annotations

import numpy as np
import pytest

from unmask.kernels.groups import labels

NAN = np.array([0x7FF8000000000000, 0xFFF8000000000000 - 2**64, 0x7FF8000000000001], dtype=np.int64).view(np.float64)
NONE = np.zeros((4, 0), dtype=np.int32)


@pytest.mark.parametrize("rest", [1.0, np.nan, -0.0])
@pytest.mark.parametrize(("one", "other"), [(0.0, -0.0), (-0.0, 0.0), (NAN[0], NAN[1]), (NAN[1], NAN[2]), (2.5, 2.5)])
def test_rows_that_are_equal_as_numbers_have_one_label(rest, one, other):
    values = np.array([[one, 3.0], [7.0, rest], [other, 3.0], [7.0, rest]])
    before = values.copy()
    first, label = labels(values, NONE)
    assert first.tolist() == [0, 1]
    assert label.tolist() == [0, 1, 0, 1]
    assert values.tobytes() == before.tobytes()


def test_rows_that_differ_in_one_number_have_two():
    values = np.array([[0.0, 1.0], [0.0, np.nextafter(1.0, 2.0)], [np.nan, 1.0], [-1.0, 1.0]])
    assert labels(values, NONE)[1].tolist() == [0, 1, 2, 3]
    assert labels(np.asfortranarray(values), NONE)[1].tolist() == [0, 1, 2, 3]
    assert labels(np.zeros((0, 2)), np.zeros((0, 0), np.int32))[1].tolist() == []
    assert labels(np.zeros((4, 0)), NONE)[1].tolist() == [0, 0, 0, 0]
