from __future__ import annotations

import datetime as dt

import pytest

from unmask import Statement
from unmask.certificate import as_statement
from unmask.errors import ParameterError


def test_a_table_of_a_toml_file_is_a_statement():
    given = {"title": "t", "valid_until": dt.date(2099, 1, 2), "changes": ["a", "b"], "model": "partner"}
    stated = as_statement(given)
    assert (stated.valid_until, stated.changes, stated.model) == ("2099-01-02", ("a", "b"), "partner")
    assert as_statement(stated) is stated
    assert "controller" in stated.missing and "model" not in stated.missing
    assert as_statement(None) == Statement()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"controler": "x"}, "did you mean 'controller'"),
        ({"valid_until": "soon"}, "2027-06-30"),
        ({"valid_until": "2001-01-01"}, "over already"),
        ({"model": "everybody"}, "public, partner, enclave"),
        ({"changes": "one"}, "list of sentences"),
        ({"changes": [""]}, "list of sentences"),
        ({"title": 3}, "not text"),
    ],
)
def test_what_is_wrong_is_said(given, words):
    with pytest.raises(ParameterError, match=words):
        as_statement(given)
