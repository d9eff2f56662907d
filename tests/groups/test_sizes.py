"""Draw samples from known populations: what the models state must hold about as often as they say."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import reference
from unmask import Release, datasets
from unmask.evidence.measure import Context
from unmask.groups.population.dis import dis_by_formula, dis_by_removal
from unmask.groups.population.loglinear import log_linear, main_effects, pair_effects, possible_cells, proportional_fit
from unmask.groups.population.measure import assess_population, population_risk
from unmask.groups.population.sizes import pitman, poisson_gamma, sizes_of, zayatz
from unmask.study.study import Study

SAMPLES = 20


def truth(people, records):
    """tau1 and tau2: sample uniques that are unique in the population, and the sum of 1/F over sample uniques."""
    alone = records == 1
    return int((people[alone] == 1).sum()), float((1 / people[alone]).sum())


def gamma_population(rng):
    people = rng.poisson(rng.gamma(0.5, 12.0, 8000))
    return people[people > 0]


def pitman_population(rng, n=40_000, alpha=0.5, theta=400.0):
    """People join a class in proportion to its size less alpha, or found a new one: Pitman's urn, draw by draw."""
    sizes, u = np.zeros(n, np.int64), rng.random(n)
    owner, n_classes = np.empty(n, np.int64), 0
    for t in range(n):
        if u[t] < (theta + alpha * n_classes) / (theta + t):
            owner[t] = n_classes
            n_classes += 1
        else:
            while True:  # a member drawn at random, kept with probability 1 - alpha/size
                c = owner[int(rng.random() * t)]
                if rng.random() < 1 - alpha / sizes[c]:
                    owner[t] = c
                    break
        sizes[owner[t]] += 1
    return sizes[:n_classes]


@pytest.mark.parametrize(("model", "population"), [(poisson_gamma, gamma_population), (pitman, pitman_population)])
@pytest.mark.parametrize("fraction", [0.05, 0.2])
def test_tau_within_its_stated_error(model, population, fraction):
    rng = np.random.default_rng(11)
    people = population(rng)
    held, errors = np.zeros(2), []
    for _ in range(SAMPLES):
        records = rng.binomial(people, fraction)
        said = model(sizes_of(records[records > 0], people.sum()))
        tau = truth(people, records)
        held += [p.low <= t <= p.high for p, t in zip((said.tau1, said.tau2), tau, strict=True)]
        errors.append([said.tau1.value / tau[0] - 1, said.tau2.value / tau[1] - 1])
    assert (held >= 0.8 * SAMPLES).all(), held  # 95 % intervals: fewer than 16 of 20 has probability 3e-4
    assert np.abs(np.mean(errors, axis=0)).max() < 0.25


def keyed_population(rng, n=60_000, *, independent):
    """Five keys; independent, or each following another."""
    a = rng.choice(20, n, p=rng.dirichlet(np.ones(20)))
    b = rng.choice(12, n, p=rng.dirichlet(np.ones(12))) if independent else (a + rng.poisson(1, n)) % 12
    c = rng.choice(9, n, p=rng.dirichlet(np.ones(9))) if independent else (b * 2 + rng.integers(0, 3, n)) % 9
    d = rng.choice(8, n, p=rng.dirichlet(np.ones(8)))
    e = (
        rng.choice(8, n, p=rng.dirichlet(np.ones(8)))
        if independent
        else np.where(rng.random(n) < 0.8, d, rng.integers(0, 8, n))
    )
    cells, people = np.unique(np.stack([a, b, c, d, e], axis=1), axis=0, return_counts=True)
    return cells.astype(np.int32), people


@pytest.mark.parametrize("independent", [True, False])
def test_log_linear_within_its_stated_error(independent):
    rng = np.random.default_rng(5)
    cells, people = keyed_population(rng, independent=independent)
    held, chosen = np.zeros(2), []
    for _ in range(8):
        records = rng.binomial(people, 0.05)
        seen = records > 0
        codes = np.stack([np.unique(cells[seen][:, k], return_inverse=True)[1] for k in range(5)], axis=1).astype(
            np.int32
        )
        said = log_linear(codes, records[seen], float(people.sum()))
        held += [p.low <= t <= p.high for p, t in zip((said.tau1, said.tau2), truth(people, records), strict=True)]
        chosen.append(said.name)
    assert (held >= 7).all(), (held, chosen)
    if not independent:
        assert set(chosen) == {"log-linear (pairs)"}  # independence is refused by its bias


def coverage(everybody, keys, fraction, samples=5, seed=1):
    """How often the headline intervals of tau1 and tau2 hold the truth; errors and widths in parts of the uniques."""
    rng = np.random.default_rng(seed)
    held, errors, widths = np.zeros(2), [], []
    for _ in range(samples):
        sample = everybody.filter(pl.Series(rng.random(everybody.height) < fraction))
        said = population_risk(sample, quasi=keys, population=everybody.height)
        true = population_risk(sample, quasi=keys, population=everybody)
        pairs = [(said.tau1, true.tau1.value), (said.tau2, true.tau2.value)]
        held += [p.low <= t <= p.high for p, t in pairs]
        errors.append([(p.value - t) / said.n_unique for p, t in pairs])
        widths.append([(p.high - p.low) / said.n_unique for p, _ in pairs])
    return held / samples, np.mean(errors, axis=0), np.mean(widths, axis=0)


def populations():
    """Populations that follow none of the models: a survey, and patients whose attributes hang together."""
    patients = datasets.patients(20_000, seed=0).with_columns(pl.col("birth date").dt.year().alias("born"))
    yield patients, ["sex", "born", "town", "smoker", "insurance", "children"]
    for independent in (True, False):
        cells, people = keyed_population(np.random.default_rng(3), independent=independent)
        yield pl.DataFrame(np.repeat(cells, people, axis=0), schema=list("abcde"), orient="row"), list("abcde")


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("fraction", [0.03, 0.1])
def test_the_headline_holds_where_no_model_is_true(which, fraction):
    everybody, keys = list(populations())[which]
    held, errors, widths = coverage(everybody, keys, fraction)
    assert (held >= 0.8).all(), held
    assert np.abs(errors).max() < 0.12, errors
    assert widths.max() < 0.9, widths  # an interval that says nothing would hold anything


@pytest.mark.slow
@pytest.mark.casc
@pytest.mark.parametrize("fraction", [0.05, 0.3])
def test_the_headline_holds_on_a_survey(fraction):
    """household.csv as the population: real people, keys that hang together."""
    everybody = reference.data("household")
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"]
    held, errors, widths = coverage(everybody, keys, fraction)
    assert (held >= 0.8).all(), held
    assert np.abs(errors).max() < 0.12, errors
    assert widths.max() < 0.9, widths


def test_fitted_margins_are_the_observed_ones():
    rng = np.random.default_rng(0)
    codes, counts = np.unique(rng.integers(0, [3, 4, 2], (200, 3)), axis=0, return_counts=True)
    codes = codes.astype(np.int32)
    table = np.zeros((3, 4, 2))
    table[tuple(codes.T)] = counts
    pairs = list(combinations(range(3), 2))
    cells = possible_cells(codes, pairs, 1000)
    fitted = proportional_fit(codes, counts, cells, pairs)[0].reshape(3, 4, 2)  # every pair occurs: the whole table
    for axis in range(3):
        assert fitted.sum(axis=axis) == pytest.approx(table.sum(axis=axis), rel=1e-4)
    alone = codes[counts == 1]
    assert pair_effects(codes, counts, 0.1, 1000).mu == pytest.approx(fitted[tuple(alone.T)])
    shares = [table.sum(axis=axes) / 200 for axes in ((1, 2), (0, 2), (0, 1))]
    plain = 200 * np.einsum("i,j,k->ijk", *shares)
    assert main_effects(codes, counts, 0.1, 1000).mu == pytest.approx(plain[tuple(alone.T)])


def test_too_many_combinations_are_drawn_and_said():
    """Main effects need no table: sums over all combinations are estimated; pairs are left out, in words."""
    rng = np.random.default_rng(4)
    cells, people = keyed_population(rng, independent=True)
    records = rng.binomial(people, 0.05)
    codes, counts = cells[records > 0], records[records > 0]
    built, drawn = (main_effects(codes, counts, 0.05, most) for most in (400_000, 10))
    assert drawn.mu.tolist() == built.mu.tolist()
    assert drawn.uniques == pytest.approx(built.uniques, rel=0.02)
    assert drawn.bias == pytest.approx(built.bias, abs=0.02 * built.uniques)
    said = log_linear(codes, counts, 60_000.0, max_cells=10)
    assert said.name == "log-linear (main effects)"
    assert "more than 10 combinations" in said.remark
    assert not log_linear(codes, counts, 60_000.0).remark


def test_wide_keys_have_a_log_linear_model_in_the_report():
    """Nine keys of up to 90 values: 28 million combinations, far beyond what is built."""
    rng = np.random.default_rng(6)
    table = pl.DataFrame({f"k{j}": rng.integers(0, size, 2000) for j, size in enumerate((30, 30, 20, 20, 9, 9))})
    kinds = dict.fromkeys(table.columns, "categorical")
    evidence = assess_population(Study(Release(table, table, kinds=kinds, population=50_000)), Context())
    assert any("log-linear" in fact.name for fact in evidence.facts)
    assert any("pairs of keys are left out" in note for note in evidence.notes)


def test_zayatz_by_hand():
    """2 uniques and 1 pair of n = 4 from N = 8: P(1|1) = 4/8, P(1|2) = 2 C(6,3)/C(8,4) = 4/7; Bayes with 2/3, 1/3."""
    said = zayatz(sizes_of(np.array([1, 1, 2]), 8))
    chance = (2 * 0.5) / (2 * 0.5 + 1 * 4 / 7)
    assert said.tau1.value == pytest.approx(2 * chance)
    assert said.population_uniques == pytest.approx(2 * chance / 0.5)
    assert "overstated" in said.note


def test_dis_by_formula_and_by_removal():
    """Skinner, Elliot 2002; the experiment agrees with the formula."""
    counts = np.array([1] * 60 + [2] * 40 + [5] * 10)
    formula, removal = dis_by_formula(counts, 0.1), dis_by_removal(counts, 0.1, rounds=400, seed=1)
    assert formula.value == pytest.approx(60 * 0.1 / (60 * 0.1 + 80 * 0.9))
    assert formula.low < formula.value < formula.high
    assert removal.low <= formula.value <= removal.high
    assert dis_by_removal(counts, 0.1, seed=1) == dis_by_removal(counts, 0.1, seed=1)


def test_dis_is_a_number_when_nobody_is_alone():
    """sdcMicro says NaN."""
    for counts in (np.array([3, 3]), np.array([2, 2])):
        assert dis_by_formula(counts, 0.1).value == 0.0
        assert dis_by_removal(counts, 0.1).value == 0.0


def test_dis_against_a_known_population():
    """Of all unique matches of people against a sample, the share that is right."""
    rng = np.random.default_rng(8)
    people = gamma_population(rng)
    said, actual = [], []
    for _ in range(10):
        records = rng.binomial(people, 0.1)
        alone = records == 1
        actual.append(alone.sum() / people[alone].sum())  # F people match a sample unique, one of them is right
        said.append(dis_by_formula(records[records > 0], 0.1).value)
    assert np.mean(said) == pytest.approx(np.mean(actual), rel=0.05)
