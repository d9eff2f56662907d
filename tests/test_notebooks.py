"""The tutorial notebooks: every cell runs and says what the notebook says it says."""

from __future__ import annotations

import json

import pytest

from test_docs import DOCS, script

notebooks = script("notebooks")


@pytest.mark.parametrize("name", ["hospital", "survey", "synthetic"])
def test_a_notebook_says_what_comes_out(name):
    assert notebooks.main([name]) == 0


def test_a_stale_notebook_is_noticed(tmp_path, monkeypatch, capsys):
    cell = {"cell_type": "code", "source": ["print(1)\n", "1 + 1"], "outputs": []}
    (tmp_path / "old.ipynb").write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": ["# A"]}, cell]}))
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    assert notebooks.main([]) == 1
    assert "stale: old.ipynb" in capsys.readouterr().err
    assert notebooks.main(["--write"]) == 0 and notebooks.main([]) == 0
    made = json.loads((tmp_path / "old.ipynb").read_text())["cells"][1]["outputs"]
    assert [out["output_type"] for out in made] == ["stream", "execute_result"]
    assert notebooks.text({"cells": [{"outputs": made}]}) == [["1\n", "2"]]


def test_there_are_three_and_results_show_themselves():
    pages = {path.stem: json.loads(path.read_text()) for path in (DOCS / "notebooks").glob("*.ipynb")}
    assert set(pages) == {"hospital", "survey", "synthetic"}
    shown = [out for page in pages.values() for cell in page["cells"] for out in cell.get("outputs", [])]
    assert sum("text/html" in out.get("data", {}) for out in shown) >= 6
