"""Maskings in words: what a person would say to whoever prepares the table."""

from __future__ import annotations

import pytest

from unmask.protect import in_words
from unmask.protect.wording import listed


@pytest.mark.parametrize(
    ("masking", "words"),
    [
        ("drop([town])", "drop town"),
        ("drop([a, b, c, d, e])", "drop a, b, c, d and e"),
        ("dates(decade, columns=['birth date'])", "publish birth date by decade"),
        ("dates(year)", "publish dates by year"),
        ("prefix(1, columns=[postcode])", "publish postcode by its first character"),
        ("prefix(2, columns=[postcode])", "publish postcode by the first 2 characters"),
        ("recoding(10, columns=[age])", "publish age in bands of 10"),
        ("recoding(breaks=[20, 40, 60], columns=[age])", "publish age in bands of 20"),
        ("recoding(breaks=[18, 65, 80], columns=[age])", "publish age in 4 bands"),
        ("recoding(breaks=[18], columns=[age])", "publish age as below 18 or not"),
        ("noise(0.5, columns=[a, b])", "publish a and b with noise of 0.5 sd"),
        ("microaggregation(25, columns=[a, b])", "publish a and b averaged in groups of 25"),
        ("consistent(microaggregation(5, method=univariate, columns=[a]))", "publish a as means of 5 people or more"),
        ("data_shuffling([a, b])", "publish a and b drawn anew"),
        ("top_bottom(top=0.9, columns=[a])", "publish a with its extremes cut off"),
        ("shuffle(columns=[a])", "publish a after shuffle(columns=[a])"),
        (
            "chain([drop([town]), dates(decade, columns=[born]), rare(40, columns=[born]), rank_swap(share=0.05)])",
            "drop town; publish born by decade, rare values together and the rest swapped within 5 % of the ranks",
        ),
        (
            "chain([drop([a]), chain([drop([b]), local_suppression(3, columns=[c])])])",
            "drop a and b; blank single cells",
        ),
    ],
)
def test_each_masking_is_an_order(masking, words):
    assert in_words(masking) == words


def test_many_columns_are_counted_and_those_not_there_left_out():
    masking = "drop([a, b, c, d, e])"
    assert in_words(masking, most=3) == "drop a, b, c and 2 more columns"
    assert in_words(masking, most=4) == "drop a, b, c, d and e"  # "1 more columns" is nothing saved
    assert in_words(masking, of=["a", "e"]) == "drop a and e"
    assert in_words("local_suppression(3, columns=[c])", people=12) == "blank single cells of 12 people"
    assert listed([]) == ""
