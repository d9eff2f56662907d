from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from naive import disclosure as naive
from naive import membership as slow
from unmask import Release, assess, datasets, membership_inference, membership_of_model, parse_masking
from unmask.assessment import discover
from unmask.disclosure.membership import assess_membership, blind_scores
from unmask.disclosure.outside import in_order, set_scene
from unmask.disclosure.roc import accusations, summarise
from unmask.errors import EngineError, ParameterError, RoleError
from unmask.evidence import auc, recognised, tpr_at
from unmask.evidence.measure import Context
from unmask.selfcheck import shuffle
from unmask.study.study import Study

SCORES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5]), min_size=1, max_size=15)


def at_the_limit(copies, rng, n, outside):
    """Scores of members, of whom 5 % are above what 1 % of strangers have: by copies, or by a shift of everybody."""
    others = rng.normal(size=outside)
    if copies:
        return np.where(rng.random(n) < 0.04 / 0.99, 50.0, rng.normal(size=n)), others
    return rng.normal(2.3263478740408408 - 1.6448536269514722, 1, n), others


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize(("n", "outside"), [(100, 100), (300, 100), (300, 300)])
def test_a_release_at_the_limit_is_seldom_taken_for_more_or_less(copies, n, outside):
    """Each error in at most 5 % of draws where the true share is 5 %; a bootstrap is too sure with 100 strangers."""
    above = below = 0
    for draw in range(150):
        found = recognised(*at_the_limit(copies, np.random.default_rng([draw, n]), n, outside), 0.01, draw)
        above, below = above + (found.low > 0.05), below + (found.high < 0.05)
    assert above <= 7 and below <= 7


def people(seed, n=200):
    return datasets.census(n, seed=seed)


@given(SCORES, SCORES, st.sampled_from([0.0, 0.001, 0.01, 0.2, 0.5, 1.0]))
@example([98.5, 98.6, 99.5, 3.0], list(range(100)), 0.01)  # one of a hundred is 1 %, to the last bit
@example([998.5, 998.6, 999.5, 3.0], list(range(1000)), 0.001)
def test_figures_equal_their_definitions(mine, others, false_alarms):
    a, b = np.array(mine), np.array(others)
    assert auc(a, b).value == pytest.approx(naive.auc(mine, others))
    assert tpr_at(a, b, false_alarms) == pytest.approx(naive.recognised(mine, others, false_alarms))


def test_auc_agrees_with_a_second_tool():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    a, b = rng.normal(0.5, 1, 80).round(1), rng.normal(0, 1, 120).round(1)
    wanted = roc_auc_score([1] * 80 + [0] * 120, np.concatenate([a, b]))
    assert auc(a, b).value == pytest.approx(wanted, abs=1e-12)


def test_a_copy_is_recognised_and_a_draw_is_not():
    copy = membership_inference(Release(people(1), people(1), control=people(3)))
    assert copy.auc.low > 0.95 and copy.tpr_at_1_percent.value > 0.9
    assert copy.recall.value > 0.95 and copy.precision.low > 0.8 and copy.f1.low > 0.8
    draw = membership_inference(Release(people(1), people(2), control=people(3)))
    assert draw.auc.low <= 0.5 <= draw.auc.high
    assert draw.tpr_at_1_percent.low <= 0.01 <= draw.tpr_at_1_percent.high
    masked = parse_masking("noise(0.3)").apply(people(1), 1)
    assert (
        draw.auc.value < membership_inference(Release(people(1), masked, control=people(3))).auc.value < copy.auc.value
    )


def test_shadow_releases_with_a_known_masking():
    masking = parse_masking("noise(0.2)")
    base = Release(people(1), masking.apply(people(1), 7), control=people(3))
    found = membership_inference(base, masking=masking, shadows=3)
    assert found.auc.low > 0.6
    assert found.recall.value > 0.4
    draw = membership_inference(Release(people(1), people(2), control=people(3)), masking=masking, shadows=3)
    assert draw.auc.low <= 0.5 <= draw.auc.high
    moved = membership_inference(shuffle(base, 1), masking=masking, shadows=3)
    assert moved.auc.value == pytest.approx(found.auc.value, abs=1e-9)


@pytest.mark.parametrize(("shadows", "made"), [(1, 2), (3, 4), (4, 4)])
def test_shadow_releases_are_made_in_pairs(shadows, made):
    seen = []

    def masking(table, seed):
        seen.append(seed)
        return table

    base = Release(people(1, 40), people(1, 40), control=people(3, 40))
    membership_inference(base, masking=masking, shadows=shadows)
    assert len(seen) == made


@pytest.mark.parametrize("text", ["noise(0.3)", "rank_swap(share=0.1)", "microaggregation(3)"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_knowing_the_masking_never_recognises_fewer(text, seed):
    masking, inside, outside = parse_masking(text), people(seed, 80), people(seed + 50, 60)
    release = Release(inside, masking.apply(inside, seed), control=outside)
    blind = membership_inference(release, seed=seed)
    knowing = membership_inference(release, masking=masking, shadows=2, seed=seed)
    assert knowing.auc.value >= blind.auc.value
    assert knowing.tpr_at_1_percent.value >= blind.tpr_at_1_percent.value
    assert knowing.tpr_at_01_percent.value >= blind.tpr_at_01_percent.value
    assert not blind.learnt
    if not knowing.learnt:  # the better of two: the same figure, less sure
        assert knowing.auc.value == blind.auc.value
        assert knowing.auc.low < blind.auc.low


def test_the_report_says_which_membership_attack_it_was():
    masking, inside = parse_masking("noise(0.3)"), people(1, 80)
    release = Release(inside, masking.apply(inside, 1), control=people(3, 60))
    assert len(assess_membership(Study(release), Context()).notes) == 1
    assert "shadow releases were tried" in assess_membership(Study(release.with_masking(masking)), Context()).notes[1]


def test_a_control_is_split_off_when_the_masking_is_known():
    table = people(5, 160)
    found = membership_inference(Release(table, table), masking=parse_masking("noise(0.1)"), shadows=2)
    assert found.auc.n == 80 and found.n_strangers == 80
    assert found.auc.low > 0.6
    with pytest.raises(RoleError, match="too few"):
        membership_inference(Release(table[:30], table[:30]), masking=parse_masking("noise(0.1)"))
    with pytest.raises(RoleError, match="outside"):
        membership_inference(Release(table, table))
    with pytest.raises(ParameterError, match="shadow"):
        membership_inference(Release(table, table), shadows=0)


def test_people_who_were_not_released_are_outside():
    table = people(6).with_row_index("id")
    found = membership_inference(Release(table, table[:120], id="id"))
    assert found.auc.n == 120 and found.n_strangers == 80 and found.auc.low > 0.9
    assert np.isnan(found.per_record[150])


@pytest.mark.parametrize("outside", [40, 99, 100, 250])
def test_the_people_accused_are_those_behind_the_share_recognised(outside):
    """Who scores higher than all strangers but 1 %, person by person; with whole percents it is the judged share."""
    inside, strangers = people(1, 60), people(3, outside)
    release = Release(inside, parse_masking("noise(0.3)").apply(inside, 2), control=strangers)
    found = membership_inference(release, seed=4)
    scene = set_scene(Study(release))
    lot, split = np.random.default_rng([4, 3]), []
    for side in (scene.members, scene.strangers):
        half = np.zeros(side.size, dtype=int)
        half[in_order(scene.of(side))] = np.isin(np.arange(side.size), lot.permutation(side.size)[: side.size // 2])
        split.append(half.tolist())
    mine, others = slow.chosen(blind_scores(scene, 4), split, slow.by_few_alarms)
    accused = [float(sum(other >= score for other in others) <= outside / 100) for score in mine]
    above_all = [float(score > max(others)) for score in mine]
    assert 0 < sum(accused) < 60 and (outside < 100) <= (accused == above_all)
    assert found.per_record.tolist() == accused
    if outside == 100:
        assert found.tpr_at_1_percent.value == pytest.approx(sum(accused) / 60)
    assert found.tpr_at_1_percent.value >= sum(accused) / 60 - 1e-12


def test_models_that_remember_and_models_that_do_not():
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(1)

    def group(n):
        x = rng.normal(size=(n, 6))
        return x, (x[:, 0] + rng.normal(0, 1.5, n) > 0).astype(np.int64)

    members, strangers, reference = group(200), group(200), group(400)
    learnt = membership_of_model(
        lambda x, y: DecisionTreeClassifier(random_state=0).fit(x, y), members, strangers, reference, shadows=3
    )
    assert learnt.auc.low > 0.6 and learnt.recall.value > 0.9
    honest = membership_of_model(lambda x, y: LogisticRegression().fit(x, y), members, strangers, reference, shadows=3)
    assert honest.auc.value < 0.6
    with pytest.raises(ParameterError, match="ten people"):
        membership_of_model(lambda x, y: None, members, strangers, group(5))

    def broken(_x, _y):
        raise KeyError("secret")

    with pytest.raises(EngineError, match="fit function failed") as error:
        membership_of_model(broken, members, strangers, reference)
    assert "secret" not in str(error.value)


def test_models_of_numbers():
    class Remember:
        def fit(self, x, y):
            self.book = {tuple(row): value for row, value in zip(x, y, strict=True)}
            return self

        def predict(self, x):
            return np.array([self.book.get(tuple(row), 0.0) for row in x])

    rng = np.random.default_rng(2)
    groups = [(rng.normal(size=(n, 2)), rng.normal(size=n)) for n in (50, 50, 100)]
    assert membership_of_model(lambda x, y: Remember().fit(x, y), *groups, shadows=2).auc.value == 1.0


def test_evidence_and_reasons():
    evidence = assess_membership(Study(Release(people(1), people(2), control=people(3))), Context())
    assert [o.key for o in evidence.observations] == ["membership.auc", "membership.tpr"]
    assert {fact.name for fact in evidence.facts} >= {"recall", "precision", "F1"}
    few = Release(people(1), people(2), control=people(3)[:5])
    assert "20 or more" in discover()["membership"].applies(few)
    categorical = pl.DataFrame({"c": ["x", "y"] * 60})
    found = membership_inference(Release(categorical, categorical, control=categorical[::-1], synthetic=True))
    assert found.auc.value == pytest.approx(0.5)  # all are alike


def test_precision_and_f1_have_intervals_that_cover():
    """Members are accused with probability 0.6, strangers with 0.2: precision 0.75, F1 2/3."""
    rng = np.random.default_rng(3)
    covered = [0, 0]
    for trial in range(200):
        rates = rng.binomial(150, 0.6) / 150, rng.binomial(100, 0.2) / 100
        precision, f1 = accusations(*rates, (150, 100), trial)
        covered[0] += precision.low <= 0.75 <= precision.high
        covered[1] += f1.low <= 2 * 0.75 * 0.6 / 1.35 <= f1.high
    assert all(180 <= count <= 200 for count in covered), covered
    nobody = accusations(0.0, 0.0, (10, 10), 0)
    assert nobody[0].value == nobody[1].value == 0.0


def test_assess_uses_shadow_releases_when_the_masking_is_known():
    people = datasets.census(200, seed=2)
    masking = parse_masking("noise(0.05)")
    release = Release(people, masking.apply(people, 1), masking=masking)
    evidence = assess_membership(Study(release), Context(seed=1))
    assert evidence.observations[0].estimate.value > 0.8
    order = np.random.default_rng(0).permutation(200)
    moved = Release(people[order], release.released[order], masking=masking)
    again = assess_membership(Study(moved), Context(seed=1))
    assert again.observations[0].estimate.value == evidence.observations[0].estimate.value
    text = Release(people, release.released, masking="noise(0.05)")
    (auc_finding, *_) = assess(text, only=["membership"]).findings
    assert auc_finding.estimate.value > 0.8


def test_a_positive_score_is_an_accusation():
    found = summarise(np.array([0.5, 2.0, -1.0, 0.0]), np.array([-1.0, 0.25, 3.0, -2.0]), np.zeros(4), 0)
    assert (found.recall.value, found.recall.chance) == (0.5, 0.5)


def test_where_no_row_is_near_somebody_was_kept_away():
    def people(n, seed):
        return np.random.default_rng(seed).normal(size=(n, 2))

    inside, pool = people(200, 1), people(20_000, 3)
    far = np.sqrt(((pool[:, None] - inside[None]) ** 2).sum(2)).min(1)
    sides = inside, pool[far > np.quantile(far, 0.95)][:200], people(200, 2)
    original, released, control = (pl.DataFrame(side, schema=["a", "b"]) for side in sides)
    found = membership_inference(Release(original, released, synthetic=True, control=control))
    assert found.auc.low > 0.5
    assert "no record near" in found.attacks
