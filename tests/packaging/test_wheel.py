"""The wheel holds all that it needs and nothing else, is the same bytes wherever it is built, and runs anywhere."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import unmask

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "unmask"
MADE = {"__pycache__"}  # by Python, beside the source
INFO = f"unmask-{unmask.__version__}.dist-info"
TOOLS = ("build", "hatchling")
missing = [name for name in TOOLS if importlib.util.find_spec(name) is None]
builds = pytest.mark.skipif(bool(missing) and not os.environ.get("CI"), reason=f"{missing} not installed: make setup")


def copied(folder):
    """What is kept of this folder by git, elsewhere."""
    words = ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.splitlines() if name.split("/")[0] not in {"docs", "benchmarks", "tests"}]
    for name in names:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def built(folder, **more):
    """Both archives of a folder, by the way of the sdist."""
    clean = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", folder]
    made = subprocess.run(words, capture_output=True, text=True, check=False, env={**clean, **more})
    assert made.returncode == 0, made.stderr[-2000:]
    return next((folder / "dist").glob("*.whl")), next((folder / "dist").glob("*.tar.gz"))


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    folder = copied(tmp_path_factory.mktemp("here"))
    for rubbish in ("src/unmask/__pycache__/x.pyc", "src/unmask/kernels/x.nbi", ".venv/lib/x.py", "unmask-serve/x.csv"):
        (folder / rubbish).parent.mkdir(parents=True, exist_ok=True)
        (folder / rubbish).write_text("made by a run")
    return built(folder, SOURCE_DATE_EPOCH="1700000000")


@builds
def test_the_wheel_holds_the_package_and_nothing_else(archives):
    with zipfile.ZipFile(archives[0]) as wheel:
        names = set(wheel.namelist())
    ours = {path for path in SOURCE.rglob("*") if path.is_file() and not MADE & {*path.parts}}
    kept = {path.relative_to(SOURCE.parent).as_posix() for path in ours if path.suffix not in {".nbi", ".nbc"}}
    about = {f"{INFO}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    assert names == kept | about
    for needed in ("py.typed", "__init__.pyi", "evidence/policies.toml", "report/templates/report.html.j2",
                   "web/static/style.css", "schemas/report-2.json"):  # fmt: skip
        assert f"unmask/{needed}" in names


@builds
def test_the_metadata_says_who_may_install_it(archives):
    with zipfile.ZipFile(archives[0]) as wheel:
        told = wheel.read(f"{INFO}/METADATA").decode().splitlines()
        commands = wheel.read(f"{INFO}/entry_points.txt").decode()
    for line in ("Metadata-Version: 2.4", "License-Expression: Apache-2.0", "Requires-Python: >=3.11"):
        assert line in told
    assert f"Version: {unmask.__version__}" in told
    assert "unmask = unmask.cli.app:main" in commands and "unmask = unmask.pytest_plugin" in commands


@builds
def test_the_sdist_holds_no_rubbish(archives):
    with tarfile.open(archives[1]) as sdist:
        names = [name.partition("/")[2] for name in sdist.getnames()]
        assert all(member.uid == member.gid == 0 for member in sdist.getmembers())
    assert {"pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "src/unmask/py.typed"} <= {*names}
    assert not [name for name in names if "__pycache__" in name or ".venv" in name or name.endswith((".nbi", ".csv"))]


@builds
def test_the_same_source_gives_the_same_bytes_elsewhere(archives, tmp_path):
    again = copied(tmp_path / "some" / "other" / "place")
    for path in again.rglob("*"):
        os.utime(path, (1, 1))
    for one, other in zip(archives, built(again, SOURCE_DATE_EPOCH="1700000000", TZ="Asia/Tokyo"), strict=True):
        assert one.name == other.name and one.read_bytes() == other.read_bytes()


@builds
@pytest.mark.slow
def test_a_fresh_environment_runs_the_demo():
    """Installs from the registry: `make test-package` does the same."""
    words = [sys.executable, ROOT / "packaging" / "trials.py", "package"]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
    assert "package: all is well" in made.stdout
