"""Every number that a policy judges is recomputed by a test of this folder: the list cannot fall behind."""

from __future__ import annotations

import ast
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from unmask.assessment import discover
from unmask.networks import NetworkRisk
from unmask.people import PersonRisk
from unmask.persons import PersonsRisk
from unmask.tabular import TableRisk


def words_of(node) -> set[str]:
    return {inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant) and isinstance(inner.value, str)}


def keys_of(test) -> set[str]:
    """Keys by which a test takes findings: written out, from a loop over words, or put together of such words."""
    looped: dict[str, set[str]] = {}
    for loop in ast.walk(test):
        if isinstance(loop, ast.For | ast.comprehension):
            names = [inner.id for inner in ast.walk(loop.target) if isinstance(inner, ast.Name)]
            looped |= {name: words_of(loop.iter) for name in names}
    found: set[str] = set()
    for key in (node.slice for node in ast.walk(test) if isinstance(node, ast.Subscript)):
        if isinstance(key, ast.Constant):
            found.add(key.value)
        elif isinstance(key, ast.Name):
            found |= looped.get(key.id, set())
        elif isinstance(key, ast.JoinedStr):
            head, part = key.values
            found |= {head.value + word for word in looped[part.value.id]}
    return found


def recomputes(test) -> bool:
    """Whether a test holds an estimate against another one, not only against a constant."""
    for node in (
        inner for assertion in ast.walk(test) if isinstance(assertion, ast.Assert) for inner in ast.walk(assertion.test)
    ):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "agrees":
            return True
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            sides = [node.left, *node.comparators]
            if all(isinstance(side, ast.Name | ast.Subscript | ast.Call) for side in sides):
                return True
    return False


def twins(text) -> set[str]:
    """Keys that the tests of a file recompute."""
    tests = [
        node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")
    ]
    return set().union(*(keys_of(test) for test in tests if recomputes(test)))


def test_every_judged_number_has_a_twin():
    found = set().union(*(twins(path.read_text()) for path in Path(__file__).parent.glob("test_*.py")))
    limits = tomllib.loads((resources.files("unmask") / "evidence" / "policies.toml").read_text())["limits"]
    told = {key for entry in discover().values() for key in entry.keys} | set(PersonRisk.keys) | set(TableRisk.keys)
    told |= set(NetworkRisk.keys) | set(PersonsRisk.keys)
    assert set(limits) == told
    assert told - found == set()


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        ('assert agrees(judged(case)["a.rate"], naive.rate([], 0))', True),
        ('found = judged(case)["a.rate"]\n    assert found == excess(1, 2)', True),
        ('for key in ("rate", "ks"):\n        assert agrees(found[f"a.{key}"], wanted)', True),
        ('for key in ("a.rate", "a.ks"):\n        assert agrees(found[key], wanted)', True),
        ('"""About a.rate."""\n    assert agrees(judged(case)["b.rate"], 1)', False),
        ('assert judged(case)["a.rate"].value == 0.5', False),
        ('print(judged(case)["a.rate"])', False),
    ],
)
def test_what_counts_as_a_twin(body, counts):
    assert ("a.rate" in twins(f"def test_x():\n    {body}\n")) is counts
