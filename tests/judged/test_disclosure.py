"""What the findings of disclosure/ say, recomputed person by person."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judged.tables import agrees, different_people, given, judged, seed_of
from naive import disclosure as definitions
from naive import judged as naive
from naive import judged_disclosure as twin
from unmask import absent_disclosure
from unmask.disclosure.denoise import denoised
from unmask.evidence.estimate import exact, excess, excess_over_control

NUMBERS, WORDS = ["age", "rent"], ["sex", "town"]
AMOUNTS = {"wage"}
CODED = np.array([False, False, True, True])  # of what is known


def people(n=60, seed=0):
    """Two numbers and two categories that are known; a wage and an illness that follow from them, somewhat."""
    rng = np.random.default_rng(seed)
    age, rent = rng.integers(20, 60, n).astype(float), np.round(rng.normal(8, 2, n) * 8) / 8
    town = rng.choice(["ash", "elm", "oak"], n)
    return pl.DataFrame(
        {
            "age": age,
            "rent": rent,
            "sex": rng.choice(["f", "m"], n),
            "town": town,
            "wage": np.round((age / 10 + rent / 4 + rng.normal(0, 0.7, n)) * 8) / 8,
            "ill": np.where(rng.random(n) < 0.5, np.where(age > 40, "gout", "flu"), rng.choice(["none", "flu"], n)),
        }
    )


def masked(table, seed=1):
    rng = np.random.default_rng(seed)
    n = table.height
    moved = pl.Series(rng.random(n) < 0.25)
    return table.with_columns(
        (pl.col(name) + pl.Series(np.round(rng.normal(0, sd, n) * 8) / 8)).alias(name)
        for name, sd in (("age", 4.0), ("rent", 1.0), ("wage", 0.3))
    ).with_columns(
        pl.when(moved).then(pl.col(name).gather(rng.permutation(n))).otherwise(name).alias(name)
        for name in ("town", "ill")
    )


def case_of(other=False, n=60, seed=0, **roles):
    table = people(n, seed)
    if other:
        return given(*different_people(table, masked(table), seed=seed), id="id", **roles)
    return given(table, masked(table), **roles)


@pytest.mark.parametrize("other", [False, True])
def test_intervals(other):
    """The share of widths from 1 to 20 % whose window holds the value, over attributes; chance: anybody's window."""
    table = people(24).with_columns(wage=pl.when(pl.int_range(24) % 9 != 4).then("wage"))
    released = masked(people(24))
    roles = {"confidential": ["wage", "rent"]}
    case = given(*different_people(table, released), id="id", **roles) if other else given(table, released, **roles)
    pairs = {
        name: [(case.original[i][name], case.released[case.truth[i]][name]) for i in case.people]
        for name in ("wage", "rent")
    }
    found = judged(case.release, "intervals")
    assert agrees(found["intervals.rank"], twin.intervals(pairs, twin.BY_RANK))
    assert agrees(found["intervals.sd"], twin.intervals(pairs, twin.BY_SD))


def test_intervals_denoised():
    """The same around what the whole record lets one estimate; by chance as around what is published."""
    table = people(60)
    released = masked(table).with_columns(wage=pl.col("wage") + pl.Series(np.random.default_rng(5).normal(0, 3, 60)))
    case = given(*different_people(table, released), id="id", confidential=["wage", "rent"], quasi=["age", *WORDS])
    own = [case.original[i] for i in case.people]
    rows = [case.released[case.truth[i]] for i in case.people]
    words = naive.by_content(WORDS, case.original, case.released)
    record = np.column_stack(
        [twin.matrix(rows, ["age", "wage", "rent"], [], {}), twin.indicators(rows, words, case.released)]
    )
    credits_ = np.zeros(len(own))
    for place, name in enumerate(("wage", "rent")):
        values, shown = (np.array([r[name] for r in side]) for side in (own, rows))
        estimate = denoised(values, shown, record, seed=seed_of("intervals") + place)
        assert name == "rent" or (estimate != shown).all()
        far = np.abs(values - estimate) / naive.mean_and_sd(values.tolist())[1]
        credits_ += [sum(gap <= p / 100 for p in range(1, 21)) / 20 / 2 for gap in far]
    found = judged(case.release, "intervals")
    wanted = naive.rate(credits_.tolist(), found["intervals.sd"].chance)
    assert agrees(found["intervals.denoised"], wanted)
    assert wanted.value != pytest.approx(found["intervals.sd"].value, abs=0.01)


@pytest.mark.parametrize("other", [False, True])
def test_values(other):
    """The share of categories that were published as they are; chance: two people of the files."""
    case = case_of(other, confidential=["ill", "town"])
    told, chances = [], []
    for name in ("ill", "town"):
        ours, theirs = zip(
            *((case.original[i][name], case.released[case.truth[i]][name]) for i in case.people), strict=True
        )
        told.append([float(a == b) for a, b in zip(ours, theirs, strict=True)])
        chances.append(definitions.marginal_agreement(ours, theirs))
    credits_ = [sum(person) / 2 for person in zip(*told, strict=True)]
    assert agrees(judged(case.release, "values")["values.rate"], naive.rate(credits_, sum(chances) / 2))


def cells(case, secrets, reach):
    """For each person: whether outsiders learn a value from the group, whether one member does, and blind guesses."""
    outside, inside, blind, left = [], [], [], []
    for i, row in enumerate(case.original):
        group = [r for r in case.released if (r["sex"], r["town"]) == (row["sex"], row["town"])]
        told = [(0.0, 0.0, 0.0, 0.0)]
        for name in secrets:
            shown, truth = [r[name] for r in group], row[name]
            if not shown or truth is None or None in shown:
                continue
            if name == "ill":
                alike, own = len(set(shown)) == 1, shown[0] == truth
                places = (
                    [k for k, r in enumerate(group) if r is case.released[case.truth[i]]]
                    if case.truth[i] is not None
                    else []
                )
                member = places[0] if places and shown[places[0]] == truth else None
                if member is None and truth in shown:
                    member = shown.index(truth)
                learnt = member is not None and definitions.learnt_by_insiders(shown, member, 1)
                level = sum(r[name] == shown[0] for r in case.original) / len(case.original)
            else:
                low, high = min(shown), max(shown)
                alike, own = high - low <= reach, abs(truth - (low + high) / 2) <= reach
                far = [abs(v - truth) > reach for v in shown]
                learnt = len(shown) > 1 and sum(far) <= 1 and not all(far)
                level = sum(low - reach <= r[name] <= high + reach for r in case.original) / len(case.original)
            external = float(alike and own)
            internal = max(external if len(shown) > 1 else 0.0, float(learnt))
            guess = anybody(case.original, name, truth, reach) if internal else 0.0
            if not internal and len(shown) > 1:
                common = sorted(shown)[len(shown) // 2]
                odd = sum(not same(value, common, reach) for value in shown)
                guess = anybody(case.original, name, common, reach) if odd <= 1 else 0.0
            told.append((external, internal, level if alike else 0.0, guess))
        best = [max(side) for side in zip(*told, strict=True)]
        outside.append(best[0])
        inside.append(best[1])
        blind.append(best[2])
        left.append(best[3])
    return outside, inside, blind, left


def same(a, b, reach):
    return a == b if isinstance(a, str) else abs(a - b) <= reach


def anybody(people, name, value, reach):
    """Share of people for whom the value is right."""
    return sum(same(row[name], value, reach) for row in people) / len(people)


@pytest.mark.parametrize("secrets", [["ill"], ["wage"], ["ill", "wage"]])
@pytest.mark.parametrize("other", [False, True])
def test_cells(secrets, other):
    """Groups of sex and town with one illness, or wages within a tenth of an sd; groups of one give nothing inside."""
    towns = list("aabbbcccdeeffffgghhhiijk")
    n = len(towns)
    ill = [{"f": "flu", "g": "gout", "n": "none"}[letter] for letter in "ffgggffngnfnnngffgfngnff"]
    wage = [1, 1, 5, 5.125, 5, 7, 7, 2, 4, 3, 6, 9, 9, 9, 1, 8, 8.125, 2, 6, 5, 4, 4, 3, 7]
    sex = pl.when(pl.int_range(n) > 20).then(pl.lit("m")).otherwise(pl.lit("f"))
    table = pl.DataFrame({"town": towns, "ill": ill, "wage": [float(w) for w in wage]}).with_columns(sex=sex)
    released = table.with_columns(
        ill=pl.when(pl.int_range(n) == 6).then(pl.lit("gout")).otherwise("ill"),
        wage=pl.when(pl.int_range(n) == 12)
        .then(pl.lit(3.5))
        .when(pl.int_range(n).is_between(15, 16))
        .then(pl.int_range(n) - 14.0)
        .otherwise("wage"),  # of two people in one group neither is what was published
    )
    roles = {"quasi": ["sex", "town"], "confidential": secrets}
    case = (
        given(*different_people(table, released, absent=1), id="id", **roles)
        if other
        else given(table, released, **roles)
    )
    reach = 0.1 * naive.mean_and_sd(wage)[1]
    outside, inside, blind, left = cells(case, secrets, reach)
    found = judged(case.release, "cells")
    level, within = (sum(case.of(guess)) / len(case.people) for guess in (blind, left))
    assert 0 < level < within < 1 and 0 < sum(case.of(outside)) < len(case.people)
    assert agrees(found["cells.external"], naive.rate(case.of(outside), level))
    assert agrees(found["cells.internal"], naive.rate(case.of(inside), within))


def test_people_with_a_value_that_few_have():
    """Of the ill, a third of everybody, those in a town where all are ill."""
    towns, ill = "aaabbbcccdddeeefff", "yyynnnynnnnnynnnny"
    table = pl.DataFrame({"town": list(towns), "ill": list(ill)})
    case = given(table, table, quasi=["town"], confidential=["ill"])
    few = [i for i in range(len(ill)) if ill.count(ill[i]) < len(ill) / 2]
    told = [all(ill[j] == ill[i] for j in range(len(ill)) if towns[j] == towns[i]) for i in few]
    found = judged(case.release, "cells")["cells.rare"]
    blind = sum(ill.count("y") / len(ill) for yes in told if yes) / len(few)
    assert found == exact(sum(told) / len(few), n=len(few), chance=pytest.approx(blind))  # a fact: no sampling
    assert 0 < found.value < 1


@pytest.mark.parametrize("digits", [9, 0])
def test_cells_of_means(digits):
    """A mean in place of wages: the total follows, and the largest other member takes their own away."""
    groups = {"a": [100.0, 50.0, 2.0], "b": [40.0, 50.0, 60.0], "c": [80.0, 1.0], "d": [9.0, 9.0, 9.0, 30.0]}
    table = pl.DataFrame([(g, w) for g, wages in groups.items() for w in wages], schema=["town", "wage"], orient="row")
    released = table.with_columns(wage=pl.col("wage").mean().over("town").round(digits))
    case = given(table, released, quasi=["town"], confidential=["wage"])
    reach = 0.1 * naive.mean_and_sd(table["wage"].to_list())[1]
    outside, inside, left = [], [], []
    for wages in groups.values():
        mean = round(sum(wages) / len(wages), digits)
        for person, wage in enumerate(wages):
            near = abs(wage - mean) <= reach
            outside.append(float(near))
            inside.append(float(near or definitions.bounded_by_insiders(wages, person, 1, 10.0)))
            left.append(anybody(case.original, "wage", wage if inside[-1] else mean, reach))
    found = judged(case.release, "cells")
    assert found["cells.external"].value == pytest.approx(sum(outside) / 12)
    assert agrees(found["cells.internal"], naive.rate(inside, sum(left) / 12))
    assert sum(inside) > sum(outside)


def task(case, secret, secrets):
    """Matrices of what is known and wanted, for those in the release: own values, released values, both secrets."""
    words = [*WORDS, *(["ill"] if "ill" in secrets else [])]
    own_rows = [case.original[i] for i in case.people]
    rows = [case.released[case.truth[i]] for i in case.people]
    books = twin.codebooks(words, case.original, case.released)
    known, released = (twin.matrix(side, NUMBERS, WORDS, books) for side in (own_rows, rows))
    numeric = secret in AMOUNTS
    side = ([secret], []) if numeric else ([], [secret])
    there = secret in case.release.released.columns
    wanted = twin.matrix(own_rows, *side, books)[:, 0]
    published = twin.matrix(rows, *side, books)[:, 0] if there else wanted
    shared = [name for name in secrets if name in case.release.released.columns]
    more = [name for name in shared if name in AMOUNTS], [name for name in shared if name not in AMOUNTS]
    ordered = [twin.matrix(s, [*NUMBERS, *more[0]], [*WORDS, *more[1]], books) for s in (own_rows, rows)]
    tolerance = 0.1 * naive.mean_and_sd([r[secret] for r in case.original])[1] if numeric else 0.0
    return known, released, wanted, published, ordered, tolerance


@pytest.mark.parametrize(("secrets", "other"), [(["ill"], False), (["ill", "wage"], True)])
def test_model(secrets, other):
    """Right with one's own row among what was learnt, less without it; the worst of attributes and learners."""
    case = case_of(other, confidential=secrets, quasi=[*NUMBERS, *WORDS])
    seed = seed_of("model")
    options = []
    for secret in secrets:
        known, released, wanted, published, ordered, tolerance = task(case, secret, secrets)
        fold = twin.folds(*ordered, 3, seed)
        kinds = secret in AMOUNTS, CODED
        for kind in ("boosting", "tree"):
            present = twin.same(twin.learnt(kind, kinds, released, published, known, seed), wanted, tolerance)
            absent = np.zeros(len(wanted))
            for part in range(3):
                mine = fold == part
                guess = twin.learnt(kind, kinds, released[~mine], published[~mine], known[mine], seed)
                absent[mine] = twin.same(guess, wanted[mine], tolerance)
            options.append(excess(np.array(present), absent, seed=seed, among=2 * len(secrets)))
    worst = max(options, key=lambda option: (option.value, option.low))
    assert worst.value > 0
    assert judged(case.release, "model")["model.excess"] == worst


@pytest.mark.parametrize(("secrets", "there"), [(["wage"], False), (["ill"], True), (["ill", "wage"], True)])
def test_absent(secrets, there):
    """A model of the release, asked about everybody, beside models that were learnt without the fifth who are asked."""
    table = people(80, seed=2)
    released = masked(table) if there else masked(table).drop(secrets)
    keep = [*NUMBERS, *WORDS, *secrets]
    case = given(
        *different_people(table.select(keep), released.select([n for n in keep if n in released.columns])),
        id="id", confidential=secrets,
    )  # fmt: skip
    seed = seed_of("absent")
    options, ddmbar = [], absent_disclosure(case.release, seed=seed)
    for secret in secrets:
        known, rows, wanted, published, ordered, tolerance = task(case, secret, secrets)
        part = twin.folds(*ordered, 5, seed + 2)
        kinds = secret in AMOUNTS, CODED
        present = twin.learnt("boosting", kinds, rows, published, known, seed)
        without = np.zeros(len(wanted))
        for k in range(5):
            mine = part == k
            without[mine] = twin.learnt("boosting", kinds, rows[~mine], published[~mine], known[mine], seed)
        right, anyhow = twin.same(present, wanted, tolerance), twin.same(without, wanted, tolerance)
        options.append(excess(np.array(right), np.array(anyhow), seed=seed, among=len(secrets)))
        truth = twin.learnt("boosting", kinds, known, wanted, known, seed)
        guess = twin.learnt("boosting", kinds, rows, published, rows, seed)  # V(x) = V'(x')
        told = next(entry for entry in ddmbar.attributes if entry.name == secret)
        assert told.agreement.value == pytest.approx(np.mean(twin.same(truth, guess, tolerance)))
    worst = max(options, key=lambda option: (option.value, option.low))
    assert judged(case.release, "absent")["absent.excess"] == worst


@pytest.mark.parametrize("secrets", [["ill"], ["wage"], ["ill", "wage"]])
@pytest.mark.parametrize("pairs", [True, False])
def test_inference(secrets, pairs):
    """The nearest rows tell the truth about so many people in the release, and so many outside."""
    table, control = people(50), people(30, seed=8)
    case = given(
        table, masked(table), control=control, confidential=secrets, quasi=[*NUMBERS, *WORDS], synthetic=not pairs
    )
    options = []
    for secret in secrets:
        tolerance = 0.1 * naive.mean_and_sd(table[secret].to_list())[1] if secret in AMOUNTS else None
        everybody = [*case.original, *control.to_dicts()]
        credits_ = twin.read_off(everybody, case.released, (NUMBERS, WORDS), secret, tolerance)
        mine, others = np.array(credits_[:50]), np.array(credits_[50:])
        options.append(excess_over_control(mine, others, seed=seed_of("inference"), among=len(secrets)))
        assert agrees(options[-1], twin.over_control(mine.tolist(), others.tolist(), among=len(secrets)))
    worst = max(options, key=lambda option: (option.value, option.low))
    assert 0 < worst.value < 1
    assert judged(case.release, "inference")["inference.excess"] == worst
