"""Categories that the two files spell differently: yes/no and m/f in several languages, capitals, accents, blanks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import polars as pl

Vocabulary = dict[str, tuple[str, ...]]
WORDS = {  # letters that mean one thing here and another there (H, K, M, V) are left to the pairs
    "yes or no": {
        "yes": "yes y true t 1 1.0 ja j oui o vrai wahr si sí sì s sim tak kyllä da да ano igen はい 是 vero",
        "no": "no n false f 0 0.0 nein non faux falsch nee não nao nej nei nie ei ne нет nem いいえ 否 falso",
    },
    "sex": {
        "female": "f w female woman weiblich frau femme féminin feminin mujer femenino femmina femminile donna vrouw "
        "kvinna kvinde kvinne kobieta mulher feminino nainen žena nő женский женщина 女 女性",
        "male": "m male man männlich maennlich mann homme masculin hombre masculino varón maschio maschile uomo mand "
        "mężczyzna homem mies muž férfi мужской мужчина 男 男性",
        "other": "d x divers diverse other nonbinary non-binary nb",
    },
}
VOCABULARIES: dict[str, Vocabulary] = {
    name: {answer: tuple(words.split()) for answer, words in answers.items()} for name, answers in WORDS.items()
}
MOST_WORDS = 20  # different spellings of a few answers
LETTERS = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th"}


class SameWords(NamedTuple):
    """Both columns in the words of the original, and what was seen."""

    original: pl.Series
    released: pl.Series
    words: str


def same_words(original: pl.Series, released: pl.Series) -> SameWords | None:
    """Write both columns in the same words, where they differ in spelling only; None where nothing is to be done."""
    if not _has_text(original, released):
        return None
    return _same_answers(original, released) or _same_spelling(original, released)


def without_words_around(own: pl.Series, other: pl.Series) -> tuple[pl.Series, pl.Series | None] | None:
    """A column without the words around all its values; None where the other file's values have them as well.

    Where some of the other's have them, as "W1" is published as "W1" and a few as "other", they stay, unless more
    values are the same without; then the other column, too, is given without them.
    """
    own, other = own.cast(pl.String), other.cast(pl.String)
    front, back = words_around(own.drop_nulls().unique().to_list())
    front = "" if other.str.starts_with(front).all() else front
    back = "" if other.str.ends_with(back).all() else back
    bare, others = (column.str.strip_prefix(front).str.strip_suffix(back) for column in (own, other))
    some = not others.equals(other)
    if bare.equals(own) or (some and _in_both(bare, others) <= _in_both(own, other)):
        return None
    return bare, others if some else None


def _in_both(left: pl.Series, right: pl.Series) -> int:
    return len(set(left.drop_nulls()) & set(right.drop_nulls()))


def words_around(texts: list[str]) -> tuple[str, str]:
    """Words that every text begins with, and those that every one ends with: "area " and " (north)"; "" for none."""
    if len(texts) < 2:
        return "", ""
    front = _whole_words(texts, digits=True)
    return front, _whole_words([text.removeprefix(front)[::-1] for text in texts], digits=False)[::-1]


def _whole_words(texts: list[str], *, digits: bool) -> str:
    """The common beginning up to a digit, without a piece of a word that goes on; "" where no letter is in it.

    A word ends where a blank follows, or with ``digits`` where nothing but digits does.
    """
    first, last = min(texts), max(texts)  # what these share, all do
    common = next((k for k, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    letters = next((k for k, sign in enumerate(first[:common]) if sign.isdigit()), common)
    for end in range(letters, 0, -1):
        rests = [text[end:] for text in texts]
        if all(rests) and (first[end - 1].isspace() or (digits and all(map(str.isdigit, rests)))):
            return first[:end] if any(map(str.isalpha, first[:end])) else ""
    return ""


def _has_text(*columns: pl.Series) -> bool:
    plain = (pl.String, pl.Categorical, pl.Boolean)
    fitting = all(column.dtype in plain or column.dtype.is_integer() for column in columns)
    return fitting and any(column.dtype in (pl.String, pl.Categorical) for column in columns)


def _texts(column: pl.Series) -> pl.Series:
    return column.cast(pl.String).str.strip_chars()


def _same_answers(original: pl.Series, released: pl.Series) -> SameWords | None:
    """Answers of one vocabulary on both sides, in different words: the most frequent one of the original for each."""
    left, right = _texts(original), _texts(released)
    if max(left.n_unique(), right.n_unique()) > MOST_WORDS:
        return None
    values = set(left.drop_nulls()), set(right.drop_nulls())
    if not all(values) or values[1] <= values[0]:
        return None
    for name, vocabulary in VOCABULARIES.items():
        classes = {word: answer for answer, words in vocabulary.items() for word in words}
        if all(text.lower() in classes for each in values for text in each) and _enough(values, classes):
            counts = left.drop_nulls().alias("text").value_counts().sort("count", "text", descending=[True, False])
            chosen: dict[str, str] = {}
            for text in counts["text"]:
                chosen.setdefault(classes[text.lower()], text)
            book = {t: chosen.get(classes[t.lower()], classes[t.lower()]) for each in values for t in each}
            columns = left.replace(book), right.replace(book)
            return SameWords(*_typed(*columns, original.dtype), f"{name}, in other words in the two files")
    return None


def _typed(left: pl.Series, right: pl.Series, kind: pl.DataType) -> tuple[pl.Series, pl.Series]:
    """Truth values and codes as the original has them."""
    if kind == pl.Boolean:
        return left == "true", right == "true"
    if not kind.is_integer():
        return left, right
    codes = left.cast(kind, strict=False), right.cast(kind, strict=False)
    kept = all(code.null_count() == text.null_count() for code, text in zip(codes, (left, right), strict=True))
    return codes if kept else (left, right)  # texts, where the release has an answer that the original has not


def _enough(values: tuple[set[str], set[str]], classes: dict[str, str]) -> bool:
    """Whether one file at least has both answers: a single letter alone may mean anything."""
    return any(len({classes[text.lower()] for text in each}) > 1 for each in values)


def _same_spelling(original: pl.Series, released: pl.Series) -> SameWords | None:
    """Spellings that are one without capitals, accents and blanks, where one of the files has a single one of them."""
    if original.dtype.is_integer() or released.dtype.is_integer():
        return None
    left, right = original.cast(pl.String), released.cast(pl.String)
    if bool(right.drop_nulls().unique().is_in(left.drop_nulls().unique().implode()).all()):
        return None
    for fold in (folded, _without_umlauts):
        known, published = (column.drop_nulls().unique().sort() for column in (left, right))
        books = _unify(known, published, fold)
        left, right = (
            column.replace(book["text"], book["same"]) for column, book in zip((left, right), books, strict=True)
        )
    if left.equals(original.cast(pl.String)) and right.equals(released.cast(pl.String)):
        return None
    return SameWords(left, right, "spelt differently in the two files (capitals, accents or blanks)")


def _unify(
    known: pl.Series, published: pl.Series, fold: Callable[[pl.Series], pl.Series]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Spellings to replace in each file, and by what; where both files have several of one word, they stay."""
    ours = pl.DataFrame({"text": known, "key": fold(known)}).with_columns(pl.len().over("key").alias("n"))
    theirs = pl.DataFrame({"text": published, "key": fold(published)}).with_columns(pl.len().over("key").alias("n"))
    both = ours.join(theirs, on="key", suffix=" there").filter(pl.col("text") != pl.col("text there"))
    to_ours = both.filter(pl.col("n") == 1).select(pl.col("text there").alias("text"), pl.col("text").alias("same"))
    to_theirs = both.filter((pl.col("n") > 1) & (pl.col("n there") == 1))
    return to_theirs.select("text", pl.col("text there").alias("same")), to_ours


def folded(texts: pl.Series) -> pl.Series:
    """Texts without capitals, accents and surplus blanks."""
    letters = texts.str.to_lowercase().str.replace_many(LETTERS).str.normalize("NFKD").str.replace_all(r"\p{M}+", "")
    return letters.str.replace_all(r"\s+", " ").str.strip_chars(" ")


def _without_umlauts(texts: pl.Series) -> pl.Series:
    """The same with ae, oe and ue as a, o and u, and aa as a."""
    return folded(texts).str.replace_all("([aou])e", "$1").str.replace_all("aa", "a")
