"""Written otherwise, categories, names and keys: prefixes, merged or permuted labels, hashes and encodings."""

from __future__ import annotations

import base64
import hashlib
import unicodedata
import zlib

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist

from unmask.datasets.gauntlet.case import Case, case, each, nearest, numbers, publish, rewritten, same, table
from unmask.datasets.gauntlet.people import amounts, register


@case("written")
def md5_in_capitals(seed: int = 0) -> Case:
    """Names are replaced by the first eight digits of MD5, in capitals."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("name", "sex", "town")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(each(known, "name", lambda v: _md5(v)[:8].upper()))

    return rewritten(original, write, rng, "hash what is known")


@case("written")
def sha1_in_base64(seed: int = 0) -> Case:
    """Dates are replaced by their SHA-1 in base64; the original holds them as dates."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("sex", "birth date", "admitted")

    def sign(day: object) -> str:
        return base64.b64encode(hashlib.sha1(str(day).encode(), usedforsecurity=False).digest()).decode()

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(each(known, "birth date", sign), each(known, "admitted", sign))

    return rewritten(original, write, rng, "hash what is known")


@case("written")
def crc_of_postcodes(seed: int = 0) -> Case:
    """Postcode and job are replaced by their CRC-32 as a number, under names such as postcode_key."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("sex", "postcode", "job")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        keys = (each(known, c, lambda v: zlib.crc32(v.encode()), f"{c}_key") for c in ("postcode", "job"))
        return known.select("sex", *keys)

    return rewritten(original, write, rng, "compute the same keys")


@case("written")
def base64_of_names(seed: int = 0) -> Case:
    """Names and postcodes are 'encrypted' with base64."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("name", "sex", "postcode")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        code = lambda text: base64.b64encode(text.encode()).decode()  # noqa: E731
        return known.with_columns(each(known, "name", code), each(known, "postcode", code))

    return rewritten(original, write, rng, "decode")


@case("written")
def hash_of_several_columns(seed: int = 0) -> Case:
    """A linkage key: MD5 of sex, birth date and postcode joined by bars, and no other column but the days."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("sex", "birth date", "postcode", "days")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        keys = [_md5("|".join(map(str, row))) for row in known.select("sex", "birth date", "postcode").rows()]
        return known.select(pl.Series("key", keys), "days")

    return rewritten(original, write, rng, "join and hash what is known")


@case("written")
def hash_after_tidying(seed: int = 0) -> Case:
    """Names are put in capitals without blanks, then hashed; birth years stand beside them."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("name", "sex", "birth date")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(
            each(known, "name", lambda v: _md5(v.upper().replace(" ", "")), "pseudonym"),
            pl.col("birth date").dt.year().alias("born"),
        )

    return rewritten(original, write, rng, "tidy and hash what is known")


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@case("written")
def caesar(seed: int = 0) -> Case:
    """Every digit of the postcode is moved by seven, every letter of the name by three."""
    rng = np.random.default_rng(seed)
    original = register(400, rng).select("name", "sex", "postcode")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        letter = lambda c: chr((ord(c) - 97 + 3) % 26 + 97) if c.isalpha() else c  # noqa: E731
        return known.with_columns(
            each(known, "name", lambda v: "".join(map(letter, v.lower()))),
            each(known, "postcode", lambda v: "".join(str((int(c) + 7) % 10) for c in v)),
        )

    return rewritten(original, write, rng, "move what is known by the same steps")


@case("written")
def padded_prefixes(seed: int = 0) -> Case:
    """Postcodes are cut and filled (75xxx), names cut to three letters and stars, dates to 1961-03-XX."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("name", "postcode", "birth date")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(
            each(known, "name", lambda v: f"{v[:3]}****"),
            each(known, "postcode", lambda v: f"{v[:2]}xxx"),
            each(known, "birth date", lambda v: f"{v:%Y-%m}-XX"),
        )

    return rewritten(original, write, rng, "cut what is known")


@case("written")
def merged_codes(seed: int = 0) -> Case:
    """Sixty jobs become fourteen groups and twenty towns six, with new names and by no order that shows."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("sex", "job", "town", "height", "days")
    groups = {c: rng.integers(0, k, 100) for c, k in (("job", 14), ("town", 6))}

    def write(known: pl.DataFrame) -> pl.DataFrame:
        codes = {c: sorted(set(original[c])) for c in groups}
        return known.with_columns(
            (pl.col("height") // 2 * 2),
            *(each(known, c, lambda v, c=c: f"group {groups[c][codes[c].index(v)]}") for c in groups),  # type: ignore[misc]
        )

    return rewritten(original, write, rng, "the key to the groups is published with the table")


@case("written")
def permuted_labels(seed: int = 0) -> Case:
    """In eight columns every label is replaced by an arbitrary number: how often each occurs stays."""
    rng = np.random.default_rng(seed)
    n, levels = 500, 14
    share = 1 / np.arange(1, levels + 1)
    x = rng.choice(levels, (n, 8), p=share / share.sum())
    keys = np.array([rng.permutation(900)[:levels] + 100 for _ in range(8)])
    names = [f"c{j}" for j in range(8)]
    original = pl.DataFrame({c: [f"label {v:02d}" for v in x[:, j]] for j, c in enumerate(names)})
    pair = publish(original, pl.DataFrame({c: keys[j][x[:, j]] for j, c in enumerate(names)}), rng)
    often = pl.len().over(pl.col("of"))
    counts = [
        np.column_stack([pl.DataFrame({"of": frame[c]}).select(often).to_series().to_numpy() for c in names])
        for frame in (pair.original, pair.released)
    ]
    roots = [np.sqrt(count) for count in counts]
    return pair.case(nearest(cdist(*roots), pair.truth), "replace every label by how often it occurs")


@case("written")
def case_and_accents(seed: int = 0) -> Case:
    """Towns and first names are in capitals without accents, with blanks around them; jobs are in small letters."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("name", "town", "job")

    def plain(text: str) -> str:
        return " " + "".join(c for c in unicodedata.normalize("NFD", text) if c.isascii()).upper() + "  "

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(
            each(known, "name", lambda v: plain(v.split()[0])),
            each(known, "town", plain),
            pl.col("job").str.to_lowercase(),
        )

    return rewritten(original, write, rng, "write what is known in capitals")


@case("written")
def booleans_as_words(seed: int = 0) -> Case:
    """Sixteen true/false answers are published as yes/no, Y/N, 1/2, x/blank, some of them turned round."""
    rng = np.random.default_rng(seed)
    n = 500
    answers = rng.random((n, 16)) < rng.uniform(0.2, 0.8, 16)
    original = pl.DataFrame({f"q{j:02d}": answers[:, j] for j in range(16)})
    forms = [("yes", "no"), ("Y", "N"), ("1", "2"), ("x", ""), ("not ticked", "ticked"), ("false", "true")]

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(
            each(known, f"q{j:02d}", lambda v, j=j: forms[j % 6][0 if v else 1])  # type: ignore[misc]
            for j in range(16)
        )

    return rewritten(original, write, rng, "say what is known in these words")


@case("written")
def renamed_columns(seed: int = 0) -> Case:
    """All columns have new names and another order; a little noise."""
    rng = np.random.default_rng(seed)
    x = amounts(500, 7, rng) * np.array([1, 3, 0.2, 40, 7, 0.05, 15])
    order = rng.permutation(7)
    noisy = x[:, order] * np.exp(rng.normal(0, 0.05, x.shape))
    names = ["income", "rent", "savings", "debt", "tax", "gifts", "loans"]
    pair = publish(table(x, names=names), table(noisy, names=[f"x{j}" for j in range(1, 8)]), rng)
    one, other = np.log(numbers(pair.original) + 0.01), np.log(np.maximum(numbers(pair.released), 0) + 0.01)
    alike = cdist(np.sort(one, 0).T, np.sort(other, 0).T)
    found = nearest(cdist(one, other[:, alike.argmin(1)]), pair.truth)
    return pair.case(found, "pair the columns whose sorted values are alike, then the nearest record")


@case("written")
def names_in_other_case(seed: int = 0) -> Case:
    """Columns are called AGE, Sex and post_code where the original says Age, SEX and Post Code; ages are five wide."""
    rng = np.random.default_rng(seed)
    n = 500
    original = pl.DataFrame(
        {
            "Age": rng.integers(18, 90, n),
            "SEX": rng.choice(["m", "f"], n),
            "Post Code": [f"{code:04d}" for code in rng.integers(1000, 1300, n)],
            "Town Of Birth": rng.choice([f"town {k}" for k in range(30)], n),
        }
    )

    def write(known: pl.DataFrame) -> pl.DataFrame:
        new = {"Age": "AGE", "SEX": "Sex", "Post Code": "post_code", "Town Of Birth": "town_of_birth"}
        return known.with_columns(pl.col("Age") // 5 * 5).rename(new)

    return rewritten(original, write, rng, "the columns are the same")


@case("written")
def joined_in_one_column(seed: int = 0) -> Case:
    """Sex, age and job stand in one column, such as f34-J17; the rest is left out."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("sex", pl.Series("age", rng.integers(18, 90, 500)), "job", "income")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(pl.format("{}{}-{}", "sex", "age", "job").alias("profile"))

    return rewritten(original, write, rng, "join what is known")


@case("written")
def initials(seed: int = 0) -> Case:
    """Of the name the initials are left, of the birth date the day and month, of the town the length of its name."""
    rng = np.random.default_rng(seed)
    original = register(500, rng).select("name", "birth date", "town")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(
            each(known, "name", lambda v: ".".join(w[0] for w in v.split()), "initials"),
            pl.col("birth date").dt.strftime("%d/%m").alias("birthday"),
            pl.col("town").str.len_chars().alias("letters"),
        )

    return rewritten(original, write, rng, "take the same parts of what is known")


@case("written")
def sounds_of_names(seed: int = 0) -> Case:
    """Surnames are published by their sound (consonants in six classes, as Soundex does), with job and sex."""
    rng = np.random.default_rng(seed)
    original = register(400, rng).select("name", "sex", "job")
    classes = {
        letter: str(k) for k, group in enumerate(("bfpv", "cgjkqsxz", "dt", "l", "mn", "r"), 1) for letter in group
    }

    def sound(name: str) -> str:
        surname = name.split()[1]
        digits = [classes.get(letter, "") for letter in surname[1:].lower()]
        return (surname[0] + "".join(digits))[:4].ljust(4, "0")

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(each(known, "name", sound, "code"), "sex", "job")

    return rewritten(original, write, rng, "sound out what is known")


@case("written")
def dummy_columns(seed: int = 0) -> Case:
    """Job and town become a column of 0 and 1 for each of their values; the age stands in steps of ten."""
    rng = np.random.default_rng(seed)
    original = register(300, rng).select("sex", "town", pl.col("job").str.replace("J[1-5]", "K"),
                                         pl.Series("age", rng.integers(18, 90, 300)))  # fmt: skip

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.with_columns(pl.col("age") // 10 * 10).to_dummies(["town", "job"])

    return rewritten(original, write, rng, "make the same columns")


@case("written")
def packed_flags(seed: int = 0) -> Case:
    """Fourteen true/false answers are packed into one number, one bit each."""
    rng = np.random.default_rng(seed)
    answers = rng.random((500, 14)) < rng.uniform(0.25, 0.75, 14)
    original = pl.DataFrame({f"q{j:02d}": answers[:, j] for j in range(14)})

    def write(known: pl.DataFrame) -> pl.DataFrame:
        bits = [pl.col(c).cast(pl.Int64) * 2**j for j, c in enumerate(known.columns)]
        return pl.DataFrame({"flags": known.select(pl.sum_horizontal(bits)).to_series()})

    return rewritten(original, write, rng, "pack what is known")


@case("written")
def words_for_numbers(seed: int = 0) -> Case:
    """Answers from 1 to 5 are published in words (very poor to very good), one in five moved by one step."""
    rng = np.random.default_rng(seed)
    words = ["very poor", "poor", "fair", "good", "very good"]
    x = rng.integers(1, 6, (500, 12))
    y = np.clip(x + rng.choice([-1, 0, 0, 0, 0, 0, 0, 0, 0, 1], x.shape), 1, 5)
    original = table(x.astype(float), 0)
    masked = pl.DataFrame({c: [words[v - 1] for v in y[:, j]] for j, c in enumerate(original.columns)})
    pair = publish(original, masked, rng)
    read = np.array([[words.index(v) + 1 for v in row] for row in pair.released.drop("id").rows()], dtype=float)
    return pair.case(nearest(cdist(x, read, "cityblock"), pair.truth), "read the words as numbers")


@case("written")
def numbers_written_as_decimals(seed: int = 0) -> Case:
    """Codes were written as 4.0 because a row was empty, and postcodes lost their leading zero."""
    rng = np.random.default_rng(seed)
    n = 500
    original = pl.DataFrame(
        {
            "postcode": [f"{code:05d}" for code in rng.integers(1000, 3000, n)],
            "region": [str(code) for code in rng.integers(1, 17, n)],
            "branch": [str(code) for code in rng.integers(10, 40, n)],
        }
    )

    def write(known: pl.DataFrame) -> pl.DataFrame:
        return known.select(each(known, c, lambda v: f"{float(v)}") for c in known.columns)

    pair = publish(original, write(original), rng)
    return pair.case(same(write(pair.original.drop("id")), pair), "read the codes as numbers")
