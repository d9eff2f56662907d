"""What the findings of groups/ say, recomputed row by row."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judged.tables import agrees, different_people, given, judged
from naive import groups as definitions
from naive import judged as naive
from naive import judged_groups as twin
from unmask import assess, population_risk

NAMES = ["sex", "town", "job", "age"]
KINDS = {"age": "numeric"}


def people(n=40, seed=0, changed=0.2):
    """Categories and ages; some values of the release were changed, some are missing on both sides."""
    rng = np.random.default_rng(seed)

    def column(values, gaps=0.0):
        drawn = rng.choice(values, n).tolist()
        return [None if rng.random() < gaps else v for v in drawn]

    table = pl.DataFrame(
        {
            "sex": column(["f", "m"]),
            "town": column(["ash", "elm", "oak"], gaps=0.1),
            "job": column(["cook", "nurse"]),
            "age": column([20.0, 30.0, 40.0, 50.0]),
            "ill": column(["flu", "gout", "none", "none"]),
            "pay": rng.choice([0.0, 1.3, 2.1, 53.7, 91.9, 101.3, 104.9], n),
            "home": column(["p", "q", "r", "s", "t", "u", "v"], gaps=0.2),
        }
    )
    masked = table.with_columns(
        pl.when(pl.Series(rng.random(n) < changed))
        .then(pl.col(name).gather(rng.permutation(n)))
        .otherwise(name)
        .alias(name)
        for name in ("town", "age", "ill", "pay")
    )
    return table, masked


def case_of(seed, *, other, **roles):
    table, masked = people(seed=seed)
    keep = {
        "ignored": [
            n for n in ("ill", "pay", "home") if n not in (*roles.get("confidential", ()), roles.get("household"))
        ]
    }
    if not other:
        return given(table, masked, kinds=KINDS, **keep, **roles)
    return given(*different_people(table, masked, seed=seed), id="id", kinds=KINDS, **keep, **roles)


EACH = pytest.mark.parametrize(("seed", "other"), [(0, False), (1, False), (2, True), (3, True)])


@EACH
def test_uniqueness(seed, other):
    case = case_of(seed, other=other)
    credits_, crowds = twin.matches(case.original, case.released, case.truth, NAMES)
    found = judged(case.release, "uniqueness")
    chance = 1 / len(case.released)
    assert {1, 2} <= set(crowds)
    assert agrees(found["uniqueness.average"], naive.rate(case.of(credits_), chance))
    alone = [float(c == 1.0) for c in case.of(credits_)]
    assert agrees(found["uniqueness.unique"], naive.rate(alone, chance))


def test_uniqueness_with_overlapping_bands():
    """A known age is looked for in every band that holds it."""
    ages = [21, 24, 27, 33, 36, 39, 28, 31]
    bands = ["20-29", "20-39", "20-29", "30-39", "20-39", "30-39", "20-29", "20-39"]
    table = pl.DataFrame({"age": ages, "sex": list("ffmmffmm")})
    case = given(table, table.with_columns(age=pl.Series(bands)))

    def fits(age, band):
        low, high = band.split("-")
        return int(low) <= age <= int(high)

    credits_ = []
    for i, row in enumerate(case.original):
        same = [j for j, r in enumerate(case.released) if r["sex"] == row["sex"] and fits(row["age"], r["age"])]
        credits_.append(1 / len(same) if i in same else 0.0)
    assert agrees(judged(case.release, "uniqueness")["uniqueness.average"], naive.rate(credits_, 1 / 8))


def test_uniqueness_where_nobody_has_a_value():
    """Values above and below all that were released, and released values above and below all that are known."""
    table = pl.DataFrame({"age": [1.0, 5.0, 6.0, 99.0]})
    for ages in ([5.0, 5.0, 6.0, 7.0], [0.0, 5.0, 6.0, 120.0], [2.0, 3.0, 4.0, 7.0]):
        case = given(table, pl.DataFrame({"age": ages}))
        credits_ = twin.matches(case.original, case.released, case.truth, ["age"])[0]
        assert agrees(judged(case.release, "uniqueness")["uniqueness.average"], naive.rate(credits_, 1 / 4))
        swept = judged(case.release, "knowledge_sweep")["knowledge_sweep.rate"]
        assert swept.value == pytest.approx(sum(credits_) / 4)


@pytest.mark.parametrize("absent", range(5))
def test_who_has_no_record_has_no_risk(absent):
    """Whatever the place of their values among all: nobody is found who is not there."""
    table = pl.DataFrame({"id": range(5), "age": [10.0, 20.0, 30.0, 40.0, 50.0], "home": list("ppqqr")})
    masked = table.filter(pl.col("id") != absent).drop("home")
    copies = masked.with_columns(id=pl.col("id") + 100)  # strangers who look like them
    release = given(table, pl.concat([masked, copies]), id="id", household="home").release
    names = ["uniqueness", "special_uniques", "knowledge_sweep", "household"]
    records = assess(release, only=names).records
    for name in names:
        assert records[name][absent] == 0.0, name
    assert records["uniqueness"].sum() == pytest.approx(2.0)


@EACH
def test_special_uniques(seed, other):
    case = case_of(seed, other=other)
    credits_, claimed = twin.special(case.original, case.released, case.truth, NAMES)
    chance = sum(case.of(claimed)) / len(case.people) / len(case.released)
    wanted = twin.shared(case.of(credits_), chance)
    assert 0 < wanted.value < 1 and 0 < sum(claimed) < len(claimed)
    assert agrees(judged(case.release, "special_uniques")["special_uniques.rate"], wanted)


@EACH
def test_knowledge_sweep(seed, other):
    case = case_of(seed, other=other)
    promise = twin.promises(case.original, case.released, case.truth, NAMES)
    (worst,) = [chosen for chosen, p in promise.items() if p > max(promise.values()) - 1e-9]
    credits_, crowds = twin.matches(case.original, case.released, case.truth, worst)
    chance = sum(c > 0 for c in case.of(crowds)) / len(case.people) / len(case.released)
    found = judged(case.release, "knowledge_sweep")["knowledge_sweep.rate"]
    assert agrees(found, twin.shared(case.of(credits_), chance))


def test_knowledge_sweep_leaves_out_what_everybody_lost():
    """A column that was drawn anew has most groups, and helps nobody."""
    table, masked = people(seed=5, changed=0.0)
    lost = masked.with_columns(age=pl.Series(np.random.default_rng(0).integers(0, 40, 40) * 1.0))
    case = given(table, lost, quasi=NAMES, kinds=KINDS)
    promise = twin.promises(case.original, case.released, case.truth, NAMES)
    assert twin.left_of(case.original, case.released, case.truth, "age") == 0.0
    worst = max(promise, key=lambda chosen: promise[chosen])
    assert "age" not in worst
    credits_, crowds = twin.matches(case.original, case.released, case.truth, worst)
    found = judged(case.release, "knowledge_sweep")["knowledge_sweep.rate"]
    assert agrees(found, twin.shared(credits_, sum(c > 0 for c in crowds) / 40 / 40))


@EACH
def test_anonymity(seed, other):
    case = case_of(seed, other=other)
    credits_, crowds = twin.matches(case.original, case.released, case.truth, NAMES)
    by_chance = []  # any record in place of their own
    for record in range(len(case.released)):
        there = twin.matches(case.original, case.released, [record] * len(case.original), NAMES)[0]
        by_chance += case.of([float(credit > 0 and crowd < 11) for credit, crowd in zip(there, crowds, strict=True)])
    found = judged(case.release, "anonymity")["anonymity.small"]
    assert 0 < found.value < 1 and 0 in case.of(crowds)
    ends = twin.small_groups(case.of(credits_), case.of(crowds), 11)
    assert agrees(found, naive.Judged(ends[1], sum(by_chance) / len(by_chance), len(case.people), ends[0], ends[2]))


@EACH
def test_magnitude(seed, other):
    case = case_of(seed, other=other, confidential=["pay"])
    rows = [[r[n] for n in (*NAMES, "pay")] for r in case.original]
    inside = [row if own is not None else [*row[:-1], 0.0] for row, own in zip(rows, case.truth, strict=True)]
    records = [[r[n] for n in (*NAMES, "pay")] for r in case.released]
    close = definitions.amount_guesses(inside, records, range(4), 4, 0.10, 0.85)
    blind = twin.blind_amounts(case.original, case.released, case.truth, NAMES, "pay")
    found = judged(case.release, "magnitude")
    for side, key in enumerate(("magnitude.estimable", "magnitude.dominated")):
        credits_ = [float(pair[side]) for pair in case.of(close)]
        guesses = case.of(blind[side])
        assert 0 < sum(credits_) < len(credits_)
        assert agrees(found[key], naive.rate(credits_, sum(guesses) / len(guesses)))


@EACH
def test_household(seed, other):
    """Without a word about the population: guessing among the records that look alike."""
    case = case_of(seed, other=other, household="home")
    credits_ = case.of(twin.matches(case.original, case.released, case.truth, NAMES)[0])
    homes = case.of([row["home"] for row in case.original])
    found = judged(case.release, "household")["household.rate"]
    assert len(homes) > len(set(homes))
    assert agrees(found, twin.households(credits_, homes, 1 / len(case.released)))


def test_household_in_a_population():
    """With a number of people: a blind guess picks one of them for each member."""
    table, _ = people(seed=4)
    names = ["sex", "job"]
    case = given(
        table, table, quasi=names, household="home", population=table.select(names).vstack(table.select(names))
    )
    risks = [1 / (2 * sum(twin.equal(row, other, names) for other in case.original)) for row in case.original]
    found = judged(case.release, "household")["household.rate"]
    assert agrees(found, twin.households(risks, [row["home"] for row in case.original], 1 / 80))


@EACH
def test_population_by_a_register(seed, other):
    """1/F, F counted; alone in the release and in the register."""
    case = case_of(seed, other=other)
    register = pl.concat([people(seed=seed)[0].select(NAMES), people(60, seed=seed + 50)[0].select(NAMES)])
    roles = {"id": "id"} if other else {}
    case = given(case.release.original, case.release.released, quasi=NAMES, kinds=KINDS, population=register, **roles)
    rates, uniques = [], []
    for row, own in zip(case.original, case.truth, strict=True):
        carries = own is not None and twin.equal(row, case.released[own], NAMES)
        here = sum(twin.equal(row, r, NAMES) for r in case.released)
        there = max(here, sum(twin.equal(row, r, NAMES) for r in register.to_dicts()))
        rates.append(1 / there if carries else 0.0)
        uniques.append(float(carries and here == there == 1))
    found = judged(case.release, "population")
    assert agrees(found["population.rate"], naive.rate(case.of(rates), 1 / 100))
    assert agrees(found["population.unique"], naive.rate(case.of(uniques), 1 / 100))


@pytest.mark.parametrize("known", ["weights", "number"])
def test_population_by_weights_or_models(known):
    """E(1/F) and P(F = 1) of the record that still carries a person's values; the ends hold the model's as well.

    The upper one also holds that everybody who is alone in the sample is alone in the population.
    """
    table, masked = people(seed=7)
    weights = pl.Series("w", np.random.default_rng(1).choice([3.0, 5.0, 9.0], 40))
    roles = {"weight": "w"} if known == "weights" else {"population": 400}
    if known == "weights":
        table, masked = table.with_columns(weights), masked.with_columns(weights)
    case = given(table, masked, quasi=NAMES, kinds=KINDS, **roles)
    public = population_risk(masked, quasi=NAMES, **roles)
    size = weights.sum() if known == "weights" else 400
    rates, uniques, single = [], [], []
    for i, row in enumerate(case.original):
        carries = twin.equal(row, case.released[i], NAMES)
        group = [j for j, r in enumerate(case.released) if twin.equal(case.released[i], r, NAMES)]
        alone = len(group) == 1
        if known == "weights":
            total = sum(weights[j] for j in group)
            risk, unique = twin.expected_share(len(group), total), 1 / total if alone else 0.0
        else:
            share = public.tau2.value / public.n_unique
            risk = share if alone else min(share, twin.expected_share(len(group), len(group) * 10))
            unique = public.tau1.value / public.n_unique if alone else 0.0
        rates.append(risk if carries else 0.0)
        uniques.append(unique if carries else 0.0)
        single.append(carries and alone)
    share = sum(single) / 40 / public.n_unique
    assert 0 < sum(single) < public.n_unique
    found = judged(case.release, "population")
    for key, credits_, tau in (("rate", rates, public.tau2), ("unique", uniques, public.tau1)):
        assert tau.low < tau.value < tau.high
        wanted = twin.widened(naive.rate(credits_, 1 / size), share, tau)
        most = sum(max(credit, alone) for credit, alone in zip(credits_, single, strict=True)) / 40
        assert agrees(found[f"population.{key}"], wanted._replace(high=max(wanted.high, most)), close=1e-6)
