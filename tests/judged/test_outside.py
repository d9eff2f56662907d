"""What the findings say that compare with people outside the release, recomputed person by person."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numba import config

from judged.tables import agrees, given, judged, seed_of
from naive import judged as naive
from naive import judged_disclosure as twin
from naive import membership as slow
from naive import near_copies
from unmask import assess
from unmask.evidence.estimate import excess, excess_over_control, wilson

NUMBERS, WORDS = ["age", "rent"], ["town"]
NAMES = [*NUMBERS, *WORDS]


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 32, n).astype(float),
            "rent": np.round(rng.normal(8, 2, n) * 4) / 4,
            "town": rng.choice(["ash", "elm", "oak"], n),
        }
    )


def remembered(table, seed=1):
    """A synthetic table: some rows copied, some twice, the others drawn column by column."""
    rng = np.random.default_rng(seed)
    n = table.height
    made = pl.DataFrame({name: table[name].gather(rng.permutation(n)) for name in table.columns})
    return pl.concat([table[: n // 4], table[: n // 8], made[: n - n // 4 - n // 8]])[rng.permutation(n)]


def beyond_both(plain, private, of_columns):
    """The smaller of two gains; the lower end is that beyond e times other people, which epsilon 1 may show.

    The upper end is at least that of nobody among so many: z^2 / (n + z^2).
    """
    smaller, surely = (min(one, of_columns, key=lambda gain: (gain.value, gain.high)) for one in (plain, private))
    z = 1.959963984540054
    ends = {"low": min(smaller.low, surely.low), "high": max(smaller.high, z * z / (smaller.n + z * z))}
    return smaller._replace(**ends) if hasattr(smaller, "_replace") else replace(smaller, **ends)


def beyond_columns(people, rows, *, alone=False):
    """People with an equal row, less the chance of one where each column is drawn by itself."""
    seen, chance = (np.array(side) for side in twin.equal_by_columns(people, rows, alone=alone))
    found = excess(seen, chance, seed=seed_of("copies"))
    return found if alone else widened(found, seen - chance, people)


def widened(estimate, gain, records):
    """The interval with equal records as one draw, where that is wider."""
    crowds = [records.index(record) for record in records]
    parts = [(gain - gain.mean())[[c == crowd for c in crowds]].sum() for crowd in set(crowds)]
    error = 1.959963984540054 * sum(part**2 for part in parts) ** 0.5 / len(records)
    low, high = min(estimate.low, estimate.value - error), max(estimate.high, estimate.value + error)
    return replace(estimate, low=max(low, 0.0), high=min(high, 1.0))


def same(one, two):
    """Two estimates, but for the last bits of a product."""
    return [one.value, one.low, one.high, one.n] == pytest.approx([two.value, two.low, two.high, two.n], rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_copies(seed):
    """Rows nearer to the original than to as many people outside; rows that equal a person, one to one; a copy."""
    table, control = people(40, seed), people(40, seed + 20)
    case = given(table, remembered(table, seed), control=control, synthetic=True)
    outside = control.to_dicts()
    everybody = [*case.original, *outside]
    to_members, to_strangers = (
        twin.nearest_of(case.released, side, everybody, case.released, NUMBERS, WORDS)
        for side in (case.original, outside)
    )
    found = judged(case.release, "copies")
    wanted = twin.closer(to_members, to_strangers)
    assert 0.5 < wanted.value < 1
    assert agrees(found["copies.closer"], wanted)
    rows, members, strangers = ([tuple(r.values()) for r in side] for side in (case.released, case.original, outside))
    copied, elsewhere = (
        [share / max(1, side.count(row)) for share, row in zip(twin.partnered(rows, side), rows, strict=True)]
        for side in (members, strangers)
    )
    assert {0.0, 0.5, 1.0} <= set(copied)
    gains = []
    for times in (1.0, twin.E):
        beyond = times * np.array(elsewhere)
        alone = excess(np.array(copied), beyond, seed=seed_of("copies"))
        assert alone.value == pytest.approx((sum(copied) - sum(beyond)) / 40)
        wanted = widened(alone, np.array(copied) - beyond, rows)
        gains.append(replace(wanted, high=max(wanted.high, wilson(wanted.hits, 40)[1])))
    assert same(found["copies.exact"], beyond_both(*gains, beyond_columns(members, rows)))
    assert agrees(found["copies.whole"], naive.Judged(0.0, 0.0, 40, 0.0, 0.0))
    replicas, others = twin.replicas(members, rows), twin.replicas(strangers, rows)
    assert 0 < sum(replicas) < 40
    gains = [
        excess_over_control(np.array(replicas), np.array(others), seed=seed_of("copies"), times=times)
        for times in (1.0, twin.E)
    ]
    assert same(found["copies.unique"], beyond_both(*gains, beyond_columns(members, rows, alone=True)))
    likeness = [twin.likeness(side, case.released, NUMBERS, WORDS) for side in (case.original, outside)]
    wanted = twin.largest(
        [[mine > max(theirs) for mine in ours] for ours, theirs in zip(*likeness, strict=True)], 1 / 41
    )
    assert agrees(found["copies.found"], wanted)


@pytest.mark.parametrize("size", [60, 45])
def test_copies_without_control(size):
    """With nobody outside: copies beyond those of half of the people in the others, uniques beyond pairs."""
    table = people(60)
    released = remembered(table, 0)[:size]
    case = given(table, released, synthetic=True)
    members, rows = ([tuple(r.values()) for r in side] for side in (case.original, case.released))
    found = judged(case.release, "copies")
    assert set(found) == {"copies.exact", "copies.unique", "copies.whole"}  # too few numbers for lookalikes
    for key, alone in (("copies.exact", False), ("copies.unique", True)):
        halves = [twin.beyond_halves(members, rows, alone=alone, times=times) for times in (1.0, twin.E)]
        columns = beyond_columns(members, rows, alone=alone)
        assert halves[0].value > 0 and columns.value > 0
        wanted = beyond_both(*halves, columns)
        assert agrees(found[key], wanted) if halves[0].value < columns.value else same(found[key], wanted)


def test_copies_beyond_other_people():
    """Values that many people share: the other half of the people shows them as well as independent columns do."""
    draw = np.random.default_rng(4)
    table = pl.DataFrame({"age": draw.integers(20, 26, 60).astype(float)}).with_columns(
        rent=pl.col("age") * 2, town=pl.lit("elm")
    )
    rows = table[:50].vstack(table[:5])
    found, members = judged(given(table, rows, synthetic=True).release, "copies"), table.rows()
    for key, alone in (("copies.exact", False), ("copies.unique", True)):
        halves = [twin.beyond_halves(members, rows.rows(), alone=alone, times=times) for times in (1.0, twin.E)]
        columns = beyond_columns(members, rows.rows(), alone=alone)
        of_halves = (halves[0].value, halves[0].high) < (columns.value, columns.high)
        assert of_halves or alone
        wanted = beyond_both(*halves, columns)
        assert agrees(found[key], wanted) if of_halves else same(found[key], wanted)


@pytest.mark.parametrize("outside", [False, True])
def test_near_copies(outside):
    """People with a row twice as near as anybody, whichever column is left out; as few as surely, in either scale."""
    rng = np.random.default_rng(3)
    numbers, words = [f"v{k}" for k in range(4)], ["town"]

    def drawn(n):
        values = np.exp(rng.normal(size=(n, 4)))
        table = pl.DataFrame({name: values[:, k] for k, name in enumerate(numbers)})
        return table.with_columns(town=pl.Series(rng.choice(["ash", "elm", "oak"], n)))

    table, fresh, control = drawn(60), drawn(60), drawn(45)
    moved = table[:30].with_columns(pl.col(numbers) + pl.Series(0.02 * rng.normal(size=30)))
    rows = pl.concat([moved, table[30:33], fresh[:26]])[rng.permutation(59)]
    roles = {"control": control} if outside else {}
    case = given(table, rows, synthetic=True, **roles)
    wanted = near_copies.known(case.original, case.released, control.to_dicts() if outside else [], numbers, words)
    assert 0 < wanted.low < wanted.value < 1
    assert agrees(judged(case.release, "copies")["copies.known"], wanted)


@pytest.mark.parametrize(("n", "whole"), [(9, 0.0), (10, 1.0), (40, 1.0)])
def test_a_copy_is_told_from_ten_rows_on(n, whole):
    table = people(n)
    release = given(
        table, table[np.random.default_rng(0).permutation(n)], control=people(40, 9), synthetic=True
    ).release
    found = judged(release, "copies")
    assert found["copies.whole"].value == whole == found["copies.whole"].low == found["copies.whole"].high
    short = given(table, table[1:].vstack(table[:1] if n == 9 else table[1:2]), control=people(40, 9), synthetic=True)
    assert judged(short.release, "copies")["copies.whole"].value == 0.0


def descriptions(rows, count, seed):
    """Random descriptions of random rows by three attributes, each once, as far as they fit no other row."""
    rng = np.random.default_rng(seed)
    middle = {name: float(np.median([r[name] for r in rows])) for name in NUMBERS}
    ordered = sorted(rows, key=lambda r: (r["age"], r["rent"], r["code"], r["size"]))
    names, found = ["age", "rent", "code", "size"], []
    for _ in range(20 * count):
        row, columns = ordered[int(rng.integers(len(rows)))], np.sort(rng.permutation(4)[:3])
        told = {
            name: (row[name], "=" if name not in NUMBERS else ">=" if row[name] >= middle[name] else "<=")
            for name in (names[k] for k in columns)
        }
        if len(found) < count and told not in found and sum(fits(other, told) for other in rows) == 1:
            found.append(told)
    return found


def fits(row, told):
    return all(
        row[name] == value if sign == "=" else row[name] >= value if sign == ">=" else row[name] <= value
        for name, (value, sign) in told.items()
    )


@pytest.mark.parametrize("seed", range(2))
def test_singling(seed):
    """Descriptions of one released row that fit one person of the original, less those that fit one outside."""

    def wide(table, seed):
        rng = np.random.default_rng(seed)
        return table.with_columns(code=pl.col("town"), size=pl.Series(rng.choice(["l", "s", "xl"], table.height))).drop(
            "town"
        )

    table, control = wide(people(40, seed), seed), wide(people(40, seed + 20), seed + 1)
    release = given(table, table, control=control, synthetic=True).release
    told = descriptions(table.to_dicts(), 500, seed_of("singling"))
    mine, theirs = (
        [sum(fits(row, description) for row in side.to_dicts()) == 1 for description in told]
        for side in (table, control)
    )
    found = judged(release, "singling")["singling.excess"]
    pool = [*table.to_dicts(), *control.to_dicts()]
    fit = np.array([[fits(row, description) for row in pool] for description in told])
    rng, draws = np.random.default_rng(3), []
    for _ in range(400):
        inside = rng.permutation(np.arange(80) < 40)
        draws.append(np.mean((fit & inside).sum(axis=1) == 1) - np.mean((fit & ~inside).sum(axis=1) == 1))
    n = len(told)
    value, half = sum(mine) / n - sum(theirs) / n, 1.96 * float(np.std(draws))
    assert sum(mine) == n and 0 < sum(theirs) < n  # the release is the original
    assert 40 < n < 500  # as many descriptions as people at least: nobody is beyond their reach
    alone = fit[:, :40][np.array(mine)].any(axis=0)  # each of these descriptions fits one of them
    assert 0 < alone.sum() < 40
    assert assess(release, only=["singling"]).records["singling"].to_list() == alone.astype(float).tolist()
    assert agrees(found, naive.Judged(value, 0.0, n, value - half, min(1.0, value + half), slack=0.15 * half))


@pytest.mark.parametrize("outside", ["control", "unreleased"])
def test_membership(outside):
    """Members against strangers, by the attack that is the best on the other half of them."""
    rng = np.random.default_rng(1)
    table, strangers = (  # no two rents are equal: equal scores would be told apart by their last bit
        side.with_columns(rent=pl.col("rent") + pl.Series(rng.normal(0, 0.1, side.height)))
        for side in (people(50), people(40, 7))
    )
    near = table.with_columns(
        age=pl.col("age") + pl.Series(rng.choice([0.0, 0.0, 1.0, -3.0], 50)),
        rent=pl.col("rent") + pl.Series(rng.normal(0, 0.4, 50)),
    )
    if outside == "control":
        release = given(table, near, control=strangers, epsilon=0.1).release
    else:
        both = pl.concat([table, strangers]).with_columns(id=pl.int_range(90))
        release = given(both, near.with_columns(id=pl.int_range(50)), id="id", epsilon=0.1).release
    members, strangers, rows = (
        sorted(side.to_dicts(), key=lambda r: (r["age"], r["rent"], r["town"])) for side in (table, strangers, near)
    )
    lot = np.random.default_rng(seed_of("membership"))
    half = np.isin(np.arange(40), lot.permutation(40)[:20]).astype(int)
    sides = [*lot.integers(0, 2, 50).tolist(), *(1 - half).tolist()]
    everybody = [*members, *strangers]

    def nearest(asking, asked):
        return twin.nearest_of(asking, asked, everybody, rows, NUMBERS, WORDS)[0]

    halves = [nearest(everybody, [s for s, h in zip(strangers, half, strict=True) if h == k]) for k in (0, 1)]
    sd = {name: naive.mean_and_sd([row[name] for row in everybody])[1] for name in NUMBERS}
    like = {
        name: lambda a, b, kernel=kernel: slow.likeness(a, b, NUMBERS, WORDS, sd, kernel)
        for name, kernel in slow.KERNELS.items()
    }
    attacks = {f"matching, {name}": slow.matched(everybody, rows, one) for name, one in like.items()}
    attacks["density ratio"] = slow.density_ratio(everybody, rows, like["noise"])
    attacks["closest record"] = twin.log_ratios(
        [halves[side][i] for i, side in enumerate(sides)], nearest(everybody, rows)
    )
    lot = np.random.default_rng([seed_of("membership"), 3])
    split = [np.isin(np.arange(k), lot.permutation(k)[: k // 2]).astype(int).tolist() for k in (50, 40)]
    broad, sure = (slow.chosen(attacks, split, worth) for worth in (slow.by_area, slow.by_few_alarms))
    area, share = twin.told_apart(*broad)[0], twin.told_apart(*sure)[1]
    wider = [area.value + 1.2 * (end - area.value) for end in (area.low, area.high)]
    found = judged(release, "membership")
    assert 0.5 < area.value < 1
    assert agrees(found["membership.auc"], area._replace(low=wider[0], high=min(1.0, wider[1])))
    higher = share.value + 1.4 * (share.high - share.value)
    assert agrees(found["membership.tpr"], share._replace(high=min(1.0, higher)))
    claim = slow.beyond_claim(sure, split, 0.1)
    assert 0.01 < claim.value < 1
    assert agrees(found["membership.claim"], claim)


@pytest.mark.skipif(config.DISABLE_JIT, reason="the attack takes minutes in plain Python")
def test_graph():
    """Who has a name of their own is found; two of one name at one place share; who has no place is not asked for."""
    from unmask.datasets.places import people as town

    table = town(30, np.random.default_rng(3)).with_columns(id=pl.int_range(30), name=pl.int_range(30).cast(str))
    twins = table.with_columns(pl.col(name).gather([*range(29), 28]) for name in ("lon", "lat", "name"))
    blank = twins.with_columns(lon=pl.when(pl.col("id") > 3).then("lon"))
    case = given(twins, blank, id="id", coordinates=("lon", "lat"), quasi=["name"])
    found = judged(case.release, "graph")["graph.rate"]
    assert agrees(found, naive.rate([1.0] * 24 + [0.5, 0.5], 1 / 26))
