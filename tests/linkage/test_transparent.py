from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import linkage as naive
from reference import data
from unmask import Release, assess, datasets, link_nearest, link_transparent, parse_masking
from unmask.assessment import run_measure
from unmask.errors import EngineError, ParameterError
from unmask.evidence.finding import Absence
from unmask.evidence.measure import Context, registered
from unmask.linkage.transparent import attempts
from unmask.linkage.transparent.again import link_again, run_again
from unmask.linkage.transparent.makings import swap_profile
from unmask.linkage.transparent.measure import assess_transparent
from unmask.study.study import Study

PEOPLE = datasets.census(250, seed=4)
FAMILIES = [
    "noise(0.5)",
    "correlated_noise(0.5)",
    "multiplicative_noise(0.2)",
    "rank_swap(share=0.1)",
    "microaggregation(5)",
    "microaggregation(5, method=univariate)",
    "microaggregation(5, method=projection)",
    "rounding(5000)",
    "rounding(5000, method=random)",
    "recoding(20000)",
    "top_bottom(top=0.9)",
    "reverse_map(noise(0.3))",
]


def masked(text, table=PEOPLE, seed=1):
    return Release(table, parse_masking(text).apply(table, seed), masking=text)


@pytest.mark.parametrize("text", FAMILIES)
def test_knowing_the_method_never_finds_fewer(text):
    release = masked(text)
    knowing, blind = link_transparent(release), link_nearest(release, decision_only=True)
    assert knowing.estimate.value >= blind.estimate.value - 0.02
    assert knowing.inside.mean() >= (0.85 if "aggregation(5)" in text else 0.97)  # credible with 99 %, else certain
    assert ((knowing.posterior >= 0) & (knowing.posterior <= 1 + 1e-12)).all()
    assert (knowing.true_posterior <= knowing.posterior + 1e-12).all()


@pytest.mark.parametrize(
    "text", ["noise(0.5)", "correlated_noise(0.5)", "rank_swap(share=0.2)", "rounding(5000, method=random)"]
)
def test_the_posterior_is_calibrated(text):
    linkage = link_transparent(masked(text, datasets.census(600, seed=2)))
    assert np.mean(linkage.posterior) == pytest.approx(linkage.credit.mean(), abs=0.05)
    sure = linkage.posterior >= 0.9
    if sure.sum() > 20:
        assert linkage.credit[sure].mean() > 0.85


def test_noise_posterior_is_bayes_rule():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    table = pl.DataFrame(x, schema=["a", "b"])
    release = masked("noise(0.4)", table)
    linkage = link_transparent(release)
    y = release.released.to_numpy()
    sd = 0.4 * x.std(axis=0, ddof=1)
    for i in range(40):
        wanted = naive.noise_posterior(x[i], np.delete(x, i, axis=0), y, sd)
        assert linkage.true_posterior[i] == pytest.approx(wanted[i], rel=1e-4)
        assert linkage.links[i] == np.argmax(wanted)
        second, first = np.sort(wanted)[-2:]
        assert linkage.margin[i] == pytest.approx(np.log(first / second), rel=1e-3)


@pytest.mark.slow
@given(st.sampled_from([1, 4, 10, 21, 40]), st.integers(0, 5))  # a profile is drawn for each window
@settings(max_examples=25)
def test_rank_swapping_intersects_windows(p, seed):
    rng = np.random.default_rng(seed)
    table = pl.DataFrame({"a": rng.integers(0, 15, 30), "b": rng.normal(size=30)})
    release = masked(f"rank_swap(share={p / 100})", table, seed)
    linkage = link_transparent(release)
    columns = [release.released[name].to_list() for name in ("a", "b")]
    if int(np.floor(p * 30 / 100 + 1e-9)) == 0:
        return
    for i in range(30):
        sets = [naive.rank_window(table[name][i], column, p) for name, column in zip(("a", "b"), columns, strict=True)]
        assert linkage.anonymity[i] == len(sets[0] & sets[1])
        assert linkage.inside[i]


@pytest.mark.parametrize("sample", [None, 20])
def test_a_guess_within_the_set_is_right_once_in_its_size(sample):
    """Reid_k: nothing where the set does not hold the true record, as here, where values moved further than is said."""
    rng = np.random.default_rng(2)
    table = pl.DataFrame({"a": rng.integers(0, 15, 30), "b": rng.normal(size=30)})
    release = Release(table, parse_masking("rank_swap(share=0.3)").apply(table, 2), masking="rank_swap(share=0.1)")
    linkage = link_transparent(release, sample=sample)
    guesses = []
    for i in np.flatnonzero(linkage.attempted).tolist():
        sets = [naive.rank_window(table[name][i], release.released[name].to_list(), 10) for name in ("a", "b")]
        guesses.append(1 / len(sets[0] & sets[1]) if i in sets[0] & sets[1] else 0.0)
    assert len(guesses) == (sample or 30) and 0 < guesses.count(0.0) < len(guesses) and min(filter(None, guesses)) < 1
    assert linkage.reid_k.value == pytest.approx(sum(guesses) / len(guesses))
    assert linkage.reid_k.n == len(guesses) and linkage.reid_k.chance == pytest.approx(1 / 30)
    assert linkage.optimal and linkage.gap == 0.0


@pytest.mark.parametrize("window", [3, 12, 30])
def test_the_profile_of_swaps_is_a_distribution_at_every_place(window):
    """The probabilities of the new ranks add up to 1, on average over the ranks of a place, also at the ends."""
    n = 60
    chances = np.exp(swap_profile(n, window))
    places, bins = chances.shape
    totals = [[] for _ in range(places)]
    for rank in range(n):
        there = np.arange(max(0, rank - window), min(n, rank + window + 1))
        cells = np.minimum(((there - rank) / window + 1) / 2 * bins, bins - 1).astype(int)
        place = min(rank * places // n, places - 1)
        totals[place].append(chances[place, cells].sum())
    assert [np.mean(found) for found in totals] == pytest.approx([1.0] * places, abs=0.01)


def test_univariate_microaggregation_never_rules_out_the_truth():
    rng = np.random.default_rng(5)
    table = pl.DataFrame({"a": rng.integers(0, 12, 80).astype(float), "b": rng.exponential(size=80)})
    for k in (2, 3, 7):
        assert link_transparent(masked(f"microaggregation({k}, method=univariate)", table)).inside.all()
        assert link_transparent(masked(f"microaggregation({k}, method=projection)", table)).inside.all()


def test_pram_by_its_matrix():
    """Two people, two values, certain knowledge of p: the odds are those of the transition matrix."""
    table = pl.DataFrame({"c": ["x", "y"] * 20, "d": [f"{i}" for i in range(40)]})
    release = masked("chain([pram(0.25, columns=[c])])", table)
    linkage = link_transparent(release)
    assert linkage.estimate.value == 1.0  # d is untouched and names everybody
    alone = Release(table.select("c"), release.released.select("c"), masking="pram(0.25)")
    linkage = link_transparent(alone)
    same = alone.released["c"] == table["c"]
    assert (linkage.credit > 0).tolist() == same.to_list()


@pytest.mark.parametrize("text", ["pram(0.3)", "pram(0.3, invariant=True)", "chain([noise(0.5), pram(0.2)])"])
def test_mixed_tables(text):
    people = datasets.patients(150, seed=2).drop("patient")
    linkage = link_transparent(masked(text, people))
    assert linkage.estimate.value > 0.9
    assert linkage.inside.mean() > 0.95


def test_the_wrong_masking_is_told():
    release = Release(PEOPLE, parse_masking("noise(1.0)").apply(PEOPLE, 1), masking="noise(0.05)")
    linkage = link_transparent(release)
    assert linkage.inside.mean() < 0.2
    facts = {fact.name: fact.value for fact in assess_transparent(Study(release), Context()).facts}
    assert facts["people whose own record is ruled out"] > 150
    untouched = Release(PEOPLE, parse_masking("noise(0.5)").apply(PEOPLE, 1), masking="noise(0.5, columns=[wages])")
    assert link_transparent(untouched).estimate.value < 0.1  # every other column is said to be unchanged


def test_a_stranger_is_at_chance():
    total = 0.0
    for seed in range(10):
        release = Release(datasets.census(60, seed=seed), datasets.census(60, seed=seed + 100), masking="noise(0.5)")
        total += link_transparent(release).credit.sum()
    assert total == pytest.approx(10, abs=4 * np.sqrt(10))


def test_row_order_changes_no_risk():
    numbered = PEOPLE.with_row_index("id")
    order = np.random.default_rng(0).permutation(250)
    for text in (
        "noise(0.5)",
        "rank_swap(share=0.1)",
        "correlated_noise(0.5)",
        "microaggregation(5, method=projection)",
    ):
        moved = parse_masking(text).apply(PEOPLE, 1).insert_column(0, numbered["id"])
        straight = link_transparent(Release(numbered, moved, id="id", masking=text))
        shuffled = link_transparent(Release(numbered[order], moved[order[::-1]], id="id", masking=text))
        assert shuffled.estimate.value == pytest.approx(straight.estimate.value, abs=1e-12)


def test_it_does_not_apply_without_a_masking_and_says_what_it_does_not_know():
    absence = run_measure(registered()["transparent"], Release(PEOPLE, PEOPLE), Context())
    assert isinstance(absence, Absence) and absence.outcome == "does not apply"
    with pytest.raises(ParameterError, match="not given"):
        link_transparent(Release(PEOPLE, PEOPLE))
    with pytest.raises(EngineError, match="no likelihood is known"):
        link_transparent(Release(PEOPLE, PEOPLE), masking="chain([noise(0.5), rank_swap(share=0.05)])")
    with pytest.raises(EngineError, match="shuffle"):
        link_transparent(Release(PEOPLE, PEOPLE), masking="shuffle")
    unknown = Release(PEOPLE, PEOPLE, masking="shuffle")
    absence = run_measure(registered()["transparent"], unknown, Context())
    assert absence.outcome == "could not run"


def best_matchings(weights):
    """Every one-to-one matching of a square table of log-likelihoods that reaches the largest total, slowly."""
    from itertools import permutations

    n = len(weights)
    totals = {order: sum(weights[i][order[i]] for i in range(n)) for order in permutations(range(n))}
    most = max(totals.values())
    return [order for order, total in totals.items() if total > most - 1e-9]


@pytest.mark.parametrize("seed", range(6))
def test_the_matching_is_the_likeliest_of_all(seed):
    table = pl.DataFrame(np.random.default_rng(seed).normal(size=(6, 2)), schema=["a", "b"])
    release = masked("noise(0.8)", table, seed)
    x, y = table.to_numpy(), release.released.to_numpy()
    sd = 0.8 * x.std(axis=0, ddof=1)
    weights = [[-0.5 * float((((x[i] - y[j]) / sd) ** 2).sum()) for j in range(6)] for i in range(6)]
    (best,) = best_matchings(weights)
    assert link_transparent(release).matched.tolist() == [float(best[i] == i) for i in range(6)]


def test_equally_likely_matchings_share_the_credit():
    same = pl.DataFrame({"a": [1.0, 1.0, 5.0, 9.0]})
    assert link_transparent(Release(same, same), masking="rounding(1)").matched.tolist() == [0.5, 0.5, 1.0, 1.0]
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"a": rng.normal(size=120)})
    release = masked("microaggregation(6, method=univariate)", table)  # windows of two centroids: flat likelihoods
    found = link_transparent(release)
    assert found.one_to_one.value <= 0.2  # one in six is the most that anybody can know of six equal records
    order = rng.permutation(120)
    numbered = table.with_row_index("id")
    moved = release.released.insert_column(0, numbered["id"])
    straight = link_transparent(Release(numbered, moved, id="id"), masking=release.masking)
    turned = link_transparent(Release(numbered[order], moved[order[::-1]], id="id"), masking=release.masking)
    assert turned.matched == pytest.approx(straight.matched[order], abs=1e-12)


def test_one_to_one_finds_more_under_noise_and_is_reported():
    release = masked("noise(0.8)")
    linkage = link_transparent(release)
    assert linkage.one_to_one.value > linkage.estimate.value
    evidence = assess_transparent(Study(release), Context())
    assert evidence.observations[0].estimate.value == linkage.one_to_one.value
    assert "one-to-one matching" in evidence.observations[0].claim
    assert evidence.per_record.tolist() == linkage.matched.tolist()
    facts = {fact.name: fact.value for fact in evidence.facts}
    assert facts["rate by the likeliest record"] == linkage.estimate.value
    assert link_transparent(release, sample=50).one_to_one is None  # people compete only if all are asked for


@pytest.mark.parametrize("k", [3, 5])
def test_mdav_is_run_again(k):
    """Groups of k equal records: whoever knows their own group finds one in k, a few less where a group is larger."""
    release = masked(f"microaggregation({k})")
    again = link_again(Study(release), parse_masking(release.masking))
    sizes = release.released.select(pl.struct(pl.all()).alias("row")).with_columns(pl.len().over("row").alias("n"))
    assert again.credit == pytest.approx(1 / sizes["n"].to_numpy())
    evidence = assess_transparent(Study(release), Context())
    assert evidence.observations[0].estimate.value == pytest.approx(again.estimate.value)
    assert evidence.observations[0].estimate.value > link_transparent(release).estimate.value
    assert "masking the original again" in evidence.observations[0].claim
    assert evidence.per_record == pytest.approx(again.credit)


def test_only_maskings_without_chance_are_run_again():
    for text in (
        "noise(0.5)",
        "rank_swap(share=0.05)",
        "rounding(10, method=random)",
        "chain([microaggregation(3), noise(1)])",
    ):
        assert run_again(parse_masking(text), PEOPLE) is None, text
        assert link_again(Study(masked(text)), parse_masking(text)) is None
    for text in ("rounding(5000)", "recoding(20000)", "top_bottom(top=0.9)", "microaggregation(3, method=univariate)"):
        assert link_again(Study(masked(text)), parse_masking(text)).estimate.value > 0.5, text
    both = "chain([rounding(1000), microaggregation(3)])"  # two steps on one column, and nothing random
    assert link_again(Study(masked(both)), parse_masking(both)).estimate.value == pytest.approx(1 / 3, abs=0.02)


def test_masking_again_does_not_depend_on_the_order_of_rows_nor_on_other_columns():
    text = "microaggregation(4)"
    numbered = PEOPLE.with_row_index("id")
    moved = parse_masking(text).apply(PEOPLE, 1).insert_column(0, numbered["id"])
    order = np.random.default_rng(0).permutation(250)
    straight = link_again(Study(Release(numbered, moved, id="id")), parse_masking(text))
    turned = link_again(Study(Release(numbered[order], moved[order[::-1]], id="id")), parse_masking(text))
    assert turned.credit == pytest.approx(straight.credit[order], abs=1e-12)
    assert straight.estimate.value == pytest.approx(0.25, abs=0.01)
    few = Release(numbered, moved[:100], id="id")  # only some are released
    assert link_again(Study(few), parse_masking(text)).estimate.value >= 0.25


def test_noise_then_rounding_is_the_chance_of_the_cell():
    from scipy.stats import norm

    table = pl.DataFrame(np.random.default_rng(2).normal(0, 10, size=(40, 2)), schema=["a", "b"])
    release = masked("chain([noise(0.5), rounding(8)])", table)
    linkage = link_transparent(release)
    x, y = table.to_numpy(), release.released.to_numpy()
    sd = 0.5 * x.std(axis=0, ddof=1)
    off = y[None] - x[:, None]
    cell = (norm.cdf((off + 4) / sd) - norm.cdf((off - 4) / sd)).prod(axis=2)  # of record r in the cell of j
    for i in range(40):
        odds = cell[i] / np.delete(cell, i, axis=0).sum(axis=0)
        assert linkage.true_posterior[i] == pytest.approx(odds[i] / odds.sum(), rel=1e-3)


CHAINS = [
    "chain([noise(0.3), rounding(10000)])",
    "chain([noise(0.3), rounding(10000, method=random)])",
    "chain([noise(0.3), top_bottom(top=0.9, bottom=0.1)])",
    "chain([noise(0.3), noise(0.3)])",
    "chain([noise(0.3), microaggregation(3)])",
    "chain([multiplicative_noise(0.2), rounding(5000)])",
    "chain([correlated_noise(0.4), rounding(10000)])",
    "chain([rank_swap(share=0.1), rounding(10000)])",
    "chain([rounding(10000), noise(0.3)])",
    "chain([microaggregation(3), noise(0.1)])",
    "chain([rounding(1000), rank_swap(share=0.1)])",
]


@pytest.mark.parametrize("text", CHAINS)
def test_chains_are_followed(text):
    """Hardly worse than not knowing the method, and the own record is nearly always possible.

    Of ranks that were swapped and then rounded only the support is followed: the measure takes the better attack.
    """
    release = masked(text)
    knowing, blind = link_transparent(release), link_nearest(release, decision_only=True)
    best = max(knowing.estimate.value, knowing.one_to_one.value)
    assert best >= blind.estimate.value - (0.1 if text.startswith("chain([rank_swap") else 0.02)
    assert knowing.inside.mean() >= 0.9


def test_the_order_of_rows_changes_nothing_in_a_chain():
    numbered = PEOPLE.with_row_index("id")
    order = np.random.default_rng(0).permutation(250)
    for text in (CHAINS[0], "chain([microaggregation(3), noise(0.1)])"):
        moved = parse_masking(text).apply(PEOPLE, 1).insert_column(0, numbered["id"])
        straight = link_transparent(Release(numbered, moved, id="id", masking=text))
        turned = link_transparent(Release(numbered[order], moved[order[::-1]], id="id", masking=text))
        assert turned.credit == pytest.approx(straight.credit[order], abs=1e-12)


GRID = [
    "noise(0.4)",
    "noise(1.5)",
    "rank_swap(share=0.15)",
    "microaggregation(3)",
    "rounding(20000)",
    "pram(0.5)",
    CHAINS[7],
]


@pytest.mark.slow
@pytest.mark.parametrize("text", [*GRID, "chain([noise(0.5), rank_swap(share=0.05)])"])
@pytest.mark.parametrize("seed", [1, 2])
def test_who_knows_the_method_never_finds_fewer_than_who_does_not(text, seed):
    people = datasets.patients(100, seed=seed).drop("patient") if "pram" in text else datasets.census(100, seed=seed)
    study = Study(masked(text, people, seed))
    evidence = {
        name: run_measure(registered()[name], study, Context(seed=7))
        for name in ("transparent", "nearest", "one_to_one")
    }
    rates = {name: found.observations[0].estimate.value for name, found in evidence.items()}
    assert rates["transparent"] >= max(rates["nearest"], rates["one_to_one"]) - 1e-12
    risk = evidence["transparent"].per_record
    assert risk.mean() == pytest.approx(rates["transparent"])
    facts = {fact.name: fact.value for fact in evidence["transparent"].facts}
    assert facts["best attack"] in evidence["transparent"].observations[0].claim
    assert facts[f"rate by {facts['best attack']}"] == rates["transparent"]


def test_a_chain_that_cannot_be_followed_is_told_and_attacked_otherwise():
    text = "chain([noise(0.5), rank_swap(share=0.05)])"
    evidence = assess_transparent(Study(masked(text)), Context())
    assert "cannot be followed" in evidence.notes[0] and "noise then rank_swap" in evidence.notes[0]
    assert [o.key for o in evidence.observations] == ["transparent.rate", "transparent.known"]
    assert evidence.observations[0].estimate.value > 0.2


def test_one_record_and_samples():
    one = pl.DataFrame({"a": [1.5]})
    assert link_transparent(Release(one, one), masking="noise(0.5)").estimate.value == 1.0
    linkage = link_transparent(masked("noise(0.5)"), sample=60, seed=2)
    assert linkage.attempted.sum() == linkage.estimate.n == 60


def test_evidence():
    evidence = assess_transparent(Study(masked("rank_swap(share=0.15)")), Context())
    assert [o.key for o in evidence.observations] == ["transparent.rate", "transparent.known"]
    assert evidence.per_record.mean() == pytest.approx(evidence.observations[0].estimate.value)
    names, values = evidence.figures[0].series[0].x, evidence.figures[0].series[0].y
    assert names[0] == "blind guess" and values[-1] >= values[1]


@pytest.mark.casc
def test_rank_swapping_is_far_riskier_than_standard_linkage_shows():
    """Nin, Herranz, Torra 2008: the finding behind this attack, on the CASC census."""
    census = data("census")
    for p, most in ((2, 1.0), (10, 0.75), (20, 0.3)):
        release = masked(f"rank_swap(share={p / 100})", census)
        blind = link_nearest(release, decision_only=True).estimate.value
        knowing = link_transparent(release).estimate.value
        assert blind < most
        assert knowing > 0.8


@pytest.mark.parametrize(
    "masking",
    ["microaggregation(3)", *(pytest.param(one, marks=pytest.mark.slow) for one in ("noise(1.0)", "rounding(0.5)"))],
)
def test_who_knows_the_method_is_sure_of_no_fewer(masking, monkeypatch):
    """Whoever knows the method may claim by the margin of any blind attack; the list of intruders says so as well.

    Also where files are too large to be matched again: there one_to_one itself stands in the list.
    """
    people = datasets.census(150).select(pl.selectors.numeric())
    known = parse_masking(masking)
    release = Release(people, known.apply(people, 1), masking=known)
    for most in (20_000, 10):
        monkeypatch.setattr(attempts, "MOST_MATCHED", most)
        report = assess(release, only=("nearest", "one_to_one", "transparent"))
        figures = {finding.key: finding.estimate.value for finding in report.findings if finding.estimate}
        assert figures["transparent.known"] >= figures["nearest.known"]
        assert figures["transparent.rate"] >= figures["nearest.rate"]
        blind, knowing = report.document.intruders
        assert knowing.known.value >= blind.known.value == max(figures["nearest.known"], figures["one_to_one.known"])
        assert knowing.estimate.value >= blind.estimate.value


def test_a_shuffled_column_says_nothing_and_consistency_changes_little():
    """Data shuffling leaves the given columns alone; what `consistent` puts right is not held against anybody."""
    table = PEOPLE.with_columns(place=pl.Series(np.arange(PEOPLE.height) % 20))
    name = PEOPLE.columns[0]
    text = f"data_shuffling([{name}], given=[place])"
    moved = parse_masking(text).apply(table.select(name, "place"), 1)
    found = link_transparent(Release(table.select(name, "place"), moved), masking=text)
    assert found.estimate.value == pytest.approx(20 / PEOPLE.height, rel=0.3)  # one in each of 20 places
    noisy = masked("consistent(noise(0.5))")
    assert link_transparent(noisy).estimate.value == pytest.approx(
        link_transparent(masked("noise(0.5)")).estimate.value, abs=0.1
    )
