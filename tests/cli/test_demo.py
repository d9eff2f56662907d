"""`unmask demo`: an unsafe release, safer ones, the recommended one, and both reports."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from unmask.cli.app import app
from unmask.cli.demo import FILES, SAFER, check_folder, demo_tables
from unmask.errors import TableError
from unmask.masking import parse_masking


def test_the_safer_releases_can_be_made_and_say_less_and_less():
    original, released = demo_tables(200, 0)
    assert original.height == released.height == 200
    made = [parse_masking(text).apply(original.drop("patient"), 1) for text in SAFER]
    assert [table.height for table in made] == [200] * len(SAFER)
    assert [table.width for table in made] == sorted((table.width for table in made), reverse=True)
    assert all({"diagnosis", "cost", "sex"} <= set(table.columns) for table in made)
    assert made[0]["birth date"].value_counts()["count"].min() >= 40


def test_other_peoples_files_are_left_alone(tmp_path):
    check_folder(tmp_path)  # empty
    (tmp_path / "report.html").write_text("")
    (tmp_path / ".release.csv.x1y2.part").write_text("")
    check_folder(tmp_path)  # an earlier demo's, which was killed
    assert {path.name for path in tmp_path.iterdir()} == {"report.html"}
    (tmp_path / "thesis.docx").write_text("")
    with pytest.raises(TableError, match="holds other files"):
        check_folder(tmp_path)
    with pytest.raises(TableError, match="a file, not a folder"):
        check_folder(tmp_path / "thesis.docx")


@pytest.mark.slow
def test_the_whole_road(tmp_path):
    told = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "demo")])
    assert told.exit_code == 0, told.output
    assert {path.name for path in (tmp_path / "demo").iterdir()} == FILES
    verdicts = [
        json.loads((tmp_path / "demo" / name).read_text())["verdict"] for name in ("report.json", "recommended.json")
    ]
    assert verdicts == ["unsafe", "safe"]
    assert "release.csv is unsafe, recommended.csv is safe" in told.output
