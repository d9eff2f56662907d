"""What the linkage findings say, recomputed pair by pair."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import polars as pl
import pytest

from judged.tables import agrees, different_people, given, judged, mixed, numeric, seed_of
from naive import judged as naive
from naive import linkage as pairs
from unmask import link_nearest, link_probabilistic, parse_masking
from unmask.linkage.channel import link_channel
from unmask.linkage.likelihood import link_likelihood

NUMBERS, WORDS = ["age", "pay"], ["sex", "town"]
TABLES = {
    "numbers with ties": (numeric, "abc", "", False),
    "numbers, other people": (numeric, "abc", "", True),
    "mixed": (mixed, NUMBERS, WORDS, False),
    "mixed, other people": (mixed, NUMBERS, WORDS, True),
}


def tables(name, **options):
    make, numbers, words, other = TABLES[name]
    original, released = make(**options)
    return (given(*different_people(original, released), id="id") if other else given(original, released)), (
        list(numbers),
        list(words),
    )


def worst_scale(case, attributes):
    """The distances that find most: where the files hold different people, standardised in each of three ways."""
    same = len(case.original) == len(case.released)
    best = None
    for scale in ("own",) if same else ("own", "original", "released"):
        far = naive.squares(case.original, case.released, *attributes, scale)
        reached = sum(case.of(naive.credits_of(far, case.truth)))
        if best is None or reached > best[0] + 1e-9:
            best = reached, far
    return best[1]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("seed", range(3))
def test_nearest(name, seed):
    case, attributes = tables(name, seed=seed)
    far = worst_scale(case, attributes)
    credits_, margins = case.of(naive.credits_of(far, case.truth)), case.of(naive.margins_of(far))
    found = judged(case.release, "nearest")
    claims = margins, credits_
    if all(own in case.truth for own in range(len(case.released))):  # nobody in the release is unknown: both directions
        owner = [case.truth.index(own) for own in range(len(case.released))]
        back = naive.credits_of(far.T, owner)
        if sum(back) > sum(credits_) + 1e-9:
            claims = max((claims, (naive.margins_of(far.T), back)), key=lambda side: naive.known(*side))
            credits_ = back
    assert agrees(found["nearest.rate"], naive.rate(credits_, 1 / len(case.released)))
    assert agrees(found["nearest.known"], naive.known_of(*claims))


def test_nearest_known_of_control():
    """People outside who would be claimed as well: margins as clear as those of the claims that are known."""
    original, released = numeric(40, noise=0.35)
    control, _ = numeric(30, seed=9)
    case = given(original, released, control=control)
    rows = case.original + control.to_dicts()
    far = naive.squares(rows, case.released, list("abc"), [], "own")
    margins, credits_ = naive.margins_of(far), naive.credits_of(far[:40], case.truth)
    share = naive.known(margins[:40], credits_)
    assert 0 < share < 1
    least = sorted(margins[:40], reverse=True)[round(share * 40) - 1]
    wanted = sum(m >= least for m in margins[40:]) / 30
    found = judged(case.release, "nearest")["nearest.known"]
    assert 0 < wanted < 1
    assert found.control == pytest.approx(wanted)


def least_matchings(far):
    """All one-to-one matchings of least total distance (as many originals as released rows, or fewer)."""
    n, m = far.shape
    totals = [(sum(far[i, j] for i, j in enumerate(order)), order) for order in permutations(range(m), n)]
    least = min(totals)[0]
    return [order for total, order in totals if total <= least + 1e-9]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("extra", [0, 1])
def test_one_to_one(seed, extra):
    """Credit: the share of the best matchings with the true pair. Margin: the nearest other less the linked one."""
    original, released = numeric(6, noise=0.8, seed=seed, m=2)
    one, two = different_people(original, released, absent=0, extra=extra, seed=seed)
    case = given(one, two, id="id")
    far = np.sqrt(worst_scale(case, (["a", "b"], [])))
    best = least_matchings(far)
    credits_ = [sum(order[i] == own for order in best) / len(best) for i, own in enumerate(case.truth)]
    found = judged(case.release, "one_to_one")
    assert agrees(found["one_to_one.rate"], naive.in_chains(credits_, 1 / len(case.released)))
    if len(best) == 1 and original.n_unique() == original.height:
        margins = [
            min(d for j, d in enumerate(row) if j != link) - row[link] for row, link in zip(far, best[0], strict=True)
        ]
        assert agrees(found["one_to_one.known"], naive.known_of(margins, credits_))


def test_one_to_one_of_equal_people():
    """Two people with one record each, equal in all they show: either matching is as good, neither is known."""
    table = pl.DataFrame({"a": [1.0, 1.0, 5.0, 9.0], "b": [2.0, 2.0, 3.0, 4.0]})
    found = judged(given(table, table).release, "one_to_one")
    assert agrees(found["one_to_one.rate"], naive.in_chains([0.5, 0.5, 1.0, 1.0], 1 / 4))
    assert agrees(found["one_to_one.known"], naive.known_of([0.0, 0.0, 4.0, 3.0], [0.5, 0.5, 1.0, 1.0]))


def swapped_pairs(table, masked, many):
    """Give so many people each other's records, whole: whoever looks for them finds another, and is sure of it."""
    order = np.arange(table.height)
    order[:many] = order[:many].reshape(-1, 2)[:, ::-1].ravel()
    return masked[order]


@pytest.mark.parametrize("seed", range(3))
def test_probabilistic(seed):
    """Of the claims only those count that are right; chance claims as many, and draws."""
    original, _ = mixed(40, seed=seed)
    original = original.with_columns(pl.col("age").fill_null(25.0))
    some = pl.Series(np.random.default_rng(seed).random(40) < 0.3)
    released = original.with_columns(age=pl.when(some).then(pl.col("age") + 1.0).otherwise("age"))
    released = swapped_pairs(original, released, 12)
    case = given(original, released)
    found = judged(case.release, "probabilistic")
    from unmask.linkage.probabilistic.model import Fitting

    linkage = link_probabilistic(
        case.release, attributes="best", learn_from=40, fitting=Fitting(tolerance=1e-5), seed=seed_of("probabilistic")
    )
    vectors = pairs.comparison_vectors(linkage.comparison).reshape(40, 40, -1)
    weights = linkage.model.weights
    total = np.array([[sum(weights[k, level] for k, level in enumerate(pair)) for pair in row] for row in vectors])
    credits_ = []
    for row, own in zip(total, case.truth, strict=True):
        best = [j for j, weight in enumerate(row) if weight >= row.max() - 1e-9]
        credits_.append(1 / len(best) if own in best else 0.0)
    assert agrees(found["probabilistic.rate"], naive.rate(credits_, 1 / 40))
    claimed = [row.max() >= upper_weight(total, linkage.model) - 1e-9 for row in total]
    right = [credit if claim else 0.0 for credit, claim in zip(credits_, claimed, strict=True)]
    assert sum(claimed) > sum(right) > 0
    assert agrees(found["probabilistic.linked"], naive.rate(right, sum(claimed) / 40 / 40))


def upper_weight(total, model):
    """The least weight such that, by the model, at most one false link is claimed for every twenty people."""
    odds = model.prior / (1 - model.prior) * 2.0**total
    posterior = odds / (1 + odds)
    wrong = (1 - posterior).sum()
    best = np.inf
    for weight in sorted(np.unique(np.round(total, 9)), reverse=True):
        if (1 - posterior)[total >= weight - 1e-8].sum() / wrong > 0.05 / total.shape[1]:
            break
        best = weight
    return best


@pytest.mark.parametrize("seed", range(3))
def test_transparent(seed):
    """Under noise of known sd: Bayes' rule for every pair; equal records share; who is sure may be wrong."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(30, 2)) * [3.0, 1.0], 1)
    x[0] = [9.0, 4.0]  # apart from all others
    table = pl.DataFrame(x, schema=["a", "b"])
    masked = parse_masking("noise(0.1)").apply(table, seed)
    masked = masked.with_columns(masked["a"].gather([0, 0, *range(2, 30)]), masked["b"].gather([0, 0, *range(2, 30)]))
    masked = swapped_pairs(table, masked[::-1], 8)[::-1]  # the last eight; the first two have equal records
    case = given(table, masked, masking="noise(0.1)")
    y, sd = masked.to_numpy(), 0.1 * x.std(axis=0, ddof=1)
    credits_, sure = [], []
    for i in range(30):
        posterior = pairs.noise_posterior(x[i], np.delete(x, i, axis=0), y, sd)
        best = [j for j, p in enumerate(posterior) if p >= posterior.max() * (1 - 1e-6)]
        credits_.append(1 / len(best) if i in best else 0.0)
        sure.append(posterior.max() >= 0.95)
    assert {0.0, 0.5, 1.0} == set(credits_)
    found = judged(case.release, "transparent")
    assert agrees(found["transparent.rate"], naive.rate(credits_, 1 / 30))
    right = [credit if claim else 0.0 for credit, claim in zip(credits_, sure, strict=True)]
    assert sum(sure) > sum(right) > 0
    assert agrees(found["transparent.known"], naive.rate(right, sum(sure) / 30 / 30))


@pytest.mark.parametrize("other", [False, True])
def test_learned(other):
    """Of one attribute any weight gives the same links: what is learnt from others finds whom the nearest one finds."""
    original, released = numeric(30, noise=0.05, m=1)
    case = given(*different_people(original, released), id="id") if other else given(original, released)
    far = naive.squares(case.original, case.released, ["a"], [])
    wanted = naive.rate(case.of(naive.credits_of(far, case.truth)), 1 / len(case.released))
    assert agrees(judged(case.release, "learned")["learned.rate"], wanted)


@pytest.mark.parametrize("seed", range(2))
def test_knowledge_curve(seed):
    """Half of three attributes, rounded up: the mean over all three sets of two."""
    original, released = numeric(16, seed=seed)
    case = given(*different_people(original, released, seed=seed), id="id")
    scale = max(
        ("own", "original", "released"),
        key=lambda scale: link_nearest(case.release, scale=scale, decision_only=True).estimate.value,
    )
    by_set = [
        case.of(naive.credits_of(naive.squares(case.original, case.released, names, [], scale), case.truth))
        for names in combinations("abc", 2)
    ]
    credits_ = [sum(person) / 3 for person in zip(*by_set, strict=True)]
    found = judged(case.release, "knowledge_curve")["knowledge_curve.half"]
    assert agrees(found, naive.rate(credits_, 1 / len(case.released)))


def test_knowledge_curve_of_four():
    """Half of four attributes: four of the six sets of two, none of another size."""
    original, released = numeric(16, m=4)
    case = given(original, released)
    rates = {
        names: sum(naive.credits_of(naive.squares(case.original, case.released, names, []), case.truth)) / 16
        for names in combinations("abcd", 2)
    }
    found = judged(case.release, "knowledge_curve")["knowledge_curve.half"]
    drawn = min(combinations(rates.values(), 4), key=lambda some: abs(sum(some) / 4 - found.value))
    assert sum(drawn) / 4 == pytest.approx(found.value, abs=1e-9)
    assert found.high - found.low > 2 * 3.18 * np.std(drawn, ddof=1) * (1 / 4 - 1 / 6) ** 0.5  # sets alone, t of 3


@pytest.mark.parametrize("seed", range(2))
def test_likelihood(seed):
    """The record of greatest posterior, right or not; of the surest claims, as many as are right 19 times in 20."""
    original, released = mixed(40, seed=seed)
    case = given(*different_people(original, released, seed=seed), id="id")
    linkage = link_likelihood(case.release, seed=seed_of("likelihood"))
    assert linkage.optimal  # so few are matched one to one exactly
    assert (linkage.tie_sizes == 1).all()
    right = case.of([float(link == own) for link, own in zip(linkage.links, case.truth, strict=True)])
    found = judged(case.release, "likelihood")
    assert 0 < sum(right) < len(right)
    assert agrees(found["likelihood.rate"], naive.rate(right, 1 / len(case.released)))
    posterior = case.of(linkage.posterior.tolist())
    share = naive.known(posterior, right)
    least = sorted(posterior, reverse=True)[round(share * len(right)) - 1] if share else 2.0
    sure = [credit if p >= least else 0.0 for credit, p in zip(right, posterior, strict=True)]
    assert agrees(found["likelihood.known"], naive.rate(sure, 0.0))


@pytest.mark.parametrize("seed", range(2))
def test_channel(seed):
    """The best of the most probable record, with or without others who compete for it, and of the most likely matching.

    The interval is that of each of the three at 1 - 0.05/3. Claims count when right.
    """
    original, released = mixed(60, seed=seed)
    case = given(*different_people(original, released, seed=seed), id="id")
    linkage = link_channel(case.release, seed=seed_of("channel"))
    best = [p >= top * (1 - 1e-9) for p, top in zip(linkage.posterior, linkage.best, strict=True)]
    one_by_one = naive.rate(case.of([float(hit) for hit in best]), 1 / len(case.released))
    matched = naive.rate(case.of(linkage.matched.tolist()), 1 / len(case.released))
    alone = naive.rate(case.of(linkage.alone.tolist()), 1 / len(case.released))
    found = judged(case.release, "channel")
    assert 0 < one_by_one.value < 1
    best_of_three = max(one_by_one, matched, alone, key=lambda each: each.value)
    different = len({tuple(attack) for attack in (linkage.credit, linkage.matched, linkage.alone)})
    wider = {1: 1.0, 2: 2.241403 / 1.959964, 3: 2.393980 / 1.959964}[different]
    ends = (max(0.0, best_of_three.value + wider * (end - best_of_three.value)) for end in best_of_three[3:5])
    assert agrees(found["channel.rate"], best_of_three._replace(**dict(zip(("low", "high"), ends, strict=True))))
    sure = case.of([float(claim and hit) for claim, hit in zip(linkage.claimed, best, strict=True)])
    assert 0 < sum(sure) < sum(case.of(best))  # whom it claims: tests/linkage/test_channel.py
    assert agrees(found["channel.known"], naive.rate(sure, 0.0))


@pytest.mark.parametrize("seed", range(4))
def test_clusters(seed):
    """Whole households by the best pairing of their members, and all at once; a blind guess draws a household."""
    rng = np.random.default_rng(seed)
    homes = np.repeat(np.arange(6), [2, 2, 2, 3, 3, 3])
    x = np.round(rng.normal(size=(15, 2)) * 8) / 8
    y = np.round((x + 0.9 * rng.normal(size=(15, 2))) * 8) / 8
    table = pl.DataFrame({"id": range(15), "a": x[:, 0], "b": x[:, 1], "home": homes})
    masked = table.with_columns(a=pl.Series(y[:, 0]), b=pl.Series(y[:, 1]), home=pl.Series(90 - homes))
    case = given(table, masked[rng.permutation(15)], id="id", household="home")
    far = naive.differences(case.original, case.released, ["a", "b"])
    ours = [[i for i, row in enumerate(case.original) if row["home"] == home] for home in range(6)]
    theirs = [[j for j, row in enumerate(case.released) if row["home"] == 90 - home] for home in range(6)]

    def paired(members, records):
        return min(
            (sum(far[i][j] for i, j in zip(members, order, strict=True)), order) for order in permutations(records)
        )

    cost = [[paired(a, b)[0] if len(a) == len(b) else np.inf for b in theirs] for a in ours]
    nearest = [1.0 if min(row) == row[k] else 0.0 for k, row in enumerate(cost)]
    best = min(permutations(range(6)), key=lambda order: sum(cost[k][order[k]] for k in range(6)))
    matched = [float(best[k] == k) for k in range(6)]
    credit = nearest if sum(nearest) >= sum(matched) else matched
    people = [0.0] * 15
    for k, members in enumerate(ours):
        for i, j in zip(members, paired(members, theirs[best[k]])[1], strict=True):
            people[i] = float(matched[k] == 1.0 and case.truth[i] == j)
    found = judged(case.release, "clusters")
    assert agrees(found["clusters.rate"], naive.rate([credit[home] for home in homes], 1 / 6))
    assert agrees(found["clusters.people"], naive.rate(people, 1 / 6))
