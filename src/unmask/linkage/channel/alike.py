"""Texts that are nearly the same: letters left out, added, exchanged; words in another order, or of several columns.

Two texts are as alike as the pairs of letters, or the words, that they share, rare ones counting more. What that says
about who a record was made from is learnt from known people, as for any other column.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.factors import States, fit_states
from unmask.linkage.channel.features import Spelling
from unmask.linkage.channel.lenses import log_ratio
from unmask.linkage.channel.material import Material
from unmask.linkage.channel.normal_forms import WORDS, unaccented

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Ints = NDArray[np.int64]

WIDTH = 512  # numbers that pairs of letters, or words, are spread over
LEVELS = 24  # of likeness that are told apart
SEVERAL = 2  # columns
CLEARLY = 3.0  # standard errors
RUN, LONG = 5, 16  # letters of a run, and of texts that are compared by them
FEWEST_WORDS, PROBES = 4, 100  # of texts that are compared by words; texts by which that is told
OTHERS = 50_000  # pairs of different people that known pairs are compared with


def letter_pairs(text: str) -> list[int]:
    """The pairs of letters of each word, its ends included, as numbers."""
    words = [f"^{word}$" for word in WORDS.findall(unaccented(text))]
    return [zlib.crc32(word[k : k + 2].encode()) % WIDTH for word in words for k in range(len(word) - 1)]


def whole_words(text: str) -> list[int]:
    """The words of a text as numbers."""
    return [zlib.crc32(word.encode()) % WIDTH for word in WORDS.findall(unaccented(text))]


def runs(text: str) -> list[int]:
    """Every run of a few letters, blanks and signs left out, as numbers."""
    letters = "".join(WORDS.findall(unaccented(text)))
    return [zlib.crc32(letters[k : k + RUN].encode()) % WIDTH for k in range(len(letters) - RUN + 1)]


PARTS = {"pairs": letter_pairs, "words": whole_words, "runs": runs}


def parts_of(texts: Sequence[str]) -> list[str]:
    """What texts are compared by: pairs of letters; words, if they have several; runs, if they are long ones."""
    some = texts[:: max(1, len(texts) // PROBES)]
    several = float(np.median([len(WORDS.findall(text)) for text in some])) >= FEWEST_WORDS if some else False
    long = float(np.median([len(text) for text in some])) >= LONG if some else False
    return ["pairs", *(["words"] if several else ["runs"] if long else [])]


def vectors(texts: Sequence[str], parts: Callable[[str], list[int]] = letter_pairs) -> Vectors:
    """How often each text has each of its parts; the last is of no text."""
    return np.asarray(counted([parts(text) for text in texts]).toarray())


def counted(found: Sequence[Sequence[int]]) -> Any:  # noqa: ANN401 - sparse
    """How often each list has each of its numbers; the last is of no list."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - heavy

    rows = np.repeat(np.arange(len(found)), [len(pairs) for pairs in found])
    pairs = np.array([pair for pairs in found for pair in pairs], dtype=np.int64)
    return csr_array((np.ones(pairs.size, dtype=np.float32), (rows, pairs)), shape=(len(found) + 1, WIDTH))


def weighed(ours: Vectors, theirs: Vectors) -> tuple[Vectors, Vectors]:
    """Both files' texts of length one, rare pairs of letters counting more."""
    rarity = np.log((len(theirs) + 1.0) / ((theirs > 0).sum(0) + 0.5)).astype(np.float32)
    both = [table * rarity for table in (ours, theirs)]
    one, other = (table / np.maximum(np.sqrt((table**2).sum(1, keepdims=True)), 1e-6) for table in both)
    return one, other


@dataclass(frozen=True, slots=True)
class Alike:
    """A released text that is nearly a text known of the person."""

    target: int
    spelling: Spelling
    parts: str = "pairs"

    def fit(self, material: Material, taught: Ints) -> Likeness:
        """Compare how alike texts are in known pairs with pairs of anybody."""
        feature, column = material.text(self.spelling), material.records[self.target]
        parts = PARTS[self.parts]
        made = partial(vectors, parts=parts)
        ours, theirs = material.once(("vectors", self), lambda: weighed(made(feature.texts), made(column.words)))
        return _learn(ours, theirs, (feature.code, column.code), taught, material.truth[taught])


@dataclass(frozen=True, slots=True)
class Shared:
    """A released text with words of several columns of the person, in any order and number: a list, a note."""

    target: int
    columns: tuple[int, ...]

    def fit(self, material: Material, taught: Ints) -> Likeness:
        """Compare how many words known pairs share with pairs of anybody."""
        ours, theirs = material.once(("bags", self), lambda: self._bags(material))
        codes = np.arange(material.n_people), material.records[self.target].code
        return _learn(ours, theirs, codes, taught, material.truth[taught])

    def _bags(self, material: Material) -> tuple[Vectors, Vectors]:
        of_people = [(vectors(material.people[k].words, whole_words), material.people[k].code) for k in self.columns]
        bags = np.sum([table[code] for table, code in of_people], axis=0)
        return weighed(bags, vectors(material.records[self.target].words, whole_words))


def _words(texts: Sequence[str]) -> Any:  # noqa: ANN401 - sparse
    return counted([whole_words(text) for text in texts])


def shared(material: Material, target: int, taught: Ints) -> list[Shared]:
    """The columns whose words are in known people's own records clearly more often than in others', if several are."""
    column, found = material.records[target], []
    theirs = _words(column.words)[column.code[material.truth[taught]]] > 0
    others = theirs[np.roll(np.arange(taught.size), 1)]
    for place, known in enumerate(material.people):
        if known.kind != "date" and len(known.words) > 1:
            ours = material.once(("words", place), partial(_words, known.words))
            held = ours[known.code[taught]]
            more = (held.multiply(theirs) - held.multiply(others)).sum(1)
            if more.mean() > CLEARLY * more.std() / np.sqrt(taught.size):
                found.append(place)
    return [Shared(target, tuple(found))] if len(found) >= SEVERAL else []


def _learn(ours: Vectors, theirs: Vectors, codes: tuple[Ints, Ints], taught: Ints, made: Ints) -> Likeness:
    """Learn what each level of likeness says about a pair."""
    person, record = (np.where(code < 0, 1, 0) for code in codes)
    states = fit_states(person, record, taught, made)
    blank = Likeness(ours, theirs, *codes, np.zeros(LEVELS), states)
    known = (person[taught] == 0) & (record[made] == 0)
    rows, own = taught[known], made[known]
    others = np.zeros(LEVELS)
    for shift in range(1, max(2, min(rows.size, OTHERS // max(1, rows.size)))):
        others += np.bincount(blank.level(rows, np.roll(own, shift)), minlength=LEVELS)
    table = log_ratio(np.bincount(blank.level(rows, own), minlength=LEVELS), others)
    return Likeness(ours, theirs, *codes, table, states)


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two texts are, as evidence."""

    ours: Vectors  # by text of people
    theirs: Vectors
    person: Ints  # code of each person's text, -1: none
    record: Ints
    table: Floats  # log likelihood ratio of each level
    states: States

    def level(self, i: Ints, j: Ints) -> Ints:
        """How alike, in levels."""
        if i.ndim == 2 and i.shape[1] == 1 and j.shape[0] == 1:
            share = self.ours[self.person[i[:, 0]]] @ self.theirs[self.record[j[0]]].T
        elif j.ndim == 2:
            share = np.column_stack([self._each(i[:, 0], j[:, k]) for k in range(j.shape[1])])
        else:
            share = self._each(i, j)
        return np.asarray(np.clip(share * LEVELS, 0, LEVELS - 1), dtype=np.int64)

    def _each(self, i: Ints, j: Ints) -> Vectors:
        return np.asarray(np.einsum("ij,ij->i", self.ours[self.person[i]], self.theirs[self.record[j]]))

    def log(self, i: Ints, j: Ints) -> Floats:
        """Look up the level, where there are texts."""
        there = (self.person[i] >= 0) & (self.record[j] >= 0)
        return self.states.log(i, j) + np.where(there, self.table[self.level(i, j)], 0.0)
