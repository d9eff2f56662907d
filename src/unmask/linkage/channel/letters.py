"""Texts letter by letter: every letter of a released text as a function of one letter of what is known.

Letters moved along the alphabet, exchanged, crossed out, mistyped, cut and filled up, taken from the end or from
several columns: all of these say which letter a released one comes from and what became of it. ``find_letters`` looks
for the source of each place in the released text; ``Letters`` learns what becomes of a letter there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.linkage.channel.columns import Column
from unmask.linkage.channel.factors import States, fit_states
from unmask.linkage.channel.features import Spelling
from unmask.linkage.channel.material import Material

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LONGEST = 48  # letters of a released text that are looked at
REACH = 48  # letters of a known text that they may come from
SIGNS = 94  # different letters that are told apart; rarer ones are one letter
SAMPLE = 200  # people by whom sources are looked for
AVERAGE = 400  # people over whom the probability of a released text is averaged
ROUNDS = 12
BLOCK = 2000
NOTHING = 0  # beyond the end of a text
AS_THEY_ARE = "as they are"


class Source(NamedTuple):
    """Where a released letter comes from: a text, read forwards or backwards, and a place in it."""

    spelling: Spelling
    backwards: bool
    place: int


def letter_table(texts: Sequence[str], width: int, *, backwards: bool = False) -> Ints:
    """Code points of texts, one row each; 0 beyond the end."""
    cut = [text[::-1][:width] if backwards else text[:width] for text in texts]
    table = np.array([*cut, ""], dtype=f"U{width}").view(np.uint32).reshape(len(cut) + 1, width)
    return table.astype(np.int64)


def _book(*tables: Ints) -> Ints:
    """The letters that are told apart: the most frequent ones, in order; the first is the end of a text."""
    points, counts = np.unique(np.concatenate([table.ravel() for table in tables]), return_counts=True)
    most = points[np.argsort(-counts, kind="stable")[:SIGNS]]
    return np.unique(np.append(most, NOTHING))


def _codes(table: Ints, book: Ints) -> Ints:
    """Places in the book; letters that are not in it come last."""
    place = np.minimum(np.searchsorted(book, table), book.size - 1)
    return np.where(book[place] == table, place, book.size)


# --- where letters come from ----------------------------------------------------------------------------------------


def bases(columns: Sequence[Column]) -> list[Spelling]:
    """The texts that letters may come from: columns as they are, their parts, and parts without vowels."""
    found = []
    for place, column in enumerate(columns):
        if len(column.words) < 2:
            continue
        if column.kind == "date":
            found.append(Spelling((place,), "%Y-%m-%d"))
        elif column.kind != "number" or not any("." in word for word in column.words):
            found.append(Spelling((place,)))
        if column.kind == "text":
            found.append(Spelling((place,), "consonants"))
            if sum(" " in word for word in column.words) > 0.5 * len(column.words):
                found += [Spelling((place,), form) for form in ("part 2", "part -1", "part -1, consonants")]
    return found


def find_letters(material: Material, target: int, taught: Ints) -> list[Letters]:
    """The source of every place of the released text, read forwards and backwards, if there is any."""
    known = taught[material.records[target].code[material.truth[taught]] >= 0][:SAMPLE]
    if known.size < 4:
        return []
    sources, table = material.once(("sources", known.tobytes()), lambda: _sources(material, known))
    if not sources:
        return []
    recipes = []
    for backwards in (False, True):
        theirs = _released(material, target, backwards=backwards)
        found = _choose(table, theirs[material.truth[known]], sources)
        if any(source is not None for source in found):
            recipes.append(Letters(target, found, backwards))
    return recipes


def _released(material: Material, target: int, *, backwards: bool) -> Ints:
    column = material.records[target]
    width = min(LONGEST, max((len(word) for word in column.words), default=1) + 1)
    return letter_table(column.words, width, backwards=backwards)[column.code]


def _sources(material: Material, known: Ints) -> tuple[list[Source], Ints]:
    """All letters of what is known of some people: where they stand, and what they are."""
    sources, columns = [], []
    for spelling in bases(material.people):
        feature = material.text(spelling)
        width = min(REACH, max((len(text) for text in feature.texts), default=1))
        for backwards in (False, True):
            table = letter_table(feature.texts, width, backwards=backwards)[feature.code[known]]
            for place in np.flatnonzero((table != table[0]).any(0)).tolist():
                sources.append(Source(spelling, backwards, place))
                columns.append(table[:, place])
    return sources, np.column_stack(columns) if columns else np.zeros((known.size, 0), dtype=np.int64)


def _choose(ours: Ints, theirs: Ints, sources: list[Source]) -> tuple[Source | None, ...]:
    """For each released place the source that tells most about it; None: no source tells anything.

    Of sources that tell nearly the same, the one in line with those of other places: texts are taken in one piece.
    """
    told = _told(ours, theirs)
    names: dict[tuple[Spelling, bool, int], int] = {}
    line = np.array(
        [
            [names.setdefault((s.spelling, s.backwards, s.place - k), len(names)) for s in sources]
            for k in range(len(told))
        ]
    )
    total = np.bincount(line.ravel(), weights=np.maximum(told, 0.0).ravel())
    most = told.max(1, keepdims=True)
    best = np.where(told >= np.minimum(0.9 * most, most - 3.0), total[line], -np.inf).argmax(1)
    least = np.log(told.size + 1) + 4.0
    return tuple(sources[a] if most[k, 0] > least else None for k, a in enumerate(best.tolist()))


def _told(ours: Ints, theirs: Ints) -> Floats:
    """How much better than their frequency the released letters of each place are foretold by each source, in nats."""
    kinds = _kinds(*_listed(ours))
    options = [_numbered(ours), _numbered(kinds)]
    told = np.zeros((theirs.shape[1], ours.shape[1]))
    for k in range(theirs.shape[1]):
        y = np.unique(theirs[:, k], return_inverse=True)[1]
        if y.max() > 0:
            same = ours == theirs[:, k][:, None]
            told[k] = np.maximum(*(_foretold(x, y, same) for x in options))
    return told


def _listed(table: Ints) -> tuple[Ints, Ints]:
    points, place = np.unique(table, return_inverse=True)
    return points, place.reshape(table.shape)


def _numbered(table: Ints) -> Ints:
    """Letters of each column as numbers of their own, so that all columns are counted at once."""
    points, place = _listed(table)
    return place + points.size * np.arange(table.shape[1])


def _foretold(x: Ints, y: Ints, same: NDArray[np.bool_]) -> Floats:
    """Each person's letter y from the others: what became of the same letter x, or that it stays; a sum per column."""
    width, n = int(y.max()) + 1, y.size
    share = (np.bincount(y)[y] / n)[:, None]
    stays = same.sum(0) / (n + 1.0)
    pair = x * width + y[:, None]
    count, total = (np.bincount(key.ravel())[key] for key in (pair, x))
    chance = (count - 1 + stays * same + (1 - stays) * share) / total
    return np.asarray(np.log(np.maximum(chance, 1e-12) / share).sum(0))


# --- what becomes of letters ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Letters:
    """A released text whose letters come from letters of what is known."""

    target: int
    sources: tuple[Source | None, ...]  # by place in the released text
    backwards: bool = False  # whether places are counted from the end

    def fit(self, material: Material, taught: Ints) -> Spelled:
        """Learn what becomes of a letter at each place, and how often a whole text is another's."""
        x, y, book, there = material.once(("spelled", self), lambda: self._read(material))
        missing = material.records[self.target].missing
        states = fit_states(np.where(there, 0, 1), np.where(missing, 1, 0), taught, material.truth[taught])
        known = taught[there[taught] & ~missing[material.truth[taught]]]
        tables, kinds = learn_letters(x[known], y[material.truth[known]], y[~missing], book, self._pieces())
        factor = Spelled(x, y, tables, _chances(x[there], y, tables), 0.0, states, kinds)
        own = factor.ratio(known, material.truth[known])
        wrong = (float((own < 0).sum()) + 0.5) / (known.size + 1.0)
        return Spelled(x, y, tables, factor.chance, min(wrong, 1.0), states, kinds)

    def used(self) -> list[Source]:
        """The sources in use, in the order of the released places."""
        return [source for source in self.sources if source is not None]

    def _pieces(self) -> Ints:
        """Which places were taken in one piece: one number for places of the same text."""
        names: dict[tuple[Spelling, bool], int] = {}
        return np.array([names.setdefault((s.spelling, s.backwards), len(names)) for s in self.used()], dtype=np.int64)

    def _read(self, material: Material) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]]:
        """Letters of people and of records at the places in use, as codes; their book; whose texts are there."""
        places = [k for k, source in enumerate(self.sources) if source is not None]
        theirs = _released(material, self.target, backwards=self.backwards)
        theirs = np.pad(theirs, ((0, 0), (0, max(0, len(self.sources) - theirs.shape[1]))))[:, places]
        ours = np.zeros((material.n_people, len(places)), dtype=np.int64)
        there = np.zeros(material.n_people, dtype=bool)
        for column, source in enumerate(self.used()):
            feature = material.text(source.spelling)
            table = letter_table(feature.texts, REACH, backwards=source.backwards)
            ours[:, column] = table[feature.code, source.place]
            there |= feature.code >= 0
        book = _book(ours, theirs)
        return _codes(ours, book), _codes(theirs, book), book, there


@dataclass(frozen=True, slots=True)
class Spelled:
    """A released text foretold letter by letter."""

    person: Ints  # (people, places): codes of letters
    record: Ints
    tables: Floats  # (places, letters, letters): log chance of the released letter given the known one
    chance: Floats  # per record: log of its chance over all people
    error: float  # share of texts that are not made from the person's
    states: States
    kinds: tuple[str, ...]  # what becomes of letters, in words, the most frequent first

    def ratio(self, i: Ints, j: Ints) -> Floats:
        """Log likelihood ratio if the text was made from the person's."""
        return sum_letters(self.tables, self.person, self.record, i, j) - self.chance[j]

    def log(self, i: Ints, j: Ints) -> Floats:
        """Score the letters, where there are any."""
        score = np.logaddexp(np.log1p(-self.error) + self.ratio(i, j), np.log(self.error))
        there = (self.states.person[i] == 0) & (self.states.record[j] == 0)
        return self.states.log(i, j) + np.where(there, score, 0.0)


def sum_letters(tables: Floats, person: Ints, record: Ints, i: Ints, j: Ints) -> Floats:
    """Log chance of each record's letters given each person's."""
    total = np.zeros(np.broadcast(i, j).shape)
    for k, table in enumerate(tables):
        total += table.ravel().take((person[:, k] * table.shape[1])[i] + record[:, k][j])
    return total


def _chances(people: Ints, records: Ints, tables: Floats) -> Floats:
    """Log chance of each record's letters when the person may be anybody."""
    some = people[:: max(1, len(people) // AVERAGE)]
    chance, each = np.empty(len(records)), np.arange(len(some))[:, None]
    for block in np.array_split(np.arange(len(records)), max(1, len(records) // BLOCK)):
        chance[block] = np.logaddexp.reduce(sum_letters(tables, some, records, each, block[None, :]), axis=0)
    return np.asarray(chance - np.log(max(1, len(some))))


def learn_letters(x: Ints, y: Ints, released: Ints, book: Ints, pieces: Ints) -> tuple[Floats, tuple[str, ...]]:
    """Tables of log chances by place, and what becomes of letters in words.

    A letter stays, is moved along the alphabet, becomes what the same letter became elsewhere in the text or at this
    place, becomes what letters of its kind become, or is any letter of this place: how often, held-out counts tell.
    """
    size = book.size + 1
    kind = _kinds(np.append(book, -1), np.arange(size))
    stays, moves = np.arange(size), _moved(book, size)
    tables, said = np.zeros((y.shape[1], size, size)), Counter[str]()
    each = [_count(x[:, k], y[:, k], size) for k in range(y.shape[1])]
    all_places = [
        np.sum([each[k] for k in np.flatnonzero(pieces == p)], axis=0) for p in range(pieces.max(initial=-1) + 1)
    ]
    for k, piece in enumerate(pieces.tolist()):
        own, whole = (x[:, k], y[:, k]), all_places[piece]
        share = _shares(released[:, k], size)
        hits = ((moves[:, own[0]] == own[1]) & (moves[:, own[0]] != own[0])).sum(1)
        fixed = [_exactly(becomes) for becomes in (stays, moves[int(hits.argmax())])]
        ways = ((whole, stays), (each[k], stays), (whole, kind))
        counted = [_foretell(counts, by, share, own) for counts, by in ways]
        options = [*((table, table[own]) for table in fixed), *counted, (np.tile(share, (size, 1)), share[own[1]])]
        weight = _weights(np.array([chance for _, chance in options]))
        tables[k] = np.log(sum(w * table for w, (table, _) in zip(weight, options, strict=True)))
        said[_said(float((own[0] == own[1]).mean()), hits / len(x), float(share.max()), weight)] += 1
    return tables, tuple(words for words, _ in said.most_common(2))


def _said(stay: float, hits: Floats, chance: float, weight: Floats) -> str:
    """What becomes of letters at a place, in words."""
    if max(stay, float(hits.max())) > max(0.4, 1.3 * chance):
        by = int(hits.argmax()) + 1
        return AS_THEY_ARE if stay >= hits.max() else f"moved along the alphabet by {by if by < 26 else by - 25}"
    return "by their kind" if weight[4] > 0.5 else "exchanged for others"


def _weights(chances: Floats) -> Floats:
    """How often each of several ways was taken (expectation and maximisation); none is ruled out."""
    ways, people = chances.shape
    weight = np.full(ways, 1.0 / ways)
    for _ in range(ROUNDS):
        parts = weight[:, None] * chances
        parts /= np.maximum(parts.sum(0), 1e-300)
        weight = (parts.sum(1) + 0.5 / ways) / (people + 0.5)
    return np.asarray(weight)


def _exactly(becomes: Ints) -> Floats:
    return np.eye(becomes.size)[becomes]


def _shares(letters: Ints, size: int) -> Floats:
    return np.asarray((np.bincount(letters, minlength=size) + 0.5 / size) / (len(letters) + 0.5), dtype=np.float64)


def _count(x: Ints, y: Ints, size: int) -> Floats:
    return np.bincount(x * size + y, minlength=size * size).reshape(size, size).astype(np.float64)


def _foretell(counts: Floats, by: Ints, share: Floats, own: tuple[Ints, Ints]) -> tuple[Floats, Floats]:
    """Chances by what was counted, letters taken together ``by`` kind; and of each known person by the others alone."""
    grouped = np.zeros_like(counts)
    np.add.at(grouped, by, counts)
    total = grouped.sum(1)
    table = (grouped + 0.5 * share) / (total + 0.5)[:, None]
    x, y = by[own[0]], own[1]
    return table[by], (grouped[x, y] - 1 + 0.5 * share[y]) / (total[x] - 0.5)


def _kinds(points: Ints, table: Ints) -> Ints:
    """Letters (places in a list of code points) by the first of their kind: small, capital, digit, the sign itself."""
    kinds: dict[str, int] = {}
    first = np.arange(points.size)
    for place, point in enumerate(points.tolist()):
        letter = chr(point) if point > 0 else ""
        name = "digit" if letter.isdigit() else "small" if letter.islower() else "capital" if letter.isupper() else ""
        first[place] = kinds.setdefault(name, place) if name else place
    return np.asarray(first[table])


def _moved(book: Ints, size: int) -> Ints:
    """What letters become when they move round the alphabet by 1 to 25, then digits by 1 to 9; the others stay."""
    place = {chr(point): k for k, point in enumerate(book.tolist())}
    groups = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    rows = [_round(place, groups, by, size) for by in range(1, 26)]
    rows += [_round(place, ("0123456789",), by, size) for by in range(1, 10)]
    return np.array(rows)


def _round(place: dict[str, int], groups: tuple[str, ...], by: int, size: int) -> Ints:
    row = np.arange(size)
    for group in groups:
        for k, letter in enumerate(group):
            if letter in place:
                row[place[letter]] = place.get(group[(k + by) % len(group)], size - 1)
    return row
