from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

from unmask import Release, attribute_inference, datasets
from unmask.assessment import discover
from unmask.disclosure.inference import assess_inference, read_off
from unmask.disclosure.learn import set_task
from unmask.errors import RoleError
from unmask.evidence.measure import Context
from unmask.selfcheck import shuffle
from unmask.study.study import Study

RNG = np.random.default_rng(8)


def people(n=200):
    return pl.DataFrame(
        {
            "age": RNG.normal(50, 10, n).round(1),
            "hours-per-week": RNG.integers(10, 60, n),
            "born": pl.Series(RNG.integers(0, 20_000, n)).cast(pl.Date),
            "secret": RNG.choice(["u", "v", "w"], n),
            "wage": RNG.lognormal(3, 1, n),
        }
    )


X, Y, C = people(), people(), people()
KNOWN = ["age", "hours-per-week", "born"]


def test_a_copy_gives_its_people_away_and_nobody_else():
    found = attribute_inference(Release(X, X, control=C, quasi=KNOWN, confidential=["secret", "wage"], synthetic=True))
    for entry in found.attributes:
        assert entry.members.value == 1.0
        assert entry.members.control < 0.5 and entry.excess.low > 0.5
        assert entry.excess.value == pytest.approx(1 - entry.members.control)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_an_independent_secret_is_at_chance(sign, scale):
    tables = [t.with_columns(wage=pl.col("wage") * sign * scale) for t in (X, Y, C)]
    found = attribute_inference(
        Release(tables[0], tables[1], control=tables[2], quasi=KNOWN, confidential=["wage"], synthetic=True)
    ).worst
    assert found.excess.low == 0.0
    assert found.members.low <= found.members.control <= found.members.high


def test_the_majority_guess_stands_beside_a_98_to_2_secret():
    tables = [t.with_columns(secret=pl.Series(["y"] * 4 + ["x"] * 196)) for t in (X, Y, C)]
    found = attribute_inference(
        Release(tables[0], tables[1], control=tables[2], quasi=KNOWN, confidential=["secret"], synthetic=True)
    ).worst
    assert found.members.chance == pytest.approx(0.98)
    assert found.members.value <= 0.99 and found.excess.low == 0.0


def test_ties_are_shared_and_missing_secrets_are_not_asked():
    original = pl.DataFrame({"k": ["a", "a", "b", "b"], "s": ["u", "v", "u", None]})
    released = pl.DataFrame({"k": ["a", "a", "a", "b"], "s": ["u", "u", "v", "v"]})
    study = Study(Release(original, released, quasi=["k"], confidential=["s"], synthetic=True))
    task = set_task(study, "s", within=0.1)
    assert read_off(study, task, np.array([0, 1, 2]), 0)[0].tolist() == pytest.approx([2 / 3, 1 / 3, 0.0])


@pytest.mark.parametrize(("most", "shared"), [(7, True), (6, False)])
def test_beyond_so_many_tied_rows_one_is_drawn(monkeypatch, most, shared):
    """Three rows are nearest to both people of a, and one to that of b: seven in all."""
    monkeypatch.setattr(sys.modules[read_off.__module__], "MOST_TIES", most)
    original = pl.DataFrame({"k": ["a", "a", "b"], "s": ["u", "v", "u"]})
    released = pl.DataFrame({"k": ["a", "a", "a", "b"], "s": ["u", "u", "v", "v"]})
    study = Study(Release(original, released, quasi=["k"], confidential=["s"], synthetic=True))
    credit = read_off(study, set_task(study, "s", within=0.1), np.arange(3), 0)[0]
    assert (set(credit.tolist()) <= {0.0, 1.0}) == (not shared)


def test_people_who_were_not_released_are_the_control():
    both = X.with_row_index("id")
    found = attribute_inference(Release(both, both[:120], id="id", quasi=KNOWN, confidential=["secret"]))
    assert found.worst.members.n == 120 and found.worst.excess.low > 0.4
    with pytest.raises(RoleError, match="outside"):
        attribute_inference(Release(X, X, quasi=KNOWN, confidential=["secret"]))
    assert "control" in discover()["inference"].applies(Release(X, X, quasi=KNOWN, confidential=["secret"]))
    with pytest.raises(RoleError, match="control"):
        attribute_inference(Release(X, X, quasi=KNOWN, confidential=["secret"], control=C.drop("age")))


def test_row_order_and_evidence():
    base = Release(X, Y, control=C, quasi=KNOWN, confidential=["secret", "wage"], synthetic=True)
    assert attribute_inference(shuffle(base, 3)).worst.excess == attribute_inference(base).worst.excess
    evidence = assess_inference(Study(base), Context())
    assert evidence.observations[0].key == "inference.excess" and len(evidence.facts) == 4  # two of sure claims
    patients = [datasets.patients(80, seed=s).drop("patient") for s in (1, 2, 3)]
    mixed = Release(patients[0], patients[1], control=patients[2], confidential=["diagnosis"], synthetic=True)
    assert attribute_inference(mixed).worst.excess.low == 0.0
