"""Where the reference tables and the second tool's results are: ../shared, or what UNMASK_DATA names."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import polars as pl


def _folder() -> Path:
    given = os.environ.get("UNMASK_DATA")
    if given:
        return Path(given) if (Path(given) / "golden").is_dir() else Path(given).parent
    for parent in Path(__file__).resolve().parents:
        if (parent / "shared" / "golden").is_dir():
            return parent / "shared"
    return Path("../shared")


def _peers() -> Path:
    """The Python of the environment that `make peers` makes, or what UNMASK_PEERS names."""
    given = os.environ.get("UNMASK_PEERS")
    return Path(given) if given else Path(__file__).resolve().parents[1] / ".venv-peers" / "bin" / "python"


REFERENCE = _folder()
PEERS = _peers()
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def data(name: str) -> pl.DataFrame:
    return pl.read_csv(REFERENCE / "data" / f"{name}.csv", infer_schema_length=None)


def golden(name: str) -> pl.DataFrame:
    return pl.read_csv(REFERENCE / "golden" / f"{name}.csv", infer_schema_length=None, null_values=["NA"])


def second_tool(name: str, a, b, *more: str) -> dict:
    """What another tool makes of two files of codes (second_tools.py)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "files.npz"
        np.savez(path, a=a, b=b)
        script = Path(__file__).with_name("second_tools.py")
        run = subprocess.run([PEERS, script, name, path, *more], capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"{name} failed:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout.strip().splitlines()[-1])
