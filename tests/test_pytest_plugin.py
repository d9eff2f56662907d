from __future__ import annotations

import polars as pl
import pytest

import unmask
from unmask.pytest_plugin import check_safe


def test_a_copy_fails_with_what_was_found():
    people = unmask.datasets.census(60)
    with pytest.raises(AssertionError, match=r"the release is unsafe.*\n.*nearest\.rate"):
        check_safe(people, people, only=["nearest"])


def test_what_was_not_shown_fails_too():
    people = pl.DataFrame({"sex": ["f", "m"] * 20})
    with pytest.raises(AssertionError, match="inconclusive"):
        check_safe(people, people, policy="internal", only=["uniqueness"])


def test_a_safe_release_passes_and_is_returned():
    people = pl.DataFrame({"sex": ["f", "m"] * 500, "region": ["n", "n", "s", "s"] * 250})
    assert check_safe(people, people, policy="internal").verdict == "safe"
