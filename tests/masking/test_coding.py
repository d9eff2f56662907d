from __future__ import annotations

import pytest

from unmask.errors import ParameterError
from unmask.masking import TopBottomCoding, parse_masking


def test_nothing_beyond_the_thresholds(people):
    masked = TopBottomCoding(bottom=0.1, top=0.9).apply(people)
    assert masked["age"].min() == people["age"].quantile(0.1, "nearest")
    assert masked["age"].max() == people["age"].quantile(0.9, "nearest")
    inside = people["age"].is_between(masked["age"].min(), masked["age"].max())
    assert masked["age"].filter(inside).equals(people["age"].filter(inside))
    assert masked["score"].null_count() == people["score"].null_count()


def test_plain_values(people):
    masked = TopBottomCoding(top=65, by="value", columns=("age",)).apply(people)
    assert masked["age"].to_list() == [min(a, 65) for a in people["age"]]
    assert masked["income"].equals(people["income"])


@pytest.mark.parametrize("text", ["top_bottom()", "top_bottom(top=1.5)", "top_bottom(0.9, 0.1)"])
def test_clear_refusals(text):
    with pytest.raises(ParameterError):
        parse_masking(text)
