"""The conda recipe, the container file, the citation and the changelog say what pyproject.toml and the package say."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from rattler_build import Stage0Recipe

import unmask

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NEEDED = PROJECT["project"]["dependencies"]
RECIPE = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())
CONTAINER = (ROOT / "Containerfile").read_text()


def instructions():
    """(word, rest) of each instruction of the container file, lines joined."""
    lines = [line for line in CONTAINER.splitlines() if line and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines()]


def bounds(requirements):
    """Names and bounds, however they are spaced and ordered."""
    parts = [re.fullmatch(r"([\w.-]+)\s*([<>=!~\d.,\s]*)", text.strip()) for text in requirements]
    return {part[1]: {bound.strip() for bound in part[2].split(",")} for part in parts}


def test_the_recipe_needs_what_the_package_needs():
    ours = bounds(NEEDED)
    theirs = bounds(RECIPE["requirements"]["run"])
    assert theirs.pop("python") == {PROJECT["project"]["requires-python"]}
    assert theirs == ours
    host = bounds(RECIPE["requirements"]["host"])
    assert host["hatchling"] == bounds(PROJECT["build-system"]["requires"])["hatchling"]
    assert host["python"] == {PROJECT["project"]["requires-python"]}


def test_the_recipe_says_the_same_of_the_package():
    project = PROJECT["project"]
    assert RECIPE["package"]["name"] == project["name"] and RECIPE["context"]["version"] == unmask.__version__
    assert RECIPE["about"]["summary"] == project["description"] and RECIPE["about"]["license"] == project["license"]
    commands = RECIPE["build"]["python"]["entry_points"]
    assert commands == [f"{name} = {where}" for name, where in project["scripts"].items()]


def test_every_dependency_has_a_lower_bound():
    assert all(any(bound.startswith(">=") for bound in found) for found in bounds(NEEDED).values())


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {unmask.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'image.version="{unmask.__version__}"' in CONTAINER
    changes = (ROOT / "CHANGELOG.md").read_text()
    heads = re.findall(r"^## (.*)$", changes, re.MULTILINE)
    assert heads[0] == "[Unreleased]" and re.fullmatch(rf"\[{unmask.__version__}\] - \d{{4}}-\d\d-\d\d", heads[1])
    dated = heads[1].split(" - ")[1]
    assert f"\ndate-released: {dated}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_container_runs_as_nobody_special_and_without_a_network():
    found = instructions()
    words = [word for word, _ in found]
    assert words[0] == "FROM" and {*words} <= {
        "FROM",
        "WORKDIR",
        "COPY",
        "RUN",
        "LABEL",
        "ENV",
        "USER",
        "ENTRYPOINT",
        "CMD",
    }
    last = found[len(words) - words[::-1].index("FROM") :]  # what the image is made of
    users = [rest for word, rest in last if word == "USER"]
    assert users and int(users[-1]) > 1000  # a number, which orchestrators can check; not root
    after = last[[word for word, _ in last].index("USER") :]
    assert not [rest for word, rest in after if word in {"RUN", "COPY"}]  # nothing is made by or for that user
    fetched = [rest for word, rest in last if word == "RUN" and re.search(r"\b(pip|curl|wget|apt-get)\b", rest)]
    assert not fetched
    assert ("ENTRYPOINT", '["unmask"]') in last and "--network none" in CONTAINER


def test_images_have_a_version_that_was_tried():
    images = [rest.split()[0] for word, rest in instructions() if word == "FROM"]
    tags = {image.rpartition(":")[2] for image in images}
    assert len(tags) == 1
    version = re.match(r"3\.\d+", tags.pop())[0]
    assert f"Programming Language :: Python :: {version}" in PROJECT["project"]["classifiers"]


@pytest.mark.parametrize("name", ["pyproject.toml", "README.md", "LICENSE", "src"])
def test_what_the_container_copies_is_there_and_is_sent(name):
    assert (ROOT / name).exists()
    assert f"\n!{name}\n" in (ROOT / ".containerignore").read_text()
    assert any(word == "COPY" and name in rest for word, rest in instructions())
    assert (ROOT / ".dockerignore").read_text() == (ROOT / ".containerignore").read_text()


# --- the tools of others --------------------------------------------------------------------------------------------


def linted(text):
    """What hadolint has to say of a container file."""
    tool = Path(sys.executable).parent / "hadolint"
    return subprocess.run([tool, "-"], input=text, capture_output=True, text=True, check=False)


def test_hadolint_finds_nothing_in_the_container_file():
    clean = linted(CONTAINER)
    assert (clean.returncode, clean.stdout) == (0, "")
    wrong = linted(CONTAINER.replace("python:3.11-slim", "python:latest"))
    assert wrong.returncode == 1 and "DL3007" in wrong.stdout


WRONG = [(" run:\n", " runs:\n"), ("license: Apache-2.0", "license: My own"), (">=3.11\n", ">>3.11\n")]


def test_rattler_build_reads_and_renders_the_recipe():
    """As it does before it builds: every field, version and licence is one that it knows."""
    text = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text()
    (rendered,) = Stage0Recipe.from_yaml(text).render()
    found = rendered.recipe
    assert (str(found.package.name), str(found.package.version)) == ("unmask", unmask.__version__)
    assert len(found.requirements.run) == len(NEEDED) + 1
    for right, wrong in WRONG:
        with pytest.raises(Exception, match="invalid value"):
            Stage0Recipe.from_yaml(text.replace(right, wrong)).render()
