"""Synthesisers of others: a command or a function; whatever goes wrong in it is one error."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from unmask import Release, Synthesiser, assess, datasets, membership_inference
from unmask.errors import EngineError, ParameterError
from unmask.masking import as_maker

WORKS = """
import csv, random, sys
source, target, seed = sys.argv[1:]
rows = list(csv.reader(open(source)))
random.seed(int(seed))
head, body = rows[0], rows[1:]
with open(target, "w", newline="") as file:
    csv.writer(file).writerows([head, *random.choices(body, k=len(body))])
"""


@pytest.fixture
def command(tmp_path):
    def written(code):
        (tmp_path / "make.py").write_text(code)
        return f"'{sys.executable}' '{tmp_path}/make.py' {{in}} {{out}} {{seed}}"

    return written


def people(n=60, seed=0):
    return datasets.census(n, seed=seed).select("gross_income", "federal_tax", "wages")


def test_a_command_makes_releases(command):
    maker = Synthesiser(command(WORKS))
    made = maker.apply(people(), 3)
    assert made.columns == people().columns
    assert made.height == 60
    assert set(made.rows()) <= set(people().rows())
    assert made.equals(maker.apply(people(), 3))
    assert not made.equals(maker.apply(people(), 4))


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import sys; sys.exit('no licence')", "the synthesiser failed.*exit code 1: no licence"),
        ("pass", "wrote no table"),
        ("import sys; open(sys.argv[2], 'w').write('a,b\\n1,2\\n')", "another kind of table.*no gross_income"),
    ],
)
def test_what_fails_is_one_error(command, code, told):
    with pytest.raises(EngineError, match=f"(?s){told}"):
        as_maker(Synthesiser(command(code)))(people(), 0)


def test_what_hangs_is_stopped(command):
    begun = time.monotonic()
    with pytest.raises(EngineError, match="stopped after 1 seconds"):
        Synthesiser(command("import time; time.sleep(60)"), 1).apply(people(), 0)
    with pytest.raises(EngineError, match="stopped after 0.2 seconds"):
        as_maker(lambda _table, _seed: time.sleep(3), 0.2)(people(), 0)
    assert time.monotonic() - begun < 20


def test_refusals():
    with pytest.raises(ParameterError, match=r"no \{out\}"):
        Synthesiser("make.py {in}")
    with pytest.raises(EngineError, match="cannot be started"):
        Synthesiser("/no/such/program {in} {out}").apply(people(), 0)
    with pytest.raises(ParameterError, match="makes no releases"):
        as_maker(3)

    def broken(_table, _seed):
        raise KeyError("secret")

    with pytest.raises(EngineError, match="the synthesiser failed") as error:
        as_maker(broken)(people(), 0)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("text", ["synthetic(copula)", "synthetic(cart, leaf=5)"])
def test_our_own_synthesisers_make_shadows(text):
    from unmask import parse_masking

    masking, inside = parse_masking(text), people(80, 1)
    release = Release(inside, masking.apply(inside, 1), control=people(80, 2), synthetic=True)
    blind = membership_inference(release, seed=1)
    knowing = membership_inference(release, masking=masking, shadows=4, seed=1)
    assert knowing.auc.value >= blind.auc.value
    assert knowing.tpr_at_1_percent.value >= blind.tpr_at_1_percent.value
    if text.startswith("synthetic(cart"):
        assert knowing.auc.low > 0.5  # trees publish values of people


def test_a_function_in_an_assessment():
    def bootstrap(table, seed):
        return table.sample(table.height, with_replacement=True, seed=seed)

    inside = people(80, 1)
    release = Release(inside, bootstrap(inside, 0), control=people(80, 2), synthetic=True, masking=bootstrap)
    found = assess(release, only=["membership", "transparent"], utility="none")
    assert found.verdict == "unsafe"
    (notes,) = (entry.notes for entry in found.document.measures if entry.name == "membership")
    assert "shadow releases were tried" in notes[-1]

    def broken(_table, _seed):
        raise OSError

    release = Release(inside, bootstrap(inside, 0), control=people(80, 2), synthetic=True, masking=broken)
    found = assess(release, only=["membership"], utility="none")
    assert "the synthesiser failed" in found.findings[-1].reason
    assert np.isnan(found.risks).all()
