"""Whole numbers turned into others by a key, and numbers whose signs are random: a few known people suffice."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask import Release
from unmask.linkage.channel import link_channel
from unmask.linkage.channel.ciphers import cipher, find_cipher, is_cipher
from unmask.linkage.channel.columns import read_column

PAIRS = [(k, k) for k in range(30)]


def column(name, values):
    return read_column(pl.Series(name, values))


def recovered(x, y):
    """What the key that is found makes of x; None: none is found."""
    ours, theirs = column("number", x), column("code", y)
    found = find_cipher([column("other", [f"w{k}" for k in range(len(x))]), ours], theirs, PAIRS)
    if found is None:
        return None
    assert found.columns == (1,) and is_cipher(found.form)
    feature = cipher(ours, found.form)
    return [feature.texts[code] for code in feature.code.tolist()]


@given(
    st.sampled_from([101, 9973, 10**9 + 7, 2**31 - 1, 1000, 65536]), st.integers(2, 10**9), st.integers(0, 10**9),
    st.integers(0, 10**6),
)  # fmt: skip
def test_a_multiple_modulo_a_number_is_found_from_thirty_people(modulus, multiplier, addend, seed):
    x = np.random.default_rng(seed).choice(10**7, 60, replace=False).tolist()
    y = [(multiplier * v + addend) % modulus for v in x]
    found = recovered([str(v) for v in x], [str(v) for v in y])
    if len(set(y[:30])) >= 6 and found is not None:
        assert found == [str(v) for v in y]
    elif all(modulus % p for p in (2, 5)) and multiplier % modulus > 1 and max(x) * multiplier + addend >= modulus:
        assert found == [str(v) for v in y]  # of a prime every difference has an inverse


def test_bits_flipped_by_a_key_and_zeros_in_front():
    x = np.random.default_rng(1).choice(90_000, 60, replace=False) + 10_000
    assert recovered(x.tolist(), (x ^ 48_271).tolist()) == [str(v) for v in x ^ 48_271]
    padded = [f"{v * 17 % 9973:06d}" for v in x.tolist()]
    assert recovered([f"{v:08d}" for v in x.tolist()], padded) == padded


def test_a_tenth_may_be_wrong_of_flipped_bits_and_noise_has_no_key():
    rng = np.random.default_rng(2)
    x = rng.choice(90_000, 60, replace=False)
    y = x ^ 12_345
    y[5:8] = rng.integers(0, 90_000, 3)
    found = recovered(x.tolist(), y.tolist())
    assert found is not None and found[10:] == [str(v) for v in y[10:]]
    assert recovered(x.tolist(), rng.integers(0, 90_000, 60).tolist()) is None
    assert recovered(x.tolist(), x.tolist()) is None  # the same numbers: no key
    assert recovered(x.tolist(), (3 * x + 1).tolist()) is None  # a straight line: no modulus
    assert recovered([f"t{v}" for v in x], y.tolist()) is None


def released(original, rng, **columns):
    n = original.height
    masked = original.select("id").with_columns(pl.Series(name, values) for name, values in columns.items())
    return Release(original, masked[rng.permutation(n)], id="id")


@pytest.mark.parametrize("kind", ["modulo", "xor"])
def test_numbers_behind_a_key_find_everybody(kind):
    rng = np.random.default_rng(3)
    x = rng.choice(900_000, 120, replace=False) + 100_000
    y = x * 7919 % 1_000_003 if kind == "modulo" else x ^ 0x5A5A5
    original = pl.DataFrame({"id": range(120), "customer": x, "age": rng.integers(20, 70, 120)})
    found = link_channel(released(original, rng, code=y), curve=False)
    assert found.found.value > 0.98
    told = next(t for t in found.columns if t.column == "code")
    assert "`customer`" in told.words and ("key" in told.words or "modulo" in told.words)
    assert not any(character.isdigit() for character in told.words)  # a key is no word for a report


def test_random_signs_hide_nothing():
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(0, 100, (120, 2)), 1)
    y = x * rng.choice([-1, 1], x.shape)
    original = pl.DataFrame({"id": range(120), "a": x[:, 0], "b": x[:, 1]})
    found = link_channel(released(original, rng, u=y[:, 0], v=y[:, 1]), curve=False)
    assert found.found.value > 0.9
    assert any("the size of `a`" in t.words for t in found.columns)


def bits_of(x, width=16):
    return f"{x:0{width}b}"


@pytest.mark.parametrize(
    "write",
    [
        lambda v: int(bits_of(v)[::-1], 2),  # the other way round
        lambda v: v ^ v >> 1,  # Gray's code
        lambda v: v ^ v << 3 & 0xFFFF ^ 0x1234,
        lambda v: int("".join(bits_of(v)[k] for k in (5, 0, 9, 2, 15, 7, 1, 3, 12, 11, 4, 14, 6, 10, 13, 8)), 2),
        lambda v: f"{v:04X}",
        lambda v: f"{v:x}",
        lambda v: f"{v:b}",
        lambda v: f"{v * 7919 % 65521:06x}",
    ],
)
def test_bits_mixed_by_a_key_and_other_bases(write):
    x = np.random.default_rng(4).choice(2**16, 80, replace=False).tolist()
    y = [write(v) for v in x]
    ours, theirs = column("number", x), column("code", y)
    found = find_cipher([ours], theirs, [(k, k) for k in range(60)])
    feature = cipher(ours, found.form)
    assert [feature.texts[code] for code in feature.code.tolist()] == [str(v) for v in y]


def test_numbers_of_chance_have_no_key_in_any_base():
    rng = np.random.default_rng(5)
    x = column("number", rng.choice(2**16, 60, replace=False).tolist())
    for y in ([f"{v:04x}" for v in rng.integers(0, 2**16, 60)], [f"{v:016b}" for v in rng.integers(0, 2**16, 60)]):
        assert find_cipher([x], column("code", y), [(k, k) for k in range(60)]) is None


def test_the_last_digits_of_whole_units_are_a_remainder():
    x = np.round(np.random.default_rng(6).lognormal(8, 1, 60), 2)
    found = recovered(x.tolist(), (np.floor(x) % 100).astype(int).tolist())
    assert found == [str(int(v) % 100) for v in x]


def test_remainders_may_begin_with_two():
    x = np.random.default_rng(8).choice(10**7, 90, replace=False).tolist()
    y = [98 - v * 100 % 97 for v in x]
    assert max(y[:30]) > 96 and recovered(x, y) == [str(v) for v in y]


def test_prefixed_numbers_are_read_and_too_large_ones_are_none():
    assert column("a", ["0x1F", "0x0A", None]).number[:2].tolist() == [31.0, 10.0]
    assert column("a", ["0b101", "0o17"]).number.tolist() == [5.0, 15.0]
    assert np.isnan(column("a", ["1e999", "3", "4"]).number[0])
