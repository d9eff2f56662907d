"""Slow, obvious twins of the channel: every matching, every pair."""

from __future__ import annotations

import itertools
import math
import zlib


def exact_posterior(scores):
    """Chance of each link over all one-to-one matchings, each weighing exp of its total score."""
    n = len(scores)
    weights = {
        matching: math.exp(sum(scores[i][j] for i, j in enumerate(matching)))
        for matching in itertools.permutations(range(n))
    }
    total = sum(weights.values())
    return [[sum(w for m, w in weights.items() if m[i] == j) / total for j in range(n)] for i in range(n)]


def best_total(scores):
    """Largest total score of a one-to-one matching."""
    n = len(scores)
    return max(sum(scores[i][j] for i, j in enumerate(m)) for m in itertools.permutations(range(n)))


def shared_credit(links, truth, alike, alike_records):
    """Mean credit over all ways to let people who are alike, and records that are alike, change places."""
    n = len(links)
    credit = []
    for i in range(n):
        group = [k for k in range(n) if alike[k] == alike[i]]
        got = 0.0
        for k in group:
            twins = [j for j in range(len(alike_records)) if alike_records[j] == alike_records[links[k]]]
            got += (truth[i] in twins) / len(twins) / len(group)
        credit.append(got)
    return credit


def threshold(best, credit, precision=0.95, lowest=0.5):
    """The least posterior such that claims at or above it are right so often, were one more of them wrong.

    Or less than one more, where the posteriors themselves expect fewer wrong claims.
    """

    def allowed(least):
        claimed = [(b, c) for b, c in zip(best, credit, strict=True) if b >= least]
        wrong = sum(1 - c for _, c in claimed) + min(1, sum(1 - b for b, _ in claimed))
        return wrong <= (1 - precision) * len(claimed) + 1e-9

    found = [t for t in sorted(set(best)) if t >= lowest and allowed(t)]
    return min(found) if found else None


def geohash(east: float, north: float, letters: int) -> str:
    """Halve the map in turn, five halvings a letter."""
    alphabet, sides, place = "0123456789bcdefghjkmnpqrstuvwxyz", [[-180.0, 180.0], [-90.0, 90.0]], (east, north)
    found = ""
    for letter in range(letters):
        bits = 0
        for turn in range(5 * letter, 5 * letter + 5):
            side = sides[turn % 2]
            middle = (side[0] + side[1]) / 2
            upper = place[turn % 2] >= middle
            side[0 if upper else 1] = middle
            bits = 2 * bits + upper
        found += alphabet[bits]
    return found


def likeness(ours: list[str], theirs: list[str]) -> list[list[float]]:
    """Cosine of counts of pairs of letters, weighed by how few released texts have the pair."""

    def pairs(text: str) -> list[int]:
        found, word = [], ""
        for letter in f"{text.lower()} ":
            if letter.isalnum():
                word += letter
            elif word:
                whole, word = f"^{word}$", ""
                found += [zlib.crc32(whole[k : k + 2].encode()) % 512 for k in range(len(whole) - 1)]
        return found

    counts = [[[pairs(text).count(k) for k in range(512)] for text in texts] for texts in (ours, theirs)]
    having = [sum(row[k] > 0 for row in counts[1]) for k in range(512)]
    weight = [math.log((len(theirs) + 2.0) / (h + 0.5)) for h in having]
    one, other = ([[c * w for c, w in zip(row, weight, strict=True)] for row in table] for table in counts)
    return [[_cosine(a, b) for b in other] for a in one]


def _cosine(a: list[float], b: list[float]) -> float:
    size = math.sqrt(sum(v * v for v in a) * sum(v * v for v in b))
    return sum(v * w for v, w in zip(a, b, strict=True)) / size if size else 0.0


def claimed(best, credit, parts):
    """Who is claimed: at or above the threshold that the other parts teach; its own word, 0.95, if none comes near."""
    sure = set()
    for part in parts:
        teachers = [i for other in parts for i in other if other is not part]
        least = threshold([best[i] for i in teachers], [credit[i] for i in teachers])
        if least is None:
            least = 0.95 if all(best[i] < 0.5 for i in teachers) else math.inf
        sure |= {i for i in part if best[i] >= least}
    return sure
