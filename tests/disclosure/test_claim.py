"""A claimed epsilon in `assess`: a finding against publishing where one release shows more."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unmask
from unmask.errors import ParameterError

HISTOGRAM = "dp_histogram(1, [(a, 0, 50, 5), (b, -3, 3, 4), (c, [x, y, z])])"


def people(seed, n=300):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {"a": rng.integers(0, 50, n), "b": rng.normal(size=n).round(3), "c": rng.choice(list("xyz"), n)}
    )


def claim_in(release):
    found = unmask.assess(release, only=["membership"]).findings
    return next((finding for finding in found if finding.key == "membership.claim"), None)


def test_a_copy_with_a_claim_is_a_finding_against():
    finding = claim_in(unmask.Release(people(0), people(0), control=people(1), synthetic=True, epsilon=1.0))
    assert finding.outcome == "against"
    assert finding.claim.startswith("Epsilon 1 is claimed, and at least 3.")
    assert "150 are right" in finding.claim and "110 on average" in finding.claim  # 150 x e / (1 + e)


def test_a_private_table_is_not():
    made = unmask.parse_masking(HISTOGRAM).apply(people(0), 3)
    finding = claim_in(unmask.Release(people(0), made, control=people(1), synthetic=True, epsilon=1.0))
    assert finding.outcome == "for"
    assert claim_in(unmask.Release(people(0), made, control=people(1), synthetic=True)) is None


def test_a_claim_that_cannot_be_tested_is_told():
    release = unmask.Release(people(0), people(0), epsilon=1.0)
    assert any("cannot be tested" in words for words in release.warnings)
    assert release.settings["epsilon"] == 1.0 and release.settings["delta"] == 0.0
    assert not any("cannot be tested" in w for w in unmask.Release(people(0), people(0)).warnings)


@pytest.mark.parametrize("claim", [{"epsilon": 0}, {"epsilon": -1.0}, {"epsilon": "1"}, {"epsilon": float("inf")},
                                   {"delta": 0.1}, {"epsilon": 1.0, "delta": 1.0}])  # fmt: skip
def test_what_is_no_claim_is_refused(claim):
    with pytest.raises(ParameterError, match="out of range"):
        unmask.Release(people(0, 5), people(0, 5), **claim)


@pytest.mark.slow
def test_private_tables_are_accused_one_time_in_twenty_at_most():
    """Epsilon is what it says, over draws of people and noise: the finding joins the others at their common level."""
    accused = 0
    for seed in range(40):
        original, control = people(2 * seed, 120), people(2 * seed + 1, 120)
        made = unmask.parse_masking(HISTOGRAM).apply(original, seed)
        finding = claim_in(unmask.Release(original, made, control=control, synthetic=True, epsilon=1.0))
        accused += finding.estimate.low > 0
    assert accused <= 4
