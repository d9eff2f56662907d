"""Numbers that judge a release with many rows a person, from people looked at one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linear_sum_assignment
from small_persons import disturbed, few_rows

from naive import judged as plain
from naive import membership
from naive import persons as naive
from unmask import Persons, persons_risk
from unmask.persons import report_persons
from unmask.persons.link import bags_of, blind_costs, link_blind, link_taught
from unmask.persons.taught import teach

KNOWN = ("sex", "day", "ward")
N, SEED = 40, 3


def rows_of(table, *columns):
    return naive.bags(table.select(columns).rows(), table["id"].to_list())


@pytest.fixture(scope="module")
def case():
    table = few_rows(N, most=4, seed=1)
    other = disturbed(table, 2, kept=0.95, moved=0.1)
    control = few_rows(30, most=4, seed=7).with_columns(pl.col("id") + 500)
    persons = Persons(
        table, other, id="id", time="day", quasi=KNOWN, confidential=["secret"], control=control
    )  # fmt: skip
    risk = persons_risk(persons, seed=SEED)
    judged = {one.key: one.estimate.value for entry in report_persons(risk) for one in entry.evidence.observations}
    one, two = rows_of(table, *KNOWN), rows_of(other, *KNOWN)
    return risk, judged, table, other, one, two, [p for p in one if p in two]


def mean(credits_):
    return sum(credits_) / len(credits_)


def test_alike(case):
    _, judged, _, _, one, two, asked = case
    same = naive.same_rows(one, two)
    credit = [(p in same[p]) / max(1, len(same[p])) for p in asked]
    assert judged["alike.rate"] == pytest.approx(mean(credit))
    groups = {p: same[p] for p in asked if 0 < len(same[p]) < 11}
    right = [p for p in groups if p in groups[p]]
    certainty = len(right) / len(groups)
    small = sum(len(groups[p]) < 11 * certainty for p in right) / len(asked)
    assert judged["alike.small"] == pytest.approx(small)


def by_matching(costs, one, two, asked):
    """Credits of the best matching where it is the only one; people with equal rows share theirs."""
    matrix = np.array([[costs[p, q] for q in two] for p in one])
    rows, cols = linear_sum_assignment(matrix)
    to = {list(one)[i]: list(two)[j] for i, j in zip(rows, cols, strict=True)}

    def share(p):
        equal = [a for a in one if sorted(one[a]) == sorted(one[p])]
        crowd = [b for b in two if sorted(two[b]) == sorted(two[p])]
        return sum(to.get(a) in crowd for a in equal) / len(equal) / len(crowd)

    return [share(p) for p in asked]


def test_bags(case):
    """Costs are those of the kernel, which has twins of its own; people are looked at one by one here."""
    risk, judged, _, _, one, two, asked = case
    found = risk.bags
    persons = risk.persons
    costs = {(p, q): c for p, q, c in all_costs(persons, link_costs(persons))}
    near = naive.nearest(costs, asked, two)
    wanted = max(mean([near[p] for p in asked]), mean(by_matching(costs, one, two, asked)))
    assert judged["bags.rate"] == pytest.approx(wanted)
    sure = clear(costs, asked, two)
    claimed = claimed_by_others(sure, [near[p] for p in asked])
    assert found.claimed.tolist() == claimed
    known = mean([near[p] * claim for p, claim in zip(asked, claimed, strict=True)])
    assert judged["bags.known"] == pytest.approx(known)


def test_taught(case):
    risk, judged, _, _, one, two, asked = case
    persons, there = risk.persons, np.flatnonzero(risk.persons.there)
    mixed = np.random.default_rng([SEED, 30]).permutation(there)
    halves = np.sort(mixed[: there.size // 2]), np.sort(mixed[there.size // 2 :])
    columns = persons.columns()
    taught = [teach(columns, *bags_of(persons, columns), known, persons.own[known], SEED) for known in halves]
    costs = {}
    for half, by in ((halves[1], taught[0]), (halves[0], taught[1])):
        ids = {persons.ids[int(p)] for p in half}
        costs |= {(p, q): c for p, q, c in all_costs(persons, by) if str(p) in ids}
    costs |= {(p, q): c for p, q, c in all_costs(persons, taught[0]) if p not in asked}
    near = naive.nearest(costs, asked, two)
    wanted = max(mean([near[p] for p in asked]), mean(by_matching(costs, one, two, asked)))
    assert judged["taught.rate"] == pytest.approx(wanted)
    best = {p: min(costs[p, q] for q in two) for p in asked}
    sure = [1 / sum(np.exp(best[p] - costs[p, q]) for q in two) for p in asked]
    claimed = claimed_by_others(sure, [near[p] for p in asked])
    known = mean([near[p] * claim for p, claim in zip(asked, claimed, strict=True)])
    assert judged["taught.known"] == pytest.approx(known)


def link_costs(persons):
    return blind_costs(persons, persons.columns())


def all_costs(persons, costs):
    """The cost of everybody with everybody, by all ways to lay rows on rows."""
    columns = persons.columns()
    one, two = bags_of(persons, columns)
    width = costs.width

    def cost(a, b):
        cells = (costs.offset[c] + a[c] * width[c] + b[c] for c in range(len(width)))
        return min(costs.cap, sum(float(costs.flat[cell]) for cell in cells))

    half = len(costs.size) // 2
    for p, name in enumerate(persons.ids):
        mine = one.codes[one.start[p] : one.start[p + 1]].tolist()
        for q, there in enumerate(persons.released_ids):
            theirs = two.codes[two.start[q] : two.start[q + 1]].tolist()
            size = costs.size[min(max(len(theirs) - len(mine), -half), half) + half]
            yield int(name), int(there), naive.laid(mine, theirs, cost) + size


def clear(costs, asked, two):
    """By how much nearer the nearest is than the next, no further away than a whole row costs."""
    cap, sure = 4.0, []
    for p in asked:
        every = sorted(costs[p, q] for q in two)
        least = every[0]
        ties = [c for c in every if c <= least + 1e-5 * (1 + abs(least))]
        second = min([c for c in every if c > ties[-1]] + [least + cap])
        sure.append(1 / len(ties) if len(ties) > 1 else 1 - 0.5 * (least + 1e-5) / (second + 1e-5))
    return sure


def claimed_by_others(sure, credit):
    """Who is as sure as the level that nine tenths of the others teach, each tenth in turn."""
    mixed = np.random.default_rng([SEED, 11]).permutation(len(sure))
    found = [False] * len(sure)
    for part in range(10):
        others = [mixed[k] for k in range(len(sure)) if k % 10 != part]
        levels = sorted({sure[k] for k in others}, reverse=True)
        good = []
        for level in levels:
            above = [k for k in others if sure[k] >= level]
            wrong = sum(1 - credit[k] for k in above) + min(1.0, sum(1 - sure[k] for k in above))
            if level >= 0.5 and wrong / len(above) <= 0.05 + 1e-12:
                good.append(level)
        least = good[-1] if good else (np.inf if max(sure[k] for k in others) >= 0.5 else 0.95)
        for k in [mixed[k] for k in range(len(sure)) if k % 10 == part]:
            found[k] = bool(sure[k] >= least)
    return found


def test_points(case):
    """Nobody has more than four rows, so four points are all of them."""
    _, judged, _, _, one, two, asked = case
    left = {p: naive.have(one[p], two) for p in asked}
    assert judged["points.rate"] == pytest.approx(mean([(p in left[p]) / max(1, len(left[p])) for p in asked]))


def test_sequences(case):
    risk, judged, table, other, _, _, asked = case
    told = {q: [(day, what) for day, *what in rows] for q, rows in rows_of(other, "day", "sex", "ward").items()}
    mine = rows_of(table, "day", "sex", "ward")
    wanted = []
    for p in asked:
        ordered = sorted(mine[p], key=lambda row: row[0])
        left = [q for q in told if naive.in_order([list(row[1:]) for row in ordered], told[q])]
        same = len({row[0] for row in ordered}) < len(ordered)
        wanted.append(risk.sequences.credit[asked.index(p)] if same else (p in left) / max(1, len(left)))
    assert judged["sequences.rate"] == pytest.approx(mean(wanted))


def test_shared(case):
    _, judged, table, other, one, two, asked = case
    mine, theirs = (
        {p: {row[0] for row in rows} for p, rows in rows_of(side, "secret").items()} for side in (table, other)
    )
    attack, without = naive.learnt({p: naive.have(one[p], two) for p in asked}, mine, theirs)
    gains = plain.excess(np.array([attack[p] for p in asked]), np.array([without[p] for p in asked]))
    assert judged["shared.excess"] == pytest.approx(gains.value)


def test_presence(case):
    risk, judged, _, _, _, two, asked = case
    persons, columns = risk.persons, risk.persons.columns()
    costs = {(p, q): c for p, q, c in all_costs(persons, link_costs(persons))}
    rows = dict(zip(map(int, persons.ids), persons.sizes[0].tolist(), strict=True))
    mine = [-min(costs[p, q] for q in two) / rows[p] for p in asked]
    assert risk.presence.members.tolist() == pytest.approx(mine, abs=1e-4)
    others = strangers(persons, columns)
    assert judged["presence.auc"] == pytest.approx(membership.by_area(mine, others), abs=1e-3)
    above = sorted(others, reverse=True)
    alone = sum(score > above[0] for score in mine) / len(mine)
    assert judged["presence.tpr"] == pytest.approx(tpr(mine, above, alone), abs=1e-2)


def strangers(persons, columns):
    """Scores of the control people, by all ways to lay their rows."""
    one, two = bags_of(persons, columns)
    costs = link_costs(persons)
    found = []
    for p in range(persons.n, one.start.size - 1):
        rows = one.codes[one.start[p] : one.start[p + 1]].tolist()

        def cost(a, b):
            return min(costs.cap, sum(float(costs.flat[costs.offset[c] + a[c] * costs.width[c] + b[c]])
                                      for c in range(len(costs.width))))  # fmt: skip

        half, best = len(costs.size) // 2, np.inf
        for q in range(two.start.size - 1):
            theirs = two.codes[two.start[q] : two.start[q + 1]].tolist()
            size = costs.size[min(max(len(theirs) - len(rows), -half), half) + half]
            best = min(best, naive.laid(rows, theirs, cost) + size)
        found.append(-best / len(rows))
    return found


def tpr(mine, above, alone):
    """Members above the level that 1 % of strangers pass: on the chord from none of them to the first."""
    first = sum(score >= above[0] for score in mine) / len(mine)
    share = sum(one >= above[0] - 1e-12 for one in above) / len(above)
    return alone + (first - alone) * 0.01 / share


def test_both_attacks_are_those_of_the_public_functions(case):
    risk = case[0]
    columns = risk.persons.columns()
    assert link_blind(risk.persons, columns, seed=SEED).best.tolist() == risk.bags.best.tolist()
    assert link_taught(risk.persons, columns, seed=SEED).best.tolist() == risk.taught.best.tolist()
