"""Hashes without a secret: as numbers, remainders, UUIDs, and of whole rows."""

from __future__ import annotations

import hashlib
import uuid

import numpy as np
import polars as pl
import pytest

from unmask import Release
from unmask.datasets.gauntlet.people import register
from unmask.linkage.channel import link_channel
from unmask.linkage.channel.columns import read_column
from unmask.linkage.channel.digests import SIGNS, find_digest, write
from unmask.linkage.channel.material import Material

N = 60


def material(make, *columns):
    """People with a name, a number and a date, and what is published of each of them in one column."""
    people = register(N, np.random.default_rng(5)).select("name", "birth date", "postcode", "job", "sex", "days")
    made = pl.Series("key", [make(*row) for row in people.select(columns).rows()])
    return Material(tuple(read_column(people[c]) for c in people.columns), (read_column(made),), np.arange(N))


def sha(text):
    return hashlib.sha256(str(text).encode()).hexdigest()


def java(text):
    value = 0
    for letter in text:
        value = (31 * value + ord(letter)) % 2**32
    return value - 2**32 if value >= 2**31 else value


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda name: int(sha(name), 16) % 10**8, "a remainder of SHA-256 of `name`"),
        (lambda name: int(sha(name), 16) % 1_000_003, "a remainder of SHA-256 of `name`"),
        (lambda name: int(sha(name)[:8], 16), "a number of SHA-256 of `name`"),
        (lambda name: str(uuid.uuid5(uuid.NAMESPACE_URL, name)), "UUID of `name`"),
        (lambda name: str(uuid.UUID(hashlib.md5(name.encode()).hexdigest())), "a number of MD5 of `name`"),  # noqa: S324
        (lambda name: hashlib.blake2b(name.encode(), digest_size=20).hexdigest(), "BLAKE2b of 160 bits of `name`"),
        (java, "a checksum of `name`"),
    ],
    ids=["modulo", "prime", "head", "uuid5", "uuid of md5", "blake", "java"],
)
def test_hashes_in_other_writings(make, words):
    known = material(make, "name")
    found = find_digest(known, known.records[0], [(k, k) for k in range(N)])
    assert found is not None
    feature = write(known.people, found)
    assert feature.words == words
    released = known.records[0]
    assert [feature.texts[k] for k in feature.code] == [released.words[k] for k in released.code]


def test_the_checksum_of_a_whole_row_in_any_order():
    columns = ("days", "sex", "name", "job", "birth date", "postcode")
    known = material(lambda *row: hashlib.md5(";".join(map(str, row)).encode()).hexdigest(), *columns)  # noqa: S324
    found = find_digest(known, known.records[0], [(k, k) for k in range(N)])
    assert found is not None
    assert [known.people[k].name for k in found.columns] == list(columns)
    assert found.joint == ";"


def test_random_numbers_are_no_remainders():
    """The numbers of two files that have nothing to do with each other have no common divisor."""
    rng = np.random.default_rng(1)
    for digits in (5, 8, 12):
        known = material(lambda _, digits=digits: int(rng.integers(10 ** (digits - 1), 10**digits)), "name")
        assert find_digest(known, known.records[0], [(k, k) for k in range(N)]) is None


def test_well_known_values():
    assert SIGNS["a checksum"]("hello")[0] == "99162322"  # Java: "hello".hashCode()
    assert SIGNS["a checksum"]("a")[3] == str(0xE40C292C)  # FNV-1a, 32 bits, of its authors' test vectors
    assert SIGNS["a checksum"]("a")[4] == str(0xAF63DC4C8601EC8C)
    assert SIGNS["UUID"]("python.org")[0] == "886313e1-3b8a-5372-9b90-0c9aee199e5d"  # Python's documentation


def test_people_are_found_by_a_remainder_beside_their_sex():
    known = register(120, np.random.default_rng(2)).select("name", "sex").with_row_index("id")
    key = pl.Series("pid", [int(sha(name), 16) % 10**7 for name in known["name"]])
    released = known.select("id", key, "sex").sample(fraction=1.0, shuffle=True, seed=1)
    assert link_channel(Release(known, released, id="id"), curve=False).found.value == 1.0
