"""A share is written in one way wherever somebody reads it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import unmask
from unmask.shares import change, percent, span

SOURCE = Path(unmask.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
GLUED = re.compile(r"\d%|\{:[^}]*%\}")  # 5%, or a form that writes it so


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.25449, "25.4 %"), (0.05, "5 %"), (1.0, "100 %"), (0.0, "0 %"), (0.0009, "0.09 %"), (1e-7, "under 0.0001 %"),
        (0.000481, "0.048 %"), (0.0000261, "0.0026 %"), (0.0001, "0.01 %"),
        (-0.031, "-3.1 %"), (None, "-"), (float("nan"), "-"),
    ],
)  # fmt: skip
def test_a_share_has_as_many_digits_as_it_needs(share, words):
    assert percent(share) == words


def test_an_interval_has_one_unit_and_a_change_its_sign():
    assert span(0.229, 0.28) == "22.9-28 %" and span(0.5, 0.5) == "50 %"
    assert [change(one) for one in (0.025, -0.01, 0.0)] == ["+2.5 %", "-1 %", "0 %"]


def glued(tree):
    """Lines of code that write a share otherwise: 5%, or by a format of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            told = "".join(str(getattr(part, "value", "")) for part in node.format_spec.values)
            if told.endswith("%"):
                yield node.lineno
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and GLUED.search(node.value):
            yield node.lineno


@pytest.mark.parametrize("text", ['f"{x:.1%} found"', '"within 5% of it"', '"{}: {:.0%}".format(a, b)'])
def test_what_the_next_test_looks_for(text):
    assert list(glued(ast.parse(text))) and not list(glued(ast.parse('f"{percent(x)} found, 5 %"')))


def test_no_code_writes_a_share_in_another_way():
    found = {path.relative_to(SOURCE).as_posix(): list(glued(ast.parse(path.read_text()))) for path in FILES}
    assert not {name: lines for name, lines in found.items() if lines}
