from __future__ import annotations

import itertools
import re

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.tables import recode
from unmask.tables.encode import encode
from unmask.tables.intervals import bounds
from unmask.tables.recode import into_bands, into_intervals, into_merged, into_prefixes


def test_numbers_become_the_interval_they_fall_into():
    original = np.array([31.0, 35.0, 42.0, 99.0, np.nan])
    recoded, published = into_intervals(original, *bounds(pl.Series(["30-39", "40-49", "30-39", None, ">=60"])))
    recoded = recoded.recoded
    assert recoded[:4].tolist() == [33.0, 33.0, 42.0, 99.0] and np.isnan(recoded[4])
    assert published[[0, 1, 2, 4]].tolist() == [33.0, 42.0, 33.0, 99.0] and np.isnan(published[3])


def test_a_value_in_two_different_intervals_keeps_itself():
    recoded, _ = into_intervals(np.array([35.0, 45.0]), *bounds(pl.Series(["30-39", "30-49"])))
    assert recoded.recoded.tolist() == [35.0, 40.0]
    assert recoded.hits.tolist() == [2, 1]


def test_an_empty_interval_has_its_middle():
    _, published = into_intervals(np.array([1.0]), *bounds(pl.Series(["10-20", ">=30", "<5"])))
    assert published.tolist() == [15.0, 30.0, 1.0]


def test_an_empty_interval_without_ends_is_in_the_middle():
    low, high = np.array([-np.inf, 8.0]), np.array([np.inf, np.inf])
    assert into_intervals(np.array([np.nan]), low, high)[1].tolist() == [0.0, 8.0]


def test_words_for_bands_are_learnt_where_each_stands_in_one_stretch():
    known = np.array([*range(20), np.nan, 100.0, 9.6])
    words = pl.Series(["low"] * 10 + ["high"] * 10)
    told = into_bands(known, known[:20], words)
    assert told.to_list() == [*words, None, "high", "high"]  # 9.5 is in the middle between 9 and 10
    assert into_bands(known, known[:20][::-1], words).to_list()[:10] == ["high"] * 10


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (range(20), ["low"] * 9 + ["high"] + ["low"] + ["high"] * 9),  # changes to and fro
        ([*range(10), 9, *range(10, 19)], ["low"] * 10 + ["high"] * 10),  # one number under two words
        (range(20), [f"word {k // 2}" for k in range(20)]),  # too few people for each
        (range(20), ["all"] * 20),
        (range(20), [None] * 20),
    ],
)
def test_what_is_no_band(values, words):
    paired = np.array(values, dtype=float)
    assert into_bands(paired, paired, pl.Series(words, dtype=pl.String)) is None


def test_prefixes():
    original, released = pl.Series(["75011", "75012", "69001", "1"]), pl.Series(["750**", "750**", "69***", "1"])
    assert into_prefixes(original, original, released).to_list() == ["750**", "750**", "69***", "1"]
    assert into_prefixes(original, original, original) is None


def test_prefixes_are_what_a_pattern_finds():
    """The pattern is the definition; it takes quadratic time on long runs of mask signs, the function does not."""
    pattern = re.compile(r"^(.+?)(?:\s?[*?xX•#…]+|-{2,}|\.{2,})$")
    for size in range(6):
        for signs in itertools.product("*x-. 7\n", repeat=size):
            text = "".join(signs)
            found = pattern.match(text) if not text.endswith("\n") else None
            assert recode._prefix(text) == (found[1] if found else ""), text


@pytest.mark.parametrize(
    "shorten",
    [lambda t: t[:3] + "**", lambda t: t[:3] + "*", lambda t: t[:3], lambda t: t[:3] + "xx", lambda t: t[:3] + ".."],
)
def test_every_way_to_shorten(shorten):
    original = pl.Series([f"{code:05d}" for code in range(1000, 99000, 317)])
    released = pl.Series([shorten(text) for text in original])
    assert into_prefixes(original, original, released).to_list() == released.to_list()


def test_codes_that_lost_their_zeros_as_numbers():
    codes = [f"{code:05d}" for code in range(1000, 99000, 317)]
    original, released = pl.Series([str(int(code)) for code in codes]), pl.Series([code[:2] + "***" for code in codes])
    assert into_prefixes(original, original, released).to_list() == released.to_list()
    short = pl.Series(["1067", "10671"])  # four digits are a code of their own where the release shows four
    assert into_prefixes(short, short, pl.Series(["10**", "106**"])).to_list() == ["10**", "106**"]


def test_a_masked_value_in_the_original_stays():
    original, released = pl.Series(["75011", "75***", "69001"]), pl.Series(["75***", "75***", "690**"])
    assert into_prefixes(original, original, released).to_list()[1:] == ["75***", "690**"]


def test_merged_categories_are_learnt_only_where_repetition_tests_them():
    fine = pl.Series(["a", "b", "c", "a", "b", "c"])
    coarse = pl.Series(["1", "1", "2", "1", "1", "2"])
    assert into_merged(fine, fine, coarse).to_list() == coarse.to_list()
    assert into_merged(fine, fine, pl.Series(["1", "1", "2", "2", "1", "2"])) is None  # a goes to two
    unique = pl.Series([f"name {i}" for i in range(6)])
    assert into_merged(unique, unique, coarse) is None  # any pairing of unique values looks like a rule
    assert into_merged(fine, fine, fine) is None


def test_random_labels_for_unique_texts_stay_at_chance():
    """A release that says nothing must not be linked through a rule learnt from the truth."""
    rng = np.random.default_rng(0)
    original = pl.DataFrame({"text": [f"t{i}" for i in range(300)]})
    released = pl.DataFrame({"text": rng.choice(["u", "v", "w"], 300)})
    estimate = unmask.link_nearest(unmask.Release(original, released)).estimate
    assert estimate.value <= 2 / 300


def test_a_coarser_release_is_linked_through_its_own_schema():
    original = pl.DataFrame({"age": [31, 38, 45, 52, 67, 71] * 5, "postcode": ["75011", "69001", "13001"] * 10})
    released = pl.DataFrame(
        {"age": ["30-39", "30-39", "40-49", "50-59", "60+", "60+"] * 5, "postcode": ["75***", "69***", "13***"] * 10}
    )
    release = unmask.Release(original, released)
    encoding = encode(release)
    assert len(encoding.notes) == 2
    assert np.array_equal(encoding.original.numeric, encoding.released.numeric)
    assert np.array_equal(encoding.original.codes, encoding.released.codes)
    assert unmask.link_nearest(release).credit.tolist() == pytest.approx([1 / 5] * 30)


def test_a_zero_alone_is_no_mask():
    """Codes 1 and 2 published as 0 were changed, not hidden: a text of which nothing is shown says nothing."""
    fine, coarse = pl.Series(["1", "2", "1"]), pl.Series(["1", "0", "0"])
    assert into_prefixes(fine, fine, coarse) is None
    fine, coarse = pl.Series(["7511", "7522", "6933"]), pl.Series(["7500", "7500", "6900"])
    assert into_prefixes(fine, fine, coarse).to_list() == coarse.to_list()


@pytest.mark.parametrize(("shown", "masks"), [("7{}1", "x*"), ("a1{}", "x*"), ("{0}1{0}", "x*?")])
def test_masks_that_show_the_same_letters_do_not_depend_on_the_order_of_rows(shown, masks):
    kept = [f"b{k:02d}"[: len(shown.format("x"))] for k in range(11, 71)]
    fine = pl.Series([*(shown.format(k) for k in range(3, 3 + len(masks))), *kept])
    coarse = pl.Series([*(shown.format(sign) for sign in masks), *kept])
    found = {tuple(into_prefixes(fine, fine, coarse))}
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(fine))
        found.add(tuple(into_prefixes(fine, fine[order], coarse[order])))
    assert len(found) == 1
    assert len(set(found.pop()[: len(masks)])) == 1  # all are the same one


def test_equal_codes_are_no_words_for_bands():
    """Numbers that are read as categories and published as they are: each stands in one stretch, and is itself."""
    table = pl.DataFrame({"k": [1, 2, 3, 4] * 10})
    encoding = encode(unmask.Release(table, table, kinds={"k": "categorical"}))
    assert encoding.notes == ()
    assert (encoding.original.codes == encoding.released.codes).all()
