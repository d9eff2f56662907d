"""A signature holds for these bytes, this signer and this day, and for nothing else."""

from __future__ import annotations

import json

import pytest

from command_line import run
from unmask.certificate import check_signature, new_key, sign_file
from unmask.errors import ParameterError, TableError


@pytest.fixture
def signed(tmp_path):
    paper = tmp_path / "c.jsonld"
    paper.write_text('{"verdict": "unsafe"}')
    public = new_key(tmp_path / "k.pem")
    sign_file(paper, tmp_path / "k.pem", name="Dr A")
    return paper, public


def test_it_holds(signed, tmp_path):
    paper, public = signed
    for key in (None, public):
        found = check_signature(paper, key=key)
        assert found["problem"] == "" and found["name"] == "Dr A"
    assert (tmp_path / "k.pem").stat().st_mode & 0o777 == 0o600
    assert b"PRIVATE" not in public.read_bytes()


def test_another_file_does_not_hold(signed):
    paper, _ = signed
    paper.write_text('{"verdict": "safe"}')
    assert "changed" in check_signature(paper)["problem"]


@pytest.mark.parametrize(("field", "value"), [("name", "Dr B"), ("at", "2020-01-01"), ("signature", "AAAA")])
def test_another_signer_or_day_does_not_hold(signed, field, value):
    paper, _ = signed
    beside = paper.with_name("c.jsonld.sig")
    entry = json.loads(beside.read_text())
    beside.write_text(json.dumps({**entry, field: value}))
    assert check_signature(paper)["problem"]


def test_another_key_does_not_hold(signed, tmp_path):
    other = new_key(tmp_path / "other.pem")
    assert "another key" in check_signature(signed[0], key=other)["problem"]


def test_keys_are_never_overwritten(signed, tmp_path):
    with pytest.raises(ParameterError, match="never overwritten"):
        new_key(tmp_path / "k.pem")


def test_what_is_no_key_or_no_signature_is_said(signed, tmp_path):
    paper, public = signed
    with pytest.raises(ParameterError, match="not a key"):
        sign_file(paper, paper)
    with pytest.raises(ParameterError, match="key"):
        sign_file(paper, public)
    with pytest.raises(TableError, match="no signature"):
        check_signature(public)
    (tmp_path / "k.pem.sig").write_text("[]")
    with pytest.raises(TableError, match="not a signature of unmask"):
        check_signature(tmp_path / "k.pem")


def test_on_the_command_line(signed, tmp_path, capsys):
    paper, public = signed
    assert run("verify", paper, "--key", public) == 0
    paper.write_text("{}")
    assert run("verify", paper) == 1
    assert "does not hold" in capsys.readouterr().out
    assert run("sign") == 2
    assert run("sign", "--new-key", tmp_path / "n.pem") == 0
    assert run("sign", paper, "--new-key", tmp_path / "m.pem") == 2
    assert run("sign", paper, "--key", tmp_path / "n.pem") == 0
    assert run("verify", paper) == 0
    unsigned = tmp_path / "u.jsonld"
    unsigned.write_text("{}")
    assert run("verify", unsigned) == 2
    assert "no signature" in capsys.readouterr().err
