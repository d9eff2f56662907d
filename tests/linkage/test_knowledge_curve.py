from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from unmask import Release, Scenario, assess, datasets, knowledge_curve, link_nearest, parse_masking
from unmask.errors import ParameterError, RoleError
from unmask.evidence.measure import Context
from unmask.linkage.knowledge_curve import Size, _larger, _sets, assess_scenario
from unmask.linkage.nearest import best_scale
from unmask.study.study import Study
from unmask.tables import by_content

PEOPLE = datasets.census(150, seed=1)
NAMES = tuple(sorted(PEOPLE.columns))
MASKED = parse_masking("noise(0.5)").apply(PEOPLE, 1)


def test_some_people_some_attributes():
    names = PEOPLE.columns[:3]
    release = Release(PEOPLE, MASKED, scenario=Scenario(people=40, attributes=names))
    assert release.original.height == 40
    assert release.released.height == 150
    assert release.quasi == tuple(names)
    rows = [PEOPLE.rows().index(row) for row in release.original.rows()]
    assert release.truth.tolist() == rows  # still paired with their own records
    linkage = link_nearest(release, scale="none")
    by_hand = link_nearest(Release(PEOPLE, MASKED, quasi=names), scale="none")
    assert linkage.credit.tolist() == by_hand.credit[rows].tolist()
    assert any("scenario" in warning for warning in release.warnings)


def test_a_share_of_people_drawn_by_content():
    order = np.random.default_rng(0).permutation(150)
    one = Release(PEOPLE, MASKED, scenario={"people": 0.2, "seed": 3})
    two = Release(PEOPLE[order], MASKED[order], scenario={"people": 0.2, "seed": 3})
    assert one.original.height == 30
    assert sorted(one.original.rows()) == sorted(two.original.rows())


def test_a_coarser_schema():
    name = PEOPLE.columns[0]
    fine = link_nearest(Release(PEOPLE, MASKED)).estimate.value
    width = float(PEOPLE[name].std()) * 2
    release = Release(PEOPLE, MASKED, scenario=Scenario(coarser={name: width}))
    assert release.original[name].n_unique() < PEOPLE[name].n_unique() / 3
    assert link_nearest(release).estimate.value <= fine + 0.05
    towns = pl.DataFrame({"code": ["4101", "4102", "5201", "5202"], "sex": ["f", "m", "f", "m"]})
    release = Release(towns, towns, scenario=Scenario(coarser={"code": 1}))
    assert release.original["code"].to_list() == release.released["code"].to_list() == ["4", "4", "5", "5"]
    release = Release(towns, towns, scenario=Scenario(coarser={"sex": {"f": "any", "m": "any"}}))
    assert link_nearest(release).estimate.value == 1.0
    assert release.original["sex"].n_unique() == 1


def test_renamed_columns():
    other = PEOPLE.rename({PEOPLE.columns[0]: "pay"})
    release = Release(other, MASKED, scenario=Scenario(renamed={PEOPLE.columns[0]: "pay"}))
    assert link_nearest(release).estimate == link_nearest(Release(PEOPLE, MASKED)).estimate


def test_a_scenario_is_in_the_settings_and_comes_back():
    given = Scenario(people=30, attributes=(PEOPLE.columns[1],), coarser={PEOPLE.columns[1]: 1000.0})
    release = Release(PEOPLE, MASKED, scenario=given)
    again = Release(PEOPLE, MASKED, **release.settings)
    assert again.scenario == given
    assert link_nearest(again).estimate == link_nearest(release).estimate
    assert str(Scenario()) == "the intruder knows everything"
    assert assess(release, only=["nearest"]).findings


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"people": -1}, "share"),
        ({"people": 2.5}, "share"),
        ({"person": 3}, "did you mean 'people'"),
        ({"coarser": {"wages": "x"}}, "coarsened"),
        ({"coarser": {"wagess": 3.0}}, "not known"),
    ],
)
def test_bad_scenarios_are_refused(given, words):
    with pytest.raises(ParameterError, match=words):
        Release(PEOPLE, MASKED, scenario=given)
    with pytest.raises(RoleError):
        Release(PEOPLE, MASKED, scenario=Scenario(attributes=("nothing",)))


def test_the_curve_equals_linkage_on_each_set():
    three = PEOPLE.columns[:3]
    release = Release(PEOPLE, MASKED, quasi=three)
    curve = knowledge_curve(release)
    assert [size.known for size in curve.sizes] == [1, 2, 3]
    worst = 0.0
    for size in curve.sizes:
        rates = {
            chosen: link_nearest(Release(PEOPLE, MASKED, quasi=chosen)).estimate.value
            for chosen in combinations(sorted(three), size.known)
        }
        assert size.exhaustive
        assert size.mean == pytest.approx(np.mean(list(rates.values())))
        worst = max(worst, *rates.values())  # who knows more may leave some aside
        assert size.worst == pytest.approx(worst)
    assert curve.sizes[-1].mean == pytest.approx(link_nearest(release).estimate.value)
    assert curve.half.value == pytest.approx(curve.sizes[1].mean)
    with pytest.raises(ParameterError, match="set of attributes"):
        knowledge_curve(release, sets=0)


def test_sampled_sets_and_people():
    curve = knowledge_curve(Release(PEOPLE, MASKED), sets=3, people=50, seed=1)
    assert not curve.sizes[3].exhaustive
    assert curve.sizes[3].sets == 3
    assert np.isnan(curve.per_record).sum() == 100
    assert curve.half.n == 50


@pytest.mark.parametrize("seed", range(6))
def test_knowing_more_never_hurts_where_sets_are_drawn(seed):
    curve = knowledge_curve(Release(PEOPLE, MASKED), sets=2, seed=seed)
    worst = [size.worst for size in curve.sizes]
    assert worst == sorted(worst)
    for size in curve.sizes:
        assert len(size.worst_set) <= size.known
        alone = link_nearest(Release(PEOPLE, MASKED, quasi=size.worst_set)).estimate.value
        assert size.worst == pytest.approx(alone)
        assert size.mean <= size.worst + 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_the_worst_set_grows_where_sets_are_drawn(seed):
    """Two attributes find everybody together, eight say nothing: a drawn pair is rarely the right one."""
    rows = np.arange(100)
    told = {"tens": rows // 10 + 0.5, "ones": rows % 10 + 0.5}
    table = pl.DataFrame(told | {f"empty{k}": np.full(100, 1.5) for k in range(8)})
    curve = knowledge_curve(Release(table, table), sets=10, seed=seed)
    assert curve.sizes[0].worst == pytest.approx(0.1)
    assert not curve.sizes[1].exhaustive
    assert curve.sizes[1].worst == 1.0
    assert {size.worst_set for size in curve.sizes[1:]} == {("ones", "tens")}  # the smallest that finds so many


def test_the_mean_is_over_drawn_sets_only():
    release = Release(PEOPLE, MASKED)
    size, names = knowledge_curve(release, sets=2, seed=1).sizes[4], by_content(release, NAMES)
    rates = [link_nearest(Release(PEOPLE, MASKED, quasi=chosen)).estimate.value for chosen in _sets(names, 5, 2, 1)]
    assert size.mean == pytest.approx(np.mean(rates))


def test_one_attribute_and_one_record():
    one = pl.DataFrame({"a": [1.5]})
    assert knowledge_curve(Release(one, one)).half.value == 1.0


def test_evidence():
    evidence = assess_scenario(Study(Release(PEOPLE, MASKED)), Context())
    assert evidence.observations[0].key == "knowledge_curve.half"
    assert evidence.figures[0].series[0].x[-1] == float(len(PEOPLE.columns))
    assert evidence.per_record.shape == (150,)


@pytest.mark.parametrize("known", [2, 3])
def test_the_report_tells_the_worst_half_and_how_many_find_one_in_five(known):
    """Half of three, rounded up, is two."""
    release = Release(PEOPLE, MASKED, quasi=PEOPLE.columns[:known])
    evidence = assess_scenario(Study(release), Context())
    curve = knowledge_curve(release, sets=4)
    middle = (1, 2)[known - 2]
    assert evidence.observations[0].claim.endswith(f"who knows {middle} of {known} attributes.")
    facts = {fact.name: fact.value for fact in evidence.facts}
    assert facts["worst set of half the attributes"] == curve.sizes[middle - 1].worst
    finding = [size.known for size in curve.sizes if size.worst > 0.2]
    assert facts.get("attributes that find one person in five") == (finding[0] if finding else None)


def test_few_people_are_linked_by_the_scale_that_finds_more():
    release = Release(PEOPLE, parse_masking("noise(0.05)").apply(PEOPLE, 1), scenario=Scenario(people=8))
    whole = knowledge_curve(release).sizes[-1].mean
    assert whole == max(link_nearest(release, scale=scale).estimate.value for scale in ("own", "original", "released"))
    assert whole > link_nearest(release, scale="own").estimate.value


def test_people_without_a_record_are_not_counted_and_have_no_risk():
    """Thirty people, of whom the release holds twenty among forty."""
    names = list(NAMES[:3])
    people, masked = (table.select(names).with_row_index("id") for table in (PEOPLE, MASKED))
    release = Release(people[:30], masked[10:50], id="id")
    curve = knowledge_curve(release)
    scale = best_scale(Study(release), 0)[0]
    credit = np.zeros(30)
    for size in curve.sizes:
        sets = list(combinations(sorted(names), size.known))
        found = [link_nearest(Release(people[:30], masked[10:50], id="id", quasi=c), scale=scale).credit for c in sets]
        assert size.mean == pytest.approx(np.mean([one[10:].mean() for one in found]))
        credit = np.mean(found, axis=0) if size.known == 2 else credit
    assert curve.half.n == 20
    assert curve.half.value == pytest.approx(credit[10:].mean())
    assert curve.half.chance == 1 / 40
    assert curve.per_record.tolist() == pytest.approx([0.0] * 10 + credit[10:].tolist())


def test_as_many_larger_sets_are_tried_as_asked_for():
    before = Size(2, 4, exhaustive=False, mean=0.1, worst=0.2, worst_set=("b", "d"))
    for sets in (3, 4, 5, 6):
        tried = _larger(before, tuple("abcdefg"), sets, 1)
        assert len(tried) == len(set(tried)) == min(sets, 5)
        for chosen in tried:
            assert len(chosen) == 3
            assert {"b", "d"} < set(chosen)


def test_people_are_counted_to_the_nearest_and_drawn_from_those_who_can_be_found():
    people, masked = (table.with_row_index("id") for table in (PEOPLE[:31], MASKED[:31]))
    for share, number in ((0.25, 8), (0.001, 1), (0.99, 31)):  # 7.75, 0.031, 30.69
        assert Release(people, masked, id="id", scenario=Scenario(people=share)).original.height == number
    few = Release(people, masked[:6], id="id", scenario=Scenario(people=4))
    assert few.original.height == 4
    assert (few.truth >= 0).all()


def test_a_coarser_number_is_the_middle_of_its_interval():
    table = pl.DataFrame({"a": [-3.5, 0.0, 9.5, 10.0, 24.5]})
    assert Release(table, table, scenario=Scenario(coarser={"a": 10.0})).original["a"].to_list() == [-5, 5, 5, 15, 25]


def test_how_many_attributes_find_one_in_five_is_told_of_the_worst_set():
    release = Release(PEOPLE, MASKED)
    sizes = knowledge_curve(release, sets=4).sizes
    enough = next(size.known for size in sizes if size.worst > 0.2)
    assert enough < next(size.known for size in sizes if size.mean > 0.2)  # or this could not fail
    assert assess_scenario(Study(release), Context()).facts[-1].value == enough


def test_larger_sets_hold_the_worst_one_and_one_attribute_more():
    before = Size(1, 3, exhaustive=True, mean=0.1, worst=0.2, worst_set=("b",))
    assert _larger(before, ("a", "b", "c"), 10, 0) == [("a", "b"), ("b", "c")]
