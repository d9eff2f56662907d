"""A short form of benchmarks/serve_load.py: a few browsers and a dozen jobs on a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "serve_load.py"


@pytest.mark.slow
def test_a_few_browsers_and_a_dozen_jobs(tmp_path):
    """No job is lost, every answer is one, nothing is said on standard error, and the server's memory stays."""
    target = tmp_path / "load.json"
    words = ["--sessions", "4", "--jobs", "12", "--minutes", "0.1", "--patience", "3", "--output", str(target)]
    subprocess.run([sys.executable, str(SCRIPT), *words], check=True, capture_output=True)
    found = json.loads(target.read_text())
    assert found["asked for"] == found["different"] == 12
    assert found["states at the end"] == {"done": 12}
    assert found["wrong answers"] == {} and found["standard error"] == "" and found["alive at the end"]
    assert all(kind["n"] > 0 for kind in found["milliseconds"].values())
    memory = found["memory of the server, MB"]
    assert memory["when the queue was empty"] - memory["by second"][0][1] < 50
