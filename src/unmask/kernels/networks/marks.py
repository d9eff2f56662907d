"""Who fits whom: of each person the one of the other network with most neighbours that are known to be the same."""

from __future__ import annotations

import numpy as np

from unmask.kernels.base import Codes, Floats, Ints
from unmask.kernels.compiling import inner, kernel

PLAIN, COSINE, ALIKE = 0, 1, 2  # how marks become a score
SAME = 1e-12  # relative: scores as close are equal


@kernel
def best_fits(
    asked: Ints, start: Ints, indices: Codes, labels: Codes, other_start: Ints, other_indices: Codes,
    other_labels: Codes, image: Codes, kind: Codes, other_kind: Codes, labelled: int, scoring: int,
) -> tuple[Ints, Ints, Floats]:  # fmt: skip
    """For each person asked about: who fits best in the other network, by how many marks, and how clearly.

    A neighbour w with a known image gives one mark to each neighbour of that image of the same kind (-1: not to be
    had) and, where ties are ``labelled``, tied to it by a tie of the same label. ``labels`` are those of the entries
    read backwards: (w, u) in the place of (u, w); ``other_labels`` as they stand. Marks are the score as they are
    (``scoring`` PLAIN), divided by the root of the candidate's number of ties (COSINE [NARAYANAN]_), or times the ratio
    of the two numbers of ties, the smaller over the larger (ALIKE). Clear: how many standard deviations of all scores
    lie between the best and the second; -1 and 0 where nobody fits, 0 where several fit equally well,
    infinite where one alone fits.
    """
    n_other = len(other_start) - 1
    best, most, clear = np.full(len(asked), -1, np.int64), np.zeros(len(asked), np.int64), np.zeros(len(asked))
    marks, touched = np.zeros(n_other, np.int32), np.empty(n_other, np.int32)
    for k in range(len(asked)):
        u, found = asked[k], 0
        mine, own = kind[u], float(start[u + 1] - start[u])
        for a in range(start[u], start[u + 1]):
            w = image[indices[a]]
            if w < 0:
                continue
            for b in range(other_start[w], other_start[w + 1]):
                v = other_indices[b]
                if mine != other_kind[v] or (labelled > 0 and labels[a] != other_labels[b]):
                    continue
                if marks[v] == 0:
                    touched[found] = v
                    found += 1
                marks[v] += 1
        first, second, total, squares, who = 0.0, 0.0, 0.0, 0.0, -1
        for j in range(found):
            v = touched[j]
            score = _score(marks[v], own, float(other_start[v + 1] - other_start[v]), scoring)
            total += score
            squares += score * score
            if score > first * (1 + SAME):
                first, second, who = score, first, v
            elif score > second:
                second = score
        if found:
            best[k], most[k] = who, marks[who]
            spread = np.sqrt(max(0.0, squares / found - (total / found) ** 2))
            if found == 1:
                clear[k] = np.inf
            elif first - second > SAME * first:
                clear[k] = (first - second) / max(spread, SAME * first)
        for j in range(found):
            marks[touched[j]] = 0
    return best, most, clear


@inner
def _score(marks: int, own: float, ties: float, scoring: int) -> float:
    """Marks as a score; ``own`` and ``ties``: numbers of ties of both people."""
    score = float(marks)
    if scoring == COSINE:
        score /= np.sqrt(ties)
    elif scoring == ALIKE:
        score *= min(ties, own) / max(ties, own)
    return score
