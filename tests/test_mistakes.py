"""The most ordinary mistakes, as new users make them, and harmless tables beside them: each gets the right verdict."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import unmask

FIRST = ("Anna", "Ben", "Clara", "David", "Eva", "Felix", "Greta", "Hans", "Ida", "Jonas")
LAST = ("Meyer", "Schulz", "Wolf", "Krause", "Vogel", "Lang", "Busch", "Roth", "Kuhn", "Horn")


def people(n=500, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"{rng.choice(FIRST)} {rng.choice(LAST)}" for _ in range(n)],
            "birth date": [date(1935, 1, 1) + timedelta(int(day)) for day in rng.integers(0, 25000, n)],
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice([f"town {k:02d}" for k in range(40)], n),
            "income": np.exp(rng.normal(10, 0.6, n)).round(2),
            "visits": rng.poisson(6, n),
        }
    )


def with_ids(table):
    return table.with_columns(pid=pl.Series([f"p{k}" for k in range(table.height)]))


def found(assessment, key):
    return next(one.estimate for one in assessment.findings if one.key == key)


def alone(table):
    """Share of rows that no other equals."""
    return float((table.group_by(table.columns).len()["len"] == 1).sum() / table.height)


def test_the_original_with_its_rows_shuffled_is_unsafe():
    table = people()
    assert unmask.assess(unmask.Release(table, table.sample(fraction=1, shuffle=True, seed=3))).verdict == "unsafe"


def test_a_table_that_remembers_people_is_not_safe_without_being_called_synthetic():
    table = people().drop("name")
    mixed = table.sample(fraction=1, shuffle=True, seed=3)
    moved = mixed["income"] * np.random.default_rng(1).normal(1, 0.001, mixed.height)
    released = mixed.with_columns(moved.round(2).alias("income"))
    assessment = unmask.assess(unmask.Release(table, released))
    assert assessment.verdict != "safe"  # inconclusive, or unsafe by an attack that needs no pairs
    assert any("--synthetic" in finding.reason for finding in assessment.findings)
    assert unmask.assess(unmask.Release(table, released, synthetic=True)).verdict != "safe"


def test_one_attack_that_finds_nobody_is_not_safety():
    table = people().select("income", "visits", "sex")
    released = table.with_columns((pl.col("income") * 1.001 + 0.37).round(2))
    assessment = unmask.assess(unmask.Release(table, released), only=["uniqueness"])
    assert assessment.verdict == "inconclusive"
    assert "not enough to say safe" in assessment.reason


def iban(number):
    body = f"50010517{number:010d}"
    return f"DE{98 - int(body + '131400') % 97:02d}{body}"


@pytest.mark.parametrize("write", [lambda k: f"user{k}@mail.org", lambda k: iban(5407324931 + 7 * k)])
def test_an_address_or_account_that_only_the_release_has_is_unsafe(write):
    table = people().select("sex", "town")
    released = table.with_columns(contact=pl.Series([write(k) for k in range(table.height)]))
    assert unmask.assess(unmask.Release(table, released)).verdict == "unsafe"


@pytest.mark.parametrize("control", [False, True])
def test_sixty_people_copied_verbatim_are_unsafe(control):
    table, others = people(1000).drop("name"), people(2000, seed=9).drop("name")
    released = pl.concat([table.head(60), others.head(940)])
    beside = {"control": others.tail(1000)} if control else {}
    assessment = unmask.assess(unmask.Release(table, released, synthetic=True, **beside), policy="partner")
    assert assessment.verdict == "unsafe"


@pytest.mark.slow
def test_an_age_band_in_place_of_the_birth_date_finds_as_many_as_the_age_would():
    table = people().select("birth date", "sex", "town")
    low = (2026 - table["birth date"].dt.year()) // 5 * 5
    bands = low.cast(pl.String) + "-" + (low + 4).cast(pl.String)
    released = table.select("sex", "town").with_columns(age=bands)
    assessment = unmask.assess(unmask.Release(table, released))
    assert assessment.verdict == "unsafe"
    known = unmask.Release(table.select("sex", "town").with_columns(age=bands), released)
    best = unmask.link_nearest(known).estimate.value
    assert found(assessment, "channel.rate").value > 0.9 * best


@pytest.mark.slow
def test_thousands_separators_hide_nothing():
    table = people().select("sex", "town", "income")
    released = table.with_columns(income=pl.Series([f"{value:,.2f}" for value in table["income"]]))
    assessment = unmask.assess(unmask.Release(table, released))
    assert assessment.verdict == "unsafe"
    assert found(assessment, "nearest.rate").value > 0.99


@pytest.mark.slow
@pytest.mark.parametrize(
    "write", [lambda day: f"{day.year}-Q{(day.month - 1) // 3 + 1}", lambda day: f"{day.year // 10 * 10}s"]
)
def test_dates_cut_to_a_quarter_or_decade_are_matched(write):
    table = people().select("birth date", "sex", "town")
    released = table.with_columns(pl.Series("birth date", [write(day) for day in table["birth date"]]))
    assessment = unmask.assess(unmask.Release(table, released))
    assert assessment.verdict == "unsafe"
    shares = released.group_by(released.columns).len()["len"]
    assert found(assessment, "uniqueness.average").value == pytest.approx(len(shares) / table.height)


@pytest.mark.slow
def test_area_codes_merged_into_regions_are_no_numbers():
    rng = np.random.default_rng(5)
    codes = rng.integers(100, 400, 800)
    table = pl.DataFrame({"area": codes, "sex": rng.choice(["f", "m"], 800), "age": rng.integers(18, 90, 800)})
    released = table.with_columns(area=pl.Series(codes // 10))
    assessment = unmask.assess(unmask.Release(table, released))
    assert assessment.verdict == "unsafe"
    assert found(assessment, "channel.rate").value > 0.9 * alone(released)


@pytest.mark.slow
def test_eighty_four_people_alone_with_their_key_are_unsafe():
    n = 2400
    towns = [f"v{k:02d}" if k < 84 else f"t{k % 20:02d}" for k in range(n)]
    table = pl.DataFrame({"town": towns, "sex": np.where(np.arange(n) // 20 % 2, "f", "m")})
    assert unmask.assess(unmask.Release(table, table), policy="partner").verdict == "unsafe"


@pytest.mark.slow
def test_large_crowds_are_safe():
    rng = np.random.default_rng(8)
    table = pl.DataFrame({"sex": rng.choice(["f", "m"], 2400), "region": rng.choice(["n", "s", "e", "w"], 2400)})
    assert unmask.assess(unmask.Release(table, table), policy="partner").verdict == "safe"


@pytest.mark.slow
def test_strangers_with_a_rare_secret_are_safe():
    def drawn(seed):
        rng = np.random.default_rng(seed)
        return with_ids(
            pl.DataFrame(
                {
                    "sex": rng.choice(["f", "m"], 1500),
                    "age": rng.integers(18, 90, 1500),
                    "secret": rng.choice(["yes", "no"], 1500, p=[0.02, 0.98]),
                }
            )
        )

    release = unmask.Release(drawn(1), drawn(2), id="pid", confidential=["secret"])
    assert unmask.assess(release, policy="partner").verdict == "safe"


@pytest.mark.slow
@pytest.mark.parametrize("columns", [2, 3])
def test_strangers_of_a_few_numbers_are_safe_under_the_strictest_policy(columns):
    def drawn(seed):
        values = np.random.default_rng(seed).normal(0, 1, (1500, columns))
        return with_ids(pl.DataFrame({f"x{k}": values[:, k] for k in range(columns)}))

    assert unmask.assess(unmask.Release(drawn(1), drawn(2), id="pid"), policy="strict").verdict == "safe"
