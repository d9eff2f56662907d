from __future__ import annotations

import pytest

from unmask.errors import ParameterError
from unmask.masking import Chain, Noise, Pram, parse_masking


def test_one_after_the_other(people):
    both = Chain((Noise(0.5), Pram(0.3)))
    assert parse_masking(str(both)) == both
    assert str(both) == "chain([noise(0.5), pram(0.3)])"
    wanted = Pram(0.3).apply(Noise(0.5).apply(people, 4), 5)
    assert both.apply(people, 4).equals(wanted)


def test_reverse_mapping_after_a_chain(people):
    masked = parse_masking("reverse_map(chain([noise(0.5), pram(0.3)]))").apply(people, 0)
    assert masked["age"].sort().equals(people["age"].sort())


@pytest.mark.parametrize("text", ["chain([])", "chain([1])"])
def test_clear_refusal(text):
    with pytest.raises(ParameterError, match="chain needs maskings"):
        parse_masking(text)
