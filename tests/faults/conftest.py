"""A real disk that is small, for what happens when it is full."""

from __future__ import annotations

import os
import subprocess

import pytest


@pytest.fixture
def disk(tmp_path):
    """A disk of half a megabyte, which only root can make; under CI it has to be there."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder], check=False, capture_output=True
    )
    if made.returncode and not os.environ.get("CI"):
        pytest.skip("only root can make a disk")
    assert made.returncode == 0, made.stderr
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)
