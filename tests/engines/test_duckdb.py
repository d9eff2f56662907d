"""Counts and links by DuckDB, held against the same tables in memory: equal to the last digit."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unmask
from unmask import engines
from unmask.engines import duck as duck_file
from unmask.engines import sql
from unmask.engines.dialect import DUCKDB, SPARK
from unmask.errors import EngineError, ParameterError, RepeatedIdError, RoleError, TableError
from unmask.groups.special_uniques import search_release
from unmask.sampling import people_by_hash
from unmask.study import Study

duckdb = pytest.importorskip("duckdb")
ODD = ('a"b', "sel; DROP TABLE r --", "'quoted'", "c0", "κ")  # names that must be quoted, or could clash with ours


def quiet(_done, _words):
    pass


def people(n=400, seed=0):
    """Ties, nulls, NaN, -0.0, text, numbers and dates, under odd names; some people are in one table only."""
    rng = np.random.default_rng(seed)
    gaps = rng.random((n, 3)) < 0.06
    number = np.round(rng.normal(0, 2, n)) / 2
    number = np.where((number == 0) & (rng.random(n) < 0.5), -0.0, number)
    number = np.where(gaps[:, 0], np.nan, number)
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 40, n)]
    original = pl.DataFrame(
        {
            "id": np.arange(n) * 7,
            ODD[0]: rng.integers(0, 60, n),
            ODD[1]: number,
            ODD[2]: [
                None if gap else word for gap, word in zip(gaps[:, 1], rng.choice(list("uvwxyz"), n), strict=True)
            ],
            ODD[3]: [None if gap else day for gap, day in zip(gaps[:, 2], days, strict=True)],
            ODD[4]: rng.integers(1, 6, n),
        }
    )
    released = original.sample(n - 30, shuffle=True, seed=seed).with_columns(
        pl.col(ODD[0]) + pl.Series(rng.integers(-1, 2, n - 30)),
        pl.when(pl.Series(rng.random(n - 30) < 0.2)).then(pl.lit("u")).otherwise(pl.col(ODD[2])).alias(ODD[2]),
    )
    others = released.head(10).with_columns(pl.col("id") + 100_000)
    return original, pl.concat([released, others])


@pytest.fixture(scope="module")
def tables():
    return people()


@pytest.fixture(scope="module")
def store(tables):
    with engines.open_store(*tables, id="id") as opened:
        yield opened


@pytest.fixture(scope="module")
def study(tables):
    return Study(unmask.Release(*tables, id="id"))


@pytest.fixture(scope="module")
def patterns(store):
    return engines.count_patterns(store, quiet)


def rows_of(store, asked, release):
    """Rows of the original of the people who were asked."""
    place = {str(value): row for row, value in enumerate(release.original["id"])}
    return np.array([place[one] for one in asked.ids])


def check_groups(store, study):
    """Sizes, crowds and credits of all keys."""
    release, matcher = study.release, study.comparable
    assert store.names == matcher.names
    assert (store.n_original, store.n_released) == (release.original.height, release.released.height)
    counted, match = engines.count_groups(store), matcher.match()
    crowd, own = (side[release.paired_rows] for side in (match.crowd, match.owns(release.truth)))
    size = counted.size
    assert dict(zip(size.tolist(), counted.people.tolist(), strict=True)) == {
        int(k): int((crowd == k).sum()) for k in size
    }
    assert counted.people.sum() == len(crowd)
    assert dict(zip(size.tolist(), counted.own.tolist(), strict=True)) == {
        int(k): int((own & (crowd == k)).sum()) for k in size
    }
    risk = unmask.group_risk(matcher.table, quasi=matcher.names)
    there = size > 0
    assert size[there].tolist() == risk.sizes.size.tolist()
    assert counted.groups[there].tolist() == risk.sizes.groups.tolist()
    coded = pl.DataFrame(matcher.original, schema=list(matcher.names), orient="row")
    lookup = unmask.key_disclosure(coded, matcher.table, keys=list(matcher.names))
    assert int(counted.alone[size == 1].sum()) == int(lookup.replicated.sum())


def check_sets(store, study):
    """Every set of up to three keys, and all minimal sample uniques with whom they find."""
    matcher, release = study.comparable, study.release
    largest = min(3, len(matcher.names))
    sets, uniques = engines.count_sets(store, largest, 5, quiet)
    sweep = unmask.knowledge_sweep(matcher.table, quasi=matcher.names, max_size=largest)
    for name in ("masks", "n_groups", "n_unique", "n_below"):
        assert getattr(sets, name).tolist() == getattr(sweep, name).tolist(), name
    found = unmask.special_uniques(matcher.table, quasi=matcher.names, max_size=largest)
    masks, number = np.unique(found.msu_mask, return_counts=True)
    assert (uniques.masks.tolist(), uniques.number.tolist()) == (masks.tolist(), number.tolist())
    assert uniques.n_special == found.n_special
    told, claims = search_release(matcher, largest)
    assert (told.n_special, told.n_sets, told.dis) == (found.n_special, len(found.msu_mask), found.dis)
    assert told.attributes == found.attributes
    credit, claimed = (side[release.paired_rows] for side in claims.shared(release.truth))
    assert int(uniques.people.sum()) == int(claimed.sum())
    shares = dict(zip(*np.unique(credit[credit > 0], return_counts=True), strict=True))
    crowds = zip(uniques.crowd.tolist(), uniques.own.tolist(), strict=True)
    assert {1 / crowd: own for crowd, own in crowds if own} == shares


def test_groups_equal_those_in_memory(store, study):
    check_groups(store, study)


def test_sets_and_special_uniques_equal_those_in_memory(store, study):
    check_sets(store, study)


ONE_BY_ONE = pytest.param(1, 2, marks=pytest.mark.slow)


@pytest.mark.parametrize(("rows", "block"), [ONE_BY_ONE, (40, 3), (150, 20), (790, 100), (10_000, 1), (10_000, 10_000)])
def test_patterns_do_not_depend_on_the_parts_they_are_counted_in(store, patterns, monkeypatch, rows, block):
    from unmask.kernels import packed

    monkeypatch.setattr(packed, "BLOCK", block)
    found = engines.count_patterns(store, quiet, rows=rows)
    assert found.keys == patterns.keys
    assert found.code.tolist() == patterns.code.tolist()
    assert found.number.tolist() == patterns.number.tolist()


def test_the_progress_of_patterns_only_grows_and_ends(store):
    seen = []
    engines.count_patterns(store, lambda done, _words: seen.append(done), rows=40)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)


def test_patterns_of_all_pairs_equal_those_pair_by_pair(store, study, patterns):
    from unmask.kernels.pairs import patterns_by_pairs
    from unmask.linkage.probabilistic import compare

    comparison = compare(study.encoding(), numbers="exact")
    slow = patterns_by_pairs(
        comparison.left, comparison.right, comparison.edges, comparison.n_edges, comparison.radix.astype(np.int64)
    )
    assert tuple(store.names[j] for j in patterns.keys) == comparison.names
    assert patterns.gaps == comparison.gaps.tolist()
    assert patterns.code.tolist() == slow.code.tolist()
    assert patterns.number.tolist() == slow.count.tolist()
    assert patterns.number.sum() == store.n_original * store.n_released


@pytest.mark.parametrize("rows", [37, 10_000])
def test_nearest_records_equal_those_in_memory_whatever_the_parts(store, study, rows):
    asked = engines.sample_people(store, 150, 0)
    near = engines.find_nearest(store, asked, engines.placed_by_distance(store), quiet, rows=rows)
    whole, chosen = unmask.link_nearest(study), rows_of(store, asked, study.release)
    assert near.credit.tolist() == whole.credit[chosen].tolist()
    assert near.ties.tolist() == whole.tie_sizes[chosen].tolist()
    assert np.sqrt(near.least) == pytest.approx(whole.distances[chosen], rel=1e-12, abs=1e-12)
    margin = np.where(near.ties > 1, 0.0, np.sqrt(near.second) - np.sqrt(near.least))
    assert margin == pytest.approx(whole.margin[chosen], rel=1e-9, abs=1e-12)
    assert 0 < near.credit.mean() < 1
    assert near.ties.max() > 1


def test_too_many_patterns_leave_the_columns_that_tell_most(store, monkeypatch):
    from unmask.engines import patterns

    monkeypatch.setattr(patterns, "MOST_PATTERNS", 12)
    found = engines.count_patterns(store, quiet)
    assert 2 ** sum(not gap for gap in found.gaps) * 3 ** sum(found.gaps) <= 12
    assert ODD[0] in {store.names[j] for j in found.keys}  # 60 ages: two people agree least often
    assert found.number.sum() == store.n_original * store.n_released


def test_weights_equal_those_of_fellegi_sunter_in_memory(store, study, patterns):
    from unmask.linkage import learn_from_patterns

    names = tuple(store.names[j] for j in patterns.keys)
    sizes = store.n_original, store.n_released
    learnt = learn_from_patterns(names, patterns.gaps, sizes, patterns.code, patterns.number)
    whole = unmask.link_probabilistic(study, numbers="exact")
    assert np.array_equal(learnt.model.m, whole.model.m)
    assert np.array_equal(learnt.model.u, whole.model.u)
    assert (learnt.lower, learnt.upper) == (whole.lower, whole.upper)
    asked = engines.sample_people(store, 150, 0)
    placing = engines.placed_by_weight(patterns.keys, learnt.step, learnt.missing, learnt.tie)
    near = engines.find_nearest(store, asked, placing, quiet, rows=101)
    chosen = rows_of(store, asked, study.release)
    assert near.credit.tolist() == whole.credit[chosen].tolist()
    assert near.ties.tolist() == whole.tie_sizes[chosen].tolist()
    assert learnt.top - near.least == pytest.approx(whole.weight[chosen], abs=1e-9)


values = {
    "word": st.sampled_from(["a", "b", "a ", "NA", "", None]),
    "number": st.sampled_from([0.0, -0.0, 1.5, math.nan, None, -3.25]),
    "whole": st.sampled_from([0, 1, -1, 2**40, None]),
    "day": st.sampled_from([dt.date(2000, 1, 1), dt.date(2000, 2, 29), None]),
}
kinds = {"word": pl.String, "number": pl.Float64, "whole": pl.Int64, "day": pl.Date}


@st.composite
def pairs_of_tables(draw):
    n = draw(st.integers(3, 12))
    columns = {name: draw(st.lists(each, min_size=n, max_size=n)) for name, each in values.items()}
    original = pl.DataFrame({"id": list(range(n)), **columns}, schema={"id": pl.Int64, **kinds})
    taken = draw(st.permutations(range(n)))[: draw(st.integers(2, n))]
    released = original[list(taken)]
    changed = draw(st.lists(values["number"], min_size=len(taken), max_size=len(taken)))
    return original, released.with_columns(pl.Series("number", changed, dtype=pl.Float64))


def holds_something(column):
    plain = column.replace(["NA", ""], None) if column.dtype == pl.String else column
    return (plain.fill_nan(None) if plain.dtype == pl.Float64 else plain).null_count() < len(column)


@pytest.mark.slow
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(pairs_of_tables())
def test_any_small_tables_are_counted_as_in_memory(pair):
    said = {"word": "categorical", "number": "numeric", "whole": "numeric", "day": "date"}
    usable = [name for name in said if all(holds_something(side[name]) for side in pair)]
    if len(usable) < 2:
        return
    release = unmask.Release(*pair, id="id", quasi=usable, kinds={name: said[name] for name in usable})
    study = Study(release)
    if set(study.compared) != set(usable):
        return
    with engines.open_store(*pair, id="id", quasi=usable, kinds={n: said[n] for n in usable}) as store:
        check_groups(store, study)
        check_sets(store, study)


@pytest.mark.parametrize(("largest", "numeric"), [(2**53 - 1, True), (2**53, False), (2**53 + 1, False)])
def test_whole_numbers_that_no_float_tells_apart_are_compared_for_equality(largest, numeric):
    table = pl.DataFrame({"id": range(50), "account": range(largest - 49, largest + 1)})
    with engines.open_store(table, table, id="id") as store:
        assert [key.numeric for key in store.keys] == [numeric]
    assert (Study(unmask.Release(table, table, id="id")).encoding().numeric_names != ()) == numeric


# --- who is asked -----------------------------------------------------------------------------------------------------


def test_people_are_drawn_by_a_hash_of_their_ids(tables, store):
    original, released = tables
    both = set(original["id"]) & set(released["id"])
    least = sorted(both, key=lambda one: hashlib.sha256(f"5:{one}".encode()).hexdigest())[:40]
    release = unmask.Release(original, released, id="id")
    here = release.original["id"].gather(people_by_hash(release, 40, 5))
    assert sorted(here) == sorted(least)  # and in memory
    assert sorted(map(int, engines.sample_people(store, 40, 5).ids)) == sorted(least)
    turned = original.sample(fraction=1, shuffle=True, seed=9), released.reverse()
    with engines.open_store(*turned, id="id") as other:
        assert sorted(engines.sample_people(other, 40, 5).ids) == sorted(map(str, least))


# --- what can be given ------------------------------------------------------------------------------------------------


@pytest.fixture
def places(tmp_path, tables):
    original, released = tables
    for name, table in (("original", original), ("released", released)):
        (tmp_path / name).mkdir()
        for part, start in enumerate(range(0, table.height, 100)):
            table[start : start + 100].write_parquet(tmp_path / name / f"part-{part}.parquet")
        (tmp_path / name / "_SUCCESS").touch()
        table.write_parquet(tmp_path / f"{name}.parquet")
        table.write_csv(tmp_path / f"{name}.csv")
    return tmp_path


def given_as(way, place, name):
    whole = place / f"{name}.parquet"
    return {
        "folder": place / name,
        "pattern": f"{place}/{name}/part-*.parquet",
        "csv": place / f"{name}.csv",
        "relation": duckdb.read_parquet(str(whole)),
        "lazy": pl.scan_parquet(whole),
    }[way]


@pytest.mark.parametrize("way", ["folder", "pattern", "csv", "relation", "lazy"])
def test_a_table_may_be_given_in_many_ways(places, store, way):
    with engines.open_store(*(given_as(way, places, name) for name in ("original", "released")), id="id") as other:
        assert [tuple(key.kinds) for key in other.keys] == [tuple(key.kinds) for key in store.keys]
        found, wanted = engines.count_groups(other), engines.count_groups(store)
        assert [side.tolist() for side in found] == [side.tolist() for side in wanted]
        assert (other.sources[0].sha256 is None) == (way in {"relation", "lazy"})


def open_with(original, released, **how):
    with engines.open_store(original, released, **{"id": "id", **how}):
        pass


@pytest.mark.parametrize(
    ("change", "how", "error", "words"),
    [
        (lambda t: t, {"id": "it"}, RoleError, "no column 'it' for role 'id'"),
        (lambda t: pl.concat([t, t.head(1)]), {}, RepeatedIdError, "repeats in the release"),
        (lambda t: t.with_columns(id=pl.when(pl.col("id") < 20).then(None).otherwise("id")), {}, TableError, "missing"),
        (lambda t: t.with_columns(id=pl.col("id") + 1), {}, TableError, "no id of 'id' is in both"),
        (lambda t: t.with_columns(pl.col(ODD[0]).cast(pl.String)), {}, RoleError, "of different kinds"),
        (lambda t: t.with_columns(pl.lit(math.inf).alias(ODD[1])), {}, TableError, "holds an infinity"),
        (lambda t: t.with_columns(pl.concat_list(ODD[0]).alias(ODD[0])), {}, TableError, "cannot be compared here"),
        (lambda t: t.head(0), {}, TableError, "the release has no rows"),
        (lambda t: t, {"quasi": ["kappa"]}, RoleError, "no column 'kappa'"),
        (lambda t: t, {"quasi": []}, RoleError, "no quasi-identifiers"),
        (lambda t: t, {"kinds": {ODD[2]: "numeric"}}, RoleError, "cannot be read as numeric"),
        (lambda t: t, {"memory": "3 cows"}, ParameterError, "memory is not usable"),
        (lambda t: t, {"memory": "1MB"}, ParameterError, "memory is not usable"),
        (lambda t: t, {"threads": 0}, ParameterError, "threads"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_clear_error_without_values(tables, change, how, error, words):
    original, released = tables
    with pytest.raises(error, match=words) as caught:
        open_with(original, change(released), **how)
    assert "1950" not in str(caught.value)


@pytest.mark.parametrize("ids", [pl.Float64, pl.Float32, pl.String, pl.Decimal(12, 2)])
def test_ids_pair_whether_they_are_whole_or_written_as_1_0_or_text(tables, ids):
    """As in memory, where 1, 1.0 and "1" are one person."""
    original, released = tables
    other = released.with_columns(pl.col("id").cast(ids))
    with engines.open_store(original, released, id="id") as wanted:
        drawn = sorted(engines.sample_people(wanted, 5, 1).ids)
    for tables_ in ((original, other), (original.with_columns(pl.col("id").cast(ids)), released)):
        with engines.open_store(*tables_, id="id") as store:
            assert store.n_paired == wanted.n_paired
            assert sorted(engines.sample_people(store, 5, 1).ids) == drawn


@pytest.mark.parametrize("role", ["confidential", "ignored"])
def test_a_role_of_a_column_that_neither_table_has_is_refused_as_in_memory(tables, role):
    """It was taken without a word, and the column that was meant became one that the intruder knows."""
    with pytest.raises(RoleError) as here:
        unmask.Release(*tables, id="id", **{role: ["kap"]})
    with pytest.raises(RoleError) as there:
        unmask.assess_large(*tables, id="id", only=["uniqueness"], **{role: ["kap"]})
    assert str(there.value) == str(here.value)


def test_files_that_are_not_there_or_of_mixed_forms(tmp_path, tables):
    with pytest.raises(TableError, match="no file at"):
        open_with(tmp_path / "none.parquet", tables[1])
    (tmp_path / "a.xlsx").touch()
    with pytest.raises(TableError, match="with this engine"):
        open_with(tmp_path / "a.xlsx", tables[1])
    (tmp_path / "b.parquet").write_bytes(b"no parquet, but somebody's 12345")
    with pytest.raises(TableError, match=r"cannot read the original: .*b\.parquet") as caught:
        open_with(tmp_path / "b.parquet", tables[1])
    assert "12345" not in str(caught.value)
    with pytest.raises(TableError, match="neither a path nor a table"):
        open_with(7, tables[1])


def test_the_database_is_private_bounded_and_gone_afterwards():
    with engines.open_store(*people(60), id="id", memory="1GB") as store:
        folder = store.duck.folder
        assert folder.stat().st_mode & 0o777 == 0o700
        set_to = dict(store.duck.run("SELECT name, value FROM duckdb_settings()").fetchall())
        assert set_to["autoinstall_known_extensions"] == set_to["autoload_known_extensions"] == "false"
        assert set_to["threads"] == "1"
        assert Path(set_to["temp_directory"]).parent == folder
        assert "476" in set_to["memory_limit"]  # half of 1 GB, in MiB
        with pytest.raises(unmask.UnmaskError, match="DuckDB"):
            store.duck.run("SET threads = 4")
    assert not folder.exists()
    seen = []
    with pytest.raises(EngineError), duck_file.open_duck() as duck:
        seen.append(duck.folder) or duck.run("no query")
    assert seen
    assert not seen[0].exists()


def test_a_database_that_cannot_be_made_is_one_error(monkeypatch):
    def full(*_given, **_config):
        raise duckdb.IOException("No space left on device")

    monkeypatch.setattr(duckdb, "connect", full)
    with pytest.raises(TableError, match="is the disk free"), duck_file.open_duck():
        pass


def test_without_duckdb_one_error_says_how_it_is_had(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(duck_file, "import_module", absent)
    with pytest.raises(EngineError, match=r"unmask\[large\]"):
        open_with(*people(60))


def test_names_and_sets_are_written_as_sql():
    assert DUCKDB.name('a"b') == '"a""b"'
    assert SPARK.name("a`b") == "`a``b`"
    assert sql.text("it's") == "'it''s'"
    assert sql.masks_of(3, 2) == [1, 2, 3, 4, 5, 6]
    assert sql.packed(0b101, [4, 5, 6]) == ["(CAST(c0 AS BIGINT) * 6 + CAST(c2 AS BIGINT))"]
    assert len(sql.packed(0b111, [2**40, 2**30, 5])) == 2  # more than one number holds


def test_means_are_exact_whatever_the_order():
    """Sums that cancel: added up one by one, in any order, most of their digits would be lost."""
    rng = np.random.default_rng(2)
    large = rng.normal(0, 1e8, 300)
    values = np.concatenate([large, -large, rng.normal(0, 1e-3, 400), [np.nan, 0.1]])
    table = pl.DataFrame({"id": np.arange(len(values)), "x": values})
    there = [Fraction(float(one)) for one in values if not np.isnan(one)]
    mean = sum(there) / len(there)
    found = []
    for turned in (table, table.sample(fraction=1, shuffle=True, seed=4)):
        with engines.open_store(turned, turned, id="id", kinds={"x": "numeric"}) as store:
            found.append(engines.placed_by_distance(store))
    assert found[0].centre[0].tolist() == [float(mean)] == found[1].centre[0].tolist()
    square = sum(Fraction((float(one) - float(mean)) ** 2) for one in values if not np.isnan(one))
    spread = float(np.sqrt(float(square) / (len(there) - 1)))
    assert found[0].spread[0].tolist() == [spread] == found[1].spread[1].tolist()
