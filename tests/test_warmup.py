"""Kernels compiled beforehand: where they are kept is told, a second time compiles nothing, no folder is an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba as nb
import pytest

import unmask
from unmask.kernels.compiling import while_compiling

SOURCE = str(Path(unmask.__file__).parents[1])


def run(*words, **env):
    surroundings = {**os.environ, "PYTHONPATH": SOURCE, "NUMBA_NUM_THREADS": "1", **env}
    return subprocess.run(words, env=surroundings, capture_output=True, text=True, check=False)


def test_what_is_kept_is_not_compiled_again(tmp_path):
    code = (
        "import sys\n"
        "from importlib import import_module\n"
        "module = import_module('unmask.warmup')\n"  # the name in the package is the function
        "from unmask.kernels.groups import label_values\n"
        "import numpy as np\n"
        "module._jobs = lambda: {'groups': lambda: label_values(np.arange(5))}\n"
        "told = []\n"
        "made = module.warmup(progress=lambda done, words: told.append(words))\n"
        "print(made.compiled, made.megabytes > 0, str(made.folder).startswith(sys.argv[1]), told)"
    )
    kept = str(tmp_path / "kept")
    first, second = (run(sys.executable, "-c", code, kept, NUMBA_CACHE_DIR=kept).stdout for _ in range(2))
    assert first == "1 True True ['groups', 'groups: compiling groups.label_values']\n"
    assert second == "0 True True ['groups']\n"


@pytest.mark.parametrize("command", ["warmup", "measures"])
def test_a_folder_that_cannot_be_written(tmp_path, command):
    """Nothing could be kept there, which warmup says; everything else runs."""
    (tmp_path / "file").write_text("")
    ran = run(sys.executable, "-m", "unmask", command, NUMBA_CACHE_DIR=str(tmp_path / "file" / "kept"))
    assert ran.returncode == (2 if command == "warmup" else 0)
    assert ("compiled kernels cannot be kept there" in ran.stderr) == (command == "warmup")
    assert "Traceback" not in ran.stderr


def test_only_what_is_compiled_now_is_told():
    @nb.njit  # not kept on disk, from where it would not be compiled a second time
    def twice(value):
        return value + value

    twice.py_func.__module__ = "unmask.kernels.elsewhere"
    told = []
    with while_compiling(told.append):
        assert twice(2) == twice(2) == 4
    assert twice(1.5) == 3.0
    assert told == ["elsewhere.twice"]


@pytest.mark.slow
def test_after_it_an_assessment_compiles_nothing(tmp_path):
    """In a folder that was empty: the demo's own table, and others with few and with many people."""
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    ran = run(sys.executable, "-m", "unmask", "warmup", **kept)
    assert ran.returncode == 0, ran.stderr
    assert "MB are kept below" in ran.stdout
    code = (
        "import unmask\n"
        "from unmask.cli.demo import demo_tables\n"
        "from unmask.kernels.compiling import while_compiling\n"
        "told, secret = [], ['diagnosis', 'cost']\n"
        "with while_compiling(told.append):\n"
        "    unmask.assess(unmask.Release(*demo_tables(500, 0), id='patient', confidential=secret))\n"
        "    for n in (250, 400):\n"
        "        people = unmask.datasets.patients(n, seed=9)\n"
        "        masked = unmask.parse_masking('noise(0.2)').apply(people, 3)\n"
        "        unmask.assess(unmask.Release(people, masked, id='patient', confidential=secret[:1]), utility='none')\n"
        "print(told)"
    )
    assert run(sys.executable, "-c", code, **kept).stdout == "[]\n"
