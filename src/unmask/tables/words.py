"""Categories that the two files spell differently: yes/no and m/f in several languages, capitals, accents, blanks."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

import polars as pl

Vocabulary = dict[str, tuple[str, ...]]
VOCABULARIES: dict[str, Vocabulary] = {
    "yes or no": {
        "yes": ("yes", "y", "true", "t", "1", "1.0", "ja", "j", "oui", "o", "vrai", "wahr", "si", "sí", "s", "sim"),
        "no": ("no", "n", "false", "f", "0", "0.0", "nein", "non", "faux", "falsch", "nee", "não", "nao"),
    },
    "sex": {
        "female": ("f", "w", "female", "woman", "weiblich", "frau", "femme", "féminin", "feminin", "mujer", "femenino"),
        "male": ("m", "male", "man", "männlich", "maennlich", "mann", "homme", "masculin", "hombre", "masculino"),
        "other": ("d", "x", "divers", "diverse", "other", "nonbinary", "non-binary", "nb"),
    },
}
LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th"})
TWO_LETTERS = (("ae", "a"), ("oe", "o"), ("ue", "u"))  # mueller is müller


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


def _has_text(*columns: pl.Series) -> bool:
    plain = (pl.String, pl.Categorical, pl.Boolean)
    fitting = all(column.dtype in plain or column.dtype.is_integer() for column in columns)
    return fitting and any(column.dtype in (pl.String, pl.Categorical) for column in columns)


def _texts(column: pl.Series) -> pl.Series:
    return column.cast(pl.String).str.strip_chars()


def _same_answers(original: pl.Series, released: pl.Series) -> SameWords | None:
    """Answers of one vocabulary on both sides, in different words: the most frequent one of the original for each."""
    left, right = _texts(original), _texts(released)
    values = set(left.drop_nulls()), set(right.drop_nulls())
    if not all(values) or values[1] <= values[0] or max(map(len, values)) > 20:
        return None
    for name, vocabulary in VOCABULARIES.items():
        classes = {word: answer for answer, words in vocabulary.items() for word in words}
        if all(text.lower() in classes for each in values for text in each) and _enough(values, classes):
            counts = left.drop_nulls().value_counts(sort=True).sort("count", left.name, descending=[True, False])
            chosen: dict[str, str] = {}
            for text in counts[left.name]:
                chosen.setdefault(classes[text.lower()], text)
            book = {t: chosen.get(classes[t.lower()], classes[t.lower()]) for each in values for t in each}
            columns = left.replace(book), right.replace(book)
            return SameWords(*_typed(*columns, original.dtype), f"{name}, in other words in the two files")
    return None


def _typed(left: pl.Series, right: pl.Series, kind: pl.DataType) -> tuple[pl.Series, pl.Series]:
    """Truth values and codes as the original has them."""
    if kind == pl.Boolean:
        return left == "true", right == "true"
    return (left.cast(kind), right.cast(kind)) if kind.is_integer() else (left, right)


def _enough(values: tuple[set[str], set[str]], classes: dict[str, str]) -> bool:
    """Whether one file at least has both answers: a single letter alone may mean anything."""
    return any(len({classes[text.lower()] for text in each}) > 1 for each in values)


def _same_spelling(original: pl.Series, released: pl.Series) -> SameWords | None:
    """Spellings that are one without capitals, accents and blanks, where one of the files has a single one of them."""
    if original.dtype.is_integer() or released.dtype.is_integer():
        return None
    left, right = original.cast(pl.String), released.cast(pl.String)
    ours, theirs = set(left.drop_nulls().unique()), set(right.drop_nulls().unique())
    if theirs <= ours:
        return None
    books: tuple[dict[str, str], dict[str, str]] = {}, {}
    for fold in (folded, _without_umlauts):
        _unify(ours - set(books[0]), theirs - set(books[1]), fold, books)
    if not any(books):
        return None
    left, right = left.replace(books[0]), right.replace(books[1])
    return SameWords(left, right, "spelt differently in the two files (capitals, accents or blanks)")


def _unify(ours: set[str], theirs: set[str], fold: object, books: tuple[dict[str, str], dict[str, str]]) -> None:
    """Enter in each file's book the spellings to replace; several in both files stay as they are."""
    groups: dict[str, tuple[list[str], list[str]]] = {}
    for side, texts in enumerate((ours, theirs)):
        for text in sorted(texts):
            groups.setdefault(fold(text), ([], []))[side].append(text)  # type: ignore[operator]
    for known, published in groups.values():
        if not known or not published or set(published) <= set(known):
            continue
        if len(known) == 1:
            books[1].update({text: known[0] for text in published if text != known[0]})
        elif len(published) == 1:
            books[0].update({text: published[0] for text in known if text != published[0]})


def folded(text: str) -> str:
    """A text without capitals, accents and surplus blanks."""
    letters = unicodedata.normalize("NFKD", text.casefold().translate(LETTERS))
    return " ".join("".join(letter for letter in letters if not unicodedata.combining(letter)).split())


def _without_umlauts(text: str) -> str:
    """The same with ae, oe and ue as a, o and u."""
    plain = folded(text)
    for two, one in TWO_LETTERS:
        plain = plain.replace(two, one)
    return plain
