"""Files without a common id: whom somebody would believe to have found, and whether they are right as often."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import unmask
from naive.believed import marginals
from unmask.cli.app import app
from unmask.errors import EngineError, RoleError, TableError
from unmask.linkage.believed.related import relate
from unmask.linkage.believed.shares import shares_of


def files(seed=0, n=300, both=200, wrong=0.05):
    """Voters and patients, most of whom are in both files, each value wrong now and then; and who is who."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "birth_date": [date(1930, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 25_000, n)],
            "postcode": rng.choice([f"{code:05d}" for code in rng.integers(10_000, 99_999, 60)], n),
            "marital": rng.choice(["single", "married", "widowed", "divorced"], n, p=[0.3, 0.5, 0.1, 0.1]),
        }
    )

    def mistaken(part):
        hits = {name: pl.Series(rng.random(part.height) < wrong) for name in part.columns}
        other = {name: part[name][rng.permutation(part.height)] for name in part.columns}
        return part.with_columns(
            pl.when(hits[name]).then(other[name]).otherwise(pl.col(name)).alias(name) for name in hits
        )

    first, second = (n - both) // 2, (n + both) // 2
    voters = mistaken(table[:second]).with_row_index("voter")
    patients = mistaken(table[first:]).with_row_index("record")[rng.permutation(n - first)]
    return voters, patients, pl.DataFrame({"voter": range(first, second), "record": range(both)})


def other_schema(seed=0, n=200, shift=30):
    """Income, year of birth and town in one file; tax, age and postcode in the other."""
    rng = np.random.default_rng(seed)
    income, born, town = np.exp(rng.normal(10, 0.6, n)).round(), rng.integers(1940, 2000, n), rng.integers(0, 40, n)
    one = pl.DataFrame({"voter": range(n), "income": income, "since": born, "town": [f"t{k}" for k in town]})
    tax = (income * 0.3 * np.exp(rng.normal(0, 0.02, n))).round()
    two = pl.DataFrame(
        {"record": range(n), "tax": tax, "years": 2025 - born, "zip": [f"{10_000 + 37 * k}" for k in town]}
    )
    truth = pl.DataFrame({"voter": range(shift, n - shift), "record": range(shift, n - shift)})
    return one[: n - shift], two[shift:][rng.permutation(n - shift)], truth


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_are_those_of_all_matchings(seed):
    """Near the enumeration of every matching, and exact for one pair."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(4, 3)) * 2
    assert shares_of(scores, 1.5)[0] == pytest.approx(np.array(marginals(scores.tolist(), 1.5)), abs=0.03)
    assert shares_of(scores[:1, :1], 0.5)[0][0, 0] == pytest.approx(marginals(scores[:1, :1].tolist(), 0.5)[0][0])


def test_claims_are_right_as_often_as_they_say():
    """Over six pairs of files: nine of ten of what is claimed at 0.9, and as many in all as expected."""
    claimed, right, expected = [], [], []
    for seed in range(6):
        voters, patients, truth = files(seed)
        found = unmask.link_believed(voters, patients, truth=truth)
        claimed.append(found.probability)
        right.append(found.credit)
        low, high = found.expected[1:]
        expected.append(low - 5 <= found.right.hits <= high + 5)
        assert found.beyond_chance and abs(found.overlap - 200) < 45
    p, hits = np.concatenate(claimed), np.concatenate(right)
    for low, high in ((0.2, 0.5), (0.5, 0.9), (0.9, 1.01)):
        some = (p >= low) & (p < high)
        assert hits[some].mean() == pytest.approx(p[some].mean(), abs=0.1), (low, some.sum())
    assert sum(expected) >= 5 and hits[p >= 0.99].mean() > 0.98


@pytest.mark.parametrize("seed", range(3))
def test_files_of_different_people_are_no_more_than_chance(seed):
    voters, patients, _ = files(seed, both=0)
    found = unmask.link_believed(voters.drop("voter"), patients.drop("record"))
    assert found.believed.sum() <= 2 and found.overlap < 5 and found.right is None
    assert found.by_chance == (0,) * 5 or found.believed.sum() <= max(found.by_chance)


def test_a_copy_is_found_whole_and_in_any_order():
    voters, _, _ = files(1, n=120, both=60)
    table = voters.drop("voter").unique(maintain_order=True)
    order = np.random.default_rng(2).permutation(table.height)
    pairs = pl.DataFrame({"first": np.arange(table.height) + 1, "second": np.argsort(order) + 1})
    found = unmask.link_believed(table, table[order], truth=pairs)
    assert found.found.value > 0.99 and found.expected[0] > 0.98 * table.height
    again = unmask.link_believed(table[order], table, truth=pairs.select(first="second", second="first"))
    assert again.probability == pytest.approx(found.probability[order], abs=1e-6)


def test_an_age_is_compared_with_a_year_of_birth():
    voters, patients, truth = files(3)
    voters = voters.with_columns(birth_year=pl.col("birth_date").dt.year()).drop("birth_date")
    patients = patients.with_columns(age=2025 - pl.col("birth_date").dt.year()).drop("birth_date")
    left, right, told = relate(voters, patients)
    assert told == ["`birth_year` as the age that `age` tells"] and "age" in left.columns and "age" in right.columns
    assert left["age"].to_list() == (2025 - voters["birth_year"]).to_list()
    found = unmask.link_believed(voters, patients, truth=truth)
    assert found.found.low > 0.7 and found.right.value > 0.85


def test_known_people_teach_another_schema():
    """No column has the same name or the same values: people who are known in both files teach it."""
    one, two, truth = other_schema()
    with pytest.raises(RoleError, match="no column that can be compared"):
        unmask.link_believed(one.drop("voter"), two.drop("record"))
    found = unmask.link_believed(one, two, known=truth[::2], truth=truth)
    assert found.found.low > 0.8 and found.right.low > 0.8
    assert found.asked.sum() == one.height - truth[::2].height
    assert abs(found.overlap - truth.height) < 6 and abs(found.expected[0] - found.right.hits) < 4  # it is calibrated
    stranger = two.with_columns(pl.col(name).shuffle(seed=3) for name in ("tax", "years", "zip"))
    nobody = unmask.link_believed(one, stranger, known=truth[::2], truth=truth)
    assert nobody.surer_than(0.9) <= 5


def test_figure_one_of_the_paper():
    """[HUDA]_ Fig. 1: three people agree in all columns with one row each, and they are the ones believed."""
    voters = [(2314, "M", 1959), (2432, "M", 1962), (2314, "F", 1965), (2342, "M", 1959), (4249, "F", 1955),
              (4723, "M", 1978), (4249, "F", 1975), (2342, "M", 1964), (2314, "M", 1975), (4237, "F", 1942),
              (2323, "F", 1982), (2321, "F", 1973), (4723, "F", 1959)]  # fmt: skip
    hospital = [(2314, "M", 1959), (2314, "F", 1955), (2342, "M", 1959), (2319, "F", 1966), (2323, "F", 1987),
                (2314, "M", 1975), (2321, "F", 1975), (2324, "M", 1967), (2310, "M", 1961), (2337, "M", 1974),
                (2345, "F", 1978), (2328, "F", 1961)]  # fmt: skip
    tables = [pl.DataFrame(rows, schema=["zip", "sex", "born"], orient="row") for rows in (voters, hospital)]
    found = unmask.link_believed(*tables, kinds={"zip": "categorical", "born": "categorical"})
    assert np.flatnonzero(found.believed).tolist() == [0, 3, 8] and found.links[[0, 3, 8]].tolist() == [0, 2, 5]
    assert found.surer_than(0.95) == 0 and found.beyond_chance


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        (pl.DataFrame({"voter": [1, 9_999], "record": [1, 2]}), "names rows that the first file does not have"),
        (pl.DataFrame({"a": [1, 9_999], "record": [1, 2]}), "names rows that the first file does not have"),
        (pl.DataFrame({"voter": [1, 1], "record": [1, 2]}), "name a row of the first file twice"),
        (pl.DataFrame({"voter": [1]}), "two columns"),
        (pl.DataFrame({"sex": ["f"], "record": [1]}), "that repeats"),
    ],
)
def test_bad_pairs(pairs, words):
    voters, patients, _ = files()
    with pytest.raises(TableError, match=words):
        unmask.link_believed(voters, patients, truth=pairs)


def test_bad_files():
    voters, patients, truth = files()
    with pytest.raises(TableError, match="one row alone"):
        unmask.link_believed(voters[:1], patients)
    with pytest.raises(EngineError, match="too few to learn from"):
        unmask.link_believed(voters, patients, known=truth[:2])


def test_on_the_command_line(tmp_path):
    voters, patients, truth = files(n=200, both=140)
    for name, table in (("voters", voters), ("release", patients), ("truth", truth)):
        table.write_csv(tmp_path / f"{name}.csv")
    called = ["link", str(tmp_path / "voters.csv"), str(tmp_path / "release.csv")]
    plain = CliRunner().invoke(
        app, [*called, "--unpaired", "--ignore", "voter,record", "-o", str(tmp_path / "out.csv")]
    )
    assert plain.exit_code == 0 and "believes to have found" in plain.stdout and "By the truth" not in plain.stdout
    rows = pl.read_csv(tmp_path / "out.csv")
    assert rows.height == voters.height and rows["probability"].is_between(0, 1).all()
    counted = CliRunner().invoke(app, [*called, "--truth", str(tmp_path / "truth.csv")])
    assert counted.exit_code == 0 and "By the truth" in counted.stdout
    both = CliRunner().invoke(app, [*called, "--truth", str(tmp_path / "truth.csv"), "--id", "sex"])
    assert both.exit_code != 0


def test_the_picture_counts_people_by_how_sure_the_link_is():
    voters, patients, _ = files(n=200, both=140)
    found = unmask.link_believed(voters, patients)
    assert sum(found.figure.series[0].y) == found.believed.sum() and found.plot() is not None
