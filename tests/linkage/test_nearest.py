from __future__ import annotations

import json

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import definitions as naive
from reference import REFERENCE, data, golden
from strategies import pairs
from unmask import Release, datasets, link_nearest, parse_masking
from unmask.errors import EngineError, ParameterError, RoleError
from unmask.evidence.measure import Context
from unmask.linkage.learned.measure import assess_learned
from unmask.linkage.nearest import (
    anonymity_sets,
    assess_nearest,
    best_scale,
    claimed_of_control,
    largest_of_scales,
    true_ranks,
)
from unmask.linkage.one_to_one import assess_global
from unmask.shares import percent
from unmask.study.metric import METRICS, build_space
from unmask.study.study import Study
from unmask.tables.encode import encode


@given(pairs(complete=True), st.sampled_from(METRICS))
def test_equals_definition(tables, metric):
    release = Release(*tables)
    linkage = link_nearest(release, metric=metric)
    space = build_space(encode(release), metric=metric)
    for i in range(tables[0].height):
        ties = naive.tie_set(space, i)
        assert linkage.tie_sizes[i] == len(ties)
        assert linkage.links[i] in ties
        assert linkage.credit[i] == naive.credit(space, release.truth, i)
        assert (linkage.margin[i] == 0) or len(ties) == 1


@given(pairs())
def test_equals_definition_with_missing_values(tables):
    release = Release(*tables)
    for metric in ("euclidean", "gower", "chebyshev"):
        space = build_space(encode(release), metric=metric)
        expected = [naive.credit(space, release.truth, i) for i in range(tables[0].height)]
        assert link_nearest(release, metric=metric).credit.tolist() == expected


@given(pairs(complete=True), st.sampled_from(METRICS), st.randoms())
def test_row_order_changes_no_risk(tables, metric, random):
    numbered = [table.with_row_index("id") for table in tables]
    orders = [random.sample(range(tables[0].height), tables[0].height) for _ in range(2)]
    straight = link_nearest(Release(*numbered, id="id"), metric=metric)
    shuffled = link_nearest(Release(numbered[0][orders[0]], numbered[1][orders[1]], id="id"), metric=metric)
    assert shuffled.credit.tolist() == straight.credit[orders[0]].tolist()
    assert shuffled.estimate == straight.estimate


@given(pairs(complete=True), st.sampled_from(METRICS), st.sampled_from(["to_release", "to_original"]))
def test_bounds(tables, metric, direction):
    linkage = link_nearest(Release(*tables), metric=metric, direction=direction)
    assert ((linkage.credit >= 0) & (linkage.credit <= 1)).all()
    assert linkage.credit.max() <= 1 / linkage.tie_sizes[linkage.credit.argmax()] + 1e-15
    assert (linkage.margin >= 0).all()
    estimate = linkage.estimate
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert linkage.known().value <= 1


@given(pairs(complete=True), st.sampled_from(METRICS))
def test_a_copy_is_found_up_to_its_duplicates(tables, metric):
    """The credit of a record in a copy is at least 1 over the number of records at distance 0, never less."""
    original = tables[0]
    release = Release(original, original)
    linkage = link_nearest(release, metric=metric)
    assert (linkage.credit == 1 / linkage.tie_sizes).all()
    assert linkage.distances.max() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_a_stranger_is_at_chance(metric):
    rng = np.random.default_rng(11)
    total = 0.0
    for trial in range(30):
        tables = [pl.DataFrame(rng.normal(size=(60, 3)), schema=["a", "b", "c"]) for _ in range(2)]
        total += link_nearest(Release(*tables), metric=metric, seed=trial).credit.sum()
    assert total == pytest.approx(30, abs=4 * np.sqrt(30))  # one in 60 of 30 * 60 attempts


@pytest.mark.casc
@pytest.mark.parametrize(
    ("name", "metric", "scale"),
    [("euclidean_std", "euclidean", "original"), ("manhattan", "manhattan", "none"), ("gower", "gower", "own")],
)
def test_agrees_with_a_second_tool(name, metric, scale):
    """sdcMicro 5.8.1 (golden/README.md): nearest_neighbour_correct, in file order and permuted."""
    wanted = json.loads((REFERENCE / "golden/scalars.json").read_text())["recordLinkage"][f"census300_{name}"]
    x, y = golden("rl_census300_x"), golden("rl_census300_y")
    moved = Release(x.with_row_index("id", offset=1), golden("rl_census300_y_permuted"), id="id")
    for release in (Release(x, y), moved):
        estimate = link_nearest(release, metric=metric, scale=scale).estimate
        assert estimate.value == pytest.approx(wanted["nearest_neighbour_correct"], abs=1e-12)


@pytest.mark.parametrize("decision_only", [False, True])
def test_nothing_is_nearer_than_the_nearest(decision_only):
    """The search is exact: no gap to the least total distance, which is the sum of each person's least."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"a": rng.normal(size=12), "b": rng.normal(size=12)})
    masked = table + pl.DataFrame({"a": rng.normal(0, 0.5, 12), "b": rng.normal(0, 0.5, 12)})
    linkage = link_nearest(Release(table, masked), scale="none", decision_only=decision_only)
    far = np.sqrt(((table.to_numpy()[:, None] - masked.to_numpy()[None]) ** 2).sum(axis=2))
    assert linkage.optimal and linkage.gap == 0.0
    if not decision_only:
        assert linkage.total_distance == pytest.approx(far.min(axis=1).sum())
        near, second = np.sort(far, axis=1)[:, :2].T
        assert linkage.margin == pytest.approx(second - near)


@pytest.mark.casc
def test_ties_are_not_won_by_file_order():
    """Rounded so coarsely that many records are equal: a solver that breaks ties by row number would find them all."""
    census = data("census").select((pl.all() > pl.all().median()).cast(pl.Float64))
    linkage = link_nearest(Release(census, census))
    assert (linkage.tie_sizes > 1).mean() > 0.5
    assert linkage.estimate.value == pytest.approx(np.mean(1 / linkage.tie_sizes))
    assert linkage.estimate.value < 0.5


def test_a_release_of_fewer_people():
    people = datasets.census(200).with_row_index("id")
    linkage = link_nearest(Release(people, people[:50].sample(50, shuffle=True, seed=1), id="id"), scale="original")
    assert linkage.attempted.sum() == 50
    assert linkage.estimate.n == 50
    assert linkage.estimate.value == 1.0
    assert (linkage.credit[50:] == 0).all()
    assert linkage.chance == 1 / 50


def test_directions_answer_different_questions():
    """Two people close together, one of them moved: x1 is nearest to y1, but y2 is nearest to x1 as well."""
    original = pl.DataFrame({"a": [0.0, 10.0]})
    released = pl.DataFrame({"a": [0.5, 4.5]})
    release = Release(original, released)
    there = link_nearest(release, scale="none")
    back = link_nearest(release, scale="none", direction="to_original")
    assert there.credit.tolist() == [1.0, 1.0]
    assert back.credit.tolist() == [1.0, 0.0]
    assert back.per_record(2).tolist() == [1.0, 0.0]
    with pytest.raises(ParameterError, match="did you mean 'to_release'"):
        link_nearest(release, direction="to_releas")


def test_more_noise_finds_fewer():
    people = datasets.census(300)
    found = [
        link_nearest(Release(people, parse_masking(f"noise({k})").apply(people, 1))).estimate.value
        for k in (0.05, 0.5, 2.0)
    ]
    assert found[0] > 0.95
    assert found[0] > found[1] > found[2]


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"a": [1.5]}),
        pl.DataFrame({"a": [1.5] * 7, "b": ["x"] * 7}),
        pl.DataFrame({f"c{i}": [float(i), 2.5] for i in range(20)}),
    ],
    ids=["one record", "all equal", "more attributes than rows"],
)
@pytest.mark.parametrize("metric", METRICS)
def test_degenerate_tables_are_answered(table, metric):
    linkage = link_nearest(Release(table, table), metric=metric)
    assert linkage.estimate.value == pytest.approx(1 / linkage.tie_sizes[0])


def test_same_seed_same_bits_and_links_drawn_among_ties():
    table = pl.DataFrame({"a": [1.5, 2.5] * 30})
    one, two, three = (link_nearest(Release(table, table), seed=seed) for seed in (1, 1, 2))
    assert one.links.tolist() == two.links.tolist() != three.links.tolist()
    assert one.estimate.value == three.estimate.value
    assert len(set(one.links[::2].tolist())) > 5  # not always the first row


def test_evidence():
    people = datasets.patients(150, seed=3).drop("patient")
    masked = parse_masking("noise(0.3)").apply(people, 1)
    evidence = assess_nearest(Study(Release(people, masked, confidential=["diagnosis"])), Context(seed=1))
    assert [o.key for o in evidence.observations] == ["nearest.rate", "nearest.known"]
    assert evidence.per_record.shape == (150,)
    assert {name for name, _ in evidence.attributes} == set(people.columns) - {"diagnosis"}
    assert evidence.figures[0].series[0].x[-1] == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_the_better_direction_is_judged(seed):
    people = datasets.census(150, seed=seed)
    masked = parse_masking("noise(0.6)").apply(people, seed)
    release = Release(people, masked)
    there, back = (link_nearest(release, direction=way) for way in ("to_release", "to_original"))
    evidence = assess_nearest(Study(release), Context())
    best = max(there, back, key=lambda linkage: linkage.estimate.value)
    assert evidence.observations[0].estimate.value == best.estimate.value
    assert evidence.observations[1].estimate.value >= there.known().value
    assert evidence.per_record.tolist() == best.per_record(150).tolist()
    facts = {fact.name: fact.value for fact in evidence.facts}
    assert facts["found when people ask"] == there.estimate.value
    assert facts["found when the release asks"] == back.estimate.value


def test_risks_of_the_other_direction_are_those_of_the_people():
    """The release is turned round and holds fewer records: each risk stands at its own person."""
    people = datasets.census(120, seed=3).with_row_index("id")
    masked = parse_masking("noise(0.6)").apply(people.drop("id"), 2).insert_column(0, people["id"])
    release = Release(people, masked[::-1][:90], id="id")
    evidence = assess_nearest(Study(release), Context())
    assert "nearest person" in evidence.observations[0].claim
    assert evidence.observations[0].estimate.n == 90
    assert evidence.per_record[release.paired_rows].mean() == pytest.approx(evidence.observations[0].estimate.value)
    strangers = Release(people[:60], masked, id="id")  # most records are of others: they would be given away as well
    assert "taking the nearest one" in assess_nearest(Study(strangers), Context()).observations[0].claim


def test_an_attribute_that_gives_people_away_matters_most():
    rng = np.random.default_rng(2)
    base = pl.DataFrame({"clear": rng.normal(size=200), "noisy": rng.normal(size=200), "flat": np.ones(200)})
    masked = base.with_columns(noisy=pl.col("noisy") + pl.Series(rng.normal(size=200) * 2))
    evidence = assess_nearest(Study(Release(base, masked)), Context())
    gains = dict(evidence.attributes)
    assert max(gains, key=gains.get) == "clear"
    assert gains["flat"] == 0


@given(pairs(complete=True), st.sampled_from(METRICS), st.sampled_from(["to_release", "to_original"]))
def test_the_decision_alone_gives_the_same_credits(tables, metric, direction):
    release = Release(*tables)
    whole = link_nearest(release, metric=metric, direction=direction)
    quick = link_nearest(release, metric=metric, direction=direction, decision_only=True)
    assert quick.credit.tolist() == whole.credit.tolist()
    assert quick.estimate == whole.estimate
    assert (quick.links == -1).all()
    assert quick.tie_sizes[whole.credit > 0].tolist() == whole.tie_sizes[whole.credit > 0].tolist()


@given(pairs(complete=True))
def test_ranks_and_anonymity_sets_equal_their_definitions(tables):
    release = Release(*tables)
    space = build_space(encode(release))
    n = tables[0].height
    closer = [
        min(
            3,
            sum(naive.distance(space, i, j) * (1 + 1e-9) + space.floor < naive.distance(space, i, i) for j in range(n)),
        )
        for i in range(n)
    ]
    assert true_ranks(release, cap=3).tolist() == closer
    assert [rows.tolist() for rows in anonymity_sets(release)] == [naive.tie_set(space, i) for i in range(n)]
    last = np.array([n - 1])
    assert anonymity_sets(release, people=last)[0].tolist() == naive.tie_set(space, n - 1)
    with pytest.raises(ParameterError, match="from 1"):
        true_ranks(release, cap=0)


def test_sampled_intruders_have_an_interval_that_covers():
    people = datasets.census(1500, seed=3).with_row_index("id")
    masked = parse_masking("noise(0.7)").apply(people.drop("id"), 1).with_row_index("id")
    release = Release(people, masked, id="id")
    whole = link_nearest(release, decision_only=True).estimate.value
    covered = 0
    for seed in range(20):
        sampled = link_nearest(release, sample=200, seed=seed, decision_only=True)
        assert sampled.estimate.n == sampled.asked.sum() == 200
        covered += sampled.estimate.low <= whole <= sampled.estimate.high
    assert covered >= 17
    risk = sampled.per_record(1500)
    assert np.isnan(risk).sum() == 1300
    order = np.random.default_rng(0).permutation(1500)
    moved = link_nearest(Release(people[order], masked, id="id"), sample=200, seed=19, decision_only=True)
    assert moved.estimate == sampled.estimate
    assert link_nearest(release, sample=10**6).asked is None
    with pytest.raises(ParameterError, match="at least one person"):
        link_nearest(release, sample=0)


def test_threads_change_nothing():
    people = datasets.patients(3000, seed=2).drop("patient")
    release = Release(people, parse_masking("noise(0.5)").apply(people, 1))
    before = numba.get_num_threads()
    try:
        results = []
        for threads in (1, 2):
            numba.set_num_threads(min(threads, before))
            results.append(link_nearest(release))
    finally:
        numba.set_num_threads(before)
    for name in ("links", "distances", "credit", "margin", "tie_sizes"):
        assert np.array_equal(getattr(results[0], name), getattr(results[1], name)), name


def test_memory_is_looked_at_before_a_long_run(monkeypatch):
    monkeypatch.setattr("unmask.study.memory.available_memory", lambda: 1000)
    people = datasets.census(50)
    with pytest.raises(EngineError, match=r"would need(?s:.*)sample="):
        link_nearest(Release(people, people))


@pytest.mark.parametrize(("left", "right"), [(10, 5000), (5000, 10)])
def test_sizes_far_apart(left, right):
    people = datasets.census(5000).with_row_index("id")
    linkage = link_nearest(Release(people[:left], people[:right], id="id"), scale="none")
    assert linkage.estimate.n == 10
    assert linkage.estimate.value == 1.0


def test_many_attributes_and_many_duplicates():
    rng = np.random.default_rng(0)
    wide = pl.DataFrame(rng.normal(size=(150, 200)), schema=[f"c{i}" for i in range(200)])
    assert link_nearest(Release(wide, wide)).estimate.value == 1.0
    same = pl.DataFrame({"a": np.ones(100_000) * 1.5, "b": np.ones(100_000) * 2.5})
    assert link_nearest(Release(same, same)).estimate.value == pytest.approx(1e-5)


def test_people_outside_the_file_show_what_a_claim_is_worth():
    people, strangers = datasets.census(300, seed=1), datasets.census(200, seed=2)
    masked = parse_masking("noise(0.1)").apply(people, 1)
    known = assess_nearest(Study(Release(people, masked, control=strangers)), Context()).observations[1].estimate
    assert known.value > 0.9
    assert 0 <= known.control < known.value
    assert assess_nearest(Study(Release(people, masked)), Context()).observations[1].estimate.control is None
    same = assess_nearest(Study(Release(people, masked, control=people)), Context()).observations[1].estimate
    assert same.control == pytest.approx(same.value, abs=0.02)  # the very people of the file are claimed as often
    with pytest.raises(RoleError, match="control"):
        Release(people, masked, control=strangers.drop("wages"))


def few_of_many():
    """Twelve people, and a lightly masked release of four hundred."""
    people = datasets.census(400, seed=2).with_row_index("id")
    masked = parse_masking("noise(0.05)").apply(people.drop("id"), 1).with_columns(people["id"])
    return people, masked, Release(people[:12], masked, id="id")


def test_files_of_different_people_are_linked_by_the_scale_that_finds_more():
    people, masked, few = few_of_many()
    rates = {scale: link_nearest(few, scale=scale).estimate.value for scale in ("own", "original", "released")}
    assert rates["own"] < rates["released"]  # twelve people have another mean and sd
    best = max(rates, key=rates.get)
    evidence = assess_nearest(Study(few), Context())
    assert evidence.observations[0].estimate == link_nearest(few, scale=best).estimate
    assert evidence.notes[-1].count("%") == 3
    assert f"by the release's {percent(rates['released'])}" in evidence.notes[-1]
    many = Release(people, masked.with_columns(pl.exclude("id") * 100), id="id")
    assert best_scale(Study(many), 0) == ("own", ())
    rescaled = Release(people[:300], many.released, id="id")  # one scale finds nobody there
    assert best_scale(Study(rescaled), 0)[0] == "own"


def test_what_is_told_beside_the_rate_has_the_scale_of_the_rate():
    """Control, attributes and facts are those of the attack that counts, not of one that finds fewer."""
    people, masked, _ = few_of_many()
    n = 40
    few = Release(people[:n], masked, id="id", control=people[300:])
    scale = best_scale(Study(few), 0)[0]
    assert scale != "own"
    evidence = assess_nearest(Study(few), Context())

    def told(scale):
        """The same numbers, each asked for alone."""
        both = link_nearest(few.with_control(), scale=scale)
        least = both.margin[np.argsort(-both.margin[:n])[: round(both.known().value * both.estimate.n)]].min(initial=9)
        whole = link_nearest(few, scale=scale).estimate.value
        names = [name for name in people.columns if name != "id"]
        fewer = [Release(people[:n].drop(name), masked.drop(name), id="id") for name in names]
        return {
            "control": float((both.margin[n:] >= least).mean()),
            **{k: whole - link_nearest(r, scale=scale).estimate.value for k, r in zip(names, fewer, strict=True)},
            "near": float((true_ranks(few, cap=10, scale=scale) < 10).mean()),
            "back": link_nearest(few, direction="to_original", scale=scale).estimate.value,
        }

    seen = {"control": evidence.observations[1].estimate.control, **dict(evidence.attributes)}
    seen |= {"near": evidence.facts[-2].value, "back": evidence.facts[-1].value}
    assert seen == pytest.approx(told(scale))
    other = told("own")
    for key in ("control", "near", "back"):
        assert seen[key] != pytest.approx(other[key])  # or this could not fail
    assert any(seen[name] != pytest.approx(other[name]) for name, _ in evidence.attributes)


def test_people_without_a_record_count_in_nothing_that_is_told():
    people, _, _ = few_of_many()
    masked = parse_masking("noise(0.8)").apply(people.drop("id"), 1).with_columns(people["id"])
    few = Release(people[:40], masked[10:90], id="id")
    scale = best_scale(Study(few), 0)[0]
    evidence = assess_nearest(Study(few), Context())
    ranks = true_ranks(few, cap=10, scale=scale)
    assert (ranks[:10] == -1).all()
    assert evidence.facts[-2].value == (ranks[10:] < 10).mean() < 1
    whole = link_nearest(few, scale=scale).estimate.value
    for name, gain in evidence.attributes:
        without = Release(people[:40].drop(name), masked[10:90].drop(name), id="id")
        assert gain == pytest.approx(whole - link_nearest(without, scale=scale).estimate.value)
    assert any(gain > 0 for _, gain in evidence.attributes)
    one = Release(people.select("wages"), masked.select("wages"))
    gain = link_nearest(one).estimate.value - 1 / 400
    assert dict(assess_nearest(Study(one), Context()).attributes) == pytest.approx({"wages": gain})


def test_the_very_people_of_the_file_are_claimed_as_often_as_they_are_known():
    people = datasets.census(120, seed=3)
    for noise in ("noise(0.3)", "noise(0.6)"):
        release = Release(people, parse_masking(noise).apply(people, 1), control=people)
        known = link_nearest(release.with_control()).known().value
        assert 0 < known < 1
        assert claimed_of_control(Study(release), 0) == known
    blind = Release(people, people.sample(fraction=1.0, shuffle=True, seed=1), control=people)
    assert link_nearest(blind.with_control()).known().value == 0
    assert claimed_of_control(Study(blind), 0) == 0


def test_another_scale_must_find_more_and_is_tried_whichever_file_is_larger():
    people, masked, _ = few_of_many()
    many = Release(people, masked.sort("wages")[:60], id="id")  # the release holds the poorest
    rates = {scale: link_nearest(many, scale=scale).estimate.value for scale in ("own", "original", "released")}
    assert rates["own"] < max(rates.values())
    assert rates[best_scale(Study(many), 0)[0]] == max(rates.values())
    same = Release(people[:300], people, id="id")  # not masked: all scales of both files find everybody
    assert link_nearest(same, scale="original").estimate.value == link_nearest(same).estimate.value == 1.0
    assert best_scale(Study(same), 0)[0] == "own"


@pytest.mark.parametrize(
    "cut", [lambda x, top: np.minimum(x, top), lambda x, top: np.where(np.arange(len(x)) % 20 == 0, 10 * top, x)]
)
def test_top_coded_numbers_and_sentinels_do_not_hide_people(cut):
    """Means and sds that masking changed are no hindrance: who is better informed never finds less."""
    known = np.exp(np.random.default_rng(0).normal(10, 1, (400, 3)))
    columns = [f"c{k}" for k in range(3)]
    masked = np.column_stack([cut(column, np.quantile(column, 0.95)) for column in known.T])
    release = Release(pl.DataFrame(known, schema=columns), pl.DataFrame(masked, schema=columns))
    rates = {scale: link_nearest(release, scale=scale).estimate.value for scale in ("own", "original", "released")}
    assert rates["own"] < 0.2 and max(rates.values()) > 0.8
    evidence = assess_nearest(Study(release), Context())
    assert evidence.observations[0].estimate.value >= max(rates.values())
    assert "masking changed means or deviations" in evidence.notes[-1]
    for others in (assess_global, assess_learned):
        assert others(Study(release), Context()).observations[0].estimate.value >= 0.8


def test_files_of_one_size_keep_their_own_scale_where_chance_explains_more():
    rates = {"own": 0.10, "original": 0.12, "released": 0.11}
    assert largest_of_scales(rates, 100) == ("own", ())
    assert largest_of_scales(rates, 10_000)[0] == "original"
    assert largest_of_scales(rates)[0] == "original"  # files of other sizes: the largest counts
    assert largest_of_scales({"own": 0.0, "original": 0.04, "released": 0.0}, 100) == ("own", ())
    assert largest_of_scales({"own": 0.0, "original": 0.05, "released": 0.0}, 100)[0] == "original"
    assert largest_of_scales({"own": 0.5}) == ("own", ())
    rng = np.random.default_rng(1)
    blind = [pl.DataFrame(rng.normal(size=(200, 2)) * sd, schema=["a", "b"]) for sd in (1, 3)]
    assert best_scale(Study(Release(*blind)), 0) == ("own", ())


def test_the_curve_of_equals_is_one_step():
    """Half of the people have one nearest record, half are copies of each other: nothing lies between."""
    table = pl.DataFrame({"a": [*np.arange(10.0) * 7 + 0.5, *[500.5] * 10]})
    figure = link_nearest(Release(table, table)).figure("links")
    line = figure.series[0]
    assert line.x[0] == 0.0
    assert line.y[0] == 1.0
    assert line.x[-2:] == (0.5, 1.0)
    assert line.y[-2:] == pytest.approx((1.0, 0.55))
