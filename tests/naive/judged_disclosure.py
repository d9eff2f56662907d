"""Slow twins of the judged numbers of disclosure/: what is learnt about people, person by person."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb, exp, log, sqrt
from statistics import NormalDist

import numpy as np
from sklearn import ensemble, tree
from threadpoolctl import threadpool_limits

from naive.definitions import wilson
from naive.disclosure import auc, rank_interval, recognised, sd_interval
from naive.judged import Judged, mean_and_sd, rate, squares

GRID = range(1, 21)
Z, E = 1.959963984540054, exp(1.0)


# --- intervals and values ---------------------------------------------------------------------------------------------


def intervals(pairs_of, inside) -> Judged:
    """Mean over attributes and widths; by chance it is somebody else's published number. ``None``: no value."""
    n = len(next(iter(pairs_of.values())))
    credits_, blind = [[] for _ in range(n)], [[] for _ in range(n)]
    for pairs in pairs_of.values():
        has = [i for i in range(n) if pairs[i][0] is not None]
        values, masked = [pairs[i][0] for i in has], [pairs[i][1] for i in has]
        level = np.mean(
            [inside(values, [other] * len(values), k, p) for other in masked for k in range(len(values)) for p in GRID]
        )
        for k, i in enumerate(has):
            credits_[i].append(np.mean([inside(values, masked, k, p) for p in GRID]))
            blind[i].append(level)
    told = [i for i in range(n) if credits_[i]]
    return rate([float(np.mean(credits_[i])) for i in told], float(np.mean([np.mean(blind[i]) for i in told])))


BY_RANK, BY_SD = rank_interval, sd_interval


# --- learning ---------------------------------------------------------------------------------------------------------


def matrix(rows, numbers, words, books):
    """Numbers, then categories as places in the codebook; not a number where missing."""
    return np.array(
        [
            [np.nan if r[n] is None else float(r[n]) for n in numbers]
            + [np.nan if r[w] is None else float(books[w].index(r[w])) for w in words]
            for r in rows
        ]
    ).reshape(len(rows), len(numbers) + len(words))


def indicators(rows, words, released):
    """A column for each word of each category: whether it is the row's; words that are frequent first."""
    columns = []
    for name in words:
        shown = [r[name] for r in released]
        levels = sorted(set(shown), key=lambda word: (-shown.count(word), word))
        columns += [[float(r[name] == word) for r in rows] for word in levels]
    return np.array(columns).T


def codebooks(words, *tables):
    return {w: sorted({r[w] for table in tables for r in table if r.get(w) is not None}) for w in words}


def by_content(*blocks):
    """Rows in the order of their content."""
    columns = [block[:, k] for block in blocks for k in range(block.shape[1])]
    return np.lexsort(tuple(reversed(columns)))


def folds(own, rows, count, seed):
    """Deal people, in the order of what they have in both files, into so many folds by lot."""
    fold = np.empty(len(own), dtype=int)
    fold[by_content(own, rows)] = np.random.default_rng(seed).permutation(len(own)) % count
    return fold


def learnt(kind, kinds, known, wanted, asked, seed):
    """What `surely` guesses, without how sure it is."""
    return surely(kind, kinds, known, wanted, asked, seed)[0]


def surely(kind, kinds, known, wanted, asked, seed):
    """Learn from who has a value, in the order of content; a single value is guessed for everybody.

    How sure: the probability of the category; of a tree for numbers, less the variance in the leaf; else all alike.

    ``kinds``: whether a number is wanted, and which of the known columns are categories.
    """
    numeric, coded = kinds
    has = ~np.isnan(wanted)
    known, wanted = known[has], wanted[has]
    order = by_content(known, wanted[:, None])
    known, wanted = known[order], wanted[order]
    levels = len(set(wanted))
    if levels == 1:
        return np.full(len(asked), wanted[0]), np.ones(len(asked))
    known, asked = in_sds(known, asked, coded)
    if kind == "tree":
        model = (tree.DecisionTreeRegressor if numeric else tree.DecisionTreeClassifier)(
            min_samples_leaf=2, random_state=seed
        )
    else:
        make = ensemble.HistGradientBoostingRegressor if numeric else ensemble.HistGradientBoostingClassifier
        rounds = 50 if numeric else max(8, min(50, 120 // levels))
        model = make(
            max_iter=rounds, learning_rate=0.2, min_samples_leaf=5, early_stopping=False, random_state=seed,
            categorical_features=coded if coded.any() else None,
        )  # fmt: skip
    with threadpool_limits(1):
        model.fit(known, wanted if numeric else wanted.astype(int))
        sure = np.ones(len(asked))
        if not numeric:
            sure = np.array([max(one) for one in model.predict_proba(asked)])
        elif kind == "tree":
            sure = np.array([-model.tree_.impurity[leaf] for leaf in model.apply(asked)])
        return np.asarray(model.predict(asked), dtype=float), np.round(sure, 9)


def in_sds(known, asked, coded):
    """Numbers as distances from the mean of those to learn from, in their sds, to nine digits; codes as they are."""
    told = known.copy(), asked.copy()
    for k in range(known.shape[1]):
        if not coded[k]:
            mean, sd = np.nanmean(known[:, k]), np.nanstd(known[:, k], ddof=1)
            for side in told:
                side[:, k] = np.round((side[:, k] - mean) / (sd if sd > 0 else 1.0), 9)
    return told


def same(guess, truth, tolerance):
    """Equal, or within the tolerance of a number."""
    return [float(abs(a - b) <= tolerance) for a, b in zip(guess, truth, strict=True)]


# --- nearest rows and people outside ----------------------------------------------------------------------------------


def read_off(people, rows, names, secret, tolerance):
    """Share of the nearest rows (that have a value) which tell a person's value."""
    rows = [r for r in rows if r[secret] is not None]
    far = squares(people, rows, *names, "original")
    credits_ = []
    for person, row in zip(people, far, strict=True):
        near = [j for j, d in enumerate(row) if d <= row.min() * (1 + 1e-9) + 1e-12]
        told = [
            abs(rows[j][secret] - person[secret]) <= tolerance
            if tolerance is not None
            else rows[j][secret] == person[secret]
            for j in near
        ]
        credits_.append(sum(told) / len(told))
    return credits_


def read_surely(people, rows, names, secret):
    """The commonest word of the nearest rows: whether it is right, and how sure by nearness and agreement."""
    far = squares(people, rows, *names, "original")
    least = [min(row) for row in far]
    middle = float(np.median(least))
    right, sure = [], []
    for person, row, nearest in zip(people, far, least, strict=True):
        near = [rows[j][secret] for j, d in enumerate(row) if d <= nearest * (1 + 1e-9) + 1e-12]
        told = min(set(near), key=lambda word: (-near.count(word), word))
        right.append(float(told == person[secret]))
        closeness = 1.0 if nearest <= 0 else middle / (middle + nearest)
        sure.append(round(closeness * near.count(told) / len(near), 9))
    return right, sure


def over_control(mine, others, among=1) -> Judged:
    """Mean of the people in the release less that of people outside; both are drawn again and again."""
    rng = np.random.default_rng(17)
    value, tail = np.mean(mine) - np.mean(others), 0.025 / among
    draws = rng.choice(mine, (20_000, len(mine))).mean(axis=1) - rng.choice(others, (20_000, len(others))).mean(axis=1)
    low, high = np.quantile(draws, [tail, 1 - tail])
    if {*mine, *others} <= {0.0, 1.0} and low < high:
        less, more = newcombe(mine, others, tail)
        low, high = min(low, less), max(high, more, wilson(max(0.0, value) * len(mine), len(mine))[1])
    value, low, high = (min(1.0, max(0.0, float(end))) for end in (value, low, high))
    return Judged(value, 0.0, len(mine), min(low, value), max(high, value), slack=0.04)


def newcombe(mine, others, tail):
    """Newcombe's method 10: roots of the score intervals of both shares, and what they leave open together."""
    ends, z = [], NormalDist().inv_cdf(1 - tail) / NormalDist().inv_cdf(0.975)
    for side in (mine, others):
        share = sum(side) / len(side)
        low, high = wilson(sum(side), len(side))
        ends.append((share, share - low, high - share))
    (a, below_a, above_a), (b, below_b, above_b) = ends
    return a - b - z * sqrt(below_a**2 + above_b**2), a - b + z * sqrt(above_a**2 + below_b**2)


def nearest_of(asking, asked, everybody, released, numbers, words):
    """Squared distance to the nearest and its row, in units of everybody's sd and of how often categories differ."""
    total = np.zeros((len(asking), len(asked)))
    for name in numbers:
        sd = mean_and_sd([r[name] for r in everybody])[1]
        total += [[((a[name] - b[name]) / sd) ** 2 for b in asked] for a in asking]
    for name in words:
        differ = np.mean([a[name] != b[name] for a in everybody for b in released])
        total += [[2 / differ * (a[name] != b[name]) for b in asked] for a in asking]
    return total.min(axis=1), total


def closer(to_members, to_strangers) -> Judged:
    """Rows nearer to a person than to anybody outside, ties half; rows with one nearest person count as one."""
    (mine, far), (theirs, away) = to_members, to_strangers
    credits_ = [
        0.5 if abs(a - b) <= 1e-9 * max(a, b) + 1e-18 else float(a < b) for a, b in zip(mine, theirs, strict=True)
    ]
    nearest = Counter(
        ("in", int(far[k].argmin())) if credit > 0.5 else ("out", int(away[k].argmin()))
        for k, credit in enumerate(credits_)
    )
    factor = sqrt(sum(count**2 for count in nearest.values()) / len(credits_))
    plain = rate(credits_, 0.5)
    low, high = (plain.value + factor * (end - plain.value) for end in (plain.low, plain.high))
    return plain._replace(low=max(0.0, low), high=min(1.0, high), slack=factor * plain.slack)


def partnered(rows, people) -> list[float]:
    """For each row the share of its equals that have a person of their own with the same values."""
    have, want = Counter(rows), Counter(people)
    return [min(have[row], want[row]) / have[row] for row in rows]


def beyond_halves(people, rows, *, alone=False, times=1.0) -> Judged:
    """People with an equal row, shared by those alike in their half, less those with an equal in the other half.

    By listing how many of those alike may be in either half, and among the rows that are drawn. ``alone``: only who is
    alone in their half counts. ``times``: those of the other half count so many times.
    """
    n, made, gains = len(people), len(rows), {}
    for person in set(people):
        alike, there, gain = people.count(person) - 1, rows.count(person), Fraction(0)
        for half in (n // 2, n - n // 2):
            drawn = min(n - half, made)
            left, ways = n - half - drawn, comb(n - 1, alike)
            some_row = 1 - Fraction(comb(made - there, drawn), comb(made, drawn))
            for own in range(alike + 1):
                for taken in range(alike - own + 1):
                    these = comb(half - 1, own) * comb(drawn, taken) * comb(left, alike - own - taken)
                    seen = some_row - Fraction(times) * (taken > 0)
                    share = Fraction(own == 0) if alone else Fraction(1, own + 1)
                    gain += Fraction(these, ways) * seen * share * Fraction(half, n) * Fraction(made, drawn)
        gains[person] = float(gain) * (alike + 1)
    mean, error = sum(gains.values()) / n, Z * sqrt(sum(g**2 for g in gains.values())) / n
    high = max(mean + error, Z**2 / (n + Z**2)) if mean <= 0 else mean + error
    return Judged(max(mean, 0.0), 0.0, n, max(mean - error, 0.0), min(high, 1.0))


def equal_by_columns(people, rows, *, alone=False) -> tuple[list[float], list[float]]:
    """Who has an equal row, shared by those alike; and the chance of one if their columns were independent."""
    seen, chance = [], []
    for person in people:
        weight = float(people.count(person) == 1) if alone else 1 / people.count(person)
        one = np.prod([sum(row[k] == value for row in rows) / len(rows) for k, value in enumerate(person)])
        seen.append(weight * (person in rows))
        chance.append(weight * (1 - (1 - one) ** len(rows)))
    return seen, chance


def replicas(people, rows) -> list[float]:
    """Who is alone with their values, and stands in the release."""
    return [float(people.count(person) == 1 and person in rows) for person in people]


def told_apart(mine, others) -> tuple[Judged, Judged]:
    """AUC with the interval of DeLong; members recognised while 1 % of strangers are accused."""
    value = auc(mine, others)
    wins = [np.mean([(a > b) + (a == b) / 2 for b in others]) for a in mine]
    losses = [np.mean([(a > b) + (a == b) / 2 for a in mine]) for b in others]
    half = Z * sqrt(np.var(wins, ddof=1) / len(mine) + np.var(losses, ddof=1) / len(others))
    rng = np.random.default_rng(4)
    tpr = recognised(mine, others, 0.01)
    draws = [_share_above(mine, sorted(others, reverse=True), rng) for _ in range(4000)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return (
        Judged(value, 0.5, len(mine), max(0.0, value - half), min(1.0, value + half)),
        Judged(tpr, 0.01, len(mine), min(low, tpr), max(high, tpr), slack=0.02),
    )


def _share_above(mine, others, rng) -> float:
    """A share of members above the score that 1 % of all strangers have, as it may be; no two scores are equal."""
    gaps = rng.dirichlet(np.ones(len(others) + 1))
    share, hits = 0.0, 0
    for stranger, gap in zip(others, gaps, strict=False):
        higher = sum(score > stranger for score in mine)
        if share + gap > 0.01:
            hits += (higher - hits) * (0.01 - share) / gap
            break
        share, hits = share + gap, higher
    return rng.beta(hits + 0.5, len(mine) - hits + 0.5)


def log_ratios(above, below):
    """Log of a ratio of squared distances; 0 is very near, not infinitely near."""
    scale = float(np.median([*above, *below])) or 1.0
    return [log(a + 1e-9 * scale) - log(b + 1e-9 * scale) for a, b in zip(above, below, strict=True)]


def likeness(people, rows, numbers, words) -> list[list[float]]:
    """The most that a row resembles each person: by rare equal cells, by values, by normal scores of ranks."""
    share = {name: Counter(row[name] for row in rows) for name in (*numbers, *words)}
    columns = {name: sorted(row[name] for row in rows) for name in numbers}

    def rare(person, row):
        same = [name for name in share if person[name] == row[name]]
        return sum(log(len(rows) / share[name][row[name]]) for name in same)

    def place(name, value):
        there = columns[name]
        return NormalDist().inv_cdf(float(np.interp(value, there, np.arange(1, len(there) + 1) / (len(there) + 1))))

    def far(person, row, scaled):
        moved = sum((scaled(name, person[name]) - scaled(name, row[name])) ** 2 for name in numbers)
        return sqrt(moved + sum(person[name] != row[name] for name in words))

    def in_sd(name, value):
        return value / float(np.std(columns[name]))

    return [
        [max(rare(person, row) for row in rows) for person in people],
        [-min(far(person, row, in_sd) for row in rows) for person in people],
        [-min(far(person, row, place) for row in rows) for person in people],
    ]


def largest(claims, chance) -> Judged:
    """The largest of several rates, each with an interval of 1 - 0.05 / their number."""
    found = [rate([float(claim) for claim in each], chance) for each in claims]
    best = max(found, key=lambda judged: judged.value)
    wider = NormalDist().inv_cdf(1 - 0.025 / len(found)) / NormalDist().inv_cdf(0.975)
    low, high = (best.value + wider * (end - best.value) for end in (best.low, best.high))
    return best._replace(low=max(0.0, low), high=min(1.0, high))
