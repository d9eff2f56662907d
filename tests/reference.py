"""Where the reference tables are: ../shared, or UNMASK_DATA. Tests marked `casc` skip where they are missing."""

from __future__ import annotations

import os
from pathlib import Path


def _folder() -> Path:
    given = os.environ.get("UNMASK_DATA")
    if given:
        return Path(given)
    for parent in Path(__file__).resolve().parents:
        if (parent / "shared" / "golden").is_dir():
            return parent / "shared"
    return Path("shared")


REFERENCE = _folder()
