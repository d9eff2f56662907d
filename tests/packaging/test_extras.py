"""Without any optional package: it imports, assesses and tells; what needs an extra says which, in one message."""

from __future__ import annotations

import subprocess
import sys

import pytest

OPTIONAL = (
    "pandas duckdb pyspark starlette uvicorn python_multipart multipart cryptography skops onnxruntime onnx weasyprint "
    "pytest hypothesis networkx igraph playwright yaml build hatchling cyclonedx"
)
WITHOUT = f"""
import sys
from importlib.machinery import PathFinder

class Bare(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.split(".")[0] in {set(OPTIONAL.split())!r} else PathFinder.find_spec(name, path, target)

sys.meta_path = [Bare if finder is PathFinder else finder for finder in sys.meta_path]
"""


def bare(code, *words, folder):
    """Run a program where nothing optional can be imported."""
    whole = f"{WITHOUT}\nsys.argv = {['unmask', *map(str, words)]!r}\n{code}"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", whole], capture_output=True, text=True, cwd=folder, check=False
    )


def command(*words, folder):
    return bare("from unmask.cli.app import main; main()", *words, folder=folder)


def test_nothing_optional_is_there_and_every_public_name_is(tmp_path):
    code = "import unmask\nfor name in unmask.__all__: getattr(unmask, name)\nimport pandas"
    made = bare(code, folder=tmp_path)
    assert made.stderr.strip().endswith("ModuleNotFoundError: No module named 'pandas'")  # all before it went well
    assert made.stderr.count("Error") == 1


@pytest.mark.slow
def test_a_release_is_assessed(files, tmp_path):
    only = "nearest,uniqueness,anonymity"
    outputs = ("--json", "r.json", "--html", "r.html", "--records", "r.csv", "--quiet")
    made = command("assess", *files, "--id", "patient", "--only", only, *outputs, folder=tmp_path)
    assert made.returncode == 1 and made.stderr == ""  # unsafe
    assert {"r.json", "r.html", "r.csv"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("serve",), "web"),
        (("sign", "--new-key", "key.pem"), "sign"),
        (("assess", "a.csv", "b.csv", "--id", "age", "--engine", "spark"), "spark"),
        (("assess", "a.csv", "b.csv", "--id", "age", "--engine", "duckdb"), "large"),
        (("assess-model", "m.skops", "a.csv", "--target", "sex", "--control", "b.csv"), "models"),
        (("assess-model", "m.onnx", "a.csv", "--target", "sex", "--control", "b.csv"), "models"),
    ],
)
def test_a_missing_extra_is_named(tmp_path, words, extra):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("age,sex\n1,m\n2,f\n")
    for name in ("m.skops", "m.onnx"):
        (tmp_path / name).write_bytes(b"a model")
    made = command(*words, folder=tmp_path)
    assert made.returncode == 2
    assert f"pip install 'unmask[{extra}]'" in made.stderr and "Traceback" not in made.stderr
