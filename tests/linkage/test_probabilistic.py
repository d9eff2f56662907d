from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from naive import linkage as naive
from reference import second_tool
from strategies import pairs
from unmask import Release, datasets, link_probabilistic, parse_masking
from unmask.errors import EngineError, ParameterError
from unmask.evidence.measure import Context
from unmask.kernels.pairs import patterns_by_groups, patterns_by_pairs, sums_by_groups
from unmask.kernels.weighing import Scale, pairs_above, weigh
from unmask.linkage.probabilistic.candidates import count_patterns
from unmask.linkage.probabilistic.levels import compare, shares_of_levels
from unmask.linkage.probabilistic.matching import proven_bound
from unmask.linkage.probabilistic.measure import assess_probabilistic
from unmask.linkage.probabilistic.model import Fitting, fit, ordered
from unmask.study.study import Study
from unmask.tables.encode import encode


def example(n=150, seed=7, cards=(12, 8, 20, 5), errors=(0.1, 0.2, 0.05, 0.15)):
    """The shared example of the comparison with the other tools: codes, some of them drawn anew."""
    rng = np.random.default_rng(seed)
    a = np.column_stack([rng.integers(0, c, n) for c in cards])
    b = a.copy()
    for k, (c, e) in enumerate(zip(cards, errors, strict=True)):
        hit = rng.random(n) < e
        b[hit, k] = rng.integers(0, c, int(hit.sum()))
    names = [f"c{k}" for k in range(len(cards))]
    return Release(*(pl.DataFrame(side.astype(str), schema=names) for side in (a, b)))


def two_files(n, seed, cards, *, missing=0.0):
    rng = np.random.default_rng(seed)
    sides = [np.column_stack([rng.integers(0, c, n) for c in cards]).astype(np.int32) for _ in range(2)]
    for side in sides:
        side[rng.random(side.shape) < missing] = -1
    return sides


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("n", [1, 7, 60])
def test_group_counts_equal_pair_counts(n, missing):
    for seed in range(8):
        cards = np.random.default_rng(seed).integers(1, 9, 1 + seed % 5)
        left, right = two_files(n, seed, cards, missing=missing)
        gaps = (left < 0).any(axis=0) | (right < 0).any(axis=0)
        by_groups = patterns_by_groups(left, right)
        floats = [np.where(side < 0, np.nan, side).astype(float) for side in (left, right)]
        m = len(cards)
        by_pairs = patterns_by_pairs(
            *floats, np.zeros((m, 1)), np.ones(m, dtype=np.int64), np.where(gaps, 3, 2).astype(np.int64)
        )
        assert by_groups.code.tolist() == by_pairs.code.tolist()
        assert by_groups.count.tolist() == by_pairs.count.tolist()
        assert by_groups.count.sum() == n * n


def test_fourteen_attributes_are_counted():
    left, right = two_files(300, 1, [3] * 14)
    found = patterns_by_groups(left, right)
    assert found.count.sum() == 300 * 300
    assert len(found.code) <= 2**14
    assert (found.count > 0).all()


@given(pairs())
@settings(max_examples=25)
def test_patterns_of_levels_equal_definition(tables):
    comparison = compare(encode(Release(*tables)))
    vectors = naive.comparison_vectors(comparison)
    patterns = count_patterns(comparison)
    digits, rest = [], patterns.code
    for radix in comparison.radix[::-1]:
        rest, digit = np.divmod(rest, radix)
        digits.append(digit)
    found = {tuple(int(d[g]) for d in digits[::-1]): int(c) for g, c in enumerate(patterns.count)}
    assert found == naive.pattern_counts(vectors)
    shares, errors = shares_of_levels(comparison)
    for k in range(len(comparison.names)):
        wanted = np.bincount(vectors[:, k], minlength=shares.shape[1]) / len(vectors)
        assert shares[k] == pytest.approx(wanted, abs=1e-12)
    assert (errors >= 0).all()


@pytest.mark.parametrize("learn", [False, True])
def test_em_equals_em_over_all_pairs(learn):
    release = example(40)
    comparison = compare(encode(release))
    model = fit(comparison, count_patterns(comparison), Fitting(prior="learn" if learn else None, tolerance=1e-13))
    vectors = naive.comparison_vectors(comparison)
    m, u, prior = naive.em(vectors, 2, 1 / 40, learn_prior=learn)
    assert model.m == pytest.approx(m, abs=1e-9)
    assert model.u == pytest.approx(u, abs=1e-9)
    assert model.prior == pytest.approx(prior, abs=1e-9)
    assert np.diff(model.likelihoods).min() > -1e-6  # the likelihood never falls


def test_em_with_bands_and_missing_values_equals_em_over_all_pairs():
    rng = np.random.default_rng(7)
    a = rng.normal(size=(50, 3))
    b = a + 0.3 * rng.normal(size=a.shape)
    a[rng.random(a.shape) < 0.1] = np.nan
    release = Release(*(pl.DataFrame(side, schema=["x", "y", "z"]).fill_nan(None) for side in (a, b)))
    comparison = compare(encode(release), widths={name: [0.1, 0.5] for name in "xyz"})
    model = fit(comparison, count_patterns(comparison), Fitting(each="pair", tolerance=1e-13))
    m, u, _ = naive.em(naive.comparison_vectors(comparison), 4, 1 / 50, missing=3)
    assert (np.diff((m / u)[:, :3], axis=1) < 0).all()  # else our order of levels, which the twin lacks, would bind
    assert model.m == pytest.approx(m, abs=1e-9)
    assert model.u == pytest.approx(u, abs=1e-9)
    assert model.levels[0] == ("within 0.1", "within 0.5", "different", "missing")


def test_em_of_people_equals_em_over_all_pairs():
    """Each person once: the same fixed point as EM written over the list of pairs (no level out of order here)."""
    rng = np.random.default_rng(4)
    a = rng.normal(size=(60, 3))
    b = a + 0.2 * rng.normal(size=a.shape)
    a[rng.random(a.shape) < 0.1] = np.nan
    release = Release(*(pl.DataFrame(side, schema=["x", "y", "z"]).fill_nan(None) for side in (a, b)))
    comparison = compare(encode(release), widths={name: [0.2, 0.6] for name in "xyz"})
    model = fit(comparison, count_patterns(comparison), Fitting(each="person", tolerance=1e-13))
    m, u = naive.em_of_people(naive.comparison_vectors(comparison), 4, 60)
    assert model.m == pytest.approx(m, abs=1e-9)
    assert model.u == pytest.approx(u, abs=1e-12)
    assert np.diff(model.likelihoods).min() > -1e-9
    errors = model.m_error[(model.m > 0.05) & (model.m < 0.95)]
    assert ((errors > 0.005) & (errors < 0.3)).all()
    assert fit(comparison, count_patterns(comparison), Fitting()).m == pytest.approx(m, abs=1e-4)  # bands: the default


def test_the_order_of_levels_holds_when_u_is_given():
    m, u = ordered(np.array([1.0, 3.0, 2.0]), np.array([9.0, 7.0, 90.0]), given=True)
    assert u.tolist() == [9.0, 7.0, 90.0]
    assert m.tolist() == pytest.approx([4 * 9 / 16, 4 * 7 / 16, 2.0])  # the exact maximum for a known u


@pytest.mark.slow
def test_each_person_once_is_not_misled_by_numbers_that_go_together():
    people = datasets.census(300, seed=2)
    release = Release(people, parse_masking("noise(0.1)").apply(people, 1))
    once, pairwise = (link_probabilistic(release, fitting=Fitting(each=each)) for each in ("person", "pair"))
    assert once.estimate.value > pairwise.estimate.value

    def error(linkage):
        return sum(n * abs(said - right) for said, right, n in linkage.calibration()) / 300

    assert error(once) < error(pairwise) / 2


def random_tables(seed):
    """Numbers with bands, categories, missing values, copies, and weights in no order at all."""
    rng = np.random.default_rng(seed)
    n, n_right, m = int(rng.integers(1, 60)), int(rng.integers(1, 400)), int(rng.integers(1, 6))
    sides = [np.round(rng.normal(size=(size, m)), 1) for size in (n, n_right)]
    for side in sides:
        side[:, 0] = np.abs(side[:, 0]).round()
        side[rng.random(side.shape) < 0.1] = np.nan
    n_edges = rng.integers(1, 4, m)
    edges = np.full((m, 3), np.inf)
    for k in range(m):
        edges[k, : n_edges[k]] = np.sort(rng.choice([0.0, 0.1, 0.35, 0.8, 1.5], n_edges[k], replace=False))
    table = rng.normal(size=(m, 5)) * 2
    if seed % 2:  # closer is better, as EM leaves it
        for k in range(m):
            table[k, : n_edges[k] + 1] = -np.sort(-table[k, : n_edges[k] + 1])
    truth = np.where(rng.random(n) < 0.9, rng.integers(0, n_right, n), -1)
    return *sides, edges, n_edges.astype(np.int64), table, truth


@pytest.mark.parametrize("seed", range(30))
def test_candidates_and_pairs_above_a_weight_equal_the_definition(seed):
    left, right, edges, n_edges, table, truth = random_tables(seed)
    scale = Scale(edges, n_edges, table)
    every = np.array(
        [
            [sum(table[k, naive.level(x[k], y[k], edges[k, : n_edges[k]])] for k in range(len(x))) for y in right]
            for x in left
        ]
    )
    mine = weigh(left, right, scale, truth, 7)
    best = every.max(axis=1)
    assert mine.best == pytest.approx(best, abs=1e-12)
    ties = every >= best[:, None] - 1e-9
    assert mine.ties.tolist() == ties.sum(axis=1).tolist()
    assert ties[np.arange(len(left)), mine.row].all()
    for i in np.flatnonzero(~ties.all(axis=1)):
        assert mine.second[i] == pytest.approx(every[i][~ties[i]].max(), abs=1e-12)
    own = np.where(truth >= 0, every[np.arange(len(left)), truth], np.nan)
    assert mine.true == pytest.approx(own, abs=1e-12, nan_ok=True)
    assert np.exp(mine.total) == pytest.approx(np.exp(every).sum(axis=1), rel=1e-9)
    least = float(np.quantile(best, 0.5)) - 1.0
    rows, points, weights = pairs_above(left, right, scale, least)
    assert {(int(i), int(j)) for i, j in zip(rows, points, strict=True)} == {
        (int(i), int(j)) for i, j in np.argwhere(every >= least)
    }
    assert weights == pytest.approx(every[rows, points], abs=1e-12)


def test_credits_equal_the_definition_on_both_paths(monkeypatch):
    release = example(60)
    linkage = link_probabilistic(release)
    comparison = linkage.comparison
    vectors = naive.comparison_vectors(comparison)
    wanted = naive.best_by_weight(vectors, linkage.model.weights, 60, 60, release.truth)
    assert linkage.credit.tolist() == wanted
    monkeypatch.setattr("unmask.linkage.probabilistic.candidates.GROUPS_FROM", 1)  # group-bys and the tree
    again = link_probabilistic(release)
    assert again.credit.tolist() == wanted
    assert again.weight == pytest.approx(linkage.weight, abs=1e-9)
    assert again.margin == pytest.approx(linkage.margin, abs=1e-9)
    assert again.posterior == pytest.approx(linkage.posterior, abs=1e-9)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_sum_over_everybody_equals_the_sum_over_pairs(seed, missing):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, 4)
    left, right = (
        np.column_stack([rng.integers(-1 if missing else 0, size, n) for size in sizes]).astype(np.int32)
        for n in (60, 90)
    )
    factors = rng.uniform(0.01, 2.0, (4, 3))
    wanted = [
        sum(
            math.prod(factors[k, 2 if -1 in (x[k], y[k]) else int(x[k] != y[k])] for k in range(len(sizes)))
            for y in right
        )
        for x in left
    ]
    assert sums_by_groups(left, right, factors) == pytest.approx(wanted, rel=1e-9)


def test_closer_agreement_never_counts_against():
    a, b = ordered(np.array([1.0, 3.0, 2.0]), np.array([9.0, 7.0, 90.0]))
    assert a.sum() == pytest.approx(6) and b.sum() == pytest.approx(106)
    assert (np.diff(a / (a + b)) <= 1e-12).all()
    assert a[:2].tolist() == pytest.approx([2.0, 2.0])
    kept = ordered(np.array([5.0, 1.0]), np.array([1.0, 9.0]))
    assert kept[0].tolist() == [5.0, 1.0]
    for seed in range(5):  # even where nothing links the files
        release = Release(datasets.census(60, seed=seed), datasets.census(60, seed=seed + 50))
        model = link_probabilistic(release, fitting=Fitting(tolerance=1e-4)).model
        ratio = np.where(model.u > 1e-9, model.m / np.maximum(model.u, 1e-300), np.nan)
        for line in ratio:
            there = line[~np.isnan(line)]
            assert (np.diff(there) <= 1e-6 * np.maximum(there[:-1], 1)).all()


@pytest.mark.slow
def test_standard_errors_are_those_of_repeated_files():
    models = []
    for seed in range(25):
        comparison = compare(encode(example(150, seed)))
        models.append(fit(comparison, count_patterns(comparison), Fitting(tolerance=1e-8)))
    m = np.array([model.m[:, 0] for model in models])
    said = np.array([model.m_error[:, 0] for model in models])
    ratio = np.nanmean(said, axis=0) / m.std(axis=0)
    assert ((ratio > 0.6) & (ratio < 1.7)).all(), ratio
    u = np.array([model.u[:, 0] for model in models])
    ratio = np.array([model.u_error[:, 0] for model in models]).mean(axis=0) / u.std(axis=0)
    assert ((ratio > 0.5) & (ratio < 2.5)).all(), ratio


def test_row_order_does_not_change_who_is_claimed():
    """The weight at the threshold is a sum of others' weights too, and its last bit follows row order."""
    rng = np.random.default_rng(91)
    n = 140
    known = {
        "age": rng.integers(18, 60, n),
        "income": np.round(rng.lognormal(3, 0.7, n), 1),
        "sex": rng.choice(["f", "m"], n),
        "region": rng.choice(list("abcd"), n),
    }
    moved = {"income": np.round(known["income"] + rng.normal(0, 4, n), 1), "age": known["age"] + rng.integers(-2, 3, n)}
    people = pl.DataFrame(known).with_row_index("id")
    masked = people.with_columns(**moved)[:120]
    fitting = Fitting(tolerance=1e-5)
    straight = link_probabilistic(Release(people, masked, id="id"), fitting=fitting)
    status = np.array(straight.status)
    assert (np.abs(straight.weight - straight.upper) < 1e-6).any()  # or this could not fail
    for _ in range(6):
        order, other = rng.permutation(n), rng.permutation(120)
        shuffled = link_probabilistic(Release(people[order], masked[other], id="id"), fitting=fitting)
        assert shuffled.status == tuple(status[order])


def test_thresholds_and_status():
    release = example(300, 3, (30, 20, 12, 10, 6), (0.1,) * 5)
    linkage = link_probabilistic(release, false_positive=1e-4, false_negative=0.05)
    assert linkage.lower <= linkage.upper
    status = np.array(linkage.status)
    assert set(status) <= {"linked", "clerical", "non-linked"}
    assert linkage.credit[status == "linked"].mean() > 0.9
    stricter = link_probabilistic(release, false_positive=0.0)
    assert stricter.upper >= linkage.upper
    with pytest.raises(ParameterError, match="from 0 to 1"):
        link_probabilistic(example(20), false_negative=2)


def test_posteriors_are_calibrated():
    linkage = link_probabilistic(example(400, 3, (30, 20, 12, 10, 6), (0.1, 0.1, 0.1, 0.1, 0.1)))
    said, right = np.nanmean(linkage.posterior), linkage.credit.mean()
    assert said == pytest.approx(right, abs=0.06)
    assert sum(n for _, _, n in linkage.calibration()) == 400


def with_gaps(release, share=0.15):
    rng = np.random.default_rng(5)
    tables = (release.original, release.released)
    return Release(
        *(
            table.with_columns(
                pl.when(pl.Series(rng.random(table.height) >= share)).then(pl.col(name)).alias(name)
                for name in table.columns
            )
            for table in tables
        )
    )


def banded(n=40):
    people = datasets.census(n, seed=1)
    return Release(people, parse_masking("noise(0.4)").apply(people, 1), quasi=people.columns[:5])


@pytest.mark.parametrize("release", [example(40), with_gaps(example(50)), banded()], ids=["codes", "gaps", "bands"])
def test_one_to_one_links_nobody_twice_and_loses_no_weight(release):
    from scipy.optimize import linear_sum_assignment

    n = release.original.height
    free, bound = link_probabilistic(release), link_probabilistic(release, one_to_one=True)
    used = bound.links[bound.links >= 0]
    assert len(set(used.tolist())) == len(used)
    assert bound.optimal and 0 <= bound.gap <= 1e-9
    vectors = naive.comparison_vectors(bound.comparison)
    total = np.array([sum(free.model.weights[a, v] for a, v in enumerate(row)) for row in vectors]).reshape(n, n)
    gain = np.maximum(total - bound.lower, 0)
    rows, cols = linear_sum_assignment(-gain)
    assert np.nansum(bound.weight[bound.links >= 0] - bound.lower) == pytest.approx(gain[rows, cols].sum())


def test_the_proof_of_a_matching_sees_that_it_is_not_the_best():
    rows, points = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    gain = np.array([3.0, 1.0, 4.0, 1.0])
    best = proven_bound(rows, points, gain, np.array([1, 0]), np.array([1.0, 4.0]), 2)
    assert best == pytest.approx(5.0)  # 1 + 4: equal to what is gained
    worse = proven_bound(rows, points, gain, np.array([0, 1]), np.array([3.0, 1.0]), 2)
    assert worse >= 5.0 - 1e-9  # a bound of the best, whatever matching it is asked of


def test_the_waterfall_adds_up():
    linkage = link_probabilistic(example(100))
    steps = linkage.waterfall(3)
    assert [name for name, _, _ in steps] == ["c0", "c1", "c2", "c3"]
    assert sum(bits for _, _, bits in steps) == pytest.approx(linkage.weight[3])
    with pytest.raises(ParameterError, match="no link"):
        linkage.waterfall(1000)


@pytest.mark.peers
@pytest.mark.parametrize("tool", ["recordlinkage", pytest.param("splink", marks=pytest.mark.slow)])
def test_agrees_with_second_tools(tool):
    """ECM of recordlinkage and EM of Splink, run here and now, over all 22,500 pairs, every parameter learnt."""
    release = example()
    theirs = second_tool(tool, *(side.to_numpy().astype(int) for side in (release.original, release.released)))
    model = link_probabilistic(release, fitting=Fitting(prior="learn")).model
    assert model.m[:, 0] == pytest.approx(theirs["m"], abs=1e-3)
    assert model.u[:, 0] == pytest.approx(theirs["u"], abs=1e-3)
    assert model.prior == pytest.approx(theirs["prior"], abs=1e-3)


@given(pairs(complete=True), st.randoms())
@settings(max_examples=20)
def test_row_order_changes_no_risk(tables, random):
    numbered = [table.with_row_index("id") for table in tables]
    orders = [random.sample(range(tables[0].height), tables[0].height) for _ in range(2)]
    fitting = Fitting(tolerance=1e-3)
    straight = link_probabilistic(Release(*numbered, id="id"), fitting=fitting)
    shuffled = link_probabilistic(Release(numbered[0][orders[0]], numbered[1][orders[1]], id="id"), fitting=fitting)
    assert shuffled.credit.tolist() == straight.credit[orders[0]].tolist()


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"a": [1.5]}),
        pl.DataFrame({"a": ["x"] * 5, "b": ["y"] * 5}),
        pl.DataFrame({"a": [1.5, 2.5, 4.5]}),
        pl.DataFrame({"a": [1.0] * 6, "b": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}),
    ],
    ids=["one record", "all pairs agree", "one attribute", "a constant attribute"],
)
def test_degenerate_tables_are_answered(table):
    linkage = link_probabilistic(Release(table, table))
    assert linkage.estimate.value == pytest.approx(np.mean(1 / linkage.tie_sizes))
    evidence = assess_probabilistic(Study(Release(table, table)), Context())
    assert evidence.observations[0].key == "probabilistic.rate"


def test_perfect_separation():
    people = datasets.census(80)
    linkage = link_probabilistic(Release(people, people))
    assert linkage.estimate.value == 1.0
    assert np.isfinite(linkage.model.weights).all()
    assert np.isnan(linkage.model.m_error[linkage.model.m > 1 - 1e-9]).all()


def test_too_many_attributes_offer_a_choice():
    rng = np.random.default_rng(0)
    wide = pl.DataFrame(rng.normal(size=(40, 16)), schema=[f"c{k}" for k in range(16)])
    release = Release(wide, wide)
    with pytest.raises(ParameterError, match="attributes='best'"):
        link_probabilistic(release)
    assert len(link_probabilistic(release, attributes="best").model.names) == 14
    assert link_probabilistic(release, attributes=["c3", "c1"]).model.names == ("c1", "c3")
    assert "14 of 16" in assess_probabilistic(Study(release), Context()).notes[0]
    with pytest.raises(ParameterError, match="did you mean 'c3'"):
        link_probabilistic(release, attributes=["c33"])


def test_no_convergence_is_an_error_and_never_safe():
    release = example(60)
    with pytest.raises(EngineError, match="did not converge"):
        link_probabilistic(release, fitting=Fitting(max_steps=2, tolerance=1e-15))
    for bad in (Fitting(u="x"), Fitting(prior=1.5), Fitting(max_steps=0)):
        with pytest.raises(ParameterError):
            link_probabilistic(release, fitting=bad)
    with pytest.raises(ParameterError, match="widths"):
        link_probabilistic(Release(datasets.census(20), datasets.census(20)), widths={"wages": [-1]})


def test_samples():
    release = example(200)
    linkage = link_probabilistic(release, sample=50, seed=3)
    assert linkage.attempted.sum() == 50
    assert np.isnan(linkage.per_record(200)).sum() == 150
    assert (linkage.truth[~linkage.asked] == -1).all() and (linkage.links[~linkage.asked] == -1).all()
    learnt = link_probabilistic(release, learn_from=100)
    assert learnt.asked is None
    assert learnt.model.n_left == 100


def test_evidence_and_public_name():
    evidence = assess_probabilistic(Study(example(150)), Context(seed=1))
    assert [o.key for o in evidence.observations] == ["probabilistic.rate", "probabilistic.linked"]
    figure = evidence.figures[0]
    assert figure.series[0].x[0] == "before comparing" and figure.series[0].x[-1] == "in all"
    assert sum(figure.series[0].y[:-1]) == pytest.approx(figure.series[0].y[-1])
    assert unmask.link_probabilistic is link_probabilistic


def test_a_blank_row_does_not_end_the_attack():
    people = datasets.census(300, seed=4)
    masked = parse_masking("noise(0.1)").apply(people, seed=1)
    before = link_probabilistic(Release(people, masked)).estimate.value
    blank = masked.with_columns(pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise(pl.all()).name.keep())
    after = link_probabilistic(Release(people, blank)).estimate.value
    assert before > 0.5
    assert after >= before - 2 / 300


def test_a_duplicated_column_does_not_end_the_attack():
    people = datasets.patients(300, seed=4)
    known = [c for c in people.columns if c != "patient"][:5]
    people = people.select(known)
    masked = parse_masking("pram(0.2)").apply(people, seed=1)
    twice = [table.with_columns(pl.col(known[0]).alias("again")) for table in (people, masked)]
    assert link_probabilistic(Release(*twice), numbers="exact").credit.tolist() == pytest.approx(
        link_probabilistic(Release(people, masked), numbers="exact").credit.tolist()
    )
