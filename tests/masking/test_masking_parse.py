from __future__ import annotations

import pytest

from unmask.errors import ParameterError
from unmask.masking import Microaggregation, Noise, RankSwap, parse_masking, quoted


def test_reads_positions_names_and_lists():
    assert parse_masking("noise(0.5)") == Noise(0.5)
    assert parse_masking(" noise( kappa = 0.5 ) ") == Noise(0.5)
    assert parse_masking("microaggregation(5, method=univariate)") == Microaggregation(5, method="univariate")
    assert parse_masking("rank_swap(share=0.05, columns=[age, 'net income'])") == RankSwap(
        share=0.05, columns=("age", "net income")
    )
    assert (
        str(RankSwap(share=0.05, columns=("age", "net income"))) == "rank_swap(share=0.05, columns=[age, 'net income'])"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nois(0.5)", "did you mean 'noise'"),
        ("noise", "kappa is missing"),
        ("noise()", "kappa is missing"),
        ("noise(0.5", "cannot read this masking"),
        ("0.5", "cannot read this masking"),
        ("age(2024-06-01)", "put dates in quotes"),
        ("age(on=2024-12-11, columns=[born])", "put dates in quotes"),
        ("noise(0.5, kapa=1)", "did you mean 'kappa'"),
        ("noise(0.5, kappa=1)", "kappa twice"),
        ("noise(1, 2, 3)", "3 parameters"),
        ("noise(-1)", "0 or more"),
        ("noise(nan)", "0 or more"),
        ("noise('a')", "0 or more"),
        ("noise(1+1)", "cannot read a parameter"),
        ("noise(open('x').read())", "cannot read this masking"),
        ("rank_swap(share=1.01)", "from 0 to 1"),
        ("microaggregation(0)", "1 or more"),
        ("microaggregation(2.5)", "an integer"),
        ("microaggregation(3, method=univarate)", "did you mean 'univariate'"),
        ("rounding(0)", "more than 0"),
        ("rounding(10, method=up)", "nearest, random"),
        ("pram(1.5)", "from 0 to 1"),
    ],
)
def test_says_what_is_wrong(text, says):
    with pytest.raises(ParameterError, match=says.replace("(", r"\(")):
        parse_masking(text)


def test_no_word_of_dates_where_there_is_none():
    with pytest.raises(ParameterError) as told:
        parse_masking("noise(0.5")
    assert "quotes" not in str(told.value)


@pytest.mark.parametrize(
    "name", ["class", "from", "None", "first name", "Gru\u0308n", "ſex", "größe", "it's", 'a"b', "x]"]
)
def test_a_column_of_any_name_is_written_so_that_it_is_read(name):
    masking = parse_masking(f"drop([{quoted(name)}, age])")
    assert masking.columns == (name, "age")
    assert parse_masking(str(masking)) == masking


def test_words_of_python_are_names_where_people_type_them():
    assert parse_masking("chain([drop([class, from]), rare(5, columns=[is])])") == parse_masking(
        "chain([drop(['class', 'from']), rare(5, columns=['is'])])"
    )
    assert parse_masking("drop(['the class of'])").columns == ("the class of",)
