"""Released columns that no attack could compare."""

from __future__ import annotations

import pytest

from unmask.evidence.coverage import uncompared, unseen
from unmask.evidence.finding import Absence, Evidence, Reported


def told(*compared):
    return Reported("nearest", "", "", Evidence((), compared=compared))


@pytest.mark.parametrize(
    ("columns", "end"), [(1, "'c0'."), (8, "'c7'."), (9, "'c7' and 1 more."), (20, " and 12 more.")]
)
def test_eight_are_named_and_the_others_counted(columns, end):
    names = [f"c{k}" for k in range(columns)]
    finding = uncompared([*names, "age"], [told("age"), Reported("graph", "", "", Absence("could not run", ""))])
    assert finding.outcome == "could not run"
    assert finding.claim.startswith(f"No attack could compare {columns} of the released columns: 'c0'")
    assert finding.claim.endswith(end)


def test_a_column_is_compared_where_one_attack_could():
    assert uncompared(["age", "zip"], [told("age"), told("zip", "age")]) is None
    assert uncompared([], []) is None


def test_it_is_said_where_an_attack_that_compares_columns_was_run():
    stopped = Reported("nearest", "", "", Absence("could not run", ""))
    other = Reported("singling", "", "", Evidence((), compared=("age",)))
    assert [finding.claim for finding in unseen(["age", "zip"], [told("age"), stopped])] == [
        "No attack could compare 1 of the released columns: 'zip'."
    ]
    for reported in ([stopped], [other], [stopped, other]):
        assert unseen(["age", "zip"], reported) == ()
        assert len(unseen(["age", "zip"], reported, shared=False)) == 1
