"""One matcher for all who count: on overlapping bands every measure agrees with the definition."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import disclosure as naive_disclosure
from naive import groups as naive_groups
from naive import study as naive
from unmask import Release, cell_disclosure
from unmask.evidence.measure import Context
from unmask.groups.anonymity import assess_anonymity
from unmask.groups.knowledge_sweep import assess_knowledge
from unmask.groups.magnitude import assess_magnitude
from unmask.groups.population.measure import assess_population
from unmask.groups.special_uniques import assess_special
from unmask.groups.uniqueness import assess_uniqueness
from unmask.study.match import make_matcher, number_rows
from unmask.study.study import Study
from unmask.tables.encode import encode

KNOWN = ("age", "sex")
SCHEMA = {"age": pl.Int64, "sex": pl.String, "ill": pl.String, "pay": pl.Float64}
AGES = st.one_of(st.none(), st.integers(18, 45))
BANDS = st.sampled_from([10, 20, 0])  # width of the band that is published for a person; 0: suppressed
ROWS = st.lists(
    st.tuples(AGES, st.sampled_from("fm"), st.sampled_from("xy"), st.integers(0, 4), BANDS), min_size=2, max_size=10
)


def band(age, width):
    """The band of a width that an age is in: "20-29" for 10, "20-39" for 20."""
    return None if age is None or width == 0 else f"{age // width * width}-{age // width * width + width - 1}"


def tables(rows):
    people = [(age, sex, ill, 10.0 * pay) for age, sex, ill, pay, _ in rows]
    records = [(band(age, width), sex, ill, 10.0 * pay) for age, sex, ill, pay, width in rows]
    original = pl.DataFrame(people, schema=SCHEMA, orient="row")
    released = pl.DataFrame(records, schema={**SCHEMA, "age": pl.String}, orient="row")
    return people, records, original, released


def study_of(original, released, **roles):
    kinds = {"age": "numeric", "sex": "categorical", "ill": "categorical"}
    return Study(Release(original, released, quasi=KNOWN, confidential=["ill", "pay"], kinds=kinds, **roles))


def usable(original, released):
    """A column without a value is no knowledge."""
    return original["age"].null_count() < len(original) and released["age"].null_count() < len(released)


def six_people():
    """Bands "20-29" beside "20-39": two men may be 27."""
    rows = [(25, "f", "x", 1, 10), (33, "f", "y", 2, 10), (27, "m", "x", 3, 10), (35, "m", "y", 4, 20)]
    return tables([*rows, (45, "f", "x", 1, 20), (41, "m", "y", 2, 10)])


def test_twelve_people_by_hand():
    """Before there was one matcher, `uniqueness` found 8 of them, `knowledge_sweep` 4 and `special_uniques` none."""
    ages = [25, 33, 27, 35, 45, 41, 22, 38, 26, 31, 44, 48]
    widths = [10, 10, 10, 20, 20, 10, 20, 10, 10, 20, 10, 20]
    towns = list("abcdabcdabcd")
    published = [band(age, width) for age, width in zip(ages, widths, strict=True)]
    assert published[:5] == ["20-29", "30-39", "20-29", "20-39", "40-59"]
    people, records = list(zip(ages, towns, strict=True)), list(zip(published, towns, strict=True))
    kinds = {"age": "numeric", "town": "categorical"}
    tables = ({"age": ages, "town": towns}, {"age": published, "town": towns})
    study = Study(Release(*map(pl.DataFrame, tables), kinds=kinds))
    assert set(study.encoding().spans) == {"age"}
    everything = naive.credit(people, records, (0, 1))
    sets = naive_groups.minimal_sample_uniques(records, 3)
    special = naive.special_credit(people, records, sets)
    assert (sum(everything), sum(special)) == (8.0, 7.0)
    assert assess_uniqueness(study, Context()).per_record.tolist() == everything
    assert assess_knowledge(study, Context()).per_record.tolist() == everything
    assert assess_special(study, Context()).per_record.tolist() == special


@given(ROWS)
def test_uniqueness_knowledge_and_special_uniques_equal_the_definition(rows):
    people, records, original, released = tables(rows)
    if not usable(original, released):
        return
    study = study_of(original, released)
    places = [KNOWN.index(name) for name in study.matcher.names]
    wanted = naive.credit(people, records, (0, 1))
    assert assess_uniqueness(study, Context()).per_record.tolist() == pytest.approx(wanted)
    told = assess_knowledge(study, Context())
    keys = [KNOWN.index(name) for name in told.observations[0].claim.rstrip(".").split(": ")[1].split(", ")]
    assert told.per_record.tolist() == pytest.approx(naive.credit(people, records, keys))
    labels = [tuple(record[place] for place in places) for record in records]
    sets = [(j, [places[a] for a in attributes]) for j, attributes in naive_groups.minimal_sample_uniques(labels, 3)]
    wanted = naive.special_credit(people, records, sets)
    assert assess_special(study, Context()).per_record.tolist() == pytest.approx(wanted)


@given(ROWS)
def test_secrets_of_a_crowd_equal_the_definition(rows):
    people, records, original, released = tables(rows)
    if not usable(original, released):
        return
    study = Study(Release(original, released, quasi=KNOWN, confidential=["ill"], kinds={"age": "numeric"}))
    found, cells = assess_anonymity(study, Context()), cell_disclosure(study)
    for i, person in enumerate(people):
        crowd = naive.crowd(person, records, (0, 1))
        values = [records[j][2] for j in crowd]
        assert found.per_record[i] == pytest.approx(1 / len(crowd) if i in crowd else 0.0)
        alone = all(sum(other[:2] == record[:2] for other in records) > 1 for record in records)
        if not crowd and alone:
            continue  # nobody matches, and no record stands alone: taken for microaggregates
        shared = len(set(values)) == 1 and values[0] == person[2]
        assert cells.external_per_record[i] == float(shared)
        if i in crowd:
            inside = naive_disclosure.learnt_by_insiders(values, crowd.index(i), 1)
            assert cells.internal_per_record[i] == float(inside)


@given(ROWS)
def test_totals_of_a_crowd_equal_the_definition(rows):
    people, records, original, released = tables(rows)
    if not usable(original, released):
        return
    study = study_of(original, released)
    found = assess_magnitude(study, Context())
    bands = {record[0] for record in records}
    looks = [(person[1], {each for each in bands if naive.equals(person[0], each)}) for person in people]
    for i, person in enumerate(people):
        crowd = naive.crowd(person, records, (0, 1))
        total = sum(records[j][3] for j in crowd)
        largest = max((people[k][3] for k, look in enumerate(looks) if look == looks[i] and k != i), default=0.0)
        guesses = ((total - largest, 0.10), (total, (1 - 0.85) / 0.85))
        close = [guess > 0 and abs(guess - person[3]) < reach * person[3] for guess, reach in guesses]
        assert found.per_record[i] == float(any(close))


@given(ROWS, st.lists(st.tuples(st.integers(18, 45), st.sampled_from("fm")), max_size=8))
def test_people_of_a_register_count_in_every_band_that_they_are_in(rows, strangers):
    people, records, original, released = tables(rows)
    if not usable(original, released):
        return
    everybody = [*(person[:2] for person in people), *strangers]
    register = pl.DataFrame(everybody, schema={"age": pl.Int64, "sex": pl.String}, orient="row")
    study = study_of(original, released, population=register)
    found = assess_population(study, Context())
    for i, person in enumerate(people):
        alike = sum(record[:2] == records[i][:2] for record in records)
        f = max(alike, sum(all(naive.equals(one[a], records[i][a]) for a in (0, 1)) for one in everybody))
        own = all(naive.equals(person[a], records[i][a]) for a in (0, 1))
        assert found.per_record[i] == pytest.approx(1 / f if own else 0.0)
    assert found.facts[0].value == len(everybody)


@given(ROWS, st.randoms(use_true_random=False))
def test_credit_and_crowds_do_not_follow_the_order_of_rows(rows, random):
    *_, original, released = tables(rows)
    if not usable(original, released):
        return
    order = list(range(len(rows)))
    random.shuffle(order)
    numbered = [table.with_row_index("id") for table in (original, released)]
    roles = {"quasi": KNOWN, "id": "id", "kinds": {"age": "numeric"}}
    first, second = Release(*numbered, **roles), Release(numbered[0][order], numbered[1], **roles)
    before, after = (make_matcher(encode(release)).match() for release in (first, second))
    assert before.credit(first.truth)[order].tolist() == after.credit(second.truth).tolist()
    assert before.crowd[order].tolist() == after.crowd.tolist()


def test_members_pairs_and_totals():
    study = study_of(*six_people()[2:])
    match = study.matcher.match()
    members = match.members()
    who, groups = match.pairs()
    matched = {(int(i), int(j)) for i, group in zip(who, groups, strict=True) for j in members[group]}
    assert matched == {(0, 0), (1, 1), (2, 2), (2, 3), (3, 3), (4, 4), (5, 5)}
    assert match.crowd.tolist() == [1, 1, 2, 1, 1, 1]
    weights = np.bincount(match.group, [1, 10, 100, 1000, 1e4, 1e5], minlength=len(match.sizes))
    assert match.totals(weights)[match.kind].tolist() == [1, 10, 1100, 1000, 1e4, 1e5]
    some = study.matcher.only_people(np.array([2, 5])).match([0], records=np.array([3, 0]))
    assert some.crowd.tolist() == [2, 0]  # 27 is in "20-39" and "20-29", whoever's they are


def test_nobody_and_nothing_known():
    study = study_of(*six_people()[2:])
    nobody = study.matcher.match(records=np.empty(0, dtype=np.int64))
    assert nobody.crowd.tolist() == [0] * 6
    assert not nobody.owns(np.full(6, -1)).any()
    blind = study.matcher.match([])
    assert blind.crowd.tolist() == [6] * 6
    assert blind.credit(study.release.truth).tolist() == [1 / 6] * 6


def test_rows_are_numbered_where_the_product_of_domains_overflows():
    """Three columns of 2^31 values: 4 times 2^62 would be 0."""
    top = 2**31 - 1
    assert number_rows(np.array([[0, 0, 0], [4, 0, 0], [top, top, top], [4, 0, 0]])).tolist() == [0, 1, 2, 1]
