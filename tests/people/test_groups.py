"""Who bears the risk: the definition written slowly, groups that add up to all, and intervals that cover the truth."""

import json
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from command_line import run
from unmask.discretion import LEAST
from unmask.errors import RoleError
from unmask.linkage import link_nearest
from unmask.people import Found, risk_by_group, uneven
from unmask.people.groups import MISSING, MOST, OTHER

RNG = np.random.default_rng(11)


def made(table, hits=None, released=None):
    """A release of anybody, and hits that are said."""
    frame = pl.DataFrame(table)
    frame = frame.with_columns(x=np.arange(frame.height) * 1.5)
    hits = RNG.random(frame.height).round(1) if hits is None else np.asarray(hits, dtype=float)
    return unmask.Release(frame, frame if released is None else released, quasi=["x"]), Found("a", hits, hits / 2, 0.01)


def split(release, found, column):
    return {group.name: group for group in risk_by_group(release, column, found).groups}


def by_hand(values, hits):
    """Groups by the definition: people of each value, in a list."""
    people = {}
    for value, hit in zip(values, hits, strict=True):
        people.setdefault(MISSING if value is None else str(value), []).append(hit)
    return people


def test_groups_are_those_of_the_definition():
    values = RNG.choice(["a", "b", "c", None], 200, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    release, found = made({"g": values})
    told = risk_by_group(release, "g", found)
    hands = by_hand(values, found.hits)
    assert {group.name for group in told.groups} == set(hands) == {"a", "b", "c", MISSING}
    for group in told.groups:
        assert group.n == len(hands[group.name]) == group.found.n
        assert group.found.value == pytest.approx(np.mean(hands[group.name]))
        assert group.risk == pytest.approx(np.mean(hands[group.name]) / 2)
        assert group.ratio == pytest.approx(np.mean(hands[group.name]) / found.hits.mean())
        assert group.found.low < group.found.value < group.found.high
    assert [g.found.value for g in told.groups] == sorted((g.found.value for g in told.groups), reverse=True)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=90), st.randoms())
def test_groups_add_up_to_all_whoever_is_first(values, random):
    hits = [random.choice([0.0, 0.5, 1.0]) for _ in values]
    release, found = made({"g": pl.Series(values, dtype=pl.String)}, hits)
    told = risk_by_group(release, "g", found)
    if len(values) < LEAST:
        assert told.everybody is None and told.groups == ()
        return
    assert sum(group.n for group in told.groups) == told.everybody.n == len(values)
    assert sum(group.found.hits for group in told.groups) == pytest.approx(sum(hits))
    assert sum(group.risk * group.n for group in told.groups) == pytest.approx(sum(hits) / 2)
    assert min(group.n for group in told.groups) >= LEAST
    order = list(range(len(values)))
    random.shuffle(order)
    again = made({"g": pl.Series([values[i] for i in order], dtype=pl.String)}, [hits[i] for i in order])
    assert risk_by_group(again[0], "g", again[1]) == told


def test_small_groups_are_merged_until_nobody_can_be_pointed_at():
    release, found = made({"g": ["a"] * 40 + ["b"] * 12 + ["c"] * 3})
    assert {name: group.n for name, group in split(release, found, "g").items()} == {"a": 40, OTHER: 15}
    release, found = made({"g": ["a"] * 40 + ["b"] * 3})
    assert {name: group.n for name, group in split(release, found, "g").items()} == {OTHER: 43}
    release, found = made({"g": [f"v{i % 1000}" for i in range(3000)]})
    assert {name: group.n for name, group in split(release, found, "g").items()} == {OTHER: 3000}
    release, found = made({"g": [f"v{i % 100}" for i in range(3000)]})
    told = split(release, found, "g")
    assert len(told) == MOST and sum(group.n for group in told.values()) == 3000


def test_everybody_in_one_group_and_nobody_at_all():
    release, found = made({"g": ["a"] * 30})
    told = risk_by_group(release, "g", found)
    assert [group.ratio for group in told.groups] == [1.0] and told.figure is None
    nobody = Found(None, np.full(30, np.nan), np.full(30, np.nan), 0.0)
    assert risk_by_group(release, "g", nobody).groups == () and uneven(release, nobody) == ""
    unhit = risk_by_group(release, "g", Found("a", np.zeros(30), np.zeros(30), 0.0))
    assert np.isnan(unhit.groups[0].ratio) and unhit.groups[0].found.high > 0.05  # none of thirty is not never


def test_people_who_were_not_looked_for_are_in_no_group():
    release, found = made({"g": ["a"] * 30 + ["b"] * 30})
    risk = np.where(np.arange(60) < 5, np.nan, found.risk)
    told = split(release, Found("a", found.hits, risk, 0.0), "g")
    assert (told["a"].n, told["b"].n) == (25, 30)
    assert told["a"].found.value == pytest.approx(found.hits[5:30].mean())


def test_a_column_that_only_the_release_has_goes_by_the_pairs():
    order = RNG.permutation(40)
    original = pl.DataFrame({"id": np.arange(40), "x": np.arange(40) * 1.0})
    released = original.with_columns(g=pl.Series(["a"] * 15 + ["b"] * 25))[order]
    hits = (np.arange(40) < 15).astype(float)
    told = split(unmask.Release(original, released, id="id"), Found("a", hits, hits, 0.0), "g")
    assert (told["a"].found.value, told["b"].found.value) == (1.0, 0.0)
    with pytest.raises(RoleError, match="no column 'gg'"):
        risk_by_group(unmask.Release(original, released, id="id"), "gg", Found("a", hits, hits, 0.0))


def test_numbers_are_in_bands_with_rounded_ends_and_dates_in_years():
    income = np.exp(RNG.normal(10, 0.7, 500)).round(2)
    days = [date(1930, 1, 1) + timedelta(days=int(day)) for day in RNG.integers(0, 25_000, 500)]
    release, found = made({"income": income, "born": days, "children": RNG.integers(0, 3, 500), "none": [0.0] * 500})
    told = split(release, found, "income")
    assert len(told) == 5 and min(group.n for group in told.values()) > 60
    ends = {float(word.replace(",", "")) for name in told for word in name.split() if word[0].isdigit()}
    assert len(ends) == 4 and all(end % 1000 == 0 for end in ends)  # nobody's own income
    (lowest,) = (group for name, group in told.items() if name.startswith("under"))
    assert lowest.n == (income < min(ends)).sum()
    born = split(release, found, "born")
    assert all(1930 < int(word) < 2000 for name in born for word in name.split() if word[0] == "1")
    assert set(split(release, found, "children")) == {"0", "1", "2"}
    assert set(split(release, found, "none")) == {"0"}


def test_missing_numbers_are_a_group_of_their_own():
    values = [None if i % 10 == 0 else i * 1.0 for i in range(300)]
    release, found = made({"v": values})
    assert split(release, found, "v")[MISSING].n == 30


# --- simulations with the truth known --------------------------------------------------------------------------------

SHARES = (0.05, 0.2, 0.7)


def test_intervals_cover_the_share_of_each_group():
    rng = np.random.default_rng(2)
    covered = np.zeros((300, 3))
    release, _ = made({"g": np.repeat(["a", "b", "c"], 40)})
    for draw in range(300):
        hits = (rng.random(120) < np.repeat(SHARES, 40)).astype(float)
        told = split(release, Found("a", hits, hits, 0.0), "g")
        covered[draw] = [told[n].found.low <= s <= told[n].found.high for n, s in zip("abc", SHARES, strict=True)]
    assert (covered.mean(0) > 0.93).all() and covered.mean() < 0.98


def noisy(rng, n=50, columns=5):
    """Three groups of people drawn alike, whose records are masked with more and more noise."""
    people = rng.normal(size=(3 * n, columns))
    masked = people + rng.normal(size=people.shape) * np.repeat([0.3, 0.5, 0.8], n)[:, None]
    names = [f"v{k}" for k in range(columns)]
    original = pl.DataFrame(people, schema=names).with_columns(g=np.repeat(["a", "b", "c"], n))
    release = unmask.Release(original, pl.DataFrame(masked, schema=names))
    hits = link_nearest(release).credit
    return [split(release, Found("nearest", hits, hits, 0.0), "g")[name].found for name in "abc"]


@pytest.mark.slow
def test_intervals_of_groups_with_other_noise_cover_what_the_attack_finds_on_average():
    rng = np.random.default_rng(4)
    found = [noisy(rng) for _ in range(300)]
    truth = np.mean([[one.value for one in draw] for draw in found], axis=0)
    assert truth[0] > 2 * truth[2]
    covered = np.mean([[a.low <= t <= a.high for a, t in zip(draw, truth, strict=True)] for draw in found], axis=0)
    assert (covered >= 0.93).all() and (covered <= 0.98).all(), covered


def test_groups_that_bear_the_same_are_called_uneven_at_most_once_in_twenty():
    rng = np.random.default_rng(6)
    table = {f"c{k}": rng.integers(0, 8, 300).astype(str) for k in range(6)}
    release, _ = made(table)
    told = [uneven(release, Found("a", h, h, 0.0)) for h in (rng.random((100, 300)) < 0.03).astype(float)]
    assert sum(map(bool, told)) <= 5


def test_a_group_that_bears_far_more_is_told_without_its_value():
    rng = np.random.default_rng(8)
    town = np.where(np.arange(600) < 60, "Hinterwald", rng.choice(["Berg", "See"], 600))
    release, _ = made({"town": town, "sex": rng.choice(["f", "m"], 600)})
    hits = (rng.random(600) < np.where(town == "Hinterwald", 0.6, 0.1)).astype(float)
    told = uneven(release, Found("a", hits, hits, 0.0))
    assert "60 people who share a value of 'town'" in told and "Hinterwald" not in told


# --- in the report ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def assessment():
    people = unmask.datasets.patients(150, seed=3)
    masked = unmask.parse_masking("noise(0.4)").apply(people, 1)
    release = unmask.Release(people, masked, id="patient", quasi=["cost", "bmi", "days", "height"])
    return unmask.assess(release, only=["nearest", "one_to_one", "uniqueness"], by=["town", "insurance"])


def test_the_report_agrees_with_itself(assessment):
    assert [told.column for told in assessment.document.people.groups] == ["town", "insurance"]
    measure = assessment.document.people.measure
    rate = next(f.estimate for f in assessment.findings if f.key == f"{measure}.rate")
    for told in assessment.document.people.groups:
        assert told == assessment.by_group(told.column)
        assert told.everybody.found.value == pytest.approx(rate.value) and told.everybody.found.chance == rate.chance
        assert sum(group.found.hits for group in told.groups) == pytest.approx(rate.hits)
        assert told.everybody.risk == pytest.approx(np.nanmean(assessment.risks))
    data = assessment.to_dict()
    assert data["manifest"]["by"] == ["town", "insurance"]
    assert {group["name"] for group in data["people"]["groups"][1]["groups"]} == {"statutory", "private"}


def test_groups_in_the_html_with_a_text_for_who_cannot_see(assessment, tmp_path):
    assessment.write_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "Who bears the risk, by town" in page and "Share found by insurance: " in page


def test_on_the_command_line(tmp_path, capsys):
    people = unmask.datasets.patients(120, seed=3).select("patient", "sex", "town", "cost", "bmi")
    people.write_csv(tmp_path / "a.csv")
    unmask.parse_masking("noise(0.4)").apply(people, 1).write_csv(tmp_path / "b.csv")
    files = tmp_path / "a.csv", tmp_path / "b.csv", "--id", "patient", "--only", "nearest"
    assert run("assess", *files, "--by", "sex", "--by", "town", "--json", tmp_path / "r.json") in {1, 3}
    shown = capsys.readouterr().out
    assert "by sex" in shown and "by town" in shown and "everybody" in shown
    assert run("verify", tmp_path / "r.json") == 0
    (tmp_path / "u.toml").write_text('by = ["sex"]\n')
    assert run("assess", *files, "--config", tmp_path / "u.toml", "--quiet", "--json", tmp_path / "s.json") in {1, 3}
    told = json.loads((tmp_path / "s.json").read_text())["people"]["groups"]
    assert [entry["column"] for entry in told] == ["sex"] and sum(g["n"] for g in told[0]["groups"]) == 120
    capsys.readouterr()
    assert run("assess", *files, "--by", "twon") == 2
    error = capsys.readouterr().err
    assert "no column 'twon'" in error and "town" in error
