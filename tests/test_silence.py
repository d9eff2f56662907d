"""Silence is not safety: what no attack compared, and what was not run, shows in the verdict."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import unmask
from command_line import run
from unmask.evidence import name_of
from unmask.evidence.coverage import uncompared
from unmask.evidence.finding import Absence, Evidence, Reported

CORE = ["anonymity", "channel", "nearest", "one_to_one", "uniqueness"]


def reported(*compared, measure="nearest"):
    return Reported(measure, "", "", Evidence((), compared=compared))


def test_columns_that_nothing_compared_are_named():
    assert uncompared(["a", "b"], [reported("a"), reported("b", measure="channel")]) is None
    found = uncompared(["a", "b", "c"], [reported("a"), Reported("channel", "", "", Absence("could not run", "r"))])
    assert found.outcome == "could not run"
    assert found.claim == "No attack could compare 2 of the released columns: 'b', 'c'."
    many = uncompared([f"c{k}" for k in range(12)], [])
    assert "and 4 more" in many.claim


@pytest.fixture(scope="module")
def unknown_column():
    """A crowd's release, harmless but for a column that nothing in the original explains."""
    rng = np.random.default_rng(0)
    original = pl.DataFrame(
        {"id": range(600), "sex": rng.choice(["m", "f"], 600), "town": rng.choice(list("ABC"), 600)}
    )
    released = original.with_columns(mark=pl.Series(rng.choice(["x1", "y2", "z3"], 600)))
    return original, released.sample(fraction=1, shuffle=True, seed=1)


def test_an_unknown_column_is_never_safe_and_comes_first(unknown_column):
    only = CORE
    assessment = unmask.assess(unmask.Release(*unknown_column, id="id"), only=only)
    assert assessment.verdict == "inconclusive"
    assert assessment.findings[0].key == "columns.compared"
    assert "'mark'" in assessment.reason
    assert "'mark'" in assessment.document.warnings[0] and "ignored" in assessment.document.warnings[0]
    said = unmask.assess(unmask.Release(*unknown_column, id="id", ignored=["mark"]), only=only)
    assert said.verdict == "safe"


@pytest.mark.slow
def test_numbers_that_nothing_explains_are_never_safe():
    """Two numbers of chance and one code of the person's own, beside numbers that are learnt all together."""
    rng, n = np.random.default_rng([0, 5]), 450
    original = pl.DataFrame({"id": range(n), "sex": rng.choice(["m", "f"], n), "age": rng.integers(20, 80, n)})
    noisy = original.with_columns(age=pl.col("age") + rng.normal(0, 60, n).round())
    code = [(48_271 * k * k + 11_213 * k + 77) % 99_991 for k in range(n)]
    released = noisy.with_columns(
        p=pl.Series(rng.normal(size=n)), q=pl.Series(rng.integers(0, 9, n)), code=pl.Series(code)
    )
    assessment = unmask.assess(
        unmask.Release(original, released.sample(fraction=1, shuffle=True, seed=1), id="id"), only=CORE
    )
    assert assessment.verdict == "inconclusive"
    assert assessment.findings[0].key == "columns.compared"
    assert all(f"'{name}'" in assessment.reason for name in ("p", "q", "code"))
    said = unmask.Release(original, released, id="id", ignored=["p", "q", "code"])
    assert unmask.assess(said, only=CORE).verdict == "safe"


def test_what_was_not_run_is_not_safe(unknown_column):
    release = unmask.Release(*unknown_column, id="id", ignored=["mark"])
    alone = unmask.assess(release, only=["uniqueness"])
    assert alone.verdict == "inconclusive"
    assert alone.reason == (
        "within the limits by 1 of 32 attacks (31 left out); "
        "not enough to say safe: Small groups, Learnt masking, Nearest record, One-to-one matching did not run"
    )


@pytest.mark.parametrize("name", CORE)
def test_without_one_of_the_core_nothing_is_safe(unknown_column, name):
    release = unmask.Release(*unknown_column, id="id", ignored=["mark"])
    found = unmask.assess(release, only=CORE, skip=[name])
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("within the limits by 4 of 32 attacks")
    assert found.reason.endswith(f"not enough to say safe: {name_of(name)} did not run")


def test_roles_that_leave_nothing_to_compare_are_not_safe(unknown_column):
    """Without a column of the same name hardly an attack applies, and that is told."""
    original, released = unknown_column
    renamed = released.select("id", pl.col("sex").alias("s"), pl.col("town").alias("t"))
    found = unmask.assess(unmask.Release(original, renamed, id="id"), only=CORE)
    assert found.verdict == "inconclusive"
    assert "1 of 32 attacks (4 do not apply; 27 left out); not enough to say safe" in found.reason


def test_too_few_people_are_told_before_the_work(unknown_column, tmp_path, capsys):
    """A hundred of the six hundred: nothing is found, and that shows little."""
    original, released = (table.filter(pl.col("id") < 100).select("id", "sex") for table in unknown_column)
    original.write_csv(tmp_path / "a.csv")
    released.write_csv(tmp_path / "b.csv")
    code = run("assess", tmp_path / "a.csv", tmp_path / "b.csv", "--id", "id", "--only", ",".join(CORE))
    told = 'the policy "public" can say "safe" only from 381 people on, and these are 100'
    assert code == 3 and capsys.readouterr().err.startswith(f"note: {told}\n")


def test_intruders_are_ordered_by_what_they_know(tmp_path):
    people = unmask.datasets.census(150, seed=1)
    masked = unmask.parse_masking("noise(0.3)").apply(people, seed=2)
    release = unmask.Release(people, masked, masking="noise(0.3)")
    assessment = unmask.assess(release, only=["nearest", "one_to_one", "transparent", "channel"])
    entries = assessment.document.intruders
    assert [entry.knows for entry in entries][:2] == ["files", "method"] and entries[-1].knows == "half"
    found = [entry.estimate.value for entry in entries]
    assert found == sorted(found)
    assert found[-1] == max(f.estimate.value for f in assessment.findings if f.key.endswith(".rate"))
    assessment.write_json(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["intruders"][0]["knows"] == "files"
    assessment.write_html(tmp_path / "report.html")
    assert "What each intruder finds" in (tmp_path / "report.html").read_text()


@pytest.fixture(scope="module")
def renamed():
    """Noise that hides nobody, and not one column under its own name."""
    people = unmask.datasets.census(150, seed=1)
    masked = unmask.parse_masking("noise(0.05)").apply(people, seed=2)
    return people, masked.rename({name: f"c{k}" for k, name in enumerate(masked.columns)})


def test_other_column_names_are_not_safety(renamed):
    assessment = unmask.assess(unmask.Release(*renamed))
    found = {finding.key: finding for finding in assessment.findings}
    assert assessment.verdict == "unsafe"
    assert found["channel.rate"].estimate.value > 0.95
    for name in ("nearest", "uniqueness", "probabilistic"):
        assert found[name].outcome == "does not apply" and "columns of the same name" in found[name].reason
    assert "rename" in " ".join(assessment.document.warnings)


def test_a_synthetic_release_under_other_names_is_one_statement(renamed):
    assessment = unmask.assess(unmask.Release(*renamed, synthetic=True))
    assert assessment.verdict == "inconclusive"
    assert "No attack could compare 13 of the released columns" in assessment.reason
    assert "under the same names" in assessment.findings[0].reason
    assert unmask.assess(unmask.Release(*renamed), only=["nearest"]).verdict == "inconclusive"


def test_an_attack_by_names_says_what_to_do(renamed):
    with pytest.raises(unmask.errors.RoleError, match=r"rename(?s:.*)channel"):
        unmask.link_nearest(unmask.Release(*renamed))
