"""HTML, PDF and JSON-LD say the same; what comes from data is inert."""

from __future__ import annotations

import json
import shutil

import polars as pl
import pytest

import unmask
from unmask.certificate import render, write
from unmask.certificate.render import to_html
from unmask.errors import EngineError, ParameterError


@pytest.fixture(scope="module")
def certificate():
    people = unmask.datasets.census(60).select(pl.col("wages").alias("<script>alert(1)</script>"), "interest")
    found = unmask.assess(unmask.Release(people, people), only=["nearest"])
    return unmask.certify(found, statement={"title": "<b>T</b>", "opinion": "{{ 7 * 7 }}"}, initial=False, check=False)


def test_html_is_inert_and_complete(certificate):
    page = to_html(certificate)
    assert (
        "<script" not in page and "&lt;script&gt;" in page and "&lt;b&gt;T&lt;/b&gt;" in page and "{{ 7 * 7 }}" in page
    )
    assert "default-src 'none'" in page and "http" not in page.split("<body>")[0].replace("http-equiv", "")
    for number in range(1, 19):
        assert f">{number}. " in page
    assert "not stated" in page and "100 %" in page


def test_jsonld_stands_beside_either(certificate, tmp_path):
    made = write(certificate, tmp_path / "c.html")
    assert [path.name for path in made] == ["c.html", "c.jsonld"]
    data = json.loads((tmp_path / "c.jsonld").read_text())
    assert data["@type"] == "schema:Report" and data["schema"] == "unmask-certificate/1"
    assert data["verdict"] == "unsafe" and data["residual"][0]["value"] == 1.0
    assert (tmp_path / "c.html").stat().st_mode & 0o777 == 0o600
    assert write(certificate, tmp_path / "d.jsonld") == (tmp_path / "d.jsonld",)


def test_formats_that_cannot_be_made_are_refused_first(tmp_path, monkeypatch):
    with pytest.raises(ParameterError, match=r"\.html, \.pdf, \.jsonld"):
        render.check_format(tmp_path / "c.docx")
    monkeypatch.setattr(render, "BROWSERS", ())
    monkeypatch.setattr(render.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(EngineError, match="needs Chromium or WeasyPrint"):
        render.check_format(tmp_path / "c.pdf")


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_a_browser_prints_it(certificate, tmp_path):
    write(certificate, tmp_path / "c.pdf")
    assert (tmp_path / "c.pdf").read_bytes().startswith(b"%PDF-")


def test_a_browser_that_fails_is_one_clear_error(certificate, tmp_path, monkeypatch):
    monkeypatch.setattr(render, "BROWSERS", ("false",))
    with pytest.raises(EngineError, match="could not print"):
        write(certificate, tmp_path / "c.pdf")
