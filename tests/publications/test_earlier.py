"""Everything published so far: safe alone and unsafe beside last year's; copies and strangers add nothing."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import command_line
import unmask
from naive import judged as naive
from unmask.errors import ParameterError, RoleError, TableError
from unmask.evidence import Context
from unmask.linkage.channel import several
from unmask.masking import parse_masking
from unmask.publications.beside import lay_beside
from unmask.publications.crowds import as_published, left_of
from unmask.publications.earlier import _observations, assess_earlier
from unmask.selfcheck import _shuffled
from unmask.study import Study


def population(n, towns=20, seed=3):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "person": np.arange(n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(20, 80, n),
            "town": rng.choice([f"town {k}" for k in range(towns)], n),
        }
    )


def pseudonyms(n, seed=0):
    return pl.Series("pseudonym", np.random.default_rng(seed).permutation(n) + 10_000)


def this_year(people):
    band = (pl.col("age") // 10 * 10).cast(pl.String) + "-" + (pl.col("age") // 10 * 10 + 9).cast(pl.String)
    return people.drop("town").with_columns(band.alias("age"))


def last_year(people):
    return people.drop("age")


def release(people, new, *earlier, **more):
    return unmask.Release(people, new, id="person", ignored=["pseudonym"], earlier=list(earlier), **more)


def mixed(table, seed=1):
    return table.sample(fraction=1.0, shuffle=True, seed=seed)


PEOPLE = population(120, 8)
NEW, OLD = (made(PEOPLE).with_columns(pseudonyms(120)) for made in (this_year, last_year))


@pytest.mark.slow
def test_safe_alone_and_unsafe_beside_last_years():
    """Age bands and sex this year, town and sex last year, under one pseudonym; new pseudonyms make it safe again."""
    people = population(900)
    new, old = (made(people).with_columns(pseudonyms(900)) for made in (this_year, last_year))
    alone = unmask.assess(unmask.Release(people, new, id="person", ignored=["pseudonym"]), utility="none")
    assert alone.verdict == "safe"
    beside = unmask.assess(release(people, new, mixed(old)), utility="none")
    assert beside.verdict == "unsafe"
    against = {finding.key for finding in beside.findings if finding.outcome == "against"}
    assert (
        {"earlier.rate", "earlier.small"} <= against <= {"earlier.rate", "earlier.small", "earlier.known", "risk.above"}
    )
    renamed = unmask.assess(release(people, new, old.with_columns(pseudonyms(900, 5))), utility="none")
    assert renamed.verdict == "safe"


def test_candidates_intersect():
    """Who is found is who a brute force over both releases leaves; alone either leaves a crowd."""
    found = unmask.link_published(release(PEOPLE, NEW, mixed(OLD)))
    rows = PEOPLE.with_columns(band=pl.col("age") // 10).select("sex", "band", "town").rows()
    size = np.array([rows.count(row) for row in rows])
    assert np.array_equal(found.left.size, size) and found.left.own.all()
    assert found.together.credit == pytest.approx(1 / size)
    assert found.found.value == pytest.approx((1 / size).mean())
    assert found.found.value > 4 * found.alone.found.value
    assert found.added == pytest.approx(found.found.value - found.before[0].found.value) and found.beside[0].right == 1
    assert found.per_record == pytest.approx(1 / size)


@pytest.mark.parametrize("kept", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_copy_adds_nothing(kept):
    copy = NEW if kept else NEW.with_columns(pseudonyms(120, 9))
    found = unmask.link_published(release(PEOPLE, NEW, mixed(copy)))
    assert found.found.value == found.alone.found.value == found.before[0].found.value and found.added == 0
    if kept:
        rows = NEW.select("sex", "age").rows()
        assert found.left.size.tolist() == [rows.count(row) for row in rows]


@pytest.mark.parametrize("kept", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_table_of_nobody_adds_nothing(kept):
    """Values drawn anew from the same town, under the same pseudonyms or others: no more than the release alone."""
    other = last_year(population(120, 8, seed=9)).with_columns(pseudonyms(120, 0 if kept else 4))
    found = unmask.link_published(release(PEOPLE, NEW, other))
    assert found.found.value == found.alone.found.value and found.known.value == 0


def test_who_came_and_who_left_is_subtracted():
    """Without a pseudonym: equal rows are taken off each other; one row is left of the only newcomer."""
    people = pl.DataFrame({"person": range(9), "sex": list("ffffmmmmm"), "ill": list("aabbaabbc")})
    rows = people.drop("person")
    new, old = people[[8, 1, 2, 3, 4, 5, 6, 7]], people[[0, 1, 2, 3, 4, 5, 6]]  # 0 left, 7 and 8 came
    given = unmask.Release(people, new, id="person", quasi=["sex"], confidential=["ill"], earlier=[old])
    laid = lay_beside(given, given.earlier[0], 0)
    assert laid.keys == ("ill", "sex")
    left = left_of(given, (as_published(given, given.earlier[0]),), (laid,))
    among = dict(zip(left.people.tolist(), left.size.tolist(), strict=True))
    assert among[0] == 1 and left.own[left.people.tolist().index(0)]  # one row too many of (f, a) last year
    assert among[7] == among[8] == 2 and left.differing == 3  # one more of (m, b), and (m, c): two men came
    assert rows.row(8) == ("m", "c")


def test_a_newcomer_under_a_kept_pseudonym_is_found():
    people = PEOPLE[:60]
    new, old = (made(people).with_columns(pseudonyms(60)) for made in (this_year, last_year))
    found = unmask.link_published(release(people, new, old[:59]))
    at = found.left.people.tolist().index(59)
    assert found.left.size[at] == 1 and found.left.own[at] and found.left.differing == 1
    assert found.together.credit[59] == 1.0 > found.alone.credit[59]
    small = next(o for o in _observations(found, release(people, new, old[:59])) if o.key == "earlier.small")
    assert small.estimate.value > 0.5 and "fewer than 11 rows by all releases" in small.claim


def noisy(seed, noise, n=200):
    people = unmask.datasets.census(n, seed=1).select("wages", "interest", "federal_tax").with_row_index("person")
    masked = parse_masking(f"noise({noise})").apply(people.drop("person"), seed=seed)
    return people, masked.with_columns(people["person"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_noise_that_is_drawn_anew_averages_out(seed):
    """Two draws find what one draw of 1/sqrt(2) of the noise finds; the same draw again finds no more."""
    people, one = noisy(10 + seed, 0.3)
    _, two = noisy(20 + seed, 0.3)
    _, less = noisy(30 + seed, 0.3 / np.sqrt(2))
    key = pseudonyms(200)
    found = unmask.link_published(release(people, two.with_columns(key), one.with_columns(key)))
    alike = unmask.link_published(release(people, two.with_columns(key), two.with_columns(key)))
    theory = unmask.link_channel(unmask.Release(people, less, id="person"), curve=False).found.value
    assert found.together.found.value == pytest.approx(theory, abs=0.1)
    assert found.together.found.value > found.alone.found.value + 0.03
    assert alike.found.value == alike.alone.found.value


@pytest.mark.slow
def test_row_order_says_nothing():
    given = release(PEOPLE[:80], NEW[:80], OLD[10:80], quasi=["sex", "age", "town"])
    one = unmask.link_published(given)
    moved, order = _shuffled(given, 5)
    two = unmask.link_published(moved)
    assert two.found == one.found and two.per_record == pytest.approx(one.per_record[order])
    assert sorted(two.left.size.tolist()) == sorted(one.left.size.tolist())


@pytest.mark.slow
def test_it_is_told_if_not_everybody_is_looked_for(monkeypatch):
    monkeypatch.setattr(several, "MOST_PAIRS", 120 * 50)
    evidence = assess_earlier(Study(release(PEOPLE, NEW, OLD)), Context(0))
    assert "50 of 120 people, drawn by lot, are looked for" in evidence.notes[0]
    assert evidence.observations[0].estimate.n <= 50


@pytest.mark.slow
def test_several_earlier_releases():
    """Each takes candidates away: sex and town, then the decade of birth that only a third release has."""
    third = PEOPLE.select("person", wide=pl.col("age") // 5).with_columns(pseudonyms(120))
    one = unmask.link_published(release(PEOPLE, NEW, OLD))
    two = unmask.link_published(release(PEOPLE, NEW, OLD, third))
    assert two.found.value > one.found.value and len(two.before) == 2


@pytest.mark.parametrize(
    ("earlier", "error", "words"),
    [
        ([OLD.with_columns(pl.col("person") + 1000)], TableError, "no id of 'person' is in both"),
        ([OLD.drop("person")], RoleError, "no id column 'person'"),
        ([OLD.head(0)], TableError, "earlier release 1 has a header but no rows"),
        ([OLD, OLD], ParameterError, "given twice"),
        ([OLD, OLD.with_columns(person=pl.lit(3))], TableError, "earlier release 2 has no rows .* repeats"),
        ([7], ParameterError, "is a table"),
    ],
)
def test_bad_earlier_releases(earlier, error, words):
    with pytest.raises(error, match=words):
        release(PEOPLE, NEW, *earlier)


def test_what_cannot_be_paired_is_refused():
    with pytest.raises(TableError, match="earlier release 1 .*different numbers of rows"):
        unmask.Release(PEOPLE, NEW, earlier=[OLD[:5]])
    with pytest.raises(RoleError, match="synthetic"):
        unmask.Release(PEOPLE, NEW, earlier=[OLD], synthetic=True)
    with pytest.raises(ParameterError, match="earlier cannot be used without an original"):
        unmask.Release(None, NEW, earlier=[OLD])
    with pytest.raises(RoleError, match="--with"):
        unmask.link_published(unmask.Release(PEOPLE, NEW, id="person", ignored=["pseudonym"]))


@pytest.mark.slow
def test_nobody_in_both_releases():
    """Two samples without a common person: nothing belongs together, and nothing is added."""
    found = unmask.link_published(release(PEOPLE, NEW[:80], OLD[80:]))
    assert found.beside[0].right == 0 and found.found.value == found.alone.found.value


def test_on_the_command_line(tmp_path, capsys):
    for name, table in (("original", PEOPLE), ("new", NEW), ("old", OLD)):
        table[:90].write_csv(tmp_path / f"{name}.csv")
    (tmp_path / "unmask.toml").write_text(
        'original = "original.csv"\nreleased = "new.csv"\nid = "person"\nignored = ["pseudonym"]\nwith = ["old.csv"]\n'
    )
    report = tmp_path / "report.json"
    done = command_line.run("assess", "--config", tmp_path / "unmask.toml", "--only", "earlier", "--json", report)
    assert done == 1
    data = json.loads(report.read_text())
    found = next(f["estimate"]["value"] for f in data["findings"] if f["key"] == "earlier.rate")
    assert data["intruders"][-1]["measure"] == "earlier" and data["intruders"][-1]["estimate"]["value"] == found
    assert set(data["manifest"]["inputs"]) == {"original", "released", "earlier 1"}
    assert unmask.verify(report).same
    again = ["assess", tmp_path / "original.csv", tmp_path / "new.csv", "--id", "person", "--ignore", "pseudonym"]
    typed = command_line.run(*again, "--with", tmp_path / "old.csv", "--with", tmp_path / "old.csv")
    assert typed == 2 and "given twice" in capsys.readouterr().err
    absent = command_line.run(*again, "--with", tmp_path / "nowhere.csv")
    assert absent == 2 and "nowhere.csv" in capsys.readouterr().err


@pytest.mark.slow
def test_the_naive_average():
    """Sums of scores are what a brute force by known noise does: the nearest mean of both releases."""
    rng, n = np.random.default_rng(0), 120
    x = rng.normal(size=(n, 2)) * 5
    one, two = (x + rng.normal(size=(n, 2)) for _ in range(2))
    far = [[float(((x[i] - (one[j] + two[j]) / 2) ** 2).sum()) for j in range(n)] for i in range(n)]
    wanted = np.mean(naive.credits_of(far, list(range(n))))
    tables = [
        pl.DataFrame({"person": range(n), "a": t[:, 0], "b": t[:, 1]}).with_columns(key)
        for t, key in ((x, pl.Series("extra", [0] * n)), (one, pseudonyms(n)), (two, pseudonyms(n)))
    ]
    found = unmask.link_published(release(tables[0].drop("extra"), tables[2], tables[1]))
    single = [[float(((x[i] - two[j]) ** 2).sum()) for j in range(n)] for i in range(n)]
    assert wanted - 0.09 < found.together.alone.mean() < wanted + 0.09
    assert found.together.alone.mean() > np.mean(naive.credits_of(single, list(range(n)))) + 0.05
