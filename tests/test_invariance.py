"""The same release told otherwise: no finding changes."""

from __future__ import annotations

from functools import cache, reduce

import pytest

import transformed
import unmask

QUICK = ("inference", "knowledge_curve", "membership", "nearest", "one_to_one", "permuted", "singling", "uniqueness")
TOLD = {"masked": transformed.masked, "synthetic": transformed.synthetic}


def findings(told, only=None):
    found = unmask.assess(told.release(), policy="clinical", only=only).findings
    return {finding.key: finding for finding in found}


@cache
def plain(kind, only=None):
    return findings(TOLD[kind](), only)


def check_same(before, after):
    assert before.keys() == after.keys()
    for key, one in before.items():
        other = after[key]
        assert one.outcome == other.outcome, key
        ends = [e and [e.value, e.low, e.high, e.chance, e.n] for e in (one.estimate, other.estimate)]
        assert ends[0] == (ends[1] and pytest.approx(ends[1], abs=1e-9)), key


@pytest.mark.parametrize("kind", TOLD)
def test_everything_at_once(kind):
    only = QUICK if kind == "masked" else None
    told = reduce(lambda now, change: change(now), transformed.CHANGES, TOLD[kind]())
    check_same(plain(kind, only), findings(told, only))


@pytest.mark.slow
@pytest.mark.parametrize("kind", TOLD)
@pytest.mark.parametrize("change", transformed.CHANGES, ids=lambda change: change.__name__)
def test_each_change(kind, change):
    check_same(plain(kind), findings(change(TOLD[kind]())))
