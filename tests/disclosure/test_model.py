from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unmask import Release, datasets, model_disclosure, parse_masking
from unmask.disclosure.learn import LEARNERS, folds_of, guess, guess_surely, set_task
from unmask.disclosure.model import assess_model
from unmask.errors import EngineError, ParameterError, RoleError
from unmask.evidence.measure import Context
from unmask.selfcheck import shuffle
from unmask.study.study import Study

RNG = np.random.default_rng(5)
N = 240
TOWN = RNG.choice(["a", "b", "c"], N)
PEOPLE = pl.DataFrame(
    {
        "id": range(N),
        "town": TOWN,
        "age": RNG.normal(50, 10, N).round(2),
        "hours-per-week": RNG.integers(10, 60, N),
        "sick": np.where(TOWN == "a", "yes", "no"),
        "secret": RNG.choice(["u", "v"], N),
        "wage": RNG.lognormal(3, 1, N),
    }
)
STRANGER = PEOPLE.select("id", *(pl.col(name).shuffle(seed=k) for k, name in enumerate(PEOPLE.columns[1:])))


def release(released=PEOPLE, **roles):
    return Release(PEOPLE, released, id="id", **roles)


def test_what_everybody_can_learn_is_no_excess():
    """Who is sick follows from the town, without anybody's own row: adr is 1, and the release gives nothing away."""
    found = model_disclosure(release(confidential=["sick"], quasi=["town"]), learners=["tree"], folds=3).attributes[0]
    assert found.learners[0].absent.value == found.learners[0].present.value == 1.0
    assert found.learners[0].excess.value == 0.0 < found.learners[0].excess.high
    assert found.few[0] == (("town",), 1.0)


def test_what_only_the_own_row_tells_is_excess():
    found = model_disclosure(release(confidential=["secret"]), learners=LEARNERS, folds=3, few=2).attributes[0]
    assert [entry.learner for entry in found.learners] == list(LEARNERS)
    for entry in found.learners:
        assert entry.absent.low < 0.55 < entry.present.value
        assert entry.excess.value == pytest.approx(entry.present.value - entry.absent.value)
    assert found.worst.excess.low > 0.2
    assert len(found.few) == 2 and set(found.few[0][0]) < set(found.few[1][0])
    assert np.nanmean(found.gains) >= found.worst.excess.value


def test_few_attributes_are_learnt_on_one_half_of_the_folds_and_tried_on_the_other():
    base = release(confidential=["secret"], quasi=["age", "hours-per-week"])
    found = model_disclosure(base, learners=["tree"], folds=4, few=1, within=0.1).attributes[0]
    half, task, rates = folds_of(Study(base), 4, 0) % 2, set_task(Study(base), "secret", within=0.1), {}
    for name in task.known:
        one, right = task.only((name,)), np.zeros(N)
        for side in (0, 1):
            people = np.flatnonzero(half == side)
            right[people] = one.right(guess(one, "tree", base.truth[half != side], people, 0), people)
        rates[name] = right.mean()
    best = max(rates, key=lambda name: (rates[name], name))
    assert found.few == (((best,), pytest.approx(rates[best])),)


@pytest.mark.parametrize(
    "change",
    [lambda v: v, lambda v: -v, lambda v: v * 1e6 + 3, lambda v: v - 1000],
    ids=["as it is", "negative", "large", "shifted"],
)
def test_an_independent_secret_is_at_chance_whatever_its_sign_or_scale(change):
    """A peer's tolerance is relative to the value, so that the sign or an offset decides. Ours is that of the sd."""
    original = PEOPLE.with_columns(wage=change(pl.col("wage")))
    unrelated = original.with_columns(wage=pl.col("wage").shuffle(seed=3))
    found = (
        model_disclosure(
            Release(original, unrelated, id="id", confidential=["wage"], quasi=["town", "age"]),
            learners=["tree"],
            few=0,
        )
        .attributes[0]
        .learners[0]
    )
    assert found.excess.low == 0.0
    assert found.present.low <= found.present.chance and abs(found.present.value - found.absent.value) < 0.08


def test_a_98_to_2_secret_is_compared_with_the_majority():
    rare = PEOPLE.with_columns(secret=pl.Series(["y"] * 5 + ["x"] * (N - 5)))
    mixed = rare.with_columns(secret=pl.col("secret").shuffle(seed=1))
    found = model_disclosure(
        Release(rare, mixed, id="id", confidential=["secret"]), learners=["tree"], few=0
    ).worst.worst
    assert found.present.chance == pytest.approx(1 - 5 / N)
    assert found.present.value < found.present.chance + 0.02
    assert found.excess.low == 0.0


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["x"] * N, "one value, which everybody knows"),
        ([f"p{i}" for i in range(N)], "one value per record"),
        (pl.Series([None] * N, dtype=pl.String), "no value"),
        (TOWN, "equals 'town'"),
    ],
)
def test_attributes_that_cannot_be_learnt_are_said(column, words):
    table = PEOPLE.with_columns(odd=pl.Series(column))
    both = Release(table, table, id="id", confidential=["odd"], quasi=["town", "age"])
    with pytest.raises(RoleError, match=words):
        model_disclosure(both)
    from unmask.assessment import discover

    assert words in discover()["model"].applies(both)
    with_another = Release(table, table, id="id", confidential=["odd", "sick"], quasi=["town", "age"])
    found = model_disclosure(with_another, learners=["tree"], few=0)
    assert [entry.name for entry in found.attributes] == ["sick"]
    assert words in found.notes[0]


def test_fewer_people_than_folds_and_other_refusals():
    few = PEOPLE[:4].with_columns(sick=pl.Series(["yes", "no", "yes", "no"]))
    with pytest.raises(ParameterError, match="fewer people than folds"):
        model_disclosure(Release(few, few, id="id", confidential=["sick"]), folds=5)
    with pytest.raises(ParameterError, match="did you mean 'boosting'"):
        model_disclosure(release(confidential=["secret"]), learners=["bosting"])
    with pytest.raises(ParameterError, match="estimator"):
        model_disclosure(release(confidential=["secret"]), learners=[3])
    with pytest.raises(ParameterError, match="folds"):
        model_disclosure(release(confidential=["secret"]), folds=1)
    with pytest.raises(ParameterError, match="tolerance"):
        model_disclosure(release(confidential=["secret"]), within=0)
    empty = PEOPLE.with_columns(pl.lit(None, dtype=pl.String).alias("secret"))
    with pytest.raises(RoleError, match="no value in the release"):
        model_disclosure(Release(PEOPLE, empty, id="id", confidential=["secret"]))
    assert issubclass(EngineError, ValueError)


def test_any_estimator_and_missing_values():
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    holes = PEOPLE.with_columns(age=pl.when(pl.col("id") % 7 == 0).then(None).otherwise(pl.col("age")))
    found = model_disclosure(
        Release(holes, holes, id="id", confidential=["sick"]),
        learners=[GaussianNB(), LogisticRegression(max_iter=2000), "boosting"], folds=2, few=0,
    ).attributes[0]  # fmt: skip
    assert [entry.learner for entry in found.learners] == ["GaussianNB", "LogisticRegression", "boosting"]
    assert found.learners[2].absent.value > 0.9


def test_row_order_and_seed():
    masked = parse_masking("noise(0.3)").apply(PEOPLE.drop("id"), 1).insert_column(0, PEOPLE["id"])
    base = release(masked, confidential=["secret", "wage"])
    runs = [model_disclosure(r, learners=["tree", "boosting"], folds=2, few=1) for r in (base, shuffle(base, 4))]
    for one, two in zip(runs[0].attributes, runs[1].attributes, strict=True):
        assert one.learners == two.learners and one.few == two.few
    fold = folds_of(Study(base), 3, 0)
    assert np.bincount(fold).tolist() == [80, 80, 80]


def test_budget_and_sample_say_what_was_left_out():
    base = release(confidential=["secret", "sick", "wage"], quasi=["town", "age"])
    hurried = model_disclosure(base, learners=["tree", "forest"], budget=0.0, few=1)
    assert [entry.name for entry in hurried.attributes] == ["secret"]
    assert any("'sick', 'wage'" in note for note in hurried.notes)
    assert any("some models" in note for note in hurried.notes)
    sampled = model_disclosure(base, learners=["tree"], sample=60, few=0)
    assert sampled.attributes[0].learners[0].present.n == 60
    assert "60 people" in sampled.notes[0]
    assert np.isnan(sampled.attributes[0].gains).sum() == N - 60


def test_a_column_with_a_hyphen_a_date_and_people_outside():
    people, outside = (datasets.patients(150, seed=s).rename({"days": "hours-per-week"}) for s in (1, 2))
    both = Release(
        people.drop("patient"), people.drop("patient"), confidential=["hours-per-week", "admitted"],
        quasi=["sex", "bmi", "cost"],
        control=outside,
    )  # fmt: skip
    seen = []
    found = model_disclosure(
        both, learners=["tree"], folds=2, few=1, progress=lambda done, text: seen.append((done, text))
    )
    assert {entry.name for entry in found.attributes} == {"hours-per-week", "admitted"}
    assert seen[-1][0] == 1.0
    for entry in found.attributes:
        assert entry.learners[0].absent.control is not None
    task = set_task(Study(both), "admitted", within=0.1)
    assert task.numeric and len(task.people) == 300


def test_evidence():
    evidence = assess_model(Study(release(confidential=["secret"], quasi=["town", "age"])), Context(seed=1))
    assert evidence.observations[0].key == "model.excess"
    assert evidence.per_record.shape == (N,) and not evidence.identity
    assert ((evidence.per_record >= 0) & (evidence.per_record <= 1)).all()
    independent = assess_model(
        Study(release(STRANGER, confidential=["secret"], quasi=["town", "age"])), Context(seed=1)
    )
    assert independent.observations[0].estimate.low == 0.0


def test_units_do_not_move_where_a_tree_is_cut():
    """Cuts are in the middle of two values, where somebody else may be: rounding must not move them to either side."""
    rng = np.random.default_rng(21)
    tall, pay = np.round(rng.normal(170, 9, 280), 1), np.round(rng.lognormal(7.5, 0.4, 280), 2)
    secret = np.where(pay + 400 * rng.normal(size=280) > np.median(pay), "yes", "no")
    everybody, told = np.arange(280), []
    for a, b in ((1.0, 1.0), (1 / 2.54, 1.1), (2.2046, 0.91)):
        known = pl.DataFrame({"tall": tall * a, "pay": pay * b, "secret": secret})
        task = set_task(Study(Release(known, known, confidential=["secret"])), "secret", within=0.5)
        told.append(guess_surely(task, "boosting", everybody[:140], everybody, 0))
    for other in told[1:]:
        np.testing.assert_array_equal(other.sure, told[0].sure)
        np.testing.assert_array_equal(other.right, told[0].right)
