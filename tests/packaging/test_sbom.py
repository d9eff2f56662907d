"""The bill of materials lists what is needed, all of it and nothing else, and is what CycloneDX asks for."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from importlib.metadata import PathDistribution, version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("packaging_sbom", ROOT / "packaging" / "sbom.py")
sbom = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = sbom
spec.loader.exec_module(sbom)

STRICT = importlib.util.find_spec("cyclonedx") is None and not os.environ.get("CI")


@pytest.fixture(scope="module")
def parts():
    return sbom.parts_of("unmask")


def installed(folder, name, *lines, files=()):
    """A package as pip leaves it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *lines, ""]))
    for file, text in files:
        (info / file).write_text(text)
    (info / "RECORD").write_text("".join(f"{info.name}/{file},,\n" for file, _ in [("METADATA", ""), *files]))
    return PathDistribution(info)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """a needs b and, with an extra that nobody asks for, c; b needs d with an extra, for which d needs e."""
    installed(tmp_path, "A", "Requires-Dist: B.x>=1", 'Requires-Dist: c; extra == "more"', "License-Expression: MIT")
    installed(tmp_path, "b-x", 'Requires-Dist: d[big] >=2 ; python_version > "3"', "License: BSD",
              files=[("LICENSE.txt", "words of b"), ("notes.txt", "x")])  # fmt: skip
    installed(tmp_path, "c", "License: unused")
    installed(tmp_path, "d", "Requires-Dist: e; extra == 'big'", "Requires-Dist: absent", "Requires-Dist: A",
              "Classifier: License :: OSI Approved :: MIT License", f"License: {'long ' * 30}")  # fmt: skip
    installed(tmp_path, "e")
    monkeypatch.setattr(sbom, "distributions", lambda: [PathDistribution(path) for path in tmp_path.iterdir()])
    return sbom.parts_of("a")


def test_what_is_needed_is_followed_to_the_end(made):
    assert {name: part.needs for name, part in made.items()} == {
        "a": ("b-x",), "b-x": ("d",), "d": ("a", "e"), "e": ()
    }  # fmt: skip


def test_licences_are_those_that_the_packages_state(made):
    assert [(part.licence, part.spdx) for part in made.values()] == [
        ("MIT", True), ("BSD", False), ("MIT License", False), ("not stated in its metadata", False)
    ]  # fmt: skip
    text = sbom.licences(made, "a")
    assert "--- LICENSE.txt\n\nwords of b" in text and "notes.txt" not in text
    assert text.count("The package brings no text of its licence.") == 2  # d and e


def test_the_bill_of_a_small_house(made):
    bill = sbom.cyclonedx(made, "a")
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/a@1.0"
    assert [part["name"] for part in bill["components"]] == ["b-x", "d", "e"]
    assert bill["dependencies"][0] == {"ref": "pkg:pypi/a@1.0", "dependsOn": ["pkg:pypi/b-x@1.0"]}
    assert bill["components"][0]["licenses"] == [{"license": {"name": "BSD"}}]


def test_ours_lists_every_dependency_in_the_version_that_is_here(parts):
    for name in ("polars", "numba", "scipy", "llvmlite"):  # the last is needed by numba
        assert parts[name].version == version(name)
    assert "pytest" not in parts and "ruff" not in parts  # here, but not needed
    assert sbom.cyclonedx(parts) == sbom.cyclonedx(parts)
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", sbom.cyclonedx(parts)["serialNumber"])


@pytest.mark.skipif(STRICT, reason="cyclonedx not installed: make setup")
def test_cyclonedx_itself_accepts_it(parts):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    check = JsonStrictValidator(SchemaVersion.V1_6)
    assert check.validate_str(json.dumps(sbom.cyclonedx(parts))) is None
    broken = {**sbom.cyclonedx(parts), "serialNumber": "7"}
    assert check.validate_str(json.dumps(broken)) is not None
