"""Networks, slowly: neighbours in sets, every renaming tried."""

from __future__ import annotations

from itertools import permutations
from math import inf, sqrt


def neighbours(ties, people):
    """Who is tied to whom."""
    found = {person: set() for person in people}
    for a, b in ties:
        if a != b:
            found[a].add(b)
            found[b].add(a)
    return found


def refined(near, rounds, mark=lambda a, b: 0, kind=lambda a: 0):
    """The colour of everybody after some rounds, as nested tuples; ``mark`` of a tie and ``kind`` of a person."""
    colour = {a: kind(a) for a in near}
    for _ in range(rounds):
        colour = {a: (colour[a], tuple(sorted((mark(a, b), colour[b]) for b in near[a]))) for a in near}
    return colour


def common(near):
    """Number of people tied to both."""
    return lambda a, b: len(near[a] & near[b])


def same_around(near, a, other, b):
    """Whether the ties among the neighbours of two people are the same after some renaming."""
    here, there = sorted(near[a]), sorted(other[b])
    if len(here) != len(there):
        return False
    ties = {(i, j) for i in here for j in here if j in near[i]}
    return any(
        {(to[i], to[j]) for i, j in ties} == {(i, j) for i in there for j in there if j in other[i]}
        for to in (dict(zip(here, order, strict=True)) for order in permutations(there))
    )


def credit(candidates, own):
    """One in as many candidates, if the person is among them."""
    return {a: 1 / len(candidates[a]) if own[a] in candidates[a] else 0.0 for a in own}


def by_colour(one, two):
    """Candidates of everybody: those of the same colour."""
    return {a: {b for b in two if two[b] == one[a]} for a in one}


def orbit(near, person):
    """Everybody whom some renaming of the network onto itself puts in a person's place."""
    people = sorted(near)
    return {
        to[person]
        for to in (dict(zip(people, order, strict=True)) for order in permutations(people))
        if all({to[b] for b in near[a]} == near[to[a]] for a in people)
    }


def fit(u, near, other, image, taken, scoring):
    """Who fits u best, with how many marks, and how clearly."""
    marks = {}
    for w in near[u]:
        for v in other[image[w]] if w in image else ():
            if v not in taken:
                marks[v] = marks.get(v, 0) + 1
    if not marks:
        return None, 0, 0.0
    ties = {v: len(other[v]) for v in marks}
    own = len(near[u])
    score = {
        v: m / sqrt(ties[v]) if scoring == "cosine"
        else m * min(ties[v], own) / max(ties[v], own) if scoring == "alike" else float(m)
        for v, m in marks.items()
    }  # fmt: skip
    order = sorted(score, key=lambda v: -score[v])
    best = order[0]
    if len(order) == 1:
        return best, marks[best], inf
    gap = score[best] - score[order[1]]
    if gap <= 1e-12 * score[best]:
        return best, marks[best], 0.0
    mean = sum(score.values()) / len(score)
    spread = sqrt(max(0.0, sum(s * s for s in score.values()) / len(score) - mean * mean))
    return best, marks[best], gap / max(spread, 1e-12 * score[best])


def chosen(asked, near, other, image, taken, how):
    """People who clearly fit somebody, and whom."""
    found = {}
    for u in asked:
        best, many, sure = fit(u, near, other, image, taken, how[0])
        if best is not None and many >= how[1] and sure >= how[2] and sure > 0:
            found[u] = best
    return found


def mutual(asked, near, other, image, how, *, anew=False):
    """Pairs who choose each other."""
    origin = {v: u for u, v in image.items()}
    there = chosen(asked, near, other, image, set() if anew else set(origin), how)
    back = chosen(set(there.values()), other, near, origin, set() if anew else set(image), how)
    return {u: v for u, v in there.items() if back.get(v) == u}


def propagate(near, other, known, how, bold=0):
    """Whom everybody is taken for, beginning with ``known``; ``how``: score, marks needed, clearness needed."""
    image = dict(known)
    asked = {b for a in known for b in near[a]} - set(image)
    while asked:
        pairs = mutual(asked, near, other, image, how)
        if not pairs and bold:
            bold -= 1
            asked = {b for a in image for b in near[a]} - set(image)
            pairs = mutual(asked, near, other, image, ("alike", 1, 0.0))
        image |= pairs
        asked = {b for a in pairs for b in near[a]} - set(image)
    for _ in range(6):
        before = image
        pairs = mutual(set(near), near, other, image, ("cosine", how[1], 0.5), anew=True)
        image = {u: v for u, v in pairs.items() if u not in known and v not in known.values()} | known
        if sum(before.get(a) != image.get(a) for a in near) <= 0.001 * len(near):
            break
    return image


def kept(near, other, image):
    """Ties that are ties under a matching."""
    return sum(image[b] in other[image[a]] for a in near for b in near[a] if a < b and a in image and b in image)


def sure(near, other, image, asked, own):
    """Claims, the surest first, as long as 19 in 20 are right: how sure each is, by ties that are kept."""
    claims = []
    for a in asked:
        if a in image:
            support = sum(b in image and image[b] in other[image[a]] for b in near[a])
            claims.append((support**2 / sqrt(max(1, len(near[a]) * len(other[image[a]]))), image[a] == own[a]))
    return claims


def surest(claims):
    """The most claims of which 19 in 20 are right, all of equal sureness together, and how many are right."""
    best = (0, 0)
    for least in {round(sure, 9) for sure, _ in claims}:
        right = [hit for sure, hit in claims if round(sure, 9) >= least]
        if sum(right) >= 0.95 * len(right) - 1e-9:
            best = max(best, (len(right), sum(right)))
    return best
