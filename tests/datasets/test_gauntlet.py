from __future__ import annotations

import ast
import datetime as dt
import itertools
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import families
import numpy as np
import polars as pl
import pytest
from families import CASES, chosen

from unmask.datasets import gauntlet
from unmask.datasets.gauntlet.case import Pair, matched, nearest, publish, rarity, same, table
from unmask.datasets.gauntlet.quick import together

NAMES = list(CASES)
HARMLESS = [name for name in NAMES if CASES[name].family == "harmless"]
SHARED = [
    "derived_columns",
    "brackets_with_separators",
    "unsalted_hash",
    "other_units",
    "pattern_of_missing",
    "cents_survive",
    "person_date_shift",
    "unequal_noise",
    "rank_swap_30",
    "likert_noise",
    "log_noise",
    "three_percent_untouched",
    "households",
    "copy_called_synthetic",
    "three_percent_memorised",
    "independent_people",
    "differentially_private",
    "large_crowds",
]


@cache
def made(name, seed=3):
    return CASES[name].make(seed)


def rows_by_id(case):
    """The released row of every original row, by the id; only tests and counting may look at it."""
    place = {person: row for row, person in enumerate(case.released["id"].to_list())}
    return [place[person] for person in case.original["id"].to_list()]


# --- every case ---------------------------------------------------------------------------------------------------


def test_there_are_enough_in_every_family_and_the_shared_ones_are_among_them():
    assert len(NAMES) >= 64
    assert set(SHARED) <= set(NAMES)
    for family in gauntlet.FAMILIES:
        members = chosen(family=family)
        assert len(members) >= 6
        assert any(known.name in gauntlet.CASES for known in members)


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_one_release(name):
    again, other = CASES[name].make(3), CASES[name].make(4)
    assert made(name).original.equals(again.original) and made(name).released.equals(again.released)
    assert made(name).found == again.found
    assert not made(name).released.equals(other.released)


@pytest.mark.parametrize("name", NAMES)
def test_found_is_a_share_well_above_chance_or_nobody(name):
    case = made(name)
    assert (case.found is None) == (name in HARMLESS)
    if case.found is not None:
        assert 10 / case.original.height <= case.found <= 1.0  # chance is one in the number of rows
        assert case.found < 0.05 or case.found > 0.22  # clear of the commonest limit, one in five


@pytest.mark.parametrize("name", NAMES)
def test_it_is_told_in_words(name):
    assert made(name).words and not made(name).words.endswith(".")
    assert CASES[name].story.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_roles_name_columns_that_are_there(name):
    case = made(name)
    roles = dict(case.roles)
    control = roles.pop("control", None)
    if control is not None:
        assert set(case.released.columns) - {"id"} <= set(control.columns)
    if roles.pop("synthetic", False):
        assert "id" not in case.original.columns and "id" not in roles
    else:
        assert roles.pop("id") == "id"
        ids = [frame["id"].to_list() for frame in (case.original, case.released)]
        assert sorted(ids[0]) == sorted(ids[1]) and len(set(ids[0])) == case.original.height
        assert ids[0] != ids[1]  # the order of the rows tells nothing
        assert abs(np.corrcoef(ids[1], np.arange(len(ids[1])))[0, 1]) < 0.2
    confidential = roles.pop("confidential", [])
    assert set(confidential) <= set(case.original.columns) & set(case.released.columns)
    household = roles.pop("household", None)
    assert household is None or household in set(case.original.columns) & set(case.released.columns)
    assert not roles


@pytest.mark.parametrize("name", [name for name in HARMLESS if "id" in made(name).roles])
def test_an_exact_match_finds_nobody_in_a_harmless_release(name):
    case = made(name)
    known = [
        c for c in case.original.columns if c in case.released.columns and c not in case.roles.get("confidential", [])
    ]
    known.remove("id")
    written = case.released.select(known).cast(case.original.select(known).schema, strict=False)
    pair = Pair(case.original, written, np.array(rows_by_id(case)))
    assert same(case.original.select(known), pair) < 0.05


def test_intruders_look_at_the_truth_only_to_count():
    """`truth` is the last argument of a counting function, or compared with the links that were made."""
    folders = [Path(gauntlet.__file__).parent, Path(families.__file__).parent]
    for path in sorted(path for folder in folders for path in folder.glob("*.py")):
        tree = ast.parse(path.read_text())
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "truth" and path.name != "case.py":
                use = parents[node]
                name = getattr(getattr(use, "func", None), "id", None)
                counted = name in {"nearest", "matched"} and use.args[-1] is node
                assert counted or isinstance(use, ast.Compare), (path.name, node.lineno)


# --- the same rates by a slow way ---------------------------------------------------------------------------------


def slow_share(held, published, rows):
    """Credit 1/|equal rows| to whom the own row is among the equal ones, all by loops."""
    credit = 0.0
    for key, own in zip(held, rows, strict=True):
        equal = [row for row, other in enumerate(published) if other == key]
        credit += 1 / len(equal) if own in equal else 0.0
    return credit / len(held)


def test_derived_columns_by_hand():
    case = made("derived_columns")
    held = []
    for sex, born, postcode, admitted, days in case.original.drop("id").rows():
        age = (dt.date(2017, 1, 1).toordinal() - born.toordinal()) // 365
        held.append((sex, age, postcode[:4], admitted.isoformat()[:7], days))
    assert slow_share(held, case.released.drop("id").rows(), rows_by_id(case)) == pytest.approx(case.found)


def test_top_codes_by_hand():
    case = made("top_codes")
    held = [
        (sex, str(age) if age < 90 else "90+", str(kids) if kids < 4 else "4+",
         "60000+" if income >= 60000 else str(int(income) // 1000 * 1000))
        for sex, age, kids, income in case.original.drop("id").rows()
    ]  # fmt: skip
    found = slow_share(held, case.released.drop("id").rows(), rows_by_id(case))
    assert found == pytest.approx(case.found) and 0.5 < found < 1


def test_pattern_of_missing_by_hand():
    case = made("pattern_of_missing")
    one, other = (
        [[cell is None for cell in row] for row in f.drop("id").rows()] for f in (case.original, case.released)
    )
    credit = 0.0
    for row, own in zip(one, rows_by_id(case), strict=True):
        wrong = [sum(a != b for a, b in zip(row, pattern, strict=True)) for pattern in other]
        credit += (wrong[own] == min(wrong)) / wrong.count(min(wrong))
    assert credit / len(one) == pytest.approx(case.found)


def test_couples_by_hand():
    """A couple is found where no other couple has the same bands and jobs; of k equal ones one in k, on average."""
    case = made("couples")
    keys = []
    for _, members in case.original.group_by("pair"):
        keys.append(
            tuple(sorted((age // 10, sex, job) for age, sex, job in members.select("age", "sex", "job").rows()))
        )
    expected = len(set(keys)) / len(keys)
    assert case.found == pytest.approx(expected, abs=0.015)


def test_rank_swap_leaves_every_value_and_keeps_the_window():
    case = made("rank_swap_15")
    rows = rows_by_id(case)
    for name in case.original.columns[1:]:
        x, y = case.original[name].to_numpy(), case.released[name].to_numpy()
        assert sorted(x) == sorted(y)
        ranks = {value: rank for rank, value in enumerate(sorted(x))}
        moved = [abs(ranks[a] - ranks[b]) for a, b in zip(x, y[rows], strict=True)]
        assert 0.1 * len(x) < max(moved) <= 0.15 * len(x) + 2  # ties of equal values move nothing


def test_mdav_groups_have_three_members():
    case = made("mdav_3")
    sizes = case.released.group_by(case.released.columns[1:]).len()["len"]
    assert set(sizes.to_list()) == {3}
    assert case.found == pytest.approx(1 / 3)


# --- the tools ----------------------------------------------------------------------------------------------------


def test_nearest_shares_ties_and_matched_takes_each_once():
    distance = np.array([[0.0, 0.0, 5.0], [0.0, 1.0, 5.0], [3.0, 2.0, 4.0]])
    assert nearest(distance, np.array([0, 0, 2])) == pytest.approx((0.5 + 1 + 0) / 3)
    assert matched(distance, np.array([1, 0, 2])) == 1.0


def test_matched_is_the_best_of_all_permutations():
    rng = np.random.default_rng(0)
    cost = rng.random((5, 5))
    best = min(itertools.permutations(range(5)), key=lambda p: sum(cost[i, p[i]] for i in range(5)))
    assert matched(cost, np.array(best)) == 1.0


def test_same_counts_equal_rows_and_missing_equals_missing():
    original = pl.DataFrame({"a": [1, 1, 2, None]})
    pair = publish(original, original.with_columns(pl.Series("a", [1, 1, 3, None])), np.random.default_rng(0))
    assert same(original, pair) == pytest.approx((0.5 + 0.5 + 0 + 1) / 4)


def test_publish_keeps_who_is_who():
    original = table(np.arange(40.0).reshape(20, 2))
    pair = publish(original, original, np.random.default_rng(1))
    assert pair.released[pair.truth.tolist()].equals(pair.original)


def test_rarity_is_the_log_share_of_what_agrees():
    one = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 2.0], [5.0, 2.0]])
    assert rarity(one, one)[3, 0] == 0.0
    assert rarity(one, one)[0, 0] == pytest.approx(np.log(3 / 4) + np.log(1 / 4))


def test_together_matches_whole_groups_first():
    """The nearest record of person 0 is in the other household; with the rest of the household it is not."""
    distance = np.array([[1.0, 9.0, 0.5, 9.0], [9.0, 0.0, 9.0, 9.0], [0.6, 9.0, 0.7, 9.0], [9.0, 9.0, 9.0, 0.0]])
    groups = np.array([0, 0, 1, 1])
    assert together(distance, groups, np.array([7, 7, 4, 4])).tolist() == [0, 1, 2, 3]


# --- the judge ----------------------------------------------------------------------------------------------------


def finding(key, value, measure=None):
    return SimpleNamespace(key=key, measure=measure or key.split(".")[0], estimate=SimpleNamespace(value=value))


def case_of(found, *, rated=True):
    return gauntlet.Case(pl.DataFrame(), pl.DataFrame(), found, "words", {}, rated)


@pytest.mark.parametrize(
    ("found", "verdict", "rate", "holds"),
    [
        (None, "safe", 0.0, True),
        (None, "inconclusive", 0.0, True),
        (None, "unsafe", 0.0, False),
        (None, "error", 0.0, False),
        (0.03, "unsafe", 0.0, True),
        (0.03, "inconclusive", 0.0, False),
        (0.8, "unsafe", 0.76, True),
        (0.8, "unsafe", 0.759, False),
        (0.8, "safe", 0.8, False),
        (0.8, "inconclusive", 0.8, False),
    ],
)
def test_what_holds(found, verdict, rate, holds):
    answer = gauntlet.answer(case_of(found), verdict, [finding("nearest.rate", rate)])
    assert answer.holds == answer.holds_by_linking == holds


def test_where_nothing_is_linked_the_verdict_decides():
    assert gauntlet.answer(case_of(0.9, rated=False), "unsafe", ()).holds
    assert not gauntlet.answer(case_of(0.9, rated=False), "safe", ()).holds


def test_only_rates_of_people_count():
    findings = [
        finding("nearest.rate", 0.4),
        finding("nearest.known", 0.45),
        finding("dictionary.ks", 0.9),
        finding("membership.tpr", 0.95),
        finding("uniqueness.unique", 0.8),
        SimpleNamespace(key="channel.rate", measure="channel", estimate=None),
    ]
    answer = gauntlet.answer(case_of(0.7), "unsafe", findings)
    assert (answer.best, answer.key) == (0.8, "uniqueness.unique")
    assert (answer.linked, answer.linked_key) == (0.4, "nearest.rate")
    assert answer.holds and not answer.holds_by_linking


def test_failures_say_what_is_wrong():
    assert gauntlet.answer(case_of(0.8), "safe", [finding("nearest.rate", 0.25)]).failures == (
        "people are found, and the verdict is safe",
        "the most that the report finds is 25 % (nearest.rate)",
    )
    assert gauntlet.answer(case_of(None), "unsafe", ()).failures == ("nobody can be found, and the verdict is unsafe",)
    assert gauntlet.answer(case_of(None), "error", ()).failures == ("there is no verdict",)


def test_the_quick_part_takes_families_in_turn():
    assert [known.family for known in gauntlet.quick_part(8)] == list(gauntlet.FAMILIES)
    assert set(gauntlet.quick_part()) == set(gauntlet.CASES.values())


def test_cases_are_chosen_by_name_family_or_quickness():
    assert [known.name for known in chosen(["rotated"])] == ["rotated"]
    assert {known.family for known in chosen(family="noise")} == {"noise"}
    assert 8 <= len(gauntlet.CASES) <= 24
    with pytest.raises(KeyError, match="nothing"):
        chosen(["nothing"])
