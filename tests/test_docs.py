"""The documentation: every measure has its page by the template, links lead somewhere, examples show what comes out.

Running all examples is `make docs` (it takes minutes); here the runner itself is tested, and two quick pages.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from unmask.assessment import discover

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
READ_FIRST = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
TEMPLATE = [
    "What the intruder holds and does",
    "When it matters",
    "Example",
    "How to read the number, and what to do about it",
    "Definition",
    "What it does not show",
    "How it is computed",
]
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def script(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


examples = script("examples")


def sections(page):
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", discover())
def test_every_measure_has_a_page_by_the_template(name):
    page = (DOCS / "measures" / f"{name}.md").read_text()
    found = sections(page)
    assert list(found) == TEMPLATE
    assert all(len(text.split()) > 10 for text in found.values())
    for key in discover()[name].keys:
        assert f"`{key}`" in page


@pytest.mark.parametrize("name", discover())
def test_every_measure_has_an_example_that_runs_with_output_and_picture(name):
    shown = sections((DOCS / "measures" / f"{name}.md").read_text())["Example"]
    kinds = [block.kind for block in examples.split(shown)]
    assert ("fence:python", "fence:text") in pairwise(kinds)
    assert "picture" in kinds
    assert f'only=["{name}"' in shown or f'"{name}"]' in shown  # the measure itself, not only its function
    assert (DOCS / "images" / "measures" / f"{name}.svg").exists()


def test_every_page_of_a_measure_belongs_to_one():
    pages = {path.stem for path in (DOCS / "measures").glob("*.md")} - {"index"}
    assert pages == set(discover())


@pytest.mark.parametrize("path", [*PAGES, *READ_FIRST], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_images_exist(path):
    text = CODE.sub("", path.read_text())
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http", "#", "mailto:")):
            assert (path.parent / target.split("#")[0]).exists(), target


def test_pictures_are_shown():
    shown = "".join(path.read_text() for path in PAGES)
    for picture in (DOCS / "images").rglob("*.svg"):
        assert picture.name in shown, picture


def test_citations_are_in_the_references():
    known = set(re.findall(r"^- \[([A-Z0-9]+)\]", (DOCS / "references.md").read_text(), re.MULTILINE))
    pages = "".join(path.read_text() for path in PAGES if "papers" not in path.parts)
    listed = {
        name
        for group in re.findall(r"\[([A-Z][A-Z0-9]+(?:, [A-Z][A-Z0-9]+)*)[\];]", pages)
        for name in group.split(", ")
    }
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    listed |= set(re.findall(r"\[([A-Z0-9]+)\]_", source))
    assert listed <= known


def test_readme_is_short():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 120
    assert lines[3].startswith("make demo") and lines[4].startswith("make test")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_pages_survive_being_cut_and_joined(path):
    text = path.read_text()
    assert "\n".join(block.text for block in examples.split(text)) == text


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_intruders_are_they(path):
    if "papers" not in path.parts:
        prose = re.sub(r"^(!\[.*|\*.*)$", "", CODE.sub("", path.read_text()), flags=re.MULTILINE)
        assert not re.search(r"\b(he|him|his|hers)\b", prose)


def run_page(tmp_path, text):
    page = examples.Page(DOCS / "measures" / "made_up.md", tmp_path)
    return page, page.run(text)


def test_output_is_put_below_its_block(tmp_path):
    first, second = "```python\nx = 2\nprint(x)\n```\n", "```python\nprint(x + 1)\n```\n"
    _, new = run_page(tmp_path, f"# A\n\n{first}\nand\n\n{second}```text\n9\n```\nend\n")
    assert new == f"# A\n\n{first}```text\n2\n```\n\nand\n\n{second}```text\n3\n```\nend\n"


def test_commands_keep_their_lines_and_lose_their_old_output(tmp_path):
    _, new = run_page(tmp_path, "```console\n$ echo a \\\n    b\nold\n$ true\n$ exit 3\n```\n")
    assert new == "```console\n$ echo a \\\n    b\na b\n$ true\n$ exit 3\n```\n"
    with pytest.raises(RuntimeError, match="ended with 2"):
        run_page(tmp_path, "```console\n$ exit 2\n```\n")


def test_a_page_keeps_its_day_and_no_other():
    today = datetime.now(UTC)
    printed = [f"Made today, {today.day} {today:%B %Y}.", "Not on 1 May 1999."]
    assert examples.dated(printed, ("$ unmask", "Made today, 3 March 2020.")) == [
        "Made today, 3 March 2020.",
        "Not on 1 May 1999.",
    ]
    assert examples.dated(printed, ("$ unmask", "Made today.")) == printed


def test_what_is_marked_is_not_run(tmp_path):
    text = "<!-- not run -->\n```python\n1 / 0\n```\n\n```toml\na = 1\n```\n"
    assert run_page(tmp_path, text)[1] == text


def test_a_picture_is_drawn_with_its_texts(tmp_path):
    code = (
        "```python\nfrom unmask.evidence.figure import Figure, Series\n"
        "f = Figure('bar', 'Who?', 'All of them.', 'a 1', 'x', 'y', (Series('s', ('a',), (1.0,)),))\n```\n"
        "<!-- picture: f -->\n![old](old.svg)\n*old* text\n\nend\n"
    )
    page, new = run_page(tmp_path, code)
    assert new.endswith("<!-- picture: f -->\n![a 1](../images/measures/made_up.svg)\n*Who?* All of them.\n\nend\n")
    (target,) = page.pictures
    assert target == DOCS / "images" / "measures" / "made_up.svg"
    assert page.pictures[target].startswith("<svg") and examples._data(page.pictures[target])


def test_the_last_bits_of_a_picture_do_not_count():
    assert examples._rounded({"y": (0.1234567, 1, "a")}) == examples._rounded({"y": (0.1234568, 1, "a")})
    assert examples._rounded({"y": 0.12345}) != examples._rounded({"y": 0.12355})


@pytest.mark.parametrize("page", ["values", "uniqueness"])
def test_quick_pages_show_what_comes_out(page):
    done = subprocess.run([sys.executable, DOCS / "examples.py", page], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_that_is_not_there_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        examples.pages(["values", "nonsuch"])
    told = capsys.readouterr().err
    assert "nonsuch" in told and "uniqueness" in told
    assert [path.stem for path in examples.pages(["values", "measures/uniqueness.md"])] == ["uniqueness", "values"]


def test_generated_tables_are_fresh():
    reference = script("reference")
    for path in PAGES:
        for place in reference.PLACE.finditer(path.read_text()):
            assert place[0] == f"{place[1]}\n{reference.WRITERS[place[2]]()}\n{place[3]}", path


def test_what_the_code_cites_of_the_methods_is_there():
    sections = re.findall(r"^## (\d+)\.", (DOCS / "methods.md").read_text(), flags=re.MULTILINE)
    cited = [
        (path.name, number)
        for path in (ROOT / "src").rglob("*.py")
        for number in re.findall(r"methods\.md, section (\d+)", path.read_text())
    ]
    assert len(cited) > 10 and not [(name, number) for name, number in cited if number not in sections]
    assert not [path.name for path in (ROOT / "src").rglob("*.py") if "METHODS section" in path.read_text()]
