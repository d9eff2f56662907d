"""Two halves of the columns linked through the release: known answers, beside a test that sees less of it."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import command_line
import unmask
from naive.judged import squares
from unmask.disclosure.linkability import _drawn
from unmask.errors import ParameterError, RoleError
from unmask.masking import parse_masking
from unmask.study.study import Study

WHOLE = unmask.datasets.census(900, seed=5)
INSIDE, OUTSIDE, OTHERS = WHOLE[:300], WHOLE[300:600], WHOLE[600:]


def mixed(table, seed=0):
    return table.sample(fraction=1.0, shuffle=True, seed=seed)


def found(released, **more):
    return unmask.linkability(unmask.Release(INSIDE, released, control=OUTSIDE, synthetic=True), **more)


def test_a_copy_links_everybody_and_other_people_nobody():
    assert found(mixed(INSIDE)).excess.low > 0.8
    fresh = found(OTHERS)
    assert fresh.excess.low == 0 and fresh.linked.control == pytest.approx(fresh.linked.value, abs=0.08)


def test_finds_what_a_common_neighbour_misses():
    """[GIOMI]_ counts people both of whose halves have the same nearest row: the intruder need not know the second."""
    released = mixed(parse_masking("noise(0.1)").apply(INSIDE, seed=1))
    told = found(released)
    rows, people = released.to_dicts(), INSIDE.to_dicts()
    one, two = (squares(people, rows, list(half), [], "original").argmin(axis=1) for half in told.halves)
    common = float((one == two).mean())
    assert told.linked.value > common and told.excess.low > 0.3


def test_order_of_rows_and_names_of_halves():
    first = found(OTHERS, halves=(["wages", "interest"], ["federal_tax", "state_tax"]))
    again = unmask.Release(mixed(INSIDE), mixed(OTHERS, 2), control=mixed(OUTSIDE, 3), synthetic=True)
    second = unmask.linkability(again, halves=(["wages", "interest"], ["federal_tax", "state_tax"]))
    assert first.linked == second.linked and first.excess == second.excess
    assert first.halves == (("wages", "interest"), ("federal_tax", "state_tax"))


def test_equal_rows_are_shared():
    """Two of each person: the way leads to either."""
    table = pl.DataFrame({"a": [1.0, 2, 3, 4] * 10, "b": [5.0, 7, 9, 11] * 10})
    other = pl.DataFrame({"a": [1.5, 2.5] * 20, "b": [9.0, 5.0] * 20})
    told = unmask.linkability(unmask.Release(table, table, control=other, synthetic=True), halves=(["a"], ["b"]))
    assert told.linked.value == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("halves", "words"), [((["wages"], ["wages"]), "without a common one"), (([], ["wages"]), "an empty half")]
)
def test_bad_halves(halves, words):
    with pytest.raises(ParameterError, match=words):
        found(OTHERS, halves=halves)


def test_bad_input():
    with pytest.raises(RoleError, match="nobody is known"):
        unmask.linkability(unmask.Release(INSIDE, OTHERS, synthetic=True))
    one = unmask.Release(INSIDE, OTHERS, control=OUTSIDE, synthetic=True, quasi=["wages"])
    with pytest.raises(RoleError, match="only one column"):
        unmask.linkability(one)
    told = [f for f in unmask.assess(one, only=["linkability"]).findings if f.measure == "linkability"]
    assert [f.outcome for f in told] == ["does not apply"] and "two columns" in told[0].reason
    with pytest.raises(RoleError, match="overlaps"):
        unmask.linkability(unmask.Release(INSIDE, OTHERS, control=INSIDE, synthetic=True))


@pytest.mark.slow
def test_other_people_are_seldom_above():
    """Rows of other people: the lower end is above 0 in at most one of twenty draws."""
    above = 0
    for seed in range(60):
        table = unmask.datasets.census(450, seed=1000 + seed)
        release = unmask.Release(table[:150], table[150:300], control=table[300:], synthetic=True)
        above += unmask.linkability(release, seed=seed).excess.low > 0
    assert above <= 6


def test_large_files_are_asked_by_a_sample():
    draw = np.random.default_rng(0)
    tables = [pl.DataFrame(draw.normal(size=(2300, 4)), schema=list("abcd")) for _ in range(2)]
    told = unmask.linkability(unmask.Release(tables[0], tables[0], control=tables[1], synthetic=True))
    assert told.linked.n == 2000 and (told.per_record > 0).sum() <= 2000


FIRST, SECOND = INSIDE.columns[:8], INSIDE.columns[5:]  # three columns are in both


def two(table, noise="noise(0.02)"):
    """Two releases of some people, each with columns of its own, shuffled."""
    masked = [parse_masking(noise).apply(table, seed=k) for k in (1, 2)]
    return mixed(masked[0].select(FIRST), 1), mixed(masked[1].select(SECOND), 2)


def linked_across(first, second):
    return unmask.linkability(
        unmask.Release(INSIDE, first, control=OUTSIDE, synthetic=True), second=second, seed=1
    )  # fmt: skip


def test_two_releases_of_the_same_people_link_their_columns():
    found = linked_across(*two(INSIDE))
    assert [set(half) for half in found.halves] == [set(FIRST[:5]), set(SECOND[3:])]
    assert found.linked.control < 0.1 and found.excess.low > 0.5
    fresh = linked_across(two(INSIDE)[0], two(OTHERS)[1])  # the second holds other people
    assert fresh.excess.low == 0.0


def test_the_way_through_two_releases_step_by_step():
    """By nested loops on few people, ties and all."""
    draw = np.random.default_rng(2)
    whole = pl.DataFrame({name: draw.integers(0, 6, 48).astype(float) for name in "abcd"})
    people, control = whole[:24], whole[24:]
    first, second = people.select("a", "b", "c")[::-1], people.select("b", "c", "d")
    found = unmask.linkability(unmask.Release(people, first, control=control, synthetic=True), second=second)
    assert found.halves == (("a",), ("d",))
    steps = [
        (people.to_dicts(), first.to_dicts(), ["a"]),
        (first.to_dicts(), second.to_dicts(), ["b", "c"]),
        (second.to_dicts(), people.to_dicts(), ["d"]),
    ]
    shares = []
    for asking, asked, names in steps:
        scale = {name: np.std([row[name] for row in (asking if names != ["d"] else asked)], ddof=0) for name in names}
        far = np.array([[sum(((x[n] - y[n]) / scale[n]) ** 2 for n in names) for y in asked] for x in asking])
        nearest = far <= far.min(axis=1, keepdims=True) + 1e-9
        shares.append(nearest / nearest.sum(axis=1, keepdims=True))
    credit = np.diag(shares[0] @ shares[1] @ shares[2])
    assert found.per_record == pytest.approx(credit)
    assert found.linked.value == pytest.approx(credit.mean())


def test_two_releases_that_cannot_be_linked():
    first, second = two(INSIDE)
    with pytest.raises(RoleError, match="0 common"):
        linked_across(first.select(FIRST[:3]), second.select(SECOND[-3:]))
    with pytest.raises(RoleError, match="0 only in the second"):
        linked_across(first, second.select(SECOND[:3]))
    with pytest.raises(ParameterError, match="of one release"):
        unmask.linkability(
            unmask.Release(INSIDE, first, control=OUTSIDE, synthetic=True), second=second, halves=([], [])
        )


def test_two_paired_releases_are_linked_by_every_attack():
    """Rows of both belong to known people: the first release is what the intruder holds of them."""
    first, second = (parse_masking("noise(0.1)").apply(INSIDE, seed=k) for k in (1, 2))
    found = unmask.assess(unmask.Release(first.select(FIRST), second.select(SECOND)), only=["nearest"], utility="none")
    assert found.verdict == "unsafe"
    assert next(f for f in found.findings if f.key == "nearest.rate").estimate.low > 0.3


def test_a_second_release_in_an_assessment():
    first, second = two(INSIDE)
    release = unmask.Release(INSIDE, first, control=OUTSIDE, second=second, synthetic=True)
    told = unmask.assess(release, only=["linkability"], utility="none")
    by = {finding.key: finding for finding in told.findings}
    assert by["linkability.across"].estimate.value == pytest.approx(linked_across(first, second).excess.value, abs=0.02)
    assert by["linkability.across"].outcome == "against"
    (entry,) = (entry for entry in told.document.measures if entry.name == "linkability")
    assert [figure.title for figure in entry.figures] == [
        "Whose two halves are linked by the release?", "Whose two halves are linked by two releases?",
    ]  # fmt: skip
    same = unmask.Release(INSIDE, first, control=OUTSIDE, second=first, synthetic=True)
    told = unmask.assess(same, only=["linkability"], utility="none")
    assert {f.key for f in told.findings if f.measure == "linkability"} == {"linkability.excess"}
    (entry,) = (entry for entry in told.document.measures if entry.name == "linkability")
    assert "the second release was not linked" in entry.notes[0]
    with pytest.raises(RoleError, match="no column of the original"):
        unmask.Release(INSIDE, first, second=pl.DataFrame({"shoe": [1]}), synthetic=True)
    with pytest.raises(ParameterError, match="second cannot be used without an original"):
        unmask.Release(None, first, second=second)


def test_a_second_release_on_the_command_line(tmp_path):
    first, second = two(INSIDE)
    tables = {"people": INSIDE, "first": first, "second": second, "others": OUTSIDE}
    for name, table in tables.items():
        table.write_csv(tmp_path / f"{name}.csv")
    paths = {name: tmp_path / f"{name}.csv" for name in tables}
    report, page = tmp_path / "report.json", tmp_path / "report.html"
    code = command_line.run(
        "assess", paths["people"], paths["first"], "--synthetic", "--control", paths["others"], "--second",
        paths["second"], "--only", "linkability", "--json", report, "--html", page, "--quiet",
    )  # fmt: skip
    assert code == 1
    written = json.loads(report.read_text())
    assert "linkability.across" in {finding["key"] for finding in written["findings"]}
    assert written["manifest"]["inputs"]["second"]["rows"] == 300
    assert "linked by two releases" in page.read_text()
    assert unmask.verify(report).same


def test_as_many_are_drawn_inside_as_outside_and_nobody_is_both():
    """Who was not released is outside; the person of the first released row is not."""
    table = pl.DataFrame({"id": range(9), "a": np.arange(9.0), "b": np.arange(9.0) ** 2})
    release = unmask.Release(table, table[[0, 1, 2, 3, 4]], id="id")
    inside, outside = _drawn(release, Study(release).encoding().original, 0)
    assert len(inside) == 4 and set(inside.tolist()) < {0, 1, 2, 3, 4} and outside.tolist() == [5, 6, 7, 8]
