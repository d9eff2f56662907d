"""Compiled kernels on disk: without a folder, on a full disk, or mixed up by two runs the results are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import unmask

PROGRAM = """
import os, sys
sys.path[:0] = [{tests!r}, os.getcwd()]
import fault_runs
{before}
import twice
print(twice.twice(21), twice.twice(1.5))
"""
KERNEL = """
from unmask.kernels.compiling.decorators import kernel

@kernel
def twice(value):
    return value + value
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "source" / "twice.py").write_text(KERNEL)
    surroundings = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "PYTHONPATH": str(Path(unmask.__file__).parents[1]),
        "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_NUM_THREADS": "1",
    }  # fmt: skip

    def run(before="", **env):
        program = PROGRAM.format(tests=str(Path(__file__).parents[1]), before=before)
        ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path / "source", env={**surroundings, **env},
                             capture_output=True, text=True, check=False)  # fmt: skip
        return ran.stdout, ran.stderr

    return run


def test_without_any_folder_to_keep_them_in(run, tmp_path):
    for name in ("source", "home"):
        (tmp_path / name).chmod(0o500)
    assert run("fault_runs.give_up_rights()") == ("42 3.0\n", "")
    assert [path.name for path in tmp_path.rglob("*.nb*")] == []


def test_on_a_full_disk(run, tmp_path):
    (tmp_path / "kept").mkdir()
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))"
    assert run(limit, NUMBA_CACHE_DIR=str(tmp_path / "kept")) == ("42 3.0\n", "")
    assert [path.name for path in tmp_path.rglob("*.nbc")] == []


@pytest.mark.slow
def test_what_two_runs_mixed_up_or_cut_short_is_compiled_again(run, tmp_path):
    """Two runs at once can leave the code for one type under the name of another: integers read as floats."""
    assert run() == ("42 3.0\n", "")
    one, two = sorted(tmp_path.rglob("*.nbc"))
    (index,) = tmp_path.rglob("*.nbi")
    contents = one.read_bytes(), two.read_bytes()
    for path, content in zip((two, one), contents, strict=True):
        path.write_bytes(content)
    assert run() == ("42 3.0\n", "")
    for path in (one, index):
        path.write_bytes(path.read_bytes()[:40])
        assert run() == ("42 3.0\n", "")


def test_types_that_a_newer_version_no_longer_has(run, tmp_path):
    """An index names the classes of all types that a kernel was compiled for: one of them may be gone."""
    (tmp_path / "source" / "shapes.py").write_text(
        "from typing import NamedTuple\nclass Shape(NamedTuple):\n    a: int\n"
    )
    (tmp_path / "source" / "twice.py").write_text(KERNEL.replace("return value + value", "return value"))
    assert run("import twice, shapes; twice.twice(shapes.Shape(1))") == ("21 1.5\n", "")
    (tmp_path / "source" / "shapes.py").unlink()
    assert run() == ("21 1.5\n", "")
    assert run() == ("21 1.5\n", "")
