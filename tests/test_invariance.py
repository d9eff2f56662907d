"""The same release told otherwise: no finding changes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, reduce

import pytest

import transformed
import unmask
from unmask.tables import write_table

QUICK = ("inference", "knowledge_curve", "membership", "nearest", "one_to_one", "permuted", "singling", "uniqueness")
TOLD = {"masked": transformed.masked, "synthetic": transformed.synthetic}
LEARNT = (  # steps of whole numbers, and the order of labels in ties, move it: by less than its interval
    "channel.rate",
    "channel.known",
)
DRAWN = (
    "keys.replicated",
    "keys.disclosed",
)  # people are split by lot, which follows their labels: within the interval
FORMATS = {
    "csv": lambda table, path: table.write_csv(path),
    "csv.gz": write_table,
    "parquet": lambda table, path: table.write_parquet(path),
    "jsonl": write_table,
    "json.zst": write_table,
    "xlsx": lambda table, path: table.to_pandas().to_excel(path, index=False),
}


def findings(told, only=None):
    found = unmask.assess(told.release(), policy="clinical", only=only).findings
    return {finding.key: finding for finding in found}


@cache
def plain(kind, only=None):
    return findings(TOLD[kind](), only)


def check_same(before, after, within=()):
    assert before.keys() == after.keys()
    for key, one in before.items():
        other = after[key]
        assert one.outcome == other.outcome, key
        if one.estimate and key in (*DRAWN, *within):
            assert one.estimate.low <= other.estimate.value <= one.estimate.high, key
            continue
        ends = [e and [e.value, e.low, e.high, e.chance, e.n] for e in (one.estimate, other.estimate)]
        assert ends[0] == (ends[1] and pytest.approx(ends[1], abs=1e-6)), key


@pytest.mark.parametrize("kind", TOLD)
@pytest.mark.parametrize("changes", [transformed.ADDED, transformed.SAME_VALUES], ids=["added", "same values"])
def test_everything_at_once(kind, changes):
    only = QUICK if kind == "masked" else None
    told = reduce(lambda now, change: change(now), changes, TOLD[kind]())
    check_same(plain(kind, only), findings(told, only))


@pytest.mark.slow
@pytest.mark.parametrize("kind", TOLD)
@pytest.mark.parametrize("change", transformed.TOLD_OTHERWISE, ids=lambda change: change.__name__)
def test_each_change(kind, change):
    # other units change the last bits, and with them which of two equally good recipes is learnt
    learnt = change in (transformed.in_other_units, transformed.in_smaller_units, transformed.with_other_labels)
    check_same(plain(kind), findings(change(TOLD[kind]())), LEARNT if learnt else ())


@pytest.mark.parametrize("kind", TOLD)
@pytest.mark.parametrize("suffix", FORMATS)
def test_each_format(kind, suffix, tmp_path):
    told = TOLD[kind]()
    paths = {role: tmp_path / f"{role}.{suffix}" for role in told.tables}
    for role, table in told.tables.items():
        FORMATS[suffix](table, paths[role])
    read, given = replace(told, tables=paths).release(), told.release()
    for role in told.tables:
        assert getattr(read, role).equals(getattr(given, role))
    assert {name: column.kind for name, column in read.columns.items()} == {
        name: column.kind for name, column in given.columns.items()
    }
